package ptxsim

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

var layouts = map[typ][3]int{f16: {11, 15, 5}, bf16: {8, 127, 8}, f32: {24, 127, 8}, f64: {53, 1023, 11}} // precision, bias, exponent bits

// decode returns a float as a float64, by the definition of its format.
func decode(t typ, v uint64) float64 {
	l := layouts[t]
	v &= t.ones()
	e, f := int(v>>(l[0]-1))&(1<<l[2]-1), v&(1<<(l[0]-1)-1)
	x := math.Ldexp(float64(f), 2-l[1]-l[0])
	switch {
	case e == 1<<l[2]-1 && f != 0:
		return math.NaN()
	case e == 1<<l[2]-1:
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(float64(f|1<<(l[0]-1)), e+1-l[1]-l[0])
	}
	if v>>(t.bits-1) != 0 {
		return math.Copysign(x, -1)
	}
	return x
}

// integral rounds to an integer.
func integral(mode string, x *big.Float) *big.Int {
	n, _ := x.Int(nil) // toward zero
	rest := new(big.Float).SetPrec(5000).Sub(x, new(big.Float).SetPrec(5000).SetInt(n))
	away := big.NewInt(int64(x.Sign()))
	up := false
	switch mode[:2] {
	case "rn":
		c := new(big.Float).Abs(rest).Cmp(big.NewFloat(0.5))
		up = c > 0 || c == 0 && n.Bit(0) != 0
	case "rp":
		up = rest.Sign() > 0
	case "rm":
		up = rest.Sign() < 0
	}
	if up {
		n.Add(n, away)
	}
	return n
}

// encode rounds an exact value that is not 0 to a float.
func encode(mode string, t typ, x *big.Float) uint64 {
	l := layouts[t]
	quantum := max(x.MantExp(nil)-l[0], 2-l[1]-l[0])
	n := integral(mode, new(big.Float).SetPrec(5000).SetMantExp(x, -quantum))
	sign := uint64(0)
	if x.Sign() < 0 {
		sign = 1 << (t.bits - 1)
		n.Neg(n)
	}
	v := n.Uint64() + uint64(quantum-(2-l[1]-l[0]))<<(l[0]-1)
	if inf := uint64(1<<l[2]-1) << (l[0] - 1); v >= inf {
		v = inf
		if mode == "rz" || mode == "rp" && x.Sign() < 0 || mode == "rm" && x.Sign() > 0 {
			v--
		}
	}
	return sign | v
}

var nans = map[typ]uint64{f16: 0x7fff, bf16: 0x7fff, f32: 0x7fffffff, f64: 0xfff8000000000000}

// converted returns what a cvt gives, by exact arithmetic.
func converted(mode string, sat bool, td, ts typ, a uint64) uint64 {
	if ts.integer() {
		x := in(ts, a)
		if td.integer() {
			if sat {
				x = clamped(x, td)
			}
			return out(x, td.bits)
		}
		if x.Sign() == 0 {
			return 0
		}
		return encode(mode, td, new(big.Float).SetPrec(5000).SetInt(x))
	}
	x := decode(ts, a)
	if td.integer() {
		switch {
		case x != x && (ts == f64 || td.bits == 64):
			return 1 << (td.bits - 1)
		case x != x:
			return 0
		case math.IsInf(x, 0):
			return out(clamped(new(big.Int).Lsh(big.NewInt(int64(math.Copysign(1, x))), 100), td), td.bits)
		}
		return out(clamped(integral(mode, exact(x)), td), td.bits)
	}
	sign := uint64(0)
	if math.Signbit(x) {
		sign = 1 << (td.bits - 1)
	}
	switch {
	case x != x && td == ts && mode == "":
		return a & td.ones()
	case x != x:
		return nans[td]
	case x == 0:
		return sign
	case math.IsInf(x, 0):
		return sign | uint64(1<<layouts[td][2]-1)<<(layouts[td][0]-1)
	case len(mode) == 3:
		n := integral(mode, exact(x))
		if n.Sign() == 0 {
			return sign
		}
		return encode("rn", td, new(big.Float).SetPrec(5000).SetInt(n))
	case mode == "":
		mode = "rn"
	}
	return encode(mode, td, exact(x))
}

func clamped(x *big.Int, t typ) *big.Int {
	low, high := new(big.Int), new(big.Int).SetUint64(t.ones())
	if t.class == 's' {
		low, high = big.NewInt(-1<<(t.bits-1)), new(big.Int).SetUint64(t.ones()>>1)
	}
	if x.Cmp(low) < 0 {
		return low
	}
	if x.Cmp(high) > 0 {
		return high
	}
	return x
}

// All pairs of types, in each rounding that they may have.
func TestConversions(t *testing.T) {
	register := func(ty typ) string {
		switch {
		case ty == f32:
			return "f"
		case ty == f64:
			return "g"
		case ty.bits <= 16:
			return "h"
		case ty.bits == 32:
			return "r"
		}
		return "d"
	}
	g := open(t, Options{})
	var fs []family
	for _, d := range convertedTypes {
		for _, s := range convertedTypes {
			td, ts := typesByName[d], typesByName[s]
			for _, mode := range []string{"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"} {
				for _, sat := range []bool{false, true} {
					if sat && td.float() {
						continue
					}
					ins := fmt.Sprintf("cvt.%s.%s%s.%s %%%s9, %%%s0", mode, map[bool]string{true: "sat."}[sat], d, s, register(td), register(ts))
					ins = strings.Replace(ins, "cvt..", "cvt.", 1)
					if _, err := g.Load(text(1, ins+";")); err != nil {
						continue
					}
					wide := td.ones()
					if td.bits == 8 {
						wide = 0xffff // the register, which signed integers fill
					}
					fs = append(fs, family{ins, func(a, _, _ uint64) uint64 {
						y := converted(mode, sat, td, ts, a)
						if td.class == 's' && y>>(td.bits-1) != 0 {
							y |= wide &^ td.ones()
						}
						return y
					}})
				}
			}
		}
	}
	// Pairs of integers, twice for .sat. Floats to integers in 4 roundings, twice. Integers to floats
	// in 4 roundings. Floats to narrower ones in 4 roundings, and to wider ones. Floats to their own
	// type, and f32 and f64 to integral values in 4 roundings.
	if want := 128 + 256 + 128 + 7*4 + 5 + 4 + 8; len(fs) != want {
		t.Errorf("%d conversions, not %d", len(fs), want)
	}
	if testing.Short() {
		fs = fs[:100]
	}
	runFamilies(t, fs)
}
