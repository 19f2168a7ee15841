package nn_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
)

// TestAttentionInAllModes computes attention that is large enough for its routine, forward and back:
// eagerly, compiled, for examples of a batch. The bits are the same, also of grouped heads and of heads
// that are repeated.
func TestAttentionInAllModes(t *testing.T) {
	g := weft.NewGenerator(11)
	q, k, v := g.Randn(4, 300, 4), g.Randn(2, 310, 4), g.Randn(2, 310, 3)
	dy := g.Randn(4, 300, 3)
	mask := g.Rand(4, 300, 310).Lt(0.9)
	for name, o := range map[string]nn.AttentionOpts{
		"causal": {Causal: true}, "mask of heads": {Mask: mask}, "mask of keys": {Mask: mask.Slice(weft.Range(0, 1), weft.Range(0, 1))}, "floats": {Mask: g.Randn(300, 310)},
	} {
		o.Grouped = true
		step := func(q, k, v *weft.Tensor) []*weft.Tensor {
			q, k, v = q.Detach().RequireGrad(), k.Detach().RequireGrad(), v.Detach().RequireGrad()
			y := nn.ScaledDotProductAttention(q, k, v, o)
			return append(weft.Grad(y, []*weft.Tensor{q, k, v}, weft.GradOpts{Seeds: []*weft.Tensor{dy}}), y)
		}
		digests := func(results ...*weft.Tensor) (list []string) {
			for _, x := range results {
				list = append(list, weft.Digest(x))
			}
			return list
		}
		want := digests(step(q, k, v)...)
		same := func(what string, got []string) {
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s, %s: result %d differs", name, what, i)
				}
			}
		}
		compiled := weft.Compile(func(q, k, v *weft.Tensor) (_, _, _, _ *weft.Tensor) {
			r := step(q, k, v)
			return r[0], r[1], r[2], r[3]
		}).Func()
		r0, r1, r2, r3 := compiled(q, k, v)
		same("compiled", digests(r0, r1, r2, r3))
		o.Grouped = false
		k, v := k.RepeatInterleave(0, 2), v.RepeatInterleave(0, 2)
		d := step(q, k, v)
		for i := 1; i < 3; i++ {
			d[i] = d[i].Reshape(2, 2, 310, d[i].Dim(2)).Sum(1)
		}
		same("repeated", digests(d...))
		if m := o.Mask; m == nil || m.Rank() == 2 {
			each := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return nn.ScaledDotProductAttention(x[0], x[1], x[2], o) })
			d[3] = each(q, k, v)
			same("examples", digests(d...))
		}
	}
}

// TestAttentionDropsWeights has the bits, forward and back, of weights that are dropped by an operation
// of their own: values that are the identity give the weights. A compiled function makes a draw in each
// call.
func TestAttentionDropsWeights(t *testing.T) {
	g := weft.NewGenerator(12)
	for _, n := range []int{9, 530} { // by the formula and by the routine
		q, k, v, dy := g.Randn(n, 4), g.Randn(n, 4), g.Randn(n, 3), g.Randn(n, 3)
		run := func(f func(q, k, v *weft.Tensor) *weft.Tensor) []*weft.Tensor {
			q, k, v := q.Detach().RequireGrad(), k.Detach().RequireGrad(), v.Detach().RequireGrad()
			y := f(q, k, v)
			return append(weft.Grad(y, []*weft.Tensor{q, k, v}, weft.GradOpts{Seeds: []*weft.Tensor{dy}}), y)
		}
		drawn := weft.NewGenerator(5)
		want := run(func(q, k, v *weft.Tensor) *weft.Tensor {
			p := nn.ScaledDotProductAttention(q, k, weft.Eye(n), nn.AttentionOpts{Causal: true})
			return p.Dropout(0.4, drawn).MatMul(v)
		})
		o := nn.AttentionOpts{Causal: true, Dropout: 0.4, Generator: weft.NewGenerator(5)}
		drop := func(q, k, v *weft.Tensor) *weft.Tensor { return nn.ScaledDotProductAttention(q, k, v, o) }
		for i, got := range run(drop) {
			if weft.Digest(got.Add(0)) != weft.Digest(want[i].Add(0)) {
				t.Errorf("%d steps: result %d differs", n, i)
			}
		}
		second := weft.Digest(drop(q, k, v))
		o.Generator = weft.NewGenerator(5)
		compiled := weft.Compile(drop).Func()
		first := weft.Digest(compiled(q, k, v))
		if first != weft.Digest(want[3].Add(0)) || weft.Digest(compiled(q, k, v)) != second {
			t.Errorf("%d steps: compiled calls draw otherwise", n)
		}
	}
}

// TestAttentionTwice compares second derivatives with differences of first ones.
func TestAttentionTwice(t *testing.T) {
	at := weft.Data[float64](weft.NewGenerator(4).Randn(3 * (4 + 5 + 5) * 2).To(weft.Float64))
	for name, o := range map[string]nn.AttentionOpts{
		"plain": {}, "causal": {Causal: true}, "bool": {Mask: weft.FromSlice([]bool{true, false, true, true, true})},
	} {
		tensortest.Differences(t, name, func(x *weft.Tensor) *weft.Tensor {
			if !x.RequiresGrad() {
				x.RequireGrad()
			}
			part := func(from, rows int) *weft.Tensor {
				return x.Slice(weft.Range(from, from+6*rows)).Reshape(3, rows, 2)
			}
			q, k, v := part(0, 4), part(24, 5), part(54, 5)
			y := nn.ScaledDotProductAttention(q, k, v, o)
			d := weft.Grad(y.Square().Sum(), []*weft.Tensor{q, k, v}, weft.GradOpts{Create: true})
			return d[0].Square().Sum().Add(d[1].Mul(d[2]).Sum()).Add(d[2].Sin().Sum())
		}, at...)
	}
}
