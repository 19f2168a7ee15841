package pooling

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A wholeFrame holds the arguments of the kernels that go down a plane. Steps and offsets are
// in bytes; an offset may lead before an array, for lanes that a mask leaves out.
type wholeFrame struct {
	x, y, at, numbers       unsafe.Pointer // of a plane, of its windows, of places, of their numbers
	offX, offY, offAt       int            // where the vector's column begins
	table                   unsafe.Pointer // of the first row or line
	count                   int            // of rows or lines; counted down
	stepX                   int            // from line to line
	nextY, nextAt           int            // from row to row
	nextNumbers             int
	prefetch, prefetchLines int       // offset in x of the lines to prefetch, and how many for each row or line
	undefined               int       // set where there was a NaN and the padding counted as -Inf
	last                    uint64    // lanes that are windows
	masks                   [8]uint64 // see the kernels
	scale                   uint64    // of means
}

var hf wholeFrame

// A wholer writes kernels of 512-bit vectors.
type wholer struct {
	*writer
	es            int
	load, spread1 asm.Op // a vector, and one element for all lanes
}

func (g *writer) wholer() *wholer {
	w := &wholer{writer: g, es: g.dtype.Size()}
	w.load, w.spread1 = w.pick(asm.VMOVUPS, asm.VMOVUPD), w.pick(asm.VBROADCASTSS, asm.VBROADCASTSD)
	return w
}

// from sets r to a field and an offset.
func (w *wholer) from(r asm.Reg, field, offset uintptr) {
	w.get(r, field)
	w.RM(asm.ADD, r, codegen.Field(offset))
}

// prefetchBase sets r to the first lines to prefetch.
func (w *wholer) prefetchBase(r asm.Reg) {
	w.from(r, unsafe.Offsetof(hf.x), unsafe.Offsetof(hf.prefetch))
}

// prefetch prefetches the next prefetchLines lines from at on, and advances at.
func (w *wholer) prefetch(op asm.Op, at, left asm.Reg) {
	a := &w.Asm
	none := a.NewLabel()
	w.get(left, unsafe.Offsetof(hf.prefetchLines))
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondE, none)
	next := a.Here()
	a.M(op, asm.Ptr(at, 0))
	a.RI(asm.ADD, at, processor.Line)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(none)
}

// masks loads n masks into the mask registers from K1 on.
func (w *wholer) masks(n int) {
	for i := range n {
		w.RM(asm.KMOVW, asm.K(1+i), codegen.Field(unsafe.Offsetof(hf.masks)+uintptr(8*i)))
	}
}

// order loads where the lanes of a vector come from in two others.
func (w *wholer) order(r asm.Reg, at func(i int) int) {
	b := make([]byte, 64)
	for i := range 64 / w.es {
		binary.LittleEndian.PutUint32(b[i*w.es:], uint32(at(i)))
	}
	w.RM(w.load, r, w.ConstBytes(b))
}

// General registers of wholeWindows, and its masks.
const (
	wholeX, wholeY, wholeAt       = asm.RSI, asm.RBX, asm.RDX
	wholeTable, wholeCount        = asm.RCX, asm.R8
	wholeStepX, wholeAtLine       = asm.R9, asm.R10
	wholeLeft, wholePrefetch      = asm.R11, asm.R15
	wholeNumbers, wholeAllNumbers = asm.R12, asm.R13
	wholeUnordered, wholeFound    = asm.K6, asm.K7
)

// Vector registers of wholeWindows.
var (
	wholeValue, wholeBest, wholePad, wholeNone = asm.Z(0), asm.Z(1), asm.Z(2), asm.Z(3) // maxima, sums or numbers of places, what the padding holds, all bits
	wholeEven, wholeOdd, wholeBehind           = asm.Z(4), asm.Z(5), asm.Z(6)           // two places of a line, and the vector behind
	wholeLow, wholeHigh, wholeScale            = asm.Z(7), asm.Z(8), asm.Z(9)           // orders of the two places; of means
)

// wholeWindows writes the kernel for a column of windows: their means, or where their maxima
// are: the number of the first place that has the bits of the maximum, a NaN counting as any
// other, all bits for none.
//
// Masks are, with a step of 1, the lanes of each place of a line that the plane has; with a
// step of 2, two places come out of two vectors, and masks are the elements of those that the
// line has.
func (g *writer) wholeWindows() {
	w, a := g.wholer(), &g.Asm
	w.beginWindows()
	w.prefetchBase(wholePrefetch)
	row := a.Here()
	w.prefetch(asm.PREFETCHT1, wholePrefetch, wholeLeft)
	a.RM(asm.MOV, wholeAtLine, asm.Ptr(wholeTable, int32(unsafe.Offsetof(wholeRow{}.x))))
	a.RR(asm.ADD, wholeAtLine, wholeX)
	a.RM(asm.MOV, wholeLeft, asm.Ptr(wholeTable, int32(unsafe.Offsetof(wholeRow{}.lines))))
	if g.mean {
		w.meansOfRow()
	} else {
		w.placesOfRow()
	}
	a.RI(asm.ADD, wholeTable, int64(unsafe.Sizeof(wholeRow{})))
	a.RM(asm.ADD, wholeY, codegen.Field(unsafe.Offsetof(hf.nextY)))
	a.RI(asm.SUB, wholeCount, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// beginWindows loads pointers, constants and masks.
func (w *wholer) beginWindows() {
	a := &w.Asm
	w.from(wholeX, unsafe.Offsetof(hf.x), unsafe.Offsetof(hf.offX))
	w.from(wholeY, unsafe.Offsetof(hf.y), unsafe.Offsetof(hf.offY))
	w.from(wholeAt, unsafe.Offsetof(hf.at), unsafe.Offsetof(hf.offAt))
	w.get(wholeTable, unsafe.Offsetof(hf.table))
	w.get(wholeCount, unsafe.Offsetof(hf.count))
	w.get(wholeStepX, unsafe.Offsetof(hf.stepX))
	w.get(wholeAllNumbers, unsafe.Offsetof(hf.numbers))
	if w.mean {
		a.RM(w.spread1, wholeScale, codegen.Field(unsafe.Offsetof(hf.scale)))
	} else {
		ones := make([]byte, 64)
		for i := range ones {
			ones[i] = 0xFF
		}
		a.RM(w.load, wholeNone, a.ConstBytes(ones))
		a.RR(asm.VMOVAPS, wholePad, wholeNone) // a NaN, with whose bits no number compares equal
	}
	if w.stepW == 1 {
		w.masks(w.kw)
	} else {
		w.masks((w.kw + 1) &^ 1)
		w.order(wholeLow, func(i int) int { return 2 * i })
		w.order(wholeHigh, func(i int) int { return 2*i + 1 })
	}
}

// loaded loads a vector of a line under a mask. Other lanes hold the padding: 0 for means.
func (w *wholer) loaded(r, mask asm.Reg, m asm.Mem) {
	if w.mean {
		w.MaskZ(mask).RM(w.load, r, m)
		return
	}
	w.RR(asm.VMOVAPS, r, wholePad)
	w.Mask(mask).RM(w.load, r, m)
}

// ordered calls f for 0 to n-1, or down.
func ordered(n int, down bool, f func(i int)) {
	for i := range n {
		if down {
			i = n - 1 - i
		}
		f(i)
	}
}

// placesOf calls f with each place of a line, down or up, and where its elements are: in a
// register, or, with a step of 1, in memory, under a mask.
func (w *wholer) placesOf(down bool, f func(k int, r, mask asm.Reg, m asm.Mem)) {
	a := &w.Asm
	if w.stepW == 1 {
		ordered(w.kw, down, func(k int) { f(k, asm.NoReg, asm.K(1+k), asm.Ptr(wholeAtLine, int32(k*w.es))) })
		return
	}
	permute := w.pick(asm.VPERMT2PS, asm.VPERMT2PD)
	ordered((w.kw+1)/2, down, func(pair int) {
		m := asm.Ptr(wholeAtLine, int32(2*pair*w.es))
		w.loaded(wholeEven, asm.K(1+2*pair), m)
		w.loaded(wholeBehind, asm.K(2+2*pair), m.Add(64))
		odd := 2*pair+1 < w.kw
		if odd {
			a.RR(asm.VMOVAPS, wholeOdd, wholeEven)
			a.RRR(permute, wholeOdd, wholeHigh, wholeBehind)
		}
		a.RRR(permute, wholeEven, wholeLow, wholeBehind)
		ordered(2, down, func(i int) {
			if i == 0 {
				f(2*pair, wholeEven, asm.NoReg, asm.Mem{})
			} else if odd {
				f(2*pair+1, wholeOdd, asm.NoReg, asm.Mem{})
			}
		})
	})
}

// eachLine writes a loop over the lines of a row of windows.
func (w *wholer) eachLine(f func()) {
	a := &w.Asm
	next := a.Here()
	f()
	a.RR(asm.ADD, wholeAtLine, wholeStepX)
	a.RI(asm.SUB, wholeLeft, 1)
	a.Jcc(asm.CondNE, next)
}

// existing sets the mask of what is found to the lanes that are windows.
func (w *wholer) existing() { w.RM(asm.KMOVW, wholeFound, codegen.Field(unsafe.Offsetof(hf.last))) }

// meansOfRow writes the means of a vector of windows.
func (w *wholer) meansOfRow() {
	a := &w.Asm
	a.RM(w.spread1, wholeBest, asm.Ptr(wholeTable, int32(unsafe.Offsetof(wholeRow{}.start))))
	w.eachLine(func() {
		w.placesOf(false, func(_ int, r, mask asm.Reg, m asm.Mem) {
			if mask != asm.NoReg {
				w.loaded(wholeEven, mask, m)
				r = wholeEven
			}
			a.RRR(w.pick(asm.VADDPS, asm.VADDPD), wholeBest, wholeBest, r)
		})
	})
	a.RRR(w.pick(asm.VMULPS, asm.VMULPD), wholeBest, wholeBest, wholeScale)
	w.existing()
	a.Mask(wholeFound).MR(w.load, asm.Ptr(wholeY, 0), wholeBest)
}

// placesOfRow writes where the maxima of a vector of windows are.
func (w *wholer) placesOfRow() {
	a := &w.Asm
	a.RM(asm.MOV, wholeNumbers, asm.Ptr(wholeTable, int32(unsafe.Offsetof(wholeRow{}.numbers))))
	a.RR(asm.ADD, wholeNumbers, wholeAllNumbers)
	w.existing()
	a.MaskZ(wholeFound).RM(w.load, wholeValue, asm.Ptr(wholeY, 0))
	a.RR(asm.VMOVAPS, wholeBest, wholeNone)
	some, done := a.NewLabel(), a.NewLabel()
	a.RRRI(w.pick(asm.VCMPPS, asm.VCMPPD), wholeUnordered, wholeValue, wholeValue, codegen.Unordered)
	a.RR(asm.KORTESTW, wholeUnordered, wholeUnordered)
	a.Jcc(asm.CondNE, some)
	w.search(false)
	a.Jmp(done)
	a.Bind(some)
	if w.stepW > 1 { // where any NaN counts the padding is a number
		infinity := a.Const32(0xFF800000)
		if w.es == 8 {
			infinity = a.Const64(0xFFF << 52)
		}
		a.RM(w.spread1, wholePad, infinity)
		a.MI(asm.MOV, codegen.Field(unsafe.Offsetof(hf.undefined)), 1)
	}
	w.search(true)
	a.RR(asm.VMOVAPS, wholePad, wholeNone)
	a.Bind(done)
	w.existing()
	a.Mask(wholeFound).MR(w.load, asm.Ptr(wholeAt, 0), wholeBest)
	a.RM(asm.ADD, wholeAt, codegen.Field(unsafe.Offsetof(hf.nextAt)))
}

// search notes the number of each place that has the bits of the maximum, from the last place to
// the first. Where a maximum is NaN any NaN counts.
func (w *wholer) search(anyNaN bool) {
	a := &w.Asm
	note := func(k int) { a.Mask(wholeFound).RM(w.spread1, wholeBest, asm.Ptr(wholeNumbers, int32(k*w.es))) }
	w.eachLine(func() {
		w.placesOf(true, func(k int, r, mask asm.Reg, m asm.Mem) {
			equal := w.pick(asm.VPCMPEQD, asm.VPCMPEQQ)
			if mask != asm.NoReg {
				a.Mask(mask).RRM(equal, wholeFound, wholeValue, m)
			} else {
				a.RRR(equal, wholeFound, wholeValue, r)
			}
			note(k)
			if !anyNaN {
				return
			}
			if mask != asm.NoReg {
				a.MaskZ(mask).RM(w.load, wholeEven, m) // zeros are numbers
				r = wholeEven
			}
			a.Mask(wholeUnordered).RRRI(w.pick(asm.VCMPPS, asm.VCMPPD), wholeFound, r, r, codegen.Unordered)
			note(k)
		})
		a.RI(asm.SUB, wholeNumbers, int64(w.kw*w.es))
	})
}

// wholeSpread writes the kernel for a column of a gradient. Each element is a sum over the
// windows that have it. Windows of maxima are added in ascending order. Windows of means are
// added in descending order, which is the ascending order of places in a window.
//
// Masks are the elements of the line, for each vector of it, and then, for means, the lanes
// that are windows, for each of those side by side that an element can be in.
func (g *writer) wholeSpread() {
	w, a := g.wholer(), &g.Asm
	const (
		dx, table, count   = asm.RSI, asm.RCX, asm.R8
		dy, at, numbers    = asm.RBX, asm.RDX, asm.R12
		baseY, baseAt, all = asm.R9, asm.R10, asm.R13
		left, found        = asm.R11, asm.K7
	)
	sums := [2]asm.Reg{asm.Z(0), asm.Z(1)}
	t, low, high, scale, u := asm.Z(2), asm.Z(3), asm.Z(4), asm.Z(5), asm.Z(6)
	n := 64 / w.es
	reach := (g.kw-1)/g.stepW + 1
	add := w.pick(asm.VADDPS, asm.VADDPD)
	w.from(dx, unsafe.Offsetof(hf.x), unsafe.Offsetof(hf.offX))
	w.from(baseY, unsafe.Offsetof(hf.y), unsafe.Offsetof(hf.offY))
	w.from(baseAt, unsafe.Offsetof(hf.at), unsafe.Offsetof(hf.offAt))
	w.get(all, unsafe.Offsetof(hf.numbers))
	w.get(table, unsafe.Offsetof(hf.table))
	w.get(count, unsafe.Offsetof(hf.count))
	if g.mean {
		w.masks(g.stepW + reach)
		a.RM(w.spread1, scale, codegen.Field(unsafe.Offsetof(hf.scale)))
	} else {
		w.masks(g.stepW)
	}
	if g.stepW == 2 {
		w.order(low, func(i int) int { return i/2 + i%2*n })
		w.order(high, func(i int) int { return (i+n)/2 + i%2*n })
	}
	w.prefetchBase(asm.R15)
	line := a.Here()
	w.prefetch(asm.PREFETCHW, asm.R15, left)
	for s, r := range sums[:g.stepW] {
		if g.mean && s < g.kw {
			a.RM(w.spread1, r, asm.Ptr(table, int32(unsafe.Offsetof(wholeLine{}.start))))
		} else {
			a.RRR(asm.VXORPS, r, r, r)
		}
	}
	begin := func(r asm.Reg, offset uintptr, base asm.Reg) {
		a.RM(asm.MOV, r, asm.Ptr(table, int32(offset)))
		a.RR(asm.ADD, r, base)
	}
	none := a.NewLabel()
	a.RM(asm.MOV, left, asm.Ptr(table, int32(unsafe.Offsetof(wholeLine{}.rows))))
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondE, none)
	begin(dy, unsafe.Offsetof(wholeLine{}.dy), baseY)
	if !g.mean {
		begin(at, unsafe.Offsetof(wholeLine{}.at), baseAt)
		begin(numbers, unsafe.Offsetof(wholeLine{}.numbers), all)
	}
	next := a.Here()
	for j := range reach {
		if !g.mean {
			j = reach - 1 - j
		}
		m := asm.Ptr(dy, int32(-j*w.es))
		if g.mean {
			a.MaskZ(asm.K(1+g.stepW+j)).RRM(w.pick(asm.VMULPS, asm.VMULPD), t, scale, m)
		} else {
			a.RM(w.load, t, asm.Ptr(at, int32(-j*w.es)))
		}
		for s, r := range sums[:g.stepW] {
			k := s + j*g.stepW
			switch {
			case k >= g.kw:
			case g.mean:
				a.RRR(add, r, r, t)
			default:
				a.RRM(w.pick(asm.VPCMPEQD, asm.VPCMPEQQ), found, t, asm.Ptr(numbers, int32(k*w.es)).B())
				a.Mask(found).RRM(add, r, r, m)
			}
		}
	}
	a.RM(asm.ADD, dy, codegen.Field(unsafe.Offsetof(hf.nextY)))
	if !g.mean {
		a.RM(asm.ADD, at, codegen.Field(unsafe.Offsetof(hf.nextAt)))
		a.RM(asm.ADD, numbers, codegen.Field(unsafe.Offsetof(hf.nextNumbers)))
	}
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(none)
	if g.stepW == 2 {
		permute := w.pick(asm.VPERMT2PS, asm.VPERMT2PD)
		a.RR(asm.VMOVAPS, u, sums[0])
		a.RRR(permute, u, low, sums[1])
		a.RRR(permute, sums[0], high, sums[1])
		a.Mask(asm.K(1)).MR(w.load, asm.Ptr(dx, 0), u)
		a.Mask(asm.K(2)).MR(w.load, asm.Ptr(dx, 64), sums[0])
	} else {
		a.Mask(asm.K(1)).MR(w.load, asm.Ptr(dx, 0), sums[0])
	}
	a.RM(asm.ADD, dx, codegen.Field(unsafe.Offsetof(hf.stepX)))
	a.RI(asm.ADD, table, int64(unsafe.Sizeof(wholeLine{})))
	a.RI(asm.SUB, count, 1)
	a.Jcc(asm.CondNE, line)
	g.Done()
}
