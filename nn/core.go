package nn

import (
	"weft"
	"weft/internal/core"
)

// What layers ask of the engine behind a weft.Tensor, which is the same tensor there.

// sizes returns t's shape without a copy. Callers must neither write to it nor append to a part.
func sizes(t *weft.Tensor) []int { return (*core.Tensor)(t).Sizes() }

// own says that nobody else has the memory of t, a view of what the caller computed.
func own(t *weft.Tensor) *weft.Tensor { return (*weft.Tensor)((*core.Tensor)(t).Own()) }

// asIndices returns x, integers of any type, in a type that operations take as indices.
func asIndices(x *weft.Tensor) *weft.Tensor { return (*weft.Tensor)(core.Places((*core.Tensor)(x))) }

// checkRange returns x, integers. It panics with an error of that operation and argument if an
// element is not from lo to hi: text, with a verb for the element, says what is wrong. In a compiled
// function each call checks.
func checkRange(x *weft.Tensor, opName, arg string, lo, hi int64, text string) *weft.Tensor {
	return (*weft.Tensor)(core.RangeCheck{Op: opName, Arg: arg, Min: lo, Max: hi, Text: text}.Of((*core.Tensor)(x)))
}

// raised returns x in float32 if it has 16 bits in a scope of [weft.Autocast].
func raised(x *weft.Tensor) *weft.Tensor { return (*weft.Tensor)(core.Raised((*core.Tensor)(x))) }

// operands are tensors as arguments of an operation by that name.
func operands(opName string, ts ...*weft.Tensor) []core.Operand {
	list := make([]core.Operand, len(ts), len(ts)+4)
	for i, t := range ts {
		list[i] = core.Of(opName, (*core.Tensor)(t))
	}
	return list
}

// first is the first result of a formula.
func first(c core.Composite, args ...core.Operand) *weft.Tensor {
	return (*weft.Tensor)(c.Apply(args...)[0])
}
