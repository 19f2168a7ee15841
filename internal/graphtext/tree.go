package graphtext

import (
	"fmt"
	"strings"

	"weft/internal/ir"
)

// maxIndent is how deep a tree goes before it is continued below: indentation would
// otherwise make the text of a long chain quadratic.
const maxIndent = 40

// Tree shows what outs are computed from, a line a node: what it is, its number, its type
// and what [Names.Note] says. A node that several others read is shown once; where it is read again
// stands its number with an arrow.
//
//	mul #1 float32[3]
//	├─ exp #2 float32[3]
//	│  └─ x #3 float32[3]
//	└─ exp #2 ^
func Tree(outs []*ir.Node, names Names) string {
	w := &tree{names: names, number: map[*ir.Node]int{}}
	if len(outs) > 0 {
		w.uses = uses(outs)
	}
	for i, o := range outs {
		if len(outs) > 1 {
			fmt.Fprintf(&w.b, "%s:\n", outputs(outs)[i])
		}
		w.line(o, "", "", 0)
	}
	for len(w.below) > 0 {
		n := w.below[0]
		w.below = w.below[1:]
		w.b.WriteString("\n")
		w.show(n, "", "", 0)
	}
	return w.b.String()
}

type tree struct {
	b      strings.Builder
	names  Names
	number map[*ir.Node]int
	uses   []int
	below  []*ir.Node // what is continued below
}

// line shows a node behind first, and what it is computed from behind rest.
func (w *tree) line(n *ir.Node, first, rest string, depth int) {
	if at, seen := w.number[n]; seen {
		fmt.Fprintf(&w.b, "%s%s #%d ^\n", first, w.names.Title(n), at)
		return
	}
	w.number[n] = len(w.number) + 1
	if depth == maxIndent && len(n.Args) > 0 {
		fmt.Fprintf(&w.b, "%s%s #%d, below\n", first, w.names.Title(n), w.number[n])
		w.below = append(w.below, n)
		return
	}
	w.show(n, first, rest, depth)
}

func (w *tree) show(n *ir.Node, first, rest string, depth int) {
	fmt.Fprintf(&w.b, "%s%s #%d %s", first, w.names.Title(n), w.number[n], Type(n))
	if k := w.uses[n.ID]; k > 1 && !isLeaf(n) {
		fmt.Fprintf(&w.b, ", read %d times", k)
	}
	if s := w.names.note(n); s != "" {
		w.b.WriteString("  " + s)
	}
	w.b.WriteByte('\n')
	for i, a := range n.Args {
		if i < len(n.Args)-1 {
			w.line(a, rest+"├─ ", rest+"│  ", depth+1)
		} else {
			w.line(a, rest+"└─ ", rest+"   ", depth+1)
		}
	}
}
