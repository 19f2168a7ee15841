//go:build amd64

package x86

import (
	"bufio"
	"regexp"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
)

// TestReloadedConstants demands that the common path of a loop loads constants as whole vectors,
// without a broadcast.
func TestReloadedConstants(t *testing.T) {
	label := regexp.MustCompile(`(L\d+)(:?)$`)
	for _, d := range []array.DType{array.Float32, array.Float64} {
		text, err := Explain(formula(t, d), jit.AVX512)
		if err != nil {
			t.Fatal(err)
		}
		inLoop, over, whole := false, "", 0
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			line := s.Text()
			m := label.FindStringSubmatch(line)
			switch {
			case m != nil && m[2] == ":":
				inLoop = true
				if m[1] == over {
					over = ""
				}
			case over != "" || !inLoop: // what runs rarely or before
			case strings.Contains(line, "\tje "):
				over = m[1]
			case strings.Contains(line, "vbroadcast"):
				t.Errorf("%v: %s", d, line)
			case strings.Contains(line, "vmovups zmm") && strings.Contains(line, "[rip+"):
				whole++
			}
		}
		if whole == 0 {
			t.Errorf("%v: no constant is loaded as a vector", d)
		}
	}
}
