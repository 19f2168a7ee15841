// Package htmlview writes pages that show a graph before and after each phase, the plan that it
// became, its kernels with loop programs and machine code, where the time goes, and the texts of
// all passes side by side. A page is one file of HTML that loads nothing.
package htmlview

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/plan"
)

//go:embed page.html
var page string

// A Page is what is shown.
type Page struct {
	Title  string  `json:"title"`
	Notes  string  `json:"notes"` // text below the title
	Phases []Phase `json:"phases"`
	// Columns are the texts of all passes, side by side.
	Columns []Column `json:"columns,omitempty"`
}

// A Phase is the graph at one time: nodes, or the steps of a plan.
type Phase struct {
	Name  string   `json:"name"`
	Boxes []Box    `json:"boxes"`
	Texts []Detail `json:"texts,omitempty"` // all of it
}

// A Box is a node, or a step of a plan with the nodes in it.
type Box struct {
	Title  string   `json:"title"`
	Lines  []string `json:"lines,omitempty"`  // below the title
	Reads  []int    `json:"reads,omitempty"`  // boxes
	Kind   string   `json:"kind"`             // leaf, node, kernel, routine or out
	Detail []Detail `json:"detail,omitempty"` // what it opens to
	// Share is that of the time, Time what the profile says of it.
	Share float64 `json:"share,omitempty"`
	Time  string  `json:"time,omitempty"`

	X int `json:"x"` // of the middle of its upper edge
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

// A Detail is a text under a heading.
type Detail struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// A Cost is what a profile says of a step.
type Cost struct {
	Time  time.Duration // of a call
	Bytes int64
	Flops int64
}

// Graph is a phase that shows the nodes that outs need.
func Graph(name string, outs []*ir.Node, names graphtext.Names) Phase {
	p := Phase{Name: name, Texts: []Detail{{"formulas", graphtext.Formula(outs, names)}, {"tree", graphtext.Tree(outs, names)}, {"Graphviz", graphtext.DOT(outs, names)}}}
	at := map[*ir.Node]int{}
	for id, need := range ir.Reach(outs) {
		if !need {
			continue
		}
		n := outs[0].Graph.Nodes[id]
		b := Box{Title: names.Title(n), Lines: []string{graphtext.Type(n)}, Kind: "node"}
		if len(n.Args) == 0 {
			b.Kind = "leaf"
		}
		if s := names.Remark(n); s != "" {
			b.Lines = append(b.Lines, s)
		}
		for _, a := range n.Args {
			b.Reads = append(b.Reads, at[a])
		}
		at[n] = len(p.Boxes)
		p.Boxes = append(p.Boxes, b)
	}
	for i, o := range outs {
		p.Boxes = append(p.Boxes, Box{Title: output(i, len(outs)), Reads: []int{at[o]}, Kind: "out"})
	}
	p.place()
	return p
}

func output(i, of int) string {
	if of == 1 {
		return "out"
	}
	return fmt.Sprint("out", i)
}

// Plan is a phase that shows the steps of a plan: programs and assembly by step, and what a
// profile says of each, which may be nil.
func Plan(name string, pl *plan.Plan, names graphtext.Names, source func(step int) string, costs []Cost) Phase {
	p := Phase{Name: name, Texts: []Detail{{"plan", pl.String()}}}
	writer := map[int][]int{} // by slot: the boxes that write it
	read := func(b *Box, slot int) {
		for _, w := range writer[slot] {
			if !slices.Contains(b.Reads, w) {
				b.Reads = append(b.Reads, w)
			}
		}
	}
	for i := range pl.Inputs {
		title := fmt.Sprint("in", i)
		if i < len(names.Inputs) && names.Inputs[i] != "" {
			title = names.Inputs[i]
		}
		writer[i] = []int{len(p.Boxes)}
		p.Boxes = append(p.Boxes, Box{Title: title, Lines: []string{fmt.Sprint("s", i)}, Kind: "leaf"})
	}
	all := time.Duration(0)
	for _, c := range costs {
		all += c.Time
	}
	for i := range pl.Steps {
		s := &pl.Steps[i]
		b := Box{Kind: "kernel"}
		var writes []int
		k := s.Kernel
		if k == nil {
			b.Kind, b.Title, k = "routine", s.Node.Op.OpName(), s.Epilogue
			for _, o := range s.Args {
				read(&b, o.Slot)
			}
			for _, o := range s.Outs {
				writes = append(writes, o.Slot)
				if o.Slot >= 0 {
					b.Lines = append(b.Lines, fmt.Sprintf("s%d %s", o.Slot, array.TypeString(o.DType, o.Shape)))
				}
			}
		} else {
			b.Title = k.Prog.Name
			b.Lines = append(b.Lines, "over "+array.ShapeString(k.Extents))
		}
		if k != nil {
			if s.Kernel == nil {
				b.Lines = append(b.Lines, "then "+k.Prog.Name)
			}
			for j, o := range k.Binds {
				if k.Prog.Bufs[j].Write {
					writes = append(writes, o.Slot)
				} else {
					read(&b, o.Slot)
				}
			}
			b.Detail = append(b.Detail, Detail{"loop program", k.Prog.String()}, Detail{"machine code", source(i)})
		}
		if i < len(costs) {
			c := costs[i]
			b.Share = float64(c.Time) / float64(max(all, 1))
			ns := float64(max(c.Time, 1))
			b.Time = fmt.Sprintf("%v, %.0f%%", c.Time, 100*b.Share)
			b.Detail = slices.Insert(b.Detail, 0, Detail{"profile", fmt.Sprintf("%v a call, %.1f%% of the time\n%.3g GB/s of %d bytes, %.3g GFLOP/s of %d operations\n",
				c.Time, 100*b.Share, float64(c.Bytes)/ns, c.Bytes, float64(c.Flops)/ns, c.Flops)})
		}
		for _, w := range writes {
			read(&b, w) // what it overwrites comes before it
		}
		for _, w := range writes {
			writer[w] = append(writer[w], len(p.Boxes))
		}
		p.Boxes = append(p.Boxes, b)
	}
	for i, o := range pl.Outs {
		b := Box{Title: output(i, len(pl.Outs)), Lines: []string{fmt.Sprintf("s%d %s", o.Slot, array.TypeString(o.DType, o.Shape))}, Kind: "out"}
		read(&b, o.Slot)
		p.Boxes = append(p.Boxes, b)
	}
	p.place()
	return p
}

// Sizes of the drawing.
const (
	letter  = 7 // width of a character
	line    = 15
	padding = 8
	gapX    = 24
	gapY    = 40
	maxWide = 44 // characters of a line
	rowWide = 40 // boxes side by side; a level with more takes several rows
)

// place gives every box its place: levels from the top, each below all that it reads, boxes
// of a level in the order of what they read.
func (p *Phase) place() {
	level := make([]int, len(p.Boxes))
	var rows [][]int
	for i := range p.Boxes {
		b := &p.Boxes[i]
		longest := len([]rune(b.Title))
		for _, s := range append(slices.Clone(b.Lines), b.Time) {
			longest = max(longest, len([]rune(s)))
		}
		b.W = min(longest, maxWide)*letter + 2*padding
		b.H = (1+len(b.Lines))*line + 2*padding
		if b.Time != "" {
			b.H += line
		}
		for _, r := range b.Reads {
			level[i] = max(level[i], level[r]+1)
		}
		if b.Kind != "leaf" && level[i] == 0 {
			level[i] = 1
		}
		for len(rows) <= level[i] {
			rows = append(rows, nil)
		}
		rows[level[i]] = append(rows[level[i]], i)
	}
	// Leaves stand above the first box that reads them.
	first := make([]int, len(p.Boxes))
	for i := range first {
		first[i] = -1
	}
	for i := range p.Boxes {
		for _, r := range p.Boxes[i].Reads {
			if first[r] < 0 || level[i] < first[r] {
				first[r] = level[i]
			}
		}
	}
	if len(rows) > 0 {
		leaves := rows[0]
		rows[0] = nil
		for _, i := range leaves {
			at := max(first[i]-1, 0)
			rows[at] = append(rows[at], i)
		}
	}
	y := padding
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b int) int { return p.middle(a) - p.middle(b) })
		for len(row) > 0 {
			part := row[:min(rowWide, len(row))]
			row = row[len(part):]
			wide, high := -gapX, 0
			for _, i := range part {
				wide += p.Boxes[i].W + gapX
				high = max(high, p.Boxes[i].H)
			}
			x := -wide / 2
			for _, i := range part {
				b := &p.Boxes[i]
				b.X, b.Y = x+b.W/2, y
				x += b.W + gapX
			}
			y += high + gapY
		}
	}
}

// middle is where what a box reads stands, in the middle.
func (p *Phase) middle(i int) int {
	b := &p.Boxes[i]
	if len(b.Reads) == 0 {
		return 0
	}
	sum := 0
	for _, r := range b.Reads {
		sum += p.Boxes[r].X
	}
	return sum / len(b.Reads)
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	data, err := json.Marshal(p) // with <, > and & escaped
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer("{{title}}", html.EscapeString(p.Title), "{{data}}", string(data)).WriteString(w, page)
	return err
}
