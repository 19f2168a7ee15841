package pooling

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A wholeFrame holds the arguments of the kernels that go down a plane. Steps and offsets are
// in bytes; an offset may lead before an array, for lanes that a mask leaves out.
type wholeFrame struct {
	x, y, at, numbers unsafe.Pointer // of a plane, of its windows, of places, of their numbers
	offX, offY, offAt int            // where the vector's column begins
	table             unsafe.Pointer // of the first row or line
	count             int            // of rows or lines; counted down
	stepX             int            // from line to line
	nextY, nextAt     int            // from row to row
	nextNumbers       int
	ask, ahead        int       // offset of the lines of x that are asked for, and how many for each row or line
	undefined         int       // set where there was a NaN and the padding counted as -Inf
	last              uint64    // lanes that are windows
	masks             [8]uint64 // see the kernels
	scale             uint64    // of means
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
	w.RM(asm.ADD, r, gen.Field(offset))
}

// asked sets r to the first lines that are asked for.
func (w *wholer) asked(r asm.Reg) { w.from(r, unsafe.Offsetof(hf.x), unsafe.Offsetof(hf.ask)) }

// asks asks for the lines from at on that belong to a row or line, and moves on.
func (w *wholer) asks(op asm.Op, at, left asm.Reg) {
	a := &w.Asm
	none := a.NewLabel()
	w.get(left, unsafe.Offsetof(hf.ahead))
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondE, none)
	next := a.Here()
	a.M(op, asm.Ptr(at, 0))
	a.RI(asm.ADD, at, processor.Line)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(none)
}

// masks loads so many masks into the first mask registers.
func (w *wholer) masks(n int) {
	for i := range n {
		w.RM(asm.KMOVW, asm.K(1+i), gen.Field(unsafe.Offsetof(hf.masks)+uintptr(8*i)))
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

// wholeWindows writes the kernel for a column of windows: their means, or where their maxima
// are: the number of the first place that has the bits of the maximum, a NaN counting as any
// other, all bits for none.
//
// Masks are, with a step of 1, the lanes of each place of a line that the plane has; with a
// step of 2, two places come out of two vectors, and masks are the elements of those that the
// line has.
func (g *writer) wholeWindows() {
	w, a := g.wholer(), &g.Asm
	const (
		x, y, at, table, count = asm.RSI, asm.RBX, asm.RDX, asm.RCX, asm.R8
		step, line, left       = asm.R9, asm.R10, asm.R11
		numbers, all           = asm.R12, asm.R13
		nan, found             = asm.K6, asm.K7
	)
	value, best, pad, none := asm.Z(0), asm.Z(1), asm.Z(2), asm.Z(3)
	one, two, behind, low, high, scale := asm.Z(4), asm.Z(5), asm.Z(6), asm.Z(7), asm.Z(8), asm.Z(9)
	w.from(x, unsafe.Offsetof(hf.x), unsafe.Offsetof(hf.offX))
	w.from(y, unsafe.Offsetof(hf.y), unsafe.Offsetof(hf.offY))
	w.from(at, unsafe.Offsetof(hf.at), unsafe.Offsetof(hf.offAt))
	w.get(table, unsafe.Offsetof(hf.table))
	w.get(count, unsafe.Offsetof(hf.count))
	w.get(step, unsafe.Offsetof(hf.stepX))
	w.get(all, unsafe.Offsetof(hf.numbers))
	if g.mean {
		a.RM(w.spread1, scale, gen.Field(unsafe.Offsetof(hf.scale)))
	} else {
		ones := make([]byte, 64)
		for i := range ones {
			ones[i] = 0xFF
		}
		a.RM(w.load, none, a.ConstBytes(ones))
		a.RR(asm.VMOVAPS, pad, none) // a NaN, with whose bits no number compares equal
	}
	if g.stepW == 1 {
		w.masks(g.kw)
	} else {
		w.masks((g.kw + 1) &^ 1)
		w.order(low, func(i int) int { return 2 * i })
		w.order(high, func(i int) int { return 2*i + 1 })
	}
	loaded := func(r, mask asm.Reg, m asm.Mem) {
		if g.mean {
			a.MaskZ(mask).RM(w.load, r, m)
			return
		}
		a.RR(asm.VMOVAPS, r, pad)
		a.Mask(mask).RM(w.load, r, m)
	}
	// places calls f with each place of a line, down or up, and where its elements are: in a
	// register, or, with a step of 1, in memory, under a mask.
	places := func(down bool, f func(k int, r, mask asm.Reg, m asm.Mem)) {
		ordered := func(n int, f func(i int)) {
			for i := range n {
				if down {
					i = n - 1 - i
				}
				f(i)
			}
		}
		if g.stepW == 1 {
			ordered(g.kw, func(k int) { f(k, asm.NoReg, asm.K(1+k), asm.Ptr(line, int32(k*w.es))) })
			return
		}
		permute := w.pick(asm.VPERMT2PS, asm.VPERMT2PD)
		ordered((g.kw+1)/2, func(pair int) {
			m := asm.Ptr(line, int32(2*pair*w.es))
			loaded(one, asm.K(1+2*pair), m)
			loaded(behind, asm.K(2+2*pair), m.Add(64))
			odd := 2*pair+1 < g.kw
			if odd {
				a.RR(asm.VMOVAPS, two, one)
				a.RRR(permute, two, high, behind)
			}
			a.RRR(permute, one, low, behind)
			ordered(2, func(i int) {
				if i == 0 {
					f(2*pair, one, asm.NoReg, asm.Mem{})
				} else if odd {
					f(2*pair+1, two, asm.NoReg, asm.Mem{})
				}
			})
		})
	}
	w.asked(asm.R15)
	row := a.Here()
	w.asks(asm.PREFETCHT1, asm.R15, left)
	a.RM(asm.MOV, line, asm.Ptr(table, int32(unsafe.Offsetof(wholeRow{}.x))))
	a.RR(asm.ADD, line, x)
	a.RM(asm.MOV, left, asm.Ptr(table, int32(unsafe.Offsetof(wholeRow{}.lines))))
	lines := func(f func()) {
		next := a.Here()
		f()
		a.RR(asm.ADD, line, step)
		a.RI(asm.SUB, left, 1)
		a.Jcc(asm.CondNE, next)
	}
	windows := func() { a.RM(asm.KMOVW, found, gen.Field(unsafe.Offsetof(hf.last))) }
	if g.mean {
		a.RM(w.spread1, best, asm.Ptr(table, int32(unsafe.Offsetof(wholeRow{}.start))))
		lines(func() {
			places(false, func(_ int, r, mask asm.Reg, m asm.Mem) {
				if mask != asm.NoReg {
					loaded(one, mask, m)
					r = one
				}
				a.RRR(w.pick(asm.VADDPS, asm.VADDPD), best, best, r)
			})
		})
		a.RRR(w.pick(asm.VMULPS, asm.VMULPD), best, best, scale)
		windows()
		a.Mask(found).MR(w.load, asm.Ptr(y, 0), best)
	} else {
		compare := w.pick(asm.VCMPPS, asm.VCMPPD)
		a.RM(asm.MOV, numbers, asm.Ptr(table, int32(unsafe.Offsetof(wholeRow{}.numbers))))
		a.RR(asm.ADD, numbers, all)
		windows()
		a.MaskZ(found).RM(w.load, value, asm.Ptr(y, 0))
		a.RR(asm.VMOVAPS, best, none)
		note := func(k int) {
			a.Mask(found).RM(w.spread1, best, asm.Ptr(numbers, int32(k*w.es)))
		}
		some, done := a.NewLabel(), a.NewLabel()
		search := func(unordered bool) {
			lines(func() {
				places(true, func(k int, r, mask asm.Reg, m asm.Mem) {
					equal := w.pick(asm.VPCMPEQD, asm.VPCMPEQQ)
					if mask != asm.NoReg {
						a.Mask(mask).RRM(equal, found, value, m)
					} else {
						a.RRR(equal, found, value, r)
					}
					note(k)
					if !unordered {
						return
					}
					if mask != asm.NoReg {
						a.MaskZ(mask).RM(w.load, one, m) // zeros are numbers
						r = one
					}
					a.Mask(nan).RRRI(compare, found, r, r, gen.Unordered)
					note(k)
				})
				a.RI(asm.SUB, numbers, int64(g.kw*w.es))
			})
		}
		a.RRRI(compare, nan, value, value, gen.Unordered)
		a.RR(asm.KORTESTW, nan, nan)
		a.Jcc(asm.CondNE, some)
		search(false)
		a.Jmp(done)
		a.Bind(some)
		if g.stepW > 1 { // where any NaN counts the padding is a number
			infinity := a.Const32(0xFF800000)
			if w.es == 8 {
				infinity = a.Const64(0xFFF << 52)
			}
			a.RM(w.spread1, pad, infinity)
			a.MI(asm.MOV, gen.Field(unsafe.Offsetof(hf.undefined)), 1)
		}
		search(true)
		a.RR(asm.VMOVAPS, pad, none)
		a.Bind(done)
		windows()
		a.Mask(found).MR(w.load, asm.Ptr(at, 0), best)
		a.RM(asm.ADD, at, gen.Field(unsafe.Offsetof(hf.nextAt)))
	}
	a.RI(asm.ADD, table, int64(unsafe.Sizeof(wholeRow{})))
	a.RM(asm.ADD, y, gen.Field(unsafe.Offsetof(hf.nextY)))
	a.RI(asm.SUB, count, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// wholeSpread writes the kernel for a column of a gradient. Each element is a sum over the
// windows that have it, those of maxima in ascending order, those of means in descending
// order, which is the ascending one of places.
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
		a.RM(w.spread1, scale, gen.Field(unsafe.Offsetof(hf.scale)))
	} else {
		w.masks(g.stepW)
	}
	if g.stepW == 2 {
		w.order(low, func(i int) int { return i/2 + i%2*n })
		w.order(high, func(i int) int { return (i+n)/2 + i%2*n })
	}
	w.asked(asm.R15)
	line := a.Here()
	w.asks(asm.PREFETCHW, asm.R15, left)
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
	a.RM(asm.ADD, dy, gen.Field(unsafe.Offsetof(hf.nextY)))
	if !g.mean {
		a.RM(asm.ADD, at, gen.Field(unsafe.Offsetof(hf.nextAt)))
		a.RM(asm.ADD, numbers, gen.Field(unsafe.Offsetof(hf.nextNumbers)))
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
	a.RM(asm.ADD, dx, gen.Field(unsafe.Offsetof(hf.stepX)))
	a.RI(asm.ADD, table, int64(unsafe.Sizeof(wholeLine{})))
	a.RI(asm.SUB, count, 1)
	a.Jcc(asm.CondNE, line)
	g.Done()
}
