package product_test

import (
	"os"
	"strconv"
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/product"
)

// sampled returns the variants that are likely, and of the others some; all if WEFT_PTXAS_ALL is the
// major number of the capability, which takes minutes.
func sampled(major int) (out []product.Variant) {
	all := os.Getenv("WEFT_PTXAS_ALL") == strconv.Itoa(major)
	for i, v := range product.Variants(major >= 9) {
		likely := v.A.Of == v.DType && v.B.Of == v.DType && v.Vector && v.A.Vector == v.B.Vector && !v.Positive
		if likely || i%97 == 0 || all {
			out = append(out, v)
		}
	}
	for i, v := range product.WindowVariants(major >= 9) {
		// The likely ones are a convolution, the gradient of the input and that of the weights.
		likely := v.A.Of == v.DType && v.B.Of == v.DType && v.A.AlongK && (v.Vector || !v.Positive) && v.A.Vector == !v.Digits && v.B.AlongK == !v.Positive
		if likely || i%97 == 0 || all {
			out = append(out, v)
		}
	}
	return out
}

// NVIDIA's assembler spills no registers, but 16 to 20 bytes of three kernels that need 250 of them in
// 255. Beside the next smaller tile the shape of theirs is 15 % faster.
func TestPtxasSpillsNothing(t *testing.T) {
	for _, major := range []int{8, 9} {
		gridtest.SpillsNothingOn(t, major, lowered(sampled(major)), "matmul_float64_large_float64v_float64v_v_b_w",
			"matmul_float64_large_float64k_float64_v_b_w", "matmul_float64_large_float64_float64k_v_b_w")
	}
}

// Names tell kernels apart, of both capabilities.
func TestNamesTellKernelsApart(t *testing.T) {
	seen := map[string]product.Variant{}
	for _, wide := range []bool{false, true} {
		for _, v := range append(product.Variants(wide), product.WindowVariants(wide)...) {
			if w, ok := seen[v.Name()]; ok && w != v {
				t.Errorf("%+v and %+v have the name %s", v, w, v.Name())
			}
			seen[v.Name()] = v
		}
	}
}

func lowered(list []product.Variant) (kernels []*grid.Kernel) {
	for _, v := range list {
		kernels = append(kernels, product.Lower(v))
	}
	return kernels
}
