package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft"
)

// TestPartitionBesideSort holds selections of random rows to the results of a sort: every type, few and many different
// elements, NaN, infinities and both zeros, along every axis, of rows shorter and longer than those that are sampled.
func TestPartitionBesideSort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dtypes := []weft.DType{weft.Bool, weft.Int8, weft.Uint8, weft.Int16, weft.Uint16, weft.Int32, weft.Uint32, weft.Int64, weft.Uint64,
		weft.Float16, weft.BFloat16, weft.Float32, weft.Float64}
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for i, shape := range [][]int{{1}, {7}, {63}, {65}, {300}, {2, 500}, {130, 3}, {3, 70, 2}, {5000}, {9, 1031}, {40000}} {
		for j, d := range dtypes {
			size := 1
			for _, n := range shape {
				size *= n
			}
			spread := []float64{1, 3, 100, 1e4}[r.IntN(4)]
			elements := make([]float64, size)
			for k := range elements {
				if elements[k] = math.Round(r.NormFloat64() * spread); d.Float() && r.IntN(9) == 0 {
					elements[k] = special[r.IntN(len(special))]
				} else if d.Unsigned() || d == weft.Bool {
					elements[k] = math.Abs(elements[k])
				}
				if d.Size() == 1 {
					elements[k] = math.Mod(elements[k], 100)
				}
			}
			x := weft.FromSlice(elements, shape...).To(d)
			axis := (i + j) % len(shape)
			n := shape[axis]
			kth := r.IntN(2*n) - n
			name := fmt.Sprintf("%v %v axis %d kth %d", d, shape, axis, kth)
			sorted, order := x.Sort(axis)
			at := (kth + n) % n
			pivot := order.Slice(along(axis, weft.Range(at, at+1))...)
			place := weft.Zeros(shape...).To(weft.Int64).Scatter(axis, order, positions(shape, axis))
			// An element belongs before, at or behind place kth by its place in the sorted row; each part is in order.
			part := place.Ge(at).To(weft.Int64).Add(place.Gt(at).To(weft.Int64))
			want := part.ArgSort(axis)
			equal(t, name, x.ArgPartition(kth, axis), want)
			equal(t, name, x.Partition(kth, axis), x.Gather(axis, want))
			values, places := x.KthValue(at+1, axis)
			equal(t, name, places, pivot.Squeeze(axis))
			equal(t, name, values, sorted.Slice(along(axis, weft.Range(at, at+1))...).Squeeze(axis))
			k := r.IntN(n + 1)
			best, bestAt := x.TopK(k, axis)
			down, downAt := x.Sort(axis, weft.SortOpts{Descending: true})
			equal(t, name, best, down.Slice(along(axis, weft.Range(0, k))...))
			equal(t, name, bestAt, downAt.Slice(along(axis, weft.Range(0, k))...))
		}
	}
}

// along is an index of one axis, with all of those before it.
func along(axis int, ix weft.Span) []weft.Span {
	all := make([]weft.Span, axis+1)
	for i := range all {
		all[i] = weft.All
	}
	all[axis] = ix
	return all
}

// positions are the places along an axis.
func positions(shape []int, axis int) *weft.Tensor {
	s := make([]int, len(shape))
	for i := range s {
		s[i] = 1
	}
	s[axis] = shape[axis]
	return weft.Arange(shape[axis]).To(weft.Int64).Reshape(s...).Expand(shape...)
}

func equal(t *testing.T, name string, got, want *weft.Tensor) {
	t.Helper()
	if same := got.Eq(want).LogicalOr(got.Ne(got).LogicalAnd(want.Ne(want))); same.All().Item() == 0 {
		t.Fatalf("%s: got %v, want %v", name, got, want)
	}
}
