package limits

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/x86/asm"
)

// streamStep is the bytes that a round of Stream takes from each buffer.
const streamStep = 256

// streamShare is the bytes of each buffer that one entry covers, some 50 µs.
const streamShare = 256 << 10

type streamFrame struct {
	dst, a, b unsafe.Pointer
	n         int // bytes, a multiple of streamStep
}

// Stream reads the buffers src, one or two, and writes dst past the caches, all of
// the same length and dst aligned to 32 bytes: what any kernel with these buffers has to
// do at least. dst becomes the exclusive or of src, so that nothing can be left
// out. Bytes behind the last multiple of 256 are not touched. It reports false,
// having done nothing, where no machine code runs.
func Stream(dst []byte, threads int, src ...[]byte) bool {
	if jit.Chosen().ISA == jit.Portable {
		return false
	}
	c := streamCode(len(src))
	n := len(dst)
	for _, s := range src {
		n = min(n, len(s))
	}
	par.Run(n/streamStep, streamShare/streamStep, threads, func(_, begin, end int) {
		at := begin * streamStep
		f := streamFrame{dst: unsafe.Pointer(&dst[at]), a: unsafe.Pointer(&src[0][at]), n: (end - begin) * streamStep}
		if len(src) > 1 {
			f.b = unsafe.Pointer(&src[1][at])
		}
		jit.Call(c, 0, unsafe.Pointer(&f))
	})
	return true
}

// streamCode uses vectors of 256 bits, which memory takes best.
func streamCode(sources int) *jit.Code {
	type key struct{ sources int }
	return code(key{sources}, func(a *asm.Asm) {
		field := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, asm.Ptr(asm.RDI, int32(offset))) }
		field(asm.RDX, unsafe.Offsetof(streamFrame{}.dst))
		field(asm.RSI, unsafe.Offsetof(streamFrame{}.a))
		field(asm.R8, unsafe.Offsetof(streamFrame{}.b))
		field(asm.RCX, unsafe.Offsetof(streamFrame{}.n))
		a.Align(16)
		loop := a.Here()
		for at := int32(0); at < streamStep; at += 32 {
			y := asm.Y(int(at / 32))
			a.RM(asm.VMOVUPS, y, asm.Ptr(asm.RSI, at))
			if sources > 1 {
				a.RRM(asm.VXORPS, y, y, asm.Ptr(asm.R8, at))
			}
			a.MR(asm.VMOVNTPS, asm.Ptr(asm.RDX, at), y)
		}
		for _, r := range []asm.Reg{asm.RDX, asm.RSI, asm.R8} {
			a.RI(asm.ADD, r, streamStep)
		}
		a.RI(asm.SUB, asm.RCX, streamStep)
		a.Jcc(asm.CondNE, loop)
		a.Op0(asm.SFENCE)
		a.Op0(asm.VZEROUPPER)
		a.Op0(asm.RET)
	})
}
