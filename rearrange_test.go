package weft

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"
)

// An expected array, as a script of testdata writes it.
type expected struct {
	Shape  []int
	Values []int64
}

// same says what differs, "" if nothing does.
func (e expected) differs(t *Tensor) string {
	if !slices.Equal(t.Shape(), e.Shape) {
		return "shapes"
	}
	if !slices.Equal(integers(t), e.Values) {
		return "elements"
	}
	return ""
}

// integers returns t's elements, of complex numbers their real parts.
func integers(t *Tensor) []int64 {
	if t.DType().Complex() {
		t = t.Real()
	}
	return Data[int64](t.To(Int64))
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
func counting(shape []int) *Tensor {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return Arange(n).Reshape(shape...)
}

// layouts are t and views with the same elements.
func layouts(t *Tensor) []*Tensor {
	out := []*Tensor{t}
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
var rearranged = map[string]func(t *Tensor, args []int) []*Tensor{
	"split":             func(t *Tensor, a []int) []*Tensor { return t.Split(a[0], a[1:]...) },
	"chunk":             func(t *Tensor, a []int) []*Tensor { return t.Chunk(a[0], a[1]) },
	"unbind":            func(t *Tensor, a []int) []*Tensor { return t.Unbind(a[0]) },
	"flip":              func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Flip(a...)} },
	"roll":              func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Roll(a[0], a[1])} },
	"moveaxis":          func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.MoveAxis(a[0], a[1])} },
	"unflatten":         func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Unflatten(a[0], a[1:]...)} },
	"tile":              func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Tile(a...)} },
	"repeat":            func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Repeat(a...)} },
	"repeat_interleave": func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.RepeatInterleave(a[0], a[1])} },
	"repeat_interleave each": func(t *Tensor, a []int) []*Tensor {
		return []*Tensor{t.RepeatInterleave(a[0], a[1:]), t.RepeatInterleave(a[0], From(a[1:]).To(Int32))}[:1]
	},
	"tril":   func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Tril(a[0])} },
	"triu":   func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Triu(a[0])} },
	"diag":   func(t *Tensor, a []int) []*Tensor { return []*Tensor{t.Diag(a[0])} },
	"hstack": func(t *Tensor, _ []int) []*Tensor { return []*Tensor{HStack([]*Tensor{t, t.Add(1), t})} },
	"vstack": func(t *Tensor, _ []int) []*Tensor { return []*Tensor{VStack([]*Tensor{t, t.Add(1), t})} },
	"meshgrid": func(t *Tensor, _ []int) []*Tensor {
		var in []*Tensor
		for _, n := range t.Shape() {
			in = append(in, Arange(n))
		}
		return Meshgrid(in...)
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
		for _, d := range typesOf(n, func(d DType) bool { return d != Bool }) {
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
	x := Arange(3)
	for _, d := range []DType{Int64, Int32, Uint8} {
		if got := Data[int64](x.RepeatInterleave(0, From([]int{2, 0, 1, 9}).Slice(Range(0, 3)).To(d))); !slices.Equal(got, []int64{0, 0, 2}) {
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
			spans := make([]Span, i+1)
			for k := range spans {
				spans[k] = All
			}
			spans[i] = Range(r*shape[i], (r+1)*shape[i])
			first := slices.Clone(spans)
			first[i] = Range(0, shape[i])
			if got.Slice(spans...).Eq(got.Slice(first...)).All().ItemInt() == 0 {
				t.Errorf("axis %d: copy %d differs", i, r)
			}
		}
	}
	one := make([]Span, 16)
	for i, n := range shape {
		one[i] = Range(0, n)
	}
	if got.Slice(one...).Eq(counting(shape)).All().ItemInt() == 0 {
		t.Error("the first copy differs from the argument")
	}
}

// What is a view shares memory, what is not does not.
func TestRearrangeViews(t *testing.T) {
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"split": func(x *Tensor) *Tensor { return x.Split(0, 1)[1] }, "chunk": func(x *Tensor) *Tensor { return x.Chunk(1, 2)[1] },
		"unbind": func(x *Tensor) *Tensor { return x.Unbind(0)[1] }, "flip": func(x *Tensor) *Tensor { return x.Flip() },
		"moveaxis": func(x *Tensor) *Tensor { return x.MoveAxis(0, 1) }, "unflatten": func(x *Tensor) *Tensor { return x.Unflatten(1, 2, 2) }, "diag": func(x *Tensor) *Tensor { return x.Diag(0) },
	} {
		x := Zeros(2, 4)
		f(x).Fill(1)
		if x.Sum().Item() == 0 {
			t.Errorf("%s is not a view", name)
		}
	}
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"roll": func(x *Tensor) *Tensor { return x.Roll(0, 2) }, "tile": func(x *Tensor) *Tensor { return x.Tile(1, 1) }, "repeat": func(x *Tensor) *Tensor { return x.Repeat(1, 1) },
		"repeat_interleave": func(x *Tensor) *Tensor { return x.RepeatInterleave(0, 1) }, "tril": func(x *Tensor) *Tensor { return x.Tril(9) }, "masked_fill": func(x *Tensor) *Tensor { return x.MaskedFill(ZerosOf(Bool, 4), 1) },
	} {
		x := Zeros(2, 4)
		f(x).Fill(1)
		if x.Sum().Item() != 0 {
			t.Errorf("%s is a view", name)
		}
	}
}

func TestRearrangeGradients(t *testing.T) {
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	w := Arange(60.0).To(Float64).Add(1).Sqrt()
	sum := func(ts ...*Tensor) *Tensor { // weighted, so that each place counts
		s := ScalarOf(Float64, 0.0)
		for i, x := range ts {
			f := x.Reshape(-1)
			s = s.Add(f.Square().Mul(w.Slice(Range(i, i+f.Size()))).Sum())
		}
		return s
	}
	mask := From([][]bool{{true, false, true}, {false, false, true}})
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"split":       func(x *Tensor) *Tensor { return sum(x.Split(1, 2)...) },
		"chunk":       func(x *Tensor) *Tensor { return sum(x.Chunk(0, 2)...) },
		"unbind":      func(x *Tensor) *Tensor { return sum(x.Unbind(1)...) },
		"flip":        func(x *Tensor) *Tensor { return sum(x.Flip(1)) },
		"roll":        func(x *Tensor) *Tensor { return sum(x.Roll(1, 2)) },
		"moveaxis":    func(x *Tensor) *Tensor { return sum(x.MoveAxis(0, 1)) },
		"unflatten":   func(x *Tensor) *Tensor { return sum(x.Unflatten(1, 3, 1)) },
		"tile":        func(x *Tensor) *Tensor { return sum(x.Tile(2, 1, 3)) },
		"repeat":      func(x *Tensor) *Tensor { return sum(x.Repeat(2, 2)) },
		"interleave":  func(x *Tensor) *Tensor { return sum(x.RepeatInterleave(1, 3), x.RepeatInterleave(1, []int{2, 0, 1})) },
		"tril":        func(x *Tensor) *Tensor { return sum(x.Tril(0), x.Triu(1)) },
		"diag":        func(x *Tensor) *Tensor { return sum(x.Diag(1), x.At(0).Diag(-1)) },
		"meshgrid":    func(x *Tensor) *Tensor { return sum(Meshgrid(x.At(0), x.At(1))...) },
		"expand_as":   func(x *Tensor) *Tensor { return sum(x.Slice(Index(0)).ExpandAs(x)) },
		"hstack":      func(x *Tensor) *Tensor { return sum(HStack([]*Tensor{x, x}), VStack([]*Tensor{x, x.At(1)})) },
		"masked_fill": func(x *Tensor) *Tensor { return sum(x.MaskedFill(mask, 7), x.MaskedFill(mask, x.At(0, 0))) },
	} {
		differences(t, name, func(x *Tensor) *Tensor { return f(x.Reshape(2, 3)) }, at...)
	}
}

func TestMaskedFill(t *testing.T) {
	x := Arange(6).Reshape(2, 3)
	if y := x.MaskedFill(From([]bool{true, false, true}), -1); !slices.Equal(Data[int64](y), []int64{-1, 1, -1, -1, 4, -1}) {
		t.Errorf("%v", y)
	}
	// The element type stays.
	mask := From([]bool{true, false})
	for _, d := range []DType{Bool, Uint8, Int32, Int64, Float32, Float64} {
		for _, v := range []any{1, true, Scalar(1), Scalar(true), From([]uint8{1})} {
			y := ZerosOf(d, 2).MaskedFill(mask, v)
			if y.DType() != d || y.At(0).Item() != 1 || y.At(1).Item() != 0 {
				t.Errorf("%s filled with %v: %s %v", d, v, y.DType(), y)
			}
			if y := ZerosOf(d).MaskedFill(mask, v); y.DType() != d || y.At(0).Item() != 1 || y.At(1).Item() != 0 {
				t.Errorf("0-d %s filled with %v: %s %v", d, v, y.DType(), y)
			}
		}
	}
	if y := Ones(2).MaskedFill(mask, math.Inf(-1)); !math.IsInf(y.At(0).Item(), -1) {
		t.Errorf("%v", y)
	}
}

func TestRearrangeMisuse(t *testing.T) {
	x := Ones(2, 3)
	mask := ZerosOf(Bool, 2, 3)
	huge := Ones(1).Expand(1 << 45)
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
		{"unbind: axis: 0 given for an array of no dimensions", func() { Scalar(1).Unbind(0) }},
		{"flip: axis: 1 is given twice", func() { x.Flip(1, -1) }},
		{"roll: axis: -3 is out of range for 2 dimensions: want -2 to 1", func() { x.Roll(-3, 1) }},
		{"moveaxis: axis: 2 is out of range for 2 dimensions: want -2 to 1", func() { x.MoveAxis(0, 2) }},
		{"unflatten: sizes: [2 2] has 4 elements, [3] has 3", func() { x.Unflatten(1, 2, 2) }},
		{"unflatten: sizes: has no numbers", func() { x.Unflatten(1) }},
		{"unflatten: sizes: [-1 -1] has two sizes of -1", func() { x.Unflatten(1, -1, -1) }},
		{"expand_as: shape: [2 3] does not expand to [3]", func() { x.ExpandAs(Ones(3)) }},
		{"tile: reps: [1 -1] has a negative number", func() { x.Tile(-1) }},
		{"tile: reps: [1 9223372036854775807] are too many for shape [2 3]", func() { x.Tile(math.MaxInt) }},
		{"repeat: reps: [2] has 1 numbers, want one for each of 2 axes or more (Tile takes fewer)", func() { x.Repeat(2) }},
		{"repeat_interleave: counts: is negative: -1", func() { x.RepeatInterleave(0, -1) }},
		{"repeat_interleave: counts: -2 at position 1 is negative", func() { x.RepeatInterleave(0, []int{1, -2}) }},
		{"repeat_interleave: counts: has 2 numbers, axis 1 of shape [2 3] has 3", func() { x.RepeatInterleave(1, Arange(2)) }},
		{"repeat_interleave: counts: is float32[3], want a vector of integers", func() { x.RepeatInterleave(1, Ones(3)) }},
		{"repeat_interleave: counts: is string, want an int, an []int or a *Tensor", func() { x.RepeatInterleave(1, "a") }},
		{"tril: takes two dimensions or more, got [3]", func() { Ones(3).Tril(0) }},
		{"diag: takes a vector or a matrix, got shape []: Diagonal takes more dimensions", func() { Ones().Diag(0) }},
		{"diag: k: -9223372036854775808 is out of range", func() { Ones(3).Diag(math.MinInt) }},
		{"meshgrid: tensor 0 has shape [2 3], want a vector", func() { Meshgrid(x) }},
		{"meshgrid: takes one tensor or more, got none", func() { Meshgrid() }},
		{"hstack: tensor 1 is nil", func() { HStack([]*Tensor{x, nil}) }},
		{"vstack: takes one tensor or more, got none", func() { VStack(nil) }},
		{"masked_fill: mask: has elements of type float32, want bool", func() { x.MaskedFill(x, 1) }},
		{"masked_fill: shapes do not broadcast: [2 3] and [2]", func() { x.MaskedFill(ZerosOf(Bool, 2), 1) }},
		{"masked_fill: x: has shape [3], want a number: Where takes more", func() { x.MaskedFill(mask, Ones(3)) }},
		{"masked_fill: x: is a float, which cannot be written into int64: convert the receiver with To first", func() { Arange(3).MaskedFill(ZerosOf(Bool, 3), 0.5) }},
		{"masked_fill: x: is float32 and cannot be written into int64: convert it with To", func() { Arange(3).MaskedFill(ZerosOf(Bool, 3), Ones()) }},
		{"masked_fill: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string", func() { x.MaskedFill(mask, "a") }},
	} {
		err := Try(c.f)
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	for i, f := range []func(){func() { huge.Split(0, 1) }, func() { huge.Chunk(0, math.MaxInt) }, func() { huge.Unbind(0) }, func() { Zeros(0).Chunk(0, math.MaxInt) }, func() { Ones(1).Tile(1 << 50) }} {
		var e *Error
		if err := Try(f); !errors.As(err, &e) || e.Kind != OutOfMemory {
			t.Errorf("%d: got %v, want no memory", i, err)
		}
	}
	if err := Try(func() { OnesOf(Uint8, 3).MaskedFill(ZerosOf(Bool, 3), 300) }); err == nil {
		t.Error("300 fits uint8")
	}
}
