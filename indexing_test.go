package weft_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/ragged"
)

// An indexCase is a case of testdata/indexing.json.
type indexCase struct {
	Shape []int
	Index []struct {
		Kind   string
		At     int
		Bounds [3]*int
		Shape  []int
		Values []int64
	}
	Out *expected
	Put *struct{ Values, Written, Added expected }
}

// args are the arguments of Index: arrays as tensors of a type, or as slices where they
// are vectors and those are asked for.
func (c *indexCase) args(places weft.DType, slices bool) []any {
	out := []any{}
	for _, i := range c.Index {
		switch i.Kind {
		case "int":
			out = append(out, i.At)
		case "new":
			out = append(out, weft.NewAxis)
		case "...":
			out = append(out, weft.Ellipsis)
		case ":":
			step := 1
			if i.Bounds[2] != nil {
				step = *i.Bounds[2]
			}
			start, stop := weft.Begin, weft.End
			if step < 0 {
				start, stop = weft.End, weft.Begin
			}
			if i.Bounds[0] != nil {
				start = *i.Bounds[0]
			}
			if i.Bounds[1] != nil {
				stop = *i.Bounds[1]
			}
			if i.Bounds == [3]*int{} {
				out = append(out, weft.All)
			} else {
				out = append(out, weft.Range(start, stop, step))
			}
		case "places":
			if slices && len(i.Shape) == 1 {
				s := []int{}
				for _, v := range i.Values {
					s = append(s, int(v))
				}
				out = append(out, s)
			} else {
				out = append(out, weft.FromSlice(i.Values).Reshape(i.Shape...).To(places))
			}
		case "mask":
			if slices && len(i.Shape) == 1 {
				s := []bool{}
				for _, v := range i.Values {
					s = append(s, v != 0)
				}
				out = append(out, s)
			} else {
				out = append(out, weft.FromSlice(i.Values).Reshape(i.Shape...).To(weft.Bool))
			}
		}
	}
	return out
}

// typesOf are int64 and, in turn for each n, two others of those that are good.
func typesOf(n int, good func(d weft.DType) bool) []weft.DType {
	out := []weft.DType{weft.Int64}
	all := array.DTypes()
	for len(out) < 3 {
		if d := all[n%len(all)]; good(d) && !slices.Contains(out, d) {
			out = append(out, d)
		}
		n++
	}
	return out
}

func indexCases(t *testing.T) (cases []indexCase) {
	decode(t, "testdata/indexing.json", &cases)
	if len(cases) < 300 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// TestIndex compares with NumPy's brackets, in several layouts and element types.
func TestIndex(t *testing.T) {
	for n, c := range indexCases(t) {
		for _, d := range typesOf(n, func(d weft.DType) bool { return d != weft.Bool }) {
			for k, x := range layouts(counting(c.Shape).To(d)) {
				args := c.args([]weft.DType{weft.Int64, weft.Int32, weft.Int64}[n%3], k > 0)
				var y *weft.Tensor
				err := tensortest.Try(func() { y = x.Index(args...) })
				var e *weft.Error
				switch {
				case c.Out == nil && (!errors.As(err, &e) || e.Kind != weft.Misuse || !strings.HasPrefix(e.Op, "index")):
					t.Errorf("%v by %v is not refused by index: %v", c.Shape, c.Index, err)
				case c.Out == nil:
				case err != nil:
					t.Errorf("%v by %v: %v", c.Shape, c.Index, err)
				case y.DType() != d || c.Out.differs(y) != "":
					t.Errorf("layout %d of %s%v by %+v: %v %v, want %+v", k, d, c.Shape, c.Index, y.Shape(), y, *c.Out)
				}
			}
		}
	}
}

// TestIndexPut compares with writes through NumPy's brackets, and with its add.at.
func TestIndexPut(t *testing.T) {
	for n, c := range indexCases(t) {
		for _, d := range typesOf(n, func(d weft.DType) bool { return !d.Unsigned() }) {
			for k, x := range layouts(counting(c.Shape).To(d)) {
				args := c.args([]weft.DType{weft.Int64, weft.Int32, weft.Int64}[n%3], k > 0)
				if c.Out == nil {
					if err := tensortest.Try(func() { x.IndexPut(0, args...) }); err == nil {
						t.Errorf("a write to %v by %v is not refused", c.Shape, c.Index)
					}
					if err := tensortest.Try(func() { x.IndexPutAdd(0, args...) }); err == nil {
						t.Errorf("an addition to %v by %v is not refused", c.Shape, c.Index)
					}
					continue
				}
				if c.Put == nil {
					continue
				}
				before := integers(x)
				v := weft.FromSlice(c.Put.Values.Values).Reshape(c.Put.Values.Shape...).To(d)
				if y := x.IndexPut(v, args...); y.DType() != d || c.Put.Written.differs(y) != "" {
					t.Errorf("layout %d of %s%v, %v written by %+v: %v, want %+v", k, d, c.Shape, v, c.Index, y, c.Put.Written)
				}
				if y := x.IndexPutAdd(v, args...); y.DType() != d || c.Put.Added.differs(y) != "" {
					t.Errorf("layout %d of %s%v, %v added by %+v: %v, want %+v", k, d, c.Shape, v, c.Index, y, c.Put.Added)
				}
				if v.Size() == 1 {
					if y := x.IndexPut(int(c.Put.Values.Values[0]), args...); c.Put.Written.differs(y) != "" {
						t.Errorf("%v, a number written by %+v: %v, want %+v", c.Shape, c.Index, y, c.Put.Written)
					}
				}
				if !slices.Equal(before, integers(x)) {
					t.Fatalf("%v was written to", c.Shape)
				}
			}
		}
	}
}

// Gradients of all forms of Index and its writes equal finite differences. Where several values
// were written to one place, the last one alone has a gradient.
func TestIndexGradients(t *testing.T) {
	w := weft.Arange(200.0).To(weft.Float64).Add(1).Sqrt()
	sum := func(x *weft.Tensor) *weft.Tensor {
		return x.Reshape(-1).Square().Mul(w.Slice(weft.Range(0, x.Size()))).Sum()
	}
	at := make([]float64, 12)
	for i := range at {
		at[i] = float64(i*i%7) - 2.5
	}
	tried := 0
	for _, c := range indexCases(t) {
		size := 1
		for _, n := range c.Shape {
			size *= n
		}
		if c.Put == nil || size == 0 || size > len(at) || tried > 120 {
			continue
		}
		tried++
		args := c.args(weft.Int64, false)
		tensortest.Differences(t, "index", func(x *weft.Tensor) *weft.Tensor { return sum(x.Reshape(c.Shape...).Index(args...)) }, at[:size]...)
		n := len(c.Put.Values.Values)
		v := weft.FromSlice(c.Put.Values.Values).Reshape(c.Put.Values.Shape...).To(weft.Float64).Add(0.25)
		for name, f := range map[string]func(x *weft.Tensor, v any, index ...any) *weft.Tensor{"put": (*weft.Tensor).IndexPut, "add": (*weft.Tensor).IndexPutAdd} {
			tensortest.Differences(t, name+" for the array", func(x *weft.Tensor) *weft.Tensor { return sum(f(x.Reshape(c.Shape...), v, args...)) }, at[:size]...)
			if n > 0 && n <= len(at) {
				x := weft.FromSlice(at[:size]).Reshape(c.Shape...)
				tensortest.Differences(t, name+" for the values", func(v *weft.Tensor) *weft.Tensor { return sum(f(x, v.Reshape(c.Put.Values.Shape...), args...)) }, at[:n]...)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d cases", tried)
	}
	// Second derivatives.
	x, v := weft.FromSlice(at[:4]).RequireGrad(), weft.FromSlice(at[4:7]).RequireGrad()
	y := x.IndexPut(v, []int{1, 3, 1}).Pow(3).Sum()
	g := weft.GradAll([]*weft.Tensor{y}, []*weft.Tensor{x, v}, weft.GradOpts{Create: true})
	gg := weft.GradAll([]*weft.Tensor{g[0].Sum(), g[1].Sum()}, []*weft.Tensor{x, v})
	if want := []float64{6 * at[0], 0, 6 * at[2], 0}; !slices.Equal(weft.Data[float64](gg[0]), want) {
		t.Errorf("second derivative for the array %v, want %v", gg[0], want)
	}
	if want := []float64{0, 6 * at[5], 6 * at[6]}; !slices.Equal(weft.Data[float64](gg[1]), want) {
		t.Errorf("second derivative for the values %v, want %v", gg[1], want)
	}
}

// Places of every integer type, element types that meet, and what scopes and Detach do.
func TestIndexTypes(t *testing.T) {
	x := weft.Arange(5)
	for _, d := range array.DTypes() {
		if !d.Integer() {
			continue
		}
		if y := x.Index(weft.From([]int{3, 1}).To(d)); !slices.Equal(weft.Data[int64](y), []int64{3, 1}) {
			t.Errorf("by %s: %v", d, y)
		}
	}
	if y := weft.OnesOf(weft.Uint8, 2).IndexPutAdd(weft.FromSlice([]int64{300, 1}), []int{0, 0}); y.DType() != weft.Int64 || y.At(0).ItemInt() != 302 {
		t.Errorf("uint8 and int64 give %s %v", y.DType(), y)
	}
	if y := weft.OnesOf(weft.Int32, 2).IndexPut(weft.From([]int64{7}), []int{0}); y.DType() != weft.Int32 || y.At(0).ItemInt() != 7 {
		t.Errorf("int64 written into int32 gives %s %v", y.DType(), y)
	}
	for _, mask := range []*weft.Tensor{weft.From([]bool{true, false, true}), weft.OnesOf(weft.Bool, 3), weft.ZerosOf(weft.Bool, 3)} {
		for _, v := range []any{2, true, weft.Scalar(2), weft.From([]int{2})} {
			y := weft.Zeros(3, 2).IndexPut(v, mask)
			z := weft.Where(mask.Unsqueeze(1), weft.Zeros(3, 2).Add(v), weft.Zeros(3, 2))
			if y.DType() != weft.Float32 || y.Eq(z).All().ItemInt() == 0 {
				t.Errorf("%v by %v: %v", v, mask, y)
			}
		}
	}
	w := weft.Ones(3).RequireGrad()
	if w.Detach().Index([]int{0}).RequiresGrad() || !w.Index([]int{0}).RequiresGrad() || !weft.Ones(3).IndexPut(w, weft.All).RequiresGrad() {
		t.Error("gradients are not recorded where they should be, or are where they should not")
	}
	s := weft.NewScope()
	y := s.Track(weft.Ones(4, 4)).Index([]int{0}, weft.All, weft.NewAxis)
	z := s.Track(weft.Ones(4, 4)).IndexPut(3, weft.Range(0, 2), []int{1})
	s.Close()
	for _, r := range []*weft.Tensor{y, z} {
		if err := weft.Try(func() { r.Sum() }); err == nil {
			t.Error("a result outlives its scope")
		}
	}
}

func TestIndexMisuse(t *testing.T) {
	x := weft.Ones(2, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"index: argument 0: is string, want an int, a Span, an []int, an []bool or a *Tensor", func() { x.Index("a") }},
		{"index: argument 1: is <nil>, want an int, a Span, an []int, an []bool or a *Tensor", func() { x.Index(0, nil) }},
		{"index: argument 0: has elements of type float32, want integers or bool", func() { x.Index(weft.Ones(2)) }},
		{"index: more indices than the 2 dimensions of shape [2 3]", func() { x.Index(0, 0, 0) }},
		{"index: more indices than the 2 dimensions of shape [2 3]", func() { x.Index(0, weft.OnesOf(weft.Bool, 3, 1)) }},
		{"index: has two Ellipses, want one at most", func() { x.Index(weft.Ellipsis, weft.Ellipsis, []int{0}) }},
		{"index: has two Ellipses, want one at most", func() { x.Index(weft.Ellipsis, weft.Ellipsis) }},
		{"slice: has two Ellipses, want one at most", func() { x.Slice(weft.Ellipsis, weft.Ellipsis) }},
		{"index: index 2 is out of range for axis 0 of size 2", func() { x.Index(2) }},
		{"index: index -4 is out of range for axis 1 of size 3", func() { x.Index([]int{0}, -4) }},
		{"index: argument 2: 3 at [1 0] is out of range for axis 1 of size 3", func() { x.Index(weft.NewAxis, []int{0}, weft.From([][]int{{0}, {3}})) }},
		{"index: argument 1: -4 at [1] is out of range for axis 1 of size 3", func() { x.Index(weft.Ellipsis, []int{0, -4}) }},
		{"index: argument 0: 0 at [] is out of range for axis 0 of size 0", func() { weft.Zeros(0).Index(weft.Scalar(0)) }},
		{"index: shapes do not broadcast: [2] and [3]", func() { x.Index([]int{0, 1}, []int{0, 1, 2}) }},
		{"index: argument 1: the mask has shape [2], its axes, from 1 on, [3]", func() { x.Index(weft.All, []bool{true, false}) }},
		{"index_put: argument 0: 9 at [0] is out of range for axis 0 of size 2", func() { x.IndexPut(1, []int{9}) }},
		{"index_put: x: has shape [2], which does not broadcast to the selection's [2 3]", func() { x.IndexPut(weft.Ones(2), []int{0, 1}) }},
		{"index_put: x: has shape [4], which does not broadcast to the selection's [3]", func() { x.IndexPut(weft.Ones(4), 0) }},
		{"index_put: x: is float32 and cannot be written into int64: convert it with To", func() { weft.Arange(3).IndexPut(weft.Ones(1), []int{0}) }},
		{"index_put: x: is a float, which cannot be written into int64: convert the receiver with To first", func() { weft.Arange(3).IndexPut(0.5, []int{0}) }},
		{"index_put: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string", func() { x.IndexPut("a") }},
	} {
		err := tensortest.Try(c.f)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	gone := weft.Arange(2)
	gone.Release()
	for i, f := range []func(){func() { x.Index(gone) }, func() { x.IndexPut(1, gone) }, func() { x.IndexPut(gone, 0) }, func() { x.Index((*weft.Tensor)(nil)) }, func() { (*weft.Tensor)(nil).Index(0) },
		func() {
			x.Expand(1<<40, 2, 3).Index(weft.ZerosOf(weft.Int64, 1).Expand(1<<40), weft.ZerosOf(weft.Int64, 1<<20, 1))
		}} {
		var e *weft.Error
		if err := tensortest.Try(f); !errors.As(err, &e) || e.Kind != weft.Misuse {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := weft.Try(func() { x.Index(math.MinInt) }); err == nil {
		t.Error("the least int is a place")
	}
}

// Index moves complex elements like real ones: the gradient of the squared length of a complex
// result has the gradients of its real and imaginary parts as its parts.
func TestIndexComplexGradients(t *testing.T) {
	at := weft.From([]int{1, 3, 1})
	for name, f := range map[string]func(x, v *weft.Tensor) *weft.Tensor{
		"index":   func(x, v *weft.Tensor) *weft.Tensor { return x.Index([]int{1, 1, 0}) },
		"mask":    func(x, v *weft.Tensor) *weft.Tensor { return x.Index(weft.Arange(6).Gt(2)) },
		"put":     func(x, v *weft.Tensor) *weft.Tensor { return x.IndexPut(v, at) },
		"add":     func(x, v *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(v, at) },
		"scatter": func(x, v *weft.Tensor) *weft.Tensor { return x.Scatter(0, at, v) },
		"scatter mean": func(x, v *weft.Tensor) *weft.Tensor {
			return x.ScatterReduce(0, at, v, weft.ScatterOpts{Reduce: weft.ScatterMean})
		},
		"take":     func(x, v *weft.Tensor) *weft.Tensor { return x.TakeAlongAxis(0, at) },
		"triangle": func(x, v *weft.Tensor) *weft.Tensor { return x.Reshape(2, 3).Tril(0).Tile(2, 2) },
		"roll":     func(x, v *weft.Tensor) *weft.Tensor { return x.Roll(0, 2).RepeatInterleave(0, []int{1, 0, 2, 1, 1, 3}) },
		"diagonal": func(x, v *weft.Tensor) *weft.Tensor { return x.Flip().Diag(1) },
		"fill":     func(x, v *weft.Tensor) *weft.Tensor { return x.MaskedFill(weft.Arange(6).Gt(2), v.At(1)) },
	} {
		re, im := []float64{1, -2, 3, 0.5, 4, -1}, []float64{0.25, 5, -3, 2, 1, 7}
		z := make([]complex128, 6)
		for i := range z {
			z[i] = complex(re[i], im[i])
		}
		grads := func(x, v *weft.Tensor) []*weft.Tensor {
			x, v = x.RequireGrad(), v.RequireGrad()
			g := weft.GradAll([]*weft.Tensor{f(x, v).Abs().Square().Sum()}, []*weft.Tensor{x, v}, weft.GradOpts{AllowUnused: true})
			if g[1] == nil {
				return g[:1]
			}
			return g
		}
		real3, imag3 := grads(weft.FromSlice(re), tensortest.Vector(re[3:]...)), grads(weft.FromSlice(im), tensortest.Vector(im[3:]...))
		for k, g := range grads(weft.FromSlice(z), weft.FromSlice(slices.Clone(z[3:]))) {
			a, b := weft.Data[float64](real3[k]), weft.Data[float64](imag3[k])
			for i, got := range weft.Data[complex128](g) {
				if math.Abs(real(got)-a[i])+math.Abs(imag(got)-b[i]) > 1e-12 {
					t.Errorf("%s: gradient %d is %v, want %v and %v", name, k, g, a, b)
					break
				}
			}
		}
	}
}

// Index operations refuse index and values that do not fit the receiver, whatever
// their shapes, ranks and types: nothing is written outside the result.
func TestIndexOpsCheckTheirArguments(t *testing.T) {
	at := func(shape ...int) *weft.Tensor { return weft.ZerosOf(weft.Int64, shape...) }
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"scatter_add: wider than the receiver", func() { weft.Zeros(3, 2).ScatterAdd(0, at(3, 1000), weft.Ones(3, 1000)) }},
		{"scatter_add: more rows outside the axis", func() { weft.Zeros(3, 2).ScatterAdd(1, at(1000, 2), weft.Ones(1000, 2)) }},
		{"scatter_add: more dimensions", func() { weft.Zeros(3).ScatterAdd(0, at(3, 4), weft.Ones(3, 4)) }},
		{"scatter_add: fewer dimensions", func() { weft.Zeros(3, 4).ScatterAdd(1, at(3), weft.Ones(3)) }},
		{"scatter_add: no dimensions", func() { weft.Zeros(3).ScatterAdd(0, at(), weft.Ones()) }},
		{"scatter_add: index and x differ", func() { weft.Zeros(3).ScatterAdd(0, at(2), weft.Ones(3)) }},
		{"scatter_add: float index", func() { weft.Zeros(3).ScatterAdd(0, weft.Zeros(2), weft.Ones(2)) }},
		{"scatter_add: place beyond the end", func() { weft.Zeros(3).ScatterAdd(0, weft.FromSlice([]int64{0, 3}), weft.Ones(2)) }},
		{"scatter_add: place before the front", func() { weft.Zeros(3).ScatterAdd(0, weft.FromSlice([]int64{0, -4}), weft.Ones(2)) }},
		{"scatter_add: places in nothing", func() { weft.Zeros(0).ScatterAdd(0, at(2), weft.Ones(2)) }},
		{"scatter_add: places in nothing outside the axis", func() { weft.Zeros(3, 0).ScatterAdd(0, at(3, 1), weft.Ones(3, 1)) }},
		{"gather: wider", func() { weft.Zeros(3, 2).Gather(0, at(3, 1000)) }},
		{"gather: fewer dimensions", func() { weft.Zeros(3, 2).Gather(1, at(3)) }},
		{"gather: places in nothing", func() { weft.Zeros(0).Gather(0, at(2)) }},
		{"index_select: places in nothing", func() { weft.Zeros(0, 3).IndexSelect(0, at(2)) }},
		{"index_select: two dimensions of places", func() { weft.Zeros(3).IndexSelect(0, at(2, 2)) }},
		{"index_select: float places", func() { weft.Zeros(3).IndexSelect(0, weft.Zeros(2)) }},
		{"index_add: the receiver is not broadcast", func() { weft.Zeros(3, 1).IndexAdd(0, at(2), weft.Ones(2, 5)) }},
		{"index_add: nor are the values", func() { weft.Zeros(3, 5).IndexAdd(0, at(2), weft.Ones(2, 1)) }},
		{"index_add: more dimensions", func() { weft.Zeros(3).IndexAdd(0, at(2), weft.Ones(2, 5)) }},
		{"index_add: more values than places", func() { weft.Zeros(3).IndexAdd(0, at(2), weft.Ones(3)) }},
		{"index_add: places in nothing", func() { weft.Zeros(0).IndexAdd(0, at(2), weft.Ones(2)) }},
		{"mask_select: mask of floats", func() { weft.Zeros(3).MaskSelect(weft.Ones(3)) }},
		{"mask_select: other shape", func() { weft.Zeros(3).MaskSelect(weft.OnesOf(weft.Bool, 4)) }},
	} {
		var e *weft.Error
		if err := tensortest.Try(c.f); !errors.As(err, &e) || e.Kind != weft.Misuse {
			t.Errorf("%s: got %v, want a misuse", c.name, err)
		}
	}
}

// Where receiver and values have different types, sums are made in the type in
// which the two meet, not in that of the values.
func TestIndexAddPromotesTypes(t *testing.T) {
	const n = 300 // more than a uint8 counts
	places, ones := weft.ZerosOf(weft.Int64, n), weft.OnesOf(weft.Uint8, n)
	if y := weft.ZerosOf(weft.Int64, 2).ScatterAdd(0, places, ones); y.DType() != weft.Int64 || y.At(0).ItemInt() != n {
		t.Errorf("scatter_add of uint8 into int64 gives %v", y)
	}
	if y := weft.ZerosOf(weft.Int64, 2).IndexAdd(0, places, ones); y.DType() != weft.Int64 || y.At(0).ItemInt() != n {
		t.Errorf("index_add of uint8 into int64 gives %v", y)
	}
	if y := weft.ZerosOf(weft.Int32, 2).ScatterAdd(0, places, weft.Ones(n)); y.DType() != weft.Float32 || y.At(0).Item() != n {
		t.Errorf("scatter_add of float32 into int32 gives %v", y)
	}
}

// indexed are the operations that take indices, by the name in their errors.
var indexed = []struct {
	name   string
	signed bool // places may count from the back
	f      func(x, places *weft.Tensor) *weft.Tensor
}{
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Index(p) }},
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Index(weft.All, p) }},
	{"index_select", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, p) }},
	{"index_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexAdd(0, p, x) }},
	{"index_put", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexPut(7, p) }},
	{"index_put_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(7, p) }},
	{"gather", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Gather(1, p.Expand(3, 3)) }},
	{"take_along_axis", true, func(x, p *weft.Tensor) *weft.Tensor { return x.TakeAlongAxis(0, p.Reshape(1, 3)) }},
	{"scatter", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Scatter(0, p.Reshape(1, 3), 5) }},
	{"scatter_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.ScatterAdd(0, p.Reshape(1, 3), weft.Ones(1, 3)) }},
	{"scatter_reduce", true, func(x, p *weft.Tensor) *weft.Tensor {
		return x.ScatterReduce(0, p.Reshape(1, 3), weft.Ones(1, 3), weft.ScatterOpts{Reduce: weft.ScatterMax})
	}},
	{"repeat_interleave", false, func(x, p *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, p) }},
	{"bincount", false, func(x, p *weft.Tensor) *weft.Tensor { return p.BinCount(nil, 3) }},
	{"cross_entropy", false, func(x, p *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(x, p) }},
	{"cross_entropy", false, func(x, p *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, p) }},
	{"nll", false, func(x, p *weft.Tensor) *weft.Tensor { return nn.NLL(x, p) }},
	{"embedding_bag", false, func(x, p *weft.Tensor) *weft.Tensor {
		return (&nn.EmbeddingBag{Weight: x}).Bags(p, weft.Zeros(1).To(weft.Int64))
	}},
	{"embedding", false, func(x, p *weft.Tensor) *weft.Tensor { return (&nn.Embedding{Weight: x}).Forward(p) }},
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor {
		list := ragged.FromSizes(x.Flatten(0), weft.From([]int64{9}))
		return list.Index(ragged.FromSizes(p, weft.From([]int64{3}))).Data().Clone()
	}},
}

// TestIndicesOfEveryType gives each operation that takes indices integers of every type: the results
// equal the results by int64, eagerly and compiled.
func TestIndicesOfEveryType(t *testing.T) {
	x := weft.Arange(0.0, 9).Reshape(3, 3)
	for i, c := range indexed {
		lists := [][]int64{{2, 0, 1}}
		if c.signed {
			lists = append(lists, []int64{-1, 0, -2})
		}
		for _, list := range lists {
			p := weft.From(list)
			want := weft.Digest(c.f(x, p))
			for _, d := range everyType {
				if !d.Integer() || list[0] < 0 && d.Unsigned() {
					continue
				}
				if got := c.f(x, p.To(d)); weft.Digest(got) != want {
					t.Errorf("%s at %v of %s is %v, want %v", c.name, list, d, got, c.f(x, p))
				}
				if c.name == "repeat_interleave" || c.name == "bincount" || i == len(indexed)-1 {
					continue // the shape depends on the elements, or the list is made in the function
				}
				got, err := weft.Compile(func(x, p *weft.Tensor) *weft.Tensor { return c.f(x, p) }).Call(x, p.To(d))
				if err == nil && weft.Digest(got) != want {
					t.Errorf("compiled, %s at %v of %s is %v, want %v", c.name, list, d, got, c.f(x, p))
				}
				if err != nil {
					t.Errorf("compiled, %s of %s: %v", c.name, d, err)
				}
			}
		}
	}
}

// TestIndicesOutOfRangeAreRefused gives indices out of range, and tensors that are not of integers: the error
// names the operation that was called.
func TestIndicesOutOfRangeAreRefused(t *testing.T) {
	tensortest.SkipLate(t, "a late error names the operation inside the one that was called")
	x := weft.Arange(0.0, 9).Reshape(3, 3)
	for _, c := range indexed {
		for what, p := range map[string]*weft.Tensor{
			"uint64 beyond int64": weft.FromSlice([]uint64{1, 1<<64 - 1, 0}),
			"too large":           weft.From([]int64{0, 1 << 62, 0}),
			"floats":              weft.Ones(3),
		} {
			err := weft.Try(func() { weft.Data[float32](c.f(x, p).To(weft.Float32)) })
			if err == nil && c.name == "cross_entropy" && what == "floats" {
				continue // probabilities
			}
			if err == nil || !strings.Contains(err.Error(), c.name+":") {
				t.Errorf("%s at %s: %v", c.name, what, err)
			}
		}
	}
	err := weft.Try(func() { x.IndexPutAdd(1, []int{9}) })
	if want := "index_put_add: argument 0: 9 at [0] is out of range for axis 0 of size 3"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A given array of floats or integers, as testdata/scatter.py writes it.
type given struct {
	Shape  []int
	Floats []float64
	Values []int64
}

func (g given) tensor() *weft.Tensor {
	if g.Values != nil || g.Floats == nil {
		return weft.FromSlice(g.Values).Reshape(g.Shape...)
	}
	return weft.FromSlice(g.Floats).Reshape(g.Shape...)
}

// near reports equality but for a few roundings.
func (g given) near(t *weft.Tensor) bool {
	if !slices.Equal(t.Shape(), g.Shape) {
		return false
	}
	for i, x := range weft.Data[float64](t.To(weft.Float64)) {
		if math.Abs(x-g.Floats[i]) > 1e-14*math.Abs(g.Floats[i]) {
			return false
		}
	}
	return true
}

type scatterCases struct {
	Reduce []struct {
		Op                     string
		Axis                   int
		Own                    bool
		Index, X, V, Y, Dx, Dv given
		Whole                  expected
	}
	Take []struct {
		X, Index given
		Axis     int
		Y        expected
	}
}

// TestScatterReduce compares values and gradients with PyTorch's scatter_reduce.
func TestScatterReduce(t *testing.T) {
	var cases scatterCases
	decode(t, "testdata/scatter.json", &cases)
	ops := map[string]weft.ScatterOp{"sum": weft.ScatterSum, "mean": weft.ScatterMean, "amin": weft.ScatterMin, "amax": weft.ScatterMax, "prod": weft.ScatterProd}
	for _, c := range cases.Reduce {
		o := weft.ScatterOpts{Reduce: ops[c.Op], ExcludeSelf: !c.Own}
		for _, at := range []weft.DType{weft.Int64, weft.Int32} {
			index := c.Index.tensor().To(at)
			x, v := c.X.tensor().RequireGrad(), c.V.tensor().RequireGrad()
			if len(c.V.Floats) == 0 {
				v = weft.ZerosOf(weft.Float64, c.V.Shape...).RequireGrad()
			}
			y := x.ScatterReduce(c.Axis, index, v, o)
			if !c.Y.near(y) {
				t.Errorf("%s own %v of %v, %v at %v: %v, want %v", c.Op, c.Own, x, v, index, y, c.Y.Floats)
			}
			g := weft.Grad(y.Square().Sum(), []*weft.Tensor{x, v})
			if !c.Dx.near(g[0]) || len(c.Dv.Floats) > 0 && !c.Dv.near(g[1]) {
				t.Errorf("%s own %v of %v, %v at %v: gradients %v and %v, want %v and %v", c.Op, c.Own, x, v, index, g[0], g[1], c.Dx.Floats, c.Dv.Floats)
			}
			for _, d := range []weft.DType{weft.Int64, weft.Int32} {
				if y := x.Detach().To(d).ScatterReduce(c.Axis, index, v.Detach().To(d), o); y.DType() != d || c.Whole.differs(y) != "" {
					t.Errorf("%s of %s own %v of %v, %v at %v: %v, want %v", c.Op, d, c.Own, x, v, index, y, c.Whole)
				}
			}
		}
	}
	nan := math.NaN()
	if y := tensortest.Vector(1, 2, nan).ScatterReduce(0, weft.From([]int{0, 0, 2}), tensortest.Vector(nan, 3, 4), weft.ScatterOpts{Reduce: weft.ScatterMax}); !math.IsNaN(y.At(0).Item()) || y.At(1).Item() != 2 || !math.IsNaN(y.At(2).Item()) {
		t.Errorf("greatest with NaN: %v", y)
	}
	// An element that is left out shares nothing, also where it equals the least.
	x, v := tensortest.Vector(1, 5).RequireGrad(), tensortest.Vector(1, 1, 7).RequireGrad()
	y := x.ScatterReduce(0, weft.From([]int{0, 0, 0}), v, weft.ScatterOpts{Reduce: weft.ScatterMin, ExcludeSelf: true})
	if g := weft.Grad(y.Sum(), []*weft.Tensor{x, v}); !slices.Equal(weft.Data[float64](g[0]), []float64{0, 1}) || !slices.Equal(weft.Data[float64](g[1]), []float64{0.5, 0.5, 0}) {
		t.Errorf("gradients %v and %v", g[0], g[1])
	}
}

// Scatter writes in row-major order, the last stays, and it alone has a gradient.
func TestScatter(t *testing.T) {
	index := weft.From([][]int{{0, 2, -1}, {0, 1, 2}})
	x := weft.Zeros(3, 3).To(weft.Float64)
	for axis, want := range [][]float64{{4, 0, 0, 0, 5, 0, 0, 2, 6}, {1, 0, 3, 4, 5, 6, 0, 0, 0}} {
		if y := x.Scatter(axis, index, weft.From([][]float64{{1, 2, 3}, {4, 5, 6}})); !slices.Equal(weft.Data[float64](y), want) {
			t.Errorf("axis %d: %v, want %v", axis, y, want)
		}
	}
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64} {
		if y := weft.ZerosOf(d, 3).Scatter(0, weft.From([]int{2, 0}), 1); y.DType() != d || !slices.Equal(weft.Data[int64](y.To(weft.Int64)), []int64{1, 0, 1}) {
			t.Errorf("%s: %v", d, y)
		}
	}
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	w := weft.Arange(9.0).To(weft.Float64).Add(1).Sqrt().Reshape(3, 3)
	sum := func(y *weft.Tensor) *weft.Tensor { return y.Square().Mul(w).Sum() }
	for axis := range 2 {
		tensortest.Differences(t, "values", func(v *weft.Tensor) *weft.Tensor { return sum(x.Add(1).Scatter(axis, index, v.Reshape(2, 3))) }, at...)
		tensortest.Differences(t, "array", func(y *weft.Tensor) *weft.Tensor {
			return sum(weft.VStack([]*weft.Tensor{y.Reshape(2, 3), y.Slice(weft.Range(0, 3))}).Scatter(axis, index, 7))
		}, at...)
		tensortest.Differences(t, "number", func(y *weft.Tensor) *weft.Tensor { return sum(x.Scatter(axis, index, y.At(0))) }, at...)
		for _, o := range []weft.ScatterOpts{{weft.ScatterSum, false}, {weft.ScatterSum, true}, {weft.ScatterMean, true}, {weft.ScatterMin, false}, {weft.ScatterMax, true}} {
			tensortest.Differences(t, "reduced values", func(v *weft.Tensor) *weft.Tensor {
				return sum(x.Add(1.125).ScatterReduce(axis, index, v.Reshape(2, 3), o))
			}, at...)
		}
		// Gradients of products hold where one factor or several are 0.
		for _, alone := range []bool{false, true} {
			o := weft.ScatterOpts{Reduce: weft.ScatterProd, ExcludeSelf: alone}
			for _, at := range [][]float64{at, {0, -1.5, 2, 0, 0, 1}, make([]float64, 6)} {
				tensortest.Differences(t, "multiplied values", func(v *weft.Tensor) *weft.Tensor {
					return sum(x.Add(1.125).ScatterReduce(axis, index, v.Reshape(2, 3), o))
				}, at...)
				tensortest.Differences(t, "gradient of multiplied values", func(v *weft.Tensor) *weft.Tensor {
					if !v.RequiresGrad() {
						v = v.RequireGrad()
					}
					y := sum(x.Add(1.125).ScatterReduce(axis, index, v.Reshape(2, 3), o))
					return weft.Grad(y, []*weft.Tensor{v}, weft.GradOpts{Create: true})[0].Mul(weft.FromSlice([]float64{1, 2, -1, 0.5, 3, -2})).Sum()
				}, at...)
				tensortest.Differences(t, "multiplied array", func(y *weft.Tensor) *weft.Tensor {
					return sum(weft.VStack([]*weft.Tensor{y.Reshape(2, 3), y.Slice(weft.Range(0, 3))}).ScatterReduce(axis, index, w.Slice(weft.Range(0, 2)).Mul(y.At(0)), o))
				}, at...)
			}
		}
	}
}

func TestTakeAlongAxis(t *testing.T) {
	var cases scatterCases
	decode(t, "testdata/scatter.json", &cases)
	for _, c := range cases.Take {
		for _, x := range layouts(c.X.tensor()) {
			if y := x.TakeAlongAxis(c.Axis, c.Index.tensor()); c.Y.differs(y) != "" {
				t.Errorf("%v along %d by %v: %v, want %v", x, c.Axis, c.Index, y, c.Y)
			}
		}
	}
	if len(cases.Take) < 8 {
		t.Error("few cases")
	}
	tensortest.Differences(t, "take_along_axis", func(x *weft.Tensor) *weft.Tensor {
		return x.Reshape(3, 1).TakeAlongAxis(0, weft.From([][]int{{0, 1}, {2, 2}})).Square().Sum()
	}, 0.5, 2, -3)
}

func TestScatterMisuse(t *testing.T) {
	x, i := weft.Zeros(3, 2), weft.ZerosOf(weft.Int64, 3, 2)
	for n, f := range []func(){
		func() { x.Scatter(2, i, 1) }, func() { x.Scatter(0, i, weft.Ones(3)) }, func() { x.Scatter(0, weft.Ones(3, 2), 1) }, func() { x.Scatter(0, weft.ZerosOf(weft.Int64, 3, 3), 1) },
		func() { x.Scatter(0, weft.ZerosOf(weft.Int64, 2), 1) }, func() { x.Scatter(0, i.Add(3), 1) }, func() { x.Scatter(0, i, "a") }, func() { x.To(weft.Int64).Scatter(0, i, 0.5) }, func() { weft.Zeros(0).Scatter(0, weft.ZerosOf(weft.Int64, 1), 1) },
		func() { weft.Scalar(1).Scatter(0, i, 1) }, func() { x.ScatterReduce(0, i, weft.Ones(3), weft.ScatterOpts{}) }, func() { x.ScatterReduce(0, i, weft.Ones(3, 2), weft.ScatterOpts{Reduce: 9}) },
		func() { x.ScatterReduce(0, i.Add(3), weft.Ones(3, 2), weft.ScatterOpts{Reduce: weft.ScatterMax}) }, func() { x.ScatterReduce(0, i, weft.Ones(2, 2), weft.ScatterOpts{Reduce: weft.ScatterMin}) }, func() { x.ScatterReduce(0, i.Sub(4), weft.Ones(3, 2), weft.ScatterOpts{Reduce: weft.ScatterMean}) },
		func() {
			x.To(weft.Bool).ScatterReduce(0, i, weft.OnesOf(weft.Bool, 3, 2), weft.ScatterOpts{Reduce: weft.ScatterMean})
		}, func() { x.TakeAlongAxis(0, weft.ZerosOf(weft.Int64, 3)) }, func() { x.TakeAlongAxis(0, weft.ZerosOf(weft.Int64, 3, 3)) }, func() { x.TakeAlongAxis(2, i) }, func() { x.TakeAlongAxis(0, i.Add(3)) },
	} {
		var e *weft.Error
		if err := tensortest.Try(f); !errors.As(err, &e) || e.Kind != weft.Misuse {
			t.Errorf("%d: %v, want a misuse", n, err)
		}
	}
}

// Places in no rows name nothing.
func TestScatterOfEmptyRows(t *testing.T) {
	x := weft.OnesOf(weft.Float32, 0, 3, 2)
	index := weft.ZerosOf(weft.Int64, 0, 3, 2)
	if y := weft.ZerosOf(weft.Float32, 0, 4, 2).ScatterAdd(1, index, x); y.Size() != 0 {
		t.Errorf("%v", y)
	}
	if y := weft.ZerosOf(weft.Float32, 4, 0, 2).Gather(0, weft.ZerosOf(weft.Int64, 3, 0, 2)); y.Size() != 0 {
		t.Errorf("%v", y)
	}
}

// TestTriangles compares the places of triangles with a loop over matrices. Great sizes end at once, with places or an
// error.
func TestTriangles(t *testing.T) {
	for rows := range 6 {
		for cols := range 6 {
			for k := -8; k < 9; k++ {
				var lower, upper [2][]int64
				for i := range rows {
					for j := range cols {
						if j-i <= k {
							lower[0], lower[1] = append(lower[0], int64(i)), append(lower[1], int64(j))
						}
						if j-i >= k {
							upper[0], upper[1] = append(upper[0], int64(i)), append(upper[1], int64(j))
						}
					}
				}
				li, lj := weft.TrilIndices(rows, cols, k)
				ui, uj := weft.TriuIndices(rows, cols, k)
				for n, x := range []*weft.Tensor{li, lj, ui, uj} {
					if want := [][]int64{lower[0], lower[1], upper[0], upper[1]}[n]; !slices.Equal(weft.Data[int64](x), want) {
						t.Fatalf("%d x %d, %d: result %d is %v, want %v", rows, cols, k, n, x, want)
					}
				}
			}
		}
	}
	for _, k := range []int{math.MinInt, 0, math.MaxInt} {
		for _, f := range []func(rows, cols, k int) (*weft.Tensor, *weft.Tensor){weft.TrilIndices, weft.TriuIndices} {
			for _, size := range [][2]int{{math.MaxInt / 16, 0}, {0, math.MaxInt / 16}, {1 << 42, 1}, {1, 1 << 42}} {
				if err := weft.Try(func() { f(size[0], size[1], k) }); err != nil && !strings.Contains(err.Error(), "does not fit in memory") {
					t.Error(size, k, err)
				}
			}
		}
	}
}
