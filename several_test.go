package weft

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Operations with several results: values, gradients of each result alone and of
// all together, second order, and what is saved.
func TestSeveralResults(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		x := FromSlice([]float64{3, 1, 2, 9, 7, 8}, 2, 3).RequireGrad()
		v, i := x.Sort(-1, SortOpts{})
		if got := Data[float64](v); !slices.Equal(got, []float64{1, 2, 3, 7, 8, 9}) {
			t.Errorf("sorted: %v", got)
		}
		if got := Data[int64](i); !slices.Equal(got, []int64{1, 2, 0, 1, 2, 0}) {
			t.Errorf("places: %v", got)
		}
		if i.RequiresGrad() || !v.RequiresGrad() {
			t.Error("only values have a gradient")
		}
		w := FromSlice([]float64{1, 10, 100, 1000, 1e4, 1e5}, 2, 3)
		v.Mul(w).Sum().Backward()
		if got := Data[float64](x.Grad()); !slices.Equal(got, []float64{100, 1, 10, 1e5, 1e3, 1e4}) {
			t.Errorf("gradient of sort: %v", got)
		}

		// d/dx of var + 3 mean of four numbers: 2(x-mean)/4 + 3/4, from one tape.
		y := FromSlice([]float64{1, 2, 4, 9}).RequireGrad()
		for _, c := range []struct {
			name      string
			loss      func(va, m *Tensor) *Tensor
			wantVar   float64
			wantMean  float64
			wantOnVar float64 // second derivative
		}{
			{"both", func(va, m *Tensor) *Tensor { return va.Add(m.Mul(3)) }, 1, 3, 1},
			{"var", func(va, m *Tensor) *Tensor { return va }, 1, 0, 1},
			{"mean", func(va, m *Tensor) *Tensor { return m.Mul(3) }, 0, 3, 0},
			{"twice", func(va, m *Tensor) *Tensor { return va.Add(va).Add(m) }, 2, 1, 2},
		} {
			va, m := y.VarMean()
			if va.Item() != 9.5 || m.Item() != 4 {
				t.Fatalf("var %v, mean %v", va, m)
			}
			g := Grad(c.loss(va, m), []*Tensor{y}, GradOpts{Create: true})[0]
			for k, x := range []float64{1, 2, 4, 9} {
				want := c.wantVar*(x-4)/2 + c.wantMean/4
				if got := g.At(k).Item(); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: gradient %d is %v, want %v", c.name, k, got, want)
				}
			}
			if c.wantOnVar == 0 {
				continue
			}
			// The second derivative of the variance: 2/4 on the diagonal less 2/16.
			h := Grad(g.At(0), []*Tensor{y})[0]
			for k := range 4 {
				want := -2. / 16 * c.wantOnVar
				if k == 0 {
					want += 2. / 4 * c.wantOnVar
				}
				if got := h.At(k).Item(); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: second derivative %d is %v, want %v", c.name, k, got, want)
				}
			}
		}
		// A result by itself can be asked for.
		va, m := y.VarMean()
		if g := Grad(va.Mul(m), []*Tensor{m}, GradOpts{})[0]; g.Item() != 9.5 {
			t.Errorf("gradient of a product by one factor: %v", g)
		}
		// A result that was overwritten is reported.
		s, at := x.Sort(0, SortOpts{Descending: true})
		at.Assign(0)
		if err := Try(func() { s.Sum().Backward() }); err == nil {
			t.Error("places that were overwritten were used")
		}
	})
	if err := Try(func() { Zeros(2, 3).Sort(2, SortOpts{}) }); err == nil {
		t.Error("an axis out of range is taken")
	}
	if err := Try(func() { Scalar(1).Sort(0, SortOpts{}) }); err == nil {
		t.Error("an array of no dimensions has an axis")
	}
}

func ExampleTensor_Sort() {
	values, index := FromSlice([]float32{3, 1, 2}).Sort(0, SortOpts{Descending: true})
	fmt.Println(values, index)
	// Output: [3. 2. 1.] [0 2 1]
}

func ExampleTensor_VarMean() {
	variance, mean := FromSlice([]float32{1, 2, 4, 9}).VarMean()
	fmt.Println(variance, mean)
	// Output: 9.5 4.0
}
