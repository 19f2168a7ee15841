package main

import "weft/kernel"

// Heat is one step of the heat equation: an element moves towards the mean of its six
// neighbours by 6*r of the way. Steps are stable up to r = 1/6.
func Heat(u kernel.Near3[float64], r float64) float64 {
	around := u.At(-1, 0, 0) + u.At(1, 0, 0) + u.At(0, -1, 0) + u.At(0, 1, 0) + u.At(0, 0, -1) + u.At(0, 0, 1)
	return u.At(0, 0, 0) + r*(around-6*u.At(0, 0, 0))
}

// Ball is 1 within a ball around the middle of a cube, and 0 elsewhere.
func Ball(e kernel.Elem, radius float64) float64 {
	d := 0.0
	for axis := range 3 {
		x := float64(e.Index(axis)) - float64(e.Dim(axis)-1)/2
		d += x * x
	}
	if d <= radius*radius {
		return 1
	}
	return 0
}

// Glow is the colour of a heat from 0 to 1: black, red, yellow, white.
func Glow(t float64) (r, g, b uint8) {
	return uint8(255 * min(1, 3*t)), uint8(255 * max(0, min(1, 3*t-1))), uint8(255 * max(0, min(1, 3*t-2)))
}
