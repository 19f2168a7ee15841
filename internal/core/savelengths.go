package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/saved"
)

// Which lengths of a saved function are free, and the traces that find what depends on them.

// SaveNames say what the inputs and the outputs of a saved function are called, and which lengths of
// inputs are free.
type SaveNames struct {
	Inputs  []string // "x", or "x[n 784]": a name of a size is a free length
	Outputs []string
	Name    func(t *Tensor) string // of captured memory, "" if it has none
}

// boundLengths are lengths that are traced besides, since a size may be a minimum, a remainder or another
// number that changes its form: short and long ones, with all remainders by 3, 4 and 5. A trace that
// fails says nothing: the function does not take that length.
var boundLengths = []int{2, 3, 4, 5, 6, 7, 14, 23, 61, 136, 1009, 4000}

// trialOffsets are what is added to a length in the traces that look for what depends on it. They have
// all remainders by 4, so that a division that rounds is seen.
var trialOffsets = []int{1, 2, 4, 7, 11}

// trialFactors are multiples of a length, for functions that want it to be one.
var trialFactors = []int{2, 3, 4, 5, 7}

// A Recorder traces a function for arguments of some types. Where it asks for a size that is a value, it
// gets size(i) for the i-th one.
type Recorder func(types []ir.Type, size func(i int) int) *TracedGraph

// Save returns a function as data. record traces it for types that differ from the example in the free
// lengths alone.
func Save(example []ir.Type, o SaveNames, record Recorder) *Unwritten {
	names, sizes := make([]string, len(example)), make([][]string, len(example))
	if len(o.Inputs) > 0 && len(o.Inputs) != len(example) {
		array.Failf("save", "Inputs", "are %d, the arguments have %s", len(o.Inputs), array.Count(len(example), "tensor"))
	}
	for i := range example {
		if names[i] = "x"; len(example) > 1 {
			names[i] = fmt.Sprint("x", i)
		}
		if len(o.Inputs) > 0 {
			names[i], sizes[i] = parseInput(o.Inputs[i], example[i])
		}
	}
	lengths, of := freeLengths(names, sizes, example)
	if len(lengths) == 0 {
		g := record(example, sizeTrial(0))
		if len(g.sizes) == 0 {
			p := g.Program(names, outputNames(g, o.Outputs), o.Name)
			g.Verify(p, nil)
			return g.unwritten(p)
		}
	}
	at, own := make([]int, len(lengths)), make([]int, len(lengths)) // of the trials, of the example
	for i, s := range sizes {
		for axis, l := range s {
			if k := slices.Index(lengths, l); k >= 0 {
				own[k] = example[i].Shape[axis]
				at[k] = max(own[k], 3)
			}
		}
	}
	var first error
	for _, multiples := range []bool{false, true} {
		var p *Unwritten
		err := array.Try(func() { p = saveTrials(example, names, lengths, of, at, own, multiples, o, record) })
		if err == nil {
			return p
		}
		if first == nil {
			first = err
		}
	}
	panic(first)
}

// saveTrials traces the function for several sets of lengths and returns a program for all.
func saveTrials(example []ir.Type, names, lengths []string, of [][]int, at, own []int, multiples bool, o SaveNames, record Recorder) *Unwritten {
	n, free := len(trialOffsets), len(lengths)
	var trials [][]int
	var all []*saved.Program
	var graphs []*TracedGraph
	trace := func(trial []int) {
		g := record(withLengths(example, of, trial), sizeTrial(len(trials)))
		for _, s := range g.sizes {
			if trial = append(trial, s.n); s.n < 2 && len(trials) > n+1 {
				array.Failf("save", "", "a size of %d does what longer ones do", s.n) // as free lengths
			}
		}
		trials, graphs = append(trials, trial), append(graphs, g)
		all = append(all, g.Program(names, outputNames(g, o.Outputs), o.Name))
		if !slices.Equal(g.generators, graphs[0].generators) || !slices.Equal(g.host.variables, graphs[0].host.variables) {
			array.Failf("save", "", "the function draws from other generators for other lengths, or counts otherwise")
		}
	}
	for t := range n + 1 {
		trial := make([]int, free)
		for k := range trial {
			trial[k] = trialLength(at[k], k, t, multiples)
		}
		trace(trial)
	}
	trace(slices.Clip(own))
	for t := range boundLengths {
		trial := make([]int, free)
		for k := range trial {
			trial[k] = boundLengths[(t*(1+k%(len(boundLengths)-1))+3*k)%len(boundLengths)]
		}
		array.Try(func() { trace(trial) })
	}
	lengths = slices.Clip(lengths)
	for j := range graphs[0].sizes {
		lengths = append(lengths, fmt.Sprint("size ", j+1))
	}
	for t := range trials {
		if len(trials[t]) != len(lengths) {
			array.Failf("save", "", "the function asks for other sizes that are values where lengths differ")
		}
	}
	for j := free; j < len(lengths); j++ {
		values := map[int]bool{}
		for t := range n {
			values[trials[t][j]] = true
		}
		if len(values) < minSizes {
			array.Failf("save", "", "a size that is a value has too little room on an axis to find what depends on it")
		}
	}
	fit, fitted := slices.Clone(all[:n]), slices.Clone(trials[:n]) // number n checks
	like := func(t int) bool { return t <= n || all[t].Like(all[0]) }
	for t := n + 1; t < len(all); t++ {
		if like(t) {
			fit, fitted = append(fit, all[t]), append(fitted, trials[t])
		}
	}
	p := saved.Unify(fit, lengths, of, fitted, sameElements)
	for j := range graphs[0].sizes {
		addSize(p, j, free+j, graphs, trials, like, names, of, o)
	}
	for t, trial := range trials {
		// Less rows than a stencil reads are refused. A part that is all of an axis has no node of its own.
		if !like(t) && (p.Takes(trial) != nil || slices.ContainsFunc(trial[free:], func(n int) bool { return slices.Contains(trial[:free], n) })) {
			continue
		}
		err := array.Try(func() {
			if like(t) {
				graphs[t].Verify(p, trial)
				return
			}
			p.SameEffects(all[t])
			p.VerifySame(all[t], trial) // a size of 1 is not expanded, and equal constants are one
		})
		if err != nil {
			array.Failf("save", "", "the function takes %s, and not as a file would: %v", lengthsText(lengths, trial), err)
		}
	}
	return graphs[0].unwritten(p)
}

// sameElements reports whether two arrays are one, or hold the same elements, as arrays that each trace makes anew.
func sameElements(a, b *array.View) bool {
	if a.Same(b) {
		return true
	}
	x, done := (&Tensor{v: *a}).Lend()
	defer done()
	y, done := (&Tensor{v: *b}).Lend()
	defer done()
	return saved.SameElements(&x, &y)
}

// addSize adds the graph of a size to a program, found from the trials in which the function does the
// same. The size is length number at.
func addSize(p *saved.Program, j, at int, graphs []*TracedGraph, trials [][]int, like func(t int) bool, names []string, of [][]int, o SaveNames) {
	all := make([]*saved.Program, len(graphs))
	var fit []*saved.Program
	var fitted [][]int
	for t, g := range graphs {
		if !like(t) {
			continue
		}
		all[t] = g.sizes[j].graph.Program(names, []string{"size"}, o.Name)
		if t < len(trialOffsets) || t > len(trialOffsets) && all[t].Like(all[0]) {
			fit, fitted = append(fit, all[t]), append(fitted, trials[t][:at])
		}
	}
	q := saved.Unify(fit, p.Lengths[:at], of, fitted, sameElements)
	for t, g := range graphs {
		switch {
		case all[t] == nil:
		case all[t].Like(all[0]):
			g.sizes[j].graph.Verify(q, trials[t][:at])
		default: // equal constants are one
			q.VerifySame(all[t], trials[t][:at])
		}
	}
	p.AddSize(q)
}

// sizeTrial gives the sizes that are values in trial t: in most trials shorter than lengths, greater than
// most numbers of a graph, and with all remainders by 4.
func sizeTrial(t int) func(i int) int {
	list := trialSizes
	if t > len(trialOffsets)+1 {
		list = boundSizes
	}
	return func(i int) int {
		n := len(list)
		return list[(t*(1+i%(n-1))+i)%n] + i/n
	}
}

var (
	trialSizes = []int{11, 13, 16, 14, 17, 12, 18}
	boundSizes = []int{2, 5, 100, 3, 40, 7, 19}
)

// minSizes is how many values a size needs in the trials, so that what depends on it is seen.
const minSizes = 3

// unwritten is the program with the generators and variables of the trace.
func (r *TracedGraph) unwritten(p *saved.Program) *Unwritten {
	return &Unwritten{p, r.of, r.generators, r.host.variables}
}

// lengthsText is a set of lengths, as "n = 2, t = 7".
func lengthsText(names []string, lengths []int) string {
	var each []string
	for k, name := range names {
		each = append(each, fmt.Sprint(name, " = ", lengths[k]))
	}
	return strings.Join(each, ", ")
}

// withLengths returns types with these lengths for the axes that are free.
func withLengths(example []ir.Type, of [][]int, lengths []int) []ir.Type {
	types := slices.Clone(example)
	for i := range types {
		types[i].Shape = slices.Clone(types[i].Shape)
		for axis, k := range of[i] {
			if k >= 0 {
				types[i].Shape[axis] = lengths[k]
			}
		}
	}
	return types
}

// trialLength is length number k in trial t, where at is the length of the example. The order of the
// trials differs from length to length, so that no length is a linear function of another.
func trialLength(at, k, t int, multiples bool) int {
	n, step := len(trialOffsets), 2*k+1
	order := (t*(1+k%(n-1)) + k/(n-1)) % n
	switch {
	case multiples && t < n:
		return at * trialFactors[order] * step
	case multiples:
		return at * (11 + k*k) * step
	case t < n:
		return at + trialOffsets[order]*step
	}
	return at + 23*step + k*k
}

// freeLengths returns the names of free lengths, and for each axis of each input which one it is, -1 for
// none.
func freeLengths(names []string, sizes [][]string, example []ir.Type) (lengths []string, of [][]int) {
	first := map[string]int{}
	of = make([][]int, len(sizes))
	for i, s := range sizes {
		of[i] = make([]int, len(example[i].Shape))
		for axis := range of[i] {
			of[i][axis] = -1
		}
		for axis, l := range s {
			n := example[i].Shape[axis]
			if k, err := strconv.Atoi(l); err == nil {
				if k != n {
					array.Failf("save", "Inputs", "%s has the size %d for axis %d, the example %d", names[i], k, axis, n)
				}
				continue
			}
			if !slices.Contains(lengths, l) {
				lengths = append(lengths, l)
				first[l] = n
			}
			if first[l] != n {
				array.Failf("save", "Inputs", "%s is %d and %d in the example", l, first[l], n)
			}
			of[i][axis] = slices.Index(lengths, l)
		}
	}
	return lengths, of
}

// parseInput reads a name, or a name and sizes, such as x[n 784].
func parseInput(text string, example ir.Type) (name string, sizes []string) {
	name, rest, ok := strings.Cut(text, "[")
	name = strings.TrimSpace(name)
	if !IsIdentifier(name) {
		array.Failf("save", "Inputs", "%q does not begin with a name", text)
	}
	if !ok {
		return name, nil
	}
	rest, ok = strings.CutSuffix(strings.TrimSpace(rest), "]")
	sizes = strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if !ok || len(sizes) != len(example.Shape) {
		array.Failf("save", "Inputs", "%q does not fit %s: want a name, or a name and a size for each axis, as in x[n 784]", text, array.TypeString(example.DType, example.Shape))
	}
	for _, s := range sizes {
		if _, err := strconv.Atoi(s); err != nil && !IsIdentifier(s) {
			array.Failf("save", "Inputs", "%q has the size %q: want a number or a name", text, s)
		}
	}
	return name, sizes
}

// IsIdentifier reports whether a name is letters, digits and "_.", and begins with none of the digits.
func IsIdentifier(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r) && r != '.') {
			return false
		}
	}
	return s != ""
}

func outputNames(g *TracedGraph, names []string) []string {
	n := g.Results()
	if len(names) == 0 {
		for i := range n {
			if name := fmt.Sprint("y", i); n > 1 {
				names = append(names, name)
			} else {
				names = append(names, "y")
			}
		}
	}
	if len(names) != n {
		array.Failf("save", "Outputs", "are %d, the function has %s", len(names), array.Count(n, "result"))
	}
	for i, name := range names {
		if !IsIdentifier(name) || slices.Contains(names[:i], name) {
			array.Failf("save", "Outputs", "%q is not a name, or given twice", name)
		}
	}
	return names
}
