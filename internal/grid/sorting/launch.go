package sorting

import (
	"encoding/binary"
	"math/bits"

	"weft/internal/array"
	"weft/internal/grid"
)

// MaxRow is the number of elements of the longest row.
const MaxRow = 1 << 32

// A Sort sorts along an axis of a contiguous array: Outer blocks of N rows of Inner elements. The
// results have fewer elements along the axis if they are a selection. Addresses are of the memory of a
// GPU.
type Sort struct {
	DType           array.DType
	Outer, N, Inner int
	Descending      bool
	Count           int   // of results along the axis
	At              []int // their places among the sorted elements; nil if they are the first Count
	X, Y, Places    uint64
}

// maxRows is the number of rows of a launch, and of elements that threads of one have. Tests lower it.
var maxRows = grid.MaxPart

// shrinks reports that tiles give only the records that results may be of.
func (s *Sort) shrinks() bool {
	return s.At == nil && s.N > tileSize && s.Count <= tileSize/2
}

// pitch returns the records of a row in scratch memory, 0 if none is needed.
func (s *Sort) pitch() int {
	switch {
	case s.shrinks():
		return grid.Ceil(s.N, tileSize) * s.Count
	case s.At == nil && s.N <= tileSize:
		return 0
	}
	return s.N
}

// A chunk is the rows of some launches: columns of outer blocks.
type chunk struct {
	*Sort
	outer, inner int
	from         [2]int // the first outer block, and the first column
}

// chunks cuts a sort.
func (s *Sort) chunks() (list []chunk) {
	inner := min(s.Inner, maxRows)
	outer := max(1, maxRows/inner)
	for o := 0; o < s.Outer; o += outer {
		for c := 0; c < s.Inner; c += inner {
			list = append(list, chunk{s, min(outer, s.Outer-o), min(inner, s.Inner-c), [2]int{o, c}})
		}
	}
	return list
}

func (c *chunk) rows() int { return c.outer * c.inner }

// records are arrays in scratch memory, of the parts of records.
type records [2]uint64

// recordBytes returns the bytes of a record.
func (s *Sort) recordBytes() int {
	if s.DType.Size() == 8 {
		return 12
	}
	return 8
}

// buffer returns the address of a buffer behind a number of others.
func (c *chunk) buffer(scratch uint64, i int) records {
	n := (c.rows()*c.pitch() + 1) &^ 1
	at := scratch + uint64(i*n*c.recordBytes())
	at = (at + 7) &^ 7
	return records{at, at + uint64(8*n)}
}

// empty reports a sort without results.
func (s *Sort) empty() bool { return s.Outer*s.N*s.Inner == 0 || s.Count == 0 }

// Scratch returns the number of bytes that Launches needs.
func (s Sort) Scratch() (bytes int) {
	if s.empty() || s.pitch() == 0 {
		return 0
	}
	for _, c := range s.chunks() {
		bytes = max(bytes, 2*((c.rows()*c.pitch()+1)&^1)*s.recordBytes()+8)
	}
	return bytes
}

// Launches returns the launches that sort, given the address of scratch memory. A sort without results
// takes none.
func (s Sort) Launches(scratch uint64) (list []grid.Launch) {
	if s.empty() {
		return nil
	}
	for _, c := range s.chunks() {
		list = append(list, c.launches(scratch)...)
	}
	return list
}

func (c *chunk) launches(scratch uint64) []grid.Launch {
	pitch := c.pitch()
	if pitch == 0 {
		return []grid.Launch{c.tiles(Variant{Kind: Tile, Final: true}, arguments{n: c.N, count: c.Count})}
	}
	from, to := c.buffer(scratch, 1), c.buffer(scratch, 0)
	if c.shrinks() {
		list := []grid.Launch{c.tiles(Variant{Kind: Tile}, arguments{to: to, n: c.N, count: c.Count, pitchTo: pitch})}
		for pitch > tileSize {
			from, to = to, from
			next := grid.Ceil(pitch, tileSize) * c.Count
			list = append(list, c.tiles(Variant{Kind: Again}, arguments{from: from, to: to, n: pitch, count: c.Count, pitch: pitch, pitchTo: next}))
			pitch = next
		}
		return append(list, c.tiles(Variant{Kind: Again, Final: true}, arguments{from: to, n: pitch, count: c.Count, pitch: pitch}))
	}
	list := []grid.Launch{c.tiles(Variant{Kind: Tile}, arguments{to: to, n: c.N, count: tileSize, pitchTo: pitch})}
	for run := tileSize; run < c.N; run *= 2 {
		from, to = to, from
		a := arguments{from: from, to: to, n: c.N, pitch: pitch, run: run, tiles: grid.Ceil(c.N, tileSize)}
		list = append(list, c.launch(Variant{Kind: Merge}, c.rows()*a.tiles, a))
	}
	if c.At == nil {
		return append(list, c.give(arguments{from: to, count: c.Count, pitch: pitch}, c.Count, 0)...)
	}
	for i, at := range c.At {
		list = append(list, c.give(arguments{from: to, count: c.Count, pitch: pitch, run: at}, 1, i)...)
	}
	return list
}

// An arguments is what differs between the launches of a sort.
type arguments struct {
	from, to                        records
	n, count, pitch, pitchTo, run   int
	tiles, log, logRow, side, moved int // moved: results of a row before the first one
	part                            grid.Part
}

// tiles returns the launch that sorts tiles of rows.
func (c *chunk) tiles(v Variant, a arguments) grid.Launch {
	a.log = max(3, bits.Len(uint(min(a.n, tileSize)-1)))
	a.logRow = bits.Len(tileSize) - 1 - a.log
	a.tiles = grid.Ceil(a.n, tileSize)
	if c.Inner > 1 {
		a.side = 1
	}
	return c.launch(v, grid.Ceil(c.rows(), 1<<a.logRow)*a.tiles, a)
}

// give returns the launches that write count results of each row, from result number first on.
func (c *chunk) give(a arguments, count, first int) (list []grid.Launch) {
	run := a.run
	for _, part := range grid.Parts(c.outer, count, c.inner, maxRows) {
		a.part, a.moved, a.run = part, first, run
		list = append(list, c.launch(Variant{Kind: Give}, part.Blocks(threads), a))
	}
	return list
}

// launch returns a launch.
func (c *chunk) launch(v Variant, blocks int, a arguments) grid.Launch {
	v.DType = v.kernelType(c.DType)
	size := c.DType.Size()
	x := (c.from[0]*c.N*c.Inner + c.from[1]) // elements
	y := (c.from[0]*c.Count+a.moved)*c.Inner + c.from[1]
	bits := max(8*size, 32)
	flip := uint64(1) << (bits - 1)
	if c.Descending {
		flip = ^flip
	}
	b := make([]byte, 0, argBytes)
	for _, n := range [...]uint64{c.X + uint64(x*size), c.Y + uint64(y*size), c.Places + uint64(8*y), a.from[0], a.from[1], a.to[0], a.to[1], flip,
		uint64(a.n), uint64(c.N), uint64(a.count), uint64(c.Inner), uint64(a.pitch), uint64(a.pitchTo), uint64(a.run)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if a.part.N == 0 {
		a.part = grid.Parts(1, 1, 1, 1)[0] // not read
	}
	b = grid.AppendDivisor(grid.AppendDivisor(a.part.Append(b), max(a.tiles, 1)), c.inner)
	for _, n := range [...]int{c.rows(), a.log, a.logRow, a.side} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return v.launch(blocks, b)
}

// A Searching finds the places of elements in sorted rows of N elements: of Queries for each of Rows
// rows, or of all in one row.
type Searching struct {
	DType             array.DType
	Rows, N, Queries  int
	Right             bool // behind equal elements
	Sorted, X, Places uint64
}

// Launches returns the launches of a search.
func (s Searching) Launches() (list []grid.Launch) {
	v := Variant{Kind: Search, DType: s.DType}
	v.DType = v.kernelType(s.DType)
	for _, part := range grid.Parts(s.Rows, 1, s.Queries, maxRows) {
		b := make([]byte, argBytes)
		for at, x := range map[int]uint64{argX: s.Sorted, argY: s.X + uint64(part.First()*s.DType.Size()), argPlaces: s.Places + uint64(8*part.First()), argN: uint64(s.N), argPitch: uint64(s.N)} {
			binary.LittleEndian.PutUint64(b[at:], x)
		}
		part.Append(b[:argPart])
		if s.Right {
			b[argSide] = 1
		}
		list = append(list, v.launch(part.Blocks(threads), b))
	}
	return list
}
