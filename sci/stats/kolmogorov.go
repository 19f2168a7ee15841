package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// exactSize is the greatest size of a sample whose distances have an exact distribution here.
const exactSize = 1000

// kolmogorov returns the probability that the distance of a sample of n elements is d or more: exactly by Marsaglia, Tsang, Wang,
// "Evaluating Kolmogorov's distribution", J. Stat. Software 8, 2003, or for large samples by the limit with a correction
// of the size (Stephens, 1970).
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
