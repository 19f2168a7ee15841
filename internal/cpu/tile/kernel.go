package tile

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// A tileCode is the cache key of a tile kernel.
type tileCode struct {
	isa jit.ISA
	d   array.DType
	Key
}

var tiles = jit.NewCache[tileCode, *jit.Code](0)

func (k tileCode) Generate() *jit.Code {
	if jit.Recording() && k.plain() {
		// Mr and Prefetch depend on how tasks are cut, and so on the threads that are awake.
		// All tiles with these vectors are recorded, so that every run records the same.
		for mr := 1; mr <= MaxRows(k.isa, k.Nv); mr++ {
			for _, prefetch := range []bool{false, true} {
				other := k
				other.Mr, other.Prefetch = mr, prefetch
				other.install()
			}
		}
	}
	return k.install()
}

func (k tileCode) install() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	genTile(g, k.Key)
	return g.Install(k)
}

// plain holds the kernels of plain matmul tiles in an array: a small product takes a fifth
// longer if each kernel is looked up by its key.
var plain [jit.AVX512 + 1][2]atomic.Pointer[plainTiles]

type plainTiles [(maxRows + 1) * (maxVectors + 1) * 8]atomic.Pointer[jit.Code]

// maxRows is the most rows of a tile with any instruction set.
const maxRows = 14

// plain reports whether the tile belongs to a plain matmul: no table, pieces or transposed B.
func (k Key) plain() bool { return k.Segments == 0 && !k.Pieces && !k.Across }

// Tile returns the kernel of a tile.
func (m Machine) Tile(key Key) *jit.Code {
	if !key.plain() {
		return codegen.Kernel(tiles, tileCode{m.ISA, m.D, key})
	}
	by := &plain[m.ISA][0]
	if m.D == array.Float64 {
		by = &plain[m.ISA][1]
	}
	t := by.Load()
	if t == nil {
		by.CompareAndSwap(nil, new(plainTiles))
		t = by.Load()
	}
	i := (key.Mr*(maxVectors+1) + key.Nv) * 8
	if key.Prefetch {
		i += 4
	}
	if key.KMajor {
		i += 2
	}
	if key.Masked {
		i++
	}
	c := t[i].Load()
	if c == nil {
		c = codegen.Kernel(tiles, tileCode{m.ISA, m.D, key})
		t[i].Store(c)
	}
	return c
}

// Tile runs the kernel of a tile. It caches the last four kernels that are not plain, because a
// loop over rows of images and panels uses them in turn.
func (f *Frame) Tile(m Machine, key Key) {
	if f.cNext = f.CPanel; f.cNext == 0 {
		f.cNext = f.CStep * key.Mr
	}
	if key.Segments == 0 && !key.Pieces {
		jit.Call(m.Tile(key), 0, unsafe.Pointer(f))
		return
	}
	at := key.Mr & 1
	if key.Masked {
		at += 2
	}
	k := &f.known[at]
	if k.code == nil || k.key != key {
		k.key, k.code = key, m.Tile(key)
	}
	jit.Call(k.code, 0, unsafe.Pointer(f))
}
