package scatter_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/scatter"
	"weft/internal/ir"
	"weft/internal/op"
)

// An operation is one that writes at indices.
type operation struct {
	name  string
	rows  bool // sub-arrays at a vector of indices
	based bool // into its third argument
	alone bool
}

var operations = []operation{{name: "index_add", rows: true}, {name: "index_add", rows: true, based: true}, {name: "index_copy", rows: true, based: true},
	{name: "scatter_sum"}, {name: "scatter", based: true}, {name: "scatter_min", based: true}, {name: "scatter_max", based: true},
	{name: "scatter_min", based: true, alone: true}, {name: "scatter_max", based: true, alone: true}}

var dtypes = []array.DType{array.Float32, array.Float64, array.Bool, array.Uint8, array.Int8, array.Uint16, array.Int16, array.Int32, array.Uint32, array.Int64, array.Uint64}

// moved are types that only copies have.
var moved = []array.DType{array.Float16, array.Complex64, array.Complex128}

// A testCase is an application.
type testCase struct {
	operation
	dtype, index array.DType
	out, x       []int // shapes
	axis         int
	bad          []int // positions of indices out of range
}

func (c testCase) String() string {
	return fmt.Sprintf("%s %s at %s, %v to %v along %d, alone %v", c.name, c.dtype, c.index, c.x, c.out, c.axis, c.alone)
}

// noise returns elements whose sums depend on the order, and special ones.
func noise(chance *rand.Rand, d array.DType, n int) []byte {
	b := make([]byte, 0, n*d.Size()+16)
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN()}
	for range n {
		f := chance.NormFloat64() * math.Ldexp(1, chance.IntN(12))
		if chance.IntN(3) == 0 {
			f = special[chance.IntN(2+chance.IntN(50)/48*2)]
		}
		u := chance.Uint64()
		switch d {
		case array.Float32:
			u = uint64(math.Float32bits(float32(f)))
		case array.Float64:
			u = math.Float64bits(f)
		case array.Bool:
			u &= 1
		}
		b = binary.LittleEndian.AppendUint64(b, u)
		b = binary.LittleEndian.AppendUint64(b, chance.Uint64())[:len(b)-8+d.Size()]
	}
	return b
}

// combine returns what becomes of a target by one source more, as Go computes.
func (c testCase) combine(target, source []byte) {
	size := len(target)
	var a, b [8]byte
	copy(a[:], target)
	copy(b[:], source)
	x, y := binary.LittleEndian.Uint64(a[:]), binary.LittleEndian.Uint64(b[:])
	put := func(u uint64) {
		binary.LittleEndian.PutUint64(a[:], u)
		copy(target, a[:size])
	}
	shift := 64 - 8*size
	switch {
	case c.name == "index_copy" || c.name == "scatter":
		copy(target, source)
	case c.dtype == array.Float32:
		put(uint64(math.Float32bits(of(c.name, math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))))))
	case c.dtype == array.Float64:
		put(math.Float64bits(of(c.name, math.Float64frombits(x), math.Float64frombits(y))))
	case c.dtype == array.Bool && (c.name == "index_add" || c.name == "scatter_sum"):
		put(x | y)
	case c.dtype.Unsigned() || c.dtype == array.Bool:
		put(of(c.name, x, y))
	default:
		put(uint64(of(c.name, int64(x<<shift)>>shift, int64(y<<shift)>>shift)))
	}
}

func of[T uint64 | int64 | float32 | float64](name string, x, y T) T {
	switch name {
	case "scatter_min":
		return min(x, y)
	case "scatter_max":
		return max(x, y)
	}
	return x + y
}

// reference returns the result, computed source by source.
func (c testCase) reference(x, base []byte, at []int64) []byte {
	size, n := c.dtype.Size(), array.Size(c.out)
	out := make([]byte, n*size)
	copy(out, base)
	steps, seen := array.RowMajor(c.out), make([]bool, n)
	for i := range array.Size(c.x) {
		to, rest, along := 0, i, 0
		for a := len(c.x) - 1; a >= 0; a-- {
			if k := rest % c.x[a]; a == c.axis {
				along = k
			} else {
				to += k * steps[a]
			}
			rest /= c.x[a]
		}
		k := at[along]
		if !c.rows {
			k = at[i]
		}
		if k < 0 {
			k += int64(c.out[c.axis])
		}
		to += int(k) * steps[c.axis]
		target, source := out[to*size:][:size], x[i*size:][:size]
		if c.alone && !seen[to] {
			copy(target, source)
		}
		seen[to] = true
		c.combine(target, source)
	}
	return out
}

// same reports whether two elements have the same bits, or are NaN.
func (c testCase) same(x, y []byte) bool {
	if string(x) == string(y) {
		return true
	}
	nan := func(b []byte) bool {
		switch c.dtype {
		case array.Float32:
			return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		case array.Float64:
			return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		return false
	}
	return nan(x) && nan(y)
}

// run applies a case on the GPU, and compares it with the reference unless indices are bad.
func (c testCase) run(t *testing.T, g *gridtest.GPU, chance *rand.Rand) error {
	t.Helper()
	size, shape := c.out[c.axis], c.x
	if c.rows {
		shape = c.x[c.axis : c.axis+1]
	}
	at := make([]int64, array.Size(shape))
	narrow := 1 + chance.IntN(max(size, 1)) // targets, few of them at times
	often := 1 + chance.IntN(4)             // one in often sources has the same target
	for i := range at {
		if at[i] = int64(chance.IntN(narrow)); chance.IntN(often) == 0 {
			at[i] = int64(narrow - 1)
		}
		if size > 0 && chance.IntN(3) == 0 {
			at[i] -= int64(size)
		}
	}
	for i, p := range c.bad {
		at[p] = []int64{int64(size), -int64(size) - 1, math.MaxInt32, math.MinInt32}[i%4]
	}
	var b []byte
	for _, k := range at {
		if c.index == array.Int32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(k))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(k))
		}
	}
	x, base := noise(chance, c.dtype, array.Size(c.x)), []byte(nil)
	args := []array.View{g.Dense(c.dtype, x, c.x...), g.Dense(c.index, b, shape...)}
	if c.based {
		base = noise(chance, c.dtype, array.Size(c.out))
		args = append(args, g.Dense(c.dtype, base, c.out...))
	}
	var attrs ir.Attrs
	switch c.name {
	case "index_add", "scatter_sum":
		attrs = op.Target{Axis: c.axis, Shape: c.out}
	case "index_copy", "scatter":
		attrs = op.Axis(c.axis)
	default:
		attrs = op.Extreme{Axis: c.axis, Alone: c.alone}
	}
	got, err := g.Call(op.Lookup(c.name), attrs, args...)
	if err != nil || len(c.bad) > 0 {
		return err
	}
	want, es := c.reference(x, base, at), c.dtype.Size()
	for i := 0; i < len(want); i += es {
		if !c.same(got[i:][:es], want[i:][:es]) {
			t.Fatalf("%v: element %d is %x, want %x", c, i/es, got[i:][:es], want[i:][:es])
		}
	}
	return nil
}

var sizes = []int{1, 2, 3, 4, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129}

// randomCase returns a case of at most a number of sources.
func randomCase(chance *rand.Rand, number, most int) testCase {
	c := testCase{operation: operations[number%len(operations)], dtype: dtypes[chance.IntN(len(dtypes))], index: []array.DType{array.Int32, array.Int64}[chance.IntN(2)]}
	if chance.IntN(2) == 0 {
		c.dtype = dtypes[chance.IntN(2)]
	}
	if (c.name == "scatter" || c.name == "index_copy") && chance.IntN(2) == 0 {
		c.dtype = moved[chance.IntN(len(moved))]
	}
	c.x = make([]int, 1+chance.IntN(4))
	left := most
	for _, a := range chance.Perm(len(c.x)) {
		c.x[a] = max(1, min(sizes[chance.IntN(len(sizes))], left))
		left /= c.x[a]
	}
	c.axis = chance.IntN(len(c.x))
	c.out = append([]int(nil), c.x...)
	for a := range c.out {
		if !c.rows && chance.IntN(3) == 0 {
			c.out[a] += chance.IntN(3)
		}
	}
	c.out[c.axis] = 1 + chance.IntN(40)
	return c
}

// usual are the limits of the package.
var usual = scatter.Limits{MaxBox: 1 << 30, ShortLine: 128, UnitLines: 512, MaxNumber: 1 << 30, MostBlocks: 1 << 11, LeastChunk: scatter.Tile, SmallSort: scatter.Tile}

// sorting are limits by which all is sorted.
var sorting = scatter.Limits{MaxBox: 1 << 30, UnitLines: 1 << 30, MaxNumber: 1 << 30, MostBlocks: 1 << 11, LeastChunk: scatter.Tile, SmallSort: scatter.Tile}

func testRandom(t *testing.T, seed uint64, n, most int, limits func(chance *rand.Rand) scatter.Limits) {
	t.Helper()
	chance := rand.New(rand.NewPCG(8, seed))
	g := gridtest.New(t)
	for i := range n {
		back := scatter.SetLimits(limits(chance))
		if err := randomCase(chance, i, most).run(t, g, chance); err != nil {
			t.Fatal(err)
		}
		back()
	}
}

// Threads walk lines.
func TestScattersWalk(t *testing.T) {
	testRandom(t, 1, 150, 3000, func(*rand.Rand) scatter.Limits { return usual })
}

// Pairs are sorted, by one block or by several launches, also pairs of numbers of 8 bytes.
func TestScattersSort(t *testing.T) {
	testRandom(t, 2, 60, 1500, func(chance *rand.Rand) scatter.Limits {
		l := sorting
		l.MaxNumber >>= 30 * chance.IntN(2)
		l.SmallSort *= chance.IntN(2)
		return l
	})
}

// Beyond the limits of a launch there are several.
func TestScattersBeyondOneLaunch(t *testing.T) {
	testRandom(t, 3, 60, 100, func(chance *rand.Rand) scatter.Limits {
		l := []scatter.Limits{usual, sorting}[chance.IntN(2)]
		l.MaxBox = 5 + chance.IntN(30)
		return l
	})
}

// A sort of several blocks, each with one tile or several, by all digits of the targets.
func TestScattersSortInBlocks(t *testing.T) {
	chance := rand.New(rand.NewPCG(8, 4))
	g := gridtest.New(t)
	sums, copies := operations[1], operations[4]
	for _, c := range []struct {
		operation
		sources, targets, columns, blocks, chunk int
	}{
		{sums, 4096, 31, 1, 1 << 11, scatter.Tile}, {copies, 4095, 5000, 1, 1 << 11, scatter.Tile}, {sums, 4097, 32, 4, 1 << 11, scatter.Tile},
		{copies, 8200, 1023, 1, 2, scatter.Tile}, {sums, 5000, 1024, 1, 3, 1024}, {copies, 4500, 40000, 1, 1, scatter.Tile}, {sums, 4200, 200, 1, 1 << 11, 32},
	} {
		l := sorting
		l.MostBlocks, l.LeastChunk = c.blocks, c.chunk
		back := scatter.SetLimits(l)
		x := testCase{operation: c.operation, dtype: array.Float32, index: array.Int64, x: []int{c.sources, c.columns}, out: []int{c.targets, c.columns}}
		if err := x.run(t, g, chance); err != nil {
			t.Fatal(err)
		}
		back()
	}
}

// The first of several indices out of range is told, whatever the way.
func TestScattersTellFirstBadIndex(t *testing.T) {
	chance := rand.New(rand.NewPCG(8, 5))
	g := gridtest.New(t)
	for i := range 6 * len(operations) {
		l := []scatter.Limits{usual, sorting}[i%2]
		if i%5 == 0 {
			l.MaxBox = 20
		}
		back := scatter.SetLimits(l)
		c := randomCase(chance, i, 400)
		n := array.Size(c.x)
		if c.rows {
			n = c.x[c.axis]
		}
		first := chance.IntN(n)
		c.bad = []int{first}
		for range 3 {
			c.bad = append(c.bad, first+chance.IntN(n-first))
		}
		c.bad[1], c.bad[2] = max(c.bad[1], first), max(c.bad[2], first)
		err := c.run(t, g, chance)
		var e *array.Error
		at := fmt.Sprintf("at position %d is out of range for size %d", first, c.out[c.axis])
		name := map[string]string{"scatter_sum": "scatter_add", "scatter_min": "scatter_reduce", "scatter_max": "scatter_reduce"}[c.name]
		if name == "" {
			name = c.name
		}
		if !errors.As(err, &e) || e.Op != name || !strings.Contains(e.Msg, at) {
			t.Fatalf("%v, first bad index at %d: error %v", c, first, err)
		}
		back()
	}
}

// Arrays without elements, of sources or targets, and single elements.
func TestScattersOfEmptyArrays(t *testing.T) {
	chance := rand.New(rand.NewPCG(8, 6))
	g := gridtest.New(t)
	for _, o := range operations {
		for _, c := range []struct {
			x, out []int
			axis   int
			bad    bool
		}{{[]int{0, 3}, []int{4, 3}, 0, false}, {[]int{4, 0}, []int{4, 0}, 0, o.rows}, {[]int{2, 3}, []int{0, 3}, 0, true}, {[]int{1}, []int{1}, 0, false}} {
			x := testCase{operation: o, dtype: array.Float32, index: array.Int32, x: c.x, out: c.out, axis: c.axis}
			if c.bad {
				x.bad = []int{0}
			}
			if err := x.run(t, g, chance); (err != nil) != c.bad {
				t.Errorf("%v: error %v", x, err)
			}
		}
	}
}
