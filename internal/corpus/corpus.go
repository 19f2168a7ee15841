// Package corpus reads what fuzz campaigns found worth keeping: inputs that reach code
// which no other does, a quoted Go string a line. Tests of the packages that parse them
// run all of it.
package corpus

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Read returns the inputs in a file.
func Read(tb testing.TB, path string) (inputs []string) {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			tb.Fatalf("%s: %s: %v", path, line, err)
		}
		inputs = append(inputs, s)
	}
	return inputs
}
