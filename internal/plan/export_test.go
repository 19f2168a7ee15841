package plan

import (
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
)

// OnCPU is the model of the CPU.
var OnCPU = cpu.New(jit.Portable).Model()

// BuildCounted is [Build], and how many nodes and users were looked at to find out
// what becomes one kernel.
func BuildCounted(outs []*ir.Node, ins []Sig, on *device.Model) (*Plan, int) {
	b := build(outs, ins, nil, nil, on)
	return b.p, b.statVisits
}

// Check demands that the steps of a plan can run one after the other.
func Check(p *Plan) error { return check(p) }
