package cpu

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/loop"
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
)

// A rowKey names a program.
type rowKey struct {
	kind   rowKind
	d      array.DType
	mask   array.DType // of a mask; Invalid for none
	step   loop.Step   // of the mask, or of the argument of rowGreatest, from column to column
	causal bool
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

// run runs the program on this thread. The first row is number row0.
func (p *Program) run(scale float64, row0, rows, cols int, args ...rowArg) {
	q := p.p
	a := device.NewArgs()
	defer a.Free(len(q.Bufs))
	if len(q.Scalars) > 0 {
		bits := math.Float64bits(scale)
		if q.Scalars[0] == loop.F32 {
			bits = uint64(math.Float32bits(float32(scale)))
		}
		a.Word[q.ScalarWord(0)] = bits
	}
	per := max(1, rowChunk/max(cols, 1))
	for at := 0; at < rows; at += per {
		for i, x := range args {
			a.Ptr[i] = unsafe.Add(x.at, at*x.row)
			a.Word[q.StrideWord(i, 0)], a.Word[q.StrideWord(i, 1)] = uint64(x.row), uint64(x.col)
		}
		a.Word[q.ExtentWord(0)], a.Word[q.ExtentWord(1)] = uint64(min(per, rows-at)), uint64(cols)
		a.Word[q.StartWord(0)], a.Word[q.StartWord(1)] = uint64(row0+at), 0
		if err := p.Enter(p.runs(p.code), &a.Frame, nil); err != nil {
			panic(err)
		}
	}
}

// build writes the program.
func (k rowKey) build() *loop.Program {
	lanes := loop.Reduce
	if k.kind == rowAdd || k.kind == rowPositive {
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
	dp, m := 0, 0
	if k.kind == rowBack {
		dp = b.Buf(k.d, true, loop.Any, loop.Unit)
	}
	if k.mask != array.Invalid {
		m = b.Buf(k.mask, false, loop.Any, k.step)
	}
	b.ScalarArg(t)
	scale, none, zero := b.Scalar(0), b.Float(t, math.Inf(-1)), b.Float(t, 0)
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
		b.Store(s, p)
		if k.kind == rowBack {
			dot = b.Reduce(loop.Sum, b.Mul(b.Load(dp), p))
		}
	})
	if k.kind == rowBack {
		b.Pass(func() { b.Store(dp, b.Mul(b.Mul(b.Load(s), b.Sub(b.Load(dp), dot)), scale)) })
	}
}
