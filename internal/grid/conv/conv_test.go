package conv_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	cpu "weft/internal/cpu/convolution"
	"weft/internal/cudart"
	"weft/internal/grid"
	"weft/internal/grid/compare"
	"weft/internal/grid/conv"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/product"
	"weft/internal/jit"
	"weft/internal/op"
)

// A gpu is a simulated one with the memory that was taken of it.
type gpu struct {
	*gridtest.Launcher
	taken []cudart.Addr
}

func newGPU(t *testing.T, major int) *gpu { return &gpu{Launcher: gridtest.NewLauncher(t, major, 0)} }

func (g *gpu) alloc(bytes int) uint64 {
	a := gridtest.Must(g.C.Alloc(max(bytes, 1)))
	g.taken = append(g.taken, a)
	return uint64(a)
}

// A picture is a stack of images in memory of the host, with its strides.
type picture struct {
	d       array.DType
	data    []byte
	first   int // element
	shape   [4]int
	strides [4]int
	addr    uint64
}

// Layouts of pictures.
const (
	plain = iota
	channelsLast
	gaps
	upsideDown
	mirrored
	numLayouts
)

// newPicture returns a stack of images of noise.
func newPicture(g *gpu, r *rand.Rand, d array.DType, layout int, noise func() float64, n, c, h, w int) *picture {
	p := &picture{d: d, shape: [4]int{n, c, h, w}}
	switch layout {
	case plain:
		p.strides = [4]int{c * h * w, h * w, w, 1}
	case channelsLast:
		p.strides = [4]int{c * h * w, 1, w * c, c}
	case gaps:
		p.strides = [4]int{c*h*(2*w+3) + 5, h * (2*w + 3), 2*w + 3, 2}
	case upsideDown:
		p.strides = [4]int{c * h * w, h * w, -w, 1}
	case mirrored:
		p.strides = [4]int{-c * h * w, h * w, w, -1}
	}
	size := 1
	for i, s := range p.strides {
		span := s * max(p.shape[i]-1, 0)
		p.first -= min(span, 0)
		size += max(span, -span)
	}
	p.data = make([]byte, size*d.Size())
	for i := range size {
		set(unsafe.Pointer(&p.data[i*d.Size()]), d, noise())
	}
	p.addr = g.alloc(len(p.data))
	if err := g.C.CopyIn(g.Q, cudart.Addr(p.addr), unsafe.Pointer(&p.data[0]), len(p.data)); err != nil {
		g.T.Fatal(err)
	}
	return p
}

func set(p unsafe.Pointer, d array.DType, x float64) {
	switch d {
	case array.Float64:
		*(*float64)(p) = x
	case array.Float32:
		*(*float32)(p) = float32(x)
	case array.BFloat16:
		*(*uint16)(p) = uint16(math.Float32bits(float32(x)) >> 16)
	default:
		*(*uint16)(p) = uint16(half.NewFloat16(x))
	}
}

func (p *picture) ptr() unsafe.Pointer { return unsafe.Pointer(&p.data[p.first*p.d.Size()]) }

func (p *picture) cpu() cpu.Image {
	return cpu.Image{Ptr: p.ptr(), N: p.strides[0], C: p.strides[1], H: p.strides[2], W: p.strides[3]}
}

func (p *picture) gpu() conv.Image {
	return conv.Image{Addr: p.addr + uint64(p.first*p.d.Size()), N: p.strides[0], C: p.strides[1], H: p.strides[2], W: p.strides[3]}
}

// compare fails the test if the GPU has other elements than the host, or wrote between them.
func (g *gpu) compare(what string, p *picture) {
	g.T.Helper()
	got := make([]byte, len(p.data))
	if err := g.C.CopyOut(g.Q, unsafe.Pointer(&got[0]), cudart.Addr(p.addr), len(got)); err != nil {
		g.T.Fatal(err)
	}
	size := p.d.Size()
	for i := 0; i < len(got); i += size {
		x, y := word(got[i:], size), word(p.data[i:], size)
		if x != y && !(isNaN(x, size) && isNaN(y, size)) {
			g.T.Fatalf("%s: element %d of %v is %x, want %x", what, i/size-p.first, p.shape, x, y)
		}
	}
}

func word(b []byte, size int) uint64 {
	if size == 8 {
		return *(*uint64)(unsafe.Pointer(&b[0]))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&b[0])))
}

func isNaN(x uint64, size int) bool {
	if size == 8 {
		return math.IsNaN(math.Float64frombits(x))
	}
	return math.IsNaN(float64(math.Float32frombits(uint32(x))))
}

// A testCase is a convolution whose result and gradients are compared with the CPU's.
type testCase struct {
	cpu.Geometry
	d       array.DType
	of      [3]array.DType // of x, weights and the gradient of y
	layouts [4]int         // of x, y, weights and the gradient of x
	values  values
}

// values says what the elements are.
type values int

const (
	usual   values = iota
	special        // infinities, zeros and tiny ones too
	tiny           // all products are less than the least number
	wild           // usual, but the first of pictures is infinite
)

// noise returns elements of an operand.
func (v values) noise(r *rand.Rand, d array.DType, negative bool) func() float64 {
	switch v {
	case special:
		return func() float64 {
			switch r.IntN(300) {
			case 0:
				return math.Copysign(0, -1)
			case 1:
				return 0
			case 2:
				return r.NormFloat64() * 0x1p-130
			case 3:
				return math.Inf(1 - 2*r.IntN(2)*r.IntN(2))
			}
			return r.NormFloat64()
		}
	case wild:
		first := true
		return func() float64 {
			if first {
				first = false
				return math.Inf(1)
			}
			return r.NormFloat64()
		}
	case tiny:
		x := map[array.DType]float64{array.Float16: 0x1p-20, array.Float64: 0x1p-600}[d]
		if x == 0 {
			x = 0x1p-140
		}
		if negative {
			x = -x
		}
		return func() float64 { return x }
	}
	return func() float64 { return math.Ldexp(r.NormFloat64(), -r.IntN(2)*10) }
}

// check compares a convolution and its gradients with the CPU's.
func (g *gpu) check(r *rand.Rand, c testCase) {
	g.T.Helper()
	for _, p := range []*int{&c.StrideH, &c.StrideW, &c.DilationH, &c.DilationW, &c.Groups} {
		*p = max(*p, 1)
	}
	geometry := op.ConvGeometry{N: c.N, C: c.C, H: c.H, W: c.W, O: c.O, KH: c.KH, KW: c.KW, StrideH: c.StrideH, StrideW: c.StrideW, PadH: c.PadH, PadW: c.PadW,
		DilationH: c.DilationH, DilationW: c.DilationW, Groups: c.Groups, OH: c.OutH(), OW: c.OutW()}
	at := conv.GPU{GPU: product.GPU{Units: 4, Major: g.Major, Shared: 227 << 10}, Alloc: g.alloc}
	x := newPicture(g, r, c.of[0], c.layouts[0], c.values.noise(r, c.of[0], false), c.N, c.C, c.H, c.W)
	ofWeights := c.values
	if ofWeights == wild {
		ofWeights = usual
	}
	w := newPicture(g, r, c.of[1], plain, ofWeights.noise(r, c.of[1], true), c.O, c.C/c.Groups, c.KH, c.KW)
	y := newPicture(g, r, c.d, c.layouts[1], r.NormFloat64, c.N, c.O, c.OutH(), c.OutW())
	other := w // the same weights elsewhere
	if c.layouts[2] != plain {
		other = newPicture(g, r, c.of[1], c.layouts[2], func() float64 { return 1 }, w.shape[0], w.shape[1], w.shape[2], w.shape[3])
		other.assign(w)
		if err := g.C.CopyIn(g.Q, cudart.Addr(other.addr), unsafe.Pointer(&other.data[0]), len(other.data)); err != nil {
			g.T.Fatal(err)
		}
	}
	name := fmt.Sprintf("%s of %v, layouts %v, values %d, %+v", c.d, c.of, c.layouts, c.values, c.Geometry)

	c.run(g, "forward of "+name, [2]array.DType{c.of[0], c.of[1]}, func(h cpu.Convolution) { h.Forward(y.cpu(), x.cpu(), w.ptr()) },
		func(d conv.Convolution) []grid.Launch { return d.Forward(at, y.gpu(), x.gpu(), other.gpu()) }, geometry, y)

	dy := newPicture(g, r, c.of[2], c.layouts[1], c.values.noise(r, c.of[2], true), c.N, c.O, c.OutH(), c.OutW())
	dx := newPicture(g, r, c.d, c.layouts[3], r.NormFloat64, c.N, c.C, c.H, c.W)
	c.run(g, "gradient of the input, "+name, [2]array.DType{c.of[2], c.of[1]}, func(h cpu.Convolution) { h.GradInput(dx.cpu(), dy.cpu(), w.ptr()) },
		func(d conv.Convolution) []grid.Launch { return d.Input(at, dx.gpu(), dy.gpu(), other.gpu()) }, geometry, dx)

	dw := newPicture(g, r, c.d, plain, r.NormFloat64, c.O, c.C/c.Groups, c.KH, c.KW)
	c.run(g, "gradient of the weights, "+name, [2]array.DType{c.of[0], c.of[2]}, func(h cpu.Convolution) { h.GradWeight(dw.ptr(), x.cpu(), dy.cpu()) },
		func(d conv.Convolution) []grid.Launch { return d.Weight(at, dw.gpu(), x.gpu(), dy.gpu()) }, geometry, dw)
	for _, a := range g.taken {
		if err := g.C.Free(a); err != nil {
			g.T.Fatal(err)
		}
	}
	g.taken = nil
}

// run runs one of the three on both and compares.
func (c *testCase) run(g *gpu, what string, of [2]array.DType, host func(cpu.Convolution), launches func(conv.Convolution) []grid.Launch, geometry op.ConvGeometry, out *picture) {
	g.T.Helper()
	g.Run(what, launches(conv.Convolution{ConvGeometry: geometry, DType: c.d, Of: of}))
	host(cpu.Convolution{ISA: jit.Portable, DType: c.d, Of: of, Geometry: c.Geometry, Threads: 1})
	g.compare(what, out)
}

// assign copies the elements of another picture of the same shape and type.
func (p *picture) assign(q *picture) {
	size := p.d.Size()
	for n := range p.shape[0] {
		for c := range p.shape[1] {
			for y := range p.shape[2] {
				for x := range p.shape[3] {
					at := func(m *picture) []byte {
						i := (m.first + n*m.strides[0] + c*m.strides[1] + y*m.strides[2] + x*m.strides[3]) * size
						return m.data[i : i+size]
					}
					copy(at(p), at(q))
				}
			}
		}
	}
}

var types = [][4]array.DType{
	{array.Float32, array.Float32, array.Float32, array.Float32}, {array.Float64, array.Float64, array.Float64, array.Float64}, {array.Float32, array.BFloat16, array.BFloat16, array.BFloat16},
	{array.Float32, array.Float32, array.Float16, array.Float16}, {array.Float32, array.Float16, array.BFloat16, array.Float32},
}

func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

// randomCase returns a convolution of at most work multiply-adds.
func randomCase(r *rand.Rand, work int) testCase {
	for {
		g := cpu.Geometry{
			N: pick(r, 0, 1, 2, 3), C: pick(r, 1, 2, 3, 7, 20), O: pick(r, 1, 3, 6, 16, 33),
			KH: pick(r, 1, 2, 3, 5), KW: pick(r, 1, 2, 3, 5), StrideH: pick(r, 1, 1, 2, 3, 7), StrideW: pick(r, 1, 1, 2, 3, 7),
			PadH: pick(r, 0, 0, 1, 2), PadW: pick(r, 0, 0, 1, 2), DilationH: pick(r, 1, 1, 2, 3), DilationW: pick(r, 1, 1, 2, 3), Groups: pick(r, 1, 1, 1, 2, 3),
		}
		if g.Groups > 1 {
			g.C, g.O = g.Groups*pick(r, 1, 2, 3, 5), g.Groups*pick(r, 1, 1, 2, 5, 9)
		}
		g.H, g.W = max(1, (g.KH-1)*g.DilationH+1-2*g.PadH+r.IntN(12)), max(1, (g.KW-1)*g.DilationW+1-2*g.PadW+r.IntN(20))
		if g.OutH()*g.OutW() == 0 || g.N*g.O*(g.C/g.Groups)*g.KH*g.KW*g.OutH()*g.OutW() > work {
			continue
		}
		t := pick(r, types...)
		c := testCase{Geometry: g, d: t[0], of: [3]array.DType{t[1], t[2], t[3]}, values: pick(r, usual, usual, special, tiny)}
		for i := range c.layouts {
			c.layouts[i] = pick(r, plain, r.IntN(numLayouts))
		}
		return c
	}
}

// Random convolutions and their gradients have the CPU's bits, and nothing else is written: 12 of each
// capability, or WEFT_CONVOLUTIONS.
func TestRandomConvolutions(t *testing.T) {
	n := compare.Count(t, "WEFT_CONVOLUTIONS", 12)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for _, major := range []int{8, 9} {
		g := newGPU(t, major)
		for range n {
			g.check(r, randomCase(r, 1<<16))
		}
	}
}

func of(d array.DType) [3]array.DType { return [3]array.DType{d, d, d} }
