package core_test

import (
	"testing"

	"weft/internal/core"
	"weft/internal/op"
)

// TestAutocastLists: each name of the lists is an operation, and stands once.
func TestAutocastLists(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range core.AutocastLists() {
		for _, name := range list {
			if op.Named(name) == nil || seen[name] {
				t.Errorf("%s is no operation, or stands twice", name)
			}
			seen[name] = true
		}
	}
}
