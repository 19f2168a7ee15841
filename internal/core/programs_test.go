package core_test

import (
	"slices"
	"testing"

	"weft/internal/core"
)

// Large programs are evicted to MinPrograms, small ones to MaxPrograms: those first that no call
// used since.
func TestEvictPrograms(t *testing.T) {
	for _, c := range []struct{ nodes, programs, kept int }{
		{10, 300, core.MaxPrograms}, {core.MaxProgramNodes, 300, core.MinPrograms}, {core.MaxProgramNodes / 100, 300, 100}, {core.MaxProgramNodes, 5, 5},
	} {
		var list []*core.Entry
		nodes := slices.Grow(core.Entry{}.Traced, c.nodes)[:c.nodes]
		first := &core.Entry{Traced: nodes}
		for i := range c.programs {
			e := first
			if i > 0 {
				e = &core.Entry{Traced: nodes}
			}
			list = core.Evict(slices.Insert(list, 0, e))
			first.Use()
		}
		if len(list) != c.kept || !slices.Contains(list, first) {
			t.Errorf("%d programs of %d nodes: %d are kept, want %d and the one in use", c.programs, c.nodes, len(list), c.kept)
		}
		for _, e := range list {
			e.Use()
		}
		if list = core.Evict(list); len(list) != c.kept {
			t.Errorf("%d are kept when nothing is added, want %d", len(list), c.kept)
		}
		newest := &core.Entry{Traced: nodes}
		want := c.kept
		if c.programs < core.MinPrograms {
			want++
		}
		if list = core.Evict(slices.Insert(list, 0, newest)); list[0] != newest || len(list) != want {
			t.Errorf("all in use: %d are kept, want %d and the newest among them", len(list), want)
		}
	}
}
