package op

import (
	"math/bits"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Random numbers come from Philox 4x32-10 (J. K. Salmon, M. A. Moraes, R. O.
// Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11), a
// function of a counter and a key:
//
//	key      words 0, 1   the seed, low half first
//	counter  words 0, 1   the number of the block, low half first
//	         words 2, 3   the number of the draw, low half first
//
// Each block gives four words of 32 bits. Consecutive elements of a draw take
// the values of block 0, then of block 1 and so on, so that an element depends
// on the seed, the draw and its position alone.
const (
	philoxM0 = 0xD2511F53
	philoxM1 = 0xCD9E8D57
	philoxW0 = 0x9E3779B9
	philoxW1 = 0xBB67AE85

	philoxRounds = 10
	low32        = 1<<32 - 1
)

// Philox computes one block.
func Philox(seed, draw, block uint64) [4]uint32 {
	c0, c1, c2, c3 := uint32(block), uint32(block>>32), uint32(draw), uint32(draw>>32)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range philoxRounds {
		p0, p1 := philoxM0*uint64(c0), philoxM1*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Below returns floor(x*n/2^64) for x of the two words, high half first: a number
// below n.
func Below(hi, lo uint32, n uint64) uint64 {
	x, _ := bits.Mul64(uint64(hi)<<32|uint64(lo), n)
	return x
}

// philox computes one block over loop values of type I64. The high halves of the
// four words are not cleared.
func philox(b *bld, block, seed, draw val) [4]val {
	n := func(x int64) val { return b.Int(loop.I64, x) }
	low, half := n(low32), n(32)
	clean := func(x val) val { return b.And(x, low) }
	c0, c1, c2, c3 := clean(block), b.ShrU(block, half), clean(draw), b.ShrU(draw, half)
	k0, k1 := seed, b.ShrU(seed, half)
	for r := range philoxRounds {
		if r > 0 {
			k0, k1 = b.Add(k0, n(philoxW0)), b.Add(k1, n(philoxW1))
		}
		p0, p1 := b.Mul(c0, n(philoxM0)), b.Mul(c2, n(philoxM1))
		// The keys stand together: they are the same for all elements.
		c0, c1 = clean(b.Xor(b.Xor(b.ShrU(p1, half), c1), k0)), p1
		c2, c3 = clean(b.Xor(b.Xor(b.ShrU(p0, half), c3), k1)), p0
	}
	return [4]val{c0, c1, c2, c3}
}

// join makes 64 bits of two words.
func join(b *bld, hi, lo val) val {
	return b.Or(b.Shl(hi, b.Int(loop.I64, 32)), b.And(lo, b.Int(loop.I64, low32)))
}

// A Distribution says what random numbers are made of the words of a block. Its
// nodes take the number of the block, the seed and the draw, int64, and further
// numbers; an [Element] says which of the block they give. They are no part of the op table: what they compute is given by test
// vectors, not by a function of real numbers.
type Distribution struct{ part *Def }

// The distributions.
var (
	// Uniform numbers are multiples of 2^-24 (float32) or 2^-53 (float64) from 0
	// to below 1.
	Uniform = distribution("uniform", 30, uniform)
	// Normal numbers have mean 0 and variance 1, by Box and Muller's
	// transformation of two words each (float32) or four (float64).
	Normal = distribution("normal", 60, normal)
	// Exponential numbers have mean 1: minus the logarithm of a uniform number above 0 and
	// up to 1, a multiple of 2^-32 (float32) or 2^-53 (float64).
	Exponential = distribution("exponential", 45, exponential)
	// Laplace numbers have mean 0 and scale 1: exponential ones, of 31 (float32) or 53 (float64) bits, with
	// the sign that the lowest bit of their words says.
	Laplace = distribution("laplace", 50, laplace)
	// Cauchy numbers have median 0 and scale 1: the cotangent of pi times a fraction above 0 and up to 1/2,
	// a multiple of 2^-32 (float32) or 2^-54 (float64), with such a sign.
	Cauchy = distribution("cauchy", 60, cauchy)
	// Integers are lo + floor(x*size/2^64) for x of 64 bits. Numbers 3 and 4 are
	// lo and size, int64; size is read as unsigned. The result is int64.
	Integers = distribution("integers", 60, integers)
)

func distribution(name string, cost int, expr func(b *bld, n *ir.Node, w [4]val, x []val) val) Distribution {
	return Distribution{unlisted(Def{Name: "random " + name, Arity: -1, Attrs: Element{},
		Elementwise: Elementwise{Rule: Keep, Cost: cost,
			Expr: func(b *bld, n *ir.Node, x []val) val {
				return expr(b, n, philox(b, x[0], x[1], x[2]), x[3:])
			}},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) { return c.Attrs.(Element).DType, c.Args[0].Shape }}})}
}

// Value writes the first number of type dtype that a block gives; block, seed and draw are
// of type I64.
func (d Distribution) Value(b *loop.Builder, dtype array.DType, block, seed, draw loop.Value) loop.Value {
	n := &ir.Node{Op: d.part, Attrs: Element{0, dtype}, DType: dtype}
	return d.part.Expr(b, n, []val{block, seed, draw})
}

// Values writes all numbers of type dtype that a block gives, in order.
func (d Distribution) Values(b *loop.Builder, dtype array.DType, block, seed, draw loop.Value) (list []loop.Value) {
	for i := range d.Block(dtype) {
		n := &ir.Node{Op: d.part, Attrs: Element{i, dtype}, DType: dtype}
		list = append(list, d.part.Expr(b, n, []val{block, seed, draw}))
	}
	return list
}

// Block returns how many elements of type dtype a block gives.
func (d Distribution) Block(dtype array.DType) int {
	if dtype == array.Float32 {
		return 4
	}
	return 2
}

// Draw returns one node for each element of a block: the elements at that place
// of the first m blocks.
func (d Distribution) Draw(m int, dtype array.DType, seed, draw *node, more ...*node) []*node {
	g := seed.Graph
	shape := Apply(Expand, Shape{m}, g.Number(0, array.Float32, false))
	args := []*node{Apply(Iota, nil, shape)}
	for _, x := range append([]*node{seed, draw}, more...) {
		args = append(args, Convert(x, array.Int64))
	}
	out := make([]*node, d.Block(dtype))
	for i := range out {
		out[i] = Apply(d.part, Element{i, dtype}, args...)
	}
	return out
}

func uniform(b *bld, n *ir.Node, w [4]val, _ []val) val {
	i := n.Attrs.(Element).At
	if n.DType == array.Float32 {
		return unit24(b, w[i])
	}
	return unit53(b, w[2*i], w[2*i+1])
}

// unit24 is the high 24 of the low 32 bits of w, as a fraction.
func unit24(b *bld, w val) val {
	k := b.ShrU(b.Cvt(loop.I32, w), b.Int(loop.I32, 8))
	return b.Mul(b.Cvt(loop.F32, k), b.Float(loop.F32, 0x1p-24))
}

// unit53 is the high 53 bits of two words, as a fraction.
func unit53(b *bld, hi, lo val) val {
	k := b.ShrU(join(b, hi, lo), b.Int(loop.I64, 11))
	return b.Mul(b.Cvt(loop.F64, k), b.Float(loop.F64, 0x1p-53))
}

func normal(b *bld, n *ir.Node, w [4]val, _ []val) val {
	const tau = 6.283185307179586476925286766559
	var r, angle val
	i := n.Attrs.(Element).At
	if n.DType == array.Float32 {
		// All 32 bits go into the radius, for the tails: it reaches 6.66.
		k := b.Add(b.And(w[i&^1], b.Int(loop.I64, low32)), b.Int(loop.I64, 1))
		r = b.Mul(b.Cvt(loop.F32, k), b.Float(loop.F32, 0x1p-32))
		angle = b.Mul(unit24(b, w[i|1]), b.Float(loop.F32, tau))
	} else {
		r = b.Sub(b.Float(loop.F64, 1), unit53(b, w[0], w[1]))
		angle = b.Mul(unit53(b, w[2], w[3]), b.Float(loop.F64, tau))
	}
	// r is above 0 and at most 1.
	r = b.Sqrt(b.Mul(vmath.Log(b, r), b.Float(b.Type(r), -2)))
	if i&1 == 0 {
		return b.Mul(r, vmath.Cos(b, angle))
	}
	return b.Mul(r, vmath.Sin(b, angle))
}

func exponential(b *bld, n *ir.Node, w [4]val, _ []val) val {
	i := n.Attrs.(Element).At
	var r val
	if n.DType == array.Float32 {
		// All 32 bits, for the tail: it reaches 22.2.
		k := b.Add(b.And(w[i], b.Int(loop.I64, low32)), b.Int(loop.I64, 1))
		r = b.Mul(b.Cvt(loop.F32, k), b.Float(loop.F32, 0x1p-32))
	} else {
		r = b.Sub(b.Float(loop.F64, 1), unit53(b, w[2*i], w[2*i+1]))
	}
	return b.Sub(b.Float(b.Type(r), 0), vmath.Log(b, r))
}

// eitherSign returns a number that is negative with probability 1/2, of a fraction above 0 and up to 1: what
// size makes of it.
func eitherSign(b *bld, n *ir.Node, w [4]val, size func(r val) val) val {
	i := n.Attrs.(Element).At
	var r, word val
	if n.DType == array.Float32 {
		word = b.And(w[i], b.Int(loop.I64, low32))
		k := b.Add(b.ShrU(word, b.Int(loop.I64, 1)), b.Int(loop.I64, 1))
		r = b.Mul(b.Cvt(loop.F32, k), b.Float(loop.F32, 0x1p-31))
	} else {
		word = w[2*i+1]
		r = b.Sub(b.Float(loop.F64, 1), unit53(b, w[2*i], word))
	}
	y := size(r)
	return b.Select(b.Eq(b.And(word, b.Int(loop.I64, 1)), b.Int(loop.I64, 0)), y, b.Neg(y))
}

func laplace(b *bld, n *ir.Node, w [4]val, _ []val) val {
	return eitherSign(b, n, w, func(r val) val { return b.Sub(b.Float(b.Type(r), 0), vmath.Log(b, r)) })
}

func cauchy(b *bld, n *ir.Node, w [4]val, _ []val) val {
	const halfPi = 1.5707963267948966192313216916398
	return eitherSign(b, n, w, func(r val) val {
		x := b.Mul(r, b.Float(b.Type(r), halfPi))
		return b.Div(vmath.Cos(b, x), vmath.Sin(b, x))
	})
}

func integers(b *bld, n *ir.Node, w [4]val, x []val) val {
	i := n.Attrs.(Element).At
	low, half := b.Int(loop.I64, low32), b.Int(loop.I64, 32)
	hi, lo := b.And(w[2*i], low), b.And(w[2*i+1], low)
	sh, sl := b.ShrU(x[1], half), b.And(x[1], low)
	// The high half of a product of 64 by 64 bits, from four of 32 by 32.
	mid := b.Add(b.Mul(hi, sl), b.ShrU(b.Mul(lo, sl), half))
	cross := b.Add(b.Mul(lo, sh), b.And(mid, low))
	top := b.Add(b.Mul(hi, sh), b.Add(b.ShrU(mid, half), b.ShrU(cross, half)))
	return b.Add(top, x[0])
}

// Dropout is x times the fourth number where a uniform number of the same
// position is at least the third, else 0. The arguments are x, seed, draw, the
// probability to drop an element, and the scale of the others.
var Dropout *Def

func init() {
	Dropout = unlisted(Def{Name: "dropout", Class: Composite, Arity: 5,
		Composed: Composed{Compose: func(a []*node, _ ir.Attrs) *node {
			x, seed, draw, p, scale := a[0], a[1], a[2], a[3], a[4]
			n := x.Size()
			k := Uniform.Block(array.Float32)
			m := (n + k - 1) / k
			parts := Uniform.Draw(m, array.Float32, seed, draw)
			for i := range parts {
				parts[i] = reshape(parts[i], []int{m, 1})
			}
			u := reshape(Apply(Cat, Axis(1), parts...), []int{m * k})
			u = reshape(Narrow(u, 0, 0, n), x.Shape)
			return where(apply(Ge, u, p), mul(x, scale), num(x, 0))
		}},
		// The mask is computed again from its seed.
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return apply(Dropout, v.DY, v.X[1], v.X[2], v.X[3], v.X[4]) })
		}}})
}
