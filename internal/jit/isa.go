package jit

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"weft/internal/processor"
)

// An ISA is what kernels and routines are made of: an instruction set, or Go.
type ISA uint8

const (
	Portable ISA = iota // no machine code: Go and the interpreter
	AVX2                // AVX2, FMA, BMI2 and F16C: 16 registers of 32 bytes
	AVX512              // AVX-512 F, BW, DQ, VL and CD: 32 registers of 64 bytes, opmasks
)

// String returns the name that WEFT_JIT has for it.
func (i ISA) String() string { return [...]string{"off", "avx2", "avx512"}[i] }

// VectorBytes returns the size of a vector register; portable code that works in
// vectors takes the smaller size.
func (i ISA) VectorBytes() int {
	if i == AVX512 {
		return 64
	}
	return 32
}

// ISAs lists what can run here, [Portable] first, the widest last.
func ISAs() []ISA { return append([]ISA(nil), runnable()...) }

var runnable = sync.OnceValue(func() []ISA {
	out := []ISA{Portable}
	if !Available() {
		return out
	}
	if processor.Host.AVX2 {
		out = append(out, AVX2)
	}
	if processor.Host.AVX512 {
		out = append(out, AVX512)
	}
	return out
})

// A Choice is the instruction set of the process's own CPU device.
type Choice struct {
	ISA  ISA
	Wish string // what the environment variable WEFT_JIT says
	Note string // why the wish could not be met, or that no machine code runs
}

// Chosen returns what the environment variable WEFT_JIT asks for (off, avx2 or
// avx512) or, if it is not set, the widest that the processor has. The variable is
// read once.
var Chosen = sync.OnceValue(func() Choice { return choose(os.Getenv("WEFT_JIT"), runnable()) })

func choose(wish string, have []ISA) Choice {
	c := Choice{ISA: have[len(have)-1], Wish: wish}
	if wish == "" {
		if c.ISA == Portable && runtime.GOARCH == "amd64" {
			c.Note = "weft: no machine code on this system, the interpreter runs: " + reason()
		}
		return c
	}
	for _, i := range []ISA{Portable, AVX2, AVX512} {
		if i.String() != strings.ToLower(wish) {
			continue
		}
		if i > c.ISA {
			c.Note = fmt.Sprintf("weft: WEFT_JIT=%s is not available here, %s runs", i, c.ISA)
			return c
		}
		c.ISA = i
		return c
	}
	c.Note = fmt.Sprintf("weft: WEFT_JIT=%s is none of off, avx2, avx512", wish)
	return c
}

func reason() string {
	if err := Reason(); err != nil {
		return err.Error()
	}
	return "the processor lacks AVX2, FMA, BMI2 or F16C"
}
