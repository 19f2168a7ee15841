package vmath

import (
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// BenchmarkFunctions runs each function over numbers around one, by the fastest
// backend; one operation is 4096 elements.
func BenchmarkFunctions(b *testing.B) {
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for _, u := range unaries {
			bench(b, u.name+"/"+d.String(), program(b, u.name, d, 1, apply1(u.f)))
		}
		for _, u := range binaries {
			bench(b, u.name+"/"+d.String(), program(b, u.name, d, 2, apply2(u.f)))
		}
		bench(b, "formula/"+d.String(), program(b, "formula", d, 1, func(b *loop.Builder, x []loop.Value) loop.Value {
			v := x[0]
			return b.Add(b.Mul(Exp(b, b.Neg(b.Mul(v, v))), Sin(b, v)), Log1p(b, b.Abs(v)))
		}))
	}
}

func bench(b *testing.B, name string, p *loop.Program) {
	const n = 4096
	b.Run(name, func(b *testing.B) {
		run := fastest(b, p)
		f := frame(p, n)
		for i, buf := range p.Bufs {
			if buf.DType == array.Float32 {
				s := make([]float32, n)
				for j := range s {
					s[j] = 0.01 + float32(j%977)/1000
				}
				f.Ptr[i] = at(s)
			} else {
				s := make([]float64, n)
				for j := range s {
					s[j] = 0.01 + float64(j%977)/1000
				}
				f.Ptr[i] = at(s)
			}
			f.Word[p.StrideWord(i, 0)] = uint64(buf.DType.Size())
		}
		b.ReportMetric(float64(len(p.Ins)), "ins")
		for b.Loop() {
			run(f)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
	})
}
