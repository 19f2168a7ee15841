package weft

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Gathers that feed elementwise work are part of its kernel in compiled functions: rows of a
// table, elements of rows, in another shape, with places that count from the back; the bits are
// those of eager code. A gather of elements, which gains nothing, stays a routine.
func TestGathersFuse(t *testing.T) {
	table, wide := noise(1, 2, 50, 40), noise(2, 2, 40, 3, 60)
	at := func(n, size int, d DType) *Tensor { return Arange(n).Mul(7).Mod(2 * size).Sub(size).To(d) }
	for _, c := range []struct {
		name  string
		f     func(x, i *Tensor) *Tensor
		x, i  *Tensor
		fused bool
	}{
		{"rows", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Mul(3.5).Add(1).Tanh() }, table, at(90, 50, Int64), true},
		{"rows, int32", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Mul(3.5) }, table, at(90, 50, Int32), true},
		{"rows of rows", func(x, i *Tensor) *Tensor {
			return x.IndexSelect(0, i).Reshape(9, 10, 40).Mul(3.5).Add(table.Slice(Range(0, 10)))
		}, table, at(90, 50, Int64), true},
		{"the middle axis", func(x, i *Tensor) *Tensor { return x.IndexSelect(1, i).Exp() }, wide, at(5, 3, Int64), true},
		{"the last axis", func(x, i *Tensor) *Tensor { return x.IndexSelect(2, i).Exp() }, wide, at(33, 60, Int64), true},
		{"of a view", func(x, i *Tensor) *Tensor { return x.Slice(Range(3, 45), Range(38, 2, -2)).IndexSelect(0, i).Exp() }, table, at(90, 42, Int64), true},
		{"of a transpose", func(x, i *Tensor) *Tensor { return x.T().IndexSelect(0, i).Exp() }, table, at(90, 40, Int64), true},
		{"of what is computed", func(x, i *Tensor) *Tensor { return x.Exp().IndexSelect(0, i).Mul(2.5).Sum(1) }, table, at(90, 50, Int64), true},
		{"twice", func(x, i *Tensor) *Tensor {
			return x.IndexSelect(0, i).Mul(x.IndexSelect(0, i.Add(1).Minimum(49))).Sub(x.IndexSelect(0, i))
		}, table, at(90, 50, Int64), true},
		{"halves", func(x, i *Tensor) *Tensor { return x.To(Float16).IndexSelect(0, i).Mul(2.5) }, table, at(90, 50, Int64), true},
		{"bytes", func(x, i *Tensor) *Tensor {
			return x.Mul(50).To(Int8).IndexSelect(2, i).Add(3).To(Float32)
		}, wide, at(90, 60, Int64), true},
		{"one place a row", func(x, i *Tensor) *Tensor {
			return x.Gather(0, i.Reshape(1, 3, 1).Expand(1, 3, 60)).Exp()
		}, wide, at(3, 40, Int64), true},
		{"bags", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(1) }, table, at(90, 50, Int64), true},
		{"bags of a transpose", func(x, i *Tensor) *Tensor { return x.T().IndexSelect(0, i).Reshape(10, 9, 50).Mean(1) }, table, at(90, 40, Int64), true},
		{"bags of halves", func(x, i *Tensor) *Tensor { return x.To(Float16).IndexSelect(0, i).Reshape(9, 10, 40).Sum(1) }, table, at(90, 50, Int64), true},
		{"bags of bytes", func(x, i *Tensor) *Tensor {
			return x.Mul(50).To(Int8).IndexSelect(2, i).Reshape(40, 3, 10, 9).Max(3).To(Float32)
		}, wide, at(90, 60, Int64), true},
		{"one long bag", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Sum(0) }, table, at(70001, 50, Int64), true},
		{"rows of bags", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(2) }, table, at(90, 50, Int64), true},
		{"the first axis of bags", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Min(0) }, table, at(90, 50, Int64), true},
		{"bags of windows", func(x, i *Tensor) *Tensor { return x.IndexSelect(1, i).Sum(1) }, wide, at(17, 3, Int64), true},
		{"bags, and what else reads them", func(x, i *Tensor) *Tensor {
			y := x.IndexSelect(0, i).Reshape(9, 10, 40)
			return y.Sub(y.Sum(1).Unsqueeze(1))
		}, table, at(90, 50, Int64), true},
		{"bags of several axes", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(1, 2) }, table, at(90, 50, Int64), false},
		{"all", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i).Sum() }, table, at(90, 50, Int64), false},
		{"elements", func(x, i *Tensor) *Tensor { return x.Gather(1, i.Reshape(50, 9)).Exp() }, table, at(450, 40, Int64), false},
		{"also a result", func(x, i *Tensor) *Tensor { return x.IndexSelect(0, i) }, table, at(90, 50, Int64), false},
	} {
		onBackends(t, func(t *testing.T) {
			want := c.f(c.x, c.i)
			f := Compile(c.f)
			got, err := f.Call(c.x, c.i)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if !slices.Equal(Data[float32](got.To(Float32)), Data[float32](want.To(Float32))) {
				t.Errorf("%s: not the bits of eager code", c.name)
			}
			p := (*f.c.Entries.Load())[0].Code.Plan.String()
			if fused := !strings.Contains(p, "routine index_select") && !strings.Contains(p, "routine gather"); fused != c.fused {
				t.Errorf("%s: fused %t, want %t\n%s", c.name, fused, c.fused, p)
			}
			if !c.fused {
				return
			}
			// A place that is out of range is refused as it is eagerly, and told with the line.
			for _, place := range []int{1000, -1000} {
				bad := c.i.Clone()
				bad.At(bad.Dim(0) - 1).Fill(place)
				if strings.HasPrefix(c.name, "twice") {
					bad = c.i.Sub(1000)
				}
				var e, ce *Error
				eager := Try(func() { c.f(c.x, bad) })
				_, compiled := f.Call(c.x, bad)
				if !errors.As(eager, &e) || !errors.As(compiled, &ce) || e.Op != ce.Op || e.Arg != ce.Arg || e.Kind != ce.Kind || !strings.HasPrefix(ce.Msg, e.Msg) {
					t.Errorf("%s: %v, eagerly %v", c.name, compiled, eager)
				} else if !strings.Contains(ce.Msg, "gather_test.go:") {
					t.Errorf("%s: the line is missing: %v", c.name, compiled)
				}
			}
			if _, err := f.Call(c.x, c.i); err != nil {
				t.Errorf("%s: after an error: %v", c.name, err)
			}
		})
	}
}
