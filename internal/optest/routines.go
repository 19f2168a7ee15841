package optest

import (
	"math"
	"math/rand/v2"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// routineCases are applications of routines that are large enough for all ways in which
// a device may compute them: vectors and what is left behind them, tiles and their edges,
// several blocks of a sum, lines of the cache.
func routineCases(d *op.Def) []Case {
	m := &routineMaker{d: d, r: rand.New(rand.NewPCG(2, uint64(len(d.Name))))}
	if f := floatRoutines[d.Name]; f != nil {
		f(m, array.Float32)
		f(m, array.Float64)
	}
	if f := realRoutines[d.Name]; f != nil {
		for _, t := range realTypes() {
			f(m, t)
		}
	}
	return m.out
}

// floatRoutines makes the cases of routines of floats, for one type.
var floatRoutines = map[string]func(m *routineMaker, t array.DType){
	"matmul2":          matmulCases,
	"linear":           linearCases,
	"conv2d":           convCases,
	"conv2d_core":      convCoreCases,
	"conv2d_input":     convInputCases,
	"conv2d_weight":    convWeightCases,
	"window_mean":      windowMeanCases,
	"window_spread":    windowSpreadCases,
	"max_pool2d":       maxPoolCases,
	"max_pool2d_place": maxPoolCases,
	"max_pool2d_pick":  maxPoolCases,
}

// realRoutines makes the cases of routines of any real type, for one type.
var realRoutines = map[string]func(m *routineMaker, t array.DType){
	"scan_sum":       scanCases,
	"scan_prod":      scanCases,
	"recurrence":     scanCases,
	"cummax":         orderCases,
	"cummin":         orderCases,
	"topk":           orderCases,
	"kthvalue":       orderCases,
	"partition":      orderCases,
	"argpartition":   orderCases,
	"max_with_index": orderCases,
	"min_with_index": orderCases,
	"sort":           sortCases,
	"runs":           runsCases,
	"searchsorted":   searchCases,
	"bincount":       countCases,
	"copy":           copyCases,
	"reduce_argmax":  argCases,
	"reduce_argmin":  argCases,
	"index_select":   indexSelectCases,
	"index_add":      indexAddCases,
	"gather":         gatherCases,
	"scatter_sum":    scatterSumCases,
	"scatter_add":    scatterAddCases,
	"index_copy":     indexCopyCases,
	"scatter":        scatterCases,
	"scatter_min":    scatterExtremeCases,
	"scatter_max":    scatterExtremeCases,
	"scatter_prod":   scatterExtremeCases,
	"mask_select":    maskCases,
	"mask_place":     maskCases,
	"count_true":     maskCases,
	"nonzero":        maskCases,
}

// A routineMaker makes the cases of a routine.
type routineMaker struct {
	d   *op.Def
	r   *rand.Rand
	out []Case
}

// add adds a case for each result.
func (m *routineMaker) add(a ir.Attrs, x ...*Array) {
	for i := range max(m.d.Results, 1) {
		c := newCase(m.d, a, x...)
		c.Result = i
		m.out = append(m.out, c)
	}
}

func (m *routineMaker) arrays(t array.DType, shapes ...[]int) []*Array {
	var x []*Array
	for _, s := range shapes {
		x = append(x, Random(m.r, t, s, m.d.Domain, 0))
	}
	return x
}

// few returns small whole numbers, many of them equal.
func (m *routineMaker) few(t array.DType, shape ...int) *Array {
	x := New(t, shape)
	for i := range x.Size() {
		n := m.r.Int64N(6)
		if t == array.Bool {
			n %= 2
		}
		x.set(i, float64(n+1), n)
	}
	return x
}

// places returns indices into an axis of this size. They may count from the back.
func (m *routineMaker) places(shape []int, size int) *Array {
	x := New(array.Int64, shape)
	for i := range x.I {
		x.I[i] = m.r.Int64N(int64(2*size)) - int64(size)
		if x.I[i] < 0 && m.r.IntN(2) == 0 {
			x.I[i] += int64(size)
		}
	}
	return x
}

// conv returns a convolution with this stride and padding.
func conv(stride, pad int) op.Conv {
	return op.Conv{Stride: [2]int{stride, stride}, Pad: [2]int{pad, pad}, Dilation: [2]int{1, 1}, Groups: 1}
}

// grouped returns c with this dilation and number of groups.
func grouped(c op.Conv, dilation, groups int) op.Conv {
	c.Dilation, c.Groups = [2]int{dilation, dilation}, groups
	return c
}

// convolutions have arguments, weights and results of these shapes.
var convolutions = []struct {
	x, w, y []int
	a       op.Conv
}{
	{[]int{1, 3, 9, 37}, []int{5, 3, 3, 4}, []int{1, 5, 7, 34}, conv(1, 0)},     // pixels in the vectors
	{[]int{2, 16, 6, 13}, []int{16, 16, 3, 3}, []int{2, 16, 6, 13}, conv(1, 1)}, // channels
	{[]int{17, 2, 4, 4}, []int{3, 2, 3, 3}, []int{17, 3, 4, 4}, conv(1, 1)},     // pictures
	{[]int{2, 32, 7, 8}, []int{32, 32, 3, 3}, []int{2, 32, 7, 8}, conv(1, 1)},   // transformed tiles
	{[]int{1, 30, 11, 20}, []int{7, 30, 3, 3}, []int{1, 7, 6, 10}, conv(2, 1)},  // steps, and two blocks
	{[]int{5, 33, 9, 9}, []int{18, 33, 1, 1}, []int{5, 18, 9, 9}, conv(1, 0)},   // a product
	{[]int{3, 1, 20, 30}, []int{6, 1, 5, 5}, []int{3, 6, 16, 26}, conv(1, 0)},   // taps in the vectors of weights
	// Groups: of a channel each, in one run; of two with several results; large ones one after the other.
	{[]int{2, 40, 9, 20}, []int{40, 1, 3, 3}, []int{2, 40, 9, 20}, grouped(conv(1, 1), 1, 40)},
	{[]int{2, 12, 9, 21}, []int{18, 2, 3, 3}, []int{2, 18, 4, 10}, grouped(conv(2, 1), 2, 6)},
	{[]int{1, 32, 7, 13}, []int{32, 16, 3, 3}, []int{1, 32, 7, 13}, grouped(conv(1, 2), 2, 2)},
	{[]int{1, 64, 7, 8}, []int{64, 32, 3, 3}, []int{1, 64, 7, 8}, grouped(conv(1, 1), 1, 2)},
}

var pools = []struct {
	shape []int
	p     op.Pool
}{
	{[]int{2, 3, 12, 40}, op.Pool{Window: [2]int{2, 2}, Stride: [2]int{2, 2}}},
	{[]int{2, 2, 13, 37}, op.Pool{Window: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}}},
	{[]int{1, 2, 9, 50}, op.Pool{Window: [2]int{3, 2}, Stride: [2]int{1, 1}}},
	{[]int{1, 2, 20, 61}, op.Pool{Window: [2]int{6, 5}, Stride: [2]int{3, 3}, Pad: [2]int{2, 1}}},
}

// matmulCases makes products of matrices, and of batches of them.
func matmulCases(m *routineMaker, t array.DType) {
	for _, s := range [][][]int{
		{{37, 300}, {300, 50}}, {{130, 20}, {20, 35}}, {{40, 300}, {300, 1}}, {{1, 600}, {600, 70}},
		{{4, 1100}, {1100, 300}}, {{3, 20, 30}, {3, 30, 17}}, {{2, 3, 9, 40}, {2, 3, 40, 33}},
	} {
		m.add(nil, m.arrays(t, s...)...)
	}
}

// linearCases makes products with weights, with a bias but for the last.
func linearCases(m *routineMaker, t array.DType) {
	for _, s := range [][][]int{
		{{37, 300}, {50, 300}, {50}}, {{130, 20}, {135, 20}, {135}}, {{5000, 20}, {1, 20}, {1}}, {{1, 600}, {70, 600}, {70}},
		{{4, 1100}, {300, 1100}, {300}}, {{3, 20, 30}, {17, 30}, {17}}, {{1, 1500}, {1500, 1500}, {1500}}, {{37, 300}, {50, 300}},
	} {
		m.add(nil, m.arrays(t, s...)...)
	}
}

// convCases makes convolutions with a bias.
func convCases(m *routineMaker, t array.DType) {
	for _, c := range convolutions {
		m.add(c.a, m.arrays(t, c.x, c.w, c.w[:1])...)
	}
}

// convCoreCases makes convolutions without a bias.
func convCoreCases(m *routineMaker, t array.DType) {
	for _, c := range convolutions {
		m.add(c.a, m.arrays(t, c.x, c.w)...)
	}
}

// convInputCases makes gradients of the inputs of convolutions.
func convInputCases(m *routineMaker, t array.DType) {
	for _, c := range convolutions {
		m.add(op.ConvGrad{Conv: c.a, Shape: c.x}, m.arrays(t, c.y, c.w)...)
	}
}

// convWeightCases makes gradients of the weights of convolutions.
func convWeightCases(m *routineMaker, t array.DType) {
	for _, c := range convolutions {
		m.add(op.ConvGrad{Conv: c.a, Shape: c.w}, m.arrays(t, c.x, c.y)...)
	}
}

// windowMeanCases makes means of windows.
func windowMeanCases(m *routineMaker, t array.DType) {
	for _, c := range pools {
		m.add(c.p, m.arrays(t, c.shape)...)
	}
}

// windowSpreadCases makes gradients of means of windows.
func windowSpreadCases(m *routineMaker, t array.DType) {
	for _, c := range pools {
		y := references["max_pool2d"]([]*Array{m.few(t, c.shape...)}, c.p).Array
		m.add(op.PoolGrad{Pool: c.p, Size: [2]int(c.shape[len(c.shape)-2:])}, m.arrays(t, y.Shape)...)
	}
}

// maxPoolCases makes maxima of windows with NaN, and their gradients.
func maxPoolCases(m *routineMaker, t array.DType) {
	for _, c := range pools {
		x := m.few(t, c.shape...)
		y := references["max_pool2d"]([]*Array{x}, c.p).Array
		switch m.d.Name {
		case "max_pool2d":
			for range 20 {
				x.F[m.r.IntN(x.Size())] = math.NaN()
			}
			m.add(c.p, x)
		case "max_pool2d_place":
			m.add(c.p, x, y, m.few(t, y.Shape...))
		default:
			m.add(c.p, x, y, m.few(t, x.Shape...))
		}
	}
}

// scanCases makes cumulative sums and products, and recurrences.
func scanCases(m *routineMaker, t array.DType) {
	if !isWide(t) || m.d.Arity == 2 && !t.Float() {
		return
	}
	for _, reverse := range []bool{false, true} {
		for axis, shape := range [][]int{{300, 70}, {7, 4000}, {2, 50, 40}} {
			x := m.arrays(t, shape, shape)
			if t.Float() && m.d.Arity == 1 {
				x[0].F[x[0].Size()/2] = math.NaN()
				for i := range 5 { // a sum of zeros keeps their sign
					x[0].F[i] = math.Copysign(0, -1)
					x[0].F[x[0].Size()-1-i] = math.Copysign(0, -1)
				}
			}
			if m.d.Name == "scan_prod" {
				m.add(op.Axis(min(axis, 1)), x[0])
				continue
			}
			m.add(op.Scan{Axis: min(axis, 1), Reverse: reverse}, x[:m.d.Arity]...)
		}
	}
}

// orderCases makes what depends on the order of the elements of lines.
func orderCases(m *routineMaker, t array.DType) {
	for axis, shape := range [][]int{{300, 70}, {5, 700}, {2, 9000}} {
		axis = min(axis, 1)
		for _, x := range append(m.arrays(t, shape), m.few(t, shape...)) {
			if t.Float() {
				for range 20 {
					x.F[m.r.IntN(x.Size())] = math.NaN()
					x.F[m.r.IntN(x.Size())] = 0
					x.F[m.r.IntN(x.Size())] = math.Copysign(0, -1)
				}
			}
			switch m.d.Name {
			case "sort":
				m.add(op.Sorting{Axis: axis, Descending: m.r.IntN(2) == 0}, x)
			case "topk":
				m.add(op.Selection{Axis: axis, Count: 1 + m.r.IntN(60), Smallest: m.r.IntN(2) == 0}, x)
				m.add(op.Selection{Axis: axis, Count: 1 + m.r.IntN(10), Smallest: m.r.IntN(2) == 0}, x)
			case "kthvalue":
				n := shape[axis]
				m.add(op.Ranks{Axis: axis, At: []int{n / 2, n - 1, m.r.IntN(n), m.r.IntN(n)}}, x)
				m.add(op.Ranks{Axis: axis, At: []int{m.r.IntN(n)}}, x)
			case "partition", "argpartition":
				for _, k := range []int{m.r.IntN(shape[axis]), shape[axis] - 1} {
					m.add(op.Ranks{Axis: axis, At: []int{k}}, x)
				}
			default:
				m.add(op.Axis(axis), x)
			}
		}
	}
}

// sortCases makes orders of lines, and of extreme elements, which differ in their low halves
// too.
func sortCases(m *routineMaker, t array.DType) {
	orderCases(m, t)
	x := specials(t, func(n int) []int { return []int{n} })
	y := New(t, []int{40 * x.Size()})
	for i := range y.Size() {
		y.put(i, x, m.r.IntN(x.Size()))
	}
	m.add(op.Sorting{}, y)
	m.add(op.Sorting{Descending: true}, y)
}

// runsCases makes runs of sorted arrays.
func runsCases(m *routineMaker, t array.DType) {
	for _, x := range []*Array{m.few(t, 500), specials(t, func(n int) []int { return []int{n} })} {
		r := several["sort"]([]*Array{x}, op.Sorting{})
		m.add(nil, r[0].Array, r[1].Array)
	}
}

// searchCases makes searches for elements of the rows and for extreme ones.
func searchCases(m *routineMaker, t array.DType) {
	for _, shape := range [][]int{{1000}, {5, 37}} {
		x := m.few(t, shape...)
		if t.Float() {
			x = Random(m.r, t, shape, m.d.Domain, 0)
			x.F[m.r.IntN(x.Size())] = math.NaN()
		}
		rows := several["sort"]([]*Array{x}, op.Sorting{Axis: len(shape) - 1})[0].Array
		queries := specials(t, func(n int) []int { return []int{n} })
		all := New(t, append(shape[:len(shape)-1:len(shape)-1], 50))
		for i := range all.Size() {
			if i%2 == 0 {
				all.put(i, rows, m.r.IntN(rows.Size()))
			} else {
				all.put(i, queries, m.r.IntN(queries.Size()))
			}
		}
		m.add(op.Search{}, rows, all)
		m.add(op.Search{Right: true}, rows, all)
	}
	x := specials(t, func(n int) []int { return []int{n} })
	rows := several["sort"]([]*Array{x}, op.Sorting{})[0].Array
	m.add(op.Search{}, rows, x)
	m.add(op.Search{Right: true}, rows, x)
}

// countCases makes counts of few and of many numbers.
func countCases(m *routineMaker, t array.DType) {
	if t == array.Int64 {
		for _, n := range []int{3, 6000} {
			x := New(t, []int{20000})
			for i := range x.I {
				x.I[i] = m.r.Int64N(int64(n))
			}
			m.add(op.Count(n), x)
		}
	}
}

// copyCases makes copies.
func copyCases(m *routineMaker, t array.DType) {
	for _, s := range [][]int{{70, 133}, {3, 65, 66}} {
		m.add(nil, m.arrays(t, s)...)
	}
}

// argCases makes indices of extreme elements, also of lines with NaN.
func argCases(m *routineMaker, t array.DType) {
	for axis, s := range [][]int{{300, 70}, {5, 700}} {
		x := m.few(t, s...)
		m.add(op.Axis(axis), x)
		if t.Float() {
			y := m.few(t, s...)
			y.F[y.Size()/3], y.F[y.Size()/2] = math.NaN(), math.NaN()
			m.add(op.Axis(axis), y)
		}
	}
}

// indexSelectCases makes selections of rows and of columns.
func indexSelectCases(m *routineMaker, t array.DType) {
	m.add(op.Axis(0), append(m.arrays(t, []int{50, 64}), m.places([]int{40}, 50))...)
	m.add(op.Axis(1), append(m.arrays(t, []int{3, 50, 5}), m.places([]int{40}, 50))...)
	m.add(op.Axis(1), append(m.arrays(t, []int{3, 50, 5}), m.places([]int{4}, 50))...) // few of an array in another layout
}

// indexAddCases makes sums of rows by index.
func indexAddCases(m *routineMaker, t array.DType) {
	to := op.Target{Shape: []int{20, 64}}
	x := m.arrays(t, []int{70, 64}, []int{20, 64})
	i := m.places([]int{70}, 20)
	m.add(to, x[0], i)
	m.add(to, x[0], i, x[1])
	m.add(op.Target{Axis: 1, Shape: []int{3, 20}}, append(m.arrays(t, []int{3, 70}), i)...)
}

// gatherCases makes selections of elements.
func gatherCases(m *routineMaker, t array.DType) {
	m.add(op.Axis(0), append(m.arrays(t, []int{40, 30}), m.places([]int{70, 30}, 40))...)
	m.add(op.Axis(1), append(m.arrays(t, []int{40, 30}), m.places([]int{40, 17}, 30))...)
}

// scatterSumCases makes sums of elements by index.
func scatterSumCases(m *routineMaker, t array.DType) {
	m.add(op.Target{Shape: []int{10, 30}}, append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 10))...)
	m.add(op.Target{Axis: 1, Shape: []int{70, 10}}, append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 10))...)
}

// scatterAddCases adds along columns, and along rows; some rows have no indices.
func scatterAddCases(m *routineMaker, t array.DType) {
	m.add(op.Axis(0), append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 10), m.arrays(t, []int{10, 31})[0])...)
	m.add(op.Axis(1), append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 1000), m.arrays(t, []int{70, 1000})[0])...)
	m.add(op.Axis(1), append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 10), m.arrays(t, []int{71, 10})[0])...)
}

// indexCopyCases makes copies of rows by index.
func indexCopyCases(m *routineMaker, t array.DType) {
	m.add(op.Axis(0), append(m.arrays(t, []int{70, 64}), m.places([]int{70}, 90), m.arrays(t, []int{90, 64})[0])...)
	m.add(op.Axis(1), append(m.arrays(t, []int{3, 70, 5}), m.places([]int{70}, 20), m.arrays(t, []int{3, 20, 5})[0])...)
}

// scatterCases makes writes of elements by index.
func scatterCases(m *routineMaker, t array.DType) {
	m.add(op.Axis(0), append(m.arrays(t, []int{70, 30}), m.places([]int{70, 30}, 10), m.arrays(t, []int{10, 31})[0])...)
}

// scatterExtremeCases makes extremes of elements by index.
func scatterExtremeCases(m *routineMaker, t array.DType) {
	if t.Category() > array.CatFloat {
		return
	}
	for _, alone := range []bool{false, true} {
		x, base := m.few(t, 4, 70), m.few(t, 5, 30)
		if t == array.Bool {
			x, base = m.arrays(t, x.Shape)[0], m.arrays(t, base.Shape)[0]
		}
		if t.Float() {
			x.F[3], x.F[100], base.F[10], base.F[40] = math.NaN(), math.NaN(), math.NaN(), math.Inf(1)
		}
		m.add(op.Extreme{Axis: 1, Alone: alone}, x, m.places(x.Shape, 30), base)
	}
}

// maskCases makes masks that are true for all, for half and for few elements.
func maskCases(m *routineMaker, t array.DType) {
	for _, one := range []int{1, 2, 20} { // one element in this many is true
		mask, n := New(array.Bool, []int{13, 97}), 0
		for i := range mask.I {
			if m.r.IntN(one) == 0 {
				mask.I[i] = 1
				n++
			}
		}
		switch m.d.Name {
		case "mask_select":
			m.add(op.Count(n), append(m.arrays(t, mask.Shape), mask)...)
		case "mask_place":
			m.add(nil, append(m.arrays(t, []int{n}), mask)...)
		case "count_true":
			m.add(nil, mask)
		default:
			m.add(op.Count(n), mask)
		}
	}
}

// poolPlaces calls f for each window with the number of its result and of the first
// element that has its maximum.
func poolPlaces(x, y *Array, p op.Pool, f func(window, at int)) {
	r := len(x.Shape)
	for i := range y.Size() {
		idx := index(y.Shape, i)
		oy, ox := idx[r-2], idx[r-1]
	window:
		for k := range p.Window[0] * p.Window[1] {
			idx[r-2], idx[r-1] = oy*p.Stride[0]+k/p.Window[1]-p.Pad[0], ox*p.Stride[1]+k%p.Window[1]-p.Pad[1]
			if idx[r-2] < 0 || idx[r-2] >= x.Shape[r-2] || idx[r-1] < 0 || idx[r-1] >= x.Shape[r-1] {
				continue
			}
			if at := flat(x.Shape, idx); x.F[at] == y.F[i] {
				f(i, at)
				break window
			}
		}
	}
}

func init() {
	references["max_pool2d_place"] = func(x []*Array, a ir.Attrs) Result {
		out := New(x[0].DType, x[0].Shape)
		poolPlaces(x[0], x[1], a.(op.Pool), func(window, at int) { out.set(at, out.F[at]+x[2].F[window], 0) })
		return Result{Array: out, Exact: true}
	}
	references["window_spread"] = func(x []*Array, a ir.Attrs) Result {
		p, r := a.(op.PoolGrad), len(x[0].Shape)
		out := New(x[0].DType, append(append([]int(nil), x[0].Shape[:r-2]...), p.Size[:]...))
		n := float64(p.Pool.Window[0] * p.Pool.Window[1])
		over := n
		if p.Pool.Sum {
			over = 1
		}
		sum, abs := make([]float64, out.Size()), make([]float64, out.Size())
		for i, v := range x[0].F {
			idx := index(x[0].Shape, i)
			top, left := idx[r-2]*p.Pool.Stride[0]-p.Pool.Pad[0], idx[r-1]*p.Pool.Stride[1]-p.Pool.Pad[1]
			for k := range int(n) {
				h, w := top+k/p.Pool.Window[1], left+k%p.Pool.Window[1]
				if h < 0 || h >= p.Size[0] || w < 0 || w >= p.Size[1] {
					continue
				}
				idx[r-2], idx[r-1] = h, w
				at := flat(out.Shape, idx)
				sum[at] += v / over
				abs[at] += math.Abs(v) / over
			}
		}
		bound := make([]float64, out.Size())
		for i := range bound {
			out.F[i] = sum[i]
			bound[i] = abs[i] * eps(out.DType) * (n + 3)
		}
		return Result{Array: out, Bound: bound}
	}
	references["max_pool2d_pick"] = func(x []*Array, a ir.Attrs) Result {
		out := New(x[1].DType, x[1].Shape)
		poolPlaces(x[0], x[1], a.(op.Pool), func(window, at int) { out.set(window, x[2].F[at], 0) })
		return Result{Array: out, Exact: true}
	}
}
