package weft

import (
	"fmt"
	"math"
	"testing"
)

// rowFormulas are of rows, and read a row again after they have combined it: where such a
// kernel writes over what it reads, or keeps something in the memory of its result between
// passes, the row must still be there for the last pass.
var rowFormulas = map[string]struct {
	f    func(x *Tensor) *Tensor
	want func(row []float64) func(i int) float64 // sums over the row once
}{
	"softmax and itself": {
		func(x *Tensor) *Tensor { return x.Softmax(-1).Add(x) },
		func(r []float64) func(int) float64 {
			sum := total(r, math.Exp)
			return func(i int) float64 { return math.Exp(r[i])/sum + r[i] }
		},
	},
	"exp by its sum, times itself": {
		func(x *Tensor) *Tensor { e := x.Exp(); return e.Div(e.Sum(-1).Unsqueeze(-1)).Mul(x).Sub(e) },
		func(r []float64) func(int) float64 {
			sum := total(r, math.Exp)
			return func(i int) float64 { return math.Exp(r[i])/sum*r[i] - math.Exp(r[i]) }
		},
	},
	"tanh by its greatest, and itself": {
		func(x *Tensor) *Tensor { y := x.Tanh(); return y.Mul(y.Max(-1).Unsqueeze(-1)).Add(x) },
		func(r []float64) func(int) float64 {
			most := math.Inf(-1)
			for _, v := range r {
				most = max(most, math.Tanh(v))
			}
			return func(i int) float64 { return math.Tanh(r[i])*most + r[i] }
		},
	},
	"normal form": {
		func(x *Tensor) *Tensor {
			d := x.Sub(x.Mean(-1).Unsqueeze(-1))
			return d.Mul(d.Square().Mean(-1).Unsqueeze(-1).Add(0.5).Rsqrt()).Add(x.Square())
		},
		func(r []float64) func(int) float64 {
			n := float64(len(r))
			mean := total(r, func(v float64) float64 { return v }) / n
			square := total(r, func(v float64) float64 { return (v - mean) * (v - mean) }) / n
			return func(i int) float64 { return (r[i]-mean)/math.Sqrt(square+0.5) + r[i]*r[i] }
		},
	},
	"less its logsumexp": {
		func(x *Tensor) *Tensor { return x.Sub(x.LogSumExp(-1).Unsqueeze(-1)).Mul(x) },
		func(r []float64) func(int) float64 {
			sum := math.Log(total(r, math.Exp))
			return func(i int) float64 { return (r[i] - sum) * r[i] }
		},
	},
	"of the first element": {
		func(x *Tensor) *Tensor { return x.Exp().Mul(x.Slice(Ellipsis, Range(0, 1))) },
		func(r []float64) func(int) float64 {
			return func(i int) float64 { return math.Exp(r[i]) * r[0] }
		},
	},
	"reversed": {
		func(x *Tensor) *Tensor { return x.Sin().Add(x.Slice(Ellipsis, Range(-1, -1<<40, -1))) },
		func(r []float64) func(int) float64 {
			return func(i int) float64 { return math.Sin(r[i]) + r[len(r)-1-i] }
		},
	},
}

func total(r []float64, f func(float64) float64) (s float64) {
	for _, v := range r {
		s += f(v)
	}
	return s
}

// A kernel of rows whose first operand is its own output: an array that a formula of rows is
// assigned to which reads it, the argument of a compiled function and what it captures, and
// temporaries whose memory the result takes. Values are those of Go's math, and bits those of
// the same formula into memory of its own.
func TestRowKernelsOverTheirOperand(t *testing.T) {
	shapes := [][]int{{2, 3, 33}, {7, 64}, {3, 5}, {4, 300}, {1, 1}, {2, 5000}}
	if testing.Short() {
		shapes = shapes[:2]
	}
	for name, c := range rowFormulas {
		for _, shape := range shapes {
			for _, d := range []DType{Float32, Float64} {
				what := fmt.Sprintf("%s of %s %v", name, d, shape)
				n := shape[len(shape)-1]
				size := 1
				for _, k := range shape {
					size *= k
				}
				start := Arange(float64(size)).Add(1).Mul(1.7).Sin().Mul(2).Reshape(shape...).To(d)
				in := Data[float64](start.To(Float64).Reshape(-1))
				once := make([]float64, len(in))
				for lo := 0; lo < len(in); lo += n {
					want := c.want(in[lo : lo+n])
					for i := range n {
						once[lo+i] = want(i)
					}
				}
				limit := map[DType]float64{Float32: 2e-4, Float64: 1e-11}[d]
				near := func(way string, got *Tensor, want []float64) {
					t.Helper()
					for i, g := range Data[float64](got.To(Float64).Reshape(-1)) {
						if !(math.Abs(g-want[i]) <= limit*(1+math.Abs(want[i]))) {
							t.Fatalf("%s, %s: element %d is %v, want %v", what, way, i, g, want[i])
						}
					}
				}
				apart := c.f(start)
				near("apart", apart, once)
				same := func(way string, got *Tensor) {
					t.Helper()
					near(way, got, once)
					if Digest(got) != Digest(apart) {
						t.Errorf("%s, %s: other bits than in memory of its own", what, way)
					}
				}
				call := func(f *Compiled[func(*Tensor) *Tensor], x *Tensor) {
					t.Helper()
					if _, err := f.Call(x); err != nil {
						t.Fatal(err)
					}
				}
				x := start.Clone()
				same("assigned", x.Assign(c.f(x)))
				x = start.Clone()
				same("updated", x.Update(c.f))
				captured := start.Clone()
				f := Compile(func(one *Tensor) *Tensor { captured.Assign(c.f(captured)); return one.Add(1) })
				call(f, Ones(1))
				same("captured", captured)
				captured.Assign(start)
				call(f, Ones(1)) // as compiled
				same("captured, again", captured)
				x = start.Clone()
				g := Compile(func(x *Tensor) *Tensor { x.Assign(c.f(x)); return x.Sum() })
				call(g, x)
				same("argument", x)
				// Temporaries: what a product and an elementwise kernel give, that only the rows read.
				eye := Eye(n).To(d)
				h := Compile(func(x *Tensor) *Tensor { return c.f(c.f(x.MatMul(eye)).MatMul(eye)) })
				if n > 300 {
					h = Compile(func(x *Tensor) *Tensor { return c.f(c.f(x.Neg().Neg())) })
				}
				got, err := h.Call(start)
				if err != nil {
					t.Fatal(err)
				}
				want := c.f(apart)
				twice := make([]float64, len(in))
				first := Data[float64](apart.To(Float64).Reshape(-1))
				for lo := 0; lo < len(first); lo += n {
					want := c.want(first[lo : lo+n])
					for i := range n {
						twice[lo+i] = want(i)
					}
				}
				near("twice", got, twice)
				if Digest(got) != Digest(want) {
					t.Errorf("%s, twice: other bits than operation by operation", what)
				}
			}
		}
	}
}
