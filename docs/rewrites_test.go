package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/rewrite"
	"weft/sym"
)

// A rewriteRow is one line of rewrites.txt.
type rewriteRow struct {
	number        int
	kind          string // "exact", "stable", "fast", "yes", "no"
	types         map[string]string
	before, after string // after: empty for sentences
}

// readRewrites returns the rows of rewrites.txt and the names of Theano's rules by number.
func readRewrites(t *testing.T) (rows []rewriteRow, names []string) {
	t.Helper()
	text, err := os.ReadFile("rewrites.txt")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^(\d+) (.*)$`)
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if m := head.FindStringSubmatch(line); m != nil {
			names = append(names, m[2])
			if m[1] != fmt.Sprint(len(names)) {
				t.Fatalf("rewrites.txt:%d: rule %s, want %d", i+1, m[1], len(names))
			}
			continue
		}
		first, rest, ok := strings.Cut(line, ": ")
		words := strings.Fields(first)
		if !ok || len(words)%2 == 0 || !slices.Contains([]string{"exact", "stable", "fast", "yes", "no"}, words[0]) {
			t.Fatalf("rewrites.txt:%d: %s", i+1, line)
		}
		r := rewriteRow{number: len(names), kind: words[0], types: map[string]string{}, before: rest}
		for i := 1; i < len(words); i += 2 {
			r.types[words[i]] = words[i+1]
		}
		if r.kind != "yes" && r.kind != "no" {
			if r.before, r.after, ok = strings.Cut(rest, " -> "); !ok {
				t.Fatalf("rewrites.txt:%d: no arrow", i+1)
			}
		}
		rows = append(rows, r)
	}
	return rows, names
}

// expressions are what formulas have no words for, of a, b and c.
var expressions = map[string]func(x ...*weft.Tensor) *weft.Tensor{
	"float32(float64(a))":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].To(weft.Float64).To(weft.Float32) },
	"exp(a.Expand(4))":           func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(4).Exp() },
	"exp(a.Expand(4)) + b":       func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(4).Exp().Add(x[1]) },
	"(a @ b).T":                  func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(x[1]).T() },
	"a.Reshape(2, 2).Reshape(4)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(2, 2).Reshape(4) },
	"a[1:4][1:3]":                func(x ...*weft.Tensor) *weft.Tensor { return part(part(x[0], 1, 4), 1, 3) },
	"a[:]":                       func(x ...*weft.Tensor) *weft.Tensor { return part(x[0], 0, 4) },
	"exp(a)[2:3]":                func(x ...*weft.Tensor) *weft.Tensor { return part(x[0].Exp(), 2, 3) },
	"(a @ b)[0:1]":               func(x ...*weft.Tensor) *weft.Tensor { return part(x[0].MatMul(x[1]), 0, 1) },
	"stack(a, b)[1]":             func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:2], 0).Index(1) },
	"set(a[1:3], b[0:2])[1:3]": func(x ...*weft.Tensor) *weft.Tensor {
		return part(x[0].IndexPut(part(x[1], 0, 2), weft.Range(1, 3)), 1, 3)
	},
	"set(set(a[1:3], b[0:2])[1:3], c[0:2])": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].IndexPut(part(x[1], 0, 2), weft.Range(1, 3)).IndexPut(part(x[2], 0, 2), weft.Range(1, 3))
	},
	"add(a[1:3], b[0:2])[1:3]": func(x ...*weft.Tensor) *weft.Tensor {
		return part(x[0].IndexPutAdd(part(x[1], 0, 2), weft.Range(1, 3)), 1, 3)
	},
	"add(zeros[1:3], b[0:2])": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.ZerosLike(x[1]).IndexPutAdd(part(x[1], 0, 2), weft.Range(1, 3))
	},
	"set(zeros[1:3], 0) + a": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.ZerosLike(x[0]).IndexPut(0.0, weft.Range(1, 3)).Add(x[0])
	},
	"add(add(a[1:3], b[0:2])[1:3], c[0:2])": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].IndexPutAdd(part(x[1], 0, 2), weft.Range(1, 3)).IndexPutAdd(part(x[2], 0, 2), weft.Range(1, 3))
	},
	"cat(a)": func(x ...*weft.Tensor) *weft.Tensor { return weft.Cat(x[:1], 0) },
	"cat(a[0:3], a[3:4])": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Cat([]*weft.Tensor{part(x[0], 0, 3), part(x[0], 3, 4)}, 0)
	},
	"cat(zeros, zeros)": func(x ...*weft.Tensor) *weft.Tensor {
		z := weft.ZerosOf(weft.Float64, 4)
		return weft.Cat([]*weft.Tensor{z, z}, 0)
	},
	"stack(a, a)":        func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack([]*weft.Tensor{x[0], x[0]}, 0) },
	"sum(cat(a, b))":     func(x ...*weft.Tensor) *weft.Tensor { return weft.Cat(x[:2], 0).Sum() },
	"stack(a, b).Sum(0)": func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:2], 0).Sum(0) },
	"stack(a, b).Max(0)": func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:2], 0).Max(0) },
	"(0*a) @ b":          func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(0).MatMul(x[1]) },
	"a @ b":              func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(x[1]) },
	"diag(a) @ b":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].Diag(0).MatMul(x[1]) },
	"eye(3) @ a":         func(x ...*weft.Tensor) *weft.Tensor { return weft.EyeOf(weft.Float64, 3).MatMul(x[0]) },
	"a.Tile(1)":          func(x ...*weft.Tensor) *weft.Tensor { return x[0].Tile(1) },
}

func part(x *weft.Tensor, from, to int) *weft.Tensor { return x.Slice(weft.Range(from, to)) }

// rowArgs is the number of arguments of a row: a, b, c, d.
const rowArgs = 4

// inputs returns arguments of a row.
func (r *rewriteRow) inputs(t *testing.T) []*weft.Tensor {
	t.Helper()
	g := weft.NewGenerator(uint64(r.number))
	var x []*weft.Tensor
	for i := range rowArgs {
		text := r.types[string(rune('a'+i))]
		if text == "" {
			text = "f64[4]"
		}
		name, dims, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
		var shape []int
		for d := range strings.SplitSeq(dims, ",") {
			if n := 0; d != "" {
				fmt.Sscan(d, &n)
				shape = append(shape, n)
			}
		}
		switch d := map[string]weft.DType{"f64": weft.Float64, "f32": weft.Float32, "i64": weft.Int64, "i32": weft.Int32, "i8": weft.Int8, "bool": weft.Bool}[name]; {
		case d.Float():
			x = append(x, g.RandOf(d, shape...).Mul(0.6).Add(0.2))
		default:
			x = append(x, g.Randint(0, 2, shape...).To(d))
		}
	}
	return x
}

// value computes the row's expression.
func (r *rewriteRow) value(x []*weft.Tensor) *weft.Tensor {
	for _, m := range []map[string]func(x ...*weft.Tensor) *weft.Tensor{expressions, foreignExpressions} {
		if f := m[r.before]; f != nil {
			return f(x...)
		}
	}
	vars := weft.Vars{}
	for i, v := range x {
		if n := string(rune('a' + i)); regexp.MustCompile(`\b` + n + `\b`).MatchString(r.before) {
			vars[n] = v
		}
	}
	return weft.Expr(r.before, vars)
}

// rewritten returns the row's graph after rewriting as text, and the values of the compiled function.
func (r *rewriteRow) rewritten(x []*weft.Tensor, l rewrite.Level) (text string, y *weft.Tensor, err error) {
	f := core.NewFunc(func(args []*core.Tensor) []*core.Tensor {
		return core.Inner([]*weft.Tensor{r.value(core.Outer[weft.Tensor](args)).Clone()})
	}, core.Options{Name: "row", Level: l})
	var types []ir.Type
	for _, v := range x {
		types = append(types, ir.Type{DType: v.DType(), Shape: v.Shape()})
	}
	if err := f.Prepare(types); err != nil {
		return "", nil, err
	}
	out := rewrite.Run(f.Graph(), l).Outs
	s := graphtext.Formula(out, graphtext.Names{Inputs: []string{"a", "b", "c", "d"}})
	s = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "), "out = ", "")
	res, err := f.Call(context.Background(), core.Inner(x))
	if err != nil {
		return s, nil, err
	}
	return s, core.Outer[weft.Tensor](res)[0], nil
}

// TestRewrites holds each row of rewrites.txt to the rules: the mode makes AFTER of BEFORE and no
// lower mode does. Eager code gives the same values. It holds the table of from-theano.md to
// the file. Every rule of Theano has a row.
func TestRewrites(t *testing.T) {
	rows, names := readRewrites(t)
	if len(names) != 60 {
		t.Errorf("%d rules of Theano", len(names))
	}
	has := map[int]bool{}
	used := map[string]bool{}
	for _, r := range rows {
		has[r.number] = true
		if r.after == "" {
			continue
		}
		used[r.before] = true
		r.check(t, fmt.Sprint(r.number))
	}
	for i := range names {
		if !has[i+1] {
			t.Errorf("rule %d, %s, has no row", i+1, names[i])
		}
	}
	for text := range expressions {
		if !used[text] {
			t.Errorf("no row has the expression %s", text)
		}
	}
	var b strings.Builder
	b.WriteString("| | rule of Theano | sym | mode |\n|---|---|---|---|\n")
	code := func(s string) string { return "`" + strings.ReplaceAll(s, "|", "\\|") + "`" }
	for _, r := range rows {
		name, number := names[r.number-1], fmt.Sprint(r.number)
		if !has[r.number] {
			name, number = "", ""
		}
		has[r.number] = false
		switch {
		case r.after != "":
			fmt.Fprintf(&b, "| %s | %s | %s becomes %s | %s |\n", number, name, code(r.before), code(r.after), r.kind)
		case r.kind == "no":
			fmt.Fprintf(&b, "| %s | %s | %s | no |\n", number, name, r.before)
		default:
			fmt.Fprintf(&b, "| %s | %s | %s | |\n", number, name, r.before)
		}
	}
	writeTable(t, "from-theano.md", "rules", b.String())
}

// writeTable holds the part of a page between two comments to a table, or writes it.
func writeTable(t *testing.T, page, what, part string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+what+": written by go generate ./docs -->\n", "<!-- end of "+what+" -->"
	before, rest, ok := bytes.Cut(text, []byte(begin))
	old, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the %s", page, what)
	}
	if string(old) == part {
		return
	}
	if !*update {
		t.Errorf("%s: go generate ./docs writes the %s anew", page, what)
		return
	}
	if err := os.WriteFile(page, slices.Concat(before, []byte(begin), []byte(part), []byte(end), after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRewritesByName: the guide has all rules of sym.
func TestRewritesByName(t *testing.T) {
	var b strings.Builder
	b.WriteString("| name | mode | what becomes what |\n|---|---|---|\n")
	for _, r := range sym.Rules() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Name, r.Mode, strings.ReplaceAll(r.Doc, "|", "\\|"))
	}
	holdPart(t, "from-theano.md", "<!-- names of rules: written by go generate ./docs -->\n", "<!-- end of names of rules -->", b.String())
}
