package convolution

import (
	"unsafe"

	"weft/internal/cpu/tile"
)

// The elements of an input gradient that are a stride apart see the same taps. They form a phase,
// which is a correlation with stride 1.

// An axisPhase is the elements first, first+stride ... of one axis of an input.
type axisPhase struct {
	first, outputs int
	taps           []int // that reach them, ascending
	at             []int // for each of taps, the index into the gradient for the first element: falling
}

// axis returns the axis of the correlation over an output gradient of the given length.
func (p *axisPhase) axis(gradient int) axis {
	return axis{outputs: p.outputs, source: gradient, step: 1, at: p.at, falls: true}
}

// phasesOf returns the phases of an axis that taps reach, ascending.
func phasesOf(stride, size, pad, taps, dilation int) []axisPhase {
	// A tap reaches one phase, and taps that reach the same one are a period apart.
	numbers := make(map[int]int, min(stride, taps))
	var phases []axisPhase
	for k := range taps {
		r := (k*dilation - pad) % stride
		if r < 0 {
			r += stride
		}
		if r >= size {
			continue // beyond the input
		}
		i, ok := numbers[r]
		if !ok {
			i = len(phases)
			numbers[r] = i
			phases = append(phases, axisPhase{first: r, outputs: tile.Ceil(size-r, stride)})
		}
		p := &phases[i]
		p.taps = append(p.taps, k)
		p.at = append(p.at, (r+pad-k*dilation)/stride)
	}
	return phases
}

// eachPhase calls f for the phases of dx. f gets the epilogue if one phase covers all of dx.
// Otherwise eachPhase runs the epilogue after all phases. It writes zeros where no tap reaches.
func (g *Convolution) eachPhase(dx Image, f func(y, x *axisPhase, epilogue tile.Epilogue)) {
	rows := phasesOf(g.StrideH, g.H, g.PadH, g.KH, g.DilationH)
	cols := phasesOf(g.StrideW, g.W, g.PadW, g.KW, g.DilationW)
	stepY, stepX := min(g.StrideH, g.H), min(g.StrideW, g.W)
	if stepY*stepX == 1 && len(rows)*len(cols) == 1 {
		f(&rows[0], &cols[0], g.Epilogue)
		return
	}
	if len(rows) < stepY || len(cols) < stepX {
		size := g.DType.Size()
		for n := range g.N {
			for c := range g.C {
				for y := range g.H {
					zero(dx.at(n, c, y, 0, size), dx.W*size, g.W, size)
				}
			}
		}
	}
	for i := range rows {
		for j := range cols {
			f(&rows[i], &cols[j], nil)
		}
	}
	if g.Epilogue != nil {
		g.Epilogue.Run(0, g.N*g.C, 0, g.H*g.W)
	}
}

// zero writes zeros to n elements that lie step bytes apart.
func zero(p unsafe.Pointer, step, n, size int) {
	if step == size {
		clear(unsafe.Slice((*byte)(p), n*size))
		return
	}
	for i := range n {
		clear(unsafe.Slice((*byte)(unsafe.Add(p, i*step)), size))
	}
}

// phaseImage returns the elements of dx that are in a phase of rows and one of columns.
func (g *Convolution) phaseImage(dx Image, y, x *axisPhase) Image {
	return Image{dx.at(0, 0, y.first, x.first, g.DType.Size()), dx.N, dx.C, dx.H * g.StrideH, dx.W * g.StrideW}
}
