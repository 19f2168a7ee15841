package ptx

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"unsafe"

	cudart "weft/internal/cudart/driver"
	"weft/internal/grid"
	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/ptxsim"
)

// variants are those that need nothing of addresses and extents.
var variants = []grid.Variant{grid.Flat, grid.WarpRows, grid.BlockRows, grid.Flat | grid.Long}

// chosen stands for the variant that [grid.Choose] says.
const chosen grid.Variant = 255

// onGPU runs a case as printed text on the simulated GPU.
func onGPU(c *loopgen.Case, target Target, v grid.Variant) loopgen.Runner {
	return func(p *loop.Program, f *loop.Frame, _ func() bool) (err error) {
		d := ptxsim.New(ptxsim.Options{Major: target.Major, Minor: target.Minor, Seed: c.Seed})
		ctx, err := d.Open(0)
		if err != nil {
			return err
		}
		try := func(e error) {
			if err == nil {
				err = e
			}
		}
		memory, host := make([]cudart.Addr, len(c.Memory)), make([][]byte, len(c.Memory))
		addrs := make([]uint64, len(c.Buffers))
		q, e := ctx.NewQueue(0)
		try(e)
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
			v, blocks = grid.Choose(p, f, addrs, 2)
		}
		if blocks == 0 { // nothing to compute
			return nil
		}
		k, e := grid.Lower(p, v)
		if e != nil {
			return e
		}
		text, e := Print(target, k)
		if e != nil {
			return e
		}
		m, e := ctx.Load(text)
		if e != nil {
			return e
		}
		fn, e := ctx.Function(m, k.Name)
		try(e)
		try(ctx.Launch(q, fn, blocks, k.Threads, DynamicShared(k), grid.AppendArgs(nil, p, f, addrs, 0)))
		for i, b := range host {
			if len(b) > 0 {
				try(ctx.CopyOut(q, unsafe.Pointer(&b[0]), memory[i], len(b)))
			}
		}
		try(ctx.Sync(q))
		return err
	}
}

// aligned reports whether elements lie at multiples of their size, which a GPU demands.
func aligned(c *loopgen.Case) bool {
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

// compareWithInterp runs a case printed for a target, in each way that it can be laid out, and by
// the interpreter. Cases that do not end are left out.
func compareWithInterp(c *loopgen.Case, target Target) error {
	want, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, refill func() bool) error {
		if !interp.Compile(p).Run(f, refill) {
			return errors.New("does not end")
		}
		return nil
	})
	if err != nil {
		return nil
	}
	for _, v := range append(variants, chosen) {
		if v != chosen && !grid.Legal(c.Program, v) {
			continue
		}
		got, err := loopgen.Run(c, loopgen.Heap, onGPU(c, target, v))
		if err != nil {
			return fmt.Errorf("variant %d: %w", v, err)
		}
		if d := want.Diff(got); d != "" {
			return fmt.Errorf("variant %d: interp and PTX: %s", v, d)
		}
	}
	return nil
}

// number returns the number in an environment variable, or n.
func number(t *testing.T, name string, n int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return n
	}
	x, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}

// TestGenerated compares random programs with the interpreter. WEFT_FUZZ=n asks for n whose
// elements are aligned, and
// WEFT_FUZZ_FIRST for the first seed.
func TestGenerated(t *testing.T) {
	first := number(t, "WEFT_FUZZ_FIRST", 0)
	failures := 0
	for seed, n := first, number(t, "WEFT_FUZZ", 48); n > 0; seed++ {
		target := targets[seed%len(targets)]
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		if !aligned(c) {
			continue
		}
		n--
		if err := compareWithInterp(c, target); err != nil {
			small := loopgen.Shrink(c, func(c *loopgen.Case) bool { return aligned(c) && compareWithInterp(c, target) != nil })
			t.Errorf("seed %d, %v: %v\nmade smaller: %v\n%s", seed, target, err, compareWithInterp(small, target), small)
			if failures++; failures == 3 {
				t.FailNow()
			}
		}
	}
}

// maySpill lists seeds whose programs spill registers.
var maySpill = map[uint64]bool{0: true, 11: true}

// TestPtxasTakesGenerated assembles random programs in each way that they can be laid out.
func TestPtxasTakesGenerated(t *testing.T) {
	var kernels []*grid.Kernel
	seeds, names := map[string]uint64{}, map[string]bool{}
	first := number(t, "WEFT_FUZZ_FIRST", 0)
	for seed := first; seed < first+number(t, "WEFT_FUZZ", 12); seed++ {
		p := loopgen.Generate(uint64(seed), loopgen.Language{}).Program
		for _, v := range append(variants, grid.FlatVector) {
			if !grid.Legal(p, v) {
				continue
			}
			k, err := grid.Lower(p, v)
			if err != nil {
				t.Fatal(err)
			}
			if !names[k.Name] {
				names[k.Name] = true
				seeds[k.Name] = uint64(seed)
				kernels = append(kernels, k)
			}
		}
	}
	for _, target := range targets {
		for _, name := range assemble(t, target, kernels) {
			if !maySpill[seeds[name]] {
				t.Errorf("%v: registers of seed %d spill in %s", target, seeds[name], name)
			}
		}
	}
}
