package sym

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/formula"
	"weft/internal/rewrite"
)

// A Mode is an option of [Function]: it says which rules may rewrite what the function computes.
type Mode uint8

const (
	// Exact applies the rules that keep every bit of every result.
	Exact = Mode(rewrite.Exact)
	// Stable, the default, adds rules that compute the same function of real numbers with no fewer
	// digits: where rounding, overflow or cancellation spoiled a result, it becomes right.
	Stable = Mode(rewrite.Stable)
	// Fast adds rules that save work and may lose digits, and that take x*0 and x-x for 0 and x/x
	// for 1, also where x is infinite or NaN.
	Fast = Mode(rewrite.Fast)
)

// String returns "exact", "stable" or "fast".
func (m Mode) String() string {
	if m > Fast {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return rewrite.Level(m).String()
}

func (m Mode) check(opName string) {
	if m > Fast {
		array.Failf(opName, "mode", "is %d: want sym.Exact, sym.Stable or sym.Fast", uint8(m))
	}
}

// A Rule is a rule of rewriting.
type Rule struct {
	Name string
	Mode Mode   // the first that applies it
	Doc  string // what becomes what
}

// Rules lists the rules of rewriting, in the order in which they are tried.
func Rules() []Rule {
	var list []Rule
	for _, r := range rewrite.Rules() {
		list = append(list, Rule{r.Name, Mode(r.Level), r.Doc})
	}
	return list
}

// Including is an option of [Function] that adds rules, by their names, to the rules of the mode.
func Including(rules ...string) Option { return including(slices.Clone(rules)) }

// Excluding is an option of [Function] that leaves out rules, by their names.
func Excluding(rules ...string) Option { return excluding(slices.Clone(rules)) }

type (
	including []string
	excluding []string
)

func (m Mode) option(s *settings) {
	m.check("function")
	s.choice.mode = m
}
func (names including) option(s *settings) {
	s.choice.including = append(s.choice.including, names...)
}
func (names excluding) option(s *settings) {
	s.choice.excluding = append(s.choice.excluding, names...)
}

// A choice says which rules a function applies.
type choice struct {
	mode                 Mode
	including, excluding []string
}

// rules returns the rules in the order in which they are tried.
func (c *choice) rules() []*rewrite.Rule {
	all := rewrite.Rules()
	known := map[string]*rewrite.Rule{}
	for _, r := range all {
		known[r.Name] = r
	}
	for _, name := range slices.Concat(c.including, c.excluding) {
		if known[name] == nil {
			array.Failf("function", "rules", "there is no rule %q%s (sym.Rules lists them%s)", name, likely(name, all), ofTheano(name))
		}
		if slices.Contains(c.including, name) && slices.Contains(c.excluding, name) {
			array.Failf("function", "rules", "%q is both included and excluded", name)
		}
	}
	return slices.DeleteFunc(all, func(r *rewrite.Rule) bool {
		return slices.Contains(c.excluding, r.Name) || r.Level > rewrite.Level(c.mode) && !slices.Contains(c.including, r.Name)
	})
}

// ofTheano says what to do with a name of a rule of Theano.
func ofTheano(name string) string {
	if !strings.HasPrefix(name, "local_") {
		return ""
	}
	return "; docs/from-theano.md shows what sym does for Theano's"
}

// maxLikely bounds how many rules an error suggests.
const maxLikely = 6

// likely returns the names of rules that a misspelt name may mean: the nearest, and those with its
// words.
func likely(name string, rules []*rewrite.Rule) string {
	var names, found []string
	for _, r := range rules {
		names = append(names, r.Name)
	}
	if near := formula.Nearest(name, slices.Clone(names)); near != "" {
		found = append(found, near)
	}
	for _, word := range strings.Fields(strings.ToLower(name)) {
		for _, n := range names {
			if len(word) > 3 && len(found) < maxLikely && strings.Contains(n, word) && !slices.Contains(found, n) {
				found = append(found, n)
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ": did you mean \"" + strings.Join(found, "\", \"") + "\"?"
}
