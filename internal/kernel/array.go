package kernel

import (
	"go/ast"

	"weft/internal/array"
	"weft/internal/loop"
)

// An Emit is where a kernel is written.
type Emit struct {
	B      *loop.Builder
	X      []loop.Value         // by [Instance.Inputs]; NoValue for arrays
	Window func(arg int) Window // of an array
}

// A Window is how an array is read: the element at an index is that of the buffer at the
// sum of index times stride.
type Window struct {
	Buf              int
	Strides, Extents []loop.Value // I64, in elements
}

// An InputKind says what an input of the emitted code is.
type InputKind uint8

const (
	Argument InputKind = iota // a part of an argument
	Index                     // the element's index along Axis, int64
	Extent                    // the length of the result along Axis, int64
	DimOf                     // the length along Axis of the array that parameter Param reads, int64
	Flat                      // the element's number in row-major order, int64
	Seed                      // of random numbers, int64
	Draw                      // the number of the launch, int64
)

// An Input is one input of the emitted code.
type Input struct {
	Kind  InputKind
	Param int // of Argument and DimOf
	Part  int // 1 is the imaginary part
	Axis  int
	Role  Role // of Argument
	DType array.DType
}

// An outside is an array that the kernel reads.
type outside struct {
	param int
	input int // of its first part
	t     *ty
}

// Offsets are the places that a Near parameter is read at.
type Offsets struct {
	Param    int
	Constant bool    // all offsets are constants
	At       [][]int // them, in the order of the source
}

// Inputs says what Emit.X holds: the parts of all arguments first.
func (i *Instance) Inputs() []Input { return i.inputs }

// declare lists the inputs that arguments are.
func (i *Instance) declare() {
	n := 0
	for k, p := range i.f.params {
		if p.Role == Element {
			continue
		}
		d := i.args[n]
		n++
		parts := 1
		if d.Complex() {
			d, parts = d.Part(), 2
		}
		for part := range parts {
			i.inputs = append(i.inputs, Input{Kind: Argument, Param: k, Part: part, Role: p.Role, DType: d})
		}
	}
}

// argument is parameter k of the kernel.
func (l *lowerer) argument(k int, t *ty) *value {
	if t.kind == kElem {
		return l.zeroValue(t)
	}
	at := 0
	for l.inst.inputs[at].Kind != Argument || l.inst.inputs[at].Param != k {
		at++
	}
	switch {
	case t.kind == kOuter:
		return &value{t: t, at: &outside{param: k, input: at, t: t}}
	case t.kind == kComplex:
		return l.pair(t, num{v: l.input(at)}, num{v: l.input(at + 1)})
	}
	return &value{t: t, n: num{v: l.input(at)}}
}

// input is the value of an input.
func (l *lowerer) input(i int) loop.Value {
	if !l.trial {
		return l.e.X[i]
	}
	return l.b.Scalar(l.b.ScalarArg(loop.TypeOf(l.inst.inputs[i].DType)))
}

// draws are the methods that count a call.
var draws = map[string]bool{"Rand": true, "Rand64": true, "Randn": true, "Randn64": true}

func (l *lowerer) method(x *ast.CallExpr, name string) *value {
	l.src.refuse(x.Pos(), "%s is not yet part of the language", name)
	return nil
}
