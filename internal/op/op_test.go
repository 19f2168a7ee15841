package op_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
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
		if got := op.Promote(c.x, c.y); got != c.want {
			t.Errorf("%v with %v: %s, want %s", c.x, c.y, got, c.want)
		}
		if got := op.Promote(c.y, c.x); got != c.want {
			t.Errorf("%v with %v: %s, want %s", c.y, c.x, got, c.want)
		}
	}
}

// Every Def can be understood: it has a doc, and what its class needs.
func TestTable(t *testing.T) {
	for _, d := range op.Table() {
		if d.Doc == "" {
			t.Errorf("%s has no doc", d.Name)
		}
		ok := true
		switch d.Class {
		case op.Pointwise:
			ok = (d.Expr != nil) != (d.ExprAll != nil) || d == op.Iota
		case op.Composite:
			ok = (d.Compose != nil) != (d.ComposeAll != nil) && (d.ComposeAll != nil) == (d.Results > 0)
		case op.View:
			ok = d.Infer != nil && (d.View != nil || d == op.Reshape)
		case op.Control:
			ok = d.InferAll != nil && d.Results == 0
		default:
			ok = (d.Infer != nil) != (d.InferAll != nil) && (d.InferAll != nil) == (d.Results > 0)
		}
		if !ok {
			t.Errorf("%s lacks what its class needs", d.Name)
		}
		if op.Lookup(d.Name) != d {
			t.Errorf("%s is not found by its name", d.Name)
		}
	}
}

// The key of attributes tells every field from every other value of it: one that
// is forgotten would make two computations one. Copies share no memory.
func TestAttrKeys(t *testing.T) {
	seen := map[reflect.Type]bool{}
	g := ir.New()
	n := g.Number(1, array.Int64, false)
	all := append(op.Table(), op.Of(op.Uniform.Draw(1, array.Float32, n, n)[0]))
	for _, d := range all {
		if d.Attrs == nil || seen[reflect.TypeOf(d.Attrs)] {
			continue
		}
		seen[reflect.TypeOf(d.Attrs)] = true
		key := func(v reflect.Value) string { return string(v.Interface().(ir.Attrs).AppendKey(nil)) }
		v := reflect.New(reflect.TypeOf(d.Attrs)).Elem()
		keys := map[string]string{key(v): "zero"}
		note := func(what string) {
			k := key(v)
			if other, twice := keys[k]; twice {
				t.Errorf("%s: %s has the key of %s", v.Type(), what, other)
			}
			keys[k] = what
		}
		var vary func(f reflect.Value, name string)
		vary = func(f reflect.Value, name string) {
			old := reflect.New(f.Type()).Elem()
			old.Set(f)
			switch f.Kind() {
			case reflect.Int:
				f.SetInt(-300)
			case reflect.Uint8:
				f.SetUint(9)
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Float64:
				f.SetFloat(math.Copysign(0, -1))
			case reflect.Struct:
				for i := range f.NumField() {
					vary(f.Field(i), name+"."+f.Type().Field(i).Name)
				}
				return
			case reflect.Array:
				for i := range f.Len() {
					vary(f.Index(i), fmt.Sprint(name, i))
				}
				return
			case reflect.Slice:
				for _, list := range [][]int{{0}, {1}, {1, 0}, {0, 1}, {300}} {
					f.Set(reflect.ValueOf(list).Convert(f.Type()))
					note(fmt.Sprint(name, list))
				}
				mine := ir.CopyAttrs(v.Interface().(ir.Attrs))
				before := string(mine.AppendKey(nil))
				f.Index(0).SetInt(77)
				if string(mine.AppendKey(nil)) != before {
					t.Errorf("%s: a copy shares the memory of %s", v.Type(), name)
				}
				f.Set(old)
				return
			case reflect.Interface:
				for _, a := range []ir.Attrs{op.Window{}, op.Window{Start: []int{1}}, op.Offset(0), op.Offset(3)} {
					f.Set(reflect.ValueOf(a))
					note(fmt.Sprint(name, a))
				}
				f.Set(old)
				return
			default:
				t.Fatalf("%s: the test does not know kind %s of %s", v.Type(), f.Kind(), name)
			}
			note(name)
			f.Set(old)
		}
		vary(v, v.Type().Name())
	}
	if len(seen) < 15 {
		t.Errorf("only %d types of attributes were seen", len(seen))
	}
}
