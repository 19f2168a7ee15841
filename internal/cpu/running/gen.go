package running

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// A key names one piece of machine code for rows.
type key struct {
	wide        bool // AVX-512: a block is one vector, otherwise two
	nonTemporal bool // non-temporal stores
	size        int  // bytes of an element
	reverse     bool // x and y point to the last block, which is added first
	short       bool // many rows that hold at most one group each
}

var codes = jit.NewCache[key, *jit.Code](0)

// A rowFrame holds the arguments of a kernel of rows.
type rowFrame struct {
	x, y   unsafe.Pointer
	groups int            // at least 1
	blocks int            // in each group, at least 1
	before unsafe.Pointer // the carry into the group of groups
	sum1   unsafe.Pointer // the total of earlier groups in it; updated with these groups
	sum0   unsafe.Pointer // receives the sum of the last group
}

// A shortFrame holds the arguments of a kernel of many rows.
type shortFrame struct {
	x, y   unsafe.Pointer
	first  int                               // bytes from there to the first block, which may be masked and lie before
	rows   int                               // at least 1
	blocks int                               // full blocks in each row
	next   int                               // bytes from a row's last, short block to the next row
	bits   int                               // a bit for each element of the short block; 0 if there is none
	mask   [numbers.ScanBlockBytes / 4]int32 // AVX2: the same as a block, -1 for elements
}

// Generate writes the kernel of a key.
func (k key) Generate() *jit.Code {
	w := writer{key: k}
	w.ISA, w.D = jit.AVX2, array.Float32
	if k.wide {
		w.ISA = jit.AVX512
	}
	if k.size == 8 {
		w.D = array.Float64
	}
	if w.short {
		w.shorts()
	} else {
		w.sums()
	}
	return w.Install(k)
}

type writer struct {
	codegen.Gen
	key
	before, group, above, sum0, sum1, t, none, last, turned asm.Reg
	steps                                                   []spread
	vectors                                                 []asm.Reg
	place                                                   []int32 // of each in the block
	add                                                     asm.Op
}

// A spread is one step of the scan inside a vector: each upper half of half elements adds the last
// element of the lower half.
type spread struct {
	half int
	from asm.Reg // for each word of 4 bytes, which one it takes
	mask asm.Reg // AVX-512: the lanes of upper halves
}

// words returns half in words of 4 bytes. Permutations and blends work on words for all types.
func (w *writer) words(half int) int { return half * w.size / 4 }

// order returns the permutation in which each word of an upper half takes the last element of the
// lower half.
func (w *writer) order(half int) asm.Mem {
	b := make([]byte, w.VB())
	per := w.words(1)
	for i := range len(b) / 4 {
		lane := i / per
		binary.LittleEndian.PutUint32(b[4*i:], uint32((lane&^(2*half-1)+half-1)*per+i%per))
	}
	return w.ConstBytes(b)
}

// upper returns a mask with a bit set for each of n lanes that is in an upper half.
func upper(half, n int) (bits int64) {
	for i := range n {
		if i&half != 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// backward returns the permutation that reverses the elements of a vector.
func (w *writer) backward() asm.Mem {
	b := make([]byte, w.VB())
	per := w.words(1)
	for i := range len(b) / 4 {
		binary.LittleEndian.PutUint32(b[4*i:], uint32((w.Lanes()-1-i/per)*per+i%per))
	}
	return w.ConstBytes(b)
}

// registers of kernels of rows.
const (
	rowX, rowY, rowGroups, rowBlocks = asm.RSI, asm.RDX, asm.RCX, asm.R8
	rowLeft, rowScratch              = asm.R9, asm.R10
)

// prepare sets the constant registers: minus zero, the neutral element, and permutations.
func (w *writer) prepare() {
	a, lanes := &w.Asm, w.Lanes()
	// The carries into a block, its group and the group above; the totals of earlier blocks and
	// groups.
	w.before, w.group, w.above, w.sum0, w.sum1 = w.V(0), w.V(1), w.V(2), w.V(3), w.V(4)
	w.t, w.none, w.last, w.turned = w.V(5), w.V(6), w.V(7), w.V(8)
	w.add = w.Pick(asm.VADDPS, asm.VADDPD)
	if w.D == array.Float32 {
		w.Broadcast(w.none, a.Const32(1<<31))
	} else {
		w.Broadcast(w.none, a.Const64(1<<63))
	}
	w.Load(w.last, w.order(lanes)) // of a half that is all of the vector: its last lane
	if w.reverse {
		w.Load(w.turned, w.backward())
	}
	for half := 1; half < lanes; half *= 2 {
		s := spread{half, w.V(11 + len(w.steps)), asm.K(1 + len(w.steps))}
		w.Load(s.from, w.order(half))
		if w.wide {
			a.MovImm(asm.RAX, upper(half, lanes))
			a.RR(asm.KMOVW, s.mask, asm.RAX)
		}
		w.steps = append(w.steps, s)
	}
	for i := range numbers.ScanBlockBytes / w.VB() {
		place := int32(i * w.VB())
		if w.reverse {
			place = numbers.ScanBlockBytes - place - int32(w.VB())
		}
		w.vectors, w.place = append(w.vectors, w.V(9+i)), append(w.place, place)
	}
}

// block writes the cumulative sums of the block at rowX, plus the carry in before, to rowY. It
// leaves the block's total in t. masked writes only the elements of a mask.
func (w *writer) block(masked bool) {
	a, add := &w.Asm, w.add
	for i, v := range w.vectors {
		m := asm.Ptr(rowX, w.place[i])
		switch {
		case masked:
			w.LoadMasked(v, m, asm.K(5), w.V(14+i))
			if w.reverse {
				a.RRR(asm.VPERMPS, v, w.turned, v)
			}
		case w.reverse:
			a.RRM(asm.VPERMPS, v, w.turned, m)
		default:
			w.Load(v, m)
		}
	}
	for _, s := range w.steps {
		for _, v := range w.vectors {
			a.RRR(asm.VPERMPS, w.t, s.from, v)
			if w.wide {
				a.Mask(s.mask).RRR(add, v, w.t, v)
				continue
			}
			a.RRRI(asm.VBLENDPS, w.t, w.none, w.t, upper(w.words(s.half), 8))
			a.RRR(add, v, w.t, v)
		}
	}
	if len(w.vectors) == 2 {
		a.RRR(asm.VPERMPS, w.t, w.last, w.vectors[0])
		a.RRR(add, w.vectors[1], w.t, w.vectors[1])
	}
	store := asm.VMOVUPS
	if w.nonTemporal {
		store = asm.VMOVNTPS
	}
	for i, v := range w.vectors {
		a.RRR(add, w.t, w.before, v)
		if w.reverse {
			a.RRR(asm.VPERMPS, w.t, w.turned, w.t)
		}
		if m := asm.Ptr(rowY, w.place[i]); masked {
			w.StoreMasked(m, w.t, asm.K(5), w.V(14+i))
		} else {
			a.MR(store, m, w.t)
		}
	}
	a.RRR(asm.VPERMPS, w.t, w.last, w.vectors[len(w.vectors)-1])
}

// advance moves to the next block.
func (w *writer) advance() {
	move := int64(numbers.ScanBlockBytes)
	if w.reverse {
		move = -move
	}
	w.RI(asm.ADD, rowX, move)
	w.RI(asm.ADD, rowY, move)
}

// sums writes the kernel of groups of one row.
func (w *writer) sums() {
	a, f := &w.Asm, rowFrame{}
	a.RM(asm.MOV, rowX, codegen.Field(unsafe.Offsetof(f.x)))
	a.RM(asm.MOV, rowY, codegen.Field(unsafe.Offsetof(f.y)))
	a.RM(asm.MOV, rowGroups, codegen.Field(unsafe.Offsetof(f.groups)))
	a.RM(asm.MOV, rowBlocks, codegen.Field(unsafe.Offsetof(f.blocks)))
	w.prepare()
	a.RM(asm.MOV, rowScratch, codegen.Field(unsafe.Offsetof(f.before)))
	w.Broadcast(w.above, asm.Ptr(rowScratch, 0))
	a.RM(asm.MOV, rowScratch, codegen.Field(unsafe.Offsetof(f.sum1)))
	w.Broadcast(w.sum1, asm.Ptr(rowScratch, 0))
	nextGroup := a.Here()
	a.RRR(w.add, w.group, w.above, w.sum1)
	a.RR(asm.VMOVAPS, w.sum0, w.none)
	a.RR(asm.MOV, rowLeft, rowBlocks)
	a.Align(16)
	next := a.Here()
	a.RRR(w.add, w.before, w.group, w.sum0)
	w.block(false)
	a.RRR(w.add, w.sum0, w.sum0, w.t)
	w.advance()
	a.RI(asm.SUB, rowLeft, 1)
	a.Jcc(asm.CondNE, next)
	a.RRR(w.add, w.sum1, w.sum1, w.sum0)
	a.RI(asm.SUB, rowGroups, 1)
	a.Jcc(asm.CondNE, nextGroup)
	store := w.Pick(asm.VMOVSS, asm.VMOVSD)
	a.RM(asm.MOV, rowScratch, codegen.Field(unsafe.Offsetof(f.sum1)))
	a.MR(store, asm.Ptr(rowScratch, 0), asm.X(4))
	a.RM(asm.MOV, rowScratch, codegen.Field(unsafe.Offsetof(f.sum0)))
	a.MR(store, asm.Ptr(rowScratch, 0), asm.X(3))
	if w.nonTemporal {
		a.Op0(asm.SFENCE)
	}
	w.Done()
}

// shorts writes the kernel of rows that hold at most one group.
func (w *writer) shorts() {
	a, f := &w.Asm, shortFrame{}
	a.RM(asm.MOV, rowX, codegen.Field(unsafe.Offsetof(f.x)))
	a.RM(asm.MOV, rowY, codegen.Field(unsafe.Offsetof(f.y)))
	a.RM(asm.ADD, rowX, codegen.Field(unsafe.Offsetof(f.first)))
	a.RM(asm.ADD, rowY, codegen.Field(unsafe.Offsetof(f.first)))
	a.RM(asm.MOV, rowGroups, codegen.Field(unsafe.Offsetof(f.rows)))
	a.RM(asm.MOV, rowBlocks, codegen.Field(unsafe.Offsetof(f.blocks)))
	w.prepare()
	a.RM(asm.MOV, rowScratch, codegen.Field(unsafe.Offsetof(f.bits)))
	if w.wide {
		a.RR(asm.KMOVW, asm.K(5), rowScratch)
	} else {
		for i, at := range w.place {
			w.Load(w.V(14+i), codegen.Field(unsafe.Offsetof(f.mask)+uintptr(at)))
		}
	}
	nextRow, next, rest, done := a.Here(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.RR(asm.VMOVAPS, w.before, w.none)
	a.RR(asm.MOV, rowLeft, rowBlocks)
	a.RR(asm.TEST, rowLeft, rowLeft)
	a.Jcc(asm.CondE, rest)
	a.Bind(next)
	w.block(false)
	a.RRR(w.add, w.before, w.before, w.t)
	w.advance()
	a.RI(asm.SUB, rowLeft, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(rest)
	a.RR(asm.TEST, rowScratch, rowScratch)
	a.Jcc(asm.CondE, done)
	w.block(true)
	a.Bind(done)
	a.RM(asm.ADD, rowX, codegen.Field(unsafe.Offsetof(f.next)))
	a.RM(asm.ADD, rowY, codegen.Field(unsafe.Offsetof(f.next)))
	a.RI(asm.SUB, rowGroups, 1)
	a.Jcc(asm.CondNE, nextRow)
	w.Done()
}
