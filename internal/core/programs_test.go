package core

import (
	"slices"
	"testing"
)

// Large programs are evicted to minPrograms, small ones to maxPrograms: those first that no call
// used since.
func TestEvictPrograms(t *testing.T) {
	for _, c := range []struct{ nodes, programs, kept int }{
		{10, 300, maxPrograms}, {maxProgramNodes, 300, minPrograms}, {maxProgramNodes / 100, 300, 100}, {maxProgramNodes, 5, 5},
	} {
		var list []*Entry
		nodes := make([]origin, c.nodes)
		first := &Entry{Traced: nodes}
		for i := range c.programs {
			e := first
			if i > 0 {
				e = &Entry{Traced: nodes}
			}
			list = evict(slices.Insert(list, 0, e))
			first.use()
		}
		if len(list) != c.kept || !slices.Contains(list, first) {
			t.Errorf("%d programs of %d nodes: %d are kept, want %d and the one in use", c.programs, c.nodes, len(list), c.kept)
		}
		for _, e := range list {
			e.use()
		}
		if list = evict(list); len(list) != c.kept {
			t.Errorf("%d are kept when nothing is added, want %d", len(list), c.kept)
		}
		newest := &Entry{Traced: nodes}
		want := c.kept
		if c.programs < minPrograms {
			want++
		}
		if list = evict(slices.Insert(list, 0, newest)); list[0] != newest || len(list) != want {
			t.Errorf("all in use: %d are kept, want %d and the newest among them", len(list), want)
		}
	}
}
