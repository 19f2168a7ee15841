package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/par"
)

// A planeRun computes a depthwise convolution, or the gradient of its input, from the planes
// where they lie. A vector holds neighbours in a row, and a kernel goes down the plane. It reads
// each row once, for all rows of the result that need it, and transposes nothing. It requires
// AVX-512, for its masks.
type planeRun struct {
	tile.Machine
	n, channels  int
	src, dst     Image
	srcH, srcW   int
	outH, outW   int
	rowAt, colAt int // the source's row and column of the first tap of result 0, 0
	stepY, stepX int
	kh, kw       int
	back         bool // taps of a row go from right to left
	weights      unsafe.Pointer
	epilogue     tile.Epilogue
	ends         launch.Ends // of the epilogue, if ended
	ended        bool        // the kernel does all that the epilogue does
	bandH        int         // rows of the result that a column of vectors goes down
}

// planesForward computes a depthwise convolution by a planeRun, if that is possible. It reports
// whether it did.
func (g *Convolution) planesForward(y, x Image, w unsafe.Pointer) bool {
	return g.depthwise() && (&planeRun{n: g.N, channels: g.C, src: x, dst: y, srcH: g.H, srcW: g.W, outH: g.OutH(), outW: g.OutW(),
		rowAt: -g.PadH, colAt: -g.PadW, stepY: g.StrideH, stepX: g.StrideW}).withEnds(g.ends(y)).run(g, w)
}

func (r *planeRun) withEnds(e launch.Ends, ended bool) *planeRun {
	r.ends, r.ended = e, ended
	return r
}

// planesGradInput computes the gradient of the input by a planeRun. As taps ascend, its sums go
// up and left in the gradient of the result. So planes are read upside down.
func (g *Convolution) planesGradInput(dx, dy Image, w unsafe.Pointer) bool {
	upsideDown := func(m Image, rows int) Image {
		return Image{m.at(0, 0, rows-1, 0, g.DType.Size()), m.N, m.C, -m.H, m.W}
	}
	return g.depthwise() && max(g.StrideH, g.StrideW) == 1 && g.OutH() > 0 && (&planeRun{n: g.N, channels: g.C, src: upsideDown(dy, g.OutH()), dst: upsideDown(dx, g.H),
		srcH: g.OutH(), srcW: g.OutW(), outH: g.H, outW: g.W, rowAt: g.PadH - g.KH + 1, colAt: g.PadW, stepY: 1, stepX: 1, back: true}).run(g, w)
}

// depthwise reports whether the convolution is depthwise, with a geometry that a planeRun
// supports.
func (g *Convolution) depthwise() bool {
	return g.ISA == jit.AVX512 && g.Groups == g.C && g.Groups == g.O && g.Of == [2]array.DType{g.DType, g.DType} &&
		max(g.KH, g.KW) <= planeTaps && max(g.StrideH, g.StrideW) <= planeSteps && max(g.DilationH, g.DilationW) == 1
}

func (r *planeRun) run(g *Convolution, w unsafe.Pointer) bool {
	if r.src.W != 1 || r.dst.W != 1 || r.outW < planeWidth {
		return false
	}
	r.Machine, r.kh, r.kw, r.weights, r.epilogue = tile.New(g.ISA, g.DType), g.KH, g.KW, w, g.Epilogue
	r.bandH = max(planeRows, planeBytes/(planesTogether*r.Size*(r.stepY*r.srcW+r.outW)))
	// Lanes beside a row take as long as pixels.
	perTask := planesTask * r.outH * tile.Ceil(r.outW, r.Lanes) * r.Lanes * (planeWork*r.kh*r.kw + tile.EpilogueWork(r.epilogue))
	tasks := r.n * tile.Ceil(r.channels, planesTask)
	grain := 1
	if perTask < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / max(perTask, 1)
	}
	threads := tile.ThreadsFor(tasks*perTask, g.Threads)
	par.RunTask(tasks, min(grain, tile.Ceil(tasks, 2*threads)), threads, r)
	return true
}

// Chunk computes tasks begin to end-1: images, then some channels.
func (r *planeRun) Chunk(_, begin, end int) {
	each := tile.Ceil(r.channels, planesTask)
	for i := begin; i < end; i++ {
		image, first := i/each, i%each*planesTask
		last := min(first+planesTask, r.channels)
		for y := 0; y < r.outH; y += r.bandH {
			for c := first; c < last; {
				n := planesTogether
				if c+n > last {
					n = 1
				}
				r.planes(image, c, n, y, min(r.bandH, r.outH-y))
				c += n
			}
		}
		if r.epilogue != nil && !r.ended {
			r.epilogue.Run(image*r.channels+first, image*r.channels+last, 0, r.outH*r.outW)
		}
	}
}

// planes computes h rows of n planes from row y on, one column of vectors after the other.
func (r *planeRun) planes(image, channel, n, y, h int) {
	key := planeKey{r.Machine, r.kh, r.kw, r.stepY, r.stepX, n, r.back}
	code := codegen.Kernel(planeKernels, key)
	live := key.live()
	f := planeFrame{
		src: r.src.at(image, channel, 0, 0, r.Size), weights: unsafe.Add(r.weights, channel*r.kh*r.kw*r.Size),
		srcPlane: r.src.C * r.Size, dstPlane: r.dst.C * r.Size, srcRow: r.src.H * r.Size, dstRow: r.dst.H * r.Size,
		row: y*r.stepY + r.rowAt, height: r.srcH, skip: live - 1, steps: h + live - 1,
		low: r.ends.Low, high: r.ends.High,
	}
	if r.ends.Bias != nil {
		f.bias = unsafe.Add(r.ends.Bias, channel*r.Size)
	}
	if !r.ends.Bounded {
		f.low, f.high = launch.Unbounded(r.D)
	}
	for x := 0; x < r.outW; x += r.Lanes {
		f.dst = r.dst.at(image, channel, y, x, r.Size)
		col := x*r.stepX + r.colAt
		f.offset = (f.row*r.src.H + col) * r.Size
		for i := range key.loads() {
			// The columns of the lanes that exist.
			at := col + key.column(i, r.Lanes)
			lo, hi := min(max(0, -at), r.Lanes), min(max(0, r.srcW-at), r.Lanes)
			f.masks[i] = (1<<hi - 1) &^ (1<<lo - 1)
		}
		f.store = 1<<min(r.Lanes, r.outW-x) - 1
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}
