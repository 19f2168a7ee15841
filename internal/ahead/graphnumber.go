package ahead

import (
	"fmt"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// Numbers of calls that are cosines or powers have the bits of tensors, so they are kernels of one element.

// elementary are these operations by the name of their function in Go.
var elementary = map[string]struct {
	of    *op.Def
	arity int
}{"cosine": {op.Cos, 1}, "powerOf": {op.Pow, 2}}

// elementaryFunction returns the Go function of a name, which runs a kernel on its arguments.
func (u *graphUnit) elementaryFunction(name string) (string, error) {
	e := elementary[name]
	g := ir.New()
	var args []*ir.Node
	var sigs []plan.Sig
	for i := range e.arity {
		args = append(args, g.Input(i, array.Float64, []int{1}))
		sigs = append(sigs, plan.Sig{DType: array.Float64, Shape: []int{1}, Strides: []int{1}})
	}
	out := op.Apply(e.of, nil, args...)
	pl := plan.BuildInto([]*ir.Node{out}, sigs, make([]plan.Sig, 1), []int{-1}, modelFor(false, false))
	if len(pl.Steps) != 1 || pl.Steps[0].Kernel == nil {
		return "", fmt.Errorf("a number of calls has %d steps", len(pl.Steps))
	}
	k := pl.Steps[0].Kernel
	number, err := u.kernel(k)
	if err != nil {
		return "", err
	}
	names := []string{"x", "n"}[:e.arity]
	all := append(names[:e.arity:e.arity], "y")
	var b strings.Builder
	fmt.Fprintf(&b, "// %s has the bits of the program: it is a kernel of one element.\nfunc %s(%s float64) (y float64) {\n\tf := new(frame)\n", name, name, strings.Join(names, ", "))
	for i, o := range k.Binds {
		fmt.Fprintf(&b, "\tf.ptr[%d] = unsafe.Pointer(&%s)\n", i, all[o.Slot])
	}
	var words []string
	for _, w := range k.Words {
		words = append(words, fmt.Sprint(w))
	}
	fmt.Fprintf(&b, "\tcopy(f.word[:], []uint64{%s})\n\tkernel%d(f)\n\treturn y\n}\n", strings.Join(words, ", "), number)
	return b.String(), nil
}
