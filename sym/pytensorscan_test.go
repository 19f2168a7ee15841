package sym_test

import (
	"fmt"
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// scanCase is a loop of PyTensor's tests: what it computes of its inputs, and plain Go's answer.
type scanCase struct {
	name string
	in   []*sym.Var
	out  []*sym.Var
	args []any
	want [][]float64
}

// vec, steps and one shorten the cases.
func vec(v ...float64) *weft.Tensor { return weft.FromSlice(v) }

func scan(o sym.ScanOpts, f func(s sym.Step) sym.Next) *sym.Scanned { return sym.Scan(o, f) }

// states is a Next of states alone, kept one of outputs alone.
func states(h ...*sym.Var) sym.Next { return sym.Next{H: h} }

func kept(o ...*sym.Var) sym.Next { return sym.Next{Out: o} }

// TestPyTensorScans runs loops that PyTensor's tests run, and compares values and gradients with plain Go.
func TestPyTensorScans(t *testing.T) {
	for _, c := range append(scanValues(), scanGradients()...) {
		t.Run(c.name, func(t *testing.T) {
			got := call(t, c.in, c.out, c.args...)
			for i, want := range c.want {
				tensortest.Near(t, fmt.Sprint("result ", i), got[i].To(weft.Float64), want, 1e-12)
			}
		})
	}
}

func scanValues() []scanCase {
	x, y, c := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64), sym.Scalar("c", weft.Float64)
	n, m := sym.Scalar("n", weft.Int64), sym.Matrix("m", weft.Float64)
	in := []*sym.Var{x, y, c, n, m}
	args := []any{vec(1, 2, 3, 4, 5), vec(2, 0, 1, 0, 3), 0.5, 3, weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2)}
	rnn := func(s sym.Step) sym.Next { return states(s.X[0].Mul(0.3).Add(s.H[0].Mul(c))) }
	plus := func(s sym.Step) sym.Next { return kept(s.X[0].Add(1)) }
	forwards, backwards := []float64{}, []float64{}
	h, g := 2.0, 2.0
	for i := range 5 {
		h = 0.3*float64(i+1) + h*0.5
		g = 0.3*float64(5-i) + g*0.5
		forwards, backwards = append(forwards, h), append(backwards, g)
	}
	whileX := make([]float64, 50)
	whileX[23] = 4
	until := scan(sym.ScanOpts{Sequences: []any{x}, Trim: true}, func(s sym.Step) sym.Next {
		return sym.Next{Out: []*sym.Var{s.X[0].Add(1)}, Until: s.X[0].Gt(3)}
	})
	ones := make([]float64, 24)
	for i := range ones {
		ones[i] = 1
	}
	ones[23] = 5
	two := weft.ScalarOf(weft.Float64, 2.0)
	init := func(v float64) *sym.Var { return sym.Const(weft.ScalarOf(weft.Float64, v)) }
	fewer := scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{x.Slice(weft.Index(0))}, Steps: 2}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Add(s.X[0])}, Out: []*sym.Var{s.X[0].Add(1)}}
	})
	merged := func(z *sym.Var) *sym.Var { return scan(sym.ScanOpts{Sequences: []any{z}}, plus).Out[0] }
	inner := scan(sym.ScanOpts{Initial: []any{c}, Steps: 10}, func(s sym.Step) sym.Next { return states(s.H[0].Add(1)) })
	accum := scan(sym.ScanOpts{Initial: []any{init(0), init(1)}, Steps: 20}, func(s sym.Step) sym.Next {
		v := s.H[0].Add(s.H[1])
		return sym.Next{H: []*sym.Var{v, s.H[1].Add(1)}, Until: v.Gt(10)}
	})
	double := scan(sym.ScanOpts{Initial: []any{c}, Steps: n}, func(s sym.Step) sym.Next { return states(s.H[0].Mul(2)) })
	taps := func(z *sym.Var, at ...int) any { return sym.Taps{Var: z, At: at} }
	seven := scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		var o []*sym.Var
		for k := range 7 {
			o = append(o, s.X[0].Add(k+1))
		}
		return kept(o...)
	})
	last := func(v *sym.Var) *sym.Var { return v.Slice(weft.Index(-1)) }
	five := scan(sym.ScanOpts{Initial: []any{taps(y.Slice(weft.Range(0, 4)), -4, -1)}, Sequences: []any{x}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.X[0].Add(s.H[0])}, Out: []*sym.Var{s.H[0], s.H[1]}}
	})
	return []scanCase{
		{"a recurrence", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{init(2)}}, rnn).H[0]}, args, [][]float64{forwards}},
		{"backwards", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{init(2)}, Backwards: true}, rnn).H[0]}, args, [][]float64{backwards}},
		{"of a shared weight", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{sym.Shared("h", two)}}, rnn).H[0]}, args, [][]float64{forwards}},
		{"output alone", in, []*sym.Var{merged(x), merged(y)}, args, [][]float64{{2, 3, 4, 5, 6}, {3, 1, 2, 1, 4}}},
		{"merged loops", in, []*sym.Var{merged(x).Add(merged(x)), merged(x.Slice(weft.Range(0, 2)))}, args, [][]float64{{4, 6, 8, 10, 12}, {2, 3}}},
		{"a tap before", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{taps(x, -1)}}, func(s sym.Step) sym.Next { return kept(s.X[0]) }).Out[0]}, args, [][]float64{{1, 2, 3, 4}}},
		{"two taps before", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{taps(x, -2, -1)}}, func(s sym.Step) sym.Next { return kept(s.X[0]) }).Out[0]}, args, [][]float64{{1, 2, 3}}},
		{"a tap behind", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{taps(x, -1, 0, 2)}}, func(s sym.Step) sym.Next { return kept(s.X[0].Add(s.X[1].Mul(10)).Add(s.X[2].Mul(100))) }).Out[0]}, args, [][]float64{{421, 532}}},
		{"until", in, []*sym.Var{until.Out[0], until.Out[0].Len(0), until.Count}, []any{vec(whileX...), vec(), 0.0, 1, args[4]}, [][]float64{ones, {24}, {24}}},
		{"fewer steps", in, []*sym.Var{fewer.Out[0], fewer.H[0], fewer.Out[0].Len(0)}, args, [][]float64{{2, 3}, {2, 4}, {2}}},
		{"a loop over a loop", in, []*sym.Var{merged(inner.H[0])}, args, [][]float64{{2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5}}},
		{"until a sum", in, []*sym.Var{accum.Count, accum.Last[0], accum.Last[1]}, args, [][]float64{{5}, {15}, {6}}},
		{"variable steps", in, []*sym.Var{double.H[0], double.Last[0]}, args, [][]float64{{1, 2, 4}, {4}}},
		{"no steps", in, []*sym.Var{double.H[0], double.Last[0], merged(x)}, []any{vec(), vec(), 0.5, 0, args[4]}, [][]float64{{}, {0.5}, {}}},
		{"one step", in, []*sym.Var{double.H[0]}, []any{vec(), vec(), 0.5, 1, args[4]}, [][]float64{{1}}},
		{"constant input", in, []*sym.Var{scan(sym.ScanOpts{Steps: 2}, func(sym.Step) sym.Next { return kept(m.Mul(1)) }).Out[0]}, args, [][]float64{{1, 2, 3, 4, 1, 2, 3, 4}}},
		{"parts of kept states", in, []*sym.Var{last(seven.Out[0]), seven.Out[1].Slice(weft.Range(-3, -1)), seven.Out[3].Slice(weft.Range(0, 2)), seven.Out[6].Index(n)}, args, [][]float64{{6}, {5, 6}, {5, 6}, {11}}},
		{"a state of four before", in, []*sym.Var{five.H[0], five.Out[0], five.Out[1]}, args, [][]float64{{3, 2, 4, 4, 8}, {2, 0, 1, 0, 3}, {0, 3, 2, 4, 4}}},
		{"products of what is the same", in, []*sym.Var{scan(sym.ScanOpts{Initial: []any{vecVar(x, 2)}, Steps: 2}, func(s sym.Step) sym.Next {
			return states(s.H[0].MatMul(m.Add(m)))
		}).H[0]}, args, [][]float64{{14, 20, 2*14 + 6*20, 4*14 + 8*20}}},
		{"sum of outer products", in, []*sym.Var{sumOfOuter(m)}, args, [][]float64{{1*1 + 3*3, 1*2 + 3*4, 2*1 + 4*3, 2*2 + 4*4}}},
		{"rows of what is the same", in, []*sym.Var{scan(sym.ScanOpts{Sequences: []any{sym.Const(weft.FromSlice([]int64{1, 0, 1}))}}, func(s sym.Step) sym.Next {
			return kept(m.Index(s.X[0]))
		}).Out[0]}, args, [][]float64{{3, 4, 1, 2, 3, 4}}},
		{"a product with zeros", in, []*sym.Var{scan(sym.ScanOpts{Initial: []any{vecVar(x, 2)}, Steps: 2}, func(s sym.Step) sym.Next {
			return states(s.H[0].MatMul(m.Mul(sym.ZerosLike(m))))
		}).Last[0]}, args, [][]float64{{0, 0}}},
	}
}

// vecVar is the first n elements of x.
func vecVar(x *sym.Var, n int) *sym.Var { return x.Slice(weft.Range(0, n)) }

// sumOfOuter adds the outer products of the rows of m with themselves.
func sumOfOuter(m *sym.Var) *sym.Var {
	return scan(sym.ScanOpts{Sequences: []any{m}, Initial: []any{sym.ZerosOf(weft.Float64, 2, 2)}}, func(s sym.Step) sym.Next {
		return states(s.H[0].Add(s.X[0].Unsqueeze(1).Mul(s.X[0].Unsqueeze(0))))
	}).Last[0]
}

func scanGradients() []scanCase {
	x, c := sym.Vector("x", weft.Float64), sym.Scalar("c", weft.Float64)
	n, m := sym.Scalar("n", weft.Int64), sym.Matrix("m", weft.Float64)
	in := []*sym.Var{x, c, n, m}
	args := []any{vec(3, 1, -2, 0.5), 0.5, 3, weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2)}
	v, at := []float64{3, 1, -2, 0.5}, 0.5
	// A power series and its derivatives: the sum of v[k]*c^k.
	series := func(x, c *sym.Var) *sym.Var {
		return scan(sym.ScanOpts{Sequences: []any{x, sym.Arange(1000)}}, func(s sym.Step) sym.Next {
			return kept(s.X[0].Mul(c.Pow(s.X[1].To(weft.Float64))))
		}).Out[0].Sum()
	}
	p, d1, d2 := 0.0, 0.0, 0.0
	powers := make([]float64, len(v))
	for k, a := range v {
		f := float64(k)
		powers[k] = math.Pow(at, f)
		p += a * math.Pow(at, f)
		if k > 0 {
			d1 += a * f * math.Pow(at, f-1)
		}
		if k > 1 {
			d2 += a * f * (f - 1) * math.Pow(at, f-2)
		}
	}
	poly := series(x, c)
	slope := sym.Grad(poly, []*sym.Var{c})[0]
	scaled := scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next { return kept(s.X[0].Mul(c)) }).Out[0]
	doubled := scan(sym.ScanOpts{Initial: []any{c}, Steps: 5}, func(s sym.Step) sym.Next { return states(s.H[0].Mul(2)) }).H[0]
	until := func(trim bool) *sym.Var {
		return scan(sym.ScanOpts{Sequences: []any{x}, Trim: trim}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{s.X[0].Square().Mul(c)}, Until: s.X[0].Lt(0)}
		}).Out[0].Sum()
	}
	twice := scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		y := s.X[0].Add(c)
		return kept(y, y, sym.DisconnectedGrad(y), c)
	})
	integers := scan(sym.ScanOpts{Sequences: []any{x, sym.Const(weft.FromSlice([]int64{1, 3, 4, 6}))}, Initial: []any{c}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.X[0].Mul(s.H[0])}, Out: []*sym.Var{s.X[1].Mul(2)}}
	})
	tapped := scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{sym.Taps{Var: vecVar(x, 2), At: []int{-2, -1}}}}, func(s sym.Step) sym.Next {
		return states(s.H[0].Mul(s.X[0]).Add(s.H[1].Mul(c)))
	}).H[0].Sum()
	// A gradient in a step: of x[i]*c with respect to c.
	inside := scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		return kept(sym.Grad(s.X[0].Mul(c).Mul(c), []*sym.Var{c})[0])
	}).Out[0]
	truncated := scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{c}, Truncate: new(2)}, func(s sym.Step) sym.Next {
		return states(s.H[0].Mul(s.X[0]))
	}).Last[0]
	jacobian := sym.Jacobian(vecVar(x, 2).MatMul(m), x)[0]
	rop := sym.Rop([]*sym.Var{scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{c}}, func(s sym.Step) sym.Next {
		return states(s.H[0].Mul(s.X[0]))
	}).Last[0]}, []*sym.Var{c}, []*sym.Var{sym.OnesLike(c)})[0]
	return []scanCase{
		{"a power series", in, []*sym.Var{poly, slope, sym.Grad(slope, []*sym.Var{c})[0], sym.Grad(poly, []*sym.Var{x})[0]}, args, [][]float64{{p}, {d1}, {d2}, powers}},
		{"of a scale", in, []*sym.Var{sym.Grad(scaled.Sum(), []*sym.Var{c})[0]}, args, [][]float64{{2.5}}},
		{"of a state", in, []*sym.Var{sym.Grad(doubled.Sum(), []*sym.Var{c})[0]}, args, [][]float64{{2 + 4 + 8 + 16 + 32}}},
		{"until", in, []*sym.Var{sym.Grad(until(false), []*sym.Var{x})[0], sym.Grad(until(true), []*sym.Var{x})[0]}, args, [][]float64{{3, 1, -2, 0}, {3, 1, -2, 0}}},
		{"equal results", in, []*sym.Var{sym.Grad(twice.Out[0].Mul(2).Add(twice.Out[1]).Add(twice.Out[2]).Add(twice.Out[3]).Sum(), []*sym.Var{c})[0]}, args, [][]float64{{3*4 + 4}}},
		{"beside integers", in, []*sym.Var{integers.Out[0], sym.Grad(integers.H[0].Sum(), []*sym.Var{c})[0]}, args, [][]float64{{2, 6, 8, 12}, {3 + 3 - 6 - 3}}},
		{"through taps", in, []*sym.Var{sym.Grad(tapped, []*sym.Var{c})[0]}, args, [][]float64{{tapsByDifferences(v, at)}}},
		{"in a step", in, []*sym.Var{inside}, args, [][]float64{{3, 1, -2, 0.5}}},
		{"truncated", in, []*sym.Var{sym.Grad(truncated, []*sym.Var{x})[0]}, args, [][]float64{{0, 0, 0.5 * 3 * 1 * 0.5, 0.5 * 3 * 1 * -2}}},
		{"a Jacobian", in, []*sym.Var{jacobian.Slice(weft.All, weft.Range(0, 2))}, args, [][]float64{{1, 3, 2, 4}}},
		{"forwards", in, []*sym.Var{rop}, args, [][]float64{{3 * 1 * -2 * 0.5}}},
	}
}

// tapsByDifferences is the derivative of "through taps" by c: a cubic polynomial in c at most, for which
// central differences over one step with Richardson's correction are exact.
func tapsByDifferences(v []float64, c float64) float64 {
	f := func(c float64) float64 {
		a, b, sum := v[0], v[1], 0.0
		for _, x := range v {
			a, b = b, a*x+b*c
			sum += b
		}
		return sum
	}
	d := func(h float64) float64 { return (f(c+h) - f(c-h)) / (2 * h) }
	return (4*d(0.5) - d(1)) / 3
}
