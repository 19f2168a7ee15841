package half_test

import (
	"fmt"

	"weft/half"
)

func Example() {
	x := half.NewFloat16(0.1)
	y := half.NewBFloat16(0.1)
	fmt.Println(x, x.Float32())
	fmt.Println(y, y.Float32())
	// Output:
	// 0.1 0.099975586
	// 0.1 0.100097656
}
