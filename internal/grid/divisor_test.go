package grid

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// The factor and the shift of a divisor give the quotient of integer division, for dividends and
// divisors of all sizes.
func TestDivisorsOfAllSizes(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	check := func(x, n int) {
		t.Helper()
		if x < 0 || x >= 1<<31 {
			return
		}
		d := AppendDivisor(nil, n)
		high, _ := bits.Mul32(uint32(x), binary.LittleEndian.Uint32(d[4:]))
		if got := int((high + uint32(x)) >> binary.LittleEndian.Uint32(d[8:])); got != x/n {
			t.Errorf("%d/%d = %d, want %d", x, n, got, x/n)
		}
	}
	for range 20000 {
		n := 1 + chance.IntN(1<<chance.IntN(32))
		check(chance.IntN(1<<31), n)
		for k := chance.IntN(1<<31/n + 1); k >= 0; k -= 1 + 1<<31/n/2 {
			check(k*n, n)
			check(k*n-1, n)
		}
	}
	for _, n := range []int{1, 2, 3, 1<<31 - 1, 1 << 31, 1<<30 + 1} {
		for _, x := range []int{0, 1, n - 1, n, 1<<31 - 2, 1<<31 - 1} {
			check(x, n)
		}
	}
}
