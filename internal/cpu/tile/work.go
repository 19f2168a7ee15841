// Package tile holds what matrix products and convolutions are made of: rectangles of the
// result that are computed in registers, the packing of their operands, and the same in
// portable Go.
package tile

import (
	"weft/internal/par"
	"weft/internal/processor"
)

// TaskWork is what one entry of par's counter is worth, in multiply-adds.
const TaskWork = 256 << 10

// ThreadHot and ThreadCold are the multiply-adds from which threads pay, if workers spin and if
// they sleep. Tests set them to 0.
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

// CallWork is what one entry into machine code computes at most, in fused multiply-adds of
// vectors: some 100 µs, so that a collection need not wait longer.
const CallWork = 200 << 10

func Ceil(a, b int) int { return (a + b - 1) / b }

// Conflict reports a step in bytes at which lines fall into few sets of the first
// cache: a multiple of 1 KB or nearly so.
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
