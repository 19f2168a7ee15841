// Package sci has the tests that all packages of the module share.
package sci

import (
	"testing"

	"weft/internal/api"
)

// TestAPI compares what is exported with the files of docs/api.
func TestAPI(t *testing.T) {
	pkgs, err := api.Public(".")
	if err != nil || len(pkgs) == 0 {
		t.Fatal(pkgs, err)
	}
	for _, p := range pkgs {
		if err := api.Compare(p, "../docs/api"); err != nil {
			t.Error(err)
		}
	}
}
