package tile

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/jit"
)

// A tileCode names the kernel of a tile.
type tileCode struct {
	isa jit.ISA
	d   array.DType
	Key
}

var tiles = jit.NewCache[tileCode, *jit.Code](0)

func (k tileCode) Generate() *jit.Code {
	g := &gen.Gen{ISA: k.isa, D: k.d}
	genTile(g, k.Key)
	return g.Install()
}

// Tile returns the kernel of a tile.
func (m Machine) Tile(key Key) *jit.Code { return gen.Kernel(tiles, tileCode{m.ISA, m.D, key}) }

// Tile enters the kernel of a tile. It remembers the last two, which a loop over panels
// takes in turn.
func (f *Frame) Tile(m Machine, key Key) {
	k := &f.known[key.Mr&1]
	if k.code == nil || k.key != key {
		k.key, k.code = key, m.Tile(key)
	}
	jit.Call(k.code, 0, unsafe.Pointer(f))
}
