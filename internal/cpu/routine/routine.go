// Package routine computes operations that are not loop programs from plain data: views, and the
// parameters of the operation as numbers. It knows neither graphs nor plans, so that two callers share
// it: the CPU as a device, and packages that were built from a saved program.
//
// A caller guarantees that shapes and types fit the operation, as package op checks them. Values are
// checked here: an index out of range panics with an *array.Error.
package routine

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/convolution"
	"weft/internal/cpu/index"
	"weft/internal/cpu/pooling"
	"weft/internal/cpu/product"
	"weft/internal/cpu/running"
	"weft/internal/cpu/tile"
	"weft/internal/cpu/transpose"
	"weft/internal/jit"
	"weft/internal/packed"
)

// Memory gives temporaries.
type Memory interface {
	Alloc(bytes int) *array.Storage
	Free(s *array.Storage)
}

// A Call is one application of a routine.
type Call struct {
	ISA    jit.ISA
	Args   []array.View // of any strides, unless the method asks for contiguous ones
	Out    []array.View // one a result, contiguous
	Memory Memory

	// Epilogue, unless nil, runs on each finished piece of the result of Copy, MatMul, Conv2d,
	// Conv2dInput and ScatterSum.
	Epilogue tile.Epilogue
}

// contiguous returns v in row-major order: v itself or a copy. free frees the copy.
func (c Call) contiguous(v *array.View) (w array.View, free func()) {
	if v.Contiguous() {
		return *v, nothing
	}
	return c.copied(v)
}

func nothing() {}

// copied returns a copy of v in row-major order. It is apart from contiguous, whose results would else live on the heap.
func (c Call) copied(v *array.View) (w array.View, free func()) {
	w = array.View{Store: c.Memory.Alloc(v.Size() * v.DType.Size()), DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	transpose.Copy(c.ISA, &w, v)
	return w, func() { c.Memory.Free(w.Store) }
}

// Copy copies the argument. The epilogue sees the result as a matrix of cols columns.
func (c Call) Copy(cols int) {
	transpose.CopyThrough(c.ISA, &c.Out[0], &c.Args[0], c.Epilogue, cols)
}

func mat(v *array.View) tile.Mat {
	r := len(v.Shape)
	return tile.Mat{Ptr: codegen.Ptr(v), Row: v.Strides[r-2], Col: v.Strides[r-1]}
}

// MatMul multiplies the matrices in the last two axes of both arguments.
func (c Call) MatMul() {
	a, b, out := &c.Args[0], &c.Args[1], &c.Out[0]
	r := len(a.Shape)
	product.Product{ISA: c.ISA, DType: out.DType, Of: [2]array.DType{a.DType, b.DType}, M: a.Shape[r-2], N: b.Shape[r-1], K: a.Shape[r-1], A: mat(a), B: mat(b), C: mat(out),
		Batch:    product.Batch{Count: a.Shape[:r-2], A: a.Strides[:r-2], B: b.Strides[:r-2], C: out.Strides[:r-2]},
		Epilogue: c.Epilogue, Kept: packed.Of(b)}.Run()
}

func (c Call) convolution(g convolution.Geometry) convolution.Convolution {
	return convolution.Convolution{ISA: c.ISA, DType: c.Out[0].DType, Of: [2]array.DType{c.Args[0].DType, c.Args[1].DType}, Geometry: g, Epilogue: c.Epilogue}
}

func image(v *array.View) convolution.Image {
	s := v.Strides
	return convolution.Image{Ptr: codegen.Ptr(v), N: s[0], C: s[1], H: s[2], W: s[3]}
}

// Conv2d convolves pictures, the first argument, with filters.
func (c Call) Conv2d(of convolution.Geometry) {
	g := c.convolution(of)
	w, free := c.contiguous(&c.Args[1])
	defer free()
	if c.Args[1].Contiguous() {
		g.Kept = packed.Of(&c.Args[1])
	}
	g.Forward(image(&c.Out[0]), image(&c.Args[0]), codegen.Ptr(&w))
}

// Conv2dInput computes the gradient of the pictures from that of the result and the filters.
func (c Call) Conv2dInput(of convolution.Geometry) {
	g := c.convolution(of)
	w, free := c.contiguous(&c.Args[1])
	defer free()
	g.GradInput(image(&c.Out[0]), image(&c.Args[0]), codegen.Ptr(&w))
}

// Conv2dWeight computes the gradient of the filters from the pictures and the gradient of the result.
func (c Call) Conv2dWeight(of convolution.Geometry) {
	g := c.convolution(of)
	g.GradWeight(codegen.Ptr(&c.Out[0]), image(&c.Args[0]), image(&c.Args[1]))
}

// A Pool describes the windows of a pooling over the last two axes. A stride is at most the length of
// its padded axis.
type Pool struct {
	Window, Stride, Pad [2]int
	Sum                 bool // a mean is not divided
}

// pool returns the pooling of pictures of shape x to shape y.
func (c Call) pool(a Pool, x, y []int) pooling.Pool {
	r := len(x)
	return pooling.Pool{ISA: c.ISA, Planes: array.Size(x[:r-2]), H: x[r-2], W: x[r-1], OH: y[r-2], OW: y[r-1],
		KH: a.Window[0], KW: a.Window[1], StepH: a.Stride[0], StepW: a.Stride[1], PadH: a.Pad[0], PadW: a.Pad[1], Sum: a.Sum}
}

// wide reports that the first result is float64; it is float32 else.
func (c Call) wide() bool { return c.Out[0].DType == array.Float64 }

// ofWindows computes an element of the result for each window of the argument.
func (c Call) ofWindows(a Pool, narrow, wide func(p pooling.Pool, out, in unsafe.Pointer)) {
	if c.wide() {
		narrow = wide
	}
	narrow(c.pool(a, c.Args[0].Shape, c.Out[0].Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]))
}

// MaxPool computes the greatest element of each window. The argument is contiguous.
func (c Call) MaxPool(a Pool) { c.ofWindows(a, pooling.Max[float32], pooling.Max[float64]) }

// MeanPool computes the mean of each window. The argument is contiguous.
func (c Call) MeanPool(a Pool) { c.ofWindows(a, pooling.Mean[float32], pooling.Mean[float64]) }

// MeanPoolGrad computes the gradient of MeanPool from that of its result, which is contiguous.
func (c Call) MeanPoolGrad(a Pool) {
	f := pooling.Spread[float32]
	if c.wide() {
		f = pooling.Spread[float64]
	}
	f(c.pool(a, c.Out[0].Shape, c.Args[0].Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]))
}

// maxPoolGrad calls a routine of the arguments of MaxPool, its result and a third array.
func (c Call) maxPoolGrad(a Pool, narrow, wide func(p pooling.Pool, out, x, y, third unsafe.Pointer)) {
	if c.wide() {
		narrow = wide
	}
	narrow(c.pool(a, c.Args[0].Shape, c.Args[1].Shape), codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), codegen.Ptr(&c.Args[1]), codegen.Ptr(&c.Args[2]))
}

// MaxPoolPlace computes the gradient of MaxPool from its argument, its result and the gradient of
// that, all contiguous.
func (c Call) MaxPoolPlace(a Pool) {
	c.maxPoolGrad(a, pooling.Place[float32], pooling.Place[float64])
}

// MaxPoolPick picks elements of the third argument where MaxPool of the first found the second. All
// are contiguous.
func (c Call) MaxPoolPick(a Pool) { c.maxPoolGrad(a, pooling.Pick[float32], pooling.Pick[float64]) }

// ArgExtreme finds the index of the greatest or the least element along an axis.
func (c Call) ArgExtreme(axis int, greatest bool) {
	e := index.Extremes{ISA: c.ISA, Greatest: greatest, Contiguous: c.contiguous}
	e.Find(unsafe.Slice((*int64)(codegen.Ptr(&c.Out[0])), c.Out[0].Size()), &c.Args[0], axis)
}

// ScanSum computes running sums along an axis, in reverse from its end. All is contiguous.
func (c Call) ScanSum(axis int, reverse bool) {
	x, y := &c.Args[0], &c.Out[0]
	r := running.Along(y.Shape, axis, reverse)
	switch y.DType {
	case array.Float32:
		running.FloatSums(c.ISA, r, codegen.Elements[float32](y), codegen.Elements[float32](x))
	case array.Float64:
		running.FloatSums(c.ISA, r, codegen.Elements[float64](y), codegen.Elements[float64](x))
	default: // integers of 8 bytes, signed or not
		r.IntSums(codegen.Elements[int64](y), codegen.Elements[int64](x))
	}
}

// ScanProd computes running products along an axis. All is contiguous.
func (c Call) ScanProd(axis int) {
	x, y := &c.Args[0], &c.Out[0]
	r := running.Along(y.Shape, axis, false)
	switch y.DType {
	case array.Float32:
		running.Products[float32, float64](r, codegen.Elements[float32](y), codegen.Elements[float32](x))
	case array.Float64:
		running.Products[float64, float64](r, codegen.Elements[float64](y), codegen.Elements[float64](x))
	default:
		running.Products[int64, int64](r, codegen.Elements[int64](y), codegen.Elements[int64](x))
	}
}

// Recurrence computes x[i] + a[i]*y[i-1] along an axis of the arguments x and a, in reverse
// x[i] + a[i+1]*y[i+1]. All is contiguous.
func (c Call) Recurrence(axis int, reverse bool) {
	x, a, y := &c.Args[0], &c.Args[1], &c.Out[0]
	r := running.Along(y.Shape, axis, reverse)
	if y.DType == array.Float32 {
		running.Recur(r, codegen.Elements[float32](y), codegen.Elements[float32](x), codegen.Elements[float32](a))
	} else {
		running.Recur(r, codegen.Elements[float64](y), codegen.Elements[float64](x), codegen.Elements[float64](a))
	}
}

// IndexSelect selects entries of the first argument along an axis by the indices in the second.
func (c Call) IndexSelect(axis int) {
	out, x := &c.Out[0], &c.Args[0]
	at, free := c.contiguous(&c.Args[1])
	defer free()
	p := &index.Indices{ISA: c.ISA, Op: "index_select", Axis: axis, Of: &at}
	if !x.Contiguous() && out.Size() < x.Size()/2 {
		p.SelectStrided(out, x)
		return
	}
	y, done := c.contiguous(x)
	defer done()
	p.Select(out, &y)
}

// Places gives indices along an axis of size entries, counted from the front. op is the operation that
// they are of, and all the shape of all its indices, to which the argument is broadcast; errors name them.
// The argument is contiguous.
func (c Call) Places(op string, size int, all []int) {
	x := &c.Args[0]
	(&index.Indices{ISA: c.ISA, Op: op, Of: x}).Count(&c.Out[0], size, func(i int) int { return array.FirstPosition(all, x.Shape, i) })
}

// Ravel joins arrays of indices, the arguments, to flat indices.
func (c Call) Ravel(r index.Ravel) { r.Join(&c.Out[0], c.Args) }

// IndexAdd adds entries of the first argument at the indices in the second along an axis, to zeros or
// to the third argument.
func (c Call) IndexAdd(axis int) {
	var base *array.View
	if len(c.Args) > 2 {
		base = &c.Args[2]
	}
	(&index.Indices{ISA: c.ISA, Op: "index_add", Axis: axis, Of: &c.Args[1]}).Add(&c.Out[0], &c.Args[0], base)
}

// IndexCopy writes entries of the third argument into a copy of the first, at the indices in the
// second along an axis.
func (c Call) IndexCopy(axis int) {
	(&index.Indices{ISA: c.ISA, Op: "index_copy", Axis: axis, Of: &c.Args[1]}).Copy(&c.Out[0], &c.Args[0], &c.Args[2])
}

// Gather gathers elements of the first argument along an axis by the indices in the second.
func (c Call) Gather(axis int) {
	at, free := c.contiguous(&c.Args[1])
	defer free()
	(&index.Indices{ISA: c.ISA, Op: "gather", Axis: axis, Of: &at}).Gather(&c.Out[0], &c.Args[0])
}

// Scatter writes elements of the third argument into a copy of the first, at the indices in the
// second along an axis.
func (c Call) Scatter(axis int) {
	(&index.Indices{ISA: c.ISA, Op: "scatter", Axis: axis, Of: &c.Args[1]}).Scatter(&c.Out[0], &c.Args[0], &c.Args[2])
}

// ScatterSum adds elements of the first argument at the indices in the second along an axis.
func (c Call) ScatterSum(axis int) {
	(&index.Indices{ISA: c.ISA, Op: "scatter_add", Axis: axis, Of: &c.Args[1]}).ScatterAdd(&c.Out[0], &c.Args[0], c.Epilogue)
}

// ScatterExtreme compares elements of the first argument with elements of the third, at the indices in
// the second along an axis, and keeps the greatest or the least. With alone the first does not count.
func (c Call) ScatterExtreme(axis int, greatest, alone bool) error {
	return (&index.Indices{ISA: c.ISA, Op: "scatter_reduce", Axis: axis, Of: &c.Args[1]}).Extreme(&c.Out[0], &c.Args[0], &c.Args[2], greatest, alone)
}

// ScatterProd multiplies elements of the third argument with elements of the first, at the indices in the second
// along an axis. With alone the third does not count there.
func (c Call) ScatterProd(axis int, alone bool) {
	(&index.Indices{ISA: c.ISA, Op: "scatter_reduce", Axis: axis, Of: &c.Args[1]}).Product(&c.Out[0], &c.Args[0], &c.Args[2], alone)
}

func (c Call) mask(v *array.View) *index.Mask {
	return &index.Mask{ISA: c.ISA, Ptr: codegen.Ptr(v), N: v.Size()}
}

// ranks returns the ranks of m. It panics if the number of ones in the mask is not that of vector's
// elements.
func ranks(name string, m *index.Mask, vector *array.View) []int {
	r := m.Ranks()
	if n := r[len(r)-1]; n != vector.Size() {
		array.Failf(name, "mask", "is true at %d places, not %d", n, vector.Size())
	}
	return r
}

// MaskSelect gives the elements of the first argument where the second is true, all contiguous.
func (c Call) MaskSelect() {
	m := c.mask(&c.Args[1])
	m.Select(codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), c.Out[0].DType.Size(), ranks("mask_select", m, &c.Out[0]))
}

// MaskPlace puts the elements of the first argument where the second is true, all contiguous.
func (c Call) MaskPlace() {
	m := c.mask(&c.Args[1])
	m.Expand(codegen.Ptr(&c.Out[0]), codegen.Ptr(&c.Args[0]), c.Out[0].DType.Size(), ranks("mask_place", m, &c.Args[0]))
}

// CountTrue counts the true elements of a contiguous argument.
func (c Call) CountTrue() {
	r := c.mask(&c.Args[0]).Ranks()
	*(*int64)(codegen.Ptr(&c.Out[0])) = int64(r[len(r)-1])
}

// NonZero gives the places of the true elements of a contiguous argument.
func (c Call) NonZero() {
	m := c.mask(&c.Args[0])
	m.NonZero(unsafe.Slice((*int64)(codegen.Ptr(&c.Out[0])), c.Out[0].Size()), ranks("nonzero", m, &c.Out[0]))
}
