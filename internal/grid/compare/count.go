package compare

import (
	"os"
	"strconv"
	"testing"
)

// Count returns the number of cases that a test compares, the first of them, or the like: what an
// environment variable holds, else n.
func Count(t *testing.T, name string, n int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return n
	}
	x, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}
