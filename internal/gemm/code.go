package gemm

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A routine says which generator made a piece of code.
type routine uint8

const (
	tileRoutine routine = iota
	packCopyRoutine
	packTransposeRoutine
	rowsRoutine
	finishRoutine
	dotsRoutine
	padRoutine
	routineCount
)

// A codeKey names one piece of machine code: all that a generator reads.
type codeKey struct {
	routine routine
	isa     jit.ISA
	double  bool
	rows    int // at most 16
	nv      int // at most maxVectors; 0 or rows is 0 where the routine is not a tile's
	flags   int // less than 16; less than 4 where the routine is not a tile's
}

func bit(b bool, n int) int {
	if b {
		return 1 << n
	}
	return 0
}

const (
	tileCodes  = 4 * 15 * (maxVectors + 1) * 16
	otherCodes = int(routineCount-1) * 4 * 17 * 4
)

func (k codeKey) index() int {
	kind := int(k.isa-jit.AVX2)*2 + bit(k.double, 0)
	if k.routine == tileRoutine {
		return ((kind*15+k.rows)*(maxVectors+1)+k.nv)*16 + k.flags
	}
	return tileCodes + ((int(k.routine-1)*4+kind)*17+k.rows+k.nv)*4 + k.flags
}

// generated holds what was generated, and codes where: one more than the place, 0
// if it was not. The collector reads only generated. A kernel that two goroutines
// generate at once is mapped twice.
var (
	codes      [tileCodes + otherCodes]atomic.Uint32
	generated  atomic.Pointer[[]*jit.Code]
	generating sync.Mutex
)

func (k codeKey) code() *jit.Code {
	p := &codes[k.index()]
	if at := p.Load(); at != 0 {
		return (*generated.Load())[at-1]
	}
	c := k.generate()
	generating.Lock()
	defer generating.Unlock()
	var all []*jit.Code
	if old := generated.Load(); old != nil {
		all = *old
	}
	// Readers of the old slice do not look behind its end.
	all = append(all, c)
	generated.Store(&all)
	p.Store(uint32(len(all)))
	return c
}

// generate makes the code. It panics with an *array.Error if there is no memory to
// map it to; that code may be run here at all was found out when the instruction
// set was chosen.
func (k codeKey) generate() *jit.Code {
	g := &gen{isa: k.isa, d: array.Float32}
	if k.double {
		g.d = array.Float64
	}
	switch k.routine {
	case tileRoutine:
		genTile(g, tileKey{mr: k.rows, nv: k.nv, kMajor: k.flags&1 != 0, masked: k.flags&2 != 0, segments: k.flags >> 2})
	case packCopyRoutine:
		genPackCopy(g, k.nv)
	case rowsRoutine:
		terms := 1
		if k.flags&2 != 0 {
			terms = manyTerms
		}
		genRows(g, k.rows, terms, k.flags&1 != 0)
	case dotsRoutine:
		g.narrow = true
		genDots(g, k.nv, k.flags&1 != 0, k.flags&2 != 0)
	case padRoutine:
		genPad(g)
	case finishRoutine:
		genFinish(g)
	case packTransposeRoutine:
		genPackTranspose(g, k.rows, k.flags&1 != 0)
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

// callTile enters a tile kernel.
func callTile(isa jit.ISA, d array.DType, key tileKey, f *tileFrame) {
	jit.Call(tileCode(isa, d, key), 0, unsafe.Pointer(f))
}

// tileCode returns a tile kernel.
func tileCode(isa jit.ISA, d array.DType, key tileKey) *jit.Code {
	if key.pieces || key.across || key.paired {
		return kernel(rareCodes, rareKey{isa, d, key})
	}
	return codeKey{tileRoutine, isa, d == array.Float64, key.mr, key.nv,
		bit(key.kMajor, 0) | bit(key.masked, 1) | key.segments<<2}.code()
}

// A kernelKey names a kernel of which there are too many for a table, and makes it.
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

// A rareKey names a kernel over pieces or one that transposes B:
// one for each width of a convolution's kernel, stride and dilation.
type rareKey struct {
	isa jit.ISA
	d   array.DType
	tileKey
}

var rareCodes = jit.NewCache[rareKey, *jit.Code](1024)

func (k rareKey) generate() *jit.Code {
	g := &gen{isa: k.isa, d: k.d}
	genTile(g, k.tileKey)
	return g.install()
}
