package table

import (
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/data"
	"weft/internal/array"
	"weft/internal/par"
)

// An Agg is a statistic of each group. [Sum] and its neighbours make one.
type Agg struct {
	stat   stat
	column string
	as     string
	q      float64 // of quantiles
	middle bool    // between two numbers lies their mean, not what q interpolates
}

type stat uint8

const (
	noStat stat = iota
	statSum
	statMean
	statMin
	statMax
	statStd
	statVar
	statQuantile
	statCount
	statSize
	statFirst
	statLast
	statNUnique
)

var statNames = [...]string{statSum: "sum", statMean: "mean", statMin: "min", statMax: "max", statStd: "std", statVar: "var", statQuantile: "quantile",
	statCount: "count", statSize: "size", statFirst: "first", statLast: "last", statNUnique: "nunique"}

// Sum is the sum of a column's numbers: int64 of integers and bools, else of the column's type. Sums of floats are
// compensated (Neumaier 1974): their error does not grow with the number of rows. Of a group without numbers it is 0.
func Sum(column string) Agg { return Agg{stat: statSum, column: column} }

// Mean is the mean of a column's numbers: float64 of integers and bools, else of the column's type.
func Mean(column string) Agg { return Agg{stat: statMean, column: column} }

// Min is the least number of a column, or the first text.
func Min(column string) Agg { return Agg{stat: statMin, column: column} }

// Max is the greatest number of a column, or the last text.
func Max(column string) Agg { return Agg{stat: statMax, column: column} }

// Std is the standard deviation of a column's numbers, the square root of [Var].
func Std(column string) Agg { return Agg{stat: statStd, column: column} }

// Var is the variance of a column's numbers with divisor n-1: NaN of fewer than two. Its type is that of [Mean].
func Var(column string) Agg { return Agg{stat: statVar, column: column} }

// Median is the number in the middle of a column's, or the mean of two, also where their sum overflows.
func Median(column string) Agg {
	return Agg{stat: statQuantile, column: column, q: 0.5, middle: true}.As(column + "_median")
}

// Quantile is the number below which a part q of a column's numbers lies, from 0 to 1, with linear interpolation.
// Its type is that of [Mean]. [Groups.Agg] panics with *weft.Error for other q.
func Quantile(column string, q float64) Agg { return Agg{stat: statQuantile, column: column, q: q} }

// Count is the number, int64, of a column's values that are not missing.
func Count(column string) Agg { return Agg{stat: statCount, column: column} }

// Size is the number of rows, int64, in a column "size".
func Size() Agg { return Agg{stat: statSize, as: "size"} }

// First is the first value of a column that is not missing.
func First(column string) Agg { return Agg{stat: statFirst, column: column} }

// Last is the last value of a column that is not missing.
func Last(column string) Agg { return Agg{stat: statLast, column: column} }

// NUnique is the number, int64, of different values of a column that are not missing.
func NUnique(column string) Agg { return Agg{stat: statNUnique, column: column} }

// As returns the statistic as a column of another name. Its name is else that of the column, an underscore and that
// of the statistic, such as "rent_mean".
func (a Agg) As(name string) Agg {
	a.as = name
	return a
}

// name is the name of the column with the statistic.
func (a Agg) name() string {
	if a.as != "" {
		return a.as
	}
	return a.column + "_" + statNames[a.stat]
}

// of computes the statistic. Statistics of one column share its sums.
func (a Agg) of(g *Groups, sums map[string]*[]accumulator) data.Column {
	const op = "table.agg"
	if a.stat == noStat {
		array.Failf(op, "stats", "has a zero Agg: functions such as Sum make one")
	}
	if a.stat == statQuantile && !(a.q >= 0 && a.q <= 1) {
		array.Failf(op, "stats", "has the quantile %v of %q: want 0 to 1", a.q, a.column)
	}
	out := data.Column{Name: a.name()}
	if a.stat == statSize {
		out.Numbers = g.sizes()
		return out
	}
	c := g.t.column("agg", "stats", a.column)
	if sums[a.column] == nil {
		sums[a.column] = new([]accumulator)
	}
	switch {
	case c.Texts != nil:
		a.ofTexts(g, c, &out)
	case c.Numbers != nil && c.Numbers.Rank() == 1 && !c.Numbers.DType().Complex():
		a.ofNumbers(g, c, sums[a.column], &out)
	default:
		array.Failf(op, "stats", "has the %s of %q: want a column of texts or one real number a row", statNames[a.stat], a.column)
	}
	return out
}

func counted(f func(c int) int64, n int) *weft.Tensor {
	x := make([]int64, n)
	for c := range x {
		x[c] = f(c)
	}
	return weft.FromSlice(x, n)
}

// ofTexts computes the statistics that texts have.
func (a Agg) ofTexts(g *Groups, c *data.Column, out *data.Column) {
	present := func(i int) bool { return c.Texts[i] != "" }
	switch a.stat {
	case statCount:
		out.Numbers = g.count(present)
	case statNUnique:
		out.Numbers = g.different(c, present)
	case statFirst, statLast, statMin, statMax:
		better := map[stat]func(a, b string) bool{
			statFirst: func(a, b string) bool { return false },
			statLast:  func(a, b string) bool { return true },
			statMin:   func(a, b string) bool { return b < a },
			statMax:   func(a, b string) bool { return b > a },
		}[a.stat]
		out.Texts = make([]string, g.Len())
		for i, s := range c.Texts {
			if best := &out.Texts[g.keys.codes[i]]; s != "" && (*best == "" || better(*best, s)) {
				*best = s
			}
		}
	default:
		array.Failf("table.agg", "stats", "has the %s of %q, a column of texts: want numbers", statNames[a.stat], a.column)
	}
}

// merged is a value of each group: f puts the rows from begin to end into values that begin as start, and merge puts
// the value of later rows into that of earlier ones. Rows are taken in parts whose number depends on the numbers of rows
// and groups alone.
func merged[T any](g *Groups, start T, f func(values []T, begin, end int), merge func(into, from *T)) []T {
	rows, n := len(g.keys.codes), g.Len()
	parts := min(max(rows/(4*max(n, 1)), 1), 64)
	values := make([]T, parts*n)
	par.Run(parts, 1, par.Threads(), func(_, begin, end int) {
		for p := begin; p < end; p++ {
			part := values[p*n:][:n]
			for c := range part {
				part[c] = start
			}
			f(part, rows*p/parts, rows*(p+1)/parts)
		}
	})
	for p := 1; p < parts; p++ {
		for c := range n {
			merge(&values[c], &values[p*n+c])
		}
	}
	return values[:n:n]
}

// count returns the number of rows of each group for which present holds.
func (g *Groups) count(present func(i int) bool) *weft.Tensor {
	codes := g.keys.codes
	n := merged(g, int64(0), func(n []int64, begin, end int) {
		for i, c := range codes[begin:end] {
			if present(begin + i) {
				n[c]++
			}
		}
	}, addTo)
	return weft.FromSlice(n, len(n))
}

// countNumbers returns the number of values of each group that are not NaN.
func (g *Groups) countNumbers(x []float64) *weft.Tensor {
	codes := g.keys.codes
	n := merged(g, int64(0), func(n []int64, begin, end int) {
		x := x[begin:end]
		for i, c := range codes[begin:end] {
			if x[i] == x[i] {
				n[c]++
			}
		}
	}, addTo)
	return weft.FromSlice(n, len(n))
}

// sizes returns the number of rows of each group.
func (g *Groups) sizes() *weft.Tensor {
	codes := g.keys.codes
	n := merged(g, int64(0), func(n []int64, begin, end int) {
		for _, c := range codes[begin:end] {
			n[c]++
		}
	}, addTo)
	return weft.FromSlice(n, len(n))
}

func addTo(into, from *int64) { *into += *from }

// different returns the number of different values of each group's rows for which present holds.
func (g *Groups) different(c *data.Column, present func(i int) bool) *weft.Tensor {
	values := keysOf("agg", "stats", []*data.Column{c})
	pairs := make([]int64, len(values.codes))
	for i, v := range values.codes {
		pairs[i] = int64(g.keys.codes[i])*int64(len(values.first)) + int64(v)
	}
	n := make([]int64, g.Len())
	for _, row := range keysOfInts(pairs).first {
		if present(int(row)) {
			n[g.keys.codes[row]]++
		}
	}
	return weft.FromSlice(n, len(n))
}

// ofNumbers computes statistics of numbers. Integers go through int64 where that keeps them exact.
func (a Agg) ofNumbers(g *Groups, c *data.Column, shared *[]accumulator, out *data.Column) {
	d := c.Numbers.DType()
	x := c.Numbers.NoGrad()
	whole := d.Category() <= array.CatInt
	if whole && a.stat != statMean && a.stat != statStd && a.stat != statVar && a.stat != statQuantile {
		if a.stat == statNUnique {
			out.Numbers = g.different(c, func(int) bool { return true })
			return
		}
		weft.Borrow(integers(x), func(x []int64) { out.Numbers = a.ofIntegers(g, x, d) })
		return
	}
	if a.stat == statNUnique {
		weft.Borrow(x.To(weft.Float64).Contiguous(), func(v []float64) {
			out.Numbers = g.different(c, func(i int) bool { return v[i] == v[i] })
		})
		return
	}
	if whole {
		d = weft.Float64
	}
	weft.Borrow(x.To(weft.Float64).Contiguous(), func(x []float64) {
		var y []float64
		switch a.stat {
		case statCount:
			if sums := *shared; sums != nil {
				out.Numbers = counted(func(c int) int64 { return sums[c].n }, g.Len())
			} else {
				out.Numbers = g.countNumbers(x)
			}
			return
		case statQuantile:
			between := interpolated
			if a.middle {
				between = mean
			}
			y = g.quantiles(x, a.q, between)
		case statSum, statMean, statVar, statStd:
			y = g.moments(x, a.stat, shared)
		default:
			y = g.chosen(x, a.stat)
		}
		out.Numbers = weft.FromSlice(y, len(y)).To(d)
	})
}

// integers returns integers or bools as int64. Great ones of uint64 wrap around.
func integers(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int64).Contiguous() }

// ofIntegers computes what keeps integers exact. Integers are never missing. d is the column's type.
func (a Agg) ofIntegers(g *Groups, x []int64, d weft.DType) *weft.Tensor {
	codes := g.keys.codes
	switch a.stat {
	case statCount:
		return g.sizes()
	case statSum:
		y := merged(g, int64(0), func(y []int64, begin, end int) {
			for i, c := range codes[begin:end] {
				y[c] += x[begin+i]
			}
		}, addTo)
		return weft.FromSlice(y, len(y))
	case statFirst:
		y := make([]int64, g.Len())
		for c, row := range g.keys.first {
			y[c] = x[row]
		}
		return weft.FromSlice(y, len(y)).To(d)
	case statLast:
		y := make([]int64, g.Len())
		for i, c := range codes {
			y[c] = x[i]
		}
		return weft.FromSlice(y, len(y)).To(d)
	}
	// With some bits flipped the least number is the one that is asked for.
	flip := int64(0)
	if d == weft.Uint64 {
		flip = math.MinInt64
	}
	if a.stat == statMax {
		flip = ^flip
	}
	y := merged(g, int64(math.MaxInt64), func(y []int64, begin, end int) {
		for i, c := range codes[begin:end] {
			y[c] = min(y[c], x[begin+i]^flip)
		}
	}, func(into, from *int64) { *into = min(*into, *from) })
	for c := range y {
		y[c] ^= flip
	}
	return weft.FromSlice(y, len(y)).To(d)
}

// An accumulator is a compensated sum and the number of its terms.
type accumulator struct {
	sum, lost float64
	n         int64
}

// add adds a term; what rounding loses is exact (Knuth, TAOCP 2, 4.2.2, theorem B).
func (s *accumulator) add(v float64) {
	t := s.sum + v
	b := t - s.sum
	s.lost += (s.sum - (t - b)) + (v - b)
	s.sum = t
	s.n++
}

func (s *accumulator) value() float64 {
	if t := s.sum + s.lost; t == t {
		return t
	}
	return s.sum // infinite, or NaN
}

// accumulate sums by group, without NaN.
func (g *Groups) accumulate(f func(sums []accumulator, begin, end int)) []accumulator {
	return merged(g, accumulator{}, f, func(into, from *accumulator) {
		n := into.n + from.n
		into.add(from.sum)
		into.lost += from.lost
		into.n = n
	})
}

// moments are sums, means, variances or standard deviations by group. The sums are shared by statistics of one column.
func (g *Groups) moments(x []float64, stat stat, shared *[]accumulator) []float64 {
	codes := g.keys.codes
	if *shared == nil {
		*shared = g.accumulate(func(sums []accumulator, begin, end int) {
			codes := codes[begin:end]
			for i, v := range x[begin:end] {
				if v == v {
					sums[codes[i]].add(v)
				}
			}
		})
	}
	sums := *shared
	y := make([]float64, len(sums))
	for c := range sums {
		if y[c] = sums[c].value(); stat != statSum {
			y[c] /= float64(sums[c].n)
		}
	}
	if stat == statSum || stat == statMean {
		return y
	}
	squares := g.accumulate(func(sums []accumulator, begin, end int) {
		for i, v := range x[begin:end] {
			if v == v {
				c := codes[begin+i]
				d := v - y[c]
				sums[c].add(float64(d * d))
			}
		}
	})
	for c := range squares {
		if y[c] = math.NaN(); squares[c].n > 1 {
			y[c] = squares[c].value() / float64(squares[c].n-1)
		}
		if stat == statStd {
			y[c] = math.Sqrt(y[c])
		}
	}
	return y
}

// chosen are the least, greatest, first or last numbers by group: NaN if all are.
func (g *Groups) chosen(x []float64, stat stat) []float64 {
	codes := g.keys.codes
	better := func(v, best float64) bool {
		return v == v && (best != best || stat == statMin && v < best || stat == statMax && v > best || stat == statLast)
	}
	return merged(g, math.NaN(), func(y []float64, begin, end int) {
		x := x[begin:end]
		switch stat {
		case statMin: // !(best <= v) holds for NaN too
			for i, c := range codes[begin:end] {
				if v := x[i]; !(y[c] <= v) && v == v {
					y[c] = v
				}
			}
		case statMax:
			for i, c := range codes[begin:end] {
				if v := x[i]; !(y[c] >= v) && v == v {
					y[c] = v
				}
			}
		default:
			for i, c := range codes[begin:end] {
				if better(x[i], y[c]) {
					y[c] = x[i]
				}
			}
		}
	}, func(into, from *float64) {
		if better(*from, *into) {
			*into = *from
		}
	})
}

// quantiles are quantiles by group: NaN of no numbers.
func (g *Groups) quantiles(x []float64, q float64, between func(low, high, part float64) float64) []float64 {
	places, offsets := g.byGroup()
	y := make([]float64, g.Len())
	par.Run(len(y), max(1, grain*max(len(y), 1)/max(len(x), 1)/8), par.Threads(), func(_, begin, end int) {
		var row []float64
		for c := begin; c < end; c++ {
			row = row[:0]
			for _, p := range places[offsets[c]:offsets[c+1]] {
				if v := x[p]; v == v {
					row = append(row, v)
				}
			}
			slices.Sort(row)
			y[c] = quantile(row, q, between)
		}
	})
	return y
}

// quantile returns the quantile q of sorted numbers: one of them, or a number between two.
func quantile(x []float64, q float64, between func(low, high, part float64) float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	at := q * float64(len(x)-1)
	i := int(at)
	if part := at - float64(i); part > 0 {
		return between(x[i], x[i+1], part)
	}
	return x[i]
}

func interpolated(low, high, part float64) float64 { return low + float64(part*(high-low)) }

// mean returns the mean of low and high, by halves where their sum overflows.
func mean(low, high, _ float64) float64 {
	if sum := low + high; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return low/2 + high/2
}

// String returns what is computed, such as "mean(price)".
func (a Agg) String() string {
	s := statNames[a.stat] + "(" + a.column
	if a.stat == statQuantile {
		s += fmt.Sprintf(", %v", a.q)
	}
	if s += ")"; a.as != "" {
		s += " as " + a.as
	}
	return s
}
