// Package tile computes tiles of matrix products and convolutions: rectangles of the result
// that are accumulated in registers. It also packs the operands, and has the same algorithms,
// with the same bits, in portable Go.
package tile

import (
	"weft/internal/par"
	"weft/internal/processor"
)

// TaskWork is the least work, in multiply-adds, for which a thread fetches tasks once from par.
const TaskWork = 256 << 10

// ThreadHot and ThreadCold are the multiply-adds from which threads pay: ThreadHot if workers
// spin, ThreadCold if they sleep. Tests set them to 0.
var ThreadHot, ThreadCold = processor.MulAdds(processor.WakeSpinning), processor.MulAdds(processor.WakeSleeping)

// ThreadsFor returns the threads to use for work multiply-adds, at most limit.
func ThreadsFor(work, limit int) int {
	if limit == 1 || work < ThreadHot || work < ThreadCold && !par.Hot() {
		return 1
	}
	if limit <= 0 {
		return par.Threads()
	}
	return limit
}

// CallWork is the most work of one call of machine code, in fused multiply-adds of vectors:
// some 100 µs. The garbage collector cannot stop machine code, so it waits at most as long.
const CallWork = 200 << 10

func Ceil(a, b int) int { return (a + b - 1) / b }

// Conflict reports whether lines that are step bytes apart fall into few sets of the L1 cache:
// step is a multiple of 1 KB or nearly so.
func Conflict(step int) bool {
	const near = 1 << 10
	r := (step%near + near) % near
	return r < processor.Line || r > near-processor.Line
}

func Bit(b bool, n int) int {
	if b {
		return 1 << n
	}
	return 0
}
