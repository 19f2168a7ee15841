package formula

import (
	"maps"
	"regexp"
	"slices"

	"weft/internal/array"
)

// CheckCalls panics with *array.Error if text calls a name as a function whose value is not one.
func CheckCalls(text string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := values[name].(interface{ ExprFunc() any }); ok || slices.Contains(Functions(), name) {
			continue
		}
		if regexp.MustCompile(`(?:^|[^\pL\pN_])` + regexp.QuoteMeta(name) + `\s*\(`).MatchString(text) {
			array.Failf("expr", name, "is called as a function in %q: want a *kernel.Func, got %T", text, values[name])
		}
	}
}
