package weft_test

import (
	"errors"
	"fmt"
	"log"

	"weft"
)

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
