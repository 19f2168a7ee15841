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
