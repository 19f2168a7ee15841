package weft

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
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
func (c *indexCase) args(places DType, slices bool) []any {
	out := []any{}
	for _, i := range c.Index {
		switch i.Kind {
		case "int":
			out = append(out, i.At)
		case "new":
			out = append(out, NewAxis)
		case "...":
			out = append(out, Ellipsis)
		case ":":
			step := 1
			if i.Bounds[2] != nil {
				step = *i.Bounds[2]
			}
			start, stop := Begin, End
			if step < 0 {
				start, stop = End, Begin
			}
			if i.Bounds[0] != nil {
				start = *i.Bounds[0]
			}
			if i.Bounds[1] != nil {
				stop = *i.Bounds[1]
			}
			if i.Bounds == [3]*int{} {
				out = append(out, All)
			} else {
				out = append(out, Range(start, stop, step))
			}
		case "places":
			if slices && len(i.Shape) == 1 {
				s := []int{}
				for _, v := range i.Values {
					s = append(s, int(v))
				}
				out = append(out, s)
			} else {
				out = append(out, FromSlice(i.Values).Reshape(i.Shape...).To(places))
			}
		case "mask":
			if slices && len(i.Shape) == 1 {
				s := []bool{}
				for _, v := range i.Values {
					s = append(s, v != 0)
				}
				out = append(out, s)
			} else {
				out = append(out, FromSlice(i.Values).Reshape(i.Shape...).To(Bool))
			}
		}
	}
	return out
}

// typesOf are int64 and, in turn for each n, two others of those that are good.
func typesOf(n int, good func(d DType) bool) []DType {
	out := []DType{Int64}
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
		for _, d := range typesOf(n, func(d DType) bool { return d != Bool }) {
			for k, x := range layouts(counting(c.Shape).To(d)) {
				args := c.args([]DType{Int64, Int32, Int64}[n%3], k > 0)
				var y *Tensor
				err := Try(func() { y = x.Index(args...) })
				var e *Error
				switch {
				case c.Out == nil && (!errors.As(err, &e) || e.Kind != Misuse || !strings.HasPrefix(e.Op, "index")):
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
		for _, d := range typesOf(n, func(d DType) bool { return !d.Unsigned() }) {
			for k, x := range layouts(counting(c.Shape).To(d)) {
				args := c.args([]DType{Int64, Int32, Int64}[n%3], k > 0)
				if c.Out == nil {
					if err := Try(func() { x.IndexPut(0, args...) }); err == nil {
						t.Errorf("a write to %v by %v is not refused", c.Shape, c.Index)
					}
					if err := Try(func() { x.IndexPutAdd(0, args...) }); err == nil {
						t.Errorf("an addition to %v by %v is not refused", c.Shape, c.Index)
					}
					continue
				}
				if c.Put == nil {
					continue
				}
				before := integers(x)
				v := FromSlice(c.Put.Values.Values).Reshape(c.Put.Values.Shape...).To(d)
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

// The gradients of all that Index and its writes do, by differences; those of places that
// several values were written to belong to the last alone.
func TestIndexGradients(t *testing.T) {
	w := Arange(200.0).To(Float64).Add(1).Sqrt()
	sum := func(x *Tensor) *Tensor { return x.Reshape(-1).Square().Mul(w.Slice(Range(0, x.Size()))).Sum() }
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
		args := c.args(Int64, false)
		differences(t, "index", func(x *Tensor) *Tensor { return sum(x.Reshape(c.Shape...).Index(args...)) }, at[:size]...)
		n := len(c.Put.Values.Values)
		v := FromSlice(c.Put.Values.Values).Reshape(c.Put.Values.Shape...).To(Float64).Add(0.25)
		for name, f := range map[string]func(x *Tensor, v any, index ...any) *Tensor{"put": (*Tensor).IndexPut, "add": (*Tensor).IndexPutAdd} {
			differences(t, name+" for the array", func(x *Tensor) *Tensor { return sum(f(x.Reshape(c.Shape...), v, args...)) }, at[:size]...)
			if n > 0 && n <= len(at) {
				x := FromSlice(at[:size]).Reshape(c.Shape...)
				differences(t, name+" for the values", func(v *Tensor) *Tensor { return sum(f(x, v.Reshape(c.Put.Values.Shape...), args...)) }, at[:n]...)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d cases", tried)
	}
	// Second derivatives.
	x, v := FromSlice(at[:4]).RequireGrad(), FromSlice(at[4:7]).RequireGrad()
	y := x.IndexPut(v, []int{1, 3, 1}).Pow(3).Sum()
	g := GradAll([]*Tensor{y}, []*Tensor{x, v}, GradOpts{Create: true})
	gg := GradAll([]*Tensor{g[0].Sum(), g[1].Sum()}, []*Tensor{x, v})
	if want := []float64{6 * at[0], 0, 6 * at[2], 0}; !slices.Equal(Data[float64](gg[0]), want) {
		t.Errorf("second derivative for the array %v, want %v", gg[0], want)
	}
	if want := []float64{0, 6 * at[5], 6 * at[6]}; !slices.Equal(Data[float64](gg[1]), want) {
		t.Errorf("second derivative for the values %v, want %v", gg[1], want)
	}
}

// Places of every integer type, element types that meet, and what scopes and Detach do.
func TestIndexTypes(t *testing.T) {
	x := Arange(5)
	for _, d := range array.DTypes() {
		if !d.Integer() {
			continue
		}
		if y := x.Index(From([]int{3, 1}).To(d)); !slices.Equal(Data[int64](y), []int64{3, 1}) {
			t.Errorf("by %s: %v", d, y)
		}
	}
	if y := OnesOf(Uint8, 2).IndexPutAdd(FromSlice([]int64{300, 1}), []int{0, 0}); y.DType() != Int64 || y.At(0).ItemInt() != 302 {
		t.Errorf("uint8 and int64 give %s %v", y.DType(), y)
	}
	if y := OnesOf(Int32, 2).IndexPut(From([]int64{7}), []int{0}); y.DType() != Int32 || y.At(0).ItemInt() != 7 {
		t.Errorf("int64 written into int32 gives %s %v", y.DType(), y)
	}
	for _, mask := range []*Tensor{From([]bool{true, false, true}), OnesOf(Bool, 3), ZerosOf(Bool, 3)} {
		for _, v := range []any{2, true, Scalar(2), From([]int{2})} {
			y := Zeros(3, 2).IndexPut(v, mask)
			z := Where(mask.Unsqueeze(1), Zeros(3, 2).Add(v), Zeros(3, 2))
			if y.DType() != Float32 || y.Eq(z).All().ItemInt() == 0 {
				t.Errorf("%v by %v: %v", v, mask, y)
			}
		}
	}
	w := Ones(3).RequireGrad()
	if w.Detach().Index([]int{0}).RequiresGrad() || !w.Index([]int{0}).RequiresGrad() || !Ones(3).IndexPut(w, All).RequiresGrad() {
		t.Error("gradients are not recorded where they should be, or are where they should not")
	}
	s := NewScope()
	y := s.Track(Ones(4, 4)).Index([]int{0}, All, NewAxis)
	z := s.Track(Ones(4, 4)).IndexPut(3, Range(0, 2), []int{1})
	s.Close()
	for _, r := range []*Tensor{y, z} {
		if err := Try(func() { r.Sum() }); err == nil {
			t.Error("a result outlives its scope")
		}
	}
}

func TestIndexMisuse(t *testing.T) {
	x := Ones(2, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"index: argument 0: is string, want an int, a Span, an []int, an []bool or a *Tensor", func() { x.Index("a") }},
		{"index: argument 1: is <nil>, want an int, a Span, an []int, an []bool or a *Tensor", func() { x.Index(0, nil) }},
		{"index: argument 0: has elements of type float32, want integers or bool", func() { x.Index(Ones(2)) }},
		{"index: more indices than the 2 dimensions of shape [2 3]", func() { x.Index(0, 0, 0) }},
		{"index: more indices than the 2 dimensions of shape [2 3]", func() { x.Index(0, OnesOf(Bool, 3, 1)) }},
		{"index: has two Ellipses, want one at most", func() { x.Index(Ellipsis, Ellipsis, []int{0}) }},
		{"index: has two Ellipses, want one at most", func() { x.Index(Ellipsis, Ellipsis) }},
		{"slice: has two Ellipses, want one at most", func() { x.Slice(Ellipsis, Ellipsis) }},
		{"index: index 2 is out of range for axis 0 of size 2", func() { x.Index(2) }},
		{"index: index -4 is out of range for axis 1 of size 3", func() { x.Index([]int{0}, -4) }},
		{"index: argument 2: 3 at [1 0] is out of range for axis 1 of size 3", func() { x.Index(NewAxis, []int{0}, From([][]int{{0}, {3}})) }},
		{"index: argument 1: -4 at [1] is out of range for axis 1 of size 3", func() { x.Index(Ellipsis, []int{0, -4}) }},
		{"index: argument 0: 0 at [] is out of range for axis 0 of size 0", func() { Zeros(0).Index(Scalar(0)) }},
		{"index: shapes do not broadcast: [2] and [3]", func() { x.Index([]int{0, 1}, []int{0, 1, 2}) }},
		{"index: argument 1: the mask has shape [2], its axes, from 1 on, [3]", func() { x.Index(All, []bool{true, false}) }},
		{"index_put: argument 0: 9 at [0] is out of range for axis 0 of size 2", func() { x.IndexPut(1, []int{9}) }},
		{"index_put_add: argument 0: 9 at [0] is out of range for axis 0 of size 2", func() { x.IndexPutAdd(1, []int{9}) }},
		{"index_put: x: has shape [2], which does not broadcast to the selection's [2 3]", func() { x.IndexPut(Ones(2), []int{0, 1}) }},
		{"index_put: x: has shape [4], which does not broadcast to the selection's [3]", func() { x.IndexPut(Ones(4), 0) }},
		{"index_put: x: is float32 and cannot be written into int64: convert it with To", func() { Arange(3).IndexPut(Ones(1), []int{0}) }},
		{"index_put: x: is a float, which cannot be written into int64: convert the receiver with To first", func() { Arange(3).IndexPut(0.5, []int{0}) }},
		{"index_put: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string", func() { x.IndexPut("a") }},
	} {
		err := Try(c.f)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	gone := Arange(2)
	gone.Release()
	for i, f := range []func(){func() { x.Index(gone) }, func() { x.IndexPut(1, gone) }, func() { x.IndexPut(gone, 0) }, func() { x.Index((*Tensor)(nil)) }, func() { (*Tensor)(nil).Index(0) },
		func() { x.Expand(1<<40, 2, 3).Index(ZerosOf(Int64, 1).Expand(1<<40), ZerosOf(Int64, 1<<20, 1)) }} {
		var e *Error
		if err := Try(f); !errors.As(err, &e) || e.Kind != Misuse {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := Try(func() { x.Index(math.MinInt) }); err == nil {
		t.Error("the least int is a place")
	}
}

// Elements move in the same way whatever they mean: the gradient of the squared length of a
// complex result has those of its parts as its parts.
func TestComplexGradients(t *testing.T) {
	at := From([]int{1, 3, 1})
	for name, f := range map[string]func(x, v *Tensor) *Tensor{
		"index":        func(x, v *Tensor) *Tensor { return x.Index([]int{1, 1, 0}) },
		"mask":         func(x, v *Tensor) *Tensor { return x.Index(Arange(6).Gt(2)) },
		"put":          func(x, v *Tensor) *Tensor { return x.IndexPut(v, at) },
		"add":          func(x, v *Tensor) *Tensor { return x.IndexPutAdd(v, at) },
		"scatter":      func(x, v *Tensor) *Tensor { return x.Scatter(0, at, v) },
		"scatter mean": func(x, v *Tensor) *Tensor { return x.ScatterReduce(0, at, v, ScatterOpts{Reduce: ScatterMean}) },
		"take":         func(x, v *Tensor) *Tensor { return x.TakeAlongAxis(0, at) },
		"triangle":     func(x, v *Tensor) *Tensor { return x.Reshape(2, 3).Tril(0).Tile(2, 2) },
		"roll":         func(x, v *Tensor) *Tensor { return x.Roll(0, 2).RepeatInterleave(0, []int{1, 0, 2, 1, 1, 3}) },
		"diagonal":     func(x, v *Tensor) *Tensor { return x.Flip().Diag(1) },
		"fill":         func(x, v *Tensor) *Tensor { return x.MaskedFill(Arange(6).Gt(2), v.At(1)) },
	} {
		re, im := []float64{1, -2, 3, 0.5, 4, -1}, []float64{0.25, 5, -3, 2, 1, 7}
		z := make([]complex128, 6)
		for i := range z {
			z[i] = complex(re[i], im[i])
		}
		grads := func(x, v *Tensor) []*Tensor {
			x, v = x.RequireGrad(), v.RequireGrad()
			g := GradAll([]*Tensor{f(x, v).Abs().Square().Sum()}, []*Tensor{x, v}, GradOpts{AllowUnused: true})
			if g[1] == nil {
				return g[:1]
			}
			return g
		}
		real3, imag3 := grads(FromSlice(re), vec(re[3:]...)), grads(FromSlice(im), vec(im[3:]...))
		for k, g := range grads(FromSlice(z), FromSlice(slices.Clone(z[3:]))) {
			a, b := Data[float64](real3[k]), Data[float64](imag3[k])
			for i, got := range Data[complex128](g) {
				if math.Abs(real(got)-a[i])+math.Abs(imag(got)-b[i]) > 1e-12 {
					t.Errorf("%s: gradient %d is %v, want %v and %v", name, k, g, a, b)
					break
				}
			}
		}
	}
}
