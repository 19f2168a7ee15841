package saved

import (
	"fmt"
	"slices"

	"weft/internal/array"
)

// Sizes that are values, such as the length of x[:k] for an input k. A call computes them before the rest,
// each by a graph of its own. They are lengths behind the free ones, by which numbers of the graph are found.

// A Sized is how a call computes a size.
type Sized struct {
	Sources []int  `json:"sources"` // as in [Program]
	Graph   *graph `json:"graph"`   // of one result, an int64 without dimensions
}

// free is the number of lengths that inputs have.
func (p *Program) free() int { return len(p.Lengths) - len(p.Sizes) }

// AddSize adds a size that q, a program of the same inputs, computes of the lengths that p has so far. It
// panics with *array.Error if q does more than to compute.
func (p *Program) AddSize(q *Program) {
	if len(q.Writes) > 0 || len(q.Numbers) > 0 || len(q.Outputs) != 1 || q.Outputs[0].Result < 0 {
		array.Failf("save", "", "a size depends on draws, or on what the function writes")
	}
	s := Sized{Graph: q.Graph, Sources: slices.Clone(q.Sources)}
	for i, at := range s.Sources {
		if at < 0 {
			s.Sources[i] = ^p.stateOf(&q.State[^at])
		}
	}
	p.Sizes = append(p.Sizes, s)
}

// stateOf returns the number of the state with the memory of s, which is added if it is not there.
func (p *Program) stateOf(s *State) int {
	for i := range p.State {
		if v := &p.State[i].View; v.Store == s.View.Store && v.Same(&s.View) {
			return i
		}
	}
	x := *s
	for slices.ContainsFunc(p.State, func(o State) bool { return o.Name == x.Name }) {
		x.Name = fmt.Sprintf("constant %d of sizes", len(p.State))
	}
	p.State = append(p.State, x)
	return len(p.State) - 1
}

// Size returns the program that computes size number i. Its lengths are those before that size.
func (p *Program) Size(i int) *Program {
	n := p.free() + i
	q := &Program{Ops: p.Ops, Name: p.Name, Level: p.Level, Lengths: p.Lengths[:n], Sizes: p.Sizes[:i], Inputs: p.Inputs, State: p.State,
		Sources: p.Sizes[i].Sources, Graph: p.Sizes[i].Graph, Outputs: []Output{{Value: Value{Name: "size"}}}}
	if len(p.Example) >= n {
		q.Example = p.Example[:n]
	}
	return q
}

// ReadsState reports whether sizes depend on what the program keeps.
func (p *Program) ReadsState() bool {
	return slices.ContainsFunc(p.Sizes, func(s Sized) bool { return slices.ContainsFunc(s.Sources, func(at int) bool { return at < 0 }) })
}

// checkSizes checks the graphs of sizes.
func (p *Program) checkSizes() {
	for i := range p.Sizes {
		if p.Sizes[i].Graph == nil {
			malformed("size %d has no graph", i)
		}
		q := p.Size(i)
		q.checkSources()
		outs, _ := q.plain(q.Example)
		if len(outs) != 1 || outs[0].DType != array.Int64 || len(outs[0].Shape) != 0 {
			malformed("size %d is not an integer", i)
		}
	}
}
