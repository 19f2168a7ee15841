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

// Reads calls f for the values that an instruction reads, its region's first and
// last among them, but not those read in its blocks.
func (p *Program) Reads(in *Ins, f func(Value)) {
	for _, o := range [...]Value{in.A, in.B, in.C} {
		if o != NoValue {
			f(o)
		}
	}
	if r := p.Region(in); r != nil {
		if r.Cond != NoValue {
			f(r.Cond)
		}
		for _, vs := range [...][]Value{r.Init, r.Next, r.ElseNext} {
			for _, v := range vs {
				f(v)
			}
		}
	}
}

// ReadsAll is Reads with the instructions in its blocks.
func (p *Program) ReadsAll(in *Ins, f func(Value)) {
	p.Reads(in, f)
	if r := p.Region(in); r != nil {
		each := func(_ Value, in *Ins) { p.Reads(in, f) }
		p.Walk(r.Head, each)
		p.Walk(r.Body, each)
		p.Walk(r.Else, each)
	}
}
