//go:build amd64

package x86

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/mem/guard"
)

// Programs and buffers are made and dropped by the million, while little is live: with room
// for four times as much a tenth of the time is saved. GOGC decides where it is set.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// isas lists the instruction sets that can run here.
func isas(t testing.TB) (out []jit.ISA) {
	if err := jit.Reason(); err != nil {
		t.Skip("SKIPPED: no machine code here: ", err)
	}
	out = jit.ISAs()[1:]
	if len(out) < 2 {
		t.Log("SKIPPED: this processor lacks an instruction set, it has ", out)
	}
	return out
}

// A memory is one buffer argument between guard pages.
type memory struct {
	g    *guard.Buffer
	base int // offset of the element with all indices zero
}

// A setup is a program with extents, strides and the contents of its buffers.
type setup struct {
	p       *loop.Program
	extents []int
	starts  []int
	scalars []uint64
	strides [][]int // bytes, by buffer and axis
	span    []int   // bytes of each buffer
	base    []int
	data    [][]byte
	front   bool // put buffers behind a guard page instead of before one
}

// random makes a setup with random layouts: gaps and negative strides where the
// program allows any stride.
func random(p *loop.Program, r *rand.Rand, extents ...int) *setup {
	s := &setup{p: p, extents: extents, front: r.IntN(2) == 0}
	for range p.Axes {
		s.starts = append(s.starts, r.IntN(1000))
	}
	for _, b := range p.Bufs {
		size := b.DType.Size()
		at := size
		strides := make([]int, len(p.Axes))
		lo, hi := 0, 0
		place := func(a int) {
			strides[a] = at
			if b.Steps[a] == loop.Any && r.IntN(2) == 0 {
				strides[a] += size * r.IntN(3)
			}
			n := max(extents[a], 1)
			at = strides[a] * n
			if b.Steps[a] == loop.Any && r.IntN(3) == 0 {
				strides[a] = -strides[a]
			}
			if d := strides[a] * (n - 1); d < 0 {
				lo += d
			} else {
				hi += d
			}
		}
		if n := b.Steps[p.Lane].Elements(); n != 0 {
			at *= n
			place(p.Lane)
			at = max(at, -at)
		}
		for a := len(p.Axes) - 1; a >= 0; a-- {
			if b.Steps[a] == loop.Any {
				place(a)
			}
		}
		span := hi - lo + size
		for a, st := range b.Steps {
			if st != loop.Zero && extents[a] == 0 {
				span = 0
			}
		}
		s.strides = append(s.strides, strides)
		s.span = append(s.span, span)
		s.base = append(s.base, -lo)
		s.data = append(s.data, make([]byte, span))
	}
	s.scalars = make([]uint64, len(p.Scalars))
	return s
}

// fill gives every element of every buffer a value.
func (s *setup) fill(f func(buf int) uint64) *setup {
	for b := range s.data {
		size := s.p.Bufs[b].DType.Size()
		for at := 0; at+size <= len(s.data[b]); at += size {
			x := f(b)
			switch size {
			case 1:
				s.data[b][at] = byte(x)
			case 2:
				binary.LittleEndian.PutUint16(s.data[b][at:], uint16(x))
			case 4:
				binary.LittleEndian.PutUint32(s.data[b][at:], uint32(x))
			default:
				binary.LittleEndian.PutUint64(s.data[b][at:], x)
			}
		}
	}
	return s
}

// frame makes the argument block and copies of the buffers.
func (s *setup) frame(t testing.TB) (*loop.Frame, []memory) {
	f := new(loop.Frame)
	p := s.p
	for a, n := range s.extents {
		f.Word[p.ExtentWord(a)] = uint64(n)
		f.Word[p.StartWord(a)] = uint64(s.starts[a])
	}
	for i, x := range s.scalars {
		f.Word[p.ScalarWord(i)] = x
	}
	var ms []memory
	for b := range p.Bufs {
		end := guard.End
		if s.front {
			end = guard.Start
		}
		g, err := end(s.span[b])
		if err != nil {
			t.Fatal(err)
		}
		copy(g.Bytes(), s.data[b])
		ms = append(ms, memory{g, s.base[b]})
		f.Ptr[b] = unsafe.Add(g.Ptr(), s.base[b])
		for a, x := range s.strides[b] {
			f.Word[p.StrideWord(b, a)] = uint64(x)
		}
	}
	return f, ms
}

// interpret returns the contents of the buffers after the interpreter ran.
func (s *setup) interpret(t testing.TB) [][]byte {
	f, ms := s.frame(t)
	interp.Compile(s.p).Run(f, nil)
	return contents(ms)
}

func contents(ms []memory) (out [][]byte) {
	for _, m := range ms {
		out = append(out, append([]byte(nil), m.g.Bytes()...))
		m.g.Release()
	}
	return out
}

// lastMapped are the kernels that ran last, as code: most run many times in a row.
var lastMapped [8]struct {
	k    *Kernel
	code *Code
}

func mapped(t testing.TB, k *Kernel) *Code {
	t.Helper()
	for _, m := range lastMapped {
		if m.k == k {
			return m.code
		}
	}
	code, err := k.Map()
	if err != nil {
		t.Fatal(err)
	}
	copy(lastMapped[1:], lastMapped[:])
	lastMapped[0].k, lastMapped[0].code = k, code
	return code
}

// usedScratch is scratch memory that others have written.
var usedScratch = func() (scratch [launch.SmallScratch]byte) {
	for i := range scratch {
		scratch[i] = 0xA5
	}
	return scratch
}()

// runPoisoned is Run in scratch memory that others have written. It fails if the code writes behind
// the bytes that the kernel declares, or if the frame keeps a pointer.
func (c *Code) runPoisoned(f *loop.Frame, refill func() bool) (done bool, err error) {
	if c.scratch > launch.SmallScratch {
		return c.Run(f, refill), nil
	}
	x := &launch.Frame{Scratch: usedScratch}
	done = launch.OnFrame(&x.Frame, f, c.bufs, c.words, refill, c.enter)
	if !bytes.Equal(x.Scratch[c.scratch:], usedScratch[c.scratch:]) {
		return done, fmt.Errorf("scratch behind the %d bytes in use was written", c.scratch)
	}
	if x.Ptr != (loop.Frame{}).Ptr {
		return done, errors.New("the frame keeps pointers")
	}
	return done, nil
}

// execute runs a kernel with so much fuel an entry and returns the buffers and
// the number of entries.
func (s *setup) execute(t testing.TB, k *Kernel, fuel uint64) (out [][]byte, entries int) {
	t.Helper()
	code := mapped(t, k)
	f, ms := s.frame(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%s on %s, extents %v: %v\n%s", s.p.Name, k.ISA, s.extents, e, s.p)
		}
	}()
	entries = 1
	f.Word[loop.WordFuel] = fuel
	if _, err := code.runPoisoned(f, func() bool { entries++; return true }); err != nil {
		t.Fatal(err)
	}
	return contents(ms), entries
}

// same compares buffers; a NaN equals any other.
func same(p *loop.Program, got, want [][]byte) (buf, elem int, ok bool) {
	for b := range want {
		d := p.Bufs[b].DType
		size := d.Size()
		if bytes.Equal(got[b], want[b]) {
			continue
		}
		for at := 0; at+size <= len(want[b]); at += size {
			g, w := word(got[b][at:], size), word(want[b][at:], size)
			if g != w && !(isNaN(d, g) && isNaN(d, w)) {
				return b, at / size, false
			}
		}
	}
	return 0, 0, true
}

func word(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func isNaN(d array.DType, x uint64) bool {
	var infinity uint64
	switch d {
	case array.Float16:
		infinity = 0x7C00
	case array.BFloat16:
		infinity = 0x7F80
	case array.Float32:
		infinity = 0x7F800000
	case array.Float64:
		infinity = 0x7FF << 52
	default:
		return false
	}
	return x&(1<<(8*d.Size()-1)-1) > infinity
}

const plenty = 1 << 40

// lastChecked are the kernels of the programs that were checked last: most run over rows of
// many lengths. What compiles mutants does so itself.
var lastChecked [8]struct {
	p   *loop.Program
	isa jit.ISA
	k   *Kernel
}

func (s *setup) kernel(t testing.TB, isa jit.ISA) *Kernel {
	t.Helper()
	for _, l := range lastChecked {
		if l.p == s.p && l.isa == isa {
			return l.k
		}
	}
	k, err := Compile(s.p, isa)
	if err != nil {
		t.Fatalf("%s: %v\n%s", isa, err, s.p)
	}
	copy(lastChecked[1:], lastChecked[:])
	lastChecked[0].p, lastChecked[0].isa, lastChecked[0].k = s.p, isa, k
	return k
}

// check runs a setup on every instruction set and compares with want, or with
// the interpreter if that is nil.
func (s *setup) check(t testing.TB, want [][]byte) {
	t.Helper()
	if want == nil {
		want = s.interpret(t)
	}
	for _, isa := range isas(t) {
		got, _ := s.execute(t, s.kernel(t, isa), plenty)
		if b, i, ok := same(s.p, got, want); !ok {
			size := s.p.Bufs[b].DType.Size()
			t.Fatalf("%s on %s, extents %v, strides %v: buffer %d element %d: got %#x, want %#x\n%s",
				s.p.Name, isa, s.extents, s.strides, b, i, word(got[b][i*size:], size), word(want[b][i*size:], size), s.p)
		}
	}
}

func finish(t testing.TB, b *loop.Builder) *loop.Program {
	t.Helper()
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
