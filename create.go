package weft

import (
	"math"
	"reflect"
	"unsafe"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// Full returns a tensor of that shape filled with a Go number, a scalar if no size is given. The
// number says the type, as for [Scalar]: a float gives float32, an int int64. [FullOf] takes it.
func Full(x any, shape ...int) *Tensor {
	o := numberOperand("full", x)
	return (*Tensor)(core.Full("full", o, 0, o.WeakType(), shape))
}

// FullOf returns a tensor of type d and that shape filled with a Go number. An integer must fit an
// integer type; a float becomes one as [Tensor.To] makes it; as Bool it is whether it is not 0.
func FullOf(d DType, x any, shape ...int) *Tensor {
	return (*Tensor)(core.Full("full", numberOperand("full", x), 0, d, shape))
}

// numberOperand is an argument of op that must be a Go number.
func numberOperand(opName string, x any) core.Operand {
	o := core.AsOperand[Tensor](opName, "x", x)
	if o.T != nil {
		array.Failf(opName, "x", "is a tensor, want a Go number")
	}
	return o
}

// Zeros returns a float32 tensor of zeros of that shape, a scalar if no size is given. [ZerosOf]
// takes an element type. It panics with *[Error] where a size is negative.
func Zeros(shape ...int) *Tensor {
	return (*Tensor)(core.Full("zeros", core.Whole(0), 0, Float32, shape))
}

// ZerosOf returns a tensor of zeros of the given type and shape, a scalar if no size is given.
// It panics with *[Error] where a size is negative.
func ZerosOf(d DType, shape ...int) *Tensor {
	return (*Tensor)(core.Full("zeros", core.Whole(0), 0, d, shape))
}

// Ones returns a float32 tensor of ones of that shape, a scalar if none is given. [OnesOf] takes
// an element type. It panics with *[Error] where a size is negative.
func Ones(shape ...int) *Tensor {
	return (*Tensor)(core.Full("ones", core.Whole(1), 0, Float32, shape))
}

// OnesOf returns a tensor of ones of the given type and shape, a scalar if no size is given. It
// panics with *[Error] where a size is negative.
func OnesOf(d DType, shape ...int) *Tensor {
	return (*Tensor)(core.Full("ones", core.Whole(1), 0, d, shape))
}

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
	t.c().NotNil(opName)
	return (*Tensor)(core.Full(opName, numberOperand(opName, x), t.v().Store.Device, t.v().DType, t.v().Shape))
}

// Scalar returns a 0-d tensor of a Go number, whose type it says: float64 gives float32, int int64,
// bool Bool, complex128 complex64. [ScalarOf] takes an element type.
func Scalar(x any) *Tensor {
	o := numberOperand("scalar", x)
	return (*Tensor)(o.Number("scalar", 0, o.WeakType()))
}

// ScalarOf returns a 0-d tensor of type d of a Go number, which is rounded once. It panics with
// *[Error] where an integer does not fit an integer type.
func ScalarOf(d DType, x any) *Tensor {
	o := numberOperand("scalar", x)
	if !d.Supported() {
		array.Failf("scalar", "dtype", "%s is not supported", d)
	}
	return (*Tensor)(o.Number("scalar", 0, d))
}

// EyeOpts are the options of [Eye] and [EyeOf].
type EyeOpts struct {
	Columns  *int // nil means n
	Diagonal int  // number of the diagonal that has the ones: above the main one if positive, below if negative
}

// Eye returns the n x n identity matrix, float32: ones on the main diagonal, zeros elsewhere. It
// panics with *[Error] where n or the number of columns is negative. [EyeOf] takes an element type.
func Eye(n int, opts ...EyeOpts) *Tensor { return EyeOf(Float32, n, opts...) }

// EyeOf returns the n x n identity matrix of type d: ones on the main diagonal, zeros elsewhere. It
// panics with *[Error] where n or the number of columns is negative.
func EyeOf(d DType, n int, opts ...EyeOpts) *Tensor { return CPU.EyeOf(d, n, opts...) }

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
func ArangeOf[T int | float64](d DType, args ...T) *Tensor { return arange(0, d, args) }

// arange is [ArangeOf] on the device of that number.
func arange[T int | float64](number uint8, d DType, args []T) *Tensor {
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
		return arangeInts(number, d, int(start), int(stop), int(step))
	}
	size := math.Ceil((float64(stop) - float64(start)) / float64(step))
	if !(size < maxRange) {
		array.Failf("arange", "", "from %v to %v by %v is not a size", start, stop, step)
	}
	return numbered("arange", number, d, int(max(size, 0)), func(i int) float64 { return float64(start) + float64(float64(i)*float64(step)) })
}

// numbered returns a vector of n numbers of type d on the device of that number. They are computed
// in float64 and rounded once.
func numbered(opName string, number uint8, d DType, n int, f func(i int) float64) *Tensor {
	if d == Float32 {
		return filled(opName, number, d, n, func(data []float32) {
			for i := range data {
				data[i] = float32(f(i))
			}
		})
	}
	return filled(opName, number, Float64, n, func(data []float64) {
		for i := range data {
			data[i] = f(i)
		}
	}).To(d)
}

// maxRange is more than the length of any tensor.
const maxRange = 1 << 62

func arangeInts(number uint8, d DType, start, stop, step int) *Tensor {
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
	return filled("arange", number, Int64, int(n), func(data []int64) {
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
	return CPU.LinspaceOf(d, start, stop, n)
}

// linspace is [LinspaceOf] on the device of that number.
func linspace(number uint8, d DType, start, stop float64, n int) *Tensor {
	if n < 0 {
		array.Failf("linspace", "n", "%d is negative", n)
	}
	if !d.Supported() || d == Bool {
		array.Failf("linspace", "dtype", "%s is not supported", d)
	}
	return numbered("linspace", number, d, n, func(i int) float64 {
		f := 0.0
		if n > 1 {
			f = float64(i) / float64(n-1)
		}
		// Both ends are met exactly.
		return float64(start*(1-f)) + float64(stop*f)
	})
}

// filled returns a vector on the device of that number whose n elements, of type d, f sets.
func filled[T Element](opName string, number uint8, d DType, n int, f func(data []T)) *Tensor {
	t := core.Empty(opName, number, d, []int{n})
	core.Written(t, func(v *array.View) { f(core.Slice[T](v)) })
	return (*Tensor)(t)
}

// From returns a tensor of a Go number or of nested slices or arrays of an
// [Element] type, copied: From([][]float32{{1, 2}, {3, 4}}). It panics when rows
// differ in length.
func From(x any) *Tensor { return CPU.From(x) }

// from is [From] on the device of that number.
func from(number uint8, x any) *Tensor {
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
	d, ok := core.DTypeOf(et)
	if !ok {
		array.Failf("from", "x", "is %T: want nested slices of bool, integers, floats or complex numbers", x)
	}
	out := core.Empty("from", number, d, shape)
	var first unsafe.Pointer
	at := 0
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
	core.Written(out, func(host *array.View) {
		first = core.BytesOf(host)
		fill(v, 0)
	})
	return (*Tensor)(out)
}

// Logspace returns n numbers, float32, at equal ratios from 10^start to 10^stop. It panics with *[Error] where n is
// negative. [LogspaceOf] takes an element type. NumPy's logspace.
func Logspace(start, stop float64, n int) *Tensor { return LogspaceOf(Float32, start, stop, n) }

// LogspaceOf returns n numbers of a float type d at equal ratios from 10^start to 10^stop, computed in float64 and
// rounded once. It panics with *[Error] where n is negative, or d is not a float type.
func LogspaceOf(d DType, start, stop float64, n int) *Tensor {
	return spaced("logspace", d, n, func(i int) float64 { return math.Pow(10, between(start, stop, i, n)) })
}

// Geomspace returns n numbers, float32, at equal ratios from start to stop, which have one sign. It panics with
// *[Error] where n is negative, or a number is 0 or the signs differ. [GeomspaceOf] takes an element type. NumPy's
// geomspace.
func Geomspace(start, stop float64, n int) *Tensor { return GeomspaceOf(Float32, start, stop, n) }

// GeomspaceOf returns n numbers of a float type d at equal ratios from start to stop, which have one sign, computed in
// float64 and rounded once; both ends are exact. Errors are as for [Geomspace].
func GeomspaceOf(d DType, start, stop float64, n int) *Tensor {
	if !(start > 0 && stop > 0 || start < 0 && stop < 0) {
		array.Failf("geomspace", "start", "and stop, %v and %v, are not of one sign", start, stop)
	}
	lo, hi := math.Log(math.Abs(start)), math.Log(math.Abs(stop))
	return spaced("geomspace", d, n, func(i int) float64 {
		switch i {
		case 0:
			return start
		case n - 1:
			return stop
		}
		return math.Copysign(math.Exp(between(lo, hi, i, n)), start)
	})
}

// between is number i of n at equal distances from a to b.
func between(a, b float64, i, n int) float64 {
	if n == 1 {
		return a
	}
	return a + float64((b-a)*float64(i))/float64(n-1)
}

func spaced(name string, d DType, n int, f func(i int) float64) *Tensor {
	if !d.Float() {
		array.Failf(name, "d", "is %s, want a float type", d)
	}
	array.CheckShape(name, []int{n}, d)
	return numbered(name, 0, d, n, f)
}

// Tri returns a float32 matrix of rows and cols with ones on diagonal number k and below, zeros above. It panics with
// *[Error] where a size is negative. NumPy's tri; [Tensor.Tril] takes the part of a matrix.
func Tri(rows, cols, k int) *Tensor {
	defer array.Named("tri").End()
	return Ones(rows, cols).Tril(k)
}

// A FloatInfo says what numbers a float type has: see [FInfo].
type FloatInfo struct {
	Bits      int     // of an element
	Eps       float64 // from 1 to the next number
	Min, Max  float64 // the least and the greatest finite number
	Tiny      float64 // the least normal number above 0
	Subnormal float64 // the least number above 0
}

// FInfo returns what numbers a float type has, of complex types their parts. It panics with *[Error] for other types.
// NumPy's finfo.
func FInfo(d DType) FloatInfo {
	digits, least, most := 24, -126, math.MaxFloat32
	switch d = d.Part(); d {
	case Float64:
		digits, least, most = 53, -1022, math.MaxFloat64
	case Float16:
		digits, least, most = 11, -14, 65504
	case BFloat16:
		digits, least, most = 8, -126, 0x1.fep127
	case Float32:
	default:
		array.Failf("finfo", "d", "is %s, want a float type: IInfo tells of integers", d)
	}
	return FloatInfo{8 * d.Size(), math.Ldexp(1, 1-digits), -most, most, math.Ldexp(1, least), math.Ldexp(1, least-digits+1)}
}

// An IntInfo says what numbers an integer type has: see [IInfo].
type IntInfo struct {
	Bits int    // of an element
	Min  int64  // the least number
	Max  uint64 // the greatest number
}

// IInfo returns what numbers an integer type has. It panics with *[Error] for other types. NumPy's iinfo.
func IInfo(d DType) IntInfo {
	if !d.Integer() {
		array.Failf("iinfo", "d", "is %s, want an integer type: FInfo tells of floats", d)
	}
	if d == Uint64 {
		return IntInfo{64, 0, math.MaxUint64}
	}
	lo, hi := d.Limits()
	return IntInfo{8 * d.Size(), lo, uint64(hi)}
}

// PromoteTypes returns the type in which arrays of two types meet. It panics with *[Error] for what is not a type.
// NumPy's promote_types, by weft's rules ([DType]): integers and floats meet in the float type.
func PromoteTypes(a, b DType) DType {
	for i, d := range []DType{a, b} {
		if !d.Supported() {
			array.Failf("promotetypes", []string{"a", "b"}[i], "%s is not supported", d)
		}
	}
	return array.Promote(a, b)
}

// ResultType returns the type in which tensors, types (as arrays) and Go numbers meet: numbers and tensors without
// axes count for their category alone. It panics with *[Error] for none, and for other values. NumPy's result_type.
func ResultType(args ...any) DType {
	const name = "resulttype"
	g := ir.New()
	nodes := make([]*ir.Node, len(args))
	for i, x := range args {
		if d, ok := x.(DType); ok {
			if !d.Supported() {
				array.Failf(name, "args", "%s is not supported", d)
			}
			nodes[i] = g.Input(i, d, []int{1})
			continue
		}
		o := core.AsOperand[Tensor](name, "args", x)
		if o.T == nil {
			if d := o.WeakType(); d.Complex() { // there are no complex constants
				nodes[i] = g.Input(i, d, nil)
			} else {
				nodes[i] = g.Number(0, d, true)
			}
			continue
		}
		o.T.Check(name)
		nodes[i] = g.Input(i, o.T.View().DType, o.T.View().Shape)
	}
	if len(nodes) == 0 {
		array.Failf(name, "args", "has no elements")
	}
	return op.Promote(nodes...)
}
