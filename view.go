package weft

import (
	"math"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mem"
	"weft/internal/op"
)

// apart is own unless t lies in the memory of one of from.
func (t *Tensor) apart(from ...*Tensor) *Tensor {
	if slices.ContainsFunc(from, func(x *Tensor) bool { return x.v().Store == t.v().Store }) {
		return t
	}
	return (*Tensor)(t.c().Own())
}

// All is the whole of an axis, for [Tensor.Slice].
var All = Span{core.AxisPart{Whole: true}}

// A Span is a part of an axis, for [Tensor.Slice].
type Span struct{ part core.AxisPart }

// String shows the span as Python writes it: "1:3", ":", "-1", "None" for [NewAxis], "...".
func (s Span) String() string { return s.part.String() }

// partsOf returns spans in the engine's type, without a copy.
func partsOf(spans []Span) []core.AxisPart { return *(*[]core.AxisPart)(unsafe.Pointer(&spans)) }

// Range is the elements from start to before stop, every step-th (1 if not
// given). Negative bounds count from the back, bounds beyond the ends are cut.
// With a negative step the elements run backwards from start to before stop.
// [Begin] and [End] stand for the bounds: Range(2, End) is 2: in NumPy, and
// Range(End, Begin, -1) is ::-1.
func Range(start, stop int, step ...int) Span {
	s := core.AxisPart{Start: start, Stop: stop, Step: 1}
	if len(step) > 0 {
		s.Step = step[0]
	}
	return Span{s}
}

// Bounds for [Range]: End is behind the last element going forward, Begin before
// the first going backward.
const (
	End   = math.MaxInt
	Begin = math.MinInt
)

// Index is one element of an axis, which disappears.
func Index(i int) Span { return Span{core.AxisPart{Start: i, Index: true}} }

// NewAxis inserts an axis of size 1.
var NewAxis = Span{core.AxisPart{NewAxis: true}}

// Ellipsis is as many whole axes as the other arguments leave.
var Ellipsis = Span{core.AxisPart{Ellipsis: true}}

// Slice returns a view: a part of each axis in turn; axes not named are whole.
//
//	x.Slice(weft.All, weft.Range(0, 3, 2))   // x[:, 0:3:2]
//	x.Slice(weft.Index(2), weft.NewAxis)     // x[2, None]
//	x.Slice(weft.Ellipsis, weft.Index(-1))   // x[..., -1]
func (t *Tensor) Slice(spans ...Span) *Tensor {
	return (*Tensor)(t.c().SliceAs("slice", partsOf(spans)))
}

// At returns a view of the sub-array at the given indices of the first axes, as
// NumPy's x[i, j]; negative ones count from the back.
func (t *Tensor) At(index ...int) *Tensor { return (*Tensor)(t.c().AtAs("at", index)) }

// Reshape returns the elements in row-major order in another shape of the same
// size: a view where strides allow, else a copy. One size may be -1: what is
// left.
func (t *Tensor) Reshape(shape ...int) *Tensor { return (*Tensor)(t.c().Reshape(shape...)) }

// Flatten merges the axes from axis on, which may count from the back, into one of all their
// elements: [a b c] from axis 1 is [a b*c]; a tensor of no axes gives one of one element. It is
// a view where strides allow, else a copy, as with [Tensor.Reshape]. It panics with *[Error] if
// the axis is out of range.
func (t *Tensor) Flatten(axis int) *Tensor {
	t.c().Check("flatten")
	if len(t.v().Shape) == 0 {
		return t.Reshape(1)
	}
	a := array.Axis("flatten", axis, len(t.v().Shape))
	s := append([]int(nil), t.v().Shape[:a]...)
	return t.Reshape(append(s, array.Size(t.v().Shape[a:]))...)
}

// Permute returns a view whose axis i is t's axis order[i], which may count from the back: shape
// [a b c] by 2, 0, 1 is [c a b]. It panics with *[Error] unless order names each axis once.
func (t *Tensor) Permute(order ...int) *Tensor { return (*Tensor)(t.c().Permute(order...)) }

// Transpose returns a view with two axes swapped, which may count from the back: x.Transpose(-1,
// -2) is the transpose of each matrix. It panics with *[Error] if one is out of range.
func (t *Tensor) Transpose(i, j int) *Tensor {
	t.c().Check("transpose")
	n := len(t.v().Shape)
	i, j = array.Axis("transpose", i, n), array.Axis("transpose", j, n)
	o := make([]int, n)
	for k := range o {
		o[k] = k
	}
	o[i], o[j] = j, i
	return (*Tensor)(core.Window(op.Permute, op.Order(o), t.c()))
}

// T returns a view with the axes in reverse order: of a matrix its transpose, of a vector the
// vector. NumPy's T.
func (t *Tensor) T() *Tensor {
	t.c().Check("t")
	n := len(t.v().Shape)
	o := make([]int, n)
	for k := range o {
		o[k] = n - 1 - k
	}
	return (*Tensor)(core.Window(op.Permute, op.Order(o), t.c()))
}

// Expand returns a view broadcast to shape: axes of size 1 get the size that shape has, new
// axes come first. -1 keeps the size of an axis that t has. The same element stands at many
// places, so the view must not be written to. It panics if another size than 1 would change,
// or -1 stands for a new axis.
//
//	x.Expand(-1, 3) // of shape [2 1]: [2 3]
func (t *Tensor) Expand(shape ...int) *Tensor {
	t.c().Check("expand")
	return t.expand("expand", shape)
}

func (t *Tensor) expand(opName string, shape []int) *Tensor {
	s := append([]int{}, shape...)
	for i, n := range s {
		k := i - (len(s) - len(t.v().Shape))
		switch {
		case n == -1 && k < 0:
			array.Failf(opName, "shape", "%s has -1 for axis %d, which %s does not have: a new axis needs a size", array.ShapeString(shape), i, array.ShapeString(t.v().Shape))
		case n == -1:
			s[i] = t.v().Shape[k]
		}
	}
	array.CheckShape(opName, s, t.v().DType)
	if !array.BroadcastsTo(t.v().Shape, s) {
		array.Failf(opName, "shape", "%s does not expand to %s", array.ShapeString(t.v().Shape), array.ShapeString(s))
	}
	return (*Tensor)(core.Window(op.Expand, op.Shape(s), t.c()))
}

// Unsqueeze returns a view with an axis of size 1 inserted before axis, which may
// be the rank, or count from the back.
func (t *Tensor) Unsqueeze(axis int) *Tensor { return (*Tensor)(t.c().Unsqueeze(axis)) }

// AlignLeading returns views of tensors that broadcast as in MATLAB, with shapes aligned at the
// first axis: all have the rank of the one with most axes, the others have axes of size 1 at the
// end. Gradients flow through the views.
func AlignLeading(ts ...*Tensor) []*Tensor {
	rank := 0
	for _, t := range ts {
		t.c().Check("alignleading")
		rank = max(rank, t.Rank())
	}
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		for out[i] = t; out[i].Rank() < rank; {
			out[i] = out[i].Unsqueeze(-1)
		}
	}
	return out
}

// Squeeze returns a view without the given axes, which must have size 1; none
// given means all such axes.
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	t.c().Check("squeeze")
	drop := make([]bool, len(t.v().Shape))
	for _, a := range axes {
		a = array.Axis("squeeze", a, len(t.v().Shape))
		if t.v().Shape[a] != 1 {
			array.Failf("squeeze", "axis", "%d of shape %s has size %d, not 1", a, array.ShapeString(t.v().Shape), t.v().Shape[a])
		}
		drop[a] = true
	}
	s := []int{}
	for i, n := range t.v().Shape {
		if !drop[i] && !(len(axes) == 0 && n == 1) {
			s = append(s, n)
		}
	}
	return t.Reshape(s...)
}

// Diagonal returns a view of diagonal number k over the last two axes, as a last axis: [... n m]
// gives [... d]. k > 0 is above the main one, k < 0 below. It panics with *[Error] for fewer
// than two axes.
func (t *Tensor) Diagonal(k int) *Tensor {
	return (*Tensor)(core.Window(op.Diagonal, op.Offset(k), t.c()))
}

// Contiguous returns t itself if its elements lie in row-major order without gaps, else a copy
// that does, with t's shape and type.
func (t *Tensor) Contiguous() *Tensor { return (*Tensor)(t.c().Contiguous()) }

// Clone returns a copy in memory of its own, in row-major order, with t's shape and type.
// Gradients flow back through it; [Tensor.Detach] first makes one that has none.
func (t *Tensor) Clone() *Tensor { return (*Tensor)(t.c().Clone()) }

// To returns t with elements of type d; t itself if it has that type. Floats to
// integers truncate toward zero and saturate, NaN gives 0; integers to narrower
// ones wrap; to Bool is x != 0. Real numbers of complex ones are asked for by Real,
// Imag or Abs: To panics with *[Error], since it would drop the imaginary part.
func (t *Tensor) To(d DType) *Tensor { return (*Tensor)(t.c().To(d)) }

// Split cuts t along an axis into views of the given sizes, which add up to that of
// the axis. One size alone is that of every part; the last may be smaller. An axis of
// 0 elements gives one part. It is PyTorch's split; NumPy's takes places instead of
// sizes.
//
//	x.Split(0, 2)       // parts of 2 rows
//	x.Split(1, 3, 1, 4) // an axis of 8
func (t *Tensor) Split(axis int, sizes ...int) []*Tensor {
	t.c().Check("split")
	a := array.Axis("split", axis, len(t.v().Shape))
	n := t.v().Shape[a]
	if len(sizes) == 0 {
		array.Failf("split", "sizes", "has no numbers: want one size for all parts, or one for each part")
	}
	left := n
	for _, s := range sizes {
		if s < 0 {
			array.Failf("split", "sizes", "%s has a negative one", array.ShapeString(sizes))
		}
		left -= min(s, left+1) // below 0 once they are too many
	}
	if len(sizes) == 1 {
		return t.parts("split", a, sizes[0])
	}
	if left != 0 {
		array.Failf("split", "sizes", "%s do not add up to the %d elements of axis %d", array.ShapeString(sizes), n, a)
	}
	return t.cut("split", a, sizes)
}

// Chunk cuts t along an axis into n views of equal size; the last one may be
// smaller; where the axis is too short for n, they are fewer: 5 elements in 4 are 2, 2
// and 1. It is PyTorch's chunk.
func (t *Tensor) Chunk(axis, n int) []*Tensor {
	t.c().Check("chunk")
	a := array.Axis("chunk", axis, len(t.v().Shape))
	if n < 1 {
		array.Failf("chunk", "n", "%d: want 1 or more", n)
	}
	size := t.v().Shape[a]
	if size == 0 {
		roomForViews("chunk", n)
		return t.cut("chunk", a, make([]int, n))
	}
	return t.parts("chunk", a, (size-1)/n+1)
}

// parts cuts axis a into views of a size; the last view may be smaller.
func (t *Tensor) parts(opName string, a, size int) []*Tensor {
	n := t.v().Shape[a]
	switch {
	case n == 0:
		return t.cut(opName, a, []int{0})
	case size == 0:
		array.Failf(opName, "sizes", "are 0 for the %d elements of axis %d", n, a)
	}
	k := (n-1)/size + 1
	roomForViews(opName, k)
	sizes := make([]int, k)
	for i := range sizes {
		sizes[i] = min(size, n-i*size)
	}
	return t.cut(opName, a, sizes)
}

// cut returns the views of axis a of the given sizes, which fit.
func (t *Tensor) cut(opName string, a int, sizes []int) []*Tensor {
	roomForViews(opName, len(sizes))
	out := make([]*Tensor, len(sizes))
	at := 0
	for i, n := range sizes {
		w := op.AllOf(t.v().Shape) // the view keeps it
		w.Start[a], w.Count[a] = at, n
		out[i] = (*Tensor)(core.Window(op.Slice, w, t.c()))
		at += n
	}
	return out
}

// Unbind returns the views of t at each index of an axis, without that axis. It is
// PyTorch's unbind, and NumPy's unstack.
func (t *Tensor) Unbind(axis int) []*Tensor {
	t.c().Check("unbind")
	a := array.Axis("unbind", axis, len(t.v().Shape))
	n := t.v().Shape[a]
	roomForViews("unbind", n)
	out := make([]*Tensor, n)
	spans := make([]Span, a+1)
	for i := range a {
		spans[i] = All
	}
	for i := range out {
		spans[a] = Index(i)
		out[i] = (*Tensor)(t.c().SliceAs("unbind", partsOf(spans)))
	}
	return out
}

// roomForViews refuses more views than the Go heap has room for.
func roomForViews(opName string, n int) {
	const each = 512 // a Tensor with shape, strides and history
	if err := mem.CheckHeap(min(n, 1<<48) * each); err != nil {
		panic(&Error{Kind: OutOfMemory, Op: opName, Msg: "the views do not fit in memory", Err: err})
	}
}

// HStack joins tensors side by side: vectors (and tensors without dimensions, as
// vectors of one) along their axis, others along axis 1. The element types meet by
// promotion. It is NumPy's and PyTorch's hstack.
func HStack(ts []*Tensor) *Tensor {
	defer array.Named("hstack").End()
	core.SomeTensors("hstack", core.Inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		in[i] = t
		if t.Rank() == 0 {
			in[i] = t.Reshape(1)
		}
	}
	return (*Tensor)(core.Joined("hstack", core.Inner(in), min(in[0].Rank()-1, 1)))
}

// VStack joins tensors one below the other, along axis 0; vectors are rows, and tensors
// without dimensions rows of one. The element types meet by promotion. It is NumPy's
// and PyTorch's vstack.
func VStack(ts []*Tensor) *Tensor {
	defer array.Named("vstack").End()
	core.SomeTensors("vstack", core.Inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		switch in[i] = t; t.Rank() {
		case 0:
			in[i] = t.Reshape(1, 1)
		case 1:
			in[i] = t.Unsqueeze(0)
		}
	}
	return (*Tensor)(core.Joined("vstack", core.Inner(in), 0))
}

// AsStrided returns a view of t's elements in row-major order, of any shape and strides: element i, j ... is element
// offset + i*strides[0] + j*strides[1] ... of them. Strides count elements, not bytes, and may be 0 or negative; the
// same element may stand at many places, and then the view must not be written to. Gradients add up. It panics with
// *[Error] where the view would leave the elements, and where t is not contiguous ([Tensor.Contiguous]). NumPy's
// as_strided, checked.
func (t *Tensor) AsStrided(offset int, shape, strides []int) *Tensor {
	const name = "asstrided"
	defer array.Named(name).End()
	t.c().Check(name)
	if !t.v().Contiguous() {
		array.Failf(name, "", "%s with strides %v is not contiguous: use Contiguous", array.ShapeString(t.v().Shape), t.v().Strides)
	}
	if len(shape) != len(strides) {
		array.Failf(name, "strides", "%v are %d for %d axes", strides, len(strides), len(shape))
	}
	if array.CheckShape(name, shape, t.v().DType) > 0 {
		lo, hi := offset, offset
		for i, n := range shape {
			if s := strides[i]; n > 1 && (s > t.Size() || s < -t.Size()) {
				array.Failf(name, "strides", "%v leave the %d elements", strides, t.Size())
			}
			if reach := (n - 1) * strides[i]; n > 1 && (reach/(n-1) != strides[i] || reach > t.Size() || reach < -t.Size()) {
				array.Failf(name, "strides", "%v leave the %d elements", strides, t.Size())
			} else if n > 1 {
				lo, hi = lo+min(reach, 0), hi+max(reach, 0)
			}
		}
		if offset < 0 || offset >= t.Size() || lo < 0 || hi >= t.Size() {
			array.Failf(name, "strides", "%v from offset %d reach from %d to %d of %d elements", strides, offset, lo, hi, t.Size())
		}
	} else {
		offset = 0
	}
	a := op.StridedWindow{Offset: offset, Shape: slices.Clone(shape), Strides: slices.Clone(strides)}
	return (*Tensor)(core.Window(op.Strided, a, t.Reshape(t.Size()).c()))
}

// SlidingWindowView returns the windows of a size along an axis, which may count from the back, as a view: the axis is
// as long as there are windows, and their elements are along a new last axis. Of t that is not contiguous it is a view
// of a copy. It must not be written to; gradients add up. It panics with *[Error] where the axis is shorter than a
// window. NumPy's sliding_window_view, PyTorch's unfold with steps of 1.
func (t *Tensor) SlidingWindowView(axis, size int) *Tensor {
	const name = "slidingwindowview"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	n := t.v().Shape[a]
	if size < 1 || size > n {
		array.Failf(name, "size", "%d is not from 1 to %d, the size of axis %d", size, n, a)
	}
	x := t.Contiguous()
	shape, strides := slices.Clone(x.v().Shape), array.RowMajor(x.v().Shape)
	shape[a] = n - size + 1
	return x.AsStrided(0, append(shape, size), append(strides, strides[a]))
}

// ViewAs returns a view of t's memory as elements of another type, bit by bit. Where sizes differ the last axis, whose
// elements must lie side by side, is longer or shorter. It has no gradient. It panics with *[Error] where the bytes do
// not fit, for Bool, whose bytes are 0 and 1 alone, and in compiled functions. NumPy's view with a type;
// [Tensor.To] converts numbers.
func (t *Tensor) ViewAs(d DType) *Tensor {
	const name = "viewas"
	t.c().Check(name)
	v := *t.v()
	from, to := v.DType.Size(), d.Size()
	switch {
	case !d.Supported() || d == Bool && v.DType != Bool:
		array.Failf(name, "d", "is %s, as which memory of %s cannot be seen", d, v.DType)
	case core.TracingViews(t.v()) != nil:
		array.Failf(name, "", "is not defined in compiled functions")
	}
	v.DType, v.Shape, v.Strides = d, slices.Clone(v.Shape), slices.Clone(v.Strides)
	if from != to {
		last := len(v.Shape) - 1
		if last < 0 || v.Strides[last] != 1 && v.Shape[last] > 1 || v.Shape[last]*from%to != 0 || v.Offset*from%to != 0 {
			array.Failf(name, "", "%s with strides %v does not divide into %s", array.TypeString(t.v().DType, t.v().Shape), t.v().Strides, d)
		}
		for i := range last {
			if v.Shape[i] > 1 && v.Strides[i]*from%to != 0 {
				array.Failf(name, "", "%s with strides %v does not divide into %s", array.TypeString(t.v().DType, t.v().Shape), t.v().Strides, d)
			}
			v.Strides[i] = v.Strides[i] * from / to
		}
		v.Shape[last], v.Strides[last], v.Offset = v.Shape[last]*from/to, 1, v.Offset*from/to
	}
	return (*Tensor)(core.New(v, t.c().Run(), nil, true))
}
