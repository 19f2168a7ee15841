// Package loopgen makes random valid loop programs with everything needed to run
// them, so that two backends can be compared bit for bit.
//
// [Generate] draws a [Case] from a seed: a program over all operations, element
// types and control structures of the loop language, extents around the sizes
// where backends change their ways, and inputs rich in special values. [Run]
// runs a case in fresh memory, which may end at guard pages, and returns the
// memory afterwards; [Output.Diff] compares two of them. [Histogram] counts what
// programs contain, and [Combinations] lists what they can contain. [Shrink]
// makes a failing case small.
//
// What a generated program computes is determined: no two lanes or rows write
// the same place, loops end, addresses stay inside their buffers. The bits of a
// NaN are not determined and never become visible: programs that look at the
// bits of a float make NaNs the same before, and outputs are compared with all
// NaNs equal.
package loopgen

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/loop"
)

// A Case is a program and all that goes into its frame.
type Case struct {
	Seed    uint64
	Program *loop.Program
	Extents []int // by axis
	Starts  []int
	Scalars []uint64 // bits
	Buffers []Buffer // by buffer of the program
	Memory  []Memory
	Fuel    uint64 // handed out at the start and at each refill
}

// A Buffer says where a buffer argument points and how it moves.
type Buffer struct {
	Memory  int   // several buffers may share one
	Offset  int   // bytes from the start of the memory to the element at index 0
	Strides []int // bytes, by axis
}

// A Memory is a piece of memory of exactly the size that the program may touch.
type Memory struct {
	DType array.DType
	Write bool
	Data  []byte // before the run
	// Elements lists the offsets of elements in written memory, where bits of a
	// NaN do not count.
	Elements []int
}

// String prints the program, the extents and the layout of the buffers.
func (c *Case) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seed %d, extents %v, starts %v, fuel %d\n", c.Seed, c.Extents, c.Starts, c.Fuel)
	for i, x := range c.Scalars {
		fmt.Fprintf(&s, "scalar %d: %#x\n", i, x)
	}
	for i, b := range c.Buffers {
		fmt.Fprintf(&s, "buf %d: memory %d (%d bytes) from %d, strides %v\n", i, b.Memory, len(c.Memory[b.Memory].Data), b.Offset, b.Strides)
	}
	s.WriteString(c.Program.String())
	return s.String()
}

// Extents around which backends change their code, for the lane axis; the long ones are rare.
var laneExtents = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 23, 31, 32, 33, 47, 63, 64, 65, 95, 96, 97, 127, 128, 129, 200, 255, 256, 257}

var longExtents = []int{500, 511, 512, 513, 1000, 1023, 1025, 4095, 4096, 4097, 4100, 8191, 8192, 8193, 12288, 12300, 20481}

// A Language is what programs may contain. The zero value is all that there is.
type Language struct {
	DTypes []array.DType // of buffers; nil for all
	// Lacks names what is left out. An item stands for all items that equal it in its
	// nonzero fields: an item with a type alone stands for every instruction of that type.
	Lacks []Item
	// Streamed is for programs whose results non-temporal stores may write wherever buffers
	// begin: there are no serial axes, and passes write one buffer, with step Unit.
	Streamed bool
}

func (l *Language) dtypes() []array.DType {
	if l.DTypes == nil {
		return DTypes()
	}
	return l.DTypes
}

// has reports that an item may be in a program.
func (l *Language) has(i Item) bool {
	return !slices.ContainsFunc(l.Lacks, func(x Item) bool { return x.covers(i) })
}

// Generate draws the case of a seed. The same seed and language give the same case.
func Generate(seed uint64, l Language) *Case {
	r := rand.New(rand.NewPCG(seed, 0x6c6f6f7067656e))
	g := &generator{r: r, c: &Case{Seed: seed}, l: l, dtypes: l.dtypes()}
	for _, t := range types {
		if l.has(Item{Type: t}) {
			g.types = append(g.types, t)
		}
	}
	g.numbers = g.types[1:]
	outer := pick(r, 0, 0, 1, 1, 1, 2, 3)
	serial := pick(r, 0, 1, 1, 2)
	if l.Streamed {
		serial = 0
	}
	// Drawn apart, so that the other cases are what they are without these.
	items := rand.New(rand.NewPCG(seed, 0x726167676564))
	if g.ragged = items.IntN(6) == 0 && !l.Streamed; g.ragged {
		outer = 1
	}
	var axes []loop.Axis
	for range outer {
		axes = append(axes, loop.Axis{Kind: loop.Parallel})
		g.extent(pick(r, 1, 1, 2, 2, 3, 5, 0))
	}
	kind := loop.Parallel
	if r.IntN(3) == 0 || g.ragged {
		kind = loop.Reduce
	}
	axes = append(axes, loop.Axis{Kind: kind})
	g.work = 400_000
	switch {
	case r.IntN(12) == 0 || kind == loop.Reduce && r.IntN(5) == 0:
		g.extent(pick(r, longExtents...))
	case r.IntN(20) == 0:
		g.extent(r.IntN(300))
	case kind == loop.Reduce && r.IntN(8) == 0: // identities show
		g.extent(r.IntN(3))
	default:
		g.extent(pick(r, laneExtents...))
	}
	many := rand.New(rand.NewPCG(seed, 0x6d616e79726f7773)) // for enough rows that they go in batches
	if kind == loop.Reduce && outer > 0 && !g.ragged && g.c.Extents[outer] <= 65 && many.IntN(2) == 0 {
		g.c.Extents[outer-1] = 15 + many.IntN(20)
	}
	for range serial {
		n := pick(r, 0, 1, 2, 3, 3, 4, 5)
		// With a small bound the loop needs no fuel.
		bound := pick(r, 0, n, loop.SmallBound, loop.SmallBound+1)
		axes = append(axes, loop.Axis{Kind: loop.Serial, Bound: bound})
		g.extent(n)
	}
	g.lane = outer
	g.cap()
	var offsets []int64
	if g.ragged {
		axes[g.lane].Offsets = 1
		offsets = g.items(items)
	}
	g.walked = make([]bool, len(axes))
	for a := range outer {
		g.walked[a] = true
	}
	g.axes = axes
	g.b = loop.NewBuilder(fmt.Sprintf("random%d", seed), axes, outer)
	if g.ragged {
		g.offsets(offsets)
	}
	g.c.Fuel = pick(r, 1, 2, 7, 100, uint64(1<<20))
	lanes := 1
	for a := 0; a <= outer; a++ {
		lanes *= max(g.c.Extents[a], 1)
	}
	g.work /= lanes
	g.row()
	p, err := g.b.Done()
	if err != nil {
		panic(fmt.Sprintf("loopgen: seed %d: %v\n%s", seed, err, g.b.Program()))
	}
	g.c.Program = p
	g.finish()
	return g.c
}

// DTypes lists the element types that the language has.
func DTypes() []array.DType {
	var out []array.DType
	for d := array.Bool; d <= array.Float64; d++ {
		out = append(out, d)
	}
	return out
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func (g *generator) extent(n int) {
	g.c.Extents = append(g.c.Extents, n)
	g.c.Starts = append(g.c.Starts, pick(g.r, 0, 0, 1, 5, 1000, 1<<33+3, -7))
}

// cap lowers extents whose product is too much work.
func (g *generator) cap() {
	e := g.c.Extents
	for _, atMost := range []int{2, 1} {
		for a := len(e) - 1; a >= 0; a-- {
			total := 1
			for _, n := range e {
				total *= max(n, 1)
			}
			if a != g.lane && total > 50_000 {
				e[a] = min(e[a], atMost)
			}
		}
	}
}

// items draws the lengths of items and returns their offsets. The lane axis walks the elements of
// one item in each row. It sets the extent of the lane axis to the number of elements; some may be
// in no item.
func (g *generator) items(r *rand.Rand) []int64 {
	of := []int64{int64(r.IntN(4))}
	most := pick(r, 2, 20, 40, 70, 300)
	for range g.c.Extents[0] {
		n := r.IntN(most)
		if r.IntN(3) == 0 {
			n = min(pick(r, laneExtents...), most)
		}
		of = append(of, of[len(of)-1]+int64(n))
	}
	g.c.Extents[g.lane] = int(of[len(of)-1]) + pick(r, 0, 0, 1, 40, 70)
	return of
}

// offsets makes the buffer that says where items begin and end.
func (g *generator) offsets(of []int64) {
	m := Memory{DType: array.Int64}
	for _, o := range of {
		m.Data = binary.LittleEndian.AppendUint64(m.Data, uint64(o))
	}
	info := bufInfo{dtype: array.Int64, steps: make([]loop.Step, len(g.axes)), offsets: true, scattered: true}
	info.steps[0] = loop.Any
	strides := make([]int, len(g.axes))
	strides[0] = 8
	info.number = g.b.Buf(info.dtype, false, info.steps...)
	g.c.Memory = append(g.c.Memory, m)
	g.c.Buffers = append(g.c.Buffers, Buffer{Strides: strides})
	g.bufs = append(g.bufs, info)
}
