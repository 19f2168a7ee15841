package table_test

import (
	"math/rand/v2"
	"testing"

	"weft"
	"weft/table"
)

// The first rows do not have all keys, so that the column has other extremes.
func TestGroupByWithLateKeys(t *testing.T) {
	const n = 300_000
	for _, late := range []int64{7, -1, 1 << 40} {
		k, v := make([]int64, n), make([]float64, n)
		for i := range k {
			k[i], v[i] = int64(i%7), float64(i)
		}
		k[n-2] = late
		g := table.New(table.NewColumn("k", k), table.NewColumn("v", v)).GroupBy("k").Agg(table.Count("v"), table.Size(), table.Max("v"), table.First("v"))
		keys, counts, sizes := weft.Data[int64](g.Numbers("k")), weft.Data[int64](g.Numbers("v_count")), weft.Data[int64](g.Numbers("size"))
		first := weft.Data[float64](g.Numbers("v_first"))
		total := int64(0)
		for i, key := range keys {
			total += counts[i]
			if want := map[bool]float64{true: n - 2, false: float64(key)}[key == late]; first[i] != want || counts[i] != sizes[i] {
				t.Errorf("late %d: key %d has %d rows from %v on", late, key, counts[i], first[i])
			}
		}
		if total != n || len(keys) != 8 {
			t.Errorf("late %d: %d rows of %d keys", late, total, len(keys))
		}
	}
}

// Inner joins are pairs of two loops, in their order.
func TestInnerJoinOfManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := make([]int64, 700), make([]int64, 500)
	for i := range a {
		a[i] = int64(r.IntN(300))
	}
	for i := range b {
		b[i] = int64(r.IntN(300))
	}
	rows := func(x []int64) []int64 {
		out := make([]int64, len(x))
		for i := range out {
			out[i] = int64(i)
		}
		return out
	}
	got := table.New(table.NewColumn("k", a), table.NewColumn("a", rows(a))).Join(table.New(table.NewColumn("k", b), table.NewColumn("b", rows(b))))
	x, y := weft.Data[int64](got.Numbers("a")), weft.Data[int64](got.Numbers("b"))
	at := 0
	for i := range a {
		for j := range b {
			if a[i] != b[j] {
				continue
			}
			if at >= len(x) || x[at] != int64(i) || y[at] != int64(j) {
				t.Fatalf("pair %d is not (%d, %d)", at, i, j)
			}
			at++
		}
	}
	if at != len(x) {
		t.Errorf("%d pairs, want %d", len(x), at)
	}
}
