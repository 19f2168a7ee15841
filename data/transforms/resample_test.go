package transforms_test

import (
	"fmt"
	"testing"

	"weft"
	tr "weft/data/transforms"
	"weft/internal/tensortest"
	"weft/nn"
)

// TestResizeHasTheBitsOfProducts: the routine of the CPU against products with matrices, which gradients
// take, on each backend. Sizes reach less than a vector, blocks, rests and several strips.
func TestResizeHasTheBitsOfProducts(t *testing.T) {
	g := weft.NewGenerator(5)
	f := g.Rand(2, 3, 150, 139)
	u := f.Mul(256).To(weft.Uint8)
	same := func(what string, x *weft.Tensor, r tr.Resize) {
		t.Helper()
		got := r.Apply(x, nil)
		want, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return r.Apply(x, nil) }).Call(x)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.SameBits(t, what, got, want)
		if x.DType() == weft.Float32 {
			tensortest.SameBits(t, what+" with a gradient", got, r.Apply(x.Clone().RequireGrad(), nil).Detach())
		}
	}
	tensortest.EachBackend(t, func(t *testing.T) {
		for i, size := range [][]int{{64, 91}, {3, 5}, {150, 37}, {70, 139}, {200, 171}, {1, 1}, {40, 260}} {
			for _, mode := range []nn.InterpolateMode{nn.ModeLinear, nn.ModeCubic} {
				r := tr.Resize{Size: size, Interpolation: new(mode), Antialias: new((i+int(mode))%3 != 0)}
				for _, x := range []*weft.Tensor{f.At(0), u.At(0)} {
					same(fmt.Sprintf("%s to %v, mode %d", x.DType(), size, mode), x, r)
				}
			}
		}
		r := tr.Resize{Size: []int{50, 66}}
		for _, x := range []*weft.Tensor{f, u} {
			same("a batch", x, r)
			same("a part", tr.Crop(x, 7, 5, 101, 90), r)
			same("mirrored", x.Flip(-1, -2), r)
			same("of points", x.MoveAxis(1, 3).Contiguous().MoveAxis(3, 1), r)
			same("turned", x.Transpose(-1, -2), tr.Resize{Size: []int{139, 50}})
		}
		if y := r.Apply(f.Slice(weft.Range(0, 0)), nil); y.Dim(0) != 0 || y.Dim(3) != 66 {
			t.Errorf("no pictures are resized to %v", y.Shape())
		}
	})
}
