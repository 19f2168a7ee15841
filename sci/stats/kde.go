package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// A Bandwidth is a rule for the width of the kernels of [NewGaussianKDE].
type Bandwidth string

// The rules, for points of d coordinates and n the effective size of the sample, [GaussianKDE.Neff].
const (
	Scott     Bandwidth = "scott"     // n^(-1/(d+4))
	Silverman Bandwidth = "silverman" // (n*(d+2)/4)^(-1/(d+4))
)

// KDEOpts are the options of [NewGaussianKDE].
type KDEOpts struct {
	Bandwidth Bandwidth    // Scott if it is empty
	Factor    *float64     // the width in units of the sample's deviation, in place of a rule
	Weights   *weft.Tensor // of the points, [n], 0 or more; nil: all are equal
}

// A GaussianKDE is an estimate of the density of a sample: a mean of normal densities around its points. It may be used
// by several goroutines.
type GaussianKDE struct {
	d, n          int
	data          *weft.Tensor // [d n]
	weights       *weft.Tensor // [n], of sum 1
	neff, factor  float64
	cov, l, white *weft.Tensor // covariance of the kernels, its factor of Cholesky, l^-1 * data
	logNorm       float64
}

// NewGaussianKDE returns the kernel density estimate of a sample: dataset has n numbers, [n], or n points of d
// coordinates as columns, [d n]. All kernels have the covariance of the sample times the square of the factor. It
// panics with a [*weft.Error] for bad arguments, for numbers that are not finite, and where the points are on a line or
// plane. SciPy's gaussian_kde.
func NewGaussianKDE(dataset *weft.Tensor, opts ...KDEOpts) *GaussianKDE {
	const name = "stats.newgaussiankde"
	o := array.Options(name, opts)
	(*core.Tensor)(dataset).CheckArgument(name, "dataset")
	if r := dataset.Rank(); r < 1 || r > 2 || dataset.DType().Complex() || dataset.Dim(-1) < 2 || dataset.Dim(0) < 1 {
		array.Failf(name, "dataset", "is %s of shape %s: want 2 or more real numbers, or columns of them", dataset.DType(), array.ShapeString(dataset.Shape()))
	}
	k := &GaussianKDE{d: 1, n: dataset.Dim(-1)}
	if dataset.Rank() == 2 {
		k.d = dataset.Dim(0)
	}
	k.data = dataset.Detach().To(weft.Float64).Reshape(k.d, k.n).Contiguous()
	if k.data.IsFinite().All().Item() == 0 {
		array.Failf(name, "dataset", "has numbers that are not finite")
	}
	squares := k.weigh(name, o.Weights)
	k.neff = 1 / squares
	n, d := k.neff, float64(k.d)
	switch o.Bandwidth {
	case "", Scott:
		k.factor = math.Pow(n, -1/(d+4))
	case Silverman:
		k.factor = math.Pow(n*(d+2)/4, -1/(d+4))
	default:
		array.Failf(name, "Bandwidth", "%q is unknown: want scott or silverman", o.Bandwidth)
	}
	if o.Factor != nil {
		if o.Bandwidth != "" {
			array.Failf(name, "Factor", "is given with Bandwidth: want one")
		}
		if k.factor = *o.Factor; !(k.factor > 0) || math.IsInf(k.factor, 1) {
			array.Failf(name, "Factor", "is %v: want a finite number above 0", k.factor)
		}
	}
	mean := k.data.MatMul(k.weights).Reshape(k.d, 1)
	apart := k.data.Sub(mean)
	k.cov = apart.Mul(k.weights).MatMul(apart.Transpose(0, 1)).Mul(k.factor * k.factor / (1 - squares))
	if err := weft.Try(func() { k.l = linalg.Cholesky(k.cov) }); err != nil || !(1-squares > 0) || k.flat() {
		if k.d == 1 {
			array.Failf(name, "dataset", "has the variance %v: want two or more different numbers with a weight above 0", k.cov.Item())
		}
		array.Failf(name, "dataset", "has points of %d coordinates that are all on a line, plane or the like: leave coordinates out", k.d)
	}
	k.white = linalg.SolveTriangular(k.l, k.data, linalg.SolveTriangularOpts{Lower: true})
	k.logNorm = d / 2 * math.Log(2*math.Pi)
	for i := range k.d {
		k.logNorm += math.Log(k.l.At(i, i).Item())
	}
	return k
}

// weigh sets the weights and returns the sum of their squares.
func (k *GaussianKDE) weigh(name string, weights *weft.Tensor) float64 {
	w := make([]float64, k.n)
	if weights == nil {
		for i := range w {
			w[i] = 1
		}
	} else if copy(w, sample(name, "Weights", weights, k.n)); weights.Size() != k.n {
		array.Failf(name, "Weights", "has %d elements, dataset %d points", weights.Size(), k.n)
	}
	sum, squares := 0.0, 0.0
	for i, v := range w {
		if !(v >= 0) {
			array.Failf(name, "Weights", "has %v at %d: want numbers from 0 on", v, i)
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		array.Failf(name, "Weights", "have the sum %v: want a finite number above 0", sum)
	}
	for i := range w {
		w[i] /= sum
		squares += w[i] * w[i]
	}
	k.weights = weft.FromSlice(w)
	return squares
}

// flat reports whether a coordinate is determined by those before it to the digits of float64.
func (k *GaussianKDE) flat() bool {
	for i := range k.d {
		if v := k.l.At(i, i).Item(); !(v*v > 1e-14*k.cov.At(i, i).Item()) {
			return true
		}
	}
	return false
}

// Neff returns the effective size of the sample: the square of the sum of the weights over the sum of their squares.
func (k *GaussianKDE) Neff() float64 { return k.neff }

// Factor returns the width of the kernels in units of the sample's deviation.
func (k *GaussianKDE) Factor() float64 { return k.factor }

// Covariance returns the covariance of a kernel, float64 [d d].
func (k *GaussianKDE) Covariance() *weft.Tensor { return k.cov.Clone() }

// kdeBlock is the most pairs of a point and a kernel that are computed at once.
const kdeBlock = 1 << 20

// Evaluate returns the density at points, [m], or [d m] with points as columns: float64 [m]. It has gradients with
// respect to the points. It panics with a [*weft.Error] for other shapes.
func (k *GaussianKDE) Evaluate(points *weft.Tensor) *weft.Tensor {
	return k.at("stats.gaussiankde.evaluate", points, func(exponents *weft.Tensor) *weft.Tensor {
		return exponents.Exp().MatMul(k.weights)
	})
}

// LogPDF returns the logarithm of the density as [GaussianKDE.Evaluate] returns the density, also where that is too
// small for a float64.
func (k *GaussianKDE) LogPDF(points *weft.Tensor) *weft.Tensor {
	logs := k.weights.Log()
	return k.at("stats.gaussiankde.logpdf", points, func(exponents *weft.Tensor) *weft.Tensor {
		return exponents.Add(logs).LogSumExp(1)
	})
}

// at joins the exponents of the kernels, [block n], for blocks of points.
func (k *GaussianKDE) at(name string, points *weft.Tensor, join func(exponents *weft.Tensor) *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(points).CheckArgument(name, "points")
	if points.DType().Complex() || !(points.Rank() == 2 && points.Dim(0) == k.d || points.Rank() == 1 && k.d == 1) {
		array.Failf(name, "points", "is %s of shape %s: want real numbers, [%d m] for m points", points.DType(), array.ShapeString(points.Shape()), k.d)
	}
	p := linalg.SolveTriangular(k.l, points.To(weft.Float64).Reshape(k.d, points.Dim(-1)), linalg.SolveTriangularOpts{Lower: true})
	m, step := points.Dim(-1), max(1, kdeBlock/k.n)
	parts := []*weft.Tensor{weft.ZerosOf(weft.Float64, 0)}
	for begin := 0; begin < m; begin += step {
		end := min(begin+step, m)
		var sum *weft.Tensor
		for i := range k.d {
			d := p.At(i).Slice(weft.Range(begin, end)).Reshape(-1, 1).Sub(k.white.At(i)).Square()
			if sum == nil {
				sum = d
			} else {
				sum = sum.Add(d)
			}
		}
		parts = append(parts, join(sum.Mul(-0.5).Sub(k.logNorm)))
	}
	return weft.Cat(parts, 0)
}

// Resample returns n draws from the density, float64 [d n], or [n] of a sample of numbers: points of the sample plus
// normal noise. It panics with a [*weft.Error] for an n below 0.
func (k *GaussianKDE) Resample(g *weft.Generator, n int) *weft.Tensor {
	const name = "stats.gaussiankde.resample"
	array.Given(name, "g", g != nil)
	if n < 0 {
		array.Failf(name, "n", "is %d: want a number of draws", n)
	}
	draws := k.data.IndexSelect(1, g.Multinomial(k.weights, n)).Add(k.l.MatMul(g.RandnOf(weft.Float64, k.d, n)))
	if k.d == 1 {
		return draws.Reshape(n)
	}
	return draws
}

// IntegrateBox returns the probability of the box from low to high, which have d numbers each; they may be infinite. It
// is exact to about 1e-13 for one and two coordinates. For more it is Genz's sum over a lattice ("Numerical computation
// of multivariate normal probabilities", J. Comput. Graph. Stat. 1, 1992) with an error of about 1e-5; the same box
// always has the same result. It panics with a [*weft.Error] for other sizes and NaN. SciPy's integrate_box and
// integrate_box_1d.
func (k *GaussianKDE) IntegrateBox(low, high []float64) float64 {
	const name = "stats.gaussiankde.integratebox"
	check := func(arg string, x []float64) {
		if len(x) != k.d {
			array.Failf(name, arg, "has %d elements: want %d", len(x), k.d)
		}
		for _, v := range x {
			if math.IsNaN(v) {
				array.Failf(name, arg, "is %v: want numbers", x)
			}
		}
	}
	check("low", low)
	check("high", high)
	l, data, weights := weft.Data[float64](k.l.Contiguous()), weft.Data[float64](k.data), weft.Data[float64](k.weights)
	b := &box{d: k.d, l: l, from: make([]float64, k.d), to: make([]float64, k.d), z: make([]float64, k.d)}
	b.nodes, b.shares = make([]float64, 16), make([]float64, 16)
	quad.Legendre{}.FixedLocations(b.nodes, b.shares, -1, 1)
	b.size, b.steps = max(512, min(1<<14, 1<<23/k.n)), roots(2*k.d)
	total := 0.0
	for i, w := range weights {
		for j := range k.d {
			b.from[j], b.to[j] = low[j]-data[j*k.n+i], high[j]-data[j*k.n+i]
		}
		if w > 0 {
			total += w * b.probability(i)
		}
	}
	return total
}

// A box is the probability that l*z is between from and to for normal z.
type box struct {
	d             int
	l             []float64 // [d d], lower
	from, to, z   []float64
	nodes, shares []float64 // of Gauss and Legendre's formula from -1 to 1
	size          int       // points of the lattice
	steps         []float64 // of the lattice along each axis, and from kernel to kernel
}

// limits returns where z[j] must be for the z before it.
func (b *box) limits(j int) (from, to float64) {
	sum := 0.0
	for i := range j {
		sum += b.l[j*b.d+i] * b.z[i]
	}
	return (b.from[j] - sum) / b.l[j*b.d+j], (b.to[j] - sum) / b.l[j*b.d+j]
}

// between returns the probability of normal numbers from a to b, with all digits in both tails.
func between(a, b float64) float64 {
	if a > 0 {
		return (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2
	}
	return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
}

func (b *box) probability(index int) float64 {
	from, to := b.limits(0)
	switch b.d {
	case 1:
		return between(from, to)
	case 2:
		if from > to {
			return -b.plane(max(to, -9), min(from, 9))
		}
		return b.plane(max(from, -9), min(to, 9))
	}
	sum := 0.0
	for n := range b.size {
		part := 1.0
		for j := range b.d {
			from, to := b.limits(j)
			inside := between(from, to)
			if part *= inside; part == 0 || j == b.d-1 {
				break
			}
			// Irrational steps and a shift for each kernel, folded so that the integrand is periodic.
			_, u := math.Modf(float64(n)*b.steps[j] + float64(index)*b.steps[b.d+j])
			u = math.Abs(2*u - 1)
			if from > 0 { // mirrored, for the digits of the tail
				b.z[j] = -mathext.NormalQuantile(tail(math.Erfc(from/math.Sqrt2)/2 - u*inside))
			} else {
				b.z[j] = mathext.NormalQuantile(tail(math.Erfc(-from/math.Sqrt2)/2 + u*inside))
			}
		}
		sum += part
	}
	return sum / float64(b.size)
}

// tail keeps a probability where its quantile is finite.
func tail(p float64) float64 { return max(1e-300, min(1-0x1p-53, p)) }

// roots returns the fractions of the square roots of the first n primes.
func roots(n int) (f []float64) {
	for p := 2; len(f) < n; p++ {
		prime := true
		for q := 2; q*q <= p; q++ {
			prime = prime && p%q != 0
		}
		if prime {
			_, root := math.Modf(math.Sqrt(float64(p)))
			f = append(f, root)
		}
	}
	return f
}

// plane returns the probability for two coordinates, z[0] being from a to b: an integral over pieces of length 1, or
// shorter where a limit of z[1] passes 0.
func (b *box) plane(from, to float64) float64 {
	width := max(1e-9, min(1, b.l[3]/math.Abs(b.l[2])))
	sum := 0.0
	for at := from; at < to; {
		step := 1.0
		for _, limit := range []float64{b.from[1], b.to[1]} {
			center, reach := limit/b.l[2], 9*width
			switch {
			case math.IsInf(center, 0) || math.IsNaN(center) || at >= center+reach:
			case at > center-reach-width/2:
				step = min(step, width)
			default:
				step = min(step, center-reach-at)
			}
		}
		next := min(at+step, to)
		for i, x := range b.nodes {
			b.z[0] = (at+next)/2 + (next-at)/2*x
			low, high := b.limits(1)
			sum += b.shares[i] * (next - at) / 2 * math.Exp(-b.z[0]*b.z[0]/2) / math.Sqrt(2*math.Pi) * between(low, high)
		}
		at = next
	}
	return sum
}

// String says what is estimated, not its numbers.
func (k *GaussianKDE) String() string {
	return fmt.Sprintf("stats.GaussianKDE of %d points of %d coordinates, factor %v", k.n, k.d, k.factor)
}
