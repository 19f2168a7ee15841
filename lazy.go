package weft

import (
	"weft/internal/core"
)

// Lazy returns a lazy tensor that shares t's memory. Elementwise operations, IndexSelect and Gather
// on it, and on their results, wait until a result is used. A use is an operation of another kind,
// a read, or a write to an operand; a chain of some thirty operations runs too. Then the chain runs
// as one kernel, with the same bits. A reduction of rows that IndexSelect takes reads them in
// place.
//
// Errors of shapes and types come from the call at fault, as always. Lack of memory, an index out
// of range, or a failing device shows where the result is used. A chain runs operation by operation
// the first time that it is met, and as one kernel from the second time on. A Go slice that t or an
// index uses as memory ([FromSlice]) must not be written to meanwhile.
func (t *Tensor) Lazy() *Tensor {
	t.c().Check("lazy")
	r := &core.Run{Lazy: true}
	if t.c().Run() != nil {
		r.Scope = t.c().Run().Scope
	}
	return (*Tensor)(core.New(*t.v(), r, t.c().Hist(), true))
}

// Lazy makes results of tensors of the scope wait, as [Tensor.Lazy] does, and returns it. It
// is called before the first [Scope.Track].
func (s *Scope) Lazy() *Scope { return (*Scope)(s.c().Lazy()) }
