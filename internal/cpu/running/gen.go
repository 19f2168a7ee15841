package running

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A key names one piece of machine code.
type key struct {
	wide bool // AVX-512: a block is one vector, otherwise two
	past bool // write past the caches
	size int  // bytes of an element
}

var codes = jit.NewCache[key, *jit.Code](0)

// A frame holds the arguments of a kernel.
type frame struct {
	x, y   unsafe.Pointer
	blocks int // not 0
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
	w.sums()
	return w.Install()
}

type writer struct {
	gen.Gen
	key
}

// A spread is a step inside a vector: each upper half of so many elements takes the last
// one of the lower half.
type spread struct {
	half int
	from asm.Reg // for each word of 4 bytes, which one it takes
	mask asm.Reg // AVX-512: the lanes of upper halves
}

// words is half in words of 4 bytes, by which lanes are permuted and chosen for all types.
func (w *writer) words(half int) int { return half * w.size / 4 }

// order has each word of a vector that is in an upper half take the last element of the
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

// upper has a bit for each of n lanes that is in an upper half.
func upper(half, n int) (bits int64) {
	for i := range n {
		if i&half != 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// sums writes the kernel.
func (w *writer) sums() {
	a := &w.Asm
	const x, y, blocks = asm.RSI, asm.RDX, asm.RCX
	a.RM(asm.MOV, x, gen.Field(unsafe.Offsetof(frame{}.x)))
	a.RM(asm.MOV, y, gen.Field(unsafe.Offsetof(frame{}.y)))
	a.RM(asm.MOV, blocks, gen.Field(unsafe.Offsetof(frame{}.blocks)))
	add, lanes := w.Pick(asm.VADDPS, asm.VADDPD), w.Lanes()

	before, none, last, t := w.V(0), w.V(1), w.V(2), w.V(3)
	if w.D == array.Float32 {
		w.Broadcast(none, a.Const32(1<<31))
	} else {
		w.Broadcast(none, a.Const64(1<<63))
	}
	a.RR(asm.VMOVAPS, before, none) // minus zero: added, it changes nothing
	w.Load(last, w.order(lanes))    // of a half that is all of the vector: its last lane
	var steps []spread
	for half := 1; half < lanes; half *= 2 {
		s := spread{half, w.V(8 + len(steps)), asm.K(1 + len(steps))}
		w.Load(s.from, w.order(half))
		if w.wide {
			a.MovImm(asm.RAX, upper(half, lanes))
			a.RR(asm.KMOVW, s.mask, asm.RAX)
		}
		steps = append(steps, s)
	}
	vectors := make([]asm.Reg, BlockBytes/w.VB())
	for i := range vectors {
		vectors[i] = w.V(4 + i)
	}
	store := asm.VMOVUPS
	if w.past {
		store = asm.VMOVNTPS
	}
	a.Align(16)
	next := a.Here()
	for i, v := range vectors {
		w.Load(v, asm.Ptr(x, int32(i*w.VB())))
	}
	for _, s := range steps {
		for _, v := range vectors {
			a.RRR(asm.VPERMPS, t, s.from, v)
			if w.wide {
				a.Mask(s.mask).RRR(add, v, t, v)
				continue
			}
			a.RRRI(asm.VBLENDPS, t, none, t, upper(w.words(s.half), 8))
			a.RRR(add, v, t, v)
		}
	}
	if len(vectors) == 2 {
		a.RRR(asm.VPERMPS, t, last, vectors[0])
		a.RRR(add, vectors[1], t, vectors[1])
	}
	for i, v := range vectors {
		a.RRR(add, t, before, v)
		a.MR(store, asm.Ptr(y, int32(i*w.VB())), t)
	}
	a.RRR(asm.VPERMPS, t, last, vectors[len(vectors)-1])
	a.RRR(add, before, before, t)
	a.RI(asm.ADD, x, BlockBytes)
	a.RI(asm.ADD, y, BlockBytes)
	a.RI(asm.SUB, blocks, 1)
	a.Jcc(asm.CondNE, next)
	if w.past {
		a.Op0(asm.SFENCE)
	}
	w.Done()
}
