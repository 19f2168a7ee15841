package kernel_test

import "weft/kernel"

// Escape counts the steps in which z*z + c leaves the circle of radius 2, 200 at most.
func Escape(cr, ci float32) int32 {
	var zr, zi float32
	for n := range int32(200) {
		zr, zi = float32(zr*zr)-float32(zi*zi)+cr, 2*float32(zr*zi)+ci
		if float32(zr*zr)+float32(zi*zi) > 4 {
			return n
		}
	}
	return 200
}

// Affine composes x*a + b of the left side and then that of the right side: associative,
// but in order.
func Affine(a, b, c, d float64) (float64, float64) { return a * c, b*c + d }

func Add(x, y int64) int64 { return x + y }

func Last[T int32 | float32 | float64](x, y T) T { return y }

// Moments combines count, mean and squared deviations (T. F. Chan, G. H. Golub, R. J.
// LeVeque, 1979).
func Moments(n, mean, m2, n1, mean1, m21 float64) (float64, float64, float64) {
	all := n + n1
	d := mean1 - mean
	return all, mean + d*n1/all, m2 + m21 + d*d*n*n1/all
}

func One(x float64) (float64, float64, float64) { return 1, x, 0 }

func Uneven(a kernel.Near2[float64]) float64 {
	return a.At(0, 0) + 2*a.At(-1, 0) - 3*a.At(1, 2) + 0.5*a.At(0, -1)
}

func Two(a, b kernel.Near1[float32], s float32) (float32, int32) {
	return a.At(-1)*s + b.At(1), int32(a.At(0))
}

func Box(a kernel.Near1[int64]) int64 {
	var s int64
	for d := -2; d <= 1; d++ {
		s += a.At(d)
	}
	return s
}

func Window(a kernel.Near1[float32], w int32) float32 {
	var s float32
	for d := -int(w); d <= int(w); d++ {
		s += a.At(d)
	}
	return s
}

func Seven(a kernel.Near3[float32]) float32 {
	return a.At(0, 0, 0) + a.At(1, 0, 0) + a.At(-1, 0, 0) + a.At(0, 1, 0) + a.At(0, -1, 0) + a.At(0, 0, 1) + a.At(0, 0, -1)
}

func Where(e kernel.Elem, a kernel.Near2[float32]) int64 {
	return int64(e.Index(0)*100+e.Index(1)) + int64(a.At(0, 0)) + int64(a.Dim(1)*10000+e.Dim(0)*1000000)
}

func Hypot3[T float32 | float64](x, y, z T) T { return x*x + y*y + z*z }

func DivMod(a, b int32) (q int32, r float64, even bool) {
	return a / b, float64(a % b), a%2 == 0
}

func Bilinear(grid kernel.Clamped2[float32], y, x float32) float32 {
	i, j := int(y), int(x)
	fy, fx := y-float32(i), x-float32(j)
	top := float32(grid.At(i, j)*(1-fx)) + float32(grid.At(i, j+1)*fx)
	low := float32(grid.At(i+1, j)*(1-fx)) + float32(grid.At(i+1, j+1)*fx)
	return float32(top*(1-fy)) + float32(low*fy)
}

func Noisy(e kernel.Elem, x float32) float32 {
	if x > 0 {
		return x + e.Rand()
	}
	return x + e.Randn() + e.Rand()
}

func Place(e kernel.Elem) int32 { return int32(e.Index(0)*1000 + e.Index(1)) }

func Rotate(z complex64, by complex64) complex64 { return z*by + 1 }

func Cube(x, y float64) (float64, float64) { return x * x * x * y, x + y*y }

func CubeGrad(x, y, dz, dw float64) (float64, float64) { return 2 * dz, 3 * dw }

func Diffuse(a kernel.Near2[float32]) float32 {
	return 0.25 * (a.At(0, 1) + a.At(0, -1) + a.At(1, 0) + a.At(-1, 0))
}

func Sum[T float32 | float64](x, y T) T { return x + y }

func SumTwice(x, y float64) float64 { return x + 2*y }
