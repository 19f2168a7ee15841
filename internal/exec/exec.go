// Package exec runs plans over arrays on a device.
package exec

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/loop"
	"weft/internal/plan"
)

// A Number is a Go number given to an operation.
type Number struct {
	Float float64
	Int   int64
	Kind  array.Category // CatBool, CatInt or CatFloat
}

// Bits returns the number as bits of an element type, in the low end of a word.
func (n Number) Bits(d array.DType) uint64 {
	f, i := n.Float, n.Int
	if n.Kind == array.CatFloat {
		switch {
		case f != f:
			i = 0
		case f >= math.MaxInt64:
			i = math.MaxInt64
		case f <= math.MinInt64:
			i = math.MinInt64
		default:
			i = int64(f)
		}
	} else {
		f = float64(i)
	}
	switch loop.TypeOf(d) {
	case loop.F32:
		return uint64(math.Float32bits(float32(f)))
	case loop.F64:
		return math.Float64bits(f)
	case loop.I64:
		return uint64(i)
	case loop.I32:
		if d == array.Uint8 {
			i &= 255
		}
		return uint64(uint32(i))
	}
	if n.Kind == array.CatFloat && f != 0 || n.Kind != array.CatFloat && i != 0 {
		return 1
	}
	return 0
}

// A Compiled is a plan with its kernels, for one device. It is safe for
// concurrent use.
type Compiled struct {
	Plan     *plan.Plan
	dev      device.Device
	kernels  []device.Program
	routines []device.Routine
}

// Compile makes a plan ready for a device.
func Compile(p *plan.Plan, d device.Device) (*Compiled, error) {
	c := &Compiled{Plan: p, dev: d, kernels: make([]device.Program, len(p.Steps)), routines: make([]device.Routine, len(p.Steps))}
	for i, s := range p.Steps {
		if s.Kernel == nil {
			name := s.Node.Op.OpName()
			if c.routines[i] = d.Routine(name); c.routines[i] == nil {
				return nil, fmt.Errorf("exec: %s has no routine on %s", name, d.Name())
			}
			continue
		}
		k, err := d.Compile(s.Kernel.Prog)
		if err != nil {
			return nil, err
		}
		c.kernels[i] = k
	}
	return c, nil
}

// Explain returns the steps with loop programs and machine code.
func (c *Compiled) Explain() string {
	s := c.Plan.String()
	for i, k := range c.kernels {
		if k != nil {
			s += fmt.Sprintf("\nstep %d, %s:\n%s", i, k.Loop().Name, k.Source())
		}
	}
	return s
}

// Run computes the outputs. ins are views that match the plan's signatures; out
// gives memory for an output where its Store is set, and receives the views of
// the others. An output may be given the memory of an input only if the plan
// allows it.
func (c *Compiled) Run(ctx context.Context, s device.Stream, ins []*array.View, nums []Number, out []array.View) error {
	p := c.Plan
	var few [12]*array.Storage
	slots := few[:0]
	if len(p.Slots) > len(few) {
		slots = make([]*array.Storage, 0, len(p.Slots))
	}
	slots = slots[:len(p.Slots)]
	var offs [12]int
	off := offs[:] // of given memory, in elements
	if len(p.Slots) > len(offs) {
		off = make([]int, len(p.Slots))
	}
	for i := range ins {
		slots[i], off[i] = ins[i].Store, ins[i].Offset
	}
	for i := range p.Outs {
		o := &p.Outs[i]
		if out[i].Store == nil {
			out[i] = array.View{Store: s.Alloc(p.Slots[o.Slot].Bytes), DType: o.DType, Shape: o.Shape, Strides: o.Strides}
		}
		slots[o.Slot], off[o.Slot] = out[i].Store, out[i].Offset
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		var err error
		if st.Kernel != nil {
			err = c.kernel(ctx, s, st.Kernel, c.kernels[i], nums, slots, off)
		} else {
			var args device.Args
			for j := range st.Args {
				args[j] = view(&st.Args[j], p, s, slots, off)
			}
			c.routines[i](s, st.Node, args, view(&st.Out, p, s, slots, off))
		}
		if err != nil {
			return err
		}
		for j := len(ins) + len(p.Outs); j < len(slots); j++ {
			if p.Slots[j].Last == i && slots[j] != nil {
				s.Free(slots[j])
				slots[j] = nil
			}
		}
	}
	// An address in a frame keeps no memory off the Go heap alive.
	runtime.KeepAlive(slots)
	return nil
}

// memory returns the storage of a slot, taking it from the stream when a
// temporary is used first.
func memory(i int, p *plan.Plan, s device.Stream, slots []*array.Storage) *array.Storage {
	if slots[i] == nil {
		slots[i] = s.Alloc(p.Slots[i].Bytes)
	}
	return slots[i]
}

func view(o *plan.Operand, p *plan.Plan, s device.Stream, slots []*array.Storage, off []int) array.View {
	return array.View{Store: memory(o.Slot, p, s, slots), DType: o.DType, Offset: o.Offset + off[o.Slot], Shape: o.Shape, Strides: o.Strides}
}

func (c *Compiled) kernel(ctx context.Context, s device.Stream, k *plan.Kernel, prog device.Program, nums []Number, slots []*array.Storage, off []int) error {
	f := loop.NewFrame()
	for i := range k.Binds {
		o := &k.Binds[i]
		st := memory(o.Slot, c.Plan, s, slots)
		f.Ptr[i] = unsafe.Add(st.Ptr, (o.Offset+off[o.Slot])*o.DType.Size())
	}
	copy(f.Word[:], k.Words)
	for _, a := range k.Scalars {
		f.Word[a.Word] = nums[a.Arg].Bits(a.DType)
	}
	err := s.Launch(device.Launch{Program: prog, Frame: f, Extents: k.Extents, Cost: k.Cost, Context: ctx})
	f.Free(len(k.Binds))
	return err
}
