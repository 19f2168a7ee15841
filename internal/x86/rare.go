package x86

// What runs rarely, the exceptions of formulas, should not cost the rest its
// registers: its values are spilled first, and it may take the registers of
// constants, which are loaded again behind it.

// rarity is how much less what runs rarely counts.
const rarity = 64

// follow notes whether the instructions behind i run rarely.
func (c *compiler) follow(i *ins) {
	switch i.op {
	case pRare:
		c.rare = true
	case pUsual:
		c.rare = false
	}
}

// keepConsts chooses the constants that have registers to themselves: those used
// most, as many as values leave, where what runs rarely does not count.
func (c *compiler) keepConsts() {
	for _, k := range c.consts {
		c.vregs[k.r].weight = 0
	}
	for n := range c.code {
		i := &c.code[n]
		if c.follow(i); c.rare {
			continue
		}
		for _, r := range i.a[i.written():] {
			c.vregs[r&idMask].weight++
		}
	}
	// Those with most uses first; more than that many are all the same.
	const most = 8
	spare := c.spare
	for uses := most; uses > 0; uses-- {
		for _, k := range c.consts {
			if x := &c.vregs[k.r]; spare > 0 && x.class == classV && min(int(x.weight), most) == uses {
				x.kept = true
				spare--
			}
		}
	}
}

// A reload is a constant to be loaded again behind what runs rarely.
type reload struct{ pos, v int32 }

// park hands the registers of constants to code that runs rarely, and takes them
// back behind it.
func (c *compiler) park(pos int32) {
	if c.code[pos].op == pRare {
		c.taken = 0
		for p, v := range c.owner[classV] {
			c.parked[p] = 0
			if v != 0 && c.vregs[v].kept {
				c.parked[p], c.owner[classV][p] = v, 0
				c.free[classV] |= 1 << p
			}
		}
		return
	}
	for p, v := range c.parked {
		if v == 0 {
			continue
		}
		if c.owner[classV][p] != 0 {
			panic("x86: a value of rare code outlives it")
		}
		c.owner[classV][p] = v
		c.free[classV] &^= 1 << p
		if c.taken>>p&1 != 0 {
			c.reloads = append(c.reloads, reload{pos, v})
		}
	}
}

// reload loads the constants that the rare code before an instruction has
// overwritten.
func (c *compiler) reload(pos int32) {
	for _, l := range c.reloads {
		if l.pos != pos {
			continue
		}
		switch x, d := &c.vregs[l.v], c.phys(vr(l.v)); x.remat {
		case pZero:
			c.encodeZero(d)
		case pOnes:
			c.encodeOnes(d)
		default:
			c.asm.RM(x.remat, d, c.mem(x.place()))
		}
	}
}
