package vmath

import (
	"os"
	"testing"
	"time"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/x86"
)

func TestZZ(t *testing.T) {
	d := array.Float32
	if os.Getenv("ZD") != "" {
		d = array.Float64
	}
	f := func(b *loop.Builder, x []loop.Value) loop.Value {
		v := x[0]
		return b.Add(b.Mul(Exp(b, b.Mul(b.Neg(v), v)), Sin(b, v)), Log1p(b, b.Abs(v)))
	}
	if w := os.Getenv("ZF"); w != "" {
		for _, u := range unaries {
			if u.name == w {
				f = apply1(u.f)
			}
		}
	}
	p := program(t, "z", d, 1, f)
	isa := x86.AVX512
	if os.Getenv("ZI") != "" {
		isa = x86.AVX2
	}
	s, err := x86.Explain(p, isa)
	t.Log(err)
	os.WriteFile("/tmp/hf/explain.txt", []byte(s), 0o644)
}

func BenchmarkZZ(b *testing.B) {
	for _, isa := range []x86.ISA{x86.AVX512, x86.AVX2} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, u := range append(unaries, unary{name: "formula", f: func(b *loop.Builder, v loop.Value) loop.Value {
				return b.Add(b.Mul(Exp(b, b.Neg(b.Mul(v, v))), Sin(b, v)), Log1p(b, b.Abs(v)))
			}}) {
				p := program(b, u.name, d, 1, apply1(u.f))
				const n = 4096
				x32, x64 := make([]float32, n), make([]float64, n)
				for i := range x32 {
					x64[i] = 0.01 + float64(i%977)/1000
					if u.name == "gelu" {
						x64[i] = x64[i]*6 - 3
					}
					x32[i] = float32(x64[i])
				}
				b.Run(isa.String()+"/"+d.String()+"/"+u.name, func(b *testing.B) {
					run := machine(b, p, isa)
					var f *loop.Frame
					if d == array.Float32 {
						f = frame(p, n, at(x32), at(make([]float32, n)))
					} else {
						f = frame(p, n, at(x64), at(make([]float64, n)))
					}
					best := 1e9
					for b.Loop() {
						t := time.Now()
						for range 20 {
							run(f)
						}
						best = min(best, float64(time.Since(t).Nanoseconds())/20)
					}
					b.ReportMetric(best/n*3.675*16, "cycles/16")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
