package nn_test

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// A mask of bool is one of -Inf, in whichever way masks are mixed; causal is a triangle.
func TestAttentionMasks(t *testing.T) {
	const steps, batch, width = 4, 2, 6
	g := weft.NewGenerator(1)
	m := nn.NewMultiheadAttention(width, 3, nn.MultiheadAttentionOpts{Generator: g})
	x := g.Randn(steps, batch, width)
	padding := weft.FromSlice([]bool{false, false, true, false, false, false, false, true}, batch, steps)
	above := weft.FromSlice([]bool{false, true, true, true, false, false, true, true, false, false, false, true, false, false, false, false}, steps, steps)
	float := func(b *weft.Tensor) *weft.Tensor { return weft.Where(b, math.Inf(-1), 0.0) }
	want := m.Attend(x, x, x, nn.AttendOpts{KeyPadding: padding, Mask: above})
	for name, o := range map[string]nn.AttendOpts{
		"floats":         {KeyPadding: float(padding), Mask: float(above)},
		"bool and float": {KeyPadding: padding, Mask: float(above)},
		"float and bool": {KeyPadding: float(padding), Mask: above},
		"causal":         {KeyPadding: padding, Causal: true},
		"causal, floats": {KeyPadding: float(padding), Causal: true},
		"each head":      {KeyPadding: padding, Mask: weft.Stack([]*weft.Tensor{above, above, above, above, above, above}, 0)},
	} {
		if d := m.Attend(x, x, x, o).Sub(want).Abs().Max().Item(); !(d < 1e-6) {
			t.Errorf("%s: %v off", name, d)
		}
	}
	for _, c := range []struct {
		want string
		o    nn.AttendOpts
	}{
		{"KeyPadding: has shape [2], want [2 4]", nn.AttendOpts{KeyPadding: weft.Zeros(2)}},
		{"Mask: has shape [3 4], want [4 4] or [6 4 4]", nn.AttendOpts{Mask: weft.Zeros(3, 4)}},
		{"Mask: has elements of type int64, want bool or floats", nn.AttendOpts{Mask: weft.ZerosOf(weft.Int64, 4, 4)}},
	} {
		if err := weft.Try(func() { m.Attend(x, x, x, c.o) }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestAttentionUnderMaskOfAll has the bits of attention without a mask under one that hides nothing,
// forward and back, whatever the layout and whichever arguments need gradients; and so second
// derivatives. Some rows are computed by hand.
func TestAttentionUnderMaskOfAll(t *testing.T) {
	g := weft.NewGenerator(3)
	for name, c := range map[string]struct {
		q, k, v *weft.Tensor
		need    string
		causal  bool
	}{
		"one axis":    {g.Randn(17, 256, 8), g.Randn(17, 256, 8), g.Randn(17, 256, 5), "qkv", false},
		"lengths":     {g.Randn(2, 9, 240, 4), g.Randn(2, 9, 250, 4), g.Randn(2, 9, 250, 6), "qkv", false},
		"causal":      {g.Randn(2, 2, 5, 240, 4), g.Randn(2, 2, 5, 240, 4), g.Randn(2, 2, 5, 240, 4), "kv", true},
		"layout":      {g.Randn(240, 3, 6, 4).Permute(1, 2, 0, 3), g.Randn(3, 6, 4, 240).Transpose(-1, -2), g.Randn(3, 240, 6, 4).Transpose(1, 2), "qv", false},
		"one head":    {g.Randn(9, 400, 4), g.Randn(9, 420, 4), g.Randn(9, 420, 4), "q", false},
		"float64":     {g.Randn(17, 250, 4).To(weft.Float64), g.Randn(17, 250, 4).To(weft.Float64), g.Randn(17, 250, 4).To(weft.Float64), "k", true},
		"no gradient": {g.Randn(17, 256, 8), g.Randn(17, 256, 8), g.Randn(17, 256, 8), "", false},
	} {
		in := map[rune]*weft.Tensor{'q': c.q.Detach(), 'k': c.k.Detach(), 'v': c.v.Detach()}
		var need []*weft.Tensor
		for _, x := range c.need {
			need = append(need, in[x].RequireGrad())
		}
		q, k, v := in['q'], in['k'], in['v']
		dy := g.Randn(append(append([]int{}, q.Shape()[:q.Rank()-1]...), v.Dim(-1))...).To(q.DType())
		all := weft.FullOf(weft.Bool, true, q.Dim(-2), k.Dim(-2))
		digests := func(o nn.AttentionOpts) (list []string) {
			y := nn.ScaledDotProductAttention(q, k, v, o)
			list = append(list, weft.Digest(y))
			if need == nil {
				return list
			}
			for _, d := range weft.Grad(y, need, weft.GradOpts{Seeds: []*weft.Tensor{dy}}) {
				list = append(list, weft.Digest(d))
			}
			y = nn.ScaledDotProductAttention(q, k, v, o)
			first := weft.Grad(y, need, weft.GradOpts{Seeds: []*weft.Tensor{dy}, Create: true})
			for _, d := range weft.Grad(first[0].Square().Sum(), need[:1], weft.GradOpts{}) {
				list = append(list, weft.Digest(d))
			}
			return list
		}
		got, want := digests(nn.AttentionOpts{Causal: c.causal}), digests(nn.AttentionOpts{Causal: c.causal, Mask: all})
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: result %d differs", name, i)
			}
		}

		y := nn.ScaledDotProductAttention(q, k, v, nn.AttentionOpts{Causal: c.causal}).Detach()
		heads := y.Size() / y.Dim(-1) / y.Dim(-2)
		rows := func(x *weft.Tensor, head int) [][]float64 {
			x = x.Detach().Contiguous().Reshape(heads, x.Dim(-2), x.Dim(-1)).Slice(weft.Index(head)).To(weft.Float64)
			list := make([][]float64, x.Dim(0))
			for i, e := range weft.Data[float64](x) {
				list[i/x.Dim(1)] = append(list[i/x.Dim(1)], e)
			}
			return list
		}
		for _, head := range []int{0, heads / 2, heads - 1} {
			q, k, v, y := rows(q, head), rows(k, head), rows(v, head), rows(y, head)
			for _, i := range []int{0, 7, len(q) - 1} {
				sum, want := 0.0, make([]float64, len(v[0]))
				for j := range k {
					if c.causal && j > i {
						break
					}
					s := 0.0
					for e := range q[i] {
						s += q[i][e] * k[j][e]
					}
					s = math.Exp(s / math.Sqrt(float64(len(q[i]))))
					sum += s
					for e := range want {
						want[e] += s * v[j][e]
					}
				}
				for e := range want {
					if math.Abs(y[i][e]-want[e]/sum) > 1e-5 {
						t.Fatalf("%s: head %d, row %d, column %d: %v, want %v", name, head, i, e, y[i][e], want[e]/sum)
					}
				}
			}
		}
	}
}
