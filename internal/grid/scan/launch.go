package scan

import (
	"encoding/binary"

	"weft/internal/array"
	"weft/internal/grid"
)

// A Scan is a scan along an axis of contiguous arrays: Outer blocks of N rows of Inner elements. Addresses
// are of the memory of a GPU.
type Scan struct {
	Op              Op
	DType           array.DType // of X and Y
	Outer, N, Inner int
	Reverse         bool // of Sum and Recurrence: from the last row
	X, A, Y         uint64
	Places          uint64 // of Max and Min: their places, int64
}

// maxElements is the number of threads' elements of a launch. Tests lower it.
var maxElements = grid.MaxPart

// A plan says how a scan is cut.
type plan struct {
	kind  Kind
	units int // of a sequence
}

func (s *Scan) plan() plan {
	block := per(s.DType) * lanes
	switch serial := (Variant{Op: s.Op, DType: s.DType}).serial(); {
	case serial && s.Inner == 1:
		return plan{SerialRows, 1}
	case serial:
		return plan{SerialColumns, 1}
	case s.Inner == 1 && s.N > block:
		return plan{Rows, grid.Ceil(s.N, block*tile)}
	}
	return plan{Columns, grid.Ceil(s.N, deep(s.Op, s.DType)*fan)}
}

// A level is totals of units, or of groups of the level below. Carries replace them.
type level struct {
	addrs [2]uint64
	count int // of a sequence
}

// levels returns the levels of a scan in memory at an address, and the bytes that they take there.
func (s *Scan) levels(scratch uint64) (list []level, bytes int) {
	for m := s.plan().units; m > 1; m = grid.Ceil(m, fan) {
		l := level{count: m}
		for i, size := range s.sizes() {
			l.addrs[i] = scratch + uint64(bytes)
			bytes += (s.Outer*m*s.Inner*size + 15) / 16 * 16
		}
		if list = append(list, l); m <= fan {
			break
		}
	}
	return list, bytes
}

// sizes returns the bytes of the parts of a state.
func (s *Scan) sizes() []int {
	if s.Op.extreme() {
		return []int{max(s.DType.Size(), 4), 8}
	}
	return []int{s.DType.Size()}
}

// Scratch returns the number of bytes that Launches needs.
func (s Scan) Scratch() int {
	_, bytes := s.levels(0)
	return bytes
}

// Launches returns the launches that compute a scan, given the address of scratch memory. A scan of
// no elements takes none.
func (s Scan) Launches(scratch uint64) (list []grid.Launch) {
	if s.Outer*s.N*s.Inner == 0 {
		return nil
	}
	p := s.plan()
	levels, _ := s.levels(scratch)
	if len(levels) > 0 {
		list = s.scan(p, arguments{totals: levels[0].addrs}, true)
	}
	for i := 1; i < len(levels); i++ {
		list = append(list, s.carries(levels[i-1], arguments{above: levels[i].addrs}, true)...)
	}
	for i := len(levels) - 1; i >= 0; i-- {
		var above arguments
		if i+1 < len(levels) {
			above = arguments{above: levels[i+1].addrs, carry: 1}
		}
		list = append(list, s.carries(levels[i], above, false)...)
	}
	var carries arguments
	if len(levels) > 0 {
		carries = arguments{totals: levels[0].addrs, carry: 1}
	}
	return append(list, s.scan(p, carries, false)...)
}

// An arguments is what differs between the launches of a scan.
type arguments struct {
	totals, above [2]uint64
	outer         int
	start, step   int
	part          grid.Part
	tiles         int
	carry         int
	mask, log     int
}

// variant returns the kernel of a kind.
func (s *Scan) variant(k Kind, totals bool) Variant {
	return Variant{Op: s.Op, DType: kindOf(s.Op, s.DType, k), Kind: k, Totals: totals}
}

// scan returns the launches over all elements. They write totals, or read carries if there are any.
func (s *Scan) scan(p plan, a arguments, totals bool) (list []grid.Launch) {
	v := s.variant(p.kind, totals)
	a.part = grid.Parts(1, 1, 1, 1)[0] // of rows, which do not read it
	switch p.kind {
	case Rows:
		v.Reverse, v.Vector = s.Reverse, s.vectors()
		for blocks := grid.Ceil(s.N, per(s.DType)*lanes); 1<<a.log < min(blocks, tile); a.log++ {
		}
		a.outer, a.tiles, a.mask = s.Outer, p.units, 1<<a.log-1
		return []grid.Launch{v.launch(grid.Ceil(s.Outer, tile>>a.log)*p.units, s.block(a))}
	case SerialRows:
		v.Reverse, a.outer = s.Reverse, s.Outer
		return []grid.Launch{v.launch(grid.Ceil(s.Outer, grid.Warp), s.block(a))}
	}
	a.outer, a.step = s.N*s.Inner, s.Inner
	if s.Reverse {
		a.start, a.step = (s.N-1)*s.Inner, -s.Inner
	}
	for _, part := range grid.Parts(s.Outer, p.units, s.Inner, maxElements) {
		at := a
		at.part, at.totals = part, s.from(a.totals, part.First())
		list = append(list, v.launch(part.Blocks(threads), s.block(at)))
	}
	return list
}

// carries returns the launches over groups of totals.
func (s *Scan) carries(l level, a arguments, totals bool) (list []grid.Launch) {
	a.totals, a.mask, a.step = l.addrs, l.count, s.Inner
	above := a.above
	for _, part := range grid.Parts(s.Outer, grid.Ceil(l.count, fan), s.Inner, maxElements) {
		a.part, a.above = part, s.from(above, part.First())
		list = append(list, s.variant(Carries, totals).launch(part.Blocks(threads), s.block(a)))
	}
	return list
}

// from returns where element n of an array of states begins.
func (s *Scan) from(addrs [2]uint64, n int) [2]uint64 {
	for i, size := range s.sizes() {
		addrs[i] += uint64(n * size)
	}
	return addrs
}

// vectors reports whether a thread's elements lie at a multiple of their size, and end with the row.
func (s *Scan) vectors() bool {
	n := per(s.DType)
	return s.N%n == 0 && (s.X|s.Y)%uint64(n*s.DType.Size()) == 0 && s.Places%16 == 0
}

// block returns the argument block.
func (s *Scan) block(a arguments) []byte {
	factors := s.A
	if s.Reverse { // an element's factor is that of the one before
		factors += uint64(s.Inner * s.DType.Size())
	}
	b := make([]byte, 0, argBytes)
	for _, x := range [...]uint64{s.X, factors, s.Y, s.Places, a.totals[0], a.totals[1], a.above[0], a.above[1],
		uint64(s.N), uint64(a.outer), uint64(a.start), uint64(a.step)} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	b = grid.AppendDivisor(a.part.Append(b), max(a.tiles, 1))
	for _, x := range [...]int{a.carry, a.mask, a.log} {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}
