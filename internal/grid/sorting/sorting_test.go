package sorting_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/sorting"
	"weft/internal/op"
)

// ordered has the types whose elements have an order. Sort itself takes halves as float32.
func ordered(halves bool) []array.DType {
	return slices.DeleteFunc(array.DTypes(), func(d array.DType) bool { return d.Category() > array.CatFloat || d.Half() && !halves })
}

// Rows and columns around the sizes of what a thread sorts, of runs and of tiles, of each type.
func TestSizesOfSorts(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	g := gridtest.New(t)
	types, all := ordered(false), ordered(true)
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 200} {
		for range 2 {
			d := types[chance.IntN(len(types))]
			rows := 1 + chance.IntN(300/(n+1)+1)
			down := chance.IntN(2) == 0
			g.SameAsCPU(op.Sort, op.Sorting{Axis: 1, Descending: down}, gridtest.Noise(chance, d, rows, n))
			g.SameAsCPU(op.Sort, op.Sorting{Axis: 0, Descending: !down}, gridtest.Noise(chance, d, n, rows))
			d = all[chance.IntN(len(all))]
			g.SameAsCPU(op.TopK, op.Selection{Axis: 1, Count: chance.IntN(n + 1), Smallest: down}, gridtest.Noise(chance, d, 2, n, rows))
			if n > 0 {
				at := []int{n - 1, chance.IntN(n), 0, chance.IntN(n)}
				g.SameAsCPU(op.KthValue, op.Ranks{Axis: 1, At: at[:chance.IntN(5)]}, gridtest.Noise(chance, d, 2, n, rows))
			}
		}
	}
	for _, d := range all {
		if !d.Half() {
			g.SameAsCPU(op.Sort, op.Sorting{Axis: 1, Descending: true}, gridtest.Noise(chance, d, 3, 40))
		}
		g.SameAsCPU(op.TopK, op.Selection{Axis: 1, Count: 7}, gridtest.Noise(chance, d, 3, 40))
	}
}

// Rows of several tiles are merged, or their first records are sorted again.
func TestLongRows(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 1))
	g := gridtest.New(t)
	const n = sorting.TileSize
	g.SameAsCPU(op.Sort, op.Sorting{Axis: 1}, gridtest.Noise(chance, array.Float32, 1, n))
	g.SameAsCPU(op.Sort, op.Sorting{Axis: 1}, gridtest.Noise(chance, array.Float32, 2, n+1))
	g.SameAsCPU(op.Sort, op.Sorting{Axis: 0, Descending: true}, gridtest.Noise(chance, array.Float64, 2*n+7, 1))
	g.SameAsCPU(op.Sort, op.Sorting{Axis: 0}, gridtest.Noise(chance, array.Uint8, 4*n+7, 1))
	g.SameAsCPU(op.KthValue, op.Ranks{Axis: 1, At: []int{n, 5}}, gridtest.Noise(chance, array.BFloat16, 1, n+9, 1))
	g.SameAsCPU(op.TopK, op.Selection{Axis: 0, Count: n/2 + 1}, gridtest.Noise(chance, array.Int64, n+9, 2))
	g.SameAsCPU(op.TopK, op.Selection{Axis: 1, Count: n / 2}, gridtest.Noise(chance, array.Float32, 1, 3*n+1))
	g.SameAsCPU(op.TopK, op.Selection{Axis: 0, Count: 3, Smallest: true}, gridtest.Noise(chance, array.Float64, n+9, 2))
}

// Sorts of more rows than a launch counts are several launches.
func TestSplitSorts(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 1))
	g := gridtest.New(t)
	for _, limit := range []int{1, 3, 8} {
		defer sorting.SetLimit(limit)()
		x := gridtest.Noise(chance, array.Float32, 3, 7, 1+chance.IntN(9))
		g.SameAsCPU(op.Sort, op.Sorting{Axis: 1}, x)
		g.SameAsCPU(op.KthValue, op.Ranks{Axis: 1, At: []int{3, 4}}, x)
		rows := gridtest.NewArray(array.Int32, 4, 9)
		for i := range gridtest.Elements[int32](rows) {
			gridtest.Elements[int32](rows)[i] = int32(i)
		}
		g.SameAsCPU(op.SearchSorted, op.Search{}, rows, gridtest.Noise(chance, array.Int32, 4, 5))
	}
}

// Places in sorted rows, of elements that are there and others, for one row and for several.
func TestSearches(t *testing.T) {
	chance := rand.New(rand.NewPCG(4, 1))
	g := gridtest.New(t)
	for _, d := range ordered(true) {
		for _, n := range []int{0, 1, 2, 31, 32, 33, 100} {
			for _, rows := range []int{1, 3} {
				shape := []int{rows, n}
				sorted := gridtest.SortedRows(gridtest.Noise(chance, d, shape...))
				x := gridtest.Noise(chance, d, rows, 20)
				copy(x.Bytes, sorted.Bytes[:min(len(x.Bytes)/2, len(sorted.Bytes))])
				if rows == 1 && chance.IntN(2) == 0 {
					sorted.Shape = []int{n}
					x.Shape = []int{4, 5}
				}
				g.SameAsCPU(op.SearchSorted, op.Search{Right: chance.IntN(2) == 0}, sorted, x)
			}
		}
	}
}

// Runs of equal elements, all NaN being equal, and of both zeros.
func TestRuns(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 1))
	g := gridtest.New(t)
	for _, d := range ordered(true) {
		for _, n := range []int{0, 1, 2, 31, 300} {
			sorted := gridtest.SortedRows(gridtest.Noise(chance, d, 1, n))
			sorted.Shape = []int{n}
			places := gridtest.NewArray(array.Int64, n)
			for i, p := range chance.Perm(n) {
				gridtest.Elements[int64](places)[i] = int64(p)
			}
			g.SameAsCPU(op.Runs, nil, sorted, places)
		}
	}
}

// Places outside of the row are refused, by the first position.
func TestRunsRefusePlaces(t *testing.T) {
	g := gridtest.New(t)
	x := gridtest.NewArray(array.Float32, 4)
	places := gridtest.NewArray(array.Int64, 4)
	copy(gridtest.Elements[int64](places), []int64{2, 4, -1, 0})
	_, err := g.Call(op.Runs, nil, g.Dense(x.DType, x.Bytes, 4), g.Dense(places.DType, places.Bytes, 4))
	if err == nil || err.Error() != "runs: places: 4 at position 1 is out of range for size 4" {
		t.Errorf("error %v", err)
	}
}

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, kernels()) }

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, kernels()) }

// kernels returns all kernels of the package.
func kernels() (list []*grid.Kernel) {
	for _, v := range sorting.Variants() {
		list = append(list, sorting.Lower(v))
	}
	return list
}
