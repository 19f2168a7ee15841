package main

import (
	"math/bits"

	"weft"
	"weft/bench/worker"
)

// A kernel takes numbers as arguments, so another constant is not another
// kernel. Every run therefore computes a formula of another structure, on 16
// elements: the peer's and a chain of operations on the variable that spells the
// number of the run, four to each operation. That is more work than the peer's, and
// includes reading the formula.
func init() {
	worker.Cases["cold compile"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.Vars{"x": uniform(16, p.DType, 1, -1, 1)}
		next := 0
		return &worker.Case{Run: func() {
			weft.Expr(unseen(next), x)
			next++
		}}, nil
	}
}

// unseen returns formula number i: its digits to the base of four choose the
// operations of a chain. Making the text is to take no time.
func unseen(i int) string {
	text := make([]byte, 0, 128)
	text = append(text, "exp(-x*x)*sin(x)+2*log1p(abs(x))+"...)
	digits := (bits.Len(uint(i)) + 1) / 2
	for range digits {
		text = append(text, '(')
	}
	text = append(text, 'x')
	for d := digits - 1; d >= 0; d-- {
		text = append(text, "+-*/"[i>>(2*d)&3], 'x', ')')
	}
	return string(text)
}
