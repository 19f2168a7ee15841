package ragged

import (
	"math"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// model is items of rows of k numbers each, in plain Go.
type model struct {
	items [][][]float64
	k     int
}

// random makes items of 0 to most rows.
func random(r *rand.Rand, items, most, k int) model {
	m := model{k: k}
	for range items {
		item := make([][]float64, r.IntN(most+1))
		for i := range item {
			item[i] = make([]float64, k)
			for j := range item[i] {
				item[i][j] = math.Round(r.NormFloat64()*8) / 4
			}
		}
		m.items = append(m.items, item)
	}
	return m
}

func (m model) sizes() []int {
	var s []int
	for _, x := range m.items {
		s = append(s, len(x))
	}
	return s
}

// list is the model as a list, with rows of shape [k], or numbers where k is 1.
func (m model) list() *List {
	var flat []float64
	n := 0
	for _, item := range m.items {
		n += len(item)
		for _, row := range item {
			flat = append(flat, row...)
		}
	}
	if m.k == 1 {
		return FromSizes(weft.FromSlice(flat, n), m.sizes())
	}
	return FromSizes(weft.FromSlice(flat, n, m.k), m.sizes())
}

func each(t *testing.T, f func(t *testing.T, m model, l *List, r *rand.Rand)) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{1, 3} {
		for _, items := range []int{0, 1, 7, 200} {
			for _, most := range []int{0, 1, 5, 90} {
				m := random(r, items, most, k)
				f(t, m, m.list(), r)
			}
		}
	}
}

// flat applies f to each element with its item, place and column.
func (m model) flat(f func(x float64, item, place, column int) float64) []float64 {
	out := []float64{}
	for i, item := range m.items {
		for p, row := range item {
			for c, x := range row {
				out = append(out, f(x, i, p, c))
			}
		}
	}
	return out
}

func TestElementwise(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, r *rand.Rand) {
		n := len(m.items)
		other := model{k: m.k}
		for _, item := range m.items {
			x := random(r, 1, len(item), m.k)
			for len(x.items[0]) < len(item) {
				x.items[0] = append(x.items[0], random(r, 1, 0, m.k).row(r))
			}
			other.items = append(other.items, x.items[0])
		}
		one := weft.RandnOf(weft.Float64, n)
		if m.k > 1 {
			one = weft.RandnOf(weft.Float64, n, m.k)
		}
		v := weft.Data[float64](one)
		tensortest.Near(t, "scalar", l.Mul(2).Data(), m.flat(func(x float64, _, _, _ int) float64 { return 2 * x }), 5e-13)
		tensortest.Near(t, "list", l.Sub(other.list()).Data(), m.flat(func(x float64, i, p, c int) float64 { return x - other.items[i][p][c] }), 5e-13)
		if n != 1 {
			tensortest.Near(t, "item", l.Add(one).Data(), m.flat(func(x float64, i, _, c int) float64 { return x + v[i*m.k+c] }), 5e-13)
		}
		most := l.longest()
		dense := weft.RandnOf(weft.Float64, n, most+1)
		if m.k > 1 {
			dense = weft.RandnOf(weft.Float64, n, most+1, m.k)
		}
		d := weft.Data[float64](dense)
		if n != 1 {
			tensortest.Near(t, "dense", l.RSub(dense).Data(), m.flat(func(x float64, i, p, c int) float64 { return d[(i*(most+1)+p)*m.k+c] - x }), 5e-13)
		}
		if n > 1 {
			tensortest.Near(t, "positions", l.Add(dense.Slice(weft.Range(0, 1))).Data(), m.flat(func(x float64, _, p, c int) float64 { return x + d[p*m.k+c] }), 5e-13)
			tensortest.Near(t, "one row", l.Add(dense.Slice(weft.All, weft.Range(0, 1))).Data(), m.flat(func(x float64, i, _, c int) float64 { return x + d[i*(most+1)*m.k+c] }), 5e-13)
		}
		if m.k > 1 {
			row := weft.FromSlice([]float64{1, 2, 3})
			tensortest.Near(t, "row", l.Mul(row).Data(), m.flat(func(x float64, _, _, c int) float64 { return x * float64(c+1) }), 5e-13)
			per := FromSizes(l.Data().Slice(weft.All, weft.Index(0)), m.sizes())
			tensortest.Near(t, "column of a list", l.Add(per).Data(), m.flat(func(x float64, i, p, _ int) float64 { return x + m.items[i][p][0] }), 5e-13)
			tensortest.Near(t, "a list and its column", per.Add(l).Data(), m.flat(func(x float64, i, p, _ int) float64 { return x + m.items[i][p][0] }), 5e-13)
		}
		tensortest.Near(t, "apply", l.Apply((*weft.Tensor).Abs).Data(), m.flat(func(x float64, _, _, _ int) float64 { return math.Abs(x) }), 5e-13)
		tensortest.Near(t, "local index", l.LocalIndex().Data(), model{m.items, 1}.places(), 5e-13)
		if l.Mul(2).part != l.part {
			t.Error("another partition")
		}
	})
}

func (m model) row(r *rand.Rand) []float64 {
	x := make([]float64, m.k)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func (m model) places() []float64 {
	out := []float64{}
	for _, item := range m.items {
		for p := range item {
			out = append(out, float64(p))
		}
	}
	return out
}

// columns are the columns of each item, item by item.
func (m model) columns(f func(x []float64) float64) []float64 {
	out := []float64{}
	for _, item := range m.items {
		for c := range m.k {
			x := make([]float64, len(item))
			for p := range item {
				x[p] = item[p][c]
			}
			out = append(out, f(x))
		}
	}
	return out
}

func TestReductions(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, _ *rand.Rand) {
		fold := func(none float64, f func(a, b float64) float64) []float64 {
			return m.columns(func(x []float64) float64 {
				y := none
				for _, e := range x {
					y = f(y, e)
				}
				return y
			})
		}
		add := func(a, b float64) float64 { return a + b }
		tensortest.Near(t, "sum", l.Sum(), fold(0, add), 5e-13)
		tensortest.Near(t, "prod", l.Prod(), fold(1, func(a, b float64) float64 { return a * b }), 5e-13)
		tensortest.Near(t, "max", l.Max(), fold(math.Inf(-1), math.Max), 5e-13)
		tensortest.Near(t, "min", l.Min(), fold(math.Inf(1), math.Min), 5e-13)
		tensortest.Near(t, "mean", l.Mean(), m.columns(func(x []float64) float64 {
			y := 0.0
			for _, e := range x {
				y += e
			}
			return y / float64(len(x))
		}), 5e-13)
		logsum := func(x []float64) float64 {
			y := 0.0
			for _, e := range x {
				y += math.Exp(e)
			}
			return math.Log(y)
		}
		tensortest.Near(t, "logsumexp", l.LogSumExp(), m.columns(logsum), 5e-13)
		s := m.columns(logsum)
		tensortest.Near(t, "softmax", l.Softmax().Data(), m.flat(func(x float64, i, _, c int) float64 { return math.Exp(x - s[i*m.k+c]) }), 5e-13)
		tensortest.Near(t, "log softmax", l.LogSoftmax().Data(), m.flat(func(x float64, i, _, c int) float64 { return x - s[i*m.k+c] }), 5e-13)
		arg := func(less bool) []float64 {
			return m.columns(func(x []float64) float64 {
				best := -1
				for i, e := range x {
					if best < 0 || less && e < x[best] || !less && e > x[best] {
						best = i
					}
				}
				return float64(best)
			})
		}
		tensortest.Near(t, "argmax", l.ArgMax(), arg(false), 5e-13)
		tensortest.Near(t, "argmin", l.ArgMin(), arg(true), 5e-13)
	})
}

func TestSort(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, _ *rand.Rand) {
		for _, descending := range []bool{false, true} {
			values, places := l.Sort(weft.SortOpts{Descending: descending})
			want, at := m.flat(func(float64, int, int, int) float64 { return 0 }), m.flat(func(float64, int, int, int) float64 { return 0 })
			base := 0
			for _, item := range m.items {
				for c := range m.k {
					order := make([]int, len(item))
					for i := range order { // insertion keeps the order of equal ones
						k := i
						for ; k > 0; k-- {
							a, b := item[order[k-1]][c], item[i][c]
							if !descending && a <= b || descending && a >= b {
								break
							}
							order[k] = order[k-1]
						}
						order[k] = i
					}
					for p, o := range order {
						want[(base+p)*m.k+c], at[(base+p)*m.k+c] = item[o][c], float64(o)
					}
				}
				base += len(item)
			}
			tensortest.Near(t, "values", values.Data(), want, 5e-13)
			tensortest.Near(t, "places", places.Data(), at, 5e-13)
			if m.k == 1 {
				tensortest.Near(t, "index", l.Index(places).Data(), want, 5e-13)
			}
		}
	})
}

func TestPadded(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, r *rand.Rand) {
		most := 0
		for _, item := range m.items {
			most = max(most, len(item))
		}
		for _, length := range []int{-1, 0, 1, 3, 100} {
			n := length
			var x, mask *weft.Tensor
			if length < 0 {
				n = most
				x, mask = l.ToPadded(-7)
			} else {
				x, mask = l.ToPadded(-7, length)
			}
			var want, in []float64
			for _, item := range m.items {
				for p := range n {
					if p < len(item) {
						want, in = append(want, item[p]...), append(in, 1)
						continue
					}
					for range m.k {
						want = append(want, -7)
					}
					in = append(in, 0)
				}
			}
			tensortest.Near(t, "padded", x, want, 5e-13)
			tensortest.Near(t, "mask", mask, in, 5e-13)
			if n >= most {
				for _, sizes := range []any{m.sizes(), mask} {
					y := FromPadded(x, sizes)
					tensortest.Near(t, "back", y.Data(), m.flat(func(x float64, _, _, _ int) float64 { return x }), 5e-13)
					holds(t, y.Offsets(), weft.Data[int64](l.Offsets())...)
				}
			}
		}
	})
	n := Of([][][]int64{{{1, 2}, {3}}, {}, {{4, 5, 6}}})
	x, mask := n.ToPadded(0)
	if got := x.Shape(); got[0] != 3 || got[1] != 2 || got[2] != 3 {
		t.Error(got)
	}
	holds(t, x, 1, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0)
	holds(t, mask.To(weft.Int64), 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0)
	x, _ = n.ToPadded(9, 1, 2)
	holds(t, x, 1, 2, 9, 9, 4, 5)
}

func TestTakeOfRandomItems(t *testing.T) {
	each(t, func(t *testing.T, m model, l *List, r *rand.Rand) {
		n := len(m.items)
		var items []int
		taken := model{k: m.k}
		for range r.IntN(2*n + 1) {
			i := r.IntN(n)
			items = append(items, i-n*r.IntN(2))
			taken.items = append(taken.items, m.items[i])
		}
		equalModel(t, l.Take(items), taken)
		// Places of rows.
		places, want := [][]int64{}, model{k: m.k}
		for _, item := range m.items {
			var at []int64
			var rows [][]float64
			for range r.IntN(2*len(item) + 1) {
				p := r.IntN(len(item))
				at = append(at, int64(p-len(item)*r.IntN(2)))
				rows = append(rows, item[p])
			}
			places, want.items = append(places, at), append(want.items, rows)
		}
		equalModel(t, l.Index(Of(places)), want)
		// Masks.
		of := FromSizes(weft.RandOf(weft.Float64, l.Rows()).Gt(0.5), m.sizes())
		in := weft.Data[bool](of.Data())
		kept := model{k: m.k}
		for _, item := range m.items {
			var rows [][]float64
			for p := range item {
				if in[p] {
					rows = append(rows, item[p])
				}
			}
			in = in[len(item):]
			kept.items = append(kept.items, rows)
		}
		equalModel(t, l.Mask(of), kept)
		some := weft.RandOf(weft.Float64, n).Gt(0.5)
		kept.items = nil
		for i, yes := range weft.Data[bool](some) {
			if yes {
				kept.items = append(kept.items, m.items[i])
			}
		}
		equalModel(t, l.Mask(some), kept)
		// Joined.
		both := model{k: m.k, items: append(append([][][]float64{}, m.items...), taken.items...)}
		equalModel(t, Concat([]*List{l, l.Take(items)}, 0), both)
		both.items = nil
		for i := range m.items {
			both.items = append(both.items, append(append(append([][]float64{}, m.items[i]...), want.items[i]...), m.items[i]...))
		}
		equalModel(t, Concat([]*List{l, l.Index(Of(places)), l}, 1), both)
	})
}

func equalModel(t *testing.T, l *List, m model) {
	t.Helper()
	s := make([]int64, 0)
	for _, n := range m.sizes() {
		s = append(s, int64(n))
	}
	holds(t, l.Sizes(), s...)
	tensortest.Near(t, "rows", l.Data(), m.flat(func(x float64, _, _, _ int) float64 { return x }), 5e-13)
}

func TestNested(t *testing.T) {
	n := Of([][][]float64{{{1, 2}, {3}}, {}, {{}, {4, 5, 6}}})
	shows(t, n.ListAt(-1), "[ [] [4. 5. 6.] ]")
	tensortest.Near(t, "sum of inner items", n.Sum(-1), []float64{3, 3, 0, 15}, 5e-13)
	tensortest.Near(t, "sum of outer items", n.Sum(), []float64{6, 0, 15}, 5e-13)
	shows(t, FromOffsets(n.Max(-1), n.Offsets()), "[ [2. 3.] [] [-inf 6.] ]")
	shows(t, n.Mul(2).Flatten(), "[ [2. 4.] [6.] [] [8. 10. 12.] ]")
	shows(t, n.Flatten().Unflatten([]int{2, 0, 2}), n.String())
	shows(t, n.Add(weft.FromSlice([]float64{10, 20, 30})), "[ [ [11. 12.] [13.] ] [ ] [ [] [34. 35. 36.] ] ]")
	// A list of the first level: one value an inner item.
	shows(t, n.Mul(FromOffsets(n.Sum(-1), n.Offsets())), "[ [ [3. 6.] [9.] ] [ ] [ [] [60. 75. 90.] ] ]")
	shows(t, n.LocalIndex(), "[ [ [0 1] [0] ] [ ] [ [] [0 1 2] ] ]")
	shows(t, n.Take([]int{2, 0}), "[ [ [] [4. 5. 6.] ] [ [1. 2.] [3.] ] ]")
	shows(t, n.Range(weft.End, weft.Begin, -1), "[ [ [] [4. 5. 6.] ] [ ] [ [1. 2.] [3.] ] ]")
	shows(t, n.Range(1, 3), "[ [ ] [ [] [4. 5. 6.] ] ]")
	shows(t, n.Mask(n.Gt(2)), "[ [ [] [3.] ] [ ] [ [] [4. 5. 6.] ] ]")
	shows(t, Concat([]*List{n, n.Range(0, 1)}, 0), "[ [ [1. 2.] [3.] ] [ ] [ [] [4. 5. 6.] ] [ [1. 2.] [3.] ] ]")
	shows(t, Concat([]*List{n, n}, 1), "[ [ [1. 2.] [3.] [1. 2.] [3.] ] [ ] [ [] [4. 5. 6.] [] [4. 5. 6.] ] ]")
	tensortest.Near(t, "spread", n.Spread(weft.FromSlice([]float64{1, 2, 3})).Data(), []float64{1, 1, 1, 3, 3, 3}, 5e-13)
	tensortest.Near(t, "spread to inner items", n.Spread(weft.FromSlice([]float64{1, 2, 3, 4}), -1).Data(), []float64{1, 1, 2, 4, 4, 4}, 5e-13)
	values, _ := n.Sort(weft.SortOpts{Descending: true})
	shows(t, values, "[ [ [2. 1.] [3.] ] [ ] [ [] [6. 5. 4.] ] ]")
	deep := n.Unflatten(3)
	if deep.Depth() != 3 || deep.Len() != 1 {
		t.Error(deep)
	}
	tensortest.Near(t, "depth 3", deep.Sum(), []float64{21}, 5e-13)
	tensortest.Near(t, "depth 3, level 1", deep.Sum(1), []float64{6, 0, 15}, 5e-13)
	tensortest.Near(t, "an item of depth 3", deep.At(0, 2, 1), []float64{4, 5, 6}, 5e-13)
}

// An item that is far longer than others is computed in pieces, with the values of each row.
func TestGiantItem(t *testing.T) {
	sizes := []int64{3, 200_000, 0, 5, 70, 16_384, 1, 90_001, 0}
	rows := 0
	for _, n := range sizes {
		rows += int(n)
	}
	x, v := make([]float32, rows), make([]float32, len(sizes))
	for i := range x {
		x[i] = float32(i%1000) / 8
	}
	for i := range v {
		v[i] = float32(i) + 0.5
	}
	y := Expr("2*l + v", weft.Vars{"l": FromSizes(x, sizes), "v": weft.FromSlice(v)})
	got, at := weft.Data[float32](y.Data()), 0
	for i, n := range sizes {
		for range n {
			if want := 2*x[at] + v[i]; got[at] != want {
				t.Fatalf("row %d, of item %d, is %v, want %v", at, i, got[at], want)
			}
			at++
		}
	}
}
