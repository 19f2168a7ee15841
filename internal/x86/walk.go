package x86

import "weft/internal/loop"

// walk calls f for the instructions of a block and of those nested in it, in
// their order.
func (c *compiler) walk(block []loop.Value, f func(v loop.Value, in *loop.Ins)) {
	for _, v := range block {
		in := &c.p.Ins[v]
		f(v, in)
		if r := c.p.Region(in); r != nil {
			c.walk(r.Head, f)
			c.walk(r.Body, f)
			c.walk(r.Else, f)
		}
	}
}

// reads calls f for the values that an instruction reads, its region's first and
// last among them, but not those read in its blocks.
func (c *compiler) reads(in *loop.Ins, f func(loop.Value)) {
	for _, o := range [...]loop.Value{in.A, in.B, in.C} {
		if o != loop.NoValue {
			f(o)
		}
	}
	if r := c.p.Region(in); r != nil {
		if r.Cond != loop.NoValue {
			f(r.Cond)
		}
		for _, vs := range [...][]loop.Value{r.Init, r.Next, r.ElseNext} {
			for _, v := range vs {
				f(v)
			}
		}
	}
}

// readsAll is reads with the instructions in its blocks.
func (c *compiler) readsAll(in *loop.Ins, f func(loop.Value)) {
	c.reads(in, f)
	if r := c.p.Region(in); r != nil {
		each := func(_ loop.Value, in *loop.Ins) { c.reads(in, f) }
		c.walk(r.Head, each)
		c.walk(r.Body, each)
		c.walk(r.Else, each)
	}
}
