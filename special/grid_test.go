package special_test

import (
	"bufio"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/special"
)

// ofGrid are the functions of the grid that no other table has.
var ofGrid = map[string]func(x []any) tensor{
	"Binom":       func(x []any) tensor { return special.Binom(x[0], x[1]) },
	"Poch":        func(x []any) tensor { return special.Poch(x[0], x[1]) },
	"StdTr":       func(x []any) tensor { return special.StdTr(x[0], x[1]) },
	"StdTrIt":     func(x []any) tensor { return special.StdTrIt(x[0], x[1]) },
	"ChDtr":       func(x []any) tensor { return special.ChDtr(x[0], x[1]) },
	"ChDtrC":      func(x []any) tensor { return special.ChDtrC(x[0], x[1]) },
	"ChDtrI":      func(x []any) tensor { return special.ChDtrI(x[0], x[1]) },
	"FDtr":        func(x []any) tensor { return special.FDtr(x[0], x[1], x[2]) },
	"FDtrC":       func(x []any) tensor { return special.FDtrC(x[0], x[1], x[2]) },
	"FDtrI":       func(x []any) tensor { return special.FDtrI(x[0], x[1], x[2]) },
	"BDtr":        func(x []any) tensor { return special.BDtr(x[0], x[1], x[2]) },
	"BDtrC":       func(x []any) tensor { return special.BDtrC(x[0], x[1], x[2]) },
	"PDtr":        func(x []any) tensor { return special.PDtr(x[0], x[1]) },
	"PDtrC":       func(x []any) tensor { return special.PDtrC(x[0], x[1]) },
	"BoxCox":      func(x []any) tensor { return special.BoxCox(x[0], x[1]) },
	"BoxCox1p":    func(x []any) tensor { return special.BoxCox1p(x[0], x[1]) },
	"InvBoxCox":   func(x []any) tensor { return special.InvBoxCox(x[0], x[1]) },
	"InvBoxCox1p": func(x []any) tensor { return special.InvBoxCox1p(x[0], x[1]) },
	"XLog1PY":     func(x []any) tensor { return special.XLog1PY(x[0], x[1]) },
	"RelEntr":     func(x []any) tensor { return special.RelEntr(x[0], x[1]) },
	"KLDiv":       func(x []any) tensor { return special.KLDiv(x[0], x[1]) },
	"PseudoHuber": func(x []any) tensor { return special.PseudoHuber(x[0], x[1]) },
	"RGamma":      func(x []any) tensor { return special.RGamma(x[0].(tensor)) },
	"LogGamma":    func(x []any) tensor { return special.LogGamma(x[0].(tensor)) },
	"Factorial":   func(x []any) tensor { return special.Factorial(x[0].(tensor)) },
	"Erfi":        func(x []any) tensor { return special.Erfi(x[0].(tensor)) },
	"ExpRel":      func(x []any) tensor { return special.ExpRel(x[0].(tensor)) },
	"Entr":        func(x []any) tensor { return special.Entr(x[0].(tensor)) },
	"Digamma":     func(x []any) tensor { return x[0].(tensor).Digamma() },
	"Trigamma":    func(x []any) tensor { return x[0].(tensor).Trigamma() },
	"Erf":         func(x []any) tensor { return x[0].(tensor).Erf() },
	"Erfc":        func(x []any) tensor { return x[0].(tensor).Erfc() },
	"Erfinv":      func(x []any) tensor { return x[0].(tensor).Erfinv() },
}

func gridFunction(name string) func(x []any) tensor {
	if f := functions[name]; f != nil {
		return func(x []any) tensor { return f(x[0].(tensor)) }
	}
	if f := ofSeveral[name]; f != nil {
		return f
	}
	return ofGrid[name]
}

// gridUlps is the distance of got from want in units in the last place; that of denormal numbers is 2^-1074.
func gridUlps(got, want float64) float64 {
	if got == want {
		return 0
	}
	_, e := math.Frexp(want)
	if d := math.Abs(math.Ldexp(got-want, 53-max(e, -1021))); d < math.Inf(1) {
		return d
	}
	return math.Inf(1)
}

// gridBounds are the measured errors of functions with more than 2 units, the same on every processor. In errors of
// hundreds the rounding of an argument is magnified: of a sum with 1, a quotient or a denormal half.
var gridBounds = map[string]float64{
	"BetaIncInv": 4, "Binom": 11, "BoxCox": 65, "BoxCox1p": 65, "ChDtrC": 356, "ChDtrI": 3, "FDtr": 965, "FDtrC": 7,
	"FDtrI": 12, "Factorial": 9, "GammaIncC": 11, "GammaIncCInv": 4, "InvBoxCox": 172, "InvBoxCox1p": 172, "Iv": 4, "Ive": 5,
	"Jv": 26, "Kv": 20, "Kve": 20, "Yv": 19, "Zeta": 5,
}

// TestGrid compares results at the corners of the domains, denormal arguments among them, with mpmath's. The bound is
// 2 units, or what gridBounds says.
func TestGrid(t *testing.T) {
	file, err := os.Open("testdata/grid.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[string][][]float64{}
	for s := bufio.NewScanner(file); s.Scan(); {
		w := strings.Fields(s.Text())
		v := make([]float64, len(w)-1)
		for i := range v {
			if v[i], err = strconv.ParseFloat(w[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		rows[w[0]] = append(rows[w[0]], v)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		n := len(rows[name][0]) - 2
		args := make([]any, n)
		for i := range args {
			x := make([]float64, len(rows[name]))
			for j, v := range rows[name] {
				x[j] = v[i]
			}
			args[i] = weft.FromSlice(x)
		}
		worst, theirs := 0.0, 0.0
		for j, got := range weft.Data[float64](gridFunction(name)(args)) {
			v := rows[name][j]
			e := gridUlps(got, v[n])
			worst, theirs = max(worst, e), max(theirs, v[n+1])
			if !(e <= max(2, gridBounds[name])) {
				t.Errorf("%s of %v is %v, want %v: %.3g ULP; SciPy errs %.3g", name, v[:n], got, v[n], e, v[n+1])
			}
		}
		t.Logf("%-14s %8.3g ULP; SciPy %.3g", name, worst, theirs)
	}
}
