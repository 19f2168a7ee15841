package convolution

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

// A testImage is a stack of images in a slice.
type testImage[E tile.Element] struct {
	data []E
	Image
	origin int
}

// anyLayout is how many layouts of test images there are; the first two are contiguous.
const anyLayout = 5

// newTestImage lays out images of shape [n c h w]: contiguous, channels last, with
// gaps, or upside down.
func newTestImage[E tile.Element](r *rand.Rand, fill func(*rand.Rand, int) []E, layout, n, c, h, w int) testImage[E] {
	var s [4]int
	switch layout {
	case 0, 1:
		s = [4]int{c * h * w, h * w, w, 1}
	case 2:
		s = [4]int{c * h * w, 1, w * c, c}
	case 3:
		s = [4]int{c*h*(w+3) + 5, h * (w + 3), w + 3, 1}
	case 4:
		s = [4]int{c * h * w, h * w, -w, 1}
	}
	origin, size := 0, 1
	for i, d := range [4]int{n, c, h, w} {
		span := s[i] * max(d-1, 0)
		origin -= min(span, 0)
		size += max(span, -span)
	}
	t := testImage[E]{data: fill(r, size), origin: origin}
	t.Image = Image{unsafe.Pointer(&t.data[origin]), s[0], s[1], s[2], s[3]}
	return t
}

func (m *testImage[E]) get(n, c, y, x int) *E {
	return &m.data[m.origin+n*m.N+c*m.C+y*m.H+x*m.W]
}

// strides returns the offset of the first element and the strides of the images.
func (m *testImage[E]) strides() [5]int { return [5]int{m.origin, m.N, m.C, m.H, m.W} }

func randomGeometry(r *rand.Rand) Geometry {
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	g := Geometry{
		N: pick(1, 2, 3), C: pick(1, 2, 3, 7, 20), O: pick(1, 3, 6, 16, 33),
		KH: pick(1, 2, 3, 5), KW: pick(1, 2, 3, 5), StrideH: pick(0, 1, 1, 2, 3), StrideW: pick(0, 1, 1, 2, 3),
		PadH: pick(0, 0, 1, 2), PadW: pick(0, 0, 1, 2), DilationH: pick(0, 1, 2), DilationW: pick(0, 1, 2),
	}
	g.H = max(g.KH-1, 0)*max(g.DilationH, 1) + 1 + r.IntN(12)
	g.W = max(g.KW-1, 0)*max(g.DilationW, 1) + 1 + r.IntN(36)
	return g
}

// Groups of channels: down to one each, with several results for each, and large ones whose
// vectors hold channels or which Winograd's algorithm computes.
func TestConvGroups(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(12, 5))
		pick := func(v ...int) int { return v[r.IntN(len(v))] }
		for range 15 {
			g := randomGeometry(r)
			g.Groups = pick(2, 3, 5, 17)
			g.C, g.O = g.Groups*pick(1, 1, 2, 3), g.Groups*pick(1, 1, 2, 3, 16)
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, cputest.Random[float32], wild[float32])
			g.N = 1
			testConv[float64](t, r, g)
		}
		testConv[float32](t, r, Geometry{N: 2, C: 16, H: 9, W: 14, O: 32, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 2})
		testConv[float32](t, r, Geometry{N: 2, C: 64, H: 9, W: 14, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 2})
		testConv[float32](t, r, Geometry{N: 19, C: 4, H: 4, W: 4, O: 6, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 2})
		testConv[float32](t, r, Geometry{N: 2, C: 200, H: 6, W: 7, O: 4, KH: 3, KW: 3, Groups: 2}) // blocks of terms
		testConv[float32](t, r, Geometry{N: 2, C: 64, H: 9, W: 9, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 64})
		// Filters wider than a tile has rows, whose taps are apart.
		testConv[float32](t, r, Geometry{N: 2, C: 2, H: 5, W: 70, O: 33, KH: 2, KW: 17, PadW: 3, DilationH: 2, DilationW: 3})
		// Vectors of groups: of eight channels, with phases, some without a tap, and in bands.
		testConv[float32](t, r, Geometry{N: 2, C: 64, H: 9, W: 14, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 8})
		testConv[float32](t, r, Geometry{N: 2, C: 56, H: 11, W: 13, O: 40, KH: 3, KW: 2, PadH: 1, PadW: 1, StrideH: 2, StrideW: 3, DilationH: 2, DilationW: 2, Groups: 8})
		testConv[float64](t, r, Geometry{N: 1, C: 9, H: 11, W: 13, O: 18, KH: 1, KW: 2, StrideH: 3, StrideW: 4, Groups: 9})
		testConv[float32](t, r, Geometry{N: 1, C: 8, H: 100, W: 60, O: 8, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 8})
		testConv[float32](t, r, Geometry{N: 1, C: 9, H: 99, W: 60, O: 9, KH: 5, KW: 3, PadH: 2, PadW: 1, StrideH: 2, StrideW: 2, Groups: 9})
		testConv[float32](t, r, Geometry{N: 1, C: 8, H: 30, W: 30, O: 8, KH: 4, KW: 14, PadH: 1, PadW: 5, Groups: 8})
	})
}

// Depthwise convolutions whose planes are read in place: fewer and more planes than a kernel
// takes side by side, several columns of vectors and bands of rows, strides, and padding wider
// than the filter.
func TestConvDepthwise(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(3, 5))
		pick := func(v ...int) int { return v[r.IntN(len(v))] }
		for range 12 {
			n := pick(1, 2, 3, 4, 5, 9, 13)
			g := Geometry{N: pick(1, 2), C: n, O: n, Groups: n, KH: 1 + r.IntN(5), KW: 1 + r.IntN(5), StrideH: 1 + r.IntN(2), StrideW: 1 + r.IntN(2), PadH: r.IntN(6), PadW: r.IntN(6)}
			g.H, g.W = max(1, g.KH-2*g.PadH)+r.IntN(9), max(1, g.KW-2*g.PadW)+r.IntN(44)
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, tiny[float32], tiny[float32])
			testConvOf(t, r, g, anyLayout, wild[float32], wild[float32])
			testConv[float64](t, r, g)
		}
		testConv[float32](t, r, Geometry{N: 1, C: 5, H: 70, W: 200, O: 5, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 5})
		testConv[float32](t, r, Geometry{N: 1, C: 4, H: 99, W: 150, O: 4, KH: 5, KW: 4, PadH: 1, PadW: 2, StrideH: 2, StrideW: 2, Groups: 4})
	})
}

// One image for several threads: pieces of a row of pixels, strips of channels alone, both, and strips
// of Winograd's products. Numbers of threads do not divide them.
func TestConvOfOneImage(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(31, 5))
		for range 2 {
			testConv[float32](t, r, Geometry{N: 1, C: 100, H: 13, W: 14, O: 32, KH: 1, KW: 1})
			testConv[float32](t, r, Geometry{N: 1, C: 60, H: 7, W: 7, O: 160, KH: 1, KW: 1})
			testConv[float32](t, r, Geometry{N: 1, C: 50, H: 9, W: 11, O: 96, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2})
			testConv[float32](t, r, Geometry{N: 1, C: 32, H: 7, W: 8, O: 160, KH: 3, KW: 3, PadH: 1, PadW: 1})
			testConv[float32](t, r, Geometry{N: 1, C: 6, H: 37, W: 30, O: 50, KH: 1, KW: 1})
			testConv[float32](t, r, Geometry{N: 1, C: 6, H: 24, W: 30, O: 50, KH: 1, KW: 1}) // planes of 45 vectors, or 90
			testConv[float64](t, r, Geometry{N: 2, C: 6, H: 12, W: 22, O: 50, KH: 1, KW: 1})
		}
	})
}

func TestConv(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		for seed := range uint64(16) {
			r := rand.New(rand.NewPCG(seed, 5))
			g := randomGeometry(r)
			testConv[float32](t, r, g)
			g.N = 1
			testConv[float64](t, r, g)
		}
		r := rand.New(rand.NewPCG(9, 9))
		testConv[float32](t, r, Geometry{N: 2, C: 64, H: 9, W: 40, O: 30, KH: 3, KW: 3, PadH: 1, PadW: 1})
		testConv[float32](t, r, Geometry{N: 2, C: 2, H: 3, W: 50, O: 5, KH: 2, KW: 13})
		testConv[float64](t, r, Geometry{N: 2, C: 1, H: 3, W: 50, O: 20, KH: 2, KW: 31, StrideW: 2, PadW: 3})
		testConv[float32](t, r, Geometry{N: 1, C: 700, H: 7, W: 7, O: 10, KH: 1, KW: 1})
		testConv[float32](t, r, Geometry{N: 1, C: 5, H: 70, W: 70, O: 600, KH: 1, KW: 1, StrideH: 9, StrideW: 9})
	})
}

// Shapes for which output channels may go into the vectors.
func TestConvChannels(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(7, 7))
		for range 4 {
			pick := func(v ...int) int { return v[r.IntN(len(v))] }
			g := Geometry{N: pick(1, 2, 3), C: pick(8, 16, 32, 40), O: pick(4, 8, 16, 32), H: 2 + r.IntN(6), W: pick(6, 7, 12, 14, 24, 28, 37),
				KH: pick(1, 3, 4), KW: pick(2, 3, 5), StrideH: pick(1, 1, 2), StrideW: pick(1, 1, 2), PadH: pick(0, 1, 2), PadW: pick(0, 1, 2),
				DilationH: pick(1, 1, 2), DilationW: pick(1, 1, 2)}
			g.H, g.W = g.H+(g.KH-1)*g.DilationH, g.W+(g.KW-1)*g.DilationW
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, tiny[float32], tiny[float32])
			testConvOf(t, r, g, anyLayout, cputest.Random[float32], wild[float32])
			g.N = 1
			testConv[float64](t, r, g)
			testConvOf(t, r, g, anyLayout, cputest.Random[float64], wild[float64])
		}
	})
}

// Shapes for which the gradient of the weights has taps in its vectors.
func TestConvTaps(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(8, 8))
		for range 12 {
			pick := func(v ...int) int { return v[r.IntN(len(v))] }
			g := Geometry{N: pick(1, 3), C: pick(1, 1, 2, 3), O: pick(1, 3, 6, 7), KH: pick(1, 2, 5, 7, 9), KW: pick(2, 3, 5, 7, 8, 16),
				StrideH: pick(1, 2), StrideW: pick(1, 1, 2), PadH: pick(0, 0, 1), PadW: pick(0, 0, 2), DilationH: pick(1, 1, 2)}
			g.H, g.W = (g.KH-1)*g.DilationH+1+r.IntN(12), g.KW+r.IntN(25)
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, tiny[float32], tiny[float32])
			testConvOf(t, r, g, anyLayout, wild[float32], cputest.Random[float32])
			testConv[float64](t, r, g)
		}
	})
}

// Shapes for which images may go into the vectors.
func TestConvImages(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(6, 6))
		for range 10 {
			pick := func(v ...int) int { return v[r.IntN(len(v))] }
			g := Geometry{N: pick(8, 16, 17, 30, 40, 67), C: pick(1, 2, 6, 11), O: pick(1, 3, 7), KH: pick(1, 3, 5), KW: pick(2, 3, 5),
				StrideH: pick(1, 1, 2), StrideW: pick(1, 1, 2), PadH: pick(0, 1, 2), PadW: pick(0, 1, 2), DilationH: pick(1, 1, 2)}
			g.H, g.W = (g.KH-1)*g.DilationH+1+r.IntN(4), g.KW+r.IntN(4)
			testConvOf(t, r, g, 2, cputest.Random[float32], cputest.Random[float32])
			testConvOf(t, r, g, 2, tiny[float32], tiny[float32])
			testConvOf(t, r, g, 2, wild[float32], wild[float32])
			testConvOf(t, r, g, 2, cputest.Random[float64], cputest.Random[float64])
		}
		// Blocks that begin and end within a channel.
		testConvOf(t, r, Geometry{N: 16, C: 1, H: 17, W: 4, O: 3, KH: 17, KW: 17, PadH: 8, PadW: 8}, 2, cputest.Random[float32], cputest.Random[float32])
		testConvOf(t, r, Geometry{N: 20, C: 13, H: 5, W: 4, O: 12, KH: 5, KW: 5, PadH: 2, PadW: 2}, 2, cputest.Random[float32], cputest.Random[float32])
	})
}

// tiny returns numbers whose products are below the smallest float32, of both signs.
func tiny[E tile.Element](r *rand.Rand, n int) []E {
	s := cputest.Random[E](r, n)
	for i := range s {
		s[i] *= 1e-30
	}
	return s
}

// wild returns random numbers; one of them may be infinite or NaN.
func wild[E tile.Element](r *rand.Rand, n int) []E {
	s := cputest.Random[E](r, n)
	if n > 0 {
		s[r.IntN(n)] = E(math.Inf(r.IntN(3) - 1))
	}
	return s
}

func testConv[E tile.Element](t *testing.T, r *rand.Rand, g Geometry) {
	t.Helper()
	testConvOf(t, r, g, anyLayout, cputest.Random[E], cputest.Random[E])
}

// halfTypes lists the operand types with which each float32 convolution is tested again.
var halfTypes = [...][2]array.DType{{array.Float16, array.Float16}, {array.BFloat16, array.BFloat16}, {array.BFloat16, array.Float32}, {array.Float32, array.Float16}}

// halved rounds numbers to type d and returns them as that: themselves if it is their own.
func halved[E tile.Element](d array.DType, s []E) unsafe.Pointer {
	if !d.Half() {
		return unsafe.Pointer(unsafe.SliceData(s))
	}
	bits := make([]uint16, len(s)+1)
	for i, x := range s {
		if d == array.Float16 {
			h := half.NewFloat16(float32(x))
			bits[i], s[i] = uint16(h), E(h.Float32())
		} else {
			h := half.NewBFloat16(float32(x))
			bits[i], s[i] = uint16(h), E(h.Float32())
		}
	}
	return unsafe.Pointer(&bits[0])
}

// as rounds the images to type d and returns them as that.
func (m *testImage[E]) as(d array.DType) Image {
	image := m.Image
	image.Ptr = unsafe.Add(halved(d, m.data), m.origin*d.Size())
	return image
}

// wanted keeps results by definition, since every instruction set must give the same ones.
var wanted cputest.Memo

// testConvOf compares with the definition, with images and weights as given, in one of the
// first layouts.
func testConvOf[E tile.Element](t *testing.T, r *rand.Rand, g Geometry, layouts int, pixels, weights func(*rand.Rand, int) []E) {
	t.Helper()
	d := cputest.DtypeOf[E]()
	testConvTypes(t, r, g, layouts, [2]array.DType{d, d}, pixels, weights)
	if d == array.Float32 && r.IntN(4) == 0 {
		defer func(old int) { pieceBytes = old }(pieceBytes)
		pieceBytes = 1 << (8 + r.IntN(8))
		testConvTypes(t, r, g, layouts, halfTypes[r.IntN(len(halfTypes))], pixels, weights)
	}
}

// testConvTypes is testConvOf with operands rounded to the types of.
func testConvTypes[E tile.Element](t *testing.T, r *rand.Rand, g Geometry, layouts int, of [2]array.DType, pixels, weights func(*rand.Rand, int) []E) {
	t.Helper()
	d := cputest.DtypeOf[E]()
	if r.IntN(2) == 0 {
		defer func(old int) { bandMost = old }(bandMost)
		bandMost = 1 + r.IntN(6) // rows of several pieces
	}
	c := &trial[E]{Geometry: g, of: of, threads: []int{1, 2, 5}[r.IntN(3)]}
	conv := Convolution{ISA: cputest.UnderTest, DType: d, Of: of, Geometry: g, Threads: c.threads}
	conv.check("test")
	c.full, c.inC, c.outC, c.oh, c.ow = conv.Geometry, g.C/conv.Groups, g.O/conv.Groups, g.OutH(), g.OutW()
	one := conv.group(0)
	c.x = newTestImage(r, pixels, r.IntN(layouts), g.N, g.C, g.H, g.W)
	y := newTestImage(r, cputest.Random[E], r.IntN(layouts), g.N, g.O, c.oh, c.ow)
	c.w = weights(r, g.O*c.inC*g.KH*g.KW)
	xs, ws := c.x.as(of[0]), halved(of[1], c.w)

	// setEpilogue sets the epilogue where the result is contiguous, for three of four.
	setEpilogue := func(m testImage[E], channels, h, w int) {
		conv.Epilogue = nil
		if m.Image == ContiguousImage(m.Ptr, channels, h, w) && r.IntN(4) > 0 {
			conv.Epilogue = cputest.Epilogue[E]{Data: m.data, Cols: h * w}
		}
	}
	before := y.clone()
	setEpilogue(y, g.O, c.oh, c.ow)
	cputest.BothKernels(t, y.data, func() { conv.Forward(y.Image, xs, ws) })
	winograd := one.useWinograd(c.oh, c.ow)
	want := c.recall(fmt.Sprint("convolution, Winograd ", winograd), c.x, func() []E { return c.forward(winograd) })
	c.compare(t, "convolution", y, before, [4]int{g.N, g.O, c.oh, c.ow}, want, conv.Epilogue != nil)

	c.dy = newTestImage(r, pixels, r.IntN(layouts), g.N, g.O, c.oh, c.ow)
	dx := newTestImage(r, cputest.Random[E], r.IntN(layouts), g.N, g.C, g.H, g.W)
	before = dx.clone()
	setEpilogue(dx, g.C, g.H, g.W)
	cputest.BothKernels(t, dx.data, func() { conv.GradInput(dx.Image, c.dy.as(of[0]), ws) })
	winograd = one.useWinograd(g.H, g.W)
	want = c.recall(fmt.Sprint("gradient of the input, Winograd ", winograd), c.dy, func() []E { return c.gradInput(winograd) })
	c.compare(t, "gradient of the input", dx, before, [4]int{g.N, g.C, g.H, g.W}, want, conv.Epilogue != nil)

	dw := cputest.Random[E](r, len(c.w))
	cputest.BothKernels(t, dw, func() { conv.GradWeight(unsafe.Pointer(unsafe.SliceData(dw)), xs, c.dy.as(of[1])) })
	want = cputest.Recall(&wanted, fmt.Sprintf("gradient of the weights %+v %v %v", c.full, c.x.strides(), c.dy.strides()), [][]E{c.x.data, c.dy.data}, c.gradWeight)
	for i, v := range want {
		if !cputest.SameBits(dw[i], v) {
			t.Fatalf("gradient of the weights of %+v, %d threads: element %d is %v, not %v", g, c.threads, i, dw[i], v)
		}
	}
}

// TestConvStaysInOperands puts every operand against an inaccessible page, at its end and at its
// beginning.
func TestConvStaysInOperands(t *testing.T) {
	cputest.EveryGuard(t, testConvGuard[float32], testConvGuard[float64])
}

func testConvGuard[E tile.Element](t *testing.T, place func(int) (*guard.Buffer, error)) {
	d := cputest.DtypeOf[E]()
	size := d.Size()
	operand, halfOperand := cputest.GuardedMemory(t, size, place), cputest.GuardedMemory(t, 2, place)
	r := rand.New(rand.NewPCG(10, 11))
	shapes := []Geometry{ // by images, and by Winograd's algorithm
		{N: 41, C: 3, H: 7, W: 6, O: 7, KH: 5, KW: 5, PadH: 2, PadW: 2}, {N: 16, C: 6, H: 9, W: 9, O: 11, KH: 5, KW: 4},
		{N: 2, C: 32, H: 13, W: 15, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1}, {N: 1, C: 64, H: 9, W: 20, O: 32, KH: 3, KW: 3},
		{N: 1, C: 64, H: 9, W: 9, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 64}, {N: 1, C: 64, H: 9, W: 9, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 2},
	}
	for i := range 200 {
		g := randomGeometry(r)
		if i >= 150 {
			g.Groups = 1 + r.IntN(4)
			g.C, g.O = g.Groups*(1+r.IntN(2)), g.Groups*(1+r.IntN(3))
		}
		shapes = append(shapes, g)
	}
	for _, g := range shapes {
		full := g
		oh, ow := full.OutH(), full.OutW()
		if max(g.N*g.C*g.H*g.W, g.N*g.O*oh*ow)*size > cputest.LargestGuarded {
			continue
		}
		pixels, results, weights := g.N*g.C*g.H*g.W, g.N*g.O*oh*ow, g.O*g.C/max(g.Groups, 1)*g.KH*g.KW
		of := [2]array.DType{d, d}
		if d == array.Float32 && r.IntN(3) == 0 {
			of = halfTypes[r.IntN(len(halfTypes))]
		}
		// at returns memory for n elements of operand i; its type is that of argument j.
		at := func(i, j, n int) unsafe.Pointer {
			if of[j].Half() {
				return halfOperand(i, n)
			}
			return operand(i, n)
		}
		image := func(i, j int) Image {
			if i == 0 {
				return ContiguousImage(at(0, j, pixels), g.C, g.H, g.W)
			}
			return ContiguousImage(at(1, j, results), g.O, oh, ow)
		}
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Fatalf("%s of %v, %+v: %v", d, of, g, e)
				}
			}()
			c := Convolution{ISA: cputest.UnderTest, DType: d, Of: of, Geometry: g, Threads: 1 + r.IntN(2)}
			x, y := ContiguousImage(operand(0, pixels), g.C, g.H, g.W), ContiguousImage(operand(1, results), g.O, oh, ow)
			c.Forward(y, image(0, 0), at(2, 1, weights))
			c.GradInput(x, image(1, 0), at(2, 1, weights))
			c.GradWeight(operand(2, weights), image(0, 0), image(1, 1))
		}()
	}
}

// TestConvWithoutTerms computes sums of no terms from operands that have no memory.
func TestConvWithoutTerms(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		const m, n = 33, 50
		c := make([]float32, m*n)
		check := func(what string) {
			t.Helper()
			for i, v := range c {
				if v != 0 {
					t.Fatalf("%s: element %d is %v, not 0", what, i, v)
				}
				c[i] = 7
			}
		}
		for i := range c {
			c[i] = 7
		}
		p := unsafe.Pointer(&c[0])
		Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{N: 1, H: 11, W: 50, O: 3, KH: 1, KW: 1}, Threads: 2}.Forward(ContiguousImage(p, 3, 11, 50), Image{nil, 0, 9, 50, 1}, nil)
		check("a convolution")
		Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{N: 1, H: 11, W: 50, C: 3, KH: 1, KW: 1}, Threads: 2}.GradInput(ContiguousImage(p, 3, 11, 50), Image{nil, 0, 9, 50, 1}, nil)
		check("a gradient of the input")
		Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{C: 50, O: 33, H: 5, W: 5, KH: 1, KW: 1}, Threads: 2}.GradWeight(p, Image{nil, 9, 9, 9, 1}, Image{nil, 9, 9, 9, 1})
		check("a gradient of the weights")
	})
}

func TestConvMisusePanics(t *testing.T) {
	var x [4]float32
	im := Image{Ptr: unsafe.Pointer(&x), W: 1}
	for name, f := range map[string]func(){
		"an empty kernel": func() {
			Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{N: 1, C: 1, H: 1, W: 1, O: 1}, Threads: 1}.Forward(im, im, im.Ptr)
		},
		"convolving integers": func() {
			Convolution{ISA: cputest.UnderTest, DType: array.Int8, Geometry: Geometry{KH: 1, KW: 1}, Threads: 1}.Forward(im, im, im.Ptr)
		},
		"a step backwards": func() {
			Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{KH: 1, KW: 1, StrideW: -1}, Threads: 1}.Forward(im, im, im.Ptr)
		},
		"groups that do not divide": func() {
			Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{KH: 1, KW: 1, C: 4, O: 3, Groups: 2}, Threads: 1}.Forward(im, im, im.Ptr)
		},
		"padding below nothing": func() {
			Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: Geometry{KH: 1, KW: 1, PadH: -1}, Threads: 1}.GradInput(im, im, im.Ptr)
		},
	} {
		var e *array.Error
		if err := array.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v is not a *array.Error", name, err)
		}
	}
}

// The sparse path gives the bits of the sum that defines a convolution. It is tested with any
// geometry, and with large padding, strides and dilations.
func TestConvSparse(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(26, 2))
		for _, g := range []Geometry{
			{N: 2, C: 2, H: 4, W: 5, O: 3, KH: 3, KW: 2, StrideH: 1 << 29, StrideW: 1 << 28, PadH: 1 << 29, PadW: 1 << 28},
			{N: 1, C: 2, H: 4, W: 5, O: 3, KH: 3, KW: 2, StrideH: 2001, StrideW: 1999, PadH: 2000, PadW: 2000},
			{N: 2, C: 4, H: 4, W: 5, O: 2, KH: 3, KW: 3, PadH: 1 << 29, PadW: 1 << 29, DilationH: 1 << 29, DilationW: 1 << 29, Groups: 2},
			{N: 1, C: 1, H: 40, W: 40, O: 2, KH: 40, KW: 40},
			{N: 1, C: 2, H: 3, W: 3, O: 2, KH: 60, KW: 4, PadH: 59, PadW: 3, Groups: 2},
			{N: 1, C: 2, H: 900, W: 3, O: 2, KH: 2, KW: 2, StrideH: 800, StrideW: 5}, // phases without taps
			{N: 1, C: 2, H: 1, W: 7, O: 2, KH: 1, KW: 1, StrideH: 2, StrideW: 3, PadH: 1, PadW: 1},
		} {
			testConv[float32](t, r, g)
		}
		defer func(ratio, span float64, visits, pixels int) {
			sparseRatio, sparseSpan, sparseVisits, sparsePixels = ratio, span, visits, pixels
		}(sparseRatio, sparseSpan, sparseVisits, sparsePixels)
		sparseRatio, sparseVisits = 0, -1
		for range 15 {
			g := randomGeometry(r)
			if r.IntN(2) == 0 {
				g.Groups = 1 + r.IntN(3)
				g.C, g.O = g.Groups*(1+r.IntN(3)), g.Groups*(1+r.IntN(3))
			}
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, cputest.Random[float32], wild[float32])
			g.N = 1
			testConv[float64](t, r, g)
		}
	})
}

// Narrow images whose filters are one column wide are computed as one row: one column with strides,
// several with padding, dilation, groups and strided memory.
func TestConvNarrowImages(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(26, 7))
		pick := func(v ...int) int { return v[r.IntN(len(v))] }
		for range 25 {
			g := Geometry{N: pick(1, 2), C: pick(1, 2, 4, 6), O: pick(2, 6, 16), KH: pick(1, 2, 3, 5), KW: 1, W: pick(1, 1, 2, 3, 7, 15),
				StrideH: pick(1, 1, 2, 3), PadH: pick(0, 1, 2), DilationH: pick(1, 2), Groups: pick(1, 1, 2)}
			if g.Groups == 2 {
				g.C *= 2
			}
			g.H = (g.KH-1)*g.DilationH + 1 + r.IntN(40)
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, cputest.Random[float32], wild[float32])
			g.N = 1
			testConv[float64](t, r, g)
		}
		one := Convolution{DType: array.Float32, Threads: 2, Geometry: Geometry{N: 1, C: 1, H: 50, W: 4, O: 2, KH: 3, KW: 1, PadH: 1}}
		one.check("test")
		x, y := ContiguousImage(nil, 1, 50, 4), ContiguousImage(nil, 2, 50, 4)
		if one.lengthen(&x, &y); one.H != 1 || one.W != 200 || one.OutW() != 200 {
			t.Errorf("an image of 50x4 became one of %dx%d with a result of %dx%d", one.H, one.W, one.OutH(), one.OutW())
		}
	})
}

// Narrow images with wider filters exchange rows and columns. Shapes lie on both sides of the
// rule, in every layout, so that sums and terms of padding keep their order.
func TestConvExchangedAxes(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(26, 8))
		pick := func(v ...int) int { return v[r.IntN(len(v))] }
		for range 12 {
			g := Geometry{N: pick(2, 3), C: pick(3, 20), O: pick(7, 16), KH: pick(2, 3, 5), KW: pick(2, 3), W: pick(2, 3, 4, 5),
				PadH: pick(0, 1, 2), PadW: pick(0, 1, 2), DilationH: pick(1, 2)}
			g.H = (g.KH-1)*max(g.DilationH, 1) + 20 + r.IntN(40)
			testConv[float32](t, r, g)
			testConvOf(t, r, g, anyLayout, cputest.Random[float32], wild[float32])
			testConv[float64](t, r, g)
		}
		if isa != jit.AVX512 {
			return
		}
		c := &correlation{Machine: tile.New(isa, array.Float32), groups: 1, n: 2, srcC: 1, outC: 64, srcH: 100, srcW: 2, outH: 100, outW: 2,
			stepX: 1, stepY: 1, rowAt: -1, colAt: -1, rows: 102, cols: 4, src: ContiguousImage(nil, 1, 100, 2), dst: ContiguousImage(nil, 64, 100, 2)}
		for i := range int32(9) {
			c.terms = append(c.terms, term{0, i / 3, i % 3})
		}
		c.layout()
		c.cut(1)
		c.pixelCost = c.bands * c.cost * 10
		if !c.worthExchange(1) {
			t.Error("an image of 100x2 is not exchanged")
		}
	})
}
