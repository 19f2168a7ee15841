package ptx

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	cudart "weft/internal/cudart/driver"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
	"weft/internal/ptxsim"
)

// A machine runs kernels on a simulated GPU, which parses their text by code of its own.
type machine struct {
	t   *testing.T
	ctx cudart.Context
	mod cudart.Module
}

func newMachine(t *testing.T, target Target, kernels ...*grid.Kernel) *machine {
	t.Helper()
	text := printed(t, target, kernels...)
	ctx, err := ptxsim.New(ptxsim.Options{Major: target.Major, Minor: target.Minor}).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ctx.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, ctx, mod}
}

// run launches a kernel. Each buffer is an argument; it is copied in before and out after.
func (m *machine) run(k *grid.Kernel, blocks int, buffers ...[]byte) {
	m.t.Helper()
	must := func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatalf("%s: %v", k.Name, err)
		}
	}
	f, err := m.ctx.Function(m.mod, k.Name)
	must(err)
	queue, err := m.ctx.NewQueue(0)
	must(err)
	args := make([]byte, k.Args)
	addresses := make([]cudart.Addr, len(buffers))
	for i, buf := range buffers {
		if len(buf) == 0 {
			continue
		}
		addresses[i], err = m.ctx.Alloc(len(buf))
		must(err)
		must(m.ctx.CopyIn(queue, addresses[i], unsafe.Pointer(&buf[0]), len(buf)))
		binary.LittleEndian.PutUint64(args[8*i:], uint64(addresses[i]))
	}
	must(m.ctx.Launch(queue, f, blocks, k.Threads, DynamicShared(k), args))
	for i, buf := range buffers {
		if len(buf) > 0 {
			must(m.ctx.CopyOut(queue, unsafe.Pointer(&buf[0]), addresses[i], len(buf)))
		}
	}
	must(m.ctx.Sync(queue))
	for i, buf := range buffers {
		if len(buf) > 0 {
			must(m.ctx.Free(addresses[i]))
		}
	}
	must(m.ctx.CloseQueue(queue))
}

// putValues returns values as the kernels here read them.
func putValues(t loop.Type, x []uint64) (out []byte) {
	for _, v := range x {
		switch elemOf(t).Size() {
		case 1:
			out = append(out, byte(v))
		case 4:
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		default:
			out = binary.LittleEndian.AppendUint64(out, v)
		}
	}
	return out
}

// value returns value number i of those that a kernel here wrote.
func value(t loop.Type, b []byte, i int) uint64 {
	switch elemOf(t).Size() {
	case 1:
		return uint64(b[i])
	case 4:
		return uint64(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return binary.LittleEndian.Uint64(b[8*i:])
}

// drawOperands returns n operands of c, each a column: special values, random bits, and equal or
// opposite operands.
func drawOperands(c opCase, n int, rnd *rand.Rand) (x [4][]uint64) {
	specials := looptest.Specials(c.from)
	for i := range n {
		for j := range 3 {
			v := specials[rnd.IntN(len(specials))]
			switch {
			case j == 0 && i%4 < 3:
				v = specials[i%len(specials)]
			case rnd.IntN(4) == 0 && c.from == loop.B:
				v = rnd.Uint64() & 1
			case rnd.IntN(4) == 0:
				v = looptest.Cut(c.from, int64(rnd.Uint64()))
			case j > 0 && rnd.IntN(4) == 0:
				v = x[0][i]
				if c.from.Float() && rnd.IntN(2) == 0 {
					v ^= 1 << (8*c.from.Size() - 1)
				}
			}
			x[j] = append(x[j], v)
		}
		x[3] = append(x[3], rnd.Uint64()&1)
		restrict(c, &x[0][i], &x[1][i], rnd)
	}
	return x
}

// restrict brings operands into the domain of an operation that has one.
func restrict(c opCase, a, b *uint64, rnd *rand.Rand) {
	bits := func(x float64) uint64 {
		if c.from == loop.F32 {
			return uint64(math.Float32bits(float32(x)))
		}
		return math.Float64bits(x)
	}
	least, greatest := 0x1p-126, float64(math.MaxFloat32)
	if c.from == loop.F64 {
		least, greatest = 0x1p-1022, math.MaxFloat64
	}
	switch x := looptest.Float(c.from, *a); {
	case c.op == loop.OpLogB && !(x >= least && x <= greatest):
		*a = bits(math.Ldexp(1+rnd.Float64(), rnd.IntN(250)-125))
	case c.op == loop.OpScaleB:
		if !(math.Abs(x) >= 0.25 && math.Abs(x) < 4 || x != x) {
			*a = bits(math.Ldexp(1+rnd.Float64(), rnd.IntN(4)-2) * float64(1-2*rnd.IntN(2)))
		}
		bound := loop.ScaleBound(c.from)
		*b = bits(float64(rnd.IntN(2*bound+1) - bound))
		if rnd.IntN(3) == 0 { // where results become subnormal
			*b = bits(float64(-bound*10/16 + rnd.IntN(bound/8)))
		}
	}
}

// TestOperationsAreExact compares each operation on each type with the reference of package
// looptest, for special values and random bits.
func TestOperationsAreExact(t *testing.T) {
	for _, target := range targets {
		m := newMachine(t, target, opKernels()...)
		for _, c := range opCases() {
			rnd := rand.New(rand.NewPCG(1, 2))
			const n = 2048
			x := drawOperands(c, n, rnd)
			out := make([]byte, n*elemOf(c.to).Size())
			m.run(opKernel(c), n/128, putValues(c.from, x[0]), putValues(c.from, x[1]), putValues(c.from, x[2]), putValues(loop.B, x[3]), out)
			wrong := 0
			for i := range n {
				want := looptest.Eval(c.op, c.imm, c.to, c.from, x[0][i], x[1][i], x[2][i])
				if c.op == loop.OpSelect {
					want = looptest.Eval(c.op, c.imm, c.to, loop.B, x[3][i], x[0][i], x[1][i])
				}
				got := value(c.to, out, i)
				moves := c.op == loop.OpSelect || c.op == loop.OpBits || c.op == loop.OpNeg && c.imm != grid.OpenSign || c.op == loop.OpAbs
				if got == want || !moves && looptest.IsNaN(c.to, got) && looptest.IsNaN(c.to, want) {
					continue
				}
				if wrong++; wrong < 4 {
					t.Errorf("%v: %s of %#x, %#x, %#x is %#x, want %#x", target, c, x[0][i], x[1][i], x[2][i], got, want)
				}
			}
		}
	}
}

// TestMemoryOfEachElement copies elements of random bits. Halves that are NaN stay NaN.
func TestMemoryOfEachElement(t *testing.T) {
	for _, target := range targets {
		kernels := memoryKernels()
		m := newMachine(t, target, kernels...)
		rnd := rand.New(rand.NewPCG(3, 4))
		for _, k := range kernels {
			load := k.Body[slices.IndexFunc(k.Body, func(in grid.Ins) bool { return in.Op == grid.Load })]
			size := load.Elem.Size() * len(load.Regs)
			in, out := make([]byte, 128*size), make([]byte, 128*size)
			for i := range in {
				in[i], out[i] = byte(rnd.Uint64()), 0xA5
			}
			want := slices.Clone(out)
			for i := 0; i < 128; i += 2 {
				clear(want[i*size : (i+1)*size])
				if i < 100 {
					copy(want[i*size:(i+1)*size], in[i*size:])
				}
			}
			m.run(k, 1, in, out)
			if d := (map[grid.Elem]array.DType{grid.Half: array.Float16, grid.BHalf: array.BFloat16}[load.Elem]); d != 0 {
				for i := 0; i < len(in); i += 2 {
					got, wants := binary.LittleEndian.Uint16(out[i:]), binary.LittleEndian.Uint16(want[i:])
					if x, y := looptest.Half(d, got), looptest.Half(d, wants); x != x && y != y {
						copy(out[i:], want[i:i+2])
					}
				}
			}
			if !bytes.Equal(out, want) {
				t.Errorf("%v: %s: got % x..., want % x...", target, k.Name, out[:32], want[:32])
			}
		}
	}
}

// TestLanesExchange compares shuffles and votes with what their lanes hold.
func TestLanesExchange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, x := range computed {
		k := warpKernel(x)
		m := newMachine(t, sm80, k)
		in := make([]uint64, 128)
		for i := range in {
			in[i] = rnd.Uint64() >> (64 - 8*max(x.Size(), 1))
			if x == loop.B {
				in[i] = uint64(i) / 32 & 1 // a warp without, one with all
				if i >= 64 {
					in[i] = rnd.Uint64() & 1
				}
			}
		}
		results := 3
		if x == loop.B {
			results = 5
		}
		out := make([]byte, results*128*elemOf(x).Size())
		m.run(k, 1, putValues(x, in), out)
		for i := range in {
			warp := in[i/32*32 : i/32*32+32]
			lane := i % 32
			want := []uint64{warp[lane], warp[lane^5], warp[i*11%32], 0, 0}
			if lane+7 < 32 {
				want[0] = warp[lane+7]
			}
			if x == loop.B {
				want[3], want[4] = slices.Max(warp), slices.Min(warp)
			}
			for r := range results {
				if got := value(x, out, 128*r+i); got != want[r] {
					t.Fatalf("%s: result %d of thread %d is %#x, want %#x", x, r, i, got, want[r])
				}
			}
		}
	}
}

// TestLookupFindsEachEntry in both ways of reading a table.
func TestLookupFindsEachEntry(t *testing.T) {
	for _, x := range []loop.Type{loop.F32, loop.F64} {
		for _, divergent := range []bool{false, true} {
			k := lookupKernel(x, divergent)
			out := make([]byte, 128*x.Size())
			newMachine(t, sm80, k).run(k, 1, out)
			bits := k.Tables[0].Bits
			for i := range 128 {
				want := bits[i%len(bits)]
				if divergent && i%4 >= 2 {
					want = 0
				}
				if got := value(x, out, i); got != want {
					t.Fatalf("%s: thread %d has %#x, want %#x", k.Name, i, got, want)
				}
			}
		}
	}
}

// TestControlFlow runs ifs, whiles and atomic additions beside the same in Go.
func TestControlFlow(t *testing.T) {
	k := controlKernel()
	const trips = 9
	in, out := make([]byte, 8), make([]byte, 4*68)
	in[0] = trips
	binary.LittleEndian.PutUint32(out[12:], math.MaxUint32)
	newMachine(t, sm80, k).run(k, 1, in, out)
	var ones int
	var sum uint32
	for n := range trips {
		for i := range k.Threads {
			m := i
			switch {
			case i >= n && i < trips:
				ones++
			case i < n:
				for m < n {
					m += 3
				}
				sum += uint32(m)
			}
		}
	}
	if got := binary.LittleEndian.Uint64(out); got != uint64(ones) {
		t.Errorf("%d additions of one, want %d", got, ones)
	}
	if got := binary.LittleEndian.Uint32(out[8:]); got != sum {
		t.Errorf("sum %d, want %d", got, sum)
	}
	if got := binary.LittleEndian.Uint32(out[12:]); got != 1 {
		t.Errorf("minimum %d, want 1", got)
	}
	for i := range k.Threads {
		want := uint32(trips)
		if i < 7 {
			want = 0
		}
		if got := binary.LittleEndian.Uint32(out[4*(i+4):]); got != want {
			t.Errorf("thread %d wrote %d, want %d", i, got, want)
		}
	}
}

// TestMMAIsAChainOfFma multiplies matrices in the layout of mma.sync: a lane holds, of an m x n sum, the
// elements of rows lane/4 (plus 8) and columns 2*(lane%4) (plus 1).
func TestMMAIsAChainOfFma(t *testing.T) {
	for shape := range mmaShapes {
		s := mmaShapes[shape]
		k := mmaKernel(grid.Shape(shape))
		rnd := rand.New(rand.NewPCG(7, 8))
		draw := func(n int) (bits []uint64) {
			for range 32 * n {
				bits = append(bits, math.Float64bits(rnd.NormFloat64()*math.Ldexp(1, rnd.IntN(60)-30)))
			}
			return bits
		}
		sum, left, right := draw(s.sum), draw(s.left), draw(s.right)
		out := putValues(loop.F64, sum)
		newMachine(t, sm90, k).run(k, 1, out, putValues(loop.F64, left), putValues(loop.F64, right))
		depth := 4 * s.right
		for lane := range 32 {
			for e := range s.sum {
				row, column := lane/4+8*(e/2), 2*(lane%4)+e%2
				want := sum[lane*s.sum+e]
				for i := range depth {
					// Element (r, i) of the left factor is in lane 4*(r%8)+i%4; its number counts
					// rows 8 apart fastest. Element (i, c) of the right one is in lane 4*c+i%4.
					a := left[(row%8*4+i%4)*s.left+i/4*(s.left/s.right)+row/8]
					b := right[(column*4+i%4)*s.right+i/4]
					want = looptest.Eval(loop.OpFma, 0, loop.F64, loop.F64, a, b, want)
				}
				if got := value(loop.F64, out, lane*s.sum+e); got != want {
					t.Fatalf("%s: lane %d element %d is %#x, want %#x", s.name, lane, e, got, want)
				}
			}
		}
	}
}
