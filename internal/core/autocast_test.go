package core

import (
	"testing"

	"weft/internal/op"
)

// TestAutocastLists: each name of the lists is an operation, and stands once.
func TestAutocastLists(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range [][]string{lowered, raised} {
		for _, name := range list {
			if op.Named(name) == nil || seen[name] {
				t.Errorf("%s is no operation, or stands twice", name)
			}
			seen[name] = true
		}
	}
}
