package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
)

// ready makes c a correlation with nothing filled in.
func (c *correlation) ready(g *Convolution) {
	*c = correlation{Machine: tile.New(g.ISA, g.DType), groups: g.Groups}
}

func (c *correlation) release() {
	*c = correlation{}
	correlations.Put(c)
}

func (g *Convolution) forward(y, x Image, w unsafe.Pointer) {
	if g.Groups > 1 && (g.planesForward(y, x, w) || g.narrowForward(y, x, w)) {
		return
	}
	if g.Groups > 1 && !g.together(g.O/g.Groups, g.C/g.Groups*g.KH*g.KW, g.OutH(), g.OutW()) {
		g.forwardGroups(y, x, w)
		return
	}
	if !g.useWinograd(g.OutH(), g.OutW()) {
		g.directForward(y, x, w)
		return
	}
	(&winograd{
		Machine: tile.New(g.ISA, g.DType), n: g.N, inC: g.C, outC: g.O, outH: g.OutH(), outW: g.OutW(), src: x, dst: y,
		srcH: g.H, srcW: g.W, rowAt: -g.PadH, colAt: -g.PadW, epilogue: g.Epilogue,
		weights: w, outStep: 9 * g.C, inStep: 9, step: winogradWeights, kept: g.Kept,
	}).run(g.Threads, func(image int) {
		one := g.one(image, g.O)
		one.directForward(y.image(image, g.DType), x.image(image, g.DType), w)
	})
}

// epilogueFrom is an epilogue for images whose first channel is row number row of the result.
type epilogueFrom struct {
	tile.Epilogue
	row int
}

func (t epilogueFrom) Run(r0, r1, c0, c1 int) { t.Epilogue.Run(t.row+r0, t.row+r1, c0, c1) }

// one returns the convolution of one image. channels is the number of channels of its result.
func (g *Convolution) one(image, channels int) Convolution {
	one := *g
	one.N = 1
	if one.Epilogue != nil {
		one.Epilogue = epilogueFrom{one.Epilogue, image * channels}
	}
	return one
}

// image returns one of a stack of images.
func (m Image) image(i int, d array.DType) Image {
	m.Ptr = m.at(i, 0, 0, 0, d.Size())
	return m
}

// directForward computes a convolution as the sum that defines it.
func (g *Convolution) directForward(y, x Image, w unsafe.Pointer) {
	if g.ISA == jit.Portable {
		if g.DType == array.Float32 {
			portableForward[float32](g, y, x, w)
		} else {
			portableForward[float64](g, y, x, w)
		}
		return
	}
	c := correlations.Get().(*correlation)
	c.ready(g)
	c.n, c.outC, c.outH, c.outW, c.stepY, c.stepX = g.N, g.O/g.Groups, g.OutH(), g.OutW(), g.StrideH, g.StrideW
	c.src, c.srcC, c.srcH, c.srcW, c.rowAt, c.colAt = x, g.C/g.Groups, g.H, g.W, -g.PadH, -g.PadW
	c.rows = (c.outH-1)*g.StrideH + (g.KH-1)*g.DilationH + 1
	c.cols = (c.outW-1)*g.StrideW + (g.KW-1)*g.DilationW + 1
	c.dst, c.epilogue, c.kept = y, g.Epilogue, g.Kept
	c.ends, c.ended = g.ends(y)
	k := c.srcC * g.KH * g.KW
	c.packWeights = func(to tile.Panel, group, o int) {
		c.Pack(to, tile.Mat{Ptr: unsafe.Add(g.weightsOf(w, group), o*k*c.Size), Row: k, Col: 1})
	}
	c.run(g.Threads, k, &g.Geometry, func(to []term) []term {
		for ch := range c.srcC {
			for kh := range g.KH {
				for kw := range g.KW {
					to = append(to, term{int32(ch), int32(kh * g.DilationH), int32(kw * g.DilationW)})
				}
			}
		}
		return to
	})
	c.release()
}

func (g *Convolution) gradInput(dx, dy Image, w unsafe.Pointer) {
	if g.Groups > 1 && (g.planesGradInput(dx, dy, w) || g.narrowGradInput(dx, dy, w)) {
		return
	}
	if g.Groups > 1 && !g.together(g.C/g.Groups, g.O/g.Groups*g.KH*g.KW, g.H, g.W) {
		g.gradInputGroups(dx, dy, w)
		return
	}
	if !g.useWinograd(g.H, g.W) {
		g.directGradInput(dx, dy, w)
		return
	}
	(&winograd{
		Machine: tile.New(g.ISA, g.DType), n: g.N, inC: g.O, outC: g.C, outH: g.H, outW: g.W, src: dy, dst: dx,
		srcH: g.OutH(), srcW: g.OutW(), rowAt: g.PadH - 2, colAt: g.PadW - 2, epilogue: g.Epilogue,
		weights: w, outStep: 9, inStep: 9 * g.C, step: winogradWeightsReversed,
	}).run(g.Threads, func(image int) {
		one := g.one(image, g.C)
		one.directGradInput(dx.image(image, g.DType), dy.image(image, g.DType), w)
	})
}

// directGradInput computes the gradient of the input as the sum that defines it.
func (g *Convolution) directGradInput(dx, dy Image, w unsafe.Pointer) {
	if g.ISA == jit.Portable {
		if g.DType == array.Float32 {
			portableGradInput[float32](g, dx, dy, w)
		} else {
			portableGradInput[float64](g, dx, dy, w)
		}
		return
	}
	g.eachPhase(dx, func(y, x *axisPhase, epilogue tile.Epilogue) { g.gradInputPhase(dx, dy, w, y, x, epilogue) })
}

// gradInputPhase computes the elements of dx of a phase.
func (g *Convolution) gradInputPhase(dx, dy Image, w unsafe.Pointer, y, x *axisPhase, epilogue tile.Epilogue) {
	c := correlations.Get().(*correlation)
	c.ready(g)
	kh, rows, kw, cols := y.taps, y.at, x.taps, x.at
	c.n, c.outC, c.stepY, c.stepX = g.N, g.C/g.Groups, 1, 1
	c.outH, c.outW = y.outputs, x.outputs
	c.src, c.srcC, c.srcH, c.srcW = dy, g.O/g.Groups, g.OutH(), g.OutW()
	c.dst, c.epilogue = g.phaseImage(dx, y, x), epilogue
	c.rows, c.cols = c.outH, c.outW
	if len(kh) > 0 && len(kw) > 0 {
		// Indices fall as taps rise.
		c.rowAt, c.colAt = rows[len(rows)-1], cols[len(cols)-1]
		c.rows += rows[0] - c.rowAt
		c.cols += cols[0] - c.colAt
	}
	terms := func(to []term) []term {
		for o := range c.srcC {
			for _, y := range rows {
				for _, x := range cols {
					to = append(to, term{int32(o), int32(y - c.rowAt), int32(x - c.colAt)})
				}
			}
		}
		return to
	}
	taps := g.KH * g.KW
	perO := len(kh) * len(kw)
	c.packWeights = func(to tile.Panel, group, ch int) {
		if perO == 0 {
			return
		}
		w := g.weightsOf(w, group)
		if taps == 1 {
			c.Pack(to, tile.Mat{Ptr: unsafe.Add(w, ch*c.Size), Row: 1, Col: c.outC})
			return
		}
		for o := range c.srcC {
			src := unsafe.Add(w, (o*c.outC+ch)*taps*c.Size)
			part := to
			part.Ptr, part.K = unsafe.Add(to.Ptr, o*perO*to.Pitch), perO
			if perO == taps {
				c.Pack(part, tile.Mat{Ptr: src, Row: taps, Col: 1})
				continue
			}
			for _, y := range kh {
				for _, x := range kw {
					row := tile.Mat{Ptr: unsafe.Add(src, (y*g.KW+x)*c.Size), Row: 0, Col: taps}
					tile.CopyMat(c.Machine, 1, to.Rows, tile.Mat{Ptr: part.Ptr, Row: 0, Col: 1}, row)
					part.Ptr = unsafe.Add(part.Ptr, to.Pitch)
				}
			}
		}
	}
	c.run(g.Threads, c.srcC*perO, nil, terms)
	c.release()
}
