package sym

import (
	"cmp"
	"encoding/binary"
	"slices"

	"weft"
)

// Differences of sizes by their form: (i+1)*b - i*b is b whatever i is.

// A polynomial is an integer as a sum of products of variables: coefficients by the identifiers of
// variables in ascending order, as bytes.
type polynomial struct {
	terms map[string]int
	vars  map[string][]*Var
}

// maxTerms bounds the terms of a polynomial. A larger one is taken as a whole.
const maxTerms = 64

// constantPolynomial returns n as a polynomial.
func constantPolynomial(n int) polynomial {
	p := polynomial{map[string]int{}, map[string][]*Var{}}
	p.add(n, nil)
	return p
}

// add adds a term.
func (p polynomial) add(n int, vars []*Var) {
	var key []byte
	for _, v := range vars {
		key = binary.BigEndian.AppendUint64(key, v.id)
	}
	p.vars[string(key)] = vars
	if p.terms[string(key)] += n; p.terms[string(key)] == 0 {
		delete(p.terms, string(key))
	}
}

// plus returns p + n*q.
func (p polynomial) plus(n int, q polynomial) polynomial {
	out := constantPolynomial(0)
	for k, c := range p.terms {
		out.add(c, p.vars[k])
	}
	for k, c := range q.terms {
		out.add(n*c, q.vars[k])
	}
	return out
}

// times returns p * q.
func (p polynomial) times(q polynomial) polynomial {
	out := constantPolynomial(0)
	for k, c := range p.terms {
		for l, d := range q.terms {
			vars := slices.Concat(p.vars[k], q.vars[l])
			slices.SortFunc(vars, func(a, b *Var) int { return cmp.Compare(a.id, b.id) })
			out.add(c*d, vars)
		}
	}
	return out
}

// polynomialOf returns an integer variable by the operations that compute it.
func polynomialOf(v *Var) polynomial {
	if v.role == constant {
		return constantPolynomial(v.whole)
	}
	whole := constantPolynomial(0)
	whole.add(1, []*Var{v})
	a := v.from
	if a == nil || v.dtype != weft.Int64 {
		return whole
	}
	of := make([]polynomial, 0, 2)
	for _, w := range a.written {
		n, number := asWhole(w.value)
		switch {
		case number:
			of = append(of, constantPolynomial(n))
		case w.at >= 0 && isWhole(a.args[w.at]):
			of = append(of, polynomialOf(a.args[w.at]))
		}
	}
	var out polynomial
	switch {
	case len(of) == 1 && (a.name == "to" || a.name == "as"):
		out = of[0]
	case len(of) == 1 && a.name == "neg":
		out = constantPolynomial(0).plus(-1, of[0])
	case len(of) == 2 && a.name == "add":
		out = of[0].plus(1, of[1])
	case len(of) == 2 && a.name == "sub":
		out = of[0].plus(-1, of[1])
	case len(of) == 2 && a.name == "rsub":
		out = of[1].plus(-1, of[0])
	case len(of) == 2 && a.name == "mul" && len(of[0].terms)*len(of[1].terms) <= maxTerms:
		out = of[0].times(of[1])
	default:
		return whole
	}
	if len(out.terms) > maxTerms {
		return whole
	}
	return out
}

// between returns to - from where one of them is not known before the function runs.
func (c *sized) between(from, to length) size {
	of := func(l length) polynomial {
		if l.at < 0 {
			return constantPolynomial(l.n)
		}
		return polynomialOf(c.lens[l.at])
	}
	p := of(to).plus(-1, of(from))
	var vars []*Var
	for k := range p.terms {
		for _, v := range p.vars[k] {
			if !slices.Contains(vars, v) {
				vars = append(vars, v)
			}
		}
	}
	sizes := make([]size, len(vars))
	for i, v := range vars {
		sizes[i] = c.replay.size(v)
	}
	return derivedSize(func(ns []int) int {
		sum := 0
		for k, n := range p.terms {
			for _, v := range p.vars[k] {
				n *= ns[slices.Index(vars, v)]
			}
			sum += n
		}
		return sum
	}, func(xs []*weft.Tensor) *weft.Tensor {
		sum := weft.ScalarOf(weft.Int64, 0)
		for k, n := range p.terms {
			term := weft.ScalarOf(weft.Int64, n)
			for _, v := range p.vars[k] {
				term = term.Mul(xs[slices.Index(vars, v)])
			}
			sum = sum.Add(term)
		}
		return sum
	}, sizes...)
}
