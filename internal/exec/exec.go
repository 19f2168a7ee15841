// Package exec runs plans over arrays on a device.
package exec

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"weft/half"
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/loop"
	"weft/internal/mapped"
	"weft/internal/op"
	"weft/internal/packed"
	"weft/internal/plan"
	"weft/internal/profile"
)

// A Number is a Go number given to an operation.
type Number struct {
	Float float64
	Int   int64
	Kind  array.Category // CatBool, CatInt or CatFloat
	Big   bool           // an integer beyond an int64: Int is a uint64's bits

	// Live is, in a function that is being traced, one more than which of its numbers this
	// is, which every call gives anew; 0 for one that stays what it is.
	Live int32
}

// Fits returns an error where an integer does not lie from lo to hi, the limits of an operand of
// type d.
func (n Number) Fits(opName string, d array.DType, lo, hi int64) error {
	if n.fits(d, lo, hi) {
		return nil
	}
	return n.noFit(opName, d)
}

// fits reports whether an integer lies from lo to hi, the limits of an operand of type
// d; other numbers do. Beyond an int64, an integer fits uint64 and floats alone, or lies
// above hi where that is open.
func (n Number) fits(d array.DType, lo, hi int64) bool {
	if n.Big {
		return d == array.Uint64 || !d.Integer() || d != array.Int64 && hi == math.MaxInt64
	}
	return n.Kind == array.CatFloat || lo <= n.Int && n.Int <= hi
}

// Within returns whether an integer lies from lo to hi.
func (n Number) Within(lo, hi int64) Number {
	if n.Big {
		return Truth(hi == math.MaxInt64)
	}
	return Truth(lo <= n.Int && n.Int <= hi)
}

// Word returns the number as the bits of a loop value for elements of type d, in the low
// end of a word.
func (n Number) Word(d array.DType) uint64 {
	switch b := n.Bits(d); d {
	case array.Float16:
		return uint64(math.Float32bits(half.Float16(b).Float32()))
	case array.BFloat16:
		return b << 16
	default:
		return b
	}
}

// Bits returns the number as an element of type d, in the low end of a word. An integer
// type gets the nearest number it has, 0 for NaN.
func (n Number) Bits(d array.DType) uint64 {
	f, i := n.Real(d), n.Int
	lo, hi := d.Limits()
	switch {
	case n.Big && d == array.Uint64:
	case n.Big:
		i = hi
	case d == array.Uint64 && n.Kind == array.CatFloat && f >= 0x1p63:
		i = -1
		if f < 0x1p64 {
			i = int64(uint64(f))
		}
	case n.Kind != array.CatFloat:
		i = min(max(i, lo), hi)
	case f != f:
		i = 0
	case f >= float64(hi):
		i = hi
	case f <= float64(lo):
		i = lo
	default:
		i = int64(f)
	}
	switch {
	case d == array.Float16:
		return uint64(half.NewFloat16(f))
	case d == array.BFloat16:
		return uint64(half.NewBFloat16(f))
	case d == array.Float32:
		return uint64(math.Float32bits(float32(f)))
	case d == array.Float64:
		return math.Float64bits(f)
	case d.Integer():
		return uint64(i) << (64 - 8*d.Size()) >> (64 - 8*d.Size())
	}
	if n.Kind == array.CatFloat && f != 0 || n.Kind != array.CatFloat && i != 0 {
		return 1
	}
	return 0
}

// Real returns the number as an element of a float type d, or as what is rounded to it.
func (n Number) Real(d array.DType) float64 {
	switch {
	case n.Kind == array.CatFloat:
		return n.Float
	case n.Big:
		return op.FloatOf(n.Int, array.Uint64, d)
	}
	return op.FloatOf(n.Int, array.Int64, d)
}

// Truth is a Go bool as a number.
func Truth(b bool) Number {
	if b {
		return Number{Int: 1, Kind: array.CatBool}
	}
	return Number{Kind: array.CatBool}
}

// A Compiled is a plan with its kernels, for one device. It is safe for
// concurrent use.
type Compiled struct {
	Plan     *plan.Plan
	Name     string // what profiles call it
	dev      device.Device
	stream   device.Stream    // the default one of dev
	kernels  []device.Program // by step; of a routine that of its epilogue
	routines []device.Routine
	inner    []*inner         // by step, of loops and branches; nil where there are none
	narrow   []plan.ScalarArg // numbers that have bounds
	written  []int            // inputs whose memory steps write
	seen     atomic.Pointer[[]profile.Step]
	outside  []atomic.Pointer[device.Program] // by step, of rows in no item: compiled when there are some
	late     []func(error) error              // by step; nil of a device that fails at the call

	// Lines, unless nil, returns the places of the user's code that a step computes.
	Lines func(step *plan.Step) []string
	// Failed, unless nil, says more of the error of a step.
	Failed func(step *plan.Step, err error) error
}

// Compile makes a plan ready for a device.
func Compile(p *plan.Plan, d device.Device) (*Compiled, error) {
	c := &Compiled{Plan: p, dev: d, stream: d.Default(), kernels: make([]device.Program, len(p.Steps)), routines: make([]device.Routine, len(p.Steps)), written: p.Written()}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Kernel != nil && s.Kernel.Ragged != nil }) {
		c.outside = make([]atomic.Pointer[device.Program], len(p.Steps))
	}
	for i, s := range p.Steps {
		if s.Kernel == nil {
			if in := newInner(&s, d); in != nil {
				if c.inner == nil {
					c.inner = make([]*inner, len(p.Steps))
				}
				c.inner[i] = in
				in.lines = func(*plan.Step) []string {
					if c.Lines == nil {
						return nil
					}
					return c.Lines(&p.Steps[i])
				}
			} else if c.routines[i] = Routine(d, op.RoutineOf(s.Node)); c.routines[i] == nil {
				return nil, fmt.Errorf("exec: %s has no routine on %s", s.Node.Op.OpName(), d.Name())
			}
		}
		k := s.Kernel
		if k == nil {
			if k = s.Epilogue; k != nil && !d.Model().Epilogue {
				return nil, fmt.Errorf("exec: the plan of another device has an epilogue of %s, which %s does not run", s.Node.Op.OpName(), d.Name())
			}
		}
		if k == nil {
			continue
		}
		prog, err := d.Compile(k.Prog)
		if err != nil {
			return nil, err
		}
		c.kernels[i] = prog
		// Equal programs are there once, however many plans have them.
		if q := prog.Loop(); q.Name == k.Prog.Name && q.Lines == nil && k.Prog.Lines == nil {
			k.Prog = q
		}
		for _, a := range k.Scalars {
			if !a.Test && a.DType.Integer() {
				c.narrow = append(c.narrow, a)
			}
		}
	}
	c.late = c.lateErrors()
	return c, nil
}

// Stream returns what the plan runs on unless [Compiled.Run] is given another one.
func (c *Compiled) Stream() device.Stream { return c.stream }

// Explain returns the steps with loop programs and machine code.
func (c *Compiled) Explain() string {
	s := c.Plan.String()
	for i, k := range c.kernels {
		if k != nil {
			s += fmt.Sprintf("\nstep %d, %s:\n%s", i, k.Loop().Name, c.Source(i))
		}
	}
	return s
}

// Source returns the machine code of a step as text, "" if there is none.
func (c *Compiled) Source(step int) string {
	k := c.kernels[step]
	if k == nil {
		return ""
	}
	st := &c.Plan.Steps[step]
	prog := st.Kernel
	if prog == nil {
		prog = st.Epilogue
	}
	if p, ok := k.(interface {
		SourceOf(*loop.Program) string
	}); ok {
		return p.SourceOf(prog.Prog)
	}
	return k.Source()
}

// Run computes the outputs. ins are views that match the plan's signatures; out
// gives memory for an output where its Store is set, and receives the views of
// the others. An output may be given the memory of an input only if the plan
// allows it. A number that does not fit gives an *array.Error without Op, and so does memory that
// was released. What is released meanwhile stays until the run is over. The stream belongs to the
// device; nil stands for its default one.
func (c *Compiled) Run(ctx context.Context, s device.Stream, ins []*array.View, nums []Number, out []array.View) error {
	if mapped.Any() {
		mapped.Enter()
		defer mapped.Leave()
	}
	for _, v := range ins {
		if v.Store != nil && !v.Store.Stays() {
			return c.runUsing(ctx, s, ins, nums, out)
		}
	}
	for i := range out {
		if st := out[i].Store; st != nil && !st.Stays() {
			return c.runUsing(ctx, s, ins, nums, out)
		}
	}
	return c.run(ctx, s, ins, nums, out)
}

// RunDirect is [Compiled.Run] for inputs whose memory stays ([array.Storage.Direct]), and results
// that have none yet, on the default stream.
func (c *Compiled) RunDirect(ins []*array.View, nums []Number, out []array.View) error {
	//lint:ignore SA1012 without a context no step asks one, which small calls would notice
	return c.run(nil, nil, ins, nums, out)
}

// runUsing calls run while the memory is marked as used. The marks are removed also if run panics.
func (c *Compiled) runUsing(ctx context.Context, s device.Stream, ins []*array.View, nums []Number, out []array.View) error {
	used := 0
	defer func() { unuse(ins[:used]) }()
	for _, v := range ins {
		if v.Store != nil && !v.Store.Use() {
			return released(v)
		}
		used++
	}
	var few [4]*array.Storage
	given := few[:0] // memory of results
	defer func() {
		for _, st := range given {
			st.Unuse()
		}
	}()
	for i := range out {
		if st := out[i].Store; st == nil {
			continue
		} else if !st.Use() {
			return released(&out[i])
		}
		given = append(given, out[i].Store)
	}
	return c.run(ctx, s, ins, nums, out)
}

// unuse ends uses of the memory of views.
func unuse(ins []*array.View) {
	for _, v := range ins {
		if v.Store != nil {
			v.Store.Unuse()
		}
	}
}

// released is the error of a view whose memory was given back.
func released(v *array.View) error {
	return array.Errorf("", "", "the tensor %s was released, or its scope closed (Scope.Keep takes a tensor out)", array.TypeString(v.DType, v.Shape))
}

// run is Run of memory that stays.
func (c *Compiled) run(ctx context.Context, s device.Stream, ins []*array.View, nums []Number, out []array.View) error {
	if mapped.Any() {
		defer mapped.Explain()
	}
	p := c.Plan
	if s == nil {
		s = c.stream
	}
	if len(c.narrow) > 0 {
		if err := c.fit(nums); err != nil {
			return err // before anything is written
		}
	}
	step := -1 // memory is taken
	if c.Failed != nil || c.late != nil {
		defer c.explain(&step)
	}
	var call *profile.Call
	if r := profile.On(); r != nil {
		call = r.Begin(c.dev.Number(), c.Name, int64(p.Arena))
		onStream(call, s)
		defer call.End()
	}
	var few [12]*array.Storage
	var offs [12]int
	slots, off := few[:], offs[:] // off: of given memory, in bytes
	var large *frame
	if len(p.Slots) > len(few) {
		large = newFrame(len(p.Slots))
		slots, off = large.slots, large.off
	}
	for i := range ins {
		slots[i], off[i] = ins[i].Store, ins[i].Offset*ins[i].DType.Size()
		if st := slots[i]; st != nil && st.Bytes == 0 && st.Released() {
			return released(ins[i]) // a view whose tensor was released just now
		}
	}
	for _, i := range c.written {
		if done := packed.Writes(slots[i]); done != nil {
			defer done()
		}
	}
	for i := range p.Outs {
		o := &p.Outs[i]
		if o.Slot < p.Inputs {
			out[i] = *ins[o.Slot]
			continue
		}
		if out[i].Store == nil {
			if call != nil {
				call.Took(p.Slots[o.Slot].Bytes)
			}
			v := &out[i] // field by field: a copy of a literal waits for its stores
			v.Store, v.DType, v.Offset, v.Shape, v.Strides = s.Alloc(p.Slots[o.Slot].Bytes), o.DType, 0, o.Shape, o.Strides
		} else {
			out[i].Store.WillMark()
			if done := packed.Writes(out[i].Store); done != nil {
				defer done()
			}
		}
		slots[o.Slot], off[o.Slot] = out[i].Store, out[i].Offset*o.DType.Size()
	}
	if p.Arena > 0 {
		arena := s.Alloc(p.Arena)
		defer s.Free(arena)
		for i := p.Inputs + len(p.Outs); i < len(p.Slots); i++ {
			slots[i], off[i] = arena, p.Slots[i].Offset
		}
	}
	for i := 0; i < len(p.Steps); i++ {
		st := &p.Steps[i]
		step = i
		if ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if call != nil {
			call.Step(c.profiled(i))
		}
		if err := c.step(ctx, s, i, nums, slots, off); err != nil {
			if c.Failed != nil {
				return c.Failed(st, err)
			}
			return err
		}
		i += max(st.Concurrent, 1) - 1
	}
	step = len(p.Steps)
	if ctx != nil && ctx.Done() != nil {
		if err := s.Sync(); err != nil { // the error of a context belongs to this call
			return err
		}
	}
	// An address in a frame keeps no memory off the Go heap alive.
	runtime.KeepAlive(slots)
	large.free()
	return nil
}

// A frame has what the steps of a large plan read and write: storages, and in them offsets in bytes.
type frame struct {
	slots []*array.Storage
	off   []int
}

// frames serve one run after another.
var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame returns a frame of n slots, all zero.
func newFrame(n int) *frame {
	f := frames.Get().(*frame)
	f.slots, f.off = slices.Grow(f.slots, n)[:n], slices.Grow(f.off, n)[:n]
	return f
}

// free gives a frame, which may be nil, to other runs.
func (f *frame) free() {
	if f != nil {
		clear(f.slots)
		clear(f.off)
		f.slots, f.off = f.slots[:0], f.off[:0]
		frames.Put(f)
	}
}

// step computes step i, and the steps after it that run with it.
func (c *Compiled) step(ctx context.Context, s device.Stream, i int, nums []Number, slots []*array.Storage, off []int) error {
	st := &c.Plan.Steps[i]
	k := st.Kernel
	switch {
	case st.Concurrent > 1 && k == nil:
		return c.routinesTogether(ctx, s, i, nums, slots, off)
	case st.Concurrent > 1:
		return c.together(ctx, s, i, nums, slots, off)
	case k == nil:
		return c.routine(ctx, s, i, nums, slots, off)
	case k.Ragged != nil:
		return c.items(ctx, s, i, nums, slots, off)
	case len(k.Around) == 0:
		return c.launch(ctx, s, k, c.kernels[i], c.lateOf(i), nums, slots, off, nil)
	}
	return c.kernel(ctx, s, k, c.kernels[i], c.lateOf(i), nums, slots, off)
}

// explain is deferred while step counts the steps of a run, from -1 while memory is taken. It names
// what an error belongs to that the run panics with.
func (c *Compiled) explain(step *int) {
	if *step == len(c.Plan.Steps) {
		return // success: this test is cheaper than recover
	}
	r := recover()
	e, ok := r.(*array.Error)
	switch {
	case r == nil:
	case !ok:
		panic(r)
	case *step < 0:
		panic(c.ofOp(e))
	default:
		panic(c.named(&c.Plan.Steps[*step], e))
	}
}

// routine runs step i, which is a routine, a loop or a branch.
func (c *Compiled) routine(ctx context.Context, s device.Stream, i int, nums []Number, slots []*array.Storage, off []int) (err error) {
	st := &c.Plan.Steps[i]
	call := c.call(s, st, slots, off)
	if c.inner != nil && c.inner[i] != nil {
		err = c.inner[i].run(ctx, s, call.Args, call.Out)
	} else {
		c.setEpilogue(ctx, call, i, nums, slots, off)
		call.Late = c.lateOf(i)
		err = c.routines[i](call)
	}
	done(call, st)
	return err
}

// together launches the kernels of a group that begins with step i. They touch nothing that another
// one of them writes.
func (c *Compiled) together(ctx context.Context, s device.Stream, i int, nums []Number, slots []*array.Storage, off []int) error {
	n := c.Plan.Steps[i].Concurrent
	g := make(group, 0, n)
	for j := i; j < i+n; j++ {
		k := c.Plan.Steps[j].Kernel
		g = append(g, device.Launch{Program: c.kernels[j], Args: c.bind(k, nil, nums, slots, off), Extents: k.Extents, Cost: k.Cost, Context: ctx, Late: c.lateOf(j)})
	}
	return g.run(s)
}

// call is that of the routine of a step.
func (c *Compiled) call(s device.Stream, st *plan.Step, slots []*array.Storage, off []int) *device.Call {
	call := calls.Get().(*device.Call)
	call.Stream, call.Node = s, st.Node
	for j := range st.Args {
		call.Args = append(call.Args, view(&st.Args[j], slots, off))
	}
	for j := range st.Outs {
		if st.Outs[j].Slot < 0 {
			call.Out = append(call.Out, array.View{})
			continue
		}
		call.Out = append(call.Out, view(&st.Outs[j], slots, off))
	}
	return call
}

// setEpilogue gives the call of step i its epilogue, if it has one.
func (c *Compiled) setEpilogue(ctx context.Context, call *device.Call, i int, nums []Number, slots []*array.Storage, off []int) {
	if k := c.Plan.Steps[i].Epilogue; k != nil {
		f := c.bind(k, nil, nums, slots, off)
		call.Epilogue = device.Epilogue{Launch: device.Launch{Program: c.kernels[i], Args: f, Extents: k.Extents, Cost: k.Cost, Context: ctx, Late: c.lateOf(i)}, Columns: k.Columns, Result: k.Result}
	}
}

// done takes back a call that is over.
func done(call *device.Call, st *plan.Step) {
	if k := st.Epilogue; k != nil {
		call.Epilogue.Args.Free(len(k.Binds))
	}
	clear(call.Args)
	clear(call.Out)
	*call = device.Call{Args: call.Args[:0], Out: call.Out[:0]}
	calls.Put(call)
}

// routinesTogether calls the routines of a group that begins with step i.
func (c *Compiled) routinesTogether(ctx context.Context, s device.Stream, i int, nums []Number, slots []*array.Storage, off []int) error {
	n := c.Plan.Steps[i].Concurrent
	var few [4]*device.Call
	all := few[:0]
	for k := i; k < i+n; k++ {
		call := c.call(s, &c.Plan.Steps[k], slots, off)
		c.setEpilogue(ctx, call, k, nums, slots, off)
		call.Late = c.lateOf(k)
		all = append(all, call)
	}
	err := s.CallAll(c.routines[i:i+n], all)
	for k, call := range all {
		done(call, &c.Plan.Steps[i+k])
	}
	return err
}

// calls are calls of routines that are over.
var calls = sync.Pool{New: func() any { return new(device.Call) }}

// Fits reports a number that does not fit, as Run does.
func (c *Compiled) Fits(nums []Number) error { return c.fit(nums) }

// fit reports a number that does not fit.
func (c *Compiled) fit(nums []Number) error {
	for i := range c.narrow {
		a := &c.narrow[i]
		if n := nums[a.Arg]; !n.fits(a.DType, a.Min, a.Max) {
			return n.noFit("", a.DType)
		}
	}
	return nil
}

// Check returns an error where type d does not hold an integer.
func (n Number) Check(opName string, d array.DType) error {
	if lo, hi := d.Limits(); n.fits(d, lo, hi) {
		return nil
	}
	return n.noFit(opName, d)
}

func (n Number) noFit(opName string, d array.DType) error {
	if n.Big {
		return array.NoFit(opName, uint64(n.Int), d)
	}
	return array.NoFit(opName, n.Int, d)
}

func view(o *plan.Operand, slots []*array.Storage, off []int) array.View {
	return array.View{Store: slots[o.Slot], DType: o.DType, Offset: o.Offset + off[o.Slot]/o.DType.Size(), Shape: o.Shape, Strides: o.Strides}
}

// kernel launches a kernel at each index of the axes around its program.
func (c *Compiled) kernel(ctx context.Context, s device.Stream, k *plan.Kernel, prog device.Program, late func(error) error, nums []Number, slots []*array.Storage, off []int) error {
	if len(k.Around) == 0 {
		return c.launch(ctx, s, k, prog, late, nums, slots, off, nil)
	}
	for index := make([]int, len(k.Around)); ; {
		if err := c.launch(ctx, s, k, prog, late, nums, slots, off, index); err != nil || !advance(index, k.Around) {
			return err
		}
	}
}

// launch runs a kernel at one index of the axes around its program.
func (c *Compiled) launch(ctx context.Context, s device.Stream, k *plan.Kernel, prog device.Program, late func(error) error, nums []Number, slots []*array.Storage, off, index []int) error {
	f := c.bind(k, index, nums, slots, off)
	err := s.Launch(device.Launch{Program: prog, Args: f, Extents: k.Extents, Cost: k.Cost, Context: ctx, Late: late})
	f.Free(len(k.Binds))
	return err
}

// items runs a step over the items of a list, and then what it computes for rows that are in
// none: before the first offset and behind the last, which the device has checked.
func (c *Compiled) items(ctx context.Context, s device.Stream, step int, nums []Number, slots []*array.Storage, off []int) error {
	k := c.Plan.Steps[step].Kernel
	var ends [2]int
	for index := make([]int, len(k.Around)); ; {
		f := c.bind(k, index, nums, slots, off)
		err := s.Launch(device.Launch{Program: c.kernels[step], Args: f, Extents: k.Extents, Cost: k.Cost, Context: ctx, Op: k.Ragged.Node.Op.OpName(), Ends: &ends, Late: c.lateOf(step)})
		f.Free(len(k.Binds))
		if err != nil {
			return err
		}
		if !advance(index, k.Around) {
			break
		}
	}
	if k.Ragged.Outside == nil {
		return nil
	}
	if err := s.Sync(); err != nil { // for the ends
		return err
	}
	for _, r := range [...][2]int{{0, ends[0]}, {ends[1], k.Ragged.Rows}} {
		if r[0] == r[1] {
			continue
		}
		prog := c.outside[step].Load()
		if prog == nil {
			made, err := c.dev.Compile(k.Ragged.Outside.Prog)
			if err != nil {
				return err
			}
			prog = &made
			c.outside[step].Store(prog)
		}
		o := *k.Ragged.Outside
		o.Binds, o.Extents, o.Words = slices.Clone(o.Binds), slices.Clone(o.Extents), slices.Clone(o.Words)
		o.Extents[0] = r[1] - r[0]
		o.Words[o.Prog.ExtentWord(0)] = uint64(o.Extents[0])
		for i := range o.Binds {
			b := &o.Binds[i]
			b.Offset += r[0] * int(int64(o.Words[o.Prog.StrideWord(i, 0)])) / b.DType.Size()
		}
		if err := c.kernel(ctx, s, &o, *prog, c.lateOf(step), nums, slots, off); err != nil {
			return err
		}
	}
	return nil
}

// bind returns the arguments of a kernel at an index of the axes around its program.
func (c *Compiled) bind(k *plan.Kernel, index []int, nums []Number, slots []*array.Storage, off []int) *device.Args {
	f := device.NewArgs()
	for i := range k.Binds {
		o := &k.Binds[i]
		at := o.Offset
		for a, j := range index {
			at += j * k.Around[a].Strides[i]
		}
		f.Bufs[i] = device.Ref{Store: slots[o.Slot], Offset: at*o.DType.Size() + off[o.Slot]}
	}
	copy(f.Word[:], k.Words)
	for _, a := range k.Scalars {
		n := nums[a.Arg]
		if a.Test {
			n = n.Within(a.Min, a.Max)
		}
		f.Word[a.Word] = n.Word(a.DType)
	}
	return f
}

// advance moves an index on, the last axis first, and reports whether there is a next.
func advance(index []int, around []plan.Around) bool {
	for a := len(index) - 1; a >= 0; a-- {
		if index[a]++; index[a] < around[a].Extent {
			return true
		}
		index[a] = 0
	}
	return false
}
