// Package limits measures what the processor can do at most, as a yardstick for
// kernels: fused multiply-adds in registers, and streams from memory.
package limits

import (
	"math"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
	"weft/internal/x86/asm"
)

// A frame holds the arguments of both kernels.
type frame struct {
	p unsafe.Pointer
	n int // FMA: rounds; reading: bytes, a multiple of readStep
}

const (
	fmaRound = 24      // independent multiply-adds in a round
	readStep = 8 * 64  // bytes that a round reads
	entry    = 1 << 20 // bytes read by one entry: some 50 µs
)

// FMA returns the rate of fused multiply-adds on registers in GFLOP/s, two
// operations each, with the widest vectors in use (see jit.Chosen) on the given
// number of threads. It returns the best of several tries. d is Float32 or Float64. The result is 0 where no machine code runs.
func FMA(d array.DType, threads int) float64 {
	isa := jit.Chosen().ISA
	if isa == jit.Portable {
		return 0
	}
	c := fmaCode(isa, d)
	const rounds, calls = 4000, 10 // some 12 µs a call
	threads = max(threads, 1)
	best := measure(threads, func(int) {
		f := frame{n: rounds}
		for range calls {
			jit.Call(c, 0, unsafe.Pointer(&f))
		}
	})
	lanes := isa.VectorBytes() / d.Size()
	return 2 * float64(threads) * rounds * calls * fmaRound * float64(lanes) / best
}

// Bandwidth returns the rate in GB/s at which a buffer of the given size is read from
// front to back, again and again, the threads reading parts of their own. Small
// sizes measure the caches. The result is 0 where no machine code runs; the error is
// that of allocating.
func Bandwidth(bytes, threads int) (float64, error) {
	isa := jit.Chosen().ISA
	if isa == jit.Portable {
		return 0, nil
	}
	threads = max(threads, 1)
	share := max(bytes/threads/readStep, 1) * readStep
	b, err := mem.Alloc(share * threads)
	if err != nil {
		return 0, err
	}
	defer mem.Free(b)
	// Memory that was never written may be one page of zeros mapped many times.
	for i := 0; i < b.Len(); i += 4096 {
		b.Bytes()[i] = 1
	}
	c := readCode(isa)
	repeat := max(1, (4<<20)/share)
	best := measure(threads, func(i int) {
		for range repeat {
			for at := 0; at < share; at += entry {
				f := frame{unsafe.Add(b.Ptr(), i*share+at), min(entry, share-at)}
				jit.Call(c, 0, unsafe.Pointer(&f))
			}
		}
	})
	return float64(threads) * float64(share*repeat) / best, nil
}

// settled is how long nothing faster must have come for a measurement to end, and
// patience how long it takes at most: that all threads have a processor of their own for
// the whole of a try is rare on a busy machine.
const settled, patience = 50 * time.Millisecond, time.Second

// measure returns the shortest time in ns that the threads took for f, once each.
func measure(threads int, f func(i int)) float64 {
	best := math.Inf(1)
	start := time.Now()
	for last := start; time.Since(last) < settled && time.Since(start) < patience; {
		t := time.Now()
		if threads <= 1 {
			f(0)
		} else {
			par.Run(threads, 1, threads, func(_, begin, end int) {
				for i := begin; i < end; i++ {
					f(i)
				}
			})
		}
		if took := float64(time.Since(t)); took < best {
			if took < 0.99*best {
				last = time.Now()
			}
			best = took
		}
	}
	return best
}

func vector(isa jit.ISA, i int) asm.Reg {
	if isa == jit.AVX512 {
		return asm.Z(i)
	}
	return asm.Y(i)
}

type fmaKey struct {
	isa jit.ISA
	d   array.DType
}

var codes = jit.NewCache[any, *jit.Code](16)

// code returns the code for key, which build emits.
func code(key any, build func(a *asm.Asm)) *jit.Code {
	c, err := codes.Get(key, func() (*jit.Code, error) {
		var a asm.Asm
		build(&a)
		text, err := a.Finish()
		if err != nil {
			return nil, err
		}
		return jit.Map(text)
	})
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "limits", Msg: "no executable memory", Err: err})
	}
	return c
}

func fmaCode(isa jit.ISA, d array.DType) *jit.Code {
	return code(fmaKey{isa, d}, func(a *asm.Asm) {
		op := asm.VFMADD231PS
		if d == array.Float64 {
			op = asm.VFMADD231PD
		}
		// With 16 registers twelve sums are enough: four cycles of two.
		sums := 24
		if isa == jit.AVX2 {
			sums = 12
		}
		for i := range sums + 2 {
			r := vector(isa, i)
			a.RRR(asm.VXORPS, r, r, r)
		}
		a.RM(asm.MOV, asm.RCX, asm.Ptr(asm.RDI, int32(unsafe.Offsetof(frame{}.n))))
		a.Align(16)
		loop := a.Here()
		for i := range fmaRound {
			a.RRR(op, vector(isa, i%sums), vector(isa, sums), vector(isa, sums+1))
		}
		a.RI(asm.SUB, asm.RCX, 1)
		a.Jcc(asm.CondNE, loop)
		a.Op0(asm.VZEROUPPER)
		a.Op0(asm.RET)
	})
}

func readCode(isa jit.ISA) *jit.Code {
	return code(isa, func(a *asm.Asm) {
		a.RM(asm.MOV, asm.RSI, asm.Ptr(asm.RDI, int32(unsafe.Offsetof(frame{}.p))))
		a.RM(asm.MOV, asm.RCX, asm.Ptr(asm.RDI, int32(unsafe.Offsetof(frame{}.n))))
		a.Align(16)
		loop := a.Here()
		step := isa.VectorBytes()
		for at := 0; at < readStep; at += step {
			a.RM(asm.VMOVUPS, vector(isa, at/step%8), asm.Ptr(asm.RSI, int32(at)))
		}
		a.RI(asm.ADD, asm.RSI, readStep)
		a.RI(asm.SUB, asm.RCX, readStep)
		a.Jcc(asm.CondNE, loop)
		a.Op0(asm.VZEROUPPER)
		a.Op0(asm.RET)
	})
}
