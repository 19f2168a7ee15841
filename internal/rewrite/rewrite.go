// Package rewrite turns a tensor graph into an equal one that computes less, or with more
// digits: it stands between tracing and planning. Fusion and memory are the planner's.
//
// # Rules
//
// A [Rule] looks at one node, and at what that is computed from, and returns the node that
// takes its place, or nil. The rules stand in a few tables by subject: algebra.go, terms.go, logic.go,
// shape.go, writes.go, control.go, loops.go, reduction.go, stable.go, logsum.go, factors.go, gather.go, power.go, matmul.go. What a rule promises is its
// [Level]: an Exact one never changes a bit, of NaN (whose payloads are not compared), of
// infinities and of the sign of zeros too.
//
// # Phases
//
// [Run] copies the graph, so that equal nodes become one, and goes through the other phases
// in order. Rules that ask only what a node is computed from, and apply often, are tried while
// it is copied ([Rule.Early]). A pass goes from the arguments up and tries the rules at every node, again at what
// a rule has made, until none applies there; users of what was replaced are made anew. A
// phase is repeated while rules applied, since by what a node is used, which some rules ask,
// is known only then. The rules of a phase stay in force in those that follow.
//
// # Budgets
//
// A rule that makes work for itself cannot run away: it applies [Ratio] times a node of the
// graph given at most, and a pass that has made as many nodes tries no more rules. The report
// names rules that ran out.
package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weft/internal/ir"
	"weft/internal/op"
)

// A Level is what a rule promises, and which rules [Run] applies: those up to a level.
type Level uint8

const (
	// Exact rules keep every bit of every result.
	Exact Level = iota
	// Stable rules compute the same function of real numbers with no fewer digits: where
	// rounding, overflow or an indeterminate form spoiled a result, it becomes right. The sign
	// of a zero may change, and what is infinite or NaN for that reason alone.
	Stable
	// Fast rules may lose digits, and take 0*x and x-x for 0 and x/x for 1 whatever x is.
	Fast
)

func (l Level) String() string { return [...]string{"exact", "stable", "fast"}[l] }

// A Phase is a part of [Run], in this order.
type Phase uint8

const (
	Merge        Phase = iota // equal computations become one node
	Canonicalise              // one form for what can be written in several, and less of it
	Stabilise                 // forms that overflow or cancel become ones that do not
	BLAS                      // products of matrices
	Specialise                // cheaper operations for special cases
	phases
)

func (p Phase) String() string {
	return [...]string{"merge", "canonicalise", "stabilise", "blas", "specialise"}[p]
}

// A Rule is a rewrite.
type Rule struct {
	Name  string
	Doc   string // what becomes what
	Phase Phase  // the first in which it is tried
	Level Level
	Roots []*op.Def // the operations of nodes it is tried at; nil: all
	// Early is of a rule that asks about nothing but the node and what that is computed from. It is tried while the
	// graph is copied too, before anything is built upon what it replaces.
	Early bool
	// Outside is of a rule that is not tried within loops and branches, where others look for
	// what it replaces.
	Outside bool
	// Apply returns what takes the place of n, of its shape and element type, or nil.
	Apply func(c *Context, n *ir.Node) *ir.Node
	// Graph, in place of Apply, looks at the whole graph before each pass of the phase: at the
	// nodes that the outputs need, which reach marks by ID.
	Graph func(c *Context, reach []bool) []replacement
}

// A replacement is a node and what takes its place.
type replacement struct{ node, by *ir.Node }

// Rules returns all rules in the order in which they are tried.
func Rules() []*Rule {
	return slices.Concat(foldRules, shapeRules, writeRules, controlRules, loopRules, algebraRules, termRules, logicRules, reductionRules, stableRules, factorRules, gatherRules, powerRules, productRules)
}

// Ratio bounds, for each node of a graph, how often one rule applies, and how many nodes a pass
// makes.
const Ratio = 8

// maxPasses is how often a phase is repeated at most.
const maxPasses = 8

// A Result is a graph after rewriting.
type Result struct {
	// Outs take the places of the outputs, in a graph of their own.
	Outs []*ir.Node
	// Origin gives, by ID of a node of that graph, the ID of the node given from which it
	// comes: that whose source line is to blame for it.
	Origin []int32
	Report Report
	makers makers
}

// Rule returns the rule that made a node of the rewritten graph, or of a function of its loops
// and branches. It returns nil where the node is as it was given, arguments aside.
func (r *Result) Rule(n *ir.Node) *Rule { return r.makers.of(n) }

// A Report says what [Run] did.
type Report struct {
	Before, After int // nodes that the outputs need, equal ones counted once
	Tried         int // how often a rule looked at a node
	Phases        []PhaseReport
	Rules         []RuleReport // those that applied, in order of [Rules]
}

// A PhaseReport is one phase of a report.
type PhaseReport struct {
	Phase  Phase
	Passes int
	Outs   []*ir.Node // after it, in the graph that rules worked in
	Nodes  int        // that they need
	Time   time.Duration
}

// A RuleReport is one rule of a report.
type RuleReport struct {
	*Rule
	Count int
	Time  time.Duration // where it applied; that of looking in vain is in the phase's alone
	Spent bool          // it used up its budget
}

// String is a table of the report.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes before, %d after\n", r.Before, r.After)
	for _, p := range r.Phases {
		fmt.Fprintf(&b, "%-14s %2d passes %8d nodes %12v\n", p.Phase, p.Passes, p.Nodes, p.Time)
	}
	for _, u := range r.Rules {
		note := ""
		if u.Spent {
			note = "  budget used up"
		}
		fmt.Fprintf(&b, "  %-6s %-40s %8d times %12v%s\n", u.Level, u.Name, u.Count, u.Time, note)
	}
	return b.String()
}

// Run rewrites the graph of outs by the rules up to a level. The graph given stays as it is.
func Run(outs []*ir.Node, level Level) *Result {
	return RunRules(outs, UpTo(level), nil)
}

// UpTo returns the rules up to a level, in the order of [Rules]. The caller does not change the
// slice.
func UpTo(level Level) []*Rule { return tables[level] }

// LevelOf returns the weakest promise among rules.
func LevelOf(rules []*Rule) Level {
	l := Exact
	for _, r := range rules {
		l = max(l, r.Level)
	}
	return l
}

// tables are the rules of each level.
var tables [Fast + 1][]*Rule

func init() {
	for _, r := range Rules() {
		for l := r.Level; l <= Fast; l++ {
			tables[l] = append(tables[l], r)
		}
	}
}

// RunRules is [Run] with rules chosen by the caller. watch, if not nil, is called with each
// rewrite before it takes effect: who checks that before and after are equal learns which rule
// is to blame.
func RunRules(outs []*ir.Node, rules []*Rule, watch func(r *Rule, before, after *ir.Node)) *Result {
	return newContext(tableOf(rules), watch).run(outs)
}

// run is [RunRules] with the rules of c.
func (c *Context) run(outs []*ir.Node) *Result {
	res := &Result{makers: c.makers}
	if len(outs) == 0 {
		return res
	}
	outs = c.take(outs)
	res.Report.Phases = append(res.Report.Phases, PhaseReport{Merge, 1, outs, reached(outs), time.Since(c.start)})
	for phase := Canonicalise; phase < phases; phase++ {
		start := time.Now()
		passes := 0
		for again := true; again && passes < maxPasses; passes++ {
			outs, again = c.pass(phase, passes == 0, outs)
		}
		res.Report.Phases = append(res.Report.Phases, PhaseReport{phase, passes, outs, c.needed, time.Since(start)})
	}
	last := newContext(noRules, nil)
	res.Outs = last.take(outs)
	res.Origin = make([]int32, len(last.g.Nodes))
	by := make([]*Rule, len(last.g.Nodes))
	for i, id := range last.origin {
		res.Origin[i], by[i] = c.origin[id], c.by[id]
	}
	c.makers[last.g] = by
	res.Report.Before, res.Report.After, res.Report.Tried = res.Report.Phases[0].Nodes, len(res.Origin), c.tried
	for _, u := range c.uses {
		if u.Count > 0 {
			res.Report.Rules = append(res.Report.Rules, u)
		}
	}
	return res
}

// reached is how many nodes the outputs need.
func reached(outs []*ir.Node) int {
	n := 0
	for _, need := range ir.Reach(outs) {
		if need {
			n++
		}
	}
	return n
}
