package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/mem"
)

// A poolGeometry is the windows of a pooling over last axes, one number for each axis.
type poolGeometry struct {
	name                          string
	window, stride, pad, dilation []int // nil stands for the default
	ceil                          bool
}

func single(p *int) []int {
	if p == nil {
		return nil
	}
	return []int{*p}
}

func pair(p *[2]int) []int {
	if p == nil {
		return nil
	}
	return p[:]
}

func triple(p *[3]int) []int {
	if p == nil {
		return nil
	}
	return p[:]
}

// filled returns g with defaults filled in. It panics if a number is out of range.
func (g poolGeometry) filled() poolGeometry {
	n := len(g.window)
	if n < 1 || n > 3 {
		array.Failf(g.name, "Window", "has %d sizes, want 1 to 3", n)
	}
	if g.stride == nil {
		g.stride = g.window
	}
	if g.pad == nil {
		g.pad = make([]int, n)
	}
	if g.dilation == nil {
		g.dilation = ones(n)
	}
	for _, f := range []struct {
		name  string
		list  []int
		least int
	}{{"Window", g.window, 1}, {"Stride", g.stride, 1}, {"Padding", g.pad, 0}, {"Dilation", g.dilation, 1}} {
		if len(f.list) != n {
			array.Failf(g.name, f.name, "has %d numbers, Window %d", len(f.list), n)
		}
		if k := slices.Min(f.list); k < f.least || slices.Max(f.list) > math.MaxInt32 {
			array.Failf(g.name, f.name, "is %v, want numbers from %d to %d", f.list, f.least, math.MaxInt32)
		}
	}
	return g
}

// of checks x, whose last axes may be empty or not, and returns g filled in, the sizes of the last axes and the numbers of windows.
func (g poolGeometry) of(x *weft.Tensor, empty bool) (filled poolGeometry, in, out []int) {
	g = g.filled()
	n := len(g.window)
	floats(g.name, "x", x)
	if x.Rank() < n {
		array.Failf(g.name, "x", "has shape %s, want %d axes or more", array.ShapeString(sizes(x)), n)
	}
	in = sizes(x)[x.Rank()-n:]
	for i, size := range in {
		k := (g.window[i]-1)*g.dilation[i] + 1
		if g.pad[i] >= g.window[i] {
			array.Failf(g.name, "Padding", "is %d, not less than the window %d", g.pad[i], g.window[i])
		}
		room := size + 2*g.pad[i] - k
		if room < 0 || size == 0 && !empty {
			array.Failf(g.name, "Window", "of %d elements does not fit in %d with padding %d", k, size, g.pad[i])
		}
		m := room/g.stride[i] + 1
		if g.ceil {
			// The last window begins inside x or the padding before it.
			if m = (room+g.stride[i]-1)/g.stride[i] + 1; (m-1)*g.stride[i] >= size+g.pad[i] {
				m--
			}
		}
		out = append(out, m)
	}
	return g, in, out
}

// padded surrounds x with elements so that all windows lie inside, where the plain padding is not
// enough.
func (g poolGeometry) padded(x *weft.Tensor, in, out []int, fill float64) (y *weft.Tensor, pad []int) {
	pads := make([]int, 2*(x.Rank()-len(in)))
	more := false
	for i, size := range in {
		end := (out[i]-1)*g.stride[i] + g.window[i] - size - g.pad[i]
		more = more || end > g.pad[i]
		pads = append(pads, g.pad[i], max(end, 0))
	}
	if !more {
		return x, g.pad
	}
	return x.Pad(fill, pads...), make([]int, len(in))
}

// staged applies a pooling over two axes to the last axes of x: the last two at once, the one before
// them next.
func (g poolGeometry) staged(x *weft.Tensor, pad []int, pool func(x *weft.Tensor, o weft.PoolOpts) *weft.Tensor) *weft.Tensor {
	n := len(g.window)
	w, s, p := g.window, g.stride, pad
	if n == 1 {
		return own(pool(x.Unsqueeze(-2), weft.PoolOpts{Window: [2]int{1, w[0]}, Stride: &[2]int{1, s[0]}, Padding: [2]int{0, p[0]}}).Squeeze(-2))
	}
	y := pool(x, weft.PoolOpts{Window: [2]int(w[n-2:]), Stride: new([2]int(s[n-2:])), Padding: [2]int(p[n-2:])})
	if n == 2 {
		return y
	}
	last := sizes(y)[y.Rank()-2:]
	lead := slices.Clone(sizes(y)[:y.Rank()-2])
	y = pool(y.Reshape(append(slices.Clone(lead), array.Size(last))...), weft.PoolOpts{Window: [2]int{w[0], 1}, Stride: &[2]int{s[0], 1}, Padding: [2]int{p[0], 0}})
	lead[len(lead)-1] = y.Dim(-2)
	return own(y.Reshape(append(lead, last...)...))
}

// max pools the greatest elements.
func (g poolGeometry) max(x *weft.Tensor) *weft.Tensor {
	defer array.Named(g.name).End()
	g, in, out := g.of(x, false)
	if slices.Max(g.dilation) > 1 {
		values, _ := g.maxWithIndices(x)
		return values
	}
	// The first of equal elements in each stage is the first one of all.
	y, pad := g.padded(x, in, out, math.Inf(-1))
	return g.staged(y, pad, (*weft.Tensor).MaxPool2d)
}

// mean pools means.
func (g poolGeometry) mean(x *weft.Tensor, excludePad bool, divisor *int) *weft.Tensor {
	defer array.Named(g.name).End()
	if divisor != nil && *divisor < 1 {
		array.Failf(g.name, "Divisor", "is %d, want 1 or more", *divisor)
	}
	g, in, out := g.of(x, true)
	padded, pad := g.padded(x, in, out, 0)
	y := g.staged(padded, pad, (*weft.Tensor).AvgPool2d)
	full := array.Size(g.window)
	switch {
	case divisor != nil:
		return y.Mul(float64(full) / float64(*divisor))
	case !g.ceil && (!excludePad || slices.Max(g.pad) == 0):
		return y
	}
	factors := []float64{float64(full)}
	for i, size := range in {
		var next []float64
		for _, f := range factors {
			for k := range out[i] {
				from := k*g.stride[i] - g.pad[i]
				to := min(from+g.window[i], size+g.pad[i])
				if excludePad {
					from, to = max(from, 0), min(to, size)
				}
				next = append(next, f/float64(to-from))
			}
		}
		factors = next
	}
	return y.Mul(x.Device().From(factors).To(x.DType()).Reshape(out...))
}

// maxWithIndices pools the greatest elements and their places.
func (g poolGeometry) maxWithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	defer array.Named(g.name).End()
	g, in, out := g.of(x, false)
	axes := make([][][]int, len(in))
	for i, size := range in {
		for k := range out[i] {
			var at []int
			for j := range g.window[i] {
				p := k*g.stride[i] - g.pad[i] + j*g.dilation[i]
				if p < 0 || p >= size {
					p = -1
				}
				at = append(at, p)
			}
			axes[i] = append(axes[i], at)
		}
	}
	return greatest(g.name, x, axes)
}

// greatest returns the greatest element of each window of the last axes, and its place in these
// axes flattened. axes has the positions of each window along each axis, -1 outside.
func greatest(name string, x *weft.Tensor, axes [][][]int) (values, index *weft.Tensor) {
	parts, places, out := gathered(name, x, axes, math.Inf(-1))
	values, at := parts.MaxWithIndex(-1)
	lead := sizes(x)[:x.Rank()-len(axes)]
	// [windows, 1 or more elements] by window and element
	m, k := places.Dim(0), places.Dim(1)
	flat := at.To(weft.Int64).Add(x.Device().Arange(m).Mul(k))
	index = places.Reshape(m*k).IndexSelect(0, flat.Reshape(flat.Size()))
	shape := slices.Concat(lead, out)
	return own(values.Reshape(shape...)), own(index.Reshape(shape...))
}

// gathered copies windows of the last axes of x: [..., windows, elements], with their places in
// these axes flattened, [windows, elements], and the numbers of windows along each axis. What is
// outside is fill, with the place 0.
func gathered(name string, x *weft.Tensor, axes [][][]int, fill float64) (parts, places *weft.Tensor, out []int) {
	n := len(axes)
	in := sizes(x)[x.Rank()-n:]
	m, k := 1, 1
	for _, a := range axes {
		out = append(out, len(a))
		m, k = m*len(a), k*len(a[0])
	}
	lead := slices.Clone(sizes(x)[:x.Rank()-n])
	shape := append(lead, m, k)
	array.CheckShape(name, shape, weft.Float64)
	if err := mem.CheckHeap(9 * m * k); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: name, Msg: "no memory for the places of its windows", Err: err})
	}
	at, inside, whole := make([]int64, 0, m*k), make([]bool, 0, m*k), true
	window, element := make([]int, n), make([]int, n)
	for range m {
		for range k {
			place, ok := 0, true
			for i, a := range axes {
				p := a[window[i]][element[i]]
				ok = ok && p >= 0
				place = place*in[i] + p
			}
			if !ok {
				place, whole = 0, false
			}
			at, inside = append(at, int64(place)), append(inside, ok)
			count(element, func(i int) int { return len(axes[i][0]) })
		}
		count(window, func(i int) int { return len(axes[i]) })
	}
	dev := x.Device()
	places = dev.From(at)
	rows := x.Reshape(append(slices.Clone(lead), array.Size(in))...)
	parts = rows.IndexSelect(len(lead), places).Reshape(shape...)
	if !whole {
		parts = weft.Where(dev.From(inside).Reshape(m, k), parts, fill)
	}
	return parts, places.Reshape(m, k), out
}

// count adds 1 to a number whose digit i has size(i) values, the last one fastest.
func count(digits []int, size func(i int) int) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]++; digits[i] < size(i) {
			return
		}
		digits[i] = 0
	}
}

// adaptive checks x and the sizes of a result, and reports whether they divide the sizes of x.
func adaptive(name string, x *weft.Tensor, size []*int) (in, out []int, even bool) {
	floats(name, "x", x)
	n := len(size)
	if x.Rank() < n || slices.Contains(sizes(x)[x.Rank()-n:], 0) {
		array.Failf(name, "x", "has shape %s, want %d axes or more that are not empty", array.ShapeString(sizes(x)), n)
	}
	in, even = sizes(x)[x.Rank()-n:], true
	for i, p := range size {
		m := array.Or(p, in[i])
		if m < 1 {
			array.Failf(name, "Size", "is %d, want 1 or more", m)
		}
		out = append(out, m)
		even = even && in[i]%m == 0
	}
	return in, out, even
}

func adaptiveAvg(name string, x *weft.Tensor, size []*int) *weft.Tensor {
	defer array.Named(name).End()
	in, out, even := adaptive(name, x, size)
	if even {
		g := poolGeometry{name: name}
		for i := range in {
			g.window = append(g.window, in[i]/out[i])
		}
		g.stride = g.window
		return g.staged(x, make([]int, len(in)), (*weft.Tensor).AvgPool2d)
	}
	y := x
	for i, n := range in {
		if out[i] != n {
			y = means(name, y, x.Rank()-len(in)+i, out[i], n)
		}
	}
	return y
}

func adaptiveMax(name string, x *weft.Tensor, size []*int) *weft.Tensor {
	defer array.Named(name).End()
	in, out, even := adaptive(name, x, size)
	if !even {
		values, _ := adaptiveMaxIndices(name, x, size)
		return values
	}
	g := poolGeometry{name: name}
	for i := range in {
		g.window = append(g.window, in[i]/out[i])
	}
	return g.max(x)
}

func adaptiveMaxIndices(name string, x *weft.Tensor, size []*int) (values, index *weft.Tensor) {
	defer array.Named(name).End()
	in, out, _ := adaptive(name, x, size)
	array.CheckShape(name, append(slices.Clone(sizes(x)[:x.Rank()-len(in)]), out...), x.DType())
	axes := make([][][]int, len(in))
	for i, n := range in {
		most := (n-1)/out[i] + 2
		bytes := 8 * array.CheckShape(name, []int{out[i], most + 3}, weft.Float64) // with the headers of slices
		if err := mem.CheckHeap(bytes); err != nil {
			panic(&array.Error{Kind: array.OutOfMemory, Op: name, Arg: "Size", Msg: "no memory for the places of its windows", Err: err})
		}
		places := slices.Repeat([]int{-1}, out[i]*most)
		axes[i] = make([][]int, out[i])
		for k := range axes[i] {
			at := places[k*most:][:most:most]
			for j, p := 0, k*n/out[i]; p < ((k+1)*n+out[i]-1)/out[i]; j, p = j+1, p+1 {
				at[j] = p
			}
			axes[i][k] = at
		}
	}
	return greatest(name, x, axes)
}
