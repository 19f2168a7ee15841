package index

import (
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// A routine says which generator makes a piece of code.
type routine uint8

const (
	scanRoutine routine = iota
	rowRoutine
	fetchRoutine
	rowsRoutine
	sumRoutine
	packRoutine
	countRoutine
)

// A key names one piece of machine code: all that its generator reads.
type key struct {
	routine     routine
	wide        bool // AVX-512
	nonTemporal bool // with non-temporal stores
	dtype       array.DType
	size        int // bytes of an element

	// Of a search for extremes.
	greatest bool
	vectors  int

	expand bool // expand elements under a mask; otherwise compress
}

var codes = jit.NewCache[key, *jit.Code](0)

func (k key) Generate() *jit.Code {
	g := &writer{key: k}
	switch k.routine {
	case scanRoutine:
		g.scan(k.vectors)
	case rowRoutine:
		g.row()
	case fetchRoutine:
		g.fetch()
	case rowsRoutine:
		g.rows()
	case sumRoutine:
		g.sum()
	case packRoutine:
		g.pack()
	case countRoutine:
		g.count()
	}
	return g.Install(k)
}

// A writer writes one routine.
type writer struct {
	codegen.Gen
	key
}
