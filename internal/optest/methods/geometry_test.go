package methods_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"weft"
	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/nn"
)

// A parameter returns one of the values of a parameter of a geometry.
type parameter func(name string, values ...int) int

// geometries are operations that cut their work by the sizes of their arguments. Each asks for
// its parameters always in the same order, and returns what computes the results, or nil
// if the parameters do not go together.
var geometries = []struct {
	name string
	of   func(p parameter) func() []*weft.Tensor
}{
	{"conv2d", func(p parameter) func() []*weft.Tensor {
		n, groups := p("n", 1, 2, 5), p("groups", 1, 1, 2, 3)
		c, o := groups*p("c/groups", 1, 3, 16), groups*p("o/groups", 1, 2, 33)
		h, w := p("h", 1, 2, 7, 40), p("w", 1, 5, 31, 257, 1000)
		kh, kw := p("kh", 1, 3), p("kw", 1, 2, 3, 7)
		opts := weft.ConvOpts{Groups: &groups, Stride: &[2]int{p("stride h", 1, 2), p("stride w", 1, 3)},
			Padding: [2]int{p("pad h", 0, 1), p("pad w", 0, 2)}, Dilation: &[2]int{1, p("dilation", 1, 2)}}
		if kh > h+2*opts.Padding[0] || (kw-1)*opts.Dilation[1] >= w+2*opts.Padding[1] || n*h*w*c*o/groups*kh*kw > 2<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x, f := noise(1, 2, n, c, h, w).RequireGrad(), noise(2, 2, o, c/groups, kh, kw).RequireGrad()
			y := x.Conv2d(f, noise(3, 1, o), opts)
			y.Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			return []*weft.Tensor{y, x.Grad(), f.Grad()}
		}
	}},
	{"conv1d", func(p parameter) func() []*weft.Tensor {
		n, c, o, l := p("n", 1, 2, 3), p("c", 1, 2, 20), p("o", 1, 6, 40), p("l", 1, 2, 13, 300, 3001)
		k, opts := p("k", 1, 3, 10), weft.Conv1dOpts{Stride: new(p("stride", 1, 2, 5)), Padding: p("pad", 0, 1, 9), Dilation: new(p("dilation", 1, 3))}
		if (k-1)**opts.Dilation >= l+2*opts.Padding || n*c*o*l*k > 2<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x, f := noise(1, 2, n, c, l).RequireGrad(), noise(2, 2, o, c, k).RequireGrad()
			y := x.Conv1d(f, nil, opts)
			y.Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			return []*weft.Tensor{y, x.Grad(), f.Grad()}
		}
	}},
	{"conv_transpose2d", func(p parameter) func() []*weft.Tensor {
		n, c, o := p("n", 1, 3), p("c", 1, 4, 17), p("o", 1, 3, 32)
		h, w, kh, kw := p("h", 1, 3, 10), p("w", 1, 6, 31, 100), p("kh", 1, 2, 4), p("kw", 1, 3, 4)
		opts := weft.ConvTransposeOpts{Stride: &[2]int{p("stride h", 1, 2, 4), p("stride w", 1, 2, 3)}, Padding: [2]int{0, p("pad", 0, 1)}}
		if (w-1)*opts.Stride[1]+kw <= 2*opts.Padding[1] || n*c*o*h*w*kh*kw > 2<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x, f := noise(1, 2, n, c, h, w).RequireGrad(), noise(2, 2, c, o, kh, kw).RequireGrad()
			y := x.ConvTranspose2d(f, nil, opts)
			y.Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			return []*weft.Tensor{y, x.Grad(), f.Grad()}
		}
	}},
	{"pooling", func(p parameter) func() []*weft.Tensor {
		planes, h, w, greatest := p("planes", 1, 2, 7, 67), p("h", 1, 2, 9, 64, 401), p("w", 1, 3, 32, 100, 1001), p("max", 0, 1) == 1
		o := weft.PoolOpts{Window: [2]int{p("kh", 1, 2, 3, 9), p("kw", 1, 2, 3, 17)}, Padding: [2]int{p("pad h", 0, 1), p("pad w", 0, 1)}}
		if stride := [2]int{p("stride h", 1, 2, 0), p("stride w", 1, 2, 5)}; stride[0] > 0 {
			o.Stride = &stride
		}
		if o.Padding[0] >= o.Window[0] || o.Padding[1] >= o.Window[1] || o.Window[0] > h+2*o.Padding[0] || o.Window[1] > w+2*o.Padding[1] || planes*h*w*o.Window[0]*o.Window[1] > 8<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x := noise(1, 2, 1, planes, h, w).RequireGrad()
			y := x.AvgPool2d
			if greatest {
				y = x.MaxPool2d
			}
			r := y(o)
			r.Mul(noise(4, 1, r.Shape()...)).Sum().Backward()
			return []*weft.Tensor{r, x.Grad()}
		}
	}},
	{"matmul", func(p parameter) func() []*weft.Tensor {
		batch, m, k, n := p("batch", 1, 3), p("m", 1, 2, 17, 129, 500), p("k", 0, 1, 7, 256, 1031, 20000), p("n", 1, 3, 16, 97, 640)
		at, bt := p("a transposed", 0, 1) == 1, p("b transposed", 0, 1) == 1
		if batch*m*k*n > 4<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			a, b := noise(1, 2, batch, m, k), noise(2, 2, batch, k, n)
			if at {
				a = noise(1, 2, batch, k, m).Transpose(1, 2)
			}
			if bt {
				b = noise(2, 2, batch, n, k).Transpose(1, 2)
			}
			return []*weft.Tensor{a.MatMul(b)}
		}
	}},
	{"reductions", func(p parameter) func() []*weft.Tensor {
		a, b, c := p("a", 0, 1, 2, 31, 600), p("b", 1, 3, 64, 257), p("c", 1, 2, 16, 100, 3001)
		axis, what := p("axis", 0, 1, 2, 3), p("what", 0, 1, 2, 3, 4, 5)
		if a*b*c > 2<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x, axes := noise(1, 2, a, b, c), []int{axis}
			if axis == 3 {
				axes = nil
			}
			switch {
			case what == 1 && a > 0:
				return []*weft.Tensor{x.Max(axes...)}
			case what == 2 && axis < 3 && a > 0:
				return []*weft.Tensor{x.ArgMax(axis), x.Softmax(axis)}
			case what == 3:
				return []*weft.Tensor{x.Prod(axes...), x.LogSumExp(axes...)}
			case what == 4:
				return []*weft.Tensor{x.Var(axes...), x.Gt(0).All(axes...)}
			case what == 5:
				return []*weft.Tensor{x.Tril(0).Sum(axes...)}
			}
			return []*weft.Tensor{x.Sum(axes...), x.Mean(axes...)}
		}
	}},
	{"order and running", func(p parameter) func() []*weft.Tensor {
		rows, cols, axis, what := p("rows", 1, 2, 7, 300, 5000), p("cols", 1, 3, 64, 513, 20000), p("axis", 0, 1), p("what", 0, 1, 2, 3, 4)
		if rows*cols > 1<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x := noise(1, 2, rows, cols)
			switch what {
			case 0:
				v, i := x.Sort(axis, weft.SortOpts{})
				return []*weft.Tensor{v, i}
			case 1:
				v, i := x.TopK(1, axis, weft.TopKOpts{})
				return []*weft.Tensor{v, i}
			case 2:
				v, i := x.CumMax(axis)
				return []*weft.Tensor{v, i}
			case 3:
				return []*weft.Tensor{x.CumProd(axis), x.Median(axis)}
			}
			return []*weft.Tensor{x.CumSum(axis)}
		}
	}},
	{"places", func(p parameter) func() []*weft.Tensor {
		a, b, c, what := p("a", 1, 2, 5, 97, 2000), p("b", 1, 3, 16, 255), p("c", 1, 2, 8, 33), p("what", 0, 1, 2, 3, 4)
		if a*b*c > 1<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x := noise(1, 2, a, b, c).RequireGrad()
			at := weft.Arange(3*a + 1).Mul(7).Mod(a)
			var y *weft.Tensor
			switch what {
			case 0:
				y = x.Permute(2, 0, 1).Contiguous()
			case 1:
				y = x.IndexSelect(0, at)
			case 2:
				y = x.Transpose(0, 1).Contiguous().Add(1).Transpose(1, 2).Contiguous()
			case 3:
				return []*weft.Tensor{x.MaskSelect(x.Gt(0)), x.Gt(0).NonZero()}
			default:
				y = x.Pad(0, 1, 0, 0, 2, 1, 3).Roll(1, 5).Flip(2).Repeat(1, 2, 1)
			}
			y.Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			return []*weft.Tensor{y, x.Grad()}
		}
	}},
	{"stencils", func(p parameter) func() []*weft.Tensor {
		rows, cols, step := p("rows", 1, 2, 3, 31, 700), p("cols", 1, 4, 65, 1000), p("step", 1, 2, 5)
		border := p("border", 0, 1, 2, 3, 4, 5)
		if rows*cols > 1<<19 {
			return nil
		}
		return func() []*weft.Tensor {
			x := noise(1, 2, rows, cols).RequireGrad()
			y := neighbours.Func("Star").Stencil(x, kernel.StencilOpts{Border: kernel.Border(border), Step: []int{step, 1}})
			y.Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			z := neighbours.Func("Line").Stencil(noise(1, 2, rows*cols), kernel.StencilOpts{Border: kernel.Border(border)})
			return []*weft.Tensor{y, x.Grad(), z}
		}
	}},
	{"kernels over axes", func(p parameter) func() []*weft.Tensor {
		rows, cols, axis := p("rows", 1, 2, 13, 997), p("cols", 1, 3, 128, 1023), p("axis", 0, 1)
		return func() []*weft.Tensor {
			x := noise(1, 2, rows, cols)
			f := neighbours.Func("Least")
			return []*weft.Tensor{f.Reduce(x, kernel.ReduceOpts{Axes: []int{axis}}), f.Scan(x, kernel.ScanOpts{Axis: axis})}
		}
	}},
	{"resized", func(p parameter) func() []*weft.Tensor {
		planes, h, w := p("planes", 1, 3, 32), p("h", 1, 2, 17, 101), p("w", 1, 3, 64, 99)
		oh, ow, bilinear := p("oh", 1, 5, 64), p("ow", 1, 2, 100), p("bilinear", 0, 1) == 1
		return func() []*weft.Tensor {
			x := noise(1, 2, 1, planes, h, w).RequireGrad()
			y := nn.Upsample{Size: &[2]int{oh, ow}, Bilinear: bilinear}.Forward(x)
			z := nn.AdaptiveAvgPool2d{Size: [2]*int{&oh, &ow}}.Forward(x)
			y.Add(z).Mul(noise(4, 1, y.Shape()...)).Sum().Backward()
			return []*weft.Tensor{y, z, x.Grad()}
		}
	}},
	{"elementwise", func(p parameter) func() []*weft.Tensor {
		a, b, c := p("a", 1, 2, 17, 1000), p("b", 1, 3, 64, 501), p("c", 1, 2, 15, 16, 1025)
		if a*b*c > 1<<20 {
			return nil
		}
		return func() []*weft.Tensor {
			x, y := noise(1, 2, a, 1, c), noise(2, 2, b, 1)
			return []*weft.Tensor{x.Mul(y).Tanh(), x.T().Sub(3), y.Div(x).Gt(0)}
		}
	}},
}

// noise returns random numbers from -scale/2 to scale/2, determined by seed.
func noise(seed uint64, scale float64, shape ...int) *weft.Tensor {
	return weft.NewGenerator(seed).Rand(shape...).Sub(0.5).Mul(scale)
}

var neighbours = kernel.MustParse(`package k
import "weft/kernel"
func Star(a kernel.Near2[float32]) float32 { return a.At(-1, 0) + a.At(1, 0) - a.At(0, -2)*a.At(0, 3) }
func Line(a kernel.Near1[float32]) float32 { return a.At(-7) - a.At(5)*a.At(0) }
func Least(a, b float32) float32 { if a < b { return a }; return b }
`)

// threadsOfGeometries are the numbers of threads tested. Some exceed the processors of the machine.
var threadsOfGeometries = []int{1, 2, 3, 8, 16, 64}

// TestGeometries computes a pairwise sample of the sizes of every geometry, on each number of
// threads, by machine code. Each computation ends within a deadline and has the bits of the
// portable code on one thread.
func TestGeometries(t *testing.T) {
	count := 200
	if n, err := strconv.Atoi(os.Getenv("WEFT_GEOMETRIES")); err == nil {
		count = n
	}
	if testing.Short() {
		count = len(geometries)
	}
	best := device.Get(0).(interface{ ISA() jit.ISA }).ISA()
	defer tensortest.SetBackend(best)
	defer par.SetThreads(par.SetThreads(1))
	hot, cold := tile.ThreadHot, tile.ThreadCold
	defer func() { tile.ThreadHot, tile.ThreadCold = hot, cold }()
	tile.ThreadHot, tile.ThreadCold = 0, 0 // no product is too small for threads

	type sampled struct {
		name    string
		threads int
		compute func() []*weft.Tensor
		got     string
	}
	var cases []sampled
	for i, g := range geometries {
		r := rand.New(rand.NewPCG(uint64(i), 26))
		met := map[[4]int]bool{}
		for range count / len(geometries) {
			var next sampled
			var pairs [][4]int
			for range 30 { // the draw with the most pairs that have not met
				var of [][2]int
				name := g.name
				draw := func(what string, values ...int) int {
					k := r.IntN(len(values))
					of = append(of, [2]int{len(of), k})
					name += fmt.Sprintf(", %s %d", what, values[k])
					return values[k]
				}
				threads := draw("threads", threadsOfGeometries...)
				compute := g.of(draw)
				if compute == nil {
					continue
				}
				var fresh [][4]int
				for i, a := range of {
					for _, b := range of[:i] {
						if k := [4]int{a[0], a[1], b[0], b[1]}; !met[k] {
							fresh = append(fresh, k)
						}
					}
				}
				if next.compute == nil || len(fresh) > len(pairs) {
					next, pairs = sampled{name: name, threads: threads, compute: compute}, fresh
				}
			}
			if next.compute == nil {
				t.Fatalf("%s: no draw of 30 has parameters that go together", g.name)
			}
			for _, k := range pairs {
				met[k] = true
			}
			cases = append(cases, next)
		}
	}
	// By machine code first, then by portable code: changing the backend forgets all plans.
	for i := range cases {
		c := &cases[i]
		par.SetThreads(c.threads)
		c.got = soon(t, c.name, c.compute)
	}
	tensortest.SetBackend(jit.Portable)
	par.SetThreads(1)
	for _, c := range cases {
		if want := soon(t, c.name, c.compute); c.got != want {
			t.Errorf("%s: by %s digest %s, by portable code on one thread %s", c.name, best, c.got, want)
		}
	}
}

// soon returns the digest of what f computes, or ends the test if that takes a minute.
func soon(t *testing.T, name string, f func() []*weft.Tensor) string {
	done := make(chan string, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Sprint("panic: ", v)
			}
		}()
		done <- weft.Digest(f()...)
	}()
	select {
	case s := <-done:
		if len(s) > 6 && s[:6] == "panic:" {
			t.Fatalf("%s: %s", name, s)
		}
		return s
	case <-time.After(time.Minute):
		t.Fatalf("%s: not done after a minute", name)
		return ""
	}
}
