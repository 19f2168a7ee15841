package x86

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
)

// A Kernel is a compiled program.
type Kernel struct {
	Code    []byte // position independent; the entry is at offset 0
	Text    int    // bytes of Code that are instructions; constants follow
	Scratch int    // bytes in use behind the loop.Frame; 0 if the code runs on a loop.Frame alone
	Spills  int    // values kept in scratch for want of registers
	ISA     jit.ISA

	bufs, words int // of the program

	stored []int32 // the lines of the source, for Explain, of what is stored as spilled
}

// ErrUnsupported matches the error of a program that this backend does not
// compile: an element type that tensors cannot hold yet, or more state than the
// scratch memory of a large frame takes.
var ErrUnsupported = errors.New("x86: unsupported program")

var pool = sync.Pool{New: func() any { return new(compiler) }}

// Compile translates a verified program for isa. It is safe for concurrent use
// and does not depend on the processor it runs on. The error matches
// [ErrUnsupported] where the program asks for what the backend lacks.
func Compile(p *loop.Program, isa jit.ISA) (*Kernel, error) {
	return compile(p, isa, false, nil)
}

// CompileStreaming is Compile for outputs that are larger than the caches. It writes whole
// vectors by non-temporal stores, which saves reading the lines that they replace. A row
// begins with ordinary stores, up to its first aligned vector. Passes that reduce have
// ordinary stores alone.
//
// CompileStreaming requires that
//   - the lane axis of p is last, and all others are parallel;
//   - what a pass writes has step Unit along the lanes, or is a group of n adjacent buffers
//     with stride n ([loop.Buf.Pair]);
//   - in each row, all buffers written with step Unit reach a multiple of 64 bytes after the same
//     number of elements;
//   - if there is a group of adjacent buffers, nothing else is written, and its rows begin at a
//     multiple of 64 bytes.
func CompileStreaming(p *loop.Program, isa jit.ISA) (*Kernel, error) {
	return compile(p, isa, true, nil)
}

// Explain returns what Compile makes of p as text: a line an instruction, with its
// offset in the code, in Intel syntax. Labels of constants stand behind the code.
func Explain(p *loop.Program, isa jit.ISA) (string, error) {
	var b strings.Builder
	k, err := compile(p, isa, false, &b)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("; %s for %s: %d bytes of code and %d of constants, %d spills, %d bytes of scratch\n; %s\n%s%s",
		p.Name, isa, k.Text, len(k.Code)-k.Text, k.Spills, k.Scratch, shape(p, isa), slow(p, k.stored), b.String()), nil
}

// slow lists what takes much longer than other instructions, with its lines in the source. The
// argument stored holds the lines of spilled values. slow is empty where a program has no lines.
func slow(p *loop.Program, stored []int32) string {
	q, _ := narrowed(p)
	uniform := q.Uniform(q.Lane, true)
	const gathers, scatters, quotients, roots, loops, spills = 0, 1, 2, 3, 4, 5
	var lines [6][]int32
	for i := range q.Ins {
		in, kind := &q.Ins[i], -1
		at := loop.Value(i)
		switch in.Op {
		case loop.OpLoadAt:
			if !uniform[in.A] {
				kind = gathers
			}
		case loop.OpStoreAt:
			if !uniform[in.B] {
				kind = scatters
			}
		case loop.OpDiv, loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU:
			kind = quotients
		case loop.OpSqrt:
			kind = roots
		case loop.OpLoop:
			if r := q.Region(in); r.Cond != loop.NoValue && !uniform[r.Cond] {
				kind, at = loops, r.Cond
			}
		}
		if n := q.Line(at); kind >= 0 && n > 0 {
			lines[kind] = append(lines[kind], int32(n))
		}
	}
	lines[spills] = stored
	inside := make([]bool, len(q.Ins))
	for i := range q.Ins {
		if in := &q.Ins[i]; in.Op == loop.OpPass {
			q.Walk(q.Region(in).Body, func(v loop.Value, in *loop.Ins) { inside[v] = true })
		}
	}
	var inPass, onceARow []int32 // lines of loops that all lanes run together
	q.Walk(q.Body, func(v loop.Value, in *loop.Ins) {
		if in.Op != loop.OpLoop {
			return
		}
		r := q.Region(in)
		if r.Cond == loop.NoValue || !uniform[r.Cond] {
			return
		}
		switch n := int32(q.Line(r.Cond)); {
		case n <= 0:
		case inside[v]:
			inPass = append(inPass, n)
		default:
			onceARow = append(onceARow, n)
		}
	})
	var b strings.Builder
	for kind, what := range []string{"gathers, element by element", "scatters, element by element", "divisions", "square roots", "loops that run until the last lane is done", "values in memory for want of registers"} {
		if slices.Sort(lines[kind]); len(lines[kind]) > 0 {
			fmt.Fprintf(&b, "; slow: %s\n", what)
		}
		for _, n := range slices.Compact(lines[kind]) {
			fmt.Fprintf(&b, "; line %d\n", n)
		}
	}
	for k, lines := range [][]int32{inPass, onceARow} {
		what := [...]string{"loops that all lanes run together, without masks, for each vector", "loops that run once a row, for all vectors"}[k]
		if slices.Sort(lines); len(lines) > 0 {
			fmt.Fprintf(&b, "; %s\n", what)
		}
		for _, n := range slices.Compact(lines) {
			fmt.Fprintf(&b, "; line %d\n", n)
		}
	}
	for _, k := range p.Kept {
		fmt.Fprintf(&b, "; not narrowed: %s\n", k.What)
		if k.Line > 0 {
			fmt.Fprintf(&b, "; line %d\n", k.Line)
		}
	}
	return b.String()
}

// shape describes the lanes of a program, and counts what costs more than one instruction a
// vector.
func shape(p *loop.Program, isa jit.ISA) string {
	q, es := narrowed(p)
	uniform := q.Uniform(q.Lane, true)
	gathers, scatters, loops := 0, 0, 0
	for i := range q.Ins {
		switch in := &q.Ins[i]; in.Op {
		case loop.OpLoadAt:
			if !uniform[in.A] {
				gathers++
			}
		case loop.OpStoreAt:
			if !uniform[in.B] {
				scatters++
			}
		case loop.OpLoop:
			if r := q.Region(in); r.Cond != loop.NoValue && !uniform[r.Cond] {
				loops++
			}
		}
	}
	text := fmt.Sprintf("%d lanes of %d bytes", isa.VectorBytes()/es, es)
	for _, c := range []struct {
		n    int
		what string
	}{{gathers, "gathers"}, {scatters, "scatters"}, {loops, "loops under masks"}, {p.Narrowed, "integers narrowed to 4 bytes"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	return text
}

func compile(p *loop.Program, isa jit.ISA, streaming bool, listing io.Writer) (k *Kernel, err error) {
	if isa != jit.AVX2 && isa != jit.AVX512 {
		return nil, fmt.Errorf("x86: Compile: no instruction set %d", isa)
	}
	for i, b := range p.Bufs {
		switch b.DType {
		case array.Bool, array.Uint8, array.Int8, array.Uint16, array.Int16, array.Int32, array.Uint32, array.Int64, array.Uint64, array.Float16, array.BFloat16, array.Float32, array.Float64:
		default:
			return nil, fmt.Errorf("%w: buffer %d of type %s", ErrUnsupported, i, b.DType)
		}
	}
	source := p
	c := pool.Get().(*compiler)
	defer func() {
		if e := recover(); e != nil { // a mistake of the compiler costs the user speed, not the process; c is dropped
			k, err = nil, fmt.Errorf("x86: %s for %s: the compiler failed: %v", p.Name, isa, e)
			return
		}
		pool.Put(c)
	}()
	p, es := narrowed(p)
	c.streaming = streaming
	c.reset(p, es, isa)
	c.program()
	c.allocate()
	if c.scratch > launch.MaxScratch {
		return nil, fmt.Errorf("%w: it needs %d bytes of scratch memory", ErrUnsupported, c.scratch)
	}
	c.asm.Listing = listing
	c.encode()
	code, err := c.asm.Finish()
	if err != nil {
		return nil, fmt.Errorf("x86: %s for %s: %w", p.Name, isa, err)
	}
	k = &Kernel{
		Code:    append([]byte(nil), code...),
		Text:    c.asm.CodeLen(),
		Scratch: c.scratchUsed(),
		Spills:  c.spills,
		ISA:     isa,
		bufs:    len(p.Bufs),
		words:   p.Words(),
	}
	if listing == nil {
		form := "kernel"
		if streaming {
			form = "streaming"
		}
		jit.RecordKernel(isa, form, source.Canonical, k.Code)
	}
	for i := range c.code {
		if x := &c.code[i]; listing != nil && x.spill && x.line > 0 {
			k.stored = append(k.stored, x.line)
		}
	}
	return k, nil
}
