package linalg

import (
	"math"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// Kernels for jacobi.go. Numbers are float64. extra(0) and up hold singular values, scaleSlot the scale.

func (g *lanesGen) scaleSlot() asm.Mem { return g.extra(min(g.m, g.n)) }

// scaleElements divides elements by the power of two below the sum of their absolute values.
func (g *lanesGen) scaleElements(elements []asm.Mem) {
	sum, t := g.V(0), g.V(1)
	g.Zero(sum)
	for _, m := range elements {
		g.Load(t, m)
		g.absolute(t)
		g.RRR(asm.VADDPD, sum, sum, t)
	}
	g.Load(t, g.constant(1/mostSum))
	g.bad(sum, t, notGreater)
	g.Load(t, g.constant(mostSum))
	g.bad(t, sum, notGreater)
	g.RRM(asm.VANDPS, sum, sum, g.constant(math.Inf(1)))
	g.Store(g.scaleSlot(), sum)
	g.invert(t, sum)
	for _, m := range elements {
		g.RRM(asm.VMULPD, g.V(2), t, m)
		g.Store(m, g.V(2))
	}
}

// identity stores an identity of rows x cols.
func (g *lanesGen) identity(rows, cols int, slot func(i, j int) asm.Mem) {
	g.Zero(g.V(0))
	g.Load(g.V(1), g.constant(1))
	for i := range rows {
		for j := range cols {
			if i == j {
				g.Store(slot(i, j), g.V(1))
			} else {
				g.Store(slot(i, j), g.V(0))
			}
		}
	}
}

// sweeps writes the loop over sweeps. Lanes that still turn after the last one are bad.
func (g *lanesGen) sweeps(n int, pair func(p, q int)) {
	done := g.NewLabel()
	g.MovImm(asm.R8, jacobiSweeps)
	loop := g.Here()
	g.none(turnedMask)
	for _, p := range jacobiPairs(n) {
		pair(p[0], p[1])
	}
	g.unless(turnedMask, done)
	g.RI(asm.SUB, asm.R8, 1)
	g.Jcc(asm.CondNE, loop)
	g.either(badMask, turnedMask)
	g.Bind(done)
}

// unless jumps where a mask has no lane.
func (g *lanesGen) unless(mask int, to asm.Label) {
	if g.ISA == jit.AVX512 {
		g.RR(asm.KORTESTW, asm.K(1+mask), asm.K(1+mask))
	} else {
		g.RR(asm.VMOVMSKPD, asm.RAX, g.V(10+mask))
		g.RR(asm.TEST, asm.RAX, asm.RAX)
	}
	g.Jcc(asm.CondE, to)
}

// rotation sets vectors 8, 9 and 3 to the cosine, sine and tangent of the rotation for d in vector 3 and h in vector 4,
// of the angle 0 in lanes outside the new mask. It changes vectors 5 to 7.
func (g *lanesGen) rotation() {
	t, h, r, sign := g.V(3), g.V(4), g.V(5), g.V(6)
	g.RRR(asm.VMULPD, r, t, t)
	g.Fma(r, h, h)
	g.sqrt(r)
	g.Zero(g.V(7))
	g.RRR(asm.VADDPD, sign, h, g.V(7)) // no negative zero
	g.RRM(asm.VANDPS, sign, sign, g.constant(math.Copysign(0, -1)))
	g.RRR(asm.VXORPS, t, t, sign)
	g.RR(asm.VMOVAPS, sign, h)
	g.absolute(sign)
	g.RRR(asm.VADDPD, r, r, sign)
	g.RRR(asm.VDIVPD, t, t, r)
	g.pick(t, g.V(7), t)
	c, s := g.V(8), g.V(9)
	g.Load(r, g.constant(1))
	g.Fma(r, t, t)
	g.sqrt(r)
	g.invert(c, r)
	g.RRR(asm.VMULPD, s, t, c)
}

// turn applies the rotation of vectors 8 and 9 to two slots.
func (g *lanesGen) turn(x, y asm.Mem) {
	a, b, l, r := g.V(0), g.V(1), g.V(2), g.V(3)
	g.Load(a, x)
	g.Load(b, y)
	g.RRR(asm.VMULPD, l, g.V(8), a)
	g.RRR(asm.VFNMADD231PD, l, g.V(9), b)
	g.RRR(asm.VMULPD, r, g.V(8), b)
	g.RRR(asm.VFMADD231PD, r, g.V(9), a)
	g.Store(x, l)
	g.Store(y, r)
}

// eigh writes smallEigh. Column j of the vectors is right(0, j) and below.
func (g *lanesGen) eigh() {
	n := g.n
	low := func(i, j int) asm.Mem { return g.at(max(i, j), min(i, j)) }
	var elements []asm.Mem
	for i := range n {
		for j := range i + 1 {
			elements = append(elements, g.at(i, j))
		}
	}
	g.scaleElements(elements)
	if g.w > 0 {
		g.identity(n, n, g.right)
	}
	g.sweeps(n, func(p, q int) {
		app, aqq, apq := g.V(0), g.V(1), g.V(2)
		g.Load(app, g.at(p, p))
		g.Load(aqq, g.at(q, q))
		g.Load(apq, g.at(q, p))
		g.RRR(asm.VMULPD, g.V(3), apq, apq)
		g.RRR(asm.VMULPD, g.V(4), app, aqq)
		g.absolute(g.V(4))
		skip := g.beyond(0x1p-106)
		g.RRR(asm.VADDPD, g.V(3), apq, apq)
		g.RRR(asm.VSUBPD, g.V(4), aqq, app)
		g.rotation()
		g.RRR(asm.VFNMADD231PD, app, g.V(3), apq)
		g.RRR(asm.VFMADD231PD, aqq, g.V(3), apq)
		g.pick(apq, apq, g.V(7))
		g.Store(g.at(p, p), app)
		g.Store(g.at(q, q), aqq)
		g.Store(g.at(q, p), apq)
		for r := range n {
			if r != p && r != q {
				g.turn(low(r, p), low(r, q))
			}
		}
		for e := range g.w {
			g.turn(g.right(e, p), g.right(e, q))
		}
		g.Bind(skip)
	})
	g.sortSlots(n, greater, func(i int) asm.Mem { return g.at(i, i) }, func(i int) {
		g.exchangeSlots(g.at(i, i), g.at(i+1, i+1))
		for e := range g.w {
			g.exchangeSlots(g.right(e, i), g.right(e, i+1))
		}
	})
	for i := range n {
		g.unscale(g.at(i, i))
		if g.w > 0 {
			g.positive(n, func(e int) asm.Mem { return g.right(e, i) }, 0, nil)
		}
	}
}

// beyond sets the new mask where vector 3 is greater than vector 4 times a tolerance, adds it to the mask of turned
// lanes, and jumps to a label where there is no such lane. It changes vector 5.
func (g *lanesGen) beyond(tolerance float64) (none asm.Label) {
	none = g.NewLabel()
	g.Load(g.V(5), g.constant(jacobiFloor))
	g.RRM(asm.VFMADD231PD, g.V(5), g.V(4), g.constant(tolerance))
	g.compare(newMask, g.V(3), g.V(5), greater)
	g.unless(newMask, none)
	g.either(turnedMask, newMask)
	return none
}

// sortSlots writes sortColumns: neighbours are exchanged where the predicate holds of their keys.
func (g *lanesGen) sortSlots(n int, predicate int64, key func(i int) asm.Mem, exchange func(i int)) {
	for end := n - 1; end > 0; end-- {
		for i := range end {
			skip := g.NewLabel()
			g.Load(g.V(0), key(i))
			g.Load(g.V(1), key(i+1))
			g.compare(newMask, g.V(0), g.V(1), predicate)
			g.unless(newMask, skip)
			exchange(i)
			g.Bind(skip)
		}
	}
}

// unscale multiplies a slot by the scale.
func (g *lanesGen) unscale(m asm.Mem) {
	g.Load(g.V(0), m)
	g.RRM(asm.VMULPD, g.V(0), g.V(0), g.scaleSlot())
	g.Zero(g.V(1))
	g.RRR(asm.VADDPD, g.V(0), g.V(0), g.V(1))
	g.Store(m, g.V(0))
}

// positive writes positive for n slots; others get the sign along.
func (g *lanesGen) positive(n int, slot func(i int) asm.Mem, others int, other func(i int) asm.Mem) {
	most, first, x, t, zero := g.V(0), g.V(1), g.V(2), g.V(3), g.V(4)
	g.Zero(most)
	for i := range n {
		g.Load(x, slot(i))
		g.absolute(x)
		g.RRR(asm.VMAXPD, most, most, x)
	}
	g.RRM(asm.VMULPD, most, most, g.constant(nearlyEqual))
	g.Zero(first)
	for i := n - 1; i >= 0; i-- {
		g.Load(x, slot(i))
		g.RR(asm.VMOVAPS, t, x)
		g.absolute(t)
		g.compare(newMask, most, t, notGreater)
		g.pick(first, first, x)
	}
	g.RRM(asm.VANDPS, first, first, g.constant(math.Copysign(0, -1)))
	g.Zero(zero)
	flip := func(m asm.Mem) {
		g.RRM(asm.VXORPS, x, first, m)
		g.RRR(asm.VADDPD, x, x, zero)
		g.Store(m, x)
	}
	for i := range n {
		flip(slot(i))
	}
	for i := range others {
		flip(other(i))
	}
}

// short and long are the sizes of the vectors of smallSVD, vector the slot of element i of the long vector j, rotated
// that of the short one.
func (g *lanesGen) short() int               { return min(g.m, g.n) }
func (g *lanesGen) long() int                { return max(g.m, g.n) }
func (g *lanesGen) vector(j, i int) asm.Mem  { return g.slot(j*g.long() + i) }
func (g *lanesGen) rotated(j, i int) asm.Mem { return g.slot(g.m*g.n + j*g.short() + i) }

// element is the slot of an element of the matrix.
func (g *lanesGen) element(e int) asm.Mem {
	if g.m >= g.n {
		return g.vector(e%g.n, e/g.n)
	}
	return g.slot(e)
}

// svd writes smallSVD.
func (g *lanesGen) svd() {
	k, dim := g.short(), g.long()
	var elements []asm.Mem
	for e := range g.m * g.n {
		elements = append(elements, g.element(e))
	}
	g.scaleElements(elements)
	vectors := g.w > 0
	if vectors {
		g.identity(k, k, g.rotated)
	}
	g.sweeps(k, func(p, q int) { g.svdPair(p, q) })
	for j := range k {
		g.Zero(g.V(0))
		for i := range dim {
			g.Load(g.V(1), g.vector(j, i))
			g.Fma(g.V(0), g.V(1), g.V(1))
		}
		g.sqrt(g.V(0))
		g.Store(g.extra(j), g.V(0))
		g.Load(g.V(1), g.constant(leastValue))
		g.bad(g.V(0), g.V(1), notGreater)
		g.invert(g.V(1), g.V(0))
		for i := range dim {
			g.RRM(asm.VMULPD, g.V(2), g.V(1), g.vector(j, i))
			g.Store(g.vector(j, i), g.V(2))
		}
	}
	g.sortSlots(k, less, g.extra, func(j int) {
		g.exchangeSlots(g.extra(j), g.extra(j+1))
		for i := range dim {
			g.exchangeSlots(g.vector(j, i), g.vector(j+1, i))
		}
		for i := range k {
			if vectors {
				g.exchangeSlots(g.rotated(j, i), g.rotated(j+1, i))
			}
		}
	})
	for j := range k {
		g.unscale(g.extra(j))
		if !vectors {
			continue
		}
		long, short := func(i int) asm.Mem { return g.vector(j, i) }, func(i int) asm.Mem { return g.rotated(j, i) }
		if g.m >= g.n {
			g.positive(dim, long, k, short)
		} else {
			g.positive(k, short, dim, long)
		}
	}
}

// svdPair writes svdPair.
func (g *lanesGen) svdPair(p, q int) {
	alpha, beta, gamma := g.V(0), g.V(1), g.V(2)
	for _, r := range []asm.Reg{alpha, beta, gamma} {
		g.Zero(r)
	}
	for i := range g.long() {
		g.Load(g.V(3), g.vector(p, i))
		g.Load(g.V(4), g.vector(q, i))
		g.Fma(alpha, g.V(3), g.V(3))
		g.Fma(beta, g.V(4), g.V(4))
		g.Fma(gamma, g.V(3), g.V(4))
	}
	g.RRR(asm.VMULPD, g.V(3), gamma, gamma)
	g.RRR(asm.VMULPD, g.V(4), alpha, beta)
	skip := g.beyond(svdTolerance(g.long()))
	g.RRR(asm.VADDPD, g.V(3), gamma, gamma)
	g.RRR(asm.VSUBPD, g.V(4), beta, alpha)
	g.rotation()
	// The longer first: where h > 0, the rotation by another quarter.
	c, s, t := g.V(8), g.V(9), g.V(5)
	g.pick(g.V(4), g.V(7), g.V(4))
	g.compare(newMask, g.V(4), g.V(7), greater)
	g.RRM(asm.VXORPS, t, c, g.constant(math.Copysign(0, -1)))
	g.pick(c, c, s)
	g.pick(s, s, t)
	for i := range g.long() {
		g.turn(g.vector(p, i), g.vector(q, i))
	}
	for i := range g.short() {
		if g.w > 0 {
			g.turn(g.rotated(p, i), g.rotated(q, i))
		}
	}
	g.Bind(skip)
}

// writeSVD stores u, s and vh, or s alone.
func (g *lanesGen) writeSVD() {
	k := g.short()
	if g.w == 0 {
		g.write(0, k, g.extra)
		return
	}
	left, right := g.vector, g.rotated
	if g.m < g.n {
		left, right = right, left
	}
	g.write(0, k, g.extra)
	g.write(1, g.m*k, func(e int) asm.Mem { return left(e%k, e/k) })
	g.write(2, k*g.n, func(e int) asm.Mem { return right(e/g.n, e%g.n) })
}
