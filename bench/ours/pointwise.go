package main

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"weft"
	"weft/bench/worker"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/limits"
)

// The pointwise works. A result is allocated anew in every run, and given back
// at once, as a peer's is by its reference count; the other formulation leaves it
// to the collector.

func init() {
	for _, text := range []string{"a+1", "2*a+3*b", "pow(a,2)+pow(b,2)+2*a*b", "2*a+pow(b,10)"} {
		formula(text, func(n int, d string) []any {
			return []any{uniform(n, d, 1, -1, 1), uniform(n, d, 2, -1, 1)}[:min(strings.Count(text, "b")+1, 2)]
		})
	}
	formula("exp(-x*x)*sin(x)+log1p(abs(x))", wide)
	eager("add 16", func(p worker.Params) func() *weft.Tensor {
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		return func() *weft.Tensor { return a.Add(b) }
	})
	eager("expr 16", func(p worker.Params) func() *weft.Tensor {
		vars := weft.Vars{"a": uniform(p.N, p.DType, 1, -1, 1), "b": uniform(p.N, p.DType, 2, -1, 1)}
		return func() *weft.Tensor { return weft.Expr("a+b", vars) }
	})
	worker.Cases["item"] = func(p worker.Params) (*worker.Case, error) {
		x := uniform(p.N, p.DType, 1, -1, 1)
		sum := 0.0
		return &worker.Case{Run: func() { sum += x.Item() }, Check: func() []float64 { return worker.Summary([]float64{x.Item()}) }}, nil
	}
}

// formula adds the case of a formula; args gives its arrays. Its yardstick is a
// kernel that reads the same arrays and writes a result, and computes nothing.
func formula(text string, args func(n int, d string) []any) {
	compared(text, func(p worker.Params) (func() *weft.Tensor, func()) {
		a := args(p.N, p.DType)
		ts := make([]*weft.Tensor, len(a))
		for i := range a {
			ts[i] = a[i].(*weft.Tensor)
		}
		return func() *weft.Tensor { return weft.Expr(text, a...) }, streaming(p.Threads, ts...)
	})
}

// streaming reads arrays and writes one like the first, which had the memory of a result.
func streaming(threads int, a ...*weft.Tensor) func() {
	src := make([][]byte, len(a))
	for i := range a {
		src[i] = bytesOf(a[i])
	}
	return func() {
		s := device.Get(0).Default()
		dst := s.Alloc(len(src[0]))
		limits.Stream(unsafe.Slice((*byte)(dst.Host()), len(src[0])), threads, src...)
		s.Free(dst)
		runtime.KeepAlive(a)
	}
}

// bytesOf returns the memory of a contiguous tensor, for as long as that is kept.
func bytesOf(t *weft.Tensor) []byte {
	v := (*core.Tensor)(t).Read()
	return unsafe.Slice((*byte)(v.Ptr()), t.Size()*t.DType().Size())
}

// eager adds a case that is a function returning a new array.
func eager(name string, prepare func(p worker.Params) func() *weft.Tensor) {
	worker.Also[name] = append(worker.Also[name], collected)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) { return eagerCase(prepare(p)), nil }
}

// compared adds an eager case with a yardstick, which prepare returns second.
func compared(name string, prepare func(p worker.Params) (f func() *weft.Tensor, like func())) {
	worker.Also[name] = append(worker.Also[name], collected, yardstick)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		f, like := prepare(p)
		c := eagerCase(f)
		c.Also[yardstick] = like
		return c, nil
	}
}

func eagerCase(f func() *weft.Tensor) *worker.Case {
	return &worker.Case{
		Run:   func() { f().Release() },
		Also:  map[string]func(){collected: func() { f() }},
		Check: func() []float64 { return summary(f()) },
	}
}

// uniform is Uniform as a tensor, of one dimension if no shape is given.
func uniform(n int, d string, seed int, lo, hi float64, shape ...int) *weft.Tensor {
	if len(shape) == 0 {
		shape = []int{n}
	}
	var t *weft.Tensor
	switch d {
	case "float32":
		t = weft.ZerosOf(weft.Float32, shape...)
		weft.Borrow(t, func(p []float32) { worker.Fill(p, seed, lo, hi) })
	case "float64":
		t = weft.ZerosOf(weft.Float64, shape...)
		weft.Borrow(t, func(p []float64) { worker.Fill(p, seed, lo, hi) })
	default:
		panic(fmt.Sprintf("no dtype %q", d))
	}
	return t
}

func summary(t *weft.Tensor) []float64 {
	if t.DType().Complex() {
		return append(summary(t.Real()), summary(t.Imag())...)
	}
	if t.DType() == weft.Float32 {
		return worker.Summary(weft.Data[float32](t))
	}
	return worker.Summary(weft.Data[float64](t.To(weft.Float64)))
}
