package loopgen_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// TestRaggedAxis compares programs with a ragged lane axis to the same programs without it, run on
// one item after the other. Elements that are in no item must not change.
func TestRaggedAxis(t *testing.T) {
	n, count, seen := uint64(1200), 0, 0
	if testing.Short() {
		n = 300
	}
	for seed := range n {
		c := loopgen.Generate(seed, loopgen.Language{})
		axis := c.Program.Ragged()
		if axis < 0 {
			continue
		}
		count++
		var of []int
		for b := c.Memory[0].Data; len(b) > 0; b = b[8:] {
			of = append(of, int(binary.LittleEndian.Uint64(b)))
		}
		if len(of) != c.Extents[0]+1 || of[0] < 0 || !slices.IsSorted(of) || of[len(of)-1] > c.Extents[axis] {
			t.Fatalf("offsets %v, extents %v\n%s", of, c.Extents, c)
		}
		got, err := loopgen.Run(c, loopgen.Heap, interpreted)
		if err != nil {
			t.Fatalf("%v\n%s", err, c)
		}
		one := *c
		p := *c.Program
		p.Axes = slices.Clone(p.Axes)
		p.Axes[axis].Offsets = 0
		one.Program, one.Memory = &p, slices.Clone(c.Memory)
		var last *loopgen.Output
		for i := range c.Extents[0] {
			one.Extents, one.Starts, one.Buffers = slices.Clone(c.Extents), slices.Clone(c.Starts), slices.Clone(c.Buffers)
			one.Extents[0], one.Extents[axis] = 1, of[i+1]-of[i]
			one.Starts[0] += i
			for b := range one.Buffers {
				if len(c.Memory[one.Buffers[b].Memory].Data) > 0 {
					one.Buffers[b].Offset += i*one.Buffers[b].Strides[0] + of[i]*one.Buffers[b].Strides[axis]
				}
			}
			if last, err = loopgen.Run(&one, loopgen.Heap, interpreted); err != nil {
				t.Fatalf("item %d: %v\n%s", i, err, c)
			}
			for k := range one.Memory {
				one.Memory[k].Data = last.Memory(k)
			}
		}
		if last == nil {
			continue // no items
		}
		if d := got.Diff(last); d != "" {
			t.Fatalf("items together and one by one: %s\n%s", d, c)
		}
		for b, x := range c.Program.Bufs {
			m := c.Buffers[b].Memory
			if !x.Write || x.DType.Float() || x.Steps[axis] == loop.Zero || len(c.Extents) > 2 || len(c.Memory[m].Data) == 0 {
				continue
			}
			for e := range c.Extents[axis] {
				if e >= of[0] && e < of[len(of)-1] {
					continue
				}
				at, size := c.Buffers[b].Offset+e*c.Buffers[b].Strides[axis], x.DType.Size()
				if !slices.Equal(c.Memory[m].Data[at:at+size], got.Memory(m)[at:at+size]) {
					t.Fatalf("element %d of buffer %d, which is in no item, has changed\n%s", e, b, c)
				}
				seen++
			}
		}
	}
	if count < int(n)/12 || seen == 0 {
		t.Errorf("%d of %d programs are of items, %d elements are in none", count, n, seen)
	}
}
