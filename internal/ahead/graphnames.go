package ahead

import (
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Names of inputs, outputs and lengths become parameters of Go functions. Files may have any text as a name.

// graphReserved are names that the templates of graphs use where parameters are visible.
var graphReserved = strings.Fields(`
	_ aot append at bits bool bytes complex128 complex64 constant constants copy defer divides embed false float32
	float64 fmt init int int16 int32 int64 int8 kernel kernels launch len lengths machine make math max memory
	memoryOf min new nil number numbers panic place plain plan program rand random range reflect run same slot state
	string sync t take temporary testing true uint16 uint32 uint64 uint8 uintptr unsafe vector wants wantsLength
	NewState State slices inBlocks treeOf nRows nBlocks nRest nGroups nApart nAt nParts partsFrom cosine powerOf`)

// graphNumbered are names that templates make of a number or another name.
var graphNumbered = regexp.MustCompile(`^(steps|around|kernel)[0-9]*$|^want.*[^_]$`)

// unused returns a name as an identifier of Go that neither another parameter nor the package has.
func (u *graphUnit) unused(name string) string {
	name = identifier(name)
	taken := func(name string) bool {
		return token.IsKeyword(name) || slices.Contains(graphReserved, name) || graphNumbered.MatchString(name) || slices.Contains(u.Free, name) || slices.ContainsFunc(u.All(), func(a argument) bool { return a.Name == name })
	}
	for taken(name) {
		name += "_"
	}
	return name
}

// identifier replaces what identifiers of Go cannot have.
func identifier(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return r
	}, name)
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		name = "_" + name
	}
	return name
}
