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
// and what [Names.Remark] says. A node that several others read is shown once; where it is read again
// stands its number with an arrow.
//
//	mul #1 float32[3]
//	├─ exp #2 float32[3]
//	│  └─ x #3 float32[3]
//	└─ exp #2 ^
func Tree(outs []*ir.Node, names Names) string {
	var b strings.Builder
	for _, l := range Lines(outs, names) {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// A TreeLine is a line of a tree, without its end.
type TreeLine struct {
	Text string
	Node *ir.Node // that it shows; nil for none, and in functions of loops and branches
}

// Lines returns the lines of [Tree].
func Lines(outs []*ir.Node, names Names) []TreeLine {
	w := &tree{names: names, number: map[*ir.Node]int{}}
	if len(outs) > 0 {
		w.uses = uses(outs)
	}
	for i, o := range outs {
		if len(outs) > 1 {
			w.add(nil, outputs(outs)[i]+":")
		}
		w.line(o, "", "", 0)
	}
	for len(w.below) > 0 {
		n := w.below[0]
		w.below = w.below[1:]
		w.add(nil, "")
		w.show(n, "", "", 0)
	}
	return w.lines
}

type tree struct {
	lines  []TreeLine
	names  Names
	number map[*ir.Node]int
	uses   []int
	below  []*ir.Node // what is continued below
}

func (w *tree) add(n *ir.Node, text string) { w.lines = append(w.lines, TreeLine{text, n}) }

// line shows a node behind first, and what it is computed from behind rest.
func (w *tree) line(n *ir.Node, first, rest string, depth int) {
	if at, seen := w.number[n]; seen {
		w.add(n, fmt.Sprintf("%s%s #%d ^", first, w.names.Title(n), at))
		return
	}
	w.number[n] = len(w.number) + 1
	if depth == maxIndent && len(n.Args) > 0 {
		w.add(n, fmt.Sprintf("%s%s #%d, below", first, w.names.Title(n), w.number[n]))
		w.below = append(w.below, n)
		return
	}
	w.show(n, first, rest, depth)
}

func (w *tree) show(n *ir.Node, first, rest string, depth int) {
	text := fmt.Sprintf("%s%s #%d %s", first, w.names.Title(n), w.number[n], Type(n))
	if k := w.uses[n.ID]; k > 1 && !isLeaf(n) {
		text += fmt.Sprintf(", read %d times", k)
	}
	if s := w.names.Remark(n); s != "" {
		text += "  " + s
	}
	w.add(n, text)
	for _, f := range functionsOf(n) {
		below := rest + "│  "
		if len(n.Args) == 0 {
			below = rest + "   "
		}
		w.function(f, below, depth)
	}
	for i, a := range n.Args {
		if i < len(n.Args)-1 {
			w.line(a, rest+"├─ ", rest+"│  ", depth+1)
		} else {
			w.line(a, rest+"└─ ", rest+"   ", depth+1)
		}
	}
}
