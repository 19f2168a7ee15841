package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Loads of a buffer a few elements apart, as of a stencil that is long along the lanes, are
// parts of vectors that follow one another. Each of those is read once, and what lies across two
// is put together in registers: most such loads would cross lines of the cache, which takes
// twice as long or longer.

const (
	// slideLeast is how many loads of a row there are for that, at least.
	slideLeast = 5
	slideBytes = 64 // of a vector
	// slideDirect: every third load stays a load, as loads and what puts vectors together are
	// work of different units.
	slideDirect = 3
)

// A slide is the loads of a block of one buffer, moved by the same value and by constants.
type slide struct {
	b     int
	root  loop.Value // NoValue for none
	loads []loop.Value
	at    []int32 // where they begin, ascending, in bytes
	end   int32   // where the last vector of the last of them begins
	have  map[int32]vr
}

// slideOf returns which slide a load may be of, and where it begins.
func (c *compiler) slideOf(v loop.Value) (b int, root loop.Value, at int32, ok bool) {
	in := &c.p.Ins[v]
	if in.Op != loop.OpLoad && in.Op != loop.OpLoadAt || c.vals[v].state == hoisted {
		return 0, 0, 0, false
	}
	b, root = int(in.Imm), loop.NoValue
	x := &c.p.Bufs[b]
	if x.Steps[c.p.Lane] != loop.Unit || x.DType.Size() != c.lay.es || in.Type == loop.B || in.Type.Size() != c.lay.es {
		return 0, 0, 0, false
	}
	if in.Op == loop.OpLoadAt {
		if root, at = c.splitOffset(in.A, c.lay.es); root != loop.NoValue && !c.known(root) {
			return 0, 0, 0, false
		}
	}
	return b, root, at, true
}

// writes reports a store, or an instruction that may contain some.
func (c *compiler) writes(v loop.Value) bool {
	in := &c.p.Ins[v]
	return in.Op == loop.OpStore || in.Op == loop.OpStoreAt || c.p.Region(in) != nil
}

// findSlides returns the slides of a block, and the block with their loads just before their
// first users: they take registers.
func (c *compiler) findSlides(block []loop.Value) ([]slide, []loop.Value) {
	if c.isa != jit.AVX512 || c.lay.uni || c.masks != nil || c.lay.over || c.lay.es < 4 || len(block) <= slideLeast {
		return nil, block
	}
	var loads [loop.MaxBufs]int
	most := 0
	for _, v := range block {
		if in := &c.p.Ins[v]; in.Op == loop.OpLoadAt || in.Op == loop.OpLoad {
			loads[in.Imm]++
			most = max(most, loads[in.Imm])
		}
	}
	if most < slideLeast {
		return nil, block
	}
	var found []slide
	for _, v := range block {
		if c.writes(v) {
			break // what follows may read what was written
		}
		b, root, at, ok := c.slideOf(v)
		if !ok {
			continue
		}
		i := slices.IndexFunc(found, func(s slide) bool { return s.b == b && s.root == root })
		if i < 0 {
			i, found = len(found), append(found, slide{b: b, root: root, have: map[int32]vr{}})
		}
		found[i].loads = append(found[i].loads, v)
		found[i].at = append(found[i].at, at)
	}
	found = slices.DeleteFunc(found, func(s slide) bool {
		slices.Sort(s.at)
		for i := range s.at[1:] { // no byte is read that no load reads
			if s.at[i+1]-s.at[i] > slideBytes {
				return true
			}
		}
		return len(s.at) < slideLeast || s.at[len(s.at)-1]-s.at[0]+int32(c.lay.k-1)*slideBytes < slideBytes
	})
	if len(found) == 0 {
		return nil, block
	}
	late := map[loop.Value]bool{}
	for i := range found {
		s := &found[i]
		s.end = s.at[len(s.at)-1] + int32(c.lay.k-1)*slideBytes
		for _, v := range s.loads {
			late[v] = true
		}
	}
	sunk := make([]loop.Value, 0, len(block))
	sink := func(v loop.Value) {
		if v != loop.NoValue && late[v] {
			delete(late, v)
			sunk = append(sunk, v)
		}
	}
	for _, v := range block {
		in := &c.p.Ins[v]
		if late[v] {
			continue
		}
		if c.writes(v) { // or has users within
			for _, s := range found {
				for _, v := range s.loads {
					sink(v)
				}
			}
		}
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			sink(o)
		}
		sunk = append(sunk, v)
	}
	return found, sunk
}

// slid lowers a load that is part of a slide, and reports whether it is.
func (c *compiler) slid(v loop.Value) bool {
	if len(c.slides) == 0 || c.masks != nil {
		return false
	}
	i := slices.IndexFunc(c.slides, func(s slide) bool { return slices.Contains(s.loads, v) })
	if i < 0 {
		return false
	}
	s, in := &c.slides[i], &c.p.Ins[v]
	_, _, at, _ := c.slideOf(v)
	if slices.Index(s.at, at)%slideDirect == slideDirect-1 {
		return false
	}
	load := func() {
		vector := func(p int32) vr {
			if s.have[p] == 0 {
				s.have[p] = c.loadV(asm.VMOVUPS, c.at(s.b, 0).add(int(p-at)))
			}
			return s.have[p]
		}
		for i, d := range c.result(v) {
			p := at + int32(i)*slideBytes
			lo := s.at[0] + (p-s.at[0])/slideBytes*slideBytes
			switch hi := lo + slideBytes; {
			case p == lo || p == s.end:
				c.mov(d, vector(p))
				continue
			case hi > s.end: // the last vector is not a whole number of them behind the first
				lo = s.end - slideBytes
			}
			align := [...]asm.Op{4: asm.VALIGND, 8: asm.VALIGNQ}[c.lay.es]
			c.op2i(align, d, vector(lo+slideBytes), vector(lo), int64(p-lo)/int64(c.lay.es))
		}
	}
	if in.Op == loop.OpLoadAt {
		return c.moved(s.b, in.A, load)
	}
	load()
	return true
}
