package x86

// What runs rarely, the exceptions of formulas, should not cost the rest its
// registers: its values are spilled first, and it may take the registers of
// constants, which are loaded again behind it.

// rarity is how much less what runs rarely counts.
const rarity = 64

// A rare follows a walk through the code in and out of what runs rarely.
type rare struct {
	in  bool
	end int64 // the label behind it
}

// What rare.pass came to.
const (
	goesOn = iota
	begins
	ends
)

// pass is called for each instruction, or at least for each jump and label.
func (r *rare) pass(i *ins) int {
	switch {
	case i.op == pJcc && i.flags&fRare != 0 && !r.in:
		r.in, r.end = true, i.imm
		return begins
	case i.op == pLabel && r.in && i.imm == r.end:
		r.in = false
		return ends
	}
	return goesOn
}

// keepConsts chooses the constants that have registers to themselves: those used
// most, as many as values leave, where what runs rarely does not count.
func (c *compiler) keepConsts() {
	for _, k := range c.consts {
		c.vregs[k.r].weight = 0
	}
	for n := range c.code {
		i := &c.code[n]
		if c.rare.pass(i); c.rare.in {
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

// A reload is a constant to be loaded again before a label.
type reload struct {
	label int64
	v     int32
}

// park hands the registers of constants to code that runs rarely, and takes them
// back behind it.
func (c *compiler) park(i *ins) {
	switch c.rare.pass(i) {
	case begins:
		c.taken = 0
		for p, v := range c.owner[classV] {
			c.parked[p] = 0
			if v != 0 && c.vregs[v].kept {
				c.parked[p] = v
				c.owner[classV][p] = 0
				c.free[classV] |= 1 << p
			}
		}
	case ends:
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
				c.reloads = append(c.reloads, reload{i.imm, v})
			}
		}
	}
}

// reload loads the constants that the code before a label has overwritten.
func (c *compiler) reload(label int64) {
	for _, l := range c.reloads {
		if l.label != label {
			continue
		}
		x := &c.vregs[l.v]
		d := c.phys(vr(l.v))
		switch x.remat {
		case pZero:
			c.encodeZero(d)
		case pOnes:
			c.encodeOnes(d)
		default:
			c.asm.RM(x.remat, d, c.mem(x.rematMem))
		}
	}
}
