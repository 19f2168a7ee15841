package kernel_test

import (
	"bufio"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

// A specialRow is a row of testdata/special.txt, which mpmath computed.
type specialRow struct {
	args []float64
	want *big.Float
}

// specials are the functions of one and of two arguments, in plain Go.
var (
	specials1 = map[string]func(x float64) float64{"Digamma": kernel.Digamma, "Trigamma": kernel.Trigamma, "Erfcx": kernel.Erfcx}
	specials2 = map[string]func(a, x float64) float64{"GammaInc": kernel.GammaInc, "GammaIncC": kernel.GammaIncC, "Beta": kernel.Beta, "LogBeta": kernel.LogBeta}
)

func specialRows(t *testing.T) map[string][]specialRow {
	t.Helper()
	f, err := os.Open("testdata/special.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[string][]specialRow{}
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		var r specialRow
		for _, a := range w[1 : len(w)-1] {
			x, err := strconv.ParseFloat(a, 64)
			if err != nil {
				t.Fatal(err)
			}
			r.args = append(r.args, x)
		}
		r.want, _, err = big.ParseFloat(w[len(w)-1], 10, 160, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		rows[w[0]] = append(rows[w[0]], r)
	}
	return rows
}

// specialError is the error of a value in units of 2^-52 of the reference, or of 1 where that is
// smaller and the function has zeros.
func specialError(name string, got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsInf(got, 0) || got != got {
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	d, _ := new(big.Float).Sub(new(big.Float).SetFloat64(got), want).Float64()
	unit := math.Abs(w)
	if name == "Digamma" || name == "LogBeta" {
		unit = math.Max(unit, 1)
	}
	if name == "Beta" || strings.HasPrefix(name, "GammaInc") {
		unit *= 1 + math.Abs(math.Log(math.Abs(w))) // which the exponential makes of a unit of its argument
	}
	return math.Abs(d) / unit * 0x1p52
}

// plainSpecial calls a function in plain Go.
func plainSpecial(name string, args []float64) float64 {
	if f := specials1[name]; f != nil {
		return f(args[0])
	}
	return specials2[name](args[0], args[1])
}

// specialKernel is the function as a kernel.
func specialKernel(name string) *kernel.Func {
	args := "a, x"
	if specials1[name] != nil {
		args = "x"
	}
	return kernel.MustParse("package k\nimport \"weft/kernel\"\nfunc F(" + args + " float64) float64 { return kernel." + name + "(" + args + ") }").Func("F")
}

// Values are within some units of mpmath's, in plain Go and compiled.
func TestSpecialAccuracy(t *testing.T) {
	// Measured maxima: 3.9, 2.1, 1.5, 1.4, 2.1, 7.9 and 9.2.
	bounds := map[string]float64{"Digamma": 5, "Trigamma": 4, "Erfcx": 3, "Beta": 4, "LogBeta": 4, "GammaInc": 12, "GammaIncC": 12}
	for name, rows := range specialRows(t) {
		args := make([][]float64, len(rows[0].args))
		for _, r := range rows {
			for k, x := range r.args {
				args[k] = append(args[k], x)
			}
		}
		var xs []any
		for _, a := range args {
			xs = append(xs, weft.FromSlice(a))
		}
		compiled := weft.Data[float64](specialKernel(name).Map(xs...))
		for i, r := range rows {
			plain := plainSpecial(name, r.args)
			for how, got := range map[string]float64{"in plain Go": plain, "compiled": compiled[i]} {
				if e := specialError(name, got, r.want); !(e <= bounds[name]) {
					t.Errorf("%s of %v %s is %v, want %s: %.1f units", name, r.args, how, got, r.want.Text('g', 20), e)
				}
			}
			// Functions of Go's math differ by a few units between the two.
			if e := specialError(name, compiled[i], new(big.Float).SetFloat64(plain)); plain == plain && e > bounds[name] {
				t.Errorf("%s of %v is %v compiled, %v in plain Go", name, r.args, compiled[i], plain)
			}
		}
	}
}

// What stands at the ends of the ranges.
func TestSpecialEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		args []float64
		want float64
	}{
		{"Digamma", []float64{0}, -inf}, {"Digamma", []float64{math.Copysign(0, -1)}, inf}, {"Digamma", []float64{-3}, nan}, {"Digamma", []float64{inf}, inf},
		{"Digamma", []float64{-inf}, nan}, {"Trigamma", []float64{0}, inf}, {"Trigamma", []float64{-2}, inf}, {"Trigamma", []float64{inf}, 0}, {"Trigamma", []float64{-inf}, nan},
		{"Erfcx", []float64{inf}, 0}, {"Erfcx", []float64{-inf}, inf}, {"Erfcx", []float64{-27}, inf}, {"Erfcx", []float64{nan}, nan}, {"Erfcx", []float64{0}, 1},
		{"GammaInc", []float64{0, 2}, 1}, {"GammaInc", []float64{0, 0}, 1}, {"GammaInc", []float64{2, 0}, 0}, {"GammaInc", []float64{2, inf}, 1}, {"GammaInc", []float64{inf, 2}, 0},
		{"GammaInc", []float64{-1, 2}, nan}, {"GammaInc", []float64{1, -2}, nan}, {"GammaInc", []float64{nan, 1}, nan}, {"GammaInc", []float64{inf, inf}, nan}, {"GammaInc", []float64{1e15, 1e10}, 0},
		{"GammaIncC", []float64{0, 2}, 0}, {"GammaIncC", []float64{2, 0}, 1}, {"GammaIncC", []float64{2, inf}, 0}, {"GammaIncC", []float64{2, 1e300}, 0}, {"GammaIncC", []float64{1e300, 1}, 1},
		{"GammaIncC", []float64{1e-300, 1e-300}, 0},
		{"Beta", []float64{0, 1}, inf}, {"Beta", []float64{inf, 2}, 0}, {"Beta", []float64{-1, 2}, nan}, {"Beta", []float64{0, inf}, nan}, {"Beta", []float64{1000, 1000}, 0},
		{"LogBeta", []float64{0, 1}, inf}, {"LogBeta", []float64{inf, 2}, -inf}, {"LogBeta", []float64{1, 1}, 0}, {"LogBeta", []float64{nan, 2}, nan},
	} {
		xs := []any{weft.FromSlice(c.args[:1])}
		if len(c.args) == 2 {
			xs = append(xs, c.args[1])
		}
		for how, got := range map[string]float64{"in plain Go": plainSpecial(c.name, c.args), "compiled": weft.Data[float64](specialKernel(c.name).Map(xs...))[0]} {
			if got != c.want && !(got != got && c.want != c.want) && math.Abs(got-c.want) > 1e-290 {
				t.Errorf("%s of %v %s is %v, want %v", c.name, c.args, how, got, c.want)
			}
		}
	}
}

// Gradients by all arguments agree with difference quotients in plain Go.
func TestSpecialGradients(t *testing.T) {
	places := map[string][][]float64{
		"Digamma": {{0.3}, {2.5}, {40}, {-1.3}}, "Trigamma": {{0.3}, {2.5}, {40}}, "Erfcx": {{-1.5}, {0.2}, {3}, {12}, {1e3}},
		"GammaInc": {{0.4, 0.7}, {3, 1}, {3, 9}, {150, 140}, {150, 170}}, "GammaIncC": {{0.4, 0.7}, {3, 1}, {3, 9}, {150, 140}, {150, 170}},
		"Beta": {{0.4, 0.7}, {3, 9}, {12, 2}, {15, 30}}, "LogBeta": {{0.4, 0.7}, {3, 9}, {12, 2}, {15, 300}},
	}
	for name, list := range places {
		f := specialKernel(name)
		for _, args := range list {
			var xs []any
			var ts []*weft.Tensor
			for _, a := range args {
				x := weft.FromSlice([]float64{a}).RequireGrad()
				xs, ts = append(xs, x), append(ts, x)
			}
			f.Map(xs...).Sum().Backward()
			for k, x := range ts {
				h := 1e-4 * math.Max(args[k], 0.1)
				at := func(s float64) float64 {
					moved := append([]float64(nil), args...)
					moved[k] += s * h
					return plainSpecial(name, moved)
				}
				want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
				got := weft.Data[float64](x.Grad())[0]
				if math.Abs(got-want) > 1e-8*(math.Abs(want)+1e-2*math.Abs(at(0))) {
					t.Errorf("%s of %v: derivative %d is %v, differences give %v", name, args, k, got, want)
				}
			}
		}
	}
}

func ExampleGammaInc() {
	f := kernel.MustParse(`package k
import "weft/kernel"
func ChiSquared(x, freedom float64) float64 { return kernel.GammaIncC(freedom/2, x/2) }`).Func("ChiSquared")
	fmt.Println(f.Map(weft.FromSlice([]float64{1, 3.84, 10}), 1.0))
	// Output: [0.31731051 0.05004352 0.0015654 ]
}
