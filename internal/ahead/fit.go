package ahead

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"weft/internal/loop"
)

// Numbers of plans that depend on free lengths. A graph is planned for several sets of lengths. A number
// that differs must be a polynomial of the lengths.

// A fitter finds expressions for the numbers of several plans.
type fitter struct {
	names  []string
	trials [][]int // free lengths
	basis  [][]int // the lengths that each monomial multiplies; the first one is 1
	// divides are expressions and the numbers that must divide them: the program takes no other lengths.
	divides []divide
}

type divide struct {
	Expr string
	By   int64
}

// maxDegree is the number of lengths that a monomial multiplies.
const maxDegree = 4

func newFitter(names []string, all []*trial) *fitter {
	f := &fitter{names: names}
	for _, t := range all {
		f.trials = append(f.trials, t.free)
	}
	varies := func(i int) bool {
		return slices.ContainsFunc(f.trials, func(l []int) bool { return l[i] != f.trials[0][i] })
	}
	var add func(from int, of []int)
	add = func(from int, of []int) {
		f.basis = append(f.basis, of)
		if len(of) == maxDegree {
			return
		}
		for i := from; i < len(names); i++ {
			if varies(i) {
				add(i, append(slices.Clone(of), i))
			}
		}
	}
	add(0, nil)
	slices.SortStableFunc(f.basis, func(a, b []int) int { return len(a) - len(b) })
	return f
}

// monomials is the number of products of maxDegree factors, each a length or 1.
func monomials(lengths int) int {
	n := 1
	for i := range maxDegree {
		n = n * (lengths + i + 1) / (i + 1)
	}
	return n
}

// at is a monomial in a trial.
func (f *fitter) at(m, trial int) int64 {
	x := int64(1)
	for _, i := range f.basis[m] {
		x *= int64(f.trials[trial][i])
	}
	return x
}

// fit returns the Go expression of an int with these values, in parentheses if it is a sum.
func (f *fitter) fit(v []int64) (string, bool) {
	if !slices.ContainsFunc(v, func(x int64) bool { return x != v[0] }) {
		return fmt.Sprint(v[0]), true
	}
	for m := range f.basis { // the usual ones
		some := slices.IndexFunc(f.indices(), func(t int) bool { return f.at(m, t) != 0 })
		if some < 0 {
			continue
		}
		if x, y := f.at(m, some), v[some]; y%x == 0 && !slices.ContainsFunc(f.indices(), func(t int) bool { return y/x*f.at(m, t) != v[t] }) {
			coefs := make([]*big.Rat, len(f.basis))
			coefs[m] = big.NewRat(y/x, 1)
			return f.text(coefs), true
		}
	}
	if coefs := f.solve(v); coefs != nil {
		return f.text(coefs), true
	}
	return "", false
}

func (f *fitter) indices() []int {
	all := make([]int, len(f.trials))
	for t := range all {
		all[t] = t
	}
	return all
}

// solve returns the coefficients of the polynomial with these values, nil if there is none. It takes
// more trials than monomials, so that those left over check the result.
func (f *fitter) solve(v []int64) []*big.Rat {
	n := len(f.basis)
	rows := make([][]*big.Rat, len(f.trials))
	for t := range rows {
		rows[t] = make([]*big.Rat, n+1)
		for m := range f.basis {
			rows[t][m] = big.NewRat(f.at(m, t), 1)
		}
		rows[t][n] = big.NewRat(v[t], 1)
	}
	for m := range n { // Gauss and Jordan
		p := slices.IndexFunc(rows[m:], func(r []*big.Rat) bool { return r[m].Sign() != 0 })
		if p < 0 {
			return nil
		}
		rows[m], rows[m+p] = rows[m+p], rows[m]
		inverse := new(big.Rat).Inv(rows[m][m])
		for k := range rows[m] {
			rows[m][k] = new(big.Rat).Mul(rows[m][k], inverse)
		}
		for t := range rows {
			if by := rows[t][m]; t != m && by.Sign() != 0 {
				for k := range rows[t] {
					rows[t][k] = new(big.Rat).Sub(rows[t][k], new(big.Rat).Mul(by, rows[m][k]))
				}
			}
		}
	}
	coefs := make([]*big.Rat, n)
	for t, r := range rows {
		if t >= n && r[n].Sign() != 0 {
			return nil
		}
		if t < n && r[n].Sign() != 0 {
			coefs[t] = r[n]
		}
	}
	return coefs
}

// text prints a polynomial.
func (f *fitter) text(coefs []*big.Rat) string {
	over := big.NewInt(1)
	for _, c := range coefs {
		if c != nil {
			g := new(big.Int).GCD(nil, nil, over, c.Denom())
			over.Mul(over, new(big.Int).Div(c.Denom(), g))
		}
	}
	var s strings.Builder
	terms := 0
	for m, c := range slices.Backward(coefs) {
		if c == nil {
			continue
		}
		by := new(big.Int).Div(new(big.Int).Mul(c.Num(), over), c.Denom())
		var factors []string
		for _, i := range f.basis[m] {
			factors = append(factors, f.names[i])
		}
		if terms > 0 && by.Sign() > 0 {
			s.WriteString(" + ")
		} else if by.Sign() < 0 {
			s.WriteString(map[bool]string{true: " - ", false: "-"}[terms > 0])
			by.Neg(by)
		}
		if by.Cmp(big.NewInt(1)) != 0 || len(factors) == 0 {
			factors = append([]string{by.String()}, factors...)
		}
		s.WriteString(strings.Join(factors, "*"))
		terms++
	}
	text := s.String()
	if terms > 1 {
		text = "(" + text + ")"
	}
	if over.Cmp(big.NewInt(1)) != 0 {
		if d := (divide{text, over.Int64()}); !slices.Contains(f.divides, d) {
			f.divides = append(f.divides, d)
		}
		text += "/" + over.String()
	}
	return text
}

// word returns the Go expression of a word of a frame. t is the type of a scalar, None of other words.
func (f *fitter) word(v []uint64, t loop.Type) (string, bool) {
	if !slices.ContainsFunc(v, func(x uint64) bool { return x != v[0] }) {
		if v[0] > 1<<32 {
			return fmt.Sprintf("%#x", v[0]), true
		}
		return fmt.Sprint(v[0]), true
	}
	ints := make([]int64, len(v))
	if !t.Float() {
		for i := range v {
			ints[i] = int64(v[i])
		}
		s, ok := f.fit(ints)
		return "uint64(" + s + ")", ok
	}
	value := func(bits uint64) float64 {
		if t == loop.F32 {
			return float64(math.Float32frombits(uint32(bits)))
		}
		return math.Float64frombits(bits)
	}
	nearest := func(x float64) float64 {
		if t == loop.F32 {
			return float64(float32(x))
		}
		return x
	}
	wrap := map[loop.Type]string{loop.F32: "uint64(math.Float32bits(float32(%s)))", loop.F64: "math.Float64bits(%s)"}[t]
	for _, inverse := range []bool{false, true} {
		exact := true
		for i := range v {
			x := value(v[i])
			if inverse {
				x = 1 / x
			}
			ints[i] = int64(math.Round(x))
			back := float64(ints[i])
			if inverse {
				back = 1 / back
			}
			exact = exact && nearest(back) == value(v[i])
		}
		if !exact {
			continue
		}
		if s, ok := f.fit(ints); ok {
			s = "float64(" + s + ")"
			if inverse {
				s = "1/" + s
			}
			return fmt.Sprintf(wrap, s), true
		}
	}
	return "", false
}
