package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/par"
)

// A convolution in groups is one convolution per group, over its own channels, and has the
// same bits. Large groups are computed one after the other, each with its own choice of what
// vectors hold. Many small groups, down to one channel each, are tasks of one correlation.

// group returns the convolution of one group. All groups have the same shape.
func (g *Convolution) group(i int) Convolution {
	one := *g
	one.C, one.O, one.Groups = g.C/g.Groups, g.O/g.Groups, 1
	return one
}

// epilogueOf returns the epilogue of a group whose results are the given number of channels from
// channel first on, of all channels in the result.
func (g *Convolution) epilogueOf(first, channels, all int) tile.Epilogue {
	if g.Epilogue == nil {
		return nil
	}
	return groupEpilogue{g.Epilogue, first, channels, all}
}

// A groupEpilogue is the epilogue of a group. Its rows are the group's channels of each image; it
// maps them to rows of the whole result, which has the channels of all groups.
type groupEpilogue struct {
	tile.Epilogue
	first, channels, all int
}

func (t groupEpilogue) Run(r0, r1, c0, c1 int) {
	for r0 < r1 {
		image, at := r0/t.channels, r0%t.channels
		n := min(t.channels-at, r1-r0)
		row := image*t.all + t.first + at
		t.Epilogue.Run(row, row+n, c0, c1)
		r0 += n
	}
}

// channels returns the images from a channel on.
func (m Image) channels(from int, d array.DType) Image {
	m.Ptr = unsafe.Add(m.Ptr, from*m.C*d.Size())
	return m
}

// weightsOf returns where the weights of a group begin.
func (g *Convolution) weightsOf(w unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(w, i*(g.O/g.Groups)*(g.C/g.Groups)*g.KH*g.KW*g.DType.Size())
}

// together reports whether all groups are best computed in one run, with pixels in the
// vectors. channels is the number of result channels of a group, terms the length of a sum,
// and h and w are the sizes of the result.
func (g *Convolution) together(channels, terms, h, w int) bool {
	one := g.group(0)
	lanes := tile.New(g.ISA, g.DType).Lanes
	return g.ISA != jit.Portable && !one.useWinograd(h, w) && (channels%lanes != 0 || terms < channelTerms)
}

func (g *Convolution) forwardGroups(y, x Image, w unsafe.Pointer) {
	if g.N == 0 {
		return
	}
	for i := range g.Groups {
		one := g.group(i)
		one.Kept = g.Kept.Further(i * one.O * one.C * g.KH * g.KW * g.DType.Size())
		one.Epilogue = g.epilogueOf(i*one.O, one.O, g.O)
		one.forward(y.channels(i*one.O, g.DType), x.channels(i*one.C, g.DType), g.weightsOf(w, i))
	}
}

func (g *Convolution) gradInputGroups(dx, dy Image, w unsafe.Pointer) {
	if g.N == 0 {
		return
	}
	for i := range g.Groups {
		one := g.group(i)
		one.Epilogue = g.epilogueOf(i*one.C, one.C, g.C)
		one.gradInput(dx.channels(i*one.C, g.DType), dy.channels(i*one.O, g.DType), g.weightsOf(w, i))
	}
}

func (g *Convolution) gradWeightGroups(dw unsafe.Pointer, x, dy Image) {
	if g.narrowGradWeight(dw, x, dy) {
		return
	}
	one := g.group(0)
	threads := tile.ThreadsFor(g.N*g.OutH()*g.OutW()*g.O*one.C*g.KH*g.KW, g.Threads)
	if threads > 1 && g.Groups >= tasksPerThread*threads {
		one.Threads = 1
	} else {
		threads = 1
	}
	par.Run(g.Groups, 1, threads, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			one, x, dy := one, x, dy
			if g.N > 0 { // else no channel is inside the allocation
				x, dy = x.channels(i*one.C, g.Of[0]), dy.channels(i*one.O, g.Of[1])
			}
			one.gradWeight(g.weightsOf(dw, i), x, dy)
		}
	})
}
