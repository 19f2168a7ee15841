package mapped

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"weft/internal/array"
)

// A file that loses a byte of its last page, which no fault shows, is refused outside of runs, and by the first use
// after a run began. Further uses of that run do not look the size up.
func TestSizeIsLookedUpOnceInARun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not cut mapped files")
	}
	path := filepath.Join(t.TempDir(), "x")
	whole := make([]byte, 100)
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil { // cuts the file that is there
			t.Fatal(err)
		}
	}
	write(whole)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(f, CopyOnWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	st := m.Storage(0, len(whole))
	refused := func() bool { return array.Try(func() { st.Ready() }) != nil }
	step := func(what string, want bool) {
		t.Helper()
		if got := refused(); got != want {
			t.Errorf("%s: refused is %v, want %v", what, got, want)
		}
	}
	step("whole", false)
	write(whole[:99])
	step("cut, outside of runs", true)
	write(whole)
	Enter()
	step("whole, in a run", false)
	write(whole[:99])
	step("cut in the run that has looked", false)
	Enter()
	step("cut, in a later run", true)
	step("cut, and used again there", true)
	Leave()
	Leave()
	step("cut, after the runs", true)
	write(whole)
	step("whole again", false)
}
