package kernel_test

import (
	"fmt"

	"weft"
	"weft/kernel"
)

// lessons are the functions of the examples; in a program they stand in a file of their
// own, which go:embed gives as text.
var lessons = kernel.MustParse(`package lessons

import (
	"math"

	"weft/kernel"
)

func Softplus(x float64) float64 { return math.Log1p(math.Exp(x)) }

func Polar[T float32 | float64](x, y T) (r, angle T) {
	return T(math.Hypot(float64(x), float64(y))), T(math.Atan2(float64(y), float64(x)))
}

func Collatz(n int64) (steps int32) {
	for n > 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		steps++
	}
	return steps
}

func Lookup(table kernel.Clamped1[float64], x float64) float64 {
	i := int(math.Floor(x))
	f := x - float64(i)
	return table.At(i)*(1-f) + table.At(i+1)*f
}

func Roll(e kernel.Elem, sides int32) int32 { return 1 + int32(e.Rand()*float32(sides)) }

func Blur(a kernel.Near2[float64]) float64 {
	return (a.At(0, 0) + a.At(-1, 0) + a.At(1, 0) + a.At(0, -1) + a.At(0, 1)) / 5
}

func Heat(a kernel.Near1[float64]) float64 { return a.At(0) + 0.25*(a.At(-1)-2*a.At(0)+a.At(1)) }

func Longer(a, b int64) int64 { return max(a, b) }

func Seen(x float64) (n, mean, squares float64) { return 1, x, 0 }

func Join(n, mean, squares, n1, mean1, squares1 float64) (float64, float64, float64) {
	all, d := n+n1, mean1-mean
	return all, mean + d*n1/all, squares + squares1 + d*d*n*n1/all
}
`)

// 1. A function of numbers runs over arrays.
func Example_lesson1() {
	fmt.Printf("%.4f\n", lessons.Func("Softplus").Map(weft.FromSlice([]float64{-1, 0, 1}, 3)))
	// Output: [0.3133 0.6931 1.3133]
}

// 2. Arguments broadcast, type parameters take what the arguments are, and there may be
// several results.
func Example_lesson2() {
	x, y := weft.FromSlice([]float32{3, 0}, 2, 1), weft.FromSlice([]float32{4, 1}, 2)
	out := lessons.Func("Polar").MapAll(x, y)
	fmt.Printf("%.3f\n%.3f\n", out[0], out[1])
	// Output:
	// [[5.000 3.162]
	//  [4.000 1.000]]
	// [[0.927 0.322]
	//  [1.571 1.571]]
}

// 3. Loops run until each element has left.
func Example_lesson3() {
	fmt.Println(lessons.Func("Collatz").Map(weft.FromSlice([]int64{1, 6, 27, 97}, 4)))
	// Output: [  0   8 111 118]
}

// 4. Whole arrays are read by index; their type says what lies outside.
func Example_lesson4() {
	table := weft.FromSlice([]float64{0, 10, 40}, 3)
	fmt.Println(lessons.Func("Lookup").Map(table, weft.FromSlice([]float64{-1, 0.5, 1.5, 9}, 4)))
	// Output: [ 0.  5. 25. 40.]
}

// 5. Elements have random numbers of their own: the same for a seed, whatever runs.
func Example_lesson5() {
	dice := lessons.Func("Roll").Map(6, kernel.MapOpts{Shape: []int{2, 8}, Generator: weft.NewGenerator(1)})
	again := lessons.Func("Roll").Map(6, kernel.MapOpts{Shape: []int{2, 8}, Generator: weft.NewGenerator(1)})
	fmt.Println(dice.Shape(), dice.Eq(again).All(), dice.Min().ItemInt() >= 1, dice.Max().ItemInt() <= 6)
	// Output: [2 8] true true true
}

// 6. A stencil reads the neighbours of each element.
func Example_lesson6() {
	x := weft.ZerosOf(weft.Float64, 3, 4)
	x.At(0, 0).Fill(5)
	fmt.Println(lessons.Func("Blur").Stencil(x, kernel.StencilOpts{Border: kernel.Wrap}))
	// Output:
	// [[1. 1. 0. 1.]
	//  [1. 0. 0. 0.]
	//  [1. 0. 0. 0.]]
}

// 7. Iterate repeats a stencil until something holds.
func Example_lesson7() {
	rod := weft.FromSlice([]float64{0, 0, 0, 0, 100}, 5) // the ends stay as they are
	out, steps := lessons.Func("Heat").Iterate(1000, rod, kernel.IterateOpts{Every: new(10),
		Until: func(_ int, before, after *weft.Tensor) bool {
			return after.Sub(before).Abs().Max().Item() < 1e-6
		}})
	fmt.Printf("%.2f %v\n", out[0], steps < 1000)
	// Output: [  0.00  25.00  50.00  75.00 100.00] true
}

// 8. Reductions and running combinations of one's own, several accumulators in one pass.
func Example_lesson8() {
	x := weft.FromSlice([]int64{3, 1, 4, 1, 5, 9, 2}, 7)
	fmt.Println(lessons.Func("Longer").Reduce(x), lessons.Func("Longer").Scan(x))
	s := kernel.MapReduce(lessons.Func("Seen"), lessons.Func("Join"), x.To(weft.Float64))
	fmt.Printf("mean %.3f, variance %.3f\n", s[1].Item(), s[2].Item()/s[0].Item())
	// Output:
	// 9 [3 3 4 4 5 9 9]
	// mean 3.571, variance 6.816
}

// 9. Kernels have gradients.
func Example_lesson9() {
	x := weft.FromSlice([]float64{-1, 0, 1}, 3).RequireGrad()
	lessons.Func("Softplus").Map(x).Sum().Backward()
	fmt.Printf("%.4f\n", x.Grad()) // the logistic function
	// Output: [0.2689 0.5000 0.7311]
}

// 10. Formulas call kernels, and what stands around becomes one piece with them.
func Example_lesson10() {
	x := weft.FromSlice([]float64{-1, 0, 1}, 3)
	fmt.Printf("%.4f\n", weft.Expr("f(2*x) - x", weft.Vars{"f": lessons.Func("Softplus"), "x": x}))
	// Output: [1.1269 0.6931 1.1269]
}
