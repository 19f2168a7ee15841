package weft

import (
	"math"
	"reflect"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/mem"
	"weft/internal/op"
)

// unset is empty for what operations will write: in a trace it has no memory.
func unset(opName string, number uint8, d DType, shape []int) *Tensor {
	tr := tracingHere()
	if tr == nil {
		return empty(opName, number, d, shape)
	}
	if !d.Supported() {
		array.Failf(opName, "dtype", "%s is not supported", d)
	}
	s := append([]int{}, shape...)
	array.CheckShape(opName, s, d)
	return &Tensor{v: tr.fresh(d, s)}
}

// empty returns a tensor on a device whose elements are not set.
func empty(opName string, number uint8, d DType, shape []int) *Tensor {
	if !d.Supported() {
		array.Failf(opName, "dtype", "%s is not supported", d)
	}
	s := append([]int{}, shape...)
	n := array.CheckShape(opName, s, d)
	return &Tensor{v: array.View{Store: alloc(number, n*d.Size()), DType: d, Shape: s, Strides: array.RowMajor(s)}}
}

// numberOf is a 0-d tensor, on a device, of a Go number that the user gave: an
// integer must fit.
func numberOf(opName string, number uint8, n exec.Number, d DType) *Tensor {
	if err := n.Check(opName, d); err != nil {
		panic(err)
	}
	if d.Complex() {
		return complexOf(number, complex(n.Real(d.Part()), 0), d)
	}
	return fullOf(number, n, d)
}

// number is a 0-d tensor, on a device, of the Go number that the operand is.
func (o *operand) number(opName string, number uint8, d DType) *Tensor {
	if o.num.Kind != array.CatComplex {
		return numberOf(opName, number, o.num, d)
	}
	if !d.Complex() {
		array.Failf(opName, "x", "%v is complex, %s is not: give its real part", complex(o.num.Float, o.imag), d)
	}
	return complexOf(number, complex(o.num.Float, o.imag), d)
}

// complexOf is a 0-d tensor of a complex number on a device.
func complexOf(number uint8, x complex128, d DType) *Tensor {
	if tr := tracingHere(); tr != nil {
		re, im := tr.g.Number(real(x), d.Part(), false), tr.g.Number(imag(x), d.Part(), false)
		return &Tensor{v: tr.result(op.Apply(op.Complex, nil, re, im))}
	}
	t := &Tensor{v: array.View{Store: alloc(number, d.Size()), DType: d, Shape: []int{}, Strides: []int{}}}
	for i, f := range [...]float64{real(x), imag(x)} {
		part := t.v.Part(i)
		bits := exec.Number{Float: f, Kind: array.CatFloat}.Bits(part.DType)
		check(device.Get(number).Default().Fill(device.Ref{Store: t.v.Store, Offset: part.Offset * part.DType.Size()}, 1, bits, part.DType.Size()))
	}
	return t
}

// fullOf is a 0-d tensor of a Go number on a device.
func fullOf(number uint8, n exec.Number, d DType) *Tensor {
	if tr := tracingHere(); tr != nil {
		return &Tensor{v: tr.scalar(n, d)}
	}
	t := &Tensor{v: array.View{Store: alloc(number, d.Size()), DType: d, Shape: []int{}, Strides: []int{}}}
	fill(&t.v, n)
	return t
}

// fillMost is how many bytes are filled by the thread that asks; more are for a kernel.
const fillMost = 1 << 16

// fills reports that the operand, a Go number, is the same bits at each place of v, which lie in
// one row. It refuses a number that the type does not hold.
func (o *operand) fills(opName string, v *array.View) bool {
	if o.num.Kind == array.CatComplex || v.DType.Complex() || !v.Contiguous() || tracingViews(v) != nil {
		return false
	}
	if n := v.Size(); n == 0 || n*v.DType.Size() > fillMost {
		return false
	}
	if err := o.num.Check(opName, v.DType); err != nil {
		panic(err)
	}
	return true
}

// fill writes a number at each place of a row.
func fill(v *array.View, n exec.Number) {
	size := v.DType.Size()
	check(device.Get(v.Store.Device).Default().Fill(device.Ref{Store: v.Store, Offset: v.Offset * size}, v.Size(), n.Bits(v.DType), size))
}

// Full returns a tensor of that shape filled with a Go number, a scalar if no size is given. The
// number says the type, as for [Scalar]: a float gives float32, an int int64. [FullOf] takes it.
func Full(x any, shape ...int) *Tensor {
	o := numberOperand("full", x)
	return full("full", o, 0, o.weakType(), shape)
}

// FullOf returns a tensor of type d and that shape filled with a Go number. An integer must fit an
// integer type; a float becomes one as [Tensor.To] makes it; as Bool it is whether it is not 0.
func FullOf(d DType, x any, shape ...int) *Tensor {
	return full("full", numberOperand("full", x), 0, d, shape)
}

// numberOperand is an argument of op that must be a Go number.
func numberOperand(opName string, x any) operand {
	o := asOperand(opName, "x", x)
	if o.t != nil {
		array.Failf(opName, "x", "is a tensor, want a Go number")
	}
	return o
}

func full(opName string, o operand, number uint8, d DType, shape []int) *Tensor {
	t := unset(opName, number, d, shape)
	switch {
	case t.Size() == 0:
	case o.fills(opName, &t.v):
		fill(&t.v, o.num)
	default:
		copyViews(&t.v, &o.number(opName, number, d).v)
	}
	return t
}

// Zeros returns a float32 tensor of zeros of that shape, a scalar if no size is given. [ZerosOf]
// takes an element type. It panics with *[Error] where a size is negative.
func Zeros(shape ...int) *Tensor { return full("zeros", whole(0), 0, Float32, shape) }

// ZerosOf returns a tensor of zeros of the given type and shape, a scalar if no size is given.
// It panics with *[Error] where a size is negative.
func ZerosOf(d DType, shape ...int) *Tensor { return full("zeros", whole(0), 0, d, shape) }

// Ones returns a float32 tensor of ones of that shape, a scalar if none is given. [OnesOf] takes
// an element type. It panics with *[Error] where a size is negative.
func Ones(shape ...int) *Tensor { return full("ones", whole(1), 0, Float32, shape) }

// OnesOf returns a tensor of ones of the given type and shape, a scalar if no size is given. It
// panics with *[Error] where a size is negative.
func OnesOf(d DType, shape ...int) *Tensor { return full("ones", whole(1), 0, d, shape) }

// ZerosLike returns a tensor of t's shape and type, on its device, filled with 0. Nothing of t
// is copied, nor does a gradient flow to it.
func ZerosLike(t *Tensor) *Tensor { return fullLike("zeros", t, 0) }

// OnesLike returns a tensor of t's shape and type, on its device, filled with 1. Nothing of t is
// copied, nor does a gradient flow to it.
func OnesLike(t *Tensor) *Tensor { return fullLike("ones", t, 1) }

// FullLike returns a tensor of t's shape and type, on its device, filled with x, a Go number
// that the type holds. It panics with *[Error] where it does not.
func FullLike(t *Tensor, x any) *Tensor { return fullLike("full", t, x) }

func fullLike(opName string, t *Tensor, x any) *Tensor {
	t.notNil(opName)
	return full(opName, numberOperand(opName, x), t.v.Store.Device, t.v.DType, t.v.Shape)
}

// Scalar returns a 0-d tensor of a Go number, whose type it says: float64 gives float32, int int64,
// bool Bool, complex128 complex64. [ScalarOf] takes an element type.
func Scalar(x any) *Tensor {
	o := numberOperand("scalar", x)
	return o.number("scalar", 0, o.weakType())
}

// ScalarOf returns a 0-d tensor of type d of a Go number, which is rounded once. It panics with
// *[Error] where an integer does not fit an integer type.
func ScalarOf(d DType, x any) *Tensor {
	o := numberOperand("scalar", x)
	if !d.Supported() {
		array.Failf("scalar", "dtype", "%s is not supported", d)
	}
	return o.number("scalar", 0, d)
}

// Eye returns the n x n identity matrix, float32: ones on the main diagonal, zeros elsewhere. It
// panics with *[Error] where n is negative. [EyeOf] takes an element type.
func Eye(n int) *Tensor { return EyeOf(Float32, n) }

// EyeOf returns the n x n identity matrix of type d: ones on the main diagonal, zeros elsewhere. It
// panics with *[Error] where n is negative.
func EyeOf(d DType, n int) *Tensor {
	t := full("eye", whole(0), 0, d, []int{n, n})
	t.Diagonal(0).Assign(1)
	return t
}

// Arange returns start, start+step, ... before stop: float64 arguments give float32, ints int64.
// One argument is stop; two are start and stop. [ArangeOf] takes an element type.
func Arange[T int | float64](args ...T) *Tensor {
	d := Float32
	if _, ok := any(*new(T)).(int); ok {
		d = Int64
	}
	return ArangeOf(d, args...)
}

// ArangeOf returns start, start+step, ... before stop as a vector of type d. One argument is stop;
// two are start and stop. Numbers are computed exactly from ints and in float64 from floats, then
// rounded once to a float type. Floats become integers as by [Tensor.To]. It panics with *[Error]
// where d is Bool or an integer type that does not hold all ints.
func ArangeOf[T int | float64](d DType, args ...T) *Tensor {
	var start, stop, step T
	step = 1
	switch len(args) {
	case 1:
		stop = args[0]
	case 2:
		start, stop = args[0], args[1]
	case 3:
		start, stop, step = args[0], args[1], args[2]
	default:
		array.Failf("arange", "", "takes 1 to 3 numbers, got %d", len(args))
	}
	switch {
	case !d.Supported() || d == Bool:
		array.Failf("arange", "dtype", "%s is not supported", d)
	case step == 0:
		array.Failf("arange", "step", "is 0")
	}
	if _, ok := any(start).(int); ok {
		return arangeInts(d, int(start), int(stop), int(step))
	}
	size := math.Ceil((float64(stop) - float64(start)) / float64(step))
	if !(size < maxRange) {
		array.Failf("arange", "", "from %v to %v by %v is not a size", start, stop, step)
	}
	return numbered("arange", d, int(max(size, 0)), func(i int) float64 { return float64(start) + float64(float64(i)*float64(step)) })
}

// numbered returns a vector of n numbers of type d, which are computed in float64 and rounded once.
func numbered(opName string, d DType, n int, f func(i int) float64) *Tensor {
	if d == Float32 {
		return filled(opName, d, n, func(data []float32) {
			for i := range data {
				data[i] = float32(f(i))
			}
		})
	}
	return filled(opName, Float64, n, func(data []float64) {
		for i := range data {
			data[i] = f(i)
		}
	}).To(d)
}

// maxRange is more than the length of any tensor.
const maxRange = 1 << 62

func arangeInts(d DType, start, stop, step int) *Tensor {
	// Differences of two ints need all 64 bits.
	way, by := uint64(stop)-uint64(start), uint64(step)
	if step < 0 {
		way, by = -way, -by
	}
	n := uint64(0)
	if stop > start && step > 0 || stop < start && step < 0 {
		n = (way-1)/by + 1
	}
	if n >= maxRange {
		array.Failf("arange", "", "from %v to %v by %v is not a size", start, stop, step)
	}
	if n > 0 {
		for _, x := range []int{start, start + int(n-1)*step} {
			if err := (exec.Number{Int: int64(x), Kind: array.CatInt}).Check("arange", d); err != nil {
				panic(err)
			}
		}
	}
	return filled("arange", Int64, int(n), func(data []int64) {
		for i := range data {
			data[i] = int64(start) + int64(i)*int64(step)
		}
	}).To(d)
}

// Linspace returns n float32 numbers evenly spaced from start to stop, both included.
// [LinspaceOf] takes an element type.
func Linspace(start, stop float64, n int) *Tensor { return LinspaceOf(Float32, start, stop, n) }

// LinspaceOf returns n numbers of type d evenly spaced from start to stop, both included, as a
// vector. They are computed in float64 and rounded once; an integer type takes what [Tensor.To]
// makes of them. It panics with *[Error] where n is negative or d is Bool.
func LinspaceOf(d DType, start, stop float64, n int) *Tensor {
	if n < 0 {
		array.Failf("linspace", "n", "%d is negative", n)
	}
	if !d.Supported() || d == Bool {
		array.Failf("linspace", "dtype", "%s is not supported", d)
	}
	return numbered("linspace", d, n, func(i int) float64 {
		f := 0.0
		if n > 1 {
			f = float64(i) / float64(n-1)
		}
		// Both ends are met exactly.
		return float64(start*(1-f)) + float64(stop*f)
	})
}

// filled returns a vector whose n elements, of type d, f sets.
func filled[T Element](opName string, d DType, n int, f func(data []T)) *Tensor {
	t := empty(opName, 0, d, []int{n})
	f(slice[T](&t.v))
	keepAlive(t)
	return t
}

// room returns n, or panics with an [Error] of kind OutOfMemory if as many elements
// do not fit on the Go heap: running out of that would end the process.
func room(opName string, n int, d DType) int {
	if err := mem.Room(n * d.Size()); err != nil {
		panic(&Error{Kind: OutOfMemory, Op: opName, Msg: "the result does not fit in memory", Err: err})
	}
	return n
}

// dtypeOf returns the type of tensors that hold elements of a Go type.
func dtypeOf(t reflect.Type) (DType, bool) {
	switch t {
	case reflect.TypeFor[half.Float16]():
		return Float16, true
	case reflect.TypeFor[half.BFloat16]():
		return BFloat16, true
	}
	d, ok := map[reflect.Kind]DType{reflect.Bool: Bool, reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64, reflect.Int: Int64,
		reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64, reflect.Uint: Uint64,
		reflect.Float32: Float32, reflect.Float64: Float64, reflect.Complex64: Complex64, reflect.Complex128: Complex128}[t.Kind()]
	return d, ok
}

// From returns a tensor of a Go number or of nested slices or arrays of an
// [Element] type, copied: From([][]float32{{1, 2}, {3, 4}}). It panics when rows
// differ in length.
func From(x any) *Tensor {
	v := reflect.ValueOf(x)
	var shape []int
	t := v
	for t.IsValid() && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		shape = append(shape, t.Len())
		if t.Len() == 0 {
			break
		}
		t = t.Index(0)
	}
	if !v.IsValid() {
		array.Failf("from", "x", "is nil")
	}
	et := v.Type()
	depth := 0
	for et.Kind() == reflect.Slice || et.Kind() == reflect.Array {
		et = et.Elem()
		depth++
	}
	for len(shape) < depth {
		shape = append(shape, 0)
	}
	d, ok := dtypeOf(et)
	if !ok {
		array.Failf("from", "x", "is %T: want nested slices of bool, integers, floats or complex numbers", x)
	}
	out := empty("from", 0, d, shape)
	first, at := bytesOf(&out.v), 0
	var fill func(v reflect.Value, depth int)
	fill = func(v reflect.Value, depth int) {
		if depth < len(shape) {
			if v.Len() != shape[depth] {
				array.Failf("from", "x", "is ragged: a row of %d elements where the first has %d", v.Len(), shape[depth])
			}
			for i := range v.Len() {
				fill(v.Index(i), depth+1)
			}
			return
		}
		p := unsafe.Add(first, at*d.Size())
		at++
		switch d {
		case Bool:
			*(*bool)(p) = v.Bool()
		case Int8:
			*(*int8)(p) = int8(v.Int())
		case Int16:
			*(*int16)(p) = int16(v.Int())
		case Int32:
			*(*int32)(p) = int32(v.Int())
		case Int64:
			*(*int64)(p) = v.Int()
		case Uint8:
			*(*uint8)(p) = uint8(v.Uint())
		case Uint16, Float16, BFloat16:
			*(*uint16)(p) = uint16(v.Uint())
		case Uint32:
			*(*uint32)(p) = uint32(v.Uint())
		case Uint64:
			*(*uint64)(p) = v.Uint()
		case Float32:
			*(*float32)(p) = float32(v.Float())
		case Float64:
			*(*float64)(p) = v.Float()
		case Complex64:
			*(*complex64)(p) = complex64(v.Complex())
		case Complex128:
			*(*complex128)(p) = v.Complex()
		}
	}
	fill(v, 0)
	keepAlive(out)
	return out
}
