package exec_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/cpu/tile"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/plan"
)

// attentionCase is a geometry of attention: 2 x 3 heads unless heads says otherwise.
type attentionCase struct {
	heads                      []int
	queries, keys, width, wide int
	causal                     bool
	mask                       array.DType // Invalid for none
	fault                      float64     // what stands in q, k, v and the gradient at a place; 0 for nothing
	double, turned             bool        // float64; rows are not contiguous
	tiny                       int         // of q, k and v, from 1: numbers about the least above 0; products round to 0 and -0
	drop                       float64
}

// arguments returns the gradient of the result, q, k, v and the mask.
func (c attentionCase) arguments() (list []*array.View) {
	r := rand.New(rand.NewPCG(uint64(c.queries), uint64(c.keys)))
	d := array.Float32
	if c.double {
		d = array.Float64
	}
	n := array.Size(c.heads)
	add := func(d array.DType, rows, cols int, value func() float64) *array.View {
		data := make([]float64, n*rows*cols+1) // room for any type
		v := &array.View{Store: array.NewStorage(unsafe.Pointer(&data[0]), 8*len(data), data), DType: d, Shape: append(slices.Clone(c.heads), rows, cols)}
		v.Strides = array.RowMajor(v.Shape)
		if k := len(v.Shape); c.turned {
			v.Strides[k-1], v.Strides[k-2] = rows, 1
		}
		for i := range n * rows * cols {
			switch x := value(); d {
			case array.Float32:
				unsafe.Slice((*float32)(v.Store.Host()), n*rows*cols)[i] = float32(x)
			case array.Float64:
				data[i] = x
			default:
				unsafe.Slice((*byte)(v.Store.Host()), n*rows*cols)[i] = byte(x)
			}
		}
		list = append(list, v)
		return v
	}
	at := 0
	value := func() float64 {
		if at++; c.fault != 0 && at%97 == 96 {
			return c.fault
		}
		x := r.NormFloat64()
		if k := len(list); k > 0 && k == c.tiny {
			x *= math.SmallestNonzeroFloat32
		}
		return x
	}
	add(d, c.queries, c.wide, value)
	add(d, c.queries, c.width, value)
	add(d, c.keys, c.width, value)
	add(d, c.keys, c.wide, value)
	switch c.mask {
	case array.Bool:
		add(array.Bool, c.queries, c.keys, func() float64 { return float64(r.IntN(2)) })
	case array.Float32, array.Float64:
		add(d, c.queries, c.keys, func() float64 {
			if r.IntN(3) == 0 {
				return math.Inf(-1)
			}
			return r.NormFloat64()
		})
	}
	for _, word := range []uint64{1 << 63 / 5, 1<<33 + 7} { // seed and number of the draw
		if c.drop > 0 {
			list = append(list, &array.View{Store: array.NewStorage(unsafe.Pointer(&word), 8, &word), DType: array.Int64})
		}
	}
	return list
}

// run computes attention and its gradients on a backend, by the routine or the formula.
func (c attentionCase) run(t *testing.T, isa jit.ISA, threads int, routine bool) [][]uint64 {
	t.Helper()
	dev, args := cpu.New(isa), c.arguments()
	model := *dev.Model()
	if model.Scores = 0; routine {
		model.Scores = 1
	}
	g := ir.New()
	var x []*ir.Node
	var sigs []plan.Sig
	for i, v := range args {
		x, sigs = append(x, g.Input(i, v.DType, v.Shape)), append(sigs, plan.SigOf(v))
	}
	y := op.Apply(op.Attention, op.Attending{Scale: 0.4, Causal: c.causal, Drop: c.drop}, x[1:]...)
	outs := append([]*ir.Node{y}, op.Gradient([]*ir.Node{y}, x[:1], x[1:4])...)
	p := plan.Build(outs, sigs, nil, &model)
	if has := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Node != nil && s.Node.Op == op.Attention }); has != routine && op.Scores(y) > 0 {
		t.Fatalf("%+v: the plan has the routine: %t", c, has)
	}
	k, err := exec.Compile(p, dev)
	if err != nil {
		t.Fatal(err)
	}
	defer par.SetThreads(par.SetThreads(threads))
	res := make([]array.View, len(outs))
	if err := k.Run(t.Context(), nil, args, nil, res); err != nil {
		t.Fatal(err)
	}
	list := make([][]uint64, len(res))
	for i, v := range res {
		for j := range v.Size() {
			var bits uint64
			at := unsafe.Add(v.Store.Host(), (v.Offset+j)*v.DType.Size())
			if c.double {
				bits = canonical(*(*float64)(at), math.Float64bits(*(*float64)(at)))
			} else {
				bits = canonical(float64(*(*float32)(at)), uint64(math.Float32bits(*(*float32)(at))))
			}
			list[i] = append(list[i], bits)
		}
	}
	return list
}

// canonical returns bits, which x has, or 1 for any NaN.
func canonical(x float64, bits uint64) uint64 {
	if x != x {
		return 1
	}
	return bits
}

// TestAttentionKeepsBits has the bits of the formula, interpreted on one thread, in the routine: on
// each backend, with any number of threads, for lengths around strips and blocks, under masks, where
// numbers are not finite or overflow, and of any layout.
func TestAttentionKeepsBits(t *testing.T) {
	hot, cold := tile.ThreadHot, tile.ThreadCold
	defer func() { tile.ThreadHot, tile.ThreadCold = hot, cold }()
	tile.ThreadHot, tile.ThreadCold = 0, 0 // small work is threaded too
	six := []int{2, 3}
	cases := []attentionCase{
		{heads: six, queries: 1, keys: 1, width: 1, wide: 1, causal: true},
		{heads: six, queries: 5, keys: 3, width: 4, wide: 2, causal: true, mask: array.Bool},
		{heads: six, queries: 3, keys: 9, width: 4, wide: 7, mask: array.Float32},
		{heads: []int{7}, queries: 33, keys: 34, width: 3, wide: 5, causal: true, double: true},
		{heads: []int{5}, queries: 20, keys: 70, width: 9, wide: 4, mask: array.Float64, double: true, turned: true},
		{heads: six, queries: 17, keys: 19, width: 8, wide: 8, turned: true, mask: array.Bool},
		{queries: 255, keys: 257, width: 4, wide: 3, causal: true},
		{queries: 257, keys: 255, width: 3, wide: 4, causal: true, mask: array.Bool},
		{heads: []int{3}, queries: 513, keys: 100, width: 2, wide: 2, causal: true},
		{queries: 530, keys: 520, width: 5, wide: 6, causal: true, drop: 0.1},
		{queries: 330, keys: 650, width: 3, wide: 20, causal: true, double: true, turned: true},
		{queries: 1, keys: 700, width: 8, wide: 8},
		{queries: 40, keys: 4200, width: 2, wide: 1},
		{heads: six, queries: 70, keys: 80, width: 4, wide: 4, causal: true, fault: math.Inf(1)},
		{heads: six, queries: 70, keys: 80, width: 4, wide: 4, causal: true, fault: math.NaN()},
		{heads: six, queries: 70, keys: 80, width: 4, wide: 4, causal: true, fault: 1e30},
		{heads: six, queries: 70, keys: 80, width: 4, wide: 4, causal: true, fault: 1e-42},
		{heads: six, queries: 5, keys: 7, width: 4, wide: 4, causal: true, tiny: 2},
		{heads: six, queries: 5, keys: 7, width: 4, wide: 4, causal: true, tiny: 3},
		{heads: six, queries: 33, keys: 35, width: 4, wide: 3, causal: true, drop: 0.3},
		{heads: []int{3}, queries: 9, keys: 40, width: 4, wide: 3, mask: array.Float64, double: true, drop: 0.9},
		{queries: 258, keys: 131, width: 4, wide: 3, mask: array.Bool, drop: 0.1},
		{heads: six, queries: 7, keys: 5, width: 2, wide: 2, drop: 1},
		{heads: six, queries: 70, keys: 80, width: 4, wide: 4, causal: true, drop: 0.2, fault: math.Inf(-1)},
		{heads: six, queries: 4, keys: 0, width: 4, wide: 3},
		{heads: six, queries: 0, keys: 4, width: 4, wide: 3},
		{heads: six, queries: 4, keys: 5, width: 0, wide: 3, causal: true},
		{heads: six, queries: 4, keys: 5, width: 3, wide: 0, causal: true},
		{heads: []int{0, 2}, queries: 4, keys: 5, width: 3, wide: 2},
	}
	for _, c := range cases {
		want := c.run(t, jit.Portable, 1, false)
		for _, isa := range jit.ISAs() {
			for _, threads := range []int{1, 2, 3, 64} {
				got := c.run(t, isa, threads, true)
				for i := range want {
					for j := range want[i] {
						if got[i][j] != want[i][j] {
							t.Errorf("%+v: %s, %d threads: element %d of result %d has bits %#x, want %#x", c, isa, threads, j, i, got[i][j], want[i][j])
							break
						}
					}
				}
			}
		}
	}
}
