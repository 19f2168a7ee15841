package gokernel_test

import (
	"strings"
	"testing"

	. "weft/internal/gokernel"
)

// An index into an array variable that is outside whatever the arguments is refused at its
// place; one that may be inside, or that may not be reached, is not.
func TestArrayIndexIsProvenOutside(t *testing.T) {
	for text, want := range map[string]string{
		"i := 7; return a[i]":                                                   "index 7 is outside of an array of 3 elements",
		"i := -1; return a[i]":                                                  "index -1 is outside of an array of 3 elements",
		"i := 3; a[i] = x; return a[0]":                                         "index 3 is outside of an array of 3 elements",
		"i := 3; a[i] += x; return a[0]":                                        "index 3 is outside of an array of 3 elements",
		"for i := range 4 { x += a[i] }; return x":                              "index 3 is outside of an array of 3 elements",
		"for i := 0; i <= 3; i++ { a[i] = x }; return x":                        "index 3 is outside of an array of 3 elements",
		"return a[int(x)&3+3]":                                                  "the index is outside of an array of 3 elements, whatever the arguments",
		"return a[min(int(x), -1)]":                                             "the index is outside of an array of 3 elements, whatever the arguments",
		"return get(a, 5)":                                                      "index 5 is outside of an array of 3 elements",
		"i := 2; return a[i]":                                                   "",
		"return a[int(x)]":                                                      "",
		"return a[int(x)&3]":                                                    "",
		"return a[int(x)+4]":                                                    "",
		"i := 3; if x > 0 { return a[i] }; return x":                            "",
		"i := 3; if x > 0 && a[i] > 0 { x++ }; return x":                        "",
		"i := 3; for x > 0 { x -= a[i] }; return x":                             "",
		"for i := range 4 { if i == 3 { break }; x += a[i] }; return x":         "",
		"for i := range 4 { if float64(i) > x { break }; x += a[i] }; return x": "",
		"for i := range 4 { if i < len(a) { x += a[i] } }; return x":            "",
		"i := 3; switch { case x > 0: x = a[i] }; return x":                     "",
	} {
		s, err := Parse(File{Src: []byte("package k\nfunc get(a [3]float64, i int) float64 { return a[i] }\nfunc F(x float64) float64 { var a [3]float64; a[1] = x; " + text + " }")})
		if err == nil {
			_, err = s.Func("F")
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
