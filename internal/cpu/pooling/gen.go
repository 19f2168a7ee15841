package pooling

import (
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A routine names the generator of a piece of code.
type routine uint8

const (
	poolRoutine routine = iota
	placeRoutine
	streamRoutine
	windowsRoutine
	spreadRoutine
	splitRoutine
	meanPairsRoutine
	spreadPairsRoutine
	wholeWindowsRoutine
	wholeSpreadRoutine
)

// A key names one piece of machine code by everything that its generator reads.
type key struct {
	routine routine
	wide    bool // AVX-512
	dtype   array.DType
	kh, kw  int  // the size of a window
	stepW   int  // from window to window
	mean    bool // of means, not maxima
}

var codes = jit.NewCache[key, *jit.Code](0)

func (k key) Generate() *jit.Code {
	g := &writer{key: k}
	switch k.routine {
	case poolRoutine:
		g.pool()
	case placeRoutine:
		g.place()
	case streamRoutine:
		g.stream()
	case windowsRoutine:
		g.windows()
	case spreadRoutine:
		g.spread()
	case splitRoutine:
		g.split()
	case wholeWindowsRoutine:
		g.wholeWindows()
	case wholeSpreadRoutine:
		g.wholeSpread()
	case meanPairsRoutine, spreadPairsRoutine:
		g.pairs()
	}
	return g.Install(k)
}

// A writer writes one routine.
type writer struct {
	codegen.Gen
	key
}

// pick returns the one of two instructions that fits the kernel's elements.
func (g *writer) pick(single, double asm.Op) asm.Op {
	if g.dtype.Size() == 4 {
		return single
	}
	return double
}

// get loads a field of the frame into r.
func (g *writer) get(r asm.Reg, offset uintptr) { g.RM(asm.MOV, r, codegen.Field(offset)) }
