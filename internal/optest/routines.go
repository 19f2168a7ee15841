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
	r := rand.New(rand.NewPCG(2, uint64(len(d.Name))))
	var out []Case
	add := func(a ir.Attrs, x ...*Array) {
		for i := range max(d.Results, 1) {
			c := newCase(d, a, x...)
			c.Result = i
			out = append(out, c)
		}
	}
	floats := []array.DType{array.Float32, array.Float64}
	arrays := func(t array.DType, shapes ...[]int) []*Array {
		var x []*Array
		for _, s := range shapes {
			x = append(x, Random(r, t, s, d.Domain, 0))
		}
		return x
	}
	// few are small whole numbers, many of them equal.
	few := func(t array.DType, shape ...int) *Array {
		x := New(t, shape)
		for i := range x.Size() {
			n := r.Int64N(6)
			if t == array.Bool {
				n %= 2
			}
			x.set(i, float64(n+1), n)
		}
		return x
	}
	places := func(shape []int, size int) *Array {
		x := New(array.Int64, shape)
		for i := range x.I {
			x.I[i] = r.Int64N(int64(2*size)) - int64(size) // they may count from the back
			if x.I[i] < 0 && r.IntN(2) == 0 {
				x.I[i] += int64(size)
			}
		}
		return x
	}
	conv := func(stride, pad int) op.Conv {
		return op.Conv{Stride: [2]int{stride, stride}, Pad: [2]int{pad, pad}, Dilation: [2]int{1, 1}, Groups: 1}
	}
	parts := func(c op.Conv, dilation, groups int) op.Conv {
		c.Dilation, c.Groups = [2]int{dilation, dilation}, groups
		return c
	}
	convolutions := []struct {
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
		{[]int{2, 40, 9, 20}, []int{40, 1, 3, 3}, []int{2, 40, 9, 20}, parts(conv(1, 1), 1, 40)},
		{[]int{2, 12, 9, 21}, []int{18, 2, 3, 3}, []int{2, 18, 4, 10}, parts(conv(2, 1), 2, 6)},
		{[]int{1, 32, 7, 13}, []int{32, 16, 3, 3}, []int{1, 32, 7, 13}, parts(conv(1, 2), 2, 2)},
		{[]int{1, 64, 7, 8}, []int{64, 32, 3, 3}, []int{1, 64, 7, 8}, parts(conv(1, 1), 1, 2)},
	}
	pools := []struct {
		shape []int
		p     op.Pool
	}{
		{[]int{2, 3, 12, 40}, op.Pool{Window: [2]int{2, 2}, Stride: [2]int{2, 2}}},
		{[]int{2, 2, 13, 37}, op.Pool{Window: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}}},
		{[]int{1, 2, 9, 50}, op.Pool{Window: [2]int{3, 2}, Stride: [2]int{1, 1}}},
		{[]int{1, 2, 20, 61}, op.Pool{Window: [2]int{6, 5}, Stride: [2]int{3, 3}, Pad: [2]int{2, 1}}},
	}
	for _, t := range floats {
		switch d.Name {
		case "matmul2":
			for _, s := range [][][]int{
				{{37, 300}, {300, 50}}, {{130, 20}, {20, 35}}, {{40, 300}, {300, 1}}, {{1, 600}, {600, 70}},
				{{4, 1100}, {1100, 300}}, {{3, 20, 30}, {3, 30, 17}}, {{2, 3, 9, 40}, {2, 3, 40, 33}},
			} {
				add(nil, arrays(t, s...)...)
			}
		case "linear": // with a tail
			for _, s := range [][][]int{
				{{37, 300}, {50, 300}, {50}}, {{130, 20}, {135, 20}, {135}}, {{5000, 20}, {1, 20}, {1}}, {{1, 600}, {70, 600}, {70}},
				{{4, 1100}, {300, 1100}, {300}}, {{3, 20, 30}, {17, 30}, {17}}, {{1, 1500}, {1500, 1500}, {1500}}, {{37, 300}, {50, 300}},
			} {
				add(nil, arrays(t, s...)...)
			}
		case "conv2d": // with a tail
			for _, c := range convolutions {
				add(c.a, arrays(t, c.x, c.w, c.w[:1])...)
			}
		case "conv2d_core":
			for _, c := range convolutions {
				add(c.a, arrays(t, c.x, c.w)...)
			}
		case "conv2d_input":
			for _, c := range convolutions {
				add(op.ConvGrad{Conv: c.a, Shape: c.x}, arrays(t, c.y, c.w)...)
			}
		case "conv2d_weight":
			for _, c := range convolutions {
				add(op.ConvGrad{Conv: c.a, Shape: c.w}, arrays(t, c.x, c.y)...)
			}
		case "window_mean":
			for _, c := range pools {
				add(c.p, arrays(t, c.shape)...)
			}
		case "window_spread":
			for _, c := range pools {
				y := references["max_pool2d"]([]*Array{few(t, c.shape...)}, c.p).Array
				add(op.PoolGrad{Pool: c.p, Size: [2]int(c.shape[len(c.shape)-2:])}, arrays(t, y.Shape)...)
			}
		case "max_pool2d", "max_pool2d_place", "max_pool2d_pick":
			for _, c := range pools {
				x := few(t, c.shape...)
				y := references["max_pool2d"]([]*Array{x}, c.p).Array
				switch d.Name {
				case "max_pool2d":
					for range 20 {
						x.F[r.IntN(x.Size())] = math.NaN()
					}
					add(c.p, x)
				case "max_pool2d_place":
					add(c.p, x, y, few(t, y.Shape...))
				default:
					add(c.p, x, y, few(t, x.Shape...))
				}
			}
		}
	}
	for _, t := range realTypes() {
		switch d.Name {
		case "scan_sum", "scan_prod", "recurrence":
			if !isWide(t) || d.Arity == 2 && !t.Float() {
				continue
			}
			for _, reverse := range []bool{false, true} {
				for axis, shape := range [][]int{{300, 70}, {7, 4000}, {2, 50, 40}} {
					x := arrays(t, shape, shape)
					if t.Float() && d.Arity == 1 {
						x[0].F[x[0].Size()/2] = math.NaN()
						for i := range 5 { // a sum of zeros keeps their sign
							x[0].F[i] = math.Copysign(0, -1)
							x[0].F[x[0].Size()-1-i] = math.Copysign(0, -1)
						}
					}
					if d.Name == "scan_prod" {
						add(op.Axis(min(axis, 1)), x[0])
						continue
					}
					add(op.Scan{Axis: min(axis, 1), Reverse: reverse}, x[:d.Arity]...)
				}
			}
		case "cummax", "cummin", "sort", "topk", "kthvalue", "max_with_index", "min_with_index":
			for axis, shape := range [][]int{{300, 70}, {5, 700}, {2, 9000}} {
				axis = min(axis, 1)
				for _, x := range append(arrays(t, shape), few(t, shape...)) {
					if t.Float() {
						for range 20 {
							x.F[r.IntN(x.Size())] = math.NaN()
							x.F[r.IntN(x.Size())] = 0
							x.F[r.IntN(x.Size())] = math.Copysign(0, -1)
						}
					}
					switch d.Name {
					case "sort":
						add(op.Sorting{Axis: axis, Descending: r.IntN(2) == 0}, x)
					case "topk":
						add(op.Selection{Axis: axis, Count: 1 + r.IntN(60), Smallest: r.IntN(2) == 0}, x)
						add(op.Selection{Axis: axis, Count: 1 + r.IntN(10), Smallest: r.IntN(2) == 0}, x)
					case "kthvalue":
						n := shape[axis]
						add(op.Ranks{Axis: axis, At: []int{n / 2, n - 1, r.IntN(n), r.IntN(n)}}, x)
						add(op.Ranks{Axis: axis, At: []int{r.IntN(n)}}, x)
					default:
						add(op.Axis(axis), x)
					}
				}
			}
			if d.Name == "sort" { // extreme elements, which differ in their low halves too
				x := specials(t, func(n int) []int { return []int{n} })
				y := New(t, []int{40 * x.Size()})
				for i := range y.Size() {
					y.put(i, x, r.IntN(x.Size()))
				}
				add(op.Sorting{}, y)
				add(op.Sorting{Descending: true}, y)
			}
		case "runs":
			for _, x := range []*Array{few(t, 500), specials(t, func(n int) []int { return []int{n} })} {
				r := several["sort"]([]*Array{x}, op.Sorting{})
				add(nil, r[0].Array, r[1].Array)
			}
		case "searchsorted":
			for _, shape := range [][]int{{1000}, {5, 37}} {
				x := few(t, shape...)
				if t.Float() {
					x = Random(r, t, shape, d.Domain, 0)
					x.F[r.IntN(x.Size())] = math.NaN()
				}
				rows := several["sort"]([]*Array{x}, op.Sorting{Axis: len(shape) - 1})[0].Array
				queries := specials(t, func(n int) []int { return []int{n} })
				all := New(t, append(shape[:len(shape)-1:len(shape)-1], 50))
				for i := range all.Size() {
					if i%2 == 0 {
						all.put(i, rows, r.IntN(rows.Size()))
					} else {
						all.put(i, queries, r.IntN(queries.Size()))
					}
				}
				add(op.Search{}, rows, all)
				add(op.Search{Right: true}, rows, all)
			}
			x := specials(t, func(n int) []int { return []int{n} })
			rows := several["sort"]([]*Array{x}, op.Sorting{})[0].Array
			add(op.Search{}, rows, x)
			add(op.Search{Right: true}, rows, x)
		case "bincount":
			if t == array.Int64 {
				for _, n := range []int{3, 6000} {
					x := New(t, []int{20000})
					for i := range x.I {
						x.I[i] = r.Int64N(int64(n))
					}
					add(op.Count(n), x)
				}
			}
		case "copy":
			for _, s := range [][]int{{70, 133}, {3, 65, 66}} {
				add(nil, arrays(t, s)...)
			}
		case "reduce_argmax", "reduce_argmin":
			for axis, s := range [][]int{{300, 70}, {5, 700}} {
				x := few(t, s...)
				add(op.Axis(axis), x)
				if t.Float() {
					y := few(t, s...)
					y.F[y.Size()/3], y.F[y.Size()/2] = math.NaN(), math.NaN()
					add(op.Axis(axis), y)
				}
			}
		case "index_select":
			add(op.Axis(0), append(arrays(t, []int{50, 64}), places([]int{40}, 50))...)
			add(op.Axis(1), append(arrays(t, []int{3, 50, 5}), places([]int{40}, 50))...)
			add(op.Axis(1), append(arrays(t, []int{3, 50, 5}), places([]int{4}, 50))...) // few of an array in another layout
		case "index_add":
			to := op.Target{Shape: []int{20, 64}}
			x := arrays(t, []int{70, 64}, []int{20, 64})
			i := places([]int{70}, 20)
			add(to, x[0], i)
			add(to, x[0], i, x[1])
			add(op.Target{Axis: 1, Shape: []int{3, 20}}, append(arrays(t, []int{3, 70}), i)...)
		case "gather":
			add(op.Axis(0), append(arrays(t, []int{40, 30}), places([]int{70, 30}, 40))...)
			add(op.Axis(1), append(arrays(t, []int{40, 30}), places([]int{40, 17}, 30))...)
		case "scatter_sum":
			add(op.Target{Shape: []int{10, 30}}, append(arrays(t, []int{70, 30}), places([]int{70, 30}, 10))...)
			add(op.Target{Axis: 1, Shape: []int{70, 10}}, append(arrays(t, []int{70, 30}), places([]int{70, 30}, 10))...)
		case "scatter_add":
			// Along columns, and along rows; some rows have no places.
			add(op.Axis(0), append(arrays(t, []int{70, 30}), places([]int{70, 30}, 10), arrays(t, []int{10, 31})[0])...)
			add(op.Axis(1), append(arrays(t, []int{70, 30}), places([]int{70, 30}, 1000), arrays(t, []int{70, 1000})[0])...)
			add(op.Axis(1), append(arrays(t, []int{70, 30}), places([]int{70, 30}, 10), arrays(t, []int{71, 10})[0])...)
		case "index_copy":
			add(op.Axis(0), append(arrays(t, []int{70, 64}), places([]int{70}, 90), arrays(t, []int{90, 64})[0])...)
			add(op.Axis(1), append(arrays(t, []int{3, 70, 5}), places([]int{70}, 20), arrays(t, []int{3, 20, 5})[0])...)
		case "scatter":
			add(op.Axis(0), append(arrays(t, []int{70, 30}), places([]int{70, 30}, 10), arrays(t, []int{10, 31})[0])...)
		case "scatter_min", "scatter_max":
			if t.Category() > array.CatFloat {
				continue
			}
			for _, alone := range []bool{false, true} {
				x, base := few(t, 4, 70), few(t, 5, 30)
				if t == array.Bool {
					x, base = arrays(t, x.Shape)[0], arrays(t, base.Shape)[0]
				}
				if t.Float() {
					x.F[3], x.F[100], base.F[10], base.F[40] = math.NaN(), math.NaN(), math.NaN(), math.Inf(1)
				}
				add(op.Extreme{Axis: 1, Alone: alone}, x, places(x.Shape, 30), base)
			}
		case "mask_select", "mask_place", "count_true", "nonzero":
			for _, one := range []int{1, 2, 20} { // one element in this many is true
				mask, n := New(array.Bool, []int{13, 97}), 0
				for i := range mask.I {
					if r.IntN(one) == 0 {
						mask.I[i] = 1
						n++
					}
				}
				switch d.Name {
				case "mask_select":
					add(op.Count(n), append(arrays(t, mask.Shape), mask)...)
				case "mask_place":
					add(nil, append(arrays(t, []int{n}), mask)...)
				case "count_true":
					add(nil, mask)
				default:
					add(op.Count(n), mask)
				}
			}
		}
	}
	return out
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
