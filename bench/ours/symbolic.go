package main

import (
	"weft"
	"weft/bench/worker"
	"weft/sym"
)

// Functions of symbolic variables, and chains of eager operations that wait for each other.

func init() {
	worker.Cases["scan rnn and back"] = func(p worker.Params) (*worker.Case, error) {
		const batch, states = 32, 128
		x := random(p.DType, 1, p.N, batch, states)
		param := func(name string, seed int, shape ...int) *sym.Var {
			return sym.Shared(name, random(p.DType, seed, shape...).Mul(0.1))
		}
		u, w, b := param("u", 2, states, states), param("w", 3, states, states), param("b", 4, states)
		xs := sym.New("x", x.DType(), sym.Any, batch, states)
		loop := sym.Scan(sym.ScanOpts{Sequences: []any{xs.MatMul(u).Add(b)}, Initial: []any{sym.Const(weft.ZerosOf(x.DType(), batch, states))}},
			func(s sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{s.X[0].Add(s.H[0].MatMul(w)).Tanh()}}
			})
		cost := loop.H[0].Square().Mean()
		f, err := sym.Function(sym.In(xs), sym.Out(append([]*sym.Var{cost}, sym.Grad(cost, []*sym.Var{u, w, b})...)...))
		if err != nil {
			return nil, err
		}
		run := func() []*weft.Tensor {
			out, err := f.Call(x)
			if err != nil {
				panic(err)
			}
			return out
		}
		return &worker.Case{
			Run: func() {
				for _, t := range run() {
					t.Release()
				}
			},
			Check: func() []float64 {
				var s []float64
				for _, t := range run() {
					s = append(s, t.Abs().Sum().Item())
				}
				return s
			},
		}, nil
	}
	worker.Cases["sym call"] = func(p worker.Params) (*worker.Case, error) {
		x := sym.Vector("x", weft.Float32)
		f, err := sym.Function(sym.In(x), sym.Out(x.Mul(2).Add(1)))
		if err != nil {
			return nil, err
		}
		v := uniform(p.N, "float32", 1, -1, 1)
		return &worker.Case{Run: func() {
			if _, err := f.Call(v); err != nil {
				panic(err)
			}
		}}, nil
	}
	worker.Also["lazy chain of ten"] = append(worker.Also["lazy chain of ten"], collected, yardstick)
	worker.Cases["lazy chain of ten"] = func(p worker.Params) (*worker.Case, error) {
		x := uniform(p.N, p.DType, 1, -1, 1)
		ten := func(y *weft.Tensor) *weft.Tensor {
			for range 5 {
				y = y.Mul(1.01).Add(0.5)
			}
			return y
		}
		in := func(s *weft.Scope) {
			defer s.Close()
			ten(s.Track(x)).Sum().Item()
		}
		return &worker.Case{
			Run:   func() { in(weft.NewScope().Lazy()) },
			Check: func() []float64 { return worker.Summary(weft.Data[float32](ten(x))) },
			Also: map[string]func(){
				yardstick: func() { in(weft.NewScope()) },
				collected: func() { ten(x.Lazy()).Sum().Item() },
			},
		}, nil
	}
}
