package ptx

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weft/internal/grid"
	"weft/internal/loop"
)

var sm80, sm90 = Target{8, 0}, Target{9, 0}

// printed returns the text of kernels.
func printed(t *testing.T, target Target, kernels ...*grid.Kernel) string {
	t.Helper()
	text, err := Print(target, kernels...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRulesWriteTheResultLast: a kernel may write a register that the operation reads, so no
// instruction may read an operand behind the one that writes the result.
func TestRulesWriteTheResultLast(t *testing.T) {
	texts := []string{}
	for _, r := range rules {
		texts = append(texts, r.text)
	}
	for _, c := range conversions {
		texts = append(texts, c.text)
	}
	for _, text := range rounding {
		texts = append(texts, text)
	}
	for _, text := range texts {
		ins := strings.Split(text, ";")
		last := ins[len(ins)-1]
		if strings.Count(text, "$D") != 1 || !strings.Contains(last, " $D, ") {
			t.Errorf("%s: the last instruction alone has to write the result", text)
		}
		if strings.HasPrefix(strings.TrimSpace(last), "@") {
			t.Errorf("%s: the result is not always written", text)
		}
		// Each temporary is written once, before it is read.
		written := map[string]bool{}
		for _, in := range ins {
			_, operands, _ := strings.Cut(strings.TrimSpace(in), " ")
			dst, sources, _ := strings.Cut(operands, ", ")
			if strings.HasPrefix(operands, "{") {
				dst, sources, _ = strings.Cut(operands, "}, ")
			}
			for _, name := range temporary.FindAllString(sources, -1) {
				if !written[name] {
					t.Errorf("%s: %s is read before it is written", text, name)
				}
			}
			for _, name := range temporary.FindAllString(dst, -1) {
				if written[name] {
					t.Errorf("%s: %s is written twice", text, name)
				}
				written[name] = true
			}
		}
	}
}

var temporary = regexp.MustCompile(`\$[a-z][0-9]`)

// TestFloatArithmeticRounds: add, sub and mul of floats without .rn may be contracted; .ftz and
// .approx are not exact. min, max and abs are of other bits for a NaN or zeros.
func TestFloatArithmeticRounds(t *testing.T) {
	text := printed(t, sm90, allKernels(sm90)...)
	for _, bad := range []string{`\.ftz`, `\.approx`, `\b(add|sub|mul|fma|div|sqrt)(\.[a-z]+)*\.f(32|64)`, `\b(min|max|abs)\.f`} {
		for _, ins := range regexp.MustCompile(bad+`.*`).FindAllString(text, -1) {
			if !strings.Contains(ins, ".rn.") || strings.Contains(ins, ".ftz") || strings.Contains(ins, ".approx") {
				t.Errorf("not exact: %s", ins)
			}
		}
	}
}

// TestEqualKernelsPrintEqually, also behind another kernel that has the same table.
func TestEqualKernelsPrintEqually(t *testing.T) {
	make2 := func() []*grid.Kernel {
		return []*grid.Kernel{lookupKernel(loop.F32, true), lookupKernel(loop.F32, false), controlKernel()}
	}
	a, b := printed(t, sm80, make2()...), printed(t, sm80, make2()...)
	if a != b {
		t.Errorf("the texts differ:\n%s\n%s", a, b)
	}
	if n := strings.Count(a, "\n.const"); n != 1 {
		t.Errorf("%d tables, want the one that two kernels share", n)
	}
}

// TestLookupIsAShuffleWhereAllLanesAre: lanes that are missing have no value to give.
func TestLookupIsAShuffleWhereAllLanesAre(t *testing.T) {
	leaving := func() *grid.Kernel {
		g := grid.NewBuilder("leaving", 128)
		g.K.Tables = lookupKernel(loop.F32, false).Tables
		g.If(g.Lt(g.Thread(), g.I32(5)), false, g.Return, nil)
		g.Do(loop.OpLookup, loop.F32, 0, g.Thread())
		return g.K
	}
	for _, c := range []struct {
		name     string
		k        *grid.Kernel
		shuffles int
	}{
		{"float32", lookupKernel(loop.F32, false), 1},
		{"float64", lookupKernel(loop.F64, false), 2},
		{"in an if", lookupKernel(loop.F64, true), 0},
		{"beside a return of some threads", leaving(), 0},
	} {
		if n := strings.Count(printed(t, sm80, c.k), "shfl.sync.idx"); n != c.shuffles {
			t.Errorf("%s: %d shuffles, want %d", c.name, n, c.shuffles)
		}
	}
}

// TestSharedMemoryBeyondTheStaticLimitIsSizedByTheLaunch.
func TestSharedMemoryBeyondTheStaticLimitIsSizedByTheLaunch(t *testing.T) {
	k := memoryKernel(grid.Shared, grid.W64, loop.F64, 4)
	if n := DynamicShared(k); n != 0 || !strings.Contains(printed(t, sm80, k), ".shared .align 16 .b8 shared[4096];") {
		t.Errorf("4096 bytes: the launch has to ask for %d, want 0", n)
	}
	k = controlKernel()
	if n := DynamicShared(k); n != k.Shared || strings.Contains(printed(t, sm80, k), "shared[") {
		t.Errorf("%d bytes: the launch has to ask for %d", k.Shared, n)
	}
}

// TestPrintRefuses: what breaks a rule of package grid or is beyond the target.
func TestPrintRefuses(t *testing.T) {
	build := func(write func(g *grid.Builder)) []*grid.Kernel {
		g := grid.NewBuilder("k", 32)
		write(g)
		return []*grid.Kernel{g.K}
	}
	inIf := func(write func(g *grid.Builder)) []*grid.Kernel {
		return build(func(g *grid.Builder) {
			g.If(g.Lt(g.Thread(), g.I32(3)), false, func() { write(g) }, nil)
		})
	}
	for _, c := range []struct {
		want    string
		target  Target
		kernels []*grid.Kernel
	}{
		{"compute capability 7.5", Target{7, 5}, nil},
		{"two kernels have this name", sm80, slices.Repeat([]*grid.Kernel{controlKernel()}, 2)},
		{"threads", sm80, []*grid.Kernel{grid.NewBuilder("k", 33).K}},
		{"the name", sm80, []*grid.Kernel{grid.NewBuilder("1k", 32).K}},
		{"needs compute capability 9.0", sm80, []*grid.Kernel{mmaKernel(grid.M16N8K4)}},
		{"div: no rule for type i32", sm80, build(func(g *grid.Builder) { g.Do(loop.OpDiv, loop.I32, 0, g.I32(1), g.I32(2)) })},
		{"add: register 2 has type i64", sm80, build(func(g *grid.Builder) { g.Add(g.I32(1), g.I64(2)) })},
		{"lt: the result has type i32", sm80, build(func(g *grid.Builder) { g.Do(loop.OpLt, loop.I32, 0, g.I32(1), g.I32(2)) })},
		{"add: register 0 is not one", sm80, build(func(g *grid.Builder) { g.Do(loop.OpAdd, loop.I32, 0, g.I32(1)) })},
		{"arg: 8 bytes at 4", sm80, build(func(g *grid.Builder) { g.K.Args = 16; g.Arg(loop.I64, 4) })},
		{"load: 3 elements", sm80, build(func(g *grid.Builder) { g.LoadN(grid.Global, grid.W32, loop.I32, 3, g.I64(0), 0, grid.NoReg) })},
		{"load: register 2 has type f32", sm80, build(func(g *grid.Builder) { g.Load(grid.Global, grid.U8, loop.F32, g.I64(0), 0, grid.NoReg) })},
		{"no shared memory", sm80, build(func(g *grid.Builder) { g.Load(grid.Shared, grid.W32, loop.I32, g.I64(0), 0, grid.NoReg) })},
		{"barrier: stands where lanes", sm80, inIf(func(g *grid.Builder) { g.Barrier() })},
		{"shuffle down: stands where lanes", sm80, inIf(func(g *grid.Builder) { g.Down(g.I32(1), 1) })},
		{"table 0 of 0", sm80, build(func(g *grid.Builder) { g.Do(loop.OpLookup, loop.F32, 0, g.I32(1)) })},
	} {
		_, err := Print(c.target, c.kernels...)
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
}
