package weft

import (
	"errors"
	"math"
	"testing"

	"weft/internal/array"
)

// Sizes that no array can have, or no memory holds, are typed errors, whichever
// operation makes them: they neither wrap around nor end the process.
func TestSizesThatOverflow(t *testing.T) {
	const huge = 1 << 60
	row, col := Ones(1, 1).Expand(1<<32, 1), Ones(1, 1).Expand(1, 1<<32)
	truths := OnesOf(Bool, 1).Expand(huge)
	image := Ones(1, 1, 2, 2)
	for _, c := range []struct {
		name string
		kind array.ErrorKind
		f    func()
	}{
		{"add", Misuse, func() { row.Add(col) }},
		{"eq", Misuse, func() { row.Eq(col) }},
		{"where", Misuse, func() { Where(row, col, 0) }},
		{"clamp", Misuse, func() { row.Clamp(col, 1) }},
		{"to a wider type", Misuse, func() { truths.Expand(4, huge).To(Float64) }},
		{"formula", Misuse, func() { Expr("sum(a*b)", row, col) }},
		{"sum of bools", Misuse, func() { truths.Expand(4, huge).Sum() }},
		{"matmul", Misuse, func() { Ones(1, 1).Expand(1<<40, 1).MatMul(Ones(1, 1).Expand(1, 1<<40)) }},
		{"matmul of a stack", Misuse, func() {
			Ones(1, 1, 1).Expand(1<<31, 1, 1).MatMul(Ones(1, 1, 1, 1).Expand(1<<31, 1, 1, 1))
		}},
		{"expand", Misuse, func() { Ones(1).Expand(1<<31, 1<<31) }},
		{"expand of one byte", Misuse, func() { OnesOf(Bool, 1).Expand(math.MaxInt) }},
		{"reshape", Misuse, func() { Ones(1).Reshape(1<<32, 1<<32, -1) }},
		{"reshape of nothing", Misuse, func() { Ones(0).Reshape(0, 1<<32, 1<<32) }},
		{"cat", Misuse, func() { Cat([]*Tensor{truths, truths, truths, truths, truths, truths, truths, truths}, 0) }},
		{"cat that wraps to nothing", Misuse, func() {
			ts := make([]*Tensor, 16)
			for i := range ts {
				ts[i] = truths
			}
			Cat(ts, 0)
		}},
		{"stack", Misuse, func() { Stack([]*Tensor{truths, truths, truths, truths, truths, truths, truths, truths}, 0) }},
		{"pad", Misuse, func() { Ones(1).Pad(0, math.MaxInt, math.MaxInt) }},
		{"pad by half", Misuse, func() { Ones(2).Pad(0, 1<<62, 1<<62) }},
		{"conv padding", Misuse, func() { image.Conv2d(Ones(1, 1, 1, 1), nil, ConvOpts{Padding: [2]int{1<<31 - 1, 1<<31 - 1}}) }},
		{"conv padding that wraps", Misuse, func() { image.Conv2d(Ones(1, 1, 1, 1), nil, ConvOpts{Padding: [2]int{math.MaxInt, 0}}) }},
		{"conv padding of 30 bits", Misuse, func() { image.Conv2d(Ones(1, 1, 1, 1), nil, ConvOpts{Padding: [2]int{1<<30 - 1, 1<<30 - 1}}) }},
		{"conv dilation", Misuse, func() { image.Conv2d(Ones(1, 1, 2, 2), nil, ConvOpts{Dilation: new([2]int{math.MaxInt, 1})}) }},
		{"conv_transpose2d stride", Misuse, func() {
			image.ConvTranspose2d(Ones(1, 1, 1, 1), nil, ConvTransposeOpts{Stride: new([2]int{1 << 30, 1 << 30})})
		}},
		{"pool padding that wraps", Misuse, func() {
			image.MaxPool2d(PoolOpts{Window: [2]int{math.MaxInt, 1}, Padding: [2]int{math.MaxInt - 1, 0}})
		}},
		{"randn", OutOfMemory, func() { Randn(math.MaxInt / 8) }},
		{"randn of all", Misuse, func() { Randn(math.MaxInt / 4) }},
		{"randint", Misuse, func() { Randint(0, 9, math.MaxInt/8) }},
		{"randperm", OutOfMemory, func() { Randperm(1 << 45) }},
		{"randperm of all", Misuse, func() { Randperm(math.MaxInt) }},
		{"arange", OutOfMemory, func() { Arange(1 << 40) }},
		{"arange of floats", OutOfMemory, func() { Arange(0x1p44) }},
		{"arange of all ints", Misuse, func() { Arange(math.MinInt, math.MaxInt) }},
		{"arange backwards", Misuse, func() { Arange(math.MaxInt, math.MinInt, -1) }},
		{"arange to infinity", Misuse, func() { Arange(math.Inf(1)) }},
		{"arange of NaN", Misuse, func() { Arange(math.NaN()) }},
		{"linspace", OutOfMemory, func() { Linspace(0, 1, 1<<40) }},
		{"linspace of all", Misuse, func() { Linspace(0, 1, math.MaxInt) }},
		{"zeros", OutOfMemory, func() { Zeros(1 << 44) }},
		{"zeros beyond the address space", OutOfMemory, func() { Zeros(1 << 59) }},
		{"eye", Misuse, func() { Eye(1 << 31) }},
		{"data", OutOfMemory, func() { Data[float32](Ones(1).Expand(1 << 44)) }},
		{"data beyond the address space", OutOfMemory, func() { Data[float32](Ones(1).Expand(1 << 59)) }},
		{"contiguous", OutOfMemory, func() { Ones(1).Expand(1 << 44).Contiguous() }},
		{"add of an expanded array", OutOfMemory, func() { Ones(1).Expand(1 << 44).Add(1) }},
		{"nonzero", OutOfMemory, func() { Ones(1).Expand(1 << 44).NonZero() }},
		{"mask select", OutOfMemory, func() { Ones(1).Expand(1 << 44).MaskSelect(OnesOf(Bool, 1)) }},
		{"index select", OutOfMemory, func() { Ones(1).IndexSelect(0, ZerosOf(Int64, 1).Expand(1<<44)) }},
		{"digest", OutOfMemory, func() { Digest(Ones(1).Expand(1 << 44)) }},
		{"argmax", OutOfMemory, func() { Ones(1).Expand(1 << 44).ArgMax() }},
	} {
		var e *Error
		if err := Try(c.f); !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%s: got %v, want kind %d", c.name, err, c.kind)
		}
	}
}

// What is as large as an int can say, but makes no large result, is computed.
func TestExtremeIntegersThatFit(t *testing.T) {
	same(t, "one step of MaxInt", Data[float32](Arange(5.0).Slice(Range(1, 5, math.MaxInt))), 1)
	same(t, "one step of MinInt", Data[float32](Arange(5.0).Slice(Range(3, Begin, math.MinInt))), 3)
	same(t, "ints near the largest", Data[int64](Arange(math.MaxInt-2, math.MaxInt)), math.MaxInt-2, math.MaxInt-1)
	same(t, "ints from end to end", Data[int64](Arange(math.MinInt, math.MaxInt, math.MaxInt)), math.MinInt, -1, math.MaxInt-1)
	same(t, "ints back from end to end", Data[int64](Arange(math.MaxInt, math.MinInt, math.MinInt)), math.MaxInt, -1)
	same(t, "no ints", Data[int64](Arange(3, math.MinInt)))
	x := Arange(16.0).Reshape(1, 1, 4, 4)
	far := [2]int{math.MaxInt, math.MaxInt}
	same(t, "conv", Data[float32](x.Conv2d(Ones(1, 1, 2, 2), nil, ConvOpts{Stride: new(far)})), 0+1+4+5)
	same(t, "max pooling", Data[float32](x.MaxPool2d(PoolOpts{Window: [2]int{2, 2}, Stride: new(far)})), 5)
	same(t, "mean pooling", Data[float32](x.AvgPool2d(PoolOpts{Window: [2]int{2, 2}, Stride: new(far)})), 2.5)
	leaf := Ones(1, 1, 4, 4).RequireGrad()
	leaf.Conv2d(Ones(1, 1, 2, 2), nil, ConvOpts{Stride: new(far)}).Sum().Backward()
	leaf.MaxPool2d(PoolOpts{Window: [2]int{2, 2}, Stride: new(far)}).Sum().Backward()
	leaf.AvgPool2d(PoolOpts{Window: [2]int{2, 2}, Stride: new(far)}).Sum().Backward()
	leaf.Slice(All, All, Range(0, 4, math.MaxInt)).Sum().Backward()
	want := []float32{1 + 1 + 0.25 + 1, 1 + 0.25 + 1, 1, 1, 1 + 0.25, 1 + 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	same(t, "gradients", Data[float32](leaf.Grad()), want...)

	// Taps so far apart that each result sees one, of one channel and of a vector of groups.
	for _, channels := range []int{1, 8} {
		step := [2]int{1 << 29, 1 << 29}
		x := Arange(1.0, 17.0).To(Float32).Reshape(1, 1, 4, 4).Expand(1, channels, 4, 4).Clone().RequireGrad()
		w := Arange(1.0, 5.0).To(Float32).Reshape(1, 1, 2, 2).Expand(channels, 1, 2, 2).Clone().RequireGrad()
		y := x.Conv2d(w, nil, ConvOpts{Dilation: new(step), Padding: step, Stride: new(step), Groups: new(channels)})
		y.Sum().Backward()
		same(t, "far taps", Data[float32](y.Detach().Slice(All, Index(channels-1)).Flatten(0)), 4, 3, 2, 1)
		same(t, "far taps' gradient of x", Data[float32](x.Grad().Slice(All, Index(channels-1)).Flatten(0).Slice(Range(0, 5))), 10, 0, 0, 0, 0)
		same(t, "far taps' gradient of w", Data[float32](w.Grad().Slice(Index(channels-1)).Flatten(0)), 1, 1, 1, 1)
	}
}

func same[T Element](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}
