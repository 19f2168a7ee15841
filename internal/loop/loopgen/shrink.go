package loopgen

import (
	"slices"

	"weft/internal/loop"
)

// Shrink looks for a smaller case that still fails: with smaller extents, and
// with instructions left out or replaced by constants or by their operands. What
// keeps addresses inside and makes loops end stays. A case that does not fail is
// returned as it is.
func Shrink(c *Case, fails func(*Case) bool) *Case {
	if !fails(c) {
		return c
	}
	for again := true; again; {
		again = false
		try := func(d *Case) bool {
			if loop.Verify(d.Program) != nil || !fails(d) {
				return false
			}
			c, again = d, true
			return true
		}
		for a := range c.Extents {
			for _, n := range []int{0, 1, c.Extents[a] / 2, c.Extents[a] - 1} {
				if n >= 0 && n < c.Extents[a] {
					d := c.clone()
					d.Extents[a] = n
					if try(d) {
						break
					}
				}
			}
		}
		// What has an effect goes first, then values from the end.
		for v := range c.Program.Ins {
			if !c.stands()[v] {
				continue
			}
			d := c.clone()
			if d.remove(loop.Value(v)) {
				d.sweep()
				try(d)
			}
		}
		for v := len(c.Program.Ins) - 1; v >= 0; v-- {
			if c.protected()[v] || !c.stands()[v] {
				continue
			}
			in := &c.Program.Ins[v]
			for _, o := range [...]loop.Value{in.A, in.B, in.C} {
				if o == loop.NoValue || in.Op == loop.OpOut || c.Program.Ins[o].Type != in.Type || in.Type == loop.None {
					continue
				}
				d := c.clone()
				d.replace(loop.Value(v), o)
				d.sweep()
				if try(d) {
					break
				}
			}
			if in = &c.Program.Ins[v]; !c.stands()[v] {
				continue
			}
			switch in.Op {
			case loop.OpConst, loop.OpParam, loop.OpReduce:
				continue
			}
			if in.Type != loop.None {
				d := c.clone()
				d.Program.Ins[v] = loop.Ins{Op: loop.OpConst, Type: in.Type, A: loop.NoValue, B: loop.NoValue, C: loop.NoValue}
				d.sweep()
				try(d)
			}
		}
	}
	return c
}

// clone copies a case but for its memory, which does not change.
func (c *Case) clone() *Case {
	d := *c
	d.Extents = slices.Clone(c.Extents)
	p := *c.Program
	p.Ins = slices.Clone(p.Ins)
	p.Body = slices.Clone(p.Body)
	p.Regions = slices.Clone(p.Regions)
	for i := range p.Ins {
		if r := p.Region(&p.Ins[i]); r != nil {
			s := *r
			for _, list := range lists(&s) {
				*list = slices.Clone(*list)
			}
			p.Regions[p.Ins[i].Imm] = &s
		}
	}
	d.Program = &p
	return &d
}

// lists returns everything in a region that names values.
func lists(r *loop.Region) []*[]loop.Value {
	return []*[]loop.Value{&r.Init, &r.Params, &r.Head, &r.Body, &r.Next, &r.Else, &r.ElseNext}
}

// blocks calls f for each list of instructions.
func (c *Case) blocks(f func(*[]loop.Value)) {
	f(&c.Program.Body)
	for i := range c.Program.Ins {
		if r := c.Program.Region(&c.Program.Ins[i]); r != nil {
			f(&r.Head)
			f(&r.Body)
			f(&r.Else)
		}
	}
}

// remove takes an instruction with an effect out of its block.
func (c *Case) remove(v loop.Value) (removed bool) {
	switch c.Program.Ins[v].Op {
	case loop.OpStore, loop.OpStoreAt, loop.OpPass, loop.OpIf, loop.OpLoop, loop.OpReduce:
	default:
		return false
	}
	c.blocks(func(b *[]loop.Value) {
		if i := slices.Index(*b, v); i >= 0 {
			*b = slices.Delete(*b, i, i+1)
			removed = true
		}
	})
	return removed
}

// replace makes every user of v use o.
func (c *Case) replace(v, o loop.Value) {
	swap := func(x *loop.Value) {
		if *x == v {
			*x = o
		}
	}
	for i := range c.Program.Ins {
		in := &c.Program.Ins[i]
		swap(&in.A)
		swap(&in.B)
		swap(&in.C)
		if r := c.Program.Region(in); r != nil {
			swap(&r.Cond)
			for _, list := range []*[]loop.Value{&r.Init, &r.Next, &r.ElseNext} {
				for i := range *list {
					swap(&(*list)[i])
				}
			}
		}
	}
}

// sweep removes values that nobody uses.
func (c *Case) sweep() {
	p := c.Program
	for {
		stands := c.stands()
		used := make([]bool, len(p.Ins))
		use := func(vs ...loop.Value) {
			for _, v := range vs {
				if v != loop.NoValue {
					used[v] = true
				}
			}
		}
		for i := range p.Ins {
			if in := &p.Ins[i]; stands[i] {
				use(in.A, in.B, in.C)
				if r := p.Region(in); r != nil {
					use(r.Cond)
					use(r.Init...)
					use(r.Next...)
					use(r.ElseNext...)
				}
			}
		}
		gone := false
		c.blocks(func(b *[]loop.Value) {
			n := len(*b)
			*b = slices.DeleteFunc(*b, func(v loop.Value) bool {
				return p.Ins[v].Type != loop.None && !used[v]
			})
			gone = gone || len(*b) < n
		})
		if !gone {
			return
		}
	}
}

// stands reports by value whether it is in the program still.
func (c *Case) stands() []bool {
	out := make([]bool, len(c.Program.Ins))
	c.reachable(c.Program.Body, out)
	return out
}

// reachable marks the instructions that stand in the program.
func (c *Case) reachable(block []loop.Value, stands []bool) {
	for _, v := range block {
		stands[v] = true
		if r := c.Program.Region(&c.Program.Ins[v]); r != nil {
			c.reachable(r.Head, stands)
			c.reachable(r.Body, stands)
			c.reachable(r.Else, stands)
		}
	}
}

// protected marks what offsets are clamped with, the conditions that guard them,
// and what ends loops; [generator.loadAt], [generator.storeValue] and
// [generator.loop] build them a few instructions deep.
func (c *Case) protected() []bool {
	p := c.Program
	out := make([]bool, len(p.Ins))
	var mark func(v loop.Value, depth int)
	mark = func(v loop.Value, depth int) {
		if v == loop.NoValue || depth == 0 {
			return
		}
		out[v] = true
		mark(p.Ins[v].A, depth-1)
		mark(p.Ins[v].B, depth-1)
	}
	const deep = 4
	for i := range p.Ins {
		in := &p.Ins[i]
		switch in.Op {
		case loop.OpLoadAt:
			mark(in.A, deep)
		case loop.OpStoreAt:
			mark(in.B, deep)
		case loop.OpLogB, loop.OpScaleB: // not defined for any operand
			mark(in.A, deep)
			mark(in.B, deep)
		case loop.OpLoop:
			mark(p.Region(in).Cond, deep)
			if len(p.Region(in).Next) > 0 && p.Region(in).Cond != loop.NoValue {
				mark(p.Region(in).Next[0], 2)
				mark(p.Region(in).Init[0], 1)
			}
		case loop.OpIf:
			for _, v := range p.Region(in).Body {
				if p.Ins[v].Op == loop.OpLoadAt {
					mark(p.Region(in).Cond, deep)
				}
			}
		}
	}
	return out
}
