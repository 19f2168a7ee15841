package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/tensortest"
	"weft/kernel"
)

// outsideOf is what a border reads, from the pictures of SciPy's documentation.
func outsideOf(b kernel.Border, i, n int) int {
	picture := map[kernel.Border]func(k int) int{ // place k of the pattern that is repeated
		kernel.Wrap:    func(k int) int { return k },
		kernel.Reflect: func(k int) int { return slices.Concat(seq(n), reversed(seq(n)))[k] },
		kernel.Mirror: func(k int) int {
			if n == 1 {
				return 0
			}
			return slices.Concat(seq(n), reversed(seq(n))[1:n-1])[k]
		},
	}
	period := map[kernel.Border]int{kernel.Wrap: n, kernel.Reflect: 2 * n, kernel.Mirror: max(2*n-2, 1)}[b]
	if b == kernel.Nearest {
		return min(max(i, 0), n-1)
	}
	for i < 0 {
		i += period
	}
	return picture[b](i % period)
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func TestStencilBorders(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	f := kernels.Func("Uneven")
	for _, shape := range [][2]int{{1, 1}, {2, 2}, {3, 5}, {20, 37}, {2, 100}, {0, 3}} {
		h, w := shape[0], shape[1]
		x := fill(r, h*w)
		tx := weft.FromSlice(x, h, w)
		for b := kernel.Constant; b <= kernel.Valid; b++ {
			got := f.Stencil(tx, kernel.StencilOpts{Border: b, Cval: 7})
			want := []float64{}
			gh, gw := h, w
			for i := range h {
				for j := range w {
					inside := i >= 1 && i+1 < h && j >= 1 && j+2 < w
					at := func(di, dj int) float64 {
						y, x0 := i+di, j+dj
						if y >= 0 && y < h && x0 >= 0 && x0 < w {
							return x[y*w+x0]
						}
						if b == kernel.Fill {
							return 7
						}
						return x[outsideOf(b, y, h)*w+outsideOf(b, x0, w)]
					}
					switch {
					case !inside && b == kernel.Constant:
						want = append(want, 7)
					case !inside && b == kernel.Valid:
					default:
						want = append(want, at(0, 0)+2*at(-1, 0)-3*at(1, 2)+0.5*at(0, -1))
					}
				}
			}
			if b == kernel.Valid {
				gh, gw = max(h-2, 0), max(w-3, 0)
			}
			if !slices.Equal(got.Shape(), []int{gh, gw}) {
				t.Fatalf("%s of %v: shape %v", b, shape, got.Shape())
			}
			if d := weft.Data[float64](got); !slices.Equal(d, want) && len(d)+len(want) > 0 {
				t.Fatalf("%s of %v: %v, want %v", b, shape, d, want)
			}
		}
	}
}

func TestStencilStep(t *testing.T) {
	x := weft.Arange[int](30).To(weft.Float64).Reshape(5, 6)
	for _, b := range []kernel.Border{kernel.Constant, kernel.Wrap, kernel.Valid} {
		all := kernels.Func("Uneven").Stencil(x, kernel.StencilOpts{Border: b})
		got := kernels.Func("Uneven").Stencil(x, kernel.StencilOpts{Border: b, Step: []int{2, 3}})
		want := all.Slice(weft.Range(0, all.Dim(0), 2), weft.Range(0, all.Dim(1), 3))
		if fmt.Sprint(weft.Data[float64](got), got.Shape()) != fmt.Sprint(weft.Data[float64](want), want.Shape()) {
			t.Errorf("%s: %v, want %v", b, got, want)
		}
	}
}

func TestStencilOut(t *testing.T) {
	x := weft.Ones(6)
	y := weft.FullOf(weft.Float32, 2, 8)
	out := []*weft.Tensor{weft.FullOf(weft.Float32, 9, 6), weft.FullOf(weft.Int32, 9, 6)}
	kernels.Func("Two").StencilAll(x, y, 3, kernel.StencilOpts{Out: out})
	if got, want := fmt.Sprint(weft.Data[float32](out[0]), weft.Data[int32](out[1])), "[9 5 5 5 5 9] [9 1 1 1 1 9]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	kernels.Func("Two").StencilAll(x, y, 3, kernel.StencilOpts{Out: out, Cval: 4})
	if got, want := fmt.Sprint(weft.Data[float32](out[0]), weft.Data[int32](out[1])), "[4 5 5 5 5 4] [4 1 1 1 1 4]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestStencilWindow(t *testing.T) {
	x := weft.Arange[int](10)
	if got, want := fmt.Sprint(weft.Data[int64](kernels.Func("Box").Stencil(x))), "[0 0 6 10 14 18 22 26 30 0]"; got != want {
		t.Errorf("box %s, want %s", got, want)
	}
	for _, w := range []int{0, 1, 3} {
		got := weft.Data[float32](kernels.Func("Window").Stencil(x.To(weft.Float32), w, kernel.StencilOpts{Neighborhood: [][2]int{{-3, 3}}}))
		for i, g := range got {
			want := float32(0)
			for d := -w; d <= w && i >= 3 && i+3 < 10; d++ {
				want += float32(i + d)
			}
			if g != want {
				t.Errorf("window %d at %d: %v, want %v", w, i, g, want)
			}
		}
	}
	e := kernels.Func("Where").Stencil(weft.Zeros(3, 4), kernel.StencilOpts{Border: kernel.Valid})
	if got := e.At(2, 3).ItemInt(); got != 3040203 {
		t.Errorf("element %d", got)
	}
}

// Gradients equal the gradients of the same sum of shifted arrays.
func TestStencilGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x := fill(r, 6*7)
	w := weft.FromSlice(fill(r, 42), 6, 7)
	for b := kernel.Constant; b < kernel.Valid; b++ {
		tx := weft.FromSlice(x, 6, 7).RequireGrad()
		loss := func(t *weft.Tensor) *weft.Tensor {
			return kernels.Func("Uneven").Stencil(t, kernel.StencilOpts{Border: b}).Mul(w).Sum()
		}
		loss(tx).Backward()
		g := weft.Data[float64](tx.Grad())
		for i := range x {
			e := slices.Clone(x)
			e[i]++
			up := loss(weft.FromSlice(e, 6, 7)).Item()
			e[i] -= 2
			down := loss(weft.FromSlice(e, 6, 7)).Item()
			if d := g[i] - (up-down)/2; d > 1e-12 || d < -1e-12 {
				t.Fatalf("%s: gradient %d is %v, want %v", b, i, g[i], (up-down)/2)
			}
		}
	}
}

// Steps on bands give what steps one after the other do, whatever the border.
func TestIterate(t *testing.T) {
	f := kernels.Func("Diffuse")
	for _, c := range []struct {
		name  string
		shape [2]int
		d     weft.DType
	}{
		{"Diffuse", [2]int{5, 7}, weft.Float32}, {"Diffuse", [2]int{130, 9000}, weft.Float32}, {"Diffuse", [2]int{3000, 300}, weft.Float32},
		{"Uneven", [2]int{130, 5000}, weft.Float64},
	} {
		f, shape := kernels.Func(c.name), c.shape
		x := weft.Rand(shape[0], shape[1]).To(c.d)
		for b := kernel.Constant; b < kernel.Valid; b++ {
			for _, cval := range []any{nil, 0.25} {
				if cval != nil && b != kernel.Constant && b != kernel.Fill {
					continue
				}
				want := x.Clone()
				const n = 19
				for range n {
					next := want.Clone()
					f.Stencil(want, kernel.StencilOpts{Border: b, Cval: cval, Out: []*weft.Tensor{next}})
					want = next
				}
				got, steps := f.Iterate(n, x, kernel.StencilOpts{Border: b, Cval: cval})
				if steps != n || weft.Digest(got[0]) != weft.Digest(want) {
					t.Fatalf("%v %s %v: differs after %d steps", shape, b, cval, steps)
				}
			}
		}
	}
	asked := []int{}
	_, steps := f.Iterate(100, weft.Rand(10, 10), kernel.IterateOpts{Every: new(7), Until: func(n int, before, after *weft.Tensor) bool {
		asked = append(asked, n)
		return n > 20
	}})
	if fmt.Sprint(steps, asked) != "21 [7 14 21]" {
		t.Errorf("%d steps, asked after %v", steps, asked)
	}
}

// Results may go where arguments are.
func TestStencilInPlace(t *testing.T) {
	x := weft.Rand(20, 30)
	want := kernels.Func("Diffuse").Stencil(x, kernel.StencilOpts{Border: kernel.Wrap})
	kernels.Func("Diffuse").Stencil(x, kernel.StencilOpts{Border: kernel.Wrap, Out: []*weft.Tensor{x}})
	if weft.Digest(x) != weft.Digest(want) {
		t.Error("differs in place")
	}
}

// Steps on nothing are no work.
func TestIterateOfEmptyArrays(t *testing.T) {
	got, steps := kernels.Func("Diffuse").Iterate(1<<61, weft.Zeros(0, 3))
	if steps != 1<<61 || got[0].Size() != 0 {
		t.Errorf("%d steps, shape %v", steps, got[0].Shape())
	}
}

// TestStencilStreams has a result that no cache holds: what is computed goes past the caches,
// the border does not, and all of it is what plain Go computes.
func TestStencilStreams(t *testing.T) {
	tensortest.SkipLate(t, "launches are counted when they run")
	f := kernels.Func("Uneven")
	const h, w = 1031, 2053
	x := fill(rand.New(rand.NewPCG(3, 4)), h*w)
	before := device.Get(0).Counters().Streamed.Load()
	y := f.Stencil(weft.FromSlice(x, h, w), kernel.StencilOpts{Cval: 7})
	if got := device.Get(0).Counters().Streamed.Load() - before; got != 1 && jit.Chosen().ISA != jit.Portable {
		t.Errorf("%d launches past the caches, want 1", got)
	}
	got := weft.Data[float64](y)
	for i := range h {
		for j := range w {
			want, at := 7.0, i*w+j
			if i >= 1 && i+1 < h && j >= 1 && j+2 < w {
				want = x[at] + float64(2*x[at-w]) - float64(3*x[at+w+2]) + float64(0.5*x[at-1])
			}
			if got[at] != want {
				t.Fatalf("element %d, %d is %v, want %v", i, j, got[at], want)
			}
		}
	}
}
