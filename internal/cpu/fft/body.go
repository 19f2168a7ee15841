package fft

import "math"

// A value is the place of the instruction that defines it.
type value int32

type opcode uint8

const (
	opLoad    opcode = iota // the real part of input k; the next value is the imaginary part
	opTwiddle               // the same of twiddle factor k
	opSecond                // the imaginary part that the instruction before defines
	opNumber                // the constant num
	opScale                 // the factor of the call
	opAdd
	opSub
	opMul
	opFMA   // a*b + c, rounded once
	opFNMA  // c - a*b, rounded once
	opStore // a and b are the parts of output k

	// Real numbers: vectors 0 and 1 of a row ascend, apart bytes from each other. Vectors 2 and 3 descend,
	// a step behind them.
	opReal  // loads real numbers k
	opPlain // stores a as real numbers k
)

// An instr is an instruction on vectors.
type instr struct {
	op      opcode
	a, b, c value
	k       int
	num     float64
}

// args are the operands of an instruction.
func (in *instr) args() []value {
	switch in.op {
	case opAdd, opSub, opMul, opStore:
		return []value{in.a, in.b}
	case opFMA, opFNMA:
		return []value{in.a, in.b, in.c}
	case opPlain:
		return []value{in.a}
	}
	return nil
}

// A body is what a kernel does with one vector of each of its inputs.
type body struct{ code []instr }

// A pair is a complex value.
type pair struct{ re, im value }

func (b *body) put(in instr) value {
	b.code = append(b.code, in)
	return value(len(b.code) - 1)
}

func (b *body) both(op opcode, k int) pair {
	re := b.put(instr{op: op, k: k})
	return pair{re, b.put(instr{op: opSecond})}
}

func (b *body) number(x float64) value { return b.put(instr{op: opNumber, num: x}) }

func (b *body) op2(op opcode, x, y value) value { return b.put(instr{op: op, a: x, b: y}) }

func (b *body) add(x, y pair) pair { return pair{b.op2(opAdd, x.re, y.re), b.op2(opAdd, x.im, y.im)} }
func (b *body) sub(x, y pair) pair { return pair{b.op2(opSub, x.re, y.re), b.op2(opSub, x.im, y.im)} }

func (b *body) fma(x, y, z value) value  { return b.put(instr{op: opFMA, a: x, b: y, c: z}) }
func (b *body) fnma(x, y, z value) value { return b.put(instr{op: opFNMA, a: x, b: y, c: z}) }

// mul multiplies complex numbers.
func (b *body) mul(x, w pair) pair {
	re, im := b.op2(opMul, x.re, w.re), b.op2(opMul, x.im, w.re)
	return pair{b.fnma(x.im, w.im, re), b.fma(x.re, w.im, im)}
}

// A twiddling says by which factors a kernel multiplies its outputs.
type twiddling uint8

const (
	noTwiddles twiddling = iota
	uniform              // outputs from 1 on, each by one number for all columns of an outer step
	varying              // all outputs, by a vector of numbers for each vector of columns
	whole                // all outputs, each by one number for all columns of an outer step
)

// In place of radices: the passes between the transform of pairs of real numbers and the half of theirs.
const (
	toHalf   = 0
	fromHalf = 1
)

// In place of radices: the passes of cosine transforms, between complex numbers and rows of real ones.
const (
	gather     = maxRadix + 1 + iota // pairs of a row to Makhoul's order: even elements, then odd ones backwards
	toCosine                         // pairs of real numbers' transform to cosine coefficients
	fromCosine                       // the way back of toCosine
	spread                           // the way back of gather
	radixEnd
)

// real reports a pass of cosine transforms.
func (k key) real() bool { return k.radix >= gather }

// halves reports a pass over elements k and n-k, for one k after the other.
func (k key) halves() bool { return k.radix <= fromHalf || k.real() }

// butterfly is the transform of radix points, or one of the passes above.
func butterfly(radix int, tw twiddling, scaled bool) *body {
	b := new(body)
	var scale value
	if scaled {
		scale = b.put(instr{op: opScale})
	}
	out := func(k int, y pair) {
		switch {
		case tw == uniform && k > 0:
			y = b.mul(y, b.both(opTwiddle, k-1))
		case tw == varying || tw == whole:
			y = b.mul(y, b.both(opTwiddle, k))
		}
		if scaled {
			y = pair{b.op2(opMul, y.re, scale), b.op2(opMul, y.im, scale)}
		}
		b.put(instr{op: opStore, a: y.re, b: y.im, k: k})
	}
	switch radix {
	case toHalf:
		b.toHalf()
	case fromHalf:
		b.fromHalf()
	case gather:
		x := b.both(opLoad, 0)
		b.put(instr{op: opPlain, a: x.re, k: 0})
		b.put(instr{op: opPlain, a: b.op2(opMul, x.im, scale), k: 2})
	case spread:
		re, im := b.put(instr{op: opReal, k: 0}), b.put(instr{op: opReal, k: 2})
		b.put(instr{op: opStore, a: re, b: b.op2(opMul, im, scale), k: 0})
	case toCosine:
		b.toCosine()
	case fromCosine:
		b.fromCosine()
	case 2:
		x0, x1 := b.both(opLoad, 0), b.both(opLoad, 1)
		out(0, b.add(x0, x1))
		out(1, b.sub(x0, x1))
	case 4:
		for k, y := range b.four(0, 1) {
			out(k, y)
		}
	case 8:
		b.eight(out)
	default:
		b.odd(radix, out)
	}
	return b
}

// four is the transform of four inputs from first on, step apart.
func (b *body) four(first, step int) [4]pair {
	x0, x2 := b.both(opLoad, first), b.both(opLoad, first+2*step)
	s0, d0 := b.add(x0, x2), b.sub(x0, x2)
	x1, x3 := b.both(opLoad, first+step), b.both(opLoad, first+3*step)
	s1, d1 := b.add(x1, x3), b.sub(x1, x3)
	y1 := pair{b.op2(opAdd, d0.re, d1.im), b.op2(opSub, d0.im, d1.re)} // d0 - i d1
	y3 := pair{b.op2(opSub, d0.re, d1.im), b.op2(opAdd, d0.im, d1.re)}
	return [4]pair{b.add(s0, s1), y1, b.sub(s0, s1), y3}
}

// eight is the transform of eight inputs: two of four, and the eighth roots of unity.
func (b *body) eight(out func(k int, y pair)) {
	e, o := b.four(0, 2), b.four(1, 2)
	out(0, b.add(e[0], o[0]))
	out(4, b.sub(e[0], o[0]))
	out(2, pair{b.op2(opAdd, e[2].re, o[2].im), b.op2(opSub, e[2].im, o[2].re)})
	out(6, pair{b.op2(opSub, e[2].re, o[2].im), b.op2(opAdd, e[2].im, o[2].re)})
	half := b.number(math.Sqrt2 / 2)
	s, d := b.op2(opAdd, o[1].re, o[1].im), b.op2(opSub, o[1].im, o[1].re)
	out(1, pair{b.fma(half, s, e[1].re), b.fma(half, d, e[1].im)})
	out(5, pair{b.fnma(half, s, e[1].re), b.fnma(half, d, e[1].im)})
	s, d = b.op2(opAdd, o[3].re, o[3].im), b.op2(opSub, o[3].im, o[3].re)
	out(3, pair{b.fma(half, d, e[3].re), b.fnma(half, s, e[3].im)})
	out(7, pair{b.fnma(half, d, e[3].re), b.fma(half, s, e[3].im)})
}

// odd is the transform of an odd number r of inputs. Inputs j and r-j meet as sum and difference:
//
//	y[k] = a[k] - i b[k], y[r-k] = a[k] + i b[k]
//	a[k] = x[0] + sum of cos(2 pi jk/r) (x[j] + x[r-j]), b[k] = sum of sin(2 pi jk/r) (x[j] - x[r-j])
func (b *body) odd(r int, out func(k int, y pair)) {
	h := r / 2
	x0 := b.both(opLoad, 0)
	sum, diff := make([]pair, h+1), make([]pair, h+1)
	y0 := x0
	for j := 1; j <= h; j++ {
		x, y := b.both(opLoad, j), b.both(opLoad, r-j)
		sum[j], diff[j] = b.add(x, y), b.sub(x, y)
		y0 = b.add(y0, sum[j])
	}
	out(0, y0)
	w := roots(r)
	for k := 1; k <= h; k++ {
		a := x0
		var d pair
		for j := 1; j <= h; j++ {
			c, s := b.number(w[2*(j*k%r)]), b.number(-w[2*(j*k%r)+1])
			a = pair{b.fma(c, sum[j].re, a.re), b.fma(c, sum[j].im, a.im)}
			if j == 1 {
				d = pair{b.op2(opMul, s, diff[j].re), b.op2(opMul, s, diff[j].im)}
			} else {
				d = pair{b.fma(s, diff[j].re, d.re), b.fma(s, diff[j].im, d.im)}
			}
		}
		out(k, pair{b.op2(opAdd, a.re, d.im), b.op2(opSub, a.im, d.re)})
		out(r-k, pair{b.op2(opSub, a.re, d.im), b.op2(opAdd, a.im, d.re)})
	}
}

// toHalf computes elements k and m-k, inputs and outputs 0 and 1, of the transforms of real numbers. See
// forwardReal, which has the same arithmetic.
func (b *body) toHalf() {
	x, y, w := b.both(opLoad, 0), b.both(opLoad, 1), b.both(opTwiddle, 0)
	half := b.number(0.5)
	er, ei := b.op2(opMul, b.op2(opAdd, x.re, y.re), half), b.op2(opMul, b.op2(opSub, x.im, y.im), half)
	or, oi := b.op2(opMul, b.op2(opAdd, x.im, y.im), half), b.op2(opMul, b.op2(opSub, y.re, x.re), half)
	tr := b.op2(opSub, b.op2(opMul, or, w.re), b.op2(opMul, oi, w.im))
	ti := b.op2(opAdd, b.op2(opMul, or, w.im), b.op2(opMul, oi, w.re))
	b.pair(er, ei, tr, ti)
}

// fromHalf is the way back. See inverseReal, which has the same arithmetic.
func (b *body) fromHalf() {
	b.together(b.both(opLoad, 0), b.both(opLoad, 1), b.both(opTwiddle, 0))
}

// together stores elements k and m-k of the transform of pairs from elements x and y of the half.
func (b *body) together(x, y, w pair) {
	er, ei := b.op2(opAdd, x.re, y.re), b.op2(opSub, x.im, y.im)
	dr, di := b.op2(opSub, x.re, y.re), b.op2(opAdd, x.im, y.im)
	tr := b.op2(opSub, b.op2(opMul, dr, w.im), b.op2(opMul, di, w.re))
	ti := b.op2(opAdd, b.op2(opMul, di, w.im), b.op2(opMul, dr, w.re))
	b.pair(er, ei, tr, ti)
}

// toCosine computes coefficients k, m-k, m+k and 2m-k from elements k and m-k of the transform of pairs. See
// forwardCosine, which has the same arithmetic.
func (b *body) toCosine() {
	x, y, w := b.both(opLoad, 0), b.both(opLoad, 1), b.both(opTwiddle, 0)
	er, ei := b.op2(opAdd, x.re, y.re), b.op2(opSub, x.im, y.im)
	or, oi := b.op2(opAdd, x.im, y.im), b.op2(opSub, y.re, x.re)
	tr := b.op2(opSub, b.op2(opMul, or, w.re), b.op2(opMul, oi, w.im))
	ti := b.op2(opAdd, b.op2(opMul, or, w.im), b.op2(opMul, oi, w.re))
	// Elements k are last: element m/2 is both.
	re, im := b.turned(pair{b.op2(opSub, er, tr), b.op2(opSub, ti, ei)}, b.both(opTwiddle, 2))
	b.put(instr{op: opPlain, a: re, k: 2})
	b.put(instr{op: opPlain, a: im, k: 1})
	re, im = b.turned(pair{b.op2(opAdd, er, tr), b.op2(opAdd, ei, ti)}, b.both(opTwiddle, 1))
	b.put(instr{op: opPlain, a: re, k: 0})
	b.put(instr{op: opPlain, a: im, k: 3})
}

// turned are the real part and the negative imaginary part of x times the conjugate of c.
func (b *body) turned(x, c pair) (re, im value) {
	return b.op2(opAdd, b.op2(opMul, x.re, c.re), b.op2(opMul, x.im, c.im)), b.op2(opSub, b.op2(opMul, x.re, c.im), b.op2(opMul, x.im, c.re))
}

// fromCosine is the way back. See inverseCosine, which has the same arithmetic.
func (b *body) fromCosine() {
	in := func(k int) value { return b.put(instr{op: opReal, k: k}) }
	var x, y pair
	x.re, x.im = b.turned(pair{in(0), in(3)}, b.both(opTwiddle, 1))
	y.re, y.im = b.turned(pair{in(2), in(1)}, b.both(opTwiddle, 2))
	b.together(x, y, b.both(opTwiddle, 0))
}

// pair stores elements m-k and k. They may be the same, then it is element k that counts.
func (b *body) pair(er, ei, tr, ti value) {
	b.put(instr{op: opStore, a: b.op2(opSub, er, tr), b: b.op2(opSub, ti, ei), k: 1})
	b.put(instr{op: opStore, a: b.op2(opAdd, er, tr), b: b.op2(opAdd, ei, ti), k: 0})
}
