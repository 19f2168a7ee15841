package scatter

import (
	"math/bits"

	"weft/internal/array"
	"weft/internal/grid"
)

// A Scatter writes the elements of X, its sources, at indices along an axis of Out, which holds the old
// elements. Source p goes to the element of Out at p, but for the axis, where the index of p says the
// place. X is contiguous, and so are its indices.
type Scatter struct {
	Op         Op
	Alone      bool // of Min and Max: the old element of a target with sources does not count
	DType      array.DType
	Index      array.DType // Int32 or Int64
	X, At, Out uint64      // addresses of first elements
	Count      []int       // the shape of X
	Axis       int
	Size       int   // of the axis in Out
	Targets    int   // elements of Out
	AtStrides  []int // of the indices, along the axes of X; 0 where they are broadcast
	OutStrides []int // of Out
	Report     uint64
}

// Limits by which the way is chosen. Tests change them.
var (
	shortLine  = 128     // sources up to which a thread walks a line
	unitLines  = 512     // lines for each multiprocessor from which on threads walk lines of any length
	maxNumber  = 1 << 30 // numbers in pairs of 4 bytes are below it
	mostBlocks = 1 << 11 // of a sort; beyond that a block orders several tiles
	leastChunk = tile    // pairs of a block
	smallSort  = tile    // pairs up to which one block sorts all, at most tile
)

// cell returns the element of X as a cell.
func (s *Scatter) cell() cell {
	c := cell{op: s.Op, alone: s.Alone, dtype: s.DType, n: 1}
	if s.Op != Copy {
		return c
	}
	switch size := s.DType.Size(); size {
	case 1:
		c.dtype = array.Uint8
	case 2:
		c.dtype = array.Uint16
	case 4:
		c.dtype = array.Int32
	default:
		c.dtype, c.n = array.Int64, size/8
	}
	return c
}

// lines returns the box of lines, and the steps along one: operands are X, indices and Out, in bytes.
func (s *Scatter) lines() (lines box, along [3]int) {
	x := array.RowMajor(s.Count)
	for i, n := range s.Count {
		steps := [3]int{ofX: x[i] * s.DType.Size(), ofAt: s.AtStrides[i] * s.Index.Size(), ofOut: s.OutStrides[i] * s.DType.Size()}
		if i == s.Axis {
			along = steps
		} else {
			lines = append(lines, dim{n, steps})
		}
	}
	return lines.joined(), along
}

// widen joins neighbouring elements with one index into cells of up to 16 bytes.
func (s *Scatter) widen(c cell, lines box, along [3]int) (cell, box) {
	last := len(lines) - 1
	if last < 0 || lines[last].steps != [3]int{ofX: c.bytes(), ofOut: c.bytes()} {
		return c, lines
	}
	for {
		w, ok := c.wider()
		all := int(s.X|s.Out) | along[ofX] | along[ofOut] | lines[last].n*c.bytes()
		for _, d := range lines[:last] {
			all |= d.steps[ofX] | d.steps[ofOut]
		}
		if !ok || all&(w.bytes()-1) != 0 {
			return c, lines.joined()
		}
		lines[last].n /= 2
		lines[last].steps[ofX], lines[last].steps[ofOut] = w.bytes(), w.bytes()
		c = w
	}
}

// walks reports whether threads walk lines, on a GPU with a number of multiprocessors.
func (s *Scatter) walks(units int) bool {
	n := s.Count[s.Axis]
	return n <= shortLine || array.Size(s.Count)/n >= unitLines*units || s.Targets == 0
}

// shared reports whether all lines have the same indices.
func (s *Scatter) shared() bool {
	for i, n := range s.Count {
		if i != s.Axis && n > 1 && s.AtStrides[i] != 0 {
			return false
		}
	}
	return true
}

// Scratch returns the bytes of scratch memory that the launches need, on a GPU with a number of
// multiprocessors.
func (s *Scatter) Scratch(units int) int {
	if array.Size(s.Count) == 0 || s.walks(units) {
		return 0
	}
	o := s.sort()
	return o.scratch()
}

// Launches returns the launches that do the work. scratch is the address of the scratch memory.
func (s *Scatter) Launches(units int, scratch uint64) []grid.Launch {
	switch {
	case array.Size(s.Count) == 0:
		return nil
	case s.walks(units):
		return s.walk()
	}
	return s.sorted(scratch)
}

func (s *Scatter) walk() (list []grid.Launch) {
	lines, along := s.lines()
	c, lines := s.widen(s.cell(), lines, along)
	v := walkVariant{c, s.Index}
	lines.each([3]int{ofX: int(s.X), ofAt: int(s.At), ofOut: int(s.Out)}, func(part box, begin [3]int) {
		var a grid.Args
		a.Long(begin[:]...)
		a.Long(int(s.At), int(s.Report))
		a.Long(along[:]...)
		a.Long(s.Size, s.Count[s.Axis])
		part.append(&a)
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(part.size(), threads), a))
	})
	return list
}

// A sort is what is known of a sort of pairs.
type sort struct {
	pairs, targets int
	long           bool
	chunk, blocks  int // pairs of a block, and how many blocks there are
	passes         int
}

func (s *Scatter) sort() sort {
	o := sort{pairs: array.Size(s.Count), targets: s.Targets}
	if s.shared() {
		o.pairs, o.targets = s.Count[s.Axis], s.Size
	}
	o.long = max(o.pairs, o.targets+1) >= maxNumber
	o.chunk = grid.Ceil(o.pairs, leastChunk*mostBlocks) * leastChunk
	o.blocks = grid.Ceil(o.pairs, o.chunk)
	o.passes = grid.Ceil(bits.Len(uint(o.targets)), digitBits) // the number of targets is a key too
	return o
}

// number is the size of a number in pairs.
func (o *sort) number() int { return numbers(o.long).Size() }

// Scratch memory has targets and sources twice, and counts.
func (o *sort) list() int    { return (o.pairs*o.number() + 255) / 256 * 256 }
func (o *sort) scratch() int { return 4*o.list() + radix*o.blocks*o.number() }

// sorted returns the launches that sort pairs, and combine their runs.
func (s *Scatter) sorted(scratch uint64) (list []grid.Launch) {
	o := s.sort()
	at := func(i int) int { return int(scratch) + i*o.list() }
	list = s.keys(&o, at(0))
	if o.pairs <= smallSort {
		list = append(list, o.small(at(0), at(2)))
		return append(list, s.runs(&o, at(0), at(2))...)
	}
	keys, sources := [2]int{at(0), at(1)}, [2]int{at(2), at(3)}
	for pass := range o.passes {
		var a grid.Args
		a.Long(keys[0], sources[0], keys[1], sources[1], at(4), o.pairs, o.chunk, pass*digitBits)
		var scan grid.Args
		scan.Long(at(4), radix*o.blocks)
		count, sum, order := countVariant{o.long}, scanVariant{o.long}, orderVariant{pass == 0, o.long}
		list = append(list, grid.NewLaunch(count.name(), count.lower, o.blocks, a), grid.NewLaunch(sum.name(), sum.lower, 1, scan), grid.NewLaunch(order.name(), order.lower, o.blocks, a))
		keys[0], keys[1], sources[0], sources[1] = keys[1], keys[0], sources[1], sources[0]
	}
	return append(list, s.runs(&o, keys[0], sources[0])...)
}

// keys returns the launches that make targets of indices.
func (s *Scatter) keys(o *sort, to int) (list []grid.Launch) {
	v := keysVariant{s.Index, o.long}
	b, along := box{{o.pairs, [3]int{}}}, 1
	if !s.shared() {
		b, along = nil, s.OutStrides[s.Axis]
		for i, n := range s.Count {
			d := dim{n, [3]int{s.OutStrides[i]}}
			if i == s.Axis {
				d.steps[0] = 0
			}
			b = append(b, d)
		}
	}
	first := 0
	b.joined().each([3]int{}, func(part box, begin [3]int) {
		var a grid.Args
		a.Long(int(s.At)+first*s.Index.Size(), to+first*o.number(), int(s.At), int(s.Report), begin[0], s.Size, along, o.targets)
		part.append(&a)
		n := part.size()
		first += n
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(n, threads), a))
	})
	return list
}
