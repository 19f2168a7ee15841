package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A routine says which generator made a piece of code.
type routine uint8

const (
	packCopyRoutine routine = iota
	packTransposeRoutine
	rowsRoutine
	finishRoutine
	dotsRoutine
	padRoutine
)

// A codeKey names one of the pieces of machine code of which there are few: all that
// its generator reads.
type codeKey struct {
	routine  routine
	isa      jit.ISA
	d        array.DType
	rows, nv uint8
	flags    uint8
}

func bit(b bool, n int) int {
	if b {
		return 1 << n
	}
	return 0
}

var codes = jit.NewCache[codeKey, *jit.Code](0)

// generate makes the code. It panics with an *array.Error if there is no memory to
// map it to; that code may be run here at all was found out when the instruction
// set was chosen.
func (k codeKey) generate() *jit.Code {
	g := &gen{isa: k.isa, d: k.d}
	switch k.routine {
	case packCopyRoutine:
		genPackCopy(g, int(k.nv))
	case rowsRoutine:
		terms := 1
		if k.flags&2 != 0 {
			terms = manyTerms
		}
		genRows(g, int(k.rows), terms, k.flags&1 != 0)
	case dotsRoutine:
		g.narrow = true
		genDots(g, int(k.nv), k.flags&1 != 0, k.flags&2 != 0)
	case padRoutine:
		genPad(g)
	case finishRoutine:
		genFinish(g)
	case packTransposeRoutine:
		genPackTranspose(g, int(k.rows), k.flags&1 != 0)
	}
	return g.install()
}

// install maps what g generated.
func (g *gen) install() *jit.Code {
	text, err := g.Finish()
	if err != nil {
		panic("gemm: generated code: " + err.Error())
	}
	c, err := jit.Map(text)
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "gemm", Msg: "no executable memory", Err: err})
	}
	return c
}

// setMask makes mask or lanes cover the first n lanes of a vector.
func (m machine) setMask(mask *uint64, lanes *[32]byte, n int) {
	if m.isa == jit.AVX512 {
		*mask = 1<<n - 1
		return
	}
	*lanes = [32]byte{}
	for i := range lanes[:n*m.size] {
		lanes[i] = 0xFF
	}
}

// A kernelKey names a kernel by all that its generator reads, and makes it.
type kernelKey[V any] interface {
	comparable
	generate() V
}

// kernel returns the kernel of a key, which is made when first wanted.
func kernel[K kernelKey[V], V any](made *jit.Cache[K, V], key K) V {
	if c, ok := made.Lookup(key); ok {
		return c
	}
	c, _ := made.Get(key, func() (V, error) { return key.generate(), nil })
	return c
}

// A tileCode names the kernel of a tile.
type tileCode struct {
	isa jit.ISA
	d   array.DType
	tileKey
}

var tiles = jit.NewCache[tileCode, *jit.Code](0)

func (k tileCode) generate() *jit.Code {
	g := &gen{isa: k.isa, d: k.d}
	genTile(g, k.tileKey)
	return g.install()
}

// tile returns the kernel of a tile.
func (m machine) tile(key tileKey) *jit.Code { return kernel(tiles, tileCode{m.isa, m.d, key}) }

// tile enters the kernel of a tile. It remembers the last two, which a loop over panels
// takes in turn.
func (f *tileFrame) tile(m machine, key tileKey) {
	k := &f.known[key.mr&1]
	if k.code == nil || k.key != key {
		k.key, k.code = key, m.tile(key)
	}
	jit.Call(k.code, 0, unsafe.Pointer(f))
}
