package sym

import (
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Var is a symbolic variable: an input, a shared variable, a constant, or the result of an
// operation on others. It has the computing methods of [weft.Tensor], which give variables
// here. A Var never changes, and is safe for use from several goroutines.
//
// An operation is checked when the variable is made: element types and numbers of dimensions,
// and sizes as far as they are known. Misuse panics with *[weft.Error], as methods of tensors
// do, whose message names variables and the line that made them.
type Var struct {
	name  string
	dtype weft.DType
	shape []int // -1: known when a function is called
	pc    uintptr
	id    uint64 // later ones are greater

	from   *apply       // what computes it; nil for inputs, shared variables and constants
	out    int          // which of its results it is
	kept   *weft.Tensor // of a shared variable or a constant
	box    *box         // of an open shared variable, in place of kept
	role   role
	object bool  // it is a Go value (see object.go)
	cell   *cell // of a shared Go value
	whole  int   // the element of a constant that is one integer

	update atomic.Pointer[Var]         // of a shared variable, by default
	test   atomic.Pointer[weft.Tensor] // its value for test values of inputs
}

type role uint8

const (
	computed role = iota
	input
	shared
	constant
)

var ids atomic.Uint64

// Any stands for a size that is not known before a call, in [New].
const Any = -1

// New returns an input with sizes for its dimensions: a number, [Any], or 1 for one that
// broadcasts. The name is for messages and for arguments given by name.
func New(name string, d weft.DType, sizes ...int) *Var {
	if !d.Supported() {
		array.Failf("sym", name, "has elements of type %s, which is not supported", d)
	}
	for _, n := range sizes {
		if n < Any {
			array.Failf("sym", name, "has size %d: want a number or sym.Any", n)
		}
	}
	return &Var{name: name, dtype: d, shape: append([]int{}, sizes...), pc: array.Caller(), id: ids.Add(1), role: input}
}

// Scalar returns an input without dimensions.
func Scalar(name string, d weft.DType) *Var { return New(name, d) }

// Vector returns an input of one dimension.
func Vector(name string, d weft.DType) *Var { return New(name, d, Any) }

// Row returns an input of one row.
func Row(name string, d weft.DType) *Var { return New(name, d, 1, Any) }

// Col returns an input of one column.
func Col(name string, d weft.DType) *Var { return New(name, d, Any, 1) }

// Matrix returns an input of two dimensions.
func Matrix(name string, d weft.DType) *Var { return New(name, d, Any, Any) }

// Tensor3 returns an input of three dimensions.
func Tensor3(name string, d weft.DType) *Var { return ranked(name, d, 3) }

// Tensor4 returns an input of four dimensions.
func Tensor4(name string, d weft.DType) *Var { return ranked(name, d, 4) }

// Tensor5 returns an input of five dimensions.
func Tensor5(name string, d weft.DType) *Var { return ranked(name, d, 5) }

// Tensor6 returns an input of six dimensions.
func Tensor6(name string, d weft.DType) *Var { return ranked(name, d, 6) }

// Tensor7 returns an input of seven dimensions.
func Tensor7(name string, d weft.DType) *Var { return ranked(name, d, 7) }

func ranked(name string, d weft.DType, rank int) *Var {
	return New(name, d, slices.Repeat([]int{Any}, rank)...)
}

// Shared returns a variable that is a tensor: functions read its elements where they are, and
// may update them. Others see that, and what they write functions see.
//
// With sizes, as [New] takes them, the variable is open where they are [Any]: [Var.SetValue] and
// updates may change these sizes. They replace the tensor of an open variable, which has its own
// memory, instead of writing into it. Functions use the one that it has when they are called.
func Shared(name string, t *weft.Tensor, sizes ...int) *Var {
	v := tensorVar("sym", name, t, shared)
	if len(sizes) > 0 {
		v.open(sizes)
	}
	return v
}

// Const returns a variable that is a tensor. Its elements must not change. Functions compute
// subgraphs of constants once (constant folding), and treat a constant of equal elements as a Go
// number.
func Const(t *weft.Tensor) *Var { return tensorVar("sym", "", t, constant) }

// tensorVar returns a variable that is a tensor. opName is in errors.
func tensorVar(opName, name string, t *weft.Tensor, r role) *Var {
	defer array.Named(opName).End()
	if t == nil {
		array.Failf(opName, name, "the tensor is nil")
	}
	v := &Var{name: name, dtype: t.DType(), shape: sizes(t), pc: array.Caller(), id: ids.Add(1), kept: t.Detach(), role: r}
	if r == constant && isWhole(v) && core.TracingHere() == nil {
		v.whole = int(t.ItemInt())
	}
	return v
}

// Name returns the name of the variable, which may be empty.
func (v *Var) Name() string {
	v.exists("name")
	return v.name
}

// As returns the variable under a name.
func (v *Var) As(name string) *Var {
	v.notNil("as")
	return rename(v, name)
}

// DType returns the type of the elements.
func (v *Var) DType() weft.DType {
	v.notNil("dtype")
	return v.dtype
}

// Rank returns the number of dimensions.
func (v *Var) Rank() int {
	v.notNil("rank")
	return len(v.shape)
}

// Shape returns the sizes of the dimensions, [Any] for those that are not known before a call.
func (v *Var) Shape() []int {
	v.notNil("shape")
	return slices.Clone(v.shape)
}

// Tensor returns the tensor that a shared variable or a constant is; nil for others. An open
// variable ([Shared]) has another one after each update, and the one before keeps its elements.
func (v *Var) Tensor() *weft.Tensor {
	v.notNil("tensor")
	return v.tensor()
}

// SetValue writes x into the tensor of a shared variable. x is a tensor of its shape and element
// type, or a Go number, which becomes every element. An open variable takes other sizes where they are
// [Any], a shared Go value ([SharedObject]) becomes x. SetValue panics with *[weft.Error] for any other
// x: nothing broadcasts. It waits for functions that use the variable, and they wait for it. Inside a
// call of such a function it panics.
func (v *Var) SetValue(x any) {
	v.exists("setvalue")
	if v.role != shared {
		array.Failf("setvalue", "", "%s is not a shared variable", v)
	}
	if v.object {
		(*core.Tensor)(v.kept).Exclusively("setvalue", func() { v.cell.value = x })
		return
	}
	if t, ok := x.(*weft.Tensor); ok && t != nil && !v.takes(t) {
		array.Failf("setvalue", "x", "is %s, the variable %s", array.TypeString(t.DType(), t.Shape()), v)
	}
	if v.box != nil {
		v.box.set(v, x)
		return
	}
	(*core.Tensor)(v.kept).Exclusively("setvalue", func() { v.kept.Assign(x) })
}

// SetDefaultUpdate makes to, of the same type, what the shared variable becomes in functions
// that use it and have no other update of it; nil ends that.
func (v *Var) SetDefaultUpdate(to *Var) {
	v.notNil("setdefaultupdate")
	if v.role != shared {
		array.Failf("setdefaultupdate", "", "%s is not a shared variable", v)
	}
	if to != nil {
		checkUpdate("setdefaultupdate", v, to)
	}
	v.update.Store(to)
}

// String shows the variable: its name or what computes it, and its type.
func (v *Var) String() string {
	if v == nil {
		return "nil"
	}
	if v.object {
		return v.label() + " any"
	}
	return v.label() + " " + array.TypeString(v.dtype, v.shape)
}

// label names the variable in messages.
func (v *Var) label() string {
	switch {
	case v.name != "":
		return v.name
	case v.from != nil:
		return "the result of " + v.from.name
	case v.role == constant:
		return "a constant"
	}
	return "a variable without name"
}

// where is the line that made the variable.
func (v *Var) where() string { return at(v.pc) }

// notNil refuses variables that are not set, and such as are Go values.
func (v *Var) notNil(opName string) {
	v.exists(opName)
	if v.object {
		array.Failf(opName, "", "%s is a Go value%s, which only a sym.Op with ForwardAny takes", v.label(), v.where())
	}
}

// exists refuses variables that are not set.
func (v *Var) exists(opName string) {
	if v == nil {
		array.Failf(opName, "", "the variable is nil")
	}
	if v.dtype == array.Invalid {
		array.Failf(opName, "", "the variable is the zero Var: functions such as sym.Matrix make one")
	}
}

// at is a place in the program, for messages.
func at(pc uintptr) string {
	if line := array.Place(pc); line != "" {
		return " (" + line + ")"
	}
	return ""
}
