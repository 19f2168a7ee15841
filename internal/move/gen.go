package move

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/x86/asm"
)

// A routine says which generator makes a piece of code.
type routine uint8

const (
	transposeRoutine routine = iota
	scanRoutine
	rowRoutine
	fetchRoutine
	rowsRoutine
	sumRoutine
	poolRoutine
	placeRoutine
	streamRoutine
	packRoutine
	countRoutine
)

// A codeKey names one piece of machine code: all that its generator reads.
type codeKey struct {
	routine routine
	wide    bool // AVX-512
	dtype   array.DType
	size    int // bytes of an element
	mode    mode

	// Of a search for extremes.
	greatest bool
	vectors  int

	kh, kw int // the size of a window
	stepW  int // from window to window

	apart bool // of elements under a mask: from side by side
}

// A mode says how the transposing kernel writes.
type mode uint8

const (
	direct mode = iota // parts of tiles
	whole              // tiles, in full lines
	past               // the same, past the caches
)

// A gen writes one routine.
type gen struct {
	asm.Asm
	codeKey
}

var codes = jit.NewCache[codeKey, *jit.Code](0)

// code returns the machine code that a key names. It panics with an *array.Error
// if there is no memory to map it to; that code may be run here at all was found
// out when the instruction set was chosen.
func (k codeKey) code() *jit.Code {
	c, ok := codes.Lookup(k)
	if ok {
		return c
	}
	c, err := codes.Get(k, func() (*jit.Code, error) {
		g := &gen{codeKey: k}
		switch k.routine {
		case transposeRoutine:
			g.transpose()
		case scanRoutine:
			g.scan(k.vectors)
		case rowRoutine:
			g.row()
		case fetchRoutine:
			g.fetch()
		case rowsRoutine:
			g.rows()
		case sumRoutine:
			g.sum()
		case poolRoutine:
			g.pool()
		case placeRoutine:
			g.place()
		case streamRoutine:
			g.stream()
		case packRoutine:
			g.pack()
		case countRoutine:
			g.count()
		}
		text, err := g.Finish()
		if err != nil {
			panic("move: generated code: " + err.Error())
		}
		return jit.Map(text)
	})
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "move", Msg: "no executable memory", Err: err})
	}
	return c
}

// field returns the operand of a frame's field at the given offset.
func field(offset uintptr) asm.Mem { return asm.Ptr(asm.RDI, int32(offset)) }

// done returns status 0.
func (g *gen) done() {
	g.RR(asm.XOR32, asm.RAX, asm.RAX)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}

// call enters the code with a frame.
func call(c *jit.Code, frame unsafe.Pointer) { jit.Call(c, 0, frame) }

// threads returns what [par.Run] wants to hear for work of so many nanoseconds:
// all threads if that pays for waking them, else one.
func threads(ns int) int {
	if ns < 50_000 || ns < 200_000 && !par.Hot() {
		return 1
	}
	return 0
}
