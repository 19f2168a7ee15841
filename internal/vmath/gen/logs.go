package main

import (
	"math"
)

// A logTable serves numbers from about 3/4 to 3/2, in intervals around as many whose bits
// are equally far apart. One of these numbers is 1.
type logTable struct {
	name    string
	n       int     // intervals
	f       float64 // how far from 1 a factor takes its interval at most
	mant    int     // bits of a float
	bits    int     // factors are multiples of 2^-bits
	unit    int     // and the negatives of their logarithms nearly of 2^-unit
	scan    int     // number of factors tried
	factors []float64
	logs    []float64
}

// center is the number that interval j is around, and how far that goes, but for the
// upper side of 1, where it is twice as much.
func (t *logTable) center(j int) (g, width float64) {
	at := float64(j)/float64(t.n/2) - 1
	if at <= 0 {
		return 1 + at/4, 0.25 / float64(t.n)
	}
	return 1 + at/2, 0.5 / float64(t.n)
}

// build finds for each interval the factor whose logarithm is nearest to a multiple of
// the unit.
func (t *logTable) build() (worst float64) {
	for j := range t.n {
		g, width := t.center(j)
		if g == 1 {
			t.factors, t.logs = append(t.factors, 1), append(t.logs, 0)
			continue
		}
		step := math.Ldexp(1, -t.bits)
		most := min(t.f, 1.1*width/g) // its logarithm is more than all of that
		lo, hi := (1-most)/(g-width), (1+most)/(g+width)
		if t.mant == 24 {
			// Beside 1 results are as small as the products r less 1 that they are
			// summed from, and those have rounded: keep them smaller there.
			switch j {
			case t.n/2 - 1:
				hi = (1 + 1.0/64) / (g + width)
				lo = hi * (1 - 1.0/300)
			case t.n/2 + 1:
				lo = (1 - 1.0/64) / (g - width)
				hi = lo * (1 + 1.0/300)
			}
		}
		lo, hi = math.Ceil(lo/step)*step, math.Floor(hi/step)*step
		if n := int((hi - lo) / step); n > t.scan {
			lo += float64((n-t.scan)/2) * step
			hi = lo + float64(t.scan)*step
		}
		scale := zero().SetMantExp(num(1), t.unit)
		from := mul(log(num(lo)), scale)
		whole, _ := from.Int(nil)
		start := f64(sub(from, zero().SetInt(whole)))
		best, least := lo, 1.0
		for c := lo; c <= hi; c += step {
			at := start + math.Ldexp(math.Log1p((c-lo)/lo), t.unit)
			if off := math.Abs(at - math.Round(at)); off < least {
				best, least = c, off
			}
		}
		exact := mul(log(num(best)), scale)
		near, _ := add(exact, num(math.Copysign(0.5, f64(exact)))).Int(nil)
		l := f64(zero().SetMantExp(zero().SetInt(near), -t.unit))
		// In units in the last place, of float32 or float64, of the least result.
		m := min(math.Abs(math.Log(g-width)), math.Abs(math.Log(g+width)))
		_, e := math.Frexp(m)
		off := math.Abs(f64(sub(log(num(best)), num(l))))
		worst = max(worst, math.Ldexp(off, t.mant-e))
		t.factors, t.logs = append(t.factors, best), append(t.logs, -l)
	}
	return worst
}

func logarithms() {
	for _, t := range []*logTable{
		{name: "ln32", n: 16, f: 1.0 / 32, mant: 24, bits: 23, unit: 17, scan: 1 << 20},
		{name: "ln64", n: 8, f: 1.0 / 16, mant: 53, bits: 30, unit: 43, scan: 1 << 21},
	} {
		worst := t.build()
		printf("\n// %sFactors take %d intervals of [3/4, 3/2) to 1, and %sLogs are the negatives of their\n// logarithms, multiples of 2^-%d: off by %.3f ULP of a result at most.\n", t.name, t.n, t.name, t.unit, worst)
		printf("var (\n")
		for _, l := range []struct {
			name string
			x    []float64
		}{{"Factors", t.factors}, {"Logs", t.logs}} {
			printf("\t%s%s = []float64{\n", t.name, l.name)
			for _, v := range l.x {
				printf("\t\t%x,\n", v)
			}
			printf("\t}\n")
		}
		printf(")\n")
	}
	rest := func(r number) number { return div(sub(log1p(r), r), mul(r, r)) }
	weight := func(r number) number {
		if f64(r) > 1.0/32 { // where results are larger
			return div(mul(r, r), num(1.0/16))
		}
		return r
	}
	c, err := fit(rest, weight, -1.005/32, 0.045, 4, 24)
	printf("\n// lnRest32 is (ln(1+f)-f)/f^2 for -1/32 <= f <= 0.045, relative to ln(1+f). Error 2^%.1f.\n", math.Log2(err))
	list("lnRest32", floats(c))
	// In z = s^2.
	top := 1.005 / 31
	series := func(z number) number {
		sum := zero()
		for i := 40; i >= 0; i-- {
			sum = add(mul(sum, z), div(num(2), num(float64(2*i+3))))
		}
		return sum
	}
	c, err = fit(series, func(z number) number { return z }, 0, top*top, 4, 53)
	printf("\n// lnRest64 is (2 atanh(s)/s-2)/s^2 in s^2 for |s| <= 1/31, relative to 2s. Error 2^%.1f.\n", math.Log2(err/2))
	list("lnRest64", floats(c))
}

// log1p is ln(1+x).
func log1p(x number) number { return log(add(num(1), x)) }
