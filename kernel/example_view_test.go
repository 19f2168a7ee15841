package kernel_test

import (
	"fmt"
	"strings"

	"weft"
	"weft/kernel"
)

func ExampleFunc_View() {
	cube := kernel.MustParse("package k\n\nfunc Cube(x float64) float64 { return x * x * x }\n").Func("Cube")
	var page strings.Builder
	err := cube.View(&page, weft.OnesOf(weft.Float64, 1000))
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), err)
	fmt.Println(cube.View(nil, 1))
	// Output:
	// true <nil>
	// view: w: is nil
}
