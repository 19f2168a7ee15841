package plan

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What runs as the epilogue of a routine, and what must not.
func TestEpilogues(t *testing.T) {
	matmul := func(x, y *ir.Node) *ir.Node { return apply(op.MatMul, x, y) }
	pictures, filters := []int{2, 3, 9, 9}, []int{4, 3, 3, 3}
	conv := func(x, w *ir.Node) *ir.Node { return apply(op.Conv2d, x, w) }
	for name, c := range map[string]struct {
		build  func(x []*ir.Node) []*ir.Node
		shapes [][]int
		steps  string
		temps  int
	}{
		"bias and relu": {one(func(x []*ir.Node) *ir.Node { return apply(op.Relu, apply(op.Add, matmul(x[0], x[1]), x[2])) }),
			[][]int{{60, 70}, {70, 80}, {80}}, "routine+epilogue", 0},
		"bias and gelu, of three dimensions": {one(func(x []*ir.Node) *ir.Node { return apply(op.Gelu, apply(op.Linear, x[0], x[1], x[2])) }),
			[][]int{{4, 15, 70}, {80, 70}, {80}}, "routine+epilogue", 0},
		"residual, of three dimensions, one broadcast": {one(func(x []*ir.Node) *ir.Node { return apply(op.Add, x[2], matmul(x[0], x[1])) }),
			[][]int{{4, 15, 70}, {70, 80}, {15, 80}}, "routine+epilogue", 0},
		"batch": {one(func(x []*ir.Node) *ir.Node { return apply(op.Add, matmul(x[0], x[1]), x[2]) }),
			[][]int{{3, 4, 15, 7}, {3, 4, 7, 15}, {15, 15}}, "routine+epilogue", 0},
		"vector": {one(func(x []*ir.Node) *ir.Node { return apply(op.Tanh, matmul(x[0], x[1])) }),
			[][]int{{70}, {70, 80}}, "routine+epilogue", 0},
		"column": {one(func(x []*ir.Node) *ir.Node { return apply(op.Tanh, matmul(x[0], x[1])) }),
			[][]int{{80, 70}, {70}}, "routine+epilogue", 0},
		"step of descent": {one(func(x []*ir.Node) *ir.Node {
			dw := matmul(op.Transpose(x[0], 0, 1), x[1])
			return apply(op.Sub, x[2], apply(op.Mul, dw, dw.Graph.Number(0.1, array.Float32, false)))
		}), [][]int{{60, 70}, {60, 80}, {70, 80}}, "routine+epilogue", 0},
		"conversion": {one(func(x []*ir.Node) *ir.Node { return op.Apply(op.Cast, op.To(array.Float64), matmul(x[0], x[1])) }),
			[][]int{{60, 70}, {70, 80}}, "routine+epilogue", 1},
		"two results": {func(x []*ir.Node) []*ir.Node {
			y := apply(op.Add, matmul(x[0], x[1]), x[2])
			return []*ir.Node{apply(op.Relu, y), apply(op.Gt, y, y.Graph.Number(0, array.Float32, false))}
		}, [][]int{{60, 70}, {70, 80}, {80}}, "routine+epilogue", 0},
		"the product is a result too": {func(x []*ir.Node) []*ir.Node {
			y := matmul(x[0], x[1])
			return []*ir.Node{y, apply(op.Relu, y)}
		}, [][]int{{60, 70}, {70, 80}}, "routine+epilogue", 0},
		"others read the product": {func(x []*ir.Node) []*ir.Node {
			y := matmul(x[0], x[1])
			return []*ir.Node{apply(op.Relu, y), matmul(y, x[2])}
		}, [][]int{{60, 70}, {70, 80}, {80, 10}}, "routine+epilogue routine", 1},
		"convolution": {one(func(x []*ir.Node) *ir.Node { return apply(op.Relu, apply(op.Conv2d, x[0], x[1], x[2])) }),
			[][]int{pictures, filters, {4}}, "routine+epilogue", 0},
		"convolution and residual": {one(func(x []*ir.Node) *ir.Node { return apply(op.Add, conv(x[0], x[1]), x[2]) }),
			[][]int{pictures, filters, {2, 4, 7, 7}}, "routine+epilogue", 0},
		"gradient of a convolution": {one(func(x []*ir.Node) *ir.Node {
			a := op.ConvGrad{Conv: op.Conv{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}, Shape: pictures}
			return apply(op.Mul, op.Apply(op.Lookup("conv2d_input"), a, x[0], x[1]), x[2])
		}), [][]int{{2, 4, 7, 7}, filters, pictures}, "routine+epilogue", 0},
		"a product of the product": {one(func(x []*ir.Node) *ir.Node {
			y := matmul(x[0], x[1])
			return apply(op.Add, y, matmul(y, x[1]))
		}), [][]int{{60, 60}, {60, 60}}, "routine routine+epilogue", 1},
		"each product has what the other's epilogue reads": {func(x []*ir.Node) []*ir.Node {
			y, z := matmul(x[0], x[1]), matmul(x[1], x[0])
			return []*ir.Node{apply(op.Add, y, apply(op.Exp, z)), apply(op.Mul, z, apply(op.Exp, y))}
		}, [][]int{{60, 60}, {60, 60}}, "routine routine+epilogue", 1},
		"the result turned": {one(func(x []*ir.Node) *ir.Node {
			y := matmul(x[0], x[1])
			return apply(op.Add, y, op.Transpose(y, 0, 1))
		}), [][]int{{60, 60}, {60, 60}}, "routine routine kernel", 2},
		"another number of columns": {one(func(x []*ir.Node) *ir.Node {
			return apply(op.Exp, op.Apply(op.Reshape, op.Shape{40, 30}, matmul(x[0], x[1])))
		}), [][]int{{60, 60}, {60, 20}}, "routine kernel", 1},
	} {
		p := kernels(c.build, c.shapes...)
		if err := check(p); err != nil {
			t.Errorf("%s: %v\n%s", name, err, p)
		}
		if got := kinds(p); got != c.steps {
			t.Errorf("%s: steps %s, want %s\n%s", name, got, c.steps, p)
		}
		if temps := len(p.Slots) - p.Inputs - len(p.Outs); temps != c.temps {
			t.Errorf("%s: %d temporaries, want %d\n%s", name, temps, c.temps, p)
		}
	}
}
