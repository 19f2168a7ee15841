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

type plainTiles [(maxRows + 1) * (maxVectors + 1) * 8]codegen.Late

// maxRows is the most rows of a tile with any instruction set.
const maxRows = 14

// plain reports whether the tile belongs to a plain matmul: no table, pieces or transposed B.
func (k Key) plain() bool { return k.Segments == 0 && !k.Pieces && !k.Across }

// plainTiles returns the kernels of plain tiles.
func (m Machine) plainTiles() *plainTiles {
	by := &plain[m.ISA][0]
	if m.D == array.Float64 {
		by = &plain[m.ISA][1]
	}
	t := by.Load()
	if t == nil {
		by.CompareAndSwap(nil, new(plainTiles))
		t = by.Load()
	}
	return t
}

// at returns the kernel of a plain tile.
func (t *plainTiles) at(key Key) *codegen.Late {
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
	return &t[i]
}

// others holds the kernels that are not plain.
var others = codegen.NewLates[tileCode]()

// kernel returns the kernel of a key.
func (m Machine) kernel(key Key) *jit.Code {
	return codegen.Kernel(tiles, tileCode{m.ISA, m.D, key})
}

// work returns the work of a tile as [codegen.Late] counts it. General kernels do not prefetch, so
// they lose twice as much where it pays.
func (k Key) work(f *Frame) int {
	n := (k.Mr*k.Nv*f.K + panelWork) * f.Panels * max(1, f.Tiles)
	if k.Prefetch {
		n *= 2
	}
	return n
}

// panelWork is what a panel counts for beside its sums: with few terms, general kernels lose more time
// around the sums than in them.
const panelWork = 4096

// Tile runs the kernel of a tile, or the general kernel until that one is generated. It caches the
// last four kernels that are not plain, because a loop over rows of images and panels uses them in
// turn.
func (f *Frame) Tile(m Machine, key Key) {
	f.biasNext = key.Mr * m.Size
	if f.cNext = f.CPanel; f.cNext == 0 {
		f.cNext = f.CStep * key.Mr
	}
	var late *codegen.Late
	if key.plain() {
		late = m.plainTiles().at(key)
	} else {
		at := key.Mr & 1
		if key.Masked {
			at += 2
		}
		k := &f.known[at]
		if k.late == nil || k.key != key {
			k.key, k.late = key, others.Of(tileCode{m.ISA, m.D, key})
		}
		late = k.late
	}
	c := late.Code()
	if c == nil {
		if !key.Pieces && !key.Across && !late.Due(key.work(f)) {
			f.general(m, key)
			return
		}
		c = late.Set(m.kernel(key))
	}
	jit.Call(c, 0, unsafe.Pointer(f))
}

// AcrossDue reports whether a tile that transposes B may be computed, in products with work
// fused multiply-adds of vectors. No general kernel computes such tiles, but to pack B does instead.
func (m Machine) AcrossDue(mr, work int) bool {
	late := others.Of(tileCode{m.ISA, m.D, Key{Mr: mr, Nv: m.AcrossWidth(mr), Across: true}})
	return late.Code() != nil || late.Due(work)
}
