package htmlview

import (
	"fmt"
	"regexp"
	"strings"

	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/plan"
)

// A Column is the text of one pass. A page shows its columns side by side.
type Column struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// A Row is a line of a column. The page marks every row that is or uses what the row under the
// mouse is.
type Row struct {
	Text string   `json:"text"`
	Is   []string `json:"is,omitempty"`   // what it defines or comes from
	Uses []string `json:"uses,omitempty"` // what it reads
}

// A Source is the text that was compiled.
type Source struct {
	Text  string
	First int // the number of its first line; 0 if nothing refers to lines
}

// column returns the lines of the source.
func (s Source) column() Column {
	c := Column{Title: "source"}
	for i, text := range strings.Split(strings.TrimRight(s.Text, "\n"), "\n") {
		r := Row{Text: text}
		if s.First > 0 {
			r.Text = fmt.Sprintf("%4d  %s", s.First+i, text)
			r.Is = []string{lineKey(s.First + i)}
		}
		c.Rows = append(c.Rows, r)
	}
	return c
}

func lineKey(n any) string    { return fmt.Sprintf("line %v", n) }
func stepKey(step int) string { return fmt.Sprintf("step %d", step) }

// values numbers nodes by what they compute, so that a node has the same number in every graph.
type values struct {
	number map[string]int
	of     map[*ir.Node]int
}

// add numbers the nodes that outs need.
func (v *values) add(outs []*ir.Node, names graphtext.Names) {
	if len(outs) == 0 {
		return
	}
	for id, need := range ir.Reach(outs) {
		if !need {
			continue
		}
		n := outs[0].Graph.Nodes[id]
		key := names.Title(n) + " " + graphtext.Type(n)
		if n.Attrs != nil {
			key += string(n.Attrs.AppendKey(nil)) // titles leave functions of loops out
		}
		for _, a := range n.Args {
			key += fmt.Sprint(" ", v.of[a])
		}
		k, ok := v.number[key]
		if !ok {
			k = len(v.number)
			v.number[key] = k
		}
		v.of[n] = k
	}
}

// keys is what the row of a node is: its value, and the line of the user that it comes from.
func (v *values) keys(n *ir.Node, names graphtext.Names) (out []string) {
	if k, ok := v.of[n]; ok {
		out = append(out, fmt.Sprint("value ", k))
	}
	if names.Note != nil {
		if note := names.Note(n); note != "" {
			out = append(out, lineKey(note))
		}
	}
	return out
}

// A Stage is a graph between two passes.
type Stage struct {
	Name  string
	Outs  []*ir.Node
	Names graphtext.Names
}

// Columns returns the way through all passes: the source, the graphs, the plan, its loop programs
// and their machine code, which code returns by step. Without the text of a source its column has
// the lines that nodes of the first graph come from.
func Columns(s Source, graphs []Stage, p *plan.Plan, code func(step int) string) []Column {
	v := &values{map[string]int{}, map[*ir.Node]int{}}
	source := Column{Title: "source"}
	if s.Text != "" {
		source = s.column()
	}
	out := []Column{source}
	listed := map[string]bool{}
	for i, g := range graphs {
		v.add(g.Outs, g.Names)
		c := Column{Title: g.Name}
		for _, l := range graphtext.Lines(g.Outs, g.Names) {
			r := Row{Text: l.Text}
			if l.Node != nil {
				r.Is = v.keys(l.Node, g.Names)
				for _, a := range l.Node.Args {
					r.Uses = append(r.Uses, fmt.Sprint("value ", v.of[a]))
				}
				if i == 0 && s.Text == "" && g.Names.Note != nil {
					if note := g.Names.Note(l.Node); note != "" && !listed[note] {
						listed[note] = true
						out[0].Rows = append(out[0].Rows, Row{Text: note, Is: []string{lineKey(note)}})
					}
				}
			}
			c.Rows = append(c.Rows, r)
		}
		out = append(out, c)
	}
	return append(out, steps(p, v, graphs), programs(p), machineCode(p, code))
}

// program returns the loop program of a step, nil for a routine alone.
func program(s *plan.Step) *plan.Kernel {
	if s.Kernel != nil {
		return s.Kernel
	}
	return s.Epilogue
}

// steps is the column of the plan.
func steps(p *plan.Plan, v *values, graphs []Stage) Column {
	c := Column{Title: "plan"}
	for i := range p.Steps {
		s := &p.Steps[i]
		r := Row{Is: []string{stepKey(i)}}
		slots := func(os []plan.Operand) (text string) {
			for _, o := range os {
				if o.Slot >= 0 {
					text += fmt.Sprintf(" s%d", o.Slot)
				}
			}
			return text
		}
		if s.Kernel != nil {
			r.Text = fmt.Sprintf("step %d: kernel %s over %s, buffers%s", i, s.Kernel.Prog.Name, array.ShapeString(s.Kernel.Extents), slots(s.Kernel.Binds))
		} else {
			r.Text = fmt.Sprintf("step %d: routine %s%s ->%s", i, s.Node.Op.OpName(), slots(s.Args), slots(s.Outs))
			if len(graphs) > 0 {
				r.Is = append(r.Is, v.keys(s.Node, graphs[len(graphs)-1].Names)...)
			}
			if s.Epilogue != nil {
				r.Text += ", then " + s.Epilogue.Prog.Name
			}
		}
		c.Rows = append(c.Rows, r)
	}
	return c
}

// loopValue matches the values of a loop program.
var loopValue = regexp.MustCompile(`\bv\d+\b`)

// programs is the column of loop programs. A value is known by its step and number.
func programs(p *plan.Plan) Column {
	c := Column{Title: "loop program"}
	for i := range p.Steps {
		k := program(&p.Steps[i])
		if k == nil {
			continue
		}
		c.Rows = append(c.Rows, listing(i, k.Prog.String(), func(r *Row) {
			before, _, defines := strings.Cut(r.Text, " = ")
			for j, at := range loopValue.FindAllStringIndex(r.Text, -1) {
				key := fmt.Sprintf("%s %s", stepKey(i), r.Text[at[0]:at[1]])
				if j == 0 && defines && at[1] <= len(before) {
					r.Is = append(r.Is, key)
				} else {
					r.Uses = append(r.Uses, key)
				}
			}
		})...)
	}
	return c
}

// machineCode is the column of machine code.
func machineCode(p *plan.Plan, code func(step int) string) Column {
	c := Column{Title: "machine code"}
	for i := range p.Steps {
		if program(&p.Steps[i]) == nil {
			continue
		}
		c.Rows = append(c.Rows, Row{Text: fmt.Sprintf("step %d", i), Is: []string{stepKey(i)}})
		c.Rows = append(c.Rows, listing(i, code(i), func(*Row) {})...)
	}
	return c
}

// listing returns the rows of a text of one step. Remarks "; line 7" say which line of the source
// the rows below come from.
func listing(step int, text string, refine func(r *Row)) (rows []Row) {
	line := ""
	for _, t := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		r := Row{Text: t, Is: []string{stepKey(step)}}
		if n, ok := strings.CutPrefix(strings.TrimSpace(t), "; line "); ok {
			n, _, _ = strings.Cut(n, ":")
			line = lineKey(n)
		}
		if line != "" {
			r.Is = append(r.Is, line)
		}
		refine(&r)
		rows = append(rows, r)
	}
	return rows
}
