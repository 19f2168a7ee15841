package looptest

import (
	"math"

	"weft/internal/loop"
	"weft/internal/numbers"
)

// Reduce combines the elements of a pass as the comment of loop.OpReduce says.
func Reduce(k loop.Reduction, t loop.Type, x []uint64) uint64 {
	op, identity := combination(k, t)
	f := func(x, y uint64) uint64 { return Eval(op, 0, t, t, x, y, 0) }
	lanes := numbers.VirtualBytes / max(t.Size(), 1)
	var blocks []uint64
	for {
		block := x[:min(len(x), numbers.Block)]
		x = x[len(block):]
		acc := make([]uint64, lanes)
		for l := range acc {
			acc[l] = identity
			for i := l; i < len(block); i += lanes {
				acc[l] = f(acc[l], block[i])
			}
		}
		for n := lanes / 2; n > 0; n /= 2 {
			for l := range n {
				acc[l] = f(acc[l], acc[l+n])
			}
		}
		blocks = append(blocks, acc[0])
		if len(x) == 0 {
			break
		}
	}
	for len(blocks) > 1 {
		var next []uint64
		for i := 0; i < len(blocks); i += 2 {
			if i+1 == len(blocks) {
				next = append(next, blocks[i])
			} else {
				next = append(next, f(blocks[i], blocks[i+1]))
			}
		}
		blocks = next
	}
	return blocks[0]
}

// combination returns the operation of a reduction and its identity.
func combination(k loop.Reduction, t loop.Type) (op loop.Op, identity uint64) {
	// limit returns infinity, or the greatest or least integer.
	limit := func(sign int) uint64 {
		switch {
		case t.Float():
			return floatBits(t, math.Inf(sign))
		case sign > 0:
			return Cut(t, 1<<(width(t)-1)-1)
		}
		return Cut(t, -1<<(width(t)-1))
	}
	switch k {
	case loop.Sum:
		return loop.OpAdd, 0
	case loop.Prod:
		if t.Float() {
			return loop.OpMul, floatBits(t, 1)
		}
		return loop.OpMul, 1
	case loop.Min:
		return loop.OpMin, limit(1)
	case loop.Max:
		return loop.OpMax, limit(-1)
	case loop.And:
		return loop.OpAnd, 1
	case loop.Or:
		return loop.OpOr, 0
	case loop.MinU:
		return loop.OpMinU, Cut(t, -1)
	}
	return loop.OpMaxU, 0
}
