package weft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"weft"
)

func Example() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.T().MatMul(x).Add(1).Sqrt()
	fmt.Printf("%.2f\n", y)
	// Output:
	// [[4.24 4.80 5.29]
	//  [4.80 5.48 6.08]
	//  [5.29 6.08 6.78]]
}

func ExampleTensor_Slice() {
	x := weft.Arange(12).Reshape(3, 4)
	fmt.Println(x.Slice(weft.All, weft.Range(0, 4, 2)))
	fmt.Println(x.Slice(weft.Index(1), weft.Range(weft.End, weft.Begin, -1)))
	x.Slice(weft.All, weft.Index(0)).Assign(-1) // a view: x changes
	fmt.Println(x.At(2))
	// Output:
	// [[ 0  2]
	//  [ 4  6]
	//  [ 8 10]]
	// [7 6 5 4]
	// [-1  9 10 11]
}

func ExampleTensor_Add() {
	column := weft.Arange(3).Unsqueeze(1)
	row := weft.From([]float32{0.5, 0.25})
	fmt.Println(column.Add(row)) // [3 1] and [2] broadcast to [3 2]
	// Output:
	// [[0.5  0.25]
	//  [1.5  1.25]
	//  [2.5  2.25]]
}

func ExampleTensor_MatMul() {
	a := weft.From([][]float64{{1, 2}, {3, 4}})
	b := weft.From([]float64{1, -1})
	fmt.Println(a.MatMul(b))
	// Output: [-1. -1.]
}

func ExampleTensor_Backward() {
	w := weft.From([]float64{1, 2, 3}).RequireGrad()
	loss := w.Square().Sum()
	loss.Backward()
	fmt.Println(w.Grad())
	// Output: [2. 4. 6.]
}

func ExampleGrad() {
	x := weft.Scalar(2.0).RequireGrad()
	first := weft.Grad(x.Pow(3), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	second := weft.Grad(first, []*weft.Tensor{x})[0]
	fmt.Println(first, second)
	// Output: 12.0 12.0
}

func ExampleTry() {
	x := weft.Ones(2, 3)
	fmt.Println(weft.Try(func() { x.Add(weft.Ones(4)) }))
	// Output: add: shapes do not broadcast: [2 3] and [4]
}

func ExampleTensor_Format() {
	x := weft.Linspace(0, 1, 3)
	fmt.Printf("%v %.2f %#v\n", x, x, x)
	// Output: [0.  0.5 1. ] [0.00 0.50 1.00] weft.From([]float32{0, 0.5, 1})
}

func ExampleTensor_MarshalJSON() {
	x := weft.From([][]float32{{0.1, 2}, {3, 4}})
	text, err := json.Marshal(map[string]*weft.Tensor{"x": x, "above": x.Gt(2)})
	fmt.Println(string(text), err)
	// Output: {"above":[[false,false],[true,true]],"x":[[0.1,2],[3,4]]} <nil>
}

func ExampleNewGenerator() {
	g := weft.NewGenerator(42)
	state := g.State()
	a := g.Randn(1000)
	g.SetState(state)
	fmt.Println(weft.Digest(a) == weft.Digest(g.Randn(1000)))
	// Output: true
}

// An optimizer of one's own reads gradients without keeping them.
func ExampleBorrowGrad() {
	w := weft.FromSlice([]float32{1, 2}).RequireGrad()
	w.Mul(w).Sum().Backward()
	weft.BorrowGrad(w, func(g *weft.Tensor) { weft.WithoutGrad(func() { w.SubAssign(g.Mul(0.25)) }) })
	w.SetGrad(nil)
	fmt.Println(w.Detach())
	// Output: [0.5 1. ]
}

// A step that reads few rows of a table costs what those rows cost.
func ExampleTensor_SparseGrad() {
	table := weft.Zeros(100000, 2).RequireGrad().SparseGrad()
	table.IndexSelect(0, weft.FromSlice([]int64{7, 3, 7})).Sum().Backward()
	weft.BorrowRows(table, func(places, values *weft.Tensor) {
		fmt.Println(places, values)
	})
	// Output:
	// [3 7] [[1. 1.]
	//  [2. 2.]]
}

// Two processes that know the name of a segment share its memory. Here both sides are
// one process; what a worker process writes into the batch, the training reads without
// a copy. (The workers of package data are goroutines and need none of this.)
func ExampleShare() {
	name := fmt.Sprintf("weft-example-%d", os.Getpid())
	batches, err := weft.Share(name, 1<<16)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batches.Close() // and removes the name
	x := batches.Tensor(0, weft.Float32, 64, 128)

	// In the worker:
	worker, err := weft.OpenShared(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	worker.Tensor(0, weft.Float32, 64, 128).Fill(0.5)
	worker.Close()

	fmt.Println(worker.Size(), x.Sum().Item())
	// Output: 65536 4096
}

func ExampleTensor_Lazy() {
	x := weft.Ones(100, 100).Lazy()
	y := x.Mul(2).Add(1).Sqrt() // nothing is computed yet
	fmt.Printf("%.3f\n", y.Mean().Item())
	// Output: 1.732
}

func ExampleScope_Lazy() {
	scope := weft.NewScope().Lazy()
	defer scope.Close()
	x := scope.Track(weft.Ones(100, 100))
	fmt.Println(x.Add(1).Mul(3).Sum().Item()) // one kernel
	// Output: 60000
}

// A whole step of training is one function: w is captured and written where it is.
func ExampleCompile() {
	w := weft.FromSlice([]float32{0, 0}, 2, 1).RequireGrad()
	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		loss := x.MatMul(w).Sub(y).Square().Mean()
		loss.Backward()
		weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.5)) })
		w.SetGrad(nil)
		return loss
	})
	x := weft.FromSlice([]float32{1, 0, 0, 1}, 2, 2)
	y := weft.FromSlice([]float32{3, -2}, 2, 1)
	for range 3 {
		loss, err := step.Call(x, y)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(loss.Item())
	}
	fmt.Println(weft.Data[float32](w))
	// Output:
	// 6.5
	// 1.625
	// 0.40625
	// [2.625 -1.75]
}

// Structs, slices and maps of tensors go in and out with Func, which has the type of the
// function.
func ExampleCompiled_Func() {
	type moments struct{ Mean, Var *weft.Tensor }
	f := weft.Compile(func(xs map[string]*weft.Tensor, scale float64) moments {
		all := weft.Cat([]*weft.Tensor{xs["a"], xs["b"]}, 0).Mul(scale)
		return moments{all.Mean(), all.Var()}
	}).Func()
	m := f(map[string]*weft.Tensor{"a": weft.Arange(3.0), "b": weft.Ones(2)}, 2)
	fmt.Printf("%.2f %.2f\n", m.Mean.Item(), m.Var.Item())
	// Output: 2.00 1.60
}

// Another shape compiles anew; programs for the shapes before stay.
func ExampleCompiled_Why() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() })
	for _, n := range []int{2, 3, 2} {
		f.Call(weft.Zeros(n))
	}
	fmt.Println(len(f.Why()) > 0)
	// Output: true
}

// A call ends when its context does, with an error that wraps the cause.
func ExampleCompiled_CallContext() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() })
	ctx, cancel := context.WithCancelCause(context.Background())
	y, err := f.CallContext(ctx, weft.Zeros(3))
	fmt.Println(y, err)
	late := errors.New("nobody waits for it any more")
	cancel(late)
	_, err = f.CallContext(ctx, weft.Zeros(3))
	fmt.Println(errors.Is(err, late))
	// Output:
	// 3.0 <nil>
	// true
}

// The page shows the graph as it was traced and after each phase, its kernels and their code.
func ExampleCompiled_View() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Square().Add(1).Log() })
	f.Call(weft.Ones(4))
	var page strings.Builder // or a file
	if err := f.View(&page, nil); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), strings.Contains(page.String(), "square"))
	// Output: true true
}

// Regions name iterations in a trace, which https://ui.perfetto.dev shows.
func ExampleProfile_Region() {
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	for i := range 2 {
		end := p.Region(fmt.Sprint("iteration ", i))
		weft.Ones(1000).Exp().Sum()
		end()
	}
	p.Stop()
	var trace strings.Builder // or a file
	if err := p.WriteTrace(&trace); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(trace.String(), "iteration 1"), strings.Contains(trace.String(), "iteration 2"))
	// Output: true false
}

// What happened while a profile ran, as a file for https://ui.perfetto.dev.
func ExampleProfile_WriteTrace() {
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	weft.Ones(1000).Exp().Sum()
	p.Stop()
	var trace strings.Builder // or a file
	if err := p.WriteTrace(&trace); err != nil {
		fmt.Println(err)
	}
	fmt.Println(json.Valid([]byte(trace.String())), strings.Contains(trace.String(), "exp"))
	// Output: true true
}

func ExampleExpr() {
	a := weft.FromSlice([]float32{1, 2, 3})
	b := weft.FromSlice([]float32{10, 20, 30})
	fmt.Println(weft.Expr("2*a + 3*b", a, b))
	fmt.Println(weft.Expr("sum(where(a > 1, a*lr, 0))", weft.Vars{"a": a, "lr": 0.5}))
	// Output:
	// [32. 64. 96.]
	// 2.5
}

// A formula is differentiable like every operation.
func ExampleExpr_gradient() {
	x := weft.FromSlice([]float64{1, 2, 3}).RequireGrad()
	weft.Expr("sum(pow(x, 3))", x).Backward()
	fmt.Println(x.Grad())
	// Output: [ 3. 12. 27.]
}

// Formulas that users type are read with ParseExpr, whose errors point at the
// column.
func ExampleParseExpr() {
	f, err := weft.ParseExpr("sqrt(x*x + y*y)")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := f.Eval(weft.Vars{"x": 3, "y": 4})
	fmt.Println(f.Names(), r, err)

	_, err = weft.ParseExpr("x**2 + 1")
	fmt.Println(err)
	// Output:
	// [x y] 5.0 <nil>
	// expr: column 2: there is no **: a power is written pow(a, 2)
	// 	x**2 + 1
	// 	 ^
}

// Of the bits of integers a formula has Go's operators.
func ExampleTensor_BitAnd() {
	x := weft.From([]uint8{0b1100, 0b1010, 255})
	fmt.Println(x.BitAnd(0b0110), x.BitNot(), x.Shl(1), x.PopCount())
	fmt.Println(weft.Expr("x>>1 ^ x", x))
	// Output:
	// [4 2 6] [243 245   0] [ 24  20 254] [2 2 8]
	// [ 10  15 128]
}

// LogicalAnd asks whether numbers are 0, BitAnd goes bit by bit.
func ExampleTensor_LogicalAnd() {
	x, y := weft.From([]int32{1, 2, 0}), weft.From([]int32{2, 2, 2})
	fmt.Println(x.LogicalAnd(y), x.BitAnd(y))
	// Output: [ true  true false] [0 2 0]
}

func ExampleFormula_EvalInto() {
	step, err := weft.ParseExpr("x - rate*g")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, g := weft.From([]float32{1, 2, 3}), weft.From([]float32{10, 0, -10})
	for range 3 {
		if err := step.EvalInto(x, x, 0.1, g); err != nil { // over x, without allocating
			fmt.Println(err)
		}
	}
	fmt.Println(x)
	// Output: [-2.  2.  6.]
}

// Examples of gradients and memory.

func ExampleTensor_RequireGrad() {
	w := weft.Ones(2).RequireGrad()
	w.Square().Sum().Backward()
	fmt.Println(w.Grad())
	w.RequireGrad(false)
	fmt.Println(w.RequiresGrad(), w.Grad() == nil)
	// Output:
	// [2. 2.]
	// false true
}

func ExampleWithoutGrad() {
	w := weft.Ones(2).RequireGrad()
	w.Mul(3).Sum().Backward()
	weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) }) // a step of descent, not recorded
	fmt.Println(w)
	// Output: [0.7 0.7]
}

func ExampleTensor_Hook() {
	x := weft.From([]float32{1, 2}).RequireGrad()
	y := x.Mul(3)
	y.Hook(func(dy *weft.Tensor) *weft.Tensor { return dy.Clamp(-1, 1) })
	y.Mul(y).Sum().Backward()
	fmt.Println(x.Grad())
	// Output: [3. 3.]
}

func ExampleTensor_PostAccumulateGradHook() {
	w := weft.Ones(2).RequireGrad()
	remove := w.PostAccumulateGradHook(func(w *weft.Tensor) {
		weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) }) // a step in the pass itself
		w.SetGrad(nil)
	})
	defer remove()
	w.Mul(3).Sum().Backward()
	fmt.Println(w, w.Grad() == nil)
	// Output: [0.7 0.7] true
}

func ExampleTensor_Detach() {
	w := weft.FullOf(weft.Float32, 3, 1).RequireGrad()
	w.Mul(w.Detach()).Sum().Backward() // the second factor counts as a constant
	fmt.Println(w.Grad())
	// Output: [3.]
}

func ExampleTensor_Grad() {
	w := weft.Ones(1).RequireGrad()
	fmt.Println(w.Grad() == nil)
	w.Mul(2).Sum().Backward()
	w.Mul(2).Sum().Backward() // adds up
	fmt.Println(w.Grad())
	// Output:
	// true
	// [4.]
}

func ExampleTensor_SetGrad() {
	w := weft.Ones(1).RequireGrad()
	w.Mul(2).Sum().Backward()
	w.SetGrad(nil) // as before the first pass
	fmt.Println(w.Grad() == nil)
	// Output: true
}

func ExampleGradAll() {
	x := weft.FullOf(weft.Float64, 2, 1).RequireGrad()
	g := weft.GradAll([]*weft.Tensor{x.Square(), x.Mul(10)}, []*weft.Tensor{x})
	fmt.Println(g[0])
	// Output: [14.]
}

func ExampleBackwardWith() {
	x := weft.Ones(2).RequireGrad()
	weft.BackwardWith([]*weft.Tensor{x.Mul(3)}, weft.GradOpts{Seeds: []*weft.Tensor{weft.FromSlice([]float32{1, 10})}})
	fmt.Println(x.Grad())
	// Output: [ 3. 30.]
}

func ExampleHessianVector() {
	x, v := weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{1, 0})
	f := func(x *weft.Tensor) *weft.Tensor { return x.Pow(3).Sum() }
	fmt.Println(weft.HessianVector(f, x, v))
	// Output: [6. 0.]
}

func ExampleNewScope() {
	s := weft.NewScope()
	x := s.Track(weft.Ones(1000))
	sum := x.Mul(2).Add(1).Sum().Item() // temporaries belong to the scope
	s.Close()                           // and are given back at once
	fmt.Println(sum)
	// Output: 3000
}

func ExampleScope_Keep() {
	s := weft.NewScope()
	y := s.Keep(s.Track(weft.Ones(2)).Add(1))
	s.Close()
	fmt.Println(y)
	// Output: [2. 2.]
}

func ExampleTensor_Release() {
	x := weft.Ones(2, 3)
	y := x.Reshape(-1)
	y.Release() // a view gives back itself alone
	fmt.Println(x.Sum().Item())
	x.Release()
	fmt.Println(weft.Try(func() { x.Sum() }) != nil)
	// Output:
	// 6
	// true
}

func ExampleFormula_Eval() {
	f, err := weft.ParseExpr("a*x + b")
	if err != nil {
		log.Fatal(err)
	}
	y, err := f.Eval(weft.Vars{"a": 2, "b": 1, "x": weft.FromSlice([]float32{1, 2})})
	fmt.Println(f.Names(), y, err)
	// Output: [a x b] [3. 5.] <nil>
}

func ExampleSeed() {
	weft.Seed(42)
	a := weft.Rand(3)
	weft.Seed(42)
	fmt.Println(weft.Digest(a) == weft.Digest(weft.Rand(3)))
	// Output: true
}

func ExampleGenerator_State() {
	g := weft.NewGenerator(7)
	s := g.State()
	a := g.Randn(3)
	g.SetState(s) // go on from there
	fmt.Println(weft.Digest(a) == weft.Digest(g.Randn(3)))
	// Output: true
}

func ExampleError() {
	err := weft.Try(func() { weft.Ones(2).At(5) })
	var e *weft.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Kind == weft.Misuse)
	}
	// Output: at true
}

func ExampleDType() {
	fmt.Println(weft.Float16.Size(), weft.Int8.Integer(), weft.Complex64.Part())
	// Output: 2 true float32
}

func ExampleJacobian() {
	x := weft.FromSlice([]float64{1, 2, 3})
	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.CumSum(0).Square() }, x)
	fmt.Println(j)
	// Output:
	// [[ 2.  0.  0.]
	//  [ 6.  6.  0.]
	//  [12. 12. 12.]]
}

func ExampleHessian() {
	x := weft.FromSlice([]float64{1, 2, 3})
	cube := func(x *weft.Tensor) *weft.Tensor { return x.Pow(3).Sum() }
	fmt.Println(weft.Hessian(cube, x))
	fmt.Println(weft.HessianVector(cube, x, weft.FromSlice([]float64{1, 0, -1})))
	// Output:
	// [[ 6.  0.  0.]
	//  [ 0. 12.  0.]
	//  [ 0.  0. 18.]]
	// [  6.   0. -18.]
}

func ExampleJVP() {
	x, v := weft.FromSlice([]float64{1, 2, 3}), weft.FromSlice([]float64{1, 0, 1})
	y, dy := weft.JVP(func(x *weft.Tensor) *weft.Tensor { return x.Square() }, x, v)
	fmt.Println(y, dy)
	// Output: [1. 4. 9.] [2. 0. 6.]
}

func ExampleVJP() {
	w := weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	x := weft.FromSlice([]float64{1, -1})
	y, pull := weft.VJP(func(x *weft.Tensor) *weft.Tensor { return w.MatMul(x) }, x)
	fmt.Println(y, pull(weft.FromSlice([]float64{1, 0})), pull(weft.FromSlice([]float64{0, 1})))
	// Output: [-1. -1.] [1. 2.] [3. 4.]
}

func ExampleVmap() {
	distance := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]).Norm(2) }
	points := weft.FromSlice([]float64{3, 4, 6, 8, 0, 0}, 3, 2)
	fmt.Println(weft.Vmap(distance, 0, weft.Unmapped)(points, weft.Zeros(2)))

	// The gradient of each example by weights that all share.
	w := weft.FromSlice([]float64{1, 2}).RequireGrad()
	each := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Grad(x[0].Dot(w).Square(), []*weft.Tensor{w})[0]
	})
	fmt.Println(each(points))
	// Output:
	// [ 5. 10.  0.]
	// [[ 66.  88.]
	//  [264. 352.]
	//  [  0.   0.]]
}

// Of a million points some move: only their bytes go to the copy.
func ExampleTrack() {
	points := weft.Zeros(1_000_000, 3)
	copied := weft.Zeros(1_000_000, 3)
	d := weft.Track(points)
	n, _ := d.Flush(copied.Sink())
	fmt.Println("at first", n, "bytes")

	points.Slice(weft.Range(100, 110)).AddAssign(1)
	points.Slice(weft.Index(-1), weft.Index(2)).Assign(5)
	fmt.Println(d.Pending())
	n, _ = d.Flush(copied.Sink())
	fmt.Println("then", n, "bytes; same:", weft.Digest(points) == weft.Digest(copied))
	// Output:
	// at first 12000000 bytes
	// [{1200 1320} {11999996 12000000}]
	// then 124 bytes; same: true
}

// One interval, as a vertex buffer has it, and one for each gap that is worth another transfer.
func ExampleTrackOpts() {
	for _, o := range []weft.TrackOpts{
		{OneInterval: true},
		{Cost: &weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}}, // 10 bytes
		{Cost: &weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}, Item: new(20)},
	} {
		vertices := weft.Zeros(3, 3, 5) // a position of two, a color of three
		d := weft.Track(vertices, o)
		d.Flush(weft.Zeros(3, 3, 5).Sink())
		position := vertices.Slice(weft.Ellipsis, weft.Range(0, 2))
		position.Slice(weft.Index(0), weft.Index(0)).Assign(1)
		position.Slice(weft.Index(1), weft.Index(1)).Assign(2)
		fmt.Println(d.Pending())
	}
	// Output:
	// [{0 88}]
	// [{0 8} {80 88}]
	// [{0 20} {80 100}]
}

// A buffer of one's own is a sink: the function stands for glBufferSubData.
func ExampleSinkFunc() {
	x := weft.Zeros(4, 5)
	d := weft.Track(x)
	buffer := weft.SinkFunc(func(offset int, bytes []byte) error {
		fmt.Println(len(bytes), "bytes from byte", offset, "on")
		return nil
	})
	d.Flush(buffer)
	x.At(2).Assign(1)
	fmt.Println(d.Extents(x.At(2)), d.PendingOf(x.Slice(weft.All, weft.Index(0))))
	d.Flush(buffer)
	// Output:
	// 80 bytes from byte 0 on
	// {40 60} [{40 44}]
	// 20 bytes from byte 40 on
}

// A texture is updated by rectangles: the function stands for glTexSubImage2D.
func ExampleRectSink() {
	picture := weft.ZerosOf(weft.Uint8, 480, 640, 4)
	d := weft.Track(picture, weft.TrackOpts{Item: new(4), Cost: &weft.Cost{}})
	texture := weft.RectSink(picture, func(x, y, width, height int, pixels []byte) error {
		fmt.Println(width, "x", height, "pixels at", x, y)
		return nil
	})
	d.Flush(texture)
	picture.Slice(weft.Range(100, 120), weft.Range(30, 90)).Assign(255)
	n, _ := d.Flush(texture)
	fmt.Println(n, "bytes")
	// Output:
	// 640 x 480 pixels at 0 0
	// 60 x 20 pixels at 30 100
	// 4800 bytes
}

// A file is a sink; what failed is sent by the next flush.
func ExampleTracked_Flush() {
	f, err := os.CreateTemp("", "tracked")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	x := weft.Arange(6)
	d := weft.Track(x, weft.TrackOpts{Cost: &weft.Cost{Latency: 1, PerSecond: 1e9}})
	n, err := d.Flush(f)
	fmt.Println(n, err)
	x.At(4).Assign(40)
	f.Close()
	n, err = d.Flush(f)
	fmt.Println(n, err != nil, d.Pending())
	again, _ := os.OpenFile(f.Name(), os.O_RDWR, 0)
	n, err = d.Flush(again)
	again.Close()
	data, _ := os.ReadFile(f.Name())
	fmt.Println(n, err, data[32:40])
	// Output:
	// 48 <nil>
	// 0 true [{32 40}]
	// 8 <nil> [40 0 0 0 0 0 0 0]
}

// Writes that weft does not see are marked by hand.
func ExampleTracked_Mark() {
	data := make([]float32, 100)
	x := weft.FromSlice(data)
	d := weft.Track(x)
	d.Flush(weft.Zeros(100).Sink())
	data[7] = 1
	d.Mark(x.At(7))
	fmt.Println(d.Pending())
	// Output: [{28 32}]
}

// The cost of a sink's transfers is measured by sending what the array holds.
func ExampleTracked_Measure() {
	d := weft.Track(weft.Zeros(1 << 16))
	cost, err := d.Measure(weft.Zeros(1 << 16).Sink())
	fmt.Println(cost.Latency > 0, cost.PerSecond > 0, err)
	// Output: true true <nil>
}

// A sink copies the changed bytes of one array into another.
func ExampleTensor_Sink() {
	x, y := weft.Arange(4), weft.Arange(4)
	d := weft.Track(x)
	x.At(2).Assign(9)
	d.Flush(y.Sink())
	fmt.Println(y)
	// Output: [0 1 9 3]
}

func ExampleCompiled_Debug() {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() })
	watched := f.Debug(weft.DebugOpts{Watch: func(s weft.DebugStep) {
		if !strings.HasPrefix(s.Op, "reshape") {
			fmt.Println(s.Op, s.Value)
		}
	}})
	watched.Call(weft.Zeros(4))
	// Output:
	// exp [1. 1. 1. 1.]
	// reduce_sum{0:1} [4.]
}

func ExampleStartProfile() {
	x := weft.Ones(100, 100)
	p := weft.StartProfile(weft.ProfileOpts{})
	for range 3 {
		x.MatMul(x).Tanh()
	}
	p.Stop()
	for _, r := range p.Operations() {
		if r.Name == "matmul" {
			fmt.Println(r.Name, r.Calls, "calls,", r.Flops, "operations")
		}
	}
	// Output: matmul 3 calls, 6000000 operations
}

func ExampleCompiled_Explain() {
	f := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor { return x.Mul(x).Add(y.Mul(x)).Exp() })
	f.Call(weft.Ones(3), weft.Ones(3))
	formulas := strings.Split(f.Explain(), "\n")[:5] // a tree, the plan and machine code follow
	fmt.Println(strings.Join(formulas, "\n"))
	// Output:
	// as traced:
	// out = exp(arg0 * arg0 + arg1 * arg0)
	//
	// as planned:
	// out = exp(square(arg0) + arg0 * arg1)
}

func ExampleFormula_View() {
	f, _ := weft.ParseExpr("exp(-x*x)*sin(x)")
	var page strings.Builder
	err := f.View(&page, weft.Vars{"x": weft.Ones(1000)})
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), err)
	// Output: true <nil>
}

// A program that runs on the device that its user names.
func ExampleDeviceByName() {
	dev, err := weft.DeviceByName("cpu") // "" is the variable WEFT_DEVICE, "cuda:1" a GPU
	if err != nil {
		fmt.Println(err)
		return
	}
	x := dev.Ones(2, 3)
	y := weft.FromSlice([]float32{1, 2, 3}).On(dev)
	fmt.Println(x.Mul(y).Sum().Item(), x.Device())
	// Output: 12 cpu
}

// Random numbers have the same bits on every device.
func ExampleGenerator_On() {
	g := weft.NewGenerator(1)
	fmt.Println(g.On(weft.CPU).Randint(0, 10, 5).Device(), g.State().Draw)
	// Output: cpu 1
}

// A second stream copies the next batch while the default stream computes with this one.
func ExampleStream() {
	dev := weft.CPU // or a GPU
	copies, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer copies.Close()
	compute := dev.DefaultStream()
	batches := []*weft.Tensor{weft.Ones(2, 3), weft.Full(2.0, 2, 3)}
	next := copies.Track(batches[0]).On(dev) // issued to copies
	ready := copies.Record()
	for i := range batches {
		x := compute.Track(next)
		compute.Wait(ready) // not for the copy issued next
		if i+1 < len(batches) {
			next = copies.Track(batches[i+1]).On(dev)
			ready = copies.Record()
		}
		fmt.Println(x.Square().Sum().Item())
	}
	// Output:
	// 6
	// 24
}

// The time that a device takes is measured between two events of a stream.
func ExampleEvent_Since() {
	stream := weft.CPU.DefaultStream()
	start := stream.Record()
	stream.Track(weft.Ones(100, 100)).Exp()
	took, err := stream.Record().Since(start)
	fmt.Println(took > 0, err)
	// Output: true <nil>
}
