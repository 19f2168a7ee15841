package cpu

import (
	"weft/internal/array"
	"weft/internal/cpu/convolution"
	"weft/internal/cpu/index"
	"weft/internal/cpu/linalg"
	"weft/internal/cpu/routine"
	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// routines are the CPU's implementations of routines. They rely on the checks of Infer, and only
// unpack arguments for the packages below this one.
var routines = [ir.NumRoutines]device.Routine{
	ir.RoutineMatMul:         tiled(matmul),
	ir.RoutineConv2d:         tiled(conv2d),
	ir.RoutineConv2dInput:    tiled(conv2dInput),
	ir.RoutineConv2dWeight:   conv2dWeight,
	ir.RoutineAttention:      attend,
	ir.RoutineAttentionGrad:  attendBack,
	ir.RoutineCopy:           copyView,
	ir.RoutineArgMax:         along(argMax),
	ir.RoutineArgMin:         along(argMin),
	ir.RoutineMaxPool2d:      ofPool(routine.Call.MaxPool),
	ir.RoutineMaxPool2dPlace: ofPool(routine.Call.MaxPoolPlace),
	ir.RoutineMaxPool2dPick:  ofPool(routine.Call.MaxPoolPick),
	ir.RoutineWindowMean:     ofPool(routine.Call.MeanPool),
	ir.RoutineWindowSpread:   ofPool(routine.Call.MeanPoolGrad),
	ir.RoutineMaskSelect:     simple(routine.Call.MaskSelect),
	ir.RoutineMaskPlace:      simple(routine.Call.MaskPlace),
	ir.RoutineCountTrue:      simple(routine.Call.CountTrue),
	ir.RoutineNonZero:        simple(routine.Call.NonZero),
	ir.RoutineIndexSelect:    along(routine.Call.IndexSelect),
	ir.RoutineIndexAdd:       indexAdd,
	ir.RoutineGather:         along(routine.Call.Gather),
	ir.RoutinePlaces:         places,
	ir.RoutineScatterSum:     tiled(scatterSum),
	ir.RoutineSort:           bySize(sortAlong[uint8], sortAlong[uint16], sortAlong[uint32], sortAlong[uint64]),
	ir.RoutineKthValue:       bySize(kthValue[uint8], kthValue[uint16], kthValue[uint32], kthValue[uint64]),
	ir.RoutinePartition:      bySize(partition[uint8], partition[uint16], partition[uint32], partition[uint64]),
	ir.RoutineArgPartition:   bySizeOf(argPartition[uint8], argPartition[uint16], argPartition[uint32], argPartition[uint64]),
	ir.RoutineTopK:           bySize(topK[uint8], topK[uint16], topK[uint32], topK[uint64]),
	ir.RoutineSearchSorted:   searchSortedIn,
	ir.RoutineRuns:           runsIn,
	ir.RoutineBinCount:       binCount,
	ir.RoutineScanSum:        scan(routine.Call.ScanSum),
	ir.RoutineScanProd:       along(routine.Call.ScanProd),
	ir.RoutineRecurrence:     scan(routine.Call.Recurrence),
	ir.RoutineCumMax:         cumExtreme(true),
	ir.RoutineCumMin:         cumExtreme(false),
	ir.RoutineRavel:          ravelIndex,
	ir.RoutineIndexCopy:      along(routine.Call.IndexCopy),
	ir.RoutineScatter:        along(routine.Call.Scatter),
	ir.RoutineScatterMin:     scatterExtreme(false),
	ir.RoutineScatterMax:     scatterExtreme(true),
	ir.RoutineScatterProd:    scatterProd,
	ir.RoutineHost:           callHost,
	ir.RoutineCheckRange:     callHost,
	ir.RoutineScanTree:       scanTreeOf,

	ir.RoutineCholesky:        cholesky,
	ir.RoutineSolveTriangular: solveTriangular,
	ir.RoutineLUFactor:        luFactor,
	ir.RoutineLUSolve:         luSolve,
	ir.RoutinePermutation:     permutation,
	ir.RoutineSolve:           solve,
	ir.RoutineQR:              qr,
	ir.RoutineQRTriangle:      qrTriangle,

	ir.RoutineEigh: eigh, ir.RoutineEigValsH: eigValsH, ir.RoutineSVD: svd, ir.RoutineSVDVals: svdVals, ir.RoutinePInv: pinv,
	ir.RoutinePolarFactor: polarFactor, ir.RoutineNuclearNorm: nuclearNorm, ir.RoutineHermitianSylvester: hermitianSylvester,
	ir.RoutineEig: eig, ir.RoutineEigVals: eigVals, ir.RoutineSchur: schur, ir.RoutineHessenberg: hessenberg,
	ir.RoutineExpm:  functionOf(linalg.Exponential),
	ir.RoutineLogm:  functionOf(linalg.Logarithm),
	ir.RoutineSqrtm: functionOf(linalg.SquareRoot),
	ir.RoutineFFT:   fourierTransform(ir.RoutineFFT), ir.RoutineRFFT: fourierTransform(ir.RoutineRFFT), ir.RoutineIRFFT: fourierTransform(ir.RoutineIRFFT), ir.RoutineDCT: cosineTransform,

	ir.RoutineSparseMatMul: sparseMatMul, ir.RoutineSparseSampled: sparseSampled,

	ir.RoutineLFilter: lfilter, ir.RoutineSOSFilt: sosfilt, ir.RoutineCorrelate1D: correlate1D,

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

// plain returns the call as data that package routine takes.
func plain(c *device.Call) routine.Call {
	return routine.Call{ISA: isaOf(c), Args: c.Args, Out: c.Out, Memory: c.Stream}
}

// tiled returns the routine that f computes with the epilogue of the call.
func tiled(f func(p routine.Call, n *ir.Node)) device.Routine {
	return func(c *device.Call) error {
		return withEpilogue(c, func(t tile.Epilogue) {
			p := plain(c)
			p.Epilogue = t
			f(p, c.Node)
		})
	}
}

// simple returns the routine that f computes, which has no parameters.
func simple(f func(p routine.Call)) device.Routine {
	return func(c *device.Call) error {
		p := plain(c)
		f(p)
		return nil
	}
}

// along returns the routine that f computes along the axis of the node.
func along(f func(p routine.Call, axis int)) device.Routine {
	return func(c *device.Call) error {
		p := plain(c)
		f(p, int(c.Node.Attrs.(op.Axis)))
		return nil
	}
}

// ofPool returns the routine that f computes in the windows of the node.
func ofPool(f func(p routine.Call, a routine.Pool)) device.Routine {
	return func(c *device.Call) error {
		p := plain(c)
		f(p, routine.Pool(op.Windows(c.Node)))
		return nil
	}
}

func copyView(c *device.Call) error {
	return withEpilogue(c, func(t tile.Epilogue) {
		p := plain(c)
		cols := 0
		if p.Epilogue = t; t != nil {
			cols = array.Size(c.Epilogue.Launch.Extents[len(c.Epilogue.Launch.Extents)-c.Epilogue.Columns:])
		}
		p.Copy(cols)
	})
}

func matmul(p routine.Call, _ *ir.Node) { p.MatMul() }

func geometry(n *ir.Node) convolution.Geometry {
	g := op.Geometry(n)
	return convolution.Geometry{N: g.N, C: g.C, H: g.H, W: g.W, O: g.O, KH: g.KH, KW: g.KW,
		StrideH: g.StrideH, StrideW: g.StrideW, PadH: g.PadH, PadW: g.PadW, DilationH: g.DilationH, DilationW: g.DilationW, Groups: g.Groups}
}

func conv2d(p routine.Call, n *ir.Node) { p.Conv2d(geometry(n)) }

func conv2dInput(p routine.Call, n *ir.Node) { p.Conv2dInput(geometry(n)) }

func conv2dWeight(c *device.Call) error {
	p := plain(c)
	p.Conv2dWeight(geometry(c.Node))
	return nil
}

func argMax(p routine.Call, axis int) { p.ArgExtreme(axis, true) }
func argMin(p routine.Call, axis int) { p.ArgExtreme(axis, false) }

func places(c *device.Call) error {
	a := c.Node.Attrs.(op.PlacesOf)
	p := plain(c)
	p.Places(a.Op, a.Size, a.All)
	return nil
}

func indexAdd(c *device.Call) error {
	p := plain(c)
	p.IndexAdd(c.Node.Attrs.(op.Target).Axis)
	return nil
}

func scatterSum(p routine.Call, n *ir.Node) { p.ScatterSum(n.Attrs.(op.Target).Axis) }

func ravelIndex(c *device.Call) error {
	a := c.Node.Attrs.(op.Raveling)
	p := plain(c)
	p.Ravel(index.Ravel{Op: a.Of(), Sizes: a.Sizes, Args: a.Args, Axes: a.Axes, Ranks: a.Ranks})
	return nil
}

func scatterProd(c *device.Call) error {
	a := c.Node.Attrs.(op.Extreme)
	p := plain(c)
	p.ScatterProd(a.Axis, a.Alone)
	return nil
}

func scatterExtreme(greatest bool) device.Routine {
	return func(c *device.Call) error {
		a := c.Node.Attrs.(op.Extreme)
		p := plain(c)
		return p.ScatterExtreme(a.Axis, greatest, a.Alone)
	}
}
