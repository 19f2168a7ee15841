package weft_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"weft"
	"weft/half"
	"weft/internal/mapped"
	"weft/internal/tensortest"
)

// segment makes one with a name that nothing else has.
func segment(t *testing.T, bytes int) *weft.Segment {
	t.Helper()
	s, err := weft.Share(fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name()), bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Two processes, one memory: the child sees what the parent wrote, and the other way round.
func TestShareChild(t *testing.T) {
	tensortest.SkipLate(t, "a segment is memory of the host")
	if flag.NArg() == 2 && flag.Arg(0) == "share" {
		child(flag.Arg(1))
		return
	}
	s := segment(t, 4096)
	x := s.Tensor(0, weft.Float32, 2, 3)
	y := s.Tensor(1024, weft.Int64, 4)
	x.Assign(weft.From([][]float32{{1, 2, 3}, {4, 5, 6}}))

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
	if got := weft.Data[int64](y); got[3] != 12 {
		t.Errorf("the child wrote %v", got)
	}
	// The name and this side are gone, the child still has the memory.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := weft.OpenShared(s.Name()); !errors.Is(err, fs.ErrNotExist) {
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
	s, err := weft.OpenShared(name)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	x := s.Tensor(0, weft.Float32, 2, 3)
	wait := func() { fmt.Scanln(new(string)) }
	wait()
	fmt.Printf("%d bytes, sum %v\n", s.Size(), x.Sum().Item())
	wait()
	s.Tensor(1024, weft.Int64, 4).Assign(x.Sum().To(weft.Int64))
	fmt.Printf("sum %v\n", x.Sum().Item())
	if err := s.Close(); err != nil { // tensors stay
		fmt.Println(err)
	}
	wait()
	fmt.Printf("sum %v\n", x.Sum().Item())
	os.Exit(0)
}

func TestShareRefuses(t *testing.T) {
	tensortest.SkipLate(t, "a segment is memory of the host")
	s := segment(t, 64)
	if _, err := weft.Share(s.Name(), 128); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "of 64 bytes") {
		t.Errorf("a name that exists: %v", err)
	}
	for _, name := range []string{"", ".", "..", ".x", "a/b", "../x", `a\b`, "a b", "a\x00", "é", strings.Repeat("a", 201)} {
		if _, err := weft.Share(name, 1); err == nil || !strings.Contains(err.Error(), "not a name") {
			t.Errorf("Share(%q): %v", name, err)
		}
		if _, err := weft.OpenShared(name); err == nil || !strings.Contains(err.Error(), "not a name") {
			t.Errorf("OpenShared(%q): %v", name, err)
		}
	}
	for _, n := range []int{0, -1, 1 << 62, 1 << 55} {
		if _, err := weft.Share("never", n); err == nil {
			t.Errorf("a segment of %d bytes is made", n)
		}
		if _, err := weft.OpenShared("never"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a segment that could not be made is there: %v", err)
		}
	}
	for _, c := range []struct {
		offset int
		d      weft.DType
		shape  []int
		msg    string
	}{
		{0, weft.Float32, []int{17}, "takes 68 bytes from byte 0 on, the segment"},
		{64, weft.Uint8, []int{1}, "takes 1 bytes from byte 64 on"},
		{8, weft.Float64, []int{8}, "takes 64 bytes from byte 8 on"},
		{1 << 62, weft.Float64, []int{}, "takes 8 bytes"},
		{2, weft.Float32, []int{1}, "not a multiple of the 4 bytes"},
		{-4, weft.Float32, []int{1}, "negative"},
		{0, weft.Float32, []int{-1}, "negative"},
		{0, weft.Float32, []int{1 << 40, 1 << 40}, "overflows"},
		{0, weft.DType(99), []int{1}, "not supported"},
	} {
		var e *weft.Error
		if err := weft.Try(func() { s.Tensor(c.offset, c.d, c.shape...) }); !errors.As(err, &e) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%v at %d: got error %v, want one with %q", c.shape, c.offset, err, c.msg)
		}
	}
	for _, d := range array15() {
		x := s.Tensor(0, d, 64/d.Size())
		if err := weft.Try(func() { x.Zero() }); err != nil || x.Size() != 64/d.Size() {
			t.Errorf("%s: %v", d, err)
		}
	}
	if x := s.Tensor(64, weft.Float64, 0, 3); x.Size() != 0 || x.Sum().Item() != 0 {
		t.Error("no elements at the end")
	}
	x := s.Tensor(0, weft.Float32, 16)
	x.Fill(1)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := weft.Try(func() { s.Tensor(0, weft.Float32) }); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("a closed segment: %v", err)
	}
	runtime.GC()
	if got := x.Sum().Item(); got != 16 {
		t.Errorf("a tensor of a closed segment sums to %v", got)
	}
	y := x.Slice(weft.Range(0, 4))
	x.Release()
	if err := weft.Try(func() { y.Sum() }); err == nil {
		t.Error("released memory is used")
	}
	for _, s := range []*weft.Segment{nil, {}} {
		for _, f := range []func(){func() { s.Name() }, func() { s.Size() }, func() { s.Close() }, func() { s.Unlink() }, func() { s.Tensor(0, weft.Float32) }} {
			if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), "zero Segment") {
				t.Errorf("%v", err)
			}
		}
	}
}

// array15 are all element types.
func array15() []weft.DType {
	var all []weft.DType
	for d := weft.Bool; d.Supported(); d++ {
		all = append(all, d)
	}
	return all
}

// A segment that a process left behind can be opened, and its name removed.
func TestShareOfExitedProcess(t *testing.T) {
	tensortest.SkipLate(t, "a segment is memory of the host")
	s := segment(t, 8)
	s.Tensor(0, weft.Float64).Fill(5)
	other, err := weft.OpenShared(s.Name())
	if err != nil {
		t.Fatal(err)
	}
	x := other.Tensor(0, weft.Float64)
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
	path := segmentFile(s.Name())
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := weft.OpenShared(s.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
}

// segmentFile is the file of a segment.
func segmentFile(name string) string { return filepath.Join(mapped.SharedFolder(), "weft-"+name) }

// aliases checks that tensors of T are the slice that FromSlice was given, and that Borrow
// gives that slice back: the same addresses, and writes that show on both sides.
func aliases[T weft.Element](t *testing.T, d weft.DType, one T) {
	t.Helper()
	data := make([]T, 6)
	x := weft.FromSlice(data, 2, 3)
	if x.DType() != d || tensortest.View(x).Ptr() != unsafe.Pointer(&data[0]) {
		t.Errorf("%T: the tensor is %s at %p, the slice at %p", one, x.DType(), tensortest.View(x).Ptr(), &data[0])
	}
	data[1] = one
	x.Slice(weft.Index(1), weft.Index(2)).Fill(1)
	weft.Borrow(x, func(lent []T) {
		if len(lent) != 6 || &lent[0] != &data[0] || lent[1] != one || lent[5] != one || lent[0] == one {
			t.Errorf("%T: lent %v, the slice is %v", one, lent, data)
		}
		lent[2] = one
	})
	// A view is lent from its own first element on.
	weft.Borrow(x.Slice(weft.Index(1)), func(lent []T) {
		if len(lent) != 3 || &lent[0] != &data[3] {
			t.Errorf("%T: of a view %d elements are lent", one, len(lent))
		}
	})
	if data[2] != one || data[5] != one || weft.Data[T](x)[2] != one {
		t.Errorf("%T: a write does not show: %v", one, data)
	}
	if none := weft.FromSlice([]T(nil)); none.Size() != 0 || none.DType() != d {
		t.Errorf("%T: no elements give %v", one, none)
	}
}

// Slices of every element type go in and out without copying.
func TestSlicesAlias(t *testing.T) {
	tensortest.SkipLate(t, "a slice is memory of the host")
	seen := map[weft.DType]bool{}
	check := func(d weft.DType) weft.DType { seen[d] = true; return d }
	aliases(t, check(weft.Bool), true)
	aliases[int8](t, check(weft.Int8), 1)
	aliases[int16](t, check(weft.Int16), 1)
	aliases[int32](t, check(weft.Int32), 1)
	aliases[int64](t, check(weft.Int64), 1)
	aliases[int](t, check(weft.Int64), 1)
	aliases[uint8](t, check(weft.Uint8), 1)
	aliases[uint16](t, check(weft.Uint16), 1)
	aliases[uint32](t, check(weft.Uint32), 1)
	aliases[uint64](t, check(weft.Uint64), 1)
	aliases(t, check(weft.Float16), half.NewFloat16(1.0))
	aliases(t, check(weft.BFloat16), half.NewBFloat16(1.0))
	aliases[float32](t, check(weft.Float32), 1)
	aliases[float64](t, check(weft.Float64), 1)
	aliases[complex64](t, check(weft.Complex64), 1)
	aliases[complex128](t, check(weft.Complex128), 1)
	if len(seen) != len(array15()) || len(seen) != 15 {
		t.Errorf("%d element types of %d were tried", len(seen), len(array15()))
	}
}
