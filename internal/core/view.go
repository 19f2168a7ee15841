package core

import (
	"math"
	"strconv"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Window returns a view of t by the view op d with attributes a, with its origin for gradients. A
// reshape that strides do not allow copies.
func Window(d *op.Def, a ir.Attrs, t *Tensor) *Tensor {
	t.Check(d.Name)
	t = t.DetachHere()
	v, ok := viewOf(d, a, t.v)
	if !ok {
		return Window(d, a, t.Clone()).Own()
	}
	if list := listOf(a); list != nil {
		return windowAt(d, list, t, v)
	}
	out := t.newView(v)
	if tr := TracingViews(&t.v); tr != nil {
		tr.window(&out.v, &t.v, d, a)
	}
	if h := out.hist; h != nil {
		h.viewOp = d
		h.details.Store(&viewDetails{attrs: a})
	}
	return out
}

// windowAt is Window where the view v is known and d's attributes are a list. They are only made
// of it on demand.
func windowAt(d *op.Def, list []int, t *Tensor, v array.View) *Tensor {
	out := t.newView(v)
	if tr := TracingViews(&t.v); tr != nil {
		tr.window(&out.v, &t.v, d, attrsOf(d, list))
	}
	if h := out.hist; h != nil {
		h.viewOp, h.list = d, list
	}
	return out
}

// attrsOf returns the attributes of a view from its list: the shape of a reshape or an expansion,
// the order of a permutation, or the starts, steps and counts of a slice.
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

// newView returns t with the view v. If it can have a history, the caller sets the view op there.
func (t *Tensor) newView(v array.View) *Tensor {
	if !t.v.DType.Differentiable() || !GradOn() {
		return &Tensor{v: v, run: t.run, view: true}
	}
	one := new(struct { // one allocation
		t Tensor
		h History
		w viewOrigin
	})
	one.t.v, one.t.run, one.t.view, one.t.hist = v, t.run, true, &one.h
	one.h.viewOrigin, one.w.base = &one.w, t
	return &one.t
}

// Own makes t, a view of a value that was just computed, the owner of its memory. Requires that no
// other tensor has it.
func (t *Tensor) Own() *Tensor {
	t.view = false
	return t
}

// viewOf returns the result of the view op d on v; ok is false where strides do not allow a view.
func viewOf(d *op.Def, a ir.Attrs, v array.View) (array.View, bool) {
	if d == op.Reshape {
		return v.Reshape(a.(op.Shape))
	}
	return d.View(v, &ir.Node{Op: d, Attrs: a}), true
}

// An AxisPart is a part of an axis.
type AxisPart struct {
	Start, Stop, Step int
	Whole, Index      bool
	NewAxis, Ellipsis bool
}

const Begin = math.MinInt

// String shows the part as Python writes it: "1:3", ":", "-1", "None", "...".
func (s AxisPart) String() string {
	switch {
	case s.Whole:
		return ":"
	case s.NewAxis:
		return "None"
	case s.Ellipsis:
		return "..."
	case s.Index:
		return strconv.Itoa(s.Start)
	}
	bound := func(n int) string {
		if n == Begin || n == math.MaxInt {
			return ""
		}
		return strconv.Itoa(n)
	}
	text := bound(s.Start) + ":" + bound(s.Stop)
	if s.Step != 1 {
		text += ":" + strconv.Itoa(s.Step)
	}
	return text
}

// Bounds returns the resolved start, step and count for an axis of size n: the
// rules of Python's slices.
func (s AxisPart) Bounds(opName string, axis, n int) (start, step, count int) {
	if s.Whole {
		return 0, 1, n
	}
	if s.Index {
		i := s.Start
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			array.Failf(opName, "", "index %d is out of range for axis %d of size %d", s.Start, axis, n)
		}
		return i, 1, 1
	}
	if s.Step == 0 {
		array.Failf(opName, "step", "of axis %d is 0", axis)
	}
	clamp := func(i, lo, hi int) int {
		if i < 0 && i != Begin {
			i += n
		}
		return min(max(i, lo), hi)
	}
	if s.Step > 0 {
		lo, hi := clamp(s.Start, 0, n), clamp(s.Stop, 0, n)
		if hi <= lo {
			return 0, s.Step, 0
		}
		return lo, s.Step, (hi-lo-1)/s.Step + 1
	}
	lo, hi := clamp(s.Start, -1, n-1), clamp(s.Stop, -1, n-1)
	if lo <= hi {
		return 0, s.Step, 0
	}
	if s.Step == math.MinInt {
		return lo, s.Step, 1
	}
	return lo, s.Step, (lo-hi-1)/-s.Step + 1
}

// SliceAs returns a view of a part of each axis. opName is in errors.
func (t *Tensor) SliceAs(opName string, spans []AxisPart) *Tensor {
	t.Check(opName)
	t = t.DetachHere()
	n := len(t.v.Shape)
	lists := make([]int, 4*n)
	start, step, count, strides := lists[:n:n], lists[n:2*n:2*n], lists[2*n:3*n:3*n], lists[3*n:]
	axis, left := 0, n // left: axes that no span is for
	reshape, ellipsis := false, false
	for _, s := range spans {
		if !s.NewAxis && !s.Ellipsis {
			left--
		}
		reshape = reshape || s.NewAxis || s.Index
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
		case s.NewAxis:
			shape = append(shape, 1)
			continue
		case s.Ellipsis && ellipsis:
			array.Failf(opName, "", "has two Ellipses, want one at most")
		case s.Ellipsis:
			ellipsis = true
			whole(left)
			continue
		case axis >= n:
			array.Failf(opName, "", "more indices than the %d dimensions of shape %s", n, array.ShapeString(t.v.Shape))
		}
		start[axis], step[axis], count[axis] = s.Bounds(opName, axis, t.v.Shape[axis])
		if reshape && !s.Index {
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
		return Window(op.Reshape, op.Shape(shape), out)
	}
	return out
}

// AtAs returns a view at indices of the first axes. opName is in errors.
func (t *Tensor) AtAs(opName string, index []int) *Tensor {
	t.Check(opName)
	n := len(t.v.Shape)
	if len(index) <= n && TracingViews(&t.v) == nil {
		out := t.newView(t.v)
		offset := 0
		for i, k := range index {
			k, _, _ = AxisPart{Start: k, Index: true}.Bounds(opName, i, t.v.Shape[i])
			offset += k * t.v.Strides[i]
			if h := out.hist; h != nil {
				if h.list == nil {
					h.list = h.buf[:0]
				}
				h.list = append(h.list, k)
			}
		}
		out.v = t.v.Window(offset, t.v.Shape[len(index):n:n], t.v.Strides[len(index):n:n])
		return out
	}
	spans := make([]AxisPart, len(index))
	for i, k := range index {
		spans[i] = AxisPart{Start: k, Index: true}
	}
	return t.SliceAs(opName, spans)
}

// Reshape does what weft.Tensor.Reshape says.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	t.Check("reshape")
	t = t.DetachHere()
	s := Reshaped("reshape", "shape", t.v.Shape, t.Size(), t.v.DType, shape)
	if v, ok := t.v.Reshape(s); ok {
		return windowAt(op.Reshape, s, t, v)
	}
	return t.Clone().Reshape(s...).Own()
}

// Reshaped returns the argument shape with its one size of -1, if any, replaced by what is left of
// size elements. from is their present shape, for errors.
func Reshaped(opName, arg string, from []int, size int, d array.DType, shape []int) []int {
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

// Permute does what weft.Tensor.Permute says.
func (t *Tensor) Permute(order ...int) *Tensor {
	t.Check("permute")
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
	return Window(op.Permute, op.Order(o), t)
}

// Unsqueeze does what weft.Tensor.Unsqueeze says.
func (t *Tensor) Unsqueeze(axis int) *Tensor {
	defer array.Named("unsqueeze").End()
	t.Check("unsqueeze")
	a := array.Axis("unsqueeze", axis, len(t.v.Shape)+1)
	s := append([]int{}, t.v.Shape[:a]...)
	return t.Reshape(append(append(s, 1), t.v.Shape[a:]...)...)
}

// Contiguous does what weft.Tensor.Contiguous says.
func (t *Tensor) Contiguous() *Tensor {
	t.NotNil("contiguous")
	if t.v.Contiguous() {
		return t
	}
	defer array.Named("contiguous").End()
	return t.Clone()
}

// Clone does what weft.Tensor.Clone says.
func (t *Tensor) Clone() *Tensor {
	t.Check("clone")
	return Apply(cloneDef, nil, Operand{T: t})
}

// cloneDef is the identity, computed.
var cloneDef = &op.Def{Name: "clone", Class: op.Composite, Arity: 1,
	Composed:   op.Composed{Compose: func(x []*ir.Node, _ ir.Attrs) *ir.Node { return x[0] }},
	Derivative: op.Derivative{VJP: func(v *op.VJP) { v.Set(0, func() *ir.Node { return v.DY }) }}}

// To does what weft.Tensor.To says.
func (t *Tensor) To(d array.DType) *Tensor {
	t.Check("to")
	if d == t.v.DType {
		return t
	}
	if !d.Supported() {
		array.Failf("to", "dtype", "%s is not supported", d)
	}
	defer array.Named("to").End()
	return Apply(op.Cast, op.To(d), Operand{T: t})
}
