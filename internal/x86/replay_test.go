package x86

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// TestRecordsDifferByTheChangedProgram compiles programs in child processes that record them. The
// records of two children are equal. The records of a child with another instruction in its table
// differ by the program that needs it.
func TestRecordsDifferByTheChangedProgram(t *testing.T) {
	const variable = "WEFT_REPLAY_CHILD"
	add, sub := replayed(loop.OpAdd), replayed(loop.OpSub)
	if s := os.Getenv(variable); s != "" {
		if s == "other" {
			direct[jit.AVX512][loop.OpSub][loop.F32] = asm.VADDPS
		}
		for _, p := range []*loop.Program{add, sub, add} {
			if _, err := Compile(p, jit.AVX512); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	record := func(child string) map[string]string {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestRecordsDifferByTheChangedProgram$")
		cmd.Env = append(os.Environ(), "WEFT_REPLAY="+dir, variable+"="+child)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("SKIPPED: this program runs in an emulator and cannot start itself")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		codes := map[string]string{}
		for _, line := range lines {
			var r jit.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			codes[r.Text] = r.Code
		}
		if len(lines) != 2 || codes[add.Canonical()] == "" || codes[sub.Canonical()] == "" {
			t.Fatalf("recorded, of two programs that were compiled:\n%s", text)
		}
		return codes
	}
	first, second, other := record("same"), record("same"), record("other")
	for _, p := range []*loop.Program{add, sub} {
		text := p.Canonical()
		if first[text] != second[text] {
			t.Errorf("two processes made other code of\n%s", text)
		}
		if changed := first[text] != other[text]; changed != (p == sub) {
			t.Errorf("with another instruction for sub, changed is %v for\n%s", changed, text)
		}
	}
}

// replayed is an operation on two arrays of float32.
func replayed(op loop.Op) *loop.Program {
	b := loop.NewBuilder(op.String(), []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, y, out := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() { b.Store(out, b.Binary(op, b.Load(x), b.Load(y))) })
	return b.Finish()
}
