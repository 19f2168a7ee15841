package cpu

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/vmath"
)

// What attention does between matrix products, as loop programs: the operations, and so the bits, of
// [op.AttentionWeights] and [op.AttentionWeightsBack].

// A rowKind says what a program does with rows.
type rowKind uint8

const (
	rowWeights  rowKind = iota // scores become weights
	rowBack                    // scores become weights, gradients of weights become gradients of scores
	rowGreatest                // the greatest magnitude of a row
	rowAdd                     // rows are added to others
	rowPositive                // -0 becomes +0
	rowDraws                   // uniform numbers, by blocks of four
)

// A rowKey names a program.
type rowKey struct {
	kind   rowKind
	d      array.DType
	mask   array.DType // of a mask; Invalid for none
	step   loop.Step   // of the mask, or of the argument of rowGreatest, from column to column
	causal bool
	drop   bool // of weights, by uniform numbers
}

// A rowArg is a matrix that a program takes, by strides in bytes.
type rowArg struct {
	at       unsafe.Pointer
	row, col int
}

// rowProgram returns the program of a key.
func (d *Device) rowProgram(k rowKey) *Program {
	if p, ok := d.rows.Load(k); ok {
		return p.(*Program)
	}
	p, err := d.Compile(k.build())
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "attention", Msg: "a kernel cannot be compiled", Err: err})
	}
	d.rows.Store(k, p)
	return p.(*Program)
}

// rowChunk is the number of elements for which machine code is entered once: some 20 µs.
const rowChunk = 32 << 10

// A rowRange is what a program runs on: rows from a number on, columns from a number on.
type rowRange struct{ row, rows, col, cols int }

// run runs the program on this thread. args begin at the first row and column; words are the scalars.
func (p *Program) run(words []uint64, r rowRange, args ...rowArg) {
	q := p.p
	a := device.NewArgs()
	defer a.Free(len(q.Bufs))
	for i, w := range words {
		a.Word[q.ScalarWord(i)] = w
	}
	rows, cols := r.rows, r.cols
	per := max(1, rowChunk/max(cols, 1))
	for at := 0; at < rows; at += per {
		for i, x := range args {
			a.Ptr[i] = unsafe.Add(x.at, at*x.row)
			a.Word[q.StrideWord(i, 0)], a.Word[q.StrideWord(i, 1)] = uint64(x.row), uint64(x.col)
		}
		a.Word[q.ExtentWord(0)], a.Word[q.ExtentWord(1)] = uint64(min(per, rows-at)), uint64(cols)
		a.Word[q.StartWord(0)], a.Word[q.StartWord(1)] = uint64(r.row+at), uint64(r.col)
		if err := p.Enter(p.runs(p.code), &a.Frame, nil); err != nil {
			panic(err)
		}
	}
}

// build writes the program.
func (k rowKey) build() *loop.Program {
	lanes := loop.Reduce
	if k.kind == rowAdd || k.kind == rowPositive || k.kind == rowDraws {
		lanes = loop.Parallel
	}
	b := loop.NewBuilder("attention", []loop.Axis{{Kind: loop.Parallel}, {Kind: lanes}}, 1)
	switch k.kind {
	case rowWeights, rowBack:
		k.weights(b)
	case rowGreatest:
		y, x := b.Buf(k.d, true, loop.Any, loop.Zero), b.Buf(k.d, false, loop.Any, k.step)
		var top loop.Value
		b.Pass(func() { top = b.Reduce(loop.Max, b.Abs(b.Load(x))) })
		b.Store(y, top)
	case rowAdd:
		y, x := b.Buf(k.d, true, loop.Any, loop.Unit), b.Buf(k.d, false, loop.Any, loop.Unit)
		b.Pass(func() { b.Store(y, b.Add(b.Load(y), b.Load(x))) })
	case rowDraws:
		var at [4]int
		for i := range at {
			at[i] = b.Buf(array.Float32, true, loop.Any, loop.By4)
			b.Program().Bufs[at[i]].Pair = at[max(i-1, 0)] + min(i, 1) // the number before lies before
		}
		b.ScalarArg(loop.I64)
		b.ScalarArg(loop.I64)
		b.Pass(func() {
			for i, u := range op.Uniform.Values(b, array.Float32, b.Index(1), b.Scalar(0), b.Scalar(1)) {
				b.Store(at[i], u)
			}
		})
	case rowPositive:
		y := b.Buf(k.d, true, loop.Any, loop.Unit)
		b.Pass(func() { b.Store(y, b.Add(b.Load(y), b.Float(b.Program().TypeOf(y), 0))) })
	}
	p, err := b.Done()
	if err != nil {
		panic("cpu: " + err.Error())
	}
	return p
}

// weights writes the passes over rows of scores, and with rowBack over gradients of weights.
func (k rowKey) weights(b *loop.Builder) {
	s := b.Buf(k.d, true, loop.Any, loop.Unit)
	t := b.Program().TypeOf(s)
	dp, m, u := 0, 0, 0
	if k.kind == rowBack {
		dp = b.Buf(k.d, true, loop.Any, loop.Unit)
	}
	if k.mask != array.Invalid {
		m = b.Buf(k.mask, false, loop.Any, k.step)
	}
	b.ScalarArg(t)
	scale, none, zero := b.Scalar(0), b.Float(t, math.Inf(-1)), b.Float(t, 0)
	dropped := func(x loop.Value) loop.Value { return x }
	if k.drop {
		u = b.Buf(array.Float32, false, loop.Any, loop.Unit)
		b.ScalarArg(t)
		b.ScalarArg(loop.F32)
		kept, probability := b.Scalar(1), b.Scalar(2)
		dropped = func(x loop.Value) loop.Value {
			return b.Select(b.Ge(b.Load(u), probability), b.Mul(x, kept), zero)
		}
	}
	var top, sum, dot loop.Value
	b.Pass(func() {
		x := b.Mul(b.Load(s), scale)
		switch k.mask {
		case array.Invalid:
		case array.Bool:
			x = b.Select(b.Load(m), x, none)
		default:
			x = b.Add(x, b.Load(m))
		}
		if k.causal {
			x = b.Select(b.Ge(b.Index(0), b.Index(1)), x, none)
		}
		b.Store(s, x)
		top = b.Reduce(loop.Max, x)
	})
	top = b.Select(b.Eq(top, none), zero, top)
	b.Pass(func() {
		e := vmath.Exp(b, b.Sub(b.Load(s), top))
		b.Store(s, e)
		sum = b.Reduce(loop.Sum, e)
	})
	sum = b.Select(b.Eq(sum, zero), b.Float(t, 1), sum)
	b.Pass(func() {
		p := b.Div(b.Load(s), sum)
		if k.kind == rowWeights {
			b.Store(s, dropped(p))
			return
		}
		d := dropped(b.Load(dp))
		b.Store(s, p)
		b.Store(dp, d)
		dot = b.Reduce(loop.Sum, b.Mul(d, p))
	})
	if k.kind == rowBack {
		b.Pass(func() {
			p := b.Load(s)
			b.Store(dp, b.Mul(b.Mul(p, b.Sub(b.Load(dp), dot)), scale))
			if k.drop {
				b.Store(s, dropped(p))
			}
		})
	}
}
