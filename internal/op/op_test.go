package op

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
)

// Promotion follows PyTorch: arrays decide, 0-d arrays and Go numbers count when
// their category is higher.
func TestPromote(t *testing.T) {
	g := ir.New()
	id := 0
	arr := func(d array.DType) *ir.Node { id++; return g.Input(id, d, []int{2}) }
	zero := func(d array.DType) *ir.Node { id++; return g.Input(id, d, nil) }
	num := func(d array.DType) *ir.Node { id++; return g.Scalar(id, d, true) }
	const (
		b, u, i, l, f, d = array.Bool, array.Uint8, array.Int32, array.Int64, array.Float32, array.Float64
	)
	for _, c := range []struct {
		x, y *ir.Node
		want array.DType
	}{
		{arr(f), arr(d), d}, {arr(i), arr(l), l}, {arr(b), arr(u), u}, {arr(l), arr(f), f},
		{arr(f), zero(d), f}, {arr(i), zero(l), i}, {arr(i), zero(f), f}, {arr(b), zero(l), l},
		{zero(f), zero(d), d}, {zero(i), zero(f), f},
		{arr(f), num(l), f}, {arr(d), num(f), d}, {arr(i), num(f), f}, {arr(u), num(l), u}, {arr(b), num(l), l},
		{arr(b), num(b), b}, {zero(d), num(f), d}, {zero(u), num(l), u}, {num(l), num(f), f},
	} {
		if got := Promote(c.x, c.y); got != c.want {
			t.Errorf("%v with %v: %s, want %s", c.x, c.y, got, c.want)
		}
		if got := Promote(c.y, c.x); got != c.want {
			t.Errorf("%v with %v: %s, want %s", c.y, c.x, got, c.want)
		}
	}
}

// Every Def can be understood: it has a doc, and what its class needs.
func TestTable(t *testing.T) {
	for _, d := range Table() {
		if d.Doc == "" {
			t.Errorf("%s has no doc", d.Name)
		}
		ok := true
		switch d.Class {
		case Pointwise:
			ok = d.Expr != nil || d == Iota
		case Composite:
			ok = d.Compose != nil
		case Move:
			ok = d.Infer != nil && (d.View != nil || d == Reshape)
		default:
			ok = d.Infer != nil
		}
		if !ok {
			t.Errorf("%s lacks what its class needs", d.Name)
		}
		if Lookup(d.Name) != d {
			t.Errorf("%s is not found by its name", d.Name)
		}
	}
}
