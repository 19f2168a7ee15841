package graphtext

import (
	"fmt"
	"strings"

	"weft/internal/ir"
	"weft/internal/op"
)

// Functions of loops and branches, shown below the node that runs them.

// function is a function of a loop or a branch, with names for its arguments and results.
type function struct {
	title     string
	outs      []*ir.Node
	arguments []string
	results   []string
}

// functionsOf returns the functions that a node runs.
func functionsOf(n *ir.Node) []function {
	switch a := n.Attrs.(type) {
	case op.Looping:
		return []function{stepOf(a)}
	case op.Branches:
		var list []function
		for i, f := range []*op.Function{a.Then, a.Else} {
			list = append(list, function{[]string{"then", "else"}[i], f.Nodes(), numbered("given", len(f.Args)), numbered("result", len(f.Results))})
		}
		return list
	}
	return nil
}

// stepOf returns the step of a loop. Its arguments are elements of sequences, states and constants; its
// results the next states, what is kept of the step, and whether the loop is over.
func stepOf(a op.Looping) function {
	f := function{title: "each step", outs: a.Body.Nodes()}
	f.arguments = append(f.arguments, numbered("x", a.Seqs)...)
	f.arguments = append(f.arguments, numbered("state", a.Carries)...)
	f.arguments = append(f.arguments, numbered("constant", len(a.Body.Args)-len(f.arguments))...)
	f.results = append(f.results, numbered("next state", a.Carries)...)
	f.results = append(f.results, numbered("kept", a.Kept())...)
	if a.Until {
		f.results = append(f.results, "until")
	}
	return f
}

func numbered(name string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(name, i))
	}
	return list
}

// looping describes a loop without its step.
func looping(a op.Looping) string {
	list := []string{fmt.Sprint(a.Steps, " steps")}
	if a.Counted || a.Until {
		list[0] = "at most " + list[0]
	}
	if a.Reverse {
		list = append(list, "from the last")
	}
	if a.Truncate > 0 {
		list = append(list, fmt.Sprint("gradients of the last ", a.Truncate))
	}
	return strings.Join(list, ", ")
}

// function shows a function behind rest, with numbers that go on.
func (w *tree) function(f function, rest string, depth int) {
	in := &tree{names: Names{Inputs: f.arguments, Maker: w.names.Maker}, number: w.number, uses: uses(f.outs)}
	in.add(nil, rest+f.title+":")
	for i, o := range f.outs {
		in.line(o, rest+"  "+f.results[i]+" = ", rest+"  ", depth+1)
	}
	for len(in.below) > 0 {
		n := in.below[0]
		in.below = in.below[1:]
		in.show(n, rest+"  ", rest+"  ", depth)
	}
	for _, l := range in.lines {
		w.add(nil, l.Text)
	}
}
