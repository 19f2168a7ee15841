package array

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxRank is the largest number of dimensions of an array.
const MaxRank = 16

// ShapeString formats a shape or strides as "[2 3]".
func ShapeString(s []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteByte(']')
	return b.String()
}

// Size returns the number of elements of a shape that is known to be valid.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// MaxBytes is the most bytes that the elements of an array may count, as if each
// were stored. Every shape is checked against it where it is made, so that sizes,
// strides and offsets never overflow, rounded up or added in pairs.
const MaxBytes = math.MaxInt / 2

// AddSizes returns the sum of sizes. It panics with an *Error of op if an array cannot be
// that long. Requires that no size is negative.
func AddSizes(op string, sizes ...int) int {
	sum := 0
	for _, n := range sizes {
		if n > MaxBytes-sum {
			Failf(op, "shape", "a size overflows: the sum of %s", ShapeString(sizes))
		}
		sum += n
	}
	return sum
}

// CheckShape returns the number of elements of shape and panics with an *Error
// of op when a dimension is negative, there are more than [MaxRank], or the
// elements are more bytes than an array may have.
func CheckShape(op string, shape []int, d DType) int {
	if len(shape) > MaxRank {
		Failf(op, "shape", "%d dimensions, at most %d are supported", len(shape), MaxRank)
	}
	zero := false
	for i, n := range shape {
		if n < 0 {
			Failf(op, "shape", "dimension %d of %s is negative", i, ShapeString(shape))
		}
		zero = zero || n == 0
	}
	// The product of the non-zero dimensions must fit as well: strides are made
	// of it.
	limit := MaxBytes / max(d.Size(), 1)
	n := 1
	for _, d := range shape {
		if d == 0 {
			continue
		}
		if d > limit || n > limit/d {
			Failf(op, "shape", "%s overflows: more bytes than an int can count", ShapeString(shape))
		}
		n *= d
	}
	if zero {
		return 0
	}
	return n
}

// FirstPosition returns the first position, in an array of shape all, of element i of an array of shape
// that is broadcast to it. Arrays of different ranks hold the same elements in the same order.
func FirstPosition(all, shape []int, i int) int {
	if len(all) != len(shape) {
		return i
	}
	at, step := 0, 1
	for a := len(all) - 1; a >= 0; a-- {
		at += i % shape[a] * step
		i /= shape[a]
		step *= all[a]
	}
	return at
}

// RowMajor returns the strides, in elements, of a contiguous array of that
// shape.
func RowMajor(shape []int) []int {
	st := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		st[i] = n
		n *= max(shape[i], 1)
	}
	return st
}

// Equal reports equal shapes.
func Equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Broadcast returns the shape to which the given shapes broadcast by NumPy's
// rule: aligned at the last dimension, sizes equal or 1.
func Broadcast(op string, shapes ...[]int) []int {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, n := range s {
			j := rank - len(s) + i
			switch {
			case out[j] == n || n == 1:
			case out[j] == 1:
				out[j] = n
			default:
				list := make([]string, len(shapes))
				for k, s := range shapes {
					list[k] = ShapeString(s)
				}
				Failf(op, "", "shapes do not broadcast: %s", strings.Join(list, " and "))
			}
		}
	}
	return out
}

// Broadcasts reports that two shapes broadcast.
func Broadcasts(a, b []int) bool {
	for i := range min(len(a), len(b)) {
		if m, n := a[len(a)-1-i], b[len(b)-1-i]; m != n && m != 1 && n != 1 {
			return false
		}
	}
	return true
}

// BroadcastsTo reports that an array of a shape can be repeated to fill another.
func BroadcastsTo(shape, to []int) bool {
	k := len(to) - len(shape)
	if k < 0 {
		return false
	}
	for i, n := range shape {
		if n != to[k+i] && n != 1 {
			return false
		}
	}
	return true
}

// Axis returns axis counted from the front, for an axis in [-rank, rank).
func Axis(op string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		if rank == 0 {
			Failf(op, "axis", "%d given for an array of no dimensions", axis)
		}
		Failf(op, "axis", "%d is out of range for %d dimensions: want %d to %d", axis, rank, -rank, rank-1)
	}
	return a
}

// Axes returns a sorted set of axes counted from the front; none given means
// all of them.
func Axes(op string, axes []int, rank int) []int {
	var in [MaxRank]bool
	for _, a := range axes {
		a = Axis(op, a, rank)
		if in[a] {
			Failf(op, "axis", "%d is given twice", a)
		}
		in[a] = true
	}
	out := make([]int, 0, rank)
	for a := range rank {
		if in[a] || len(axes) == 0 {
			out = append(out, a)
		}
	}
	return out
}

// TypeString formats an element type and a shape as "float32[2 3]". A size of -1, which is not
// known, is a question mark.
func TypeString(d DType, shape []int) string {
	s := ShapeString(shape)
	if slices.Contains(shape, -1) {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "[-1", "[?"), " -1", " ?")
	}
	return d.String() + s
}
