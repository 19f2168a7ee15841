package x86

// What runs rarely, the exceptions of formulas, should not cost the rest its
// registers: its values are spilled first, and where constants are many it takes the
// registers of those that have one, which are loaded again behind it.

// rarity is how much less what runs rarely counts.
const rarity = 64

// keepConsts chooses the constants that have registers to themselves: those used
// most, as many as values leave, where what runs rarely does not count.
func (c *compiler) keepConsts() {
	for _, k := range c.consts {
		c.vregs[k.r].weight = 0
	}
	for n := range c.code {
		if i := &c.code[n]; i.flags&fRare == 0 {
			for _, r := range i.a[i.written():] {
				c.vregs[r&idMask].weight++
			}
		}
	}
	// Those with most uses first; more than that many are all the same.
	const most = 8
	spare := c.spare
	for uses := most; uses > 0; uses-- {
		for _, k := range c.consts {
			if x := &c.vregs[k.r]; spare > 0 && x.class == classV && x.remat < pLabel && min(int(x.weight), most) == uses {
				x.kept = true
				spare--
			}
		}
	}
}

// eachKept calls f for the kept constants that have a register at pos, where what runs
// rarely begins or ends.
func (c *compiler) eachKept(pos int, f func(v int32, x *vinfo)) {
	for _, k := range c.consts {
		if x := &c.vregs[k.r]; x.kept && !x.spilled && x.start < int32(pos) && int32(pos) < x.end {
			f(int32(k.r), x)
		}
	}
}

// lend hands the registers of kept constants to code that runs rarely, takeBack ends
// that.
func (c *compiler) lend(pos int) {
	c.eachKept(pos, func(_ int32, x *vinfo) {
		c.owner[classV][x.phys] = 0
		c.free[classV] |= 1 << x.phys
	})
}

func (c *compiler) takeBack(pos int) {
	c.eachKept(pos, func(v int32, x *vinfo) {
		if c.owner[classV][x.phys] != 0 {
			panic("x86: a value of rare code outlives it")
		}
		c.owner[classV][x.phys] = v
		c.free[classV] &^= 1 << x.phys
	})
}

// reload loads the constants again whose registers rare code had.
func (c *compiler) reload(pos int) {
	c.eachKept(pos, func(v int32, x *vinfo) {
		c.asm.RM(x.remat, c.phys(vr(v)), c.mem(x.place()))
	})
}
