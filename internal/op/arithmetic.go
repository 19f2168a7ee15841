package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Arithmetic counts the arithmetic operations of a node: each elementwise operation or
// function is one an element, each product of a sum of products two; what only moves,
// sorts or looks up is none.
func Arithmetic(n *ir.Node) int64 {
	d := Of(n)
	switch {
	case d == nil || d == Cast:
		return 0
	case d == Kernel:
		size := n.Size()
		if n.Results != nil {
			size = array.Size(n.Results[0].Shape)
		}
		return int64(CostOf(n) * size)
	case d == MatMul2:
		x := n.Args[0].Shape
		return 2 * int64(n.Size()) * int64(x[len(x)-1])
	case d == conv2d:
		return products(n.Shape, n.Args[1].Shape)
	case d == conv2dInput:
		return products(n.Args[0].Shape, n.Args[1].Shape)
	case d == conv2dWeight:
		return products(n.Args[1].Shape, n.Shape)
	case d == PowInt:
		k := int(n.Attrs.(Power))
		k = max(k, -k)
		steps := int64(0)
		for ; k > 1; k /= 2 {
			steps += 1 + int64(k&1)
		}
		return steps * int64(n.Size())
	case d.Class == Pointwise:
		return int64(n.Size())
	case d.Class == Reduce, d.Class == Segment && d != SegmentExpand:
		return int64(n.Args[0].Size())
	}
	return 0
}

// products is the arithmetic of a convolution with a result and weights of such shapes.
func products(result, weights []int) int64 {
	return 2 * int64(array.Size(result)) * int64(array.Size(weights[1:]))
}

// MultiplyAdds counts the multiply-adds of a node that is a matrix product, a convolution or attention,
// as the figures of networks do; others have none.
func MultiplyAdds(n *ir.Node) int64 {
	switch Of(n) {
	case MatMul2, conv2d, conv2dInput, conv2dWeight:
		return Arithmetic(n) / 2
	case Attention:
		q, k, v := n.Args[0].Shape, n.Args[1].Shape, n.Args[2].Shape
		keys := k[len(k)-2]
		return int64(array.Size(q))*int64(keys) + int64(array.Size(q[:len(q)-1]))*int64(keys*v[len(v)-1])
	}
	return 0
}
