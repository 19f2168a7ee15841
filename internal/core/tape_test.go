package core_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/tensortest"
)

// Every operand of an operation with many gets its gradient, whichever need one.
func TestGradientsOfManyOperands(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 63, 64, 65, 100, 1000} {
		needs := map[string]func(i int) bool{
			"all": func(int) bool { return true }, "the last": func(i int) bool { return i == n-1 },
			"every third": func(i int) bool { return i%3 == 2 }, "from 64 on": func(i int) bool { return i >= 64 },
			"another sixty-four": func(i int) bool { return i&64 == 0 && i%7 == 0 },
		}
		join := map[string]func(ts []*weft.Tensor) *weft.Tensor{
			"stack": func(ts []*weft.Tensor) *weft.Tensor { return weft.Stack(ts, 0) },
			"cat":   func(ts []*weft.Tensor) *weft.Tensor { return weft.Cat(ts, 0) },
		}
		if n == 1000 && testing.Short() {
			delete(needs, "every third")
			delete(join, "stack")
		}
		// The sum over i of (i+1)*x[i]: the gradient of x[i] is i+1.
		factor := weft.Arange[int](1, n+1).To(weft.Float64)
		for what, need := range needs {
			for name, f := range join {
				xs := make([]*weft.Tensor, n)
				some := false
				for i := range xs {
					xs[i] = tensortest.Vector(float64(i))
					if need(i) {
						xs[i].RequireGrad()
						some = true
					}
				}
				y := f(xs)
				if y.RequiresGrad() != some {
					t.Fatalf("%s of %d, %s with a gradient: RequiresGrad is %v", name, n, what, !some)
				}
				if !some {
					continue
				}
				y.Flatten(0).Mul(factor).Sum().Backward()
				for i, x := range xs {
					g := x.Grad()
					if (g != nil) != need(i) || g != nil && g.Item() != float64(i+1) {
						t.Fatalf("%s of %d, %s with a gradient: operand %d has %v", name, n, what, i, g)
					}
				}
			}
		}
	}
	// As inputs of Grad, and to second order.
	xs := make([]*weft.Tensor, 130)
	for i := range xs {
		xs[i] = tensortest.Vector(float64(i)).RequireGrad()
	}
	gs := weft.Grad(weft.Cat(xs, 0).Pow(3).Sum(), xs, weft.GradOpts{Create: true})
	hs := weft.Grad(weft.Cat(gs, 0).Sum(), xs)
	for i := range xs {
		if x := float64(i); gs[i].Item() != 3*x*x || hs[i].Item() != 6*x {
			t.Fatalf("x^3 at %v has gradients %v and %v", x, gs[i].Item(), hs[i].Item())
		}
	}
}

// The gradients of one operation are kept apart by the operands that need one.
func TestGradientsByOperandsThatNeedThem(t *testing.T) {
	for set := range 1 << 5 {
		xs := make([]*weft.Tensor, 5)
		for i := range xs {
			xs[i] = tensortest.Vector(1)
			if set>>i&1 != 0 {
				xs[i].RequireGrad()
			}
		}
		if set == 0 {
			continue
		}
		weft.Cat(xs, 0).Sum().Backward()
		var got []int
		for i, x := range xs {
			if x.Grad() != nil {
				got = append(got, i)
			}
		}
		var want []int
		for i := range xs {
			if set>>i&1 != 0 {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("operands %v need a gradient, %v have one", want, got)
		}
	}
}

// The gradient with respect to a view counts what was computed from views of it.
func TestGradOfView(t *testing.T) {
	x := tensortest.Vector(1, 2, 3, 4, 5, 6).RequireGrad()
	grad := func(y *weft.Tensor, in ...*weft.Tensor) [][]float64 {
		t.Helper()
		var out [][]float64
		for _, g := range weft.Grad(y, in) {
			out = append(out, weft.Data[float64](g.Flatten(0)))
		}
		return out
	}
	same := func(what string, got [][]float64, want ...[]float64) {
		t.Helper()
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: gradient %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	v := x.Slice(weft.Range(0, 2))
	same("a view of a view", grad(v.Sum().Add(v.Slice(weft.Range(0, 1)).Sum().Mul(10)), v), []float64{11, 1})

	v = x.Slice(weft.Range(0, 4))
	w := v.Reshape(2, 2)
	u := w.T().At(1) // x[1], x[3]
	y := v.Sum().Add(w.Sum().Mul(10)).Add(u.Mul(tensortest.Vector(100, 200)).Sum())
	same("three deep", grad(y, x, v, w, u), []float64{11, 111, 11, 211, 0, 0}, []float64{11, 111, 11, 211}, []float64{10, 110, 10, 210}, []float64{100, 200})

	// Views taken before and after a view was written to: x[0:4] is doubled, then
	// x[1] squared.
	b := x.Mul(1)
	v = b.Slice(weft.Range(0, 4))
	early := v.Slice(weft.Range(1, 3))
	v.MulAssign(2)
	v.At(1).Update((*weft.Tensor).Square)
	y = early.Sum().Add(v.At(3).Mul(10)).Add(b.Sum().Mul(100))
	same("written through", grad(y, v, early, b), []float64{0, 1, 1, 10}, []float64{1, 1}, []float64{100, 101, 101, 110, 100, 100})
	v.At(0).Assign(x.At(5))
	y = v.Mul(tensortest.Vector(1, 2, 3, 4)).Sum()
	same("written through, to the leaf", grad(y, x), []float64{0, 2 * 8 * 2, 6, 8, 0, 1})

	// Expanded, reversed, diagonal.
	v = x.Reshape(2, 3)
	y = v.Diagonal(0).Mul(tensortest.Vector(1, 2)).Sum().Add(v.At(0).Expand(4, 3).Sum()).Add(v.Slice(weft.All, weft.Range(weft.End, weft.Begin, -1)).At(1, 0).Mul(100))
	same("other views", grad(y, v), []float64{5, 4, 4, 0, 2, 100})

	// Second order: y = sum(v^3) + v[0]^2 has gradient 3v^2 + 2v[0], whose sum has
	// 6v + 2.
	v = x.Slice(weft.Range(2, 4))
	y = v.Pow(3).Sum().Add(v.At(0).Square())
	gs := weft.Grad(y, []*weft.Tensor{v, x}, weft.GradOpts{Create: true})
	same("first of two", [][]float64{weft.Data[float64](gs[0]), weft.Data[float64](gs[1])}, []float64{33, 48}, []float64{0, 0, 33, 48, 0, 0})
	same("second by the view's", grad2(gs[0].Sum(), v, x), []float64{20, 24}, []float64{0, 0, 20, 24, 0, 0})
	same("second by the base's", grad2(gs[1].Mul(x.Detach()).Sum(), v, x), []float64{60, 96}, []float64{0, 0, 60, 96, 0, 0})

	// What the tape does not know of does not change a view.
	v = x.Slice(weft.Range(0, 2))
	y = v.Mul(3).Sum()
	x.Detach().At(0).Assign(7)
	same("after a write that is not recorded", grad(y, v), []float64{3, 3})

	// A view kept over several passes.
	v = x.Slice(weft.Range(0, 2))
	for range 2 {
		x.SetGrad(nil)
		v.Sum().Backward()
		same("a view used again", [][]float64{weft.Data[float64](x.Grad())}, []float64{1, 1, 0, 0, 0, 0})
	}
}

func grad2(y *weft.Tensor, in ...*weft.Tensor) (out [][]float64) {
	for _, g := range weft.Grad(y, in, weft.GradOpts{Retain: true}) {
		out = append(out, weft.Data[float64](g))
	}
	return out
}

// Gradients add up in the windows of their base, whatever the views look like, and
// with Create they can be differentiated again.
func TestGradThroughViews(t *testing.T) {
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1, -0.75, 1.25, 0.1, 2.5, -2, 1.5}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"rows": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(x).Reshape(4, 3)
			s := y.At(0)
			for i := range 4 {
				s = s.Mul(y.At(i)).Add(y.At(3 - i))
			}
			return s.Sum()
		},
		"columns of a transpose": func(x *weft.Tensor) *weft.Tensor {
			y := x.Reshape(4, 3)
			s := y.T().At(0).Exp()
			for i := range 3 {
				s = s.Mul(y.T().At(i).Sin())
			}
			return s.Sum()
		},
		"overlapping windows": func(x *weft.Tensor) *weft.Tensor {
			s := x.Slice(weft.Range(0, 4)).Square()
			for i := range 8 {
				s = s.Add(x.Slice(weft.Range(i, i+4)).Pow(3))
			}
			return s.Mul(x.Slice(weft.Range(4, 8))).Sum()
		},
		"backwards with steps": func(x *weft.Tensor) *weft.Tensor {
			r := x.Slice(weft.Range(weft.End, weft.Begin, -2))
			return r.Square().Sum().Add(r.Slice(weft.Range(5, 1, -2)).Pow(3).Sum()).Add(x.Exp().Sum())
		},
		"diagonals": func(x *weft.Tensor) *weft.Tensor {
			y := x.Reshape(3, 4)
			return y.Diagonal(0).Mul(y.Diagonal(1)).Sum().Add(y.T().Diagonal(-1).Pow(3).Sum())
		},
		"expanded": func(x *weft.Tensor) *weft.Tensor {
			e := x.Slice(weft.Range(0, 3)).Expand(4, 3)
			return e.Mul(x.Reshape(4, 3)).Sum().Add(e.At(2).Pow(3).Sum()).Add(e.T().At(1).Exp().Sum())
		},
		"reshaped back and forth": func(x *weft.Tensor) *weft.Tensor {
			y := x.Reshape(2, 6).T().Reshape(3, 4) // a copy
			return y.Reshape(12).Slice(weft.Range(3, 9)).Pow(3).Sum().Add(y.At(1).Square().Sum())
		},
		"nothing": func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(3, 3)).Square().Sum().Add(x.Slice(weft.Range(0, 3)).Pow(3).Sum())
		},
		"a base with gaps": func(x *weft.Tensor) *weft.Tensor {
			y := x.Reshape(3, 4).T()
			s := y.At(0).Square()
			for i := range 4 {
				s = s.Mul(y.At(i))
			}
			return s.Sum()
		},
		"picked": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(x).Reshape(4, 3)
			s := y.Sum(0)
			for i := range 4 {
				s = s.Mul(y.IndexSelect(0, weft.FromSlice([]int64{int64(i), -1, int64(i)})).Sum(0).Tanh())
				s = s.Add(y.IndexSelect(1, weft.FromSlice([]int32{2, int32(i % 3)})).At(i, 1))
				s = s.Add(y.Gather(1, weft.FromSlice([]int64{int64(i % 3), 1, 0, 2}, 4, 1)).Sum().Sin())
				s = s.Add(y.Gather(1, weft.FromSlice([]int64{0, int64(i % 3)}, 1, 2)).Sum().Sin())
				s = s.Add(y.At(i))
			}
			return s.Sum()
		},
		"picked from a leaf": func(x *weft.Tensor) *weft.Tensor {
			s := x.IndexSelect(0, weft.FromSlice([]int64{3, 3}))
			for i := range 5 {
				s = s.Mul(x.IndexSelect(0, weft.FromSlice([]int64{int64(i), int64(2 * i)})))
			}
			return s.Sum()
		},
		"a base with columns behind each other, written": func(x *weft.Tensor) *weft.Tensor {
			b := weft.Zeros(3, 2).To(weft.Float64).T().Detach()
			v := b.T().Reshape(6) // a view of b, not of a row-major array of its shape
			v.Slice(weft.Range(0, 3)).Assign(x.Slice(weft.Range(0, 3)))
			v.Slice(weft.Range(1, 5)).Assign(x.Slice(weft.Range(3, 7)).Square())
			b.At(1).MulAssign(x.Slice(weft.Range(7, 10)))
			return b.Mul(b).Sum().Add(x.Sum())
		},
		"written and read in turn": func(x *weft.Tensor) *weft.Tensor {
			h := weft.Zeros(5, 3).To(weft.Float64)
			for i := range 4 {
				h.At(i + 1).Assign(h.At(i).Clone().Mul(x.At(i)).Add(x.Reshape(4, 3).At(i)))
			}
			return h.Square().Sum()
		},
		"added to and read in turn": func(x *weft.Tensor) *weft.Tensor {
			h := x.Mul(0.5).Reshape(4, 3)
			for i := range 3 {
				h.At(i + 1).AddAssign(h.At(i).Clone().Square().Mul(0.25))
				h.T().At(i).MulAssign(x.At(i).Tanh())
			}
			return h.Square().Sum()
		},
		"updated": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(1).Reshape(4, 3)
			y.At(1).Update((*weft.Tensor).Sin)
			y.Update((*weft.Tensor).Sigmoid)
			y.T().At(0).Update(func(v *weft.Tensor) *weft.Tensor { return v.Mul(v).Sin().Mul(v) })
			return y.Square().Mean()
		},
	} {
		tensortest.Differences(t, name, f, at...)
		tensortest.Differences(t, name+", second order", func(x *weft.Tensor) *weft.Tensor {
			leaf := x
			if !x.RequiresGrad() {
				leaf = x.Mul(1).Detach().RequireGrad()
			}
			g := weft.Grad(f(leaf), []*weft.Tensor{leaf}, weft.GradOpts{Create: true})[0]
			return g.Mul(tensortest.Vector(1, 2, -1, 3, 0.5, 1, 2, -2, 1, 0.25, 1, -1)).Sum()
		}, at...)
	}
}

// What a pass adds up in windows is the leaf's, not the scope's, and memory of the
// pass goes back with the scope.
func TestGradOfViewsInScope(t *testing.T) {
	x, e := weft.Ones(300, 4).RequireGrad(), weft.Ones(300, 4).RequireGrad()
	for range 2 {
		s := weft.NewScope()
		tx, te := s.Track(x), s.Track(e)
		y := tx.At(0).Add(tx.At(1)).Add(tx.T().At(0).Slice(weft.Range(0, 4)))
		for i := range 3 {
			y = y.Mul(te.IndexSelect(0, weft.FromSlice([]int64{int64(i)})).At(0))
		}
		y.Sum().Backward()
		s.Close()
	}
	if g := weft.Data[float32](x.Grad()); g[0] != 4 || g[1] != 2 || g[4] != 4 || g[12] != 2 || g[13] != 0 {
		t.Errorf("gradient %v", g[:16])
	}
	if g := weft.Data[float32](e.Grad()); g[0] != 6 || g[11] != 6 || g[12] != 0 {
		t.Errorf("gradient of what was picked %v", g[:16])
	}
}

// The gradient of a reshaped array lies where that of the reshaped one does, but for those
// that a caller gets: no two of these share memory, nor any with a seed.
func TestReshapedGradientsShareNothing(t *testing.T) {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}).RequireGrad()
	a := x.Reshape(2, 3)
	b := a.Reshape(3, 2)
	seed := weft.Ones(3, 2)
	grads := weft.GradAll([]*weft.Tensor{b}, []*weft.Tensor{x, a, b}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})
	for i, g := range grads {
		if !slices.Equal(weft.Data[float32](g), []float32{1, 1, 1, 1, 1, 1}) {
			t.Fatalf("gradient %d is %v", i, g)
		}
	}
	grads[0].MulAssign(10)
	grads[1].MulAssign(100)
	if got := weft.Data[float32](seed); got[0] != 1 {
		t.Errorf("the seed became %v", got)
	}
	if got := weft.Data[float32](grads[0]); got[0] != 10 {
		t.Errorf("the gradient of x became %v", got)
	}
	if got := weft.Data[float32](grads[2]); got[0] != 1 {
		t.Errorf("the gradient of b became %v", got)
	}

	// Through an operation: the gradient of its result is the pass's own, and is moved on.
	y := x.Mul(2)
	c := y.Reshape(2, 3)
	grads = weft.GradAll([]*weft.Tensor{c.Mul(c).Sum()}, []*weft.Tensor{x, y, c}, weft.GradOpts{})
	grads[1].MulAssign(0)
	grads[2].MulAssign(0)
	if got, want := weft.Data[float32](grads[0]), []float32{8, 16, 24, 32, 40, 48}; !slices.Equal(got, want) {
		t.Errorf("the gradient of x is %v, want %v", got, want)
	}
	grads = weft.GradAll([]*weft.Tensor{c.Mul(c).Sum()}, []*weft.Tensor{y}, weft.GradOpts{})
	if got, want := weft.Data[float32](grads[0]), []float32{4, 8, 12, 16, 20, 24}; !slices.Equal(got, want) {
		t.Errorf("the gradient of y is %v, want %v", got, want)
	}

	// A leaf keeps what a pass made, never what a caller gave.
	weft.BackwardWith([]*weft.Tensor{b}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})
	x.Grad().Detach().MulAssign(7)
	if got := weft.Data[float32](seed); got[0] != 1 {
		t.Errorf("the seed became %v by the gradient of a leaf", got)
	}
}

// Gradients of windows on one array: of the first for each place zero plus it is written, where
// none comes zeros, and further ones are added, whatever their order and layout. Memory that
// was used before shows what is not written.
func TestGradientsOfWindows(t *testing.T) {
	type window struct {
		name string
		of   func(x *weft.Tensor) *weft.Tensor
	}
	rows := func(lo, hi int) window {
		return window{fmt.Sprintf("rows %d to %d", lo, hi), func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(lo, hi)) }}
	}
	columns := window{"columns", func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.All, weft.Range(1, 3)) }}
	crossed := window{"rows 2 to 4 transposed", func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(2, 4)).Permute(2, 0, 1) }}
	var many []window
	for i := range 50 {
		many = append(many, rows(i*37%100, i*37%100+1))
	}
	for name, c := range map[string]struct {
		rows    int
		windows []window
	}{
		"all":       {6, []window{rows(0, 2), rows(2, 4), rows(4, 6)}},
		"backwards": {6, []window{rows(4, 6), rows(2, 4), rows(0, 2)}},
		"gaps":      {9, []window{rows(6, 7), rows(1, 3)}},
		"crossed":   {6, []window{rows(0, 2), crossed, rows(4, 6)}},
		"twice":     {6, []window{rows(1, 3), rows(1, 3)}},
		"overlap":   {6, []window{rows(0, 3), rows(2, 5)}},
		"inside":    {8, []window{rows(1, 7), rows(2, 3)}},
		"columns":   {6, []window{rows(0, 2), columns}},
		"columns 2": {6, []window{columns, rows(0, 2)}},
		"many":      {100, many},
	} {
		for range 3 {
			shape := []int{c.rows, 4, 100}
			weft.FullOf(weft.Float32, math.NaN(), shape...).Release()
			s := weft.NewScope()
			x := weft.Ones(shape...).RequireGrad()
			at := weft.Arange(0, float64(x.Size()), 1).Reshape(shape...).To(weft.Int64)
			want := make([]float64, x.Size())
			var outs, seeds []*weft.Tensor
			tracked := s.Track(x)
			for k, w := range c.windows {
				y := w.of(tracked)
				dy := make([]float32, y.Size())
				for i, place := range weft.Data[int64](w.of(at)) {
					if dy[i] = float32((i+k)%5 - 2); dy[i] == 0 {
						dy[i] = float32(math.Copysign(0, -1))
					}
					want[place] += float64(dy[i])
				}
				outs, seeds = append(outs, y), append(seeds, weft.FromSlice(dy, y.Shape()...))
			}
			weft.BackwardWith(outs, weft.GradOpts{Seeds: seeds})
			for i, g := range weft.Data[float32](x.Grad()) {
				if float64(g) != want[i] || g == 0 && math.Signbit(float64(g)) {
					t.Fatalf("%s: element %d has gradient %v, want %v", name, i, g, want[i])
				}
			}
			s.Close()
		}
	}
}

// What passes through an operation unchanged is handed on, and elementwise gradients are written
// in place of what they are computed of. Seeds, results and gradients of leaves stay apart.
func TestGradientsInPlace(t *testing.T) {
	data := func(x *weft.Tensor) []float32 { return weft.Data[float32](x) }
	want := func(what string, x *weft.Tensor, v ...float32) {
		t.Helper()
		if got := data(x); !slices.Equal(got, v) {
			t.Errorf("%s: %v, want %v", what, got, v)
		}
	}
	x, y := weft.FromSlice([]float32{1, 2}).RequireGrad(), weft.FromSlice([]float32{3, 5}).RequireGrad()
	seed := weft.FromSlice([]float32{10, 100})
	weft.BackwardWith([]*weft.Tensor{x.Add(1).Mul(2).Add(y).Neg().Sub(y).Mul(x)}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})
	want("seed", seed, 10, 100) // of x (-2 (x+1) - 2 y)
	want("gradient of x", x.Grad(), 10*(-4-2-6), 100*(-8-2-10))
	want("gradient of y", y.Grad(), -2*10, -2*2*100)
	x.Grad().Zero()
	want("gradient of y", y.Grad(), -2*10, -2*2*100)

	// The seed goes to a leaf and to a result unchanged.
	x.SetGrad(nil)
	weft.BackwardWith([]*weft.Tensor{x.Add(1).Add(2)}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})
	x.Grad().Zero()
	want("seed", seed, 10, 100)
	a := x.Add(1)
	b := a.Add(2)
	g := weft.Grad(b.Mul(3), []*weft.Tensor{b, a, x}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})
	for i, g := range g {
		want("result", g, 30, 300)
		g.Fill(i)
	}
	for i, g := range g {
		want("filled result", g, float32(i), float32(i))
	}
	want("seed", seed, 10, 100)

	// The gradient of a is a sum of several terms, and one user of a has it as both operands.
	x.SetGrad(nil)
	a = x.Mul(2)
	a.Add(a).Add(a.Mul(a)).Add(a.Slice(weft.Range(0, 1))).Sum().Backward()
	want("gradient of a + a + a*a + a[0]", x.Grad(), 2*(2+4+2), 2*(2+8))
	s := weft.NewScope()
	s.Track(x).Mul(2).Add(1).Tanh().Mul(0).Sum().Backward()
	s.Close()
	want("gradient in a scope", x.Grad(), 2*(2+4+2), 2*(2+8))
}

// A pass over a chain takes no memory an operation.
func TestViewChainAllocates(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: the interpreter allocates in each run")
	}
	if testing.Short() {
		t.Skip("SKIPPED: under the race detector and with collections at every chance pools drop what they hold")
	}
	x := weft.Rand(16).RequireGrad()
	chain := func(n int) func() {
		return func() {
			y := x
			for range n {
				y = y.Mul(0.99).Add(0.01)
			}
			y.Sum().Backward()
			x.SetGrad(nil)
		}
	}
	few, many := testing.AllocsPerRun(10, chain(10)), testing.AllocsPerRun(10, chain(60))
	if n := (many - few) / 100; n > 3.1 {
		t.Errorf("%v allocations an operation, want 3: its result, the memory of that, and its node", n)
	}
}

// lookUp is the rows of a table at places, and what a factor for each makes of them.
func lookUp(table *weft.Tensor, places []int64, factor *weft.Tensor) *weft.Tensor {
	return table.IndexSelect(0, weft.FromSlice(places)).Mul(factor).Sum()
}

// A leaf marked so keeps the rows that were read, each once, added up in order.
func TestSparseGrad(t *testing.T) {
	table := weft.Zeros(6, 2).RequireGrad().SparseGrad()
	factor := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)
	read := func() (places []int64, values []float32) {
		if !weft.BorrowRows(table, func(p, v *weft.Tensor) { places, values = weft.Data[int64](p), weft.Data[float32](v) }) {
			t.Fatal("the gradient is not kept as rows")
		}
		return places, values
	}
	s := weft.NewScope()
	lookUp(s.Track(table), []int64{4, 1, -2, 0}, factor).Backward() // -2 is row 4
	s.Close()
	places, values := read()
	if !slices.Equal(places, []int64{0, 1, 4}) || !slices.Equal(values, []float32{7, 8, 3, 4, 1 + 5, 2 + 6}) {
		t.Fatalf("rows %v, %v", places, values)
	}
	// Another pass adds to it, also two reads at once.
	one := weft.Ones(2, 2)
	lookUp(table, []int64{1, 5}, one).Add(lookUp(table, []int64{5, 3}, one)).Backward()
	places, values = read()
	if !slices.Equal(places, []int64{0, 1, 3, 4, 5}) || !slices.Equal(values, []float32{7, 8, 4, 5, 1, 1, 6, 8, 2, 2}) {
		t.Fatalf("rows %v, %v", places, values)
	}
	// What f writes stays.
	weft.BorrowRows(table, func(_, v *weft.Tensor) { v.MulAssign(2) })
	want := []float32{14, 16, 8, 10, 0, 0, 2, 2, 12, 16, 4, 4}
	if got := weft.Data[float32](table.Grad()); !slices.Equal(got, want) {
		t.Fatalf("as an array %v, want %v", got, want)
	}
	if weft.BorrowRows(table, func(p, v *weft.Tensor) { t.Error("rows of an array") }) {
		t.Error("the gradient is kept twice")
	}
	// Rows are added to an array that is there.
	lookUp(table, []int64{0}, weft.Ones(1, 2)).Backward()
	if want[0], want[1] = 15, 17; !slices.Equal(weft.Data[float32](table.Grad()), want) {
		t.Fatalf("added to an array %v, want %v", table.Grad(), want)
	}
	table.SetGrad(nil)
	if table.Grad() != nil || weft.BorrowRows(table, func(p, v *weft.Tensor) {}) {
		t.Error("a gradient that was forgotten is there")
	}
}

// Whatever else reads the table makes the gradient an array, with the same values as
// without the mark.
func TestSparseGradOtherUses(t *testing.T) {
	one := weft.Ones(2, 3)
	for name, f := range map[string]func(w *weft.Tensor) *weft.Tensor{
		"product":    func(w *weft.Tensor) *weft.Tensor { return lookUp(w, []int64{1, 1}, one).Add(w.Square().Sum()) },
		"other axis": func(w *weft.Tensor) *weft.Tensor { return w.IndexSelect(1, weft.FromSlice([]int64{0, 2})).Sum() },
		"gather":     func(w *weft.Tensor) *weft.Tensor { return w.Gather(0, weft.FromSlice([]int64{3, 1, 1}, 1, 3)).Sum() },
		"view": func(w *weft.Tensor) *weft.Tensor {
			return w.Slice(weft.Range(1, 3)).IndexSelect(0, weft.FromSlice([]int64{1})).Sum()
		},
		"table": func(w *weft.Tensor) *weft.Tensor { return w.Sum() },
	} {
		plain := weft.Arange[int](0, 12).To(weft.Float32).Reshape(4, 3).RequireGrad()
		marked := plain.Detach().Clone().RequireGrad().SparseGrad()
		f(plain).Backward()
		f(marked).Backward()
		if weft.BorrowRows(marked, func(p, v *weft.Tensor) {}) {
			t.Errorf("%s: kept as rows", name)
		}
		if !slices.Equal(weft.Data[float32](plain.Grad()), weft.Data[float32](marked.Grad())) {
			t.Errorf("%s: %v, want %v", name, marked.Grad(), plain.Grad())
		}
		// As a pass that comes after one that gave rows, and as an input of Grad.
		marked.SetGrad(nil)
		lookUp(marked, []int64{2, 0}, one).Backward()
		lookUp(plain, []int64{2, 0}, one).Backward()
		f(marked).Backward()
		if !slices.Equal(weft.Data[float32](plain.Grad()), weft.Data[float32](marked.Grad())) {
			t.Errorf("%s after rows: %v, want %v", name, marked.Grad(), plain.Grad())
		}
		if g := weft.Grad(lookUp(marked, []int64{2, 0}, one), []*weft.Tensor{marked})[0]; !slices.Equal(g.Shape(), []int{4, 3}) {
			t.Errorf("%s: Grad gives %v", name, g.Shape())
		}
	}
	if err := weft.Try(func() { weft.Ones(2).SparseGrad() }); err == nil || !strings.Contains(err.Error(), "not a leaf") {
		t.Errorf("no leaf: %v", err)
	}
}

// IntoRows changes the rows that are named as Into would change arrays of them, and no
// others.
func TestFusedIntoRows(t *testing.T) {
	step := newGiven("rows", func(x []*ir.Node) []*ir.Node {
		v := op.Apply(op.Add, nil, op.Apply(op.Mul, nil, x[1], x[3]), x[2])
		return []*ir.Node{op.Apply(op.Sub, nil, x[0], v), v}
	})
	for _, width := range []int{1, 3, 16} {
		g := weft.NewGenerator(1)
		w, v := g.Randn(50, width), g.Randn(50, width)
		was, had := weft.Data[float32](w), weft.Data[float32](v)
		places := []int64{3, 7, 20, 49}
		d := g.Randn(len(places), width)
		dx := weft.Data[float32](d)
		leaf := w.RequireGrad()
		step.IntoRows(weft.FromSlice(places), []*weft.Tensor{leaf.Detach(), v}, leaf.Detach(), v, d, 0.5)
		for i, p := range places {
			for j := range width {
				k := int(p)*width + j
				had[k] = float32(had[k]*0.5) + dx[i*width+j]
				was[k] -= had[k]
			}
		}
		if !slices.Equal(weft.Data[float32](w), was) || !slices.Equal(weft.Data[float32](v), had) {
			t.Errorf("width %d: other values", width)
		}
	}
	w := weft.Zeros(4, 2)
	for _, places := range []*weft.Tensor{weft.FromSlice([]int64{4}), weft.FromSlice([]int32{1}), weft.FromSlice([]int64{1}, 1, 1), nil} {
		if weft.Try(func() { step.IntoRows(places, []*weft.Tensor{w, weft.Zeros(4, 2)}, w, w, w, 1.0) }) == nil {
			t.Errorf("places %v are taken", places)
		}
	}
	if weft.Try(func() { step.IntoRows(weft.FromSlice([]int64{1}), []*weft.Tensor{w, weft.Zeros(3, 2)}, w, w, w, 1.0) }) == nil {
		t.Error("tensors of other lengths are taken")
	}
}

// A pass that other passes of the same goroutines run beside adds all rows.
func TestSparseGradConcurrent(t *testing.T) {
	table := weft.Zeros(10, 2).RequireGrad().SparseGrad()
	done := make(chan bool)
	for i := range 4 {
		go func() {
			for range 20 {
				lookUp(table, []int64{int64(i), 9}, weft.Ones(2, 2)).Backward()
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
	g := weft.Data[float32](table.Grad())
	if g[0] != 20 || g[7] != 20 || g[8] != 0 || g[18] != 80 {
		t.Errorf("%v", g)
	}
}
