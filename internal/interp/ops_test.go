package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// dtypeOf is the element type that holds values of t as they are.
func dtypeOf(t loop.Type) array.DType {
	return [...]array.DType{loop.B: array.Bool, loop.I8: array.Int8, loop.I16: array.Int16, loop.I32: array.Int32, loop.I64: array.Int64, loop.F32: array.Float32, loop.F64: array.Float64}[t]
}

// column holds values of one type as they are in memory.
type column struct {
	t loop.Type
	b []uint8
	h []uint16
	w []uint32
	q []uint64
}

func newColumn(t loop.Type, n int) *column {
	return &column{t, make([]uint8, n), make([]uint16, n), make([]uint32, n), make([]uint64, n)}
}

func (c *column) set(i int, x uint64) {
	c.b[i], c.h[i], c.w[i], c.q[i] = uint8(x), uint16(x), uint32(x), x
}

func (c *column) get(i int) uint64 {
	switch c.t {
	case loop.B, loop.I8:
		return uint64(c.b[i])
	case loop.I16:
		return uint64(c.h[i])
	case loop.I32, loop.F32:
		return uint64(c.w[i])
	}
	return c.q[i]
}

func (c *column) place(f *frame, b int) {
	switch c.t {
	case loop.B, loop.I8:
		buf(f, b, c.b, 0, 1)
	case loop.I16:
		buf(f, b, c.h, 0, 1)
	case loop.I32, loop.F32:
		buf(f, b, c.w, 0, 1)
	default:
		buf(f, b, c.q, 0, 1)
	}
}

// get is a value of type t out of a buffer, and put writes one.
func get(b *loop.Builder, buf int, t loop.Type) loop.Value { return b.Cvt(t, b.Load(buf)) }

func put(b *loop.Builder, buf int, v loop.Value) {
	b.Store(buf, b.Cvt(loop.TypeOf(b.Program().Bufs[buf].DType), v))
}

// An operation is an op with its types.
type operation struct {
	op   loop.Op
	t    loop.Type
	imm  uint64
	args []loop.Type
}

// primes are the entries of the table of a lookup.
var primes = []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53}

func (o operation) String() string { return fmt.Sprintf("%s.%s%v kind %d", o.op, o.t, o.args, o.imm) }

// operations lists all operations without effect.
func operations() []operation {
	var out []operation
	add := func(op loop.Op, t loop.Type, args ...loop.Type) { out = append(out, operation{op, t, 0, args}) }
	ints := []loop.Type{loop.I8, loop.I16, loop.I32, loop.I64}
	floats := []loop.Type{loop.F32, loop.F64}
	all := append(append([]loop.Type{}, ints...), floats...)
	for _, t := range all {
		for _, op := range []loop.Op{loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax} {
			add(op, t, t, t)
		}
		add(loop.OpNeg, t, t)
		add(loop.OpAbs, t, t)
		for _, op := range []loop.Op{loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe} {
			add(op, loop.B, t, t)
		}
		add(loop.OpCvt, t, loop.B)
		for _, u := range all {
			if u == t {
				continue
			}
			for kind := range uint64(4) {
				if kind&loop.FromUnsigned == 0 || u.Int() {
					if kind&loop.ToUnsigned == 0 || t.Int() {
						out = append(out, operation{loop.OpCvt, t, kind, []loop.Type{u}})
					}
				}
			}
		}
	}
	for _, d := range []array.DType{array.Float16, array.BFloat16} {
		out = append(out, operation{loop.OpRound, loop.F32, uint64(d), []loop.Type{loop.F32}})
	}
	for _, t := range floats {
		add(loop.OpDiv, t, t, t)
		add(loop.OpFma, t, t, t, t)
		add(loop.OpLookup, t, [...]loop.Type{loop.F32: loop.I32, loop.F64: loop.I64}[t])
		for _, op := range []loop.Op{loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint} {
			add(op, t, t)
		}
	}
	for _, t := range ints {
		for _, op := range []loop.Op{loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU, loop.OpMinU, loop.OpMaxU, loop.OpMulHi, loop.OpMulHiU, loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpRotL} {
			add(op, t, t, t)
		}
		for _, op := range []loop.Op{loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt} {
			add(op, t, t)
		}
		add(loop.OpLtU, loop.B, t, t)
		add(loop.OpLeU, loop.B, t, t)
	}
	for _, t := range append(ints, loop.B) {
		for _, op := range []loop.Op{loop.OpAnd, loop.OpOr, loop.OpXor} {
			add(op, t, t, t)
		}
		add(loop.OpNot, t, t)
	}
	add(loop.OpEq, loop.B, loop.B, loop.B)
	add(loop.OpNe, loop.B, loop.B, loop.B)
	for _, t := range append(all, loop.B) {
		add(loop.OpSelect, t, loop.B, t, t)
	}
	add(loop.OpBits, loop.F32, loop.I32)
	add(loop.OpBits, loop.I32, loop.F32)
	add(loop.OpBits, loop.F64, loop.I64)
	add(loop.OpBits, loop.I64, loop.F64)
	return out
}

// program makes out = op(args) with the arguments whose bit in scalars is set as
// scalar arguments.
func (o operation) program(t *testing.T, scalars int) *loop.Program {
	b := loop.NewBuilder(o.String(), []loop.Axis{{Kind: loop.Parallel}}, 0)
	var from []func() loop.Value
	for i, a := range o.args {
		if scalars>>i&1 != 0 {
			s := b.ScalarArg(a)
			from = append(from, func() loop.Value { return b.Scalar(s) })
		} else {
			s := b.Buf(dtypeOf(a), false, loop.Unit)
			from = append(from, func() loop.Value { return get(b, s, a) })
		}
	}
	out := b.Buf(dtypeOf(o.t), true, loop.Unit)
	b.Pass(func() {
		x := []loop.Value{loop.NoValue, loop.NoValue, loop.NoValue}
		for i := range from {
			x[i] = from[i]()
		}
		var y loop.Value
		switch {
		case o.op == loop.OpCvt:
			y = b.CvtSigned(o.t, x[0], int(o.imm))
		case o.op == loop.OpRound:
			y = b.Round(array.DType(o.imm), x[0])
		case o.op == loop.OpBits:
			y = b.Bits(o.t, x[0])
		case o.op == loop.OpSelect:
			y = b.Select(x[0], x[1], x[2])
		case o.op == loop.OpLookup:
			y = b.Lookup(primes[:loop.TableBytes/o.t.Size()], x[0])
		case o.op == loop.OpFma:
			y = b.Fma(x[0], x[1], x[2])
		case len(o.args) == 1:
			y = b.Unary(o.op, x[0])
		default:
			y = b.Binary(o.op, x[0], x[1])
		}
		put(b, out, y)
	})
	return done(t, b)
}

// check runs the operation over lanes of arguments; scalars are taken from the
// first lane.
func (o operation) check(t *testing.T, scalars int, args [][]uint64) {
	if s := o.wrong(Compile(o.program(t, scalars)), scalars, args); s != "" {
		t.Fatal(s)
	}
}

// wrong runs the operation's program and returns what is wrong with its results.
func (o operation) wrong(k *Kernel, scalars int, args [][]uint64) string {
	n := len(args[0])
	f := newFrame(k.Program(), n)
	place := 0
	scalar := 0
	for i, a := range o.args {
		if scalars>>i&1 != 0 {
			f.f.Word[f.p.ScalarWord(scalar)] = args[i][0]
			scalar++
			continue
		}
		c := newColumn(a, n)
		for j, x := range args[i] {
			c.set(j, x)
		}
		c.place(f, place)
		place++
	}
	out := newColumn(o.t, n)
	out.place(f, place)
	if !k.Run(f.f, nil) {
		return "not done"
	}
	for j := range n {
		var x [3]uint64
		for i := range o.args {
			x[i] = args[i][j]
			if scalars>>i&1 != 0 {
				x[i] = args[i][0]
			}
		}
		got, want := out.get(j), o.eval(x)
		if got != want && !(looptest.IsNaN(o.t, got) && looptest.IsNaN(o.t, want)) {
			return fmt.Sprintf("%s, scalars %b: of %#x is %#x, want %#x", o, scalars, x[:len(o.args)], got, want)
		}
	}
	return ""
}

// eval computes one lane by the reference of the language.
func (o operation) eval(x [3]uint64) uint64 {
	if o.op == loop.OpLookup {
		y := primes[x[0]%uint64(loop.TableBytes/o.t.Size())]
		if o.t == loop.F32 {
			return uint64(math.Float32bits(float32(y)))
		}
		return math.Float64bits(y)
	}
	return looptest.Eval(o.op, o.imm, o.t, o.args[0], x[0], x[1], x[2])
}

// randomBits is a value of any kind.
func randomBits(r *rand.Rand, t loop.Type) uint64 {
	s := looptest.Specials(t)
	x := r.Uint64() >> (r.IntN(4) * 16)
	switch {
	case t == loop.B:
		return x & 1
	case r.IntN(4) == 0:
		return s[r.IntN(len(s))]
	case t == loop.F32 && r.IntN(2) == 0:
		return uint64(math.Float32bits(float32(r.NormFloat64())))
	case t == loop.F64 && r.IntN(2) == 0:
		return math.Float64bits(r.NormFloat64())
	}
	return x << (64 - 8*t.Size()) >> (64 - 8*t.Size())
}

// arguments returns all combinations of special values, but for three operands a
// sample, and random ones.
func (o operation) arguments(r *rand.Rand) [][]uint64 {
	args := make([][]uint64, len(o.args))
	total := 1
	for _, a := range o.args {
		total *= len(looptest.Specials(a))
	}
	for k := 0; k < total; k++ {
		if total > 10000 && r.IntN(total/10000+1) != 0 {
			continue
		}
		rest := k
		for i, a := range o.args {
			s := looptest.Specials(a)
			args[i] = append(args[i], s[rest%len(s)])
			rest /= len(s)
		}
	}
	for range 500 {
		for i, a := range o.args {
			args[i] = append(args[i], randomBits(r, a))
		}
	}
	return args
}

func TestOps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, o := range operations() {
		args := o.arguments(r)
		o.check(t, 0, args)
		// Every choice of operands that are the same for all lanes.
		for scalars := 1; scalars < 1<<len(o.args); scalars++ {
			for range 12 {
				for i := range args {
					args[i] = args[i][:40]
					for j := range args[i] {
						args[i][j] = randomBits(r, o.args[i])
					}
				}
				o.check(t, scalars, args)
			}
		}
	}
}
