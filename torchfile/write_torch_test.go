package torchfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"weft"
	"weft/torchfile"
)

// With WEFT_BENCH_PYTHON=python, PyTorch reads what is written: weights_only=True refuses all that is not data.
func TestPyTorchReadsWhatIsWritten(t *testing.T) {
	python := os.Getenv("WEFT_BENCH_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: no counterpart: WEFT_BENCH_PYTHON names no Python with torch, which would read what is written")
	}
	dir := t.TempDir()
	for _, file := range []string{"containers2.pt", "dtypes.pt", "views.pt", "checkpoint.pt"} {
		d := load(t, file).(*torchfile.Dict)
		for _, key := range []string{"set", "frozenset", "float8"} {
			if _, ok := d.Get(key); ok {
				d.Set(key, nil)
			}
		}
		if err := torchfile.WriteFile(filepath.Join(dir, file), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := torchfile.WriteFile(filepath.Join(dir, "state.pth"), map[string]*weft.Tensor{"w": weft.Arange(6).Reshape(2, 3).T()}); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "testdata/check.py", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
