package exec_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/op"
	"weft/internal/plan"
)

// matrix returns a float64 array of two axes.
func matrix(rows, cols int, data ...float64) *array.View {
	return &array.View{Store: array.NewStorage(unsafe.Pointer(&data[0]), 8*len(data), data), DType: array.Float64, Shape: []int{rows, cols}, Strides: []int{cols, 1}}
}

// compiled plans the results of a graph whose inputs are like ins.
func compiled(t *testing.T, dev device.Device, ins []*array.View, graph func(g *ir.Graph, x []*ir.Node) []*ir.Node) *exec.Compiled {
	t.Helper()
	g := ir.New()
	var x []*ir.Node
	var sigs []plan.Sig
	for i, v := range ins {
		x, sigs = append(x, g.Input(i, v.DType, v.Shape)), append(sigs, plan.SigOf(v))
	}
	c, err := exec.Compile(plan.Build(graph(g, x), sigs, nil, dev.Model()), dev)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// product is x times y, and the square of that: a routine and a kernel.
func product(_ *ir.Graph, x []*ir.Node) []*ir.Node {
	p := op.Apply(op.MatMul2, nil, x[0], x[1])
	return []*ir.Node{p, op.Apply(op.Sum, op.Reduction{}, op.Apply(op.Square, nil, p))}
}

func elements(v array.View) []float64 {
	return unsafe.Slice((*float64)(v.Store.Host()), v.Store.Bytes/8)[v.Offset:][:v.Size()]
}

// Steps run in order, on memory that is given or made, on every instruction set.
func TestRunSteps(t *testing.T) {
	x, y := matrix(2, 2, 1, 2, 3, 4), matrix(2, 1, 5, 6)
	for _, isa := range jit.ISAs() {
		c := compiled(t, cpu.New(isa), []*array.View{x, y}, product)
		given := matrix(2, 1, 0, 0)
		out := []array.View{*given, {}}
		if err := c.Run(t.Context(), nil, []*array.View{x, y}, nil, out); err != nil {
			t.Fatal(err)
		}
		if p, sum := elements(*given), elements(out[1]); !slices.Equal(p, []float64{17, 39}) || !slices.Equal(sum, []float64{17*17 + 39*39}) {
			t.Errorf("%v: %v, %v", isa, p, sum)
		}
	}
}

// A context that has ended stops a run before its first step.
func TestRunEndsWithContext(t *testing.T) {
	x := matrix(2, 2, 1, 2, 3, 4)
	c := compiled(t, cpu.New(jit.Portable), []*array.View{x, x}, product)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	given := matrix(2, 2, 7, 7, 7, 7)
	if err := c.Run(ctx, nil, []*array.View{x, x}, nil, []array.View{*given, {}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !slices.Equal(elements(*given), []float64{7, 7, 7, 7}) {
		t.Errorf("the run wrote %v", elements(*given))
	}
}

// An integer that an operand's type cannot hold is an error before anything is written.
func TestRunRefusesNumbers(t *testing.T) {
	data := []int32{1, 2}
	x := &array.View{Store: array.NewStorage(unsafe.Pointer(&data[0]), 8, data), DType: array.Int32, Shape: []int{2}, Strides: []int{1}}
	c := compiled(t, cpu.New(jit.Portable), []*array.View{x}, func(g *ir.Graph, x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Add, nil, x[0], g.Scalar(0, array.Int64, true))}
	})
	out := make([]array.View, 1)
	var e *array.Error
	if err := c.Run(t.Context(), nil, []*array.View{x}, []exec.Number{{Int: 1 << 40, Kind: array.CatInt}}, out); !errors.As(err, &e) || out[0].Store != nil {
		t.Errorf("%v, %v", err, out)
	}
	if err := c.Run(t.Context(), nil, []*array.View{x}, []exec.Number{{Int: 3, Kind: array.CatInt}}, out); err != nil || *(*int32)(out[0].Store.Host()) != 4 {
		t.Errorf("%v", err)
	}
}

// lacking is a device without routines. Its host, which may be nil, has them.
type lacking struct {
	device.Device
	host device.Device
}

func (lacking) Routine(ir.RoutineID) device.Routine { return nil }
func (d lacking) Fallback() device.Device           { return d.host }

// A routine that neither the device nor its host has is an error that names both.
func TestCompileWithoutRoutine(t *testing.T) {
	g := ir.New()
	x := g.Input(0, array.Float64, []int{2, 2})
	sig := plan.Sig{DType: array.Float64, Shape: []int{2, 2}, Strides: []int{2, 1}}
	dev := lacking{Device: cpu.New(jit.Portable)}
	_, err := exec.Compile(plan.Build([]*ir.Node{op.Apply(op.MatMul2, nil, x, x)}, []plan.Sig{sig}, nil, dev.Model()), dev)
	if err == nil || !strings.Contains(err.Error(), "matmul2 has no routine on "+dev.Name()) {
		t.Errorf("%v", err)
	}
}

// A routine that the device lacks runs on the host, on copies, and is counted.
func TestRoutineOnHost(t *testing.T) {
	late := deferred.New(cpu.NewIn(mem.NewPool(), jit.Portable), cpu.New(jit.Portable))
	dev := lacking{late, late.Fallback()}
	s := dev.Default()
	x := matrix(2, 2, 1, 2, 3, 4)
	on := *x
	on.Store = s.Alloc(x.Store.Bytes)
	if err := s.Copy(device.Ref{Store: on.Store}, device.Ref{Store: x.Store}, x.Store.Bytes); err != nil {
		t.Fatal(err)
	}
	c := compiled(t, dev, []*array.View{&on}, func(_ *ir.Graph, x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.MatMul2, nil, x[0], x[0])}
	})
	before, out := dev.Counters().Fallbacks.Load(), make([]array.View, 1)
	if err := c.Run(t.Context(), nil, []*array.View{&on}, nil, out); err != nil {
		t.Fatal(err)
	}
	got := matrix(2, 2, 0, 0, 0, 0)
	if err := s.Copy(device.Ref{Store: got.Store}, device.Ref{Store: out[0].Store}, 32); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if want := []float64{7, 10, 15, 22}; !slices.Equal(elements(*got), want) || dev.Counters().Fallbacks.Load() != before+1 {
		t.Errorf("%v after %d calls on the host, want %v", elements(*got), dev.Counters().Fallbacks.Load()-before, want)
	}
}

// wrong is a device whose routines write a result that is off in its first element.
type wrong struct{ device.Device }

func (d wrong) Routine(id ir.RoutineID) device.Routine {
	r := d.Device.Routine(id)
	return func(c *device.Call) error {
		err := r(c)
		elements(c.Out[0])[0]++
		return err
	}
}

// A checked device returns the results of the first device, and an error that names the operation
// where the oracle's differ.
func TestCheckedDevice(t *testing.T) {
	x := matrix(2, 2, 1, 2, 3, 4)
	ins := []*array.View{x, x}
	right := cpu.New(jit.Portable)
	out := make([]array.View, 2)
	if err := compiled(t, exec.Checked(right, cpu.New(jit.Portable)), ins, product).Run(t.Context(), nil, ins, nil, out); err != nil || !slices.Equal(elements(out[0]), []float64{7, 10, 15, 22}) {
		t.Errorf("%v", err)
	}
	err := compiled(t, exec.Checked(wrong{right}, cpu.New(jit.Portable)), ins, product).Run(t.Context(), nil, ins, nil, make([]array.View, 2))
	if err == nil || !strings.Contains(err.Error(), `"matmul2" differs`) {
		t.Errorf("%v", err)
	}
}
