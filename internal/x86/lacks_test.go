//go:build amd64

package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// language is what random programs for this backend consist of: everything but what is
// listed, which it does not compile yet.
var language = loopgen.Language{
	DTypes: []array.DType{array.Bool, array.Uint8, array.Int32, array.Uint32, array.Int64, array.Uint64, array.Float16, array.BFloat16, array.Float32, array.Float64},
	Lacks: []loopgen.Item{
		{Type: loop.I8}, {Type: loop.I16},
	},
}
