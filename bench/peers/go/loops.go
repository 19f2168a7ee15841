package main

import (
	"math"
	"sync"

	"weft/bench/worker"
)

// loops has the formulas as a user writes them without a library.
func loops() {
	loop("a+1", func(r, a, b []float32) {
		for i := range r {
			r[i] = a[i] + 1
		}
	}, func(r, a, b []float64) {
		for i := range r {
			r[i] = a[i] + 1
		}
	})
	loop("2*a+3*b", func(r, a, b []float32) {
		for i := range r {
			r[i] = 2*a[i] + 3*b[i]
		}
	}, func(r, a, b []float64) {
		for i := range r {
			r[i] = 2*a[i] + 3*b[i]
		}
	})
	loop("pow(a,2)+pow(b,2)+2*a*b", func(r, a, b []float32) {
		for i := range r {
			r[i] = a[i]*a[i] + b[i]*b[i] + 2*a[i]*b[i]
		}
	}, func(r, a, b []float64) {
		for i := range r {
			r[i] = a[i]*a[i] + b[i]*b[i] + 2*a[i]*b[i]
		}
	})
	loop("2*a+pow(b,10)", func(r, a, b []float32) {
		for i := range r {
			s := b[i] * b[i]
			r[i] = 2*a[i] + s*s*(s*s)*s
		}
	}, func(r, a, b []float64) {
		for i := range r {
			s := b[i] * b[i]
			r[i] = 2*a[i] + s*s*(s*s)*s
		}
	})
	loop(exp, func(r, x, _ []float32) {
		for i := range r {
			v := float64(x[i])
			r[i] = float32(math.Exp(-v*v)*math.Sin(v) + math.Log1p(math.Abs(v)))
		}
	}, func(r, x, _ []float64) {
		for i, v := range x {
			r[i] = math.Exp(-v*v)*math.Sin(v) + math.Log1p(math.Abs(v))
		}
	})
}

// loop adds a formula that is written over an existing result.
func loop(name string, f32 func(r, a, b []float32), f64 func(r, a, b []float64)) {
	worker.Cases[name] = byType(
		func(p worker.Params) *worker.Case { return loopCase(name, p, f32) },
		func(p worker.Params) *worker.Case { return loopCase(name, p, f64) },
	)
}

func loopCase[T worker.Float](name string, p worker.Params, f func(r, a, b []T)) *worker.Case {
	a, b := inputs[T](name, p.N)
	if b == nil {
		b = a
	}
	r := make([]T, p.N)
	run := func() { f(r, a, b) }
	if p.Threads > 1 && p.N >= 100_000 { // a goroutine costs more than less work does
		run = func() {
			var wait sync.WaitGroup
			for k := range p.Threads {
				from, to := k*p.N/p.Threads, (k+1)*p.N/p.Threads
				wait.Go(func() { f(r[from:to], a[from:to], b[from:to]) })
			}
			wait.Wait()
		}
	}
	return &worker.Case{Run: run, Check: func() []float64 { run(); return worker.Summary(r) }}
}
