package scatter_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/scatter"
	"weft/internal/op"
)

// Counts of few and of many integers, in one launch and in several.
func TestBinCount(t *testing.T) {
	chance := rand.New(rand.NewPCG(8, 7))
	g := gridtest.New(t)
	count := func(bins int, x []int64) ([]byte, error) {
		var b []byte
		for _, k := range x {
			b = binary.LittleEndian.AppendUint64(b, uint64(k))
		}
		return g.Call(op.Lookup("bincount"), op.Count(bins), g.Dense(array.Int64, b, len(x)))
	}
	for _, c := range []struct{ n, bins, box int }{{0, 5, 1 << 30}, {1, 1, 1 << 30}, {33, 3, 1 << 30}, {9000, 7, 1 << 30}, {9000, 4096, 1 << 30}, {9000, 4097, 1 << 30}, {300, 5, 100}, {300, 5000, 100}} {
		l := usual
		l.MaxBox = c.box
		back := scatter.SetLimits(l)
		x, want := make([]int64, c.n), make([]int64, c.bins)
		for i := range x {
			x[i] = int64(chance.IntN(c.bins))
			want[x[i]]++
		}
		got, err := count(c.bins, x)
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range want {
			if g := int64(binary.LittleEndian.Uint64(got[8*k:])); g != n {
				t.Fatalf("%d of %d integers below %d are %d, want %d", g, c.n, c.bins, k, n)
			}
		}
		for _, bad := range []struct {
			k    int64
			says string
		}{{-1, "not negative, got -1"}, {int64(c.bins), fmt.Sprintf("at position %d is not", c.n/2)}} {
			if c.n < 2 {
				continue
			}
			x[c.n/2], x[c.n-1] = bad.k, 1<<40
			if _, err := count(c.bins, x); err == nil || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("%d among %d integers below %d: error %v", bad.k, c.n, c.bins, err)
			}
		}
		back()
	}
}
