package formula

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"weft/internal/array"
)

// CheckCalls panics with *array.Error if text calls a name as a function whose value is not one.
func CheckCalls(text string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := values[name].(interface{ ExprFunc() any }); ok || slices.Contains(Functions(), name) {
			continue
		}
		if called(text, name) {
			array.Failf("expr", name, "is called as a function in %q: want a *kernel.Func, got %T", text, values[name])
		}
	}
}

// called reports whether text calls the function name: the whole name stands before a parenthesis.
func called(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 || name == "" {
			return false
		}
		before := text[:len(text)-len(rest)+i]
		rest = rest[i+len(name):]
		last, _ := utf8.DecodeLastRuneInString(before)
		longer := before != "" && (last == '_' || unicode.IsLetter(last) || unicode.IsNumber(last))
		if !longer && strings.HasPrefix(strings.TrimLeft(rest, " \t\n\f\r"), "(") {
			return true
		}
	}
}
