package weft

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/profile"
	"weft/internal/rewrite"
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

// names is what the leaves of a program's graphs are called, and where nodes come from.
func (e *entry) names(from []origin) graphtext.Names {
	names := graphtext.Names{Note: func(n *ir.Node) string {
		if n.ID >= len(from) {
			return ""
		}
		return lineOf(from[n.ID].pc)
	}}
	for i := range e.sources {
		s := &e.sources[i]
		switch name := ""; s.kind {
		case fromArgument:
			names.Inputs = append(names.Inputs, fmt.Sprint("arg", s.index))
		case fromCapture:
			if name = lineOf(s.pc); name != "" {
				name = " of " + name
			}
			names.Inputs = append(names.Inputs, fmt.Sprintf("captured%d%s", i, name))
		default:
			names.Inputs = append(names.Inputs, fmt.Sprint("gradient", i))
		}
	}
	return names
}

// lineOf is the file and line of a program counter, short.
func lineOf(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

// latest is the latest program, nil if there is none yet.
func (c *compiledFunc) latest() *entry {
	if list := c.entries.Load(); list != nil {
		return (*list)[0]
	}
	return nil
}

func (c *compiledFunc) shown(what string) *entry {
	e := c.latest()
	if e == nil {
		array.Failf("compile", "", "%s of a function that was not called yet: the first call compiles it", what)
	}
	return e
}

// rewritten returns the graph of the program after rewriting.
func (e *entry) rewritten() *rewrite.Result { return rewrite.Run(e.outs, rewrite.Level(e.level)) }

// Explain returns the latest program: the graph as it was planned, as formulas and as a tree
// with the lines of the user that nodes come from, then the plan: its kernels in the loop
// language and their machine code as assembly text. It panics with *[Error] if the function
// was not called yet.
func (c *Compiled[F]) Explain() string {
	c.notNil("explain")
	e := c.c.shown("Explain")
	if len(e.outs) == 0 {
		return "nothing is computed\n"
	}
	outs, names := e.rewritten().Outs, e.names(e.from)
	return fmt.Sprintf("%s\n%s\n%s", graphtext.Formula(outs, names), graphtext.Tree(outs, names), e.code.Explain())
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
		page = pageOf(c.c.shown("View"), &c.c.compiledFunc, p)
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// pageOf shows a program of c.
func pageOf(e *entry, c *compiledFunc, p *Profile) *view.Page {
	page := &view.Page{Title: c.name, Notes: c.reasons()}
	if len(e.outs) > 0 {
		page.Phases = append(page.Phases, view.Graph("traced", e.outs, e.names(e.traced)))
		r, plain := e.rewritten(), e.names(nil)
		for _, ph := range r.Report.Phases {
			page.Phases = append(page.Phases, view.Graph(ph.Phase.String(), ph.Outs, plain))
		}
		page.Phases = append(page.Phases, view.Graph("rewritten", r.Outs, e.names(e.from)))
	}
	var seen []view.Cost
	if p != nil {
		seen = costs(e.code, p.r)
	}
	page.Phases = append(page.Phases, view.Plan("plan", e.code.Plan, e.names(nil), e.code.Source, seen))
	return page
}
