package core

import (
	"unsafe"

	"weft/half"
	"weft/internal/array"
)

// Try does what weft.Try says.
func Try(f func()) error { return array.Try(f) }

// A Tensor is the engine behind a weft.Tensor, which converts to it and says what holds for users.
type Tensor fields

// fields is an alias, so that [Face] can say which struct it has.
type fields = struct {
	v    array.View
	run  *Run
	hist *History // nil when no gradient flows here
	view bool     // the memory is another tensor's, which gives it back
}

// Rank does what weft.Tensor.Rank says.
func (t *Tensor) Rank() int {
	t.NotNil("rank")
	return len(t.v.Shape)
}

// Size does what weft.Tensor.Size says.
func (t *Tensor) Size() int {
	t.NotNil("size")
	return t.v.Size()
}

// NotNil refuses a nil tensor, and the zero Tensor, which has no memory.
func (t *Tensor) NotNil(opName string) {
	if t == nil || t.v.Store == nil {
		t.failNil(opName)
	}
}

func (t *Tensor) failNil(opName string) {
	if t == nil {
		failNil(opName)
	}
	array.Failf(opName, "", "the tensor is the zero Tensor: functions such as Zeros and From make one")
}

// Check refuses a nil tensor and memory that was given back.
func (t *Tensor) Check(opName string) {
	t.NotNil(opName)
	if t.v.Store.Released() {
		FailReleased(opName, &t.v)
	}
}

// CheckArgument is check for the argument arg of op.
func (t *Tensor) CheckArgument(opName, arg string) {
	t.Argument(opName, arg)
	t.Check(opName)
}

// FailReleased panics: the memory of a view was given back.
func FailReleased(opName string, v *array.View) {
	array.Failf(opName, "", "the tensor %s was released, or its scope closed (Scope.Keep takes a tensor out)", array.TypeString(v.DType, v.Shape))
}

// An Element is a weft.Element: users read its types there.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 |
		half.Float16 | half.BFloat16 | float32 | float64 | complex64 | complex128
}

// DTypeFor returns the type of tensors that hold elements of type T.
func DTypeFor[T Element]() array.DType {
	var x T
	switch any(x).(type) {
	case bool:
		return array.Bool
	case int8:
		return array.Int8
	case int16:
		return array.Int16
	case int32:
		return array.Int32
	case int64, int:
		return array.Int64
	case uint8:
		return array.Uint8
	case uint16:
		return array.Uint16
	case uint32:
		return array.Uint32
	case uint64:
		return array.Uint64
	case half.Float16:
		return array.Float16
	case half.BFloat16:
		return array.BFloat16
	case float32:
		return array.Float32
	case float64:
		return array.Float64
	case complex64:
		return array.Complex64
	}
	return array.Complex128
}

// FromSlice does what weft.FromSlice says.
func FromSlice[T Element](data []T, shape ...int) *Tensor {
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	t := wrap("fromslice", data, append([]int{}, shape...))
	if !Reached(0) {
		return upload(t.v)
	}
	return t
}

func wrap[T Element](opName string, data []T, shape []int) *Tensor {
	d := DTypeFor[T]()
	if !d.Supported() {
		array.Failf(opName, "data", "element type %s is not supported", d)
	}
	if n := array.CheckShape(opName, shape, d); n != len(data) {
		array.Failf(opName, "shape", "%s has %d elements, the slice %d", array.ShapeString(shape), n, len(data))
	}
	st := array.NewStorage(unsafe.Pointer(unsafe.SliceData(data)), len(data)*d.Size(), data)
	return &Tensor{v: array.View{Store: st, DType: d, Shape: shape, Strides: array.RowMajor(shape)}}
}

// Data does what weft.Data says.
func Data[T Element](t *Tensor) []T {
	CheckElements[T]("data", t)
	out := make([]T, CheckHeap("data", t.Size(), t.v.DType))
	CopyTo(t, out)
	return out
}

// CopyTo does what weft.CopyTo says.
func CopyTo[T Element](t *Tensor, dst []T) {
	CheckElements[T]("copyto", t)
	if len(dst) != t.Size() {
		array.Failf("copyto", "dst", "has %d elements, the tensor %d", len(dst), t.Size())
	}
	if len(dst) == 0 {
		return
	}
	to := wrap("copyto", dst, t.v.Shape)
	if !OnHost(t) {
		download(&to.v, t)
		return
	}
	v := ToHost(t)
	defer Leave(&v)
	CopyInto(to, &Tensor{v: v})
}

// CheckElements refuses a tensor whose elements are not of Go type T.
func CheckElements[T Element](opName string, t *Tensor) {
	t.Check(opName)
	if d := DTypeFor[T](); d != t.v.DType {
		array.Failf(opName, "", "elements are %s, not %s: convert with To first", t.v.DType, d)
	}
}

// New returns a tensor of a view: in a run, with a history, or nil; shared says that the memory is
// another tensor's.
func New(v array.View, r *Run, h *History, shared bool) *Tensor {
	return &Tensor{v: v, run: r, hist: h, view: shared}
}

// View returns the strided window on memory that t is.
func (t *Tensor) View() *array.View { return &t.v }

// Run returns what results inherit from t, nil for nothing.
func (t *Tensor) Run() *Run { return t.run }

// Hist returns where t's value comes from, nil where no gradient flows.
func (t *Tensor) Hist() *History { return t.hist }

// SetHist says where t's value comes from.
func (t *Tensor) SetHist(h *History) { t.hist = h }

// Shared reports that t's memory is another tensor's, which gives it back.
func (t *Tensor) Shared() bool { return t.view }

// SetShared says whether t's memory is another tensor's.
func (t *Tensor) SetShared(on bool) { t.view = on }
