package written

import "math"

// Bessel functions: below 25 by Miller's recurrence downward, whose sum is 1, and Neumann's
// series for those of the second kind; from there on by Hankel's asymptotic series. Next to
// a zero their error is that of numbers around 1.

const euler = 0.57721566490153286060651209008240243

// bessel returns J0, J1, Y0 and Y1 of a positive number.
func bessel(x float64) (j0, j1, y0, y1 float64) {
	if x < 1e-5 {
		ln := math.Log(x) - math.Ln2 + euler
		q := x * x / 4
		j0 = 1 - q
		j1 = x / 2 * (1 - q/2)
		y0 = 2 / math.Pi * (ln*j0 + q)
		y1 = 2 / math.Pi * (ln*j1 - 1/x - x/4)
		return
	}
	if x >= 25 {
		return hankel(x)
	}
	next, f := 0.0, 1e-250 // of orders k+1 and k, up to a factor
	sum, s0, s1 := 0.0, 0.0, 0.0
	for k := 80; k > 0; k-- {
		before := float64(2*k)/x*f - next
		if k%2 == 0 {
			sum += 2 * f
			w := 1 / float64(k) // 1/2 of that of J of order k
			if k%4 != 0 {
				w = -w
			}
			s0 += w * f
			s1 += w * (before - next)
		}
		next, f = f, before
		if math.Abs(f) > 1e200 {
			next, f, sum, s0, s1 = next*1e-200, f*1e-200, sum*1e-200, s0*1e-200, s1*1e-200
		}
	}
	sum += f
	j0, j1 = f/sum, next/sum
	ln := math.Log(x) - math.Ln2 + euler
	y0 = 2/math.Pi*ln*j0 - 8/math.Pi*s0/sum
	y1 = 2/math.Pi*(ln*j1-j0/x) + 4/math.Pi*s1/sum
	return
}

func hankel(x float64) (j0, j1, y0, y1 float64) {
	s, c := math.Sincos(x)
	r := math.Sqrt(1 / (math.Pi * x)) // sqrt(2/(pi x)), and sqrt(1/2) of the angle
	var p, q [2]float64
	for n := range 2 {
		t := 1.0
		for k := range 26 {
			switch k % 4 {
			case 0:
				p[n] += t
			case 1:
				q[n] += t
			case 2:
				p[n] -= t
			case 3:
				q[n] -= t
			}
			m := float64(2*k + 1)
			t *= (float64(4*n) - m*m) / (float64(8*(k+1)) * x)
		}
	}
	j0 = r * (p[0]*(c+s) - q[0]*(s-c))
	y0 = r * (p[0]*(s-c) + q[0]*(c+s))
	j1 = r * (p[1]*(s-c) + q[1]*(s+c))
	y1 = r * (q[1]*(s-c) - p[1]*(s+c))
	return
}

func J0(x float64) float64 {
	x = math.Abs(x)
	if x == 0 {
		return 1
	}
	if math.IsInf(x, 0) {
		return 0
	}
	j, _, _, _ := bessel(x)
	return j
}

func J1(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return 0
	}
	_, j, _, _ := bessel(math.Abs(x))
	if x < 0 {
		return -j
	}
	return j
}

func Y0(x float64) float64 {
	if x < 0 {
		return math.NaN()
	}
	if x == 0 {
		return math.Inf(-1)
	}
	if math.IsInf(x, 0) {
		return 0
	}
	_, _, y, _ := bessel(x)
	return y
}

func Y1(x float64) float64 {
	if x < 0 {
		return math.NaN()
	}
	if x == 0 {
		return math.Inf(-1)
	}
	if math.IsInf(x, 0) {
		return 0
	}
	_, _, _, y := bessel(x)
	return y
}

func Jn(n int, x float64) float64 {
	if x != x {
		return x
	}
	sign := 1.0
	if n < 0 {
		n, x = -n, -x
	}
	if x < 0 && n%2 != 0 {
		sign = -1
	}
	x = math.Abs(x)
	if n == 0 {
		return J0(x)
	}
	if x == 0 || math.IsInf(x, 0) {
		return 0
	}
	if x < 1e-5 {
		t := 1.0
		for k := 1; k <= n && t != 0; k++ {
			t *= x / float64(2*k)
		}
		return sign * t * (1 - x*x/float64(4*n+4))
	}
	if float64(n) <= x {
		a, b, _, _ := bessel(x)
		for k := 1; k < n; k++ {
			a, b = b, float64(2*k)/x*b-a
		}
		return sign * b
	}
	next, f, sum, at := 0.0, 1e-250, 0.0, 0.0
	for k := 2 * ((n + 60 + int(math.Sqrt(40*float64(n)))) / 2); k > 0; k-- {
		before := float64(2*k)/x*f - next
		if k%2 == 0 {
			sum += 2 * f
		}
		if k == n {
			at = f
		}
		next, f = f, before
		if math.Abs(f) > 1e200 {
			next, f, sum, at = next*1e-200, f*1e-200, sum*1e-200, at*1e-200
		}
	}
	return sign * at / (sum + f)
}

func Yn(n int, x float64) float64 {
	if x < 0 || x != x {
		return math.NaN()
	}
	sign := 1.0
	if n < 0 {
		n = -n
		if n%2 != 0 {
			sign = -1
		}
	}
	if x == 0 {
		return sign * math.Inf(-1)
	}
	if math.IsInf(x, 0) {
		return 0
	}
	_, _, a, b := bessel(x)
	if n == 0 {
		return a
	}
	for k := 1; k < n && !math.IsInf(b, 0); k++ {
		a, b = b, float64(2*k)/x*b-a
	}
	return sign * b
}
