package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/gemm"
	"weft/internal/ir"
	"weft/internal/move"
	"weft/internal/op"
)

// routines by the name of the op; each checks nothing that Infer checked.
var routines = map[string]device.Routine{
	"matmul2":       matmul,
	"conv2d_core":   conv2d,
	"conv2d_input":  conv2dInput,
	"conv2d_weight": conv2dWeight,
	"copy":          transpose,
	"reduce_argmax": func(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
		argExtreme(n, &args[0], &out, true)
	},
	"reduce_argmin": func(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
		argExtreme(n, &args[0], &out, false)
	},
	"max_pool2d": maxPool,
	"max_pool2d_place": func(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
		maxPoolGrad(n, &args, &out, move.PoolPlace[float32], move.PoolPlace[float64])
	},
	"max_pool2d_pick": func(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
		maxPoolGrad(n, &args, &out, move.PoolPick[float32], move.PoolPick[float64])
	},
	"mask_select":  maskSelect,
	"mask_place":   maskPlace,
	"index_select": indexSelect,
	"index_add":    indexAdd,
	"gather":       gather,
	"scatter_add":  scatterAdd,
}

// Routine returns the CPU's implementation of an op.
func (d *Device) Routine(name string) device.Routine { return routines[name] }

func transpose(_ device.Stream, _ *ir.Node, args device.Args, out array.View) {
	move.Copy(&out, &args[0])
}

func argExtreme(n *ir.Node, x, out *array.View, greatest bool) {
	move.ArgExtreme(unsafe.Slice((*int64)(ptr(out)), out.Size()), x, int(n.Attrs.(op.Axis)), greatest)
}

func pool(n *ir.Node, x, y []int) move.Pool {
	a, r := n.Attrs.(op.Pool), len(x)
	return move.Pool{Planes: array.Size(x[:r-2]), H: x[r-2], W: x[r-1], OH: y[r-2], OW: y[r-1],
		KH: a.Window[0], KW: a.Window[1], StepH: op.StepWithin(a.Stride[0], x[r-2], a.Pad[0]), StepW: op.StepWithin(a.Stride[1], x[r-1], a.Pad[1]), PadH: a.Pad[0], PadW: a.Pad[1]}
}

func maxPool(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
	p := pool(n, n.Args[0].Shape, n.Shape)
	if out.DType == array.Float64 {
		move.MaxPool[float64](p, ptr(&out), ptr(&args[0]))
	} else {
		move.MaxPool[float32](p, ptr(&out), ptr(&args[0]))
	}
}

func maxPoolGrad(n *ir.Node, args *device.Args, out *array.View, narrow, wide func(p move.Pool, out, x, y, third unsafe.Pointer)) {
	p := pool(n, n.Args[0].Shape, n.Args[1].Shape)
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
	if v.Store.Ptr == nil {
		return nil
	}
	return v.Ptr()
}

func matmul(_ device.Stream, _ *ir.Node, args device.Args, out array.View) {
	a, b := &args[0], &args[1]
	r := len(a.Shape)
	m, k, n := a.Shape[r-2], a.Shape[r-1], b.Shape[r-1]
	var ep *gemm.Epilogue
	if args[2].Store != nil {
		ep = &gemm.Epilogue{Bias: ptr(&args[2]), BiasStride: args[2].Strides[0]}
	}
	if r == 2 {
		gemm.Gemm(a.DType, m, n, k, mat(a), mat(b), mat(&out), ep, 0)
		return
	}
	batch := gemm.Batch{Count: a.Shape[:r-2], A: a.Strides[:r-2], B: b.Strides[:r-2], C: out.Strides[:r-2]}
	gemm.GemmBatched(a.DType, batch, m, n, k, mat(a), mat(b), mat(&out), ep, 0)
}

func geometry(n *ir.Node) gemm.Geometry {
	g := op.Geometry(n)
	return gemm.Geometry{N: g.N, C: g.C, H: g.H, W: g.W, O: g.O, KH: g.KH, KW: g.KW,
		StrideH: g.StrideH, StrideW: g.StrideW, PadH: g.PadH, PadW: g.PadW}
}

func image(v *array.View) gemm.Image {
	s := v.Strides
	return gemm.Image{Ptr: ptr(v), N: s[0], C: s[1], H: s[2], W: s[3]}
}

func conv2d(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
	var ep *gemm.Epilogue
	if args[2].Store != nil {
		ep = &gemm.Epilogue{Bias: ptr(&args[2]), BiasStride: args[2].Strides[0]}
	}
	w := contiguous(&args[1])
	gemm.Conv2d(out.DType, image(&out), image(&args[0]), ptr(&w), geometry(n), ep, 0)
}

func conv2dInput(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
	w := contiguous(&args[1])
	gemm.Conv2dGradInput(out.DType, image(&out), image(&args[0]), ptr(&w), geometry(n), nil, 0)
}

func conv2dWeight(_ device.Stream, n *ir.Node, args device.Args, out array.View) {
	gemm.Conv2dGradWeight(out.DType, ptr(&out), image(&args[0]), image(&args[1]), geometry(n), false, 0)
}

// contiguous returns v in row-major order, copied element by element if need be:
// for filters, which are small.
func contiguous(v *array.View) array.View {
	if v.Contiguous() {
		return *v
	}
	size := v.DType.Size()
	out := array.View{Store: Alloc(v.Size() * size), DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	at := 0
	walk(v, func(off int) {
		copy(unsafe.Slice((*byte)(unsafe.Add(out.Store.Ptr, at*size)), size), unsafe.Slice((*byte)(unsafe.Add(v.Store.Ptr, off*size)), size))
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
