package core

import (
	"time"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/profile"
)

// Page shows what runs for operands of p's signature: the graph, the plan and, side by side, the
// texts of all passes. It runs p some times for the time that steps take, unless a profile runs.
func (p *Planned) Page(title string, source htmlview.Source, names graphtext.Names, ops []Operand) *htmlview.Page {
	c, graph := p.Compiled(), p.Graph()
	costs := measured(c, func() {
		out := make([]array.View, len(p.Outs))
		p.Compute(ops, out)
		for i := range out {
			Free(out[i].Store)
		}
	})
	return &htmlview.Page{
		Title:   title,
		Phases:  []htmlview.Phase{htmlview.Graph("graph", graph, names), htmlview.Plan("plan", c.Plan, names, c.Source, costs)},
		Columns: htmlview.Columns(source, []htmlview.Stage{{Name: "graph", Outs: graph, Names: names}}, c.Plan, c.Source),
	}
}

// Page shows a program of c: the graph as it was traced and after each phase of rewriting, the
// plan and, side by side, the texts of all passes. r, which may be nil, has the time of steps.
func (e *Entry) Page(c *CompiledFunc, r *profile.Recorder) *htmlview.Page {
	page := &htmlview.Page{Title: c.Name, Notes: c.Reasons()}
	plain := e.Names(nil)
	var graphs []htmlview.Stage
	if len(e.Outs) > 0 {
		graphs = append(graphs, htmlview.Stage{Name: "traced", Outs: e.Outs, Names: e.Names(e.Traced)})
		w, names := e.Planned()
		for _, ph := range w.Report.Phases {
			graphs = append(graphs, htmlview.Stage{Name: ph.Phase.String(), Outs: ph.Outs, Names: plain})
		}
		graphs = append(graphs, htmlview.Stage{Name: "rewritten", Outs: w.Outs, Names: names})
	}
	for _, g := range graphs {
		page.Phases = append(page.Phases, htmlview.Graph(g.Name, g.Outs, g.Names))
	}
	var seen []htmlview.Cost
	if r != nil {
		seen = costs(e.Code, r)
	}
	page.Phases = append(page.Phases, htmlview.Plan("plan", e.Code.Plan, plain, e.Code.Source, seen))
	page.Columns = htmlview.Columns(htmlview.Source{}, graphs, e.Code.Plan, e.Code.Source)
	return page
}

// viewTime is for how long a page runs what it shows.
const viewTime = 50 * time.Millisecond

// measured returns what the steps of a plan cost while run runs some times; nil if a profile
// runs, which would see them.
func measured(c *exec.Compiled, run func()) []htmlview.Cost {
	run()
	r := profile.Begin(profile.Options{})
	if r == nil {
		return nil
	}
	defer r.End()
	for start := time.Now(); time.Since(start) < viewTime; {
		run()
	}
	return costs(c, r)
}

// costs returns what a recorder saw of the steps of a plan, a call.
func costs(c *exec.Compiled, r *profile.Recorder) []htmlview.Cost {
	var out []htmlview.Cost
	for _, t := range c.Costs(r) {
		n := max(t.Calls, 1)
		out = append(out, htmlview.Cost{Time: t.Time / time.Duration(n), Bytes: t.Bytes / n, Flops: t.Flops / n})
	}
	return out
}

// A Profile is what a user holds of a recorder.
type Profile struct{ r *profile.Recorder }

// NewProfile returns a profile of a recorder.
func NewProfile(r *profile.Recorder) *Profile { return &Profile{r} }

// Recorder returns the recorder, nil of a nil or zero profile.
func (p *Profile) Recorder() *profile.Recorder {
	if p == nil {
		return nil
	}
	return p.r
}
