//go:build amd64

package x86

import "weft/internal/loop/loopgen"

// language is what random programs for this backend consist of: everything.
var language = loopgen.Language{}
