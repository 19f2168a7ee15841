package loop

// Uniform reports, by value, which values are uniform: wherever they are computed, all active lanes
// have the same. Lanes are the indices along the axes from first to the lane axis. Branches on
// uniform values need no masks.
//
// A loop-carried value, such as a counter, may be the same in all lanes that are still in the loop,
// while lanes leave at different times, so that the loop's result differs. With leaving, such a
// value counts as uniform. Without, it does only if all lanes leave together.
func (p *Program) Uniform(first int, leaving bool) []bool {
	s := uniformity{p: p, first: first, leaving: leaving, differs: make([]bool, len(p.Ins))}
	for s.changed = true; s.changed; { // to a fixed point: loops carry values back to their head
		s.changed = false
		p.Walk(p.Body, s.ins)
	}
	for v, d := range s.differs {
		s.differs[v] = !d
	}
	return s.differs
}

// UniformResult reports whether result i of an if or a loop is uniform. Requires the result of
// [Program.Uniform].
func (p *Program) UniformResult(uniform []bool, r *Region, i int) bool {
	if r.Cond != NoValue && !uniform[r.Cond] {
		return false
	}
	if len(r.Params) > 0 {
		return uniform[r.Params[i]]
	}
	return uniform[r.Next[i]] && uniform[r.ElseNext[i]]
}

// uniformity is the state of [Program.Uniform].
type uniformity struct {
	p       *Program
	first   int
	leaving bool
	differs []bool
	changed bool
}

func (s *uniformity) differ(v Value, yes bool) {
	if yes && !s.differs[v] {
		s.differs[v], s.changed = true, true
	}
}

func (s *uniformity) ins(v Value, in *Ins) {
	p := s.p
	d := s.differs
	switch in.Op {
	case OpIndex:
		s.differ(v, s.along(int(in.Imm)))
	case OpLoad, OpLoadAt:
		for a, step := range p.Bufs[in.Imm].Steps {
			s.differ(v, step != Zero && s.along(a))
		}
	case OpLoop:
		r := p.Region(in)
		for i, q := range r.Params {
			s.differ(q, d[r.Init[i]] || d[r.Next[i]] || !s.leaving && r.Cond != NoValue && d[r.Cond])
		}
		return
	case OpOut:
		of := &p.Ins[in.A]
		r := p.Region(of)
		if r.Cond != NoValue {
			s.differ(v, d[r.Cond])
		}
		if of.Op == OpLoop {
			s.differ(v, d[r.Params[in.Imm]])
		} else {
			s.differ(v, d[r.Next[in.Imm]] || d[r.ElseNext[in.Imm]])
		}
		return
	case OpReduce:
		s.differ(v, s.first < p.Lane) // one a row
		return
	case OpPass, OpIf, OpStore, OpStoreAt:
		return
	}
	for _, o := range in.Operands() {
		if o != NoValue {
			s.differ(v, d[o])
		}
	}
}

// along reports whether lanes differ in their index along an axis.
func (s *uniformity) along(axis int) bool { return axis >= s.first && axis <= s.p.Lane }
