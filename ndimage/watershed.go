package ndimage

import (
	"cmp"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// WatershedOpts are the options of [WatershedIFT].
type WatershedOpts struct {
	// Structure has 3 elements along each axis: the neighbours of an element, symmetric around the centre.
	// GenerateBinaryStructure(rank, 1) if nil.
	Structure *weft.Tensor
}

// WatershedIFT grows markers over x, Uint8 or Uint16: each element gets the label of the marker with the cheapest path to it, a path costing the
// greatest difference of neighbours on it (Falcão, Stolfi, Lotufo, "The image foresting transform", PAMI 26, 2004). markers are integers of x's shape, 0 where
// there is none; negative ones are background, which loses against others of equal cost. The result has the type of markers, whose values must fit
// int64. It panics with *[weft.Error] for other types and shapes. SciPy's watershed_ift, which also takes the end of a row for a neighbour of
// the next row.
func WatershedIFT(x, markers *weft.Tensor, opts ...WatershedOpts) *weft.Tensor {
	const name = "ndimage.watershed_ift"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if d := input(name, x).DType(); d != weft.Uint8 && d != weft.Uint16 {
		array.Failf(name, "x", "is %s, want uint8 or uint16", d)
	}
	(*core.Tensor)(markers).CheckArgument(name, "markers")
	if !markers.DType().Integer() || !array.Equal(markers.Shape(), x.Shape()) {
		array.Failf(name, "markers", "is %s of shape %s, want integers of the input's, %s", markers.DType(), array.ShapeString(markers.Shape()), array.ShapeString(x.Shape()))
	}
	if x.Size() > 1<<30 {
		array.Failf(name, "x", "has %d elements, more than 2^30", x.Size())
	}
	s := o.Structure
	if s == nil {
		s = GenerateBinaryStructure(x.Rank(), 1)
	}
	before := earlier(name, "Structure", s, x.Rank(), true)
	if x.Rank() == 0 || x.Size() == 0 {
		return markers.Clone()
	}
	shape := x.Shape()
	var code []int
	for _, d := range before {
		code = append(code, d...)
	}
	t := newTask("watershed_ift", []ir.Type{{DType: weft.Int64, Shape: shape}}, func(args, out []array.View) {
		given := core.Slice[int64](&args[1])
		labels := make([]int32, len(given))
		for i, v := range given {
			labels[i] = int32(cmp.Compare(v, 0) * (i + 1))
		}
		w := &watershed{values: core.Slice[uint16](&args[0]), labels: labels}
		w.flood(shape, before)
		y := core.Slice[int64](&out[0])
		for i, l := range labels {
			if y[i] = 0; l != 0 {
				y[i] = given[max(l, -l)-1]
			}
		}
	}, code)
	return t.apply(x.To(weft.Uint16).Contiguous(), markers.To(weft.Int64).Contiguous())[0].To(markers.DType())
}

// watershed is a forest of cheapest paths. Elements wait in a list for each cost, from which the first is taken.
type watershed struct {
	values     []uint16
	labels     []int32 // 1 more than the place of the marker, negative for background; 0 where there is none
	cost       []int32
	next, prev []int32 // in a list, -1 at its ends
	first      []int32 // of the list of a cost
	last       []int32
	state      []uint8 // waiting or done
}

const (
	watershedWaits = 1
	watershedDone  = 2
)

// enqueue puts an element into the list of its cost: objects in front, background behind.
func (w *watershed) enqueue(i int32) {
	c := w.cost[i]
	w.state[i] = watershedWaits
	switch {
	case w.first[c] < 0:
		w.first[c], w.last[c], w.next[i], w.prev[i] = i, i, -1, -1
	case w.labels[i] > 0:
		w.next[i], w.prev[i] = w.first[c], -1
		w.prev[w.first[c]], w.first[c] = i, i
	default:
		w.next[i], w.prev[i] = -1, w.last[c]
		w.next[w.last[c]], w.last[c] = i, i
	}
}

// remove takes an element out of its list.
func (w *watershed) remove(i int32) {
	c := w.cost[i]
	if n := w.next[i]; n >= 0 {
		w.prev[n] = w.prev[i]
	} else {
		w.last[c] = w.prev[i]
	}
	if p := w.prev[i]; p >= 0 {
		w.next[p] = w.next[i]
	} else {
		w.first[c] = w.next[i]
	}
}

func (w *watershed) flood(shape []int, before [][]int) {
	n := len(w.values)
	w.cost, w.next, w.prev, w.state = make([]int32, n), make([]int32, n), make([]int32, n), make([]uint8, n)
	most := uint16(0)
	for _, v := range w.values {
		most = max(most, v)
	}
	w.first, w.last = make([]int32, int(most)+1), make([]int32, int(most)+1)
	for c := range w.first {
		w.first[c], w.last[c] = -1, -1
	}
	for i, l := range w.labels {
		if w.cost[i] = int32(most) + 1; l != 0 {
			w.cost[i] = 0
			w.enqueue(int32(i))
		}
	}
	strides := array.RowMajor(shape)
	offsets := append([][]int{}, before...)
	for k := len(before) - 1; k >= 0; k-- {
		d := make([]int, len(shape))
		for a, v := range before[k] {
			d[a] = -v
		}
		offsets = append(offsets, d)
	}
	steps := make([]int, len(offsets))
	for k, d := range offsets {
		for a, v := range d {
			steps[k] += v * strides[a]
		}
	}
	at := make([]int, len(shape))
	for c := range w.first {
		for w.first[c] >= 0 {
			i := w.first[c]
			w.remove(i)
			w.state[i] = watershedDone
			for a, s := range strides {
				at[a] = int(i) / s % shape[a]
			}
		neighbours:
			for k, d := range offsets {
				for a, v := range d {
					if p := at[a] + v; p < 0 || p >= shape[a] {
						continue neighbours
					}
				}
				w.relax(i, i+int32(steps[k]))
			}
		}
	}
}

// relax takes the path over i to its neighbour p where it is cheaper.
func (w *watershed) relax(i, p int32) {
	if w.state[p] == watershedDone {
		return
	}
	c := max(w.cost[i], int32(w.values[i])-int32(w.values[p]), int32(w.values[p])-int32(w.values[i]))
	if c >= w.cost[p] {
		return
	}
	if w.state[p] == watershedWaits {
		w.remove(p)
	}
	w.cost[p], w.labels[p] = c, w.labels[i]
	w.enqueue(p)
}
