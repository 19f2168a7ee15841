package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/optim"
)

// What decides by values on the host eagerly is computed by each call of a compiled function,
// with the same bits: limits of gradients' norms, on both sides of the limit, shares of
// batches, random orders.
func TestCompileHostDecisions(t *testing.T) {
	for _, limit := range []float64{0.05, 1e6} {
		step := func() (func(x, y *weft.Tensor) *weft.Tensor, func() []*weft.Tensor) {
			g := weft.NewGenerator(4)
			m := &struct {
				A, B *nn.Linear
				N    *nn.BatchNorm1d
			}{nn.NewLinear(6, 8, nn.Opts{Generator: g}), nn.NewLinear(8, 3, nn.Opts{Generator: g}), nn.NewBatchNorm1d(8, nn.BatchNormOpts{Cumulative: true})}
			o := optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
			order := weft.NewGenerator(8)
			return func(x, y *weft.Tensor) *weft.Tensor {
					p := order.Randperm(x.Dim(0))
					loss := nn.CrossEntropy(m.B.Forward(m.N.Forward(m.A.Forward(x.IndexSelect(0, p)))), y.IndexSelect(0, p))
					loss.Backward()
					optim.ClipNorm(nn.Params(m), limit)
					o.Step()
					o.ZeroGrad()
					return loss
				}, func() []*weft.Tensor {
					return []*weft.Tensor{m.A.Weight, m.B.Bias, m.N.RunningMean, m.N.RunningVar, m.N.NumBatchesTracked}
				}
		}
		f, want := step()
		h, got := step()
		c := weft.Compile(h)
		g := weft.NewGenerator(5)
		for i := range 4 {
			x, y := g.Randn(10, 6), g.Randint(0, 3, 10)
			loss, err := c.Call(x, y)
			if err != nil {
				t.Fatal(i, err)
			}
			tensortest.SameBits(t, "loss", loss, f(x, y))
		}
		for i, w := range want() {
			tensortest.SameBits(t, "state", got()[i], w)
		}
	}
	// A gradient that is not finite makes all of them so, as eagerly.
	w := weft.Ones(2).RequireGrad()
	clip := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		w.Mul(x).Sum().Backward()
		norm := optim.ClipNorm(nn.Params([]*weft.Tensor{w}), 1)
		if !math.IsNaN(norm) {
			t.Errorf("the norm of a traced gradient is %v", norm)
		}
		d := w.Grad().Clone()
		w.SetGrad(nil)
		return d
	})
	for _, x := range []*weft.Tensor{weft.FromSlice([]float32{3, 4}), weft.FromSlice([]float32{float32(math.NaN()), 1}), weft.FromSlice([]float32{float32(math.Inf(1)), 1})} {
		w.Mul(x).Sum().Backward()
		optim.ClipNorm(nn.Params([]*weft.Tensor{w}), 1)
		want := w.Grad().Clone()
		w.SetGrad(nil)
		got, err := clip.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.SameBits(t, "clipped", got, want)
	}
}

// A call ends when its context does.
func TestCompileCallEndsWithContext(t *testing.T) {
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x).Exp().Sum() })
	x := weft.Ones(30, 30)
	if _, err := c.CallContext(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var e *weft.Error
	if _, err := c.CallContext(ctx, x); !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	var none context.Context
	if _, err := c.CallContext(none, x); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

// What f captures, and what it computes of that alone, is known while a mapped function runs: it
// may say how large a result is, and gradients flow to it.
func TestVmapOfConstants(t *testing.T) {
	x := weft.FromSlice([]float64{0, 1, 2, 3, 4, 5}, 2, 3)
	scale := weft.FromSlice([]float64{1, 10, 100}).RequireGrad()
	limit := weft.Scalar(5.0)
	for name, c := range map[string]struct {
		f    func(x *weft.Tensor) *weft.Tensor
		want string
	}{
		"counts":          {func(x *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, weft.FromSlice([]int64{1, 0, 2})) }, "[[0. 2. 2.]\n [3. 5. 5.]]"},
		"computed counts": {func(x *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, weft.Arange(3).Add(1).Mod(2)) }, "[[0. 2.]\n [3. 5.]]"},
		"mask":            {func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(scale.Detach().Gt(limit)) }, "[[1. 2.]\n [4. 5.]]"},
		"places": {func(x *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, scale.Detach().Gt(limit).NonZero().Reshape(-1))
		}, "[[1. 2.]\n [4. 5.]]"},
		"an index": {func(x *weft.Tensor) *weft.Tensor { return x.Index(scale.Detach().Lt(limit)) }, "[[0.]\n [3.]]"},
		"a branch": {func(x *weft.Tensor) *weft.Tensor {
			if scale.Max().Item() > 50 {
				return x.Neg()
			}
			return x
		}, "[[-0. -1. -2.]\n [-3. -4. -5.]]"},
	} {
		f := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return c.f(x[0]) })
		if got := f(x).String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		for i := range 2 { // and of one example outside
			if weft.Digest(f(x).Slice(weft.Index(i)).Contiguous()) != weft.Digest(c.f(x.Slice(weft.Index(i))).Contiguous()) {
				t.Errorf("%s: example %d has other bits", name, i)
			}
		}
		// A call looks again.
		held := weft.Ones(3)
		again := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MaskSelect(held.Gt(0)) })
		again(x)
		held.Set(0, 1)
		if got := again(x).Shape(); got[1] != 2 {
			t.Errorf("after a change the mask selects %v", got)
		}
	}
	y := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(scale.Square().Exp().Log()) })(x)
	y.Sum().Backward()
	for i, g := range weft.Data[float64](scale.Grad()) {
		s := weft.Data[float64](scale.Detach())[i]
		if want := float64(3+2*i) * 2 * s; s < 20 && math.Abs(g-want) > 1e-12*want {
			t.Errorf("gradient of what is captured, %d: %v, want %v", i, g, want)
		}
	}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"an example's elements": func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(0)) },
		"both":                  func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(scale)) },
	} {
		var e *weft.Error
		if err := weft.Try(func() { weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) })(x) }); !errors.As(err, &e) || !strings.Contains(err.Error(), "on the host") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := weft.Try(func() {
		weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(scale.Detach().AddAssign(1)) })(x)
	}); err == nil || scale.Max().Item() != 100 {
		t.Errorf("a write into what is captured: %v, now %v", err, scale)
	}
}

// Draws by given probabilities are made by each call of a compiled function, which checks them.
func TestCompiledDrawsCheckTheirProbabilities(t *testing.T) {
	for name, f := range map[string]func(g *weft.Generator, p *weft.Tensor) *weft.Tensor{
		"Bernoulli": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor { return g.Bernoulli(p) },
		"Multinomial": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor {
			return g.Multinomial(p, 5, weft.MultinomialOpts{})
		},
		"distinct": func(g *weft.Generator, p *weft.Tensor) *weft.Tensor {
			return g.Multinomial(p, 2, weft.MultinomialOpts{Distinct: true})
		},
	} {
		a, b := weft.NewGenerator(5), weft.NewGenerator(5)
		c := weft.Compile(func(p *weft.Tensor) *weft.Tensor { return f(a, p) })
		for range 3 {
			p := weft.NewGenerator(9).Rand(7)
			got, err := c.Call(p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want := f(b, p); weft.Digest(got) != weft.Digest(want) {
				t.Errorf("%s: %v, outside %v", name, got, want)
			}
		}
		bad := weft.FromSlice([]float32{0.5, 0.5, -1, 0.5, 0.5, 0.5, 0.5})
		want := weft.Try(func() { f(b, bad) })
		got, err := c.Call(bad)
		if err == nil { // a device that works late tells it who waits
			err = weft.Try(func() { weft.Digest(got) })
		}
		var e *weft.Error
		if !errors.As(err, &e) || want == nil || !strings.HasPrefix(err.Error(), want.Error()) {
			t.Errorf("%s of -1: %v, outside %v", name, err, want)
		}
	}
}

// Bins whose ends are given need no look at elements.
func TestCompiledHistogramOfGivenEnds(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.Float32, weft.Float64, weft.Int32} {
		x := weft.NewGenerator(2).Rand(100).Mul(9).To(d)
		f := func(x *weft.Tensor) *weft.Tensor {
			counts, edges := x.Histogram(weft.HistogramOpts{Bins: new(7), Min: new(0.1), Max: new(8.3)})
			return weft.Cat([]*weft.Tensor{counts.To(weft.Float64), edges.To(weft.Float64)}, 0)
		}
		got, err := weft.Compile(f).Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if want := f(x); weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s: %v, outside %v", d, got, want)
		}
	}
}

// TestTracedTensorsPrint prints and logs tensors inside functions that are traced, and one that is
// left of a trace: all verbs give the type and the shape, and nothing panics.
func TestTracedTensorsPrint(t *testing.T) {
	verbs := []string{"%v", "%+v", "%#v", "%s", "%.2f", "%d"}
	var out strings.Builder
	var left *weft.Tensor
	show := func(x *weft.Tensor) {
		for _, v := range verbs {
			fmt.Fprintf(&out, v+"\n", x)
		}
		fmt.Fprintln(&out, x, x.String())
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "x", x)
		if !strings.Contains(b.String(), "x.traced=true") {
			t.Errorf("logged %s", b.String())
		}
	}
	held := weft.Ones(2, 3)
	want := "<traced float32[2 3]>"
	for name, f := range map[string]func(){
		"compiled": func() {
			_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				left = x.Mul(2)
				show(left)
				show(held)
				return left
			}).Call(weft.Ones(2, 3))
			if err != nil {
				t.Error(err)
			}
		},
		"mapped": func() {
			weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { show(x[0]); return x[0].Exp() })(weft.Ones(4, 2, 3))
		},
	} {
		out.Reset()
		f()
		if s := out.String(); strings.Count(s, want) != strings.Count(s, "\n")+strings.Count(s, want+" "+want) || s == "" {
			t.Errorf("%s prints\n%s", name, s)
		}
	}
	if got := fmt.Sprint(left); got != want {
		t.Errorf("what is left of a trace prints %s", got)
	}
	if got := fmt.Sprint(held); got != "[[1. 1. 1.]\n [1. 1. 1.]]" {
		t.Errorf("after the trace %s", got)
	}
}

// In compiled functions a gather that feeds elementwise work is part of its kernel: rows of a
// table, elements of rows, in another shape, with indices that count from the back. The bits
// equal eager code's. A gather of single elements, which gains nothing, stays a routine.
func TestGatherFusesIntoElementwise(t *testing.T) {
	table, wide := tensortest.Noise(1, 2, 50, 40), tensortest.Noise(2, 2, 40, 3, 60)
	at := func(n, size int, d weft.DType) *weft.Tensor {
		return weft.Arange(n).Mul(7).Mod(2 * size).Sub(size).To(d)
	}
	for _, c := range []struct {
		name  string
		f     func(x, i *weft.Tensor) *weft.Tensor
		x, i  *weft.Tensor
		fused bool
	}{
		{"rows", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Mul(3.5).Add(1).Tanh() }, table, at(90, 50, weft.Int64), true},
		{"rows, int32", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Mul(3.5) }, table, at(90, 50, weft.Int32), true},
		{"rows of rows", func(x, i *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, i).Reshape(9, 10, 40).Mul(3.5).Add(table.Slice(weft.Range(0, 10)))
		}, table, at(90, 50, weft.Int64), true},
		{"the middle axis", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(1, i).Exp() }, wide, at(5, 3, weft.Int64), true},
		{"the last axis", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(2, i).Exp() }, wide, at(33, 60, weft.Int64), true},
		{"of a view", func(x, i *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(3, 45), weft.Range(38, 2, -2)).IndexSelect(0, i).Exp()
		}, table, at(90, 42, weft.Int64), true},
		{"of a transpose", func(x, i *weft.Tensor) *weft.Tensor { return x.T().IndexSelect(0, i).Exp() }, table, at(90, 40, weft.Int64), true},
		{"of what is computed", func(x, i *weft.Tensor) *weft.Tensor { return x.Exp().IndexSelect(0, i).Mul(2.5).Sum(1) }, table, at(90, 50, weft.Int64), true},
		{"twice", func(x, i *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, i).Mul(x.IndexSelect(0, i.Add(1).Minimum(49))).Sub(x.IndexSelect(0, i))
		}, table, at(90, 50, weft.Int64), true},
		{"halves", func(x, i *weft.Tensor) *weft.Tensor { return x.To(weft.Float16).IndexSelect(0, i).Mul(2.5) }, table, at(90, 50, weft.Int64), true},
		{"bytes", func(x, i *weft.Tensor) *weft.Tensor {
			return x.Mul(50).To(weft.Int8).IndexSelect(2, i).Add(3).To(weft.Float32)
		}, wide, at(90, 60, weft.Int64), true},
		{"one place a row", func(x, i *weft.Tensor) *weft.Tensor {
			return x.Gather(0, i.Reshape(1, 3, 1).Expand(1, 3, 60)).Exp()
		}, wide, at(3, 40, weft.Int64), true},
		{"bags", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(1) }, table, at(90, 50, weft.Int64), true},
		{"bags of a transpose", func(x, i *weft.Tensor) *weft.Tensor { return x.T().IndexSelect(0, i).Reshape(10, 9, 50).Mean(1) }, table, at(90, 40, weft.Int64), true},
		{"bags of halves", func(x, i *weft.Tensor) *weft.Tensor {
			return x.To(weft.Float16).IndexSelect(0, i).Reshape(9, 10, 40).Sum(1)
		}, table, at(90, 50, weft.Int64), true},
		{"bags of bytes", func(x, i *weft.Tensor) *weft.Tensor {
			return x.Mul(50).To(weft.Int8).IndexSelect(2, i).Reshape(40, 3, 10, 9).Max(3).To(weft.Float32)
		}, wide, at(90, 60, weft.Int64), true},
		{"one long bag", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Sum(0) }, table, at(70001, 50, weft.Int64), true},
		{"rows of bags", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(2) }, table, at(90, 50, weft.Int64), true},
		{"the first axis of bags", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Min(0) }, table, at(90, 50, weft.Int64), true},
		{"bags of windows", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(1, i).Sum(1) }, wide, at(17, 3, weft.Int64), true},
		{"bags, and what else reads them", func(x, i *weft.Tensor) *weft.Tensor {
			y := x.IndexSelect(0, i).Reshape(9, 10, 40)
			return y.Sub(y.Sum(1).Unsqueeze(1))
		}, table, at(90, 50, weft.Int64), true},
		{"bags of several axes", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Reshape(9, 10, 40).Sum(1, 2) }, table, at(90, 50, weft.Int64), false},
		{"all", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Sum() }, table, at(90, 50, weft.Int64), false},
		{"elements", func(x, i *weft.Tensor) *weft.Tensor { return x.Gather(1, i.Reshape(50, 9)).Exp() }, table, at(450, 40, weft.Int64), false},
		{"also a result", func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i) }, table, at(90, 50, weft.Int64), false},
	} {
		tensortest.OnBackends(t, func(t *testing.T) {
			want := c.f(c.x, c.i)
			f := weft.Compile(c.f)
			got, err := f.Call(c.x, c.i)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if !slices.Equal(weft.Data[float32](got.To(weft.Float32)), weft.Data[float32](want.To(weft.Float32))) {
				t.Errorf("%s: not the bits of eager code", c.name)
			}
			p := f.Explain()
			if fused := !strings.Contains(p, "routine index_select") && !strings.Contains(p, "routine gather"); fused != c.fused {
				t.Errorf("%s: fused %t, want %t\n%s", c.name, fused, c.fused, p)
			}
			if !c.fused {
				return
			}
			// A place that is out of range is refused as it is eagerly, and told with the line.
			for _, place := range []int{1000, -1000} {
				bad := c.i.Clone()
				bad.At(bad.Dim(0) - 1).Fill(place)
				if strings.HasPrefix(c.name, "twice") {
					bad = c.i.Sub(1000)
				}
				var e, ce *weft.Error
				eager := tensortest.Try(func() { c.f(c.x, bad) })
				_, compiled := f.Call(c.x, bad)
				if late := tensortest.Wait(); compiled == nil {
					compiled = late
				}
				if !errors.As(eager, &e) || !errors.As(compiled, &ce) || e.Op != ce.Op || e.Arg != ce.Arg || e.Kind != ce.Kind || !strings.HasPrefix(ce.Msg, e.Msg) {
					t.Errorf("%s: %v, eagerly %v", c.name, compiled, eager)
				} else if !strings.Contains(ce.Msg, "_test.go:") {
					t.Errorf("%s: the line is missing: %v", c.name, compiled)
				}
			}
			if _, err := f.Call(c.x, c.i); err != nil {
				t.Errorf("%s: after an error: %v", c.name, err)
			}
		})
	}
}

// A meter is a CPU that counts the elements that are computed, filled and copied and
// the bytes that are taken.
type meter struct {
	*cpu.Device
	device.Stream
	elements, bytes atomic.Int64
}

func (m *meter) Default() device.Stream { return meterStream{m.Stream, m} }

func (m *meter) Sync() error { return m.Stream.Sync() }

type meterStream struct {
	device.Stream
	m *meter
}

func (s meterStream) Launch(l device.Launch) error {
	s.m.elements.Add(int64(array.Size(l.Extents)))
	return s.Stream.Launch(l)
}

func (s meterStream) LaunchAll(ls []device.Launch) error {
	for _, l := range ls {
		s.m.elements.Add(int64(array.Size(l.Extents)))
	}
	return s.Stream.LaunchAll(ls)
}

func (s meterStream) Alloc(n int) *array.Storage {
	s.m.bytes.Add(int64(n))
	return s.Stream.Alloc(n)
}

func (s meterStream) Fill(r device.Ref, n int, bits uint64, size int) error {
	s.m.elements.Add(int64(n))
	return s.Stream.Fill(r, n, bits, size)
}

func (s meterStream) Copy(dst, src device.Ref, bytes int) error {
	s.m.elements.Add(int64(bytes / 4))
	return s.Stream.Copy(dst, src, bytes)
}

// loops are steps over parts of an array of n rows of 64, as a recurrent net takes.
var loops = map[string]func(x *weft.Tensor, n int) *weft.Tensor{
	"rows": func(x *weft.Tensor, n int) *weft.Tensor {
		h := weft.Zeros(64)
		for i := range n {
			h = h.Add(x.At(i)).Tanh()
		}
		return h.Sum()
	},
	"columns": func(x *weft.Tensor, n int) *weft.Tensor {
		h := weft.Zeros(64)
		for i := range n {
			h = h.Add(x.Reshape(64, n).T().At(i)).Tanh()
		}
		return h.Sum()
	},
	"views of a view": func(x *weft.Tensor, n int) *weft.Tensor {
		h := weft.Zeros(8, 4)
		v := x.Reshape(n, 8, 8).Slice(weft.All, weft.All, weft.Range(2, 6))
		for i := range n {
			h = h.Add(v.At(i)).Tanh()
		}
		return h.Sum()
	},
	"of a result": func(x *weft.Tensor, n int) *weft.Tensor {
		h, y := weft.Zeros(64), x.Mul(2)
		for i := range n {
			h = h.Add(y.At(i)).Tanh()
		}
		return h.Sum().Add(y.Mean())
	},
	"picked rows": func(x *weft.Tensor, n int) *weft.Tensor {
		h := weft.Zeros(2, 64)
		for i := range n {
			h = h.Add(x.IndexSelect(0, weft.FromSlice([]int64{int64(i), int64(n - 1 - i)}))).Tanh()
		}
		return h.Sum()
	},
	"gathered": func(x *weft.Tensor, n int) *weft.Tensor {
		h := weft.Zeros(1, 64)
		for i := range n {
			h = h.Add(x.Gather(0, weft.FullOf(weft.Int64, i, 1, 64))).Tanh()
		}
		return h.Sum().Add(x.At(0).Sum())
	},
	"written": func(x *weft.Tensor, n int) *weft.Tensor {
		y := weft.Zeros(n, 64)
		for i := range n {
			y.At(i).Assign(x.At(i).Tanh())
		}
		return y.Sum()
	},
	"added to": func(x *weft.Tensor, n int) *weft.Tensor {
		y := x.Mul(2)
		for i := range n - 1 {
			y.At(i + 1).AddAssign(y.At(i))
		}
		return y.Sum()
	},
}

// The backward pass of a loop over parts of an array takes work in proportion to the
// parts, not to their number times the array.
func TestBackwardOfUnrolledLoopIsLinear(t *testing.T) {
	tensortest.SkipLate(t, "it reads the CPU's kernels")
	old := device.Get(0).(*cpu.Device)
	defer tensortest.SetBackend(old.ISA())
	for name, loop := range loops {
		work := func(n int) (elements, bytes int64) {
			c := cpu.New(old.ISA())
			m := &meter{Device: c, Stream: c.Default()}
			device.Replace(0, m)
			core.Plans.Clear()
			x := weft.Ones(n, 64).RequireGrad()
			y := loop(x, n)
			m.elements.Store(0)
			m.bytes.Store(0)
			y.Backward()
			if x.Grad() == nil {
				t.Fatalf("%s: no gradient", name)
			}
			return m.elements.Load(), m.bytes.Load()
		}
		e1, b1 := work(32)
		e4, b4 := work(128)
		t.Logf("%s: 32 steps %d elements, %d bytes; 128 steps %d and %d", name, e1, b1, e4, b4)
		// Four times the steps on four times the rows.
		if e4 > 5*e1 || b4 > 5*b1 {
			t.Errorf("%s: 32 steps take %d elements and %d bytes, 128 steps %d and %d: more than in proportion", name, e1, b1, e4, b4)
		}
		if limit := int64(128 * 64 * 16); e4 < 128*64 || e4 > limit {
			t.Errorf("%s: %d elements for 128 rows of 64", name, e4)
		}
	}
}

// BenchmarkUnrolled is 256 steps of a recurrent net over the rows of an array.
func BenchmarkUnrolled(b *testing.B) {
	const n, d = 256, 128
	x, w := weft.Randn(n, 32, d).RequireGrad(), weft.Randn(d, d).Mul(0.05).RequireGrad()
	for b.Loop() {
		h := weft.Zeros(32, d)
		for i := range n {
			h = h.MatMul(w).Add(x.At(i)).Tanh()
		}
		h.Sum().Backward()
	}
}

// Results of a function of the engine may be nil, arguments and captured tensors.
func TestFuncResults(t *testing.T) {
	w := weft.Full(7, 2)
	f := core.NewFunc(func(args []*core.Tensor) []*core.Tensor {
		sum := (*weft.Tensor)(args[0]).Add(w)
		return []*core.Tensor{nil, (*core.Tensor)(sum), args[0], (*core.Tensor)(w), nil}
	}, core.Options{Name: "results"})
	x := weft.Full(1, 2)
	for range 2 {
		got, err := f.Call(t.Context(), []*core.Tensor{(*core.Tensor)(x)})
		if err != nil || len(got) != 5 || got[0] != nil || got[4] != nil {
			t.Fatalf("%v, %v", got, err)
		}
		if sum := (*weft.Tensor)(got[1]); sum.Max().Item() != 8 || (*weft.Tensor)(got[2]) != x || (*weft.Tensor)(got[3]) != w {
			t.Errorf("%v", core.Outer[weft.Tensor](got))
		}
	}
}
