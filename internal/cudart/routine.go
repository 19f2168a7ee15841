package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/grid/moves"
	"weft/internal/grid/pooling"
	"weft/internal/grid/product"
	"weft/internal/grid/scan"
	"weft/internal/grid/scatter"
	"weft/internal/ir"
)

// routines run on the GPU. They rely on the checks of Infer. Others run on the host.
var routines = [ir.NumRoutines]device.Routine{
	ir.RoutineMatMul:         matmul,
	ir.RoutineMaxPool2d:      onWindows(pooling.Max),
	ir.RoutineMaxPool2dPlace: onWindows(pooling.Place),
	ir.RoutineMaxPool2dPick:  onWindows(pooling.Pick),
	ir.RoutineWindowMean:     onWindows(pooling.Mean),
	ir.RoutineWindowSpread:   onWindows(pooling.Spread),

	ir.RoutineScanSum:    scanned(scan.Sum),
	ir.RoutineScanProd:   scanned(scan.Prod),
	ir.RoutineCumMax:     scanned(scan.Max),
	ir.RoutineCumMin:     scanned(scan.Min),
	ir.RoutineRecurrence: scanned(scan.Recurrence),

	ir.RoutineSort:         sorted(sortAlong),
	ir.RoutineTopK:         sorted(topK),
	ir.RoutineKthValue:     sorted(kthValue),
	ir.RoutineSearchSorted: searchSorted,
	ir.RoutineRuns:         runs,

	ir.RoutineCopy:        copyView,
	ir.RoutineIndexSelect: indexSelect,
	ir.RoutineGather:      gather,
	ir.RoutinePlaces:      places,
	ir.RoutineRavel:       ravelIndex,
	ir.RoutineMaskSelect:  onMask(moves.MaskSelect, "mask_select"),
	ir.RoutineMaskPlace:   onMask(moves.MaskPlace, "mask_place"),
	ir.RoutineCountTrue:   onMask(moves.CountTrue, "count_true"),
	ir.RoutineNonZero:     onMask(moves.Positions, "nonzero"),
	ir.RoutineCheckRange:  checkRange,

	ir.RoutineArgMax:        argExtreme(true),
	ir.RoutineArgMin:        argExtreme(false),
	ir.RoutineSegmentArgMax: segmentArg(true),
	ir.RoutineSegmentArgMin: segmentArg(false),

	ir.RoutineConv2d:       conv2d,
	ir.RoutineConv2dInput:  conv2dInput,
	ir.RoutineConv2dWeight: conv2dWeight,

	ir.RoutineIndexAdd:   indexAdd,
	ir.RoutineIndexCopy:  indexCopy,
	ir.RoutineScatter:    scatterCopy,
	ir.RoutineScatterSum: scatterSum,
	ir.RoutineScatterMin: scatterExtreme(scatter.Min),
	ir.RoutineScatterMax: scatterExtreme(scatter.Max),
	ir.RoutineBinCount:   binCount,
}

// startRoutine issues a kernel of a routine, whose name says all that the kernel depends on.
func (s *Stream) startRoutine(c *device.Call, name string, lower func() *grid.Kernel, blocks int, args []byte) error {
	d, op := s.d, c.Node.Op.OpName()
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	k, err := d.programs.routine(op, name, lower)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(op, k, blocks, args); err != nil {
		return err
	}
	return s.each(op, c.Late)
}

// startAll issues the launches of a routine.
func (s *Stream) startAll(c *device.Call, list []grid.Launch) error {
	for _, l := range list {
		if err := s.startRoutine(c, l.Name, l.Lower, l.Blocks, l.Args); err != nil {
			return err
		}
	}
	return nil
}

// scratch returns memory for work that is issued before free is called.
func (s *Stream) scratch(bytes int) (at uint64, free func(), err error) {
	st := s.Alloc(bytes)
	addr, err := s.address(device.Ref{Store: st})
	return uint64(addr), func() { s.Free(st) }, err
}

// addressesOf returns the addresses of the first elements of views.
func (s *Stream) addressesOf(views ...*array.View) ([]uint64, error) {
	out := make([]uint64, len(views))
	for i, v := range views {
		var err error
		if out[i], err = s.first(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// first returns the address of the first element of an operand of a routine.
func (s *Stream) first(v *array.View) (uint64, error) {
	addr, err := s.address(device.Ref{Store: v.Store, Offset: v.Offset * v.DType.Size()})
	return uint64(addr), err
}

// operands returns the addresses of the first elements of the arguments and the results of a call.
func (s *Stream) operands(c *device.Call) (args, out []uint64, err error) {
	for i := range c.Args {
		a, err := s.first(&c.Args[i])
		if err != nil {
			return nil, nil, err
		}
		args = append(args, a)
	}
	for i := range c.Out {
		a, err := s.first(&c.Out[i])
		if err != nil {
			return nil, nil, err
		}
		out = append(out, a)
	}
	return args, out, nil
}

// productGPU returns what products must know of the GPU.
func (d *Device) productGPU() product.GPU {
	return product.GPU{Units: d.info.Units, Major: d.info.Major, Shared: d.info.Shared}
}

func matmul(c *device.Call) error {
	s := c.Stream.(*Stream)
	a, b, out := &c.Args[0], &c.Args[1], &c.Out[0]
	r := len(a.Shape)
	p := product.Product{DType: out.DType, Of: [2]array.DType{a.DType, b.DType}, M: a.Shape[r-2], N: b.Shape[r-1], K: a.Shape[r-1],
		Batch: product.Batch{Count: a.Shape[:r-2], A: a.Strides[:r-2], B: b.Strides[:r-2], C: out.Strides[:r-2]}}
	for i, m := range [...]*product.Mat{&p.A, &p.B, &p.C} {
		v := [...]*array.View{a, b, out}[i]
		addr, err := s.first(v)
		if err != nil {
			return err
		}
		*m = product.Mat{Addr: addr, Row: v.Strides[r-2], Col: v.Strides[r-1]}
	}
	gpu, scratch := s.d.productGPU(), uint64(0)
	if bytes := p.Scratch(gpu); bytes > 0 {
		at, free, err := s.scratch(bytes)
		if err != nil {
			return err
		}
		defer free()
		scratch = at
	}
	return s.startAll(c, p.Launches(gpu, scratch))
}
