package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/saved"
)

// TestOpSetVersion holds the op table to the list of the current version. A line that is gone or changed
// makes files of that version unreadable, unless reading translates it. New operations are added to the
// list of the next version, when [saved.OpSet] is raised for a release.
func TestOpSetVersion(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "testdata", fmt.Sprintf("operations%d.txt", saved.OpSet)))
	if err != nil {
		t.Fatal(err)
	}
	now := saved.Operations()
	for line := range strings.Lines(string(want)) {
		begin := "\n" + line
		if strings.HasPrefix(line, "parameters ") { // fields can be added behind the others
			begin = strings.TrimRight(begin, "}\n")
		}
		if !strings.Contains("\n"+now, begin) {
			t.Errorf("files of version %d can have the operation %q, which is gone or changed", saved.OpSet, strings.TrimSpace(line))
		}
	}
}
