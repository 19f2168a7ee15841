package main

import "weft/kernel"

// Live tells whether a cell lives in the next generation: three neighbours give life, two
// keep it.
func Live(w kernel.Near2[uint8]) uint8 {
	n := w.At(-1, -1) + w.At(-1, 0) + w.At(-1, 1) + w.At(0, -1) + w.At(0, 1) + w.At(1, -1) + w.At(1, 0) + w.At(1, 1)
	if n == 3 || n == 2 && w.At(0, 0) == 1 {
		return 1
	}
	return 0
}
