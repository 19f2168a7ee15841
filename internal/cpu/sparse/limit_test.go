package sparse

import (
	"errors"
	"math/rand/v2"
	"testing"

	"weft/internal/mem"
)

func never() error { return nil }

// randomTriangle returns the lower triangle, by rows, of a symmetric matrix with entries at random places beside a full diagonal.
func randomTriangle(n, each int) *Pattern {
	r := rand.New(rand.NewPCG(uint64(n), uint64(each)))
	p := &Pattern{Off: make([]int64, 1, n+1), Cols: n}
	for i := range n {
		at := map[int32]bool{int32(i): true}
		for range min(each, i) {
			at[int32(r.IntN(i))] = true
		}
		for j := range int32(i + 1) {
			if at[j] {
				p.Idx = append(p.Idx, j)
			}
		}
		p.Off = append(p.Off, int64(len(p.Idx)))
	}
	return p
}

// TestCountsAreOfEliminatedColumns compares counts of columns with an elimination of sets of rows.
func TestCountsAreOfEliminatedColumns(t *testing.T) {
	for _, n := range []int{0, 1, 2, 17, 60, 200} {
		for _, each := range []int{0, 1, 2, 4} {
			p := randomTriangle(n, each)
			order := natural(n)
			l := permuted(p, order)
			if post := postorder(tree(&l.rows)); n > 0 {
				copy(order, post)
				l = permuted(p, order)
			}
			parent := tree(&l.rows)
			below := make([]map[int32]bool, n)
			for j := range n {
				below[j] = map[int32]bool{}
			}
			for j := range n {
				for _, i := range l.cols.Idx[l.cols.Off[j]:l.cols.Off[j+1]] {
					if int(i) > j {
						below[j][i] = true
					}
				}
				if up := parent[j]; up >= 0 {
					for i := range below[j] {
						if i > up {
							below[up][i] = true
						}
					}
				}
			}
			for j, got := range counts(&l.cols, parent) {
				if int(got) != len(below[j]) {
					t.Fatalf("%d columns, %d entries each: column %d has %d entries below the diagonal, want %d", n, each, j, got, len(below[j]))
				}
			}
		}
	}
}

// TestOrderEndsWhereFactorsDoNotFit bounds the entries of a factor. Without a bound the same graph is ordered, and its factor
// has more entries than the bound.
func TestOrderEndsWhereFactorsDoNotFit(t *testing.T) {
	p := randomTriangle(2000, 4)
	const limit = 100_000
	full, most := errors.New("full"), 0
	fits := func(entries int) error {
		if most = max(most, entries); entries > limit {
			return full
		}
		return nil
	}
	if _, _, err := MinimumDegree(p.Symmetric(), nil, fits, never); err != full {
		t.Errorf("neighbours: %v", err)
	}
	if _, _, err := MinimumDegree(make([][]int32, p.Cols), p.Cliques(), fits, never); err != full {
		t.Errorf("cliques: %v", err)
	}
	most = 0
	order, entries, err := MinimumDegree(p.Symmetric(), nil, func(entries int) error {
		most = max(most, entries)
		return nil
	}, never)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := PlanCholesky(p, order, 8)
	if err != nil || plan.Entries() < most || most < limit {
		t.Errorf("the factor has %d entries, at least %d were foretold: %v", plan.Entries(), most, err)
	}
	below := counts(&permuted(p, plan.Order).cols, tree(&permuted(p, plan.Order).rows))
	for _, k := range below {
		entries -= int(k) + 1
	}
	if entries != 0 {
		t.Errorf("the order counts %d entries more than there are", entries)
	}
	if _, err := PlanCholesky(p, natural(p.Cols), 1<<45); err == nil && mem.Physical() > 0 {
		t.Error("a factor of huge entries fits")
	}
}

// TestColumnBoundCountsProducts compares the bound with an elimination of a^T*a, whose pattern is made in full.
func TestColumnBoundCountsProducts(t *testing.T) {
	for n := range 30 {
		r := rand.New(rand.NewPCG(uint64(n), 7))
		p := &Pattern{Off: make([]int64, 1), Cols: n}
		rows := make([][]bool, n)
		for i := range rows {
			rows[i] = make([]bool, n)
		}
		for j := range n {
			for i := range n {
				if r.IntN(max(1, n/2)) == 0 {
					p.Idx, rows[i][j] = append(p.Idx, int32(i)), true
				}
			}
			p.Off = append(p.Off, int64(len(p.Idx)))
		}
		order := natural(n)
		r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		joined := make([][]bool, n)
		for i := range joined {
			joined[i] = make([]bool, n)
			joined[i][i] = true
		}
		for _, row := range rows {
			for a := range n {
				for b := range n {
					joined[a][b] = joined[a][b] || row[order[a]] && row[order[b]]
				}
			}
		}
		want := 0
		for k := range n {
			for a := k; a < n; a++ {
				if !joined[a][k] {
					continue
				}
				want++
				for b := k; b < n; b++ {
					joined[a][b] = joined[a][b] || joined[k][b]
				}
			}
		}
		if got := p.ColumnBound(order); got != want {
			t.Errorf("%d columns: %d entries, want %d", n, got, want)
		}
	}
}
