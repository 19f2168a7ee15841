package scan_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/scan"
	"weft/internal/ir"
	"weft/internal/op"
)

var (
	floats = []array.DType{array.Float32, array.Float64}
	sums   = append(slices.Clone(floats), array.Int64, array.Uint64)
)

// check compares a scan with the CPU's.
func check(g *gridtest.GPU, chance *rand.Rand, name string, d array.DType, axis int, reverse bool, shape ...int) {
	args := []gridtest.Array{gridtest.Noise(chance, d, shape...)}
	var attrs ir.Attrs = op.Axis(axis)
	switch name {
	case "scan_sum":
		attrs = op.Scan{Axis: axis, Reverse: reverse}
	case "recurrence":
		attrs = op.Scan{Axis: axis, Reverse: reverse}
		args = append(args, gridtest.Noise(chance, d, shape...))
	}
	g.SameAsCPU(op.Lookup(name), attrs, args...)
}

// of has the types of each scan.
func of(name string) []array.DType {
	switch name {
	case "scan_sum", "scan_prod":
		return sums
	case "recurrence":
		return floats
	}
	return slices.DeleteFunc(array.DTypes(), func(d array.DType) bool { return d.Category() > array.CatFloat })
}

var names = []string{"scan_sum", "scan_prod", "recurrence", "cummax", "cummin"}

// Rows and columns around the sizes of runs, blocks, groups and tiles, of each type.
func TestSizesOfScans(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	g := gridtest.New(t)
	for _, name := range names {
		types := of(name)
		for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300} {
			chance.Shuffle(len(types), func(i, k int) { types[i], types[k] = types[k], types[i] })
			for _, d := range types[:min(len(types), 2)] {
				rows := 1 + chance.IntN(4)
				reverse := chance.IntN(2) == 0
				check(g, chance, name, d, 1, reverse, rows, n)
				check(g, chance, name, d, 0, !reverse, n, rows)
			}
		}
		for _, d := range types {
			check(g, chance, name, d, 1, false, 2, 40)
			check(g, chance, name, d, 1, true, 40, 3)
			check(g, chance, name, d, 0, true, 0, 3)
			check(g, chance, name, d, 0, true, 3, 0)
			check(g, chance, name, d, 1, true, 3, 5, 37)
		}
	}
}

// Sequences of several tiles and groups of units, whose totals are carried on. A carry that is added in
// another order shows.
func TestLongScans(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 1))
	g := gridtest.New(t)
	for _, name := range []string{"scan_sum", "scan_prod", "cummax", "cummin"} {
		for _, d := range of(name) {
			if d.Float() && name == "scan_prod" || name[0] == 'c' && d != array.Float32 && d != array.Int64 && d != array.BFloat16 && d != array.Uint8 {
				continue
			}
			for _, reverse := range []bool{false, true} {
				check(g, chance, name, d, 1, reverse, 2, 4096+chance.IntN(3))
				check(g, chance, name, d, 1, reverse, 1, 4*(1030+chance.IntN(3)))
				check(g, chance, name, d, 0, reverse, 600+chance.IntN(300), 2)
				if name != "scan_sum" {
					break
				}
			}
		}
	}
	check(g, chance, "scan_sum", array.Float64, 1, false, 1, 17*2048+9)
	check(g, chance, "scan_sum", array.Float64, 0, true, 17*128+9, 3)
	check(g, chance, "scan_sum", array.Float64, 1, false, 1, 257*128+9, 1) // a column alone
	check(g, chance, "cummax", array.Float64, 0, false, 17*128+9, 3)
}

// Scans of more columns than a launch counts are several launches.
func TestSplitScans(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 1))
	g := gridtest.New(t)
	for _, limit := range []int{1, 7, 40} {
		defer scan.SetLimit(limit)()
		for _, name := range names {
			check(g, chance, name, array.Float64, 1, name[0] == 's', 2, 131+chance.IntN(20), 1+chance.IntN(9))
		}
	}
}

// NVIDIA's assembler spills no registers. Types of one size have like kernels: the test takes some,
// all if WEFT_PTXAS_ALL is set.
func TestPtxasSpillsNothing(t *testing.T) {
	some := []array.DType{array.Float32, array.Float64, array.Int64, array.Uint32, array.Uint64, array.Float16, array.Int8}
	var kernels []*grid.Kernel
	for _, v := range scan.Variants() {
		if os.Getenv("WEFT_PTXAS_ALL") != "" || slices.Contains(some, v.DType) && v.Op != scan.Min {
			kernels = append(kernels, scan.Lower(v))
		}
	}
	gridtest.SpillsNothing(t, kernels)
}

func TestNamesTellKernelsApart(t *testing.T) {
	var kernels []*grid.Kernel
	for _, v := range scan.Variants() {
		kernels = append(kernels, scan.Lower(v))
	}
	gridtest.NamesTellApart(t, kernels)
}
