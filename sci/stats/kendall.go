package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"weft"
)

// exactKendall is the greatest number of pairs for which all orders have their exact distribution here.
const exactKendall = 33

// KendallTau returns the rank correlation of pairs, Kendall's tau-b, which corrects for ties, with the p-value of none.
// Discordant pairs are counted by merging (Knight, "A computer method for calculating Kendall's tau with ungrouped
// data", 1966). The p-value is exact without ties for up to 33 pairs, and where at most one pair differs from a perfect
// order; otherwise it is from the normal distribution. Both are NaN where all elements of a sample are equal. SciPy's
// kendalltau with method="auto".
func KendallTau(x, y *weft.Tensor, opts ...TestOpts) Result {
	const name = "stats.kendalltau"
	o := alternative(name, opts)
	a, b := pairs(name, x, y, 2)
	missing := Result{Statistic: math.NaN(), PValue: math.NaN()}
	if slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return missing
	}
	at := make([]int, len(a))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int { return cmp.Or(cmp.Compare(a[i], a[j]), cmp.Compare(b[i], b[j])) })
	var inX, inY, inBoth ties
	same := func(x []float64) func(i, j int) bool { return func(i, j int) bool { return x[i] == x[j] } }
	inX.count(at, same(a))
	inBoth.count(at, func(i, j int) bool { return a[i] == a[j] && b[i] == b[j] })
	ordered := make([]float64, len(b))
	for i, k := range at {
		ordered[i] = b[k]
	}
	discordant := inversions(ordered, make([]float64, len(b)))
	slices.SortFunc(at, func(i, j int) int { return cmp.Compare(b[i], b[j]) })
	inY.count(at, same(b))
	n := float64(len(a))
	all := n * (n - 1) / 2
	if inX.pairs == all || inY.pairs == all {
		return missing
	}
	more := all - inX.pairs - inY.pairs + inBoth.pairs - 2*discordant
	tau := max(-1, min(1, more/math.Sqrt(all-inX.pairs)/math.Sqrt(all-inY.pairs)))
	if inX.pairs == 0 && inY.pairs == 0 && (len(a) <= exactKendall || min(discordant, all-discordant) <= 1) {
		below, above := orders(len(a), all-discordant, all)
		return Result{Statistic: tau, PValue: o.Alternative.of(below, above)}
	}
	variance := (2*all*(2*n+5)-inX.variances-inY.variances)/18 + inX.pairs*inY.pairs/all + inX.triples*inY.triples/(18*all*(n-2))
	return Result{Statistic: tau, PValue: o.Alternative.symmetric(more/math.Sqrt(variance), normalAbove)}
}

// ties are sums over groups of n equal elements: n(n-1)/2, n(n-1)(n-2) and n(n-1)(2n+5).
type ties struct{ pairs, triples, variances float64 }

// count adds the groups of a sorted list.
func (t *ties) count(at []int, same func(i, j int) bool) {
	for i := 0; i < len(at); {
		j := i + 1
		for j < len(at) && same(at[i], at[j]) {
			j++
		}
		n := float64(j - i)
		t.pairs += n * (n - 1) / 2
		t.triples += n * (n - 1) * (n - 2)
		t.variances += n * (n - 1) * (2*n + 5)
		i = j
	}
}

// inversions sorts x by merging and returns the number of pairs that are in descending order.
func inversions(x, room []float64) (n float64) {
	if len(x) < 2 {
		return 0
	}
	half := len(x) / 2
	n = inversions(x[:half], room) + inversions(x[half:], room)
	i, j := 0, half
	for k := range x {
		if j == len(x) || i < half && x[i] <= x[j] {
			room[k] = x[i]
			i++
		} else {
			room[k] = x[j]
			j++
			n += float64(half - i)
		}
	}
	copy(x, room[:len(x)])
	return n
}

// orders returns the probabilities that at most, and at least, c of all pairs of n elements in a random order are
// concordant.
func orders(n int, c, all float64) (below, above float64) {
	tail := int(min(c, all-c))
	p := make([]float64, tail+1) // of the number of concordant pairs of the first elements
	p[0] = 1
	for i := 2; i <= n; i++ {
		sum, next := 0.0, make([]float64, tail+1)
		for k := range p {
			sum = 0
			for j := max(0, k-i+1); j <= k; j++ {
				sum += p[j]
			}
			next[k] = sum / float64(i)
		}
		p = next
	}
	low := 0.0
	for _, v := range p {
		low += v
	}
	high := 1 - low + p[tail]
	if c > all-c {
		return high, low
	}
	return low, high
}

// exactRankSum reports whether the ranks of samples of n and m elements without ties have an exact distribution here.
// Counts of orders fit 128 bits up to this size.
func exactRankSum(n, m int) bool { return min(n, m) <= 8 && n*m <= 1<<20 }

// rankSums returns the probabilities that Mann and Whitney's U of samples of n and m elements is at most, and at least,
// u. The numbers of orders with each U are the coefficients of the product of (1-q^(m+i))/(1-q^i) for i = 1 to n (Mann
// and Whitney, 1947), in integers of 128 bits.
func rankSums(n, m, u int) (below, above float64) {
	if n > m {
		n, m = m, n
	}
	tail := min(u, n*m-u)
	type count struct{ high, low uint64 }
	c := make([]count, tail+1)
	c[0].low = 1
	for i := 1; i <= n; i++ {
		for k := tail; k >= m+i; k-- {
			var borrow uint64
			c[k].low, borrow = bits.Sub64(c[k].low, c[k-m-i].low, 0)
			c[k].high, _ = bits.Sub64(c[k].high, c[k-m-i].high, borrow)
		}
		for k := i; k <= tail; k++ {
			var carry uint64
			c[k].low, carry = bits.Add64(c[k].low, c[k-i].low, 0)
			c[k].high, _ = bits.Add64(c[k].high, c[k-i].high, carry)
		}
	}
	all := 1.0
	for i := 1; i <= n; i++ {
		all *= float64(m+i) / float64(i)
	}
	share := func(c count) float64 { return (math.Ldexp(float64(c.high), 64) + float64(c.low)) / all }
	low := 0.0
	for _, v := range c {
		low += share(v)
	}
	high := 1 - low + share(c[tail])
	if 2*u > n*m {
		return high, low
	}
	return low, high
}
