package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft"
	"weft/kernel"
)

// fill returns n numbers from -1 to 1.
func fill(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	return x
}

var lengths = []int{1, 2, 3, 4, 5, 17, 64, 100, 1000, 4097}

// Combinations are in order: one that does not commute gives what a loop gives.
func TestReduceKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := kernels.Func("Affine")
	for _, n := range lengths {
		for _, behind := range []int{1, 3, 40} {
			a, b := fill(r, 2*n*behind), fill(r, 2*n*behind)
			got := f.ReduceAll(weft.FromSlice(a, 2, n, behind), weft.FromSlice(b, 2, n, behind), kernel.ReduceOpts{Axes: []int{1}})
			ga, gb := weft.Data[float64](got[0]), weft.Data[float64](got[1])
			for i := range 2 {
				for j := range behind {
					wa, wb := 1.0, 0.0
					for k := range n {
						at := (i*n+k)*behind + j
						wa, wb = Affine(wa, wb, a[at], b[at])
					}
					if d := math.Abs(ga[i*behind+j]-wa) + math.Abs(gb[i*behind+j]-wb); d > 1e-12 {
						t.Fatalf("n %d behind %d: %v %v, want %v %v", n, behind, ga[i*behind+j], gb[i*behind+j], wa, wb)
					}
				}
			}
		}
	}
	for _, n := range lengths {
		x := weft.Arange[int](n).To(weft.Float32)
		if got := kernels.Func("Last").Reduce(x).Item(); got != float64(n-1) {
			t.Errorf("last of %d: %v", n, got)
		}
	}
}

// Mean and variance in one pass.
func TestMapReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {70, 33}, {4, 10000}, {5000, 20}} {
		for axis := range 2 {
			for _, any := range []bool{false, true} {
				x := fill(r, shape[0]*shape[1])
				got := kernel.MapReduce(kernels.Func("One"), kernels.Func("Moments"), weft.FromSlice(x, shape[0], shape[1]), kernel.ReduceOpts{Axes: []int{axis}, Commutative: any, Keep: true})
				n := shape[axis]
				mean, m2 := weft.Data[float64](got[1]), weft.Data[float64](got[2])
				if want := fmt.Sprint([]int{1, shape[1]}); axis == 0 && fmt.Sprint(got[0].Shape()) != want {
					t.Fatalf("shape %v, want %s", got[0].Shape(), want)
				}
				for j := range mean {
					at := func(k int) float64 {
						if axis == 0 {
							return x[k*shape[1]+j]
						}
						return x[j*shape[1]+k]
					}
					var sum, squares float64
					for k := range n {
						sum += at(k)
					}
					for k := range n {
						d := at(k) - sum/float64(n)
						squares += d * d
					}
					if math.Abs(mean[j]-sum/float64(n)) > 1e-12 || math.Abs(m2[j]-squares) > 1e-9 {
						t.Fatalf("%v axis %d: mean %v, want %v; squares %v, want %v", shape, axis, mean[j], sum/float64(n), m2[j], squares)
					}
				}
			}
		}
	}
}

func TestScanKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	f := kernels.Func("Affine")
	for _, n := range append(lengths, 0) {
		for _, reverse := range []bool{false, true} {
			const behind = 3
			a, b := fill(r, 2*n*behind), fill(r, 2*n*behind)
			got := f.ScanAll(weft.FromSlice(a, 2, n, behind), weft.FromSlice(b, 2, n, behind), kernel.ScanOpts{Axis: 1, Reverse: reverse})
			ga, gb := weft.Data[float64](got[0]), weft.Data[float64](got[1])
			for i := range 2 {
				for j := range behind {
					wa, wb := 1.0, 0.0
					for k := range n {
						if reverse {
							k = n - 1 - k
						}
						at := (i*n+k)*behind + j
						wa, wb = Affine(wa, wb, a[at], b[at])
						if d := math.Abs(ga[at]-wa) + math.Abs(gb[at]-wb); d > 1e-12 {
							t.Fatalf("n %d reverse %v at %d: %v %v, want %v %v", n, reverse, k, ga[at], gb[at], wa, wb)
						}
					}
				}
			}
		}
	}
	x := weft.Arange[int](5)
	if got, want := fmt.Sprint(weft.Data[int64](kernels.Func("Add").Scan(x))), "[0 1 3 6 10]"; got != want {
		t.Errorf("running sum %s, want %s", got, want)
	}
}

// scanTree replaces a row of accumulators by its running results, by the tree that
// [kernel.Func.Scan] states.
func scanTree(row [][3]float64, combine func(x, y [3]float64) [3]float64) {
	m := len(row) / 4
	groups := make([][3]float64, m)
	for i := range row[:4*m] {
		if i%4 > 0 {
			row[i] = combine(row[i-1], row[i])
		}
		groups[i/4] = row[i]
	}
	if m > 0 {
		scanTree(groups, combine)
	}
	for i := range row {
		switch {
		case i >= 4*m:
			if i > 0 {
				row[i] = combine(row[i-1], row[i])
			}
		case i%4 == 3:
			row[i] = groups[i/4]
		case i >= 4:
			row[i] = combine(groups[i/4-1], row[i])
		}
	}
}

// Rows of any length hold the bits of that tree, of one to three accumulators of any types.
func TestScanIsATree(t *testing.T) {
	s := kernel.MustParse(`package k
func Product(x, y float32) float32 { return x * y }
func Affine(a, b, c, d float64) (float64, float64) { return a * c, b*c + d }
func Three(n int64, m float32, q float64, k int64, l float32, r float64) (int64, float32, float64) { return n + k, m * l, q*float64(l) + r }
`)
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range []struct {
		name    string
		combine func(x, y [3]float64) [3]float64
		types   []weft.DType
	}{
		{"Product", func(x, y [3]float64) [3]float64 { return [3]float64{float64(float32(x[0]) * float32(y[0]))} }, []weft.DType{weft.Float32}},
		{"Affine", func(x, y [3]float64) [3]float64 { return [3]float64{x[0] * y[0], float64(x[1]*y[0]) + y[1]} }, []weft.DType{weft.Float64, weft.Float64}},
		{"Three", func(x, y [3]float64) [3]float64 {
			return [3]float64{x[0] + y[0], float64(float32(x[1]) * float32(y[1])), float64(x[2]*y[1]) + y[2]}
		}, []weft.DType{weft.Int64, weft.Float32, weft.Float64}},
	} {
		f := s.Func(c.name)
		lengths := []int{15, 16, 17, 67, 100, 255, 4097, 16384, 65535, 65536, 7*16384 + 3*4096 + 77, 5*65536 + 5}
		if c.name == "Product" && !testing.Short() {
			lengths = append(lengths, 5<<20+3) // written past the caches
		}
		for _, n := range lengths {
			rows := 3
			if n > 1<<20 {
				rows = 1
			}
			x := make([][][3]float64, rows)
			columns := [3][]float64{}
			for i := range x {
				x[i] = make([][3]float64, n)
				for k := range x[i] {
					x[i][k] = [3]float64{1 + r.NormFloat64()/1000, 1 + r.NormFloat64()/1000, r.NormFloat64()}
					if c.name == "Three" {
						x[i][k][0] = float64(r.IntN(9))
					}
					for j, d := range c.types {
						if d == weft.Float32 {
							x[i][k][j] = float64(float32(x[i][k][j]))
						}
						columns[j] = append(columns[j], x[i][k][j])
					}
				}
			}
			var args []any
			for j, d := range c.types {
				args = append(args, weft.FromSlice(columns[j], rows, n).To(d))
			}
			got := f.ScanAll(append(args, kernel.ScanOpts{Axis: 1})...)
			for i := range x {
				scanTree(x[i], c.combine)
			}
			for j, y := range got {
				for at, g := range weft.Data[float64](y.To(weft.Float64)) {
					if want := x[at/n][at%n][j]; g != want {
						t.Fatalf("%s, result %d of rows of %d, row %d, element %d: %v, want %v", c.name, j, n, at/n, at%n, g, want)
					}
				}
			}
		}
	}
}

// A combination that is a plain sum of floats is added in blocks of 64 bytes along the last
// axis, by the tree that [kernel.Func.Scan] states; in order along others, and where a row is
// shorter. One that is more than a sum is not.
func TestScanOfSums(t *testing.T) {
	t.Run("float32", testScanOfSums[float32])
	t.Run("float64", testScanOfSums[float64])
	x := fill(rand.New(rand.NewPCG(11, 12)), 2)
	if got, want := weft.Data[float64](kernels.Func("SumTwice").Scan(weft.FromSlice(x)))[1], x[0]+2*x[1]; got != want {
		t.Errorf("more than a sum: %v, want %v", got, want)
	}
}

func testScanOfSums[T float32 | float64](t *testing.T) {
	block := 64 / int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(13, 14))
	for _, behind := range []int{1, 3} {
		for _, n := range []int{1, block - 1, block, block + 1, 3*block - 1, 1000, 4111, 9000} {
			for _, reverse := range []bool{false, true} {
				x := make([]T, 2*n*behind)
				for i := range x {
					x[i] = T(r.NormFloat64())
				}
				got := weft.Data[T](kernels.Func("Sum").Scan(weft.FromSlice(x, 2, n, behind), kernel.ScanOpts{Axis: 1, Reverse: reverse}))
				strided := weft.FromSlice(x, 2, n, behind).Transpose(0, 1).Clone().Transpose(0, 1)
				if again := weft.Data[T](kernels.Func("Sum").Scan(strided, kernel.ScanOpts{Axis: 1, Reverse: reverse}).Clone()); !slices.Equal(again, got) {
					t.Fatalf("%d of %d: another layout has other bits", n, behind)
				}
				for line := range 2 * behind {
					at := func(k int) int {
						if reverse {
							k = n - 1 - k
						}
						return (line/behind*n+k)*behind + line%behind
					}
					row := make([]T, n)
					for k := range row {
						row[k] = x[at(k)]
					}
					sumBlocks(row, block)
					for k, want := range row {
						if got[at(k)] != want {
							t.Fatalf("%d of %d, reverse %v, at %d: %v, want %v", n, behind, reverse, k, got[at(k)], want)
						}
					}
				}
			}
		}
	}
}

// sumBlocks sets a row to its running sums in blocks, and groups of 16 of them.
func sumBlocks[T float32 | float64](row []T, block int) {
	var above [8]T // by level: what goes before the group
	var sums [8]T  // of the parts of the group
	for begin := 0; begin < len(row); begin += block {
		b := row[begin:min(begin+block, len(row))]
		for half := 1; half < block; half *= 2 {
			for i := range b {
				if i&half != 0 {
					b[i] = b[i&^(2*half-1)|(half-1)] + b[i]
				}
			}
		}
		s, before := b[len(b)-1], above[0]+sums[0]
		for i := range b {
			b[i] = before + b[i]
		}
		k, units := 0, begin/block+1
		for ; ; k, units = k+1, units/16 {
			sums[k] += s
			if units%16 != 0 {
				break
			}
			s, sums[k] = sums[k], 0
		}
		for ; k > 0; k-- {
			above[k-1] = above[k] + sums[k]
		}
	}
}

// What has no axes is one element.
func TestMapReduceOfOne(t *testing.T) {
	x := weft.ScalarOf(weft.Float64, 2.5)
	for _, args := range [][]any{{x}, {2.5}, {x, kernel.ReduceOpts{Axes: []int{}, Keep: true}}} {
		got := kernel.MapReduce(kernels.Func("One"), kernels.Func("Moments"), args...)
		if got[0].Rank() != 0 || got[0].Item() != 1 || got[1].Item() != 2.5 || got[2].Item() != 0 {
			t.Errorf("%v: %v", args, got)
		}
	}
}

// Rows without elements have results without elements, however many there are.
func TestReduceEmptyRows(t *testing.T) {
	for _, n := range []int{1, 40, 1275} {
		x := weft.ZerosOf(weft.Float64, n, 0).RequireGrad()
		got := kernel.MapReduce(kernels.Func("One"), kernels.Func("Moments"), x, kernel.ReduceOpts{Axes: []int{0}, Commutative: true})
		if fmt.Sprint(got[1].Shape()) != "[0]" {
			t.Errorf("%d rows: shape %v", n, got[1].Shape())
		}
	}
}
