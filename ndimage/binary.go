package ndimage

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// GenerateBinaryStructure returns a Bool array of 3 elements along each of rank axes: true where at most
// connectivity indices differ from the centre's. Connectivity is limited to 1 to rank.
func GenerateBinaryStructure(rank, connectivity int) *weft.Tensor {
	const name = "ndimage.generate_binary_structure"
	defer array.Named(name).End()
	if rank < 1 {
		return weft.FromSlice([]bool{true}).Reshape()
	}
	if rank > 12 {
		array.Failf(name, "rank", "is %d, more than 12", rank)
	}
	connectivity = min(max(connectivity, 1), rank)
	shape, n := make([]int, rank), 1
	for i := range shape {
		shape[i] = 3
		n *= 3
	}
	on := make([]bool, n)
	for k := range on {
		far := 0
		for _, i := range unravel(shape, k) {
			if i != 1 {
				far++
			}
		}
		on[k] = far <= connectivity
	}
	return weft.FromSlice(on, shape...)
}

// truths returns which elements of a structure are not 0, in row-major order. A structure that a compiled function
// captures is read when the function is traced.
func truths(structure *weft.Tensor) (on []bool) {
	core.OutsideTrace(func() { on = weft.Data[bool](structure.Ne(0).Contiguous()) })
	return on
}

// IterateStructure returns a structure dilated by itself, iterations-1 times: what iterations dilations reach. It
// panics with *[weft.Error] where the result has more than 2^20 elements.
func IterateStructure(structure *weft.Tensor, iterations int) *weft.Tensor {
	const name = "ndimage.iterate_structure"
	defer array.Named(name).End()
	(*core.Tensor)(structure).CheckArgument(name, "structure")
	s := structure.Ne(0)
	if iterations < 2 || s.Size() == 0 {
		return s
	}
	more := min(iterations-1, maxWindow) // of one element nothing changes
	pads, size := make([]int, 0, 2*s.Rank()), 1
	for _, n := range s.Shape() {
		grown := more * (n - 1)
		if size *= n + grown; size > maxWindow {
			array.Failf(name, "iterations", "is %d, for a result of more than %d elements", iterations, maxWindow)
		}
		before := more * (n / 2)
		pads = append(pads, before, grown-before)
	}
	return BinaryDilation(s.To(weft.Uint8).Pad(0, pads...), BinaryOpts{Structure: s, Iterations: new(more)})
}

// BinaryOpts are the options of binary morphology.
type BinaryOpts struct {
	Structure  *weft.Tensor // which neighbours of an element count; GenerateBinaryStructure(rank, 1) if nil
	Iterations *int         // how often the operation is done, at most 2^20; below 1 until nothing changes; 1 if nil
	Mask       *weft.Tensor // only elements where it is true change; all if nil
	Border     bool         // what lies beyond the edges
	Origin     []int        // how many elements the structure lies before its centre, in each axis; 0 if nil
}

// prepared checks the arguments of binary morphology: the array and the mask as truth values, the plane and the
// structure.
func (o BinaryOpts) prepared(name string, x *weft.Tensor) (b, mask, structure *weft.Tensor, p plane) {
	b = input(name, x).Ne(0)
	p = FilterOpts{Origin: o.Origin, Mode: Constant}.on(name, x.Rank())
	if structure = o.Structure; structure == nil {
		structure = GenerateBinaryStructure(x.Rank(), 1)
	}
	if mask = o.Mask; mask != nil {
		(*core.Tensor)(mask).CheckArgument(name, "Mask")
		if !array.Equal(mask.Shape(), x.Shape()) {
			array.Failf(name, "Mask", "has shape %s, input %s", array.ShapeString(mask.Shape()), array.ShapeString(x.Shape()))
		}
		mask = mask.Ne(0)
	}
	return b, mask, structure, p
}

// eroded is binary erosion, or dilation if dilate is set.
func eroded(name string, x *weft.Tensor, o BinaryOpts, dilate bool) *weft.Tensor {
	b, mask, structure, p := o.prepared(name, x)
	if x.Rank() == 0 {
		return b
	}
	w := p.footprint("Structure", structure, x.Rank(), dilate)
	if b.Size() == 0 {
		return b
	}
	times := 1
	if o.Iterations != nil {
		times = *o.Iterations
	}
	if times >= b.Size() && w.hasCentre() { // each time changes an element, or nothing does any more
		times = 0
	}
	if times > maxWindow {
		array.Failf(name, "Iterations", "is %d, more than %d", times, maxWindow)
	}
	if times < 1 {
		if dilate {
			return flooded(b, mask, w, o.Border)
		}
		return flooded(b.LogicalNot(), mask, w, !o.Border).LogicalNot()
	}
	if o.Border {
		p.cval = 1
	}
	kind := op.Minimum
	if dilate {
		kind = op.Maximum
	}
	y := b.To(weft.Uint8)
	for range times {
		next := p.extreme(y, w, kind)
		if mask != nil {
			next = weft.Where(mask, next, y)
		}
		y = next
	}
	return y.To(weft.Bool)
}

// BinaryErosion returns Bool in x's shape: true where all elements of x under the structure are not 0.
// Compiled functions may capture the structure, which is read when they are traced.
//
// It panics with *[weft.Error] where the mask or the origin does not fit x, or Structure does not have x's rank.
func BinaryErosion(x *weft.Tensor, opts ...BinaryOpts) *weft.Tensor {
	const name = "ndimage.binary_erosion"
	defer array.Named(name).End()
	return eroded(name, x, array.Options(name, opts), false)
}

// BinaryDilation returns Bool in x's shape: true where some element of x under the structure turned around is not
// 0. It panics as [BinaryErosion] does.
func BinaryDilation(x *weft.Tensor, opts ...BinaryOpts) *weft.Tensor {
	const name = "ndimage.binary_dilation"
	defer array.Named(name).End()
	return eroded(name, x, array.Options(name, opts), true)
}

// BinaryOpening is an erosion and then a dilation, Iterations times each: objects smaller than the structure go.
func BinaryOpening(x *weft.Tensor, opts ...BinaryOpts) *weft.Tensor {
	const name = "ndimage.binary_opening"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	return eroded(name, eroded(name, x, o, false), o, true)
}

// BinaryClosing is a dilation and then an erosion, Iterations times each: holes smaller than the structure go.
func BinaryClosing(x *weft.Tensor, opts ...BinaryOpts) *weft.Tensor {
	const name = "ndimage.binary_closing"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	return eroded(name, eroded(name, x, o, true), o, false)
}

// BinaryPropagation dilates x inside of Mask until nothing changes. The options' Iterations is not used. An
// element that is true stays so, also where the structure lacks its centre. It panics as [BinaryErosion] does.
func BinaryPropagation(x *weft.Tensor, opts ...BinaryOpts) *weft.Tensor {
	const name = "ndimage.binary_propagation"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	o.Iterations = new(0)
	return eroded(name, x, o, true)
}

// FillOpts are the options of [BinaryFillHoles].
type FillOpts struct {
	Structure *weft.Tensor // the neighbours of an element; GenerateBinaryStructure(rank, 1) if nil
	Origin    []int        // how many elements the structure lies before its centre, in each axis; 0 if nil
}

// BinaryFillHoles returns Bool in x's shape: true where x is not 0, and in its holes, which are zeros that are not
// connected to the edge. It panics as [BinaryErosion] does.
func BinaryFillHoles(x *weft.Tensor, opts ...FillOpts) *weft.Tensor {
	const name = "ndimage.binary_fill_holes"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	out := input(name, x).Eq(0)
	if x.Rank() == 0 {
		return out.LogicalNot()
	}
	none := out.Ne(out)
	return eroded(name, none, BinaryOpts{Structure: o.Structure, Origin: o.Origin, Mask: out, Border: true, Iterations: new(0)}, true).LogicalNot()
}

// HitOpts are the options of [BinaryHitOrMiss].
type HitOpts struct {
	Hit        *weft.Tensor // the neighbours that must be true; GenerateBinaryStructure(rank, 1) if nil
	Miss       *weft.Tensor // the neighbours that must be false; all outside of Hit if nil
	HitOrigin  []int        // how many elements Hit lies before its centre, in each axis; 0 if nil
	MissOrigin []int        // the origin of Miss; HitOrigin if nil
}

// BinaryHitOrMiss returns Bool in x's shape: true where all elements of x under Hit are not 0 and all under Miss
// are 0. It panics as [BinaryErosion] does.
func BinaryHitOrMiss(x *weft.Tensor, opts ...HitOpts) *weft.Tensor {
	const name = "ndimage.binary_hit_or_miss"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	input(name, x)
	if o.Hit == nil {
		o.Hit = GenerateBinaryStructure(x.Rank(), 1)
	}
	if o.Miss == nil {
		(*core.Tensor)(o.Hit).CheckArgument(name, "Hit")
		on := truths(o.Hit)
		for i := range on {
			on[i] = !on[i]
		}
		o.Miss = weft.FromSlice(on, o.Hit.Shape()...)
	}
	if o.MissOrigin == nil {
		o.MissOrigin = o.HitOrigin
	}
	hit := matched(name, "Hit", x.Ne(0), BinaryOpts{Structure: o.Hit, Origin: o.HitOrigin})
	return hit.LogicalAnd(matched(name, "Miss", x.Eq(0), BinaryOpts{Structure: o.Miss, Origin: o.MissOrigin, Border: true}))
}

// matched is eroded, and true everywhere for a structure without true elements.
func matched(name, arg string, x *weft.Tensor, o BinaryOpts) *weft.Tensor {
	(*core.Tensor)(o.Structure).CheckArgument(name, arg)
	if !slices.Contains(truths(o.Structure), true) {
		return weft.OnesLike(x)
	}
	return eroded(name, x, o, false)
}

// flooded returns x, and what windows reach from its true elements, step by step, where mask is true.
func flooded(x, mask *weft.Tensor, w window, border bool) *weft.Tensor {
	shape := x.Shape()
	wide := make([]int, len(shape)) // the border, for steps in both directions
	for i, n := range w.size {
		wide[i] = max(n-1-w.before[i], w.before[i])
	}
	args := []*weft.Tensor{x.Contiguous()}
	if mask != nil {
		args = append(args, mask.Contiguous())
	}
	out := 0
	if border {
		out = 1
	}
	// Element q makes true the elements q-o, for the offsets o of the window: what reads it.
	g := newBordered(shape, wide, wide)
	var steps []int
	for _, k := range w.at {
		step := 0
		for i, v := range unravel(w.size, k) {
			step -= (v - w.before[i]) * g.strides[i]
		}
		steps = append(steps, step)
	}
	t := newTask("flood", []ir.Type{{DType: weft.Bool, Shape: shape}}, func(args, dst []array.View) {
		var mask []bool
		if len(args) > 1 {
			mask = core.Slice[bool](&args[1])
		}
		g.flood(core.Slice[bool](&dst[0]), core.Slice[bool](&args[0]), mask, steps, border)
	}, w.size, w.before, w.at, []int{out})
	return t.apply(args...)[0]
}

// bordered is an array with a border of elements around, so that windows need no look at the edges.
type bordered struct {
	shape, lo, strides []int
	size, first        int // of all, and the first element inside
}

func newBordered(shape, lo, hi []int) bordered {
	all := make([]int, len(shape))
	for i, n := range shape {
		all[i] = array.AddSizes("ndimage", n, lo[i], hi[i])
	}
	array.CheckShape("ndimage", all, weft.Int64)
	g := bordered{shape: shape, lo: lo, strides: array.RowMajor(all), size: array.Size(all)}
	core.CheckHeap("ndimage", g.size, weft.Int64)
	for i, n := range lo {
		g.first += n * g.strides[i]
	}
	return g
}

// rows calls f for rows of the array: the first element of each in it and with its border.
func (g bordered) rows(f func(at, inside int)) {
	r := len(g.shape) - 1
	n := array.Size(g.shape[:r])
	par.Run(n, max(1, (1<<14)/max(g.shape[r], 1)), 0, func(_, begin, end int) {
		for row := begin; row < end; row++ {
			at := g.first
			for i, v := range unravel(g.shape[:r], row) {
				at += v * g.strides[i]
			}
			f(at, row*g.shape[r])
		}
	})
}

// flood implements flooded.
func (g bordered) flood(dst, src, mask []bool, steps []int, border bool) {
	const (
		open = iota
		wet
		closed
	)
	state := make([]uint8, g.size)
	for i := range state {
		state[i] = closed
	}
	n := g.shape[len(g.shape)-1]
	g.rows(func(at, row int) {
		for j := range n {
			switch {
			case src[row+j]:
				state[at+j] = wet
			case mask == nil || mask[row+j]:
				state[at+j] = open
			}
		}
	})
	var todo []int
	for i, s := range state {
		if s == wet {
			todo = append(todo, i)
		}
	}
	if border { // what reads beyond the edge
		isIn := make([]bool, g.size)
		g.rows(func(at, _ int) {
			for j := range n {
				isIn[at+j] = true
			}
		})
		for i, s := range state {
			if s == open && slices.ContainsFunc(steps, func(d int) bool { return !isIn[i-d] }) {
				state[i] = wet
				todo = append(todo, i)
			}
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, d := range steps {
			if to := i + d; state[to] == open {
				state[to] = wet
				todo = append(todo, to)
			}
		}
	}
	g.rows(func(at, row int) {
		for j := range n {
			dst[row+j] = state[at+j] == wet
		}
	})
}
