package pooling

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

type streamFrame struct {
	src, dst, prefetch unsafe.Pointer
	lines              int
}

// stream copies n bytes, with non-temporal stores for whole lines of dst. Meanwhile it prefetches
// n bytes at prefetch. It requires AVX-512, and that src and dst have the same offset in a line.
func stream(dst, src, prefetch unsafe.Pointer, n int) {
	head := min(int(-uintptr(dst)%processor.Line), n)
	lines := (n - head) / processor.Line
	copy(unsafe.Slice((*byte)(dst), head), unsafe.Slice((*byte)(src), head))
	dst, src = unsafe.Add(dst, head), unsafe.Add(src, head)
	if lines > 0 {
		f := streamFrame{src, dst, prefetch, lines}
		jit.Call(codegen.Kernel(codes, key{routine: streamRoutine, wide: true}), 0, unsafe.Pointer(&f))
	}
	if rest := n - head - lines*processor.Line; rest > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, lines*processor.Line)), rest), unsafe.Slice((*byte)(unsafe.Add(src, lines*processor.Line)), rest))
	}
}

// stream writes the kernel.
func (g *writer) stream() {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(streamFrame{}.src)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(streamFrame{}.dst)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(streamFrame{}.lines)))
	a.RM(asm.MOV, asm.RBX, codegen.Field(unsafe.Offsetof(streamFrame{}.prefetch)))
	next := a.Here()
	a.M(asm.PREFETCHT1, asm.Ptr(asm.RBX, 0))
	a.RM(asm.VMOVUPS, asm.Z(0), asm.Ptr(asm.RSI, 0))
	a.MR(asm.VMOVNTPS, asm.Ptr(asm.RDX, 0), asm.Z(0))
	a.RI(asm.ADD, asm.RBX, processor.Line)
	a.RI(asm.ADD, asm.RSI, processor.Line)
	a.RI(asm.ADD, asm.RDX, processor.Line)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, next)
	a.Op0(asm.SFENCE)
	g.Done()
}
