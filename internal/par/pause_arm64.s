#include "textflag.h"
#include "funcdata.h"

// func pause(n uint32)
//
// Not NOSPLIT, with a frame too large to become so: a spinning goroutine spends
// nearly all its time here, where no asynchronous preemption is possible, so the
// stack check is what lets a stop-the-world through.
TEXT ·pause(SB), 0, $256-4
	NO_LOCAL_POINTERS
	MOVWU n+0(FP), R0
again:
	YIELD
	SUBS $1, R0
	BNE  again
	RET
