package cpu

import (
	"cmp"

	"weft/internal/device"
	"weft/internal/processor"
)

// model is the cost model by which plans for this processor are made. Its numbers were measured
// on Zen 4, Zen 5 and Sapphire Rapids, most of them before November 2026. docs/performance.md
// has what was learned.
var model = device.Model{
	Costs: costsOf(&processor.Host),
	Caps:  device.Caps{Epilogue: true},
}

func costsOf(p *processor.Processor) device.Costs {
	return device.Costs{
		Line: processor.Line,
		Band: band(p.L2),
		Rows: cmp.Or(p.L1, 32<<10) * 3 / 4,
		Far:  4 << 20,

		Transpose:          4 << 10,
		TransposedEpilogue: 2 << 20,
		ReadTogether:       4 << 20,
		Gather:             processor.Line,

		Scores:       1 << 20,
		WakeMulAdds:  processor.MulAdds(processor.WakeSpinning),
		PartRows:     16,
		PartElements: 1 << 16,

		ShortRow:      256,
		ShortElements: 1 << 15,
		ShortWork:     1 << 20,

		Recompute:          6,
		RecomputeOps:       4,
		RecomputeBroadcast: 16,
		Store:              64,
	}
}

// band returns the size of a band for several steps of a stencil: half of the L2 cache, or part
// of the last-level cache where the L2 cache is too small. Tiles of several steps overlap, and
// small tiles overlap more.
func band(l2 int) int {
	if half := l2 / 2; half >= 1<<20 {
		return half
	}
	return 4 << 20
}
