// Package compare compares loop programs on a GPU, simulated or not, with the interpreter.
package compare

import (
	"errors"
	"fmt"
	"unsafe"

	"weft/internal/cudart/driver"
	"weft/internal/grid"
	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// Variants are those that need nothing of addresses and extents.
var Variants = []grid.Variant{grid.Flat, grid.WarpRows, grid.BlockRows, grid.Flat | grid.Long}

// chosen stands for the variant that [grid.Ways.Choose] says.
const chosen grid.Variant = 255

// A Printer returns the text of a kernel, and the bytes of shared memory that a launch gives it.
type Printer func(k *grid.Kernel) (text string, shared int, err error)

// Case runs a case on a GPU in each way that it can be laid out, and by the interpreter, and says
// where results differ. Cases that do not end are left out.
func Case(ctx driver.Context, print Printer, c *loopgen.Case) error {
	want, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, refill func() bool) error {
		if !interp.Compile(p).Run(f, refill) {
			return errors.New("does not end")
		}
		return nil
	})
	if err != nil {
		return nil
	}
	for _, v := range append(Variants[:len(Variants):len(Variants)], chosen) {
		if v != chosen && !grid.Legal(c.Program, v) {
			continue
		}
		got, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, _ func() bool) error {
			return run(ctx, print, c, v, p, f)
		})
		if err != nil {
			return fmt.Errorf("variant %d: %w", v, err)
		}
		if d := want.Diff(got); d != "" {
			return fmt.Errorf("variant %d: interp and PTX: %s", v, d)
		}
	}
	return nil
}

// run runs a variant of a program on the GPU.
func run(ctx driver.Context, print Printer, c *loopgen.Case, v grid.Variant, p *loop.Program, f *loop.Frame) (err error) {
	try := func(e error) {
		if err == nil {
			err = e
		}
	}
	memory, host := make([]driver.Addr, len(c.Memory)), make([][]byte, len(c.Memory))
	addrs := make([]uint64, len(c.Buffers))
	q, e := ctx.NewQueue(0)
	if e != nil {
		return e
	}
	defer func() {
		try(ctx.Sync(q))
		for _, a := range memory {
			if a != 0 {
				try(ctx.Free(a))
			}
		}
		try(ctx.CloseQueue(q))
	}()
	for i, b := range c.Buffers {
		n := len(c.Memory[b.Memory].Data)
		if n > 0 && memory[b.Memory] == 0 {
			host[b.Memory] = unsafe.Slice((*byte)(unsafe.Add(f.Ptr[i], -b.Offset)), n)
			memory[b.Memory], e = ctx.Alloc(n)
			try(e)
			try(ctx.CopyIn(q, memory[b.Memory], unsafe.Pointer(&host[b.Memory][0]), n))
		}
		addrs[i] = uint64(memory[b.Memory]) + uint64(b.Offset)
	}
	blocks := 2
	if v == chosen {
		v, blocks = grid.WaysOf(p).Choose(f, addrs, 2)
	}
	if blocks == 0 || err != nil { // 0 blocks: nothing to compute
		return err
	}
	k, e := grid.Lower(p, v)
	if e != nil {
		return e
	}
	text, shared, e := print(k)
	if e != nil {
		return e
	}
	m, e := ctx.Load(text)
	if e != nil {
		return e
	}
	defer func() { try(ctx.Unload(m)) }()
	fn, e := ctx.Function(m, k.Name)
	if e != nil {
		return e
	}
	try(ctx.Launch(q, fn, blocks, k.Threads, shared, grid.AppendArgs(nil, p, f, addrs, 0)))
	for i, b := range host {
		if len(b) > 0 {
			try(ctx.CopyOut(q, unsafe.Pointer(&b[0]), memory[i], len(b)))
		}
	}
	try(ctx.Sync(q)) // before the module goes
	return err
}

// Aligned reports whether elements lie at multiples of their size, which a GPU demands.
func Aligned(c *loopgen.Case) bool {
	for i, b := range c.Buffers {
		size := c.Program.Bufs[i].DType.Size()
		for _, s := range b.Strides {
			if s%size != 0 {
				return false
			}
		}
		if b.Offset%size != 0 {
			return false
		}
	}
	return true
}
