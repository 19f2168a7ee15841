package loopgen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/mem/guard"
)

// A Runner runs a program over a frame, to the end. It calls refill when the
// frame's fuel is used up, as interp does; a runner that returns to its caller
// instead calls it there.
type Runner func(p *loop.Program, f *loop.Frame, refill func() bool) error

// An Output is the memory of a case after a run.
type Output struct {
	c      *Case
	memory [][]byte
}

// A Place provides memory for a run: size bytes, and a function that gives them
// back and reports whether nothing around them was written.
type Place func(size int) (mem []byte, release func() (intact bool))

// Heap places memory on the Go heap between bytes that must not change.
func Heap(size int) ([]byte, func() bool) {
	const around = 64
	all := make([]byte, size+2*around)
	for i := range all {
		all[i] = 0xa5
	}
	return all[around : around+size : around+size], func() bool {
		for i := range around {
			if all[i] != 0xa5 || all[around+size+i] != 0xa5 {
				return false
			}
		}
		return true
	}
}

// Edge places memory before (atEnd) or behind a page that faults, so that a
// single byte too far is noticed, even if it is only read.
func Edge(atEnd bool) Place {
	make := guard.Start
	if atEnd {
		make = guard.End
	}
	return func(size int) ([]byte, func() bool) {
		b, err := make(size)
		if err != nil {
			panic(err)
		}
		return b.Bytes(), func() bool {
			b.Release()
			return true
		}
	}
}

// Run runs a case in fresh memory. It fails if the runner does, or if memory
// around the buffers has changed.
func Run(c *Case, place Place, run Runner) (*Output, error) {
	return RunChunks(c, place, run, -1, 0)
}

// maxFuel is more than any case needs: beyond it something does not end.
const maxFuel = 50_000_000

// RunChunks runs a case in two chunks: along the axis, first the indices before
// cut, then the others. The axis must be parallel. Without an axis (-1) there is
// one chunk.
func RunChunks(c *Case, place Place, run Runner, axis, cut int) (*Output, error) {
	out := &Output{c: c}
	var releases []func() bool
	for _, m := range c.Memory {
		mem, release := place(len(m.Data))
		copy(mem, m.Data)
		out.memory = append(out.memory, mem)
		releases = append(releases, release)
	}
	chunk := func(from, to int) error {
		f := new(loop.Frame)
		p := c.Program
		for i, b := range c.Buffers {
			off := b.Offset
			if axis >= 0 && len(out.memory[b.Memory]) > 0 {
				off += from * b.Strides[axis]
			}
			f.Ptr[i] = unsafe.Add(unsafe.Pointer(unsafe.SliceData(out.memory[b.Memory])), off)
			for a, s := range b.Strides {
				f.Word[p.StrideWord(i, a)] = uint64(s)
			}
		}
		for a, n := range c.Extents {
			start := c.Starts[a]
			if a == axis {
				n, start = to-from, start+from
			}
			f.Word[p.ExtentWord(a)], f.Word[p.StartWord(a)] = uint64(n), uint64(start)
		}
		for i, x := range c.Scalars {
			f.Word[p.ScalarWord(i)] = x
		}
		f.Word[loop.WordFuel] = c.Fuel
		refills := 0
		return run(p, f, func() bool {
			f.Word[loop.WordFuel] = c.Fuel
			refills++
			return refills < 1+maxFuel/int(c.Fuel)
		})
	}
	var err error
	if axis < 0 {
		err = chunk(0, 0)
	} else {
		err = chunk(0, cut)
		if err == nil {
			err = chunk(cut, c.Extents[axis])
		}
	}
	out.canonical()
	for i, release := range releases {
		if !release() && err == nil {
			err = fmt.Errorf("loopgen: bytes around memory %d were written", i)
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// canonical copies the memory and makes NaNs in outputs equal.
func (o *Output) canonical() {
	for i, mem := range o.memory {
		mem = bytes.Clone(mem)
		o.memory[i] = mem
		m := &o.c.Memory[i]
		for _, at := range m.Elements {
			e := mem[at:]
			switch m.DType {
			case array.Float16:
				if binary.LittleEndian.Uint16(e)<<1 > 31<<11 {
					binary.LittleEndian.PutUint16(e, 0x7e00)
				}
			case array.BFloat16:
				if binary.LittleEndian.Uint16(e)<<1 > 255<<8 {
					binary.LittleEndian.PutUint16(e, 0x7fc0)
				}
			case array.Float32:
				if binary.LittleEndian.Uint32(e)<<1 > 255<<24 {
					binary.LittleEndian.PutUint32(e, uint32(canonicalNaN(loop.F32)))
				}
			case array.Float64:
				if binary.LittleEndian.Uint64(e)<<1 > 2047<<53 {
					binary.LittleEndian.PutUint64(e, canonicalNaN(loop.F64))
				}
			}
		}
	}
}

// Memory returns memory number i after the run.
func (o *Output) Memory(i int) []byte { return o.memory[i] }

// Digest is a hash of the output.
func (o *Output) Digest() uint64 {
	h := fnv.New64a()
	for _, m := range o.memory {
		h.Write(m)
	}
	return h.Sum64()
}

// Diff describes the first difference between two outputs of one case; it is
// empty if there is none.
func (o *Output) Diff(p *Output) string {
	for i := range o.memory {
		x, y := o.memory[i], p.memory[i]
		if bytes.Equal(x, y) {
			continue
		}
		at := 0
		for x[at] == y[at] {
			at++
		}
		m := &o.c.Memory[i]
		size := m.DType.Size()
		for _, e := range m.Elements {
			if e <= at && at < e+size {
				return fmt.Sprintf("memory %d of %d bytes, %s at %d: % x and % x (little-endian); buffers %v", i, len(x), m.DType, e, x[e:e+size], y[e:e+size], o.c.buffersOf(i))
			}
		}
		return fmt.Sprintf("memory %d of %d bytes, byte %d, which nothing should write: %#x and %#x; buffers %v", i, len(x), at, x[at], y[at], o.c.buffersOf(i))
	}
	return ""
}

func (c *Case) buffersOf(memory int) []int {
	var out []int
	for i, b := range c.Buffers {
		if b.Memory == memory {
			out = append(out, i)
		}
	}
	return out
}
