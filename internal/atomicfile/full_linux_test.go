package atomicfile

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFull runs itself in a namespace of its own, where it may mount a tiny
// file system that goes away with the process.
func TestDiskFull(t *testing.T) {
	if os.Getenv("ATOMICFILE_IN_NAMESPACE") == "" {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestDiskFull$", "-test.v")
		cmd.Env = append(os.Environ(), "ATOMICFILE_IN_NAMESPACE=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err != nil && !errors.As(err, &exit):
			t.Skipf("SKIPPED: no namespace to mount a small file system in: %v", err)
		case strings.Contains(string(out), "--- SKIP"):
			t.Skipf("SKIPPED: %s", out)
		case err != nil || !strings.Contains(string(out), "--- PASS"):
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}

	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("SKIPPED: cannot mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "f")
	old := strings.Repeat("o", 20_000)
	if err := Write(path, text(old)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{60_000, 10 << 20} { // full at the flush, full on the way
		err := Write(path, text(strings.Repeat("n", n)))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: got %v, want %v", n, err, syscall.ENOSPC)
		}
		want(t, path, old)
	}
	if err := Write(path, text("short")); err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	want(t, path, "short")
}

func TestDevices(t *testing.T) {
	if err := Write("/dev/full", text("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("/dev/full: %v", err)
	}
	if err := Write("/dev/null", text("x")); err != nil {
		t.Errorf("/dev/null: %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "p")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			done <- err.Error()
			return
		}
		defer f.Close()
		b, _ := io.ReadAll(f)
		done <- string(b)
	}()
	if err := Write(pipe, text("through")); err != nil {
		t.Error(err)
	}
	if got := <-done; got != "through" {
		t.Errorf("the pipe gave %q", got)
	}
}
