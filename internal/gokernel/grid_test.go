package gokernel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	. "weft/internal/gokernel"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/kernel"
)

const (
	rows, cols = 5, 37
	halo       = 4
)

// A grid is a float64 array that a kernel reads: as a whole, or near, with a halo around.
type grid struct {
	data  []float64
	shape []int
}

func newGrid(r *rand.Rand, shape ...int) grid {
	n := 1
	for _, k := range shape {
		n *= k
	}
	g := grid{make([]float64, n), shape}
	for i := range g.data {
		g.data[i] = r.NormFloat64()
	}
	return g
}

// run runs an instance for a result of rows by cols on all backends: arrays gives the
// argument of each array parameter, scalars of others, rows by cols elements.
func run(t *testing.T, inst *Instance, arrays map[int]grid, scalars map[int][]float64, check func(backend string, out [][]float64)) {
	t.Helper()
	for _, o := range inst.Obligations() {
		if err := o.Check([]int{rows, cols}, func(p int) []int { return arrays[p].shape }); err != nil {
			t.Fatal(err)
		}
	}
	k := &gridProgram{
		b:      loop.NewBuilder(inst.Name(), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1),
		arrays: arrays, scalars: scalars, windows: map[int]op.Access{},
	}
	e := &op.Emit{B: k.b, Window: func(i int) op.Access { return k.windows[i] }}
	var xs []func() loop.Value
	for i, in := range inst.Inputs() {
		xs = append(xs, k.input(i, in))
	}
	var stores []int
	for _, d := range inst.Results() {
		if d != array.Float64 {
			t.Fatal("results are float64 here")
		}
		x := make([]float64, rows*cols)
		k.out = append(k.out, x)
		stores = append(stores, k.b.Buf(d, true, loop.Any, loop.Unit))
		k.bufs = append(k.bufs, gridBuffer{unsafe.Pointer(&x[0]), [2]int{cols * 8, 8}})
	}
	k.b.Pass(func() {
		for _, x := range xs {
			v := loop.NoValue
			if x != nil {
				v = x()
			}
			e.X = append(e.X, v)
		}
		for i, v := range inst.EmitKernel(e) {
			k.b.Store(stores[i], v)
		}
	})
	p, err := k.b.Done()
	if err != nil {
		t.Fatalf("%v\n%s", err, k.b.Program())
	}
	k.run(t, p, check)
}

// A gridProgram is a loop program for a result of rows by cols, with its memory.
type gridProgram struct {
	b       *loop.Builder
	arrays  map[int]grid
	scalars map[int][]float64
	windows map[int]op.Access // of inputs that are read as a whole or around an element
	bufs    []gridBuffer
	words   []uint64 // of the program's scalars
	out     [][]float64
}

// A gridBuffer is where a buffer begins, with its strides in bytes.
type gridBuffer struct {
	at      unsafe.Pointer
	strides [2]int
}

// scalar adds a scalar to the program.
func (k *gridProgram) scalar(x int) loop.Value {
	k.words = append(k.words, uint64(x))
	return k.b.Scalar(k.b.ScalarArg(loop.I64))
}

// input returns what makes the value of an input in the pass, nil if it has none.
func (k *gridProgram) input(i int, in Input) func() loop.Value {
	switch in.Kind {
	case Argument:
		if g, ok := k.arrays[in.Param]; ok {
			return k.array(i, in, g)
		}
		buf := k.b.Buf(array.Float64, false, loop.Any, loop.Unit)
		k.bufs = append(k.bufs, gridBuffer{unsafe.Pointer(&k.scalars[in.Param][0]), [2]int{cols * 8, 8}})
		return func() loop.Value { return k.b.Load(buf) }
	case Index:
		return func() loop.Value { return k.b.Index(in.Axis) }
	case Extent:
		v := k.scalar([]int{rows, cols}[in.Axis])
		return func() loop.Value { return v }
	case DimOf:
		v := k.scalar(k.arrays[in.Param].shape[in.Axis])
		return func() loop.Value { return v }
	case Flat:
		return func() loop.Value {
			return k.b.Add(k.b.Mul(k.b.Index(0), k.b.Int(loop.I64, cols)), k.b.Index(1))
		}
	case Seed:
		v := k.scalar(99)
		return func() loop.Value { return v }
	case Draw:
		v := k.scalar(7)
		return func() loop.Value { return v }
	}
	return nil
}

// array adds the buffer of an array, for an element of it or for a window.
func (k *gridProgram) array(i int, in Input, g grid) func() loop.Value {
	strides := make([]int, len(g.shape))
	n := 1
	for a := len(strides) - 1; a >= 0; a-- {
		strides[a] = n
		n *= g.shape[a]
	}
	if in.Role == Near {
		at := halo*strides[0] + halo
		for a, d := range in.At {
			at += d * strides[a]
		}
		buf := k.b.Buf(array.Float64, false, loop.Any, loop.Unit)
		k.bufs = append(k.bufs, gridBuffer{unsafe.Pointer(&g.data[at]), [2]int{strides[0] * 8, 8}})
		if in.At != nil {
			return func() loop.Value { return k.b.Load(buf) }
		}
		k.windows[i] = op.Access{Buf: buf, Strides: []loop.Value{k.scalar(strides[0]), k.scalar(1)}, Extents: []loop.Value{k.scalar(rows), k.scalar(cols)}}
		return nil
	}
	w := op.Access{Buf: k.b.Buf(array.Float64, false, loop.Zero, loop.Zero)}
	k.bufs = append(k.bufs, gridBuffer{at: unsafe.Pointer(&g.data[0])})
	for a := range g.shape {
		w.Strides, w.Extents = append(w.Strides, k.scalar(strides[a])), append(w.Extents, k.scalar(g.shape[a]))
	}
	k.windows[i] = w
	return nil
}

// run runs the program on all backends.
func (k *gridProgram) run(t *testing.T, p *loop.Program, check func(backend string, out [][]float64)) {
	t.Helper()
	for name, run := range backends(t, p) {
		f := new(loop.Frame)
		f.Word[p.ExtentWord(0)], f.Word[p.ExtentWord(1)] = rows, cols
		for i, w := range k.words {
			f.Word[p.ScalarWord(i)] = w
		}
		for i, q := range k.bufs {
			f.Ptr[i] = q.at
			f.Word[p.StrideWord(i, 0)], f.Word[p.StrideWord(i, 1)] = uint64(q.strides[0]), uint64(q.strides[1])
		}
		for _, o := range k.out {
			clear(o)
		}
		run(f)
		check(name, k.out)
	}
}

func instance(t *testing.T, name string, args ...array.DType) *Instance {
	t.Helper()
	f, err := source(t).Func(name)
	if err != nil {
		t.Fatal(err)
	}
	i, err := f.Instantiate(args)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// elements calls f for each element of a result and compares what the kernel gave.
func compare(t *testing.T, out [][]float64, backend string, f func(i, j int) []float64) {
	t.Helper()
	for i := range rows {
		for j := range cols {
			for k, want := range f(i, j) {
				if got := out[k][i*cols+j]; !sameFloat(got, want) {
					t.Fatalf("on %s: result %d at %d,%d is %v, as Go %v", backend, k, i, j, got, want)
				}
			}
		}
	}
}

func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	padded := newGrid(r, rows+2*halo, cols+2*halo)
	near := func(i, j int) kernel.Near2[float64] {
		return kernel.Near2[float64]{Data: padded.data, Shape: [2]int(padded.shape), Place: [2]int{i + halo, j + halo}}
	}
	weights := newGrid(r, 3, 3)
	for name, f := range map[string]func(i, j int) float64{
		"jacobi": func(i, j int) float64 { return jacobi(near(i, j)) },
		"box":    func(i, j int) float64 { return box(near(i, j)) },
		"far9":   func(i, j int) float64 { return far9(near(i, j)) },
		"weighted": func(i, j int) float64 {
			return weighted(near(i, j), kernel.Array2[float64]{Data: weights.data, Shape: [2]int{3, 3}})
		},
		"median": func(i, j int) float64 { return median(near(i, j)) },
	} {
		arrays := map[int]grid{0: padded}
		args := []array.DType{array.Float64}
		if name == "weighted" {
			arrays[1] = weights
			args = append(args, array.Float64)
		}
		inst := instance(t, name, args...)
		check := func(backend string, out [][]float64) {
			t.Helper()
			compare(t, out, name+" "+backend, func(i, j int) []float64 { return []float64{f(i, j)} })
		}
		run(t, inst, arrays, nil, check)
		if s := inst.Split(); s != nil && len(s.Inputs()) < 12 {
			run(t, s, arrays, nil, check)
		}
	}
}

func TestLoads(t *testing.T) {
	for _, c := range []struct {
		name      string
		constant  bool
		n         int
		low, high []int
	}{
		{"jacobi", true, 4, []int{-1, -1}, []int{1, 1}},
		{"box", true, 9, []int{-1, -1}, []int{1, 1}},
		{"far9", false, 0, []int{-4, -4}, []int{4, 4}},
	} {
		o := instance(t, c.name, array.Float64).Loads()[0]
		if o.Constant != c.constant || len(o.At) != c.n || !equalInts(o.Low, c.low) || !equalInts(o.High, c.high) {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
	if o := instance(t, "anywhere", array.Float64, array.Int64).Loads()[0]; o.Constant || o.Low != nil {
		t.Errorf("anywhere: %+v", o)
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	g := newGrid(r, 4, 6)
	x, y := make([]float64, rows*cols), make([]float64, rows*cols)
	for i := range x {
		x[i], y[i] = r.NormFloat64()*6, r.NormFloat64()*9
	}
	sh := [2]int{4, 6}
	inst := instance(t, "sample", array.Float64, array.Float64, array.Float64, array.Float64, array.Float64)
	run(t, inst, map[int]grid{0: g, 1: g, 2: g}, map[int][]float64{3: x, 4: y}, func(backend string, out [][]float64) {
		compare(t, out, backend, func(i, j int) []float64 {
			n := i*cols + j
			a, b, c := sample(kernel.Clamped2[float64]{Data: g.data, Shape: sh}, kernel.Wrapped2[float64]{Data: g.data, Shape: sh}, kernel.Zeroed2[float64]{Data: g.data, Shape: sh}, x[n], y[n])
			return []float64{a, b, c}
		})
	})
	m, v := newGrid(r, rows, 9), newGrid(r, 9, cols)
	inst = instance(t, "dot", array.Float64, array.Float64)
	run(t, inst, map[int]grid{1: m, 2: v}, nil, func(backend string, out [][]float64) {
		compare(t, out, backend, func(i, j int) []float64 {
			return []float64{dot(kernel.Elem{Place: []int{i, j}, Shape: []int{rows, cols}}, kernel.Array2[float64]{Data: m.data, Shape: [2]int{rows, 9}}, kernel.Array2[float64]{Data: v.data, Shape: [2]int{9, cols}})}
		})
	})
	// The obligations do not hold for fewer rows.
	bad := 0
	for _, o := range inst.Obligations() {
		if err := o.Check([]int{rows, cols}, func(p int) []int { return []int{4, cols} }); err != nil {
			bad++
			if !strings.Contains(err.Error(), "^") {
				t.Error(err)
			}
		}
	}
	if bad == 0 {
		t.Error("a short array was not noticed")
	}
}

func TestElem(t *testing.T) {
	inst := instance(t, "noisy")
	run(t, inst, nil, nil, func(backend string, out [][]float64) {
		compare(t, out, backend, func(i, j int) []float64 {
			e := kernel.Elem{Place: []int{i, j}, Shape: []int{rows, cols}, Seed: 99, Draw: 7}
			a, b, c, d := noisy(e)
			if got := out[2][i*cols+j]; math.Abs(got-c) > 1e-6*math.Abs(c) {
				t.Fatalf("on %s: normal %v, as Go %v", backend, got, c)
			}
			if got := out[3][i*cols+j]; math.Abs(got-d) > 1e-14*math.Abs(d) {
				t.Fatalf("on %s: normal %v, as Go %v", backend, got, d)
			}
			return []float64{a, b}
		})
	})
}
