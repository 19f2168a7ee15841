// Package stats tests hypotheses about samples and estimates their densities. Statistics and p-values are SciPy's;
// distributions come from gonum (gonum.org/v1/gonum/stat/distuv). Package weft/distributions has distributions of
// tensors, with gradients.
//
// Samples are tensors of real numbers with one axis. Results are numbers, NaN where a sample has NaN.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// An Alternative is the hypothesis beside that of no difference.
type Alternative string

// The alternatives of tests: the first sample, or the statistic, differs, is less or is greater.
const (
	TwoSided Alternative = "two-sided" // also if it is empty
	Less     Alternative = "less"
	Greater  Alternative = "greater"
)

// A Result is a statistic with its p-value.
type Result struct {
	Statistic float64
	PValue    float64
	DF        float64 // degrees of freedom, where there are any
	DF2       float64 // of the denominator of F

	interval interval
}

// String returns the numbers with their names, six digits of each.
func (r Result) String() string {
	s := fmt.Sprintf("Statistic: %.6g, PValue: %.6g", r.Statistic, r.PValue)
	if r.DF != 0 {
		s += fmt.Sprintf(", DF: %.6g", r.DF)
	}
	if r.DF2 != 0 {
		s += fmt.Sprintf(", DF2: %.6g", r.DF2)
	}
	return s
}

// TestOpts are the options of tests with an alternative.
type TestOpts struct {
	Alternative Alternative // TwoSided if it is empty
	Unequal     bool        // TTestInd: the variances may differ (Welch's test)
}

// sample returns the elements of a sample of at least n.
func sample(name, arg string, x *weft.Tensor, n int) []float64 {
	(*core.Tensor)(x).CheckArgument(name, arg)
	if x.Rank() != 1 || x.DType().Complex() {
		array.Failf(name, arg, "is %s of shape %s: want real numbers with one axis", x.DType(), array.ShapeString(x.Shape()))
	}
	if x.Size() < n {
		array.Failf(name, arg, "has %d elements: want %d or more", x.Size(), n)
	}
	return weft.Data[float64](x.Detach().To(weft.Float64))
}

func alternative(name string, opts []TestOpts) TestOpts {
	o := array.Options(name, opts)
	switch o.Alternative {
	case "":
		o.Alternative = TwoSided
	case TwoSided, Less, Greater:
	default:
		array.Failf(name, "Alternative", "%q is unknown: want two-sided, less or greater", o.Alternative)
	}
	return o
}

// symmetric returns the p-value of a statistic whose distribution is symmetric around 0, given P(X > x).
func (a Alternative) symmetric(x float64, above func(x float64) float64) float64 {
	switch a {
	case Less:
		return above(-x)
	case Greater:
		return above(x)
	}
	return 2 * above(math.Abs(x))
}

// moments returns the mean and the unbiased variance, exactly the one value and 0 of elements that are all equal: the
// rounded mean of three times 0.1 is not 0.1.
func moments(x []float64) (mean, variance float64) {
	if len(x) > 0 && slices.Min(x) == slices.Max(x) && !math.IsInf(x[0], 0) {
		return x[0], 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += float64((v - mean) * (v - mean))
	}
	return mean, variance / float64(len(x)-1)
}

// student returns the result of a test of estimate, with its standard error, against the value from.
func (a Alternative) student(estimate, from, deviation, df float64) Result {
	r := a.studentOf((estimate-from)/deviation, df)
	r.interval = interval{byStudent, a, estimate, deviation}
	return r
}

func (a Alternative) studentOf(t, df float64) Result {
	if math.IsNaN(t) {
		return Result{Statistic: t, PValue: t, DF: df}
	}
	d := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	return Result{Statistic: t, PValue: a.symmetric(t, func(x float64) float64 { return d.CDF(-x) }), DF: df}
}

// TTest1Samp tests whether the mean of a sample is mean. SciPy's ttest_1samp.
func TTest1Samp(x *weft.Tensor, mean float64, opts ...TestOpts) Result {
	const name = "stats.ttest1samp"
	o := alternative(name, opts)
	s := sample(name, "x", x, 2)
	m, v := moments(s)
	return o.Alternative.student(m, mean, math.Sqrt(v/float64(len(s))), float64(len(s)-1))
}

// TTestRel tests whether pairs have a mean difference of 0. SciPy's ttest_rel.
func TTestRel(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.ttestrel"
	o := alternative(name, opts)
	a, b := pairs(name, x, y, 2)
	for i := range a {
		a[i] -= b[i]
	}
	m, v := moments(a)
	return o.Alternative.student(m, 0, math.Sqrt(v/float64(len(a))), float64(len(a)-1))
}

func pairs(name string, x, y *weft.Tensor, n int) (a, b []float64) {
	a, b = sample(name, "x", x, n), sample(name, "y", y, n)
	if len(a) != len(b) {
		array.Failf(name, "y", "has %d elements, x %d", len(b), len(a))
	}
	return a, b
}

// TTestInd tests whether two independent samples have the same mean: Student's test, or with Unequal Welch's. SciPy's
// ttest_ind.
func TTestInd(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.ttestind"
	o := alternative(name, opts)
	a, b := sample(name, "x", x, 2), sample(name, "y", y, 2)
	n, m := float64(len(a)), float64(len(b))
	ma, va := moments(a)
	mb, vb := moments(b)
	if o.Unequal {
		p, q := va/n, vb/m
		f, g := p/(p+q), q/(p+q) // their squares neither overflow nor vanish together
		return o.Alternative.student(ma-mb, 0, math.Sqrt(p+q), 1/(f*f/(n-1)+g*g/(m-1)))
	}
	v := ((n-1)*va + (m-1)*vb) / (n + m - 2)
	return o.Alternative.student(ma-mb, 0, math.Sqrt(v*(1/n+1/m)), n+m-2)
}

// ChiSquare tests whether observed counts have the expected frequencies; expected nil means equal ones. SciPy's chisquare.
func ChiSquare(observed, expected *weft.Tensor) Result {
	const name = "stats.chisquare"
	o := sample(name, "observed", observed, 2)
	mean, _ := moments(o)
	e := slices.Repeat([]float64{mean}, len(o))
	if expected != nil {
		if e = sample(name, "expected", expected, len(o)); len(e) != len(o) {
			array.Failf(name, "expected", "has %d elements, observed %d", len(e), len(o))
		}
		if m, _ := moments(e); math.Abs(m-mean) > 1.5e-8*math.Abs(mean) || math.IsInf(m, 0) != math.IsInf(mean, 0) {
			array.Failf(name, "expected", "has another sum than observed")
		}
	}
	x := 0.0
	for i, v := range o {
		x += (v - e[i]) * (v - e[i]) / e[i]
	}
	return chi2(x, len(o)-1)
}

func chi2(x float64, df int) Result {
	p := math.NaN()
	if !math.IsNaN(x) {
		p = distuv.ChiSquared{K: float64(df)}.Survival(x)
	}
	return Result{Statistic: x, PValue: p, DF: float64(df)}
}

// Chi2Contingency tests whether rows and columns of a table of counts, of two axes, are independent, with Yates's
// correction if there is one degree of freedom. SciPy's chi2_contingency.
func Chi2Contingency(table *weft.Tensor) Result {
	const name = "stats.chi2contingency"
	(*core.Tensor)(table).CheckArgument(name, "table")
	if table.Rank() != 2 || table.DType().Complex() || table.Dim(0) < 2 || table.Dim(1) < 2 {
		array.Failf(name, "table", "is %s of shape %s: want 2 x 2 counts or more", table.DType(), array.ShapeString(table.Shape()))
	}
	t := table.Detach().To(weft.Float64)
	for _, v := range weft.Data[float64](t.Contiguous()) {
		if !(v >= 0) || math.IsInf(v, 0) {
			array.Failf(name, "table", "has %v: want counts", v)
		}
	}
	rows, cols, total := t.Sum(1), t.Sum(0), t.Sum().Item()
	expected := rows.Reshape(-1, 1).Mul(cols).Div(total)
	if !(expected.Min().Item() > 0) {
		array.Failf(name, "table", "has a row or column of zeros")
	}
	df := (t.Dim(0) - 1) * (t.Dim(1) - 1)
	d := t.Sub(expected).Abs()
	if df == 1 {
		d = d.Sub(d.Minimum(0.5))
	}
	return chi2(d.Square().Div(expected).Sum().Item(), df)
}

// PearsonR returns the correlation of pairs, with the p-value of none. SciPy's pearsonr.
func PearsonR(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.pearsonr"
	o := alternative(name, opts)
	a, b := pairs(name, x, y, 3)
	r := o.Alternative.correlation(a, b)
	r.interval = interval{byFisher, o.Alternative, math.Atanh(r.Statistic), 1 / math.Sqrt(float64(len(a)-3))}
	return r
}

// SpearmanR returns the correlation of the ranks of pairs, with the p-value of none by Student's distribution. SciPy's
// spearmanr.
func SpearmanR(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.spearmanr"
	o := alternative(name, opts)
	a, b := pairs(name, x, y, 3)
	ra, _ := rank(a, AverageRank)
	rb, _ := rank(b, AverageRank)
	return o.Alternative.correlation(ra, rb)
}

func (a Alternative) correlation(x, y []float64) Result {
	mx, vx := moments(x)
	my, vy := moments(y)
	r := 0.0
	for i := range x {
		r += (x[i] - mx) * (y[i] - my)
	}
	df := float64(len(x) - 2)
	r = max(-1, min(1, r/(float64(len(x)-1)*math.Sqrt(vx)*math.Sqrt(vy))))
	t := a.studentOf(r*math.Sqrt(df/((1-r)*(1+r))), df)
	return Result{Statistic: r, PValue: t.PValue, DF: df}
}

// rank returns the ranks of x from 1 and the sum of n^3 - n over groups of n equal elements. Both are NaN where x has NaN.
func rank(x []float64, by Ties) (r []float64, ties float64) {
	if slices.ContainsFunc(x, math.IsNaN) {
		return slices.Repeat([]float64{math.NaN()}, len(x)), math.NaN()
	}
	at := make([]int, len(x))
	r = make([]float64, len(x))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	groups := 0
	for i := 0; i < len(at); groups++ {
		j := i + 1
		for j < len(at) && x[at[j]] == x[at[i]] {
			j++
		}
		for at, k := range at[i:j] {
			switch by {
			case AverageRank:
				r[k] = float64(i+j+1) / 2
			case MinRank:
				r[k] = float64(i + 1)
			case MaxRank:
				r[k] = float64(j)
			case DenseRank:
				r[k] = float64(groups + 1)
			case OrdinalRank:
				r[k] = float64(i + at + 1)
			}
		}
		n := float64(j - i)
		ties += n*n*n - n
		i = j
	}
	return r, ties
}

// MannWhitneyU tests whether one of two independent samples tends to have greater elements. The statistic is U of x.
// The p-value is exact without ties if one sample has at most 8 elements, and the product of both sizes is at most
// 2^20. Otherwise it comes from the normal distribution with corrections for ties and continuity. SciPy's mannwhitneyu
// with method="auto".
func MannWhitneyU(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.mannwhitneyu"
	o := alternative(name, opts)
	a, b := sample(name, "x", x, 1), sample(name, "y", y, 1)
	n, m := float64(len(a)), float64(len(b))
	r, ties := rank(append(slices.Clone(a), b...), AverageRank)
	u := -n * (n + 1) / 2
	for _, v := range r[:len(a)] {
		u += v
	}
	if ties == 0 && exactRankSum(len(a), len(b)) {
		below, above := rankSums(len(a), len(b), int(u))
		return Result{Statistic: u, PValue: o.Alternative.of(below, above)}
	}
	deviation := math.Sqrt(n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1))))
	above := func(u float64) float64 { return math.Erfc((u-n*m/2-0.5)/deviation/math.Sqrt2) / 2 }
	var p float64
	switch o.Alternative {
	case Greater:
		p = above(u)
	case Less:
		p = above(n*m - u)
	default:
		p = min(1, 2*above(max(u, n*m-u)))
	}
	return Result{Statistic: u, PValue: p}
}

// KS1Samp returns the greatest distance between the distribution of a sample and cdf, which returns the probability up
// to each of its arguments, with the p-value of no difference: exact to rounding for up to 1,000 elements, then by the
// limit. SciPy's ks_1samp.
func KS1Samp(x *weft.Tensor, cdf func(x *weft.Tensor) *weft.Tensor) Result {
	const name = "stats.ks1samp"
	array.Given(name, "cdf", cdf != nil)
	s := sample(name, "x", x, 1)
	if slices.ContainsFunc(s, math.IsNaN) {
		return Result{Statistic: math.NaN(), PValue: math.NaN()}
	}
	slices.Sort(s)
	at := cdf(weft.FromSlice(slices.Clone(s)))
	if at == nil || at.Size() != len(s) || at.Rank() != 1 {
		array.Failf(name, "cdf", "does not return a number for each argument")
	}
	n := float64(len(s))
	d := 0.0
	for i, p := range weft.Data[float64](at.Detach().To(weft.Float64)) {
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return Result{Statistic: d, PValue: kolmogorov(d, n)}
}
