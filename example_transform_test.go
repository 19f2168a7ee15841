package weft_test

import (
	"fmt"

	"weft"
)

func ExampleJacobian() {
	x := weft.FromSlice([]float64{1, 2, 3})
	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.CumSum(0).Square() }, x)
	fmt.Println(j)
	// Output:
	// [[ 2.  0.  0.]
	//  [ 6.  6.  0.]
	//  [12. 12. 12.]]
}

func ExampleHessian() {
	x := weft.FromSlice([]float64{1, 2, 3})
	cube := func(x *weft.Tensor) *weft.Tensor { return x.Pow(3).Sum() }
	fmt.Println(weft.Hessian(cube, x))
	fmt.Println(weft.HessianVector(cube, x, weft.FromSlice([]float64{1, 0, -1})))
	// Output:
	// [[ 6.  0.  0.]
	//  [ 0. 12.  0.]
	//  [ 0.  0. 18.]]
	// [  6.   0. -18.]
}

func ExampleJVP() {
	x, v := weft.FromSlice([]float64{1, 2, 3}), weft.FromSlice([]float64{1, 0, 1})
	y, dy := weft.JVP(func(x *weft.Tensor) *weft.Tensor { return x.Square() }, x, v)
	fmt.Println(y, dy)
	// Output: [1. 4. 9.] [2. 0. 6.]
}

func ExampleVJP() {
	w := weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	x := weft.FromSlice([]float64{1, -1})
	y, pull := weft.VJP(func(x *weft.Tensor) *weft.Tensor { return w.MatMul(x) }, x)
	fmt.Println(y, pull(weft.FromSlice([]float64{1, 0})), pull(weft.FromSlice([]float64{0, 1})))
	// Output: [-1. -1.] [1. 2.] [3. 4.]
}

func ExampleVmap() {
	distance := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]).Norm(2) }
	points := weft.FromSlice([]float64{3, 4, 6, 8, 0, 0}, 3, 2)
	fmt.Println(weft.Vmap(distance, 0, weft.Unmapped)(points, weft.Zeros(2)))

	// The gradient of each example by weights that all share.
	w := weft.FromSlice([]float64{1, 2}).RequireGrad()
	each := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Grad(x[0].Dot(w).Square(), []*weft.Tensor{w})[0]
	})
	fmt.Println(each(points))
	// Output:
	// [ 5. 10.  0.]
	// [[ 66.  88.]
	//  [264. 352.]
	//  [  0.   0.]]
}
