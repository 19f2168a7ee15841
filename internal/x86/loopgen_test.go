//go:build amd64

package x86

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// compiled runs programs as machine code. One that runs several times in a row is compiled
// once, if the same runner is asked.
func compiled(isa jit.ISA) loopgen.Runner { return compiledBy(Compile, isa) }

func compiledBy(compile func(*loop.Program, jit.ISA) (*Kernel, error), isa jit.ISA) loopgen.Runner {
	var last *loop.Program
	var code *Code
	return func(p *loop.Program, f *loop.Frame, refill func() bool) (err error) {
		if p != last {
			k, err := compile(p, isa)
			if err != nil {
				return err
			}
			if code, err = k.Map(); err != nil {
				return err
			}
			last = p
		}
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if e := recover(); e != nil {
				err = fmt.Errorf("panic: %v", e)
			}
		}()
		done, err := code.runPoisoned(f, refill)
		if err == nil && !done {
			err = errEndless
		}
		return err
	}
}

var errEndless = errors.New("does not end")

func interpreted(p *loop.Program, f *loop.Frame, refill func() bool) error {
	if !interp.Compile(p).Run(f, refill) {
		return errEndless
	}
	return nil
}

// TestGenerated compares the programs of package loopgen with the interpreter.
// WEFT_FUZZ=n asks for n cases, WEFT_FUZZ_FIRST for the first seed; then the
// histogram is printed, and every combination of the language must have occurred.
func TestGenerated(t *testing.T) {
	isas := isas(t)
	n, first := 0, 0
	for name, x := range map[string]*int{"WEFT_FUZZ": &n, "WEFT_FUZZ_FIRST": &first} {
		if s := os.Getenv(name); s != "" {
			var err error
			if *x, err = strconv.Atoi(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	quick := n == 0
	if quick {
		n = 600
	}
	h := loopgen.Histogram{}
	failures, streamed := 0, 0
	for seed := first; seed < first+n; seed++ {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		h.Count(c.Program)
		cases := []*loopgen.Case{c}
		if c := loopgen.Generate(uint64(seed), loopgen.Language{Streamed: true}); streams(c.Program) {
			cases = append(cases, c)
			streamed++
		}
		for _, c := range cases {
			if err := compare(c, isas...); err != nil {
				small := loopgen.Shrink(c, func(c *loopgen.Case) bool { return compare(c, isas...) != nil })
				t.Errorf("%v\nmade smaller: %v\n%s", err, compare(small, isas...), small)
				if failures++; failures == 10 {
					t.FailNow()
				}
			}
		}
	}
	if streamed < n/3 {
		t.Errorf("only %d of %d programs have non-temporal stores", streamed, n)
	}
	if quick {
		return
	}
	h.Print(os.Stdout, loopgen.Language{})
	for _, i := range h.Missing(loopgen.Language{}) {
		t.Errorf("%s did not occur in %d cases", i, n)
	}
}

// TestNarrowed compares generated programs after loop.Narrow with the interpreter, which runs the
// originals.
func TestNarrowed(t *testing.T) {
	changed := 0
	for seed := range uint64(600) {
		c := loopgen.Generate(seed, loopgen.Language{})
		p, notes := loop.Narrow(c.Program)
		if p == c.Program {
			continue
		}
		changed++
		want, err := loopgen.Run(c, loopgen.Heap, interpreted)
		if err != nil {
			t.Fatal(err)
		}
		other := *c
		other.Program = p
		for _, isa := range isas(t) {
			got, err := loopgen.Run(&other, loopgen.Edge(seed%2 == 0), compiled(isa))
			if err != nil {
				t.Fatalf("%s: %v\n%s", isa, err, p)
			}
			if d := want.Diff(got); d != "" {
				t.Fatalf("%s: %s\n%v\n%s\n%s", isa, d, notes, c, p)
			}
		}
	}
	if changed < 60 {
		t.Errorf("only %d programs changed", changed)
	}
}

// TestUniformCondition has a uniform condition, which all masks take from one register and which an
// inner loop reads as well.
func TestUniformCondition(t *testing.T) {
	b := loop.NewBuilder("shared", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Serial}, {Kind: loop.Serial}}, 0)
	limit := b.Buf(array.Int32, false, loop.Zero, loop.Zero, loop.Zero)
	out := b.Buf(array.Int32, true, loop.Unit, loop.Zero, loop.Zero)
	b.Pass(func() {
		one := b.Int(loop.I32, 1)
		v := b.While([]loop.Value{b.Int(loop.I32, 0), b.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
			return b.Lt(b.Load(limit), b.Int(loop.I32, 9))
		}, func(v []loop.Value) []loop.Value {
			cond := loop.Value(len(b.Program().Ins) - 1) // what the head has just computed
			w := b.While([]loop.Value{v[1]}, func([]loop.Value) loop.Value { return cond }, func(w []loop.Value) []loop.Value {
				return []loop.Value{b.Add(w[0], one)}
			})
			in := b.Program().Ins
			b.Program().Region(&in[in[w[0]].A]).Axis = 2
			return []loop.Value{b.Add(v[0], one), w[0]}
		})
		in := b.Program().Ins
		b.Program().Region(&in[in[v[0]].A]).Axis = 1
		b.Store(out, b.Add(b.Mul(v[0], b.Int(loop.I32, 100)), v[1]))
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	for _, isa := range isas(t) {
		for _, n := range []int{1, 20, 100} {
			for _, limit := range []byte{3, 9} {
				c := &loopgen.Case{
					Program: p, Extents: []int{n, 3, 2}, Starts: []int{0, 0, 0}, Fuel: 5,
					Buffers: []loopgen.Buffer{{Memory: 0, Strides: []int{0, 0, 0}}, {Memory: 1, Strides: []int{4, 0, 0}}},
					Memory: []loopgen.Memory{
						{DType: array.Int32, Data: []byte{limit, 0, 0, 0}},
						{DType: array.Int32, Write: true, Data: make([]byte, 4*n)},
					},
				}
				if err := compare(c, isa); err != nil {
					t.Errorf("%s, %d lanes, limit %d: %v", isa, n, limit, err)
				}
			}
		}
	}
}

// FuzzGenerated lets go test -fuzz choose the seeds.
func FuzzGenerated(f *testing.F) {
	isas := isas(f)
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := loopgen.Generate(seed, loopgen.Language{})
		for _, isa := range isas {
			if err := compare(c, isa); err != nil && !errors.Is(err, ErrUnsupported) {
				t.Fatalf("%v\n%s", err, c)
			}
		}
	})
}

// compare runs a case with the interpreter and as machine code of each instruction set, also
// as made for its number of lanes. The interpreter is tested by itself.
func compare(c *loopgen.Case, isas ...jit.ISA) error {
	want, err := loopgen.Run(c, loopgen.Heap, interpreted)
	if err != nil {
		return nil // shrinking made something endless
	}
	for _, isa := range isas {
		if err := compareWith(c, want, isa); err != nil {
			return fmt.Errorf("%s: %w", isa, err)
		}
	}
	if p := c.Program; p.Axes[p.Lane].Extent == 0 && p.Ragged() < 0 {
		if n := c.Extents[p.Lane]; n > 0 && n <= 257 {
			c := *c
			c.Program = made(p, n)
			if err := compare(&c, isas...); err != nil {
				return fmt.Errorf("made for %d: %w", n, err)
			}
		}
	}
	return nil
}

func compareWith(c *loopgen.Case, want *loopgen.Output, isa jit.ISA) error {
	ways := []func(*loop.Program, jit.ISA) (*Kernel, error){Compile}
	if streams(c.Program) {
		ways = append(ways, CompileStreaming)
	}
	for i, compile := range ways {
		got, err := loopgen.Run(c, loopgen.Edge(c.Seed%2 == 0), compiledBy(compile, isa))
		if err != nil {
			return err
		}
		if d := want.Diff(got); d != "" {
			return fmt.Errorf("interp and %s: %s", []string{"machine code", "code with non-temporal stores"}[i], d)
		}
	}
	return nil
}

// streams reports whether non-temporal stores can write the results of a program wherever its
// buffers begin. The lane axis must be last and all others parallel. The program must write one
// buffer, with step Unit: two would have to be aligned alike.
func streams(p *loop.Program) bool {
	reduces := p.Axes[p.Lane].Kind == loop.Reduce
	writes := 0
	for _, b := range p.Bufs {
		switch {
		case !b.Write || reduces && b.Steps[p.Lane] == loop.Zero:
		case b.Steps[p.Lane] == loop.Unit:
			writes++
		default:
			return false
		}
	}
	return writes == 1 && p.Lane == len(p.Axes)-1 && p.Ragged() < 0 &&
		!slices.ContainsFunc(p.Axes[:p.Lane], func(a loop.Axis) bool { return a.Kind != loop.Parallel })
}
