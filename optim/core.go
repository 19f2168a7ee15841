package optim

import (
	"weft"
	"weft/internal/core"
)

// What optimizers ask of the engine behind a weft.Tensor, which is the same tensor there.

// sizes returns t's shape without a copy. Callers must neither write to it nor append to a part.
func sizes(t *weft.Tensor) []int { return (*core.Tensor)(t).Sizes() }

// operand returns a tensor as an argument of a formula.
func operand(t *weft.Tensor) core.Operand { return core.Of("optim", (*core.Tensor)(t)) }

// numbers appends Go numbers to the arguments of a formula.
func numbers(list []core.Operand, xs ...float64) []core.Operand {
	for _, x := range xs {
		list = append(list, core.Num(x))
	}
	return list
}

// kept appends what is kept for p to the arguments of a formula.
func (p *param) kept(list []core.Operand) []core.Operand {
	for _, t := range p.state {
		list = append(list, operand(t))
	}
	return list
}

// live appends the numbers that depend on p's steps to the arguments of a formula.
func (p *param) live(list []core.Operand) []core.Operand {
	for _, x := range p.numbers {
		list = append(list, core.Live(x))
	}
	return list
}

// places appends what a step writes to a list: p and what is kept for it.
func (p *param) places(list []*core.Tensor) []*core.Tensor {
	list = append(list, (*core.Tensor)(p.w))
	for _, t := range p.state {
		list = append(list, (*core.Tensor)(t))
	}
	return list
}
