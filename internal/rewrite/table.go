package rewrite

import (
	"slices"
	"sync"

	"weft/internal/op"
)

// A table has rules by where they are tried, as numbers of rules. It does not change once it is
// made: runs with the same rules share it, because making one takes longer than rewriting a small
// graph.
type table struct {
	rules []*Rule
	roots [phases]map[*op.Def][]int32 // by the phase in which they are tried first
	any   [phases][]int32             // at all operations
	whole [phases][]int32             // rules of the whole graph
	inner func() *table               // those that are tried within loops and branches
}

func newTable(rules []*Rule) *table {
	t := &table{rules: rules}
	for i := range t.roots {
		t.roots[i] = map[*op.Def][]int32{}
	}
	for i, r := range rules {
		i := int32(i)
		if r.Early {
			t.add(Merge, i)
		}
		if r.Graph != nil {
			t.whole[r.Phase] = append(t.whole[r.Phase], i)
		} else {
			t.add(r.Phase, i)
		}
	}
	t.inner = sync.OnceValue(func() *table {
		within := slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.Outside })
		if len(within) == len(rules) {
			return t
		}
		return newTable(within)
	})
	return t
}

// add enters rule i among the rules that are tried at nodes from a phase on.
func (t *table) add(phase Phase, i int32) {
	r := t.rules[i]
	if r.Roots == nil {
		t.any[phase] = append(t.any[phase], i)
	}
	for _, d := range r.Roots {
		t.roots[phase][d] = append(t.roots[phase][d], i)
	}
}

// noRules is the table of no rules.
var noRules = newTable(nil)

// ofLevels are the tables of the rules that [UpTo] returns.
var ofLevels [Fast + 1]func() *table

func init() {
	for l := range ofLevels {
		ofLevels[l] = sync.OnceValue(func() *table { return newTable(UpTo(Level(l))) })
	}
}

// tableOf returns the table of rules.
func tableOf(rules []*Rule) *table {
	if len(rules) == 0 {
		return noRules
	}
	for l := range ofLevels {
		if all := UpTo(Level(l)); len(all) == len(rules) && &all[0] == &rules[0] {
			return ofLevels[l]()
		}
	}
	return newTable(rules)
}
