package main

import "math"

// powers finds a shift such that the n powers 2^(j/n+shift) are nearly float32, and
// returns them and their largest relative error. The shift is negative, so that what
// is left to multiply with is above 1.
func powers(n int) (shift float64, table []float64, worst float64) {
	worst = 1
	for i := 1; i < 1<<26; i++ {
		s := float64(i) * -0x1p-33
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
