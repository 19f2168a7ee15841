// Package aot runs programs that the command weft build wrote as Go packages and that have products,
// convolutions or other routines in them. Such a package has its kernels as machine code and as Go,
// its weights and its plan: the order of steps and their places in memory. This package has the
// routines and the threads that they share with the kernels. It contains no planner and no compiler
// of graphs. Routines write the machine code of their own tiles at run time, from a small set of forms.
//
// Nothing here is called by hand: weft build writes the tables, which are code. Once for each set of
// lengths it is checked that views and launches stay in their memory; machine code is trusted.
//
// A program has the bits that weft gives for it. The environment variable WEFT_JIT chooses the
// instruction set as it does for weft: off, avx2 or avx512.
package aot

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/cpu/routine"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/mem"
)

// An Error says why a program has no result: a slice of a wrong length, an index that is out of range,
// memory that there is not. Programs panic with it. It is the type of errors of package weft.
//
//	Kind ErrorKind // whose fault it is
//	Op string      // the program
//	Arg string     // the argument at fault, "" if none in particular
//	Msg string     // what is wrong
//	Err error      // the cause, if another error is
//	Layer string   // the path of the layer in its module, such as "layers.3.fc", or ""
//
//	func (e *Error) Error() string // "layer: op: arg: msg: err", without what is empty
//	func (e *Error) Unwrap() error // Err
type Error = array.Error

// A Program is a function of arrays.
type Program struct {
	Name      string // of the function, for errors
	Constants string // elements of constants and weights, little-endian
	Kernels   []Kernel
	// Machine returns the entry of a kernel's machine code, for AVX-512 if wide is set, else for AVX2;
	// nil where there is none.
	Machine func(kernel int, wide bool) func(f *Frame) uint64
	// Plan returns the plan for free lengths.
	Plan func(lengths []int) *Plan

	once      sync.Once
	backends  [jit.AVX512 + 1][]coded // the kernels, by instruction set
	constants *array.Storage
	plans     *cache.Keyed[[MaxLengths]int, *Plan]
}

// MaxLengths is the number of lengths of a program that may be free.
const MaxLengths = 3

// keptPlans is the number of sets of lengths whose plans a program keeps.
const keptPlans = 256

// A Plan is what a program does for arrays of some lengths: the steps that compute results from
// arguments.
type Plan struct {
	Arrays []Array
	Parts  []int // bytes of the parts of temporary memory
	Slots  []Slot
	Steps  []Step

	parts []int // where parts begin, and where the last one ends
}

// An Array is a result or an argument of the program: a contiguous slice.
type Array struct {
	Name, Type string // such as "x", "float32[1 784]"
	Size       int    // elements
	Bytes      int    // of an element
}

// A Slot is memory of the program: an array, constants, or temporary memory.
type Slot struct {
	Array int // one more than the number of an array
	Part  int // one more than the number of a part of temporary memory; of constants both are 0
	At    int // where it begins there, in bytes
	Bytes int // of a part, or of constants
}

// An Operand is a place in a slot.
type Operand struct{ Slot, Bytes int }

// A View is an array in a slot.
type View struct {
	Slot    int
	Offset  int    // elements
	Type    string // of an element, such as "float32"
	Shape   []int
	Strides []int // elements
}

// A Step runs a kernel, or a routine whose epilogue the kernel is.
type Step struct {
	Routine   Routine // nil: there is none
	Args, Out []View
	Launch    *Launch // nil: the routine has no epilogue
}

// A Launch is one run of a kernel.
type Launch struct {
	Kernel   int
	Words    []uint64  // scalars, extents and starts of the axes, strides in bytes
	Operands []Operand // by buffer
	Numbers  []Number  // words that are numbers of the call
	Columns  int       // of an epilogue: the number of last axes that walk columns
	Result   uint32    // of an epilogue: bits of the buffers that alone read the routine's result
	Around   []Around  // axes around the kernel
}

// A Number is a word of a launch that differs from call to call: the learning rate of a schedule, or the
// seed of a generator.
type Number struct {
	Word   int  // the index in Words
	From   int  // the index of the number of the call
	Single bool // the number is the bits of a float64, and the word is a float32
}

// Around is an axis around a kernel, which is launched for each index of it.
type Around struct {
	Extent int
	Bytes  []int // by buffer: the stride
}

// A Slice is a Go slice of numbers.
type Slice struct {
	ptr      unsafe.Pointer
	n, bytes int
}

// Of returns a slice as Run takes it.
func Of[T any](s []T) Slice {
	return Slice{unsafe.Pointer(unsafe.SliceData(s)), len(s), len(s) * int(unsafe.Sizeof(*new(T)))}
}

// Elements returns a copy of n elements that constants has from byte at on.
func Elements[T any](constants string, at, n int) []T {
	x := make([]T, n)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), n*int(unsafe.Sizeof(*new(T)))), constants[at:])
	return x
}

// Run runs the program on slices, one an Array. If numbers is not nil, Run calls it once, after it has
// checked the slices: it computes the numbers of the call. Run panics with an *[Error] if a slice has another number
// of elements than its array, and if values cannot be computed, such as an index that is out of range.
// Without vector it runs portable Go alone, which gives the same bits. Goroutines may call it at the same
// time.
func (p *Program) Run(vector bool, lengths []int, numbers func() []uint64, arrays ...Slice) {
	p.once.Do(p.prepare)
	plan := p.plan(lengths)
	p.check(plan, arrays)
	isa := jit.Portable
	if vector {
		isa = jit.Chosen().ISA
	}
	r := p.begin(plan, isa, arrays)
	if numbers != nil {
		r.numbers = numbers()
	}
	for i := range plan.Steps {
		r.step(&plan.Steps[i])
	}
	r.temporary.Release()
	runtime.KeepAlive(arrays)
}

// plan returns the plan for lengths.
func (p *Program) plan(lengths []int) *Plan {
	var key [MaxLengths]int
	copy(key[:], lengths)
	plan, err := p.plans.Get(key, func() (*Plan, error) {
		plan := p.Plan(lengths)
		return plan, p.verify(plan)
	})
	if err != nil {
		panic(err)
	}
	return plan
}

// check panics unless the slices have the sizes of the arrays.
func (p *Program) check(plan *Plan, arrays []Slice) {
	if len(arrays) != len(plan.Arrays) {
		array.Failf(p.Name, "", "takes %s, got %d", array.Count(len(plan.Arrays), "array"), len(arrays))
	}
	for i := range arrays {
		if a := &plan.Arrays[i]; arrays[i].n != a.Size {
			array.Failf(p.Name, a.Name, "has %s, want %d: %s", array.Count(arrays[i].n, "element"), a.Size, a.Type)
		}
	}
}

// A run is one run of a plan.
type run struct {
	p         *Program
	isa       jit.ISA
	slots     []*array.Storage
	base      []int // of each slot in its storage, in bytes
	temporary *array.Storage
	numbers   []uint64 // of the call
}

// begin finds the memory of all slots.
func (p *Program) begin(plan *Plan, isa jit.ISA, arrays []Slice) *run {
	r := &run{p: p, isa: isa, slots: make([]*array.Storage, len(plan.Slots)), base: make([]int, len(plan.Slots))}
	r.temporary = memory{}.Alloc(plan.parts[len(plan.Parts)])
	of := make([]*array.Storage, len(arrays))
	for i, a := range arrays {
		of[i] = array.NewStorage(a.ptr, a.bytes, nil)
	}
	for i, s := range plan.Slots {
		switch {
		case s.Array > 0:
			r.slots[i] = of[s.Array-1]
		case s.Part > 0:
			r.slots[i], r.base[i] = r.temporary, plan.parts[s.Part-1]+s.At
		default:
			r.slots[i], r.base[i] = p.constants, s.At
		}
	}
	return r
}

// step runs a step.
func (r *run) step(s *Step) {
	switch {
	case s.Routine == nil:
		r.launch(s.Launch)
	case s.Launch == nil:
		r.check(s.Routine(r.call(s)))
	default:
		c := r.call(s)
		l := r.bound(s.Launch, nil)
		e := launch.NewEpilogue(l, s.Launch.Columns, s.Launch.Result, c.Out[0].DType.Size())
		c.Epilogue = e
		c.columns = array.Size(l.Extents[len(l.Extents)-s.Launch.Columns:])
		err := s.Routine(c)
		if late := e.Close(); err == nil {
			err = late
		}
		l.Frame.Free(len(s.Launch.Operands))
		r.check(err)
	}
}

// check panics with the error of a step.
func (r *run) check(err error) {
	switch e := err.(type) {
	case nil:
	case *array.Error:
		panic(e)
	default:
		panic(&array.Error{Op: r.p.Name, Msg: "a step failed", Err: err})
	}
}

// A Call is one application of a routine.
type Call struct {
	routine.Call
	columns int // of the epilogue
}

// call returns the call of the routine of a step.
func (r *run) call(s *Step) *Call {
	views := make([]array.View, len(s.Args)+len(s.Out))
	for i := range views {
		v := &views[i]
		if i < len(s.Args) {
			*v = r.view(&s.Args[i])
		} else {
			*v = r.view(&s.Out[i-len(s.Args)])
		}
	}
	return &Call{Call: routine.Call{ISA: r.isa, Args: views[:len(s.Args):len(s.Args)], Out: views[len(s.Args):], Memory: memory{}}}
}

func (r *run) view(v *View) array.View {
	d, ok := array.ParseDType(v.Type)
	if !ok {
		panic(fmt.Sprintf("aot: %s: a view of %q", r.p.Name, v.Type))
	}
	return array.View{Store: r.slots[v.Slot], DType: d, Offset: v.Offset + r.base[v.Slot]/d.Size(), Shape: v.Shape, Strides: v.Strides}
}

// memory gives temporaries from the pool of the process.
type memory struct{}

func (memory) Alloc(bytes int) *array.Storage {
	if bytes <= array.SmallMax {
		return array.NewSmall(bytes)
	}
	l, err := mem.Default().Lend(bytes)
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "alloc", Msg: "a temporary does not fit in memory", Err: err})
	}
	return array.NewStorage(l.Ptr(), bytes, l)
}

func (memory) Free(s *array.Storage) { s.Release() }
