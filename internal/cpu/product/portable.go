package product

import (
	"weft/internal/array"
	"weft/internal/cpu/tile"
)

func (p *Product) runPortable(total int) {
	first := p.operands()
	epilogue := func(i, m0, m1, n0, n1 int) { p.Epilogue.Run(i*p.M+m0, i*p.M+m1, n0, n1) }
	if p.Epilogue == nil {
		epilogue = nil
	}
	item := func(i int) (a, b, c tile.Mat) {
		o := p.Batch.at(i, p.sizes(), &first)
		return o.a, o.b, o.c
	}
	if p.DType == array.Float32 {
		tile.PortableMats[float32](total, p.M, p.N, p.K, p.Threads, p.Of, p.Add, item, epilogue)
	} else {
		tile.PortableMats[float64](total, p.M, p.N, p.K, p.Threads, p.Of, p.Add, item, epilogue)
	}
}
