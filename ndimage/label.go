package ndimage

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/par"
)

// LabelOpts are the options of [Label].
type LabelOpts struct {
	// Structure has 3 elements along each axis: the neighbours that an element is connected to, symmetric around
	// the centre. GenerateBinaryStructure(rank, 1) if nil.
	Structure *weft.Tensor
}

// Label numbers the connected objects of x, the elements that are not 0, from 1 on in the order of their first
// elements. It returns the numbers as Int32, 0 outside of objects, and how many objects there are.
//
// It reads the count, so that it is refused in compiled functions. It panics with *[weft.Error] for a structure that does not
// have 3 elements along each axis or is not symmetric, and for more than 2^31-1 elements.
func Label(x *weft.Tensor, opts ...LabelOpts) (labels *weft.Tensor, count int) {
	const name = "ndimage.label"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	on := input(name, x).Ne(0).Contiguous()
	if x.Size() > math.MaxInt32 {
		array.Failf(name, "input", "has %d elements, more than 2^31-1", x.Size())
	}
	s := o.Structure
	if s == nil {
		s = GenerateBinaryStructure(x.Rank(), 1)
	}
	before := earlier(name, "Structure", s, x.Rank(), true)
	switch {
	case x.Size() == 0:
		return weft.ZerosLike(x).To(weft.Int32), 0
	case x.Rank() == 0:
		return on.To(weft.Int32), int(on.To(weft.Int32).ItemInt())
	}
	shape := x.Shape()
	if g := newBordered(shape, ones(len(shape)), ones(len(shape))); g.size > math.MaxInt32 {
		array.Failf(name, "input", "has shape %s, with a border around more than 2^31-1 elements", array.ShapeString(shape))
	}
	var code []int
	for _, d := range before {
		code = append(code, d...)
	}
	t := newTask("label", []ir.Type{{DType: weft.Int32, Shape: shape}, {DType: weft.Int32, Shape: []int{}}}, func(args, out []array.View) {
		core.Slice[int32](&out[1])[0] = labelled(shape, before, core.Slice[bool](&args[0]), core.Slice[int32](&out[0]))
	}, code)
	out := t.apply(on)
	return out[0], int(out[1].ItemInt())
}

// earlier returns the offsets of a structure's true elements that come before the centre in row-major order. It
// demands 3 elements along each axis, and symmetry if symmetric is set.
func earlier(name, arg string, s *weft.Tensor, rank int, symmetric bool) (out [][]int) {
	(*core.Tensor)(s).CheckArgument(name, arg)
	shape := s.Shape()
	for _, n := range shape {
		if n != 3 {
			array.Failf(name, arg, "has shape %s, want 3 elements along each axis", array.ShapeString(shape))
		}
	}
	if len(shape) != rank {
		array.Failf(name, arg, "has shape %s for an input with %d axes", array.ShapeString(shape), rank)
	}
	on := truths(s)
	for k, yes := range on {
		if symmetric && yes != on[len(on)-1-k] {
			array.Failf(name, arg, "is not symmetric")
		}
		if yes && k < len(on)/2 {
			d := unravel(shape, k)
			for i := range d {
				d[i]--
			}
			out = append(out, d)
		}
	}
	return out
}

// labelled writes the labels of objects: union-find whose roots are the first elements of objects. Slabs of the first
// axis are joined by themselves, then with those before.
func labelled(shape []int, before [][]int, on []bool, to []int32) int32 {
	g := newBordered(shape, ones(len(shape)), ones(len(shape)))
	var steps, across []int // to neighbours; those in an earlier row of the first axis
	for _, d := range before {
		step := 0
		for i, v := range d {
			step += v * g.strides[i]
		}
		steps = append(steps, step)
		if d[0] < 0 {
			across = append(across, step)
		}
	}
	parent := make([]int32, g.size) // 0 outside of objects, else 1 and a place
	n := shape[len(shape)-1]
	g.rows(func(at, row int) {
		for j := range n {
			if on[row+j] {
				parent[at+j] = int32(at + j + 1)
			}
		}
	})
	slab := max(1, (1<<16)/g.strides[0])
	par.Run(shape[0], slab, 0, func(_, begin, end int) {
		for ; begin < end; begin += slab {
			unite(parent, steps, (begin+1)*g.strides[0], (min(begin+slab, end)+1)*g.strides[0], true)
		}
	})
	for i := slab; i < shape[0]; i += slab {
		unite(parent, across, (i+1)*g.strides[0], (i+2)*g.strides[0], false)
	}
	var count int32
	r := len(shape) - 1
	for row := range array.Size(shape[:r]) {
		at := g.first
		for i, v := range unravel(shape[:r], row) {
			at += v * g.strides[i]
		}
		line := to[row*n : row*n+n]
		for j := range line {
			switch p := parent[at+j]; {
			case p == 0:
				line[j] = 0
			case p == int32(at+j+1): // the first element of an object
				count++
				parent[at+j] = -count
				line[j] = count
			default:
				for p > 0 {
					p = parent[p-1]
				}
				parent[at+j] = p
				line[j] = -p
			}
		}
	}
	return count
}

// unite joins elements lo to below hi with those at steps from them, which are not before lo if inside is set.
func unite(parent []int32, steps []int, lo, hi int, inside bool) {
	root := func(i int32) int32 {
		for parent[i-1] != i {
			parent[i-1] = parent[parent[i-1]-1]
			i = parent[i-1]
		}
		return i
	}
	for i := lo; i < hi; i++ {
		if parent[i] == 0 {
			continue
		}
		for _, d := range steps {
			if inside && i+d < lo || parent[i+d] == 0 {
				continue
			}
			a, b := root(parent[i]), root(parent[i+d])
			parent[max(a, b)-1] = min(a, b)
		}
	}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// FindObjects returns the smallest box of each label from 1 to the greatest, as spans for [weft.Tensor.Slice]: nil
// for a label that does not occur. Labels are integers of at most 2^24. It is refused in compiled functions.
func FindObjects(labels *weft.Tensor) [][]weft.Span {
	const name = "ndimage.find_objects"
	defer array.Named(name).End()
	(*core.Tensor)(labels).CheckArgument(name, "labels")
	if !labels.DType().Integer() {
		array.Failf(name, "labels", "is %s, want integers", labels.DType())
	}
	shape, data := labels.Shape(), weft.Data[int64](labels.To(weft.Int64).Contiguous())
	most := int64(0)
	for _, v := range data {
		most = max(most, v)
	}
	if most > 1<<24 {
		array.Failf(name, "labels", "has label %d, more than 2^24", most)
	}
	type box struct{ lo, hi []int }
	boxes := make([]*box, most)
	at := make([]int, len(shape))
	for _, v := range data {
		if v > 0 {
			b := boxes[v-1]
			if b == nil {
				b = &box{slices.Clone(at), slices.Clone(at)}
				boxes[v-1] = b
			}
			for i, p := range at {
				b.lo[i], b.hi[i] = min(b.lo[i], p), max(b.hi[i], p)
			}
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
	out := make([][]weft.Span, most)
	for k, b := range boxes {
		if b != nil {
			out[k] = make([]weft.Span, len(shape))
			for i := range shape {
				out[k][i] = weft.Range(b.lo[i], b.hi[i]+1)
			}
		}
	}
	return out
}
