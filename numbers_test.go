package weft

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// everyBackend runs f on each backend of this processor.
func everyBackend(t *testing.T, f func(t *testing.T)) {
	have := jit.ISAs()
	defer keepBackend()()
	for _, b := range have {
		setBackend(b)
		t.Run(b.String(), f)
	}
}

// Quotients rounded down as Python and NumPy give them.
func TestFloorDivOfFloats(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	everyBackend(t, func(t *testing.T) {
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
			x, y := ScalarOf(Float64, c.x), ScalarOf(Float64, c.y)
			got := []float64{x.FloorDiv(y).Item(), x.Mod(y).Item(), Expr("floordiv(x, y)", x, y).Item(), Expr("x % y", x, y).Item(),
				Expr("0*z + floordiv(x, y)", Vars{"x": c.x, "y": c.y, "z": ScalarOf(Float64, 0)}).Item()}
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
	everyBackend(t, func(t *testing.T) {
		const n = 1000
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(r.NormFloat64()*math.Exp2(float64(r.IntN(20)))), float32(r.IntN(40)-20)/10
			if r.IntN(3) == 0 {
				x[i] = float32(r.IntN(100)-50) / 10
			}
		}
		q, m := Data[float32](FromSlice(x).FloorDiv(FromSlice(y))), Data[float32](FromSlice(x).Mod(FromSlice(y)))
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
	everyBackend(t, func(t *testing.T) {
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
	a := FromSlice(x)
	for _, y := range by {
		quotients, remainders := Data[T](a.FloorDiv(y)), Data[T](a.Mod(y))
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
	dtype  DType
	lo, hi int
	data   []int
}{
	{Uint8, 0, 255, []int{0, 1, 2, 7, 8, 44, 127, 128, 200, 254, 255}},
	{Int8, math.MinInt8, math.MaxInt8, []int{-128, -127, -2, -1, 0, 1, 2, 7, 8, 126, 127}},
	{Int16, math.MinInt16, math.MaxInt16, []int{math.MinInt16, -300, -2, -1, 0, 1, 2, 8, 255, 256, 300, math.MaxInt16}},
	{Uint16, 0, math.MaxUint16, []int{0, 1, 2, 8, 255, 256, 300, 1 << 15, math.MaxUint16}},
	{Uint32, 0, math.MaxUint32, []int{0, 1, 2, 8, 255, 300, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32}},
	{Uint64, 0, math.MaxInt64, []int{0, 1, 2, 8, 255, 300, math.MaxInt32 + 1, 1 << 32, 1<<53 + 1, math.MaxInt64}},
	{Int32, math.MinInt32, math.MaxInt32, []int{math.MinInt32, math.MinInt32 + 1, -300, -2, -1, 0, 1, 7, 8, 255, 300, math.MaxInt32 - 1, math.MaxInt32}},
}

func ints(t *Tensor) []int {
	var out []int
	for _, x := range Data[int64](t.To(Int64)) {
		out = append(out, int(x))
	}
	return out
}

// Comparisons with a Go integer are those of the numbers, whatever the type.
func TestCompareWithWideNumbers(t *testing.T) {
	everyBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := From(c.data).To(c.dtype)
			for _, n := range wideNumbers {
				for _, m := range []struct {
					name string
					got  *Tensor
					want func(a, b int) bool
				}{
					{"==", x.Eq(n), func(a, b int) bool { return a == b }},
					{"!=", x.Ne(n), func(a, b int) bool { return a != b }},
					{"<", x.Lt(n), func(a, b int) bool { return a < b }},
					{"<=", x.Le(n), func(a, b int) bool { return a <= b }},
					{">", x.Gt(n), func(a, b int) bool { return a > b }},
					{">=", x.Ge(n), func(a, b int) bool { return a >= b }},
				} {
					check := func(how string, got *Tensor, want func(a, b int) bool) {
						t.Helper()
						for i, g := range Data[bool](got) {
							if w := want(c.data[i], n); g != w {
								t.Errorf("%s: %d %s %d of %s is %v", how, c.data[i], m.name, n, c.dtype, g)
							}
						}
					}
					check("method", m.got, m.want)
					check("formula", Expr("x "+m.name+" n", x, n), m.want)
					check("fused formula", Expr("x "+m.name+" n && y == y", Vars{"x": x, "n": n, "y": Ones(len(c.data))}), m.want)
					if n != math.MinInt64 { // which a formula has no literal for
						check("constant", Expr("x "+m.name+" ("+strconv.Itoa(n)+")", x), m.want)
					}
					check("number first", Expr("n "+m.name+" x", n, x), func(a, b int) bool { return m.want(b, a) })
				}
			}
		}
	})
}

// Limits beyond a type limit nothing; results that the type cannot hold are refused.
func TestExtremesWithWideNumbers(t *testing.T) {
	everyBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := From(c.data).To(c.dtype)
			check := func(name string, refused bool, f func() *Tensor, want func(a int) int) {
				t.Helper()
				var y *Tensor
				err := Try(func() { y = f() })
				if refused {
					if e, ok := err.(*Error); !ok || e.Kind != Misuse {
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
				check(fmt.Sprintf("minimum(x, %d)", n), low, func() *Tensor { return x.Minimum(n) }, func(a int) int { return min(a, n) })
				check(fmt.Sprintf("maximum(x, %d)", n), high, func() *Tensor { return x.Maximum(n) }, func(a int) int { return max(a, n) })
				check(fmt.Sprintf("formula minimum(x, %d)", n), low, func() *Tensor { return Expr("minimum(n, x)", n, x) }, func(a int) int { return min(a, n) })
				check(fmt.Sprintf("formula maximum(x, %d)", n), high, func() *Tensor { return Expr("maximum(n, x)", n, x) }, func(a int) int { return max(a, n) })
				for _, m := range wideNumbers {
					name := fmt.Sprintf("clamp(x, %d, %d)", n, m)
					refused, want := high || m < c.lo, func(a int) int { return min(max(a, n), m) }
					check(name, refused, func() *Tensor { return x.Clamp(n, m) }, want)
					check("formula "+name, refused, func() *Tensor { return Expr("clamp(x, a, b)", x, n, m) }, want)
				}
			}
		}
	})
}

// Where the number itself would be wrapped, it is refused: by every way in.
func TestWideNumbersAreRefused(t *testing.T) {
	sum := newGiven("test.sum", func(x []*ir.Node) []*ir.Node { return []*ir.Node{op.Apply(op.Add, nil, x[0], x[1])} })
	everyBackend(t, func(t *testing.T) {
		for _, c := range narrow {
			x := From(c.data).To(c.dtype)
			like := func(t *Tensor) *Tensor { return t.Clone() }
			for _, n := range wideNumbers {
				for name, f := range map[string]func(){
					"Full":       func() { FullOf(c.dtype, n, 3) },
					"FullLike":   func() { FullLike(x, n) },
					"Scalar":     func() { ScalarOf(c.dtype, n) },
					"Fill":       func() { like(x).Fill(n) },
					"Assign":     func() { like(x).Slice(Range(0, 2)).Assign(n) },
					"Add":        func() { x.Add(n) },
					"RSub":       func() { x.RSub(n) },
					"Mul":        func() { x.Mul(n) },
					"FloorDiv":   func() { x.FloorDiv(n) },
					"Mod":        func() { x.Mod(n) },
					"AddAssign":  func() { like(x).AddAssign(n) },
					"MulAssign":  func() { like(x).Slice(Range(0, 2)).MulAssign(n) },
					"Where":      func() { Where(x.Eq(0), n, x) },
					"Expr":       func() { Expr("x + n", x, n) },
					"Expr chain": func() { Expr("2*x - n*x", x, n) },
					"Fused":      func() { sum.Into([]*Tensor{like(x)}, x, n) },
				} {
					err := Try(f)
					if n >= c.lo && n <= c.hi {
						if err != nil {
							t.Errorf("%s of %d and %s: %v", name, n, c.dtype, err)
						}
						continue
					}
					if e, ok := err.(*Error); !ok || e.Kind != Misuse || !strings.Contains(e.Error(), strconv.Itoa(n)) {
						t.Errorf("%s of %d and %s: %v, want a refusal that names the number", name, n, c.dtype, err)
					}
				}
				for _, f := range []string{"x + (%d)", "(%d) * x", "where(x == 0, %d, x)"} {
					if n == math.MinInt64 {
						continue
					}
					text := fmt.Sprintf(f, n)
					if err := Try(func() { Expr(text, x) }); (err != nil) != (n < c.lo || n > c.hi) {
						t.Errorf("%s of %s: %v", text, c.dtype, err)
					}
				}
			}
			// A conversion that is asked for is that of arrays.
			for _, n := range []int{300, 1<<32 + 7, -1} {
				want := int(From([]int{n}).To(c.dtype).Item())
				for _, got := range []*Tensor{Expr(c.dtype.String()+"(n)", n), Expr(c.dtype.String() + "(" + strconv.Itoa(n) + ")"), Expr("max("+c.dtype.String()+"(n) + 0*x)", n, x)} {
					if got.DType() != c.dtype || int(got.Item()) != want {
						t.Errorf("%s(%d) in a formula is %v of %s, want %d", c.dtype, n, got.Item(), got.DType(), want)
					}
				}
			}
			// What becomes a truth value or a float is not narrowed.
			if got := Data[bool](x.LogicalAnd(1 << 40)); got[len(got)-1] != true {
				t.Errorf("and 1<<40 of %s: %v", c.dtype, got)
			}
			if got := x.Div(1 << 40).At(0).Item(); got != float64(float32(c.data[0])/(1<<40)) {
				t.Errorf("%s by 1<<40: %v", c.dtype, got)
			}
		}
		if got := FullOf(Bool, 300, 1).Item(); got != 1 {
			t.Errorf("300 as bool is %v", got)
		}
		// Floats become integers as To makes them.
		for _, f := range []float64{300.7, -5, 1e10, -1e10, math.NaN(), math.Inf(1), 254.9} {
			for _, d := range []DType{Uint8, Int32, Int64} {
				if got, want := FullOf(d, f, 1).Item(), ScalarOf(Float64, f).To(d).Item(); got != want {
					t.Errorf("Full(%v, %s) is %v, want %v", f, d, got, want)
				}
			}
		}
	})
}

// A comparison with a number inside what is differentiated twice.
func TestGradientBesideWideNumbers(t *testing.T) {
	x, k := From([]float64{1, 2, 3}).RequireGrad(), From([]uint8{1, 200, 255})
	for n, want := range map[int][]float64{300: {6, 12, 18}, 200: {6, 0, 0}, -1: {0, 0, 0}} {
		y := Expr("where(k < n, x*x*x, x)", k, n, x).Sum()
		g := Grad(y, []*Tensor{x}, GradOpts{Create: true})[0]
		h := Grad(g.Sum(), []*Tensor{x})[0]
		if got := Data[float64](h); !slices.Equal(got, want) {
			t.Errorf("k < %d: second derivative %v, want %v", n, got, want)
		}
	}
}

// A number written into a window is its bits at each place of it and nowhere else: in rows of
// all lengths, that one thread fills or a kernel, in columns and turned arrays, of every type.
func TestNumberFills(t *testing.T) {
	for _, d := range array.DTypes() {
		for _, number := range []any{0, 1, true, 3.25, math.Copysign(0, -1), math.Inf(-1), math.NaN(), 1 - 2i} {
			var one []byte
			if Try(func() { one = bytesAt(ScalarOf(d, number)) }) != nil {
				continue // d has no such number
			}
			for _, n := range []int{0, 1, 2, 3, 7, 16, 100, 5000, 70000} {
				x := ZerosOf(d, n+2)
				if Try(func() { x.Slice(Range(1, n+1)).Assign(number) }) != nil {
					continue // a float for integers
				}
				want := slices.Concat(make([]byte, len(one)), bytes.Repeat(one, n), make([]byte, len(one)))
				if got := bytesAt(x); !bytes.Equal(got, want) {
					t.Fatalf("%v into %d of %s gives bytes %v", number, n, d, got)
				}
				if got := bytesAt(FullOf(d, number, n)); !bytes.Equal(got, want[len(one):len(want)-len(one)]) {
					t.Fatalf("%d of %v as %s are bytes %v", n, number, d, got)
				}
			}
			x := ZerosOf(d, 3, 4)
			if Try(func() { x.Slice(All, Index(1)).Assign(number) }) != nil {
				continue
			}
			x.T().At(2).Assign(number)
			x.Set(number, 2, 0)
			for i, c := range "011001101110" {
				want := make([]byte, len(one))
				if c == '1' {
					want = one
				}
				if got := bytesAt(x.Reshape(-1).Slice(Range(i, i+1))); !bytes.Equal(got, want) {
					t.Errorf("%v as %s: element %d is %v, want %v", number, d, i, got, want)
				}
			}
		}
	}
}
