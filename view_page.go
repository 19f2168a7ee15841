package weft

import (
	"io"
	"time"

	"weft/internal/array"
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
	var page *view.Page
	err := Try(func() {
		v, ops := f.bind(args, nil)
		p := lookup(v.Def, nil, ops)
		var names graphtext.Names
		names.Inputs, names.Scalars = v.Labels()
		page = &view.Page{Title: f.f.Text, Phases: []view.Phase{view.Graph("graph", p.graph(), names)}}
		c := p.compiled()
		costs := measured(c, func() {
			out := make([]array.View, len(p.outs))
			p.compute(ops, out)
			for i := range out {
				free(out[i].Store)
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
	var costs []view.Cost
	for _, t := range c.Costs(r) {
		n := max(t.Calls, 1)
		costs = append(costs, view.Cost{Time: t.Time / time.Duration(n), Bytes: t.Bytes / n, Flops: t.Flops / n})
	}
	return costs
}
