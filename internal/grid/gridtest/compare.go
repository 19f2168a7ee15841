package gridtest

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// An Array is an array in row-major order in Go memory.
type Array struct {
	DType array.DType
	Shape []int
	Bytes []byte
}

// NewArray returns an array of zeros.
func NewArray(d array.DType, shape ...int) Array {
	words := make([]uint64, (array.Size(shape)*d.Size()+7)/8+1) // aligned as any element
	return Array{d, shape, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), array.Size(shape)*d.Size())}
}

// Elements returns the elements of an array, which have the size of T.
func Elements[T any](a Array) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a.Bytes))), array.Size(a.Shape))
}

// isNaN reports whether element i is NaN.
func (a Array) isNaN(i int) bool {
	switch a.DType {
	case array.Float16:
		return math.IsNaN(float64(Elements[half.Float16](a)[i].Float32()))
	case array.BFloat16:
		return math.IsNaN(float64(Elements[half.BFloat16](a)[i].Float32()))
	case array.Float32:
		return math.IsNaN(float64(Elements[float32](a)[i]))
	case array.Float64:
		return math.IsNaN(Elements[float64](a)[i])
	}
	return false
}

// SameAsCPU fails the test if an operation's routine has other bits on the GPU than on the CPU. Any NaN
// stands for any other.
func (g *GPU) SameAsCPU(def *op.Def, attrs ir.Attrs, args ...Array) {
	g.t.Helper()
	graph, nodes, views := ir.New(), make([]*ir.Node, len(args)), make([]array.View, len(args))
	hosted := make([]array.View, len(args))
	for i, a := range args {
		nodes[i] = graph.Input(i, a.DType, a.Shape)
		views[i] = g.Dense(a.DType, a.Bytes, a.Shape...)
		hosted[i] = array.View{Store: host(a.Bytes), DType: a.DType, Shape: a.Shape, Strides: array.RowMajor(a.Shape)}
	}
	results := op.ApplyAll(def, attrs, nodes...)
	node := results[0]
	if len(results) > 1 {
		node = node.Args[0]
	}
	run := func(d device.Device, args []array.View) (out []Array) {
		s := d.Default()
		to := empty(s, results)
		if err := d.Routine(def.Routine)(&device.Call{Stream: s, Node: node, Args: args, Out: to}); err != nil {
			g.t.Fatal(err)
		}
		for i, r := range results {
			a := NewArray(r.DType, r.Shape...)
			if err := s.Copy(device.Ref{Store: host(a.Bytes)}, device.Ref{Store: to[i].Store}, len(a.Bytes)); err != nil {
				g.t.Fatal(err)
			}
			out = append(out, a)
		}
		if err := s.Sync(); err != nil {
			g.t.Fatal(err)
		}
		for _, v := range to {
			s.Free(v.Store)
		}
		return out
	}
	if g.Routine(def.Routine) == nil {
		g.t.Fatalf("%s does not run on the GPU", def.Name)
	}
	got, want := run(g, views), run(cpu.New(jit.Portable), hosted)
	for _, v := range views {
		g.Default().Free(v.Store)
	}
	for i := range want {
		if d := want[i].diff(got[i]); d != "" {
			g.t.Fatalf("%s %+v of %v %v, result %d: %s", def.Name, attrs, args[0].DType, args[0].Shape, i, d)
		}
	}
}

// diff says where b differs.
func (a Array) diff(b Array) string {
	size := a.DType.Size()
	for i := range array.Size(a.Shape) {
		x, y := a.Bytes[i*size:(i+1)*size], b.Bytes[i*size:(i+1)*size]
		if !bytes.Equal(x, y) && !(a.isNaN(i) && b.isNaN(i)) {
			return fmt.Sprintf("element %d of %v is %x, want %x", i, a.Shape, y, x)
		}
	}
	return ""
}
