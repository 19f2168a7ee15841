package weft_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/tensortest"
)

// Quotients rounded down as Python and NumPy give them.
func TestFloorDivOfFloats(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, c := range []struct{ x, y, div, mod float64 }{
			{1, 0.1, 9, 0.09999999999999995}, {-1, 0.1, -10, 5.551115123125783e-17}, {6, 0.1, 59, 0.09999999999999967},
			{0.3, 0.1, 2, 0.09999999999999998}, {1, -0.1, -10, -5.551115123125783e-17},
			{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {6, 3, 2, 0}, {6, -3, -2, zero}, {-6, 3, -2, 0},
			{-1, inf, -1, inf}, {1, inf, 0, 1}, {1, -inf, -1, -inf}, {-1, -inf, 0, -1},
			{inf, 1, nan, nan}, {-inf, 2, nan, nan}, {inf, inf, nan, nan},
			{1, 0, inf, nan}, {-1, 0, -inf, nan}, {1, zero, -inf, nan}, {0, 0, nan, nan},
			{0, 5, 0, 0}, {zero, 5, zero, 0}, {0, -5, zero, zero}, {zero, -5, 0, zero},
			{nan, 1, nan, nan}, {1, nan, nan, nan}, {1e300, 1e-300, inf, math.Mod(1e300, 1e-300)},
		} {
			x, y := weft.ScalarOf(weft.Float64, c.x), weft.ScalarOf(weft.Float64, c.y)
			got := []float64{x.FloorDiv(y).Item(), x.Mod(y).Item(), weft.Expr("floordiv(x, y)", x, y).Item(), weft.Expr("x % y", x, y).Item(),
				weft.Expr("0*z + floordiv(x, y)", weft.Vars{"x": c.x, "y": c.y, "z": weft.ScalarOf(weft.Float64, 0)}).Item()}
			want := []float64{c.div, c.mod, c.div, c.mod, c.div}
			for i := range got {
				same := math.Float64bits(got[i]) == math.Float64bits(want[i]) || got[i] != got[i] && want[i] != want[i]
				if i == 4 {
					same = got[i] == want[i] || got[i] != got[i] && want[i] != want[i] // 0 plus it
				}
				if !same {
					t.Errorf("%v by %v: result %d is %v, want %v", c.x, c.y, i, got[i], want[i])
				}
			}
		}
	})
}

// What floordiv and mod give together: x again, to rounding, a whole quotient, and a
// remainder between 0 and y.
func TestFloorDivFitsMod(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	tensortest.EachBackend(t, func(t *testing.T) {
		const n = 1000
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(r.NormFloat64()*math.Exp2(float64(r.IntN(20)))), float32(r.IntN(40)-20)/10
			if r.IntN(3) == 0 {
				x[i] = float32(r.IntN(100)-50) / 10
			}
		}
		q, m := weft.Data[float32](weft.FromSlice(x).FloorDiv(weft.FromSlice(y))), weft.Data[float32](weft.FromSlice(x).Mod(weft.FromSlice(y)))
		for i := range x {
			if y[i] == 0 {
				continue
			}
			a, b := float64(x[i]), float64(y[i])
			var exact float64
			if rem := math.Mod(a, b); rem != 0 && (rem < 0) != (b < 0) {
				exact = math.Round((a-rem)/b) - 1
			} else {
				exact = math.Round((a - rem) / b)
			}
			if math.Abs(float64(q[i])-exact) > math.Abs(exact)*0x1p-23 || float64(q[i]) != math.Floor(float64(q[i])) {
				t.Errorf("%v // %v = %v, want %v", x[i], y[i], q[i], exact)
			}
			if m[i] != 0 && ((m[i] < 0) != (y[i] < 0) || math.Abs(float64(m[i])) > math.Abs(b)) {
				t.Errorf("%v %% %v = %v", x[i], y[i], m[i])
			}
		}
	})
}

// Quotients rounded down, and their remainders, of all integers of 1 and 2 bytes by numbers:
// all of 1 byte, and of 2 bytes the ends and the powers of two with their neighbours.
func TestFloorDivOfNarrow(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		floorDivOf[int8](t)
		floorDivOf[uint8](t)
		floorDivOf[int16](t)
		floorDivOf[uint16](t)
	})
}

func floorDivOf[T interface{ int8 | uint8 | int16 | uint16 }](t *testing.T) {
	x := []T{0}
	for v := T(1); v != 0; v++ {
		x = append(x, v)
	}
	by := x
	if len(x) > 256 {
		by = []T{0, 7, 100}
		for i := range 16 {
			p := 1 << i
			by = append(by, T(p), T(p+1), T(p-1), T(-p), T(1-p), T(-1-p))
		}
	}
	a := weft.FromSlice(x)
	for _, y := range by {
		quotients, remainders := weft.Data[T](a.FloorDiv(y)), weft.Data[T](a.Mod(y))
		for i, v := range x {
			q, r := 0, 0
			if y != 0 {
				q, r = int(v)/int(y), int(v)%int(y)
				if r != 0 && (r < 0) != (y < 0) {
					q, r = q-1, r+int(y)
				}
			}
			if quotients[i] != T(q) || remainders[i] != T(r) {
				t.Fatalf("%T: %d by %d is %d, remainder %d, want %d and %d", v, v, y, quotients[i], remainders[i], T(q), T(r))
			}
		}
	}
}

// wideNumbers are Go integers around the ends of the integer types.
var wideNumbers = []int{0, 1, -1, 2, 8, -2, 200, 255, 256, 300, -300, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1,
	math.MaxInt32 + 200, 1 << 32, 1<<32 + 7, math.MaxInt64, math.MinInt64}

// narrow are the integer types that some Go integers do not fit, with elements at their ends.
var narrow = []struct {
	dtype  weft.DType
	lo, hi int
	data   []int
}{
	{weft.Uint8, 0, 255, []int{0, 1, 2, 7, 8, 44, 127, 128, 200, 254, 255}},
	{weft.Int8, math.MinInt8, math.MaxInt8, []int{-128, -127, -2, -1, 0, 1, 2, 7, 8, 126, 127}},
	{weft.Int16, math.MinInt16, math.MaxInt16, []int{math.MinInt16, -300, -2, -1, 0, 1, 2, 8, 255, 256, 300, math.MaxInt16}},
	{weft.Uint16, 0, math.MaxUint16, []int{0, 1, 2, 8, 255, 256, 300, 1 << 15, math.MaxUint16}},
	{weft.Uint32, 0, math.MaxUint32, []int{0, 1, 2, 8, 255, 300, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32}},
	{weft.Uint64, 0, math.MaxInt64, []int{0, 1, 2, 8, 255, 300, math.MaxInt32 + 1, 1 << 32, 1<<53 + 1, math.MaxInt64}},
	{weft.Int32, math.MinInt32, math.MaxInt32, []int{math.MinInt32, math.MinInt32 + 1, -300, -2, -1, 0, 1, 7, 8, 255, 300, math.MaxInt32 - 1, math.MaxInt32}},
}

func ints(t *weft.Tensor) []int {
	var out []int
	for _, x := range weft.Data[int64](t.To(weft.Int64)) {
		out = append(out, int(x))
	}
	return out
}

// Comparisons with a Go integer compare the numbers exactly, whatever the type of the elements.
func TestCompareWithWideNumbers(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := weft.From(c.data).To(c.dtype)
			for _, n := range wideNumbers {
				for _, m := range []struct {
					name string
					got  *weft.Tensor
					want func(a, b int) bool
				}{
					{"==", x.Eq(n), func(a, b int) bool { return a == b }},
					{"!=", x.Ne(n), func(a, b int) bool { return a != b }},
					{"<", x.Lt(n), func(a, b int) bool { return a < b }},
					{"<=", x.Le(n), func(a, b int) bool { return a <= b }},
					{">", x.Gt(n), func(a, b int) bool { return a > b }},
					{">=", x.Ge(n), func(a, b int) bool { return a >= b }},
				} {
					check := func(how string, got *weft.Tensor, want func(a, b int) bool) {
						t.Helper()
						for i, g := range weft.Data[bool](got) {
							if w := want(c.data[i], n); g != w {
								t.Errorf("%s: %d %s %d of %s is %v", how, c.data[i], m.name, n, c.dtype, g)
							}
						}
					}
					check("method", m.got, m.want)
					check("formula", weft.Expr("x "+m.name+" n", x, n), m.want)
					check("fused formula", weft.Expr("x "+m.name+" n && y == y", weft.Vars{"x": x, "n": n, "y": weft.Ones(len(c.data))}), m.want)
					if n != math.MinInt64 { // which a formula has no literal for
						check("constant", weft.Expr("x "+m.name+" ("+strconv.Itoa(n)+")", x), m.want)
					}
					check("number first", weft.Expr("n "+m.name+" x", n, x), func(a, b int) bool { return m.want(b, a) })
				}
			}
		}
	})
}

// Limits beyond a type limit nothing; results that the type cannot hold are refused.
func TestExtremesWithWideNumbers(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := weft.From(c.data).To(c.dtype)
			check := func(name string, refused bool, f func() *weft.Tensor, want func(a int) int) {
				t.Helper()
				var y *weft.Tensor
				err := weft.Try(func() { y = f() })
				if refused {
					if e, ok := err.(*weft.Error); !ok || e.Kind != weft.Misuse {
						t.Errorf("%s of %s: %v, want a refusal", name, c.dtype, err)
					}
					return
				}
				if err != nil {
					t.Errorf("%s of %s: %v", name, c.dtype, err)
					return
				}
				if y.DType() != c.dtype {
					t.Errorf("%s of %s is %s", name, c.dtype, y.DType())
				}
				for i, g := range ints(y) {
					if w := want(c.data[i]); g != w {
						t.Errorf("%s of %s: %d gives %d, want %d", name, c.dtype, c.data[i], g, w)
					}
				}
			}
			for _, n := range wideNumbers {
				low, high := n < c.lo, n > c.hi
				check(fmt.Sprintf("minimum(x, %d)", n), low, func() *weft.Tensor { return x.Minimum(n) }, func(a int) int { return min(a, n) })
				check(fmt.Sprintf("maximum(x, %d)", n), high, func() *weft.Tensor { return x.Maximum(n) }, func(a int) int { return max(a, n) })
				check(fmt.Sprintf("formula minimum(x, %d)", n), low, func() *weft.Tensor { return weft.Expr("minimum(n, x)", n, x) }, func(a int) int { return min(a, n) })
				check(fmt.Sprintf("formula maximum(x, %d)", n), high, func() *weft.Tensor { return weft.Expr("maximum(n, x)", n, x) }, func(a int) int { return max(a, n) })
				for _, m := range wideNumbers {
					name := fmt.Sprintf("clamp(x, %d, %d)", n, m)
					refused, want := high || m < c.lo, func(a int) int { return min(max(a, n), m) }
					check(name, refused, func() *weft.Tensor { return x.Clamp(n, m) }, want)
					check("formula "+name, refused, func() *weft.Tensor { return weft.Expr("clamp(x, a, b)", x, n, m) }, want)
				}
			}
		}
	})
}

// Where the number itself would be wrapped, it is refused: by every way in.
func TestWideNumbersAreRefused(t *testing.T) {
	sum := core.NewFused("test.sum", func(x []*ir.Node) []*ir.Node { return []*ir.Node{op.Apply(op.Add, nil, x[0], x[1])} })
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := weft.From(c.data).To(c.dtype)
			like := func(t *weft.Tensor) *weft.Tensor { return t.Clone() }
			for _, n := range wideNumbers {
				for name, f := range map[string]func(){
					"Full":       func() { weft.FullOf(c.dtype, n, 3) },
					"FullLike":   func() { weft.FullLike(x, n) },
					"Scalar":     func() { weft.ScalarOf(c.dtype, n) },
					"Fill":       func() { like(x).Fill(n) },
					"Assign":     func() { like(x).Slice(weft.Range(0, 2)).Assign(n) },
					"Add":        func() { x.Add(n) },
					"RSub":       func() { x.RSub(n) },
					"Mul":        func() { x.Mul(n) },
					"FloorDiv":   func() { x.FloorDiv(n) },
					"Mod":        func() { x.Mod(n) },
					"AddAssign":  func() { like(x).AddAssign(n) },
					"MulAssign":  func() { like(x).Slice(weft.Range(0, 2)).MulAssign(n) },
					"Where":      func() { weft.Where(x.Eq(0), n, x) },
					"Expr":       func() { weft.Expr("x + n", x, n) },
					"Expr chain": func() { weft.Expr("2*x - n*x", x, n) },
					"Fused": func() {
						sum.Into(core.Inner([]*weft.Tensor{like(x)}), []core.Operand{core.AsOperand[weft.Tensor]("test.sum", "", x), core.AsOperand[weft.Tensor]("test.sum", "", n)})
					},
				} {
					err := weft.Try(f)
					if n >= c.lo && n <= c.hi {
						if err != nil {
							t.Errorf("%s of %d and %s: %v", name, n, c.dtype, err)
						}
						continue
					}
					if e, ok := err.(*weft.Error); !ok || e.Kind != weft.Misuse || !strings.Contains(e.Error(), strconv.Itoa(n)) {
						t.Errorf("%s of %d and %s: %v, want a refusal that names the number", name, n, c.dtype, err)
					}
				}
				for _, f := range []string{"x + (%d)", "(%d) * x", "where(x == 0, %d, x)"} {
					if n == math.MinInt64 {
						continue
					}
					text := fmt.Sprintf(f, n)
					if err := weft.Try(func() { weft.Expr(text, x) }); (err != nil) != (n < c.lo || n > c.hi) {
						t.Errorf("%s of %s: %v", text, c.dtype, err)
					}
				}
			}
			// A conversion that is asked for is that of arrays.
			for _, n := range []int{300, 1<<32 + 7, -1} {
				want := int(weft.From([]int{n}).To(c.dtype).Item())
				for _, got := range []*weft.Tensor{weft.Expr(c.dtype.String()+"(n)", n), weft.Expr(c.dtype.String() + "(" + strconv.Itoa(n) + ")"), weft.Expr("max("+c.dtype.String()+"(n) + 0*x)", n, x)} {
					if got.DType() != c.dtype || int(got.Item()) != want {
						t.Errorf("%s(%d) in a formula is %v of %s, want %d", c.dtype, n, got.Item(), got.DType(), want)
					}
				}
			}
			// What becomes a truth value or a float is not narrowed.
			if got := weft.Data[bool](x.LogicalAnd(1 << 40)); got[len(got)-1] != true {
				t.Errorf("and 1<<40 of %s: %v", c.dtype, got)
			}
			if got := x.Div(1 << 40).At(0).Item(); got != float64(float32(c.data[0])/(1<<40)) {
				t.Errorf("%s by 1<<40: %v", c.dtype, got)
			}
		}
		if got := weft.FullOf(weft.Bool, 300, 1).Item(); got != 1 {
			t.Errorf("300 as bool is %v", got)
		}
		// Floats become integers as To makes them.
		for _, f := range []float64{300.7, -5, 1e10, -1e10, math.NaN(), math.Inf(1), 254.9} {
			for _, d := range []weft.DType{weft.Uint8, weft.Int32, weft.Int64} {
				if got, want := weft.FullOf(d, f, 1).Item(), weft.ScalarOf(weft.Float64, f).To(d).Item(); got != want {
					t.Errorf("Full(%v, %s) is %v, want %v", f, d, got, want)
				}
			}
		}
	})
}

// A comparison with a number inside what is differentiated twice.
func TestGradientBesideWideNumbers(t *testing.T) {
	x, k := weft.From([]float64{1, 2, 3}).RequireGrad(), weft.From([]uint8{1, 200, 255})
	for n, want := range map[int][]float64{300: {6, 12, 18}, 200: {6, 0, 0}, -1: {0, 0, 0}} {
		y := weft.Expr("where(k < n, x*x*x, x)", k, n, x).Sum()
		g := weft.Grad(y, []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		h := weft.Grad(g.Sum(), []*weft.Tensor{x})[0]
		if got := weft.Data[float64](h); !slices.Equal(got, want) {
			t.Errorf("k < %d: second derivative %v, want %v", n, got, want)
		}
	}
}

// A number written into a window is its bits at each place of it and nowhere else: in rows of
// all lengths, that one thread fills or a kernel, in columns and turned arrays, of every type.
func TestFillOfWindows(t *testing.T) {
	for _, d := range array.DTypes() {
		for _, number := range []any{0, 1, true, 3.25, math.Copysign(0, -1), math.Inf(-1), math.NaN(), 1 - 2i} {
			var one []byte
			if weft.Try(func() { one = tensortest.Bytes(weft.ScalarOf(d, number)) }) != nil {
				continue // d has no such number
			}
			for _, n := range []int{0, 1, 2, 3, 7, 16, 100, 5000, 70000} {
				x := weft.ZerosOf(d, n+2)
				if weft.Try(func() { x.Slice(weft.Range(1, n+1)).Assign(number) }) != nil {
					continue // a float for integers
				}
				want := slices.Concat(make([]byte, len(one)), bytes.Repeat(one, n), make([]byte, len(one)))
				if got := tensortest.Bytes(x); !bytes.Equal(got, want) {
					t.Fatalf("%v into %d of %s gives bytes %v", number, n, d, got)
				}
				if got := tensortest.Bytes(weft.FullOf(d, number, n)); !bytes.Equal(got, want[len(one):len(want)-len(one)]) {
					t.Fatalf("%d of %v as %s are bytes %v", n, number, d, got)
				}
			}
			x := weft.ZerosOf(d, 3, 4)
			if weft.Try(func() { x.Slice(weft.All, weft.Index(1)).Assign(number) }) != nil {
				continue
			}
			x.T().At(2).Assign(number)
			x.Set(number, 2, 0)
			for i, c := range "011001101110" {
				want := make([]byte, len(one))
				if c == '1' {
					want = one
				}
				if got := tensortest.Bytes(x.Reshape(-1).Slice(weft.Range(i, i+1))); !bytes.Equal(got, want) {
					t.Errorf("%v as %s: element %d is %v, want %v", number, d, i, got, want)
				}
			}
		}
	}
}

// Go integers above the limit of int64: uint64 has them, floats and complex numbers have what is
// nearest, other integers refuse them, and comparisons take them as they are. Expected values
// are computed with Go's big integers and conversions.
func TestNumbersBeyondInt64(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, n := range []uint64{1 << 63, 1<<63 + 1<<39 + 1, 1<<63 + 1<<55 + 1, math.MaxUint64} {
			for _, d := range []weft.DType{weft.Bool, weft.Int8, weft.Int16, weft.Int32, weft.Int64, weft.Uint8, weft.Uint16, weft.Uint32, weft.Uint64, weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128} {
				t.Run(fmt.Sprint(n, d), func(t *testing.T) { beyondInt64(t, n, d) })
			}
		}
		if y := weft.Scalar(uint64(math.MaxUint64)); y.DType() != weft.Uint64 || weft.Data[uint64](y)[0] != math.MaxUint64 {
			t.Errorf("a scalar is %v", y)
		}
	})
}

func beyondInt64(t *testing.T, n uint64, d weft.DType) {
	b := &numberBeyond{n: n, d: d, nearest: nearestOf(n, d), elems: []int{0, 1, 3}}
	if d == weft.Bool {
		b.elems = []int{0, 1}
	}
	b.x = weft.From(b.elems).To(d)
	b.constant = b.held(func(int) any { return b.value(n, b.nearest) })
	b.fills(t)
	b.arithmetic(t)
	b.comparisons(t)
	if !d.Complex() {
		if d == weft.Uint64 {
			b.bothSides(t)
		}
		if d != weft.Bool {
			b.limits(t)
		}
		b.formulas(t)
	}
}

// A numberBeyond is a number that int64 does not hold, which meets elements of type d.
type numberBeyond struct {
	n        uint64
	d        weft.DType
	nearest  float64 // n as d has it
	elems    []int
	x        *weft.Tensor // of elems
	constant func(i int) any
}

// nearestOf returns n as d has it.
func nearestOf(n uint64, d weft.DType) float64 {
	nearest := float64(n)
	switch digits := map[weft.DType]uint{weft.BFloat16: 8, weft.Float32: 24, weft.Complex64: 24}[d]; {
	case d == weft.Float16:
		nearest = math.Inf(1)
	case d == weft.Bool:
		nearest = 1
	case digits > 0:
		nearest, _ = new(big.Float).SetMode(big.ToNearestEven).SetPrec(digits).SetUint64(n).Float64()
	}
	return nearest
}

// check compares the elements of what f returns with want. Where want is nil, f must refuse.
func (b *numberBeyond) check(t *testing.T, what string, want func(i int) any, f func() *weft.Tensor) {
	t.Helper()
	var y *weft.Tensor
	err := weft.Try(func() { y = f() })
	if want == nil {
		if e, ok := err.(*weft.Error); !ok || e.Kind != weft.Misuse {
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
		case x.DType() == weft.Uint64:
			got = weft.Data[uint64](x)[0]
		case x.DType() == weft.Bool:
			got = weft.Data[bool](x)[0]
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

// value returns a number of uint64 or of floats as an element of d.
func (b *numberBeyond) value(u uint64, f float64) any {
	switch {
	case b.d == weft.Uint64:
		return u
	case b.d == weft.Bool:
		return f != 0
	case b.d.Complex():
		return complex(f, 0)
	}
	return f
}

// held returns f where d has such numbers, or nil.
func (b *numberBeyond) held(f func(i int) any) func(i int) any {
	if b.d.Integer() && b.d != weft.Uint64 {
		return nil
	}
	return f
}

// fills makes tensors of the number.
func (b *numberBeyond) fills(t *testing.T) {
	n, d := b.n, b.d
	b.check(t, "full", b.constant, func() *weft.Tensor { return weft.FullOf(d, n, 2) })
	b.check(t, "scalar", b.constant, func() *weft.Tensor { return weft.ScalarOf(d, n) })
	b.check(t, "full_like", b.constant, func() *weft.Tensor { return weft.FullLike(weft.ZerosOf(d, 3), n) })
	b.check(t, "fill", b.constant, func() *weft.Tensor { x := weft.ZerosOf(d, 3); x.Assign(n); return x })
}

// arithmetic adds, multiplies and chooses.
func (b *numberBeyond) arithmetic(t *testing.T) {
	n, d, x := b.n, b.d, b.x
	sum := func(i int) any {
		u := uint64(b.elems[i]) + n
		switch {
		case d == weft.Bool: // which meets the number in uint64
			return u
		case d == weft.Float16:
			return math.Inf(1)
		}
		return b.value(u, b.nearest) // so little is lost
	}
	b.check(t, "add", b.held(sum), func() *weft.Tensor { return x.Add(n) })
	if d != weft.Float16 {
		b.check(t, "mul", b.held(func(i int) any {
			u := uint64(b.elems[i]) * n
			if d == weft.Bool {
				return u
			}
			exact := float64(b.elems[i]) * b.nearest
			if digits := map[weft.DType]uint{weft.BFloat16: 8, weft.Float32: 24, weft.Complex64: 24, weft.Float64: 53, weft.Complex128: 53}[d]; digits > 0 {
				p := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(b.elems[i])), big.NewFloat(b.nearest))
				exact, _ = new(big.Float).SetPrec(digits).Set(p).Float64()
			}
			return b.value(u, exact)
		}), func() *weft.Tensor { return x.Mul(n) })
	}
	b.check(t, "where", b.held(func(i int) any {
		if i == 0 && d == weft.Bool {
			return n
		}
		if i == 0 {
			return b.value(n, b.nearest)
		}
		if d == weft.Bool {
			return uint64(b.elems[i])
		}
		return b.value(uint64(b.elems[i]), float64(b.elems[i]))
	}), func() *weft.Tensor { return weft.Where(x.Eq(0), n, x) })
}

// comparisons compares elements with the number: all are less.
func (b *numberBeyond) comparisons(t *testing.T) {
	n, d, x := b.n, b.d, b.x
	b.check(t, "eq", func(int) any { return false }, func() *weft.Tensor { return x.Eq(n) })
	b.check(t, "ne", func(int) any { return true }, func() *weft.Tensor { return x.Ne(n) })
	if d.Complex() {
		return
	}
	b.check(t, "lt", func(int) any { return true }, func() *weft.Tensor { return x.Lt(n) })
	b.check(t, "le", func(int) any { return true }, func() *weft.Tensor { return x.Le(n) })
	b.check(t, "gt", func(int) any { return false }, func() *weft.Tensor { return x.Gt(n) })
	b.check(t, "ge", func(int) any { return false }, func() *weft.Tensor { return x.Ge(n) })
}

// bothSides computes with elements of uint64 on both sides of the number.
func (b *numberBeyond) bothSides(t *testing.T) {
	n := b.n
	y := weft.FromSlice([]uint64{n - 1, n, math.MaxUint64})
	v := []uint64{n - 1, n, math.MaxUint64}
	b.check(t, "eq", func(i int) any { return v[i] == n }, func() *weft.Tensor { return y.Eq(n) })
	b.check(t, "lt", func(i int) any { return v[i] < n }, func() *weft.Tensor { return y.Lt(n) })
	b.check(t, "le", func(i int) any { return v[i] <= n }, func() *weft.Tensor { return y.Le(n) })
	b.check(t, "gt", func(i int) any { return v[i] > n }, func() *weft.Tensor { return y.Gt(n) })
	b.check(t, "ge", func(i int) any { return v[i] >= n }, func() *weft.Tensor { return y.Ge(n) })
	b.check(t, "clamp", func(i int) any { return min(v[i], n) }, func() *weft.Tensor { return y.Clamp(0, n) })
	b.check(t, "sub", func(i int) any { return v[i] - n }, func() *weft.Tensor { return y.Sub(n) })
	b.check(t, "floordiv", func(i int) any { return v[i] / n }, func() *weft.Tensor { return y.FloorDiv(n) })
	b.check(t, "mod", func(i int) any { return v[i] % n }, func() *weft.Tensor { return y.Mod(n) })
}

// limits bounds elements by the number.
func (b *numberBeyond) limits(t *testing.T) {
	n, d, x := b.n, b.d, b.x
	own := func(i int) any {
		if d.Integer() && d != weft.Uint64 {
			return int64(b.elems[i])
		}
		return b.value(uint64(b.elems[i]), float64(b.elems[i]))
	}
	b.check(t, "clamp", own, func() *weft.Tensor { return x.Clamp(0, n) })
	b.check(t, "minimum", own, func() *weft.Tensor { return x.Minimum(n) })
	b.check(t, "clamp from", b.constant, func() *weft.Tensor { return x.Clamp(n, n) })
	b.check(t, "maximum", b.constant, func() *weft.Tensor { return x.Maximum(n) })

	if d == weft.Uint64 || d.Float() {
		// A plan for the same operation of smaller numbers is another.
		b.check(t, "minimum of small", own, func() *weft.Tensor { return x.Minimum(uint64(7)) })
	}
}

// formulas uses numbers in formulas, which compute with them as int64.
func (b *numberBeyond) formulas(t *testing.T) {
	n, x := b.n, b.x
	b.check(t, "formula", nil, func() *weft.Tensor { return weft.Expr("x + n", weft.Vars{"x": x, "n": n}) })
	b.check(t, "formula of uint64", func(i int) any { return b.elems[i] != 0 }, func() *weft.Tensor { return weft.Expr("x > n", weft.Vars{"x": x.To(weft.Int32), "n": uint64(0)}) })
}

// Sizes that no array can have, or no memory holds, are typed errors, whichever
// operation makes them: they neither wrap around nor end the process.
func TestSizesThatOverflow(t *testing.T) {
	const huge = 1 << 60
	row, col := weft.Ones(1, 1).Expand(1<<32, 1), weft.Ones(1, 1).Expand(1, 1<<32)
	truths := weft.OnesOf(weft.Bool, 1).Expand(huge)
	image := weft.Ones(1, 1, 2, 2)
	for _, c := range []struct {
		name string
		kind array.ErrorKind
		f    func()
	}{
		{"add", weft.Misuse, func() { row.Add(col) }},
		{"eq", weft.Misuse, func() { row.Eq(col) }},
		{"where", weft.Misuse, func() { weft.Where(row, col, 0) }},
		{"clamp", weft.Misuse, func() { row.Clamp(col, 1) }},
		{"to a wider type", weft.Misuse, func() { truths.Expand(4, huge).To(weft.Float64) }},
		{"formula", weft.Misuse, func() { weft.Expr("sum(a*b)", row, col) }},
		{"sum of bools", weft.Misuse, func() { truths.Expand(4, huge).Sum() }},
		{"matmul", weft.Misuse, func() { weft.Ones(1, 1).Expand(1<<40, 1).MatMul(weft.Ones(1, 1).Expand(1, 1<<40)) }},
		{"matmul of a stack", weft.Misuse, func() {
			weft.Ones(1, 1, 1).Expand(1<<31, 1, 1).MatMul(weft.Ones(1, 1, 1, 1).Expand(1<<31, 1, 1, 1))
		}},
		{"expand", weft.Misuse, func() { weft.Ones(1).Expand(1<<31, 1<<31) }},
		{"expand of one byte", weft.Misuse, func() { weft.OnesOf(weft.Bool, 1).Expand(math.MaxInt) }},
		{"reshape", weft.Misuse, func() { weft.Ones(1).Reshape(1<<32, 1<<32, -1) }},
		{"reshape of nothing", weft.Misuse, func() { weft.Ones(0).Reshape(0, 1<<32, 1<<32) }},
		{"cat", weft.Misuse, func() { weft.Cat([]*weft.Tensor{truths, truths, truths, truths, truths, truths, truths, truths}, 0) }},
		{"cat that wraps to nothing", weft.Misuse, func() {
			ts := make([]*weft.Tensor, 16)
			for i := range ts {
				ts[i] = truths
			}
			weft.Cat(ts, 0)
		}},
		{"stack", weft.Misuse, func() { weft.Stack([]*weft.Tensor{truths, truths, truths, truths, truths, truths, truths, truths}, 0) }},
		{"pad", weft.Misuse, func() { weft.Ones(1).Pad(0, math.MaxInt, math.MaxInt) }},
		{"pad by half", weft.Misuse, func() { weft.Ones(2).Pad(0, 1<<62, 1<<62) }},
		{"conv padding", weft.Misuse, func() { image.Conv2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvOpts{Padding: [2]int{1<<31 - 1, 1<<31 - 1}}) }},
		{"conv padding that wraps", weft.Misuse, func() { image.Conv2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvOpts{Padding: [2]int{math.MaxInt, 0}}) }},
		{"conv padding of 30 bits", weft.Misuse, func() { image.Conv2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvOpts{Padding: [2]int{1<<30 - 1, 1<<30 - 1}}) }},
		{"conv dilation", weft.Misuse, func() { image.Conv2d(weft.Ones(1, 1, 2, 2), nil, weft.ConvOpts{Dilation: new([2]int{math.MaxInt, 1})}) }},
		{"conv_transpose2d stride", weft.Misuse, func() {
			image.ConvTranspose2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvTransposeOpts{Stride: new([2]int{1 << 30, 1 << 30})})
		}},
		{"pool padding that wraps", weft.Misuse, func() {
			image.MaxPool2d(weft.PoolOpts{Window: [2]int{math.MaxInt, 1}, Padding: [2]int{math.MaxInt - 1, 0}})
		}},
		{"randn", weft.OutOfMemory, func() { weft.Randn(math.MaxInt / 8) }},
		{"randn of all", weft.Misuse, func() { weft.Randn(math.MaxInt / 4) }},
		{"randint", weft.Misuse, func() { weft.Randint(0, 9, math.MaxInt/8) }},
		{"randperm", weft.OutOfMemory, func() { weft.Randperm(1 << 45) }},
		{"randperm of all", weft.Misuse, func() { weft.Randperm(math.MaxInt) }},
		{"arange", weft.OutOfMemory, func() { weft.Arange(1 << 40) }},
		{"arange of floats", weft.OutOfMemory, func() { weft.Arange(0x1p44) }},
		{"arange of all ints", weft.Misuse, func() { weft.Arange(math.MinInt, math.MaxInt) }},
		{"arange backwards", weft.Misuse, func() { weft.Arange(math.MaxInt, math.MinInt, -1) }},
		{"arange to infinity", weft.Misuse, func() { weft.Arange(math.Inf(1)) }},
		{"arange of NaN", weft.Misuse, func() { weft.Arange(math.NaN()) }},
		{"linspace", weft.OutOfMemory, func() { weft.Linspace(0, 1, 1<<40) }},
		{"linspace of all", weft.Misuse, func() { weft.Linspace(0, 1, math.MaxInt) }},
		{"zeros", weft.OutOfMemory, func() { weft.Zeros(1 << 44) }},
		{"zeros beyond the address space", weft.OutOfMemory, func() { weft.Zeros(1 << 59) }},
		{"eye", weft.Misuse, func() { weft.Eye(1 << 31) }},
		{"data", weft.OutOfMemory, func() { weft.Data[float32](weft.Ones(1).Expand(1 << 44)) }},
		{"data beyond the address space", weft.OutOfMemory, func() { weft.Data[float32](weft.Ones(1).Expand(1 << 59)) }},
		{"contiguous", weft.OutOfMemory, func() { weft.Ones(1).Expand(1 << 44).Contiguous() }},
		{"add of an expanded array", weft.OutOfMemory, func() { weft.Ones(1).Expand(1 << 44).Add(1) }},
		{"nonzero", weft.OutOfMemory, func() { weft.Ones(1).Expand(1 << 44).NonZero() }},
		{"mask select", weft.OutOfMemory, func() { weft.Ones(1).Expand(1 << 44).MaskSelect(weft.OnesOf(weft.Bool, 1)) }},
		{"index select", weft.OutOfMemory, func() { weft.Ones(1).IndexSelect(0, weft.ZerosOf(weft.Int64, 1).Expand(1<<44)) }},
		{"digest", weft.OutOfMemory, func() { weft.Digest(weft.Ones(1).Expand(1 << 44)) }},
		{"argmax", weft.OutOfMemory, func() { weft.Ones(1).Expand(1 << 44).ArgMax() }},
	} {
		var e *weft.Error
		if err := tensortest.Try(c.f); !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%s: got %v, want kind %d", c.name, err, c.kind)
		}
	}
}

// What is as large as an int can say, but makes no large result, is computed.
func TestExtremeIntegersThatFit(t *testing.T) {
	same(t, "one step of MaxInt", weft.Data[float32](weft.Arange(5.0).Slice(weft.Range(1, 5, math.MaxInt))), 1)
	same(t, "one step of MinInt", weft.Data[float32](weft.Arange(5.0).Slice(weft.Range(3, weft.Begin, math.MinInt))), 3)
	same(t, "ints near the largest", weft.Data[int64](weft.Arange(math.MaxInt-2, math.MaxInt)), math.MaxInt-2, math.MaxInt-1)
	same(t, "ints from end to end", weft.Data[int64](weft.Arange(math.MinInt, math.MaxInt, math.MaxInt)), math.MinInt, -1, math.MaxInt-1)
	same(t, "ints back from end to end", weft.Data[int64](weft.Arange(math.MaxInt, math.MinInt, math.MinInt)), math.MaxInt, -1)
	same(t, "no ints", weft.Data[int64](weft.Arange(3, math.MinInt)))
	x := weft.Arange(16.0).Reshape(1, 1, 4, 4)
	far := [2]int{math.MaxInt, math.MaxInt}
	same(t, "conv", weft.Data[float32](x.Conv2d(weft.Ones(1, 1, 2, 2), nil, weft.ConvOpts{Stride: new(far)})), 0+1+4+5)
	same(t, "max pooling", weft.Data[float32](x.MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new(far)})), 5)
	same(t, "mean pooling", weft.Data[float32](x.AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new(far)})), 2.5)
	leaf := weft.Ones(1, 1, 4, 4).RequireGrad()
	leaf.Conv2d(weft.Ones(1, 1, 2, 2), nil, weft.ConvOpts{Stride: new(far)}).Sum().Backward()
	leaf.MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new(far)}).Sum().Backward()
	leaf.AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new(far)}).Sum().Backward()
	leaf.Slice(weft.All, weft.All, weft.Range(0, 4, math.MaxInt)).Sum().Backward()
	want := []float32{1 + 1 + 0.25 + 1, 1 + 0.25 + 1, 1, 1, 1 + 0.25, 1 + 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	same(t, "gradients", weft.Data[float32](leaf.Grad()), want...)

	// Taps so far apart that each result sees one, of one channel and of a vector of groups.
	for _, channels := range []int{1, 8} {
		step := [2]int{1 << 29, 1 << 29}
		x := weft.Arange(1.0, 17.0).To(weft.Float32).Reshape(1, 1, 4, 4).Expand(1, channels, 4, 4).Clone().RequireGrad()
		w := weft.Arange(1.0, 5.0).To(weft.Float32).Reshape(1, 1, 2, 2).Expand(channels, 1, 2, 2).Clone().RequireGrad()
		y := x.Conv2d(w, nil, weft.ConvOpts{Dilation: new(step), Padding: step, Stride: new(step), Groups: new(channels)})
		y.Sum().Backward()
		same(t, "far taps", weft.Data[float32](y.Detach().Slice(weft.All, weft.Index(channels-1)).Flatten(0)), 4, 3, 2, 1)
		same(t, "far taps' gradient of x", weft.Data[float32](x.Grad().Slice(weft.All, weft.Index(channels-1)).Flatten(0).Slice(weft.Range(0, 5))), 10, 0, 0, 0, 0)
		same(t, "far taps' gradient of w", weft.Data[float32](w.Grad().Slice(weft.Index(channels-1)).Flatten(0)), 1, 1, 1, 1)
	}
}

func same[T weft.Element](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}
