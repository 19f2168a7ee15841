package weft

import (
	"fmt"
	"io"
	"time"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/exec"
	"weft/internal/graphtext"
	"weft/internal/profile"
	"weft/internal/view"
)

// View writes a page of HTML that shows what Eval runs for these arguments: the graph, and
// the plan with its fused kernels, which open to loop programs and machine code and are
// coloured by the time that they take. It evaluates the formula some times for that, unless a
// [Profile] runs. The page is one file that loads nothing. The error is that of Eval, or of w.
func (f *Formula) View(w io.Writer, args ...any) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *view.Page
	err := Try(func() {
		v, ops := f.bind(args, nil)
		p := core.Lookup(v.Def, nil, ops)
		var names graphtext.Names
		names.Inputs, names.Scalars = v.Labels()
		page = &view.Page{Title: f.f.Text, Phases: []view.Phase{view.Graph("graph", p.Graph(), names)}}
		c := p.Compiled()
		costs := measured(c, func() {
			out := make([]array.View, len(p.Outs))
			p.Compute(ops, out)
			for i := range out {
				core.Free(out[i].Store)
			}
		})
		page.Phases = append(page.Phases, view.Plan("plan", c.Plan, names, c.Source, costs))
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// viewTime is for how long View runs what it shows.
const viewTime = 50 * time.Millisecond

// measured returns what the steps of a plan cost while run runs some times; nil if a profile
// runs, which would see them.
func measured(c *exec.Compiled, run func()) []view.Cost {
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

// costs is what a recorder saw of the steps of a plan, a call.
func costs(c *exec.Compiled, r *profile.Recorder) []view.Cost {
	var out []view.Cost
	for _, t := range c.Costs(r) {
		n := max(t.Calls, 1)
		out = append(out, view.Cost{Time: t.Time / time.Duration(n), Bytes: t.Bytes / n, Flops: t.Flops / n})
	}
	return out
}

// Explain returns the latest program: the graph as it was planned, as formulas and as a tree
// with the lines of the user that nodes come from, then the plan: its kernels in the loop
// language and their machine code as assembly text. It panics with *[Error] if the function
// was not called yet.
func (c *Compiled[F]) Explain() string {
	c.notNil("explain")
	e := c.c.Shown("Explain")
	if len(e.Outs) == 0 {
		return "nothing is computed\n"
	}
	outs, names := e.Rewritten().Outs, e.Names(e.From)
	return fmt.Sprintf("%s\n%s\n%s", graphtext.Formula(outs, names), graphtext.Tree(outs, names), e.Code.Explain())
}

// View writes a page of HTML that shows the latest program: the graph as it was traced and
// after each phase of rewriting, with the lines of the user, and the plan with its fused kernels,
// which open to loop programs and machine code. With a profile under which the function was
// called, which may be nil, kernels are coloured by the time that they took. The page is one
// file that loads nothing. The error is that of w, or an *[Error] if the function was not called
// yet.
func (c *Compiled[F]) View(w io.Writer, p *Profile) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *view.Page
	err := Try(func() {
		c.notNil("view")
		if p != nil {
			p.notNil()
		}
		page = pageOf(c.c.Shown("View"), &c.c.CompiledFunc, p)
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// pageOf shows a program of c.
func pageOf(e *core.Entry, c *core.CompiledFunc, p *Profile) *view.Page {
	page := &view.Page{Title: c.Name, Notes: c.Reasons()}
	if len(e.Outs) > 0 {
		page.Phases = append(page.Phases, view.Graph("traced", e.Outs, e.Names(e.Traced)))
		r, plain := e.Rewritten(), e.Names(nil)
		for _, ph := range r.Report.Phases {
			page.Phases = append(page.Phases, view.Graph(ph.Phase.String(), ph.Outs, plain))
		}
		page.Phases = append(page.Phases, view.Graph("rewritten", r.Outs, e.Names(e.From)))
	}
	var seen []view.Cost
	if p != nil {
		seen = costs(e.Code, p.r)
	}
	page.Phases = append(page.Phases, view.Plan("plan", e.Code.Plan, e.Names(nil), e.Code.Source, seen))
	return page
}
