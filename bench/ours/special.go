package main

import (
	"weft"
	"weft/bench/worker"
	"weft/special"
	tables "weft/table"
)

// Special functions beside SciPy's, tables beside pandas, Polars and Arrow, distances between all pairs of rows.

// scaled is Scrambled over [lo, hi).
func scaled(n int, d string, seed int, lo, hi float64) *weft.Tensor {
	return random("float64", seed, n).Add(1).Mul((hi - lo) / 2).Add(lo).To(uniform(1, d, 1, 0, 1).DType())
}

// first releases the results behind the first one.
func first(y ...*weft.Tensor) *weft.Tensor {
	for _, other := range y[1:] {
		other.Release()
	}
	return y[0]
}

func init() {
	one := func(name string, lo, hi float64, f func(x *weft.Tensor) *weft.Tensor) {
		eager("special "+name, func(p worker.Params) func() *weft.Tensor {
			x := scaled(p.N, p.DType, 1, lo, hi)
			return func() *weft.Tensor { return f(x) }
		})
	}
	one("gamma", 0.5, 20, special.Gamma)
	one("gammaln", 0.5, 50, (*weft.Tensor).Lgamma)
	one("digamma", 0.5, 50, (*weft.Tensor).Digamma)
	one("erf", -3, 3, (*weft.Tensor).Erf)
	one("erfc", -3, 6, (*weft.Tensor).Erfc)
	one("erfinv", -1, 1, (*weft.Tensor).Erfinv)
	one("ndtr", -5, 5, special.Ndtr)
	one("ndtri", 0, 1, special.Ndtri)
	one("i0", -20, 20, special.I0)
	one("i1", -20, 20, special.I1)
	one("i0e", -20, 20, special.I0e)
	one("i1e", -20, 20, special.I1e)
	one("k0", 0, 20, special.K0)
	one("k1", 0, 20, special.K1)
	one("expi", 0, 20, special.Expi)
	one("exp1", 0, 20, special.Exp1)
	one("lambertw", 0, 20, func(x *weft.Tensor) *weft.Tensor { return special.LambertW(x, 0) })
	one("factorial", 0, 30, special.Factorial)
	one("expit", -8, 8, (*weft.Tensor).Sigmoid)
	one("logit", 0, 1, func(x *weft.Tensor) *weft.Tensor { return x.Logit() })
	one("entr", 0, 5, special.Entr)
	one("log_softmax", -8, 8, func(x *weft.Tensor) *weft.Tensor { return x.Reshape(-1, 1000).LogSoftmax(1) })
	one("logsumexp", -8, 8, func(x *weft.Tensor) *weft.Tensor { return x.Reshape(-1, 1000).LogSumExp(1) })
	several := func(name string, ranges [][2]float64, f func(x []*weft.Tensor) *weft.Tensor) {
		eager("special "+name, func(p worker.Params) func() *weft.Tensor {
			x := make([]*weft.Tensor, len(ranges))
			for i, r := range ranges {
				x[i] = scaled(p.N, p.DType, 1+i, r[0], r[1])
			}
			return func() *weft.Tensor { return f(x) }
		})
	}
	several("gammainc", [][2]float64{{0.5, 20}, {0, 30}}, func(x []*weft.Tensor) *weft.Tensor { return special.GammaInc(x[0], x[1]) })
	several("gammaincc", [][2]float64{{0.5, 20}, {0, 30}}, func(x []*weft.Tensor) *weft.Tensor { return special.GammaIncC(x[0], x[1]) })
	several("gammaincinv", [][2]float64{{0.5, 20}, {0, 1}}, func(x []*weft.Tensor) *weft.Tensor { return special.GammaIncInv(x[0], x[1]) })
	several("betainc", [][2]float64{{0.5, 20}, {0.5, 20}, {0, 1}}, func(x []*weft.Tensor) *weft.Tensor { return special.BetaInc(x[0], x[1], x[2]) })
	several("betaincinv", [][2]float64{{0.5, 20}, {0.5, 20}, {0, 1}}, func(x []*weft.Tensor) *weft.Tensor { return special.BetaIncInv(x[0], x[1], x[2]) })
	several("zeta", [][2]float64{{1.1, 20}, {0.5, 20}}, func(x []*weft.Tensor) *weft.Tensor { return special.Zeta(x[0], x[1]) })
	several("comb", [][2]float64{{20, 60}, {0, 20}}, func(x []*weft.Tensor) *weft.Tensor { return special.Comb(x[0], x[1]) })
	several("kv", [][2]float64{{0, 10}, {0.1, 20}}, func(x []*weft.Tensor) *weft.Tensor { return special.Kv(x[0], x[1]) })
	several("xlogy", [][2]float64{{-3, 3}, {0, 5}}, func(x []*weft.Tensor) *weft.Tensor { return x[0].XLogY(x[1]) })
	several("rel_entr", [][2]float64{{0, 5}, {0.1, 5}}, func(x []*weft.Tensor) *weft.Tensor { return special.RelEntr(x[0], x[1]) })
	several("jv", [][2]float64{{0, 10}, {0.1, 20}}, func(x []*weft.Tensor) *weft.Tensor { return special.Jv(x[0], x[1]) })
	several("expn", [][2]float64{{2, 2}, {0.1, 20}}, func(x []*weft.Tensor) *weft.Tensor { return special.Expn(x[0], x[1]) })
	several("voigt_profile", [][2]float64{{-20, 20}, {0.2, 3}, {0.1, 3}}, func(x []*weft.Tensor) *weft.Tensor { return special.VoigtProfile(x[0], x[1], x[2]) })
	one("erfi", -5, 5, special.Erfi)
	one("airy", -10, 10, func(x *weft.Tensor) *weft.Tensor {
		ai, aip, bi, bip := special.Airy(x)
		return first(ai, aip, bi, bip)
	})
	one("fresnel", -10, 10, func(x *weft.Tensor) *weft.Tensor { s, c := special.Fresnel(x); return first(s, c) })
	several("hyp2f1", [][2]float64{{0.5, 3}, {0.5, 3}, {1, 5}, {-2, 0.95}}, func(x []*weft.Tensor) *weft.Tensor { return special.Hyp2F1(x[0], x[1], x[2], x[3]) })
	several("hyp1f1", [][2]float64{{0.5, 3}, {1, 5}, {-10, 10}}, func(x []*weft.Tensor) *weft.Tensor { return special.Hyp1F1(x[0], x[1], x[2]) })
	several("struve", [][2]float64{{0, 5}, {0.1, 30}}, func(x []*weft.Tensor) *weft.Tensor { return special.Struve(x[0], x[1]) })
	several("ellipkinc", [][2]float64{{-3, 3}, {-2, 0.9}}, func(x []*weft.Tensor) *weft.Tensor { return special.EllipKInc(x[0], x[1]) })
	several("elliprf", [][2]float64{{0.1, 5}, {0.1, 5}, {0.1, 5}}, func(x []*weft.Tensor) *weft.Tensor { return special.ElliprF(x[0], x[1], x[2]) })
	several("elliprj", [][2]float64{{0.1, 5}, {0.1, 5}, {0.1, 5}, {0.1, 5}}, func(x []*weft.Tensor) *weft.Tensor { return special.ElliprJ(x[0], x[1], x[2], x[3]) })
	eager("cdist 2000x64", func(p worker.Params) func() *weft.Tensor {
		x, y := random(p.DType, 1, p.N, 64), random(p.DType, 2, p.N, 64)
		return func() *weft.Tensor { return x.Cdist(y, 2) }
	})
}

// tabled adds a case whose result is a table; it is summarised by a column in the order of its first one.
func tabled(name, column string, prepare func(p worker.Params) func() *tables.Table) {
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		f := prepare(p)
		return &worker.Case{
			Run: func() { f() },
			Check: func() []float64 {
				sorted, _ := f().Numbers(column).To(weft.Float64).Sort(0)
				return summary(sorted)
			},
		}, nil
	}
}

func init() {
	for keys, n := range map[string]int{"1e3": 1000, "1e6": 1_000_000} {
		for stat, agg := range map[string]func(string) tables.Agg{"sum": tables.Sum, "mean": tables.Mean, "count": tables.Count, "min": tables.Min, "max": tables.Max} {
			tabled("group-by "+stat+" of "+keys+" keys", "v_"+stat, func(p worker.Params) func() *tables.Table {
				t := tables.New(tables.NewColumn("k", indices(p.N, 2, n)), tables.NewColumn("v", random(p.DType, 1, p.N)))
				return func() *tables.Table { return t.GroupBy("k").Agg(agg("v")) }
			})
		}
	}
	tabled("join on keys", "b", func(p worker.Params) func() *tables.Table {
		l := tables.New(tables.NewColumn("k", indices(p.N, 2, p.N)), tables.NewColumn("a", random(p.DType, 1, p.N)))
		r := tables.New(tables.NewColumn("k", indices(p.N, 3, p.N)), tables.NewColumn("b", random(p.DType, 4, p.N)))
		return func() *tables.Table { return l.Join(r, tables.JoinOpts{On: []string{"k"}}) }
	})
}
