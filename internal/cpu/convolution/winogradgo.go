package convolution

import "unsafe"

// run does a transform in Go, on vectors of the given number of lanes.
func (f *winogradFrame) run(step winogradStep, lanes int) {
	switch step {
	case winogradSource:
		f.source(lanes)
	case winogradResult:
		f.result(lanes)
	default:
		f.weights(step == winogradWeightsReversed, lanes)
	}
}

func float32At(p unsafe.Pointer, bytes int) *float32 { return (*float32)(unsafe.Add(p, bytes)) }

// source computes B'dB of every tile d of four by four pixels, where the rows of B' are
// 1 0 -1 0, 0 1 1 0, 0 -1 1 0 and 0 1 0 -1.
func (f *winogradFrame) source(lanes int) {
	combine := func(a, b, c, d float32) [4]float32 { return [4]float32{a - c, b + c, c - b, b - d} }
	for t := range f.rows * f.tiles {
		y, x := 2*(t/f.tiles), 2*(t%f.tiles)
		for l := range lanes {
			pixel := func(i, j int) float32 { return *float32At(f.src, (y+i)*f.rowStep+((x+j)*lanes+l)*4) }
			var columns [4][4]float32
			for j := range columns {
				columns[j] = combine(pixel(0, j), pixel(1, j), pixel(2, j), pixel(3, j))
			}
			for i := range 4 {
				for j, v := range combine(columns[0][i], columns[1][i], columns[2][i], columns[3][i]) {
					*float32At(f.dst, (4*i+j)*f.matrixStep+t*f.tileStep+l*4) = v
				}
			}
		}
	}
}

// result computes A'mA of every tile m of four by four sums, where the rows of A' are
// 1 1 1 0 and 0 1 -1 -1.
func (f *winogradFrame) result(lanes int) {
	combine := func(a, b, c, d float32) [2]float32 { return [2]float32{a + b + c, b - c - d} }
	f.wild = [16]float32{}
	for t := range f.rows * f.tiles {
		y, x := 2*(t/f.tiles), 2*(t%f.tiles)
		for l := range lanes {
			sum := func(i, j int) float32 { return *float32At(f.src, (4*i+j)*f.matrixStep+t*f.tileStep+l*4) }
			var columns [4][2]float32
			for j := range columns {
				columns[j] = combine(sum(0, j), sum(1, j), sum(2, j), sum(3, j))
			}
			for i := range 2 {
				for j, v := range combine(columns[0][i], columns[1][i], columns[2][i], columns[3][i]) {
					if v-v != 0 {
						f.wild[l] = v - v
					}
					*float32At(f.dst, (y+i)*f.rowStep+((x+j)*lanes+l)*4) = v
				}
			}
		}
	}
}

// weights computes GgG' of the three by three weights g of every output channel of a strip
// and every input channel, where the rows of G are 1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2 and 0 0 1.
func (f *winogradFrame) weights(reversed bool, lanes int) {
	combine := func(a, b, c float32) [4]float32 {
		s := a + c
		return [4]float32{a, (s + b) * f.half, (s - b) * f.half, c}
	}
	width := winogradVectors * lanes
	for c := range f.tiles {
		for l := range width {
			tap := func(i, j int) float32 {
				t := 3*i + j
				if reversed {
					t = 8 - t
				}
				return *float32At(f.src, ((9*c+t)*width+l)*4)
			}
			var columns [3][4]float32
			for j := range columns {
				columns[j] = combine(tap(0, j), tap(1, j), tap(2, j))
			}
			for i := range 4 {
				for j, v := range combine(columns[0][i], columns[1][i], columns[2][i]) {
					*float32At(f.dst, (4*i+j)*f.matrixStep+c*f.tileStep+l*4) = v
				}
			}
		}
	}
}
