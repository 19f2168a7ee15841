package weft_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// A grid is a view as the tests understand it: the positions of its elements in
// the memory, in row-major order.
type grid struct {
	shape []int
	at    []int
}

func newGrid(shape ...int) grid {
	g := grid{shape: shape}
	for i := range array.Size(shape) {
		g.at = append(g.at, i)
	}
	return g
}

// get returns the position of the element with an index.
func (g grid) get(index []int) int {
	k := 0
	for i, n := range g.shape {
		k = k*n + index[i]
	}
	return g.at[k]
}

// gridOf makes a grid of a shape whose element at an index is from(index).
func gridOf(shape []int, from func(index []int) int) grid {
	g := grid{shape: shape}
	index := make([]int, len(shape))
	for range array.Size(shape) {
		g.at = append(g.at, from(index))
		for a := len(shape) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
	return g
}

// pythonRange is range(*slice(start, stop, step).indices(n)); Begin and End stand
// for None.
func pythonRange(start, stop, step, n int) []int {
	bound := func(x, none, lo, hi int) int {
		switch {
		case x == weft.Begin || x == weft.End:
			return none
		case x < 0:
			x += n
		}
		return min(max(x, lo), hi)
	}
	var out []int
	if step > 0 {
		hi := bound(stop, n, 0, n)
		for i := bound(start, 0, 0, n); i < hi; i += step {
			out = append(out, i)
		}
		return out
	}
	lo := bound(stop, -1, -1, n-1)
	for i := bound(start, n-1, -1, n-1); i > lo; i += step {
		out = append(out, i)
	}
	return out
}

// randomView applies one random view to a tensor and to its grid.
func randomView(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	switch r.IntN(8) {
	case 0, 1:
		return randomSlice(r, t, g)
	case 2:
		return randomPermute(r, t, g)
	case 3:
		return randomTranspose(r, t, g)
	case 4:
		return randomExpand(r, t, g)
	case 5, 6:
		return randomReshape(r, t, g)
	default:
		return randomDiagonal(r, t, g)
	}
}

// randomSlice slices t with spans of every kind.
func randomSlice(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	n := len(g.shape)
	var spans []weft.Span
	var pick [][]int // indices taken along each axis of g
	var shape []int
	var source []int // axis of the result -> axis of g, -1 for a new one
	text := "slice"
	for a := range n {
		if r.IntN(6) == 0 && len(shape) < 6 {
			spans = append(spans, weft.NewAxis)
			shape, source = append(shape, 1), append(source, -1)
			text += " new"
		}
		size := g.shape[a]
		switch k := r.IntN(5); {
		case k == 0 && size > 0:
			i := r.IntN(2*size) - size
			spans = append(spans, weft.Index(i))
			pick = append(pick, []int{(i + size) % size})
			text += fmt.Sprint(" ", i)
			continue
		case k == 1:
			spans = append(spans, weft.All)
			pick = append(pick, pythonRange(0, weft.End, 1, size))
			text += " :"
		default:
			start, stop, step := randomRange(r, size)
			spans = append(spans, weft.Range(start, stop, step))
			pick = append(pick, pythonRange(start, stop, step, size))
			text += fmt.Sprintf(" %d:%d:%d", start, stop, step)
		}
		shape, source = append(shape, len(pick[a])), append(source, a)
	}
	h := gridOf(shape, func(index []int) int {
		full := make([]int, n)
		for a := range full {
			if len(pick[a]) > 0 {
				full[a] = pick[a][0]
			}
		}
		for k, a := range source {
			if a >= 0 {
				full[a] = pick[a][index[k]]
			}
		}
		return g.get(full)
	})
	return t.Slice(spans...), h, text
}

// randomPermute permutes the axes of t.
func randomPermute(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	n := len(g.shape)
	order := r.Perm(n)
	shape := make([]int, n)
	for i, a := range order {
		shape[i] = g.shape[a]
	}
	return t.Permute(order...), gridOf(shape, func(index []int) int {
		full := make([]int, n)
		for i, a := range order {
			full[a] = index[i]
		}
		return g.get(full)
	}), fmt.Sprint("permute ", order)
}

// randomTranspose exchanges two axes of t.
func randomTranspose(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	n := len(g.shape)
	if n == 0 {
		return t.T(), g, "T"
	}
	i, j := r.IntN(n), r.IntN(n)
	shape := slices.Clone(g.shape)
	shape[i], shape[j] = shape[j], shape[i]
	return t.Transpose(i-n, j), gridOf(shape, func(index []int) int {
		full := slices.Clone(index)
		full[i], full[j] = full[j], full[i]
		return g.get(full)
	}), fmt.Sprint("transpose ", i, j)
}

// randomExpand expands axes of size 1, and adds one in front.
func randomExpand(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	n := len(g.shape)
	shape := slices.Clone(g.shape)
	for a := range shape {
		if shape[a] == 1 && r.IntN(2) == 0 {
			shape[a] = r.IntN(4)
		}
	}
	front := 0
	if n < 5 {
		front = r.IntN(2)
	}
	if front == 1 {
		shape = append([]int{r.IntN(3) + 1}, shape...)
	}
	return t.Expand(shape...), gridOf(shape, func(index []int) int {
		full := slices.Clone(index[front:])
		for a := range full {
			if g.shape[a] == 1 {
				full[a] = 0
			}
		}
		return g.get(full)
	}), fmt.Sprint("expand ", shape)
}

// randomReshape reshapes t to any factors of its size.
func randomReshape(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	shape := []int{}
	left := len(g.at)
	if left == 0 {
		shape = append(shape, 0, r.IntN(3))
		left = 1
	}
	for left > 1 && len(shape) < 5 {
		d := 1
		for _, p := range r.Perm(left) {
			if left%(p+1) == 0 {
				d = p + 1
				break
			}
		}
		shape = append(shape, d)
		left /= d
	}
	if left > 1 || r.IntN(3) == 0 {
		shape = append(shape, left)
	}
	arg := slices.Clone(shape)
	if len(arg) > 0 && len(g.at) > 0 && r.IntN(2) == 0 {
		arg[r.IntN(len(arg))] = -1
	}
	return t.Reshape(arg...), grid{shape, g.at}, fmt.Sprint("reshape ", arg)
}

// randomDiagonal reads a diagonal of t, or adds an axis where t has fewer than two.
func randomDiagonal(r *rand.Rand, t *weft.Tensor, g grid) (*weft.Tensor, grid, string) {
	n := len(g.shape)
	if n < 2 {
		return t.Unsqueeze(-1), grid{append(slices.Clone(g.shape), 1), g.at}, "unsqueeze"
	}
	k := r.IntN(7) - 3
	rows, cols := g.shape[n-2], g.shape[n-1]
	var cells [][2]int
	for i := range rows {
		if j := i + k; j >= 0 && j < cols {
			cells = append(cells, [2]int{i, j})
		}
	}
	shape := append(slices.Clone(g.shape[:n-2]), len(cells))
	return t.Diagonal(k), gridOf(shape, func(index []int) int {
		full := slices.Clone(index[:n-2])
		c := cells[index[n-2]]
		return g.get(append(full, c[0], c[1]))
	}), fmt.Sprint("diagonal ", k)
}

// randomRange returns a range of an axis, with limits in and beyond it.
func randomRange(r *rand.Rand, size int) (start, stop, step int) {
	bound := func() int {
		switch k := r.IntN(2*size + 8); k {
		case 0:
			return weft.Begin
		case 1:
			return weft.End
		default:
			return k - size - 4
		}
	}
	start, stop, step = bound(), bound(), r.IntN(7)-3
	if step == 0 {
		step = 1
	}
	if step < 0 && start == weft.Begin || step > 0 && start == weft.End {
		start = 0
	}
	if step > 0 && stop == weft.Begin || step < 0 && stop == weft.End {
		stop = 0
	}
	return start, stop, step
}

// Chains of random views show the elements that index arithmetic says, and writes
// through them reach those elements alone.
func TestViewsAgainstIndexModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 1500 {
		rank := r.IntN(4)
		shape := make([]int, rank)
		for i := range shape {
			shape[i] = r.IntN(7)
		}
		g := newGrid(shape...)
		memory := make([]int64, len(g.at))
		for i := range memory {
			memory[i] = int64(i)
		}
		x := weft.FromSlice(memory, append([]int{}, shape...)...)
		if rank == 0 {
			x = weft.FromSlice(memory).Reshape()
		}
		text := fmt.Sprint(shape)
		ours := true // still the memory that we look at
		for range r.IntN(5) {
			var what string
			before := tensortest.View(x).Store
			x, g, what = randomView(r, x, g)
			ours = ours && tensortest.View(x).Store == before
			text += ", " + what
			if !slices.Equal(x.Shape(), g.shape) {
				t.Fatalf("round %d: %s has shape %v, want %v", round, text, x.Shape(), g.shape)
			}
			lo, hi := tensortest.View(x).Span()
			if size := tensortest.View(x).Store.Bytes / 8; lo < 0 || hi > size && lo != hi {
				t.Fatalf("round %d: %s reaches %d to %d of %d elements", round, text, lo, hi, size)
			}
		}
		want := make([]int64, len(g.at))
		for i, p := range g.at {
			want[i] = int64(p)
		}
		if got := weft.Data[int64](x); !slices.Equal(got, want) {
			t.Fatalf("round %d: %s is %v, want %v", round, text, got, want)
		}
		if got := weft.Data[float32](x.To(weft.Float32).Add(0.5)); len(got) > 0 && got[len(got)-1] != float32(want[len(want)-1])+0.5 {
			t.Fatalf("round %d: %s in float32 is %v", round, text, got)
		}
		if got := x.Sum().ItemInt(); got != sumOf(want) {
			t.Fatalf("round %d: %s sums to %d, want %d", round, text, got, sumOf(want))
		}
		if !tensortest.View(x).Writable() || !ours || !(*core.Tensor)(x).Reached() {
			continue
		}
		x.Assign(-1)
		hit := map[int]bool{}
		for _, p := range g.at {
			hit[p] = true
		}
		for i, v := range memory {
			if (v == -1) != hit[i] {
				t.Fatalf("round %d: a write into %s left element %d at %d", round, text, i, v)
			}
		}
	}
}

func sumOf(x []int64) (s int64) {
	for _, v := range x {
		s += v
	}
	return s
}

// What Python prints for list(range(5))[start:stop:step].
func TestSliceAsPython(t *testing.T) {
	x := weft.Arange(5)
	for _, c := range []struct {
		s    weft.Span
		want []int64
	}{
		{weft.Range(1, 4), []int64{1, 2, 3}},
		{weft.Range(-3, -1), []int64{2, 3}},
		{weft.Range(0, weft.End, 2), []int64{0, 2, 4}},
		{weft.Range(weft.End, weft.Begin, -1), []int64{4, 3, 2, 1, 0}},
		{weft.Range(-1, weft.Begin, -2), []int64{4, 2, 0}},
		{weft.Range(3, 0, -1), []int64{3, 2, 1}},
		{weft.Range(10, -10, -3), []int64{4, 1}},
		{weft.Range(-10, 10, 4), []int64{0, 4}},
		{weft.Range(4, 1), []int64{}},
		{weft.Range(1, 4, -1), []int64{}},
		{weft.Range(0, weft.End, math.MaxInt), []int64{0}},
		{weft.Range(weft.End, weft.Begin, math.MinInt), []int64{4}},
		{weft.Range(2, weft.End, math.MaxInt), []int64{2}},
		{weft.All, []int64{0, 1, 2, 3, 4}},
	} {
		if got := weft.Data[int64](x.Slice(c.s)); !slices.Equal(got, c.want) {
			t.Errorf("slice %+v is %v, want %v", c.s, got, c.want)
		}
	}
}

// x[1:] = x[:-1] and its kin read everything before they write.
func TestOverlappingAssignment(t *testing.T) {
	tensortest.EachBackend(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 17, 64, 1000, 20000} {
			for _, shift := range []int{1, 2, 7, 16} {
				if shift >= n {
					continue
				}
				for _, c := range []struct {
					name     string
					dst, src weft.Span
				}{
					{"forward", weft.Range(shift, weft.End), weft.Range(0, n-shift)},
					{"backward", weft.Range(0, n-shift), weft.Range(shift, weft.End)},
					{"reversed", weft.All, weft.Range(weft.End, weft.Begin, -1)},
					{"reversed part", weft.Range(shift, weft.End), weft.Range(n-shift-1, weft.Begin, -1)},
					{"every second", weft.Range(0, n/2), weft.Range(0, n/2*2, 2)},
				} {
					x := weft.Arange(float64(n))
					src := weft.Data[float32](x.Slice(c.src))
					want := weft.Data[float32](x)
					i := 0
					for _, p := range weft.Data[float32](x.Slice(c.dst)) {
						want[int(p)] = src[i]
						i++
					}
					x.Slice(c.dst).Assign(x.Slice(c.src))
					if got := weft.Data[float32](x); !slices.Equal(got, want) {
						t.Fatalf("%s of %d by %d: %.20v", c.name, n, shift, got)
					}
					// The same through arithmetic.
					y := weft.Arange(float64(n))
					base := weft.Data[float32](y)
					i = 0
					for _, p := range weft.Data[float32](y.Slice(c.dst)) {
						base[int(p)] += src[i]
						i++
					}
					y.Slice(c.dst).AddAssign(y.Slice(c.src))
					if got := weft.Data[float32](y); !slices.Equal(got, base) {
						t.Fatalf("%s, added, of %d by %d: %.20v", c.name, n, shift, got)
					}
				}
			}
		}
		m := weft.Arange(20*20).Reshape(20, 20)
		want := weft.Data[int64](m.T())
		if m.Assign(m.T()); !slices.Equal(weft.Data[int64](m), want) {
			t.Error("a matrix assigned its transpose is not its transpose")
		}
		b := weft.Arange(6).Reshape(2, 3)
		if b.Assign(b.At(1)); !slices.Equal(weft.Data[int64](b), []int64{3, 4, 5, 3, 4, 5}) {
			t.Errorf("rows assigned the last one: %v", b)
		}
	})
}

// Reductions of no elements give their identity or NaN, as NumPy's do, whatever
// memory the result gets, over one, two or three axes of size 0 and others.
func TestReductionsOfEmptyTensors(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, shape := range [][]int{{0}, {0, 0}, {0, 0, 0}, {2, 0, 0}, {0, 0, 2}, {0, 2, 0}, {2, 0, 3, 0, 2}, {0, 3}, {3, 0}, {2, 0, 0, 3}} {
		for bits := 1; bits < 1<<len(shape); bits++ {
			var axes, rest []int
			count := 1
			for a, n := range shape {
				if bits>>a&1 == 1 {
					axes = append(axes, a)
					count *= n
				} else {
					rest = append(rest, n)
				}
			}
			some := 1
			for _, n := range rest {
				some *= n
			}
			if count > 0 || some == 0 {
				continue
			}
			for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Int64, weft.Uint8, weft.Bool} {
				for _, flip := range []bool{false, true} {
					x := weft.ZerosOf(d, shape...)
					if flip {
						x = x.T().T().Slice(weft.Range(weft.End, weft.Begin, -1))
					}
					check := func(name string, f func(x *weft.Tensor, axes ...int) *weft.Tensor, want float64) {
						t.Helper()
						// What the result's memory may hold from before.
						for range 4 {
							weft.FullOf(weft.Float64, 7, max(some, 1)).Release()
						}
						y := f(x, axes...)
						got := weft.Data[float64](y.To(weft.Float64))
						if fmt.Sprint(y.Shape()) != fmt.Sprint(append([]int{}, rest...)) {
							t.Errorf("%s of %s%v over %v has shape %v", name, d, shape, axes, y.Shape())
						}
						for _, g := range got {
							if g != want && !(g != g && want != want) {
								t.Errorf("%s of %s%v over %v: got %v, want %v", name, d, shape, axes, got, want)
								break
							}
						}
					}
					check("sum", (*weft.Tensor).Sum, 0)
					check("prod", (*weft.Tensor).Prod, 1)
					check("all", (*weft.Tensor).All, 1)
					check("any", (*weft.Tensor).Any, 0)
					if d.Float() {
						check("mean", (*weft.Tensor).Mean, nan)
						check("var", (*weft.Tensor).Var, nan)
						check("std", (*weft.Tensor).Std, nan)
						check("logsumexp", (*weft.Tensor).LogSumExp, -inf)
					}
					for name, f := range map[string]func(x *weft.Tensor, axes ...int) *weft.Tensor{"max": (*weft.Tensor).Max, "min": (*weft.Tensor).Min} {
						var e *weft.Error
						if err := weft.Try(func() { f(x, axes...) }); !errors.As(err, &e) || e.Kind != weft.Misuse {
							t.Errorf("%s of %s%v over %v: got %v, want a misuse", name, d, shape, axes, err)
						}
					}
				}
			}
		}
	}
}

// An extreme of no elements has no place, even where no result asks for it, as in
// NumPy; softmax and its kin of an empty axis are empty.
func TestEmptyAxes(t *testing.T) {
	for name, f := range map[string]func(){
		"argmax":                func() { weft.Zeros(0).ArgMax() },
		"argmin":                func() { weft.Zeros(2, 0).ArgMin(1) },
		"argmax of empty rows":  func() { weft.Zeros(0, 0).ArgMax(1) },
		"argmax of all":         func() { weft.Zeros(0, 3).ArgMax() },
		"argmax in a formula":   func() { weft.Expr("argmax(x)", weft.Zeros(0)) },
		"max pooling of nobody": func() { weft.Zeros(1, 0, 4).MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Padding: [2]int{1, 1}}) },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Kind != weft.Misuse {
			t.Errorf("%s: got %v, want a misuse", name, err)
		}
	}
	if y := weft.Zeros(0, 3).ArgMax(1); y.Size() != 0 || y.Rank() != 1 {
		t.Errorf("argmax of no rows: %v", y)
	}
	for name, f := range map[string]func(*weft.Tensor) *weft.Tensor{
		"softmax":     func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) },
		"log softmax": func(x *weft.Tensor) *weft.Tensor { return x.LogSoftmax(1) },
	} {
		x := weft.Zeros(3, 0).RequireGrad()
		y := f(x)
		if fmt.Sprint(y.Shape()) != "[3 0]" {
			t.Errorf("%s of [3 0] has shape %v", name, y.Shape())
		}
		y.Sum().Backward()
		if fmt.Sprint(x.Grad().Shape()) != "[3 0]" {
			t.Errorf("gradient of %s of [3 0] has shape %v", name, x.Grad().Shape())
		}
	}
	x := weft.Zeros(3, 0).RequireGrad()
	x.LogSumExp(1).Sum().Backward()
	if fmt.Sprint(x.Grad().Shape()) != "[3 0]" {
		t.Errorf("gradient of logsumexp of [3 0] has shape %v", x.Grad().Shape())
	}
}

// No view is without its storage: where it has elements they lie inside, and where
// it has none it does not point behind the end, whatever windows it went through.
func TestViewsStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	empty := 0
	for range 20000 {
		shape := make([]int, 1+r.IntN(4))
		for i := range shape {
			shape[i] = r.IntN(5)
		}
		x := weft.Zeros(shape...)
		for range 4 {
			n := x.Rank()
			switch r.IntN(5) {
			case 0:
				spans := make([]weft.Span, n)
				for i := range spans {
					spans[i] = weft.Range(r.IntN(12)-6, r.IntN(12)-6, r.IntN(3)-3+4*r.IntN(2))
				}
				x = x.Slice(spans...)
			case 1:
				if n > 1 {
					x = x.Diagonal(r.IntN(9) - 4)
				}
			case 2:
				x = x.T()
			case 3:
				if n > 0 && x.Dim(-1) > 0 {
					x = x.Slice(weft.All).Transpose(0, -1)
					if x.Dim(0) > 0 {
						x = x.At(x.Dim(0) - 1)
					}
				}
			case 4:
				if n < 4 {
					x = x.Unsqueeze(0).Expand(append([]int{r.IntN(3)}, x.Shape()...)...)
				}
			}
			if x.Size() == 0 {
				empty++
			}
			lo, hi := tensortest.View(x).Span()
			if most := tensortest.View(x).Store.Bytes / 4; x.Size() > 0 && (lo < 0 || hi > most) || tensortest.View(x).Offset < 0 || tensortest.View(x).Offset > max(most-1, 0) {
				t.Fatalf("%v: elements %d to %d, offset %d, of %d", x.Shape(), lo, hi, tensortest.View(x).Offset, most)
			}
		}
	}
	if empty < 1000 {
		t.Errorf("only %d empty views", empty)
	}
}

// A pointer behind an empty array lets Go's collector end the process: every
// operation is applied to windows of empty ones, with the collector at work.
func TestEmptyViewsHoldNoStrayPointers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		wide, tall := weft.Zeros(1000, 0), weft.Zeros(0, 1000)
		wide.At(999).Sum()
		wide.Slice(weft.Range(500, weft.End, 3)).Sum(1).Add(1)
		wide.Slice(weft.Range(weft.End, weft.Begin, -1)).Softmax(0)
		wide.Softmax(1)
		wide.Slice(weft.Range(900, 1000)).MatMul(tall.Slice(weft.All, weft.Range(900, 1000)))
		wide.LogSumExp(1)
		tall.T().Slice(weft.Range(999, 1000)).Clone()
		weft.Cat([]*weft.Tensor{wide.Slice(weft.Range(990, weft.End)), wide}, 0).Contiguous()
		tall.Slice(weft.All, weft.Range(999, weft.Begin, -7)).Max(1)
		x := wide.Slice(weft.Range(998, 1000)).Clone().RequireGrad()
		x.At(1).Sum().Add(x.Diagonal(0).Sum()).Backward()
		weft.Data[float32](wide.At(999))
		weft.FromSlice(make([]float32, 8)[8:]).Slice(weft.Range(0, 5)).Exp()
	}
}
