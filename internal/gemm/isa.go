package gemm

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"weft/internal/jit"
)

// An ISA is what kernels are made of.
type ISA int32

const (
	Portable ISA = iota // Go
	AVX2                // AVX2 and FMA
	AVX512              // AVX-512 F, BW, DQ, VL and CD
)

func (i ISA) String() string {
	switch i {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "off"
}

var current atomic.Int32

func init() {
	isa := AVX512
	switch os.Getenv("WEFT_JIT") {
	case "off":
		isa = Portable
	case "avx2":
		isa = AVX2
	}
	SetISA(isa)
}

// SetISA chooses the instruction set of all later calls, or the best one below it
// that this processor has and that may be run here, and returns the choice. The
// choice at start is the best one, or what the environment variable WEFT_JIT says:
// off, avx2 or avx512. It changes no bit of any result.
func SetISA(isa ISA) ISA {
	isa = min(isa, best())
	current.Store(int32(isa))
	return isa
}

// CurrentISA returns the instruction set in use.
func CurrentISA() ISA { return ISA(current.Load()) }

func best() ISA {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !jit.Available() {
		return Portable
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512CD {
		return AVX512
	}
	return AVX2
}
