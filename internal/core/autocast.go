package core

import (
	"sync"

	"weft/internal/array"
	"weft/internal/op"
)

// Mixed precision: inside a scope operations of two lists convert their arguments first. The lists are the ones in
// PyTorch 2.15 for CUDA, as far as they name operations here: ATen/autocast_mode.h has them as
// AT_FORALL_LOWER_PRECISION_FP, AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE. matmul2 and powint are forms
// of matmul and pow; cross_entropy is log_softmax and nll_loss. What is several operations here has no entry:
// norms, losses, cosine_similarity and resizing of package nn call [Raised]. PyTorch also lowers prelu. All
// others take what they get and promote.

// lowered are the operations that run in the type of the scope: products.
var lowered = []string{"matmul", "matmul2", "linear", "attention", "conv1d", "conv2d", "conv_transpose2d"}

// raised are the operations that run in float32: what sums many terms or spans many magnitudes.
var raised = []string{
	"pow", "powint", "reciprocal", "rsqrt", "acos", "asin", "cosh", "sinh", "tan", "erfinv",
	"exp", "expm1", "log", "log10", "log1p", "log2", "softplus",
	"sum", "prod", "cumsum", "cumprod", "norm", "softmax", "log_softmax", "logsumexp", "cross_entropy",
}

// An autocast is a scope of mixed precision.
type autocast struct {
	to array.DType

	mu   sync.Mutex
	made map[castKey]castLeaf
}

// A castKey is a parameter in a trace, or outside traces.
type castKey struct {
	leaf *GradNode
	in   *Trace
}

// A castLeaf is a parameter's elements in the type of the scope, as of a version of its memory.
type castLeaf struct {
	t       *Tensor
	of      array.View
	version uint32
}

// AutocastLists returns the names of operations that run in the type of the scope, and the ones that run
// in float32.
func AutocastLists() [][]string { return [][]string{lowered, raised} }

// castTypes says by operation whether arguments become the type of the scope or float32.
var castTypes = sync.OnceValue(func() map[*op.Def]bool {
	m := map[*op.Def]bool{}
	for _, name := range lowered {
		m[op.Named(name)] = true
	}
	for _, name := range raised {
		m[op.Named(name)] = false
	}
	return m
})

// Autocast calls f, in which operations compute in float16 or bfloat16 where that serves. Float32 ends a
// scope around f for f.
func Autocast(to array.DType, f func()) {
	a := ambientHere()
	a.cast = nil
	if to != array.Float32 {
		a.cast = newAutocast(to)
	}
	inScope(a, f)
}

// newAutocast returns a scope of a type, nil if that is Invalid.
func newAutocast(to array.DType) *autocast {
	if to == array.Invalid {
		return nil
	}
	return &autocast{to: to, made: map[castKey]castLeaf{}}
}

// Raised returns t in float32 if it has 16 bits in a scope: what a package computes of several operations,
// and PyTorch as a whole in float32, begins so.
func Raised(t *Tensor) *Tensor {
	if t != nil && t.v.DType.Half() && castHere() != array.Invalid {
		return t.To(array.Float32)
	}
	return t
}

// castHere is the type of the innermost scope of this goroutine, Invalid if there is none.
func castHere() array.DType {
	if c := ambientHere().cast; c != nil {
		return c.to
	}
	return array.Invalid
}

// operands returns the operands of d as the scope asks. They are always a copy: returning ops would let the
// operands of all calls escape to the heap.
func (c *autocast) operands(d *op.Def, ops []Operand) []Operand {
	out := append([]Operand(nil), ops...)
	lower, known := castTypes()[d]
	if !known {
		return out
	}
	for i := range out {
		t := out[i].T
		if t == nil || t.v.Store == nil {
			continue
		}
		switch from := t.v.DType; {
		case lower && from != c.to && (from == array.Float32 || from.Half()):
			out[i].T = c.cast(t)
		case !lower && from.Half():
			out[i].T = t.To(array.Float32)
		}
	}
	return out
}

// cast returns t in the type of the scope. Parameters are converted once while their elements stay.
func (c *autocast) cast(t *Tensor) *Tensor {
	n := t.Node()
	if n == nil || n.Leaf == nil || !GradOn() {
		return t.To(c.to)
	}
	key := castKey{n, TracingHere()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.made[key]; ok && m.of.Same(&t.v) && m.version == t.v.Store.Version() {
		return m.t
	}
	r := t.To(c.to)
	c.made[key] = castLeaf{r, t.v, t.v.Store.Version()}
	return r
}

// withoutCast calls f outside scopes of mixed precision, as backward passes run.
func withoutCast(f func()) {
	if a := ambientHere(); a.cast != nil {
		a.cast = nil
		inScope(a, f)
		return
	}
	f()
}

// A mode is what of the state of a goroutine a program depends on.
type mode struct {
	noGrad bool
	cast   array.DType
}

// modeHere is the mode of a call on this goroutine.
func (c *CompiledFunc) modeHere() mode {
	if !c.Scoped || !array.Scoped.On() {
		return mode{}
	}
	return mode{!GradOn(), castHere()}
}
