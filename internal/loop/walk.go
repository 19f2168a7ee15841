package loop

// Walk calls f for the instructions of a block and of those nested in it, in
// their order.
func (p *Program) Walk(block []Value, f func(v Value, in *Ins)) {
	for _, v := range block {
		in := &p.Ins[v]
		f(v, in)
		if r := p.Region(in); r != nil {
			p.Walk(r.Head, f)
			p.Walk(r.Body, f)
			p.Walk(r.Else, f)
		}
	}
}

// Operands returns the values that an instruction reads outside its region; some may
// be NoValue.
func (in *Ins) Operands() [3]Value { return [3]Value{in.A, in.B, in.C} }

// Reads appends what a region reads outside its blocks: its first values, its last
// ones and the condition, which may be NoValue.
func (r *Region) Reads(to []Value) []Value {
	to = append(append(to, r.Cond), r.Init...)
	return append(append(to, r.Next...), r.ElseNext...)
}
