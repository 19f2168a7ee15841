package weft

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// segment makes one with a name that nothing else has.
func segment(t *testing.T, bytes int) *Segment {
	t.Helper()
	s, err := Share(fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name()), bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Two processes, one memory: the child sees what the parent wrote, and the other way round.
func TestShareChild(t *testing.T) {
	if flag.NArg() == 2 && flag.Arg(0) == "share" {
		child(flag.Arg(1))
		return
	}
	s := segment(t, 4096)
	x := s.Tensor(0, Float32, 2, 3)
	y := s.Tensor(1024, Int64, 4)
	x.Assign(From([][]float32{{1, 2, 3}, {4, 5, 6}}))

	cmd := exec.Command(os.Args[0], "-test.run=^TestShareChild$", "share", s.Name())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIPPED: no child process can be started: %v", err)
	}
	step := func(want string) {
		t.Helper()
		fmt.Fprintln(in, "go")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
			t.Fatalf("the child says %q (%v), want %q", got, err, want)
		}
	}
	step("4096 bytes, sum 21\n")
	x.Fill(2)
	step("sum 12\n") // and now the child writes
	if got := Data[int64](y); got[3] != 12 {
		t.Errorf("the child wrote %v", got)
	}
	// The name and this side are gone, the child still has the memory.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenShared(s.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that was removed: %v", err)
	}
	x.Fill(3)
	step("sum 18\n")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := x.Sum().Item(); got != 18 {
		t.Errorf("the sum is %v after all was closed", got)
	}
}

func child(name string) {
	s, err := OpenShared(name)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	x := s.Tensor(0, Float32, 2, 3)
	wait := func() { fmt.Scanln(new(string)) }
	wait()
	fmt.Printf("%d bytes, sum %v\n", s.Size(), x.Sum().Item())
	wait()
	s.Tensor(1024, Int64, 4).Assign(x.Sum().To(Int64))
	fmt.Printf("sum %v\n", x.Sum().Item())
	if err := s.Close(); err != nil { // tensors stay
		fmt.Println(err)
	}
	wait()
	fmt.Printf("sum %v\n", x.Sum().Item())
	os.Exit(0)
}

func TestShareRefuses(t *testing.T) {
	s := segment(t, 64)
	if _, err := Share(s.Name(), 128); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "of 64 bytes") {
		t.Errorf("a name that exists: %v", err)
	}
	for _, name := range []string{"", ".", "..", ".x", "a/b", "../x", `a\b`, "a b", "a\x00", "é", strings.Repeat("a", 201)} {
		if _, err := Share(name, 1); err == nil || !strings.Contains(err.Error(), "not a name") {
			t.Errorf("Share(%q): %v", name, err)
		}
		if _, err := OpenShared(name); err == nil || !strings.Contains(err.Error(), "not a name") {
			t.Errorf("OpenShared(%q): %v", name, err)
		}
	}
	for _, n := range []int{0, -1, 1 << 62, 1 << 55} {
		if _, err := Share("never", n); err == nil {
			t.Errorf("a segment of %d bytes is made", n)
		}
		if _, err := OpenShared("never"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a segment that could not be made is there: %v", err)
		}
	}
	for _, c := range []struct {
		offset int
		d      DType
		shape  []int
		msg    string
	}{
		{0, Float32, []int{17}, "takes 68 bytes from byte 0 on, the segment"},
		{64, Uint8, []int{1}, "takes 1 bytes from byte 64 on"},
		{8, Float64, []int{8}, "takes 64 bytes from byte 8 on"},
		{1 << 62, Float64, []int{}, "takes 8 bytes"},
		{2, Float32, []int{1}, "not a multiple of the 4 bytes"},
		{-4, Float32, []int{1}, "negative"},
		{0, Float32, []int{-1}, "negative"},
		{0, Float32, []int{1 << 40, 1 << 40}, "overflows"},
		{0, DType(99), []int{1}, "not supported"},
	} {
		var e *Error
		if err := Try(func() { s.Tensor(c.offset, c.d, c.shape...) }); !errors.As(err, &e) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%v at %d: got error %v, want one with %q", c.shape, c.offset, err, c.msg)
		}
	}
	for _, d := range array15() {
		x := s.Tensor(0, d, 64/d.Size())
		if err := Try(func() { x.Zero() }); err != nil || x.Size() != 64/d.Size() {
			t.Errorf("%s: %v", d, err)
		}
	}
	if x := s.Tensor(64, Float64, 0, 3); x.Size() != 0 || x.Sum().Item() != 0 {
		t.Error("no elements at the end")
	}
	x := s.Tensor(0, Float32, 16)
	x.Fill(1)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := Try(func() { s.Tensor(0, Float32) }); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("a closed segment: %v", err)
	}
	runtime.GC()
	if got := x.Sum().Item(); got != 16 {
		t.Errorf("a tensor of a closed segment sums to %v", got)
	}
	y := x.Slice(Range(0, 4))
	x.Release()
	if err := Try(func() { y.Sum() }); err == nil {
		t.Error("released memory is used")
	}
	for _, s := range []*Segment{nil, {}} {
		for _, f := range []func(){func() { s.Name() }, func() { s.Size() }, func() { s.Close() }, func() { s.Unlink() }, func() { s.Tensor(0, Float32) }} {
			if err := Try(f); err == nil || !strings.Contains(err.Error(), "zero Segment") {
				t.Errorf("%v", err)
			}
		}
	}
}

// array15 are all element types.
func array15() []DType {
	var all []DType
	for d := Bool; d.Supported(); d++ {
		all = append(all, d)
	}
	return all
}

// A segment that a process left behind can be opened, and its name removed.
func TestShareLeftBehind(t *testing.T) {
	s := segment(t, 8)
	s.Tensor(0, Float64).Fill(5)
	other, err := OpenShared(s.Name())
	if err != nil {
		t.Fatal(err)
	}
	x := other.Tensor(0, Float64)
	for range 2 {
		if err := other.Unlink(); err != nil && runtime.GOOS != "windows" {
			t.Error(err)
		}
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if x.Item() != 5 {
		t.Error("the memory is gone with its name")
	}
	// A file of that name that is cut is an error where it is used.
	path, _ := segmentPath(s.Name())
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenShared(s.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
}
