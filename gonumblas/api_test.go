package gonumblas

import (
	"testing"

	"weft/internal/api"
)

// TestAPI compares what is exported with docs/api/gonumblas.txt.
func TestAPI(t *testing.T) {
	pkgs, err := api.Public(".")
	if err != nil || len(pkgs) != 1 {
		t.Fatal(pkgs, err)
	}
	for _, p := range pkgs {
		if err := api.Compare(p, "../docs/api"); err != nil {
			t.Error(err)
		}
	}
}
