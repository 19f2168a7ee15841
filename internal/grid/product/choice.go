package product

import (
	"math"

	"weft/internal/grid"
	"weft/internal/numbers"
)

// A GPU says for which GPU launches are made.
type GPU struct {
	Units  int // multiprocessors
	Major  int // of the compute capability
	Shared int // bytes of shared memory that a block of threads may take
}

// The cost of a product is an estimate of its time in nanoseconds. A multiprocessor computes its
// blocks of threads at one speed, be it one after the other or several at once. So the time is that
// of the multiprocessor with the most blocks.
//
// The constants and the speeds of tiles are fitted to testdata/h200.json, which TestProductFigures of
// package cuda measured on an NVIDIA H200. Costs are compared with each other alone, so another GPU
// needs other constants only if its ratios differ.
const (
	launchCost = 4000 // the start of a launch, its first reads and its last writes
	addCost    = 3000 // the launch that adds blocks of terms
	addSpeed   = 2000 // bytes of scratch memory in a nanosecond, written and then read
)

// cost returns the cost of a launch by its blocks of threads and the terms of each.
func (s tileShape) cost(units, blocks, terms int) float64 {
	each := float64(s.m*s.n) * float64(terms) / s.speed
	return launchCost + float64(grid.Ceil(blocks, units))*each
}

// costOfAdding returns the cost of adding blocks of terms by their bytes.
func costOfAdding(bytes int) float64 { return addCost + float64(bytes)/addSpeed }

// A choice is how a product is computed.
type choice struct {
	tile  Tile
	apart bool // blocks of terms are computed apart
}

// choose returns the choice of least cost; scratch says whether there is scratch memory. Requires: a
// Medium or Thin tile fits in shared memory.
func (p *Product) choose(g GPU, scratch bool) (best choice) {
	least := math.Inf(1)
	consider := func(t Tile, apart bool, cost float64) {
		if cost < least {
			best, least = choice{t, apart}, cost
		}
	}
	size, units := p.DType.Size(), g.Units
	tiles := []Tile{Large, Compact, Medium}
	if p.M <= shapes[p.DType][Thin].m {
		tiles = []Tile{Thin}
	}
	for _, t := range tiles {
		s := shapes[p.DType][t]
		if s.shared(size, p.K > numbers.KBlock) <= g.Shared {
			consider(t, false, s.cost(units, p.blocks(t), p.K))
		}
		if scratch && p.mayBeApart() && s.shared(size, false) <= g.Shared {
			consider(t, true, s.cost(units, p.blocks(t)*p.parts(), numbers.KBlock)+costOfAdding(p.scratch()))
		}
	}
	return best
}

// shared returns the bytes of shared memory of a kernel of matrices with elements of size bytes; blocks
// says whether there may be several blocks of terms.
func (s tileShape) shared(size int, blocks bool) int {
	bytes := 2 * (pitch(s.m) + pitch(s.n)) * s.depth * size
	if blocks && s.sumsShared {
		bytes += s.m * s.n * size
	}
	return bytes
}

// tile returns the tile of least cost. Large, which leaves windows no registers, is not among them.
func (p *Windows) tile(units int) Tile {
	if p.M <= shapes[p.DType][Thin].m {
		return Thin
	}
	if p.cost(Compact, units) <= p.cost(Medium, units) {
		return Compact
	}
	return Medium
}

// cost returns the cost without adding.
func (p *Windows) cost(t Tile, units int) float64 {
	terms := p.Terms.Size()
	if p.Apart {
		terms = numbers.KBlock
	}
	return windowShape(p.DType, t).cost(units, p.blocks(t), terms)
}

// PaysApart reports whether it costs less to compute all blocks of terms apart, and to add them, than
// to sum them in one kernel. Requires: p.Apart is not set.
func (p Windows) PaysApart(g GPU) bool {
	together := p.cost(p.tile(g.Units), g.Units)
	p.Apart, p.To = true, grid.Ceil(p.Terms.Size(), numbers.KBlock)
	bytes := p.To * p.Groups * p.M * p.Columns.Size() * p.DType.Size()
	return p.cost(p.tile(g.Units), g.Units)+costOfAdding(bytes) < together
}
