package main

// Escape counts the steps in which z*z + c stays within the circle of radius 2, most at
// most.
func Escape(re, im float32, most int32) int32 {
	var x, y float32
	for n := range most {
		x, y = x*x-y*y+re, 2*x*y+im
		if x*x+y*y > 4 {
			return n
		}
	}
	return most
}

// Colour is black for points of the set, and else goes from blue over white to orange as
// the count rises.
func Colour(n, most int32) (r, g, b uint8) {
	if n == most {
		return 0, 0, 0
	}
	t := float32(n%64) / 64
	if t < 0.5 {
		return uint8(510 * t), uint8(40 + 430*t), uint8(110 + 290*t)
	}
	return 255, uint8(255 - 250*(t-0.5)), uint8(255 - 500*(t-0.5))
}
