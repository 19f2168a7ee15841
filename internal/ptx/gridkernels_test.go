package ptx

import (
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// TestPtxasTakesKept assembles a softmax and a layer normalization of each type in variants that keep
// rows: of one warp, of several ones, and of all of a block.
func TestPtxasTakesKept(t *testing.T) {
	var kernels []*grid.Kernel
	for _, d := range []array.DType{array.Float32, array.Float64, array.BFloat16} {
		for _, p := range []*loop.Program{softmax(t, d), normalization(t, d)} {
			for _, level := range []grid.Variant{0, 2, 3, 4, 8, 10, 11, 12} {
				v := grid.Kept + level
				if !grid.Legal(p, v) {
					continue
				}
				for _, v := range []grid.Variant{v, v | grid.Whole} {
					k, err := grid.Lower(p, v)
					if err != nil {
						t.Fatal(err)
					}
					kernels = append(kernels, k)
				}
			}
		}
	}
	if len(kernels) < 60 {
		t.Errorf("%d kernels", len(kernels))
	}
	for _, target := range targets {
		spillNothing(t, target, kernels)
	}
}

// TestPtxasTakesWide assembles an exponential of each type of 2 bytes, and sums of bytes.
func TestPtxasTakesWide(t *testing.T) {
	var kernels []*grid.Kernel
	for _, d := range []array.DType{array.Float16, array.BFloat16, array.Int8, array.Uint8, array.Bool} {
		b := loop.NewBuilder("wide "+d.String(), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		x, y := b.Buf(d, false, loop.Any, loop.Unit), b.Buf(d, true, loop.Any, loop.Unit)
		b.Pass(func() {
			switch v := b.Load(x); loop.TypeOf(d) {
			case loop.B:
				b.Store(y, b.Not(v))
			case loop.F32:
				b.Store(y, vmath.Exp(b, v))
			default:
				b.Store(y, b.Add(v, v))
			}
		})
		k, err := grid.Lower(program(t, b), grid.FlatWide)
		if err != nil {
			t.Fatal(err)
		}
		kernels = append(kernels, k)
	}
	for _, target := range targets {
		spillNothing(t, target, kernels)
	}
}

func rows(name string) *loop.Builder {
	return loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
}

func program(t *testing.T, b *loop.Builder) *loop.Program {
	t.Helper()
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func softmax(t *testing.T, d array.DType) *loop.Program {
	b := rows("softmax " + d.String())
	x, y := b.Buf(d, false, loop.Any, loop.Unit), b.Buf(d, true, loop.Any, loop.Unit)
	var most, sum loop.Value
	b.Pass(func() { most = b.Reduce(loop.Max, b.Load(x)) })
	b.Pass(func() {
		e := vmath.Exp(b, b.Sub(b.Load(x), most))
		b.Store(y, e)
		sum = b.Reduce(loop.Sum, e)
	})
	b.Pass(func() { b.Store(y, b.Div(b.Load(y), sum)) })
	return program(t, b)
}

func normalization(t *testing.T, d array.DType) *loop.Program {
	b := rows("normalization " + d.String())
	x, y := b.Buf(d, false, loop.Any, loop.Unit), b.Buf(d, true, loop.Any, loop.Unit)
	weight, bias := b.Buf(d, false, loop.Zero, loop.Unit), b.Buf(d, false, loop.Zero, loop.Unit)
	n := b.Float(loop.TypeOf(d), 4096)
	var sum, squares loop.Value
	b.Pass(func() { sum = b.Reduce(loop.Sum, b.Load(x)) })
	mean := b.Div(sum, n)
	b.Pass(func() {
		c := b.Sub(b.Load(x), mean)
		squares = b.Reduce(loop.Sum, b.Mul(c, c))
	})
	scale := b.Div(b.Float(loop.TypeOf(d), 1), b.Sqrt(b.Div(squares, n)))
	b.Pass(func() { b.Store(y, b.Add(b.Mul(b.Mul(b.Sub(b.Load(x), mean), scale), b.Load(weight)), b.Load(bias))) })
	return program(t, b)
}
