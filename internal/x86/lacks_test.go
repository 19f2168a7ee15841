//go:build amd64

package x86

import (
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// language is what random programs for this backend consist of: everything but what is
// listed, which it does not compile yet.
var language = loopgen.Language{Lacks: []loopgen.Item{{Type: loop.I8}, {Type: loop.I16}}}
