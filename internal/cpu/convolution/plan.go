package convolution

import (
	"sync"
	"unsafe"

	"weft/internal/cache"
	"weft/internal/cpu/tile"
	"weft/internal/launch"
	"weft/internal/packed"
)

// A plan says how a correlation is computed: its terms, tiles and tasks, for each order of the
// axes that may run. It depends on sizes and strides only and points at no operand. Plans that are
// kept are not written any more, so goroutines share them.
type plan struct {
	pixels     correlation // with pixels in the vectors
	exchanges  bool        // exchanged is faster than pixels
	exchanged  correlation // with rows and columns exchanged
	byChannels bool        // channels are faster than both
	channels   channelRun  // with output channels in the vectors; its correlation is strips
	strips     correlation
	shared     bool // in plans
}

// A planKey is what a plan of a forward convolution depends on.
type planKey struct {
	tile.Machine
	Geometry
	src, dst Image // without addresses
	threads  int
	ahead    bool // weights are prefetched
}

const (
	// planBytes is the size of the largest plan that is kept. Planning larger ones is small
	// beside their products.
	planBytes = 128 << 10
	planCount = 256 // plans that are kept
)

var (
	plans   = cache.NewKeyed[planKey, *plan](planCount)
	scratch = sync.Pool{New: func() any { return new(plan) }} // plans of one call
)

// plan returns how to compute c, which has the given number of terms. list appends them to a slice.
func (c *correlation) plan(threads, terms int, of *Geometry, list func(to []term) []term) *plan {
	if of != nil && terms*int(unsafe.Sizeof(term{})) < planBytes {
		key := planKey{c.Machine, *of, c.src, c.dst, threads, c.aheadDue(terms)}
		key.src.Ptr, key.dst.Ptr = nil, nil
		p, ok := plans.Lookup(key)
		if !ok {
			p, _ = plans.Get(key, func() (*plan, error) { return keep(c, threads, list), nil })
		}
		if p != nil {
			return p
		}
	}
	p := scratch.Get().(*plan)
	p.make(c, threads, list)
	return p
}

// keep returns a plan of c that may be kept, nil if it is too large.
func keep(c *correlation, threads int, list func(to []term) []term) *plan {
	p := new(plan)
	p.make(c, threads, list)
	if p.bytes() > planBytes {
		return nil
	}
	p.shared = true
	return p
}

// release keeps the memory of a plan that nobody shares.
func (p *plan) release() {
	if !p.shared {
		scratch.Put(p)
	}
}

// bytes returns the size of the memory that the plan refers to.
func (p *plan) bytes() int {
	n := 0
	for _, c := range []*correlation{&p.pixels, &p.exchanged} {
		n += cap(c.terms)*int(unsafe.Sizeof(term{})) + cap(c.table)*int(unsafe.Sizeof(0)) +
			(cap(c.tiles[0])+cap(c.tiles[1]))*int(unsafe.Sizeof(tile.Place{}))
	}
	for _, list := range p.channels.lists {
		n += cap(list) * int(unsafe.Sizeof(channelTerm{}))
	}
	return n
}

// make plans c in the memory of p.
func (p *plan) make(c *correlation, threads int, list func(to []term) []term) {
	pixels := &p.pixels
	terms, table, tiles := pixels.terms[:0], pixels.table[:0], pixels.tiles[0][:0]
	*pixels = *c
	pixels.src.Ptr, pixels.dst.Ptr, pixels.epilogue, pixels.packWeights = nil, nil, nil, nil
	pixels.ends, pixels.ended = launch.Ends{}, false
	pixels.terms, pixels.table, pixels.tiles[0] = list(terms), table, tiles
	pixels.flatten()
	pixels.layout()
	pixels.cut(threads)
	pixels.pixelCost = pixels.bands * pixels.cost
	p.exchanges = pixels.worthExchange(threads)
	if p.exchanges {
		to := &p.exchanged
		terms, table, tiles := append(to.terms[:0], pixels.terms...), to.table[:0], to.tiles[0][:0]
		*to = *pixels
		to.terms, to.table, to.tiles[0] = terms, table, tiles
		to.exchange(threads)
	}
	p.strips = *pixels
	p.strips.reshape(c)
	p.channels.correlation = &p.strips
	p.byChannels = pixels.groups == 1 && p.channels.plan(threads)
	for _, c := range []*correlation{pixels, &p.exchanged, &p.strips} {
		c.kept = packed.Source{}
	}
}

// take fills c in from a plan. The operands stay.
func (c *correlation) take(from *correlation) {
	call := *c
	*c = *from
	c.src.Ptr, c.dst.Ptr = call.src.Ptr, call.dst.Ptr
	c.epilogue, c.packWeights, c.kept = call.epilogue, call.packWeights, call.kept
	c.ends, c.ended = call.ends, call.ended
}

// run computes the correlation on machine code. It has the given number of terms, which list
// appends to a slice. of is what they follow from, nil if the plan is not kept.
func (c *correlation) run(threads, terms int, of *Geometry, list func(to []term) []term) {
	work := c.n * c.groups * c.outC * c.outH * c.outW * (max(terms, 1) + tile.EpilogueWork(c.epilogue))
	threads = tile.ThreadsFor(work, threads)
	p := c.plan(threads, terms, of, list)
	defer p.release()
	if p.byChannels {
		c.take(&p.strips)
		if p.channels.run(c, work, threads) {
			return
		}
	}
	c.take(&p.pixels)
	if c.groups == 1 && c.runImages(threads) {
		return
	}
	if p.exchanges {
		c.take(&p.exchanged)
	}
	c.runPixels(work, threads)
}
