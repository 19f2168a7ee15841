// Analysis answers questions about a table of rides, columns as arrays: groups, quantiles,
// correlation, outliers, a histogram. People who come from NumPy and pandas find their
// verbs again.
package main

import (
	"fmt"
	"strings"

	"weft"
)

const rides = 20000

// Table has a column of cities (0 to 4), of distances in km, and of fares.
func Table(seed uint64) (city, km, fare *weft.Tensor) {
	g := weft.NewGenerator(seed)
	city = g.Randint(0, 5, rides)
	km = g.RandnOf(weft.Float64, rides).Mul(0.8).Add(1).Exp()
	rate := weft.From([]float64{1.2, 1.5, 1.9, 1.1, 2.4}).IndexSelect(0, city)
	fare = km.Mul(rate).Add(3).Add(g.RandnOf(weft.Float64, rides).Mul(0.5)).Maximum(3)
	return city, km, fare
}

func main() {
	city, km, fare := Table(1)

	// groupby("city").fare.agg(["count", "mean"]): sums by group, over counts.
	keys, group, counts := city.Unique()
	sums := weft.ZerosOf(weft.Float64, keys.Size()).IndexAdd(0, group, fare)
	fmt.Println("cities        ", keys)
	fmt.Println("rides         ", counts)
	fmt.Printf("mean fare      %.2f\n", sums.Div(counts))

	// describe()
	fmt.Printf("km: quartiles  %.2f\n", km.Quantiles([]float64{0.25, 0.5, 0.75}, weft.QuantileOpts{}))
	fmt.Printf("km: mean, std  %.2f %.2f\n", km.Mean(), km.SampleStd())

	// corr()
	dk, df := km.Sub(km.Mean()), fare.Sub(fare.Mean())
	fmt.Printf("correlation    %.3f\n", dk.Dot(df).Div(dk.Norm(2).Mul(df.Norm(2))))

	// The dearest a kilometre, of rides of more than a kilometre.
	long := km.Gt(1)
	price, place := fare.MaskSelect(long).Div(km.MaskSelect(long)).TopK(3, 0, weft.TopKOpts{})
	fmt.Printf("dearest        %.2f a km, in cities %v\n", price, city.MaskSelect(long).IndexSelect(0, place))

	// value_counts(bins=...)
	n, edges := km.Histogram(weft.HistogramOpts{Bins: new(8), Min: new(0.0), Max: new(16.0)})
	for i := range n.Size() {
		fmt.Printf("%4.0f km %s\n", edges.At(i).Item(), strings.Repeat("#", int(n.At(i).Item()/150)))
	}
}
