package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/gemm"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/move"
	"weft/internal/op"
)

// A plain routine has one result and cannot fail.
type plain func(s device.Stream, n *ir.Node, args []array.View, out array.View)

// routines by the name of the op; each checks nothing that Infer checked.
var routines = map[string]plain{
	"matmul2":       matmul,
	"conv2d_core":   conv2d,
	"conv2d_input":  conv2dInput,
	"conv2d_weight": conv2dWeight,
	"copy":          transpose,
	"reduce_argmax": func(s device.Stream, n *ir.Node, args []array.View, out array.View) {
		move.ArgExtreme(isaOf(s), unsafe.Slice((*int64)(ptr(&out)), out.Size()), &args[0], int(n.Attrs.(op.Axis)), true)
	},
	"reduce_argmin": func(s device.Stream, n *ir.Node, args []array.View, out array.View) {
		move.ArgExtreme(isaOf(s), unsafe.Slice((*int64)(ptr(&out)), out.Size()), &args[0], int(n.Attrs.(op.Axis)), false)
	},
	"max_pool2d": maxPool,
	"max_pool2d_place": func(s device.Stream, n *ir.Node, args []array.View, out array.View) {
		maxPoolGrad(s, n, args, &out, move.PoolPlace[float32], move.PoolPlace[float64])
	},
	"max_pool2d_pick": func(s device.Stream, n *ir.Node, args []array.View, out array.View) {
		maxPoolGrad(s, n, args, &out, move.PoolPick[float32], move.PoolPick[float64])
	},
	"mask_select":   maskSelect,
	"mask_place":    maskPlace,
	"count_nonzero": countNonZero,
	"nonzero":       nonZero,
	"index_select":  indexSelect,
	"index_add":     indexAdd,
	"gather":        gather,
	"scatter_add":   scatterAdd,
}

// Routine returns the CPU's implementation of an op.
func (d *Device) Routine(name string) device.Routine {
	f := routines[name]
	if f == nil {
		return nil
	}
	return func(c *device.Call) error {
		f(c.Stream, c.Node, c.Args, c.Out[0])
		return nil
	}
}

// isaOf returns what the routines of a stream's device are made of.
func isaOf(s device.Stream) jit.ISA { return s.Device().(*Device).isa }

func transpose(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	move.Copy(isaOf(s), &out, &args[0])
}

func pool(s device.Stream, n *ir.Node, x, y []int) move.Pool {
	a, r := n.Attrs.(op.Pool), len(x)
	return move.Pool{ISA: isaOf(s), Planes: array.Size(x[:r-2]), H: x[r-2], W: x[r-1], OH: y[r-2], OW: y[r-1],
		KH: a.Window[0], KW: a.Window[1], StepH: op.StepWithin(a.Stride[0], x[r-2], a.Pad[0]), StepW: op.StepWithin(a.Stride[1], x[r-1], a.Pad[1]), PadH: a.Pad[0], PadW: a.Pad[1]}
}

func maxPool(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	p := pool(s, n, n.Args[0].Shape, n.Shape)
	if out.DType == array.Float64 {
		move.MaxPool[float64](p, ptr(&out), ptr(&args[0]))
	} else {
		move.MaxPool[float32](p, ptr(&out), ptr(&args[0]))
	}
}

func maxPoolGrad(s device.Stream, n *ir.Node, args []array.View, out *array.View, narrow, wide func(p move.Pool, out, x, y, third unsafe.Pointer)) {
	p := pool(s, n, n.Args[0].Shape, n.Args[1].Shape)
	run := narrow
	if out.DType == array.Float64 {
		run = wide
	}
	run(p, ptr(out), ptr(&args[0]), ptr(&args[1]), ptr(&args[2]))
}

func mat(v *array.View) gemm.Mat {
	r := len(v.Shape)
	return gemm.Mat{Ptr: ptr(v), Row: v.Strides[r-2], Col: v.Strides[r-1]}
}

// ptr is the first element's address, nil for an empty array.
func ptr(v *array.View) unsafe.Pointer {
	if v.Store.Host() == nil {
		return nil
	}
	return v.Ptr()
}

func matmul(s device.Stream, _ *ir.Node, args []array.View, out array.View) {
	a, b := &args[0], &args[1]
	r := len(a.Shape)
	gemm.Product{ISA: isaOf(s), DType: a.DType, M: a.Shape[r-2], N: b.Shape[r-1], K: a.Shape[r-1], A: mat(a), B: mat(b), C: mat(&out),
		Batch: gemm.Batch{Count: a.Shape[:r-2], A: a.Strides[:r-2], B: b.Strides[:r-2], C: out.Strides[:r-2]},
		Bias:  bias(args)}.Run()
}

// bias is a vector to add, or none.
func bias(args []array.View) gemm.Bias {
	if len(args) < 3 {
		return gemm.Bias{}
	}
	return gemm.Bias{Ptr: ptr(&args[2]), Step: args[2].Strides[0]}
}

func convolution(s device.Stream, n *ir.Node) gemm.Convolution {
	g := op.Geometry(n)
	return gemm.Convolution{ISA: isaOf(s), DType: n.DType, Geometry: gemm.Geometry{N: g.N, C: g.C, H: g.H, W: g.W, O: g.O, KH: g.KH, KW: g.KW,
		StrideH: g.StrideH, StrideW: g.StrideW, PadH: g.PadH, PadW: g.PadW}}
}

func image(v *array.View) gemm.Image {
	s := v.Strides
	return gemm.Image{Ptr: ptr(v), N: s[0], C: s[1], H: s[2], W: s[3]}
}

func conv2d(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	w := contiguous(&args[1])
	c := convolution(s, n)
	c.Bias = bias(args)
	c.Forward(image(&out), image(&args[0]), ptr(&w))
}

func conv2dInput(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	w := contiguous(&args[1])
	convolution(s, n).GradInput(image(&out), image(&args[0]), ptr(&w))
}

func conv2dWeight(s device.Stream, n *ir.Node, args []array.View, out array.View) {
	convolution(s, n).GradWeight(ptr(&out), image(&args[0]), image(&args[1]))
}

// contiguous returns v in row-major order, copied element by element if need be:
// for filters, which are small.
func contiguous(v *array.View) array.View {
	if v.Contiguous() {
		return *v
	}
	size := v.DType.Size()
	out := array.View{Store: alloc(v.Size() * size), DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	at := 0
	walk(v, func(off int) {
		copy(unsafe.Slice((*byte)(unsafe.Add(out.Store.Host(), at*size)), size), unsafe.Slice((*byte)(unsafe.Add(v.Store.Host(), off*size)), size))
		at++
	})
	return out
}

// walk calls f with the offset of each element in row-major order.
func walk(v *array.View, f func(off int)) {
	var rec func(axis, off int)
	rec = func(axis, off int) {
		if axis == len(v.Shape) {
			f(off)
			return
		}
		for i := range v.Shape[axis] {
			rec(axis+1, off+i*v.Strides[axis])
		}
	}
	rec(0, v.Offset)
}
