package plan

import "weft/internal/ir"

// BuildCounted is [Build], and how many nodes and users were looked at to find out
// what becomes one kernel.
func BuildCounted(outs []*ir.Node, ins []Sig) (*Plan, int) {
	b := build(outs, ins, nil, nil)
	return b.p, b.visits
}

// Check demands that the steps of a plan can run one after the other.
func Check(p *Plan) error { return check(p) }
