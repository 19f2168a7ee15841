package plan_test

import (
	"errors"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/plan"
)

// A broken is a kernel that reads a value of a branch behind it, which no program may.
type broken struct{}

func (broken) AppendKey(k []byte) []byte             { return append(k, "test broken"...) }
func (broken) Name() string                          { return "broken" }
func (broken) Cost() int                             { return 5 }
func (broken) Params() []op.Param                    { return []op.Param{{Name: "x", DType: array.Float32}} }
func (broken) Results() []array.DType                { return []array.DType{array.Float32} }
func (broken) Partials(results, args []bool) op.Body { return nil }
func (broken) EmitKernel(e *op.Emit) []loop.Value {
	b, x := e.B, e.X[0]
	var inside loop.Value
	b.If(b.Lt(b.Float(loop.F32, 0), x), func() []loop.Value {
		inside = b.Mul(x, x)
		return []loop.Value{inside}
	}, func() []loop.Value { return []loop.Value{x} })
	return []loop.Value{inside}
}

// What users write is verified before it is compiled, whether tests ask for that or not: a
// program that breaks the rules is refused with an error that names the kernel.
func TestVerifyKernels(t *testing.T) {
	defer func(v bool) { plan.Verify = v }(plan.Verify)
	plan.Verify = false
	g := ir.New()
	s := []int{50}
	y := op.Apply(op.Kernel, broken{}, g.Input(0, array.Float32, s))
	defer func() {
		r := recover()
		err, ok := r.(*array.Error)
		var fault *loop.Error
		if !ok || !errors.As(err, &fault) || !strings.Contains(err.Error(), "broken") {
			t.Fatalf("%T %v", r, r)
		}
	}()
	plan.Build([]*ir.Node{y}, []plan.Sig{{DType: array.Float32, Shape: s, Strides: array.RowMajor(s)}}, nil, plan.OnCPU)
}
