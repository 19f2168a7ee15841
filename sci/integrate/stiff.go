package integrate

import (
	"math"

	"weft"
	"weft/linalg"
)

// newtonTol is how small the steps of Newton's method must become beside the tolerances.
func (p *problem) newtonTol() float64 {
	return max(10*0x1p-52/p.rtol, min(0.03, math.Sqrt(p.rtol)))
}

// jacobian returns the derivatives of f with respect to y.
func (p *problem) jacobian(t float64, y *weft.Tensor) *weft.Tensor {
	return weft.Jacobian(func(y *weft.Tensor) *weft.Tensor { return p.slope(t, y) }, y).Detach()
}

// newton iterates until its steps are small: step takes one and returns its size. It reports whether they become so, how
// many there were, and the last ratio of sizes.
func newton(most int, tol float64, step func() (size float64)) (ok bool, steps int, rate float64) {
	before := 0.0
	for k := range most {
		size := step()
		if !finite(size) {
			return false, k + 1, rate
		}
		if k > 0 {
			rate = size / before
			if rate >= 1 || math.Pow(rate, float64(most-1-k))/(1-rate)*size > tol {
				return false, k + 1, rate
			}
		}
		if size == 0 || k > 0 && rate/(1-rate)*size < tol {
			return true, k + 1, rate
		}
		before = size
	}
	return false, most, rate
}

// Coefficients of [Radau]: times of the stages, weights of the error, the eigenvalues of the inverse of the matrix of the
// method, its eigenvectors and their inverse, and the interpolant.
var (
	root6       = math.Sqrt(6)
	radauTimes  = [3]float64{(4 - root6) / 10, (4 + root6) / 10, 1}
	radauErrors = [3]float64{(-13 - 7*root6) / 3, (-13 + 7*root6) / 3, -1.0 / 3}
	radauReal   = 3 + math.Cbrt(9) - math.Cbrt(3)
	radauPair   = complex(3+(math.Cbrt(3)-math.Cbrt(9))/2, -(math.Pow(3, 5.0/6)+math.Pow(3, 7.0/6))/2)
	radauT      = [3][3]float64{{0.09443876248897524, -0.14125529502095421, 0.03002919410514742}, {0.25021312296533332, 0.20412935229379994, -0.38294211275726192}, {1, 1, 0}}
	radauTI     = [3][3]float64{{4.17871859155190428, 0.32768282076106237, 0.52337644549944951}, {-4.17871859155190428, -0.32768282076106237, 0.47662355450055044},
		{0.50287263494578682, -2.57192694985560522, 0.59603920482822492}}
	radauWithin = [3][3]float64{{(13 + 7*root6) / 3, (-23 - 22*root6) / 3, 10.0/3 + 5*root6}, {(13 - 7*root6) / 3, (-23 + 22*root6) / 3, 10.0/3 - 5*root6}, {1.0 / 3, -8.0 / 3, 10.0 / 3}}
)

// A radau is the state of [Radau] between steps.
type radau struct {
	p        *problem
	j        *weft.Tensor // the Jacobian, at time at
	at       float64
	h        float64 // of the factors
	lu, pair [2]*weft.Tensor
	within   func(part float64) *weft.Tensor // of the last step that was tried, from time from on
	from     float64
	length   float64
	rejected bool
}

func (r *radau) factor(h float64) {
	n := r.p.y.Size()
	r.h = h
	r.lu[0], r.lu[1] = linalg.LUFactor(weft.EyeOf(weft.Float64, n).Mul(radauReal / h).Sub(r.j))
	r.pair[0], r.pair[1] = linalg.LUFactor(weft.EyeOf(weft.Complex128, n).Mul(radauPair / complex(h, 0)).Sub(r.j))
}

// combine returns the sum of c[i]*x[i].
func combine(c [3]float64, x [3]*weft.Tensor) *weft.Tensor { return combined(1, c[:], x[:]) }

// column returns column k of a matrix.
func column(m [3][3]float64, k int) [3]float64 { return [3]float64{m[0][k], m[1][k], m[2][k]} }

// step takes a step of h.
func (r *radau) step(h float64) (y, wrong, k *weft.Tensor, within func(part float64) *weft.Tensor) {
	p := r.p
	fresh := r.j == nil
	if fresh {
		r.j, r.at = p.jacobian(p.t, p.y), p.t
	}
	if fresh || r.h != h {
		r.factor(h)
	}
	z, ok, steps, rate := r.stages(h)
	if !ok && r.at != p.t { // with a Jacobian of this step
		r.j, r.at = p.jacobian(p.t, p.y), p.t
		r.factor(h)
		z, ok, steps, rate = r.stages(h)
	}
	y = p.y.Add(z[2])
	if !ok {
		r.rejected = true
		return y, weft.FullOf(weft.Float64, math.Inf(1), y.Shape()...), p.k, nil
	}
	ze := combine(radauErrors, z).Div(h)
	solve := func(b *weft.Tensor) *weft.Tensor { return linalg.LUSolve(r.lu[0], r.lu[1], b) }
	wrong = solve(p.k.Add(ze))
	if size := p.size(wrong, p.y, y); r.rejected && size >= 1 {
		wrong = solve(p.slope(p.t, p.y.Add(wrong)).Add(ze))
	}
	k = p.slope(p.t+h, y)
	q := [3]*weft.Tensor{combine(column(radauWithin, 0), z), combine(column(radauWithin, 1), z), combine(column(radauWithin, 2), z)}
	start := p.y
	within = func(x float64) *weft.Tensor { return start.Add(combine([3]float64{x, x * x, x * x * x}, q)) }
	if r.rejected = !(p.size(wrong, p.y, y) < 1); !r.rejected {
		r.within, r.from, r.length = within, p.t, h
		if steps > 2 && rate > 1e-3 {
			r.j = nil
		}
	}
	return y, wrong, k, within
}

// accepted returns the factor of the next step's size: 1 rather than a little more where the factors can stay.
func (r *radau) accepted(n float64) float64 {
	grow := min(10, 0.9*math.Pow(n, -1/r.p.order))
	if r.j != nil && grow >= 1 && grow < 1.2 {
		return 1
	}
	return grow
}

// stages solves for the differences of the stages from y, by Newton's method.
func (r *radau) stages(h float64) (z [3]*weft.Tensor, ok bool, steps int, rate float64) {
	p := r.p
	zero := p.y.Mul(0)
	var w [3]*weft.Tensor
	for i, c := range radauTimes {
		if z[i] = zero; r.within != nil {
			z[i] = r.within((p.t + c*h - r.from) / r.length).Sub(p.y)
		}
	}
	for i := range w {
		w[i] = combine(radauTI[i], z)
	}
	pair := radauPair / complex(h, 0)
	ok, steps, rate = newton(6, p.newtonTol(), func() float64 {
		var f [3]*weft.Tensor
		for i, c := range radauTimes {
			f[i] = p.slope(p.t+c*h, p.y.Add(z[i]))
		}
		d0 := linalg.LUSolve(r.lu[0], r.lu[1], combine(radauTI[0], f).Sub(w[0].Mul(radauReal/h)))
		d := linalg.LUSolve(r.pair[0], r.pair[1], weft.Complex(combine(radauTI[1], f), combine(radauTI[2], f)).Sub(weft.Complex(w[1], w[2]).Mul(pair)))
		change := [3]*weft.Tensor{d0, d.Real(), d.Imag()}
		for i := range w {
			w[i] = w[i].Add(change[i])
		}
		for i := range z {
			z[i] = combine(radauT[i], w)
		}
		size := 0.0
		for _, c := range change {
			s := p.size(c, p.y, p.y)
			size += s * s
		}
		return math.Sqrt(size / 3)
	})
	return z, ok, steps, rate
}

// maxBDF is the greatest order of [BDF].
const maxBDF = 5

// Coefficients of [BDF] by its order (Shampine, Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18, 1997).
var bdfGamma, bdfAlpha, bdfError = func() (gamma, alpha, wrong [maxBDF + 1]float64) {
	kappa := [maxBDF + 1]float64{0, -0.1850, -1.0 / 9, -0.0823, -0.0415, 0}
	for i := range gamma {
		if i > 0 {
			gamma[i] = gamma[i-1] + 1/float64(i)
		}
		alpha[i] = (1 - kappa[i]) * gamma[i]
		wrong[i] = kappa[i]*gamma[i] + 1/float64(i+1)
	}
	return
}()

// A bdf is the state of [BDF]: backward differences of y for a step of h.
type bdf struct {
	p      *problem
	d      [maxBDF + 3]*weft.Tensor
	order  int
	h      float64
	equal  int // steps with this h and order
	j      *weft.Tensor
	at     float64 // of j
	c      float64 // of the factors
	lu     [2]*weft.Tensor
	next   [maxBDF + 3]*weft.Tensor // differences after the step that was tried
	y      *weft.Tensor
	before *weft.Tensor
}

// resize changes the differences to a step of h.
func (b *bdf) resize(h float64) {
	if b.h == h {
		return
	}
	if b.d[0] == nil {
		b.d[0], b.d[1], b.order = b.p.y, b.p.k.Mul(h), 1
		b.d[2], b.d[3] = b.p.y.Mul(0), b.p.y.Mul(0)
	} else {
		n := b.order + 1
		r, u := differences(b.order, h/b.h), differences(b.order, 1)
		var d [maxBDF + 3]*weft.Tensor
		for i := range n {
			c := make([]float64, n)
			for j := range n {
				for k := range n {
					c[j] += r[j][k] * u[k][i]
				}
			}
			if d[i] = combined(1, c, b.d[:n]); d[i] == nil {
				d[i] = b.p.y.Mul(0)
			}
		}
		copy(b.d[:n], d[:n])
	}
	b.h, b.equal = h, 0
}

// differences returns the matrix that changes the step of differences by a factor.
func differences(order int, factor float64) (m [maxBDF + 1][maxBDF + 1]float64) {
	for j := 0; j <= order; j++ {
		m[0][j] = 1
		for i := 1; i <= order && j > 0; i++ {
			m[i][j] = m[i-1][j] * (float64(i) - 1 - factor*float64(j)) / float64(i)
		}
	}
	return m
}

func (b *bdf) step(h float64) (y, wrong, k *weft.Tensor, within func(part float64) *weft.Tensor) {
	p := b.p
	b.resize(h)
	var guess *weft.Tensor
	for _, d := range b.d[:b.order+1] {
		if guess == nil {
			guess = d
		} else {
			guess = guess.Add(d)
		}
	}
	psi := combined(1/bdfAlpha[b.order], bdfGamma[1:b.order+1], b.d[1:b.order+1])
	c := h / bdfAlpha[b.order]
	factor := func() {
		b.c = c
		b.lu[0], b.lu[1] = linalg.LUFactor(weft.EyeOf(weft.Float64, p.y.Size()).Sub(b.j.Mul(c)))
	}
	var d *weft.Tensor
	solve := func() bool {
		y, d = guess, guess.Mul(0)
		ok, _, _ := newton(4, p.newtonTol(), func() float64 {
			change := linalg.LUSolve(b.lu[0], b.lu[1], p.slope(p.t+h, y).Mul(c).Sub(psi).Sub(d))
			y, d = y.Add(change), d.Add(change)
			return p.size(change, guess, guess)
		})
		return ok
	}
	if b.j == nil {
		b.j, b.at = p.jacobian(p.t, p.y), p.t
		factor()
	} else if b.c != c {
		factor()
	}
	if !solve() {
		again := false
		if b.at != p.t {
			// One that is not finite would spoil the shorter steps that follow.
			if j := p.jacobian(p.t+h, guess); j.IsFinite().All().Item() != 0 {
				b.j, b.at = j, p.t
				factor()
				again = solve()
			}
		}
		if !again {
			return y, weft.FullOf(weft.Float64, math.Inf(1), y.Shape()...), p.k, nil
		}
	}
	n := b.order
	b.next = b.d
	b.next[n+2] = d
	if b.d[n+1] != nil {
		b.next[n+2] = d.Sub(b.d[n+1])
	}
	b.next[n+1] = d
	for i := n; i >= 0; i-- {
		b.next[i] = b.next[i].Add(b.next[i+1])
	}
	b.y, b.before = y, p.y
	list := b.next
	within = func(part float64) *weft.Tensor {
		sum, product := list[0], 1.0
		for i := range n {
			product *= (part - 1 + float64(i)) / float64(i+1)
			sum = sum.Add(list[i+1].Mul(product))
		}
		return sum
	}
	return y, d.Mul(bdfError[n]), p.k, within
}

// accepted takes the step that was tried, with an error of size n, and returns the factor of the next step's size.
func (b *bdf) accepted(n float64) float64 {
	b.d = b.next
	if b.equal++; b.equal < b.order+1 {
		return 1
	}
	best, order := math.Pow(n, -1/float64(b.order+1)), b.order
	consider := func(k int, d *weft.Tensor) {
		if s := math.Pow(b.p.size(d.Mul(bdfError[k]), b.before, b.y), -1/float64(k+1)); s > best {
			best, order = s, k
		}
	}
	now := b.order
	if now > 1 {
		consider(now-1, b.d[now])
	}
	if now < maxBDF {
		consider(now+1, b.d[now+2])
	}
	b.order, b.equal = order, 0
	b.p.order = float64(order + 1)
	return min(10, 0.9*best)
}
