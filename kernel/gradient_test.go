package kernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/par"
	"weft/kernel"
)

//go:embed readkernels_test.go
var readSource string

var readKernels = kernel.MustParse(readSource)

// slope is the derivative of f at zero, by differences.
func slope(f func(h float64) float64) float64 {
	d := func(h float64) float64 { return (f(h) - f(-h)) / (2 * h) }
	const h = 1e-3
	return (d(2*h) - 20*d(h) + 64*d(h/2)) / 45
}

// A reader is a kernel with arrays and elements to call it with, and the plain function.
type reader struct {
	shapes [][]int     // of args
	args   [][]float64 // which are differentiated
	more   []*weft.Tensor
	order  []int // of the arguments of the kernel: into args, or behind them into more
	plain  func(args [][]float64, e int) []float64
	n      int // elements
}

// Gradients through arrays that are read whole, against differences of the plain function,
// and second ones against differences of the first.
func TestGradientThroughReads(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	rows, cols := make([]int64, 40), make([]int64, 40)
	xs := make([]float64, 40)
	for i := range rows {
		rows[i], cols[i], xs[i] = r.Int64N(7)-2, r.Int64N(7)-2, 4*r.Float64()-1.5
	}
	for i, x := range xs { // kinks are for others
		if math.Abs(x) < 0.05 || math.Abs(x-2) < 0.05 {
			xs[i] += 0.2
		}
	}
	cells := func(n int) []float64 {
		out := fill(r, n)
		for i, x := range out {
			if math.Abs(x-0.2) < 0.05 {
				out[i] += 0.2
			}
		}
		return out
	}
	within := func(n, scale int) []float64 { // no whole numbers
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(r.IntN(scale)) - 1 + 0.1 + 0.8*r.Float64()
		}
		return out
	}
	bounds := []int64{0, 1, 3, 9}
	cases := map[string]reader{
		"Surface": {n: 40, shapes: [][]int{{4, 5}, {40}, {40}}, args: [][]float64{fill(r, 20), within(40, 6), within(40, 7)}, order: []int{0, 1, 2},
			plain: func(a [][]float64, e int) []float64 {
				return []float64{Surface(kernel.Clamped2[float64]{Data: a[0], Shape: [2]int{4, 5}}, a[1][e], a[2][e])}
			}},
		"Ring": {n: 9, shapes: [][]int{{7}, {9}}, args: [][]float64{fill(r, 7), fill(r, 9)}, order: []int{0, 1},
			plain: func(a [][]float64, e int) []float64 {
				x, _, y := Ring(kernel.Elem{Place: []int{e}, Shape: []int{9}}, kernel.Wrapped1[float64]{Data: a[0], Shape: [1]int{7}}, a[1][e])
				return []float64{x, y}
			}},
		"Picked": {n: 40, shapes: [][]int{{4, 3}, {40}}, args: [][]float64{cells(12), xs}, order: []int{0, 2, 3, 1},
			more: []*weft.Tensor{weft.FromSlice(rows, 40), weft.FromSlice(cols, 40)},
			plain: func(a [][]float64, e int) []float64 {
				return []float64{Picked(kernel.Zeroed2[float64]{Data: a[0], Shape: [2]int{4, 3}}, rows[e], cols[e], a[1][e])}
			}},
		"Looked": {n: 40, shapes: [][]int{{4}}, args: [][]float64{fill(r, 4)}, order: []int{1, 0, 2},
			more: []*weft.Tensor{weft.FromSlice(bounds, 4), weft.FromSlice(rows, 40)},
			plain: func(a [][]float64, e int) []float64 {
				return []float64{Looked(kernel.Clamped1[int64]{Data: bounds, Shape: [1]int{4}}, kernel.Clamped1[float64]{Data: a[0], Shape: [1]int{4}}, rows[e])}
			}},
		"Third": {n: 6, shapes: [][]int{{3}, {6}}, args: [][]float64{fill(r, 3), fill(r, 6)}, order: []int{0, 1},
			plain: func(a [][]float64, e int) []float64 {
				return []float64{Third(kernel.Array1[float64]{Data: a[0], Shape: [1]int{3}}, a[1][e])}
			}},
		"Dims": {n: 5, shapes: [][]int{{4}, {5}}, args: [][]float64{fill(r, 4), within(5, 3)}, order: []int{0, 1},
			plain: func(a [][]float64, e int) []float64 {
				return []float64{Dims(kernel.Elem{Place: []int{e}, Shape: []int{5}}, kernel.Clamped1[float64]{Data: a[0], Shape: [1]int{4}}, a[1][e])}
			}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			weights := fill(r, 2*c.n)
			tensors := func(grad bool) (wrt []*weft.Tensor) {
				for i, a := range c.args {
					x := weft.FromSlice(slices.Clone(a), c.shapes[i]...)
					if grad {
						x = x.RequireGrad()
					}
					wrt = append(wrt, x)
				}
				return wrt
			}
			loss := func(wrt []*weft.Tensor) *weft.Tensor {
				var args []any
				for _, k := range c.order {
					args = append(args, append(slices.Clone(wrt), c.more...)[k])
				}
				sum, k := weft.Scalar(0.0), 0
				for _, y := range readKernels.Func(name).MapAll(args...) {
					if y.DType() == weft.Float64 {
						sum = sum.Add(y.Mul(weft.FromSlice(weights[k*c.n:(k+1)*c.n], c.n)).Sum())
						k++
					}
				}
				return sum
			}
			first := func(create bool) (wrt, g []*weft.Tensor) {
				wrt = tensors(true)
				return wrt, weft.Grad(loss(wrt), wrt, weft.GradOpts{Create: create})
			}
			wrt, g := first(true)
			norm := weft.Scalar(0.0)
			for _, x := range g {
				norm = norm.Add(x.Mul(x).Sum())
			}
			h := weft.Grad(norm, wrt)
			check := func(what string, got []*weft.Tensor, f func() float64, most float64) {
				for i, a := range c.args {
					for j, x := range a {
						want := slope(func(h float64) float64 {
							a[j] = x + h
							defer func() { a[j] = x }()
							return f()
						})
						if v := weft.Data[float64](got[i])[j]; !(math.Abs(v-want) <= most*(1+math.Abs(want))) {
							t.Errorf("%s by argument %d at %d: %v, want %v", what, i, j, v, want)
						}
					}
				}
			}
			check("first", g, func() float64 {
				sum := 0.0
				for e := range c.n {
					for k, y := range c.plain(c.args, e) {
						sum += y * weights[k*c.n+e]
					}
				}
				return sum
			}, 1e-8)
			check("second", h, func() float64 {
				_, g := first(false)
				sum := 0.0
				for _, x := range g {
					sum += x.Mul(x).Sum().Item()
				}
				return sum
			}, 1e-7)
		})
	}
}

func TestGradientThroughReadsOfOtherTypes(t *testing.T) {
	a := []complex128{1 + 2i, -1i, 0.5, 2 - 1i}
	x := weft.FromSlice(slices.Clone(a), 4).RequireGrad()
	z, at := weft.FromSlice([]complex128{1, 2i, -1 + 1i}, 3), weft.FromSlice([]int64{-1, 2, 6}, 3)
	y := readKernels.Func("Dial").Map(x, z, at)
	y.Mul(y.Conj()).Real().Sum().Backward()
	got := weft.Data[complex128](x.Grad())
	total := func() (s float64) {
		for i, z := range []complex128{1, 2i, -1 + 1i} {
			v := Dial(kernel.Wrapped1[complex128]{Data: a, Shape: [1]int{4}}, z, []int64{-1, 2, 6}[i])
			s += real(v)*real(v) + imag(v)*imag(v)
		}
		return s
	}
	for i, v := range a {
		part := func(d complex128) float64 {
			return slope(func(h float64) float64 {
				a[i] = v + complex(h, 0)*d
				defer func() { a[i] = v }()
				return total()
			})
		}
		if re, im := part(1), part(1i); math.Abs(real(got[i])-re)+math.Abs(imag(got[i])-im) > 1e-7 {
			t.Errorf("complex %d: %v, want %v", i, got[i], complex(re, im))
		}
	}
	// 2048 ones and more have no place in float16 when they are added one by one.
	h := weft.Zeros(2).To(weft.Float16).RequireGrad()
	readKernels.Func("Halves").Map(h, weft.ZerosOf(weft.Int64, 5000)).Sum().Backward()
	if g := h.Grad(); g.DType() != weft.Float16 || fmt.Sprint(weft.Data[float32](g.To(weft.Float32))) != "[10000 0]" {
		t.Errorf("of float16: %v", g)
	}
}

// The same bits on any number of threads; what needs no gradient costs none.
func TestGradientThroughReadsThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	n := 100_000
	at := make([]int64, n)
	for i := range at {
		at[i] = r.Int64N(50)
	}
	grid, xs, ys := fill(r, 20), fill(r, n), fill(r, n)
	defer par.SetThreads(par.SetThreads(0))
	var want []float64
	for _, threads := range []int{1, 2, 5} {
		par.SetThreads(threads)
		g := weft.FromSlice(grid, 4, 5).RequireGrad()
		readKernels.Func("Surface").Map(g, weft.FromSlice(xs, n).Mul(4), weft.FromSlice(ys, n).Mul(5)).Sum().Backward()
		got := weft.Data[float64](g.Grad())
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: %v, want %v", threads, got, want)
		}
	}
}

// What has no gradient is refused where it stands; without one it runs.
func TestGradientThroughReadsRefused(t *testing.T) {
	a := weft.FromSlice([]float64{1, 2, 3}, 3).RequireGrad()
	n := weft.FromSlice([]int64{2, 3}, 2)
	f := readKernels.Func("Endless")
	if got := fmt.Sprint(weft.Data[float64](f.Map(a.Detach(), n))); got != "[3 6]" {
		t.Error(got)
	}
	err := weft.Try(func() { f.Map(a, n).Sum().Backward() })
	if err == nil || !strings.Contains(err.Error(), "s += a.At(int(i))") || !strings.Contains(err.Error(), "WithVJP") {
		t.Errorf("refused with %v", err)
	}
}

// Gradients of running combinations, to second order, by differences: of a sum, for which
// there is a routine, and of maps, whose order counts.
func TestScanGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	for _, c := range []struct {
		name    string
		inputs  int
		reverse bool
	}{{"Affine2", 2, false}, {"Affine2", 2, true}, {"Plus", 1, false}, {"Plus", 1, true}} {
		const n, wide = 11, 2
		args, weights := make([][]float64, c.inputs), make([][]float64, c.inputs)
		for i := range args {
			args[i], weights[i] = fill(r, n*wide), fill(r, n*wide)
		}
		first := func(create bool) (wrt, g []*weft.Tensor) {
			var xs []any
			for _, a := range args {
				x := weft.FromSlice(slices.Clone(a), n, wide).RequireGrad()
				wrt, xs = append(wrt, x), append(xs, x)
			}
			loss := weft.Scalar(0.0)
			for i, y := range readKernels.Func(c.name).ScanAll(append(xs, kernel.ScanOpts{Axis: 0, Reverse: c.reverse})...) {
				loss = loss.Add(y.Mul(weft.FromSlice(weights[i], n, wide)).Sum())
			}
			return wrt, weft.Grad(loss, wrt, weft.GradOpts{Create: create})
		}
		plain := func() (sum float64) {
			for col := range wide {
				at := func(i int) int {
					if c.reverse {
						i = n - 1 - i
					}
					return i*wide + col
				}
				for i := range n {
					if c.inputs == 1 {
						sum += args[0][at(i)] * weighted(weights[0], at, i, n)
						continue
					}
					x, y := args[0][at(0)], args[1][at(0)]
					for k := 1; k <= i; k++ {
						x, y = Affine2(x, y, args[0][at(k)], args[1][at(k)])
					}
					sum += x*weights[0][at(i)] + y*weights[1][at(i)]
				}
			}
			return sum
		}
		wrt, g := first(c.inputs > 1)
		norm := func(g []*weft.Tensor) *weft.Tensor {
			sum := weft.Scalar(0.0)
			for _, x := range g {
				sum = sum.Add(x.Mul(x).Sum())
			}
			return sum
		}
		var h []*weft.Tensor
		if c.inputs > 1 { // that of a sum is constant
			h = weft.Grad(norm(g), wrt)
		}
		for i, a := range args {
			for j, x := range a {
				by := func(f func() float64) float64 {
					return slope(func(h float64) float64 {
						a[j] = x + h
						defer func() { a[j] = x }()
						return f()
					})
				}
				if got, want := weft.Data[float64](g[i])[j], by(plain); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Errorf("%s, reverse %v, by argument %d at %d: %v, want %v", c.name, c.reverse, i, j, got, want)
				}
				if h == nil {
					continue
				}
				want := by(func() float64 {
					_, g := first(false)
					return norm(g).Item()
				})
				if got := weft.Data[float64](h[i])[j]; !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
					t.Errorf("%s, reverse %v, twice by argument %d at %d: %v, want %v", c.name, c.reverse, i, j, got, want)
				}
			}
		}
	}
}

// weighted is how much element i of a running sum counts.
func weighted(w []float64, at func(i int) int, i, n int) (sum float64) {
	for ; i < n; i++ {
		sum += w[at(i)]
	}
	return sum
}
