package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// groups returns the elements of several samples, each of at least n.
func groups(name string, samples []*weft.Tensor, n int) (list [][]float64, total int) {
	if len(samples) < 2 {
		array.Failf(name, "samples", "are %d: want 2 or more", len(samples))
	}
	for i, x := range samples {
		s := sample(name, fmt.Sprintf("sample %d", i), x, n)
		list = append(list, s)
		total += len(s)
	}
	return list, total
}

// FOneway tests whether all samples, 2 or more, have the same mean: analysis of variance with one factor. DF and DF2 of the
// result are the degrees of freedom between and within the samples. It panics with a [*weft.Error] where a
// sample is empty, or each has one element. SciPy's f_oneway.
func FOneway(samples ...*weft.Tensor) Result {
	const name = "stats.foneway"
	list, total := groups(name, samples, 1)
	if total == len(list) {
		array.Failf(name, "samples", "have one element each: want one with 2 or more")
	}
	return oneway(list, total)
}

// oneway is the analysis of variance of samples with a total number of elements.
func oneway(list [][]float64, total int) Result {
	all, _ := moments(slices.Concat(list...))
	between, within := 0.0, 0.0
	for _, s := range list {
		mean, _ := moments(s)
		between += float64(len(s)) * (mean - all) * (mean - all)
		for _, v := range s {
			within += (v - mean) * (v - mean)
		}
	}
	r := Result{DF: float64(len(list) - 1), DF2: float64(total - len(list))}
	r.Statistic = between / r.DF / (within / r.DF2)
	switch {
	case math.IsNaN(r.Statistic):
		r.PValue = math.NaN()
	case math.IsInf(r.Statistic, 1):
	default:
		r.PValue = distuv.F{D1: r.DF, D2: r.DF2}.Survival(r.Statistic)
	}
	return r
}

// Kruskal tests whether all samples, 2 or more, have the same median, by the test of Kruskal and Wallis on their ranks
// with a correction for ties. The statistic is NaN where all elements are equal. It panics with a [*weft.Error] where a
// sample is empty. SciPy's kruskal.
func Kruskal(samples ...*weft.Tensor) Result {
	const name = "stats.kruskal"
	list, total := groups(name, samples, 1)
	r, ties := rank(slices.Concat(list...), AverageRank)
	n, h := float64(total), 0.0
	for _, s := range list {
		sum := 0.0
		for _, v := range r[:len(s)] {
			sum += v
		}
		h += sum * sum / float64(len(s))
		r = r[len(s):]
	}
	h = 12/(n*(n+1))*h - 3*(n+1)
	return chi2(h/(1-ties/(n*n*n-n)), len(list)-1)
}

// exactSigned and exactTied are the greatest numbers of differences whose signed ranks have an exact distribution here:
// without ties and zeros, and with them.
const exactSigned, exactTied = 50, 13

// Wilcoxon tests whether the differences x-y of pairs are symmetric around 0, by their signed ranks. y nil stands for
// zeros. Differences of 0 are left out. The statistic is the sum of the ranks of positive differences, or with two
// sides the lesser of both sums. The p-value is exact for up to 50 differences without ties and zeros, and up to 13
// with them; otherwise it is from the normal distribution. SciPy's wilcoxon.
func Wilcoxon(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.wilcoxon"
	o := alternative(name, opts)
	var d []float64
	if y == nil {
		d = slices.Clone(sample(name, "x", x, 1))
	} else {
		a, b := pairs(name, x, y, 1)
		for i := range a {
			d = append(d, a[i]-b[i])
		}
	}
	all := len(d)
	d = slices.DeleteFunc(d, func(v float64) bool { return v == 0 })
	sizes := make([]float64, len(d))
	for i, v := range d {
		sizes[i] = math.Abs(v)
	}
	r, ties := rank(sizes, AverageRank)
	plus, minus := 0.0, 0.0
	for i, v := range r {
		if !(d[i] < 0) {
			plus += v
		}
		if !(d[i] > 0) {
			minus += v
		}
	}
	n := float64(len(d))
	statistic := plus
	if o.Alternative == TwoSided {
		statistic = min(plus, minus)
	}
	if math.IsNaN(plus) {
		return Result{Statistic: statistic, PValue: math.NaN()}
	}
	if len(d) == 0 {
		return Result{PValue: 1}
	}
	if len(d) == all && ties == 0 && all <= exactSigned || all <= exactTied {
		below, above := signedRanks(r, plus)
		return Result{Statistic: statistic, PValue: o.Alternative.of(below, above)}
	}
	z := (plus - n*(n+1)/4) / math.Sqrt((n*(n+1)*(2*n+1)-ties/2)/24)
	return Result{Statistic: statistic, PValue: o.Alternative.symmetric(z, normalAbove)}
}

func normalAbove(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// of returns the p-value of a statistic with the probabilities of at most and of at least what was seen.
func (a Alternative) of(below, above float64) float64 {
	switch a {
	case Less:
		return below
	case Greater:
		return above
	}
	return min(1, 2*min(below, above))
}

// signedRanks returns the probabilities that the sum of positive ranks is at most w, and at least w, all signs being
// as likely.
func signedRanks(ranks []float64, w float64) (below, above float64) {
	counts := []float64{1} // of sums of doubled ranks, which are whole
	for _, r := range ranks {
		rank := int(2 * r)
		counts = append(counts, make([]float64, rank)...)
		for s := len(counts) - 1; s >= rank; s-- {
			counts[s] += counts[s-rank]
		}
	}
	for s, c := range counts {
		if s <= int(2*w) {
			below += c
		}
		if s >= int(2*w) {
			above += c
		}
	}
	return math.Ldexp(below, -len(ranks)), math.Ldexp(above, -len(ranks))
}

// FisherExact tests whether rows and columns of a table of counts, 2 x 2, are independent, by the hypergeometric
// distribution. The statistic is the odds ratio. With two sides the p-value adds the probabilities of all tables that
// are at most as likely, to a relative 1e-12. It panics with a [*weft.Error] unless counts are whole and not negative.
// SciPy's fisher_exact.
func FisherExact(table *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.fisherexact"
	o := alternative(name, opts)
	(*core.Tensor)(table).CheckArgument(name, "table")
	if table.DType().Complex() || !array.Equal(table.Shape(), []int{2, 2}) {
		array.Failf(name, "table", "is %s of shape %s: want 2 x 2 counts", table.DType(), array.ShapeString(table.Shape()))
	}
	t := weft.Data[float64](table.Detach().To(weft.Float64).Contiguous())
	for _, v := range t {
		if !(v >= 0 && v <= 1<<40) || v != math.Trunc(v) {
			array.Failf(name, "table", "has %v: want counts", v)
		}
	}
	a, row, column, total := t[0], t[0]+t[1], t[0]+t[2], t[0]+t[1]+t[2]+t[3]
	r := Result{Statistic: t[0] * t[3] / (t[1] * t[2])}
	if row == 0 || column == 0 || row == total || column == total {
		return Result{Statistic: math.NaN(), PValue: 1}
	}
	// Weights of the counts k in the corner are relative to that of the mode: ratios of neighbours are exact to rounding,
	// where logarithms of factorials lose digits of great counts. They end before they underflow.
	least, most := max(0, row+column-total), min(row, column)
	mode := min(most, max(least, math.Floor((row+1)*(column+1)/(total+2))))
	each := func(visit func(k, w float64)) {
		for k, w := mode, 1.0; k <= most && w > 0x1p-1000; k++ {
			visit(k, w)
			w *= (row - k) * (column - k) / ((k + 1) * (total - row - column + k + 1))
		}
		for k, w := mode, 1.0; k > least && w > 0x1p-1000; k-- {
			w *= k * (total - row - column + k) / ((row - k + 1) * (column - k + 1))
			visit(k-1, w)
		}
	}
	rare, all := 0.0, 0.0
	each(func(k, w float64) {
		if all += w; k == a {
			rare = w * (1 + 1e-12)
		}
	})
	sum := 0.0
	each(func(k, w float64) {
		if o.Alternative == Less && k <= a || o.Alternative == Greater && k >= a || o.Alternative == TwoSided && w <= rare {
			sum += w
		}
	})
	r.PValue = sum / all
	return r
}
