package weft

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/core"
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
		case x == Begin || x == End:
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
func randomView(r *rand.Rand, t *Tensor, g grid) (*Tensor, grid, string) {
	n := len(g.shape)
	switch r.IntN(8) {
	case 0, 1: // a slice with spans of every kind
		var spans []Span
		var pick [][]int // indices taken along each axis of g
		var shape []int
		var source []int // axis of the result -> axis of g, -1 for a new one
		text := "slice"
		for a := range n {
			if r.IntN(6) == 0 && len(shape) < 6 {
				spans = append(spans, NewAxis)
				shape, source = append(shape, 1), append(source, -1)
				text += " new"
			}
			size := g.shape[a]
			switch k := r.IntN(5); {
			case k == 0 && size > 0:
				i := r.IntN(2*size) - size
				spans = append(spans, Index(i))
				pick = append(pick, []int{(i + size) % size})
				text += fmt.Sprint(" ", i)
				continue
			case k == 1:
				spans = append(spans, All)
				pick = append(pick, pythonRange(0, End, 1, size))
				text += " :"
			default:
				bound := func() int {
					switch k := r.IntN(2*size + 8); k {
					case 0:
						return Begin
					case 1:
						return End
					default:
						return k - size - 4
					}
				}
				start, stop, step := bound(), bound(), r.IntN(7)-3
				if step == 0 {
					step = 1
				}
				if step < 0 && start == Begin || step > 0 && start == End {
					start = 0
				}
				if step > 0 && stop == Begin || step < 0 && stop == End {
					stop = 0
				}
				spans = append(spans, Range(start, stop, step))
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
	case 2:
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
	case 3:
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
	case 4: // expand axes of size 1, and add some in front
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
	case 5, 6: // any factors of the size
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
	default:
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
		x := FromSlice(memory, append([]int{}, shape...)...)
		if rank == 0 {
			x = FromSlice(memory).Reshape()
		}
		text := fmt.Sprint(shape)
		ours := true // still the memory that we look at
		for range r.IntN(5) {
			var what string
			before := x.v().Store
			x, g, what = randomView(r, x, g)
			ours = ours && x.v().Store == before
			text += ", " + what
			if !slices.Equal(x.Shape(), g.shape) {
				t.Fatalf("round %d: %s has shape %v, want %v", round, text, x.Shape(), g.shape)
			}
			lo, hi := x.v().Span()
			if size := x.v().Store.Bytes / 8; lo < 0 || hi > size && lo != hi {
				t.Fatalf("round %d: %s reaches %d to %d of %d elements", round, text, lo, hi, size)
			}
		}
		want := make([]int64, len(g.at))
		for i, p := range g.at {
			want[i] = int64(p)
		}
		if got := Data[int64](x); !slices.Equal(got, want) {
			t.Fatalf("round %d: %s is %v, want %v", round, text, got, want)
		}
		if got := Data[float32](x.To(Float32).Add(0.5)); len(got) > 0 && got[len(got)-1] != float32(want[len(want)-1])+0.5 {
			t.Fatalf("round %d: %s in float32 is %v", round, text, got)
		}
		if got := x.Sum().ItemInt(); got != sumOf(want) {
			t.Fatalf("round %d: %s sums to %d, want %d", round, text, got, sumOf(want))
		}
		if !x.v().Writable() || !ours {
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
	x := Arange(5)
	for _, c := range []struct {
		s    Span
		want []int64
	}{
		{Range(1, 4), []int64{1, 2, 3}},
		{Range(-3, -1), []int64{2, 3}},
		{Range(0, End, 2), []int64{0, 2, 4}},
		{Range(End, Begin, -1), []int64{4, 3, 2, 1, 0}},
		{Range(-1, Begin, -2), []int64{4, 2, 0}},
		{Range(3, 0, -1), []int64{3, 2, 1}},
		{Range(10, -10, -3), []int64{4, 1}},
		{Range(-10, 10, 4), []int64{0, 4}},
		{Range(4, 1), []int64{}},
		{Range(1, 4, -1), []int64{}},
		{Range(0, End, math.MaxInt), []int64{0}},
		{Range(End, Begin, math.MinInt), []int64{4}},
		{Range(2, End, math.MaxInt), []int64{2}},
		{All, []int64{0, 1, 2, 3, 4}},
	} {
		if got := Data[int64](x.Slice(c.s)); !slices.Equal(got, c.want) {
			t.Errorf("slice %+v is %v, want %v", c.s, got, c.want)
		}
	}
}

// x[1:] = x[:-1] and its kin read everything before they write.
func TestOverlappingAssignment(t *testing.T) {
	eachBackend(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 17, 64, 1000, 20000} {
			for _, shift := range []int{1, 2, 7, 16} {
				if shift >= n {
					continue
				}
				for _, c := range []struct {
					name     string
					dst, src Span
				}{
					{"forward", Range(shift, End), Range(0, n-shift)},
					{"backward", Range(0, n-shift), Range(shift, End)},
					{"reversed", All, Range(End, Begin, -1)},
					{"reversed part", Range(shift, End), Range(n-shift-1, Begin, -1)},
					{"every second", Range(0, n/2), Range(0, n/2*2, 2)},
				} {
					x := Arange(float64(n))
					src := Data[float32](x.Slice(c.src))
					want := Data[float32](x)
					i := 0
					for _, p := range Data[float32](x.Slice(c.dst)) {
						want[int(p)] = src[i]
						i++
					}
					x.Slice(c.dst).Assign(x.Slice(c.src))
					if got := Data[float32](x); !slices.Equal(got, want) {
						t.Fatalf("%s of %d by %d: %.20v", c.name, n, shift, got)
					}
					// The same through arithmetic.
					y := Arange(float64(n))
					base := Data[float32](y)
					i = 0
					for _, p := range Data[float32](y.Slice(c.dst)) {
						base[int(p)] += src[i]
						i++
					}
					y.Slice(c.dst).AddAssign(y.Slice(c.src))
					if got := Data[float32](y); !slices.Equal(got, base) {
						t.Fatalf("%s, added, of %d by %d: %.20v", c.name, n, shift, got)
					}
				}
			}
		}
		m := Arange(20*20).Reshape(20, 20)
		want := Data[int64](m.T())
		if m.Assign(m.T()); !slices.Equal(Data[int64](m), want) {
			t.Error("a matrix assigned its transpose is not its transpose")
		}
		b := Arange(6).Reshape(2, 3)
		if b.Assign(b.At(1)); !slices.Equal(Data[int64](b), []int64{3, 4, 5, 3, 4, 5}) {
			t.Errorf("rows assigned the last one: %v", b)
		}
	})
}

func TestBroadcast(t *testing.T) {
	for _, c := range []struct{ a, b, want []int }{
		{nil, nil, nil}, {[]int{3}, nil, []int{3}}, {[]int{3}, []int{1}, []int{3}}, {[]int{2, 1}, []int{3}, []int{2, 3}},
		{[]int{4, 1, 3}, []int{2, 1}, []int{4, 2, 3}}, {[]int{0}, []int{1}, []int{0}}, {[]int{0, 3}, []int{3}, []int{0, 3}},
		{[]int{1, 0}, []int{5, 1}, []int{5, 0}}, {[]int{1, 1}, []int{1}, []int{1, 1}},
	} {
		count := func(shape []int) (*Tensor, grid) {
			g := newGrid(shape...)
			return Arange(len(g.at)).Reshape(shape...), g
		}
		x, gx := count(c.a)
		y, gy := count(c.b)
		for _, swap := range []bool{false, true} {
			if swap {
				x, y, gx, gy = y, x, gy, gx
			}
			got := x.Mul(100).Add(y)
			if !slices.Equal(got.Shape(), c.want) {
				t.Fatalf("%v with %v is %v, want %v", c.a, c.b, got.Shape(), c.want)
			}
			pick := func(g grid, index []int) int {
				own := slices.Clone(index[len(index)-len(g.shape):])
				for i := range own {
					if g.shape[i] == 1 {
						own[i] = 0
					}
				}
				return g.get(own)
			}
			want := gridOf(c.want, func(index []int) int { return 100*pick(gx, index) + pick(gy, index) })
			for i, v := range Data[int64](got) {
				if v != int64(want.at[i]) {
					t.Fatalf("%v with %v: element %d is %d, want %d", c.a, c.b, i, v, want.at[i])
				}
			}
		}
	}
}

// The table is that of torch.result_type.
func TestPromotion(t *testing.T) {
	types := []DType{Bool, Uint8, Int32, Int64, Float32, Float64}
	arrays := [][]DType{ // both have dimensions, or neither has
		{Bool, Uint8, Int32, Int64, Float32, Float64},
		{Uint8, Uint8, Int32, Int64, Float32, Float64},
		{Int32, Int32, Int32, Int64, Float32, Float64},
		{Int64, Int64, Int64, Int64, Float32, Float64},
		{Float32, Float32, Float32, Float32, Float32, Float64},
		{Float64, Float64, Float64, Float64, Float64, Float64},
	}
	scalar := [][]DType{ // the second has no dimensions
		{Bool, Uint8, Int32, Int64, Float32, Float64},
		{Uint8, Uint8, Uint8, Uint8, Float32, Float64},
		{Int32, Int32, Int32, Int32, Float32, Float64},
		{Int64, Int64, Int64, Int64, Float32, Float64},
		{Float32, Float32, Float32, Float32, Float32, Float32},
		{Float64, Float64, Float64, Float64, Float64, Float64},
	}
	numbers := []struct {
		x    any
		want []DType
	}{
		{true, []DType{Bool, Uint8, Int32, Int64, Float32, Float64}},
		{2, []DType{Int64, Uint8, Int32, Int64, Float32, Float64}},
		{int64(2), []DType{Int64, Uint8, Int32, Int64, Float32, Float64}},
		{uint8(2), []DType{Int64, Uint8, Int32, Int64, Float32, Float64}},
		{2.5, []DType{Float32, Float32, Float32, Float32, Float32, Float64}},
		{float32(2.5), []DType{Float32, Float32, Float32, Float32, Float32, Float64}},
	}
	for i, a := range types {
		for j, b := range types {
			for _, c := range []struct {
				x, y *Tensor
				want DType
			}{
				{OnesOf(a, 2), OnesOf(b, 2), arrays[i][j]}, {OnesOf(a), OnesOf(b), arrays[i][j]},
				{OnesOf(a, 2), OnesOf(b), scalar[i][j]}, {OnesOf(b), OnesOf(a, 2), scalar[i][j]}, {OnesOf(a, 0), OnesOf(b), scalar[i][j]},
			} {
				if got := c.x.Add(c.y).DType(); got != c.want {
					t.Errorf("%v%v + %v%v is %v, want %v", c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
				}
				if got := Where(OnesOf(Bool), c.x, c.y).DType(); got != c.want {
					t.Errorf("where of %v%v and %v%v is %v, want %v", c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
				}
				if got := c.x.Lt(c.y).DType(); got != Bool {
					t.Errorf("%v < %v is %v", c.x.DType(), c.y.DType(), got)
				}
			}
		}
		for _, n := range numbers {
			if got := OnesOf(a, 2).Add(n.x).DType(); got != n.want[i] {
				t.Errorf("%v + %T is %v, want %v", a, n.x, got, n.want[i])
			}
			if got := OnesOf(a).Mul(n.x).DType(); got != n.want[i] {
				t.Errorf("0-d %v * %T is %v, want %v", a, n.x, got, n.want[i])
			}
		}
		// True division and functions of floats.
		want := a
		if !a.Float() {
			want = Float32
		}
		for name, got := range map[string]DType{"div": OnesOf(a, 2).Div(OnesOf(a, 2)).DType(), "exp": OnesOf(a, 2).Exp().DType(), "div 2": OnesOf(a, 2).Div(2).DType()} {
			if got != want {
				t.Errorf("%s of %v is %v, want %v", name, a, got, want)
			}
		}
		sum := Int64
		if a.Float() {
			sum = a
		}
		if got := OnesOf(a, 2).Sum().DType(); got != sum {
			t.Errorf("sum of %v is %v, want %v", a, got, sum)
		}
	}
}

// Go numbers take the type of the array, rounded once, and may stand on either
// side.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		got  *Tensor
		want float64
	}{
		{Scalar(5).RSub(2), -3}, {ScalarOf(Float64, 4.0).RDiv(1), 0.25}, {OnesOf(Float32).Add(0.1), float64(float32(1) + float32(0.1))},
		{OnesOf(Float64).Add(0.1), 1.1}, {ScalarOf(Uint8, 200).Add(100), 44}, {ScalarOf(Int32, 7).FloorDiv(-2), -4}, {ScalarOf(Int32, 7).Mod(-2), -1},
		{ScalarOf(Int64, 3).Add(1 << 62), 1<<62 + 3}, {OnesOf(Bool).Add(true), 1}, {OnesOf(Bool).Add(2), 3}, {Scalar(3).Pow(2), 9},
		{Scalar(2.0).Pow(-1), 0.5}, {Scalar(3).Maximum(2.5), 3}, {Scalar(1).Clamp(2, 5), 2},
	} {
		if got := c.got.Item(); got != c.want {
			t.Errorf("got %v (%v), want %v", got, c.got.DType(), c.want)
		}
	}
}

func TestConstructors(t *testing.T) {
	for _, c := range []struct {
		x     *Tensor
		dtype DType
		shape []int
		want  any
	}{
		{FromSlice([]float64{1, 2}), Float64, []int{2}, []float64{1, 2}},
		{FromSlice([]int32{1, 2, 3, 4}, 2, 2), Int32, []int{2, 2}, []int32{1, 2, 3, 4}},
		{FromSlice([]uint8{}), Uint8, []int{0}, []uint8{}},
		{From([][]int{{1, 2}, {3, 4}}), Int64, []int{2, 2}, []int64{1, 2, 3, 4}},
		{From([2][3]uint8{{1, 2, 3}, {4, 5, 6}}), Uint8, []int{2, 3}, []uint8{1, 2, 3, 4, 5, 6}},
		{From([][][]bool{{{true}, {false}}}), Bool, []int{1, 2, 1}, []bool{true, false}},
		{From([][]float32{}), Float32, []int{0, 0}, []float32{}},
		{From([][]float64{{}, {}}), Float64, []int{2, 0}, []float64{}},
		{From(2.5), Float64, nil, []float64{2.5}},
		{Zeros(2), Float32, []int{2}, []float32{0, 0}},
		{Zeros(), Float32, nil, []float32{0}},
		{OnesOf(Bool, 2), Bool, []int{2}, []bool{true, true}},
		{FullOf(Float32, 2.75, 2), Float32, []int{2}, []float32{2.75, 2.75}},
		{FullOf(Uint8, 255, 1), Uint8, []int{1}, []uint8{255}},
		{ZerosLike(Arange(2)), Int64, []int{2}, []int64{0, 0}},
		{OnesLike(Arange(2).T()), Int64, []int{2}, []int64{1, 1}},
		{FullLike(Zeros(1, 2), 3), Float32, []int{1, 2}, []float32{3, 3}},
		{Eye(2), Float32, []int{2, 2}, []float32{1, 0, 0, 1}},
		{Eye(0), Float32, []int{0, 0}, []float32{}},
		{Scalar(true), Bool, nil, []bool{true}},
		{Scalar(3), Int64, nil, []int64{3}},
		{Scalar(1.5), Float32, nil, []float32{1.5}},
		{Arange(3), Int64, []int{3}, []int64{0, 1, 2}},
		{Arange(2, 5), Int64, []int{3}, []int64{2, 3, 4}},
		{Arange(5, 0, -2), Int64, []int{3}, []int64{5, 3, 1}},
		{Arange(3, 3), Int64, []int{0}, []int64{}},
		{Arange(3, 1), Int64, []int{0}, []int64{}},
		{Arange(0.0, 1.0, 0.25), Float32, []int{4}, []float32{0, 0.25, 0.5, 0.75}},
		{Linspace(0, 1, 5), Float32, []int{5}, []float32{0, 0.25, 0.5, 0.75, 1}},
		{Linspace(2, -2, 1), Float32, []int{1}, []float32{2}},
		{Linspace(0, 1, 0), Float32, []int{0}, []float32{}},
	} {
		if c.x.DType() != c.dtype || !slices.Equal(c.x.Shape(), c.shape) {
			t.Errorf("%#v is %v%v, want %v%v", c.x, c.x.DType(), c.x.Shape(), c.dtype, c.shape)
			continue
		}
		var got any
		switch c.dtype {
		case Bool:
			got = Data[bool](c.x)
		case Uint8:
			got = Data[uint8](c.x)
		case Int32:
			got = Data[int32](c.x)
		case Int64:
			got = Data[int64](c.x)
		case Float32:
			got = Data[float32](c.x)
		case Float64:
			got = Data[float64](c.x)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	// Nested slices are copied, a flat one is the memory itself.
	rows := [][]float32{{1, 2}}
	flat := []float32{1, 2}
	a, b := From(rows), FromSlice(flat)
	rows[0][0], flat[0] = 9, 9
	if a.At(0, 0).Item() != 1 || b.At(0).Item() != 9 {
		t.Error("From aliases its argument, or FromSlice copies it")
	}
	b.Slice(Index(1)).Assign(7)
	if flat[1] != 7 {
		t.Error("a write into the tensor does not reach the slice")
	}
}

func TestReadingBack(t *testing.T) {
	x := Arange(6).Reshape(2, 3)
	data := Data[int64](x)
	data[0] = 100
	if x.At(0, 0).ItemInt() != 0 {
		t.Error("Data lends memory")
	}
	dst := make([]int64, 6)
	CopyTo(x.T(), dst)
	if !slices.Equal(dst, []int64{0, 3, 1, 4, 2, 5}) {
		t.Errorf("CopyTo of a transpose: %v", dst)
	}
	Borrow(x, func(d []int64) { d[5] = 50 })
	if x.At(-1, -1).ItemInt() != 50 {
		t.Error("a write into borrowed memory does not show")
	}
	Borrow(x.At(1), func(d []int64) {
		if !slices.Equal(d, []int64{3, 4, 50}) {
			t.Errorf("borrowed row: %v", d)
		}
	})
	Borrow(Zeros(0, 2), func(d []float32) {
		if len(d) != 0 {
			t.Errorf("borrowed nothing: %v", d)
		}
	})
	if got := ScalarOf(Int64, 1<<53+1).ItemInt(); got != 1<<53+1 {
		t.Errorf("ItemInt: %d", got)
	}
	if got := From([][]float32{{2.5}}).Item(); got != 2.5 {
		t.Errorf("Item: %v", got)
	}
	if x.Dim(-1) != 3 || x.Rank() != 2 || x.Size() != 6 || !x.IsContiguous() || x.T().IsContiguous() || !slices.Equal(x.T().Strides(), []int{1, 3}) {
		t.Error("Dim, Rank, Size, IsContiguous or Strides")
	}
	if x.Contiguous() != x || !x.T().Contiguous().IsContiguous() || x.To(Int64) != x {
		t.Error("Contiguous or To copies without need, or does not copy")
	}
}

func TestConversion(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		from *Tensor
		to   DType
		want []float64
	}{
		{From([]float64{2.9, -2.9, nan, 1e300, -1e300}), Int32, []float64{2, -2, 0, math.MaxInt32, math.MinInt32}},
		{From([]float32{3e9, -3e9, float32(nan)}), Int32, []float64{math.MaxInt32, math.MinInt32, 0}},
		{From([]float64{1e300, -1e300, nan}), Int64, []float64{math.MaxInt64, math.MinInt64, 0}},
		{From([]float64{-1, 256, 3.7, nan}), Uint8, []float64{0, 255, 3, 0}},
		{From([]int64{1<<32 + 5, -1}), Int32, []float64{5, -1}},
		{From([]int64{257, -1}), Uint8, []float64{1, 255}},
		{From([]float64{0, 0.1, nan}), Bool, []float64{0, 1, 1}},
		{From([]bool{true, false}), Float64, []float64{1, 0}},
		{From([]uint8{255}), Float32, []float64{255}},
		{From([]float64{1.0 / 3}), Float32, []float64{float64(float32(1.0 / 3))}},
	} {
		eachBackend(t, func(t *testing.T) {
			got := c.from.To(c.to)
			if got.DType() != c.to {
				t.Fatalf("To(%v) gives %v", c.to, got.DType())
			}
			for i := range c.want {
				if x := got.At(i).Item(); x != c.want[i] {
					t.Errorf("%v of %v is %v, want %v", c.to, c.from.At(i), x, c.want[i])
				}
			}
		})
	}
}

// Arrays without elements, and without dimensions, go everywhere.
func TestEmptyAndZeroDimensional(t *testing.T) {
	e := Zeros(0, 3)
	for name, c := range map[string]struct {
		x    *Tensor
		want []int
	}{
		"add": {e.Add(1), []int{0, 3}}, "add tensor": {e.Add(Ones(3)), []int{0, 3}}, "exp": {e.Exp(), []int{0, 3}}, "sum rows": {e.Sum(1), []int{0}},
		"sum columns": {e.Sum(0), []int{3}}, "softmax": {e.Softmax(1), []int{0, 3}}, "transpose": {e.T(), []int{3, 0}},
		"matmul": {e.T().MatMul(Zeros(0, 2)), []int{3, 2}}, "matmul rows": {e.MatMul(Zeros(3, 2)), []int{0, 2}}, "cat": {Cat([]*Tensor{e, Ones(2, 3)}, 0), []int{2, 3}},
		"stack": {Stack([]*Tensor{e, e}, 0), []int{2, 0, 3}}, "pad": {e.Pad(1, 1, 0, 0, 0), []int{1, 3}}, "slice": {e.Slice(All, Range(0, 2)), []int{0, 2}},
		"clone": {e.Clone(), []int{0, 3}}, "to": {e.To(Int32), []int{0, 3}}, "where": {Where(e.Gt(0), e, 1), []int{0, 3}}, "mean columns": {e.Mean(0), []int{3}},
		"flatten": {e.Flatten(0), []int{0}}, "max rows": {e.Max(1), []int{0}}, "argmax rows": {e.ArgMax(1), []int{0}}, "logsumexp": {e.LogSumExp(1), []int{0}},
		"assign": {e.Clone().AddAssign(1), []int{0, 3}}, "0-d": {Scalar(2.0).Add(Scalar(3.0)), nil}, "0-d sum": {Scalar(2.0).Sum(), nil},
		"0-d T": {Scalar(2.0).T(), nil}, "0-d reshape": {Scalar(2.0).Reshape(1, 1), []int{1, 1}}, "0-d expand": {Scalar(2.0).Expand(2, 0), []int{2, 0}},
		"0-d flatten": {Scalar(2.0).Flatten(0), []int{1}}, "0-d stack": {Stack([]*Tensor{Scalar(1.0), Scalar(2.0)}, 0), []int{2}}, "0-d argmax": {Scalar(2.0).ArgMax(), nil},
		"0-d softplus": {Scalar(2.0).Softplus(), nil}, "0-d at": {Scalar(2.0).At(), nil}, "0-d new axis": {Scalar(2.0).Slice(NewAxis, NewAxis), []int{1, 1}},
		"0-d var": {Scalar(2.0).Var(), nil}, "0-d cumulative": {Scalar(2.0).LogSumExp(), nil},
	} {
		if !slices.Equal(c.x.Shape(), c.want) {
			t.Errorf("%s has shape %v, want %v", name, c.x.Shape(), c.want)
		}
		if n := len(Data[float64](c.x.To(Float64))); n != c.x.Size() {
			t.Errorf("%s has %d elements", name, n)
		}
	}
	for name, c := range map[string][2]float64{
		"sum": {e.Sum().Item(), 0}, "prod": {e.Prod().Item(), 1}, "all": {e.All().Item(), 1}, "any": {e.Any().Item(), 0},
		"matmul over nothing": {e.T().MatMul(Zeros(0, 2)).Sum().Item(), 0},
		"dot":                 {Zeros(0).MatMul(Zeros(0)).Item(), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s of nothing is %v, want %v", name, c[0], c[1])
		}
	}
	if m := Zeros(0).Mean().Item(); m == m {
		t.Errorf("mean of nothing is %v, want NaN", m)
	}
	// Gradients of nothing.
	w := Zeros(0, 3).RequireGrad()
	w.Mul(w).Sum().Backward()
	if g := w.Grad(); g == nil || !slices.Equal(g.Shape(), []int{0, 3}) {
		t.Errorf("gradient of an empty leaf: %v", g)
	}
}

func TestJoining(t *testing.T) {
	a, b := Arange(4).Reshape(2, 2), Arange(2.0).Reshape(2, 1)
	c := Cat([]*Tensor{a, b, a}, -1)
	if c.DType() != Float32 || !slices.Equal(Data[float32](c), []float32{0, 1, 0, 0, 1, 2, 3, 1, 2, 3}) {
		t.Errorf("cat: %#v", c)
	}
	s := Stack([]*Tensor{a, a.T()}, -1)
	if !slices.Equal(Data[int64](s), []int64{0, 0, 1, 2, 2, 1, 3, 3}) {
		t.Errorf("stack: %#v", s)
	}
	p := a.Pad(9, 1, 0, 0, 2)
	if !slices.Equal(Data[int64](p), []int64{9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}) {
		t.Errorf("pad: %#v", p)
	}
}

// Selection by a mask and its gradient, with a broadcast mask and another layout;
// adding rows to an array that is not zero.
func TestMaskSelect(t *testing.T) {
	for _, d := range []DType{Bool, Uint8, Int32, Int64, Float32, Float64} {
		x := FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3).To(d)
		got := x.T().MaskSelect(FromSlice([]bool{true, false, true}, 3, 1))
		want := FromSlice([]int64{1, 4, 3, 6}).To(d)
		if got.Eq(want).All().ItemInt() == 0 {
			t.Errorf("%s: %v, want %v", d, got, want)
		}
	}
	x := FromSlice([]float32{1, 2, 3, 4}, 2, 2).RequireGrad()
	m := FromSlice([]bool{true, false, false, true}, 2, 2)
	y := x.MaskSelect(m)
	y.Mul(y).Sum().Backward()
	if g := Data[float32](x.Grad()); g[0] != 2 || g[1] != 0 || g[2] != 0 || g[3] != 8 {
		t.Errorf("gradient %v", g)
	}
	b := FromSlice([]float32{10, 20, 30, 40}, 2, 2).RequireGrad()
	z := b.IndexAdd(0, FromSlice([]int64{1, 1}), x)
	if v := Data[float32](z); v[0] != 10 || v[1] != 20 || v[2] != 34 || v[3] != 46 {
		t.Errorf("index_add %v", v)
	}
	z.Mul(z).Sum().Backward()
	if g := Data[float32](b.Grad()); g[0] != 20 || g[3] != 92 {
		t.Errorf("gradient of the base %v", g)
	}
}

// Views and small writes take little memory: no plan, no kernel, no tensor for a number.
func TestViewsAllocate(t *testing.T) {
	x, y := Rand(1000), Rand(10, 100)
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"x[3]":        {1, func() { y.At(3) }},
		"x[10:26]":    {2, func() { x.Slice(Range(10, 26)) }},
		"reshape":     {3, func() { x.Reshape(10, 100) }},
		"x[3, 4] = 1": {1, func() { y.Set(1.5, 3, 4) }},
		"x[10:20]= 0": {2, func() { x.Slice(Range(10, 20)).Assign(0) }},
		"x[:] = 0":    {0, func() { x.Zero() }},
		"zeros":       {4, func() { Zeros(16) }},
	} {
		before := core.Plans.Stats().Made
		if n := testing.AllocsPerRun(100, c.f); n > c.most {
			t.Errorf("%s: %v allocations, want %v", name, n, c.most)
		}
		if n := core.Plans.Stats().Made - before; n != 0 {
			t.Errorf("%s makes %d plans", name, n)
		}
	}
}
