package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Index returns the elements that NumPy's t[...] has for the same arguments. Each argument
// is for the next axes of t:
//
//   - an int, or [Index]: one place; the axis disappears
//   - another [Span]: a part of the axis ([All], [Range]), a new axis ([NewAxis]), or as
//     many whole axes as the other arguments leave ([Ellipsis])
//   - an []int or a *Tensor of integers: these places
//   - an []bool or a Bool *Tensor, a mask: the places where it is true. A mask of n axes is for
//     the next n axes of t, of the same sizes
//
// Arrays on the CPU may select elements of a tensor on another device.
//
// Places may count from the back. Arrays of places broadcast against each other, and a
// mask is as one vector of places. The axes of the shape to which they broadcast stand
// where the first of them was; where a Span lies between two of them, they come first. Ints
// count as arrays in this.
//
// With ints and Spans alone it is [Tensor.Slice], a view; else the result is a copy. It
// panics if a place is out of range, and says which. What masks select is counted at once.
//
//	x.Index(rows)                    // x[rows]
//	x.Index(mask)                    // x[mask]
//	x.Index(weft.All, []int{2, 0})   // x[:, [2, 0]]
//	x.Index(weft.Ellipsis, rows, -1) // x[..., rows, -1]
func (t *Tensor) Index(index ...any) *Tensor {
	defer array.Named("index").End()
	t.c().Check("index")
	s := t.selected("index", index)
	if s.arrays == nil {
		return (*Tensor)(t.c().SliceAs("index", partsOf(s.spans)))
	}
	if m := s.arrays[0].mask; s.alone() && m != nil && len(m.v().Shape) == len(t.v().Shape) && len(s.spans) == len(m.v().Shape) {
		return (*Tensor)(core.WithAttrs(op.MaskSelect, op.Count(countTrue(m)), t.c(), m.c()))
	}
	v := t.c().SliceAs("index", partsOf(s.spans))
	s.join((*Tensor)(v), false)
	return (*Tensor)(s.arranged((*Tensor)(v), s.merged((*Tensor)(v)).IndexSelect(s.lo, s.places)).c().Own())
}

// IndexPut returns t with x, a Go number or a tensor that broadcasts, written where
// [Tensor.Index] with the same arguments reads: NumPy's t[...] = x on a copy, and
// PyTorch's index_put. Of several values for one element the last in row-major order
// stays, and it alone has a gradient. The result has t's element type; a float is refused
// for integers.
//
//	x.IndexPut(0, mask)                  // x[mask] = 0
//	x.IndexPut(v, weft.All, []int{2, 0}) // x[:, [2, 0]] = v
func (t *Tensor) IndexPut(x any, index ...any) *Tensor {
	defer array.Named("index_put").End()
	t.c().Check("index_put")
	o := t.valueFor("index_put", x)
	s := t.selected("index_put", index)
	if s.alone() && s.arrays[0].mask != nil && (o.T == nil || o.T.Size() == 1) {
		if o.T != nil {
			o.T = o.T.Reshape()
		}
		return (*Tensor)(core.Apply(op.Where, nil, core.Operand{T: s.arrays[0].over(t).c()}, o, core.Operand{T: t.c()}))
	}
	return t.put(s, o, (*Tensor).Assign, func(v, x *Tensor) *Tensor {
		return (*Tensor)(core.WithAttrs(op.IndexCopy, op.Axis(s.lo), x.c(), s.places.c(), v.c()))
	})
}

// IndexPutAdd returns t with x, a Go number or a tensor that broadcasts, added where
// [Tensor.Index] with the same arguments reads, all values for one element in row-major
// order: NumPy's add.at, and PyTorch's index_put with accumulate=True. The element types of
// tensors meet by promotion.
func (t *Tensor) IndexPutAdd(x any, index ...any) *Tensor {
	defer array.Named("index_put_add").End()
	t.c().Check("index_put")
	if y, ok := x.(*Tensor); ok {
		y.c().CheckArgument("index_put", "x")
		t = t.To(array.Promote(t.v().DType, y.v().DType))
	}
	s := t.selected("index_put", index)
	return t.put(s, t.valueFor("index_put", x), (*Tensor).AddAssign, func(v, x *Tensor) *Tensor {
		return (*Tensor)(core.WithAttrs(op.Lookup("index_add"), op.Target{Axis: s.lo, Shape: v.v().Shape}, x.c(), s.places.c(), v.c()))
	})
}

// put returns t with a value written into a selection: by write where that is a view, else
// by places, which does so along axis s.lo of what merged gives.
func (t *Tensor) put(s *selection, value core.Operand, write func(v *Tensor, x any) *Tensor, places func(v, x *Tensor) *Tensor) *Tensor {
	x := value.T
	if x == nil {
		x = core.NumberOf(s.opName, t.v().Store.Device, value.Num, t.v().DType)
	} else if x.Rank() == 0 {
		x = x.On(t.v().Store.Device)
	}
	out := t
	if s.part || s.arrays == nil {
		out = t.Clone()
	}
	v := out.c().SliceAs(s.opName, partsOf(s.spans))
	shape := v.View().Shape
	if s.arrays != nil {
		s.join((*Tensor)(v), true)
		shape = s.shape((*Tensor)(v))
	}
	for len(x.View().Shape) > len(shape) && x.View().Shape[0] == 1 {
		x = x.Reshape(x.View().Shape[1:]...)
	}
	if !array.BroadcastsTo(x.View().Shape, shape) {
		array.Failf(s.opName, "x", "has shape %s, which does not broadcast to the selection's %s", array.ShapeString(x.View().Shape), array.ShapeString(shape))
	}
	if s.arrays == nil {
		write((*Tensor)(v), (*Tensor)(x))
		return out
	}
	y := places(s.merged((*Tensor)(v)), s.disarranged((*Tensor)(v), (*Tensor)(x).Expand(shape...))).Reshape(v.View().Shape...)
	if !s.part {
		return (*Tensor)(y.Reshape(t.v().Shape...).c().Own())
	}
	(*Tensor)(v).Assign(y)
	return out
}

// A selection is the arguments of [Tensor.Index]: the spans give a view, of whose axes,
// some or none, arrays name places.
type selection struct {
	opName string
	spans  []Span
	part   bool // the view does not show all of the tensor
	arrays []chosen
	first  bool // the axes of the arrays come first: a span lies between two

	// What join makes of the arrays: places on the axes [lo, hi) of the view as one axis, a
	// vector that is a flattened array of shape dims. The axes of the view that lie between
	// axes of arrays are a part of it: the last ones of dims, between in number.
	lo, hi, between int
	dims            []int
	places          *Tensor
}

// A chosen is an array of places, or a mask, for one or several axes of a view.
type chosen struct {
	places, mask *Tensor // one of them is nil
	axis, axes   int     // in the view
	arg, of      int     // number of the argument, and its first axis in the tensor
}

// alone reports that there is one array, and spans leave nothing of the tensor out.
func (s *selection) alone() bool { return len(s.arrays) == 1 && !s.part }

// over is the mask as it broadcasts to t.
func (c *chosen) over(t *Tensor) *Tensor {
	shape := append([]int{}, c.mask.v().Shape...)
	for len(shape) < len(t.v().Shape)-c.of {
		shape = append(shape, 1)
	}
	return c.mask.Reshape(shape...)
}

// selected resolves the arguments of Index.
func (t *Tensor) selected(opName string, index []any) *selection {
	s := &selection{opName: opName}
	args := make([]any, len(index)) // a Span or a *Tensor
	left := len(t.v().Shape)        // axes that no argument is for
	some := false
	for i, x := range index {
		switch x := x.(type) {
		case int:
			args[i] = Index(x)
			left--
		case Span:
			args[i] = x
			if !x.part.NewAxis && !x.part.Ellipsis {
				left--
			}
		case []int:
			args[i] = t.Device().From(x)
			left--
		case []bool:
			args[i] = t.Device().From(x)
			left--
		case *Tensor:
			x.c().Check(opName)
			if args[i] = x; x.Device() == CPU {
				args[i] = x.On(t.Device())
			}
			switch {
			case x.v().DType == Bool:
				left -= len(x.v().Shape)
			case x.v().DType.Integer():
				left--
			default:
				array.Failf(opName, "", "argument %d: has elements of type %s, want integers or bool", i, x.v().DType)
			}
		default:
			array.Failf(opName, "", "argument %d: is %T, want an int, a Span, an []int, an []bool or a *Tensor", i, x)
		}
		_, span := args[i].(Span)
		some = some || !span
	}
	if left < 0 {
		array.Failf(opName, "", "more indices than the %d dimensions of shape %s", len(t.v().Shape), array.ShapeString(t.v().Shape))
	}
	axis, at := 0, 0            // of t, of the view
	begun, over := false, false // arrays, and then a span
	whole := func(n int) {
		for range n {
			s.spans = append(s.spans, All)
		}
		axis += n
		at += n
	}
	ellipsis := false
	for i, x := range args {
		m, isArray := x.(*Tensor)
		sp, _ := x.(Span)
		if isArray || sp.part.Index {
			s.first = s.first || over
			begun = true
		} else {
			over = over || begun
		}
		switch {
		case sp.part.Ellipsis && ellipsis:
			array.Failf(opName, "", "has two Ellipses, want one at most")
		case sp.part.Ellipsis:
			ellipsis = true
			whole(left)
		case sp.part.NewAxis:
			s.spans = append(s.spans, sp)
			at++
		case !isArray:
			start, step, count := sp.part.Bounds(opName, axis, t.v().Shape[axis])
			s.part = s.part || sp.part.Index || start != 0 || count > 1 && step != 1 || count != t.v().Shape[axis]
			s.spans = append(s.spans, sp)
			axis++
			if !sp.part.Index {
				at++
			}
		case m.v().DType != Bool:
			s.arrays = append(s.arrays, chosen{places: (*Tensor)(core.Places(m.c())), axis: at, axes: 1, arg: i, of: axis})
			whole(1)
		default:
			k := len(m.v().Shape)
			if of := t.v().Shape[axis : axis+k]; !array.Equal(of, m.v().Shape) {
				array.Failf(opName, "", "argument %d: the mask has shape %s, its axes, from %d on, %s", i, array.ShapeString(m.v().Shape), axis, array.ShapeString(of))
			}
			c := chosen{mask: m, axis: at, axes: k, arg: i, of: axis}
			if whole(k); k == 0 { // for an axis of its own
				s.spans = append(s.spans, NewAxis)
				at++
				c.axes = 1
			}
			s.arrays = append(s.arrays, c)
		}
	}
	if !ellipsis {
		whole(left)
	}
	return s
}

// join makes one array of places of all.
func (s *selection) join(v *Tensor, put bool) {
	last := &s.arrays[len(s.arrays)-1]
	s.lo, s.hi = s.arrays[0].axis, last.axis+last.axes
	s.between = s.hi - s.lo
	shapes := make([][]int, len(s.arrays))
	for i := range s.arrays {
		c := &s.arrays[i]
		s.between -= c.axes
		if c.mask != nil {
			c.places = c.mask.Reshape(-1).NonZero()
		}
		shapes[i] = c.places.v().Shape
	}
	s.dims = array.Broadcast(s.opName, shapes...)
	if len(s.arrays) == 1 && s.arrays[0].mask != nil {
		s.places = s.arrays[0].places
		return
	}
	a := op.Raveling{Put: put}
	var ins []*Tensor
	add := func(x *Tensor, size int, c chosen) {
		a.Sizes, a.Args, a.Axes, a.Ranks = append(a.Sizes, size), append(a.Args, c.arg), append(a.Axes, c.of), append(a.Ranks, len(c.places.v().Shape))
		ins = append(ins, x)
	}
	axis := s.lo
	ones := func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = 1
		}
		return out
	}
	seen := 0
	for _, c := range s.arrays {
		for ; axis < c.axis; axis++ {
			seen++
			n := v.v().Shape[axis]
			x := v.Device().Arange(n)
			s.dims = append(s.dims, n)
			add(x.Reshape(append([]int{n}, ones(s.between-seen)...)...), n, chosen{places: x, of: -1})
		}
		shape := append(append([]int{}, c.places.v().Shape...), ones(s.between)...)
		add(c.places.Reshape(shape...), array.Size(v.v().Shape[c.axis:c.axis+c.axes]), c)
		axis = c.axis + c.axes
	}
	s.places = (*Tensor)(core.WithAttrs(op.Ravel, a, core.Inner(ins)...).Reshape(-1))
}

// merged is the view with the axes of the arrays, and those between them, as one.
func (s *selection) merged(v *Tensor) *Tensor {
	shape := append([]int{}, v.v().Shape[:s.lo]...)
	shape = append(shape, array.Size(v.v().Shape[s.lo:s.hi]))
	return v.Reshape(append(shape, v.v().Shape[s.hi:]...)...)
}

// spread is the shape of what is taken along the axis of merged, with the axes of the
// arrays in the place of that one.
func (s *selection) spread(v *Tensor) []int {
	shape := append([]int{}, v.v().Shape[:s.lo]...)
	shape = append(append(shape, s.dims...), v.v().Shape[s.hi:]...)
	array.CheckShape(s.opName, shape, v.v().DType)
	return shape
}

// order returns the axes of spread as the result has them: axes of the arrays come first if a
// span lies between two arrays.
func (s *selection) order(rank int) []int {
	o := make([]int, 0, rank)
	b := 0
	if s.first {
		b = len(s.dims) - s.between
	}
	for i := range b {
		o = append(o, s.lo+i)
	}
	for i := range rank {
		if i < s.lo || i >= s.lo+b {
			o = append(o, i)
		}
	}
	return o
}

// shape is that of the result.
func (s *selection) shape(v *Tensor) []int {
	from := s.spread(v)
	out := make([]int, len(from))
	for i, a := range s.order(len(from)) {
		out[i] = from[a]
	}
	return out
}

// arranged is what was taken along the axis of merged as the result has it, disarranged the
// opposite.
func (s *selection) arranged(v, y *Tensor) *Tensor {
	shape := s.spread(v)
	y = y.Reshape(shape...)
	if s.first {
		y = y.Permute(s.order(len(shape))...)
	}
	return y
}

func (s *selection) disarranged(v, x *Tensor) *Tensor {
	if s.first {
		o := s.order(len(x.v().Shape))
		back := make([]int, len(o))
		for i, a := range o {
			back[a] = i
		}
		x = x.Permute(back...)
	}
	shape := append(append([]int{}, v.v().Shape[:s.lo]...), s.places.Size())
	return x.Reshape(append(shape, v.v().Shape[s.hi:]...)...)
}
