package main

import (
	"fmt"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	. "github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"weft/bench/worker"
)

// gomlx has graphs that are compiled once and executed in every run; results are
// finalized at once, so that the backend may use their memory again.
func gomlx() {
	graphs("a+1", func(a, b *Node) *Node { return AddScalar(a, 1.0) })
	graphs("2*a+3*b", func(a, b *Node) *Node { return Add(MulScalar(a, 2.0), MulScalar(b, 3.0)) })
	graphs("pow(a,2)+pow(b,2)+2*a*b", func(a, b *Node) *Node {
		return Add(Add(Mul(a, a), Mul(b, b)), MulScalar(Mul(a, b), 2.0))
	})
	graphs("2*a+pow(b,10)", func(a, b *Node) *Node {
		s := Mul(b, b)
		q := Mul(s, s)
		return Add(MulScalar(a, 2.0), Mul(Mul(q, q), s))
	})
	graphs(exp, func(x, _ *Node) *Node { return Add(Mul(Exp(Neg(Mul(x, x))), Sin(x)), Log1P(Abs(x))) })
	for name := range products {
		product(name,
			func(p worker.Params) *worker.Case { return gomlxProduct[float32](name, p) },
			func(p worker.Params) *worker.Case { return gomlxProduct[float64](name, p) },
		)
	}
	worker.Cases["mlp step"] = func(p worker.Params) (*worker.Case, error) { return gomlxMLP(p), nil }
}

// executor compiles a graph for a number of threads.
func executor(p worker.Params, graph any) *Exec {
	config := ""
	if p.Threads == 1 {
		config = "ops_sequential" // and its products take GOMAXPROCS
	}
	backend, err := simplego.New(config)
	if err != nil {
		panic(fmt.Sprint("gomlx: ", err))
	}
	return MustNewExecAny(backend, graph)
}

func graphs(name string, f func(a, b *Node) *Node) {
	worker.Cases[name] = byType(
		func(p worker.Params) *worker.Case { return gomlxFormula[float32](name, p, f) },
		func(p worker.Params) *worker.Case { return gomlxFormula[float64](name, p, f) },
	)
}

func gomlxFormula[T float32 | float64](name string, p worker.Params, f func(a, b *Node) *Node) *worker.Case {
	first, second := inputs[T](name, p.N)
	a := tensors.FromFlatDataAndDimensions(first, p.N)
	if name == exp || name == "a+1" {
		e := executor(p, func(x *Node) *Node { return f(x, nil) })
		return executed[T](func() *tensors.Tensor { return e.MustExec1(a) })
	}
	b := tensors.FromFlatDataAndDimensions(second, p.N)
	e := executor(p, f)
	return executed[T](func() *tensors.Tensor { return e.MustExec1(a, b) })
}

func gomlxProduct[T float32 | float64](name string, p worker.Params) *worker.Case {
	m, k, l := shapeOf(name, p.N)
	a := tensors.FromFlatDataAndDimensions(worker.Uniform[T](m*k, 1, -1, 1), m, k)
	b := tensors.FromFlatDataAndDimensions(worker.Uniform[T](k*l, 2, -1, 1), k, l)
	e := executor(p, func(a, b *Node) *Node { return Dot(a, b) })
	return executed[T](func() *tensors.Tensor { return e.MustExec1(a, b) })
}

func executed[T float32 | float64](f func() *tensors.Tensor) *worker.Case {
	return &worker.Case{
		Run:   func() { f().MustFinalizeAll() },
		Check: func() []float64 { return worker.Summary(tensors.MustCopyFlatData[T](f())) },
	}
}

func gomlxMLP(p worker.Params) *worker.Case {
	n := p.N
	y := make([]float32, n*out)
	for i := range n {
		y[i*out+i%out] = 1
	}
	// Its products want weights as inputs by outputs.
	transposed := func(w []float32, rows, cols int) *tensors.Tensor {
		t := make([]float32, len(w))
		for i := range rows {
			for j := range cols {
				t[j*rows+i] = w[i*cols+j]
			}
		}
		return tensors.FromFlatDataAndDimensions(t, cols, rows)
	}
	x, target := tensors.FromFlatDataAndDimensions(worker.Pattern[float32](n*in, 1), n, in), tensors.FromFlatDataAndDimensions(y, n, out)
	params := []*tensors.Tensor{
		transposed(weights(in, hidden, 2), hidden, in), tensors.FromFlatDataAndDimensions(make([]float32, hidden), 1, hidden),
		transposed(weights(hidden, out, 3), out, hidden), tensors.FromFlatDataAndDimensions(make([]float32, out), 1, out),
	}
	e := executor(p, func(x, y, w1, b1, w2, b2 *Node) []*Node {
		logits := Add(Dot(Tanh(Add(Dot(x, w1), b1)), w2), b2)
		loss := MulScalar(ReduceAllSum(Mul(y, LogSoftmax(logits))), -1/float64(n))
		results := []*Node{ConvertDType(loss, dtypes.Float64)}
		params := []*Node{w1, b1, w2, b2}
		for i, g := range Gradient(loss, params...) {
			results = append(results, Sub(params[i], MulScalar(g, rate)))
		}
		return results
	})
	step := func() float64 {
		results := e.MustExec(x, target, params[0], params[1], params[2], params[3])
		for i, t := range params {
			t.MustFinalizeAll()
			params[i] = results[i+1]
		}
		loss := tensors.MustCopyFlatData[float64](results[0])[0]
		results[0].MustFinalizeAll()
		return loss
	}
	return &worker.Case{
		Run:   func() { step() },
		Check: func() []float64 { return []float64{step(), step(), step()} },
	}
}
