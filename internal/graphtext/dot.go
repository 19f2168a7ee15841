package graphtext

import (
	"fmt"
	"strings"

	"weft/internal/ir"
)

// DOT shows what outs are computed from in the language of Graphviz.
func DOT(outs []*ir.Node, names Names) string {
	var b strings.Builder
	b.WriteString("digraph weft {\n  node [shape=box, fontname=monospace];\n")
	for _, n := range order(outs) {
		shape := ""
		if isLeaf(n) {
			shape = ", shape=ellipse"
		}
		label := names.Title(n) + "\n" + Type(n)
		if s := names.Remark(n); s != "" {
			label += "\n" + s
		}
		fmt.Fprintf(&b, "  n%d [label=%s%s];\n", n.ID, quote(label), shape)
		for i, a := range n.Args {
			place := ""
			if len(n.Args) > 1 {
				place = fmt.Sprintf(" [label=%q]", fmt.Sprint(i))
			}
			fmt.Fprintf(&b, "  n%d -> n%d%s;\n", a.ID, n.ID, place)
		}
	}
	for i, name := range outputs(outs) {
		fmt.Fprintf(&b, "  o%d [label=%s, shape=ellipse];\n  n%d -> o%d;\n", i, quote(name), outs[i].ID, i)
	}
	b.WriteString("}\n")
	return b.String()
}

// quote writes a string as DOT does: of all characters the quote alone is escaped, and
// a backslash stands for itself if it is doubled.
func quote(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
	return `"` + s + `"`
}
