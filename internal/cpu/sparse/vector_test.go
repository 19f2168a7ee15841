package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

// TestVectorProductsOfGroups multiplies matrices whose rows fill groups of a kernel, exceed them, are cut into pieces or have no
// entries. Arrays lie beside inaccessible pages. Sums of small integers are exact, so a plain loop is the reference. One
// element of x is infinite: it must reach the rows that have its column, and no other.
func TestVectorProductsOfGroups(t *testing.T) {
	cputest.EveryGuard(t, testGroups[float32], testGroups[float64])
}

// groupLengths are entries of rows: one value for all rows, or a list.
var groupLengths = [][]int{
	{0}, {1}, {3}, {7}, {8}, {9}, {10}, {15}, {16}, {17}, {29}, {30}, {31}, {33}, {groupRoom - 1}, {groupRoom}, {groupRoom + 1}, {3*groupRoom + 5},
	{0, 0, 5, 0, 100, 100, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 600, 1, 240, 241, 2},
}

func testGroups[T float32 | float64](t *testing.T, place func(int) (*guard.Buffer, error)) {
	const cols = 37
	d := array.Float32
	if unsafe.Sizeof(T(0)) == 8 {
		d = array.Float64
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, lengths := range groupLengths {
		for _, rows := range []int{1, 5, groupRows, groupRows + 3} {
			rows = max(rows, len(lengths))
			off := []int64{0}
			for i := range rows {
				off = append(off, off[i]+int64(lengths[i%len(lengths)]))
			}
			entries := int(off[rows])
			values, idx := make([]T, entries), make([]int32, entries)
			x, want := make([]T, cols), make([]T, rows)
			for i := range x {
				x[i] = T(r.IntN(9) - 4)
			}
			x[cols-1] = T(math.Inf(1))
			for i := range rows {
				last := cols - 1
				if i%3 == 2 {
					last = cols
				}
				for k := off[i]; k < off[i+1]; k++ {
					values[k], idx[k] = T(1+r.IntN(9)), int32(r.IntN(last))
					want[i] += values[k] * x[idx[k]]
				}
			}
			j := &Job{ISA: cputest.UnderTest, Kind: Rows, Offsets: off, Width: 1, Bound: cols, Values: guarded(t, d, values, place), Indices: guarded(t, array.Int32, idx, place),
				X: guarded(t, d, x, place), Y: guarded(t, d, make([]T, rows), place)}
			got := unsafe.Slice((*T)(j.Y.Store.Host()), rows)
			if !j.Func()(0, rows) || !slices.Equal(got, want) {
				t.Fatalf("%s, %d rows of %d entries: %v, want %v", d, rows, lengths, got, want)
			}
			if entries > 0 {
				unsafe.Slice((*int32)(j.Indices.Store.Host()), entries)[r.IntN(entries)] = []int32{-1, cols, math.MaxInt32}[r.IntN(3)]
				if j.Func()(0, rows) || j.Check("x") == nil {
					t.Fatalf("%s, %d rows of %d entries: takes an index out of range", d, rows, lengths)
				}
			}
		}
	}
}

// guarded is a contiguous vector beside an inaccessible page.
func guarded[T any](t *testing.T, d array.DType, x []T, place func(int) (*guard.Buffer, error)) *array.View {
	b, err := place(len(x) * d.Size())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	copy(unsafe.Slice((*T)(b.Ptr()), len(x)), x)
	return &array.View{Store: array.NewStorage(b.Ptr(), b.Len(), b), DType: d, Shape: []int{len(x)}, Strides: []int{1}}
}

// TestVectorProductWithoutColumns has entries and no element of x that their indices could name.
func TestVectorProductWithoutColumns(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		d := array.Float32
		j := &Job{ISA: isa, Kind: Rows, Offsets: []int64{0, 1}, Width: 1, Values: view(d, []float32{1}, 1), Indices: view(array.Int32, []int32{0}, 1),
			X: view(d, []float32(nil), 0), Y: view(d, make([]float32, 1), 1)}
		if j.Func()(0, 1) {
			t.Error("index 0 of no columns is taken")
		}
	})
}
