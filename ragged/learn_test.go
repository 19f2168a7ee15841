package ragged

import (
	"math"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/nn"
)

var kernels = kernel.MustParse(`package kernels

import "math"

func Bend(x, v float64) float64 { return x*math.Sin(v) + v }
`)

func TestExpr(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, _ *rand.Rand) {
		n := len(m.items)
		if n == 1 {
			return
		}
		one := l.Sum()
		v := weft.Data[float64](one)
		tensortest.Near(t, "2*l + v", Expr("2*l + v", weft.Vars{"l": l, "v": one}).Data(), m.flat(func(x float64, i, _, c int) float64 { return 2*x + v[i*m.k+c] }), 5e-13)
		tensortest.Near(t, "numbers", Expr("(l + a) * b", weft.Vars{"l": l, "a": 1, "b": 0.5}).Data(), m.flat(func(x float64, _, _, _ int) float64 { return (x + 1) * 0.5 }), 5e-13)
		tensortest.Near(t, "map", l.Map(kernels.Func("Bend"), one).Data(), m.flat(func(x float64, i, _, c int) float64 { return x*math.Sin(v[i*m.k+c]) + v[i*m.k+c] }), 5e-13)
	})
	n := Of([][][]float64{{{1, 2}, {3}}, {}, {{}, {4, 5, 6}}})
	shows(t, Expr("l*a + b", weft.Vars{"l": n, "a": FromOffsets(n.Sum(-1), n.Offsets()), "b": n.Sum()}), "[ [ [9. 12.] [15.] ] [ ] [ [] [75. 90. 105.] ] ]")
	for _, f := range []func(){
		func() { Expr("a", weft.Vars{"a": weft.Ones(3)}) },
		func() { Expr("a+b", weft.Vars{"a": n}) },
		func() { Expr("sum(a)", weft.Vars{"a": n}) },
		func() { Expr("a+", weft.Vars{"a": n}) },
		func() { Expr("a+b", weft.Vars{"a": n, "b": "x"}) },
		func() { Expr("a+b", weft.Vars{"a": n, "b": n.Range(0, 2)}) },
		func() { Expr("a", weft.Vars{"a": (*List)(nil)}) },
		func() { n.Map(nil) },
		func() { n.Map(kernels.Func("Bend")) },
	} {
		refuses(t, f)
	}
}

// Attention of items is that of each alone.
func TestAttention(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, heads := range []int{0, 2} {
		for _, causal := range []bool{false, true} {
			row := []int{4}
			if heads > 0 {
				row = []int{heads, 4}
			}
			make := func(sizes []int) *List {
				n := 0
				for _, s := range sizes {
					n += s
				}
				return FromSizes(weft.RandnOf(weft.Float64, append([]int{n}, row...)...), sizes)
			}
			var a, b []int
			for range 30 {
				a, b = append(a, r.IntN(20)), append(b, r.IntN(20))
			}
			if causal {
				b = a
			}
			q, k, v := make(a), make(b), make(b)
			got := Attention(q, k, v, nn.AttentionOpts{Causal: causal})
			for i := range a {
				at := func(l *List) *weft.Tensor {
					x := l.At(i)
					if heads > 0 {
						x = x.Transpose(0, 1)
					}
					return x
				}
				if a[i] == 0 || b[i] == 0 {
					if x := got.At(i); x.Dim(0) != a[i] || x.Abs().Sum().Item() != 0 {
						t.Errorf("item %d: %v", i, x)
					}
					continue
				}
				want := nn.ScaledDotProductAttention(at(q), at(k), at(v), nn.AttentionOpts{Causal: causal})
				if heads > 0 {
					want = want.Transpose(0, 1)
				}
				x, y := weft.Data[float64](got.At(i)), weft.Data[float64](want)
				for j := range x {
					if len(x) != len(y) || math.Abs(x[j]-y[j]) > 1e-12 {
						t.Fatalf("item %d: %v, want %v", i, x, y)
					}
				}
			}
		}
	}
	q := Of([][][2]float32{{{1, 2}}, {}})
	for _, f := range []func(){
		func() { Attention(nil, q, q) },
		func() { Attention(q, q.Range(0, 1), q) },
		func() { Attention(q, q, q.Range(0, 1)) },
		func() { Attention(q, q, Of([][]float32{{1}, {}})) },
		func() { Attention(q, q, q, nn.AttentionOpts{Mask: weft.Ones(1)}) },
		func() { q.MatMul(nil) },
		func() { q.MatMul(weft.Ones(3, 2)) },
		func() { Of([][]float32{{1}}).MatMul(weft.Ones(1, 1)) },
	} {
		refuses(t, f)
	}
	shows(t, q.MatMul(weft.FromSlice([]float32{1, 1, 1, 0, 2, 1}, 2, 3)), "[ [[1. 5. 3.]] [] ]")
}

// Gradients of every operation that has them, against differences.
func TestGradients(t *testing.T) {
	sizes := []int{2, 0, 3, 1}
	data := weft.RandnOf(weft.Float64, 6, 2)
	one := weft.RandnOf(weft.Float64, 4, 2)
	dense := weft.RandnOf(weft.Float64, 4, 3, 2)
	matrix := weft.RandnOf(weft.Float64, 2, 3)
	mask := FromSizes(weft.FromSlice([]bool{true, false, true, true, false, true}), sizes)
	idx := Of([][]int64{{1, 1, 0}, {}, {-1}, {0}})
	rows := func(l *List) *weft.Tensor { return l.Data() }
	for _, c := range []struct {
		name string
		f    func(l *List, v, d, w *weft.Tensor) *weft.Tensor
	}{
		{"add", func(l *List, v, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Add(v).Mul(l)) }},
		{"dense", func(l *List, _, d, _ *weft.Tensor) *weft.Tensor { return rows(l.Mul(d)) }},
		{"positions", func(l *List, _, d, _ *weft.Tensor) *weft.Tensor { return rows(l.Mul(d.Slice(weft.Range(1, 2)))) }},
		{"expr", func(l *List, v, _, _ *weft.Tensor) *weft.Tensor {
			return rows(Expr("sin(l)*v + l", weft.Vars{"l": l, "v": v}))
		}},
		{"map", func(l *List, v, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Map(kernels.Func("Bend"), v)) }},
		{"sum", func(l *List, v, _, _ *weft.Tensor) *weft.Tensor { return l.Sum().Mul(v) }},
		{"prod", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return l.Prod() }},
		{"mean", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return l.Mean().Slice(weft.Range(2, 4)) }},
		{"max", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return l.Max().Slice(weft.Range(2, 4)) }},
		{"logsumexp", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return l.LogSumExp().Slice(weft.Range(2, 4)) }},
		{"softmax", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Softmax()) }},
		{"logsoftmax", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.LogSoftmax()) }},
		{"sort", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { s, _ := l.Sort(weft.SortOpts{}); return rows(s) }},
		{"padded", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { x, _ := l.ToPadded(0, 2); return x }},
		{"unpadded", func(_ *List, _, d, _ *weft.Tensor) *weft.Tensor { return rows(FromPadded(d, sizes)) }},
		{"unpadded by a mask", func(l *List, _, d, _ *weft.Tensor) *weft.Tensor {
			_, m := l.ToPadded(0)
			return rows(FromPadded(d, m))
		}},
		{"take", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Take([]int{2, 2, 0})) }},
		{"index", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Index(idx)) }},
		{"mask", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Mask(mask)) }},
		{"concat", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(Concat([]*List{l, l.Mul(2)}, 0)) }},
		{"concat items", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(Concat([]*List{l, l.Mul(2)}, 1)) }},
		{"range", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Range(1, 3)) }},
		{"at", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return l.At(2) }},
		{"spread", func(l *List, v, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Spread(v)) }},
		{"matmul", func(l *List, _, _, w *weft.Tensor) *weft.Tensor { return rows(l.MatMul(w)) }},
		{"attention", func(l *List, _, _, w *weft.Tensor) *weft.Tensor {
			return rows(Attention(l, l.Mul(2), l.MatMul(w)))
		}},
		{"clone", func(l *List, _, _, _ *weft.Tensor) *weft.Tensor { return rows(l.Clone().Apply((*weft.Tensor).Square)) }},
	} {
		leaves := []*weft.Tensor{data, one, dense, matrix}
		loss := func(ts []*weft.Tensor) *weft.Tensor {
			y := c.f(FromSizes(ts[0], sizes), ts[1], ts[2], ts[3])
			w := weft.Arange(y.Size()).To(weft.Float64).Reshape(y.Shape()...).Add(1).Cos()
			return y.Mul(w).Sum()
		}
		var asked []*weft.Tensor
		for _, x := range leaves {
			asked = append(asked, x.Clone().RequireGrad())
		}
		loss(asked).Backward()
		some := false
		for k, x := range asked {
			g := x.Grad()
			for i := range leaves[k].Size() {
				var at [2]float64
				for s, h := range []float64{-1e-5, 1e-5} {
					moved := append([]*weft.Tensor{}, leaves...)
					moved[k] = leaves[k].Clone()
					moved[k].Reshape(-1).Slice(weft.Range(i, i+1)).AddAssign(h)
					at[s] = loss(moved).Item()
				}
				want, got := (at[1]-at[0])/2e-5, 0.0
				if g != nil {
					got = g.Reshape(-1).At(i).Item()
				}
				some = some || got != 0
				if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
					t.Errorf("%s: argument %d, element %d: %v, want %v", c.name, k, i, got, want)
				}
			}
		}
		if !some {
			t.Errorf("%s has no gradient", c.name)
		}
	}
}

// What does not fit is refused with an error that names the operation.
func TestMisfitsAreRefused(t *testing.T) {
	l := Of([][]float64{{1}, {2, 3}})
	n := l.Unflatten(2)
	s := Of([][]xy{{{1, 2}}, {}})
	c := Of([][]complex64{{1}, {2}})
	for name, f := range map[string]func(){
		"another partition":   func() { l.Add(Of([][]float64{{1, 2}, {3}})) },
		"deeper":              func() { l.Add(n) },
		"nil list":            func() { l.Add((*List)(nil)) },
		"nil tensor":          func() { l.Add((*weft.Tensor)(nil)) },
		"text":                func() { l.Add("x") },
		"values of items":     func() { l.Add(weft.Ones(3)) },
		"too many axes":       func() { l.Add(weft.Ones(2, 1, 1)) },
		"dense too short":     func() { Of([][]float64{{1, 2, 3}, {4}}).Add(weft.Ones(2, 2)) },
		"dense and nested":    func() { n.Add(weft.Ones(1, 2)) },
		"structs":             func() { s.Add(1) },
		"sum of structs":      func() { s.Sum() },
		"level":               func() { l.Sum(1) },
		"levels":              func() { n.Sum(0, 1) },
		"order of complex":    func() { c.Max() },
		"sort of complex":     func() { c.Sort(weft.SortOpts{}) },
		"softmax of integers": func() { Of([][]string{}).Softmax() },
		"flatten":             func() { l.Flatten() },
		"unflatten":           func() { l.Unflatten(3) },
		"padded to less":      func() { l.ToPadded(0, -1) },
		"padded twice":        func() { l.ToPadded(0, 1, 2) },
		"padded with text":    func() { l.ToPadded("x") },
		"padded with 300":     func() { Of([][]int8{{1}}).ToPadded(300) },
		"frompadded":          func() { FromPadded(weft.Ones(2), 1) },
		"frompadded sizes":    func() { FromPadded(weft.Ones(2, 3), []int{1, 4}) },
		"frompadded count":    func() { FromPadded(weft.Ones(2, 3), []int{1}) },
		"frompadded mask":     func() { FromPadded(weft.Ones(2, 3), weft.OnesOf(weft.Bool, 2, 2)) },
		"concat none":         func() { Concat(nil, 0) },
		"concat nil":          func() { Concat([]*List{l, nil}, 0) },
		"concat axis":         func() { Concat([]*List{l}, 2) },
		"concat depth":        func() { Concat([]*List{l, n}, 0) },
		"concat fields":       func() { Concat([]*List{l, s}, 0) },
		"concat items":        func() { Concat([]*List{l, l.Range(0, 1)}, 1) },
		"concat rows":         func() { Concat([]*List{l, Of([][][2]float64{{}, {}})}, 0) },
		"index":               func() { l.Index(Of([][]int{{1}, {0}})) },
		"index from the end":  func() { l.Index(Of([][]int{{-2}, {0}})) },
		"index by floats":     func() { l.Index(l) },
		"index of items":      func() { l.Index(Of([][]int{{0}})) },
		"index nil":           func() { l.Index(nil) },
		"mask":                func() { l.Mask(l) },
		"mask of items":       func() { l.Mask(weft.OnesOf(weft.Bool, 3)) },
		"mask nothing":        func() { l.Mask(nil) },
		"mask elsewhere":      func() { l.Mask(Of([][]bool{{true, true}, {true}})) },
		"take":                func() { l.Take([]int{2}) },
		"take by floats":      func() { l.Take(weft.Ones(1)) },
		"with":                func() { l.With(weft.Ones(2)) },
		"with nil":            func() { l.With(nil) },
		"apply":               func() { l.Apply(nil) },
		"apply that reduces":  func() { l.Apply(func(x *weft.Tensor) *weft.Tensor { return x.Sum() }) },
		"spread":              func() { l.Spread(weft.Ones(3)) },
		"range":               func() { l.Range(0, 1, 0) },
		"steps":               func() { l.Range(0, 1, 1, 1) },
		"at":                  func() { n.At(0) },
		"listat":              func() { l.ListAt(0) },
		"all":                 func() { n.All() },
		"zero list":           func() { (&List{}).Sum() },
		"nil":                 func() { (*List)(nil).Softmax() },
	} {
		if e, ok := weft.Try(f).(*weft.Error); !ok || e.Kind != weft.Misuse || e.Op == "" {
			t.Errorf("%s: got %v, want an error", name, e)
		}
	}
	err := weft.Try(func() { l.Index(Of([][]int{{0}, {1, -3}})) })
	if err == nil || err.Error() != "index: idx: place -3 of item 1 is out of range for its 2 rows" {
		t.Error(err)
	}
}
