package weft

import (
	"math"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// window takes a view of t with an op of class Move, and remembers it, with a, for
// gradients. A reshape that strides do not allow copies.
func window(d *op.Def, a ir.Attrs, t *Tensor) *Tensor {
	t.check(d.Name)
	t = t.cutHere()
	v, ok := viewOf(d, a, t.v)
	if !ok {
		return window(d, a, t.Clone()).own()
	}
	if list := listOf(a); list != nil {
		return windowAt(d, list, t, v)
	}
	out := t.seenAs(v)
	if tr := tracingViews(&t.v); tr != nil {
		tr.window(&out.v, &t.v, d, a)
	}
	if h := out.hist; h != nil {
		h.move = d
		h.aside.Store(&asked{attrs: a})
	}
	return out
}

// windowAt is window where the view is known, and a list is what d goes by: attributes are
// only made of it where somebody asks.
func windowAt(d *op.Def, list []int, t *Tensor, v array.View) *Tensor {
	out := t.seenAs(v)
	if tr := tracingViews(&t.v); tr != nil {
		tr.window(&out.v, &t.v, d, attrsOf(d, list))
	}
	if h := out.hist; h != nil {
		h.move, h.list = d, list
	}
	return out
}

// attrsOf returns the attributes of which a view has the list: the shape of a reshape or an
// expansion, the order of a permutation, and starts, steps and counts of a slice, one behind
// the other.
func attrsOf(d *op.Def, list []int) ir.Attrs {
	switch d {
	case op.Slice:
		n := len(list) / 3
		return op.Window{Start: list[:n:n], Step: list[n : 2*n : 2*n], Count: list[2*n:]}
	case op.Permute:
		return op.Order(list)
	}
	return op.Shape(list)
}

// listOf returns the list of attributes that are one.
func listOf(a ir.Attrs) []int {
	switch a := a.(type) {
	case op.Shape:
		return a
	case op.Order:
		return a
	}
	return nil
}

// seenAs returns a view of t, with a history, if it can have one, that does not say yet how the
// view was taken.
func (t *Tensor) seenAs(v array.View) *Tensor {
	if !t.v.DType.Differentiable() || !gradOn() {
		return &Tensor{v: v, run: t.run, view: true}
	}
	one := new(struct { // one piece of memory
		t Tensor
		h history
		w taken
	})
	one.t.v, one.t.run, one.t.view, one.t.hist = v, t.run, true, &one.h
	one.h.taken, one.w.of = &one.w, t
	return &one.t
}

// own says that nobody else has the memory of t, a view of what was just computed: t gives it
// back.
func (t *Tensor) own() *Tensor {
	t.view = false
	return t
}

// apart is own unless t lies in the memory of one of from.
func (t *Tensor) apart(from ...*Tensor) *Tensor {
	if slices.ContainsFunc(from, func(x *Tensor) bool { return x.v.Store == t.v.Store }) {
		return t
	}
	return t.own()
}

// viewOf returns what an op of class Move shows of v, if strides allow.
func viewOf(d *op.Def, a ir.Attrs, v array.View) (array.View, bool) {
	if d == op.Reshape {
		return v.Reshape(a.(op.Shape))
	}
	return d.View(v, &ir.Node{Op: d, Attrs: a}), true
}

// All is the whole of an axis, for [Tensor.Slice].
var All = Span{axisPart{whole: true}}

// A Span is a part of an axis, for [Tensor.Slice].
type Span struct{ part axisPart }

// partsOf returns spans in the engine's type, without a copy.
func partsOf(spans []Span) []axisPart { return *(*[]axisPart)(unsafe.Pointer(&spans)) }

// An axisPart is a part of an axis.
type axisPart struct {
	start, stop, step int
	whole, index      bool
	newAxis, ellipsis bool
}

// Range is the elements from start to before stop, every step-th (1 if not
// given). Negative bounds count from the back, bounds beyond the ends are cut.
// With a negative step the elements run backwards from start to before stop.
// [Begin] and [End] stand for the bounds: Range(2, End) is 2: in NumPy, and
// Range(End, Begin, -1) is ::-1.
func Range(start, stop int, step ...int) Span {
	s := axisPart{start: start, stop: stop, step: 1}
	if len(step) > 0 {
		s.step = step[0]
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
func Index(i int) Span { return Span{axisPart{start: i, index: true}} }

// NewAxis inserts an axis of size 1.
var NewAxis = Span{axisPart{newAxis: true}}

// Ellipsis is as many whole axes as the other arguments leave.
var Ellipsis = Span{axisPart{ellipsis: true}}

// bounds returns the resolved start, step and count for an axis of size n: the
// rules of Python's slices.
func (s axisPart) bounds(opName string, axis, n int) (start, step, count int) {
	if s.whole {
		return 0, 1, n
	}
	if s.index {
		i := s.start
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			array.Failf(opName, "", "index %d is out of range for axis %d of size %d", s.start, axis, n)
		}
		return i, 1, 1
	}
	if s.step == 0 {
		array.Failf(opName, "step", "of axis %d is 0", axis)
	}
	clamp := func(i, lo, hi int) int {
		if i < 0 && i != Begin {
			i += n
		}
		return min(max(i, lo), hi)
	}
	if s.step > 0 {
		lo, hi := clamp(s.start, 0, n), clamp(s.stop, 0, n)
		if hi <= lo {
			return 0, s.step, 0
		}
		return lo, s.step, (hi-lo-1)/s.step + 1
	}
	lo, hi := clamp(s.start, -1, n-1), clamp(s.stop, -1, n-1)
	if lo <= hi {
		return 0, s.step, 0
	}
	if s.step == math.MinInt {
		return lo, s.step, 1
	}
	return lo, s.step, (lo-hi-1)/-s.step + 1
}

// Slice returns a view: a part of each axis in turn; axes not named are whole.
//
//	x.Slice(weft.All, weft.Range(0, 3, 2))   // x[:, 0:3:2]
//	x.Slice(weft.Index(2), weft.NewAxis)     // x[2, None]
//	x.Slice(weft.Ellipsis, weft.Index(-1))   // x[..., -1]
func (t *Tensor) Slice(spans ...Span) *Tensor { return t.slice("slice", partsOf(spans)) }

func (t *Tensor) slice(opName string, spans []axisPart) *Tensor {
	t.check(opName)
	t = t.cutHere()
	n := len(t.v.Shape)
	lists := make([]int, 4*n)
	start, step, count, strides := lists[:n:n], lists[n:2*n:2*n], lists[2*n:3*n:3*n], lists[3*n:]
	axis, left := 0, n // left: axes that no span is for
	reshape, ellipsis := false, false
	for _, s := range spans {
		if !s.newAxis && !s.ellipsis {
			left--
		}
		reshape = reshape || s.newAxis || s.index
	}
	shape := count // unless some axes come and go
	if reshape {
		shape = make([]int, 0, len(spans)+max(left, 0))
	}
	whole := func(k int) {
		for ; k > 0; k-- {
			start[axis], step[axis], count[axis] = 0, 1, t.v.Shape[axis]
			if reshape {
				shape = append(shape, count[axis])
			}
			axis++
		}
	}
	for _, s := range spans {
		switch {
		case s.newAxis:
			shape = append(shape, 1)
			continue
		case s.ellipsis && ellipsis:
			array.Failf(opName, "", "has two Ellipses, want one at most")
		case s.ellipsis:
			ellipsis = true
			whole(left)
			continue
		case axis >= n:
			array.Failf(opName, "", "more indices than the %d dimensions of shape %s", n, array.ShapeString(t.v.Shape))
		}
		start[axis], step[axis], count[axis] = s.bounds(opName, axis, t.v.Shape[axis])
		if reshape && !s.index {
			shape = append(shape, count[axis])
		}
		axis++
	}
	whole(n - axis)
	array.CheckShape(opName, shape, t.v.DType)
	offset := 0
	for i, s := range t.v.Strides {
		offset += start[i] * s
		strides[i] = step[i] * s
	}
	out := windowAt(op.Slice, lists[:3*n:3*n], t, t.v.Window(offset, count, strides))
	if reshape {
		return window(op.Reshape, op.Shape(shape), out)
	}
	return out
}

// At returns a view of the sub-array at the given indices of the first axes, as
// NumPy's x[i, j]; negative ones count from the back.
func (t *Tensor) At(index ...int) *Tensor { return t.at("at", index) }

func (t *Tensor) at(opName string, index []int) *Tensor {
	t.check(opName)
	n := len(t.v.Shape)
	if len(index) <= n && tracingViews(&t.v) == nil {
		out := t.seenAs(t.v)
		offset := 0
		for i, k := range index {
			k, _, _ = axisPart{start: k, index: true}.bounds(opName, i, t.v.Shape[i])
			offset += k * t.v.Strides[i]
			if h := out.hist; h != nil {
				if h.list == nil {
					h.list = h.few[:0]
				}
				h.list = append(h.list, k)
			}
		}
		out.v = t.v.Window(offset, t.v.Shape[len(index):n:n], t.v.Strides[len(index):n:n])
		return out
	}
	spans := make([]axisPart, len(index))
	for i, k := range index {
		spans[i] = axisPart{start: k, index: true}
	}
	return t.slice(opName, spans)
}

// Reshape returns the elements in row-major order in another shape of the same
// size: a view where strides allow, else a copy. One size may be -1: what is
// left.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	t.check("reshape")
	t = t.cutHere()
	s := reshaped("reshape", "shape", t.v.Shape, t.Size(), t.v.DType, shape)
	if v, ok := t.v.Reshape(s); ok {
		return windowAt(op.Reshape, s, t, v)
	}
	return t.Clone().Reshape(s...).own()
}

// reshaped is the shape of size elements, those of the shape from, into which an
// argument divides them: one of its sizes may be -1.
func reshaped(opName, arg string, from []int, size int, d DType, shape []int) []int {
	s := append([]int{}, shape...)
	free, known := -1, 1
	for i, n := range s {
		switch {
		case n == -1 && free >= 0:
			array.Failf(opName, arg, "%s has two sizes of -1", array.ShapeString(shape))
		case n == -1:
			free = i
		case n < 0:
			array.Failf(opName, arg, "%s has a negative size", array.ShapeString(shape))
		default:
			known *= n
		}
	}
	if free >= 0 {
		if known == 0 || size%known != 0 {
			array.Failf(opName, arg, "%d elements do not fit %s", size, array.ShapeString(shape))
		}
		s[free] = size / known
	}
	if n := array.CheckShape(opName, s, d); n != size {
		array.Failf(opName, arg, "%s has %d elements, %s has %d", array.ShapeString(s), n, array.ShapeString(from), size)
	}
	return s
}

// Flatten merges the axes from axis on, which may count from the back, into one of all their
// elements: [a b c] from axis 1 is [a b*c]; a tensor of no axes gives one of one element. It is
// a view where strides allow, else a copy, as with [Tensor.Reshape]. It panics with *[Error] if
// the axis is out of range.
func (t *Tensor) Flatten(axis int) *Tensor {
	t.check("flatten")
	if len(t.v.Shape) == 0 {
		return t.Reshape(1)
	}
	a := array.Axis("flatten", axis, len(t.v.Shape))
	s := append([]int(nil), t.v.Shape[:a]...)
	return t.Reshape(append(s, array.Size(t.v.Shape[a:]))...)
}

// Permute returns a view whose axis i is t's axis order[i], which may count from the back: shape
// [a b c] by 2, 0, 1 is [c a b]. It panics with *[Error] unless order names each axis once.
func (t *Tensor) Permute(order ...int) *Tensor {
	t.check("permute")
	n := len(t.v.Shape)
	if len(order) != n {
		array.Failf("permute", "order", "%v has %d axes, the tensor %d", order, len(order), n)
	}
	o := make([]int, n)
	seen := make([]bool, n)
	for i, a := range order {
		o[i] = array.Axis("permute", a, n)
		if seen[o[i]] {
			array.Failf("permute", "order", "%v names axis %d twice", order, o[i])
		}
		seen[o[i]] = true
	}
	return window(op.Permute, op.Order(o), t)
}

// Transpose returns a view with two axes swapped, which may count from the back: x.Transpose(-1,
// -2) is the transpose of each matrix. It panics with *[Error] if one is out of range.
func (t *Tensor) Transpose(i, j int) *Tensor {
	t.check("transpose")
	n := len(t.v.Shape)
	i, j = array.Axis("transpose", i, n), array.Axis("transpose", j, n)
	o := make([]int, n)
	for k := range o {
		o[k] = k
	}
	o[i], o[j] = j, i
	return window(op.Permute, op.Order(o), t)
}

// T returns a view with the axes in reverse order: of a matrix its transpose, of a vector the
// vector. NumPy's T.
func (t *Tensor) T() *Tensor {
	t.check("t")
	n := len(t.v.Shape)
	o := make([]int, n)
	for k := range o {
		o[k] = n - 1 - k
	}
	return window(op.Permute, op.Order(o), t)
}

// Expand returns a view broadcast to shape: axes of size 1 get the size that shape has, new
// axes come first. -1 keeps the size of an axis that t has. The same element stands at many
// places, so the view must not be written to. It panics if another size than 1 would change,
// or -1 stands for a new axis.
//
//	x.Expand(-1, 3) // of shape [2 1]: [2 3]
func (t *Tensor) Expand(shape ...int) *Tensor {
	t.check("expand")
	return t.expand("expand", shape)
}

func (t *Tensor) expand(opName string, shape []int) *Tensor {
	s := append([]int{}, shape...)
	for i, n := range s {
		k := i - (len(s) - len(t.v.Shape))
		switch {
		case n == -1 && k < 0:
			array.Failf(opName, "shape", "%s has -1 for axis %d, which %s does not have: a new axis needs a size", array.ShapeString(shape), i, array.ShapeString(t.v.Shape))
		case n == -1:
			s[i] = t.v.Shape[k]
		}
	}
	array.CheckShape(opName, s, t.v.DType)
	if !array.BroadcastsTo(t.v.Shape, s) {
		array.Failf(opName, "shape", "%s does not expand to %s", array.ShapeString(t.v.Shape), array.ShapeString(s))
	}
	return window(op.Expand, op.Shape(s), t)
}

// Unsqueeze returns a view with an axis of size 1 inserted before axis, which may
// be the rank, or count from the back.
func (t *Tensor) Unsqueeze(axis int) *Tensor {
	defer array.Named("unsqueeze").End()
	t.check("unsqueeze")
	a := array.Axis("unsqueeze", axis, len(t.v.Shape)+1)
	s := append([]int{}, t.v.Shape[:a]...)
	return t.Reshape(append(append(s, 1), t.v.Shape[a:]...)...)
}

// Squeeze returns a view without the given axes, which must have size 1; none
// given means all such axes.
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	t.check("squeeze")
	drop := make([]bool, len(t.v.Shape))
	for _, a := range axes {
		a = array.Axis("squeeze", a, len(t.v.Shape))
		if t.v.Shape[a] != 1 {
			array.Failf("squeeze", "axis", "%d of shape %s has size %d, not 1", a, array.ShapeString(t.v.Shape), t.v.Shape[a])
		}
		drop[a] = true
	}
	s := []int{}
	for i, n := range t.v.Shape {
		if !drop[i] && !(len(axes) == 0 && n == 1) {
			s = append(s, n)
		}
	}
	return t.Reshape(s...)
}

// Diagonal returns a view of diagonal number k over the last two axes, as a last axis: [... n m]
// gives [... d]. k > 0 is above the main one, k < 0 below. It panics with *[Error] for fewer
// than two axes.
func (t *Tensor) Diagonal(k int) *Tensor { return window(op.Diagonal, op.Offset(k), t) }

// Contiguous returns t itself if its elements lie in row-major order without gaps, else a copy
// that does, with t's shape and type.
func (t *Tensor) Contiguous() *Tensor {
	t.notNil("contiguous")
	if t.v.Contiguous() {
		return t
	}
	defer array.Named("contiguous").End()
	return t.Clone()
}

// Clone returns a copy in memory of its own, in row-major order, with t's shape and type.
// Gradients flow back through it; [Tensor.Detach] first makes one that has none.
func (t *Tensor) Clone() *Tensor {
	t.check("clone")
	return apply(cloneDef, nil, operand{t: t})
}

// cloneDef is the identity, computed.
var cloneDef = &op.Def{Name: "clone", Class: op.Composite, Arity: 1, Compose: func(x []*ir.Node, _ ir.Attrs) *ir.Node { return x[0] },
	VJP: func(v *op.VJP) { v.Set(0, func() *ir.Node { return v.DY }) }}

// To returns t with elements of type d; t itself if it has that type. Floats to
// integers truncate toward zero and saturate, NaN gives 0; integers to narrower
// ones wrap; to Bool is x != 0. Real numbers of complex ones are asked for by Real,
// Imag or Abs: To panics with *[Error], since it would drop the imaginary part.
func (t *Tensor) To(d DType) *Tensor {
	t.check("to")
	if d == t.v.DType {
		return t
	}
	if !d.Supported() {
		array.Failf("to", "dtype", "%s is not supported", d)
	}
	defer array.Named("to").End()
	return apply(op.Cast, op.To(d), operand{t: t})
}
