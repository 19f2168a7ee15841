//go:build amd64

package x86

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/x86/asm"
)

// A mutant is an operation of the loop language, with its type and that of its first
// operand, whose code is wrong in one way.
type mutant struct {
	op      loop.Op
	t, from loop.Type
	isa     jit.ISA
	how     string
	sign    int // of a conversion
}

func (m mutant) String() string {
	return fmt.Sprintf("%s: %s of %s.%s from %s signs %d", m.isa, m.how, m.op, m.t, m.from, m.sign)
}

// ways names the kinds of mutation. Each function breaks the code of a value and reports whether
// it found something to break.
var ways = map[string]func(c *compiler, v loop.Value, code []ins) bool{
	"result lost":       loseResult,
	"operands swapped":  swapOperands,
	"another immediate": changeImmediate,
	"branch inverted":   invertBranch,
}

func loseResult(c *compiler, v loop.Value, code []ins) bool {
	for n := len(code) - 1; n >= 0; n-- {
		switch i := &code[n]; {
		case i.flags&fDef != 0 && c.vregs[i.a[0].id()].class != classG:
			*i = ins{op: pZero, n: 1, flags: fDef, memAt: -1, a: [7]vr{i.a[0] & idMask}}
			return true
		case i.memAt == 0 && i.flags&fDef == 0 && i.op != asm.SUB: // a store, but of fuel
			i.remove()
			return true
		}
	}
	in := &c.p.Ins[v]
	if len(code) > 0 || in.Type == loop.None {
		return false
	}
	c.set(v, c.constReg(in.Type, in.Imm^1)) // a constant, or another name for a value
	return true
}

// ordered are instructions whose operands may not change places.
var ordered = []asm.Op{
	asm.VPSUBD, asm.VPSUBQ, asm.VSUBPS, asm.VSUBPD, asm.VDIVPS, asm.VDIVPD, asm.VMINPS, asm.VMINPD, asm.VMAXPS, asm.VMAXPD,
	asm.VPSLLVD, asm.VPSLLVQ, asm.VPSRAVD, asm.VPSRAVQ, asm.VPSRLVD, asm.VPSRLVQ, asm.VSCALEFPS, asm.VSCALEFPD,
	asm.VPCMPGTD, asm.VPCMPGTQ, asm.VBLENDMPS, asm.VBLENDMPD, asm.VBLENDVPS, asm.VBLENDVPD, asm.VPANDN, asm.KANDNQ, asm.KUNPCKBW,
	asm.VPERMPS, asm.VPERMPD, asm.VPERMT2PS, asm.VPSUBUSW, asm.VPSHUFB, asm.VPROLVD, asm.VPROLVQ, asm.VPBLENDD, asm.VPERM2I128, asm.VUNPCKLPS, asm.VUNPCKHPS,
	asm.VPSUBB, asm.VPSUBW, asm.VPCMPGTB, asm.VPCMPGTW, asm.VPBLENDMB, asm.VPBLENDMW, asm.VPBLENDVB,
	asm.VPACKSSWB, asm.VPACKSSDW, asm.VPACKUSWB, asm.VPACKUSDW, asm.VPUNPCKLWD,
}

func swapOperands(_ *compiler, _ loop.Value, code []ins) bool {
	for n := len(code) - 1; n >= 0; n-- {
		i := &code[n]
		compares := (slices.Contains(cmps[:], i.op) || slices.Contains(cmpsU[:], i.op)) && i.imm&3 != 0 && i.imm&3 != 3 // less or greater
		if i.op == pFma || i.op == pFmaD {
			i.a[2], i.a[3] = i.a[3], i.a[2]
			return i.a[2] != i.a[3]
		}
		if (compares || slices.Contains(ordered, i.op)) && i.memAt < 0 && i.a[1] != i.a[2] {
			i.a[1], i.a[2] = i.a[2], i.a[1]
			return true
		}
	}
	return false
}

func changeImmediate(c *compiler, _ loop.Value, code []ins) bool {
	for n := len(code) - 1; n >= 0; n-- {
		if i := &code[n]; i.flags&fImm != 0 && i.flags&fDef != 0 && c.vregs[i.a[0].id()].class != classG {
			i.imm ^= 1
			return true
		}
	}
	return false
}

func invertBranch(c *compiler, v loop.Value, code []ins) bool {
	if op := c.p.Ins[v].Op; op != loop.OpIf && op != loop.OpLoop {
		return false
	}
	for n := range code {
		if i := &code[n]; i.op == pJcc {
			i.cond = i.cond.Not()
			return true
		}
	}
	return false
}

// leftOut holds the mutants that the campaign leaves out:
//   - mutants that compute the same, because what is clamped is not NaN and equals its bound only
//     as the same number;
//   - mutants in too few generated programs, or whose only effect there is the sign of a zero.
//     Tests of their own find these.
var leftOut = func() map[mutant]bool {
	out := map[mutant]bool{
		{loop.OpCvt, loop.I32, loop.F64, jit.AVX2, "operands swapped", 0}:               true,
		{loop.OpCvt, loop.I32, loop.F64, jit.AVX512, "operands swapped", 0}:             true,
		{loop.OpCvt, loop.I32, loop.F64, jit.AVX2, "operands swapped", loop.ToUnsigned}: true,
		{loop.OpReduce, loop.F32, loop.F32, jit.AVX512, "operands swapped", 0}:          true, // TestReductionsOfZeros
		{loop.OpReduce, loop.F64, loop.F64, jit.AVX512, "operands swapped", 0}:          true,
		{loop.OpRound, loop.F32, loop.F32, jit.AVX512, "operands swapped", 0}:           true, // TestRoundIntegers
		{loop.OpLoadAt, loop.B, loop.I32, jit.AVX2, "another immediate", 0}:             true, // TestUniformOffsetOfBools
	}
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		out[mutant{loop.OpMax, loop.I32, loop.I32, isa, "operands swapped", 0}] = true  // of bounds of floats, as conversions above
		out[mutant{loop.OpMax, loop.I32, loop.I32, isa, "another immediate", 0}] = true // TestFused
		for _, offset := range []loop.Type{loop.I32, loop.I64} {
			for _, t := range []loop.Type{loop.F32, loop.I64} {
				out[mutant{loop.OpLoadAt, t, offset, isa, "operands swapped", 0}] = true // TestUniformOffset
			}
		}
	}
	return out
}()

// mutantOf returns the mutant that an instruction belongs to.
func mutantOf(p *loop.Program, in *loop.Ins) mutant {
	m := mutant{op: in.Op, t: in.Type}
	if in.A != loop.NoValue {
		m.from = p.Ins[in.A].Type
	}
	if in.Op == loop.OpCvt {
		m.sign = int(in.Imm)
	}
	return m
}

// noticedAlone tries the operations by themselves, as TestMixedWidths does, and as
// TestOperations where only that has narrow lanes.
func noticedAlone(t *testing.T, m mutant, isa jit.ISA) bool {
	r := rand.New(rand.NewPCG(5, 6))
	for _, o := range operations() {
		if o.op != m.op || o.t != m.t || o.args[0] != m.from || o.sign != m.sign {
			continue
		}
		p := o.mixed(t)
		k, err := Compile(p, isa)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{7, 150, 20000} {
			s := o.fill(random(p, r, n), r)
			got, _ := s.execute(t, k, plenty)
			if _, _, ok := same(p, got, o.wanted(s)); !ok {
				return true
			}
		}
		for scalars := 0; scalars < 1<<len(o.args); scalars += 2 {
			p := o.program(t, scalars, false)
			if laneBytes(p)%4 == 0 {
				continue
			}
			k, err := Compile(p, isa)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				s := random(p, r, 3001)
				want := o.draw(r, s, scalars)
				got, _ := s.execute(t, k, plenty)
				if _, _, ok := same(p, got, want); !ok {
					return true
				}
			}
		}
	}
	return false
}

// TestMutants breaks each operation in the code of each instruction set, and demands
// that the comparison with the interpreter notices: of the operation by itself, or of
// the first WEFT_MUTATE generated programs.
func TestMutants(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("WEFT_MUTATE"))
	if n == 0 {
		t.Skip("SKIPPED: a campaign of minutes: WEFT_MUTATE=n asks for n programs")
	}
	// The programs by what stands in them. Broken offsets could write anywhere: where
	// memory is written by index, only that is broken.
	cases := map[mutant][]*loopgen.Case{}
	for _, o := range operations() {
		cases[mutant{op: o.op, t: o.t, from: o.args[0], sign: o.sign}] = nil
	}
	for seed := range n {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		seen := map[mutant]bool{}
		writes := slices.ContainsFunc(c.Program.Ins, func(in loop.Ins) bool { return in.Op == loop.OpStoreAt })
		for i := range c.Program.Ins {
			in := &c.Program.Ins[i]
			m := mutantOf(c.Program, in)
			if !seen[m] && (!writes || in.Op == loop.OpStoreAt) {
				cases[m] = append(cases[m], c)
				seen[m] = true
			}
		}
	}
	defer func() { sabotage = nil }()
	mutants, survivors, alone := 0, 0, 0
	for op, cs := range cases {
		for _, isa := range isas(t) {
			for how, change := range ways {
				m := op
				m.isa, m.how = isa, how
				if leftOut[m] {
					continue
				}
				broken := 0
				sabotage = func(c *compiler, v loop.Value, from int) {
					if c.isa == isa && mutantOf(c.p, &c.p.Ins[v]) == op && change(c, v, c.code[from:]) {
						broken++
					}
				}
				noticed, ran := noticedAlone(t, op, isa), 0
				if noticed {
					alone++
				}
				for i := 0; i < len(cs) && !noticed && ran < 100; i++ {
					before := broken
					if Compile(cs[i].Program, isa); broken > before {
						ran++
						noticed = compare(cs[i], isa) != nil
					}
				}
				if broken == 0 {
					continue
				}
				mutants++
				if !noticed {
					survivors++
					t.Errorf("%s: in %d programs, and nothing noticed", m, ran)
				}
			}
		}
	}
	t.Logf("%d mutants, %d survivors; %d noticed by the programs of one operation, the others by %d generated ones", mutants, survivors, alone, n)
	if mutants < 500 {
		t.Errorf("only %d mutants", mutants)
	}
}

// TestCompilerFails demands that a panic in the compiler becomes an error: its callers have the
// interpreter.
func TestCompilerFails(t *testing.T) {
	b := loop.NewBuilder("fails", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, y := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() { b.Store(y, b.Neg(b.Load(x))) })
	p := finish(t, b)
	defer func() { sabotage = nil }()
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		sabotage = func(*compiler, loop.Value, int) { panic("out of order") }
		k, err := Compile(p, isa)
		if k != nil || err == nil || errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("%s: %v, error %v", isa, k, err)
		}
		sabotage = nil
		if _, err := Compile(p, isa); err != nil {
			t.Errorf("%s: not in order again: %v", isa, err)
		}
	}
}
