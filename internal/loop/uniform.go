package loop

// Uniform reports, by value, which values are the same for all lanes wherever they are
// computed: of the lanes that run side by side along the axes from first to the lane axis,
// those that are active. Branches on such values need no masks.
//
// What a loop carries may be the same for those that are still in it, as a counter is,
// while they leave at different times: its result then differs. With leaving, such values
// count as the same; without, only if no lane leaves before others.
func (p *Program) Uniform(first int, leaving bool) []bool {
	s := uniformity{p: p, first: first, leaving: leaving, differs: make([]bool, len(p.Ins))}
	for s.changed = true; s.changed; { // what a loop carries is known behind its body
		s.changed = false
		p.Walk(p.Body, s.ins)
	}
	for v, d := range s.differs {
		s.differs[v] = !d
	}
	return s.differs
}

// UniformResult reports, by what [Program.Uniform] says, whether result i of an if or a loop is
// the same for all lanes.
func (p *Program) UniformResult(same []bool, r *Region, i int) bool {
	if r.Cond != NoValue && !same[r.Cond] {
		return false
	}
	if len(r.Params) > 0 {
		return same[r.Params[i]]
	}
	return same[r.Next[i]] && same[r.ElseNext[i]]
}

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

// along reports an axis of lanes that run side by side.
func (s *uniformity) along(axis int) bool { return axis >= s.first && axis <= s.p.Lane }
