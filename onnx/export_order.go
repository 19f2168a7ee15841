package onnx

import (
	"slices"

	"weft/internal/array"
	"weft/internal/op"
)

// Sorting, searching, and what reads and writes at indices that are computed.

// sortable returns an argument in a type that TopK orders as the argument's, with that type; Invalid for uint64.
func (x *exportNode) sortable(i int) (string, array.DType) {
	d := x.args[i].node.DType
	switch {
	case d == array.Uint64:
		return "", array.Invalid
	case d == array.Uint32:
		d = array.Int64
	case d == array.Bool || d.Integer() && d.Size() < 4:
		d = array.Int32
	case d == array.Float16 || d == array.BFloat16:
		d = array.Float32
	}
	return x.as(x.args[i], d), d
}

// sorted writes the first k of an argument along an axis, in order, and their indices. Of equal elements TopK gives
// the first, as weft does; where NaN goes ONNX does not say.
func (x *exportNode) sorted(axis int, k string, greatest bool) []string {
	v, d := x.sortable(0)
	if v == "" {
		return nil
	}
	largest := 0
	if greatest {
		largest = 1
	}
	out := x.putAll("TopK", 2, []string{v, k}, withInt("axis", axis), withInt("largest", largest), withInt("sorted", 1))
	if own := x.args[0].node.DType; own != d {
		out[0] = x.cast(out[0], own)
	}
	return out
}

// both are the results of the node. It returns the first, "" if there are none.
func (x *exportNode) both(out []string) string {
	if x.outs = out; out == nil {
		return ""
	}
	return out[0]
}

func exportSort(x *exportNode) string {
	a := x.attrs.(op.Sorting)
	return x.both(x.sorted(a.Axis, x.sizeOf(x.arg(0), a.Axis), a.Descending))
}

func exportTopK(x *exportNode) string {
	a := x.attrs.(op.Selection)
	return x.both(x.sorted(a.Axis, x.ints(a.Count), !a.Smallest))
}

// exportKthValue sorts up to the greatest of the places.
func exportKthValue(x *exportNode) string {
	a := x.attrs.(op.Ranks)
	k := ""
	for _, at := range a.At {
		if n := x.put("Add", []string{x.ints(at), x.numbers(1)}); k == "" {
			k = n
		} else {
			k = x.put("Max", []string{k, n})
		}
	}
	if k == "" {
		return ""
	}
	out := x.sorted(a.Axis, k, false)
	for i, v := range out {
		out[i] = x.put("Gather", []string{v, x.ints(a.At...)}, withInt("axis", a.Axis))
	}
	return x.both(out)
}

// exportArgPartition sorts, and sorts the indices of each part again, so that its elements stay in order.
func exportArgPartition(x *exportNode) string {
	a := x.attrs.(op.Ranks)
	axis, n, kth := a.Axis, x.sizeOf(x.arg(0), a.Axis), x.ints(a.At[0])
	sorted := x.sorted(axis, n, false)
	if sorted == nil {
		return ""
	}
	next := x.put("Add", []string{kth, x.numbers(1)})
	part := func(from, to string) string {
		return x.put("Slice", []string{sorted[1], from, to, x.numbers(axis)})
	}
	ascending := func(v, count string) string {
		return x.putAll("TopK", 2, []string{v, count}, withInt("axis", axis), withInt("largest", 0), withInt("sorted", 1))[0]
	}
	before := ascending(part(x.numbers(0), kth), kth)
	behind := ascending(part(next, n), x.put("Sub", []string{n, next}))
	return x.put("Concat", []string{before, part(kth, next), behind}, withInt("axis", axis))
}

func exportPartition(x *exportNode) string {
	at := exportArgPartition(x)
	if at == "" {
		return ""
	}
	return x.put("GatherElements", []string{x.arg(0), at}, withInt("axis", x.attrs.(op.Ranks).Axis))
}

// exportSearchSorted counts the elements of a row that come before each element.
func exportSearchSorted(x *exportNode) string {
	s, d := x.sortable(0)
	v, _ := x.sortable(1)
	if s == "" || d == array.Invalid {
		return ""
	}
	less := "Less"
	if x.attrs.(op.Search).Right {
		less = "LessOrEqual"
	}
	if len(x.args[0].node.Shape) > 1 {
		s = x.put("Unsqueeze", []string{s, x.numbers(-2)})
	}
	v = x.put("Unsqueeze", []string{v, x.numbers(-1)})
	return x.put("ReduceSum", []string{x.cast(x.put(less, []string{s, v}), array.Int64), x.numbers(-1)}, withInt("keepdims", 0))
}

// scattered writes elements at indices along an axis of an array.
func (x *exportNode) scattered(base, index, elements string, axis int, reduction string) string {
	return x.put("ScatterElements", []string{base, index, elements}, withInt("axis", axis), withString("reduction", reduction))
}

func exportScatter(x *exportNode) string {
	return x.scattered(x.arg(2), x.indices(1), x.arg(0), int(x.attrs.(op.Axis)), "none")
}

// exportScatterExtreme writes one of the elements first where what was there does not count.
func exportScatterExtreme(reduction string) func(x *exportNode) string {
	return func(x *exportNode) string {
		a := x.attrs.(op.Extreme)
		base, index, v := x.arg(2), x.indices(1), x.arg(0)
		if a.Alone {
			base = x.scattered(base, index, v, a.Axis, "none")
		}
		return x.scattered(base, index, v, a.Axis, reduction)
	}
}

// exportScatterProd writes ones first where what was there does not count.
func exportScatterProd(x *exportNode) string {
	a := x.attrs.(op.Extreme)
	base, index, v := x.arg(2), x.indices(1), x.arg(0)
	if a.Alone {
		ones := x.put("Expand", []string{x.number(x.node.DType, 1), x.put("Shape", []string{v})})
		base = x.scattered(base, index, ones, a.Axis, "none")
	}
	return x.scattered(base, index, v, a.Axis, "mul")
}

func exportScatterSum(x *exportNode) string {
	a := x.attrs.(op.Target)
	zeros := x.put("Expand", []string{x.number(x.node.DType, 0), x.ints(a.Shape...)})
	return x.scattered(zeros, x.indices(1), x.arg(0), a.Axis, "add")
}

// alongAxis returns indices along an axis of argument 0, in its shape.
func (x *exportNode) alongAxis(axis int) string {
	shape := make([]int, len(x.args[0].node.Shape))
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = -1
	return x.put("Expand", []string{x.put("Reshape", []string{x.indices(1), x.numbers(shape...)}), x.put("Shape", []string{x.arg(0)})})
}

func exportIndexCopy(x *exportNode) string {
	axis := int(x.attrs.(op.Axis))
	return x.scattered(x.arg(2), x.alongAxis(axis), x.arg(0), axis, "none")
}

// exportIndexAdd adds sub-arrays to an array, or to zeros.
func exportIndexAdd(x *exportNode) string {
	a, base := x.attrs.(op.Target), ""
	if len(x.args) > 2 {
		base = x.arg(2)
	} else {
		var parts []string
		for i := range a.Shape {
			if i == a.Axis {
				parts = append(parts, x.ints(a.Shape[i]))
			} else {
				parts = append(parts, x.sizeOf(x.arg(0), i))
			}
		}
		base = x.put("Expand", []string{x.number(x.node.DType, 0), x.put("Concat", parts, withInt("axis", 0))})
	}
	return x.scattered(base, x.alongAxis(a.Axis), x.arg(0), a.Axis, "add")
}

// exportRavel adds multiples of indices, negative ones counted from the end.
func exportRavel(x *exportNode) string {
	a, sum := x.attrs.(op.Raveling), ""
	for i := range x.args {
		v := x.as(x.args[i], array.Int64)
		size := x.put("Squeeze", []string{x.ints(a.Sizes[i])})
		v = x.put("Where", []string{x.put("Less", []string{v, x.number(array.Int64, 0)}), x.put("Add", []string{v, size}), v})
		if sum == "" {
			sum = v
		} else {
			sum = x.put("Add", []string{x.put("Mul", []string{sum, size}), v})
		}
	}
	return sum
}

// flat returns a value as a vector.
func (x *exportNode) flat(v string) string { return x.put("Reshape", []string{v, x.numbers(-1)}) }

func exportMaskSelect(x *exportNode) string {
	return x.put("Compress", []string{x.arg(0), x.flat(x.arg(1))})
}

// exportMaskPlace reads the element whose number is that of the places before it. One zero behind the elements is
// read where there are none.
func exportMaskPlace(x *exportNode) string {
	d, mask := x.node.DType, x.flat(x.arg(1))
	zero := x.number(d, 0)
	v := x.put("Concat", []string{x.arg(0), x.put("Reshape", []string{zero, x.numbers(1)})}, withInt("axis", 0))
	at := x.put("CumSum", []string{x.cast(mask, array.Int64), x.number(array.Int64, 0)}, withInt("exclusive", 1))
	at = x.put("Where", []string{mask, at, x.number(array.Int64, 0)})
	v = x.put("Where", []string{mask, x.put("Gather", []string{v, at}, withInt("axis", 0)), zero})
	return x.put("Reshape", []string{v, x.put("Shape", []string{x.arg(1)})})
}

func exportCountTrue(x *exportNode) string {
	return x.put("ReduceSum", []string{x.cast(x.flat(x.arg(0)), array.Int64), x.numbers(0)}, withInt("keepdims", 0))
}

func exportNonZero(x *exportNode) string {
	return x.flat(x.put("NonZero", []string{x.flat(x.arg(0))}))
}

// places returns the indices in a vector of a window, in its shape.
func (x *exportNode) places(a op.StridedWindow) string {
	sum := x.put("Reshape", []string{x.ints(a.Offset), x.numbers(slices.Repeat([]int{1}, len(a.Shape))...)})
	for i, n := range a.Shape {
		shape := slices.Repeat([]int{1}, len(a.Shape))
		shape[i] = -1
		count := x.put("Range", []string{x.number(array.Int64, 0), x.put("Squeeze", []string{x.ints(n)}), x.number(array.Int64, 1)})
		along := x.put("Mul", []string{count, x.ints(a.Strides[i])})
		sum = x.put("Add", []string{sum, x.put("Reshape", []string{along, x.numbers(shape...)})})
	}
	return sum
}

func exportStrided(x *exportNode) string {
	return x.put("Gather", []string{x.arg(0), x.places(x.attrs.(op.StridedWindow))}, withInt("axis", 0))
}

// exportPut writes over a window; of several elements at one place the last stays.
func exportPut(x *exportNode) string {
	at := x.places(x.attrs.(op.StridedWindow))
	y := x.scattered(x.flat(x.arg(0)), x.flat(at), x.flat(x.arg(1)), 0, "none")
	return x.put("Reshape", []string{y, x.put("Shape", []string{x.arg(0)})})
}
