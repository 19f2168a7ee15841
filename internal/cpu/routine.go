package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/convolution"
	"weft/internal/cpu/index"
	"weft/internal/cpu/pooling"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/cpu/transpose"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// routines are the CPU's implementations of routines. They rely on the checks of Infer, and only
// unpack arguments for the packages below this one.
var routines = [ir.NumRoutines]device.Routine{
	ir.RoutineMatMul:         matmul,
	ir.RoutineConv2d:         conv2d,
	ir.RoutineConv2dInput:    conv2dInput,
	ir.RoutineConv2dWeight:   conv2dWeight,
	ir.RoutineCopy:           copyView,
	ir.RoutineArgMax:         argExtreme(true),
	ir.RoutineArgMin:         argExtreme(false),
	ir.RoutineMaxPool2d:      ofWindows(pooling.Max[float32], pooling.Max[float64]),
	ir.RoutineMaxPool2dPlace: maxPoolGrad(pooling.Place[float32], pooling.Place[float64]),
	ir.RoutineMaxPool2dPick:  maxPoolGrad(pooling.Pick[float32], pooling.Pick[float64]),
	ir.RoutineWindowMean:     ofWindows(pooling.Mean[float32], pooling.Mean[float64]),
	ir.RoutineWindowSpread:   windowSpread(pooling.Spread[float32], pooling.Spread[float64]),
	ir.RoutineMaskSelect:     maskSelect,
	ir.RoutineMaskPlace:      maskPlace,
	ir.RoutineCountTrue:      countTrue,
	ir.RoutineNonZero:        nonZero,
	ir.RoutineIndexSelect:    indexSelect,
	ir.RoutineIndexAdd:       indexAdd,
	ir.RoutineGather:         gather,
	ir.RoutinePlaces:         places,
	ir.RoutineScatterSum:     scatterSum,
	ir.RoutineSort:           bySize(sortAlong[uint8], sortAlong[uint16], sortAlong[uint32], sortAlong[uint64]),
	ir.RoutineKthValue:       bySize(kthValue[uint8], kthValue[uint16], kthValue[uint32], kthValue[uint64]),
	ir.RoutineTopK:           bySize(topK[uint8], topK[uint16], topK[uint32], topK[uint64]),
	ir.RoutineSearchSorted:   searchSortedIn,
	ir.RoutineRuns:           runsIn,
	ir.RoutineBinCount:       binCount,
	ir.RoutineScanSum:        scanOf(floatSums[float32], floatSums[float64], intSums),
	ir.RoutineScanProd:       scanOf(products[float32, float64], products[float64, float64], products[int64, int64]),
	ir.RoutineRecurrence:     scanOf(recur[float32], recur[float64], nil),
	ir.RoutineCumMax:         cumExtreme(true),
	ir.RoutineCumMin:         cumExtreme(false),
	ir.RoutineRavel:          ravelIndex,
	ir.RoutineIndexCopy:      indexCopy,
	ir.RoutineScatter:        scatter,
	ir.RoutineScatterMin:     scatterExtreme(false),
	ir.RoutineScatterMax:     scatterExtreme(true),
	ir.RoutineHost:           callHost,
	ir.RoutineCheckRange:     callHost,
	ir.RoutineScanTree:       scanTreeOf,

	ir.RoutineSegmentPad: segmentPad, ir.RoutineSegmentUnpad: segmentUnpad, ir.RoutineSegmentTake: segmentTake,
	ir.RoutineSegmentSort:   bySizeOf(segmentSort[uint8], segmentSort[uint16], segmentSort[uint32], segmentSort[uint64]),
	ir.RoutineSegmentArgMin: bySizeOf(segmentArg[uint8](false), segmentArg[uint16](false), segmentArg[uint32](false), segmentArg[uint64](false)),
	ir.RoutineSegmentArgMax: bySizeOf(segmentArg[uint8](true), segmentArg[uint16](true), segmentArg[uint32](true), segmentArg[uint64](true)),
}

// Routine implements device.Device.
func (d *Device) Routine(id ir.RoutineID) device.Routine { return routines[id] }

// isaOf returns the instruction set of a call's device.
func isaOf(c *device.Call) jit.ISA { return c.Stream.Device().(*Device).isa }

// callHost calls the user's function.
func callHost(c *device.Call) error {
	return c.Node.Attrs.(op.HostFunc).CallHost(c.Args, c.Out)
}

func copyView(c *device.Call) error {
	return withEpilogue(c, func(t tile.Epilogue) {
		cols := 0
		if t != nil {
			cols = array.Size(c.Epilogue.Launch.Extents[len(c.Epilogue.Launch.Extents)-c.Epilogue.Columns:])
		}
		transpose.CopyThrough(isaOf(c), &c.Out[0], &c.Args[0], t, cols)
	})
}

// contiguous returns v in row-major order: v itself or a copy. free frees the copy.
func contiguous(c *device.Call, v *array.View) (w array.View, free func()) {
	if v.Contiguous() {
		return *v, func() {}
	}
	w = array.View{Store: c.Stream.Alloc(v.Size() * v.DType.Size()), DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	transpose.Copy(isaOf(c), &w, v)
	return w, func() { c.Stream.Free(w.Store) }
}

func mat(v *array.View) tile.Mat {
	r := len(v.Shape)
	return tile.Mat{Ptr: codegen.Ptr(v), Row: v.Strides[r-2], Col: v.Strides[r-1]}
}

func matmul(c *device.Call) error {
	a, b, out := &c.Args[0], &c.Args[1], &c.Out[0]
	r := len(a.Shape)
	return withEpilogue(c, func(t tile.Epilogue) {
		product.Product{ISA: isaOf(c), DType: out.DType, Of: [2]array.DType{a.DType, b.DType}, M: a.Shape[r-2], N: b.Shape[r-1], K: a.Shape[r-1], A: mat(a), B: mat(b), C: mat(out),
			Batch:    product.Batch{Count: a.Shape[:r-2], A: a.Strides[:r-2], B: b.Strides[:r-2], C: out.Strides[:r-2]},
			Epilogue: t}.Run()
	})
}

func convolutionOf(c *device.Call) convolution.Convolution {
	g := op.Geometry(c.Node)
	return convolution.Convolution{ISA: isaOf(c), DType: c.Node.DType, Of: [2]array.DType{c.Args[0].DType, c.Args[1].DType}, Geometry: convolution.Geometry{N: g.N, C: g.C, H: g.H, W: g.W, O: g.O, KH: g.KH, KW: g.KW,
		StrideH: g.StrideH, StrideW: g.StrideW, PadH: g.PadH, PadW: g.PadW, DilationH: g.DilationH, DilationW: g.DilationW, Groups: g.Groups}}
}

func image(v *array.View) convolution.Image {
	s := v.Strides
	return convolution.Image{Ptr: codegen.Ptr(v), N: s[0], C: s[1], H: s[2], W: s[3]}
}

func conv2d(c *device.Call) error {
	g := convolutionOf(c)
	w, free := contiguous(c, &c.Args[1])
	defer free()
	return withEpilogue(c, func(t tile.Epilogue) {
		g.Epilogue = t
		g.Forward(image(&c.Out[0]), image(&c.Args[0]), codegen.Ptr(&w))
	})
}

func conv2dInput(c *device.Call) error {
	g := convolutionOf(c)
	w, free := contiguous(c, &c.Args[1])
	defer free()
	return withEpilogue(c, func(t tile.Epilogue) {
		g.Epilogue = t
		g.GradInput(image(&c.Out[0]), image(&c.Args[0]), codegen.Ptr(&w))
	})
}

func conv2dWeight(c *device.Call) error {
	convolutionOf(c).GradWeight(codegen.Ptr(&c.Out[0]), image(&c.Args[0]), image(&c.Args[1]))
	return nil
}

func pool(c *device.Call, a op.Pool, x, y []int) pooling.Pool {
	r := len(x)
	return pooling.Pool{ISA: isaOf(c), Planes: array.Size(x[:r-2]), H: x[r-2], W: x[r-1], OH: y[r-2], OW: y[r-1],
		KH: a.Window[0], KW: a.Window[1], StepH: op.StepWithin(a.Stride[0], x[r-2], a.Pad[0]), StepW: op.StepWithin(a.Stride[1], x[r-1], a.Pad[1]), PadH: a.Pad[0], PadW: a.Pad[1], Sum: a.Sum}
}

// pooled returns a routine that runs narrow or wide, by the type of the result: float32 or
// float64.
func pooled[F any](narrow, wide F, run func(c *device.Call, f F)) device.Routine {
	return func(c *device.Call) error {
		if c.Out[0].DType == array.Float64 {
			run(c, wide)
		} else {
			run(c, narrow)
		}
		return nil
	}
}

type (
	pools     = func(p pooling.Pool, out, in unsafe.Pointer)
	poolGrads = func(p pooling.Pool, out, x, y, third unsafe.Pointer)
)

// ofWindows returns the routine that computes one element of the result for each window of its
// argument.
func ofWindows(narrow, wide pools) device.Routine {
	return pooled(narrow, wide, func(c *device.Call, f pools) {
		f(pool(c, c.Node.Attrs.(op.Pool), c.Node.Args[0].Shape, c.Node.Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]))
	})
}

func maxPoolGrad(narrow, wide poolGrads) device.Routine {
	return pooled(narrow, wide, func(c *device.Call, f poolGrads) {
		f(pool(c, c.Node.Attrs.(op.Pool), c.Node.Args[0].Shape, c.Node.Args[1].Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), codegen.Ptr(&c.Args[1]), codegen.Ptr(&c.Args[2]))
	})
}

func windowSpread(narrow, wide pools) device.Routine {
	return pooled(narrow, wide, func(c *device.Call, f pools) {
		f(pool(c, c.Node.Attrs.(op.PoolGrad).Pool, c.Node.Shape, c.Node.Args[0].Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]))
	})
}

func argExtreme(greatest bool) device.Routine {
	return func(c *device.Call) error {
		e := index.Extremes{ISA: isaOf(c), Greatest: greatest, Contiguous: func(v *array.View) (array.View, func()) { return contiguous(c, v) }}
		e.Find(unsafe.Slice((*int64)(codegen.Ptr(&c.Out[0])), c.Out[0].Size()), &c.Args[0], int(c.Node.Attrs.(op.Axis)))
		return nil
	}
}

func indexSelect(c *device.Call) error {
	axis := int(c.Node.Attrs.(op.Axis))
	out, x := &c.Out[0], &c.Args[0]
	at, free := contiguous(c, &c.Args[1])
	defer free()
	p := &index.Indices{ISA: isaOf(c), Op: "index_select", Axis: axis, Of: &at}
	if !x.Contiguous() && out.Size() < x.Size()/2 {
		p.SelectStrided(out, x)
		return nil
	}
	y, done := contiguous(c, x)
	defer done()
	p.Select(out, &y)
	return nil
}

func places(c *device.Call) error {
	a := c.Node.Attrs.(op.PlacesOf)
	x := &c.Args[0]
	(&index.Indices{ISA: isaOf(c), Op: a.Op, Of: x}).Count(&c.Out[0], a.Size, func(i int) int { return a.Position(x.Shape, i) })
	return nil
}

func indexAdd(c *device.Call) error {
	var base *array.View
	if len(c.Args) > 2 {
		base = &c.Args[2]
	}
	(&index.Indices{ISA: isaOf(c), Op: "index_add", Axis: c.Node.Attrs.(op.Target).Axis, Of: &c.Args[1]}).Add(&c.Out[0], &c.Args[0], base)
	return nil
}

func gather(c *device.Call) error {
	at, free := contiguous(c, &c.Args[1])
	defer free()
	(&index.Indices{ISA: isaOf(c), Op: "gather", Axis: int(c.Node.Attrs.(op.Axis)), Of: &at}).Gather(&c.Out[0], &c.Args[0])
	return nil
}

func scatterSum(c *device.Call) error {
	return withEpilogue(c, func(t tile.Epilogue) {
		(&index.Indices{ISA: isaOf(c), Op: "scatter_add", Axis: c.Node.Attrs.(op.Target).Axis, Of: &c.Args[1]}).ScatterAdd(&c.Out[0], &c.Args[0], t)
	})
}

func ravelIndex(c *device.Call) error {
	a := c.Node.Attrs.(op.Raveling)
	name := "index"
	if a.Put {
		name = "index_put"
	}
	(&index.Ravel{Op: name, Sizes: a.Sizes, Args: a.Args, Axes: a.Axes, Ranks: a.Ranks}).Join(&c.Out[0], c.Args)
	return nil
}

func indexCopy(c *device.Call) error {
	(&index.Indices{ISA: isaOf(c), Op: "index_copy", Axis: int(c.Node.Attrs.(op.Axis)), Of: &c.Args[1]}).Copy(&c.Out[0], &c.Args[0], &c.Args[2])
	return nil
}

func scatter(c *device.Call) error {
	(&index.Indices{ISA: isaOf(c), Op: "scatter", Axis: int(c.Node.Attrs.(op.Axis)), Of: &c.Args[1]}).Scatter(&c.Out[0], &c.Args[0], &c.Args[2])
	return nil
}

func scatterExtreme(greatest bool) device.Routine {
	return func(c *device.Call) error {
		a := c.Node.Attrs.(op.Extreme)
		return (&index.Indices{ISA: isaOf(c), Op: "scatter_reduce", Axis: a.Axis, Of: &c.Args[1]}).Extreme(&c.Out[0], &c.Args[0], &c.Args[2], greatest, a.Alone)
	}
}

func mask(c *device.Call, v *array.View) *index.Mask {
	return &index.Mask{ISA: isaOf(c), Ptr: codegen.Ptr(v), N: v.Size()}
}

// ranks returns the ranks of m. It panics if the mask does not have as many ones as vector has
// elements.
func ranks(name string, m *index.Mask, vector *array.View) []int {
	r := m.Ranks()
	if n := r[len(r)-1]; n != vector.Size() {
		array.Failf(name, "mask", "is true at %d places, not %d", n, vector.Size())
	}
	return r
}

func maskSelect(c *device.Call) error {
	m := mask(c, &c.Args[1])
	m.Select(codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), c.Out[0].DType.Size(), ranks("mask_select", m, &c.Out[0]))
	return nil
}

func maskPlace(c *device.Call) error {
	m := mask(c, &c.Args[1])
	m.Expand(codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), c.Out[0].DType.Size(), ranks("mask_place", m, &c.Args[0]))
	return nil
}

func countTrue(c *device.Call) error {
	r := mask(c, &c.Args[0]).Ranks()
	*(*int64)(codegen.Ptr(&c.Out[0])) = int64(r[len(r)-1])
	return nil
}

func nonZero(c *device.Call) error {
	m := mask(c, &c.Args[0])
	m.NonZero(unsafe.Slice((*int64)(codegen.Ptr(&c.Out[0])), c.Out[0].Size()), ranks("nonzero", m, &c.Out[0]))
	return nil
}
