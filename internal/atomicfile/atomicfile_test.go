package atomicfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ATOMICFILE_WRITE_FOREVER"); path != "" {
		writeForever(path)
	}
	os.Exit(m.Run())
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// want checks the contents of path and that nothing else is in its directory.
func want(t *testing.T, path, contents string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != contents {
		t.Errorf("%d bytes %.20q, want %d bytes %.20q", len(got), got, len(contents), contents)
	}
	wantFiles(t, filepath.Dir(path), 1)
}

func wantFiles(t *testing.T, dir string, n int) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != n {
		t.Errorf("the directory holds %v, want %d entries", list, n)
	}
}

func TestCreateAndReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, s := range []string{"one", "", string(bytes.Repeat([]byte("two"), 1<<20))} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		want(t, path, s)
	}
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("f", text("x")); err != nil {
		t.Fatal(err)
	}
	want(t, "f", "x")
}

func TestFailingWriterKeepsTheOldFile(t *testing.T) {
	boom := errors.New("boom")
	path := filepath.Join(t.TempDir(), "f")
	fail := func(w io.Writer) error {
		w.Write(make([]byte, 3*bufBytes))
		return boom
	}
	if err := Write(path, fail); err != boom {
		t.Fatalf("got %v", err)
	}
	wantFiles(t, filepath.Dir(path), 0)

	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, fail); err != boom {
		t.Fatalf("got %v", err)
	}
	want(t, path, "old")
}

func TestPanicKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v", r)
			}
		}()
		Write(path, func(w io.Writer) error { w.Write([]byte("new")); panic("boom") })
	}()
	want(t, path, "old")
}

func TestBadPaths(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "f"), text("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if err := Write(dir, text("x")); err == nil {
		t.Error("a directory was accepted")
	}
	if err := Write("", text("x")); err == nil {
		t.Error("the empty path was accepted")
	}
	wantFiles(t, dir, 0)
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has no permission bits")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, text("x")); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mode := func(path string) fs.FileMode {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Mode()
	}
	if mode(path) != mode(plain) {
		t.Errorf("a new file has mode %v, os.WriteFile gives %v", mode(path), mode(plain))
	}
	for _, m := range []fs.FileMode{0o600, 0o666, 0o640} {
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text("y")); err != nil {
			t.Fatal(err)
		}
		if mode(path) != m {
			t.Errorf("mode %v became %v", m, mode(path))
		}
	}
}

func TestSymlink(t *testing.T) {
	dir, links := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(links, "l")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	if err := Write(link, text("x")); err == nil {
		t.Error("a dangling link was accepted")
	}
	wantFiles(t, links, 1)
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	want(t, path, "new")
	wantFiles(t, links, 1)
	if st, err := os.Lstat(link); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", st, err)
	}
}

func TestStaleFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	old := time.Now().Add(-48 * time.Hour)
	for name, kept := range map[string]bool{
		".f.0123abcd.tmp": false, ".f.ffffffff.tmp": false,
		".f.0123abcg.tmp": true, ".f.0123abcd.tmq": true, ".g.0123abcd.tmp": true, ".f.123.tmp": true,
	} {
		if stale(name, "f") == kept {
			t.Errorf("stale(%q) = %v", name, kept)
		}
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(path, text("x")); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, 5)
}

func TestLiveTemporaryIsNotStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	err := Write(path, func(w io.Writer) error {
		if err := Write(path, text("inner")); err != nil {
			return err
		}
		return text("outer")(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, path, "outer")
}

// pattern returns contents of a file in which every part shows whether it belongs to
// the others: a word repeated as often as it says.
func pattern(n uint64) []byte {
	b := make([]byte, 0, 8*n)
	for range n {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func checkPattern(b []byte) error {
	if len(b) < 8 {
		return fmt.Errorf("%d bytes", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if uint64(len(b)) != 8*n || !bytes.Equal(b, pattern(n)) {
		return fmt.Errorf("%d bytes of a file of %d words", len(b), n)
	}
	return nil
}

func writePattern(path string) error {
	b := pattern(1 + rand.Uint64N(1<<16))
	return Write(path, func(w io.Writer) error {
		for len(b) > 0 {
			k := min(len(b), 10_000)
			if _, err := w.Write(b[:k]); err != nil {
				return err
			}
			b = b[k:]
		}
		return nil
	})
}

func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if err := writePattern(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPattern(b); err != nil {
		t.Error(err)
	}
	wantFiles(t, filepath.Dir(path), 1)
}

// writeForever says when it has written once.
func writeForever(path string) {
	for i := 0; ; i++ {
		if err := writePattern(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if i == 0 {
			os.Stdout.WriteString("1")
		}
	}
}

func TestKill(t *testing.T) {
	kills := 25
	if s := os.Getenv("ATOMICFILE_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := writePattern(path); err != nil {
		t.Fatal(err)
	}
	left, changed := 0, 0
	last, _ := os.ReadFile(path)
	for range kills {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "ATOMICFILE_WRITE_FOREVER="+path)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.Start()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("SKIPPED: this program runs in an emulator and cannot start itself")
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(stdout, make([]byte, 1)); err == nil {
			time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
		}
		cmd.Process.Kill()
		cmd.Wait()
		if stderr.Len() > 0 {
			t.Fatalf("the child failed: %s", stderr.String())
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPattern(b); err != nil {
			t.Fatalf("after a kill the file is not whole: %v", err)
		}
		if !bytes.Equal(b, last) {
			changed++
			last = b
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		left += len(list) - 1
	}
	t.Logf("%d kills: %d left a temporary file, %d children had replaced the file", kills, left, changed)
	if changed == 0 {
		t.Error("no child replaced the file")
	}
	if runtime.GOOS != "windows" { // there, recent files are spared
		if err := Write(path, text("end")); err != nil {
			t.Fatal(err)
		}
		want(t, path, "end")
	}
}

// TestLock has one holder at a time, and a file left behind by a process that died locks nothing.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var holders, most, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				unlock, err := Lock(path)
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				taken.Add(1)
				if n := holders.Add(1); n > 1 {
					most.Store(n)
				}
				runtime.Gosched()
				holders.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if most.Load() > 0 || taken.Load() == 0 {
		t.Errorf("%d holders at once; taken %d times", most.Load(), taken.Load())
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
	if _, err := Lock(filepath.Join(path, "no", "where")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a lock in no folder: %v", err)
	}
}
