package selection

import (
	"runtime"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// RowMost is the most elements of a row that [Kernels.Row] takes: three copies of its keys stay in the second-level
// cache.
const RowMost = 1 << 12

// rowRounds bounds the rounds of quickselect. Each keeps about half of the keys, unless elements are in an order
// that makes pivots bad.
const rowRounds = 48

// A Division says what [Kernels.Row] writes besides the selected element.
type Division uint8

const (
	NoDivision Division = iota
	Elements            // the elements before it, and from its place plus one on those behind it
	Places              // their int64 indices
)

// Room is the number of keys for which [Kernels.Row] needs memory to select in a row of n.
func Room(n int) int { return 3 * roomOf(n) }

// roomOf is the number of keys of one of the three copies: whole groups, and one that pads the last.
func roomOf(n int) int { return (n+Group-1)/Group*Group + Group }

// A rowFrame holds the arguments of the kernel of rows.
type rowFrame struct {
	src        unsafe.Pointer
	n, kth     int
	groups     int // whole ones
	tail       int // the mask of the last one if it is not whole, or 0
	rounds     int // the most
	keys, a, b unsafe.Pointer
	lo, hi     unsafe.Pointer // where elements before the selected one go, and those behind it
	key        uint64         // of the selected element
	place      int            // its index, or -1: rounds were too many
	ranks      [Group]uint64
}

var rf rowFrame

// Row selects the element of a row that is at index kth when the row is sorted, equal ones in order of their
// places. It returns its key and its index, and writes the division to dst. Elements that equal the selected one
// stay on their side of it, and order is kept on both sides. The selected element itself is not written. room has
// length Room(n). It returns false, and writes nothing, if it took too many rounds. Requires 0 <= kth < n <=
// [RowMost].
func (s *Kernels) Row(d Division, src unsafe.Pointer, n, kth int, dst unsafe.Pointer, room []uint64) (key uint64, place int, ok bool) {
	return s.rowWithin(rowRounds, d, src, n, kth, dst, room)
}

// rowWithin is Row with a number of rounds.
func (s *Kernels) rowWithin(rounds int, d Division, src unsafe.Pointer, n, kth int, dst unsafe.Pointer, room []uint64) (key uint64, place int, ok bool) {
	each := roomOf(n)
	size := s.size
	if d == Places {
		size = 8
	}
	f := rowFrame{src: src, n: n, kth: kth, groups: n / Group, tail: 1<<(n%Group) - 1, rounds: rounds, keys: unsafe.Pointer(&room[0]),
		a: unsafe.Pointer(&room[each]), b: unsafe.Pointer(&room[2*each : 3*each][0]), place: -1}
	if d != NoDivision {
		f.lo, f.hi = dst, dst
		if kth+1 < n {
			f.hi = unsafe.Add(dst, (kth+1)*size)
		}
	}
	jit.Call(s.row[d], 0, unsafe.Pointer(&f))
	runtime.KeepAlive(&f)
	return f.key, f.place, f.place >= 0
}

// row writes the kernel of [Kernels.Row]: Hoare's quickselect on keys in groups, with the median of three as pivot.
// Source: C. A. R. Hoare, "Algorithm 65: find", CACM 4, 1961.
func (g *writer) row() {
	bail := g.NewLabel()
	g.rowKeys()
	g.rowSelect(bail)
	g.rowPlace()
	if g.division != NoDivision {
		g.rowDivide()
	}
	g.Bind(bail)
	g.Done()
}

// Registers of the kernel of rows.
const (
	keysReg, aReg, bReg, current, left, wanted, roundsReg = asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14
)

// partial is the mask of the last group if it is not whole.
const partial = asm.K7

// get loads a field of the frame.
func (g *writer) get(r asm.Reg, at uintptr) { g.RM(asm.MOV, r, codegen.Field(at)) }

// inTail writes f for what does not fill a group.
func (g *writer) inTail(f func()) {
	end := g.NewLabel()
	g.get(asm.RAX, unsafe.Offsetof(rf.tail))
	g.RR(asm.TEST, asm.RAX, asm.RAX)
	g.Jcc(asm.CondE, end)
	g.RR(asm.KMOVB, partial, asm.RAX)
	f()
	g.Bind(end)
}

// read loads elements into the low bits of lanes, of the last group those that are there.
func (g *writer) read(tail bool) {
	a := &g.Asm
	if tail {
		a = a.MaskZ(partial)
	}
	a.RM(map[int]asm.Op{1: asm.VPMOVZXBQ, 2: asm.VPMOVZXWQ, 4: asm.VPMOVZXDQ, 8: asm.VMOVDQU64}[g.keys.Size], element, asm.Ptr(src, 0))
}

// rowKeys stores the keys of the row. Those behind its end are greatest.
func (g *writer) rowKeys() {
	a := &g.Asm
	g.get(src, unsafe.Offsetof(rf.src))
	g.get(groups, unsafe.Offsetof(rf.groups))
	g.get(keysReg, unsafe.Offsetof(rf.keys))
	g.get(aReg, unsafe.Offsetof(rf.a))
	g.get(bReg, unsafe.Offsetof(rf.b))
	a.RM(asm.VPBROADCASTQ, sign, a.Const64(1<<63))
	a.RM(asm.VPBROADCASTQ, infinity, a.Const64(g.keys.Infinity))
	a.RR(asm.MOV, current, keysReg)
	key := func(tail bool) {
		g.read(tail)
		if s := 64 - 8*g.keys.Size; s > 0 {
			a.RRI(asm.VPSLLQ, element, element, int64(s))
		}
		g.rank()
		if tail {
			a.RR(asm.KNOTB, asm.K6, partial)
			a.Mask(asm.K6).RRRI(asm.VPTERNLOGQ, element, element, element, 0xFF)
		}
		a.MR(asm.VMOVUPS, asm.Ptr(current, 0), element)
		a.RI(asm.ADD, current, 64)
	}
	g.rounds(func() { key(false) })
	g.inTail(func() { key(true) })
}

// rowSelect leaves the key in the frame and in all lanes of low, and in wanted the number of equal keys before it.
func (g *writer) rowSelect(bail asm.Label) {
	a := &g.Asm
	ones := step
	a.RRRI(asm.VPTERNLOGQ, ones, ones, ones, 0xFF)
	a.RR(asm.MOV, current, keysReg)
	g.get(left, unsafe.Offsetof(rf.n))
	g.get(wanted, unsafe.Offsetof(rf.kth))
	g.get(roundsReg, unsafe.Offsetof(rf.rounds))
	few, least, upper, found := a.NewLabel(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.Align(16)
	next := a.Here()
	a.RI(asm.CMP, left, Group)
	a.Jcc(asm.CondBE, few)
	a.RI(asm.SUB, roundsReg, 1)
	a.Jcc(asm.CondB, bail)
	g.pivot()
	g.split(less)
	a.RR(asm.TEST, asm.RBX, asm.RBX)
	a.Jcc(asm.CondE, least)
	a.RR(asm.CMP, wanted, asm.RBX)
	a.Jcc(asm.CondAE, upper)
	a.RR(asm.MOV, current, aReg)
	a.RR(asm.MOV, left, asm.RBX)
	pad := a.Here()
	a.MR(asm.VMOVUPS, asm.Idx(current, left, 8, 0), ones)
	a.Jmp(next)

	a.Bind(least) // the pivot is: it is wanted, or what is above. All keys are in b, and a has been written
	a.RR(asm.MOV, current, bReg)
	g.split(notAbove)
	a.RR(asm.CMP, wanted, asm.RBX)
	a.Jcc(asm.CondB, found)
	a.Bind(upper)
	a.RR(asm.SUB, wanted, asm.RBX)
	a.RR(asm.SUB, left, asm.RBX)
	a.RR(asm.MOV, current, bReg)
	a.Jmp(pad)

	a.Bind(few)
	g.few()
	a.Bind(found)
}

// pivot finds the median of three keys, for the frame and low.
func (g *writer) pivot() {
	a := &g.Asm
	const x, y, z, t = asm.RBX, asm.RDX, asm.RCX, asm.RAX
	a.RR(asm.MOV, t, left)
	a.RI(asm.SHR, t, 2)
	a.RM(asm.MOV, x, asm.Idx(current, t, 8, 0))
	a.RM(asm.LEA, z, asm.Idx(t, t, 2, 0))
	a.RM(asm.MOV, z, asm.Idx(current, z, 8, 0))
	a.RR(asm.ADD, t, t)
	a.RM(asm.MOV, y, asm.Idx(current, t, 8, 0))
	a.RR(asm.MOV, t, x)
	a.RR(asm.CMP, x, y)
	a.CMov(asm.CondA, x, y)
	a.CMov(asm.CondA, y, t)
	a.RR(asm.CMP, z, x)
	a.CMov(asm.CondB, z, x)
	a.RR(asm.CMP, z, y)
	a.CMov(asm.CondA, z, y)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(rf.key)), z)
	a.RM(asm.VPBROADCASTQ, low, codegen.Field(unsafe.Offsetof(rf.key)))
}

// split writes the keys that compare with the pivot to a, whose number is in RBX, and the others to b.
func (g *writer) split(predicate int64) {
	a := &g.Asm
	const from, lo, hi, n = asm.RAX, asm.RBX, asm.RDX, asm.RSI
	before, behind := asm.K3, asm.K4
	a.RR(asm.MOV, from, current)
	a.RR(asm.MOV, lo, aReg)
	a.RR(asm.MOV, hi, bReg)
	a.RM(asm.LEA, groups, asm.Ptr(left, Group-1))
	a.RI(asm.SHR, groups, 3)
	a.Align(16)
	next := a.Here()
	a.RM(asm.VMOVUPS, element, asm.Ptr(from, 0))
	a.RRRI(asm.VPCMPUQ, before, element, low, predicate)
	a.RR(asm.KNOTB, behind, before)
	a.RR(asm.KMOVB, n, before)
	a.RR(asm.POPCNT, n, n)
	a.MaskZ(before).RR(asm.VPCOMPRESSQ, kept, element)
	a.MR(asm.VMOVUPS, asm.Ptr(lo, 0), kept)
	a.MaskZ(behind).RR(asm.VPCOMPRESSQ, compressed, element)
	a.MR(asm.VMOVUPS, asm.Ptr(hi, 0), compressed)
	a.RM(asm.LEA, lo, asm.Idx(lo, n, 8, 0))
	a.R(asm.NEG, n)
	a.RM(asm.LEA, hi, asm.Idx(hi, n, 8, 64))
	a.RI(asm.ADD, from, 64)
	a.RI(asm.SUB, groups, 1)
	a.Jcc(asm.CondNE, next)
	a.RR(asm.SUB, lo, aReg)
	a.RI(asm.SHR, lo, 3)
}

// few finds the key of a group that has no more than wanted below it, and more with those that equal it.
func (g *writer) few() {
	a := &g.Asm
	below, through, key := asm.Z(5), asm.Z(6), asm.Z(7)
	under, until := asm.K3, asm.K4
	a.RM(asm.VPBROADCASTQ, one, a.Const64(1))
	a.RM(asm.VMOVUPS, element, asm.Ptr(current, 0))
	a.RRR(asm.VPXORQ, below, below, below)
	a.RRR(asm.VPXORQ, through, through, through)
	const atLeast = 5
	for i := range int32(Group) {
		a.RM(asm.VPBROADCASTQ, key, asm.Ptr(current, 8*i))
		a.RRRI(asm.VPCMPUQ, under, element, key, above)
		a.RRRI(asm.VPCMPUQ, until, element, key, atLeast)
		a.Mask(under).RRR(asm.VPADDQ, below, below, one)
		a.Mask(until).RRR(asm.VPADDQ, through, through, one)
	}
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(rf.key)), wanted)
	a.RM(asm.VPBROADCASTQ, key, codegen.Field(unsafe.Offsetof(rf.key)))
	a.RRRI(asm.VPCMPUQ, under, below, key, notAbove)
	a.RRRI(asm.VPCMPUQ, until, through, key, above)
	a.RRR(asm.KANDB, under, under, until)
	a.MR(asm.VMOVUPS, codegen.Field(unsafe.Offsetof(rf.ranks)), below)
	a.RR(asm.KMOVB, asm.RAX, under)
	a.RR(asm.TZCNT, asm.RAX, asm.RAX)
	a.RM(asm.SUB, wanted, asm.Idx(asm.RDI, asm.RAX, 8, int32(unsafe.Offsetof(rf.ranks))))
	a.RM(asm.MOV, asm.RCX, asm.Idx(current, asm.RAX, 8, 0))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(rf.key)), asm.RCX)
	a.RM(asm.VPBROADCASTQ, low, codegen.Field(unsafe.Offsetof(rf.key)))
}

// rowPlace finds the place of the selected element.
func (g *writer) rowPlace() {
	a := &g.Asm
	const at, mask, n, place = asm.RAX, asm.RBX, asm.RDX, asm.RCX
	equal := asm.K3
	found := a.NewLabel()
	a.RR(asm.MOV, at, keysReg)
	a.Align(16)
	next := a.Here()
	a.RRMI(asm.VPCMPUQ, equal, low, asm.Ptr(at, 0), 0)
	a.RR(asm.KMOVB, mask, equal)
	a.RR(asm.POPCNT, n, mask)
	a.RI(asm.ADD, at, 64)
	a.RR(asm.CMP, wanted, n)
	a.Jcc(asm.CondB, found)
	a.RR(asm.SUB, wanted, n)
	a.Jmp(next)
	a.Bind(found)
	a.RM(asm.LEA, place, asm.Ptr(at, -64))
	a.RR(asm.SUB, place, keysReg)
	a.RI(asm.SHR, place, 3)
	a.MovImm(n, 1)
	a.RRR(asm.SHLX, n, n, wanted)
	a.RRR(asm.PDEP, n, n, mask)
	a.RR(asm.TZCNT, n, n)
	a.RR(asm.ADD, place, n)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(rf.place)), place)
}

// rowDivide writes the elements before the selected one and those behind it, or their indices.
func (g *writer) rowDivide() {
	a := &g.Asm
	const lo, hi = asm.RBX, asm.RDX
	before, behind, equal := asm.K3, asm.K4, asm.K5
	g.places = g.division == Places
	a.RM(asm.VPBROADCASTQ, width, codegen.Field(unsafe.Offsetof(rf.place)))
	a.RM(asm.VPBROADCASTQ, step, a.Const64(Group))
	a.RM(asm.VPMOVZXBQ, index, a.ConstBytes([]byte{0, 1, 2, 3, 4, 5, 6, 7}))
	g.get(src, unsafe.Offsetof(rf.src))
	g.get(groups, unsafe.Offsetof(rf.groups))
	g.get(lo, unsafe.Offsetof(rf.lo))
	g.get(hi, unsafe.Offsetof(rf.hi))
	a.MovImm(sideOnes, -1)
	group := func(tail bool) {
		a.RM(asm.VMOVUPS, magnitude, asm.Ptr(keysReg, 0))
		a.RRRI(asm.VPCMPUQ, before, magnitude, low, less)
		a.RRRI(asm.VPCMPUQ, equal, magnitude, low, 0)
		a.RRRI(asm.VPCMPUQ, behind, index, width, less)
		a.RRR(asm.KANDB, equal, equal, behind)
		a.RRR(asm.KORB, before, before, equal)
		a.RRRI(asm.VPCMPUQ, behind, index, width, 0)
		a.RRR(asm.KORB, behind, behind, before)
		a.RR(asm.KNOTB, behind, behind)
		if tail {
			a.RRR(asm.KANDB, before, before, partial)
			a.RRR(asm.KANDB, behind, behind, partial)
		}
		v := index
		if !g.places {
			v = element
			g.read(tail)
		}
		g.side(lo, before, v)
		g.side(hi, behind, v)
		a.RRR(asm.VPADDQ, index, index, step)
		a.RI(asm.ADD, keysReg, 64)
	}
	g.rounds(func() { group(false) })
	g.inTail(func() { group(true) })
}
