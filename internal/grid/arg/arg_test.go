package arg_test

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"weft/half"
	"weft/internal/array"
	"weft/internal/grid/arg"
	"weft/internal/grid/gridtest"
	"weft/internal/op"
)

// compare returns the order of two elements, which are not NaN, and whether each is NaN.
func compare(d array.DType, x, y []byte) (order int, xNaN, yNaN bool) {
	number := func(b []byte) (int64, uint64, float64) {
		var w [8]byte
		copy(w[:], b)
		u := binary.LittleEndian.Uint64(w[:])
		shift := 64 - 8*d.Size()
		i, f := int64(u<<shift)>>shift, 0.0
		switch d {
		case array.Float16:
			f = float64(half.Float16(u).Float32())
		case array.BFloat16:
			f = float64(half.BFloat16(u).Float32())
		case array.Float32:
			f = float64(math.Float32frombits(uint32(u)))
		case array.Float64:
			f = math.Float64frombits(u)
		}
		return i, u, f
	}
	i, u, f := number(x)
	j, v, g := number(y)
	switch {
	case d.Float() && f == g:
		return 0, false, false
	case d.Float():
		return cmp.Compare(f, g), math.IsNaN(f), math.IsNaN(g)
	case d.Unsigned() || d == array.Bool:
		return cmp.Compare(u, v), false, false
	}
	return cmp.Compare(i, j), false, false
}

// choose returns the place of the first extreme of n elements.
func choose(d array.DType, greatest bool, n int, at func(i int) []byte) int64 {
	best := 0
	for i := 1; i < n; i++ {
		order, nan, was := compare(d, at(i), at(best))
		if nan && !was || !nan && !was && order != 0 && order > 0 == greatest {
			best = i
		}
	}
	return int64(best)
}

var dtypes = []array.DType{array.Bool, array.Uint8, array.Int8, array.Uint16, array.Int16, array.Float16, array.BFloat16,
	array.Uint32, array.Int32, array.Float32, array.Uint64, array.Int64, array.Float64}

// elements returns elements of few different values, extreme ones among them.
func elements(chance *rand.Rand, d array.DType, n int) []byte {
	size := d.Size()
	sign := uint64(1) << (8*size - 1)
	pool := []uint64{0, 1, 2, sign, sign + 1, sign - 1, ^uint64(0), sign + 2}
	switch inf := map[array.DType]uint64{array.Float16: 0x7C00, array.BFloat16: 0x7F80, array.Float32: 0x7F800000, array.Float64: 0x7FF << 52}[d]; {
	case d == array.Bool:
		pool = pool[:2]
	case d.Float():
		pool = []uint64{0, sign, 1, sign + 1, inf / 2, sign + inf/2, inf - 1, sign + inf - 1, inf, sign + inf}
		if chance.IntN(3) == 0 {
			pool = append(pool, inf+1, sign-1, sign+inf+1)
		}
	}
	pool = pool[:1+chance.IntN(len(pool))] // lines of one value too
	b := make([]byte, 0, n*size+8)
	rare := 1 + chance.IntN(2)*n/5 // elements that are not the first of the pool are rare, or most are
	for range n {
		x := pool[0]
		if chance.IntN(rare) == 0 {
			x = pool[chance.IntN(len(pool))]
		}
		b = binary.LittleEndian.AppendUint64(b, x)[:len(b)+size]
	}
	return b
}

var sizes = []int{1, 2, 3, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 160}

// randomView returns an array of some layout: dense or with gaps, transposed, backward, broadcast.
func randomView(chance *rand.Rand, d array.DType, shape []int) (v array.View, memory []byte) {
	order := chance.Perm(len(shape))
	if chance.IntN(2) == 0 {
		for i := range order {
			order[i] = i
		}
	}
	v = array.View{DType: d, Shape: shape, Strides: make([]int, len(shape))}
	span := 1
	for i := len(order) - 1; i >= 0; i-- {
		a := order[i]
		if v.Strides[a] = span; chance.IntN(8) == 0 {
			v.Strides[a] = 0
			continue
		}
		if chance.IntN(4) == 0 {
			span = span*shape[a] + chance.IntN(3)
		} else {
			span *= shape[a]
		}
		if chance.IntN(6) == 0 {
			v.Offset += (shape[a] - 1) * v.Strides[a]
			v.Strides[a] = -v.Strides[a]
		}
	}
	if chance.IntN(4) == 0 {
		v.Offset++
	}
	return v, elements(chance, d, span+1)
}

// check compares the places of extremes of random arrays.
func check(t *testing.T, d *gridtest.GPU, chance *rand.Rand, dt array.DType, shape []int, axis int, greatest bool) {
	t.Helper()
	v, memory := randomView(chance, dt, shape)
	checkView(t, d, v, memory, axis, greatest)
}

func checkView(t *testing.T, d *gridtest.GPU, v array.View, memory []byte, axis int, greatest bool) {
	t.Helper()
	dt, shape := v.DType, v.Shape
	name := "reduce_argmin"
	if greatest {
		name = "reduce_argmax"
	}
	v.Store = d.Put(memory)
	got, err := d.Call(op.Lookup(name), op.Axis(axis), v)
	if err != nil {
		t.Fatal(err)
	}
	at := make([]int, len(shape))
	for i := range len(got) / 8 {
		rest := i
		for a := len(shape) - 1; a >= 0; a-- {
			if a != axis {
				at[a] = rest % shape[a]
				rest /= shape[a]
			}
		}
		want := choose(dt, greatest, shape[axis], func(k int) []byte {
			at[axis] = k
			p := v.Offset
			for a, s := range v.Strides {
				p += at[a] * s
			}
			return memory[p*dt.Size():][:dt.Size()]
		})
		at[axis] = 0
		if g := int64(binary.LittleEndian.Uint64(got[8*i:])); g != want {
			t.Fatalf("%s of %s %v along %d, strides %v: %d at %d, want %d", name, dt, shape, axis, v.Strides, g, i, want)
		}
	}
}

// randomShape returns a shape of some dimensions. One of them may be long.
func randomShape(chance *rand.Rand) []int {
	shape := make([]int, 1+chance.IntN(4))
	left := 12000
	for _, a := range chance.Perm(len(shape)) {
		shape[a] = max(1, min(sizes[chance.IntN(len(sizes))], left))
		left /= shape[a]
	}
	if len(shape) < 3 && chance.IntN(2) == 0 {
		shape[chance.IntN(len(shape))] = []int{1023, 1024, 1025, 8192, 8209}[chance.IntN(5)]
	}
	return shape
}

// Each type, along each axis of arrays of random layout.
func TestExtremesOfRandomArrays(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 1))
	d := gridtest.New(t)
	for i := range 24 * len(dtypes) {
		shape := randomShape(chance)
		if array.Size(shape) > 20000 {
			shape = shape[:1]
		}
		check(t, d, chance, dtypes[i%len(dtypes)], shape, chance.IntN(len(shape)), i/len(dtypes)%2 == 0)
	}
}

// Each way to look at lines: columns, short and long rows, parts of both, more axes than a launch has.
func TestExtremesByEachKind(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 2))
	d := gridtest.New(t)
	for _, dt := range []array.DType{array.Int8, array.Float16, array.Float32, array.Float64} {
		for _, c := range []struct {
			shape []int
			axis  int
		}{{[]int{300, 40}, 0}, {[]int{40, 33}, 1}, {[]int{40, 10}, 1}, {[]int{3, 1500}, 1}, {[]int{10000}, 0}, {[]int{12292}, 0}, {[]int{2, 8448}, 1}, {[]int{6, 64}, 1}, {[]int{7, 64}, 1}, {[]int{5, 64}, 1}, {[]int{2, 3, 2, 3, 2, 3, 40}, 3}} {
			check(t, d, chance, dt, c.shape, c.axis, chance.IntN(2) == 0)
		}
	}
}

// Lines that are not aligned to vectors.
func TestExtremesOfMisalignedLines(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 5))
	d := gridtest.New(t)
	for _, v := range []array.View{{Strides: []int{65, 1}}, {Strides: []int{64, 1}, Offset: 1}, {Strides: []int{68, 1}}} {
		v.DType, v.Shape = array.Float32, []int{6, 64}
		checkView(t, d, v, elements(chance, v.DType, 6*68), 1, true)
	}
}

// Beyond the limits of a launch there are several, and parts of lines.
func TestExtremesBeyondOneLaunch(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 3))
	d := gridtest.New(t)
	for i := range 30 {
		back := arg.SetLimits(1+chance.IntN(40), 16*(1+chance.IntN(8)))
		shape := make([]int, 1+chance.IntN(3))
		for a := range shape {
			shape[a] = 1 + chance.IntN(12)
		}
		axis := chance.IntN(len(shape))
		shape[axis] = 1 + chance.IntN(300)
		check(t, d, chance, dtypes[i%len(dtypes)], shape, axis, i%2 == 0)
		back()
	}
}

// checkItems compares the places of extremes in the columns of items of random length.
func checkItems(t *testing.T, d *gridtest.GPU, chance *rand.Rand, dt array.DType, greatest bool) {
	t.Helper()
	items, columns, longest := 1+chance.IntN(20), []int{1, 2, 5, 32, 40}[chance.IntN(5)], []int{2, 40, 200}[chance.IntN(3)]
	offsets := []int64{int64(chance.IntN(3))}
	for range items {
		offsets = append(offsets, offsets[len(offsets)-1]+int64(chance.IntN(longest)))
	}
	rows := int(offsets[items]) + chance.IntN(3)
	memory := elements(chance, dt, rows*columns)
	off := make([]byte, 0, 8*len(offsets))
	for _, o := range offsets {
		off = binary.LittleEndian.AppendUint64(off, uint64(o))
	}
	name := map[bool]string{false: "segment_argmin", true: "segment_argmax"}[greatest]
	got, err := d.Call(op.Lookup(name), nil, d.Dense(dt, memory, rows, columns), d.Dense(array.Int64, off, len(offsets)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		n := int(offsets[i+1] - offsets[i])
		for j := range columns {
			want := int64(-1)
			if n > 0 {
				want = choose(dt, greatest, n, func(k int) []byte {
					return memory[((int(offsets[i])+k)*columns+j)*dt.Size():][:dt.Size()]
				})
			}
			if g := int64(binary.LittleEndian.Uint64(got[8*(i*columns+j):])); g != want {
				t.Fatalf("%s of %s, offsets %v, %d columns: %d in item %d, column %d, want %d", name, dt, offsets, columns, g, i, j, want)
			}
		}
	}
}

// Items of a list, empty ones too, also in several launches.
func TestExtremesOfItems(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 4))
	d := gridtest.New(t)
	for i := range 4 * len(dtypes) {
		back := func() {}
		if i%3 == 0 {
			back = arg.SetLimits(1+chance.IntN(60), 16)
		}
		checkItems(t, d, chance, dtypes[i%len(dtypes)], i/len(dtypes)%2 == 0)
		back()
	}
}
