package sparse

import (
	"runtime"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A computation is a function of values in Go, for a fixed pattern, with its gradient.
type computation struct {
	name  string
	shape func(x []*weft.Tensor) []int
	// run computes the result from arguments of one element type, all contiguous.
	run func(args []array.View, out *array.View) error
	// back returns the gradients of arguments from the result and its gradient.
	back func(x []*weft.Tensor, y, dy *weft.Tensor) []*weft.Tensor
}

// of computes a computation's result.
func (c *computation) of(x ...*weft.Tensor) *weft.Tensor {
	f := &weft.Func{Name: c.name,
		Forward: func(fc *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			y := c.forward(x)
			fc.Save(append(append([]*weft.Tensor{}, x...), y)...)
			return y
		},
		Backward: func(fc *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			saved := make([]*weft.Tensor, len(x)+1)
			for i := range saved {
				saved[i] = fc.Saved(i)
			}
			return c.back(saved[:len(x)], saved[len(x)], dy)
		}}
	return f.Apply(x...)
}

func (c *computation) forward(x []*weft.Tensor) *weft.Tensor {
	shape := c.shape(x)
	if core.TracingHere() != nil {
		h := hostCall{id: calls.Add(1), c: c, shape: shape}
		return (*weft.Tensor)(core.WithAttrs(op.Host, h, core.Inner(x)...))
	}
	views := make([]array.View, len(x))
	for i := range x {
		x[i] = x[i].Contiguous()
		views[i] = core.HostView((*core.Tensor)(x[i]))
	}
	y := core.Make(0, x[0].DType(), shape)
	core.Written(y, func(v *array.View) {
		if err := c.run(views, v); err != nil {
			panic(err)
		}
	})
	runtime.KeepAlive(x)
	return (*weft.Tensor)(y)
}

var calls atomic.Int64

// A hostCall is a computation in a compiled function.
type hostCall struct {
	id    int64
	c     *computation
	shape []int
}

// AppendKey implements ir.Attrs.
func (h hostCall) AppendKey(k []byte) []byte { return ir.Int(k, int(h.id)) }

// Results implements op.HostFunc.
func (h hostCall) Results(args []ir.Type) []ir.Type {
	return []ir.Type{{DType: args[0].DType, Shape: h.shape}}
}

// CallHost implements op.HostFunc.
func (h hostCall) CallHost(args, out []array.View) error { return h.c.run(args, &out[0]) }
