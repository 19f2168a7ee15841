package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/kernel"
)

const saturateSource = `package k
import "math"

type whole interface { int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 }

func All[T whole](x, y T) (sum, difference, product, quotient, negative T) {
	x2 := x
	x2 += y
	return x2, x - y, x * y, x / y, -x
}

func Count[T whole](x T) (up, down T) {
	up, down = x, x
	up++
	down--
	return up, down
}

func To[T whole | float32 | float64, U whole](x T, like U) U { return U(x) | like&0 }

// Index has Go's own integers beside others.
func Index(x uint8) (wrapped int, n uint8) {
	i := math.MaxInt + int(x)
	for k := int8(120); ; k++ {
		if k == 127 {
			break
		}
		n += 50
	}
	return i, n
}
`

var saturateTypes = map[weft.DType][2]string{
	weft.Int8: {"-128", "127"}, weft.Int16: {"-32768", "32767"}, weft.Int32: {"-2147483648", "2147483647"}, weft.Int64: {"-9223372036854775808", "9223372036854775807"},
	weft.Uint8: {"0", "255"}, weft.Uint16: {"0", "65535"}, weft.Uint32: {"0", "4294967295"}, weft.Uint64: {"0", "18446744073709551615"},
}

// integers are the extremes of a type, numbers near them and 0, and random ones.
func integers(d weft.DType, r *rand.Rand) []*big.Int {
	low, _ := new(big.Int).SetString(saturateTypes[d][0], 10)
	high, _ := new(big.Int).SetString(saturateTypes[d][1], 10)
	var out []*big.Int
	for k := range int64(3) {
		out = append(out, new(big.Int).Add(low, big.NewInt(k)), new(big.Int).Sub(high, big.NewInt(k)), big.NewInt(k))
		if low.Sign() < 0 {
			out = append(out, big.NewInt(-k))
		}
	}
	size := new(big.Int).Sub(high, low)
	for range 12 {
		x := new(big.Int).SetUint64(r.Uint64())
		x.Rsh(x, uint(r.IntN(64)))
		x.Mod(x, new(big.Int).Add(size, big.NewInt(1)))
		out = append(out, x.Add(x, low))
	}
	return out
}

func clampTo(d weft.DType, x *big.Int) *big.Int {
	low, _ := new(big.Int).SetString(saturateTypes[d][0], 10)
	high, _ := new(big.Int).SetString(saturateTypes[d][1], 10)
	switch {
	case x.Cmp(low) < 0:
		return low
	case x.Cmp(high) > 0:
		return high
	}
	return x
}

// tensorOf is a tensor of integers.
func tensorOf(d weft.DType, list []*big.Int) *weft.Tensor {
	if d == weft.Uint64 {
		x := make([]uint64, len(list))
		for i, v := range list {
			x[i] = v.Uint64()
		}
		return weft.FromSlice(x)
	}
	x := make([]int64, len(list))
	for i, v := range list {
		x[i] = v.Int64()
	}
	return weft.FromSlice(x).To(d)
}

func bigsOf(t *weft.Tensor) []*big.Int {
	var out []*big.Int
	if t.DType() == weft.Uint64 {
		for _, v := range weft.Data[uint64](t) {
			out = append(out, new(big.Int).SetUint64(v))
		}
		return out
	}
	for _, v := range weft.Data[int64](t.To(weft.Int64)) {
		out = append(out, big.NewInt(v))
	}
	return out
}

// rounded is the integer nearest to x/y, halves away from 0.
func rounded(x, y *big.Int) *big.Int {
	twice := new(big.Int).Add(new(big.Int).Abs(new(big.Int).Mul(x, big.NewInt(2))), new(big.Int).Abs(y))
	q := twice.Quo(twice, new(big.Int).Abs(new(big.Int).Mul(y, big.NewInt(2))))
	if x.Sign()*y.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

// Arithmetic of every integer type is exact arithmetic, rounded and clamped.
func TestSaturatingArithmetic(t *testing.T) {
	s := kernel.MustParse(saturateSource).Saturating()
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"+", "-", "*", "/", "neg"}
	for d := range saturateTypes {
		list := integers(d, r)
		var xs, ys []*big.Int
		for _, x := range list {
			for _, y := range list {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
		got := s.Func("All").MapAll(tensorOf(d, xs), tensorOf(d, ys))
		for k, g := range got {
			for i, v := range bigsOf(g) {
				x, y := xs[i], ys[i]
				want := new(big.Int)
				switch names[k] {
				case "+":
					want.Add(x, y)
				case "-":
					want.Sub(x, y)
				case "*":
					want.Mul(x, y)
				case "/":
					if y.Sign() != 0 {
						want = rounded(x, y)
					} else if x.Sign() != 0 {
						want.Lsh(big.NewInt(int64(x.Sign())), 70)
					}
				case "neg":
					want.Neg(x)
				}
				if want = clampTo(d, want); v.Cmp(want) != 0 {
					t.Fatalf("%s: %s %s %s is %s, want %s", d, x, names[k], y, v, want)
				}
			}
		}
		ends := s.Func("Count").MapAll(tensorOf(d, list))
		for i, v := range bigsOf(ends[0]) {
			if want := clampTo(d, new(big.Int).Add(list[i], big.NewInt(1))); v.Cmp(want) != 0 {
				t.Errorf("%s: %s++ is %s, want %s", d, list[i], v, want)
			}
			if v, want := bigsOf(ends[1])[i], clampTo(d, new(big.Int).Sub(list[i], big.NewInt(1))); v.Cmp(want) != 0 {
				t.Errorf("%s: %s-- is %s, want %s", d, list[i], v, want)
			}
		}
	}
}

// Conversions between all types round and clamp.
func TestSaturatingConversions(t *testing.T) {
	s := kernel.MustParse(saturateSource).Saturating()
	r := rand.New(rand.NewPCG(3, 4))
	floats := []float64{0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 127.5, 127.49, -128.5, 255.5, 256, 32767.5, 65535.4, 2147483647.5, -2147483648.6, 4294967295.5, 1e10, -1e10, 0x1p53 + 1, 0x1p63, -0x1p63, 0x1p64, 1e30, -1e30, math.Inf(1), math.Inf(-1), math.NaN(), 8388609, 4503599627370497.5}
	for to := range saturateTypes {
		like := tensorOf(to, []*big.Int{big.NewInt(0)})
		for from := range saturateTypes {
			list := integers(from, r)
			for i, v := range bigsOf(s.Func("To").Map(tensorOf(from, list), like)) {
				if want := clampTo(to, list[i]); v.Cmp(want) != 0 {
					t.Errorf("%s of %s %s is %s, want %s", to, from, list[i], v, want)
				}
			}
		}
		for _, single := range []bool{false, true} {
			x := weft.FromSlice(floats)
			if single {
				x = x.To(weft.Float32)
			}
			for i, v := range bigsOf(s.Func("To").Map(x, like)) {
				f := floats[i]
				if single {
					f = float64(float32(f))
				}
				want := new(big.Int)
				if math.IsInf(f, 0) {
					want.Lsh(big.NewInt(int64(math.Copysign(1, f))), 70)
				} else if f == f {
					new(big.Float).SetFloat64(math.Round(f)).Int(want)
				}
				if want = clampTo(to, want); v.Cmp(want) != 0 {
					t.Errorf("%s of %v (float32 %v) is %s, want %s", to, f, single, v, want)
				}
			}
		}
	}
}

// int keeps Go's rules, and the source without the mode keeps all of them.
func TestSaturatingLeavesGo(t *testing.T) {
	plain := kernel.MustParse(saturateSource)
	s := plain.Saturating()
	x := weft.FromSlice([]uint8{200})
	y := s.Func("Index").MapAll(x)
	if g, n := weft.Data[int64](y[0])[0], weft.Data[uint8](y[1])[0]; g != math.MinInt64+199 || n != 255 {
		t.Errorf("%d, %d", g, n)
	}
	if y := plain.Func("All").MapAll(x, x); weft.Data[uint8](y[0])[0] != 144 || weft.Data[uint8](y[3])[0] != 1 {
		t.Errorf("%v", y)
	}
	if s.Saturating().Func("All") == nil {
		t.Error("no function")
	}
}

func ExampleSource_Saturating() {
	s := kernel.MustParse(`package k
func Brighter(x uint8, by float64) (scaled, sum uint8) { return uint8(by * float64(x)), x + 100 }`).Saturating()
	y := s.Func("Brighter").MapAll(weft.FromSlice([]uint8{3, 100, 200}), 1.5)
	fmt.Println(y[0], y[1])
	// Output: [  5 150 255] [103 200 255]
}
