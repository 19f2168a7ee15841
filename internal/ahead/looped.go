package ahead

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/numbers"
	"weft/internal/plan"
)

// Column reductions over a free number of rows: the steps that combine blocks of rows are Go loops, since
// how many there are depends on the number. The plan has each kind of step once.

// phases are the names of the numbers of phases in Go.
var phases = [...][]string{
	plan.Short:  {"nRows"},
	plan.Full:   {"nBlocks"},
	plan.Rest:   {"nBlocks", "nRest"},
	plan.Groups: {"nGroups", "nApart"},
	plan.Some:   groupNumbers,
	plan.Last:   groupNumbers,
}

// groupNumbers describe a group of parts: the indices of eight, and how many of them there are.
var groupNumbers = []string{"nAt[0]", "nAt[1]", "nAt[2]", "nAt[3]", "nAt[4]", "nAt[5]", "nAt[6]", "nAt[7]", "nParts"}

// params are the parameters of a function for a phase.
func params(p plan.Phase) string {
	if p == plan.Some || p == plan.Last {
		return "nAt [8]int, nParts int"
	}
	return strings.Join(phases[p], ", ") + " int"
}

// loopedOf returns the loop around the kernel of a step, nil if there is none.
func loopedOf(s *plan.Step) *plan.Looped {
	if s.Kernel == nil {
		return nil
	}
	return s.Kernel.Looped
}

// hasLoops reports that a step of the plan is in a loop.
func (t *trial) hasLoops() bool {
	return slices.ContainsFunc(t.plan.Steps, func(s plan.Step) bool { return loopedOf(&s) != nil })
}

// within returns the fitter for a step: its numbers may depend on the loop around it too, whose variables lengths
// of at most two factors multiply.
func (f *fitter) within(all []*trial, i int) *fitter {
	l := loopedOf(&all[0].plan.Steps[i])
	if l == nil {
		return f
	}
	in := &fitter{names: slices.Concat(f.names, phases[l.Phase])}
	for _, t := range all {
		in.trials = append(in.trials, slices.Concat(t.free, loopedOf(&t.plan.Steps[i]).Values))
	}
	for _, of := range f.basis {
		if len(of) > 2 {
			continue
		}
		in.basis = append(in.basis, of)
		for v := len(f.names); v < len(in.names); v++ {
			if in.adds(v, len(f.names)) {
				in.basis = append(in.basis, append(slices.Clone(of), v))
			}
		}
	}
	slices.SortStableFunc(in.basis, func(a, b []int) int { return len(a) - len(b) })
	return in
}

// adds reports that a number differs between trials, and is not one of the numbers of a phase before it,
// which begin at first.
func (f *fitter) adds(v, first int) bool {
	same := func(w func(trial []int) int) bool {
		return !slices.ContainsFunc(f.trials, func(t []int) bool { return t[v] != w(t) })
	}
	for u := first; u < v; u++ {
		if same(func(t []int) int { return t[u] }) {
			return false
		}
	}
	return !same(func([]int) int { return f.trials[0][v] })
}

// loopedTrials is the number of trials that the fitters of steps in loops need for some lengths.
func loopedTrials(lengths int) int { return (lengths+1)*(lengths+2)/2*(1+len(groupNumbers)) + 4 }

// A loopText is the Go text around a launch in a loop.
type loopText struct{ Open, Close string }

// A loopCall is how a package runs such steps: a function of functions for the phases, the type of a tree of
// these, what they return, and what follows a call.
type loopCall struct{ function, tree, result, end string }

var (
	loopsHere  = loopCall{"inBlocks", "treeOf", "", ""}
	loopsOfAOT = loopCall{"aot.InBlocks", "aot.Tree", "*aot.Launch ", ","}
)

// loop returns the text around step i.
func (f *fitter) loop(all []*trial, i int, c loopCall) (t loopText, err error) {
	steps := all[0].plan.Steps
	l := loopedOf(&steps[i])
	if l == nil {
		return t, nil
	}
	t.Open, t.Close = fmt.Sprintf("func(%s) %s{", params(l.Phase), c.result), "},"
	switch l.Phase {
	case plan.Short:
		rows, err := f.rows(all, i)
		if err != nil {
			return t, err
		}
		t.Open = fmt.Sprintf("%s(%s, %s", c.function, rows, t.Open)
	case plan.Groups:
		t.Open = c.tree + "{" + t.Open
	case plan.Last:
		t.Close = "}},"
		if next := i + 1; next == len(steps) || loopedOf(&steps[next]) == nil || loopedOf(&steps[next]).Phase == plan.Short {
			t.Close = "}})" + c.end
		}
	}
	return t, nil
}

// rows is the number of rows that the reduction of step i has.
func (f *fitter) rows(all []*trial, i int) (string, error) {
	values := make([]int64, len(all))
	for t := range all {
		values[t] = int64(loopedOf(&all[t].plan.Steps[i]).Rows)
	}
	s, ok := f.fit(values)
	if !ok {
		return "", fmt.Errorf("the number of rows of step %d is not a polynomial of the free lengths: fix one with --length", i)
	}
	return s, nil
}

// bytes returns the size of a slot of temporary memory.
func (f *fitter) bytes(all []*trial, slot int) (string, error) {
	values := make([]int64, len(all))
	for t := range all {
		values[t] = int64(all[t].plan.Slots[slot].Bytes)
	}
	blocks := ""
	if i := slices.IndexFunc(all[0].plan.Steps, func(s plan.Step) bool {
		l := loopedOf(&s)
		return l != nil && slices.Contains(l.Parts, slot)
	}); i >= 0 {
		rows, err := f.rows(all, i)
		if err != nil {
			return "", err
		}
		const block = numbers.ColumnBlock
		blocks = fmt.Sprintf("(%s+%d)/%d*", rows, block-1, block)
		for t := range all {
			values[t] /= int64((loopedOf(&all[t].plan.Steps[i]).Rows + block - 1) / block)
		}
	}
	size, ok := f.fit(values)
	if !ok {
		return "", fmt.Errorf("the size of temporary memory is not a polynomial of the free lengths: fix one with --length")
	}
	if strings.Contains(size, "/") {
		size = "(" + size + ")"
	}
	return blocks + size, nil
}

// loopHelper is what a package that imports nothing runs such steps by.
const loopHelper = `
// A treeOf combines parts: groups of eight that are apart by a number, the last group of a level if it has
// fewer, and the group whose combination is the result.
type treeOf struct {
	groups     func(groups, apart int)
	some, last func(at [8]int, parts int)
}

// partsFrom are the indices of some parts from first on; of those that are not there the first one's.
func partsFrom(first, apart, parts int) (at [8]int, n int) {
	for i := range at {
		if at[i] = first; i < parts {
			at[i] += i * apart
		}
	}
	return at, parts
}

// inBlocks reduces rows in blocks, whose results are parts of trees; a few rows at once.
func inBlocks(rows int, short, full func(n int), rest func(blocks, rest int), trees ...treeOf) {
	const block, radix = 16, 8
	if rows <= block {
		short(rows)
		return
	}
	if full(rows / block); rows%block > 0 {
		rest(rows/block, rows%block)
	}
	for _, t := range trees {
		n, apart := (rows+block-1)/block, 1
		for ; n > radix; n, apart = (n+radix-1)/radix, apart*radix {
			if t.groups(n/radix, apart); n%radix > 1 {
				t.some(partsFrom(n/radix*radix*apart, apart, n%radix))
			}
		}
		t.last(partsFrom(0, apart, n))
	}
}
`
