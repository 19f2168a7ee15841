package op_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/plan"
)

// inMemory returns a contiguous view of elements.
func inMemory[T int64 | float64 | byte](d array.DType, shape []int, data []T) *array.View {
	data = append(data, 0) // not without memory
	n := (len(data) - 1) * d.Size()
	return &array.View{Store: array.NewStorage(unsafe.Pointer(&data[0]), n, data), DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// compute runs a graph of inputs in the interpreter.
func compute(t *testing.T, outs []*ir.Node, ins []*array.View) [][]float64 {
	t.Helper()
	dev := cpu.New(jit.Portable)
	sigs := make([]plan.Sig, len(ins))
	for i, v := range ins {
		sigs[i] = plan.SigOf(v)
	}
	c, err := exec.Compile(plan.Build(outs, sigs, nil, dev.Model()), dev)
	if err != nil {
		t.Fatal(err)
	}
	views := make([]array.View, len(outs))
	if err := c.Run(t.Context(), nil, ins, nil, views); err != nil {
		t.Fatal(err)
	}
	list := make([][]float64, len(outs))
	for i := range views {
		v := &views[i]
		bytes := unsafe.Slice((*byte)(v.Store.Host()), v.Store.Bytes)
		for j := range v.Size() { // in order of the elements
			at := v.Offset
			for axis := len(v.Shape) - 1; axis >= 0; axis-- {
				at += j % v.Shape[axis] * v.Strides[axis]
				j /= v.Shape[axis]
			}
			list[i] = append(list[i], exec.Element(v.DType, bytes[at*v.DType.Size():]))
		}
	}
	return list
}

// arguments returns arguments of a sample: float64 for floats, no two values alike.
func arguments(r *rand.Rand, d *op.Def, s op.Sample) []*array.View {
	lo, hi := d.Domain[0], d.Domain[1]
	if lo == hi {
		lo, hi = -3, 3
	}
	var ins []*array.View
	for i, shape := range s.Shapes {
		n, last := array.Size(shape), i == len(s.Shapes)-1
		dtype := array.Float64
		if s.DTypes != nil && !s.DTypes[i].Float() {
			dtype = s.DTypes[i]
		}
		if s.Ascending && last {
			dtype = array.Int64
		}
		switch dtype {
		case array.Float64:
			x := make([]float64, n)
			for j := range x {
				x[j] = lo + (hi-lo)*(0.02+0.96*r.Float64())
			}
			if s.Fit != nil {
				s.Fit(i, shape, x)
			}
			ins = append(ins, inMemory(dtype, shape, x))
		case array.Bool:
			x := make([]byte, n)
			for j := range x {
				x[j] = byte(r.IntN(2))
			}
			ins = append(ins, inMemory(dtype, shape, x))
		case array.Int64:
			most := s.Max
			x := make([]int64, n)
			for j := range x {
				x[j] = int64(r.IntN(max(most, 1)))
			}
			if s.Ascending && last {
				slices.Sort(x)
			}
			ins = append(ins, inMemory(dtype, shape, x))
		default:
			return nil
		}
	}
	return ins
}

// gradientSample returns what an operation is differentiated with; false if it has no sample of floats.
func gradientSample(d *op.Def) (op.Sample, bool) {
	if d.Class == op.Pointwise && d.Rule != op.Keep || d == op.Rsqrt {
		s := op.Sample{Shapes: [][]int{{2, 3}, {3}, {2, 1}}[:d.Arity]}
		if d == op.PowInt {
			s.Attrs = op.Power(3)
		}
		return s, true
	}
	for _, s := range d.Samples {
		n := 0
		for _, shape := range s.Shapes {
			n = max(n, array.Size(shape))
		}
		if n > 0 && n <= 700 && !s.Symmetric && !slices.ContainsFunc(s.Shapes, func(x []int) bool { return array.Size(x) == 0 }) {
			return s, true
		}
	}
	return op.Sample{}, false
}

// elsewhere are operations with a VJP that has no sample here, and where it is tested.
var elsewhere = map[string]string{
	"branch":           "its functions are attributes: internal/optest",
	"loop":             "its function is an attribute: internal/optest",
	"kernel":           "its body is an attribute: internal/optest",
	"cast":             "its sample gives another type",
	"complex":          "complex numbers: TestComplexGradientsOfOperations",
	"real":             "complex numbers: TestComplexGradientsOfOperations",
	"imag":             "complex numbers: TestComplexGradientsOfOperations",
	"fft":              "complex numbers: package fft",
	"rfft":             "its result is complex: package fft",
	"irfft":            "complex numbers: package fft",
	"mask_select":      "the number of results is an attribute that depends on the mask: TestMaskSelect",
	"mask_place":       "as mask_select",
	"cholesky":         "its argument is a definite matrix: internal/optest",
	"max_pool2d_place": "its arguments depend on each other: second gradients in internal/optest",
	"max_pool2d_pick":  "as max_pool2d_place",
}

// The gradient of each operation is its slope, by central differences in float64.
func TestVJPs(t *testing.T) {
	checked := map[*op.Def]bool{}
	for _, d := range op.Table() {
		s, ok := gradientSample(d)
		if !ok || d.VJP == nil && d.Class != op.Composite {
			continue
		}
		ins := arguments(rand.New(rand.NewPCG(7, 9)), d, s)
		if ins == nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			g := ir.New()
			var args, wrt []*ir.Node
			var floats []int
			for i, v := range ins {
				args = append(args, g.Input(i, v.DType, v.Shape))
				if v.DType == array.Float64 {
					wrt, floats = append(wrt, args[i]), append(floats, i)
				}
			}
			var ys, dys []*ir.Node
			all, weights := slices.Clone(ins), [][]float64{}
			r := rand.New(rand.NewPCG(3, 4))
			for _, y := range op.ApplyAll(d, s.Attrs, args...) {
				if y.DType != array.Float64 {
					continue
				}
				w := make([]float64, y.Size())
				for i := range w {
					w[i] = 0.5 + r.Float64()
				}
				ys, dys, weights = append(ys, y), append(dys, g.Input(len(all), y.DType, y.Shape)), append(weights, w)
				all = append(all, inMemory(y.DType, y.Shape, w))
			}
			if len(ys) == 0 || len(wrt) == 0 {
				t.Skip("SKIPPED: no floats")
			}
			var outs []*ir.Node
			var of []int
			for k, n := range op.Gradient(ys, dys, wrt) {
				if n != nil {
					outs, of = append(outs, n), append(of, floats[k])
				}
			}
			if len(outs) == 0 {
				t.Skip("SKIPPED: no gradient")
			}
			checked[d] = true
			for k, got := range compute(t, outs, all) {
				x := unsafe.Slice((*float64)(ins[of[k]].Store.Host()), len(got))
				for i := 0; i < len(x); i += 1 + len(x)/5 {
					const h = 1e-5
					old := x[i]
					x[i] = old + h
					above := compute(t, ys, ins)
					x[i] = old - h
					want, size := 0.0, 0.0
					for i, y := range compute(t, ys, ins) {
						for j, below := range y {
							if a := above[i][j]; a != below && (a == a || below == below) { // not inf-inf
								want += (a - below) * weights[i][j] / (2 * h)
								size += math.Abs(a)
							}
						}
					}
					x[i] = old
					if !(math.Abs(got[i]-want) <= 1e-5*(1+math.Abs(want)+size)) {
						t.Errorf("argument %d, element %d: gradient %v, by differences %v", of[k], i, got[i], want)
					}
				}
			}
		})
	}
	for _, d := range op.Table() {
		if _, other := elsewhere[d.Name]; d.VJP != nil && !checked[d] != other {
			t.Errorf("%s is checked here: %t, is in the list of operations that are not: %t", d.Name, checked[d], other)
		}
	}
}
