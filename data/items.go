package data

import (
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
)

// A DatasetOf is a sequence of items of any type, such as a struct of several fields. A loader with
// several workers calls Get from several goroutines at once.
type DatasetOf[T any] interface {
	// Len is the number of items. It must not change.
	Len() int
	// Get returns item i, from 0 to Len()-1.
	Get(i int) (T, error)
}

// An EpochDataset is a dataset whose items differ by epoch, such as that of [MapRandom]. Loaders call
// GetEpoch in place of Get. [Map], [MapRandom], [Subset], [Concat] and [RandomSplit] pass the epoch on.
type EpochDataset[T any] interface {
	DatasetOf[T]
	// GetEpoch returns item i as it is in an epoch, from 0.
	GetEpoch(epoch, i int) (T, error)
}

// getter returns the function that reads an item of d as it is in an epoch.
func getter[T any](d DatasetOf[T]) func(epoch, i int) (T, error) {
	if e, ok := d.(EpochDataset[T]); ok {
		return e.GetEpoch
	}
	return func(_, i int) (T, error) { return d.Get(i) }
}

// An Example is an item of a [Dataset].
type Example struct{ X, Y *weft.Tensor }

// Examples returns a dataset of inputs and targets as one of items, to be mapped, split and joined with
// others. It panics with *weft.Error if d is nil.
func Examples(d Dataset) DatasetOf[Example] {
	if d == nil {
		array.Failf("examples", "d", "is nil")
	}
	return view[Example]{d.Len, func(_, i int) (e Example, err error) {
		e.X, e.Y, err = d.Get(i)
		return e, err
	}}
}

// A view is a dataset of two functions.
type view[T any] struct {
	length func() int
	get    func(epoch, i int) (T, error)
}

// Len implements [DatasetOf].
func (v view[T]) Len() int { return v.length() }

// Get implements [DatasetOf].
func (v view[T]) Get(i int) (T, error) { return v.get(0, i) }

// GetEpoch implements [EpochDataset].
func (v view[T]) GetEpoch(epoch, i int) (T, error) { return v.get(epoch, i) }

// Items is the dataset of the elements of a slice, which it keeps.
func Items[T any](items []T) DatasetOf[T] {
	return view[T]{func() int { return len(items) }, func(_, i int) (item T, err error) {
		if i < 0 || i >= len(items) {
			return item, fmt.Errorf("data: item %d of %d", i, len(items))
		}
		return items[i], nil
	}}
}

// Subset is the dataset of some items of d, in that order. It panics with *weft.Error if d is nil or a
// place is not in it.
func Subset[T any](d DatasetOf[T], index []int) DatasetOf[T] {
	if d == nil {
		array.Failf("subset", "d", "is nil")
	}
	n := d.Len()
	for _, i := range index {
		if i < 0 || i >= n {
			array.Failf("subset", "index", "has %d, want 0 to %d", i, n-1)
		}
	}
	index = slices.Clone(index)
	get := getter(d)
	return view[T]{func() int { return len(index) }, func(epoch, i int) (item T, err error) {
		if i < 0 || i >= len(index) {
			return item, fmt.Errorf("data: item %d of %d", i, len(index))
		}
		return get(epoch, index[i])
	}}
}

// Concat is the dataset of the items of several, one dataset after the other. It panics with
// *weft.Error if one is nil.
func Concat[T any](ds ...DatasetOf[T]) DatasetOf[T] {
	ends, get := make([]int, len(ds)), make([]func(epoch, i int) (T, error), len(ds))
	n := 0
	for k, d := range ds {
		if d == nil {
			array.Failf("concat", "ds", "has a nil at %d", k)
		}
		length := d.Len()
		if length < 0 || n+length < n {
			array.Failf("concat", "ds", "has a length of %d at %d", length, k)
		}
		n += length
		ends[k], get[k] = n, getter(d)
	}
	return view[T]{func() int { return n }, func(epoch, i int) (item T, err error) {
		if i < 0 || i >= n {
			return item, fmt.Errorf("data: item %d of %d", i, n)
		}
		k, _ := slices.BinarySearch(ends, i+1)
		if k > 0 {
			i -= ends[k-1]
		}
		return get[k](epoch, i)
	}}
}

// RandomSplit returns datasets of some numbers of items of d, drawn by a seed: each item is in at most
// one. Numbers below 1 that are not whole are parts of all, and what rounding leaves goes to the first
// ones. It panics with *weft.Error if d is nil, or lengths are negative or more than there are.
func RandomSplit[T any](d DatasetOf[T], lengths []float64, seed uint64) []DatasetOf[T] {
	if d == nil {
		array.Failf("random_split", "d", "is nil")
	}
	n := d.Len()
	counts, parts, sum := make([]int, len(lengths)), 0.0, 0
	for i, x := range lengths {
		switch {
		case !(x >= 0) || x > float64(n):
			array.Failf("random_split", "lengths", "has %v for %d items", x, n)
		case x < 1:
			parts += x
			counts[i] = int(x * float64(n))
		case x != float64(int(x)):
			array.Failf("random_split", "lengths", "has %v: want numbers of items, or parts of less than 1", x)
		default:
			counts[i] = int(x)
		}
		sum += counts[i]
	}
	if parts > 1-1e-9 && parts < 1+1e-9 { // parts of all
		for i := 0; sum < n; i = (i + 1) % len(counts) {
			if lengths[i] > 0 {
				counts[i]++
				sum++
			}
		}
	}
	if sum > n {
		array.Failf("random_split", "lengths", "are %d of %d items", sum, n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	shuffle(order, seed, 0)
	out := make([]DatasetOf[T], len(counts))
	for i, c := range counts {
		out[i] = Subset(d, order[:c])
		order = order[c:]
	}
	return out
}
