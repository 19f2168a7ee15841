//go:build amd64

package x86

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// program makes out = op(args); the bits of scalars say which operands are
// scalar arguments. With row set the operation stands outside the pass.
func (o operation) program(t testing.TB, scalars int, row bool) *loop.Program {
	b := loop.NewBuilder(fmt.Sprintf("%s.%s%v", o.op, o.t, o.args), []loop.Axis{{Kind: loop.Parallel}}, 0)
	out := b.Buf(dtype(o.t), true, loop.Unit)
	var load []func() loop.Value
	for i, a := range o.args {
		if scalars>>i&1 != 0 {
			s := b.ScalarArg(a)
			load = append(load, func() loop.Value { return b.Scalar(s) })
		} else {
			s := b.Buf(dtype(a), false, loop.Unit)
			load = append(load, func() loop.Value { return b.Load(s) })
		}
	}
	make := func() loop.Value {
		var x []loop.Value
		for _, f := range load {
			x = append(x, f())
		}
		return o.build(b, x)
	}
	var y loop.Value
	if row {
		y = make()
	}
	b.Pass(func() {
		if !row {
			y = make()
		}
		b.Store(out, y)
	})
	return o.signed(finish(t, b))
}

// signed puts the sign of a conversion in also where it does not matter.
func (o operation) signed(p *loop.Program) *loop.Program {
	for i := range p.Ins {
		if in := &p.Ins[i]; o.op == loop.OpCvt && in.Op == o.op && p.Ins[in.A].Op != loop.OpIndex {
			in.Imm = uint64(o.sign)
		}
	}
	return p
}

// build adds the operation to a program.
func (o operation) build(b *loop.Builder, x []loop.Value) loop.Value {
	switch o.op {
	case loop.OpRound:
		return b.Round(o.half, x[0])
	case loop.OpLookup:
		return b.Lookup(o.table, x[0])
	case loop.OpCvt:
		return b.CvtSigned(o.t, x[0], o.sign)
	case loop.OpBits:
		return b.Bits(o.t, x[0])
	case loop.OpSelect:
		return b.Select(x[0], x[1], x[2])
	case loop.OpFma:
		return b.Fma(x[0], x[1], x[2])
	}
	if len(x) == 1 {
		return b.Unary(o.op, x[0])
	}
	return b.Binary(o.op, x[0], x[1])
}

// TestOperations compares every operation on special and random values with plain Go. Operands and
// operations stand in passes and in rows.
func TestOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, o := range operations() {
		all := 1<<len(o.args) - 1
		for scalars := 0; scalars <= all; scalars++ {
			for _, row := range []bool{false, true} {
				if row && scalars != all {
					continue
				}
				n := 257
				if scalars == 0 {
					n = 3001
				}
				o.check(t, r, scalars, row, n)
			}
		}
	}
}

func (o operation) check(t *testing.T, r *rand.Rand, scalars int, row bool, n int) {
	t.Helper()
	s := random(o.program(t, scalars, row), r, n)
	if scalars != 0 {
		// Several scalars, as each is one value only.
		for range 6 {
			o.checkSetup(t, r, s, scalars)
		}
		return
	}
	o.checkSetup(t, r, s, scalars)
}

func (o operation) checkSetup(t *testing.T, r *rand.Rand, s *setup, scalars int) {
	t.Helper()
	s.check(t, o.draw(r, s, scalars))
}

// draw fills the operands of a setup of program and returns its buffers afterwards.
func (o operation) draw(r *rand.Rand, s *setup, scalars int) [][]byte {
	var loaded, passed []int // operands
	for j := range o.args {
		if scalars>>j&1 != 0 {
			passed = append(passed, j)
		} else {
			loaded = append(loaded, j)
		}
	}
	s.fill(func(b int) uint64 {
		if b == 0 {
			return value(r, o.t)
		}
		return o.operand(r, loaded[b-1])
	})
	for i, j := range passed {
		s.scalars[i] = o.operand(r, j)
	}
	want := append([][]byte(nil), s.data...)
	want[0] = make([]byte, len(s.data[0]))
	for i := range s.extents[0] {
		var a [3]uint64
		buf, scalar := 1, 0
		for j, u := range o.args {
			if scalars>>j&1 != 0 {
				a[j] = s.scalars[scalar]
				scalar++
			} else {
				w := dtype(u).Size()
				a[j] = word(s.data[buf][i*w:], w)
				buf++
			}
		}
		setWord(want[0], i, s.p.Bufs[0].DType.Size(), o.eval(a))
	}
	return want
}

// setWord makes x element i of b.
func setWord(b []byte, i, size int, x uint64) {
	for j := range size {
		b[i*size+j] = byte(x >> (8 * j))
	}
}

// partial reports an operation that is defined for some operands only.
func (o operation) partial() bool { return o.op == loop.OpLogB || o.op == loop.OpScaleB }

// operand draws operand j.
func (o operation) operand(r *rand.Rand, j int) uint64 {
	var x float64
	switch {
	case !o.partial():
		return value(r, o.args[j])
	case o.op == loop.OpLogB:
		low := map[loop.Type]int{loop.F32: -126, loop.F64: -1022}[o.t]
		x = math.Ldexp(1+r.Float64()/1.001, low+r.IntN(2-2*low))
	case j == 0:
		x = math.Copysign(0.25+r.Float64()*3.74, float64(r.IntN(2))-0.5)
	default:
		x = float64(r.IntN(2*loop.ScaleBound(o.t)+1) - loop.ScaleBound(o.t))
	}
	if o.t == loop.F32 {
		return f32(float32(x))
	}
	return math.Float64bits(x)
}

// value picks a special or a random value; scalars of fewer bits are canonical.
func value(r *rand.Rand, t loop.Type) uint64 {
	sp := looptest.Specials(t)
	x := sp[r.IntN(len(sp))]
	if r.IntN(3) == 0 {
		switch t {
		case loop.I8, loop.I16, loop.I32, loop.I64:
			x = r.Uint64() >> r.IntN(64) & (1<<(8*t.Size()) - 1)
		case loop.F32:
			x = f32(float32(r.NormFloat64()))
		case loop.F64:
			x = looptest.Eval(loop.OpCvt, 0, loop.F64, loop.F32, f32(float32(r.NormFloat64())), 0, 0) + uint64(r.IntN(1<<20))
		}
	}
	return x
}

// TestMixedWidths does the same in passes that also have the other width, so that a value takes two
// registers or a mask meets two widths.
func TestMixedWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, o := range operations() {
		p := o.mixed(t)
		for _, n := range []int{0, 1, 7, 150} {
			s := o.fill(random(p, r, n), r)
			s.check(t, o.wanted(s))
		}
	}
}

// wanted returns the buffers after a program of mixed.
func (o operation) wanted(s *setup) [][]byte {
	n := len(o.args)
	want := append([][]byte(nil), s.data[:n]...)
	for _, b := range s.data[n:] {
		want = append(want, make([]byte, len(b)))
	}
	for i := range s.extents[0] {
		var a [3]uint64
		for j, u := range o.args {
			w := dtype(u).Size()
			a[j] = word(s.data[j][i*w:], w)
		}
		index := uint64(s.starts[0] + i)
		for j, x := range [...]uint64{index, index, o.eval(a)} {
			setWord(want[n+j], i, s.p.Bufs[n+j].DType.Size(), x)
		}
	}
	return want
}

// mixed makes a program of the operation in a pass with both widths.
func (o operation) mixed(t testing.TB) *loop.Program {
	b := loop.NewBuilder(fmt.Sprintf("%s.%s%v", o.op, o.t, o.args), []loop.Axis{{Kind: loop.Parallel}}, 0)
	var bufs []int
	for _, a := range o.args {
		bufs = append(bufs, b.Buf(dtype(a), false, loop.Unit))
	}
	small, large := b.Buf(dtype(loop.I32), true, loop.Unit), b.Buf(dtype(loop.I64), true, loop.Unit)
	out := b.Buf(dtype(o.t), true, loop.Unit)
	b.Pass(func() {
		var x []loop.Value
		for _, s := range bufs {
			x = append(x, b.Load(s))
		}
		y := o.build(b, x)
		b.Store(out, y)
		b.Store(large, b.Index(0))
		b.Store(small, b.Cvt(loop.I32, b.Index(0)))
	})
	return o.signed(finish(t, b))
}

// fill draws the operands of a program that reads them first.
func (o operation) fill(s *setup, r *rand.Rand) *setup {
	return s.fill(func(b int) uint64 {
		if b < len(o.args) {
			return o.operand(r, b)
		}
		return value(r, loop.TypeOf(s.p.Bufs[b].DType))
	})
}
