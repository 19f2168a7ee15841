package docs

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/rewrite"
)

// A foreignCase is a test of PyTensor or glumpy: rows that are run here, tests that hold what it asserts, or a reason
// why it does not apply.
type foreignCase struct {
	name  string
	rows  []rewriteRow
	tests []string
	no    string
}

// readCases returns the cases of a list.
func readCases(t *testing.T, list string) (cases []foreignCase) {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	file := ""
	for i, line := range strings.Split(string(text), "\n") {
		fail := func(what string) { t.Fatalf("%s:%d: %s: %s", list, i+1, what, line) }
		switch {
		case line == "" || line[0] == '#':
		case strings.HasSuffix(line, ".py"):
			file = line
		case line[0] != ' ':
			name, rest, _ := strings.Cut(line, " ")
			c := foreignCase{name: file + " " + name}
			if why, ok := strings.CutPrefix(rest, "no: "); ok {
				c.no = why
			} else if by, ok := strings.CutPrefix(rest, "by "); ok {
				c.tests = strings.Fields(by)
			} else if rest != "" {
				fail("neither by nor no")
			}
			cases = append(cases, c)
		default:
			first, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
			words := strings.Fields(first)
			if !ok || len(cases) == 0 || len(words)%2 == 0 || !slices.Contains([]string{"exact", "stable", "fast"}, words[0]) {
				fail("not a row")
			}
			r := rewriteRow{number: len(cases), kind: words[0], types: map[string]string{}}
			for k := 1; k < len(words); k += 2 {
				r.types[words[k]] = words[k+1]
			}
			if r.before, r.after, ok = strings.Cut(rest, " -> "); !ok {
				fail("no arrow")
			}
			last := &cases[len(cases)-1]
			last.rows = append(last.rows, r)
		}
	}
	return cases
}

// TestForeignCases holds each case of pytensor.txt and glumpy.txt: graphs after rewriting and their values, tests
// that exist, or a reason.
func TestForeignCases(t *testing.T) {
	exists := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen, used := map[string]bool{}, map[string]bool{}
	for _, c := range append(readCases(t, "pytensor.txt"), readCases(t, "glumpy.txt")...) {
		if seen[c.name] || c.no == "" && len(c.tests)+len(c.rows) == 0 {
			t.Errorf("%s: is listed twice, or neither run nor refused", c.name)
		}
		seen[c.name] = true
		for _, n := range c.tests {
			if !exists[n] {
				t.Errorf("%s: there is no test %s", c.name, n)
			}
		}
		for i := range c.rows {
			used[c.rows[i].before] = true
			c.rows[i].check(t, c.name)
		}
	}
	for text := range foreignExpressions {
		if !used[text] {
			t.Errorf("no row has the expression %s", text)
		}
	}
}

// check compares the graph after rewriting with the row's, below that mode with another, and values
// with eager ones.
func (r *rewriteRow) check(t *testing.T, name string) {
	t.Helper()
	x := r.inputs(t)
	l := slices.Index([]string{"exact", "stable", "fast"}, r.kind)
	got, y, err := r.rewritten(x, rewrite.Level(l))
	if err != nil || got != r.after {
		t.Errorf("%s: %s becomes %s, want %s (%v)", name, r.before, got, r.after, err)
		return
	}
	if l > 0 {
		if below, _, _ := r.rewritten(x, rewrite.Level(l-1)); below == got {
			t.Errorf("%s: %s becomes %s below mode %s", name, r.before, got, r.kind)
		}
	}
	r.near(t, name, y, r.value(x))
}

// near compares values of a row.
func (r *rewriteRow) near(t *testing.T, name string, y, want *weft.Tensor) {
	t.Helper()
	if !array.Equal(y.Shape(), want.Shape()) || y.DType() != want.DType() {
		t.Errorf("%s: %s gives %v, want %v", name, r.before, y, want)
		return
	}
	a, b := weft.Data[float64](y.To(weft.Float64).Contiguous()), weft.Data[float64](want.To(weft.Float64).Contiguous())
	tol := 1e-13
	if y.DType() == weft.Float32 {
		tol = 1e-6
	}
	for i := range a {
		if both := a[i] != a[i] && b[i] != b[i]; !both && !(math.Abs(a[i]-b[i]) <= tol*max(1, math.Abs(b[i]))) {
			t.Errorf("%s: %s gives %v, want %v", name, r.before, a[i], b[i])
		}
	}
}

// foreignExpressions are what formulas have no words for in pytensor.txt, of a, b, c and d.
var foreignExpressions = map[string]func(x ...*weft.Tensor) *weft.Tensor{
	"(a + zeros10) * 5": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(weft.ZerosOf(weft.Int64, 10)).Mul(5) },
	"(a @ b)[1]":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(x[1]).Index(1) },
	"(a @ b)[1:2]":      func(x ...*weft.Tensor) *weft.Tensor { return part(x[0].MatMul(x[1]), 1, 2) },
	"(a @ b)[:, 1:3]":   func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(x[1]).Slice(weft.All, weft.Range(1, 3)) },
	"sum(zeros like a)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(0).Sum() },
	"sum(ones like a)":  func(x ...*weft.Tensor) *weft.Tensor { return weft.OnesLike(x[0]).Sum() },
	"sum(ones like a, 0)": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.OnesLike(x[0]).Sum(0)
	},
	"prod(ones like a)":  func(x ...*weft.Tensor) *weft.Tensor { return weft.OnesLike(x[0]).Prod() },
	"prod(zeros like a)": func(x ...*weft.Tensor) *weft.Tensor { return weft.ZerosLike(x[0]).Prod() },
	"sum(sum(float64(a), 0))": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].To(weft.Float64).Sum(0).Sum()
	},
	"stack(a, b).Min(0)":     func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:2], 0).Min(0) },
	"stack(a, b).Sum(1)":     func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:2], 0).Sum(1) },
	"stack(a, b, c).Sum(0)":  func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:3], 0).Sum(0) },
	"stack(a, b, c).Prod(0)": func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:3], 0).Prod(0) },
	"stack(a, b.T, c).Prod(0)": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Stack([]*weft.Tensor{x[0], x[1].T(), x[2]}, 0).Prod(0)
	},
	"ones[1,3]/a":   func(x ...*weft.Tensor) *weft.Tensor { return weft.OnesOf(weft.Float64, 1, 3).Div(x[0]) },
	"a[::-1][::-1]": func(x ...*weft.Tensor) *weft.Tensor { return back(back(x[0])) },
	"a // 1":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].FloorDiv(1) },
	"0 // a":        func(x ...*weft.Tensor) *weft.Tensor { return weft.ZerosLike(x[0]).FloorDiv(x[0].Add(1)) },
	"sum(square(a.new(0)*b.new(1)), 1, 2)": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Unsqueeze(1).Mul(x[1].Unsqueeze(0)).Square().Sum(1, 2)
	},
	"exp(a) - ones[4,3]": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Sub(weft.OnesOf(weft.Float64, 4, 3)) },
	"log(sum(exp(a), 2).T)": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Exp().Sum(2).T().Log()
	},
	"log(1 - flatten(sigmoid(a)))": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Full(1).To(weft.Float64).Sub(x[0].Sigmoid().Reshape(6)).Log()
	},
	"log(1 - sigmoid(a).Reshape(3, 2))": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Sigmoid().Reshape(3, 2).RSub(1).Log()
	},
	"a ^ a":                 func(x ...*weft.Tensor) *weft.Tensor { return x[0].BitXor(x[0]) },
	"a | 0":                 func(x ...*weft.Tensor) *weft.Tensor { return x[0].BitOr(0) },
	"a == a":                func(x ...*weft.Tensor) *weft.Tensor { return x[0].Eq(x[0]) },
	"((a + 42)*(b + 84)).T": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(42).Mul(x[1].Add(84)).T() },
	"(a.new(0) @ b).T":      func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(0).MatMul(x[1]).T() },
	"(b @ a.new(1)).T":      func(x ...*weft.Tensor) *weft.Tensor { return x[1].MatMul(x[0].Unsqueeze(1)).T() },
	"2*a[0, :]":             func(x ...*weft.Tensor) *weft.Tensor { return x[0].Index(0).Mul(2) },
	"a - cat(a[1:], a[1:])": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Sub(weft.Cat([]*weft.Tensor{part(x[0], 1, 2), part(x[0], 1, 2)}, 0))
	},
	"a.Expand()":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand() },
	"a.Expand(1, 1)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(1, 1) },
	"a.Expand(2, 3, 4, 5) of Expand(1, 3, 4, 5)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(1, 3, 4, 5).Expand(2, 3, 4, 5) },
	"a.Expand(3, 1)":                  func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 1) },
	"a.Expand(3, 2).new(0)":           func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 2).Unsqueeze(0) },
	"a.Expand(3, 4)":                  func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 4) },
	"a.Expand(3, 4) + b":              func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 4).Add(x[1]) },
	"a.Expand(3, 4) + b.Expand(3, 4)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 4).Add(x[1].Expand(3, 4)) },
	"a.Expand(3, 4).new(2) + b":       func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 4).Unsqueeze(2).Add(x[1]) },
	"a.Expand(3, 5)[:, 3:]":           func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 5).Slice(weft.All, weft.Range(3, 5)) },
	"a.Expand(5, 5).new(2) + b":       func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(5, 5).Unsqueeze(2).Add(x[1]) },
	"a.Permute(0, 1)":                 func(x ...*weft.Tensor) *weft.Tensor { return x[0].Permute(0, 1) },
	"a.Permute(2, 1, 0)":              func(x ...*weft.Tensor) *weft.Tensor { return x[0].Permute(2, 1, 0) },
	"a.Reshape(1, 4)":                 func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(1, 4) },
	"a.Reshape(1, 5, 1, 6, 1, 1)":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(1, 5, 1, 6, 1, 1) },
	"a.Reshape(2, 3, 4).Reshape(24)":  func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(2, 3, 4).Reshape(24) },
	"a.Reshape(3, -1)":                func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(3, -1) },
	"a.Reshape(3, 4)":                 func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(3, 4) },
	"a.Split(4)[0]":                   func(x ...*weft.Tensor) *weft.Tensor { return x[0].Split(0, 4)[0] },
	"a.T.T":                           func(x ...*weft.Tensor) *weft.Tensor { return x[0].T().T() },
	"a.T.new(1).Permute(2, 0, 1)":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].T().Unsqueeze(1).Permute(2, 0, 1) },
	"a.Tile(1, 1)":                    func(x ...*weft.Tensor) *weft.Tensor { return x[0].Tile(1, 1) },
	"a.new(0).Expand(3, 4)":           func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(0).Expand(3, 4) },
	"a.new(1).Permute(2, 1, 0).Permute(2, 1, 0).squeeze": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Unsqueeze(1).Permute(2, 1, 0).Permute(2, 1, 0).Squeeze(1)
	},
	"a.new(1).Reshape(12)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(1).Reshape(12) },
	"a.new(1)[:, -1]":      func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(1).Slice(weft.All, weft.Index(-1)) },
	"a.new(1)[:, 0]":       func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(1).Slice(weft.All, weft.Index(0)) },
	"a[:, :, 1:5].squeeze": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].Slice(weft.All, weft.All, weft.Range(1, 5)).Squeeze(1)
	},
	"a[:, :]":            func(x ...*weft.Tensor) *weft.Tensor { return x[0].Slice(weft.All, weft.All) },
	"add(a[1:3], zeros)": func(x ...*weft.Tensor) *weft.Tensor { return x[0].IndexPutAdd(0.0, weft.Range(1, 3)) },
	"add(zeros[:, :], a)": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.ZerosLike(x[0]).IndexPutAdd(x[0], weft.All, weft.All)
	},
	"cat(a, a, empty)": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Cat([]*weft.Tensor{x[0], x[0], weft.ZerosOf(weft.Float64, 0)}, 0)
	},
	"cat(a, b, c)": func(x ...*weft.Tensor) *weft.Tensor { return weft.Cat(x[:3], 0) },
	"cat(a[0:1], a[2:4])": func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Cat([]*weft.Tensor{part(x[0], 0, 1), part(x[0], 2, 4)}, 0)
	},
	"copy of a":            func(x ...*weft.Tensor) *weft.Tensor { return x[0].Clone() },
	"exp(a + b + c)[0:2]":  func(x ...*weft.Tensor) *weft.Tensor { return part(x[0].Add(x[1]).Add(x[2]).Exp(), 0, 2) },
	"exp(a + b + c)[0]":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(x[1]).Add(x[2]).Exp().Index(0) },
	"exp(a + b)[0]":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(x[1]).Exp().Index(0) },
	"exp(a).Reshape(24)":   func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Reshape(24) },
	"exp(a)[0:2, 0:3]":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Slice(weft.Range(0, 2), weft.Range(0, 3)) },
	"exp(a)[0:]":           func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Slice(weft.Range(0, weft.End)) },
	"exp(a)[0]":            func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Index(0) },
	"exp(a)[:, 0:1]":       func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Slice(weft.All, weft.Range(0, 1)) },
	"exp(a.Expand(3, 15))": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(3, 15).Exp() },
	"exp(a.new(1))[0]":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Unsqueeze(1).Exp().Index(0) },
	"prod(a.Expand(5, 5))": func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(5, 5).Prod() },
	"set(a[1], b)[1]":      func(x ...*weft.Tensor) *weft.Tensor { return x[0].IndexPut(x[1], 1).Index(1) },
	"set(a[:, ::-1], b)": func(x ...*weft.Tensor) *weft.Tensor {
		return x[0].IndexPut(x[1], weft.All, weft.Range(weft.End, weft.Begin, -1))
	},
	"set(a[:, :], b)":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].IndexPut(x[1], weft.All, weft.All) },
	"set(zeros[1:3], zeros)": func(x ...*weft.Tensor) *weft.Tensor { return weft.ZerosLike(x[0]).IndexPut(0.0, weft.Range(1, 3)) },
	"stack(a).squeeze":       func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:1], 0).Squeeze(0) },
	"stack(a)":               func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:1], 0) },
	"stack(a, b, c)[0]":      func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:3], 0).Index(0) },
	"stack(a, b, c)[1:]":     func(x ...*weft.Tensor) *weft.Tensor { return part(weft.Stack(x[:3], 0), 1, 3) },
	"stack(a, b, c)[:2]":     func(x ...*weft.Tensor) *weft.Tensor { return part(weft.Stack(x[:3], 0), 0, 2) },
	"stack(a, b, c)[::2]":    func(x ...*weft.Tensor) *weft.Tensor { return weft.Stack(x[:3], 0).Slice(weft.Range(0, 3, 2)) },
	"sum(a.Expand(5, 5))":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].Expand(5, 5).Sum() },
	"float64(float64(a))":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].To(weft.Float64).To(weft.Float64) },
	"float32(float32(a))":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].To(weft.Float32).To(weft.Float32) },
	"float64(float32(a))":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].To(weft.Float32).To(weft.Float64) },
	"int8(int64(a))":         func(x ...*weft.Tensor) *weft.Tensor { return x[0].To(weft.Int64).To(weft.Int8) },
	"log(softmax(a, 1))":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Softmax(1).Log() },
	"log(softmax(a, 0))":     func(x ...*weft.Tensor) *weft.Tensor { return x[0].Softmax(0).Log() },
	"log(softmax(a, -1))":    func(x ...*weft.Tensor) *weft.Tensor { return x[0].Softmax(-1).Log() },
	"log(softmax(a))":        func(x ...*weft.Tensor) *weft.Tensor { return x[0].Reshape(-1).Softmax(0).Log() },
	"where(true, a, b)":      func(x ...*weft.Tensor) *weft.Tensor { return weft.Where(weft.ScalarOf(weft.Bool, true), x[0], x[1]) },
	"where(false, a, b)":     func(x ...*weft.Tensor) *weft.Tensor { return weft.Where(weft.ScalarOf(weft.Bool, false), x[0], x[1]) },
}

// back is x with its first axis reversed.
func back(x *weft.Tensor) *weft.Tensor { return x.Flip(0) }
