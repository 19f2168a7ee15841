package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Flip returns a view in which the elements run backwards along the given axes; none
// given means all. It is NumPy's flip; PyTorch's copies.
func (t *Tensor) Flip(axes ...int) *Tensor {
	t.c().Check("flip")
	w := op.AllOf(t.v().Shape)
	for _, a := range array.Axes("flip", axes, len(t.v().Shape)) {
		w.Start[a], w.Step[a] = max(t.v().Shape[a]-1, 0), -1
	}
	return (*Tensor)(core.Window(op.Slice, w, t.c()))
}

// Roll returns t with the elements moved on by shift along an axis; those that leave
// it at one end come back at the other. A negative shift moves them to the front. It is
// NumPy's and PyTorch's roll along one axis.
func (t *Tensor) Roll(axis, shift int) *Tensor {
	t.c().Check("roll")
	a := array.Axis("roll", axis, len(t.v().Shape))
	n := t.v().Shape[a]
	if n == 0 || shift%n == 0 {
		return t.Clone()
	}
	k := (shift%n + n) % n
	parts := t.cut("roll", a, []int{n - k, k})
	return (*Tensor)(core.Joined("roll", core.Inner([]*Tensor{parts[1], parts[0]}), a))
}

// MoveAxis returns a view with one axis in another place; the others stay in order. It
// is NumPy's moveaxis and PyTorch's movedim for one axis; [Tensor.Permute] moves more.
func (t *Tensor) MoveAxis(from, to int) *Tensor {
	t.c().Check("moveaxis")
	n := len(t.v().Shape)
	from, to = array.Axis("moveaxis", from, n), array.Axis("moveaxis", to, n)
	o := make([]int, 0, n)
	for a := range n {
		if a != from {
			o = append(o, a)
		}
	}
	o = append(o, 0)
	copy(o[to+1:], o[to:])
	o[to] = from
	return (*Tensor)(core.Window(op.Permute, op.Order(o), t.c()))
}

// Unflatten returns a view with an axis divided into several of the given sizes, whose
// product is its size; one may be -1: what is left. It is PyTorch's unflatten, the
// opposite of [Tensor.Flatten].
func (t *Tensor) Unflatten(axis int, sizes ...int) *Tensor {
	t.c().Check("unflatten")
	a := array.Axis("unflatten", axis, len(t.v().Shape))
	if len(sizes) == 0 {
		array.Failf("unflatten", "sizes", "has no numbers")
	}
	s := core.Reshaped("unflatten", "sizes", t.v().Shape[a:a+1], t.v().Shape[a], t.v().DType, sizes)
	s = append(append(append([]int{}, t.v().Shape[:a]...), s...), t.v().Shape[a+1:]...)
	array.CheckShape("unflatten", s, t.v().DType)
	return (*Tensor)(core.Window(op.Reshape, op.Shape(s), t.c()))
}

// ExpandAs returns a view of t broadcast to x's shape; it must not be written to. It is
// PyTorch's expand_as.
func (t *Tensor) ExpandAs(x *Tensor) *Tensor {
	t.c().Check("expand_as")
	x.c().CheckArgument("expand_as", "x")
	return t.expand("expand_as", x.v().Shape)
}

// Tile returns t side by side with itself, reps[i] times along axis i. Fewer numbers
// than dimensions count for the last ones, more make axes before the first. It is
// NumPy's and PyTorch's tile.
func (t *Tensor) Tile(reps ...int) *Tensor {
	t.c().Check("tile")
	if k := len(t.v().Shape) - len(reps); k > 0 {
		all := make([]int, k, k+len(reps))
		for i := range all {
			all[i] = 1
		}
		reps = append(all, reps...)
	}
	return t.tile("tile", reps)
}

// Repeat is [Tensor.Tile] with a number for each axis: fewer than dimensions are
// refused. It is PyTorch's repeat; NumPy's is [Tensor.RepeatInterleave].
func (t *Tensor) Repeat(reps ...int) *Tensor {
	t.c().Check("repeat")
	if len(reps) < len(t.v().Shape) {
		array.Failf("repeat", "reps", "%s has %d numbers, want one for each of %d axes or more (Tile takes fewer)", array.ShapeString(reps), len(reps), len(t.v().Shape))
	}
	return t.tile("repeat", reps)
}

// tile copies t side by side with itself, by a number for each axis or more.
func (t *Tensor) tile(opName string, reps []int) *Tensor {
	defer array.Named(opName).End()
	fresh := len(reps) - len(t.v().Shape) // axes before the first
	shape := make([]int, len(reps))
	plain := true
	for i, r := range reps {
		if r < 0 {
			array.Failf(opName, "reps", "%s has a negative number", array.ShapeString(reps))
		}
		n := 1
		if i >= fresh {
			n = t.v().Shape[i-fresh]
		}
		if n > 0 && r > math.MaxInt/n {
			array.Failf(opName, "reps", "%s are too many for shape %s", array.ShapeString(reps), array.ShapeString(t.v().Shape))
		}
		shape[i] = n * r
		plain = plain && r == 1
	}
	array.CheckShape(opName, shape, t.v().DType)
	if plain {
		return (*Tensor)(t.Clone().Reshape(shape...).c().Own())
	}
	// A new axis before each that is repeated, expanded: one copy then makes the result.
	in, out := spread(t.v().Shape, reps, false)
	if len(in) > array.MaxRank {
		in, out = spread(t.v().Shape, reps, true)
	}
	if len(in) > array.MaxRank {
		// The last axis that is repeated goes first, by itself.
		last := len(reps) - 1
		for reps[last] == 1 {
			last--
		}
		before, one := append([]int{}, reps...), make([]int, len(reps))
		for i := range one {
			one[i] = 1
		}
		before[last], one[last] = 1, reps[last]
		return t.tile(opName, one).tile(opName, before)
	}
	x := t.Reshape(in...).Expand(out...)
	return (*Tensor)(x.Clone().Reshape(shape...).c().Own())
}

// spread returns shape with a new axis before each that is repeated, and what it
// expands to. If asked for, axes that are not repeated are merged with those before them.
func spread(shape, reps []int, merge bool) (in, out []int) {
	fresh := len(reps) - len(shape)
	for i, r := range reps {
		n := 1
		if i >= fresh {
			n = shape[i-fresh]
		}
		if last := len(in) - 1; merge && r == 1 && last >= 0 {
			in[last], out[last] = in[last]*n, out[last]*n
			continue
		}
		if r != 1 {
			in, out = append(in, 1), append(out, r)
		}
		in, out = append(in, n), append(out, n)
	}
	return in, out
}

// RepeatInterleave returns t with each element of an axis repeated: counts is an int
// for all of them, or an []int or a vector of integers with a number for each. It is
// PyTorch's repeat_interleave, and NumPy's repeat. The numbers of a vector decide a
// shape, so they are read at once.
func (t *Tensor) RepeatInterleave(axis int, counts any) *Tensor {
	const name = "repeat_interleave"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, len(t.v().Shape))
	n := t.v().Shape[a]
	var each []int
	switch c := counts.(type) {
	case int:
		return t.repeatEach(a, c)
	case []int:
		each = c
	case *Tensor:
		c.c().CheckArgument(name, "counts")
		if !c.v().DType.Integer() || len(c.v().Shape) != 1 {
			array.Failf(name, "counts", "is %s, want a vector of integers", array.TypeString(c.v().DType, c.v().Shape))
		}
		if c.Size() != n && c.Size() != 1 {
			array.Failf(name, "counts", "has %d numbers, axis %d of shape %s has %d", c.Size(), a, array.ShapeString(t.v().Shape), n)
		}
		each = make([]int, core.CheckHeap(name, c.Size(), Int64))
		v := core.ToHost(c.To(Int64).c())
		defer core.Leave(&v)
		for i := range each {
			each[i] = int(core.IntElement(&v, v.Offset+i*v.Strides[0]))
		}
	default:
		array.Failf(name, "counts", "is %T, want an int, an []int or a *Tensor", counts)
	}
	if len(each) == 1 {
		return t.repeatEach(a, each[0])
	}
	if len(each) != n {
		array.Failf(name, "counts", "has %d numbers, axis %d of shape %s has %d", len(each), a, array.ShapeString(t.v().Shape), n)
	}
	for i, c := range each {
		if c < 0 {
			array.Failf(name, "counts", "%d at position %d is negative", c, i)
		}
	}
	places := filled(name, t.v().Store.Device, Int64, array.AddSizes(name, each...), func(data []int64) {
		at := 0
		for i, c := range each {
			for range c {
				data[at] = int64(i)
				at++
			}
		}
	})
	return t.IndexSelect(a, places)
}

// repeatEach repeats each element of axis a c times.
func (t *Tensor) repeatEach(a, c int) *Tensor {
	const name = "repeat_interleave"
	if c < 0 {
		array.Failf(name, "counts", "is negative: %d", c)
	}
	s := append([]int{}, t.v().Shape...)
	if s[a] > 0 && c > math.MaxInt/s[a] {
		array.Failf(name, "counts", "%d is too many for shape %s", c, array.ShapeString(s))
	}
	s[a] *= c
	array.CheckShape(name, s, t.v().DType)
	outer, inner := array.Size(t.v().Shape[:a]), array.Size(t.v().Shape[a+1:])
	return (*Tensor)(t.Reshape(outer*t.v().Shape[a], 1, inner).Expand(outer*t.v().Shape[a], c, inner).Clone().Reshape(s...).c().Own())
}

// Tril returns t with zeros above diagonal number k of its last two axes; k > 0 is
// above the main one. It is NumPy's and PyTorch's tril.
func (t *Tensor) Tril(k int) *Tensor { return (*Tensor)(core.WithAttrs(op.Tril, op.Offset(k), t.c())) }

// Triu returns t with zeros below diagonal number k of its last two axes; k > 0 is
// above the main one. It is NumPy's and PyTorch's triu.
func (t *Tensor) Triu(k int) *Tensor { return (*Tensor)(core.WithAttrs(op.Triu, op.Offset(k), t.c())) }

// Diag returns a square matrix of zeros with the vector t on diagonal number k, or, of
// a matrix t, a view of that diagonal. It is NumPy's and PyTorch's diag;
// [Tensor.Diagonal] takes matrices of several axes.
func (t *Tensor) Diag(k int) *Tensor {
	defer array.Named("diag").End()
	t.c().Check("diag")
	switch len(t.v().Shape) {
	case 1:
		if k == math.MinInt {
			array.Failf("diag", "k", "%d is out of range", k)
		}
		n := array.AddSizes("diag", t.v().Shape[0], max(k, -k))
		return (*Tensor)(core.WithAttrs(op.Place, op.Placement{Shape: []int{n, n}, View: op.Offset(k)}, t.c()))
	case 2:
		return (*Tensor)(core.Window(op.Diagonal, op.Offset(k), t.c()))
	}
	array.Failf("diag", "", "takes a vector or a matrix, got shape %s: Diagonal takes more dimensions", array.ShapeString(t.v().Shape))
	return nil
}

// Meshgrid returns a view of each vector, broadcast so that element (i, j, ...) of
// result number d is element i, j, ... number d of vector d: the coordinates of the points of
// a grid. The views have the lengths of the vectors as their shape and must not be
// written to. It is PyTorch's meshgrid and NumPy's with indexing="ij"; NumPy's
// X, Y = meshgrid(x, y) are the results of Meshgrid(y, x) in the other order.
func Meshgrid(ts ...*Tensor) []*Tensor {
	core.SomeTensors("meshgrid", core.Inner(ts))
	shape := make([]int, len(ts))
	for i, t := range ts {
		t.c().Check("meshgrid")
		if len(t.v().Shape) > 1 {
			array.Failf("meshgrid", "", "tensor %d has shape %s, want a vector", i, array.ShapeString(t.v().Shape))
		}
		shape[i] = t.Size()
	}
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		array.CheckShape("meshgrid", shape, t.v().DType)
		s := make([]int, len(ts))
		for k := range s {
			s[k] = 1
		}
		s[i] = shape[i]
		out[i] = t.Reshape(s...).Expand(shape...)
	}
	return out
}

// MaskedFill returns t with x, a Go number or a tensor of one element, where mask, a
// Bool tensor, is true; t and mask broadcast. The result has t's element type, so that
// a float is refused for integers. It is PyTorch's masked_fill.
func (t *Tensor) MaskedFill(mask *Tensor, x any) *Tensor {
	defer array.Named("masked_fill").End()
	t.c().Check("masked_fill")
	mask.c().CheckArgument("masked_fill", "mask")
	o := t.valueFor("masked_fill", x)
	if mask.v().DType != Bool {
		array.Failf("masked_fill", "mask", "has elements of type %s, want bool", mask.v().DType)
	}
	if o.T != nil && o.T.Size() != 1 {
		array.Failf("masked_fill", "x", "has shape %s, want a number: Where takes more", array.ShapeString(o.T.View().Shape))
	}
	if o.T != nil {
		o.T = o.T.Reshape()
	}
	array.Broadcast("masked_fill", t.v().Shape, mask.v().Shape)
	return (*Tensor)(core.Apply(op.Where, nil, core.Operand{T: mask.c()}, o, core.Operand{T: t.c()}))
}

// valueFor returns x, a *Tensor or a Go number, as what can be written into t: of its
// element type, or a number that promotion leaves so.
func (t *Tensor) valueFor(opName string, x any) core.Operand {
	o := core.AsOperand[Tensor](opName, "x", x)
	d := t.v().DType
	if o.T == nil {
		switch {
		case o.Num.Kind > d.Category() && !(o.Num.Kind == array.CatInt && d == Bool):
			array.Failf(opName, "x", "is a float, which cannot be written into %s: convert the receiver with To first", d)
		case d == Bool:
			o.T = core.NumberOf(opName, t.v().Store.Device, o.Num, d)
		}
		return o
	}
	o.T.Check(opName)
	if c := o.T.View().DType.Category(); c > array.CatInt && c > d.Category() {
		array.Failf(opName, "x", "is %s and cannot be written into %s: convert it with To", o.T.View().DType, d)
	}
	o.T = o.T.To(d)
	return o
}
