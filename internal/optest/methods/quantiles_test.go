package methods_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// sixteenths are draws with the quantiles 1/16 to 15/16 of their distributions, by scipy.stats' ppf
// (scipy 1.17).
var sixteenths = []struct {
	name string
	draw func(g *weft.Generator, n int) *weft.Tensor
	at   []float64
}{
	{"beta 0.5 0.5", func(g *weft.Generator, n int) *weft.Tensor {
		return g.BetaOf(weft.Float64, 0.5, 0.5, n)
	}, []float64{0.009607359798384776, 0.03806023374435662, 0.08426519384872735, 0.14644660940672624, 0.22221488349019888, 0.3086582838174551, 0.40245483899193585, 0.4999999999999999, 0.5975451610080642, 0.6913417161825449, 0.777785116509801, 0.8535533905932737, 0.9157348061512728, 0.9619397662556434, 0.9903926402016151}},
	{"beta 2 5", func(g *weft.Generator, n int) *weft.Tensor {
		return g.BetaOf(weft.Float64, 2, 5, n)
	}, []float64{0.07106337450903007, 0.10537557946295406, 0.1343992910707338, 0.16116291679032652, 0.18691022959665915, 0.2123631316067013, 0.23805189897326567, 0.26444998329566005, 0.292056460295674, 0.3214756327134074, 0.3535311752694345, 0.3894794852007245, 0.43149822227072626, 0.484102020309304, 0.5602673252902708}},
	{"beta 0.1 3", func(g *weft.Generator, n int) *weft.Tensor {
		return g.BetaOf(weft.Float64, 0.1, 3, n)
	}, []float64{2.1526842392139152e-13, 2.2043486618376672e-10, 1.2711385457909853e-08, 2.257253955216028e-07, 2.102238737625019e-06, 1.3016766469572392e-05, 6.081472562706762e-05, 0.00023123990750011818, 0.0007516209018678418, 0.0021611564444502535, 0.005641013955491492, 0.013663326079194316, 0.031411071098483664, 0.07069678310821526, 0.16653991614904806}},
	{"beta 300 100", func(g *weft.Generator, n int) *weft.Tensor {
		return g.BetaOf(weft.Float64, 300, 100, n)
	}, []float64{0.7162628050526949, 0.7249768224623095, 0.7308894791322016, 0.7356276833257078, 0.7397364531826214, 0.7434763665445909, 0.7470009106394102, 0.7504169998922003, 0.7538124020045135, 0.7572727627768006, 0.7608978681787388, 0.7648261381193527, 0.769286993558611, 0.7747520845165676, 0.7826073580694057}},
	{"first of dirichlet 2 1 4", func(g *weft.Generator, n int) *weft.Tensor {
		return g.DirichletOf(weft.Float64, weft.FromSlice([]float64{2, 1, 4}), n, 3).Slice(weft.All, weft.Index(0))
	}, []float64{0.07106337450903007, 0.10537557946295406, 0.1343992910707338, 0.16116291679032652, 0.18691022959665915, 0.2123631316067013, 0.23805189897326567, 0.26444998329566005, 0.292056460295674, 0.3214756327134074, 0.3535311752694345, 0.3894794852007245, 0.43149822227072626, 0.484102020309304, 0.5602673252902708}},
	{"last of dirichlet 0.3", func(g *weft.Generator, n int) *weft.Tensor {
		return g.DirichletOf(weft.Float64, 0.3, n, 4).Slice(weft.All, weft.Index(3))
	}, []float64{0.00011203275304059146, 0.001129131013048858, 0.0043612104773212, 0.01137193014832404, 0.02390256269768265, 0.04382305218682045, 0.07308784590422118, 0.11368779477971522, 0.16759157357664964, 0.23666866396696146, 0.3225809051827309, 0.42661708379290675, 0.5494114803535044, 0.6903778707158446, 0.8461801089379458}},
	{"t 0.7", func(g *weft.Generator, n int) *weft.Tensor {
		return g.StudentTOf(weft.Float64, 0.7, 0, 1, n)
	}, []float64{-9.867843964828879, -3.6140331747764467, -1.9507816499464288, -1.200330743457406, -0.7618807142529452, -0.457684178966518, -0.21606403221825093, 0.0, 0.21606403221825093, 0.457684178966518, 0.7618807142529452, 1.200330743457406, 1.9507816499464288, 3.6140331747764467, 9.867843964828879}},
	{"t 3", func(g *weft.Generator, n int) *weft.Tensor {
		return g.StudentTOf(weft.Float64, 3, 1, 2, n)
	}, []float64{-3.2261734584728528, -1.8452505629236167, -1.0789471225400193, -0.5297846568086888, -0.08559314467219292, 0.30156382251652325, 0.6577039255306987, 1.0, 1.3422960744693013, 1.6984361774834769, 2.0855931446721927, 2.5297846568086886, 3.0789471225400193, 3.8452505629236167, 5.226173458472853}},
	{"t 50", func(g *weft.Generator, n int) *weft.Tensor {
		return g.StudentTOf(weft.Float64, 50, 0, 1, n)
	}, []float64{-1.5602864793615359, -1.1638714117562559, -0.8951426400522241, -0.6794282003263461, -0.4918185169883927, -0.3204004405625323, -0.15811888252596693, 0.0, 0.15811888252596693, 0.3204004405625323, 0.4918185169883927, 0.6794282003263461, 0.8951426400522241, 1.1638714117562559, 1.5602864793615359}},
	{"laplace", func(g *weft.Generator, n int) *weft.Tensor {
		return g.LaplaceOf(weft.Float64, 1, 2, n)
	}, []float64{-3.1588830833596715, -1.7725887222397811, -0.9616585060234524, -0.3862943611198906, 0.059992741508528846, 0.4246358550964382, 0.7329372147509547, 1.0, 1.2670627852490453, 1.5753641449035618, 1.9400072584914712, 2.386294361119891, 2.9616585060234524, 3.772588722239781, 5.1588830833596715}},
	{"laplace float32", func(g *weft.Generator, n int) *weft.Tensor {
		return g.Laplace(1, 2, n)
	}, []float64{-3.1588830833596715, -1.7725887222397811, -0.9616585060234524, -0.3862943611198906, 0.059992741508528846, 0.4246358550964382, 0.7329372147509547, 1.0, 1.2670627852490453, 1.5753641449035618, 1.9400072584914712, 2.386294361119891, 2.9616585060234524, 3.772588722239781, 5.1588830833596715}},
	{"cauchy", func(g *weft.Generator, n int) *weft.Tensor {
		return g.CauchyOf(weft.Float64, -1, 3, n)
	}, []float64{-16.082018476377545, -8.242640687119284, -5.489817287996468, -4.000000000000001, -3.004535913757897, -2.242640687119285, -1.5967371021389742, -1.0, -0.40326289786102576, 0.24264068711928521, 1.004535913757897, 2.000000000000001, 3.489817287996468, 6.242640687119285, 14.082018476377545}},
	{"cauchy float32", func(g *weft.Generator, n int) *weft.Tensor {
		return g.Cauchy(-1, 3, n)
	}, []float64{-16.082018476377545, -8.242640687119284, -5.489817287996468, -4.000000000000001, -3.004535913757897, -2.242640687119285, -1.5967371021389742, -1.0, -0.40326289786102576, 0.24264068711928521, 1.004535913757897, 2.000000000000001, 3.489817287996468, 6.242640687119285, 14.082018476377545}},
}

// TestDrawsFollowQuantiles: a sixteenth of the numbers lies between neighbouring quantiles, each time.
func TestDrawsFollowQuantiles(t *testing.T) {
	const n = 1 << 15
	g := weft.NewGenerator(41)
	for _, c := range sixteenths {
		count := make([]float64, 16)
		for _, x := range weft.Data[float64](c.draw(g, n).To(weft.Float64)) {
			at, _ := slices.BinarySearch(c.at, x)
			count[at]++
		}
		stat := 0.0
		for _, k := range count {
			stat += (k - n/16) * (k - n/16) / (n / 16)
		}
		if !(stat < quantile999(15)) {
			t.Errorf("%s: chi squared is %v with 15 degrees of freedom: %v", c.name, stat, count)
		}
	}
	for _, p := range []float64{1, 0.7, 0.05, 1e-3} {
		x := weft.Data[float64](g.GeometricOf(weft.Float64, p, n))
		if stat, df := chiSquareOf(x, func(k float64) float64 { return (k-1)*math.Log1p(-p) + math.Log(p) }); p < 1 && !(stat < quantile999(df)) || p == 1 && slices.Max(x) != 1 {
			t.Errorf("geometric %v: chi squared is %v with %v degrees of freedom", p, stat, df)
		}
	}
	// Far beyond what has 10 expected: the tail is that of an exponential distribution.
	if k := kolmogorovOf(weft.Data[float64](g.GeometricOf(weft.Float64, 1e-9, n)), func(x float64) float64 { return -math.Expm1(-x * 1e-9) }); k > 1.95 {
		t.Errorf("geometric 1e-9: Kolmogorov's statistic is %v", k)
	}
}

// TestDirichletSums: the numbers of a point add up to 1, and their covariances are the ones of the distribution.
func TestDirichletSums(t *testing.T) {
	const n = 1 << 15
	c := []float64{0.5, 2, 3}
	x := weft.NewGenerator(2).DirichletOf(weft.Float64, weft.FromSlice(c), n, 3)
	tensortest.Near(t, "sums", x.Sum(-1).Sub(1).Abs().Max(), []float64{0}, 1e-15)
	mean := x.Mean(0)
	cov := x.Sub(mean).T().MatMul(x.Sub(mean)).Div(n)
	const total = 5.5
	for i := range c {
		tensortest.Near(t, "mean", mean.At(i), []float64{c[i] / total}, 0.006)
		for j := range c {
			want := -c[i] * c[j] / (total * total * (total + 1))
			if i == j {
				want = c[i] * (total - c[i]) / (total * total * (total + 1))
			}
			tensortest.Near(t, fmt.Sprint("covariance ", i, j), cov.At(i, j), []float64{want}, 0.001)
		}
	}
	tiny := weft.NewGenerator(3).DirichletOf(weft.Float64, 1e-4, 1000, 5) // where gamma numbers are 0
	tensortest.Near(t, "sums of tiny concentrations", tiny.Sum(-1).Sub(1).Abs().Max(), []float64{0}, 1e-15)
}

// TestDirichletSlope: the logarithm of the ratio of two numbers of a point has the gradients that logarithms of
// gamma numbers have, which TestGammaSlope holds to mpmath.
func TestDirichletSlope(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		const n = 200
		for _, a := range []float64{0.3, 0.9, 1, 1.7, 4, 7.9, 30, 1e4} {
			c := weft.FullOf(weft.Float64, a, n, 2).RequireGrad()
			x := weft.NewGenerator(1).Dirichlet(c)
			got := weft.Grad(x.Slice(weft.All, weft.Index(0)).Log().Sub(x.Slice(weft.All, weft.Index(1)).Log()).Sum(), list(c))[0]
			y := weft.NewGenerator(1).Gamma(c, 1)
			want := weft.Grad(y.Log().Sum(), list(c))[0].Mul(weft.FromSlice([]float64{1, -1}))
			tensortest.Near(t, fmt.Sprint("relative error at ", a), got.Div(want).Sub(1).Abs().Max(), []float64{0}, 1e-10)
		}
		// A number too small for float64: its logarithm's slope is (digamma(a+1) - log(x))/a, of the power
		// series' first term.
		a := weft.FullOf(weft.Float64, 1e-3, 50).RequireGrad()
		y := weft.NewGenerator(4).BetaOf(weft.Float64, a, 1e3)
		if y.Lt(1e-100).To(weft.Int64).Sum().ItemInt() < 20 {
			t.Fatal("no small numbers")
		}
		got := weft.Grad(y.Sum(), list(a))[0]
		if got.IsFinite().LogicalNot().Any().ItemInt() != 0 || got.Lt(0).Any().ItemInt() != 0 {
			t.Errorf("gradients of small numbers are %v", got)
		}
	})
}

// TestDrawsSlopeMeans: the gradients of draws average to the derivatives of their moments.
func TestDrawsSlopeMeans(t *testing.T) {
	const n = 20000
	g := weft.NewGenerator(3)
	for _, c := range []struct {
		name      string
		p         []float64
		draw      func(p []*weft.Tensor) *weft.Tensor
		want      []float64
		tolerance float64
	}{
		// mean a/(a+b), of the first of a point c0/(c0+c1+c2)
		{"beta", []float64{2, 3}, func(p []*weft.Tensor) *weft.Tensor { return g.Beta(p[0], p[1], n) }, []float64{3.0 / 25, -2.0 / 25}, 0.003},
		{"dirichlet", []float64{2, 3, 0.4}, func(p []*weft.Tensor) *weft.Tensor {
			return g.Dirichlet(weft.Stack(p, 0), n, 3).Slice(weft.All, weft.Index(0))
		}, []float64{3.4 / 5.4 / 5.4, -2 / 5.4 / 5.4, -2 / 5.4 / 5.4}, 0.004},
		// square df/(df-2)*scale^2 + location^2
		{"t", []float64{20, 1, 2}, func(p []*weft.Tensor) *weft.Tensor { return g.StudentT(p[0], p[1], p[2], n).Square() },
			[]float64{-4.0 * 2 / 18 / 18, 2, 4 * 20.0 / 18}, 0.15},
		// square 2*scale^2 + location^2
		{"laplace", []float64{0.5, 2}, func(p []*weft.Tensor) *weft.Tensor { return g.Laplace(p[0], p[1], n).Square() }, []float64{1, 8}, 0.3},
		// the arc tangent: atan(location/(1+scale))
		{"cauchy", []float64{0.7, 1.3}, func(p []*weft.Tensor) *weft.Tensor { return g.Cauchy(p[0], p[1], n).Atan() },
			[]float64{2.3 / (2.3*2.3 + 0.7*0.7), -0.7 / (2.3*2.3 + 0.7*0.7)}, 0.01},
	} {
		p := make([]*weft.Tensor, len(c.p))
		for i := range p {
			p[i] = weft.ScalarOf(weft.Float64, c.p[i]).RequireGrad()
		}
		for i, d := range weft.Grad(c.draw(p).Mean(), p) {
			if math.Abs(d.Item()-c.want[i]) > c.tolerance {
				t.Errorf("%s: the gradient by parameter %d is %v, want %v", c.name, i, d.Item(), c.want[i])
			}
		}
	}
}
