package optest

import (
	"math"
	"slices"
	"testing"
	"time"

	"weft"
	"weft/internal/cpu"
	"weft/internal/cpu/codegen"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/optim"
	"weft/sym"
)

// Calls of compiled functions with lengths that are new: batches, sequences, rows.

// A lengthCase is a function of arrays with an axis of n elements.
type lengthCase struct {
	name string
	args func(g *weft.Generator, n int) []*weft.Tensor
	// compiled and eager compute the same. A step of training has a model for each.
	compiled, eager func(args ...*weft.Tensor) *weft.Tensor
	// rounds holds where eager adds up in another order.
	rounds bool
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// function returns the case of a function of one array.
func function(name string, shape func(n int) []int, f func(x *weft.Tensor) *weft.Tensor) lengthCase {
	compiled := weft.Compile(f).Func()
	return lengthCase{
		name:     name,
		args:     func(g *weft.Generator, n int) []*weft.Tensor { return []*weft.Tensor{g.Randn(shape(n)...)} },
		compiled: func(args ...*weft.Tensor) *weft.Tensor { return compiled(args[0]) },
		eager:    func(args ...*weft.Tensor) *weft.Tensor { return f(args[0]) },
	}
}

// training returns the case of steps of training of a module.
func training[M any](name string, m M, loss func(m M, x, y *weft.Tensor) *weft.Tensor, args func(g *weft.Generator, n int) []*weft.Tensor) lengthCase {
	step := func(m M) func(x, y *weft.Tensor) *weft.Tensor {
		opt := optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.01)})
		return func(x, y *weft.Tensor) *weft.Tensor {
			l := loss(m, x, y)
			l.Backward()
			opt.Step()
			opt.ZeroGrad()
			return l
		}
	}
	eager, compiled := step(nn.Copy(m)), weft.Compile(step(m)).Func()
	return lengthCase{
		name:     name,
		args:     args,
		compiled: func(args ...*weft.Tensor) *weft.Tensor { return compiled(args[0], args[1]) },
		eager:    func(args ...*weft.Tensor) *weft.Tensor { return eager(args[0], args[1]) },
	}
}

type perceptron struct{ A, B *nn.Linear }

func perceptronCase() lengthCase {
	m := &perceptron{nn.NewLinear(784, 500), nn.NewLinear(500, 10)}
	return training("training step 784-500-10", m, func(m *perceptron, x, y *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(m.B.Forward(m.A.Forward(x).Tanh()), y)
	}, func(g *weft.Generator, n int) []*weft.Tensor {
		return []*weft.Tensor{g.Randn(n, 784), g.Randint(0, 10, n)}
	})
}

type pictures struct {
	A, B *nn.Conv2d
	C    *nn.Linear
}

func picturesCase() lengthCase {
	pool := weft.PoolOpts{Window: [2]int{2, 2}}
	m := &pictures{nn.NewConv2d(1, 8, 5), nn.NewConv2d(8, 16, 3), nn.NewLinear(16*5*5, 10)}
	return training("training step of convolutions", m, func(m *pictures, x, y *weft.Tensor) *weft.Tensor {
		x = m.B.Forward(m.A.Forward(x).Relu().MaxPool2d(pool)).Relu().MaxPool2d(pool)
		return weft.CrossEntropy(m.C.Forward(x.Flatten(1)), y)
	}, func(g *weft.Generator, n int) []*weft.Tensor {
		return []*weft.Tensor{g.Randn(n, 1, 28, 28), g.Randint(0, 10, n)}
	})
}

type transformer struct {
	Norm1, Norm2 *nn.LayerNorm
	Attention    *nn.MultiheadAttention
	Up, Down     *nn.Linear
}

func transformerCase() lengthCase {
	const width = 64
	m := &transformer{nn.NewLayerNorm([]int{width}), nn.NewLayerNorm([]int{width}), nn.NewMultiheadAttention(width, 4), nn.NewLinear(width, 4*width), nn.NewLinear(4*width, width)}
	return training("training step of a transformer", m, func(m *transformer, x, y *weft.Tensor) *weft.Tensor {
		h := m.Norm1.Forward(x)
		x = x.Add(m.Attention.Attend(h, h, h, nn.AttendOpts{Causal: true}))
		x = x.Add(m.Down.Forward(m.Up.Forward(m.Norm2.Forward(x)).Gelu()))
		return x.Sub(y).Square().Mean()
	}, func(g *weft.Generator, n int) []*weft.Tensor {
		return []*weft.Tensor{g.Randn(2, n, width), g.Randn(2, n, width)}
	})
}

// recurrentCase is the gradient of a recurrent network by Scan, over sequences of n steps.
func recurrentCase() lengthCase {
	const batch, width = 8, 32
	W := weft.NewGenerator(2).Randn(width, width).Mul(0.1)
	x, h0, w := sym.Tensor3("x", weft.Float32), sym.Matrix("h0", weft.Float32), sym.Shared("w", W)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.X[0].Add(s.H[0].MatMul(w)).Tanh()}}
	})
	dw := sym.Grad(r.Last[0].Square().Sum(), []*sym.Var{w})
	f := must(sym.Function(sym.In(x, h0), sym.Out(dw[0])))
	return lengthCase{
		name: "recurrent network by Scan",
		args: func(g *weft.Generator, n int) []*weft.Tensor {
			return []*weft.Tensor{g.Randn(n, batch, width), weft.Zeros(batch, width)}
		},
		compiled: func(args ...*weft.Tensor) *weft.Tensor { return must(f.Call(args[0], args[1]))[0] },
		eager: func(args ...*weft.Tensor) *weft.Tensor {
			w, h := W.Clone().RequireGrad(), args[1]
			for i := range args[0].Shape()[0] {
				h = args[0].Slice(weft.Index(i)).Add(h.MatMul(w)).Tanh()
			}
			h.Square().Sum().Backward()
			return w.Grad()
		},
		rounds: true,
	}
}

func lengthCases() []lengthCase {
	layerNorm := func(x *weft.Tensor) *weft.Tensor {
		d := x.Sub(x.Mean(-1).Unsqueeze(-1))
		return d.Div(d.Square().Mean(-1).Unsqueeze(-1).Add(1e-5).Sqrt())
	}
	softmax := func(x *weft.Tensor) *weft.Tensor { return x.Softmax(-1) }
	rows := func(cols int) func(n int) []int { return func(n int) []int { return []int{n, cols} } }
	columns := func(rows int) func(n int) []int { return func(n int) []int { return []int{rows, n} } }
	return []lengthCase{
		function("formula", func(n int) []int { return []int{n} }, func(x *weft.Tensor) *weft.Tensor {
			return x.Mul(2).Add(x.Exp().Mul(3)).Tanh().Sub(x.Square())
		}),
		function("softmax of n rows", rows(768), softmax),
		function("softmax of rows of n", columns(16), softmax),
		function("softmax of many rows of n", columns(1024), softmax),
		function("layer norm of n rows", rows(768), layerNorm),
		function("layer norm of rows of n", columns(16), layerNorm),
		function("layer norm of many rows of n", columns(1024), layerNorm),
		function("statistics of n rows", rows(64), func(x *weft.Tensor) *weft.Tensor { return x.Sub(x.Mean(0)).Square().Sum(0) }),
		perceptronCase(), picturesCase(), transformerCase(), recurrentCase(),
	}
}

// specialiseAfter sets after how many launches a length gets code of its own, for one test. With the
// largest number routines have no code for sizes either.
func specialiseAfter(t testing.TB, launches int64) {
	old := cpu.GeneralLaunches
	work := codegen.GeneralWork
	if cpu.GeneralLaunches = launches; launches == math.MaxInt64 {
		codegen.GeneralWork = math.MaxInt64
	}
	t.Cleanup(func() { cpu.GeneralLaunches, codegen.GeneralWork = old, work })
}

// A call with a length that is new compiles no kernel after calls with two other lengths: kernels
// hold no lengths. Its results have the bits of eager calls.
func TestNewLengthCompilesNothing(t *testing.T) {
	specialiseAfter(t, math.MaxInt64)
	seen, fresh := []int{20, 150}, []int{37, 33, 50}
	for _, c := range lengthCases() {
		t.Run(c.name, func(t *testing.T) {
			g := weft.NewGenerator(1)
			var args [][]*weft.Tensor
			for _, n := range append(seen, fresh...) {
				args = append(args, c.args(g, n))
			}
			var got []*weft.Tensor
			for i, a := range args {
				kernels, codes := device.Get(0).Counters().Compiled.Load(), jit.Mapped()
				got = append(got, c.compiled(a...))
				if i < len(seen) {
					continue
				}
				if n := device.Get(0).Counters().Compiled.Load() - kernels; n != 0 {
					t.Errorf("%d kernels compiled for length %d, after %v", n, fresh[i-len(seen)], seen)
				}
				if n := jit.Mapped() - codes; n != 0 {
					t.Errorf("%d pieces of machine code made for length %d, after %v", n, fresh[i-len(seen)], seen)
				}
			}
			for i, a := range args {
				if want := c.eager(a...); c.rounds {
					tensortest.Near(t, "compiled and eager", got[i], weft.Data[float64](want.To(weft.Float64)), 1e-5)
				} else {
					tensortest.SameBits(t, "compiled and eager", got[i], want)
				}
			}
		})
	}
}

// Rows of one length get code of their own when that length has been launched some times. The bits
// stay the same.
func TestLengthIsSpecialised(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: the interpreter has no code for one length")
	}
	specialiseAfter(t, 8)
	softmax := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sub(1).Softmax(-1) }).Func()
	g := weft.NewGenerator(1)
	softmax(g.Randn(1000, 41))
	for _, c := range []struct{ rows, length, general int }{{1000, 43, 4}, {10000, 45, 1}} { // launches with general code
		x := g.Randn(c.rows, c.length)
		var first *weft.Tensor
		for i := range 10 {
			kernels := device.Get(0).Counters().Compiled.Load()
			y := softmax(x)
			if first == nil {
				first = y
			}
			tensortest.SameBits(t, "general and specialised code", y, first)
			if n := device.Get(0).Counters().Compiled.Load() - kernels; (n == 1) != (i == c.general) || n > 1 {
				t.Errorf("%d rows, launch %d: %d kernels compiled, want one at launch %d", c.rows, i, n, c.general)
			}
		}
	}
}

// BenchmarkNewLength measures calls with lengths of 5 to 200 in turn, less a second call with each:
// what remains is the time to trace, rewrite and plan, and to compile where anything is compiled.
func BenchmarkNewLength(b *testing.B) {
	specialiseAfter(b, 8)
	for _, c := range lengthCases() {
		b.Run(c.name, func(b *testing.B) {
			g := weft.NewGenerator(1)
			c.compiled(c.args(g, 20)...)
			c.compiled(c.args(g, 150)...)
			kernels, codes := device.Get(0).Counters().Compiled.Load(), jit.Mapped()
			call := func(args []*weft.Tensor) time.Duration {
				start := time.Now()
				c.compiled(args...)
				return time.Since(start)
			}
			var times []time.Duration
			for n := 5; b.Loop(); n = n%200 + 1 {
				args := c.args(g, n)
				first := call(args)
				times = append(times, first-call(args))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns")
			b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds()), "95%-ns")
			k := device.Get(0).Counters().Compiled.Load() - kernels
			b.ReportMetric(float64(k), "kernels")
			b.ReportMetric(float64(jit.Mapped()-codes-k), "codes")
		})
	}
}
