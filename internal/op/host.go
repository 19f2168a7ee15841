package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Host is a function in Go that is called with the elements of its arguments when a plan
// runs, such as one that prints them or refuses them. It is no part of the table: what it
// computes is its attribute's, a [HostFunc].
var Host = unlisted(Def{Name: "host", Class: Routine, Arity: -1, Unkept: true,
	Doc: "What a function of the user, in Go, makes of whole arrays.",
	Typing: Typing{InferAll: func(c *Call) []ir.Type {
		types := make([]ir.Type, len(c.Args))
		for i, x := range c.Args {
			types[i] = ir.Type{DType: x.DType, Shape: x.Shape}
		}
		return c.Attrs.(HostFunc).Results(types)
	}},
	Derivative: Derivative{VJP: func(v *VJP) {
		if f, ok := v.Node.Attrs.(GradientFunc); ok {
			f.Gradient(v)
		}
	}},
	ByRoutine: ByRoutine{Routine: ir.RoutineHost, Contiguous: true}})

// A HostFunc is the attribute of a [Host] node. Its key is that of itself alone: two that
// have one key are called once where their arguments are equal.
type HostFunc interface {
	ir.Attrs
	// Results are the types of the results; it panics with *array.Error for arguments that
	// the function does not take.
	Results(args []ir.Type) []ir.Type
	// CallHost computes the results: views in row-major order, without gaps. The error
	// reaches the caller of the plan.
	CallHost(args, out []array.View) error
}

// A GradientFunc is a HostFunc that has a gradient. Other functions have none.
type GradientFunc interface {
	HostFunc
	// Gradient adds the gradients of the arguments to v, as the VJP of a [Def] does.
	Gradient(v *VJP)
}

// A RangeFunc is a HostFunc that returns its argument, int32 or int64, and refuses elements out of a
// range: [ir.RoutineCheckRange] does so on a device.
type RangeFunc interface {
	HostFunc
	// Bounds are the least and the greatest element.
	Bounds() (least, most int64)
	// Refuse makes the error of an element by its position in row-major order.
	Refuse(x int64, position int) error
}

// RoutineOf returns the routine that computes a node of an operation of class Routine.
func RoutineOf(n *ir.Node) ir.RoutineID {
	if _, ok := n.Attrs.(RangeFunc); ok {
		return ir.RoutineCheckRange
	}
	return Of(n).Routine
}

func init() { byRoutine[ir.RoutineCheckRange] = Host }
