package selection

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

type kind uint8

const (
	within kind = iota
	divide
	order
	ofRow
)

// A key names one piece of machine code: all that its generator reads.
type key struct {
	kind    kind
	keys    Keys
	counts  bool // of within: store nothing
	carries bool // of within: indices come from memory
	orEqual bool // of divide
	places  bool // of divide
	groups  int  // of order
	// of ofRow
	division Division
}

var codes = jit.NewCache[key, *jit.Code](0)

func (k key) Generate() *jit.Code {
	g := &writer{key: k}
	g.ISA = jit.AVX512
	switch k.kind {
	case within:
		g.within()
	case divide:
		g.divide()
	case order:
		g.order()
	case ofRow:
		g.row()
	}
	return g.Install(k)
}

// A writer writes one routine.
type writer struct {
	codegen.Gen
	key
}

// Registers of these kernels: the arguments, and what does not change from round to round.
const (
	src, groups, first, second, from, below, count = asm.RSI, asm.RCX, asm.R8, asm.R9, asm.R10, asm.RDX, asm.R12
)

var (
	element, one, magnitude, kept, compressed = asm.Z(0), asm.Z(1), asm.Z(2), asm.Z(3), asm.Z(4)
	low, width, sign, infinity, index, step   = asm.Z(16), asm.Z(17), asm.Z(18), asm.Z(19), asm.Z(20), asm.Z(21)
)

// Predicates of comparisons of unsigned integers.
const less, notAbove, above = 1, 2, 6

// begin loads the arguments.
func (g *writer) begin() {
	a := &g.Asm
	a.RM(asm.MOV, src, codegen.Field(unsafe.Offsetof(f.src)))
	a.RM(asm.MOV, groups, codegen.Field(unsafe.Offsetof(f.groups)))
	a.RM(asm.MOV, first, codegen.Field(unsafe.Offsetof(f.keys)))
	a.RM(asm.MOV, second, codegen.Field(unsafe.Offsetof(f.places)))
	a.RM(asm.VPBROADCASTQ, low, codegen.Field(unsafe.Offsetof(f.low)))
	a.RM(asm.VPBROADCASTQ, width, codegen.Field(unsafe.Offsetof(f.width)))
	a.RM(asm.VPBROADCASTQ, sign, a.Const64(1<<63))
	a.RM(asm.VPBROADCASTQ, infinity, a.Const64(g.keys.Infinity))
	if g.carries {
		a.RM(asm.MOV, from, codegen.Field(unsafe.Offsetof(f.from)))
		return
	}
	a.RM(asm.VPBROADCASTQ, step, a.Const64(Group))
	a.RM(asm.VPMOVZXBQ, index, a.ConstBytes([]byte{0, 1, 2, 3, 4, 5, 6, 7}))
	a.RM(asm.VPBROADCASTQ, one, codegen.Field(unsafe.Offsetof(f.first)))
	a.RRR(asm.VPADDQ, index, index, one)
}

// load reads the elements of a round into the high bits of lanes.
func (g *writer) load() {
	a, m := &g.Asm, asm.Ptr(src, 0)
	switch g.keys.Size {
	case 1:
		a.RM(asm.VPMOVZXBQ, element, m)
	case 2:
		a.RM(asm.VPMOVZXWQ, element, m)
	case 4:
		a.RM(asm.VPMOVZXDQ, element, m)
	default:
		a.RM(asm.VMOVUPS, element, m)
	}
	if s := 64 - 8*g.keys.Size; s > 0 {
		a.RRI(asm.VPSLLQ, element, element, int64(s))
	}
}

// rank makes keys of elements.
func (g *writer) rank() {
	g.ascending()
	if g.keys.Descending {
		g.RRRI(asm.VPTERNLOGQ, element, element, element, 0x55) // not
	}
}

func (g *writer) ascending() {
	a := &g.Asm
	if !g.keys.Float {
		if g.keys.Signed {
			a.RRR(asm.VPXORQ, element, element, sign)
		}
		return
	}
	zero, nan := asm.K1, asm.K2
	a.RRI(asm.VPSRAQ, one, element, 63)
	a.RRR(asm.VPORQ, one, one, sign)
	a.RRR(asm.VPANDNQ, magnitude, sign, element)
	a.RRR(asm.VPXORQ, element, element, one)
	a.RRR(asm.VPTESTNMQ, zero, magnitude, magnitude)
	a.RRRI(asm.VPCMPUQ, nan, magnitude, infinity, above)
	a.Mask(zero).RR(asm.VMOVDQA64, element, sign)
	a.Mask(nan).RRRI(asm.VPTERNLOGQ, element, element, element, 0xFF)
}

// rounds writes the loop.
func (g *writer) rounds(round func()) {
	a := &g.Asm
	end := a.NewLabel()
	a.RR(asm.TEST, groups, groups)
	a.Jcc(asm.CondE, end)
	a.Align(16)
	next := a.Here()
	round()
	a.RI(asm.ADD, src, int64(Group*g.keys.Size))
	a.RI(asm.SUB, groups, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(end)
}

// within writes the kernels of [Kernels.Within], [Kernels.Count] and [Kernels.Keep].
func (g *writer) within() {
	a := &g.Asm
	g.begin()
	a.RR(asm.XOR32, below, below)
	a.RR(asm.XOR32, count, count)
	inside, under := asm.K3, asm.K4
	g.rounds(func() {
		g.load()
		g.rank()
		a.RRR(asm.VPSUBQ, one, element, low)
		a.RRRI(asm.VPCMPUQ, under, element, low, less)
		a.RRRI(asm.VPCMPUQ, inside, one, width, notAbove)
		a.RR(asm.KMOVB, asm.RAX, under)
		a.RR(asm.POPCNT, asm.RAX, asm.RAX)
		a.RR(asm.ADD, below, asm.RAX)
		a.RR(asm.KMOVB, asm.RAX, inside)
		a.RR(asm.POPCNT, asm.RAX, asm.RAX)
		a.RR(asm.ADD, count, asm.RAX)
		if g.counts {
			return
		}
		places := index
		if g.carries {
			places = magnitude
			a.RM(asm.VMOVUPS, places, asm.Ptr(from, 0))
			a.RI(asm.ADD, from, 64)
		}
		a.MaskZ(inside).RR(asm.VPCOMPRESSQ, kept, element)
		a.MR(asm.VMOVUPS, asm.Ptr(first, 0), kept)
		a.MaskZ(inside).RR(asm.VPCOMPRESSQ, compressed, places)
		a.MR(asm.VMOVUPS, asm.Ptr(second, 0), compressed)
		a.RM(asm.LEA, first, asm.Idx(first, asm.RAX, 8, 0))
		a.RM(asm.LEA, second, asm.Idx(second, asm.RAX, 8, 0))
		if !g.carries {
			a.RRR(asm.VPADDQ, index, index, step)
		}
	})
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(f.kept)), count)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(f.below)), below)
	g.Done()
}

// divide writes the kernel of [Kernels.Divide].
func (g *writer) divide() {
	a := &g.Asm
	g.begin()
	a.MovImm(sideOnes, -1)
	a.RR(asm.XOR32, count, count)
	before, behind := asm.K3, asm.K4
	predicate := int64(notAbove)
	if g.orEqual {
		predicate = less
	}
	g.rounds(func() {
		g.load()
		v := index
		if !g.places {
			v = kept
			a.RRI(asm.VPSRLQ, v, element, int64(64-8*g.keys.Size))
		}
		g.rank()
		a.RRRI(asm.VPCMPUQ, before, element, low, predicate)
		a.RR(asm.KNOTB, behind, before)
		g.side(first, before, v)
		a.RR(asm.ADD, count, sideCount)
		g.side(second, behind, v)
		a.RRR(asm.VPADDQ, index, index, step)
	})
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(f.kept)), count)
	g.Done()
}

// Registers of side: minus one, the number of lanes that it wrote, their mask.
const sideOnes, sideCount, sideMask = asm.R11, asm.RAX, asm.R10

// side writes the lanes k of v, elements or indices, and advances to.
func (g *writer) side(to, k, v asm.Reg) {
	a := &g.Asm
	stored := asm.K5
	size, store := uint8(8), asm.VMOVDQU64
	if !g.places {
		size = uint8(g.keys.Size)
		store = map[uint8]asm.Op{1: asm.VPMOVQB, 2: asm.VPMOVQW, 4: asm.VPMOVQD, 8: asm.VMOVDQU64}[size]
	}
	a.RR(asm.KMOVB, sideCount, k)
	a.RR(asm.POPCNT, sideCount, sideCount)
	a.RRR(asm.BZHI, sideMask, sideOnes, sideCount)
	a.RR(asm.KMOVB, stored, sideMask)
	a.MaskZ(k).RR(asm.VPCOMPRESSQ, compressed, v)
	a.Mask(stored).MR(store, asm.Ptr(to, 0), compressed)
	a.RM(asm.LEA, to, asm.Idx(to, sideCount, size, 0))
}

// order writes the kernel of [Kernels.Order]: it compares all keys, in registers, with one after the other.
func (g *writer) order() {
	a := &g.Asm
	a.RM(asm.MOV, src, codegen.Field(unsafe.Offsetof(f.src)))
	a.RM(asm.MOV, groups, codegen.Field(unsafe.Offsetof(f.groups)))
	a.RM(asm.MOV, first, codegen.Field(unsafe.Offsetof(f.keys)))
	a.RM(asm.VPBROADCASTQ, step, a.Const64(1))
	keys, ranks := func(i int) asm.Reg { return asm.Z(i) }, func(i int) asm.Reg { return asm.Z(8 + i) }
	for i := range g.groups {
		a.RM(asm.VMOVUPS, keys(i), asm.Ptr(src, int32(64*i)))
		a.RRR(asm.VPXORQ, ranks(i), ranks(i), ranks(i))
	}
	a.Align(16)
	next := a.Here()
	a.RM(asm.VPBROADCASTQ, low, asm.Ptr(src, 0))
	for i := range g.groups {
		k := asm.K1 + asm.Reg(i%6)
		a.RRRI(asm.VPCMPUQ, k, keys(i), low, above)
		a.Mask(k).RRR(asm.VPADDQ, ranks(i), ranks(i), step)
	}
	a.RI(asm.ADD, src, 8)
	a.RI(asm.SUB, groups, 1)
	a.Jcc(asm.CondNE, next)
	for i := range g.groups {
		a.MR(asm.VMOVUPS, asm.Ptr(first, int32(64*i)), ranks(i))
	}
	g.Done()
}
