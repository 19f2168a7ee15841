package ahead

import (
	"fmt"
	"regexp"
	"slices"

	"weft/internal/gokernel"
)

var declared = regexp.MustCompile(`(?m)^func (\w+)`)

// withSpecials appends the source of special functions of package kernel to that of a function, if
// it uses some, and returns the names in uses that are not special functions.
func (u *unit) withSpecials(uses []string) (rest []string, err error) {
	text := gokernel.SpecialSource()
	var names []string
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, name := range uses {
		if !slices.Contains(gokernel.Specials, name) {
			rest = append(rest, name)
		}
	}
	if len(rest) == len(uses) {
		return rest, nil
	}
	for _, name := range names {
		if declares(u.Source, name) {
			return nil, fmt.Errorf("build: the source declares %s, which is a name of the package", name)
		}
	}
	u.Source += "\n\n" + text
	if !slices.Contains(u.Imports, `"math"`) {
		u.Imports = append(u.Imports, `"math"`)
		slices.Sort(u.Imports)
	}
	return rest, nil
}
