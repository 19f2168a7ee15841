package kernel

import "math"

// The kernels that tests compile: this file is also their source.

func add(a, b float64) float64 { return a + b }

func poly(x float32) float32 {
	const c = 0.1
	y := x*x + c
	y *= x - 3
	return -y / 7
}

func sign(x float64) int32 {
	if x < 0 {
		return -1
	} else if x > 0 {
		return 1
	}
	return 0
}

func escape(cr, ci float32) int32 {
	zr, zi := cr, ci
	for i := int32(0); i < 100; i++ {
		if zr*zr+zi*zi > 4 {
			return i
		}
		zr, zi = zr*zr-zi*zi+cr, 2*zr*zi+ci
	}
	return 100
}

func escape64(cr, ci float64) (n int64) {
	zr, zi := 0.0, 0.0
	for zr*zr+zi*zi <= 4 && n < 80 {
		t := zr*zr - zi*zi + cr
		zi = 2*zr*zi + ci
		zr = t
		n++
	}
	return
}

func collatz(x int64) (steps, top int64) {
	x = x&0xffff + 1
	for {
		if x > top {
			top = x
		}
		if x == 1 || steps > 50 {
			break
		}
		steps++
		if x%2 == 0 {
			x /= 2
			continue
		}
		x = 3*x + 1
	}
	return steps, top
}

func newton(a float64) float64 {
	a = math.Abs(a)
	x := a
	for i := 0; i < 8; i++ {
		if x == 0 {
			return 0
		}
		x = 0.5 * (x + a/x)
	}
	return x
}

func labels(n, m int32) int32 {
	n, m = n&15, m&15
	s := int32(0)
outer:
	for i := int32(0); i < n; i++ {
		for j := int32(0); j < m; j++ {
			if i*j == 30 {
				break outer
			}
			if (i+j)%7 == 6 {
				continue outer
			}
			if j == 5 {
				break
			}
			s += i ^ j
		}
		s *= 3
	}
	return s
}

func classify(x int32) int32 {
	switch y := x & 7; y {
	case 0, 1:
		return 10
	case 2:
		x++
		fallthrough
	case 3:
		x *= 2
	default:
		if x < 0 {
			break
		}
		x -= 100
	case 6:
		return x
	}
	switch {
	case x > 1000:
		x = 1
	case x > 10:
		x = 2
	}
	return x
}

func square(x float64) float64 { return x * x }

func clip(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

func calls(x, y float64) float64 {
	s := 0.0
	for i := range 5 {
		s += square(clip(x, -1, float64(i))) - y
	}
	return s
}

func logic(a, b bool, x int32) bool {
	return a && !b || x > 3 && a == b
}

func ranged(n int32) int32 {
	s := int32(0)
	for i := range n & 31 {
		if i == 20 {
			return s
		}
		s += i * i
	}
	return -s
}

func nested(x float64) float64 {
	r := 1.0
	if x > 0 {
		if x > 1 {
			for i := 0; i < 3; i++ {
				r = r*x - 1
				if r > 50 {
					return r
				}
			}
		} else {
			r = -x
		}
		r++
	}
	return r * 2
}

func shadows(x float64) float64 {
	y := x
	{
		y := y * 2
		y++
		x += y
	}
	if y := x - 1; y > 0 {
		x = y
	}
	for y := 0.0; y < 2; y++ {
		x += y
	}
	return x + y
}
