// Package processor says what the processor is that this process runs on: its cache lines, its
// caches, its vector features, when stores bypass the caches, and when work pays for waking
// threads. It is the one place that holds such facts. Sizes are in bytes, times in nanoseconds.
//
// None of them has an influence on a bit of a result: what defines bits is in package numbers.
package processor

import "golang.org/x/sys/cpu"

// Line is the size of a cache line. It is a constant, since generated code has it.
const Line = 64

// Work is shared among threads from [WakeSpinning] on if a worker is spinning, or if such
// questions follow one another closely; otherwise from [WakeSleeping] on, since a sleeping
// worker takes 20 to 140 µs to wake. par.Pays compares with both.
const (
	WakeSpinning = 50_000
	WakeSleeping = 200_000
)

// MulAddsPerMS is the number of multiply-adds of a product that count as a millisecond of work.
// Products on vectors reach two to five times that, but their threads share packed operands
// that stay in the caches, and pay earlier than threads of kernels do.
const MulAddsPerMS = 20 << 20

// MulAdds returns the number of multiply-adds of a product that count as ns nanoseconds.
func MulAdds(ns int) int { return ns * MulAddsPerMS / 1_000_000 }

// A Processor is what the operating system and the processor say once, and what follows from it.
type Processor struct {
	// L1, L2 and L3 are the sizes of the caches that hold a core's data: L1 and L2 are a core's
	// own, L3 is shared. 0 if the processor does not say.
	L1, L2, L3 int

	// FarLastLevel holds where the last-level cache is far from the cores, so that requests
	// ahead of loads gain time even for what lies in it. See [farLastLevel].
	FarLastLevel bool

	// NonTemporalFrom is the size of all arrays of a pass from which its stores bypass the caches.
	// The last-level cache then keeps nothing that is worth reading the lines that are replaced,
	// not even for the next reader.
	NonTemporalFrom int

	// AVX2 and AVX512 hold if the instruction sets of these names that weft compiles to are
	// there, and the system saves their registers: AVX2 with FMA, BMI2 and F16C; AVX-512 F, BW,
	// DQ, VL and CD.
	AVX2, AVX512 bool
}

// Host is the processor of this process. Nothing writes to it.
var Host = read()

func read() Processor {
	p := withCaches(dataCache(1), dataCache(2), dataCache(3))
	x := &cpu.X86 // which says no where the system does not save the registers
	p.AVX2 = x.HasAVX2 && x.HasFMA && x.HasBMI2 && x.HasF16C
	p.AVX512 = p.AVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512CD
	return p
}

// withCaches returns a processor with caches of these sizes.
func withCaches(l1, l2, l3 int) Processor {
	p := Processor{L1: l1, L2: l2, L3: l3, FarLastLevel: farLastLevel(l2), NonTemporalFrom: 32 << 20}
	if p.FarLastLevel {
		// The next reader loses less by finding the result in memory.
		p.NonTemporalFrom = 24 << 20
	}
	return p
}

// farLastLevel reports a far last-level cache. Processors that give a core 2 MiB of the second
// cache do so because the last level is a mesh over all cores: Intel's since Sapphire Rapids.
// Where it is near, requests ahead only take time: a 1000x1000 matrix times a column takes 60 µs
// with them and 48 without (Zen 5, November 2026).
func farLastLevel(l2 int) bool { return l2 >= 2<<20 }

// Features lists the vector features that weft looks at and the processor has, in lower case.
func Features() []string {
	x, a := &cpu.X86, &cpu.ARM64
	out := []string{}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.2", x.HasSSE42}, {"avx", x.HasAVX}, {"avx2", x.HasAVX2}, {"fma", x.HasFMA}, {"f16c", x.HasF16C}, {"bmi2", x.HasBMI2},
		{"avx512f", x.HasAVX512F}, {"avx512bw", x.HasAVX512BW}, {"avx512dq", x.HasAVX512DQ}, {"avx512vl", x.HasAVX512VL}, {"avx512cd", x.HasAVX512CD},
		{"avx512vnni", x.HasAVX512VNNI}, {"avx512bf16", x.HasAVX512BF16},
		{"asimd", a.HasASIMD}, {"sve", a.HasSVE}, {"sve2", a.HasSVE2},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}
