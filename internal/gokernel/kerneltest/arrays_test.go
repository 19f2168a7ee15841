package kerneltest_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"weft"
	"weft/internal/gokernel/kerneltest"
	"weft/kernel"
)

// kernelSource is the folder of package weft/kernel.
const kernelSource = "../../../kernel"

// An operand is an argument of a kernel of arrays: a tensor that broadcasts to rows and
// columns, or a whole array.
type operand struct {
	tensor *weft.Tensor
	at     func(i, j int) any // as the evaluator takes it
}

var arrayType = regexp.MustCompile(`^kernel\.(\w+)([12])\[(\w+)\]$`)

// grid makes a tensor of random numbers, which the slice gives as well.
func grid(r *rand.Rand, basic string, shape ...int) (*weft.Tensor, reflect.Value) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	like := kerneltest.Input(r, basic)
	s := reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(like)), n, n)
	for i := range n {
		s.Index(i).Set(reflect.ValueOf(kerneltest.Input(r, basic)))
	}
	switch x := s.Interface().(type) {
	case []bool:
		return weft.FromSlice(x, shape...), s
	case []int:
		return fromInts[int64](s, shape), s
	case []int8:
		return weft.FromSlice(x, shape...), s
	case []int16:
		return weft.FromSlice(x, shape...), s
	case []int32:
		return weft.FromSlice(x, shape...), s
	case []int64:
		return weft.FromSlice(x, shape...), s
	case []uint:
		return fromInts[uint64](s, shape), s
	case []uint8:
		return weft.FromSlice(x, shape...), s
	case []uint16:
		return weft.FromSlice(x, shape...), s
	case []uint32:
		return weft.FromSlice(x, shape...), s
	case []uint64:
		return weft.FromSlice(x, shape...), s
	case []float32:
		return weft.FromSlice(x, shape...), s
	case []float64:
		return weft.FromSlice(x, shape...), s
	case []complex64:
		return weft.FromSlice(x, shape...), s
	case []complex128:
		return weft.FromSlice(x, shape...), s
	}
	panic(basic)
}

func fromInts[T int64 | uint64](s reflect.Value, shape []int) *weft.Tensor {
	out := make([]T, s.Len())
	for i := range out {
		out[i] = s.Index(i).Convert(reflect.TypeFor[T]()).Interface().(T)
	}
	return weft.FromSlice(out, shape...)
}

// ofType is a value of the type of an array parameter.
func ofType(kind, rank string, data reflect.Value, shape []int) any {
	switch s := data.Interface().(type) {
	case []bool:
		return arrayOf(kind+rank, s, shape)
	case []int:
		return arrayOf(kind+rank, s, shape)
	case []int8:
		return arrayOf(kind+rank, s, shape)
	case []int16:
		return arrayOf(kind+rank, s, shape)
	case []int32:
		return arrayOf(kind+rank, s, shape)
	case []int64:
		return arrayOf(kind+rank, s, shape)
	case []uint:
		return arrayOf(kind+rank, s, shape)
	case []uint8:
		return arrayOf(kind+rank, s, shape)
	case []uint16:
		return arrayOf(kind+rank, s, shape)
	case []uint32:
		return arrayOf(kind+rank, s, shape)
	case []uint64:
		return arrayOf(kind+rank, s, shape)
	case []float32:
		return arrayOf(kind+rank, s, shape)
	case []float64:
		return arrayOf(kind+rank, s, shape)
	case []complex64:
		return arrayOf(kind+rank, s, shape)
	case []complex128:
		return arrayOf(kind+rank, s, shape)
	}
	panic(kind)
}

func arrayOf[T any](kind string, s []T, shape []int) any {
	switch kind {
	case "Clamped1":
		return kernel.Clamped1[T]{Data: s, Shape: [1]int(shape)}
	case "Clamped2":
		return kernel.Clamped2[T]{Data: s, Shape: [2]int(shape)}
	case "Wrapped1":
		return kernel.Wrapped1[T]{Data: s, Shape: [1]int(shape)}
	case "Wrapped2":
		return kernel.Wrapped2[T]{Data: s, Shape: [2]int(shape)}
	case "Zeroed1":
		return kernel.Zeroed1[T]{Data: s, Shape: [1]int(shape)}
	case "Zeroed2":
		return kernel.Zeroed2[T]{Data: s, Shape: [2]int(shape)}
	}
	panic(kind)
}

// An arrays is a kernel that reads arrays, with arguments for results of rows and columns.
type arrays struct {
	kerneltest.Kernel
	seed       uint64
	rows, cols int
	operands   []operand
}

func newArrays(seed uint64) *arrays {
	a := &arrays{Kernel: kerneltest.Generate(seed, kerneltest.Options{Arrays: true}), seed: seed}
	r := rand.New(rand.NewPCG(seed, 4))
	a.rows, a.cols = 1+r.IntN(4), 1+r.IntN(20)
	for i, p := range a.Params {
		m := arrayType.FindStringSubmatch(p)
		switch {
		case p == "kernel.Elem":
			a.operands = append(a.operands, operand{at: func(i, j int) any {
				return &kernel.Elem{Place: []int{i, j}, Shape: []int{a.rows, a.cols}, Seed: seed}
			}})
		case m != nil:
			shape := []int{1 + r.IntN(5), 1 + r.IntN(5)}[:m[2][0]-'0']
			x, s := grid(r, m[3], shape...)
			v := ofType(m[1], m[2], s, shape)
			a.operands = append(a.operands, operand{x, func(i, j int) any { return v }})
		default:
			rows, cols := a.rows, a.cols
			if i > 0 && r.IntN(4) == 0 {
				rows = 1
			}
			if i > 0 && r.IntN(4) == 0 {
				cols = 1
			}
			x, s := grid(r, p, rows, cols)
			a.operands = append(a.operands, operand{x, func(i, j int) any { return s.Index(min(i, rows-1)*cols + min(j, cols-1)).Interface() }})
		}
	}
	return a
}

// compare says how the kernel, mapped, differs from the evaluated one.
func (a *arrays) compare(src string) (err error) {
	p, err := kerneltest.Load(src, kernelSource)
	if err != nil {
		return errOracle{err}
	}
	var want [][]any
	for i := range a.rows {
		for j := range a.cols {
			var args []any
			for _, o := range a.operands {
				args = append(args, o.at(i, j))
			}
			w, err := p.Call(a.Name, steps/(a.rows*a.cols), a.Arg, args...)
			if err != nil {
				return errOracle{err}
			}
			want = append(want, w)
		}
	}
	s, err := kernel.Parse(src)
	if err != nil {
		return err
	}
	var args []any
	for _, o := range a.operands {
		if o.tensor != nil {
			args = append(args, o.tensor)
		}
	}
	var out []*weft.Tensor
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	if err := weft.Try(func() {
		out = s.Func(a.Name).MapAll(append(args, kernel.MapOpts{Generator: weft.NewGenerator(a.seed)})...)
	}); err != nil {
		return err
	}
	for k, x := range out {
		if got := fmt.Sprint(x.Shape()); got != fmt.Sprint([]int{a.rows, a.cols}) {
			return fmt.Errorf("result %d has shape %s", k, got)
		}
		data := dataOf(x)
		for n, w := range want {
			got := data.Index(n).Convert(reflect.TypeOf(w[k])).Interface()
			if !kerneltest.Same(got, w[k]) {
				i, j := n/a.cols, n%a.cols
				var args []any
				for _, o := range a.operands {
					args = append(args, o.at(i, j))
				}
				return fmt.Errorf("result %d at (%d, %d): %+v gives %v, want %v", k, i, j, args, got, w[k])
			}
		}
	}
	return nil
}

// dataOf is the data of a tensor as a slice.
func dataOf(x *weft.Tensor) reflect.Value {
	switch d := x.DType(); d {
	case weft.Bool:
		return reflect.ValueOf(weft.Data[bool](x))
	case weft.Int8:
		return reflect.ValueOf(weft.Data[int8](x))
	case weft.Int16:
		return reflect.ValueOf(weft.Data[int16](x))
	case weft.Int32:
		return reflect.ValueOf(weft.Data[int32](x))
	case weft.Int64:
		return reflect.ValueOf(weft.Data[int64](x))
	case weft.Uint8:
		return reflect.ValueOf(weft.Data[uint8](x))
	case weft.Uint16:
		return reflect.ValueOf(weft.Data[uint16](x))
	case weft.Uint32:
		return reflect.ValueOf(weft.Data[uint32](x))
	case weft.Uint64:
		return reflect.ValueOf(weft.Data[uint64](x))
	case weft.Float32:
		return reflect.ValueOf(weft.Data[float32](x))
	case weft.Float64:
		return reflect.ValueOf(weft.Data[float64](x))
	case weft.Complex64:
		return reflect.ValueOf(weft.Data[complex64](x))
	case weft.Complex128:
		return reflect.ValueOf(weft.Data[complex128](x))
	default:
		panic(d.String())
	}
}

// TestRandomArrays compares random kernels that read arrays by index, their own index and
// random numbers, mapped over tensors of two dimensions, with the evaluator over the plain
// Go types of package kernel. The number of kernels and the first seed are set as in [TestRandom].
func TestRandomArrays(t *testing.T) {
	n, from := campaign(t, 140)
	failures := 0
	for seed := from; seed < from+uint64(n); seed++ {
		a := newArrays(seed)
		err := a.compare(a.Src)
		if err == nil {
			continue
		}
		if _, ok := err.(errOracle); ok {
			t.Fatalf("seed %d: %v\n%s", seed, err, a.Src)
		}
		refused := strings.Contains(err.Error(), "k.go:")
		small := kerneltest.Shrink(a.Src, a.Name, func(src string) bool {
			e := a.compare(src)
			_, oracle := e.(errOracle)
			return e != nil && !oracle && strings.Contains(e.Error(), "k.go:") == refused
		})
		t.Errorf("seed %d: %v\nmade smaller: %v\n%s", seed, err, a.compare(small), small)
		if failures++; failures == 5 {
			t.FailNow()
		}
	}
}
