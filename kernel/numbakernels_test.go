package kernel_test

import (
	"math"

	"weft/kernel"
)

// The kernels of Numba's own tests of @stencil, and of testdata/stencil.py, named by the call
// whose result they are to give.

func Basic00(a kernel.Near2[int64]) int64 { return a.At(0, 0) }

func Basic01(a kernel.Near2[float64]) float64 { return a.At(0, 1) }

func Basic02(a kernel.Near2[float64]) float64 { return a.At(0, -1) }

func Basic03(a kernel.Near2[float64]) float64 { return a.At(1, 0) }

func Basic04(a kernel.Near2[float64]) float64 { return a.At(-1, 0) }

func Basic05(a kernel.Near2[float64]) float64 { return a.At(-1, 1) }

func Basic06(a kernel.Near2[float64]) float64 { return a.At(1, -1) }

func Basic07(a kernel.Near2[float64]) float64 { return a.At(1, 1) }

func Basic08(a kernel.Near2[float64]) float64 { return a.At(-1, -1) }

func Basic09(a kernel.Near2[float64]) float64 { return a.At(-2, 2) }

func Basic10(a kernel.Near2[float64]) float64 { return a.At(0, 0) + a.At(1, 0) }

func Basic11(a kernel.Near2[float64]) float64 { return a.At(-1, 0) + a.At(1, 0) }

func Basic12(a kernel.Near2[float64]) float64 { return a.At(-1, 1) + a.At(1, -1) }

func Basic13(a kernel.Near2[float64]) float64 { return a.At(-1, -1) + a.At(1, 1) }

func Basic14(a kernel.Near2[float64]) complex128 { return complex(a.At(0, 0), 0) + 1i }

func Basic15(a kernel.Near2[float64]) float64 { return a.At(0, 0) + a.At(1, 0) + 1 }

func Basic17(a kernel.Near2[int64]) float64 { return float64(a.At(0, 0)+a.At(2, 0)) + 1 }

func Basic18(a kernel.Near2[int64]) float64 { return float64(a.At(0, 0)+a.At(-2, 0)) + 1 }

func Basic19(a kernel.Near2[int64]) float64 { return float64(a.At(0, 0)+a.At(0, 3)) + 1 }

func Basic20(a kernel.Near2[int64]) float64 { return float64(a.At(0, 0)+a.At(0, -3)) + 1 }

func Basic21(a kernel.Near2[int64]) float64 { return float64(a.At(0, 0)+a.At(0, 0)) + 1 }

func Basic22(a kernel.Near2[float64]) float64 { return a.At(1+0, 0) + a.At(0, 0) + 1 }

func Basic26(a kernel.Near3[int64]) float64 { return float64(a.At(0, 0, 0)-a.At(0, 1, 0)) + 1 }

func Basic27(a kernel.Near4[int64]) float64 { return float64(a.At(0, 0, 0, 0)-a.At(0, 1, 0, -1)) + 1 }

func Basic28(a kernel.Near2[float32]) float64 { return float64(a.At(0, 0)) + 10 }

func Basic30(a kernel.Near2[float32]) float32 { return a.At(-0, -0) }

func Basic35(a kernel.Near2[float64]) float64 { return a.At(0, 1) }

func Basic36(a kernel.Near2[float64]) float64 {
	return a.At(0, 1) + a.At(0, -1) + a.At(1, -1) + a.At(1, -1)
}

func Basic98(a kernel.Near2[float64]) float64 { return a.At(0, 0) }

func Basic14b(a kernel.Near2[float64]) complex128 {
	t := 1i
	return complex(a.At(0, 0), 0) + t
}

func Basic23(a kernel.Near2[float64]) float64 {
	x := math.Sin(10 + a.At(2, 1))
	return a.At(1+0, 0) + a.At(0, 0) + x
}

// What the result does not need counts all the same.
func Basic23a(a kernel.Near2[float64]) float64 {
	x := math.Sin(10 + a.At(2, 1))
	_ = x
	return a.At(1+0, 0) + a.At(0, 0)
}

func Basic31(a kernel.Near2[float32]) float32 {
	t := 1
	return a.At(t, 0)
}

func Basic31c(a kernel.Near1[float64]) float64 {
	t := 1
	return a.At(t)
}

// An array of no dimensions is a scalar parameter.
func Basic33(a kernel.Near2[float64], b float64) float64 { return a.At(0, 0) + b }

func Basic34(a kernel.Near2[int64]) float64 {
	g := 4 + float64(a.At(0, 1))
	return g + (float64(a.At(0, 1)+a.At(1, 0)+a.At(0, -1)) + math.Sin(float64(a.At(-2, 0))))
}

func Basic40(a, b kernel.Near2[float64]) float64 { return a.At(0, 1) + b.At(0, -2) }

func Basic43(a, b kernel.Near2[float64]) float64 {
	return a.At(0, 1) + a.At(1, 2) + b.At(-2, 0) + b.At(0, -1)
}

func Basic47(a, b, c kernel.Near2[float64]) float64 { return a.At(0, 1) + b.At(1, 0) + c.At(-1, 0) }

// Arrays that are read by their own index: a Clamped reads no element outside, and takes
// arrays of any shape.
func Basic49(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	return a.At(0, 1) + b.At(0, 3)
}

func Basic52(a kernel.Near2[float64], b kernel.Clamped2[float64], c kernel.Near2[float64]) float64 {
	return a.At(0, 1) + b.At(0, 1) + c.At(1, 2)
}

func Basic54(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	t := 2
	return a.At(0, 1) + b.At(0, t)
}

func Basic55(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	s := 1
	t := 2 - s
	return a.At(0, 1) + b.At(0, t)
}

func Basic56(a kernel.Near2[float64], b kernel.Array2[float64]) float64 {
	s := 1
	acc := 0.0
	for k := range b.Dim(1) {
		acc += b.At(0, k)
	}
	t := 2 - s - 1
	return a.At(0, 1) + b.At(0, t) + acc
}

func Basic57(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	return a.At(0, 1) + b.At(0, 1)
}

func Basic58(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	return a.At(0, 1) + (b.At(0, 1) + 1)
}

func Basic59(a kernel.Near2[float64], b kernel.Clamped2[float64], c int64) float64 {
	return a.At(0, 1) + b.At(1, 1) + float64(c)
}

func Basic62(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	return a.At(0, 1) + b.At(1, 1)
}

func Basic65(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -29; i < 1; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic66(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -29; i < 1; i++ {
		cumul += a.At(0)
	}
	return cumul / 30
}

func Basic67(a kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -5; i < 1; i++ {
		for j := -10; j < 1; j++ {
			cumul += a.At(i, j)
		}
	}
	return cumul / (10 * 5)
}

func Basic68(a kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -5; i < 1; i++ {
		for j := -10; j < 1; j++ {
			cumul += a.At(i, 0)
		}
	}
	return cumul / (10 * 5)
}

func Basic69(a kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -5; i < 1; i++ {
		for j := -10; j < 1; j++ {
			cumul += a.At(0, 0)
		}
	}
	return cumul / (10 * 5)
}

func Basic70(a kernel.Near2[float64]) float64 {
	cumul := 0.0
	zz := 12.0
	for i := -5; i < 1; i++ {
		t := zz + float64(i)
		for j := -10; j < 1; j++ {
			cumul += a.At(i, j) + t
		}
	}
	return cumul / (10 * 5)
}

func Basic71(a kernel.Near1[float64]) complex128 {
	cumul := 0i
	for i := -29; i < 1; i++ {
		k := 0i
		if i > -15 {
			k = 1i
		}
		cumul += complex(a.At(i), 0) + k
	}
	return cumul / 30
}

func Basic72(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -19; i < -3; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic73(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := 5; i < 11; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic73b(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -10; i < -4; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic74(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -5; i < 11; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic75(a kernel.Near1[float64]) float64 {
	cumul := 0.0
	for i := -10; i < -1; i++ {
		cumul += a.At(i)
	}
	return cumul / 30
}

func Basic76(a kernel.Near2[float64]) float64 {
	cumul := 0.0
	zz := 12.0
	for i := -3; i < 0; i++ {
		t := zz + float64(i)
		for j := -3; j < 4; j++ {
			cumul += a.At(i, j) + t
		}
	}
	return cumul / (10 * 5)
}

func Basic77(a, b kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -3; i < 1; i++ {
		for j := -3; j < 1; j++ {
			cumul += a.At(i, j) + b.At(i, j)
		}
	}
	return cumul / 9
}

func Basic78(a, b kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -6; i < -2; i++ {
		for j := -7; j < -1; j++ {
			cumul += a.At(i, j) + b.At(i, j)
		}
	}
	return cumul / 9
}

func Basic78b(a, b kernel.Near2[float64]) float64 {
	cumul := 0.0
	for i := -6; i < -2; i++ {
		for j := 2; j < 10; j++ {
			cumul += a.At(i, j) + b.At(i, j)
		}
	}
	return cumul / 9
}

func Basic80(a kernel.Near2[float64], b complex128) complex128 {
	cumul := 0i
	for i := -3; i < 1; i++ {
		for j := -3; j < 1; j++ {
			cumul += complex(a.At(i, j), 0) + b
		}
	}
	return cumul / 9
}

func Basic82(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	cumul := 0.0
	for i := -3; i < 1; i++ {
		for j := -3; j < 1; j++ {
			cumul += a.At(i, j) + b.At(1, 3)
		}
	}
	return cumul / 9
}

func addOne(x float64) float64 { return x + 1 }

func Basic84(a kernel.Near2[float64]) float64 { return a.At(0, 0) + addOne(a.At(0, 1)) }

func Basic87(__sentinel__ kernel.Near2[float64]) float64 { return __sentinel__.At(0, 0) }

// The name out is no other than others.
func Basic88(a kernel.Near2[float64], out float64) float64 { return out * a.At(0, 1) }

func Basic89(a kernel.Near2[float64]) float64 {
	if a.At(0, 1) > 10 {
		return 10
	} else if a.At(0, 3) < 8 {
		return a.At(0, 0)
	} else {
		return 7
	}
}

func Basic90(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 {
	res := Basic82(a, b)
	if res > 200 {
		return res + 1
	}
	return res
}

func Basic91(a kernel.Near2[float64]) float64 {
	b := 0.0
	if 2 == 0 {
		b = 2
	}
	return a.At(0, 0) + b
}

func Basic92(a kernel.Near2[bool]) bool {
	x := false
	for i := -1; i < 2; i++ {
		for j := -1; j < 2; j++ {
			x = x != a.At(i, j)
		}
	}
	return x
}

// The median of a window is a sort of it.
func Basic94(a kernel.Near2[uint32]) float64 {
	var w [9]uint32
	for i := range 9 {
		w[i] = a.At(i/3-1, i%3-1)
	}
	for i := range 5 {
		for j := i + 1; j < 9; j++ {
			w[i], w[j] = min(w[i], w[j]), max(w[i], w[j])
		}
	}
	return float64(w[4])
}

func Basic96(a kernel.Near1[uint32]) float64 {
	x, y, z := a.At(-1), a.At(0), a.At(1)
	return float64(max(min(x, y), min(max(x, y), z)))
}

func Stencil1(a kernel.Near2[int64]) float64 {
	return 0.25 * float64(a.At(0, 1)+a.At(1, 0)+a.At(0, -1)+a.At(-1, 0))
}

func Stencil2(a kernel.Near1[int64]) float64 {
	s := a.At(-5)
	for i := -4; i < 1; i++ {
		s += a.At(i)
	}
	return 0.3 * float64(s)
}

func Stencil2Window(a kernel.Near1[int64], w int) float64 {
	s := a.At(-w)
	for i := -w + 1; i < w+1; i++ {
		s += a.At(i)
	}
	return 0.3 * float64(s)
}

func Stencil3(a kernel.Near2[int64]) int64 { return a.At(-1, 0) + a.At(0, -1) }

func StandardIndexing1d(a kernel.Near1[int64], b kernel.Clamped1[float64]) float64 {
	return float64(a.At(-1))*b.At(0) + float64(a.At(0))*b.At(1)
}

// Indices of Wrapped arrays count from the end where they are negative.
func StandardIndexing2d(a kernel.Near2[int64], b kernel.Wrapped2[float64]) float64 {
	return float64(a.At(0, 1))*b.At(0, 1) + float64(a.At(1, 0))*b.At(1, 0) + float64(a.At(0, -1))*b.At(0, -1) + float64(a.At(-1, 0))*b.At(-1, 0)
}

func MultipleInputs(a, b kernel.Near2[int64]) float64 {
	return 0.25 * float64(a.At(0, 1)+a.At(1, 0)+a.At(0, -1)+a.At(-1, 0)+b.At(0, 1)+b.At(1, 0)+b.At(0, -1)+b.At(-1, 0))
}

func MultipleInputsScalar(a, b kernel.Near2[int64], w float64) float64 {
	return w * float64(a.At(0, 1)+a.At(1, 0)+a.At(0, -1)+a.At(-1, 0)+b.At(0, 1)+b.At(1, 0)+b.At(0, -1)+b.At(-1, 0))
}

func MixedTypes(a, b kernel.Near2[float64], s kernel.Near2[bool]) float64 {
	if s.At(0, 0) {
		return a.At(0, 0)
	}
	return b.At(0, 0)
}

func Call1D(a kernel.Near1[int64]) float64 { return 0.3 * float64(a.At(-1)+a.At(0)+a.At(1)) }

func CallConst(a kernel.Near1[int64], c int) float64 {
	return 0.3 * float64(a.At(-c)+a.At(0)+a.At(c))
}

func Nested1(a kernel.Near1[int64]) int64 {
	c := 2
	return a.At(-c + 1)
}

func Difference[T int64 | float64](a kernel.Near2[T]) T { return a.At(0, 0) - a.At(1, 0) }

func Cval300Uint8(a kernel.Near1[uint8]) uint8 { return a.At(1) }

func CvalBoolOfInt(a kernel.Near1[int64]) bool { return a.At(1) > 2 }

func BranchesUnited(a kernel.Near1[float64]) float64 {
	if a.At(0) > 3 {
		return a.At(2)
	}
	return a.At(-1)
}

func BranchNever(a kernel.Near1[float64]) float64 {
	x := a.At(0)
	if 2 == 0 {
		x = a.At(3)
	}
	return x
}

func ArraysUnited(a, b kernel.Near1[float64]) float64 { return a.At(1) + b.At(-2) }

func DtypesDiffer(a kernel.Near1[float64], b kernel.Near1[int8]) float64 {
	return a.At(1) + float64(b.At(-1))
}

func ZeroIsInside(a kernel.Near1[float64]) float64 { return a.At(2) + 0 }

func SmallerThanKernel(a kernel.Near1[float64]) float64 { return a.At(2) + a.At(-2) }

func Empty(a kernel.Near1[float64]) float64 { return a.At(1) + a.At(-1) }

func NeighborhoodWider(a kernel.Near1[float64]) float64 { return a.At(1) }

func NeighborhoodPositive(a kernel.Near1[float64]) float64 { return a.At(5) }
