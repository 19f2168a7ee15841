package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/par"
)

// DistanceOpts are the options of [DistanceTransformEDT].
type DistanceOpts struct {
	Sampling []float64 // the distance of neighbours along each axis, or along all; 1 if nil
}

// DistanceTransformEDT returns the Euclidean distance of each element of x that is not 0 to the nearest one that is 0, as
// Float64, and the indices of that one, Int32 [rank, shape of x...]. Of several nearest ones it returns one. Without
// any, distances are infinite and indices -1.
//
// Distances are exact but for rounding: the lower envelope of parabolas along each axis, as in P. F. Felzenszwalb
// and D. P. Huttenlocher, Distance Transforms of Sampled Functions (2012).
// It panics with *[weft.Error] where Sampling is not from 1e-100 to 1e100, and for more than 2^31-1 elements.
func DistanceTransformEDT(x *weft.Tensor, opts ...DistanceOpts) (distances, indices *weft.Tensor) {
	const name = "ndimage.distance_transform_edt"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	on := input(name, x).Ne(0).Contiguous()
	if x.Size() > math.MaxInt32 {
		array.Failf(name, "x", "has %d elements, more than 2^31-1", x.Size())
	}
	sampling := each(name, "Sampling", o.Sampling, x.Rank(), 1)
	key := make([]int, len(sampling))
	for i, s := range sampling {
		if !(s >= 1e-100 && s <= 1e100) { // squares and sums of them are floats
			array.Failf(name, "Sampling", "is %g along axis %d, want a positive number from 1e-100 to 1e100", s, i)
		}
		key[i] = int(math.Float64bits(s))
	}
	shape := x.Shape()
	t := newTask("edt", []ir.Type{{DType: weft.Float64, Shape: shape}, {DType: weft.Int32, Shape: append([]int{len(shape)}, shape...)}}, func(args, out []array.View) {
		e := envelopes{shape: shape, sampling: sampling}
		e.run(core.Slice[bool](&args[0]), core.Slice[float64](&out[0]), core.Slice[int32](&out[1]))
	}, key)
	out := t.apply(on)
	return out[0], out[1]
}

// envelopes computes distances axis by axis.
type envelopes struct {
	shape    []int
	sampling []float64
}

// run writes squares of distances and the places of what they are to, and then what is asked for.
func (e envelopes) run(on []bool, dist []float64, indices []int32) {
	if len(on) == 0 {
		return
	}
	near := make([]int32, len(on))
	last := len(e.shape) - 1
	n := 1
	if last >= 0 {
		n = e.shape[last]
	}
	par.Run(len(on)/n, max(1, (1<<14)/n), 0, func(_, begin, end int) {
		for row := begin * n; row < end*n; row += n {
			nearest(on[row:row+n], dist[row:row+n], near[row:row+n], int32(row), e.sampling)
		}
	})
	strides := array.RowMajor(e.shape)
	for axis := last - 1; axis >= 0; axis-- {
		n, step := e.shape[axis], strides[axis]
		par.Run(len(on)/n, max(1, (1<<13)/n), 0, func(_, begin, end int) {
			l := newEnvelope(n, e.sampling[axis])
			for k := begin; k < end; k++ {
				l.line(dist, near, k/step*step*n+k%step, step)
			}
		})
	}
	par.Run(len(on)/n, max(1, (1<<13)/n), 0, func(_, begin, end int) {
		at := unravel(append(append([]int{}, e.shape[:max(last, 0)]...), 1), begin)
		for row := begin; row < end; row++ {
			e.row(row*n, at, strides, dist, near, indices)
			for a := last - 1; a >= 0; a-- {
				if at[a]++; at[a] < e.shape[a] {
					break
				}
				at[a] = 0
			}
		}
	})
}

// row writes distances and indices of a row along the last axis that begins at a flat place with coordinates at.
func (e envelopes) row(start int, at, strides []int, dist []float64, near, indices []int32) {
	n, size := 1, len(dist)
	if len(e.shape) > 0 {
		n = e.shape[len(e.shape)-1]
	}
	for j := range n {
		i := start + j
		if near[i] < 0 {
			for a := range strides {
				indices[a*size+i] = -1
			}
			dist[i] = math.Inf(1)
			continue
		}
		sum, rest := 0.0, uint32(near[i]) // 32-bit divisions take half the time
		for a, s := range strides {
			to, from := rest, j
			if a < len(strides)-1 {
				to, from = rest/uint32(s), at[a]
			}
			rest -= to * uint32(s)
			d := float64(int(to)-from) * e.sampling[a]
			sum += float64(d * d)
			indices[a*size+i] = int32(to)
		}
		dist[i] = math.Sqrt(sum)
	}
}

// nearest writes the squares of the distances along a row to its nearest element that is not on, and the places of these, the first
// one of two. Flat places begin with first. It writes infinities and -1 where all are on.
func nearest(on []bool, dist []float64, near []int32, first int32, sampling []float64) {
	scale := 0.0
	if len(sampling) > 0 {
		scale = float64(sampling[len(sampling)-1] * sampling[len(sampling)-1])
	}
	before := int32(-1)
	for q, set := range on {
		if !set {
			before = int32(q)
		}
		near[q] = before
	}
	behind := int32(-1)
	for q := len(on) - 1; q >= 0; q-- {
		if !on[q] {
			behind = int32(q)
		}
		p := near[q]
		if p < 0 || behind >= 0 && behind-int32(q) < int32(q)-p {
			p = behind
		}
		if p < 0 {
			dist[q], near[q] = math.Inf(1), -1
			continue
		}
		d := float64(p - int32(q))
		dist[q], near[q] = float64(scale*float64(d*d)), first+p
	}
}

// An envelope is the lower envelope of parabolas along a line.
type envelope struct {
	f     []float64 // squares of the line
	near  []int32
	at    []int     // the parabolas of the envelope
	from  []float64 // where each begins to be the least
	scale float64   // the square of the distance of neighbours
}

func newEnvelope(n int, sampling float64) *envelope {
	return &envelope{make([]float64, n), make([]int32, n), make([]int, n), make([]float64, n), float64(sampling * sampling)}
}

// line replaces the squares of a line by the least of parabolas over it.
func (l *envelope) line(dist []float64, near []int32, start, step int) {
	k := -1 // the last parabola
	for q := range l.f {
		f := dist[start+q*step]
		l.f[q], l.near[q] = f, near[start+q*step]
		if math.IsInf(f, 1) {
			continue
		}
		begin := math.Inf(-1)
		for k >= 0 {
			p := l.at[k]
			begin = (float64(l.scale*float64(q*q-p*p)) + (f - l.f[p])) / (2 * float64(l.scale*float64(q-p)))
			if begin > l.from[k] {
				break
			}
			k--
			begin = math.Inf(-1)
		}
		k++
		l.at[k], l.from[k] = q, begin
	}
	if k < 0 {
		return
	}
	last := k
	k = 0
	for q := range l.f {
		for k < last && l.from[k+1] < float64(q) {
			k++
		}
		p := l.at[k]
		d := float64(q - p)
		dist[start+q*step] = l.f[p] + float64(l.scale*float64(d*d))
		near[start+q*step] = l.near[p]
	}
}

// ChamferOpts are the options of [DistanceTransformCDT].
type ChamferOpts struct {
	Metric string // "chessboard", the default, or "taxicab"
}

// DistanceTransformCDT returns the least number of steps from each element of x that is not 0 to one that is 0, as
// Int32: steps to all neighbours, or, in the metric of a taxicab, along axes. Without any, distances are -1.
//
// Two passes over the array: A. Rosenfeld and J. L. Pfaltz, Distance Functions on Digital Pictures (1968). It panics with
// *[weft.Error] for another metric.
func DistanceTransformCDT(x *weft.Tensor, opts ...ChamferOpts) *weft.Tensor {
	const name = "ndimage.distance_transform_cdt"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	on := input(name, x).Ne(0).Contiguous()
	far := x.Rank()
	switch o.Metric {
	case "", "chessboard":
	case "taxicab":
		far = 1
	default:
		array.Failf(name, "Metric", "%q is not one of chessboard, taxicab", o.Metric)
	}
	if x.Rank() == 0 || x.Size() == 0 {
		return on.To(weft.Int32).Neg()
	}
	shape := x.Shape()
	before := earlier(name, "", GenerateBinaryStructure(x.Rank(), far), x.Rank(), true)
	t := newTask("cdt", []ir.Type{{DType: weft.Int32, Shape: shape}}, func(args, out []array.View) {
		chamfer(shape, before, core.Slice[bool](&args[0]), core.Slice[int32](&out[0]))
	}, []int{far})
	return t.apply(on)[0]
}

// chamfer writes the distances: a pass from the first element to the last, and one back.
func chamfer(shape []int, before [][]int, on []bool, to []int32) {
	g := newBordered(shape, ones(len(shape)), ones(len(shape)))
	var steps []int
	for _, d := range before {
		step := 0
		for i, v := range d {
			step += v * g.strides[i]
		}
		steps = append(steps, step)
	}
	const far = math.MaxInt32 - 1
	d, n := make([]int32, g.size), shape[len(shape)-1]
	inside := make([]bool, g.size)
	for i := range d {
		d[i] = far
	}
	g.rows(func(at, row int) {
		for j := range n {
			inside[at+j] = true
			if !on[row+j] {
				d[at+j] = 0
			}
		}
	})
	for i := range d {
		if inside[i] && d[i] > 0 {
			for _, s := range steps {
				d[i] = min(d[i], d[i+s]+1)
			}
			d[i] = min(d[i], far)
		}
	}
	for i := len(d) - 1; i >= 0; i-- {
		if inside[i] && d[i] > 0 {
			for _, s := range steps {
				d[i] = min(d[i], d[i-s]+1)
			}
			d[i] = min(d[i], far)
		}
	}
	g.rows(func(at, row int) {
		for j := range n {
			if to[row+j] = d[at+j]; d[at+j] == far {
				to[row+j] = -1
			}
		}
	})
}
