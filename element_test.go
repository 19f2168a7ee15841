package weft_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/half"
)

// TestAtReadsOneElement compares At with Data over views of every layout, with indices from both
// ends.
func TestAtReadsOneElement(t *testing.T) {
	x := weft.Arange(24).Reshape(2, 3, 4)
	for name, v := range map[string]*weft.Tensor{
		"whole": x, "transposed": x.Transpose(0, 2), "step": x.Slice(weft.All, weft.Range(2, weft.Begin, -1), weft.Range(1, 4, 2)),
		"expanded": x.Slice(weft.All, weft.Range(0, 1)).Expand(2, 5, 4), "computed": x.Add(1), "lazy": x.Lazy().Add(1),
	} {
		want, s := weft.Data[int64](v), v.Shape()
		for i := range s[0] {
			for j := range s[1] {
				for k := range s[2] {
					w := want[(i*s[1]+j)*s[2]+k]
					if got, back := weft.At[int64](v, i, j, k), weft.At[int64](v, i-s[0], j-s[1], k-s[2]); got != w || back != w {
						t.Errorf("%s at %d, %d, %d is %d and %d, want %d", name, i, j, k, got, back, w)
					}
				}
			}
		}
	}
	one[bool](t, true)
	one[uint8](t, 200)
	one[int8](t, -7)
	one[int16](t, -300)
	one[int32](t, 1<<30)
	one[int64](t, math.MaxInt64)
	one[int](t, math.MinInt64)
	one[uint16](t, 65535)
	one[uint32](t, math.MaxUint32)
	one[uint64](t, math.MaxUint64)
	one[half.Float16](t, half.NewFloat16(1.5))
	one[half.BFloat16](t, half.NewBFloat16(-2.0))
	one[float32](t, 0.1)
	one[float64](t, math.Pi)
	one[complex64](t, 1-2i)
	one[complex128](t, 1e300i)
}

func one[T weft.Element](t *testing.T, x T) {
	t.Helper()
	if got := weft.At[T](weft.FromSlice([]T{*new(T), x}), 1); got != x {
		t.Errorf("%T %v is %v", x, x, got)
	}
	if got := weft.At[T](weft.FromSlice([]T{x}).Reshape()); got != x {
		t.Errorf("a scalar of %T %v is %v", x, x, got)
	}
}

// TestAtRefuses calls At with what it must refuse.
func TestAtRefuses(t *testing.T) {
	x := weft.Ones(2, 3)
	gone := weft.Ones(2)
	gone.Release()
	for want, f := range map[string]func(){
		"at: elements are float32, not float64":            func() { weft.At[float64](x, 0, 0) },
		"at: index: has 1 places for 2 axes":               func() { weft.At[float32](x, 0) },
		"at: index: has 3 places for 2 axes":               func() { weft.At[float32](x, 0, 0, 0) },
		"at: index: [1 3]: 3 is out of range for axis 1":   func() { weft.At[float32](x, 1, 3) },
		"at: index: [-3 0]: -3 is out of range for axis 0": func() { weft.At[float32](x, -3, 0) },
		"at: the tensor is nil":                            func() { weft.At[float32](nil, 0) },
		"at: the tensor float32[2] was released":           func() { weft.At[float32](gone, 0) },
		"rows: takes one axis or more":                     func() { weft.Scalar(1).Rows() },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Mul(weft.At[float32](x, 0, 0)) }).Call(x); err == nil || !strings.Contains(err.Error(), "traced") {
		t.Errorf("At of a traced value: %v", err)
	}
}

// TestAtAllocatesNothing counts what reading an element costs.
func TestAtAllocatesNothing(t *testing.T) {
	x := weft.Ones(2, 3)
	sum := float32(0)
	if n := testing.AllocsPerRun(100, func() { sum += weft.At[float32](x, 1, 2) }); n > 0 {
		t.Errorf("At allocates %v times", n)
	}
}

// TestRows walks rows, stops early, and takes gradients and a compiled function through them.
func TestRows(t *testing.T) {
	x := weft.Arange(0.0, 6).Reshape(3, 2).RequireGrad()
	var seen []int
	sum := weft.Scalar(0.0)
	for i, row := range x.Rows() {
		if seen = append(seen, i); i == 2 {
			break
		}
		sum = sum.Add(row.Mul(i + 1).Sum())
	}
	sum.Backward()
	if want := []float32{1, 1, 2, 2, 0, 0}; !slices.Equal(weft.Data[float32](x.Grad()), want) || !slices.Equal(seen, []int{0, 1, 2}) {
		t.Errorf("rows %v, gradient %v, want %v", seen, x.Grad(), want)
	}
	for range weft.Zeros(0, 3).Rows() {
		t.Error("an empty tensor has a row")
	}
	total := func(x *weft.Tensor) *weft.Tensor {
		y := x.At(0)
		for i, row := range x.Rows() {
			y = y.Add(row.Mul(i))
		}
		return y
	}
	d := x.Detach()
	got, err := weft.Compile(total).Call(d)
	if err != nil || weft.Digest(got) != weft.Digest(total(d)) {
		t.Errorf("compiled %v, %v, want %v", got, err, total(d))
	}
}
