package weft_test

import (
	"fmt"

	"weft"
)

// Examples of what NumPy's users type daily.

func ExampleTensor_FMod() {
	x := weft.FromSlice([]float64{-7, 7})
	fmt.Println(x.FMod(3), x.Mod(3))
	q, r := x.DivMod(3)
	fmt.Println(q, r)
	// Output:
	// [-1.  1.] [2. 1.]
	// [-3.  2.] [2. 1.]
}

func ExampleTensor_RoundTo() {
	x := weft.FromSlice([]float64{3.14159, 0.125})
	fmt.Println(x.RoundTo(2), weft.FromSlice([]int64{1250, 1350}).RoundTo(-2))
	// Output: [3.14 0.12] [1200 1400]
}

func ExampleTensor_Frexp() {
	m, e := weft.FromSlice([]float64{8, -0.3}).Frexp()
	fmt.Println(m, e, m.Ldexp(e))
	// Output: [ 0.5 -0.6] [ 4 -1] [ 8.  -0.3]
}

func ExampleTensor_GCD() {
	x := weft.FromSlice([]int32{12, 18})
	fmt.Println(x.GCD(8), x.LCM(8))
	// Output: [4 2] [24 72]
}

func ExampleTensor_Degrees() {
	x := weft.FromSlice([]float64{0, 180, 90})
	fmt.Printf("%.4f\n", x.Radians())
	fmt.Println(x.Radians().Degrees())
	// Output:
	// [0.0000 3.1416 1.5708]
	// [  0. 180.  90.]
}

func ExampleTensor_LogAddExp() {
	x := weft.FromSlice([]float64{-1000, 0})
	fmt.Printf("%.4f\n", x.LogAddExp(x))
	// Output: [-999.3069    0.6931]
}
