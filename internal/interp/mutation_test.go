package interp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// A mutant is an operation of the loop language that the interpreter does wrong in
// one way. Its types are its own and that of its first operand, or of the memory.
type mutant struct {
	op      loop.Op
	t, from loop.Type
	memory  array.DType
	how     string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s: %s.%s from %s or memory of %s", m.how, m.op, m.t, m.from, m.memory)
}

// ways are what can be wrong, with what breaks a step; each reports whether it did.
var ways = map[string]func(c *code, s *instr, in *loop.Ins) bool{
	"not done": func(_ *code, s *instr, in *loop.Ins) bool {
		s.run = func(*machine, *instr) {}
		return s.d == none
	},
	"result lost": func(_ *code, s *instr, in *loop.Ins) bool {
		return after(s, in.Type, func(b []byte, _ int) { clear(b) })
	},
	"last lane changed": func(_ *code, s *instr, in *loop.Ins) bool {
		return after(s, in.Type, func(b []byte, size int) { b[len(b)-size] ^= 1 })
	},
	"operands swapped": func(_ *code, s *instr, in *loop.Ins) bool {
		switch in.Op {
		case loop.OpSelect, loop.OpFma:
			s.b, s.c = s.c, s.b
		case loop.OpSub, loop.OpDiv, loop.OpMin, loop.OpMax, loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU, loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpRotL,
			loop.OpScaleB, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
			s.a, s.b = s.b, s.a
			return !(in.Type.Int() && (in.Op == loop.OpMin || in.Op == loop.OpMax))
		default:
			return false
		}
		return s.b != s.c
	},
	"mask ignored": func(_ *code, s *instr, in *loop.Ins) bool {
		run := s.run
		s.run = func(m *machine, s *instr) {
			mask := m.mask
			m.mask = nil
			run(m, s)
			m.mask = mask
		}
		return in.Op == loop.OpStore
	},
	"body lost": func(_ *code, s *instr, _ *loop.Ins) bool {
		switch {
		case s.cf != nil:
			s.cf.body = nil
		case s.loop != nil:
			s.loop.body = nil
		default:
			s.body = nil
		}
		return s.cf != nil || s.loop != nil || s.body != nil
	},
	"else or head lost": func(_ *code, s *instr, _ *loop.Ins) bool {
		had := 0
		switch {
		case s.cf != nil:
			had = len(s.cf.els)
			s.cf.els = nil
		case s.loop != nil:
			had = len(s.loop.head)
			s.loop.head = nil
		}
		return had > 0
	},
}

// after lets a step change its result, as bytes and the size of a lane.
func after(s *instr, t loop.Type, change func(b []byte, size int)) bool {
	run, d, size := s.run, s.d, max(t.Size(), 1)
	s.run = func(m *machine, s *instr) {
		run(m, s)
		if d.uniform() {
			change(unsafe.Slice((*byte)(unsafe.Pointer(&m.uni[^d])), size), size)
			return
		}
		if m.reg[d] != m.own[d] { // in a buffer
			copy(unsafe.Slice((*byte)(m.own[d]), m.n*size), unsafe.Slice((*byte)(m.reg[d]), m.n*size))
			m.reg[d] = m.own[d]
		}
		change(unsafe.Slice((*byte)(m.reg[d]), m.n*size), size)
	}
	return d != none
}

// mutantOf returns the mutant that an instruction belongs to.
func mutantOf(p *loop.Program, in *loop.Ins) mutant {
	m := mutant{op: in.Op, t: in.Type}
	switch in.Op {
	case loop.OpLoad, loop.OpLoadAt, loop.OpStore, loop.OpStoreAt:
		m.memory = p.Bufs[in.Imm].DType
	default:
		if in.A != loop.NoValue {
			m.from = p.Ins[in.A].Type
		}
	}
	return m
}

// each calls f for the steps of a block and the instructions that they are of.
func (c *code) each(block []loop.Value, steps []instr, f func(s *instr, in *loop.Ins)) []instr {
	for _, v := range block {
		in := &c.p.Ins[v]
		r := c.p.Region(in)
		switch in.Op {
		case loop.OpConst, loop.OpScalar, loop.OpOut:
			continue
		case loop.OpPass:
			if c.grouped {
				steps = c.each(r.Body, steps, f)
				continue
			}
			c.each(r.Body, steps[0].body, f)
		case loop.OpIf:
			c.each(r.Body, steps[0].cf.body, f)
			c.each(r.Else, steps[0].cf.els, f)
		case loop.OpLoop:
			c.each(r.Head, steps[0].loop.head, f)
			c.each(r.Body, steps[0].loop.body, f)
		}
		f(&steps[0], in)
		steps = steps[1:]
	}
	return steps
}

// kernel compiles a program with a mutant in it and returns how often it stands there.
func (m mutant) kernel(p *loop.Program) (k *Kernel, broken int) {
	k = Compile(p)
	if k.canGroup {
		k.once.Do(func() { k.grouped = compile(p, true) })
	}
	op := m
	op.how = ""
	for _, c := range []*code{k.plain, k.grouped} {
		if c == nil {
			continue
		}
		c.each(p.Body, c.body, func(s *instr, in *loop.Ins) {
			if mutantOf(p, in) != op {
				return
			}
			if sound := *s; ways[m.how](c, s, in) {
				broken++
			} else {
				*s = sound
			}
		})
	}
	return k, broken
}

// noticedAlone tries the operation by itself, as TestOps does.
func (m mutant) noticedAlone(t *testing.T) (broken int, noticed bool) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, o := range operations() {
		if o.op != m.op || o.t != m.t || o.args[0] != m.from {
			continue
		}
		k, n := m.kernel(o.program(t, 0))
		return n, n > 0 && o.wrong(k, 0, o.arguments(r)) != ""
	}
	return 0, false
}

// outcome runs a case; a fault or a loop without end is an error.
func outcome(c *loopgen.Case, k *Kernel) (out *loopgen.Output, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v", e)
		}
	}()
	return loopgen.Run(c, loopgen.Heap, func(_ *loop.Program, f *loop.Frame, refill func() bool) error {
		start := time.Now()
		if !k.Run(f, func() bool { return time.Since(start) < time.Second && refill() }) {
			return errors.New("does not end")
		}
		return nil
	})
}

// TestMutants breaks each operation of the interpreter and demands that a test
// notices: the operation by itself against its definition, or one of the first
// WEFT_MUTATE generated programs, with which package x86 compares machine code.
func TestMutants(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("WEFT_MUTATE"))
	if n == 0 {
		t.Skip("SKIPPED: a campaign of minutes: WEFT_MUTATE=n asks for n programs")
	}
	type sound struct {
		c   *loopgen.Case
		out *loopgen.Output
	}
	// The programs by what stands in them. Broken offsets could write anywhere: where
	// memory is used by index, only that is broken.
	cases := map[mutant][]*sound{}
	for seed := range n {
		x := &sound{c: loopgen.Generate(uint64(seed), loopgen.Language{})}
		p := x.c.Program
		byIndex := false
		for i := range p.Ins {
			op := p.Ins[i].Op
			byIndex = byIndex || op == loop.OpLoadAt || op == loop.OpStoreAt
		}
		seen := map[mutant]bool{}
		c := compile(p, false)
		c.each(p.Body, c.body, func(_ *instr, in *loop.Ins) {
			if m := mutantOf(p, in); !seen[m] && (!byIndex || in.Op == loop.OpLoadAt || in.Op == loop.OpStoreAt) {
				seen[m] = true
				cases[m] = append(cases[m], x)
			}
		})
	}
	mutants, survivors, alone := 0, 0, 0
	for op, xs := range cases {
		for how := range ways {
			m := op
			m.how = how
			broken, noticed := m.noticedAlone(t)
			if noticed {
				alone++
			}
			for i, ran := 0, 0; i < len(xs) && !noticed && ran < 1000; i++ {
				x := xs[i]
				k, n := m.kernel(x.c.Program)
				if n == 0 {
					continue
				}
				broken, ran = broken+n, ran+1
				if x.out == nil {
					var err error
					if x.out, err = outcome(x.c, Compile(x.c.Program)); err != nil {
						t.Fatal(err)
					}
				}
				got, err := outcome(x.c, k)
				noticed = err != nil || x.out.Diff(got) != ""
			}
			if broken == 0 {
				continue
			}
			mutants++
			if !noticed {
				survivors++
				t.Errorf("%s: nothing noticed", m)
			}
		}
	}
	t.Logf("%d mutants, %d survivors; %d noticed by themselves, the others in %d generated programs", mutants, survivors, alone, n)
	if mutants < 300 {
		t.Errorf("only %d mutants", mutants)
	}
}
