package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// The static parameters of operations. Sizes and axes in them are checked by
// who applies the operation or by its Infer; axes count from the front unless
// their comment says otherwise.

// An Axis is one axis.
type Axis int

// A Shape is the sizes of a result.
type Shape []int

// An Order is the axes of the argument in the order in which the result has
// them.
type Order []int

// A Reduction says what a reduction is over.
type Reduction struct {
	Axes       []int       // none: all; negative ones count from the back
	Keep       bool        // reduced axes stay, with size 1
	DType      array.DType // of sum and prod; Invalid: the argument's, int64 for integers and bool
	Correction int         // var and std divide by the number of elements less this
}

// A Group is the neighbouring axes from Lo to before Hi, over which a primitive
// reduces.
type Group struct{ Lo, Hi int }

// A Window is, for each axis, Count elements from Start on, Step apart.
type Window struct{ Start, Step, Count []int }

// AllOf returns the window that is all of a shape.
func AllOf(shape []int) Window {
	w := Window{make([]int, len(shape)), make([]int, len(shape)), append([]int(nil), shape...)}
	for i := range w.Step {
		w.Step[i] = 1
	}
	return w
}

// An Offset is the number of a diagonal: 0 is the main one, above it are the
// positive ones.
type Offset int

// A Placement is a shape filled with a number and the view on it, a [Window] or
// an [Offset], into which an array goes.
type Placement struct {
	Shape []int
	View  ir.Attrs
	Fill  float64
}

// A Padding is how many elements of a value go before and after each axis in
// turn.
type Padding struct {
	Pads  []int
	Value float64
}

// A Conv is a convolution: stride, padding with zeros and steps between the taps of a
// filter, vertical and horizontal, and in how many groups channels are.
type Conv struct {
	Stride, Pad, Dilation [2]int
	Groups                int
}

// A ConvTranspose is a transposed convolution: the convolution whose gradient it is, and how
// many rows and columns more its result has than the least.
type ConvTranspose struct {
	Conv   Conv
	OutPad [2]int
}

// A ConvGrad is a convolution and the shape of the argument whose gradient is
// computed.
type ConvGrad struct {
	Conv  Conv
	Shape []int
}

// A Pool is the windows of a pooling, vertical and horizontal. Sum is for window_mean and
// window_spread alone: sums instead of means.
type Pool struct {
	Window, Stride, Pad [2]int
	Sum                 bool
}

// A PoolGrad is a pooling and the last two sizes of the argument whose gradient is
// computed.
type PoolGrad struct {
	Pool Pool
	Size [2]int
}

// An Interleaving is in how many rows and columns parts alternate, and the
// result's last two sizes.
type Interleaving struct{ Every, Size [2]int }

// A Target is the axis along which indices name places, and the shape of what
// they are places of.
type Target struct {
	Axis  int
	Shape []int
}

// A Count is how many elements a mask selects.
type Count int

// A To is the element type of a conversion.
type To array.DType

// A Power is a constant exponent.
type Power int

// An Element is which element of a block of random numbers a node gives, and in
// which type.
type Element struct {
	At    int
	DType array.DType
}

// AppendKey methods implement ir.Attrs.

func (a Axis) AppendKey(k []byte) []byte   { return ir.Int(k, int(a)) }
func (a Shape) AppendKey(k []byte) []byte  { return ir.Ints(k, a) }
func (a Order) AppendKey(k []byte) []byte  { return ir.Ints(k, a) }
func (a Offset) AppendKey(k []byte) []byte { return ir.Int(k, int(a)) }
func (a Count) AppendKey(k []byte) []byte  { return ir.Int(k, int(a)) }
func (a To) AppendKey(k []byte) []byte     { return append(k, byte(a)) }
func (a Power) AppendKey(k []byte) []byte  { return ir.Int(k, int(a)) }
func (a Group) AppendKey(k []byte) []byte  { return ir.Int(ir.Int(k, a.Lo), a.Hi) }

func (a Reduction) AppendKey(k []byte) []byte {
	k = ir.Flag(ir.Ints(k, a.Axes), a.Keep)
	return ir.Int(append(k, byte(a.DType)), a.Correction)
}

func (a Window) AppendKey(k []byte) []byte {
	return ir.Ints(ir.Ints(ir.Ints(k, a.Start), a.Step), a.Count)
}

func (a Placement) AppendKey(k []byte) []byte {
	_, window := a.View.(Window)
	k = ir.Flag(ir.Ints(k, a.Shape), window)
	if a.View != nil {
		k = a.View.AppendKey(k)
	}
	return ir.Float(k, a.Fill)
}

func (a Padding) AppendKey(k []byte) []byte { return ir.Float(ir.Ints(k, a.Pads), a.Value) }

func (a Conv) AppendKey(k []byte) []byte {
	return ir.Int(ir.Ints(ir.Ints(ir.Ints(k, a.Stride[:]), a.Pad[:]), a.Dilation[:]), a.Groups)
}

func (a ConvTranspose) AppendKey(k []byte) []byte { return ir.Ints(a.Conv.AppendKey(k), a.OutPad[:]) }

func (a ConvGrad) AppendKey(k []byte) []byte { return ir.Ints(a.Conv.AppendKey(k), a.Shape) }

func (a Pool) AppendKey(k []byte) []byte {
	return ir.Flag(ir.Ints(ir.Ints(ir.Ints(k, a.Window[:]), a.Stride[:]), a.Pad[:]), a.Sum)
}

func (a PoolGrad) AppendKey(k []byte) []byte { return ir.Ints(a.Pool.AppendKey(k), a.Size[:]) }

func (a Interleaving) AppendKey(k []byte) []byte { return ir.Ints(ir.Ints(k, a.Every[:]), a.Size[:]) }

func (a Target) AppendKey(k []byte) []byte { return ir.Ints(ir.Int(k, a.Axis), a.Shape) }

func (a Element) AppendKey(k []byte) []byte { return append(ir.Int(k, a.At), byte(a.DType)) }
