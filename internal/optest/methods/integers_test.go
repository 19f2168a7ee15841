package methods_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

var integerTypes = []weft.DType{weft.Int8, weft.Int16, weft.Int32, weft.Int64, weft.Uint8, weft.Uint16, weft.Uint32, weft.Uint64}

// integerRange returns the least and the greatest number of an integer type.
func integerRange(d weft.DType) (lo, hi *big.Int) {
	bits := uint(8 * d.Size())
	one := big.NewInt(1)
	if d.Unsigned() {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}

// extremes are the numbers of an integer type at which conversions go wrong.
func extremes(d weft.DType) []*big.Int {
	lo, hi := integerRange(d)
	all := []*big.Int{lo, hi, big.NewInt(0), big.NewInt(1), big.NewInt(-1), big.NewInt(100), big.NewInt(200), big.NewInt(math.MaxInt32 + 1),
		big.NewInt(math.MaxInt64), new(big.Int).SetUint64(math.MaxInt64 + 1), new(big.Int).SetUint64(math.MaxUint64)}
	var out []*big.Int
	for _, x := range all {
		if x.Cmp(lo) >= 0 && x.Cmp(hi) <= 0 {
			out = append(out, x)
		}
	}
	return out
}

// integers is a tensor of an integer type.
func integers(d weft.DType, xs []*big.Int, shape ...int) *weft.Tensor {
	if d == weft.Uint64 {
		s := make([]uint64, len(xs))
		for i, x := range xs {
			s[i] = x.Uint64()
		}
		return weft.FromSlice(s, shape...)
	}
	s := make([]int64, len(xs))
	for i, x := range xs {
		s[i] = x.Int64()
	}
	return weft.FromSlice(s, shape...).To(d)
}

// bigs are the elements of a tensor of integers or bool.
func bigs(x *weft.Tensor) []*big.Int {
	var out []*big.Int
	if x.DType() == weft.Uint64 {
		for _, v := range weft.Data[uint64](x.Contiguous()) {
			out = append(out, new(big.Int).SetUint64(v))
		}
		return out
	}
	for _, v := range weft.Data[int64](x.To(weft.Int64).Contiguous()) {
		out = append(out, big.NewInt(v))
	}
	return out
}

// eachWay computes f of two tensors eagerly, compiled and as a formula.
func eachWay(f func(x, y *weft.Tensor) *weft.Tensor, formula string, x, y *weft.Tensor, check func(way string, r *weft.Tensor)) {
	check("eager", f(x, y))
	r, err := weft.Compile(f).Call(x, y)
	if err != nil {
		panic(err)
	}
	check("compiled", r)
	if formula != "" {
		check("formula", weft.Expr(formula, weft.Vars{"x": x, "y": y}))
	}
}

var comparisons = []struct {
	name, sign string
	f          func(x, y *weft.Tensor) *weft.Tensor
	holds      func(c int) bool
}{
	{"Eq", "==", func(x, y *weft.Tensor) *weft.Tensor { return x.Eq(y) }, func(c int) bool { return c == 0 }},
	{"Ne", "!=", func(x, y *weft.Tensor) *weft.Tensor { return x.Ne(y) }, func(c int) bool { return c != 0 }},
	{"Lt", "<", func(x, y *weft.Tensor) *weft.Tensor { return x.Lt(y) }, func(c int) bool { return c < 0 }},
	{"Le", "<=", func(x, y *weft.Tensor) *weft.Tensor { return x.Le(y) }, func(c int) bool { return c <= 0 }},
	{"Gt", ">", func(x, y *weft.Tensor) *weft.Tensor { return x.Gt(y) }, func(c int) bool { return c > 0 }},
	{"Ge", ">=", func(x, y *weft.Tensor) *weft.Tensor { return x.Ge(y) }, func(c int) bool { return c >= 0 }},
}

// Integers of any two types are compared as the numbers that they are, and the lesser and the
// greater are chosen so.
func TestIntegersOfAllTypesAreComparedExactly(t *testing.T) {
	for _, dx := range integerTypes {
		for _, dy := range integerTypes {
			xs, ys := extremes(dx), extremes(dy)
			x, y := integers(dx, xs, len(xs), 1), integers(dy, ys, len(ys))
			each := func(what string, f func(x, y *weft.Tensor) *weft.Tensor, formula string, want func(a, b *big.Int) *big.Int) {
				t.Helper()
				eachWay(f, formula, x, y, func(way string, r *weft.Tensor) {
					t.Helper()
					for i, got := range bigs(r) {
						a, b := xs[i/len(ys)], ys[i%len(ys)]
						if w := want(a, b); got.Cmp(w) != 0 {
							t.Errorf("%s of %s %s and %s %s, %s: %s, want %s", what, dx, a, dy, b, way, got, w)
						}
					}
				})
			}
			for _, c := range comparisons {
				each(c.name, c.f, "x "+c.sign+" y", func(a, b *big.Int) *big.Int { return truth(c.holds(a.Cmp(b))) })
			}
			each("Minimum", func(x, y *weft.Tensor) *weft.Tensor { return x.Minimum(y) }, "minimum(x, y)", lesser)
			each("Maximum", func(x, y *weft.Tensor) *weft.Tensor { return x.Maximum(y) }, "maximum(x, y)", greater)
			for _, h := range []int{1, 3} {
				hi := integers(dy, ys[h:h+1])
				each("Clamp", func(x, y *weft.Tensor) *weft.Tensor { return x.Clamp(y, hi) }, "", func(a, b *big.Int) *big.Int { return lesser(greater(a, b), ys[h]) })
			}
			choose := weft.FromSlice([]bool{true, false}, 2, 1, 1)
			pick := func(x, y *weft.Tensor) *weft.Tensor { return weft.Where(choose, x, y) }
			if err := weft.Try(func() { pick(x, y) }); err != nil {
				if !noCommon(dx, dy) {
					t.Error(err)
				}
				continue
			}
			eachWay(pick, "", x, y, func(way string, r *weft.Tensor) {
				for i, got := range bigs(r) {
					n := len(xs) * len(ys)
					if want := []*big.Int{xs[i%n/len(ys)], ys[i%len(ys)]}[i/n]; got.Cmp(want) != 0 {
						t.Errorf("Where of %s and %s, %s: %s, want %s", dx, dy, way, got, want)
					}
				}
			})
		}
	}
}

// An integer without dimensions does not widen the type of a result, but it is compared as the
// number that it is.
func TestIntegersWithoutDimensionsAreComparedExactly(t *testing.T) {
	for _, dx := range integerTypes {
		for _, dy := range integerTypes {
			xs, ys := extremes(dx), extremes(dy)
			x := integers(dx, xs)
			for k, b := range ys {
				y := integers(dy, ys[k:k+1]).Reshape()
				for _, c := range comparisons {
					way, r := "eager", c.f(x, y)
					if k == 1 { // the greatest
						var err error
						if r, err = weft.Compile(c.f).Call(x, y); err != nil {
							t.Fatal(err)
						}
						way = "compiled"
					}
					turned := c.f(y, x)
					for i, a := range xs {
						if got, want := bigs(r)[i], truth(c.holds(a.Cmp(b))); got.Cmp(want) != 0 {
							t.Errorf("%s of %s %s and one %s %s, %s: %s, want %s", c.name, dx, a, dy, b, way, got, want)
						}
						if got, want := bigs(turned)[i], truth(c.holds(b.Cmp(a))); got.Cmp(want) != 0 {
							t.Errorf("%s of one %s %s and %s %s: %s, want %s", c.name, dy, b, dx, a, got, want)
						}
					}
				}
			}
		}
	}
}

// Kernels compare by the types that they are written with.
func TestKernelsCompareIntegersExactly(t *testing.T) {
	for _, d := range integerTypes {
		src := kernel.MustParse(strings.ReplaceAll("package k\nfunc Lt(x, y T) bool { return x < y }\nfunc Ge(x, y T) bool { return x >= y }\nfunc Eq(x, y T) bool { return x == y }\n"+
			"func Min(x, y T) T { return min(x, y) }\nfunc Max(x, y T) T { return max(x, y) }\n", "T", d.String()))
		xs := extremes(d)
		x, y := integers(d, xs, len(xs), 1), integers(d, xs)
		for name, want := range map[string]func(a, b *big.Int) *big.Int{
			"Lt": func(a, b *big.Int) *big.Int { return truth(a.Cmp(b) < 0) }, "Ge": func(a, b *big.Int) *big.Int { return truth(a.Cmp(b) >= 0) },
			"Eq": func(a, b *big.Int) *big.Int { return truth(a.Cmp(b) == 0) }, "Min": lesser, "Max": greater,
		} {
			for i, got := range bigs(src.Func(name).Map(x, y)) {
				if a, b := xs[i/len(xs)], xs[i%len(xs)]; got.Cmp(want(a, b)) != 0 {
					t.Errorf("%s(%s, %s) of %s is %s", name, a, b, d, got)
				}
			}
		}
	}
}

// What needs a type for all integers of uint64 and of a signed type says that there is none.
// Sums, differences, products and bits are right modulo 2^64.
func TestUint64MeetsSignedIntegers(t *testing.T) {
	u, s := weft.FromSlice([]uint64{math.MaxUint64, 5}), weft.FromSlice([]int64{-3, 2})
	for name, f := range map[string]func(){
		"where":        func() { weft.Where(u.Gt(0), u, s) },
		"cat":          func() { weft.Cat([]*weft.Tensor{s, u}, 0) },
		"floordiv":     func() { u.FloorDiv(s) },
		"mod":          func() { s.Mod(u) },
		"searchsorted": func() { s.SearchSorted(u, weft.SearchOpts{}) },
		"scatter_reduce": func() {
			u.ScatterReduce(0, weft.FromSlice([]int64{0, 1}), s, weft.ScatterOpts{Reduce: weft.ScatterMax})
		},
		"shr": func() { u.Shr(s) },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Op != name || !strings.Contains(err.Error(), "no integer type in common") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]*weft.Tensor{"Add": u.Add(s), "Sub": u.Sub(s), "Mul": u.Mul(s)} {
		for i, got := range weft.Data[int64](r) {
			a, b := weft.Data[uint64](u)[i], uint64(weft.Data[int64](s)[i])
			if want := map[string]uint64{"Add": a + b, "Sub": a - b, "Mul": a * b}[name]; uint64(got) != want {
				t.Errorf("%s: %d, want %d modulo 2^64", name, got, want)
			}
		}
	}
	// A number without dimensions does not decide the type.
	for _, zero := range []any{0, weft.Scalar(0)} {
		r := weft.Where(u.Gt(6), u, zero)
		if r.DType() != weft.Uint64 || weft.Data[uint64](r)[0] != math.MaxUint64 || weft.Data[uint64](r)[1] != 0 {
			t.Errorf("Where with %v: %s %v", zero, r.DType(), r)
		}
	}
	if got := weft.FromSlice([]uint64{math.MaxUint64, math.MaxInt64 + 1}).IsClose(weft.FromSlice([]int64{-1, math.MinInt64}), weft.CloseOpts{}); got.Any().Item() != 0 {
		t.Errorf("IsClose: %v", got)
	}
}

// Sums and products of uint64 are uint64, as NumPy has them. Of other integers they are int64.
func TestSumOfUint64(t *testing.T) {
	u := weft.FromSlice([]uint64{math.MaxInt64, 5, 1}, 3)
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"Sum":     func(x *weft.Tensor) *weft.Tensor { return x.Sum() },
		"SumKeep": func(x *weft.Tensor) *weft.Tensor { return x.SumKeep(0) },
		"Prod":    func(x *weft.Tensor) *weft.Tensor { return x.Prod() },
		"CumSum":  func(x *weft.Tensor) *weft.Tensor { return x.CumSum(0) },
		"CumProd": func(x *weft.Tensor) *weft.Tensor { return x.CumProd(0) },
		"formula": func(x *weft.Tensor) *weft.Tensor { return weft.Expr("sum(x)", weft.Vars{"x": x}) },
	} {
		for _, d := range integerTypes {
			want := weft.Int64
			if d == weft.Uint64 {
				want = weft.Uint64
			}
			if got := f(u.To(d)).DType(); got != want {
				t.Errorf("%s of %s is %s, want %s", name, d, got, want)
			}
		}
	}
	if got := weft.Data[uint64](u.Sum())[0]; got != math.MaxInt64+6 {
		t.Errorf("sum is %d", got)
	}
	if got := weft.Data[uint64](u.CumSum(0))[2]; got != math.MaxInt64+6 {
		t.Errorf("running sum is %d", got)
	}
}

func noCommon(a, b weft.DType) bool {
	return a == weft.Uint64 && !b.Unsigned() || b == weft.Uint64 && !a.Unsigned()
}

func truth(b bool) *big.Int {
	if b {
		return big.NewInt(1)
	}
	return big.NewInt(0)
}

func lesser(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func greater(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}
