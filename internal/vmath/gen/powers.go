package main

import "math"

// powers finds a shift such that the n powers 2^(j/n+shift) are nearly float32, and
// returns them and their largest relative error. The shift is negative, so that what
// is left to multiply with is above 1.
func powers(n int) (shift float64, table []float64, worst float64) {
	worst = 1
	whole := make([]float64, n) // the powers without the shift
	for j := range whole {
		whole[j] = math.Exp2(float64(j) / float64(n))
	}
	near, step := 1.0, math.Exp2(-0x1p-33)
next:
	for i := 1; i < 1<<26; i++ {
		s := float64(i) * -0x1p-33
		// Products reject a shift in a tenth of the time of Exp2. Their error is less than 2^-38,
		// because every 4096th is computed by Exp2.
		if near *= step; i%4096 == 0 {
			near = math.Exp2(s)
		}
		for _, w := range whole {
			x := w * near
			if math.Abs(float64(float32(x))-x) > (worst+0x1p-38)*x {
				continue next
			}
		}
		top := 0.0
		for j := 0; j < n && top < worst; j++ {
			x := math.Exp2(float64(j)/float64(n) + s)
			top = max(top, math.Abs(float64(float32(x))/x-1))
		}
		if top < worst {
			worst, shift = top, s
		}
	}
	for j := range n {
		table = append(table, float64(float32(math.Exp2(float64(j)/float64(n)+shift))))
	}
	return shift, table, worst
}
