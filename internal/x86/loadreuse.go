package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Load reuse. Loads of one buffer at small constant distances, as in a stencil that is long along the
// lanes, are windows on consecutive vectors. Each of these vectors is loaded once, and a window
// across two is made in registers (VALIGND): most such loads would cross cache lines, which takes
// at least twice as long.

const (
	// reuseMinLoads is the least number of loads in a group.
	reuseMinLoads = 5
	reuseBytes    = 64 // of a vector
	// reuseDirect: every third load stays a load, as loads and VALIGND run on different ports.
	reuseDirect = 3
)

// A loadGroup is the loads of one buffer in a block whose offsets are the same value plus constants.
type loadGroup struct {
	b     int
	root  loop.Value // the value, NoValue for none
	loads []loop.Value
	at    []int32      // the constants in bytes, ascending
	end   int32        // where the last vector of the last load begins
	have  map[int32]vr // vectors that are loaded, by their constants
}

// loadGroupOf returns the buffer and root of the group that a load may belong to, and its constant
// in bytes.
func (c *compiler) loadGroupOf(v loop.Value) (b int, root loop.Value, at int32, ok bool) {
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

// writes reports a store, or an instruction whose blocks may contain stores.
func (c *compiler) writes(v loop.Value) bool {
	in := &c.p.Ins[v]
	return in.Op == loop.OpStore || in.Op == loop.OpStoreAt || c.p.Region(in) != nil
}

// findLoadGroups returns the load groups of a block, and the block with their loads sunk to their
// first users, which lowers register pressure.
func (c *compiler) findLoadGroups(block []loop.Value) ([]loadGroup, []loop.Value) {
	if c.isa != jit.AVX512 || c.lay.uni || c.masks != nil || c.lay.overrun || c.lay.es < 4 || len(block) <= reuseMinLoads {
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
	if most < reuseMinLoads {
		return nil, block
	}
	var found []loadGroup
	for _, v := range block {
		if c.writes(v) {
			break // what follows may read what was written
		}
		b, root, at, ok := c.loadGroupOf(v)
		if !ok {
			continue
		}
		i := slices.IndexFunc(found, func(s loadGroup) bool { return s.b == b && s.root == root })
		if i < 0 {
			i, found = len(found), append(found, loadGroup{b: b, root: root, have: map[int32]vr{}})
		}
		found[i].loads = append(found[i].loads, v)
		found[i].at = append(found[i].at, at)
	}
	found = slices.DeleteFunc(found, func(s loadGroup) bool {
		slices.Sort(s.at)
		for i := range s.at[1:] { // no byte is read that no load reads
			if s.at[i+1]-s.at[i] > reuseBytes {
				return true
			}
		}
		return len(s.at) < reuseMinLoads || s.at[len(s.at)-1]-s.at[0]+int32(c.lay.k-1)*reuseBytes < reuseBytes
	})
	if len(found) == 0 {
		return nil, block
	}
	late := map[loop.Value]bool{}
	for i := range found {
		s := &found[i]
		s.end = s.at[len(s.at)-1] + int32(c.lay.k-1)*reuseBytes
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

// loadReused lowers a load that belongs to a load group, and reports whether it does.
func (c *compiler) loadReused(v loop.Value) bool {
	if len(c.loadGroups) == 0 || c.masks != nil {
		return false
	}
	i := slices.IndexFunc(c.loadGroups, func(s loadGroup) bool { return slices.Contains(s.loads, v) })
	if i < 0 {
		return false
	}
	s, in := &c.loadGroups[i], &c.p.Ins[v]
	_, _, at, _ := c.loadGroupOf(v)
	if slices.Index(s.at, at)%reuseDirect == reuseDirect-1 {
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
			p := at + int32(i)*reuseBytes
			lo := s.at[0] + (p-s.at[0])/reuseBytes*reuseBytes
			switch hi := lo + reuseBytes; {
			case p == lo || p == s.end:
				c.mov(d, vector(p))
				continue
			case hi > s.end: // the last vector is not a whole number of them behind the first
				lo = s.end - reuseBytes
			}
			align := [...]asm.Op{4: asm.VALIGND, 8: asm.VALIGNQ}[c.lay.es]
			c.op2i(align, d, vector(lo+reuseBytes), vector(lo), int64(p-lo)/int64(c.lay.es))
		}
	}
	if in.Op == loop.OpLoadAt {
		return c.withBase(s.b, in.A, load)
	}
	load()
	return true
}
