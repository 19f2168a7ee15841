//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the command where TestSignalsLeaveNoFiles asks for it.
func TestMain(m *testing.M) {
	if line := os.Getenv("WEFT_TEST_COMMAND"); line != "" {
		os.Args = append([]string{"weft"}, strings.Fields(line)...)
		main()
	}
	os.Exit(m.Run())
}

// A command that a signal ends while it writes its result leaves neither a part of it nor the old result changed.
func TestSignalsLeaveNoFiles(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const floats = 32 << 20
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		head := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (33554432,), }"
		head += strings.Repeat(" ", 127-len(head)) + "\n"
		old := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }"
		old += strings.Repeat(" ", 127-len(old)) + "\n"
		for name, text := range map[string]string{"x.npy": head, "y.npy": old} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Truncate(filepath.Join(dir, "x.npy"), int64(len(head)+4*floats)); err != nil { // the rest is 0
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "WEFT_TEST_COMMAND=eval x+1 x=x.npy -o y.npy")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		parts := func() []string {
			list, err := filepath.Glob(filepath.Join(dir, ".y.npy.*"))
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		for deadline := time.Now().Add(time.Minute); len(parts()) == 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		cmd.Process.Signal(s)
		cmd.Wait()
		if list := parts(); len(list) > 0 {
			t.Errorf("%v leaves %v", s, list)
		}
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != s {
			t.Errorf("%v ends the command with %v", s, cmd.ProcessState)
			continue // it was done before
		}
		if now, err := os.ReadFile(filepath.Join(dir, "y.npy")); err != nil || string(now) != old {
			t.Errorf("%v: the old result has %d bytes, %v", s, len(now), err)
		}
	}
}
