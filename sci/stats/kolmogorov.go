package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weft"
)

// KS2Samp tests whether two independent samples have the same distribution: the statistic is the greatest distance
// between the shares of x and of y up to a number, or with Less how far that of y is above, with Greater that of x. So
// Less speaks for greater elements of x, as in SciPy. P-values are exact for samples of up to 10,000 elements each;
// ties count as if there were none. For larger ones they come from the distribution of one sample of n*m/(n+m)
// elements, or of one side from a limit (Hodges, "The significance probability of the Smirnov two-sample test", Ark.
// Mat. 3, 1958). SciPy's ks_2samp with method="auto".
func KS2Samp(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.ks2samp"
	o := alternative(name, opts)
	a, b := sample(name, "x", x, 1), sample(name, "y", y, 1)
	if slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return Result{Statistic: math.NaN(), PValue: math.NaN()}
	}
	slices.Sort(a)
	slices.Sort(b)
	n, m := len(a), len(b)
	distance := 0 // times n*m
	for i, j := 0, 0; i < n && j < m; {
		v := min(a[i], b[j])
		for i < n && a[i] == v {
			i++
		}
		for j < m && b[j] == v {
			j++
		}
		distance = max(distance, o.Alternative.apart(i*m-j*n))
	}
	d := float64(distance) / float64(n) / float64(m)
	r := Result{Statistic: d, PValue: 1}
	big, small := float64(max(n, m)), float64(min(n, m))
	switch {
	case distance == 0:
	case big <= exactPair:
		r.PValue = o.Alternative.paths(n, m, distance)
	case o.Alternative == TwoSided:
		r.PValue = kolmogorov(d, math.RoundToEven(big*small/(big+small)))
	default:
		z := math.Sqrt(big*small/(big+small)) * d
		r.PValue = min(1, math.Exp(-2*z*z-2*z*(big+2*small)/math.Sqrt(big*small*(big+small))/3))
	}
	return r
}

// exactPair is the greatest size of two samples whose distances have an exact distribution here.
const exactPair = 10000

// apart returns how far a difference of both shares speaks for the alternative.
func (a Alternative) apart(difference int) int {
	switch a {
	case Less:
		return -difference
	case Greater:
		return difference
	}
	return max(difference, -difference)
}

// paths returns the probability that a random path of n steps along one axis and m along the other comes a distance,
// times n*m, from the diagonal: all orders of two samples are equally likely. Probabilities of paths to a place are
// sums of positive numbers, so that small ones keep their digits. It visits the places nearer than distance alone.
func (a Alternative) paths(n, m, distance int) float64 {
	row := make([]float64, m+1)
	for j := range row {
		row[j] = 1 // a place that far from the diagonal
	}
	begin := 0 // the places before are that far
	for i := range n + 1 {
		low, high := 0, m
		if a != Less {
			low = max(0, floorDiv(i*m-distance, n)+1)
		}
		if a != Greater {
			high = min(m, (i*m+distance-1)/n)
		}
		for ; begin < low; begin++ {
			row[begin] = 1
		}
		for j := low; j <= high; j++ {
			switch {
			case i == 0 || j == 0:
				row[j] = 0
			default: // the last of i+j elements is one of i with probability i/(i+j)
				row[j] = (float64(float64(i)*row[j]) + float64(float64(j)*row[j-1])) / float64(i+j)
			}
		}
	}
	return row[m]
}

// floorDiv returns x/y rounded down, for y above 0.
func floorDiv(x, y int) int {
	if x < 0 {
		return -((-x + y - 1) / y)
	}
	return x / y
}

// exactSize is the greatest size of a sample whose distances have an exact distribution here.
const exactSize = 1000

// kolmogorov returns the probability that the distance of a sample of n elements is d or more: exactly by Marsaglia,
// Tsang, Wang, "Evaluating Kolmogorov's distribution", J. Stat. Software 8, 2003, or for large samples by the limit
// with a correction of the size (Stephens, 1970).
func kolmogorov(d, n float64) float64 {
	switch {
	case d <= 0:
		return 1
	case d >= 1:
		return 0
	case n > exactSize || n*d*d > 18:
		return limit(d, n)
	}
	k := int(n*d) + 1
	m := 2*k - 1
	h := float64(k) - n*d
	a := mat.NewDense(m, m, nil)
	for i := range m {
		for j := 0; j < min(i+2, m); j++ {
			a.Set(i, j, 1)
		}
	}
	power := h
	for i := range m { // the first column and the last row
		a.Set(i, 0, a.At(i, 0)-power)
		a.Set(m-1, m-1-i, a.At(m-1, m-1-i)-power)
		power *= h
	}
	if h > 0.5 {
		a.Set(m-1, 0, a.At(m-1, 0)+math.Pow(2*h-1, float64(m)))
	}
	for i := range m {
		for j := range min(i+1, m) {
			a.Set(i, j, a.At(i, j)/math.Gamma(float64(i-j+2)))
		}
	}
	// The power of the matrix, scaled by exp(-log), times n!/n^n.
	var product *mat.Dense
	log := 0.0
	square, squareLog := mat.DenseCopyOf(a), 0.0
	for e := int(n); e > 0; e /= 2 {
		if e%2 == 1 {
			if log += squareLog; product == nil {
				product = mat.DenseCopyOf(square)
			} else {
				var next mat.Dense
				next.Mul(product, square)
				product = &next
			}
		}
		var next mat.Dense
		next.Mul(square, square)
		squareLog *= 2
		if s := mat.Max(&next); s > 1e100 {
			next.Scale(1/s, &next)
			squareLog += math.Log(s)
		}
		square = &next
		if product == nil {
			continue
		}
		if s := mat.Max(product); s > 1e100 {
			product.Scale(1/s, product)
			log += math.Log(s)
		}
	}
	factorial, _ := math.Lgamma(n + 1)
	return max(0, min(1, 1-product.At(k-1, k-1)*math.Exp(log+factorial-n*math.Log(n))))
}

// limit is the limit for large n.
func limit(d, n float64) float64 {
	root := math.Sqrt(n)
	x := (root + 0.12 + 0.11/root) * d
	sum, sign := 0.0, 1.0
	for j := 1.0; j <= 100; j++ {
		term := math.Exp(-2 * j * j * x * x)
		sum += sign * term
		if sign = -sign; term < 1e-17*sum {
			break
		}
	}
	return max(0, min(1, 2*sum))
}
