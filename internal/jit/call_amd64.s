#include "textflag.h"
#include "funcdata.h"


// func call(entry uintptr, frame unsafe.Pointer) (status uint64)
//
// Not NOSPLIT, and with a frame too large for the assembler to make it so by
// itself: the stack check in the prologue is the preemption point of a loop that
// does nothing but enter machine code. The stack space itself is not used.
TEXT ·call(SB), 0, $256-24
	NO_LOCAL_POINTERS
	MOVQ entry+0(FP), AX
	MOVQ frame+8(FP), DI
	CALL AX
	MOVQ AX, status+16(FP)
	RET
