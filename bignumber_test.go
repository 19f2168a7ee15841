package weft

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// Go integers that no int64 holds: uint64 has them, floats and complex numbers have what is
// nearest, other integers refuse them, and comparisons take them as they are. Expected values
// are those of Go's big integers and conversions.
func TestNumbersBeyondInt64(t *testing.T) {
	everyBackend(t, func(t *testing.T) {
		for _, n := range []uint64{1 << 63, 1<<63 + 1<<39 + 1, 1<<63 + 1<<55 + 1, math.MaxUint64} {
			for _, d := range []DType{Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float16, BFloat16, Float32, Float64, Complex64, Complex128} {
				t.Run(fmt.Sprint(n, d), func(t *testing.T) { beyondInt64(t, n, d) })
			}
		}
		if y := Scalar(uint64(math.MaxUint64)); y.DType() != Uint64 || Data[uint64](y)[0] != math.MaxUint64 {
			t.Errorf("a scalar is %v", y)
		}
	})
}

func beyondInt64(t *testing.T, n uint64, d DType) {
	// nearest is n as d has it.
	nearest := float64(n)
	switch digits := map[DType]uint{BFloat16: 8, Float32: 24, Complex64: 24}[d]; {
	case d == Float16:
		nearest = math.Inf(1)
	case d == Bool:
		nearest = 1
	case digits > 0:
		nearest, _ = new(big.Float).SetMode(big.ToNearestEven).SetPrec(digits).SetUint64(n).Float64()
	}
	refused := d.Integer() && d != Uint64
	check := func(what string, want func(i int) any, f func() *Tensor) {
		t.Helper()
		var y *Tensor
		err := Try(func() { y = f() })
		if want == nil {
			if e, ok := err.(*Error); !ok || e.Kind != Misuse {
				t.Errorf("%s: %v, %v, want a refusal", what, y, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		for i := range y.Size() {
			var got any
			switch x := y.Reshape(-1).At(i); {
			case x.DType() == Uint64:
				got = Data[uint64](x)[0]
			case x.DType() == Bool:
				got = Data[bool](x)[0]
			case x.DType().Integer():
				got = x.ItemInt()
			case x.DType().Complex():
				got = x.ItemComplex()
			default:
				got = x.Item()
			}
			if w := want(i); got != w {
				t.Errorf("%s: element %d is %v (%T), want %v (%T)", what, i, got, got, w, w)
			}
		}
	}
	// value is a number of uint64 or of floats as an element of d.
	value := func(u uint64, f float64) any {
		switch {
		case d == Uint64:
			return u
		case d == Bool:
			return f != 0
		case d.Complex():
			return complex(f, 0)
		}
		return f
	}
	held := func(f func(i int) any) func(i int) any {
		if refused {
			return nil
		}
		return f
	}
	constant := held(func(int) any { return value(n, nearest) })
	check("full", constant, func() *Tensor { return FullOf(d, n, 2) })
	check("scalar", constant, func() *Tensor { return ScalarOf(d, n) })
	check("full_like", constant, func() *Tensor { return FullLike(ZerosOf(d, 3), n) })
	check("fill", constant, func() *Tensor { x := ZerosOf(d, 3); x.Assign(n); return x })

	elems := []int{0, 1, 3}
	if d == Bool {
		elems = []int{0, 1}
	}
	x := From(elems).To(d)
	sum := func(i int) any {
		u := uint64(elems[i]) + n
		switch {
		case d == Bool: // which meets the number in uint64
			return u
		case d == Float16:
			return math.Inf(1)
		}
		return value(u, nearest) // so little is lost
	}
	check("add", held(sum), func() *Tensor { return x.Add(n) })
	if d != Float16 {
		check("mul", held(func(i int) any {
			u := uint64(elems[i]) * n
			if d == Bool {
				return u
			}
			exact := float64(elems[i]) * nearest
			if digits := map[DType]uint{BFloat16: 8, Float32: 24, Complex64: 24, Float64: 53, Complex128: 53}[d]; digits > 0 {
				p := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(elems[i])), big.NewFloat(nearest))
				exact, _ = new(big.Float).SetPrec(digits).Set(p).Float64()
			}
			return value(u, exact)
		}), func() *Tensor { return x.Mul(n) })
	}
	check("where", held(func(i int) any {
		if i == 0 && d == Bool {
			return n
		}
		if i == 0 {
			return value(n, nearest)
		}
		if d == Bool {
			return uint64(elems[i])
		}
		return value(uint64(elems[i]), float64(elems[i]))
	}), func() *Tensor { return Where(x.Eq(0), n, x) })
	check("eq", func(int) any { return false }, func() *Tensor { return x.Eq(n) })
	check("ne", func(int) any { return true }, func() *Tensor { return x.Ne(n) })
	if d.Complex() {
		return
	}
	check("lt", func(int) any { return true }, func() *Tensor { return x.Lt(n) })
	check("le", func(int) any { return true }, func() *Tensor { return x.Le(n) })
	check("gt", func(int) any { return false }, func() *Tensor { return x.Gt(n) })
	check("ge", func(int) any { return false }, func() *Tensor { return x.Ge(n) })
	if d == Uint64 { // elements on both sides
		y := FromSlice([]uint64{n - 1, n, math.MaxUint64})
		v := []uint64{n - 1, n, math.MaxUint64}
		check("eq", func(i int) any { return v[i] == n }, func() *Tensor { return y.Eq(n) })
		check("lt", func(i int) any { return v[i] < n }, func() *Tensor { return y.Lt(n) })
		check("le", func(i int) any { return v[i] <= n }, func() *Tensor { return y.Le(n) })
		check("gt", func(i int) any { return v[i] > n }, func() *Tensor { return y.Gt(n) })
		check("ge", func(i int) any { return v[i] >= n }, func() *Tensor { return y.Ge(n) })
		check("clamp", func(i int) any { return min(v[i], n) }, func() *Tensor { return y.Clamp(0, n) })
		check("sub", func(i int) any { return v[i] - n }, func() *Tensor { return y.Sub(n) })
		check("floordiv", func(i int) any { return v[i] / n }, func() *Tensor { return y.FloorDiv(n) })
		check("mod", func(i int) any { return v[i] % n }, func() *Tensor { return y.Mod(n) })
	}
	if d != Bool {
		own := func(i int) any {
			if d.Integer() && d != Uint64 {
				return int64(elems[i])
			}
			return value(uint64(elems[i]), float64(elems[i]))
		}
		check("clamp", own, func() *Tensor { return x.Clamp(0, n) })
		check("minimum", own, func() *Tensor { return x.Minimum(n) })
		check("clamp from", constant, func() *Tensor { return x.Clamp(n, n) })
		check("maximum", constant, func() *Tensor { return x.Maximum(n) })

		if d == Uint64 || d.Float() {
			// A plan for the same operation of smaller numbers is another.
			check("minimum of small", own, func() *Tensor { return x.Minimum(uint64(7)) })
		}
	}
	// A formula computes with numbers as int64.
	check("formula", nil, func() *Tensor { return Expr("x + n", Vars{"x": x, "n": n}) })
	check("formula of uint64", func(i int) any { return elems[i] != 0 }, func() *Tensor { return Expr("x > n", Vars{"x": x.To(Int32), "n": uint64(0)}) })
}
