package kernel_test

import (
	"strings"
	"testing"

	"weft"
	"weft/internal/jit"
	"weft/kernel"
)

// The lines of the source stand above the loop values and the instructions that come from
// them, in each of the two listings, of a function that is called too.
func TestExplainLineByLine(t *testing.T) {
	src := kernel.MustParse(`package k

func Steps(x float32, n int32) int32 {
	k := int32(0)
	for x > 1 && k < n {
		x = half(x)
		k++
	}
	return k
}

func half(x float32) float32 {
	return x * 0.5
}
`)
	s := src.Func("Steps").Explain(weft.Ones(40).Mul(9), 30)
	_, listings, ok := strings.Cut(s, "\nstep 0")
	if !ok {
		t.Fatal(s)
	}
	parts := strings.SplitN(listings, "bytes of code", 2)
	if jit.Chosen().ISA == jit.Portable {
		parts = parts[:1]
	} else if len(parts) != 2 {
		t.Fatal(s)
	}
	// What an instruction follows: the line last named above it.
	under := func(text, line, instruction string) bool {
		now := ""
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); strings.HasPrefix(l, "; line ") {
				now = l
			} else if strings.Contains(strings.ToLower(l), instruction) && strings.HasPrefix(now, "; line "+line) {
				return true
			}
		}
		return false
	}
	for i, want := range [][2]string{{"lt.b", "mul.f32"}, {"vcmp", "vmulps"}}[:len(parts)] {
		if !under(parts[i], "5: for x > 1 && k < n {", want[0]) {
			t.Errorf("no %s under line 5:\n%s", want[0], parts[i])
		}
		if !under(parts[i], "13", want[1]) {
			t.Errorf("no %s under line 13:\n%s", want[1], parts[i])
		}
	}
	if len(parts) == 2 && !strings.Contains(parts[1], "; slow: loops that run until the last lane is done\n; line 5: for x > 1 && k < n {\n") {
		t.Errorf("the head does not name the loop:\n%.400s", parts[1])
	}
	if len(parts) == 2 && !strings.Contains(parts[1], "1 loops under masks") {
		t.Errorf("the head says nothing of the loop:\n%.400s", parts[1])
	}
}

// What takes long is named with its line.
func TestExplainSlow(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: there is no machine code")
	}
	src := kernel.MustParse(`package k

import (
	"math"

	"weft/kernel"
)

func Slow(a kernel.Clamped1[float32], i int32, x float32) float32 {
	y := a.At(int(i))
	z := y / x
	return z + float32(math.Sqrt(float64(x)))
}

func Many(x float32) float32 {
	var v [40]float32
	s := x
	for i := range 40 {
		s = s*s + x
		v[i] = s
	}
	for i := range 40 {
		s = s*0.5 - v[39-i]
	}
	return s
}
`)
	s := src.Func("Slow").Explain(weft.Ones(9), weft.ZerosOf(weft.Int32, 100), weft.Ones(100))
	for _, want := range []string{"gathers, element by element\n; line 10: y := a.At(int(i))\n", "divisions\n; line 11: z := y / x\n", "square roots\n; line 12: return z + float32(math.Sqrt(float64(x)))\n"} {
		if !strings.Contains(s, "; slow: "+want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	if s = src.Func("Many").Explain(weft.Ones(100)); !strings.Contains(s, "; slow: values in memory for want of registers\n; line 19: s = s*s + x\n") || strings.Contains(s, "slow: gathers") {
		t.Errorf("no spills:\n%s", s)
	}
}

// Integers that stay in 8 bytes are named with their line and the reason, and loops that all
// lanes run together with theirs; what is narrowed is not named.
func TestExplainNarrowing(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: there is no machine code")
	}
	src := kernel.MustParse(`package k

func Steps(x float32) float32 {
	k := 0
	for x > 1 {
		x *= 0.5
		k++
	}
	return float32(k)
}

func Few(x float32) float32 {
	few := 0
	for x > 1 && few < 90 {
		x *= 0.5
		few++
	}
	return float32(few)
}

func Counted(x float32, n int) float32 {
	for i := range n {
		x = x*0.5 + float32(i)
	}
	return x
}

func Sum(x float32, wide int) float32 {
	for x > 1 {
		x *= 0.5
		wide += 2
	}
	return float32(wide)
}

func Doubles(x float64) float64 {
	c := 0
	for x > 1 {
		x *= 0.5
		c++
	}
	return float64(c)
}
`)
	x := weft.Ones(40).Mul(9)
	for _, c := range []struct {
		name string
		args []any
		want string // "" for no such line
	}{
		{"Steps", []any{x}, "; not narrowed: k changes in a loop, and no condition of the loop bounds it\n; line 7: k++\n"},
		{"Few", []any{x}, ""},
		{"Sum", []any{x, 3}, "; not narrowed: wide begins as what may be any number of 8 bytes\n; line 31: wide += 2\n"},
		{"Doubles", []any{x.To(weft.Float64)}, "; not narrowed: c is in 8 bytes as all else is computed\n; line 40: c++\n"},
		{"Counted", []any{x, 9}, ""},
	} {
		s := src.Func(c.name).Explain(c.args...)
		if c.want == "" && strings.Contains(s, "not narrowed") || !strings.Contains(s, c.want) {
			t.Errorf("%s: want %q:\n%.1500s", c.name, c.want, s)
		}
		if together := strings.Contains(s, "; loops that all lanes run together, without masks, for each vector\n; line 22: for i := range n {\n"); together != (c.name == "Counted") {
			t.Errorf("%s: lanes together: %t:\n%.1500s", c.name, together, s)
		}
	}
}
