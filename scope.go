package weft

import (
	"weft/internal/core"
)

// A Scope collects the memory of temporaries, to give it back at once. Using one
// is optional: what no scope owns is given back when it is unreachable.
//
// A scope is safe for use from several goroutines; Close is called once, when no
// work on its tensors is left. What still runs then keeps its memory until it is over.
type Scope core.Scope

// NewScope returns an open scope.
func NewScope() *Scope { return (*Scope)(core.NewScope()) }

// Nest returns a scope inside s: results of tensors of both belong to it.
func (s *Scope) Nest() *Scope { return (*Scope)(s.c().Nest()) }

// Track returns t as a tensor of the scope: results computed from it are given
// back by [Scope.Close]. t itself is not.
func (s *Scope) Track(t *Tensor) *Tensor { return (*Tensor)(s.c().Track(t.c())) }

// Keep moves t out of the scope: its memory stays when the scope closes.
func (s *Scope) Keep(t *Tensor) *Tensor { return (*Tensor)(s.c().Keep(t.c())) }

// Close gives back the memory of all results computed from tracked tensors. Using
// one of them afterwards panics.
func (s *Scope) Close() { s.c().Close() }

// Release gives t's memory back now. Using t, or a view of it, afterwards panics with an [*Error].
// A view ([Tensor.Reshape], [Tensor.At], [Tensor.Detach] ...) gives back itself alone: what it was
// taken of stays as it is; where Reshape had to copy, its result is not a view. It panics while a
// function that [Borrow] gave the memory to has not returned. Operations and calls that read the
// memory meanwhile finish as if it were not released: it is given back after the last of them. They
// may run on other goroutines, or around the function that releases it. Release is never necessary:
// what nothing refers to any more is given back by the collector.
func (t *Tensor) Release() { t.c().Release() }

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
		r.Scope, r.Stream = t.c().Run().Scope, t.c().Run().Stream
	}
	return (*Tensor)(core.New(*t.v(), r, t.c().Hist(), true))
}

// Lazy makes results of tensors of the scope wait, as [Tensor.Lazy] does, and returns it. It
// is called before the first [Scope.Track].
func (s *Scope) Lazy() *Scope { return (*Scope)(s.c().Lazy()) }
