//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/onnx"
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
		cmd := weftCommand(t, dir, "eval x+1 x=x.npy -o y.npy")
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

// A signal ends the run of a model whose loop does not end by itself. It leaves no file.
func TestSignalsEndRuns(t *testing.T) {
	dir := t.TempDir()
	endless := func(x *weft.Tensor) *weft.Tensor {
		return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Ge(0) },
			func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Square()} }, []*weft.Tensor{x})[0]
	}
	if err := onnx.Save(filepath.Join(dir, "endless.onnx"), endless, []any{weft.Scalar(float32(1))}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var errs strings.Builder
		cmd := weftCommand(t, dir, "run endless.onnx x=1 -o y.npy")
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // so that it runs by then; before that the signal ends it as well
		cmd.Process.Signal(s)
		timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		cmd.Wait()
		timer.Stop()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != s {
			t.Errorf("%v ends the run with %v: %s", s, cmd.ProcessState, &errs)
		}
		onlyFiles(t, dir, "endless.onnx")
	}
}

// Results that a full disk or a closed pipe does not take are an error of the command, which leaves no file.
func TestOutputsThatTakeNothing(t *testing.T) {
	dir := t.TempDir()
	double := func(x *weft.Tensor) *weft.Tensor { return x.Mul(2) }
	if err := onnx.Save(filepath.Join(dir, "double.onnx"), double, []any{weft.Scalar(float32(1))}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"", " -o -", " --json"} {
		cmd := weftCommand(t, dir, "run double.onnx x=1"+args)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd.Stdout = w
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() == misuse {
			t.Errorf("a closed pipe: run%s ends with %v", args, cmd.ProcessState)
		}
		w.Close()
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		out, err := weftCommand(t, dir, "run double.onnx x=1 -o /dev/full").CombinedOutput()
		if err == nil || string(out) != "weft: write y to /dev/full: no space left on device\n" {
			t.Errorf("a full disk: %v, %s", err, out)
		}
	}
	onlyFiles(t, dir, "double.onnx")
}

// weftCommand is the command in a process of its own.
func weftCommand(t *testing.T, dir, line string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WEFT_TEST_COMMAND="+line)
	return cmd
}

// onlyFiles checks the names in a folder.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}
