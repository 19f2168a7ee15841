package polynomial_test

import (
	"encoding/json"
	"math/cmplx"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/polynomial"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// A vector is arguments and results of NumPy: testdata/make.py writes them.
type vector struct{ Args, Results []encoded }

type encoded struct {
	Shape []int
	C     []float64 // pairs
	Real  bool
}

func (e encoded) tensor() *weft.Tensor {
	z := make([]complex128, len(e.C)/2)
	for i := range z {
		z[i] = complex(e.C[2*i], e.C[2*i+1])
	}
	t := weft.FromSlice(z, e.Shape...)
	if e.Real {
		t = t.Real().Contiguous()
	}
	return t
}

type tensors = []*weft.Tensor

var computations = map[string]func(x tensors) tensors{
	"val": func(x tensors) tensors { return tensors{polynomial.Val(x[0], x[1])} },
	"add": func(x tensors) tensors { return tensors{polynomial.Add(x[0], x[1]), polynomial.Sub(x[0], x[1])} },
	"mul": func(x tensors) tensors { return tensors{polynomial.Mul(x[0], x[1])} },
	"pow": func(x tensors) tensors { return tensors{polynomial.Pow(x[0], 0), polynomial.Pow(x[0], 5)} },
	"div": func(x tensors) tensors {
		q, r := polynomial.Div(x[0], x[1])
		return tensors{q, r}
	},
	"der": func(x tensors) tensors { return tensors{polynomial.Der(x[0])} },
	"int": func(x tensors) tensors {
		return tensors{polynomial.Int(x[0]), polynomial.Int(x[0], polynomial.IntOpts{Lower: 0.3, Constant: 2})}
	},
	"companion": func(x tensors) tensors { return tensors{polynomial.Companion(x[0])} },
	"roots":     func(x tensors) tensors { return tensors{polynomial.Roots(x[0])} },
	"fromroots": func(x tensors) tensors { return tensors{polynomial.FromRoots(x[0])} },
	"fit":       func(x tensors) tensors { return tensors{polynomial.Fit(x[0], x[1], 3)} },
	"fit_w": func(x tensors) tensors {
		return tensors{polynomial.Fit(x[0], x[1], 3, polynomial.FitOpts{W: x[2]})}
	},
	"fit_rtol": func(x tensors) tensors {
		return tensors{polynomial.Fit(x[0], x[1], 6, polynomial.FitOpts{RTol: new(0.1)})}
	},
}

// init adds the computations of all bases.
func init() {
	for b := polynomial.Power; b <= polynomial.Laguerre; b++ {
		name := strings.ToLower(b.String())
		computations["basis_"+name] = func(x tensors) tensors {
			c := x[1]
			return tensors{b.Val(x[0], c), b.Vander(x[0], c.Dim(-1)), b.Der(c), b.Int(c), b.Int(c, polynomial.IntOpts{Lower: 0.3, Constant: 2}), b.To(c, polynomial.Power), polynomial.Power.To(c, b)}
		}
		computations["roots_"+name] = func(x tensors) tensors { return tensors{b.Roots(x[0])} }
		computations["fit_"+name] = func(x tensors) tensors {
			return tensors{b.Fit(x[0], x[1], 3), b.Fit(x[0], x[1], 4, polynomial.FitOpts{W: x[2]})}
		}
		domain := [2]float64{-2, 4}
		computations["series_"+name] = func(x tensors) tensors {
			s, at := b.FitSeries(x[0], x[1], 3, polynomial.SeriesOpts{Domain: &domain}), x[2]
			return tensors{s.Coef, s.Val(at), s.Der().Val(at), s.Int(polynomial.IntOpts{Lower: 0.5, Constant: 3}).Val(at), s.To(polynomial.Power).Coef, s.To(polynomial.Chebyshev).Coef}
		}
		computations["roots_series_"+name] = func(x tensors) tensors { return tensors{b.Series(x[0], domain).Roots()} }
	}
}

func elements(t *weft.Tensor) []complex128 {
	return weft.Data[complex128](t.To(weft.Complex128).Contiguous())
}

// TestVectors compares with NumPy, eagerly and in compiled functions.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors map[string]vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for name, v := range vectors {
		f := computations[strings.SplitN(name, ".", 2)[0]]
		var x tensors
		for _, a := range v.Args {
			x = append(x, a.tensor())
		}
		got := f(x)
		again := weft.Compile(func(x tensors) tensors { return f(x) }).Func()(x)
		for i, w := range v.Results {
			a, b := elements(got[i]), elements(w.tensor())
			if !slices.Equal(got[i].Shape(), w.Shape) {
				t.Errorf("%s: result %d has shape %v, want %v", name, i, got[i].Shape(), w.Shape)
				continue
			}
			if strings.HasPrefix(name, "roots") { // NumPy sorts them
				order := func(x, y complex128) int {
					if real(x) < real(y)-1e-9 || cmplx.Abs(complex(real(x)-real(y), 0)) <= 1e-9 && imag(x) < imag(y) {
						return -1
					}
					return 1
				}
				slices.SortFunc(a, order)
				slices.SortFunc(b, order)
			}
			most := 1.0
			for _, z := range b {
				most = max(most, cmplx.Abs(z))
			}
			for k := range b {
				if !(cmplx.Abs(a[k]-b[k]) <= 1e-11*most) {
					t.Errorf("%s: result %d, element %d is %v, want %v", name, i, k, a[k], b[k])
					break
				}
			}
			if weft.Digest(again[i].Contiguous()) != weft.Digest(got[i].Contiguous()) {
				t.Errorf("%s compiled: result %d differs", name, i)
			}
		}
	}
}

// TestGradients compares gradients of all functions with differences.
func TestGradients(t *testing.T) {
	g := weft.NewGenerator(3)
	random := func(s ...int) *weft.Tensor { return g.NormalOf(weft.Float64, 0, 1, s...) }
	loss := func(ts tensors) *weft.Tensor {
		sum := weft.Scalar(0.0)
		for _, y := range ts {
			if y.DType().Complex() {
				y = y.Mul(y).Real()
			}
			sum = sum.Add(y.Mul(y.Detach().Mul(0).Add(1.5)).Mul(y).Sum())
		}
		return sum
	}
	for name, x := range map[string]tensors{
		"val": {random(4).Mul(0.4), random(17)}, "add": {random(3), random(5)}, "mul": {random(2, 3), random(4)}, "pow": {random(3)},
		"div": {random(6), random(3)}, "der": {random(4)}, "int": {random(4)}, "companion": {random(4)}, "roots": {random(4)},
		"fromroots": {random(5)}, "fit": {random(7), random(2, 7)},
		"basis_chebyshev": {random(3).Mul(0.4), random(5)}, "basis_laguerre": {random(3).Mul(0.4), random(4)}, "basis_hermitee": {random(3), random(4)},
		"roots_legendre": {random(4)}, "series_legendre": {weft.LinspaceOf(weft.Float64, -2, 4, 7).Add(random(7).Mul(0.1)), random(7), random(2)},
	} {
		f := func(x tensors) *weft.Tensor { return loss(computations[name](x)) }
		for i := range x {
			leaves := slices.Clone(x)
			for j := range leaves {
				leaves[j] = x[j].Clone().RequireGrad()
			}
			f(leaves).Backward()
			grad := weft.Data[float64](leaves[i].Grad().Contiguous())
			for k, got := range grad {
				at := func(h float64) float64 {
					moved := slices.Clone(x)
					e := slices.Clone(weft.Data[float64](x[i].Contiguous()))
					e[k] += h
					moved[i] = weft.FromSlice(e, x[i].Shape()...)
					return f(moved).Item()
				}
				const h = 1e-6
				want := (at(h) - at(-h)) / (2 * h)
				if d := got - want; !(d < 1e-5*max(1, want, -want) && -d < 1e-5*max(1, want, -want)) {
					t.Errorf("%s: gradient of argument %d, element %d is %v, differences give %v", name, i, k, got, want)
				}
			}
		}
	}
}

// TestEdges holds constants, integers, float32 and wrong arguments.
func TestEdges(t *testing.T) {
	one := weft.From([]float64{3})
	if y := polynomial.Val(weft.From([]float64{1, 2}), one); y.String() != "[3. 3.]" {
		t.Errorf("constant: %v", y)
	}
	if y := polynomial.Der(one); y.String() != "[0.]" {
		t.Errorf("derivative of a constant: %v", y)
	}
	if r := polynomial.Roots(one); r.Size() != 0 || r.DType() != weft.Complex128 {
		t.Errorf("roots of a constant: %v", r)
	}
	if c := polynomial.FromRoots(weft.Zeros(0)); c.String() != "[1.]" {
		t.Errorf("no roots: %v", c)
	}
	if y := polynomial.Mul(weft.From([]int{1, 2}), weft.From([]int{3, 4})); y.DType() != weft.Float32 || y.String() != "[ 3. 10.  8.]" {
		t.Errorf("integers: %v %v", y.DType(), y)
	}
	q, r := polynomial.Div(one, weft.From([]float64{1, 1}))
	if q.String() != "[0.]" || r.String() != "[3.]" {
		t.Errorf("division by more: %v %v", q, r)
	}
	if s := polynomial.Laguerre.FitSeries(weft.From([]float64{2, 5, 3}), weft.From([]float64{1, 2, 3}), 1); s.Domain != [2]float64{2, 5} {
		t.Errorf("domain of x from 2 to 5: %v", s)
	}
	if s := polynomial.Power.FitSeries(one, one, 0); s.Domain != [2]float64{2, 4} {
		t.Errorf("domain of 3: %v", s)
	}
	if c := polynomial.Legendre.Fit(weft.From([]int{1, 2, 3}), weft.From([]int{1, 2, 3}), 1); c.DType() != weft.Float32 {
		t.Errorf("integers: %v", c.DType())
	}
	if y := polynomial.Chebyshev.Val(weft.Ones(2, 1), weft.Ones(3, 2)); y.Dim(1) != 3 || polynomial.Chebyshev.Roots(weft.Ones(2, 3, 4)).Rank() != 3 {
		t.Errorf("batch: %v", y)
	}
	for want, f := range map[string]func(){
		"polynomial.basis.val: b: is 9":                 func() { polynomial.Basis(9).Val(one, one) },
		"polynomial.basis.val: c":                       func() { polynomial.Hermite.Val(one, weft.Zeros(0)) },
		"polynomial.basis.to: to: is -1":                func() { polynomial.Hermite.To(one, -1) },
		"polynomial.basis.fit: W":                       func() { polynomial.Hermite.Fit(one, one, 0, polynomial.FitOpts{W: weft.Zeros(2)}) },
		"polynomial.basis.fit: deg":                     func() { polynomial.Hermite.Fit(one, one, -1) },
		"polynomial.basis.vander: deg":                  func() { polynomial.Hermite.Vander(one, -1) },
		"polynomial.basis.roots: c: polynomial has a l": func() { polynomial.Hermite.Roots(weft.From([]float64{1, 0})) },
		"polynomial.basis.fitseries: Domain: is [1 1]":  func() { polynomial.Hermite.FitSeries(one, one, 0, polynomial.SeriesOpts{Domain: &[2]float64{1, 1}}) },
		"polynomial.basis.fitseries: x":                 func() { polynomial.Hermite.FitSeries(one.Unsqueeze(0), one, 0) },
		"polynomial.series.val: Domain":                 func() { (&polynomial.Series{Coef: one}).Val(one) },
		"polynomial.series.val: x":                      func() { polynomial.Hermite.Series(one, [2]float64{0, 1}).Val(nil) },
		"polynomial.val: c":                             func() { polynomial.Val(one, weft.Zeros(0)) },
		"polynomial.pow: n":                             func() { polynomial.Pow(one, -1) },
		"polynomial.fit: y":                             func() { polynomial.Fit(one, weft.Zeros(2), 1) },
		"polynomial.fit: deg":                           func() { polynomial.Fit(one, one, -1) },
		"polynomial.fit: W":                             func() { polynomial.Fit(one, one, 0, polynomial.FitOpts{W: weft.Zeros(2)}) },
		"polynomial.companion: c":                       func() { polynomial.Companion(one) },
		"polynomial.div":                                func() { polynomial.Div(weft.From([]float64{1, 2}), weft.From([]float64{1, 0})) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
