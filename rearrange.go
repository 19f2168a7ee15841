package weft

import (
	"math"
	"slices"
	"strings"

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

// AtLeast1D is t, a number as a vector of one element; a view. NumPy's atleast_1d.
// Of tensors with axes it is a view of t itself.
func (t *Tensor) AtLeast1D() *Tensor { return t.atLeast("atleast1d", 1) }

// AtLeast2D is t with at least two axes: a vector is a row, a number a matrix of one element; a view. NumPy's
// atleast_2d.
func (t *Tensor) AtLeast2D() *Tensor { return t.atLeast("atleast2d", 2) }

// AtLeast3D is t with at least three axes: a matrix [m n] is [m n 1], a vector [n] is [1 n 1], a number [1 1 1]; a
// view. NumPy's atleast_3d.
func (t *Tensor) AtLeast3D() *Tensor { return t.atLeast("atleast3d", 3) }

func (t *Tensor) atLeast(name string, rank int) *Tensor {
	defer array.Named(name).End()
	t.c().Check(name)
	s := t.v().Shape
	switch {
	case len(s) >= rank:
		return t.Reshape(s...)
	case len(s) == 2:
		return t.Unsqueeze(2)
	case len(s) == 1 && rank == 3:
		return t.Unsqueeze(0).Unsqueeze(2)
	case len(s) == 1:
		return t.Unsqueeze(0)
	}
	ones := []int{1, 1, 1}
	return t.Reshape(ones[:rank]...)
}

// DStack joins tensors along the third axis, each with three axes at least as [Tensor.AtLeast3D] makes them. The
// element types meet by promotion. It panics with *[Error] for none, and where other sizes differ. NumPy's dstack.
func DStack(ts []*Tensor) *Tensor {
	defer array.Named("dstack").End()
	core.SomeTensors("dstack", core.Inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		in[i] = t.AtLeast3D()
	}
	return (*Tensor)(core.Joined("dstack", core.Inner(in), 2))
}

// ColumnStack joins tensors along the second axis, vectors (and numbers) as columns. The element types meet by
// promotion. It panics with *[Error] for none, and where other sizes differ. NumPy's column_stack.
func ColumnStack(ts []*Tensor) *Tensor {
	defer array.Named("columnstack").End()
	core.SomeTensors("columnstack", core.Inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		if in[i] = t; t.Rank() < 2 {
			in[i] = t.Reshape(-1, 1)
		}
	}
	return (*Tensor)(core.Joined("columnstack", core.Inner(in), 1))
}

// ArraySplit cuts t along an axis into n views whose sizes differ by one at most, greater ones first; an axis too
// short gives empty ones. [Tensor.Chunk] has fewer, of one size. It panics with *[Error] where n is below 1.
// NumPy's array_split.
func (t *Tensor) ArraySplit(axis, n int) []*Tensor {
	const name = "arraysplit"
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	if n < 1 {
		array.Failf(name, "n", "%d: want 1 or more", n)
	}
	roomForViews(name, n)
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = t.v().Shape[a] / n
		if i < t.v().Shape[a]%n {
			sizes[i]++
		}
	}
	return t.cut(name, a, sizes)
}

// BroadcastShapes returns the shape to which shapes broadcast. It panics with *[Error] where they do not. NumPy's
// broadcast_shapes.
func BroadcastShapes(shapes ...[]int) []int {
	for _, s := range shapes {
		array.CheckShape("broadcastshapes", s, Bool)
	}
	return slices.Clone(array.Broadcast("broadcastshapes", append([][]int{{}}, shapes...)...))
}

// BroadcastTensors returns a view of each tensor in the shape to which all broadcast; the views must not be written
// to. It panics with *[Error] where shapes do not fit. NumPy's broadcast_arrays, PyTorch's broadcast_tensors.
func BroadcastTensors(ts ...*Tensor) []*Tensor {
	const name = "broadcasttensors"
	defer array.Named(name).End()
	core.SomeTensors(name, core.Inner(ts))
	shapes := make([][]int, len(ts))
	for i, t := range ts {
		t.c().Check(name)
		shapes[i] = t.v().Shape
	}
	s := array.Broadcast(name, shapes...)
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.Expand(s...)
	}
	return out
}

// DiagEmbed returns matrices of zeros with the vectors along t's last axis on diagonal number k: [... n] gives
// [... m m] with m = n+|k|. It panics with *[Error] for a number. [Tensor.Diagonal] is the opposite. PyTorch's
// diag_embed.
func (t *Tensor) DiagEmbed(k int) *Tensor {
	const name = "diagembed"
	defer array.Named(name).End()
	t.c().Check(name)
	r := t.Rank()
	if r == 0 || k == math.MinInt {
		array.Failf(name, "k", "is %d, for shape %s: want a vector or more axes", k, array.ShapeString(t.v().Shape))
	}
	n := array.AddSizes(name, t.v().Shape[r-1], max(k, -k))
	s := append(slices.Clone(t.v().Shape[:r-1]), n, n)
	array.CheckShape(name, s, t.v().DType)
	return (*Tensor)(core.WithAttrs(op.Place, op.Placement{Shape: s, View: op.Offset(k)}, t.c()))
}

// Rot90 returns a view of t turned k times by 90 degrees in the plane of two axes, from the first toward the second;
// negative k turn back. The axes may count from the back. It panics with *[Error] where they are equal. NumPy's rot90.
func (t *Tensor) Rot90(k, from, to int) *Tensor {
	const name = "rot90"
	defer array.Named(name).End()
	t.c().Check(name)
	a, b := array.Axis(name, from, t.Rank()), array.Axis(name, to, t.Rank())
	if a == b {
		array.Failf(name, "to", "is axis %d, as from", b)
	}
	switch k & 3 {
	case 1:
		return t.Flip(b).Transpose(a, b)
	case 2:
		return t.Flip(a, b)
	case 3:
		return t.Transpose(a, b).Flip(b)
	}
	return t.Reshape(t.v().Shape...)
}

// RollAxes is [Tensor.Roll] along several axes in turn, each by its own shift. Axes may count from the back, and come
// several times. It panics with *[Error] unless axes and shifts have equal length. NumPy's roll with tuples.
func (t *Tensor) RollAxes(axes, shifts []int) *Tensor {
	const name = "rollaxes"
	defer array.Named(name).End()
	t.c().Check(name)
	if len(axes) != len(shifts) {
		array.Failf(name, "shifts", "has %d numbers for %d axes", len(shifts), len(axes))
	}
	if len(axes) == 0 {
		return t.Clone()
	}
	for i, a := range axes {
		t = t.Roll(a, shifts[i])
	}
	return t
}

// Resize returns the elements of t, in row-major order and over again as often as needed, in another shape. It panics
// with *[Error] for no elements where some are needed. NumPy's function resize; its method pads with zeros.
func (t *Tensor) Resize(shape ...int) *Tensor {
	const name = "resize"
	defer array.Named(name).End()
	t.c().Check(name)
	n := array.CheckShape(name, shape, t.v().DType)
	if n > 0 && t.Size() == 0 {
		array.Failf(name, "", "has no elements to fill shape %s with", array.ShapeString(shape))
	}
	flat := t.Reshape(t.Size())
	if n > t.Size() {
		flat = flat.Tile((n + t.Size() - 1) / t.Size())
	}
	return (*Tensor)(flat.Slice(Range(0, n)).Clone().Reshape(shape...).c().Own())
}

// ApplyAlongAxis applies f to the vectors of t along an axis, one after the other, and returns the results, of one
// shape, with their axes in the place of that one. The axis may count from the back. [Vmap] computes all at once.
// It panics with *[Error] where results differ in shape, and for no vectors. NumPy's apply_along_axis.
func ApplyAlongAxis(f func(x *Tensor) *Tensor, axis int, t *Tensor) *Tensor {
	const name = "applyalongaxis"
	array.Given(name, "f", f != nil)
	t.c().CheckArgument(name, "t")
	a := array.Axis(name, axis, t.Rank())
	x := t.MoveAxis(a, -1)
	outer := slices.Clone(x.v().Shape[:t.Rank()-1])
	n := array.Size(outer)
	if n == 0 {
		array.Failf(name, "t", "has shape %s and no vectors along axis %d", array.ShapeString(t.v().Shape), a)
	}
	rows := x.Reshape(n, t.v().Shape[a])
	out := make([]*Tensor, n)
	for i := range out {
		out[i] = f(rows.At(i))
		out[i].c().CheckArgument(name, "f")
		if !array.Equal(out[i].v().Shape, out[0].v().Shape) {
			array.Failf(name, "f", "returns shape %s, and %s before", array.ShapeString(out[i].v().Shape), array.ShapeString(out[0].v().Shape))
		}
	}
	inner := out[0].v().Shape
	y := Stack(out, 0).Reshape(append(slices.Clone(outer), inner...)...)
	order := make([]int, 0, len(outer)+len(inner))
	for i := range a {
		order = append(order, i)
	}
	for i := range inner {
		order = append(order, len(outer)+i)
	}
	for i := a; i < len(outer); i++ {
		order = append(order, i)
	}
	return (*Tensor)(y.Permute(order...).c().Own())
}

// PadOpts are the options of [Tensor.PadMode]. Each list has one number for all sides, or two for each axis as pads has.
type PadOpts struct {
	Values  []float64 // what "constant" pads with and "linear_ramp" ends at, in t's type; 0 if not given
	Lengths []int     // how many elements next to a side "maximum", "minimum", "mean" and "median" see; all if not given
	Odd     bool      // "reflect" and "symmetric" mirror at the point of the edge: twice its value less the mirrored one
}

// PadMode surrounds t as [Tensor.Pad] does, with two numbers for each axis, by its own elements. The modes are "edge" (the
// nearest one), "reflect" (mirrored at the edge, which is not repeated), "symmetric" (mirrored, with the edge), "wrap"
// (from the other end), "maximum", "minimum", "mean", "median" of the axis, "linear_ramp" to a number, or "constant",
// whose numbers may differ by side. The result is a copy in t's type; means of integers are rounded. It panics with
// *[Error] for other modes, for options that the mode does not have, and where an axis without elements is to be padded
// by other modes than "constant". NumPy's pad.
func (t *Tensor) PadMode(mode string, pads []int, opts ...PadOpts) *Tensor {
	const name = "padmode"
	defer array.Named(name).End()
	t.c().Check(name)
	o := array.Options(name, opts)
	t.checkPads(name, mode, pads, o)
	x := t
	for a := range t.Rank() {
		before, after, n := pads[2*a], pads[2*a+1], x.v().Shape[a]
		size := array.AddSizes(name, before, n, after)
		switch {
		case size == n:
			continue
		case mode == "constant":
			x = x.padConstant(a, before, after, o)
			continue
		case n == 0:
			array.Failf(name, "pads", "surround axis %d, which has no elements", a)
		}
		array.CheckShape(name, []int{size}, x.v().DType)
		switch {
		case o.Odd && n > 1:
			x = x.padOdd(a, before, after, mode == "symmetric")
		case mirrorOf(mode, n) != nil:
			at := mirrorOf(mode, n)
			places := filled(name, x.v().Store.Device, Int64, core.CheckHeap(name, size, Int64), func(data []int64) {
				for i := range data {
					data[i] = int64(at(i - before))
				}
			})
			x = x.IndexSelect(a, places)
		case mode == "linear_ramp":
			x = Cat([]*Tensor{x.ramp(a, before, side(o.Values, a, 0), false), x, x.ramp(a, after, side(o.Values, a, 1), true)}, a)
		default:
			x = x.padBy(mode, a, before, after, o)
		}
	}
	return x.Clone()
}

// padModes are the modes of PadMode by the field of PadOpts that they have.
var padModes = map[string][]string{
	"":        {"edge", "wrap"},
	"Odd":     {"reflect", "symmetric"},
	"Lengths": {"maximum", "minimum", "mean", "median"},
	"Values":  {"linear_ramp", "constant"},
}

// checkPads checks the arguments of PadMode, without the sizes of axes.
func (t *Tensor) checkPads(name, mode string, pads []int, o PadOpts) {
	if len(pads) != 2*t.Rank() {
		array.Failf(name, "pads", "%s has %d numbers, want two for each of %d axes", array.ShapeString(pads), len(pads), t.Rank())
	}
	for _, n := range pads {
		if n < 0 {
			array.Failf(name, "pads", "%s has a negative number", array.ShapeString(pads))
		}
	}
	for _, field := range []struct {
		name  string
		n     int
		given bool
	}{{"Odd", 1, o.Odd}, {"Lengths", len(o.Lengths), o.Lengths != nil}, {"Values", len(o.Values), o.Values != nil}} {
		switch {
		case !field.given:
		case !slices.Contains(padModes[field.name], mode):
			array.Failf(name, field.name, "belongs to the modes %s, not to %q", strings.Join(padModes[field.name], ", "), mode)
		case field.n != 1 && field.n != len(pads):
			array.Failf(name, field.name, "has %d numbers, want one, or two for each of %d axes", field.n, t.Rank())
		}
	}
	for _, n := range o.Lengths {
		if n < 1 {
			array.Failf(name, "Lengths", "has %d, want 1 or more", n)
		}
	}
	known := slices.Concat(padModes[""], padModes["Odd"], padModes["Lengths"], padModes["Values"])
	if !slices.Contains(known, mode) {
		array.Failf(name, "mode", "%q is not one of %s", mode, strings.Join(known, ", "))
	}
}

// side returns the number of a list of PadOpts for one side, 0 or 1, of axis a; 0 if there is no list.
func side[T any](list []T, a, which int) (x T) {
	switch len(list) {
	case 0:
		return x
	case 1:
		return list[0]
	}
	return list[2*a+which]
}

// mirrorOf returns where the element at place i of an axis of n elements comes from, for modes that take
// elements; nil for others.
func mirrorOf(mode string, n int) func(i int) int {
	folded := func(i, period int) int { return (i%period + period) % period }
	switch mode {
	case "edge":
		return func(i int) int { return min(max(i, 0), n-1) }
	case "wrap":
		return func(i int) int { return folded(i, n) }
	case "symmetric":
		return func(i int) int { i = folded(i, 2*n); return min(i, 2*n-1-i) }
	case "reflect":
		return func(i int) int {
			if n == 1 {
				return 0
			}
			i = folded(i, 2*n-2)
			return min(i, 2*n-2-i)
		}
	}
	return nil
}

// padConstant surrounds axis a by the numbers of o.
func (t *Tensor) padConstant(a, before, after int, o PadOpts) *Tensor {
	pads := make([]int, 2*t.Rank())
	pads[2*a] = before
	t = t.Pad(side(o.Values, a, 0), pads...)
	pads[2*a], pads[2*a+1] = 0, after
	return t.Pad(side(o.Values, a, 1), pads...)
}

// padOdd surrounds axis a, which has two elements or more, by what is mirrored at the points of its edges. What
// stands on both sides grows with each round, in whole periods, as in NumPy, whose roundings and overflows it has.
func (t *Tensor) padOdd(a, before, after int, symmetric bool) *Tensor {
	d := t.v().DType
	if d == Bool {
		t = t.To(Int64)
	}
	skip := 1 // elements between an edge and the first one that is mirrored
	if symmetric {
		skip = 0
	}
	period := t.v().Shape[a] - skip
	for before > 0 || after > 0 {
		n := t.v().Shape[a]
		whole := (n - skip) / period * period
		left, right := min(whole, before), min(whole, after)
		mirrored := func(edge, from, size int) *Tensor {
			return t.stretch(a, edge, 1).Mul(2).Sub(t.stretch(a, from, size).Flip(a))
		}
		t = Cat([]*Tensor{mirrored(0, skip, left), t, mirrored(n-1, n-skip-right, right)}, a)
		before, after = before-left, after-right
	}
	return t.To(d)
}

// stretch returns a view of n elements of axis a.
func (t *Tensor) stretch(a, from, n int) *Tensor {
	return t.Split(a, from, n, t.v().Shape[a]-from-n)[1]
}

// ramp returns n elements on the way from a number to the edge of axis a: the first one, or the last if flipped.
// NumPy's linspace without its end.
func (t *Tensor) ramp(a, n int, from float64, flip bool) *Tensor {
	d, edge := t.v().DType, 0
	if flip {
		edge = t.v().Shape[a] - 1
	}
	wide := Float64
	if d.Complex() {
		wide = Complex128
	}
	shape := slices.Repeat([]int{1}, t.Rank())
	shape[a] = n
	steps := t.Device().ArangeOf(wide, n)
	if flip {
		steps = steps.Flip(0)
	}
	r := t.stretch(a, edge, 1).To(wide).Sub(from).Div(max(n, 1)).Mul(steps.Reshape(shape...)).Add(from)
	if d.Integer() {
		r = r.Floor()
	}
	return r.To(d)
}

// padBy surrounds axis a by what a mode computes of its elements, or of those next to each side.
func (t *Tensor) padBy(mode string, a, before, after int, o PadOpts) *Tensor {
	n := t.v().Shape[a]
	lengths := [2]int{n, n}
	for i := range lengths {
		if k := side(o.Lengths, a, i); k > 0 {
			lengths[i] = min(k, n)
		}
	}
	left := t.stretch(a, 0, lengths[0]).statistic(mode, a)
	right := left
	if lengths != [2]int{n, n} {
		right = t.stretch(a, n-lengths[1], lengths[1]).statistic(mode, a)
	}
	part := func(y *Tensor, n int) *Tensor {
		s := slices.Clone(t.v().Shape)
		s[a] = n
		return y.Expand(s...)
	}
	return Cat([]*Tensor{part(left, before), t, part(right, after)}, a)
}

// statistic returns what a mode of PadMode computes along axis a, in t's type, with the axis kept.
func (t *Tensor) statistic(mode string, a int) *Tensor {
	d := t.v().DType
	x := t.floated()
	if d.Integer() {
		x = t.To(Float64)
	}
	var y *Tensor
	switch mode {
	case "maximum":
		y = t.MaxKeep(a)
	case "minimum":
		y = t.MinKeep(a)
	case "mean":
		y = x.MeanKeep(a)
	case "median":
		y = x.MedianKeep(a)
	}
	if d.Integer() {
		y = y.Round()
	}
	return y.To(d)
}
