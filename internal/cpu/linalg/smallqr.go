package linalg

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/fma"
	"weft/internal/x86/asm"
)

// QR of small real matrices: reflections are applied one by one. A kernel factors a batch with the operations of
// smallQR in their order. Source: Golub and Van Loan, Matrix Computations, 4th edition, 5.2.2 and 5.1.6.

// isSmallQR reports whether matrices are factored so: code for larger ones would be long.
func isSmallQR(m, n int) bool { return max(m, n) <= 16 && m*n*min(m, n) <= 12*12*12 }

// squaresOf returns the range of a sum of squares from which a reflection is computed.
func squaresOf(d array.DType) (least, most float64) {
	if d == array.Float32 {
		return 0x1p-90, 0x1p120
	}
	return 0x1p-960, 0x1p1000
}

// fused is x*y + z with one rounding.
func fused[F float32 | float64](x, y, z F) F {
	if unsafe.Sizeof(x) == 8 {
		return F(math.FMA(float64(x), float64(y), float64(z)))
	}
	return F(fma.Float32(float32(x), float32(y), float32(z)))
}

// smallQR replaces a by r, and q by the first columns of Q unless it has none. It reports false, and leaves both
// undefined, if a column is so large or small that squares lose digits.
func smallQR[F float32 | float64](a, q matrix[F]) bool {
	m, n := a.rows, a.cols
	steps := min(m-1, n) // the last row needs no reflection
	least, most := squaresOf(typeOf[F]())
	var taus [16]F
	for c := range steps {
		alpha := a.x[c*a.ld+c]
		sum, zero := alpha*alpha, true
		for i := c + 1; i < m; i++ {
			x := a.x[i*a.ld+c]
			sum = fused(x, x, sum)
			zero = zero && x == 0
		}
		if zero { // no reflection: a factor of 0, which is applied as any other
			sum = 1
		}
		if s := float64(sum); !(s > least && s < most) {
			return false
		}
		beta := F(-math.Copysign(float64(F(math.Sqrt(float64(sum)))), float64(alpha)))
		tau, factor := (beta-alpha)/beta, 1/(alpha-beta)
		if zero {
			beta, tau, factor = alpha, 0, 1
		}
		taus[c] = tau
		a.x[c*a.ld+c] = beta
		for i := c + 1; i < m; i++ {
			a.x[i*a.ld+c] *= factor
		}
		top := a.row(c)
		for l := c + 1; l < n; l++ {
			w := top[l]
			for i := c + 1; i < m; i++ {
				w = fused(a.x[i*a.ld+c], a.x[i*a.ld+l], w)
			}
			w = F(w * tau) // a conversion rounds: no processor may fuse the product with the difference
			top[l] -= w
			for i := c + 1; i < m; i++ {
				a.x[i*a.ld+l] = fused(-a.x[i*a.ld+c], w, a.x[i*a.ld+l])
			}
		}
	}
	if q.cols > 0 {
		smallQ(a, q, taus[:steps])
	}
	for i := range m {
		clear(a.row(i)[:min(i, n)])
	}
	return true
}

// smallQ computes columns of the product of the reflections whose vectors lie below the diagonal of a.
func smallQ[F float32 | float64](a, q matrix[F], taus []F) {
	m := a.rows
	for i := range m {
		row := q.row(i)
		clear(row)
		if i < q.cols {
			row[i] = 1
		}
	}
	for c := len(taus) - 1; c >= 0; c-- {
		tau := taus[c]
		for l := c + 1; l < q.cols; l++ {
			var w F
			for i := c + 1; i < m; i++ {
				w = fused(a.x[i*a.ld+c], q.x[i*q.ld+l], w)
			}
			w = F(w * tau) // a conversion rounds: no processor may fuse the product with the difference
			q.x[c*q.ld+l] = 0 - w
			for i := c + 1; i < m; i++ {
				q.x[i*q.ld+l] = fused(-a.x[i*a.ld+c], w, q.x[i*q.ld+l])
			}
		}
		q.x[c*q.ld+c] = 1 - tau
		for i := c + 1; i < m; i++ {
			q.x[i*q.ld+c] = fused(-a.x[i*a.ld+c], tau, 0)
		}
	}
}

// qr writes smallQR.
func (g *lanesGen) qr() {
	steps := min(g.m-1, g.n)
	for c := range steps {
		g.reflection(c)
		for l := c + 1; l < g.n; l += columnsAtOnce {
			n := min(columnsAtOnce, g.n-l)
			for u := range n {
				g.Load(g.V(u), g.at(c, l+u))
			}
			g.reflectColumns(c, n, g.m, func(u, i int) asm.Mem { return g.at(i, l+u) }, func(u int) {
				g.Load(g.V(8), g.at(c, l+u))
				g.RRR(g.Pick(asm.VSUBPS, asm.VSUBPD), g.V(8), g.V(8), g.V(u))
				g.Store(g.at(c, l+u), g.V(8))
			})
		}
	}
	if g.w > 0 {
		g.formQ(steps)
	}
	g.Zero(g.V(0))
	for i := range min(g.m, g.n) {
		for c := range min(i, g.n) {
			g.Store(g.at(i, c), g.V(0))
		}
	}
}

// columnsAtOnce is the number of columns that are reflected at once: vectors 0 to 7, beside 8 and 9.
const columnsAtOnce = 8

// reflection computes the reflection of column c.
func (g *lanesGen) reflection(c int) {
	alpha, sum, any, t, beta, tau := g.V(0), g.V(1), g.V(2), g.V(3), g.V(4), g.V(5)
	sub, div := g.Pick(asm.VSUBPS, asm.VSUBPD), g.Pick(asm.VDIVPS, asm.VDIVPD)
	g.Load(alpha, g.at(c, c))
	g.RRR(g.Pick(asm.VMULPS, asm.VMULPD), sum, alpha, alpha)
	g.Zero(any)
	for i := c + 1; i < g.m; i++ {
		g.Load(t, g.at(i, c))
		g.Fma(sum, t, t)
		g.RRR(asm.VORPS, any, any, t)
	}
	// Where all are 0, there is no reflection. The sum counts as 1 there.
	one := g.V(6)
	g.Load(one, g.constant(1))
	g.Zero(t)
	g.compare(newMask, any, t, equal)
	g.pick(sum, sum, one)
	least, most := squaresOf(g.D)
	g.RR(g.Pick(asm.VSQRTPS, asm.VSQRTPD), beta, sum)
	g.RRM(asm.VANDPS, t, alpha, g.constant(math.Copysign(0, -1)))
	g.RRR(asm.VXORPS, beta, beta, t)
	g.RRM(asm.VXORPS, beta, beta, g.constant(math.Copysign(0, -1)))
	g.RRR(sub, tau, beta, alpha)
	g.RRR(div, tau, tau, beta)
	g.RRR(sub, t, alpha, beta)
	g.pick(t, t, one)
	g.RRR(div, any, one, t)
	g.pick(beta, beta, alpha)
	g.Zero(t)
	g.pick(tau, tau, t)
	g.Store(g.at(c, c), beta)
	g.Store(g.extra(c), tau)
	g.Load(t, g.constant(least))
	g.bad(sum, t, notGreater)
	g.Load(t, g.constant(most))
	g.bad(t, sum, notGreater)
	for i := c + 1; i < g.m; i++ {
		g.RRM(g.Pick(asm.VMULPS, asm.VMULPD), t, any, g.at(i, c))
		g.Store(g.at(i, c), t)
	}
}

// reflectColumns applies reflection c to n columns, whose sums begin as vectors 0 and up: it leaves in these the
// factors of the vector, which first takes before they are applied below row c.
func (g *lanesGen) reflectColumns(c, n, rows int, column func(u, i int) asm.Mem, first func(u int)) {
	for i := c + 1; i < rows; i++ {
		g.Load(g.V(8), g.at(i, c))
		for u := range n {
			g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.V(u), g.V(8), column(u, i))
		}
	}
	g.Load(g.V(9), g.extra(c))
	for u := range n {
		g.RRR(g.Pick(asm.VMULPS, asm.VMULPD), g.V(u), g.V(u), g.V(9))
		first(u)
	}
	for i := c + 1; i < rows; i++ {
		g.Load(g.V(8), g.at(i, c))
		for u := range n {
			g.Load(g.V(9), column(u, i))
			g.RRR(g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), g.V(9), g.V(8), g.V(u))
			g.Store(column(u, i), g.V(9))
		}
	}
}

// formQ writes smallQ.
func (g *lanesGen) formQ(steps int) {
	g.identity(g.m, g.w, g.right)
	for c := steps - 1; c >= 0; c-- {
		for l := c + 1; l < g.w; l += columnsAtOnce {
			n := min(columnsAtOnce, g.w-l)
			for u := range n {
				g.Zero(g.V(u))
			}
			g.reflectColumns(c, n, g.m, func(u, i int) asm.Mem { return g.right(i, l+u) }, func(u int) {
				g.Zero(g.V(8))
				g.RRR(g.Pick(asm.VSUBPS, asm.VSUBPD), g.V(8), g.V(8), g.V(u))
				g.Store(g.right(c, l+u), g.V(8))
			})
		}
		g.Load(g.V(1), g.extra(c))
		g.Load(g.V(2), g.constant(1))
		g.RRR(g.Pick(asm.VSUBPS, asm.VSUBPD), g.V(2), g.V(2), g.V(1))
		g.Store(g.right(c, c), g.V(2))
		for i := c + 1; i < g.m; i++ {
			g.Zero(g.V(0))
			g.RRM(g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), g.V(0), g.V(1), g.at(i, c))
			g.Store(g.right(i, c), g.V(0))
		}
	}
}
