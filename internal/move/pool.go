package move

import (
	"slices"
	"unsafe"

	"weft/internal/par"
)

// A Pool is pooling over planes of H x W elements, in which OH x OW windows lie.
type Pool struct {
	Planes, H, W, OH, OW             int
	KH, KW, StepH, StepW, PadH, PadW int
}

type float interface{ float32 | float64 }

// PoolPlace writes to dx zeros, and adds each element of dy to the first place of
// its window in x that has the bits of the window's maximum, which y gives. All are contiguous.
func PoolPlace[T float](p Pool, dx, x, y, dy unsafe.Pointer) {
	if c := placeCode[T](&p); c != nil {
		placeTiled[T](&p, c, dx, x, y, dy, p.Planes*p.H*p.W*int(unsafe.Sizeof(T(0))) >= streamMin)
		return
	}
	poolFirsts[T](p, x, y, func(in, out, row int, at []int32) {
		d := unsafe.Slice((*T)(dx), p.Planes*p.H*p.W)[in:][:p.H*p.W]
		if row == 0 {
			clear(d)
		}
		g := unsafe.Slice((*T)(dy), p.Planes*p.OH*p.OW)[out:][:len(at)]
		for i, k := range at {
			if k >= 0 {
				d[k] += g[i]
			}
		}
	})
}

// PoolPick writes to dy what dx has where PoolPlace adds, 0 where it adds nothing.
func PoolPick[T float](p Pool, dy, x, y, dx unsafe.Pointer) {
	poolFirsts[T](p, x, y, func(in, out, _ int, at []int32) {
		d := unsafe.Slice((*T)(dx), p.Planes*p.H*p.W)[in:][:p.H*p.W]
		g := unsafe.Slice((*T)(dy), p.Planes*p.OH*p.OW)[out:][:len(at)]
		for i, k := range at {
			g[i] = 0
			if k >= 0 {
				g[i] = d[k]
			}
		}
	})
}

// poolFirsts calls f for each row of windows, those of a plane in ascending order,
// with where its plane begins in x, where the row begins in y, its number, and for
// each window the first element of the plane with the bits of its element of y (a
// NaN: any NaN), -1 if none has them.
func poolFirsts[T float](p Pool, x, y unsafe.Pointer, f func(in, out, row int, at []int32)) {
	ns := p.Planes * p.OH * p.OW * p.KH * p.KW
	par.Run(p.Planes, 1, threads(ns), func(_, begin, end int) {
		at := make([]int32, p.OW)
		for plane := begin; plane < end; plane++ {
			in := plane * p.H * p.W
			for row := range p.OH {
				out := (plane*p.OH + row) * p.OW
				if unsafe.Sizeof(T(0)) == 4 {
					firsts[uint32](&p, at, x, y, in, out, row*p.StepH-p.PadH, 0xFF<<24)
				} else {
					firsts[uint64](&p, at, x, y, in, out, row*p.StepH-p.PadH, 0x7FF<<53)
				}
				f(in, out, row, at)
			}
			if p.OH == 0 {
				f(in, 0, 0, nil)
			}
		}
	})
}

// firsts finds the places for one row of windows, which begins at line top of x. inf
// are the bits of infinity, twice: elements are compared as integers.
func firsts[T uint32 | uint64](p *Pool, at []int32, x, y unsafe.Pointer, in, out, top int, inf T) {
	plane := unsafe.Slice((*T)(x), p.Planes*p.H*p.W)[in:][:p.H*p.W]
	row := unsafe.Slice((*T)(y), p.Planes*p.OH*p.OW)[out:][:len(at)]
	first, last := max(top, 0), min(top+p.KH, p.H)
	if p.KH*p.KW <= fewPlaces && p.PadW == 0 && !slices.ContainsFunc(row, func(m T) bool { return m<<1 > inf }) {
		for i := range at {
			at[i] = -1
		}
		for line := last - 1; line >= first; line-- {
			for k := p.KW - 1; k >= 0; k-- {
				match(at, row, plane, line*p.W+k, p.StepW)
			}
		}
		return
	}
	for i, m := range row {
		at[i] = -1
		left := i*p.StepW - p.PadW
		from, to := max(left, 0), min(left+p.KW, p.W)
	window:
		for line := first; line < last; line++ {
			for k, v := range plane[line*p.W+from : line*p.W+to] {
				if v == m || m<<1 > inf && v<<1 > inf {
					at[i] = int32(line*p.W + from + k)
					break window
				}
			}
		}
	}
}

// fewPlaces is the size of windows up to which it is faster to look at all elements,
// which leaves no branch that depends on them, than to stop at the first.
const fewPlaces = 12

// match notes the places, step apart, where the plane has the elements of row. It is
// not inlined: it wants all registers.
//
//go:noinline
func match[T uint32 | uint64](at []int32, row, plane []T, place, step int) {
	at = at[:len(row)]
	for i, m := range row {
		v := at[i]
		if plane[place] == m {
			v = int32(place)
		}
		at[i] = v
		place += step
	}
}
