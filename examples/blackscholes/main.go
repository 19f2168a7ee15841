// Blackscholes prices options by a Go function, and takes their Greeks, which are its
// derivatives, from its gradient: nobody writes them down.
package main

import (
	_ "embed"
	"fmt"
	"time"

	"weft"
	"weft/kernel"
)

//go:embed kernels.go
var source string

var price = kernel.MustParse(source).Func("Price")

// Greeks are derivatives of the price of calls: by the spot price, twice by it, by the
// volatility, by the time that passes, and by interest.
type Greeks struct{ Delta, Gamma, Vega, Theta, Rho *weft.Tensor }

// Calls returns the prices of calls and puts, and the Greeks of the calls. Arguments are
// float64 of one shape.
func Calls(s, k, t, r, v *weft.Tensor) (call, put *weft.Tensor, g Greeks) {
	s, t, r, v = s.Detach().RequireGrad(), t.Detach().RequireGrad(), r.Detach().RequireGrad(), v.Detach().RequireGrad()
	prices := price.MapAll(s, k, t, r, v)
	first := weft.Grad(prices[0].Sum(), []*weft.Tensor{s, v, t, r}, weft.GradOpts{Create: true})
	second := weft.Grad(first[0].Sum(), []*weft.Tensor{s})
	return prices[0].Detach(), prices[1].Detach(), Greeks{
		Delta: first[0].Detach(), Vega: first[1].Detach(), Theta: first[2].Detach().Neg(), Rho: first[3].Detach(), Gamma: second[0],
	}
}

// Book is n options at random.
func Book(seed uint64, n int) (s, k, t, r, v *weft.Tensor) {
	g := weft.NewGenerator(seed)
	between := func(lo, hi float64) *weft.Tensor { return g.RandOf(weft.Float64, n).Mul(hi - lo).Add(lo) }
	return between(50, 150), between(50, 150), between(0.1, 2), between(0, 0.08), between(0.1, 0.5)
}

func main() {
	one := func(x float64) *weft.Tensor { return weft.From([]float64{x}) }
	call, put, g := Calls(one(100), one(100), one(1), one(0.05), one(0.2))
	fmt.Printf("call %.4f  put %.4f\n", call.Item(), put.Item())
	fmt.Printf("delta %.4f  gamma %.5f  vega %.3f  theta %.3f  rho %.3f\n", g.Delta.Item(), g.Gamma.Item(), g.Vega.Item(), g.Theta.Item(), g.Rho.Item())

	const n = 1_000_000
	s, k, t, r, v := Book(1, n)
	price.MapAll(s, k, t, r, v) // compiles
	start := time.Now()
	prices := price.MapAll(s, k, t, r, v)
	fmt.Printf("%d options in %.1f ms, worth %.0f\n", n, time.Since(start).Seconds()*1e3, prices[0].Sum().Item())
}
