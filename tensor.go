package weft

import (
	"iter"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/mapped"
	"weft/internal/op"
)

// A DType is the type of a tensor's elements, one of the constants below. The zero DType is no
// type. Where tensors of different types meet, bool gives way to integers, those to floats and
// those to complex numbers; within a category the wider type wins, and a Go number or a tensor
// of no axes does not widen the category of the other operand.
//
//	func (d DType) String() string       // NumPy's name: "float32"
//	func (d DType) Size() int            // bytes of an element
//	func (d DType) Category() Category   // what it is: CatBool, CatInt, CatFloat, CatComplex
//	func (d DType) Float() bool          // a real floating-point type
//	func (d DType) Half() bool           // Float16 or BFloat16
//	func (d DType) Complex() bool        // Complex64 or Complex128
//	func (d DType) Integer() bool        // an integer; Bool is none
//	func (d DType) Unsigned() bool       // Bool or an unsigned integer
//	func (d DType) Differentiable() bool // has gradients: floats and complex numbers
//	func (d DType) Supported() bool      // tensors can hold it
//	func (d DType) Part() DType          // Float32 of Complex64, Float64 of Complex128; others as they are
//	func (d DType) WithParts() DType     // the complex type whose parts hold it
//	func (d DType) Limits() (lo int64, hi int64) // the least and the greatest integer that it holds
type DType = array.DType

// A Category groups element types for promotion, in this order:
//
//	CatBool < CatInt < CatFloat < CatComplex
type Category = array.Category

// Categories of element types ([DType]).
const (
	CatBool    = array.CatBool
	CatInt     = array.CatInt
	CatFloat   = array.CatFloat
	CatComplex = array.CatComplex
)

// Element types. Integers and floats are Go's; package half has Go types for
// Float16 and BFloat16.
const (
	Bool       = array.Bool
	Uint8      = array.Uint8
	Int8       = array.Int8
	Int16      = array.Int16
	Int32      = array.Int32
	Int64      = array.Int64
	Uint16     = array.Uint16
	Uint32     = array.Uint32
	Uint64     = array.Uint64
	Float16    = array.Float16
	BFloat16   = array.BFloat16
	Float32    = array.Float32
	Float64    = array.Float64
	Complex64  = array.Complex64
	Complex128 = array.Complex128
)

// An Error says what is wrong with a call. Methods and functions on tensors panic with *Error;
// [Try] makes an error of the panic, and what returns errors returns *Error, or wraps it, where
// a tensor is at fault. A panic that nobody recovers prints the line of the program, outside
// this module, that made the call.
//
//	Kind ErrorKind // whose fault it is
//	Op string      // the operation, such as "matmul"
//	Arg string     // the argument at fault, "" if none in particular
//	Msg string     // what is wrong, with the shapes and types that matter
//	Err error      // the cause, if another error is
//	Layer string   // the path of the layer in its module, such as "layers.3.fc", or ""
//
//	func (e *Error) Error() string // "layer: op: arg: msg: err", without what is empty
//	func (e *Error) Unwrap() error // Err
type Error = array.Error

// An ErrorKind says whose fault an [Error] is:
//
//	Misuse       // a wrong shape, type, range or order of calls
//	OutOfMemory  // an allocation failed
//	DeviceFailed // a device reported a failure
type ErrorKind = array.ErrorKind

// Kinds of [Error].
const (
	Misuse       = array.Misuse
	OutOfMemory  = array.OutOfMemory
	DeviceFailed = array.DeviceFailed
)

// Try runs f and returns the *[Error] that it panicked with, or nil. Other panics
// pass through.
func Try(f func()) error { return core.Try(f) }

// A Tensor is an n-dimensional array of elements of one type: a window, with a
// shape and strides, on memory that other tensors may share. Operations return
// new tensors; methods whose names end in Assign, and [Tensor.Assign], write into
// the receiver.
//
// Reading a tensor from several goroutines is safe, and so are backward passes of
// different outputs, whose gradients add up in the leaves that they share. Writing
// into a tensor while others use it is not. Releasing the memory is: who uses it gets the
// right result or an *[Error]. Calls of compiled functions that write wait for one another and for
// those that read: see [Compiled].
type Tensor core.Tensor

func init() {
	c := jit.Chosen()
	if c.Note != "" {
		os.Stderr.WriteString(c.Note + "\n")
	}
	device.Register(core.NewDevice(c.ISA))
}

// Shape returns the sizes of the axes, the slowest first; it is empty for a tensor of no axes.
// The slice is the caller's.
func (t *Tensor) Shape() []int {
	t.c().NotNil("shape")
	return append([]int{}, t.v().Shape...)
}

// Strides returns, for each axis, how many elements apart neighbours are. The slice is the
// caller's.
func (t *Tensor) Strides() []int {
	t.c().NotNil("strides")
	return append([]int{}, t.v().Strides...)
}

// Dim returns the size of dimension i, which may count from the back: -1 is the
// last.
func (t *Tensor) Dim(i int) int {
	t.c().NotNil("dim")
	return t.v().Shape[array.Axis("dim", i, len(t.v().Shape))]
}

// Rank returns the number of axes, NumPy's ndim: 0 for a scalar, 2 for a matrix; the length of
// the shape.
func (t *Tensor) Rank() int { return t.c().Rank() }

// Size returns the number of elements, the product of the shape: 1 for a tensor of no axes.
func (t *Tensor) Size() int { return t.c().Size() }

// DType returns the type of the elements, one of the constants such as [Float32]; [Tensor.To]
// converts.
func (t *Tensor) DType() DType {
	t.c().NotNil("dtype")
	return t.v().DType
}

// IsContiguous reports that the elements lie in row-major order without gaps, as [Borrow] wants
// them; [Tensor.Contiguous] makes it so.
func (t *Tensor) IsContiguous() bool {
	t.c().NotNil("iscontiguous")
	return t.v().Contiguous()
}

// plain reports whether t's elements lie in memory that the host reaches, and no mode requires more
// of a reader. It is the fast check of a small call.
func (t *Tensor) plain() bool {
	return t != nil && t.v().Store != nil && array.Modes()&^array.Scoped == 0 && t.v().Store.Plain() && t.v().Store.Device == 0
}

// An Element is a Go type that tensors can hold. An int is held as Int64.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 |
		half.Float16 | half.BFloat16 | float32 | float64 | complex64 | complex128
}

// FromSlice returns a tensor of the given shape (none: one dimension) that uses
// data itself as memory, whatever the element type: nothing is copied, and writes show
// on both sides. [Borrow] is the way out. It panics if the shape does not have len(data)
// elements.
func FromSlice[T Element](data []T, shape ...int) *Tensor {
	return (*Tensor)(core.FromSlice[T](data, shape...))
}

// Data returns the elements in row-major order as a new slice. It panics if T is
// not the Go type of t's elements: convert with [Tensor.To] first.
func Data[T Element](t *Tensor) []T { return core.Data[T](t.c()) }

// CopyTo writes the elements in row-major order into dst, which must have as many
// and be of their Go type.
func CopyTo[T Element](t *Tensor, dst []T) { core.CopyTo[T](t.c(), dst) }

// Borrow lends f the elements of a contiguous tensor without copying; of one whose memory the
// host does not reach, a copy that goes back when f returns. f must not keep the slice. It panics if t is not contiguous or T is not its type. Giving the
// memory back while f has it, by [Tensor.Release] or [Scope.Close], panics. So does
// a write by f into read-only memory, that of a file which is mapped.
//
// f may write. Lazy results that read t are computed before, and a tracked array counts all of
// t as written. The tape does not see such a write: a backward pass over what was recorded
// before reads the new elements. [Tensor.Assign] and the other operations that write are seen.
func Borrow[T Element](t *Tensor, f func(data []T)) {
	if mapped.Any() {
		defer mapped.Explain()
	}
	core.CheckElements[T]("borrow", t.c())
	if !t.v().Contiguous() {
		array.Failf("borrow", "", "%s with strides %v is not contiguous: use Contiguous or CopyTo", array.ShapeString(t.v().Shape), t.v().Strides)
	}
	if f == nil {
		array.Failf("borrow", "f", "is nil")
	}
	if !t.v().Store.Lend() {
		core.FailReleased("borrow", t.v())
	}
	defer t.v().Store.Unlend()
	core.ComputeReaders(t.v().Store)
	v := core.HostView(t.c())
	if m := t.v().Store.Monitor(); m != nil && t.Size() > 0 {
		start, stop := t.v().Offset*t.v().DType.Size(), (t.v().Offset+t.Size())*t.v().DType.Size()
		m.Lend(start, stop)
		defer m.Return(start, stop)
	}
	f(core.Slice[T](&v))
	core.PutBack(t.c(), &v)
	core.KeepAlive(t.c())
}

// Item returns the one element of t as a float64; it panics if there are more or
// none, or if it is complex.
func (t *Tensor) Item() float64 {
	if t != nil && t.v().Store != nil && array.Modes()&^array.Scoped == 0 && t.v().Size() == 1 {
		if p := t.v().Store.Direct(); p != nil {
			switch t.v().DType {
			case Float32:
				x := float64(*(*float32)(unsafe.Add(p, 4*t.v().Offset)))
				runtime.KeepAlive(t.v().Store)
				return x
			case Float64:
				x := *(*float64)(unsafe.Add(p, 8*t.v().Offset))
				runtime.KeepAlive(t.v().Store)
				return x
			}
		}
	}
	v := t.one("item")
	defer core.Leave(&v)
	if v.DType.Category() == array.CatComplex {
		array.Failf("item", "", "the element is %s: ItemComplex returns it", v.DType)
	}
	return core.FloatElement(&v, v.Offset)
}

// ItemComplex returns the one element of t, of any type, as a complex128; it panics if
// there are more or none.
func (t *Tensor) ItemComplex() complex128 {
	v := t.one("itemcomplex")
	defer core.Leave(&v)
	return core.ComplexElement(&v, v.Offset)
}

// one is t on the host, which must have one element. The memory stays until core.Leave.
func (t *Tensor) one(opName string) array.View {
	if t.plain() && t.v().Size() == 1 && t.v().Store.Use() {
		return *t.v()
	}
	t.c().Check(opName)
	if t.Size() != 1 {
		array.Failf(opName, "", "takes a tensor of one element, got shape %s: Data returns all elements", array.ShapeString(t.v().Shape))
	}
	return core.ToHost(t.c())
}

// ItemInt returns the one element of an integer or bool tensor exactly. It panics if
// an int64 does not hold it.
func (t *Tensor) ItemInt() int64 {
	v := t.one("itemint")
	defer core.Leave(&v)
	if v.DType.Category() > array.CatInt {
		array.Failf("itemint", "", "takes a tensor of one integer or bool, got %s", array.TypeString(t.v().DType, t.v().Shape))
	}
	x := core.IntElement(&v, v.Offset)
	if v.DType == Uint64 && x < 0 {
		array.Failf("itemint", "", "%d does not fit an int64: Data returns it", uint64(x))
	}
	return x
}

// At returns one element of t as a Go value, with an index for each axis; negative ones count from
// the back. [Tensor.At] takes sub-arrays. It panics with *[Error] if T is not the Go type of t's
// elements ([Data] lists them), if the number of indices is not t's rank, or if an index is out of
// range.
func At[T Element](t *Tensor, index ...int) T {
	if !t.plain() || core.DTypeFor[T]() != t.v().DType {
		core.CheckElements[T]("at", t.c())
	}
	if len(index) != len(t.v().Shape) {
		array.Failf("at", "index", "has %d places for %d axes of %s: Tensor.At takes sub-arrays", len(index), len(t.v().Shape), array.TypeString(t.v().DType, t.v().Shape))
	}
	v := t.v()
	if !t.plain() {
		host := core.ToHost(t.c())
		defer core.Leave(&host)
		v = &host
	}
	offset := v.Offset
	for axis, k := range index {
		n := v.Shape[axis]
		at := k
		if at < 0 {
			at += n
		}
		if uint(at) >= uint(n) {
			array.Failf("at", "index", "%v: %d is out of range for axis %d of size %d", slices.Clone(index), k, axis, n)
		}
		offset += at * v.Strides[axis]
	}
	x := core.ElementOf[T](v, offset)
	core.KeepAlive(t.c())
	return x
}

// Rows returns an iterator over the sub-arrays of t along its first axis, with their indices: views,
// as [Tensor.At] takes them, through which gradients flow. It panics with *[Error] if t has no axes.
func (t *Tensor) Rows() iter.Seq2[int, *Tensor] {
	t.c().Check("rows")
	if len(t.v().Shape) == 0 {
		array.Failf("rows", "", "takes one axis or more, got a scalar")
	}
	return func(yield func(int, *Tensor) bool) {
		for i := range t.v().Shape[0] {
			if !yield(i, (*Tensor)(t.c().AtAs("rows", []int{i}))) {
				return
			}
		}
	}
}

// The engine behind the face: a Tensor is a core.Tensor with the methods that a user sees.

func (t *Tensor) c() *core.Tensor { return (*core.Tensor)(t) }

func (s *Scope) c() *core.Scope { return (*core.Scope)(s) }

func (s *Stream) c() *core.Stream { return (*core.Stream)(s) }

func (g *Generator) c() *core.Generator { return (*core.Generator)(g) }

// v is the strided window on memory that t is.
func (t *Tensor) v() *array.View { return (*core.Tensor)(t).View() }

// made returns a tensor of a view that belongs to no scope and has no history.
func made(v array.View) *Tensor { return (*Tensor)(core.New(v, nil, nil, false)) }

// unary, binary and ternary are what most methods are.
func unary(d *op.Def, t *Tensor) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.Of(d.Name, t.c())))
}

func binary(d *op.Def, t *Tensor, x any) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.Of(d.Name, t.c()), core.AsOperand[Tensor](d.Name, "x", x)))
}
