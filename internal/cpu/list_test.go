package cpu

import (
	"math/rand/v2"
	"testing"
)

// Pieces of a list follow one another, each row is in one of them, and none is much more than
// its share, however long an item is.
func TestListPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	cut := 0
	for range 500 {
		l := &list{off: []int64{int64(r.IntN(5))}, row: 1}
		for range 1 + r.IntN(40) {
			n := r.IntN(100)
			if r.IntN(8) == 0 {
				n = r.IntN(300_000)
			}
			l.off = append(l.off, l.off[len(l.off)-1]+int64(n))
		}
		items := len(l.off) - 1
		l.rows = int(l.off[items])
		pieces := 1 + r.IntN(20)
		item, row := l.pieceStart(0, pieces)
		if item != 0 || row != 0 {
			t.Fatalf("the first piece begins with row %d of item %d", row, item)
		}
		most := l.work()/pieces + cutFrom + 2*64
		for p := 1; p <= pieces; p++ {
			next, at := l.pieceStart(p, pieces)
			if next < item || next == item && at < row || at > 0 && at >= l.off[next+1]-l.off[next] {
				t.Fatalf("piece %d of %d is from row %d of item %d to row %d of item %d: %v", p-1, pieces, row, item, at, next, l.off)
			}
			if n := int(l.off[next] + at - l.off[item] - row); n > most {
				t.Fatalf("piece %d of %d has %d rows of %d: %v", p-1, pieces, n, l.rows, l.off)
			}
			if at > 0 {
				cut++
			}
			item, row = next, at
		}
		if item != items || row != 0 {
			t.Fatalf("the last piece ends with row %d of item %d of %d", row, item, items)
		}
	}
	if cut < 100 {
		t.Errorf("only %d items were cut", cut)
	}
}
