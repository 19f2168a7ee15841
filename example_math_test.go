package weft_test

import (
	"fmt"
	"math"
	"os"
	"strings"

	"weft"
)

// Examples of functions of elements, reductions and products.

func ExampleTensor_Sub() {
	x := weft.FromSlice([]float32{5, 7})
	fmt.Println(x.Sub(2), x.RSub(2))
	// Output: [3. 5.] [-3. -5.]
}

func ExampleTensor_Div() {
	x := weft.FromSlice([]int64{7, -7})
	fmt.Println(x.Div(2), x.FloorDiv(2), x.Mod(2))
	// Output: [ 3.5 -3.5] [ 3 -4] [1 1]
}

func ExampleTensor_Pow() {
	x := weft.FromSlice([]float32{2, 3})
	fmt.Println(x.Pow(2), x.Pow(-1))
	// Output: [4. 9.] [0.5        0.33333334]
}

func ExampleTensor_Exp() {
	x := weft.FromSlice([]float32{0, 1})
	fmt.Printf("%.4f\n", x.Exp())
	// Output: [1.0000 2.7183]
}

func ExampleTensor_Log1p() {
	x := weft.FromSlice([]float64{1e-20})
	fmt.Println(x.Log1p(), x.Add(1).Log())
	// Output: [1.e-20] [0.]
}

func ExampleTensor_Sigmoid() {
	x := weft.FromSlice([]float32{-1000, 0, 1000})
	fmt.Println(x.Sigmoid())
	// Output: [0.  0.5 1. ]
}

func ExampleTensor_Relu() {
	x := weft.FromSlice([]float32{-1, 0, 2})
	fmt.Println(x.Relu())
	// Output: [0. 0. 2.]
}

func ExampleTensor_Round() {
	x := weft.FromSlice([]float32{-1.5, 0.5, 2.5})
	fmt.Println(x.Round(), x.Floor(), x.Ceil(), x.Trunc())
	// Output: [-2.  0.  2.] [-2.  0.  2.] [-1.  1.  3.] [-1.  0.  2.]
}

func ExampleTensor_Clamp() {
	x := weft.FromSlice([]float32{-3, 0.5, 9})
	fmt.Println(x.Clamp(0, 1))
	// Output: [0.  0.5 1. ]
}

func ExampleTensor_Maximum() {
	x := weft.FromSlice([]float32{1, 5})
	fmt.Println(x.Maximum(3), x.Minimum(3))
	// Output: [3. 5.] [1. 3.]
}

func ExampleTensor_Atan2() {
	y, x := weft.FromSlice([]float32{1, -1}), weft.FromSlice([]float32{-1, -1})
	fmt.Printf("%.2f\n", y.Atan2(x))
	// Output: [ 2.36 -2.36]
}

func ExampleTensor_Lerp() {
	x := weft.FromSlice([]float32{0, 10})
	fmt.Println(x.Lerp(20, 0.25))
	// Output: [ 5.  12.5]
}

func ExampleTensor_Gt() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Gt(3))
	// Output:
	// [[false false false]
	//  [ true  true  true]]
}

func ExampleTensor_IsNaN() {
	x := weft.FromSlice([]float64{1, math.NaN(), math.Inf(1)})
	fmt.Println(x.IsNaN(), x.IsInf(), x.IsFinite())
	// Output: [false  true false] [false false  true] [ true false false]
}

func ExampleTensor_Sum() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Sum())
	fmt.Println(x.Sum(0))
	fmt.Println(x.Sum(-1))
	fmt.Println(x.SumKeep(1).Shape())
	// Output:
	// 21.0
	// [5. 7. 9.]
	// [ 6. 15.]
	// [2 1]
}

func ExampleTensor_Mean() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Mean().Item(), x.Mean(0))
	fmt.Println(x.Sub(x.MeanKeep(1)))
	// Output:
	// 3.5 [2.5 3.5 4.5]
	// [[-1.  0.  1.]
	//  [-1.  0.  1.]]
}

func ExampleTensor_Var() {
	x := weft.FromSlice([]float32{1, 2, 3, 4})
	fmt.Println(x.Var().Item(), x.SampleVar().Item())
	// Output: 1.25 1.6666666269302368
}

func ExampleTensor_CorrectedStd() {
	x := weft.FromSlice([]float64{1, 2, 3, 6}, 1, 4)
	fmt.Println(x.CorrectedVar(2).Item(), x.CorrectedStd(2, 1), x.SampleStdKeep(1).Shape())
	// Output: 7 [2.64575131] [1 1]
}

func ExampleTensor_ArgMaxKeep() {
	x := weft.FromSlice([]float32{1, 9, 3, 8, 5, 6}, 2, 3)
	places := x.ArgMaxKeep(1)
	fmt.Println(places.Shape(), x.Gather(1, places).Reshape(-1))
	// Output: [2 1] [9. 8.]
}

func ExampleTensor_NanSampleStd() {
	x := weft.FromSlice([]float64{1, math.NaN(), 3, 5}, 1, 4)
	fmt.Println(x.NanSampleStd().Item(), x.Sub(x.NanMeanKeep(1)))
	// Output: 2 [[-2. nan  0.  2.]]
}

func ExampleTensor_NanCorrectedStd() {
	x := weft.FromSlice([]float64{1, math.NaN(), 3, 5, 7})
	fmt.Println(x.NanCorrectedVar(2), x.NanCorrectedVar(3))
	fmt.Printf("%.3f\n", x.NanCorrectedStd(3).Item())
	// Output:
	// 10.0 20.0
	// 4.472
}

func ExampleTensor_Prod() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Prod(1))
	// Output: [  6. 120.]
}

func ExampleTensor_Max() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Max().Item(), x.Max(0), x.Max(1))
	// Output: 6 [4. 5. 6.] [3. 6.]
}

func ExampleTensor_ArgMax() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.ArgMax().ItemInt(), x.ArgMax(1))
	// Output: 5 [2 2]
}

func ExampleTensor_All() {
	x := weft.From([][]bool{{true, true}, {true, false}})
	fmt.Println(x.All(1), x.Any(0))
	// Output: [ true false] [true true]
}

func ExampleTensor_CountNonZero() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Gt(2).CountNonZero().ItemInt(), x.Gt(2).CountNonZero(0))
	// Output: 4 [1 1 2]
}

func ExampleTensor_LogSumExp() {
	x := weft.FromSlice([]float64{1000, 1000})
	fmt.Printf("%.4f\n", x.LogSumExp())
	// Output: 1000.6931
}

func ExampleTensor_Softmax() {
	x := weft.FromSlice([]float32{1, 1, 1, 1})
	fmt.Println(x.Softmax(0))
	// Output: [0.25 0.25 0.25 0.25]
}

func ExampleTensor_Median() {
	x := weft.FromSlice([]float32{1, 9, 2, 8})
	fmt.Println(x.Median().Item())
	// Output: 5
}

func ExampleTensor_CumProd() {
	x := weft.FromSlice([]int64{1, 2, 3, 4})
	fmt.Println(x.CumProd(0))
	// Output: [ 1  2  6 24]
}

func ExampleTensor_ArgSort() {
	x := weft.FromSlice([]float32{3, 1, 2})
	fmt.Println(x.ArgSort(0, weft.SortOpts{}))
	// Output: [1 2 0]
}

func ExampleTensor_Dot() {
	x := weft.FromSlice([]float32{1, 2, 3})
	fmt.Println(x.Dot(x).Item())
	// Output: 14
}

func ExampleTensor_Outer() {
	x := weft.FromSlice([]float32{1, 2})
	fmt.Println(x.Outer(weft.FromSlice([]float32{10, 20, 30})))
	// Output:
	// [[10. 20. 30.]
	//  [20. 40. 60.]]
}

func ExampleTensor_TensorDot() {
	a, b := weft.Ones(2, 3, 4), weft.Ones(4, 3, 5)
	fmt.Println(a.TensorDot(b, []int{1, 2}, []int{1, 0}).Shape())
	// Output: [2 5]
}

func ExampleTensor_Linear() {
	x, w, b := weft.Ones(1, 2), weft.From([][]float32{{1, 2}, {3, 4}}), weft.FromSlice([]float32{10, 20})
	fmt.Println(x.Linear(w, b))
	// Output: [[13. 27.]]
}

func ExampleTensor_MaxPool2d() {
	x := weft.Arange(16).To(weft.Float32).Reshape(1, 1, 4, 4)
	fmt.Println(x.MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Reshape(2, 2))
	fmt.Println(x.AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Reshape(2, 2))
	// Output:
	// [[ 5.  7.]
	//  [13. 15.]]
	// [[ 2.5  4.5]
	//  [10.5 12.5]]
}

func ExampleCrossEntropy() {
	logits := weft.Zeros(1, 4) // four classes, equally likely
	loss := weft.CrossEntropy(logits, weft.From([]int64{2}))
	fmt.Printf("%.4f\n", loss.Item()) // log(4)
	// Output: 1.3863
}

func ExampleTensor_Dropout() {
	x := weft.Ones(1000)
	y := x.Dropout(0.5, weft.NewGenerator(1)) // zeros, or 1/(1-p)
	fmt.Println(y.Max().Item(), y.Min().Item())
	// Output: 2 0
}

func ExampleTensor_CumSum() {
	x := weft.From([][]float32{{1, 2, 3}, {4, 5, 6}})
	fmt.Println(x.CumSum(1))
	fmt.Println(x.CumProd(0))
	// Output:
	// [[ 1.  3.  6.]
	//  [ 4.  9. 15.]]
	// [[ 1.  2.  3.]
	//  [ 4. 10. 18.]]
}

func ExampleTensor_CumMax() {
	fmt.Println(weft.From([]int64{3, 1, 4, 1, 5}).CumMax(0))
	// Output: [3 3 4 4 5] [0 0 2 2 4]
}

func ExampleTensor_TopK() {
	values, index := weft.From([]float32{3, 1, 4, 1, 5, 9}).TopK(3, 0, weft.TopKOpts{})
	fmt.Println(values, index)
	// Output: [9. 5. 4.] [5 4 2]
}

func ExampleTensor_KthValue() {
	value, index := weft.From([]float32{3, 1, 4, 1, 5, 9}).KthValue(3, 0)
	fmt.Println(value, index)
	// Output: 3.0 0
}

func ExampleTensor_MaxWithIndex() {
	values, index := weft.From([][]float32{{3, 7}, {9, 7}}).MaxWithIndex(1)
	fmt.Println(values, index)
	// Output: [7. 9.] [1 0]
}

func ExampleTensor_SearchSorted() {
	edges := weft.From([]float32{0, 1, 10})
	fmt.Println(edges.SearchSorted(weft.From([]float32{-1, 0, 5, 99}), weft.SearchOpts{Right: true}))
	// Output: [0 1 2 3]
}

func ExampleTensor_Unique() {
	values, inverse, counts := weft.From([]int64{5, 2, 5, 9, 2, 5}).Unique()
	fmt.Println(values, inverse, counts)
	// Output: [2 5 9] [1 0 1 2 0 1] [2 3 1]
}

func ExampleEinsum() {
	a := weft.From([][]float32{{1, 2}, {3, 4}})
	b := weft.From([][]float32{{1, 0}, {0, 2}})
	fmt.Println(weft.Einsum("ij,jk->ik", a, b)) // a product of matrices
	fmt.Println(weft.Einsum("ii", a), weft.Einsum("ij->j", a))
	// Output:
	// [[1. 4.]
	//  [3. 8.]]
	// 5.0 [4. 6.]
}

func ExampleTensor_Quantile() {
	x := weft.From([]float32{4, 1, 3, 2})
	fmt.Println(x.Median(), x.Quantile(0.25), x.Percentile(100))
	// Output: 2.5 1.75 4.0
}

func ExampleTensor_Histogram() {
	x := weft.From([]float32{0, 0.1, 0.6, 1, 1})
	counts, edges := x.Histogram(weft.HistogramOpts{Bins: new(2)})
	fmt.Println(counts, edges)
	// Output: [2 3] [0.  0.5 1. ]
}

func ExampleTensor_BinCount() {
	fmt.Println(weft.From([]int64{1, 3, 1}).BinCount(nil, 0))
	// Output: [0 2 0 1]
}

func ExampleTensor_Norm() {
	x := weft.From([][]float32{{3, 4}, {6, 8}})
	fmt.Println(x.Norm(2, 1), x.Norm(1))
	// Output: [ 5. 10.] 21.0
}

func ExampleTensor_AllClose() {
	x := weft.From([]float32{1, 2})
	fmt.Println(x.AllClose(x.Add(1e-6), weft.CloseOpts{}), x.AllClose(2, weft.CloseOpts{}))
	// Output: true false
}

func ExampleTensor_NanToNum() {
	x := weft.From([]float64{1, 2}).Div(0).Mul(weft.From([]float64{1, 0}))
	fmt.Println(x, x.NanToNum(0, 9))
	// Output: [inf nan] [9. 0.]
}

func ExampleGenerator_Choice() {
	g := weft.NewGenerator(1)
	x := weft.From([]float32{10, 20, 30})
	fmt.Println(g.Choice(x, 8, weft.ChoiceOpts{Weights: weft.From([]float32{0, 1, 0})}))
	fmt.Println(g.Choice(x, 3, weft.ChoiceOpts{Distinct: true}).Sum())
	// Output:
	// [20. 20. 20. 20. 20. 20. 20. 20.]
	// 60.0
}

func ExampleGenerator_Multinomial() {
	w := weft.From([][]float32{{0, 2, 0}, {1, 0, 0}})
	fmt.Println(weft.NewGenerator(1).Multinomial(w, 3, weft.MultinomialOpts{}))
	// Output:
	// [[1 1 1]
	//  [0 0 0]]
}

func ExampleTensor_Asinh() {
	x := weft.From([]float64{0.5, 1})
	fmt.Printf("%.4f %.4f %.4f\n", x.Asinh(), x.Add(1).Acosh(), x.Mul(0.5).Atanh())
	// Output: [0.4812 0.8814] [0.9624 1.3170] [0.2554 0.5493]
}

func ExampleTensor_Lgamma() {
	x := weft.From([]float64{0.5, 1, 5})
	fmt.Printf("%.4f %.4f %.4f\n", x.Lgamma(), x.Digamma(), x.Trigamma())
	// Output: [0.5724 0.0000 3.1781] [-1.9635 -0.5772  1.5061] [4.9348 1.6449 0.2213]
}

func ExampleTensor_Erfinv() {
	fmt.Printf("%.4f\n", weft.From([]float64{-1, 0, 0.5, 1}).Erfinv())
	// Output: [  -Inf 0.0000 0.4769   +Inf]
}

func ExampleTensor_Erfc() {
	fmt.Printf("%.4e\n", weft.From([]float64{-1, 0, 1, 6}).Erfc())
	// Output: [1.8427e+00 1.0000e+00 1.5730e-01 2.1520e-17]
}

func ExampleTensor_Sort() {
	values, index := weft.FromSlice([]float32{3, 1, 2}).Sort(0, weft.SortOpts{Descending: true})
	fmt.Println(values, index)
	// Output: [3. 2. 1.] [0 2 1]
}

func ExampleTensor_VarMean() {
	variance, mean := weft.FromSlice([]float32{1, 2, 4, 9}).VarMean()
	fmt.Println(variance, mean)
	// Output: 9.5 4.0
}

func ExampleGenerator_Poisson() {
	g := weft.NewGenerator(1)
	calls := g.PoissonOf(weft.Int64, weft.FromSlice([]float64{0.5, 20, 1e6})) // a rate for each
	fmt.Println(calls.Shape(), calls.DType())
	fmt.Printf("%.1f\n", g.Poisson(4, 100000).Mean().Item())
	// Output:
	// [3] int64
	// 4.0
}

func ExampleGenerator_Binomial() {
	g := weft.NewGenerator(1)
	heads := g.Binomial(10, weft.FromSlice([]float32{0, 0.5, 1}), 100000, 3) // of ten coins each
	fmt.Printf("%.2f\n", weft.Data[float32](heads.Mean(0)))
	// Output:
	// [0.00 5.00 10.00]
}

func ExampleGenerator_Gamma() {
	waits := weft.NewGenerator(1).Gamma(3, 0.5, 100000) // for the third event, of 0.5 a second
	fmt.Printf("%.1f\n", waits.Mean().Item())
	// Output:
	// 6.0
}

func ExampleAutocast() {
	w, x := weft.Ones(2, 2).RequireGrad(), weft.Ones(2, 2)
	var loss *weft.Tensor
	weft.Autocast(weft.BFloat16, func() {
		y := x.MatMul(w)
		loss = y.Sum()
		fmt.Println(y.DType(), loss.DType())
	})
	loss.Backward()
	fmt.Println(w.Grad().DType())
	// Output:
	// bfloat16 float32
	// float32
}

func ExampleDetectAnomaly() {
	x := weft.FromSlice([]float64{4, 0}).RequireGrad()
	err := weft.Try(func() {
		weft.DetectAnomaly(func() {
			norm := x.Sqrt() // has no derivative at 0
			norm.Mul(0).Sum().Backward()
		})
	})
	what, line, _ := strings.Cut(err.Error(), " (at ")
	fmt.Println(what)
	fmt.Println(strings.Contains(line, "example_math_test.go:"))
	// Output:
	// backward: sqrt backward gives NaN: 1 of 2 elements, the first at [1], in the gradient of argument 0; sqrt was called
	// true
}

func ExampleGradCheck() {
	softplus := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Exp().Log1p() }
	x := weft.FromSlice([]float64{-1, 0, 2})
	fmt.Println(weft.GradCheck(softplus, []*weft.Tensor{x}), weft.GradGradCheck(softplus, []*weft.Tensor{x}))
	// Output: <nil> <nil>
}

func ExampleRecompute() {
	w, x := weft.FullOf(weft.Float32, 0.5, 3, 3).RequireGrad(), weft.Ones(2, 3)
	block := func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Tanh() }
	for range 4 {
		x = weft.Recompute(block)(x) // keeps x alone, not the product
	}
	x.Sum().Backward()
	fmt.Println(w.Grad().Shape())
	// Output: [3 3]
}

func ExampleGenerator_Dirichlet() {
	shares := weft.NewGenerator(1).Dirichlet(weft.FromSlice([]float32{1, 1, 2}), 100000, 3)
	fmt.Printf("%.2f %.1f\n", weft.Data[float32](shares.Mean(0)), shares.Sum(-1).Max().Item())
	// Output:
	// [0.25 0.25 0.50] 1.0
}

func ExampleGenerator_TruncatedNormal() {
	x := weft.NewGenerator(1).TruncatedNormal(0, 1, 8, math.Inf(1), 100000) // the far tail
	fmt.Printf("%.2f\n", x.Mean().Item())
	// Output:
	// 8.12
}

func ExampleCompiled_Save() {
	dir, err := os.MkdirTemp("", "weft")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w := weft.From([][]float32{{1, 0}, {2, 1}})
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Relu() })
	err = f.Save(dir+"/f.weft", []any{weft.Zeros(3, 2)}, weft.SaveOpts{
		Inputs:  []string{"x[n 2]"},
		Weights: map[string]*weft.Tensor{"w": w},
	})
	if err != nil {
		panic(err)
	}

	p, err := weft.LoadProgram(dir + "/f.weft") // needs neither f nor w
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Inputs()[0], p.Outputs()[0])
	y, err := p.Call(weft.From([][]float32{{1, -1}}))
	fmt.Println(y[0], err)
	// Output:
	// float32[n 2] float32[n 2]
	// [[0. 0.]] <nil>
}

func ExampleWhile() {
	// How often a number is halved until it is below 1, compiled: the elements decide.
	halvings := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Ge(1) },
			func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Div(2), s[1].Add(1)} },
			[]*weft.Tensor{x, weft.ScalarOf(weft.Int64, 0)})[1]
	}).Func()
	fmt.Println(halvings(weft.Scalar(1000.0)), halvings(weft.Scalar(0.5)))
	// Output:
	// 10 0
}

func ExampleCond() {
	norm := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		size := x.Norm(2)
		return weft.Cond(size.Gt(1), func() []*weft.Tensor { return []*weft.Tensor{x.Div(size)} },
			func() []*weft.Tensor { return []*weft.Tensor{x} })[0]
	}).Func()
	fmt.Println(norm(weft.FromSlice([]float64{3, 4})), norm(weft.FromSlice([]float64{0.3, 0.4})))
	// Output:
	// [0.6 0.8] [0.3 0.4]
}

func ExampleScanSteps() {
	// Compound interest, and what there is after each year.
	rate := weft.Scalar(0.5)
	last, years := weft.ScanSteps(4, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
		money := s[0].Add(s[0].Mul(rate))
		return []*weft.Tensor{money}, []*weft.Tensor{money}
	}, []*weft.Tensor{weft.Scalar(16.0)})
	fmt.Println(last[0], years[0])
	// Output:
	// 81.0 [24. 36. 54. 81.]
}

func ExampleFunc_ApplyAll() {
	split := &weft.Func{ // into whole and fractional part
		Name: "split",
		ForwardAll: func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
			whole := x[0].Floor()
			return []*weft.Tensor{whole, x[0].Sub(whole)}
		},
		BackwardAll: func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dys[1]} // the whole part is constant
		},
	}
	x := weft.FromSlice([]float64{1.25, 2.5}).RequireGrad()
	parts := split.ApplyAll(x)
	parts[1].Square().Sum().Backward()
	fmt.Println(parts[0], parts[1], x.Grad())
	// Output:
	// [1. 2.] [0.25 0.5 ] [0.5 1. ]
}

func ExampleTensor_Version() {
	x := weft.Zeros(3)
	seen := x.Version()
	x.Slice(weft.Index(0)).Fill(1) // through a view
	fmt.Println(x.Version() != seen)
	// Output:
	// true
}

// Examples of what NumPy's users type daily.

func ExampleTensor_FMod() {
	x := weft.FromSlice([]float64{-7, 7})
	fmt.Println(x.FMod(3), x.Mod(3))
	q, r := x.DivMod(3)
	fmt.Println(q, r)
	// Output:
	// [-1.  1.] [2. 1.]
	// [-3.  2.] [2. 1.]
}

func ExampleTensor_RoundTo() {
	x := weft.FromSlice([]float64{3.14159, 0.125})
	fmt.Println(x.RoundTo(2), weft.FromSlice([]int64{1250, 1350}).RoundTo(-2))
	// Output: [3.14 0.12] [1200 1400]
}

func ExampleTensor_Frexp() {
	m, e := weft.FromSlice([]float64{8, -0.3}).Frexp()
	fmt.Println(m, e, m.Ldexp(e))
	// Output: [ 0.5 -0.6] [ 4 -1] [ 8.  -0.3]
}

func ExampleTensor_GCD() {
	x := weft.FromSlice([]int32{12, 18})
	fmt.Println(x.GCD(8), x.LCM(8))
	// Output: [4 2] [24 72]
}

func ExampleTensor_Degrees() {
	x := weft.FromSlice([]float64{0, 180, 90})
	fmt.Printf("%.4f\n", x.Radians())
	fmt.Println(x.Radians().Degrees())
	// Output:
	// [0.0000 3.1416 1.5708]
	// [  0. 180.  90.]
}

func ExampleTensor_LogAddExp() {
	x := weft.FromSlice([]float64{-1000, 0})
	fmt.Printf("%.4f\n", x.LogAddExp(x))
	// Output: [-999.3069    0.6931]
}

func ExampleUnion1D() {
	a, b := weft.From([]int{3, 1, 3, 2}), weft.From([]int{2, 5})
	fmt.Println(weft.Union1D(a, b), weft.Intersect1D(a, b), weft.SetDiff1D(a, b), weft.SetXor1D(a, b))
	fmt.Println(a.IsIn(b))
	// Output:
	// [1 2 3 5] [2] [1 3] [1 3 5]
	// [false false false  true]
}

func ExampleUniqueAxis() {
	x := weft.From([][]int{{1, 2}, {0, 5}, {1, 2}})
	values, inverse, counts := weft.UniqueAxis(x, 0)
	fmt.Println(values.Shape(), values.At(0), inverse, counts)
	// Output: [2 2] [0 5] [1 0 1] [1 2]
}

func ExampleArgWhere() {
	x := weft.From([][]int{{0, 7}, {8, 0}})
	fmt.Println(weft.ArgWhere(x).At(1), weft.UnravelIndex(x.NonZero(), 2, 2))
	// Output: [1 0] [[0 1] [1 0]]
}

func ExampleTensor_Insert() {
	x := weft.From([]int{1, 2, 3})
	fmt.Println(x.Insert(0, []int{1}, 9), x.Delete(0, 0, -1), x.Append(0, weft.From([]int{4})))
	// Output: [1 9 2 3] [2] [1 2 3 4]
}

func ExampleSelect() {
	x := weft.Arange(6)
	fmt.Println(weft.Select([]*weft.Tensor{x.Lt(2), x.Gt(3)}, []any{x, x.Square()}, 0))
	// Output: [ 0  1  0  0 16 25]
}

func ExampleTensor_Diff() {
	x := weft.FromSlice([]float64{1, 2, 4, 7})
	fmt.Println(x.Diff(0, 1), x.Gradient(0, 1.), x.Trapezoid(0, 1.))
	// Output: [1. 2. 3.] [1.  1.5 2.5 3. ] 10.0
}

func ExampleTensor_Simpson() {
	x := weft.FromSlice([]float64{0, 1, 4, 9, 16})
	fmt.Printf("%.4f %.4f\n", x.Simpson(0, 1.).Item(), x.Trapezoid(0, 1.).Item())
	// Output: 21.3333 22.0000
}

func ExampleTensor_CumulativeTrapezoid() {
	x := weft.FromSlice([]float64{0, 1, 4, 9})
	sums := x.CumulativeTrapezoid(0, 1.)
	fmt.Println(sums, sums.Pad(0, 1, 0))
	// Output: [0.5 3.  9.5] [0.  0.5 3.  9.5]
}

func ExampleTensor_Interp() {
	x := weft.FromSlice([]float64{-1, 0.5, 1.5, 9})
	fmt.Println(x.Interp(weft.FromSlice([]float64{0, 1, 2}), weft.FromSlice([]float64{0, 10, 30})))
	angles := weft.FromSlice([]float64{-10, 365})
	fmt.Println(angles.Interp(weft.FromSlice([]float64{350, 10}), weft.FromSlice([]float64{1, 3}), weft.InterpOpts{Period: new(360.0)}))
	// Output:
	// [ 0.  5. 20. 30.]
	// [1.  2.5]
}

func ExampleTensor_Cov() {
	x := weft.From([][]float64{{1, 2, 3}, {3, 2, 1}})
	fmt.Println(x.Cov().At(0), x.CorrCoef().At(0))
	// Output: [ 1. -1.] [ 1. -1.]
}

func ExampleTensor_Cdist() {
	x := weft.From([][]float64{{0, 0}, {3, 4}})
	fmt.Println(x.Cdist(x, 2).At(0), x.Pdist(1))
	// Output: [0. 5.] [7.]
}

func ExampleTensor_NanMean() {
	x := weft.FromSlice([]float64{1, math.NaN(), 4})
	fmt.Println(x.NanMean(), x.NanMax(), x.NanMedian(), x.NanSum())
	// Output: 2.5 4.0 2.5 5.0
}

func ExampleTensor_PadMode() {
	x := weft.From([]int{1, 2, 3})
	fmt.Println(x.PadMode("reflect", []int{2, 2}), x.PadMode("wrap", []int{1, 1}), x.PadMode("edge", []int{0, 2}))
	fmt.Println(x.PadMode("reflect", []int{2, 2}, weft.PadOpts{Odd: true}))
	fmt.Println(x.PadMode("constant", []int{1, 2}, weft.PadOpts{Values: []float64{7, 9}}))
	fmt.Println(x.PadMode("maximum", []int{1, 1}, weft.PadOpts{Lengths: []int{2}}))
	// Output:
	// [3 2 1 2 3 2 1] [3 1 2 3 1] [1 2 3 3 3]
	// [-1  0  1  2  3  4  5]
	// [7 1 2 3 9 9]
	// [2 1 2 3 3]
}

func ExampleTensor_SlidingWindowView() {
	x := weft.Arange(5)
	fmt.Println(x.SlidingWindowView(0, 3).Sum(1), x.AsStrided(0, []int{2, 2}, []int{2, 1}).Sum(1))
	// Output: [3 6 9] [1 5]
}

func ExampleTensor_ViewAs() {
	x := weft.FromSlice([]float32{1, -2})
	fmt.Printf("%x\n", weft.Data[uint32](x.ViewAs(weft.Uint32)))
	// Output: [3f800000 c0000000]
}

func ExampleFInfo() {
	fmt.Println(weft.FInfo(weft.Float16).Max, weft.IInfo(weft.Int8).Min, weft.PromoteTypes(weft.Int8, weft.Uint8), weft.ResultType(weft.Float32, 2))
	// Output: 65504 -128 int16 float32
}

func ExampleHistogramDD() {
	points := weft.From([][]float64{{0, 0}, {1, 1}, {1, 0.9}})
	counts, edges := weft.HistogramDD(points, weft.HistogramDDOpts{Bins: []int{2}})
	fmt.Println(counts.At(0), counts.At(1), edges[0])
	// Output: [1 0] [0 2] [0.  0.5 1. ]
}
