package weft_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// An expected array, as a script of testdata writes it.
type expected struct {
	Shape  []int
	Values []int64
}

// same says what differs, "" if nothing does.
func (e expected) differs(t *weft.Tensor) string {
	if !slices.Equal(t.Shape(), e.Shape) {
		return "shapes"
	}
	if !slices.Equal(integers(t), e.Values) {
		return "elements"
	}
	return ""
}

// integers returns t's elements, of complex numbers their real parts.
func integers(t *weft.Tensor) []int64 {
	if t.DType().Complex() {
		t = t.Real()
	}
	return weft.Data[int64](t.To(weft.Int64))
}

// decode reads a file of testdata.
func decode(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// counting is 0, 1, 2 ... in a shape.
func counting(shape []int) *weft.Tensor {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return weft.Arange(n).Reshape(shape...)
}

// layouts are t and views with the same elements.
func layouts(t *weft.Tensor) []*weft.Tensor {
	out := []*weft.Tensor{t}
	if t.Rank() > 0 {
		o := make([]int, t.Rank())
		for i := range o {
			o[i] = t.Rank() - 1 - i
		}
		out = append(out, t.Permute(o...).Clone().Permute(o...), t.Flip().Clone().Flip())
	}
	return out
}

// rearranged are the functions of testdata/rearrange.json.
var rearranged = map[string]func(t *weft.Tensor, args []int) []*weft.Tensor{
	"split":             func(t *weft.Tensor, a []int) []*weft.Tensor { return t.Split(a[0], a[1:]...) },
	"chunk":             func(t *weft.Tensor, a []int) []*weft.Tensor { return t.Chunk(a[0], a[1]) },
	"unbind":            func(t *weft.Tensor, a []int) []*weft.Tensor { return t.Unbind(a[0]) },
	"flip":              func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Flip(a...)} },
	"roll":              func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Roll(a[0], a[1])} },
	"moveaxis":          func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.MoveAxis(a[0], a[1])} },
	"unflatten":         func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Unflatten(a[0], a[1:]...)} },
	"tile":              func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Tile(a...)} },
	"repeat":            func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Repeat(a...)} },
	"repeat_interleave": func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.RepeatInterleave(a[0], a[1])} },
	"repeat_interleave each": func(t *weft.Tensor, a []int) []*weft.Tensor {
		return []*weft.Tensor{t.RepeatInterleave(a[0], a[1:]), t.RepeatInterleave(a[0], weft.From(a[1:]).To(weft.Int32))}[:1]
	},
	"tril": func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Tril(a[0])} },
	"triu": func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Triu(a[0])} },
	"diag": func(t *weft.Tensor, a []int) []*weft.Tensor { return []*weft.Tensor{t.Diag(a[0])} },
	"hstack": func(t *weft.Tensor, _ []int) []*weft.Tensor {
		return []*weft.Tensor{weft.HStack([]*weft.Tensor{t, t.Add(1), t})}
	},
	"vstack": func(t *weft.Tensor, _ []int) []*weft.Tensor {
		return []*weft.Tensor{weft.VStack([]*weft.Tensor{t, t.Add(1), t})}
	},
	"meshgrid": func(t *weft.Tensor, _ []int) []*weft.Tensor {
		var in []*weft.Tensor
		for _, n := range t.Shape() {
			in = append(in, weft.Arange(n))
		}
		return weft.Meshgrid(in...)
	},
}

// TestRearrange compares with NumPy and PyTorch: all element types, in several layouts.
func TestRearrange(t *testing.T) {
	var cases []struct {
		Op          string
		Shape, Args []int
		Out         []expected
	}
	decode(t, "testdata/rearrange.json", &cases)
	seen := map[string]bool{}
	for n, c := range cases {
		seen[c.Op] = true
		for _, d := range typesOf(n, func(d weft.DType) bool { return d != weft.Bool }) {
			for k, x := range layouts(counting(c.Shape).To(d)) {
				got := rearranged[c.Op](x, c.Args)
				if len(got) != len(c.Out) {
					t.Errorf("%s of %v by %v: %d results, want %d", c.Op, c.Shape, c.Args, len(got), len(c.Out))
					continue
				}
				for i, want := range c.Out {
					if got[i].DType() != d && c.Op != "meshgrid" {
						t.Errorf("%s of %s gives %s", c.Op, d, got[i].DType())
					}
					if diff := want.differs(got[i]); diff != "" {
						t.Errorf("%s of %v by %v, layout %d, %s: result %d is %v %v, want %v: other %s", c.Op, c.Shape, c.Args, k, d, i, got[i].Shape(), got[i], want, diff)
					}
				}
			}
		}
	}
	if len(seen) != len(rearranged) || len(cases) < 500 {
		t.Errorf("%d cases of %d functions, want all %d", len(cases), len(seen), len(rearranged))
	}
}

// Vectors of counts may be tensors; every rank up to the highest is tiled.
func TestRepeatCountsAndRanks(t *testing.T) {
	x := weft.Arange(3)
	for _, d := range []weft.DType{weft.Int64, weft.Int32, weft.Uint8} {
		if got := weft.Data[int64](x.RepeatInterleave(0, weft.From([]int{2, 0, 1, 9}).Slice(weft.Range(0, 3)).To(d))); !slices.Equal(got, []int64{0, 0, 2}) {
			t.Errorf("%s: %v", d, got)
		}
	}
	shape, reps := make([]int, 16), make([]int, 16)
	for i := range shape {
		shape[i], reps[i] = 1+i%2, 1+(i/2)%2
	}
	got := counting(shape).Tile(reps...)
	for i, n := range shape {
		n *= reps[i]
		if got.Dim(i) != n {
			t.Fatalf("shape %v", got.Shape())
		}
		// Each copy is the same as the first.
		for r := range reps[i] {
			spans := make([]weft.Span, i+1)
			for k := range spans {
				spans[k] = weft.All
			}
			spans[i] = weft.Range(r*shape[i], (r+1)*shape[i])
			first := slices.Clone(spans)
			first[i] = weft.Range(0, shape[i])
			if got.Slice(spans...).Eq(got.Slice(first...)).All().ItemInt() == 0 {
				t.Errorf("axis %d: copy %d differs", i, r)
			}
		}
	}
	one := make([]weft.Span, 16)
	for i, n := range shape {
		one[i] = weft.Range(0, n)
	}
	if got.Slice(one...).Eq(counting(shape)).All().ItemInt() == 0 {
		t.Error("the first copy differs from the argument")
	}
}

// What is a view shares memory, what is not does not.
func TestRearrangeViews(t *testing.T) {
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"split": func(x *weft.Tensor) *weft.Tensor { return x.Split(0, 1)[1] }, "chunk": func(x *weft.Tensor) *weft.Tensor { return x.Chunk(1, 2)[1] },
		"unbind": func(x *weft.Tensor) *weft.Tensor { return x.Unbind(0)[1] }, "flip": func(x *weft.Tensor) *weft.Tensor { return x.Flip() },
		"moveaxis": func(x *weft.Tensor) *weft.Tensor { return x.MoveAxis(0, 1) }, "unflatten": func(x *weft.Tensor) *weft.Tensor { return x.Unflatten(1, 2, 2) }, "diag": func(x *weft.Tensor) *weft.Tensor { return x.Diag(0) },
	} {
		x := weft.Zeros(2, 4)
		f(x).Fill(1)
		if x.Sum().Item() == 0 {
			t.Errorf("%s is not a view", name)
		}
	}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"roll": func(x *weft.Tensor) *weft.Tensor { return x.Roll(0, 2) }, "tile": func(x *weft.Tensor) *weft.Tensor { return x.Tile(1, 1) }, "repeat": func(x *weft.Tensor) *weft.Tensor { return x.Repeat(1, 1) },
		"repeat_interleave": func(x *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, 1) }, "tril": func(x *weft.Tensor) *weft.Tensor { return x.Tril(9) }, "masked_fill": func(x *weft.Tensor) *weft.Tensor { return x.MaskedFill(weft.ZerosOf(weft.Bool, 4), 1) },
	} {
		x := weft.Zeros(2, 4)
		f(x).Fill(1)
		if x.Sum().Item() != 0 {
			t.Errorf("%s is a view", name)
		}
	}
}

func TestRearrangeGradients(t *testing.T) {
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	w := weft.Arange(60.0).To(weft.Float64).Add(1).Sqrt()
	sum := func(ts ...*weft.Tensor) *weft.Tensor { // weighted, so that each place counts
		s := weft.ScalarOf(weft.Float64, 0.0)
		for i, x := range ts {
			f := x.Reshape(-1)
			s = s.Add(f.Square().Mul(w.Slice(weft.Range(i, i+f.Size()))).Sum())
		}
		return s
	}
	mask := weft.From([][]bool{{true, false, true}, {false, false, true}})
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"split":     func(x *weft.Tensor) *weft.Tensor { return sum(x.Split(1, 2)...) },
		"chunk":     func(x *weft.Tensor) *weft.Tensor { return sum(x.Chunk(0, 2)...) },
		"unbind":    func(x *weft.Tensor) *weft.Tensor { return sum(x.Unbind(1)...) },
		"flip":      func(x *weft.Tensor) *weft.Tensor { return sum(x.Flip(1)) },
		"roll":      func(x *weft.Tensor) *weft.Tensor { return sum(x.Roll(1, 2)) },
		"moveaxis":  func(x *weft.Tensor) *weft.Tensor { return sum(x.MoveAxis(0, 1)) },
		"unflatten": func(x *weft.Tensor) *weft.Tensor { return sum(x.Unflatten(1, 3, 1)) },
		"tile":      func(x *weft.Tensor) *weft.Tensor { return sum(x.Tile(2, 1, 3)) },
		"repeat":    func(x *weft.Tensor) *weft.Tensor { return sum(x.Repeat(2, 2)) },
		"interleave": func(x *weft.Tensor) *weft.Tensor {
			return sum(x.RepeatInterleave(1, 3), x.RepeatInterleave(1, []int{2, 0, 1}))
		},
		"tril":      func(x *weft.Tensor) *weft.Tensor { return sum(x.Tril(0), x.Triu(1)) },
		"diag":      func(x *weft.Tensor) *weft.Tensor { return sum(x.Diag(1), x.At(0).Diag(-1)) },
		"meshgrid":  func(x *weft.Tensor) *weft.Tensor { return sum(weft.Meshgrid(x.At(0), x.At(1))...) },
		"expand_as": func(x *weft.Tensor) *weft.Tensor { return sum(x.Slice(weft.Index(0)).ExpandAs(x)) },
		"hstack": func(x *weft.Tensor) *weft.Tensor {
			return sum(weft.HStack([]*weft.Tensor{x, x}), weft.VStack([]*weft.Tensor{x, x.At(1)}))
		},
		"masked_fill": func(x *weft.Tensor) *weft.Tensor { return sum(x.MaskedFill(mask, 7), x.MaskedFill(mask, x.At(0, 0))) },
	} {
		tensortest.Differences(t, name, func(x *weft.Tensor) *weft.Tensor { return f(x.Reshape(2, 3)) }, at...)
	}
}

func TestMaskedFill(t *testing.T) {
	x := weft.Arange(6).Reshape(2, 3)
	if y := x.MaskedFill(weft.From([]bool{true, false, true}), -1); !slices.Equal(weft.Data[int64](y), []int64{-1, 1, -1, -1, 4, -1}) {
		t.Errorf("%v", y)
	}
	// The element type stays.
	mask := weft.From([]bool{true, false})
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64} {
		for _, v := range []any{1, true, weft.Scalar(1), weft.Scalar(true), weft.From([]uint8{1})} {
			y := weft.ZerosOf(d, 2).MaskedFill(mask, v)
			if y.DType() != d || y.At(0).Item() != 1 || y.At(1).Item() != 0 {
				t.Errorf("%s filled with %v: %s %v", d, v, y.DType(), y)
			}
			if y := weft.ZerosOf(d).MaskedFill(mask, v); y.DType() != d || y.At(0).Item() != 1 || y.At(1).Item() != 0 {
				t.Errorf("0-d %s filled with %v: %s %v", d, v, y.DType(), y)
			}
		}
	}
	if y := weft.Ones(2).MaskedFill(mask, math.Inf(-1)); !math.IsInf(y.At(0).Item(), -1) {
		t.Errorf("%v", y)
	}
}

func TestRearrangeMisuse(t *testing.T) {
	x := weft.Ones(2, 3)
	mask := weft.ZerosOf(weft.Bool, 2, 3)
	huge := weft.Ones(1).Expand(1 << 45)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"split: axis: 2 is out of range for 2 dimensions: want -2 to 1", func() { x.Split(2, 1) }},
		{"split: sizes: has no numbers: want one size for all parts, or one for each part", func() { x.Split(0) }},
		{"split: sizes: [-1] has a negative one", func() { x.Split(0, -1) }},
		{"split: sizes: are 0 for the 2 elements of axis 0", func() { x.Split(0, 0) }},
		{"split: sizes: [1 1] do not add up to the 3 elements of axis 1", func() { x.Split(1, 1, 1) }},
		{"split: sizes: [9223372036854775807 9223372036854775807] do not add up to the 3 elements of axis 1", func() { x.Split(1, math.MaxInt, math.MaxInt) }},
		{"chunk: n: 0: want 1 or more", func() { x.Chunk(0, 0) }},
		{"unbind: axis: 0 given for an array of no dimensions", func() { weft.Scalar(1).Unbind(0) }},
		{"flip: axis: 1 is given twice", func() { x.Flip(1, -1) }},
		{"roll: axis: -3 is out of range for 2 dimensions: want -2 to 1", func() { x.Roll(-3, 1) }},
		{"moveaxis: axis: 2 is out of range for 2 dimensions: want -2 to 1", func() { x.MoveAxis(0, 2) }},
		{"unflatten: sizes: [2 2] has 4 elements, [3] has 3", func() { x.Unflatten(1, 2, 2) }},
		{"unflatten: sizes: has no numbers", func() { x.Unflatten(1) }},
		{"unflatten: sizes: [-1 -1] has two sizes of -1", func() { x.Unflatten(1, -1, -1) }},
		{"expand_as: shape: [2 3] does not expand to [3]", func() { x.ExpandAs(weft.Ones(3)) }},
		{"tile: reps: [1 -1] has a negative number", func() { x.Tile(-1) }},
		{"tile: reps: [1 9223372036854775807] are too many for shape [2 3]", func() { x.Tile(math.MaxInt) }},
		{"repeat: reps: [2] has 1 numbers, want one for each of 2 axes or more (Tile takes fewer)", func() { x.Repeat(2) }},
		{"repeat_interleave: counts: is negative: -1", func() { x.RepeatInterleave(0, -1) }},
		{"repeat_interleave: counts: -2 at position 1 is negative", func() { x.RepeatInterleave(0, []int{1, -2}) }},
		{"repeat_interleave: counts: has 2 numbers, axis 1 of shape [2 3] has 3", func() { x.RepeatInterleave(1, weft.Arange(2)) }},
		{"repeat_interleave: counts: is float32[3], want a vector of integers", func() { x.RepeatInterleave(1, weft.Ones(3)) }},
		{"repeat_interleave: counts: is string, want an int, an []int or a *Tensor", func() { x.RepeatInterleave(1, "a") }},
		{"tril: takes two dimensions or more, got [3]", func() { weft.Ones(3).Tril(0) }},
		{"diag: takes a vector or a matrix, got shape []: Diagonal takes more dimensions", func() { weft.Ones().Diag(0) }},
		{"diag: k: -9223372036854775808 is out of range", func() { weft.Ones(3).Diag(math.MinInt) }},
		{"meshgrid: tensor 0 has shape [2 3], want a vector", func() { weft.Meshgrid(x) }},
		{"meshgrid: takes one tensor or more, got none", func() { weft.Meshgrid() }},
		{"hstack: tensor 1 is nil", func() { weft.HStack([]*weft.Tensor{x, nil}) }},
		{"vstack: takes one tensor or more, got none", func() { weft.VStack(nil) }},
		{"masked_fill: mask: has elements of type float32, want bool", func() { x.MaskedFill(x, 1) }},
		{"masked_fill: shapes do not broadcast: [2 3] and [2]", func() { x.MaskedFill(weft.ZerosOf(weft.Bool, 2), 1) }},
		{"masked_fill: x: has shape [3], want a number: Where takes more", func() { x.MaskedFill(mask, weft.Ones(3)) }},
		{"masked_fill: x: is a float, which cannot be written into int64: convert the receiver with To first", func() { weft.Arange(3).MaskedFill(weft.ZerosOf(weft.Bool, 3), 0.5) }},
		{"masked_fill: x: is float32 and cannot be written into int64: convert it with To", func() { weft.Arange(3).MaskedFill(weft.ZerosOf(weft.Bool, 3), weft.Ones()) }},
		{"masked_fill: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string", func() { x.MaskedFill(mask, "a") }},
	} {
		err := weft.Try(c.f)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	for i, f := range []func(){func() { huge.Split(0, 1) }, func() { huge.Chunk(0, math.MaxInt) }, func() { huge.Unbind(0) }, func() { weft.Zeros(0).Chunk(0, math.MaxInt) }, func() { weft.Ones(1).Tile(1 << 50) }} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Kind != weft.OutOfMemory {
			t.Errorf("%d: got %v, want no memory", i, err)
		}
	}
	if err := weft.Try(func() { weft.OnesOf(weft.Uint8, 3).MaskedFill(weft.ZerosOf(weft.Bool, 3), 300) }); err == nil {
		t.Error("300 fits uint8")
	}
}

// A layout is an array in plain Go, the oracle of arrays of many dimensions: where the
// elements of a tensor's base lie, without any of its code.
type layout struct {
	shape, strides []int
	at             int
}

// each calls f with the index and the place of each element in row-major order.
func (g layout) each(f func(index []int, place int)) {
	index := make([]int, len(g.shape))
	for {
		place := g.at
		for a, i := range index {
			place += i * g.strides[a]
		}
		f(index, place)
		a := len(index) - 1
		for ; a >= 0; a-- {
			if index[a]++; index[a] < g.shape[a] {
				break
			}
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

// scrambled returns a tensor of whole numbers with rank axes, each of two elements. Some axes are
// reversed, some expanded, and all are permuted, so that no two of them can be walked as one.
func scrambled(r *rand.Rand, rank int) (*weft.Tensor, layout, []float32) {
	g := layout{shape: make([]int, rank), strides: make([]int, rank)}
	base := make([]int, rank)
	size := 1
	for a := rank - 1; a >= 0; a-- {
		g.shape[a], base[a] = 2, 2
		if r.IntN(4) == 0 {
			base[a] = 1 // expanded
			continue
		}
		g.strides[a] = size
		size *= 2
	}
	data := make([]float32, size)
	for i := range data {
		data[i] = float32(r.IntN(7) - 3)
	}
	x := weft.FromSlice(append([]float32{}, data...), base...).Expand(g.shape...)
	spans := make([]weft.Span, rank)
	for a := range spans {
		spans[a] = weft.All
		if r.IntN(2) == 0 {
			spans[a] = weft.Range(weft.End, weft.Begin, -1)
			g.at += g.strides[a]
			g.strides[a] = -g.strides[a]
		}
	}
	x = x.Slice(spans...)
	order := r.Perm(rank)
	h := layout{make([]int, rank), make([]int, rank), g.at}
	for i, a := range order {
		h.shape[i], h.strides[i] = g.shape[a], g.strides[a]
	}
	return x.Permute(order...), h, data
}

// All ranks up to 16 work in every operation, whatever the strides: more ways to walk
// than a kernel has axes.
func TestOperationsUpToRank16(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, rank := range []int{7, 8, 9, 10, 11, 12, 13, 16} {
		rounds := 6
		if rank > 12 {
			rounds = 1
		}
		for range rounds {
			d := newManyDimensions(r, rank)
			d.elements(t)
			axes := d.reductions(t)
			d.alongAxis(t)
			d.gradient(t, axes)
			if t.Failed() {
				t.Fatalf("rank %d, shape %v, strides %v and %v", rank, d.x.Shape(), d.x.Strides(), d.y.Strides())
			}
		}
	}
}

// TestNewAxesUpToRank16 adds axes of size 1 up to the limit of 16, and beyond it.
func TestNewAxesUpToRank16(t *testing.T) {
	spans := make([]weft.Span, 20)
	for i := range spans {
		spans[i] = weft.NewAxis
	}
	var e *weft.Error
	if err := weft.Try(func() { weft.Ones(2).Slice(spans...) }); !errors.As(err, &e) || e.Kind != weft.Misuse {
		t.Errorf("twenty new axes: %v", err)
	}
	if x := weft.Ones(2).Slice(spans[:15]...); x.Rank() != 16 {
		t.Errorf("fifteen new axes: %v", x.Shape())
	}
}

// manyDimensions are two tensors of a shape, in other orders of memory, and their elements.
type manyDimensions struct {
	r      *rand.Rand
	rank   int
	x, y   *weft.Tensor
	gx     layout
	xs, ys []float32
}

func newManyDimensions(r *rand.Rand, rank int) *manyDimensions {
	d := &manyDimensions{r: r, rank: rank}
	x, gx, dx := scrambled(r, rank)
	y, gy, dy := scrambled(r, rank)
	d.x, d.y, d.gx = x, y, gx
	gx.each(func(_ []int, p int) { d.xs = append(d.xs, dx[p]) })
	gy.each(func(_ []int, p int) { d.ys = append(d.ys, dy[p]) })
	return d
}

// elements compares operations on elements, and writes.
func (d *manyDimensions) elements(t *testing.T) {
	r, rank, x, y, xs, ys := d.r, d.rank, d.x, d.y, d.xs, d.ys
	pairs := func(f func(a, b float32) float32) []float32 {
		out := make([]float32, len(xs))
		for i := range out {
			out[i] = f(xs[i], ys[i])
		}
		return out
	}
	same(t, "data", weft.Data[float32](x), xs...)
	same(t, "contiguous", weft.Data[float32](x.Contiguous().Flatten(0)), xs...)
	same(t, "add", weft.Data[float32](x.Add(y)), pairs(func(a, b float32) float32 { return a + b })...)
	same(t, "where", weft.Data[float32](weft.Where(x.Lt(y), y.Mul(2), x)), pairs(func(a, b float32) float32 {
		if a < b {
			return 2 * b
		}
		return a
	})...)
	same(t, "formula", weft.Data[float32](weft.Expr("a*b - 2*a", x, y)), pairs(func(a, b float32) float32 { return a*b - 2*a })...)
	z := x.Clone().Permute(r.Perm(rank)...).Slice(weft.Range(weft.End, weft.Begin, -1))
	zs := weft.Data[float32](z)
	for i := range zs {
		zs[i] += ys[i]
	}
	same(t, "addassign", weft.Data[float32](z.AddAssign(y)), zs...)
	same(t, "assign", weft.Data[float32](z.Assign(y)), ys...)
}

// reductions compares reductions over random axes, which it returns: every kind of group,
// with others between.
func (d *manyDimensions) reductions(t *testing.T) (axes []int) {
	r, rank, x, y, xs, ys := d.r, d.rank, d.x, d.y, d.xs, d.ys
	in := make([]bool, rank)
	for a := range rank {
		if r.IntN(2) == 0 {
			axes, in[a] = append(axes, a), true
		}
	}
	if len(axes) == 0 {
		axes, in[0] = []int{0}, true
	}
	var order []int // of results
	sums, most := map[int]float32{}, map[int]float32{}
	i := 0
	d.gx.each(func(index []int, _ int) {
		at := 0
		for a, k := range index {
			if !in[a] {
				at = 2*at + k
			}
		}
		if _, known := sums[at]; !known {
			order = append(order, at)
			most[at] = -9
		}
		sums[at] += xs[i] * ys[i]
		most[at] = max(most[at], xs[i])
		i++
	})
	want, top := make([]float32, len(order)), make([]float32, len(order))
	for at := range want {
		want[at], top[at] = sums[at], most[at]
	}
	same(t, "sum", weft.Data[float32](x.Mul(y).Sum(axes...)), want...)
	same(t, "fused sum", weft.Data[float32](weft.Expr("a*b", x, y).Sum(axes...)), want...)
	same(t, "max", weft.Data[float32](x.Max(axes...)), top...)
	return axes
}

// alongAxis compares operations along one axis.
func (d *manyDimensions) alongAxis(t *testing.T) {
	x, y, xs, ys := d.x, d.y, d.xs, d.ys
	axis := d.r.IntN(d.rank)
	inner := 1 << (d.rank - 1 - axis)
	var arg []int64
	var soft []float32
	for i := range xs {
		j := i ^ inner // the other of the pair
		if i&inner == 0 {
			k := int64(0)
			if xs[j] > xs[i] {
				k = 1
			}
			arg = append(arg, k)
		}
		soft = append(soft, xs[i]-xs[j])
	}
	same(t, "argmax", weft.Data[int64](x.ArgMax(axis)), arg...)
	same(t, "difference along an axis", weft.Data[float32](x.Mul(2).Sub(x.SumKeep(axis))), soft...)
	same(t, "softmax sums to one", weft.Data[float32](x.Softmax(axis).Sum(axis).Round()), weft.Data[float32](weft.OnesLike(x).Max(axis))...)
	one := make([]float32, 0, len(xs)/2)
	for i := range xs {
		if i&inner != 0 {
			one = append(one, xs[i])
		}
	}
	same(t, "index select", weft.Data[float32](x.IndexSelect(axis, weft.FromSlice([]int64{1}))), one...)
	same(t, "cat", weft.Data[float32](weft.Cat([]*weft.Tensor{x, y}, 0)), append(append([]float32{}, xs...), ys...)...)
}

// gradient compares the gradient of a sum over axes with what it is for a square.
func (d *manyDimensions) gradient(t *testing.T, axes []int) {
	leaf := d.x.Clone().RequireGrad()
	w := leaf.Permute(d.r.Perm(d.rank)...).Slice(weft.Range(weft.End, weft.Begin, -1)).Mul(d.y).Sum(axes...)
	w.Mul(w.Detach()).Sum().Backward()
	if got, want := leaf.Grad().Mul(leaf.Detach()).Sum().Item(), w.Mul(w).Sum().Item(); got != want {
		t.Errorf("rank %d: gradient times x is %v, want %v", d.rank, got, want)
	}
}
