package sym_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// mrgModuli and mrgSteps are the moduli and the matrices of the two recurrences of MRG31k3p, from the paper
// of L'Ecuyer and Touzin: x = 2^22*x[-2] + (2^7+1)*x[-3], and y = 2^15*y[-1] + (2^15+1)*y[-3].
var (
	mrgModuli = [2]int64{1<<31 - 1, 1<<31 - 21069}
	mrgSteps  = [2][9]int64{
		{0, 1 << 22, 1<<7 + 1, 1, 0, 0, 0, 1, 0},
		{1 << 15, 0, 1<<15 + 1, 1, 0, 0, 0, 1, 0},
	}
)

// mrgPower returns the matrix of 2^k steps of recurrence r.
func mrgPower(r, k int) (a [9]int64) {
	a = mrgSteps[r]
	for range k {
		var sq [9]int64
		for i := range 9 {
			for j := range 3 {
				sq[i] = (sq[i] + a[i/3*3+j]*a[j*3+i%3]) % mrgModuli[r]
			}
		}
		a = sq
	}
	return a
}

// A mrgReference is a state of both recurrences: x[-1], x[-2], x[-3], then y.
type mrgReference [6]int64

func (s mrgReference) times(a [2][9]int64) (t mrgReference) {
	for i := range t {
		for j := range 3 {
			t[i] = (t[i] + a[i/3][i%3*3+j]*s[i/3*3+j]) % mrgModuli[i/3]
		}
	}
	return t
}

// next is a fraction between 0 and 1.
func (s *mrgReference) next() float64 {
	*s = s.times(mrgSteps)
	z := s[0] - s[3]
	if z <= 0 {
		z += mrgModuli[0]
	}
	return float64(z) / (1 << 31)
}

// theanoStreams gives the uniform numbers of one variable after the other, as Theano's
// MRG_RandomStreams(12345) does. Each variable has substreams 2^72 steps apart, and starts 2^134 steps
// behind the last one.
type theanoStreams struct{ base mrgReference }

// variable returns a function that draws size numbers of n substreams, element i of substream i mod n.
func (m *theanoStreams) variable(n int) func(size int) []float64 {
	next, sub := [2][9]int64{mrgPower(0, 134), mrgPower(1, 134)}, [2][9]int64{mrgPower(0, 72), mrgPower(1, 72)}
	states := make([]mrgReference, n)
	s := m.base
	for i := range states {
		states[i] = s
		s = s.times(sub)
	}
	m.base = m.base.times(next)
	return func(size int) []float64 {
		u := make([]float64, size)
		for i := range u {
			u[i] = states[i%n].next()
		}
		return u
	}
}

// theanoTruncated are truncated normal numbers by Theano's formula, of uniform numbers and of those for
// what lies beyond.
func theanoTruncated(n int, uniform, again func(size int) []float64) []float64 {
	half := (n + 1) / 2
	u := uniform(2 * half)
	var valid, angles [2][]float64
	for i := range 2 * half {
		angle := 2 * math.Pi * u[half+i%half]
		turn := []func(float64) float64{math.Cos, math.Sin}[i/half](angle)
		if z := math.Sqrt(-2*math.Log(u[i%half])) * turn; z >= -2 && z <= 2 {
			valid[i/half] = append(valid[i/half], z)
		} else {
			angles[i/half] = append(angles[i/half], turn)
		}
	}
	low := math.Exp(-2)
	fix := again(len(angles[0]) + len(angles[1]))
	var z []float64
	for k := range 2 {
		z = append(z, valid[k]...)
		for _, turn := range angles[k] {
			z = append(z, math.Sqrt(-2*math.Log(fix[0]*(1-low)+low))*turn)
			fix = fix[1:]
		}
	}
	for i := range z {
		z[i] /= 0.87962566103423978
	}
	return z[:n]
}

// theanoMultinomial counts n draws of rows of probabilities of k outcomes: draw c of row r takes number
// c*rows+r.
func theanoMultinomial(n int, p []float64, k int, uniform func(size int) []float64) []float64 {
	rows := len(p) / k
	counts := make([]float64, len(p))
	for i, v := range uniform(n * rows) {
		row, sum := i%rows*k, 0.0
		for j := range k {
			if sum += p[row+j]; sum > v {
				counts[row+j]++
				break
			}
		}
	}
	return counts
}

var theanoProbabilities = []float64{0.1, 0.2, 0.3, 0.4, 0.25, 0.25, 0.25, 0.25, 0, 0, 0.5, 0.5}

// TestMRGFormulas compares draws with Theano's formulas over a generator of its own: two variables of one
// generator, sizes that are numbers and variables, and three calls, which go on where the last one ended.
func TestMRGFormulas(t *testing.T) {
	n := sym.Scalar("n", weft.Int64)
	p := weft.FromSlice(theanoProbabilities, 3, 4)
	for _, size := range []int{0, 1, 27, 77, 31000} {
		for name, v := range map[string]any{"number": size, "variable": n} {
			m := sym.NewMRGStreams(12345)
			first := m.Normal(weft.Float64, 0, 1, v)
			out := []*sym.Var{first, m.TruncatedNormal(weft.Float64, 0, 1, v), m.Multinomial(2*size+13, sym.Const(p)), m.Binomial(weft.Int64, 0.4, v)}
			f := function(t, sym.In(n), sym.Out(out...), sym.IgnoreUnused)
			s := &theanoStreams{mrgReference{12345, 12345, 12345, 12345, 12345, 12345}}
			const all = 60 * 256
			normal, uniform, again, multi := s.variable(all), s.variable(all), s.variable(all), s.variable(all)
			each := all
			if name == "number" {
				if each = size; size > 6 {
					each = size / 6
				}
			}
			binomial := s.variable(max(1, min(each, all)))
			for call := range 3 {
				r := results(t, f, size)
				u := normal(size + size%2)
				want := [4][]float64{1: theanoTruncated(size, uniform, again), 2: theanoMultinomial(2*size+13, theanoProbabilities, 4, multi)}
				for i := range size {
					half := (size + 1) / 2
					turn := math.Cos(2 * math.Pi * u[half+i%half])
					if i >= half {
						turn = math.Sin(2 * math.Pi * u[half+i%half])
					}
					want[0] = append(want[0], math.Sqrt(-2*math.Log(u[i%half]))*turn)
				}
				for _, v := range binomial(size) {
					want[3] = append(want[3], map[bool]float64{true: 1}[v < 0.4])
				}
				for k, what := range []string{"normal", "truncated", "multinomial", "binomial"} {
					tol := 0.0
					if k < 2 {
						tol = 1e-13
					}
					tensortest.Near(t, fmt.Sprintf("%s, %d by %s, call %d", what, size, name, call), r[k].To(weft.Float64), want[k], tol)
				}
			}
		}
	}
}

// TestMRGMatchesTheano holds draws to numbers that Aesara 2.9.4 gave, whose MRG_RandomStream is that of
// Theano 1.0: two calls with the seed 12345, float64.
func TestMRGMatchesTheano(t *testing.T) {
	draw := func(f func(m *sym.MRGStreams) *sym.Var) (r [2][]float64) {
		g := function(t, sym.In(), sym.Out(f(sym.NewMRGStreams(12345))))
		for i := range r {
			r[i] = weft.Data[float64](results(t, g)[0].To(weft.Float64).Contiguous())
		}
		return r
	}
	truncated := draw(func(m *sym.MRGStreams) *sym.Var { return m.TruncatedNormal(weft.Float64, 1, 2, 7, 11) })
	odd := draw(func(m *sym.MRGStreams) *sym.Var { return m.TruncatedNormal(weft.Float64, 0, 1, 3, 9) })
	normal := draw(func(m *sym.MRGStreams) *sym.Var { return m.Normal(weft.Float64, 0, 1, 3, 5) })
	at := func(r [2][]float64, places ...int) (v []float64) {
		for _, x := range r {
			for _, i := range places {
				v = append(v, x[i])
			}
		}
		return v
	}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"truncated", at(truncated, 0, 1, 2, 36, 37, 38, 39, 70, 74, 75, 76), []float64{2.781752881585856, 4.317921075108023, 1.63082326619317, 2.8013497539700687, 2.4310026794158675, 3.3607427888344326, 1.0642583813231363, 1.6075107387087155, -0.631922485703228, 2.6585222650554012, -1.4895838243163482,
			0.3383904697486819, 1.610945699748548, 3.0254668046188726, 3.2440601207078146, -2.022620121041465, 4.253488251979532, 3.145207798208726, 1.4977389350663701, -0.52870402896811, 5.278847669796931, 4.874462359736641}},
		{"odd", at(odd, 0, 1, 13, 26), []float64{0.356600925886475, -1.1231789088906727, -0.3785148322499501, -1.2833551481879104,
			0.7075332824307616, 0.35700547327543297, 1.1753762752996033, -0.16804763435227024}},
		{"normal", at(normal, 0, 1, 7, 8, 14), []float64{0.37002544746749005, -1.5360848480706697, -0.8645514390965768, -0.6913523392605518, -1.0120077043265139,
			0.7133223019878004, 0.3225491989887377, 0.4810884985355195, 0.6826539451040083, 1.154575025679022}},
	} {
		for i, w := range c.want {
			if math.Abs(c.got[i]-w) > 1e-13*max(1, math.Abs(w)) {
				t.Errorf("%s: number %d is %v, want %v", c.name, i, c.got[i], w)
			}
		}
	}
	half := results(t, function(t, sym.In(), sym.Out(sym.NewMRGStreams(12345).Uniform(weft.Float16, 0, 1, 20))))[0]
	tensortest.Near(t, "float16", half.Slice(weft.Range(0, 8)).To(weft.Float64), []float64{0.222900390625, 0.5498046875, 0.271484375, 0.697265625,
		0.53369140625, 0.177490234375, 0.07568359375, 0.109375}, 0)
	for n, want := range map[int][2][]float64{
		1:    {{0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0}},
		13:   {{1, 2, 3, 7, 3, 6, 2, 2, 0, 0, 4, 9}, {1, 1, 6, 5, 5, 2, 2, 4, 0, 0, 10, 3}},
		9000: {{942, 1831, 2696, 3531, 2200, 2318, 2239, 2243, 0, 0, 4524, 4476}, {881, 1761, 2707, 3651, 2258, 2273, 2260, 2209, 0, 0, 4511, 4489}},
	} {
		got := draw(func(m *sym.MRGStreams) *sym.Var {
			return m.Multinomial(n, sym.Const(weft.FromSlice(theanoProbabilities, 3, 4)))
		})
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("call %d counts %v of %d, want %v", i, got[i], n, want[i])
			}
		}
	}
}

// TestTruncatedInLoop: steps of a loop draw what calls draw one after the other, and gradients go through
// mean and deviation.
func TestTruncatedInLoop(t *testing.T) {
	const steps, n = 3, 40
	x := sym.Vector("x", weft.Float64)
	draw := func(m *sym.MRGStreams, mean, deviation any) *sym.Var {
		return m.TruncatedNormal(weft.Float64, mean, deviation, n)
	}
	f := function(t, sym.In(), sym.Out(draw(sym.NewMRGStreams(7), 0, 1)))
	m := sym.NewMRGStreams(7)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		return sym.Next{Out: []*sym.Var{draw(m, s.X[0], s.X[0])}}
	})
	slope := sym.Grad(r.Out[0].Sum(), []*sym.Var{x})[0]
	g := function(t, sym.In(x), sym.Out(r.Out[0], slope))
	at := weft.FromSlice([]float64{1, 2, 4})
	for range 2 {
		got := results(t, g, at)
		for i := range steps {
			z := results(t, f)[0]
			tensortest.Near(t, "step", got[0].Slice(weft.Index(i)), weft.Data[float64](z.Add(1).Mul(at.Slice(weft.Index(i)))), 1e-13)
			tensortest.Near(t, "gradient", got[1].Slice(weft.Index(i)), []float64{z.Add(1).Sum().Item()}, 1e-12)
		}
	}
}
