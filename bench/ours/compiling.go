package main

import (
	"fmt"
	"strconv"

	"weft"
)

// A kernel takes numbers as arguments, so another constant is not another
// kernel. Every run therefore computes a formula of another structure, on 16
// elements: the peer's with a few additions of the variable itself, whose places
// spell the number of the run. That is more work than the peer's, and includes
// reading the formula.
func init() {
	cases["cold compile"] = func(p Params) (*Case, error) {
		x := weft.Vars{"x": uniform(16, p.DType, 1, -1, 1)}
		next := 0
		return &Case{Run: func() {
			weft.Expr(unseen(next), x)
			next++
		}}, nil
	}
}

// unseen returns formula number i: the binary digits of i choose the operations
// of a chain.
func unseen(i int) string {
	digits := strconv.FormatInt(int64(i), 2)
	chain := "x"
	for _, d := range digits {
		chain = fmt.Sprintf("(%s%cx)", chain, map[rune]rune{'0': '+', '1': '*'}[d])
	}
	return fmt.Sprintf("exp(-x*x)*sin(x)+2*log1p(abs(x))+%s", chain)
}
