package linalg

import "math"

// Eigenvalues and singular values of small real matrices, by plane rotations of pairs in a fixed order. A kernel
// decomposes a batch with these operations in their order (jacobikernel.go): a lane that needs no rotation gets one by
// 0, which leaves numbers as they are except signs of zeros. So no sign of a zero decides, and results hold
// no negative zeros. Sources: Golub and Van Loan, Matrix Computations, 4th edition, 8.5 and 8.6.3; for the
// thresholds Demmel and Veselic, "Jacobi's method is more accurate than QR", SIAM J. Matrix Anal. 13, 1992.

const (
	smallSide = 8  // of Hermitian matrices, and the shorter side of others
	longSide  = 16 // the longer side

	jacobiSweeps = 30       // at most
	jacobiFloor  = 0x1p-600 // squares of products up to it count as 0, in a matrix of sum 1 to 2
	leastValue   = 0x1p-120 // singular values up to it have no direction
	nearlyEqual  = 1 - 0x1p-30
	mostSum      = 0x1p900 // of absolute values; 1/mostSum is the least
)

func isSmallEigh(n int) bool { return 0 < n && n <= smallSide }
func isSmallSVD(m, n int) bool {
	return 0 < min(m, n) && min(m, n) <= smallSide && max(m, n) <= longSide
}

// jacobiPairs returns all pairs of n indices, in rounds of disjoint ones, which a processor computes side by side.
func jacobiPairs(n int) (pairs [][2]int) {
	even := n + n&1
	for round := range even - 1 {
		for i := range even / 2 {
			p, q := (round+i)%(even-1), (round-i+even-1)%(even-1)
			if i == 0 {
				q = even - 1
			}
			if p, q = min(p, q), max(p, q); q < n {
				pairs = append(pairs, [2]int{p, q})
			}
		}
	}
	return pairs
}

// sweeps calls turn for all pairs of n indices until it turns none. It reports false where jacobiSweeps times are not
// enough.
func sweeps(n int, turn func(p, q int) (turned bool)) bool {
	pairs := jacobiPairs(n)
	for range jacobiSweeps {
		done := true
		for _, pair := range pairs {
			if turn(pair[0], pair[1]) {
				done = false
			}
		}
		if done {
			return true
		}
	}
	return false
}

// jacobiScale returns the power of two below a sum of absolute values. It reports whether the sum is neither too
// large nor too small, nor NaN.
func jacobiScale(sum float64) (scale float64, ok bool) {
	return math.Float64frombits(math.Float64bits(sum) & (0x7FF << 52)), sum > 1/mostSum && sum < mostSum
}

// rotation returns the cosine, sine and tangent of the rotation that makes 0 of an element that is half of d, between
// others that differ by h.
func rotation(d, h float64) (c, s, t float64) {
	t = d / (math.Abs(h) + math.Sqrt(math.FMA(h, h, float64(d*d))))
	if h < 0 {
		t = -t
	}
	c = 1 / math.Sqrt(math.FMA(t, t, 1))
	return c, float64(t * c), t
}

// turn replaces x by c*x - s*y, and y by s*x + c*y.
func turn(x, y *float64, c, s float64) {
	a, b := *x, *y
	*x = math.FMA(-s, b, float64(c*a))
	*y = math.FMA(s, a, float64(c*b))
}

// smallEigh computes the eigenvalues w, ascending, of the n x n matrix whose lower triangle is that of a, and the
// eigenvectors, the columns of v, unless v is nil. It overwrites a. It reports whether it did.
//
// The first of the largest elements of an eigenvector is positive.
func smallEigh(n int, a, w, v []float64) bool {
	sum := 0.0
	for i := range n {
		for j := range i + 1 {
			sum += math.Abs(a[i*n+j])
		}
	}
	scale, ok := jacobiScale(sum)
	if !ok {
		return false
	}
	inverse := 1 / scale
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] *= inverse
		}
	}
	clear(v)
	for i := range n {
		if v != nil {
			v[i*n+i] = 1
		}
	}
	if !sweeps(n, func(p, q int) (turned bool) { return eighPair(n, a, v, p, q) }) {
		return false
	}
	for i := range n {
		w[i] = a[i*n+i]
	}
	sortColumns(n, func(i int) bool { return w[i] > w[i+1] }, func(i int) {
		w[i], w[i+1] = w[i+1], w[i]
		for e := 0; e < len(v); e += n {
			v[e+i], v[e+i+1] = v[e+i+1], v[e+i]
		}
	})
	for i := range n {
		w[i] = float64(w[i]*scale) + 0
		if v != nil {
			positive(v[i:], n, n)
		}
	}
	return true
}

// eighPair makes 0 of element (q, p) of a lower triangle, and rotates columns of v along.
func eighPair(n int, a, v []float64, p, q int) (turned bool) {
	app, aqq, apq := a[p*n+p], a[q*n+q], a[q*n+p]
	const tolerance = 0x1p-106 // squared
	if !(float64(apq*apq) > math.FMA(math.Abs(float64(app*aqq)), tolerance, jacobiFloor)) {
		return false
	}
	c, s, t := rotation(apq+apq, aqq-app)
	a[p*n+p], a[q*n+q], a[q*n+p] = math.FMA(-t, apq, app), math.FMA(t, apq, aqq), 0
	for r := range n {
		if r != p && r != q {
			turn(&a[max(r, p)*n+min(r, p)], &a[max(r, q)*n+min(r, q)], c, s)
		}
	}
	for e := 0; e < len(v); e += n {
		turn(&v[e+p], &v[e+q], c, s)
	}
	return true
}

// sortColumns sorts n columns by exchanges of neighbours.
func sortColumns(n int, wrong func(i int) bool, exchange func(i int)) {
	for end := n - 1; end > 0; end-- {
		for i := range end {
			if wrong(i) {
				exchange(i)
			}
		}
	}
}

// positive gives the n elements of x, step apart, the sign that makes the first of the largest positive. It reports
// whether it turned them.
func positive(x []float64, n, step int) (turned bool) {
	most := 0.0
	for i := range n {
		most = max(most, math.Abs(x[i*step]))
	}
	at := 0
	for math.Abs(x[at*step]) < float64(most*nearlyEqual) {
		at++
	}
	turned = x[at*step] < 0
	for i := range n {
		if turned {
			x[i*step] = -x[i*step]
		}
		x[i*step] += 0
	}
	return turned
}

// smallSVD computes the singular values s, descending, of the m x n matrix a, and unless u is nil the left vectors, the
// columns of u, and the right ones, the rows of vh: min(m, n) each. It reports whether it did.
//
// The first of the largest elements of a left vector is positive.
func smallSVD(m, n int, a, u, s, vh []float64) bool {
	k, dim := min(m, n), max(m, n)
	var store [smallSide * (longSide + smallSide)]float64
	g, v := store[:k*dim], store[k*dim:k*dim+k*k] // k vectors each: of a, and of the product of the rotations
	sum := 0.0
	for i, x := range a {
		sum += math.Abs(x)
		if m >= n {
			g[i%n*dim+i/n] = x
		} else {
			g[i] = x
		}
	}
	scale, ok := jacobiScale(sum)
	if !ok {
		return false
	}
	inverse := 1 / scale
	for i := range g {
		g[i] *= inverse
	}
	for i := range k {
		v[i*k+i] = 1
	}
	if !sweeps(k, func(p, q int) (turned bool) {
		return svdPair(g[p*dim:(p+1)*dim], g[q*dim:(q+1)*dim], v[p*k:(p+1)*k], v[q*k:(q+1)*k])
	}) {
		return false
	}
	if !jacobiValues(k, dim, g, v, s) {
		return false
	}
	for i := range k {
		s[i] = float64(s[i]*scale) + 0
	}
	if u == nil {
		return true
	}
	left, right := g, v
	if m < n {
		left, right = v, g
	}
	for j := range k {
		turned := positive(left[j*m:], m, 1)
		for i := range m {
			u[i*k+j] = left[j*m+i]
		}
		for i := range n {
			x := right[j*n+i]
			if turned {
				x = -x
			}
			vh[j*n+i] = x + 0
		}
	}
	return true
}

// svdPair makes x and y orthogonal, and x the longer, and rotates vx and vy along.
func svdPair(x, y, vx, vy []float64) (turned bool) {
	var alpha, beta, gamma float64
	for i, a := range x {
		b := y[i]
		alpha, beta, gamma = math.FMA(a, a, alpha), math.FMA(b, b, beta), math.FMA(a, b, gamma)
	}
	if !(float64(gamma*gamma) > math.FMA(float64(alpha*beta), svdTolerance(len(x)), jacobiFloor)) {
		return false
	}
	h := beta - alpha
	c, s, _ := rotation(gamma+gamma, h)
	if h > 0 {
		c, s = s, -c
	}
	for i := range x {
		turn(&x[i], &y[i], c, s)
	}
	for i := range vx {
		turn(&vx[i], &vy[i], c, s)
	}
	return true
}

// svdTolerance is the square of the cosine up to which vectors count as orthogonal: that of rounded sums.
func svdTolerance(dim int) float64 { return 0x1p-104 * float64(max(dim, 4)) }

// jacobiValues divides the vectors in g by their lengths, which it sorts into s. It reports whether all are large enough.
func jacobiValues(k, dim int, g, v, s []float64) bool {
	for j := range k {
		x := g[j*dim : (j+1)*dim]
		sum := 0.0
		for _, a := range x {
			sum = math.FMA(a, a, sum)
		}
		s[j] = math.Sqrt(sum)
		if !(s[j] > leastValue) {
			return false
		}
		inverse := 1 / s[j]
		for i := range x {
			x[i] *= inverse
		}
	}
	sortColumns(k, func(i int) bool { return s[i+1] > s[i] }, func(i int) {
		s[i], s[i+1] = s[i+1], s[i]
		for e := range dim {
			g[i*dim+e], g[(i+1)*dim+e] = g[(i+1)*dim+e], g[i*dim+e]
		}
		for e := range k {
			v[i*k+e], v[(i+1)*k+e] = v[(i+1)*k+e], v[i*k+e]
		}
	})
	return true
}
