package core

import (
	"cmp"
	"fmt"

	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/plan"
	"weft/internal/rewrite"
)

// Names is what the leaves of a program's graphs are called, and where nodes come from.
func (e *Entry) Names(from []origin) graphtext.Names {
	names := graphtext.Names{Note: func(n *ir.Node) string {
		if n.ID >= len(from) {
			return ""
		}
		return array.ShortPlace(from[n.ID].pc)
	}}
	for i := range e.sources {
		s := &e.sources[i]
		switch name := ""; s.Kind {
		case FromArgument:
			if s.Index < len(e.options.Args) {
				name = e.options.Args[s.Index]
			}
			names.Inputs = append(names.Inputs, cmp.Or(name, fmt.Sprint("arg", s.Index)))
		case fromCapture:
			if f := e.options.Label; f != nil {
				if name = f(s.At.Store); name != "" {
					names.Inputs = append(names.Inputs, name)
					continue
				}
			}
			if name = array.ShortPlace(s.PC); name != "" {
				name = " of " + name
			}
			names.Inputs = append(names.Inputs, fmt.Sprintf("captured%d%s", i, name))
		default:
			names.Inputs = append(names.Inputs, fmt.Sprint("gradient", i))
		}
	}
	return names
}

// latest is the latest program, nil if there is none yet.
func (c *CompiledFunc) latest() *Entry {
	if list := c.Entries.Load(); list != nil {
		return (*list)[0]
	}
	return nil
}

// Shown returns the latest program. It panics if there is none: what needs one.
func (c *CompiledFunc) Shown(what string) *Entry {
	e := c.latest()
	if e == nil {
		array.Failf("compile", "", "%s of a function that was not called yet: the first call compiles it", what)
	}
	return e
}

// Rewritten returns the graph of the program after rewriting.
func (e *Entry) Rewritten() *rewrite.Result {
	return rewrite.RunRules(e.Outs, e.options.rules(), nil)
}

// Planned returns the graph of the program after rewriting with the names that [Entry.Names]
// gives. A node that a rule made is noted with the rule.
func (e *Entry) Planned() (*rewrite.Result, graphtext.Names) {
	r, names := e.Rewritten(), e.Names(e.From)
	names.Maker = func(n *ir.Node) string {
		if by := r.Rule(n); by != nil {
			return by.Name
		}
		return ""
	}
	return r, names
}

// Explain shows the program: the graph as it was traced and as it was planned, then the plan. Graphs
// are formulas; the planned one is a tree too, with lines of the user and rules. The plan has kernels
// in the loop language and their machine code as assembly text.
func (e *Entry) Explain() string {
	if len(e.Outs) == 0 {
		return "nothing is computed\n"
	}
	r, names := e.Planned()
	outs := r.Outs
	before, after := graphtext.Formula(e.Outs, e.Names(e.Traced)), graphtext.Formula(outs, names)
	if before != after {
		before = "as traced:\n" + before + "\nas planned:\n"
	} else {
		before = ""
	}
	return fmt.Sprintf("%s%s\n%s\n%s", before, after, graphtext.Tree(outs, names), e.Code.Explain())
}

// lines returns the lines of the user that a step of the plan computes, one for each operation.
func (e *Entry) lines(step *plan.Step) (lines []string) {
	add := func(id int) {
		if id < len(e.From) {
			if l := array.ShortPlace(e.From[id].pc); l != "" {
				lines = append(lines, l)
			}
		}
	}
	if step.Node != nil {
		add(step.Node.ID)
	}
	for _, k := range []*plan.Kernel{step.Kernel, step.Epilogue} {
		if k != nil {
			for _, id := range k.Nodes {
				add(int(id))
			}
		}
	}
	return lines
}
