package formula

import (
	"fmt"
	"go/token"
	"math"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/op"
)

// Each message begins with the column at which the text stops being a formula.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "column 1: the formula is empty"},
		{" \n ", "line 1, column 1: the formula is empty"},
		{"a +", "column 4: expected operand, found the end of the formula"},
		{"(a", "column 3: expected ')', found the end of the formula"},
		{"a b", "column 3: unexpected b after a complete formula"},
		{"a = b", "column 3: a formula has no assignment: equality is written =="},
		{"a ? b : c", "column 3: a choice is written where(condition, x, y)"},
		{"2*type", "column 3: type is a keyword of Go and cannot be a name"},
		{"2*var", "column 3: var is a function and needs arguments"},
		{"a**2", "column 2: there is no **: a power is written pow(a, 2)"},
		{"1 + a ** b", "column 7: there is no **: a power is written pow(a, 2)"},
		{"a * *b", "column 5: there is no ** or * in front of an operand: a power is written pow(a, 2)"},
		{"&a", "column 1: there is no & in front of an operand"},
		{"a < b < c", "column 7: comparisons do not chain: write a < b && b < c"},
		{"1 <= x == y", "column 8: comparisons do not chain: write a <= b && b == c"},
		{"sine(x)", "column 1: unknown function sine: did you mean sin?"},
		{"1+SIN(x)", "column 3: unknown function SIN: did you mean sin?"},
		{"maxx(x)", "column 1: unknown function maxx: did you mean max?"},
		{"zzzzzz(x)", "column 1: unknown function zzzzzz: weft.Expr's documentation lists all\n"},
		{"ln(x)", "column 1: unknown function ln: it is called log here"},
		{"powint(x)", "column 1: unknown function powint"},
		{"math.Sin(x)", "column 1: functions have no package and no receiver: write sin(x)"},
		{"a.b", "column 2: names have no dot"},
		{"f(x)(y)", "column 1: only a function can be called"},
		{"sin(x...)", "column 6: there is no ... in a call"},
		{"sin()", "column 1: sin takes 1 argument, got 0"},
		{"a*sin(x, y)", "column 3: sin takes 1 argument, got 2"},
		{"where(a, b)", "column 1: where takes 3 arguments, got 2"},
		{"softmax(a)", "column 1: softmax takes an array and an axis, got 1"},
		{"sum()", "column 1: sum takes an array and its axes, got 0"},
		{"argmax(a, 0, 1)", "column 1: argmax takes 1 or 2 arguments, got 3"},
		{"sum(a, b)", "column 8: an axis of sum must be a constant integer\n"},
		{"sum(a, 1.0)", "column 8: an axis of sum must be a constant integer\n"},
		{"1 + min(a, 0, 1)", "column 5: min takes 1 or 2 arguments, got 3: over axes it is written amin(x, 0, 1)"},
		{"max()", "column 1: max takes 1 or 2 arguments, got 0"},
		{"a<-b<--c", "column 5: comparisons do not chain"},
		{"a--b + c--d ? e", "column 13: a choice is written where"},
		{"<-a", "column 1: expected operand, found '<'"},
		{"sum(a, 99)", "column 8: axis 99 is out of range: no array has more than 16 dimensions"},
		{"a[1]", "column 1: a formula does not index: pass the slice under a name of its own"},
		{"a[1:2]", "column 1: a formula does not index"},
		{"func(){}", "column 1: this is not part of a formula"},
		{"[]int{1}", "column 1: this is not part of a formula"},
		{"a.(int)", "column 1: this is not part of a formula"},
		{`"text"`, "column 1: a formula takes numbers, not text"},
		{"'c'", "column 1: a formula takes numbers, not text"},
		{"2i*a", "column 1: complex numbers are not supported"},
		{"a+9223372036854775808", "column 3: 9223372036854775808 does not fit int64: write it as a float, such as 1e20"},
		{"a+1e999", "column 3: 1e999 does not fit float64"},
		{"_ + 1", "column 1: _ is not a name"},
		{"é + ø + ?", "column 9: a choice is written where"},
		{"a +\n  b ? 2", "line 2, column 5: a choice is written where"},
		{"a \x00 b", "column 3: illegal character NUL"},
		{strings.Repeat("a+", MaxText), "column 16385: the formula has 32768 bytes, at most 16384 are read"},
		{strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth), "column 401: the formula nests deeper than 400: split it"},
		{strings.Repeat("(", 1<<13) + "a" + strings.Repeat(")", 1<<13-1), "column 16385: expected ')'"},
	} {
		f, err := Parse(c.text, nil)
		if f != nil || err == nil {
			t.Errorf("%q was read", c.text)
			continue
		}
		e, ok := err.(*array.Error)
		if !ok || e.Op != "expr" || e.Kind != array.Misuse {
			t.Errorf("%q: %#v", c.text, err)
		}
		if !strings.HasPrefix(err.Error(), "expr: "+c.want) {
			t.Errorf("%q: %s\nwant %s", c.text, err, c.want)
		}
	}
	var names []string
	for i := range MaxNames + 1 {
		names = append(names, fmt.Sprint("x", i))
	}
	for _, text := range []string{"where(" + strings.Join(names[:33], "+") + "," + strings.Join(names[33:], "+") + ",1)", wide(MaxNodes)} {
		if _, err := Parse(text, nil); err == nil || !strings.Contains(err.Error(), "split it") {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if _, err := Parse(wide(MaxNodes/2-1), nil); err != nil {
		t.Error(err)
	}
}

// wide is a sum of n terms that nests little.
func wide(n int) string {
	if n == 1 {
		return "a"
	}
	return "(" + wide(n/2) + ")+" + wide(n-n/2)
}

// The caret stands under the column, whatever is in front of it.
func TestCaret(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ab + é*y ? 2", "\tab + é*y ? 2\n\t         ^"},
		{"a\t+ b?2", "\ta + b?2\n\t     ^"},
		{"a +\n\x1b[31m^b // red", "\t\uFFFD[31m^b // red\n\t^"},
		{strings.Repeat("a+", 100) + "b?" + strings.Repeat("a", 100),
			"\t…" + strings.Repeat("+a", 29) + "+b?" + strings.Repeat("a", 59) + "…\n\t" + strings.Repeat(" ", 61) + "^"},
	} {
		_, err := Parse(c.text, nil)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q:\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"b + a*b": "[b a]", "pi*e": "[]", "sum(x, -1) + y": "[x y]", "sin(sin)": "[sin]", "var(x)": "[x]", "where(c, x, y) + c": "[c x y]",
	} {
		f, err := Parse(text, nil)
		if err != nil || fmt.Sprint(f.Names) != want {
			t.Errorf("%q: %v %v, want %s", text, f, err, want)
		}
	}
}

// Numbers alone are computed when the text is read.
func TestConstants(t *testing.T) {
	for text, want := range map[string]exec.Number{
		"1+2*3":             intNumber(7),
		"-(4-7)":            intNumber(3),
		"7/2":               floatNumber(3.5),
		"0.1+0.2":           floatNumber(0.30000000000000004),
		"-7 % 3":            intNumber(2),
		"7 % -3":            intNumber(-2),
		"7 % 0":             intNumber(0),
		"-7.5 % 2":          floatNumber(0.5),
		"7.5 % -2":          floatNumber(-0.5),
		"floordiv(-7, 2)":   intNumber(-4),
		"floordiv(-7.0, 2)": floatNumber(-4),
		"pow(3, 5)":         intNumber(243),
		"pow(2, -2)":        floatNumber(0.25),
		"pow(1.5, 2)":       floatNumber(2.25),
		"pow(5, 0)":         intNumber(1),
		"sqrt(16)":          floatNumber(4),
		"square(-3)":        intNumber(9),
		"abs(-2) + abs(2)":  intNumber(4),
		"minimum(1, 0.5)":   floatNumber(0.5),
		"maximum(3, -4)":    intNumber(3),
		"1 < 2":             exec.Truth(true),
		"1 >= 2.5":          exec.Truth(false),
		"1 == 1.0 && true":  exec.Truth(true),
		"!(2 != 2) || 0":    exec.Truth(true),
		"true + true":       intNumber(2),
		"0x1p-2":            floatNumber(0.25),
		"0b101 + 0o17":      intNumber(20),
		"pi":                floatNumber(math.Pi),
		"logical_xor(1, 2)": exec.Truth(false),
	} {
		f, err := Parse(text, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := f.Value(); !ok || got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
	// What the math package of a machine decides is not computed here.
	for _, text := range []string{"exp(1)", "sin(1)", "pow(2, 0.5)", "pow(2, 65)", "pow(2.5, -65)"} {
		if f, err := Parse(text, nil); err != nil {
			t.Error(err)
		} else if _, ok := f.Value(); ok {
			t.Errorf("%q was computed", text)
		}
	}
}

// The largest parts of numbers alone are found, and a name is passed once.
func TestVariant(t *testing.T) {
	f, err := Parse("2*lr*x + lr*y - exp(lr) + lr/n*2", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := f.Variant(0); len(v.Numbers) != 0 || v.Def.Arity != 4 {
		t.Errorf("%d numbers, %d arguments without numbers", len(v.Numbers), v.Def.Arity)
	}
	lr, n := 0, 3
	if f.Names[lr] != "lr" || f.Names[n] != "n" {
		t.Fatal(f.Names)
	}
	v := f.Variant(1<<lr | 1<<n)
	values := make([]exec.Number, 4)
	values[lr], values[n] = floatNumber(0.5), intNumber(4)
	var got []float64
	for i := range v.Numbers {
		got = append(got, asFloat(v.Number(i, values)))
	}
	if fmt.Sprint(got) != "[1 0.5 0.25]" || v.Def.Arity != 5 {
		t.Errorf("numbers %v, %d arguments", got, v.Def.Arity)
	}
	if v := f.Variant(1 << lr); len(v.Numbers) != 2 {
		t.Errorf("%d numbers when n is an array", len(v.Numbers))
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ s, want string }{
		{"sine", "sin"}, {"coss", "cos"}, {"tahn", "tanh"}, {"Sqrt", "sqrt"}, {"logsumxp", "logsumexp"}, {"whre", "where"}, {"qqqqq", ""}, {"foo", ""}, {"q", ""}, {"", ""},
	} {
		if got := Nearest(c.s, Functions()); got != c.want {
			t.Errorf("nearest to %q is %q, want %q", c.s, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"abc", "axc", 1}, {"kitten", "sitting", 3}, {"abcdef", "a", 4}} {
		if got := distance(c.a, c.b, 4); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Every elementwise operation of the op table can be called, under its name.
func TestFunctionsCoverTheTable(t *testing.T) {
	for _, d := range op.Table() {
		if d.Class != op.Pointwise || d.Rule == op.Keep || d == op.PowInt {
			continue
		}
		f := functions()[d.Name]
		if f == nil || f.def != d || f.args != d.Arity {
			t.Errorf("%s cannot be called", d.Name)
		}
	}
	for name := range otherNames {
		if functions()[name] != nil {
			t.Errorf("%s is a function, its other name is never shown", name)
		}
	}
	for name := range functions() {
		if IsConstant(name) || token.IsKeyword(name) && name != "var" {
			t.Errorf("the function %s cannot be called", name)
		}
	}
	if len(Functions()) < 60 {
		t.Errorf("%d functions", len(Functions()))
	}
}
