//go:build amd64

package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// language is what random programs for this backend consist of: everything but what is
// listed, which it does not compile yet.
var language = loopgen.Language{DTypes: array.DTypes(), Lacks: []loopgen.Item{
	{Type: loop.I8}, {Type: loop.I16},
	{Step: loop.By2}, {Step: loop.By3}, {Step: loop.By4},
}}
