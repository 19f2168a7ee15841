//go:build (linux || darwin) && amd64

package jit

import (
	"bytes"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A fault in machine code, with R14 already overwritten, unwinds as a panic from
// the stub.
func TestFaultIsPanic(t *testing.T) {
	c := mustMap(t, []byte{
		0x45, 0x31, 0xF6, // xor r14d, r14d
		0x48, 0x8B, 0x47, 0x10, // mov rax, [rdi+16]
		0x48, 0x8B, 0x00, // mov rax, [rax]
		0xC3, // ret
	})
	guard, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(guard)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))

	f := counter{src: unsafe.Pointer(unsafe.SliceData(guard))}
	for range 100 {
		var stack string
		err := func() (err error) {
			defer func() {
				err, _ = recover().(runtime.Error)
				pc := make([]uintptr, 32)
				frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
				for {
					fr, more := frames.Next()
					stack += fr.Function + "\n"
					if !more {
						break
					}
				}
			}()
			Call(c, 0, unsafe.Pointer(&f))
			return nil
		}()
		if err == nil {
			t.Fatal("no panic from reading a guard page")
		}
		if a, ok := err.(interface{ Addr() uintptr }); !ok || a.Addr() != uintptr(f.src) {
			t.Fatalf("panic %v does not carry the faulting address %p", err, f.src)
		}
		if !strings.Contains(stack, "jit.Call") {
			t.Fatalf("the caller of the code is not on the stack:\n%s", stack)
		}
		runtime.GC() // the goroutine is still in order
	}
	word := uint64(99)
	f.src = unsafe.Pointer(&word)
	if s := Call(c, 0, unsafe.Pointer(&f)); s != 99 {
		t.Errorf("after the faults: %d, want 99", s)
	}
}

// Profiling signals that land in machine code are attributed, not fatal.
func TestProfileInMachineCode(t *testing.T) {
	c := mustMap(t, codeLoop)
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	f := counter{loops: 300_000}
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		Call(c, 0, unsafe.Pointer(&f))
	}
	pprof.StopCPUProfile()
	if n, _ := io.Copy(io.Discard, &profile); n == 0 || f.count == 0 {
		t.Errorf("profile of %d bytes after %d calls", n, f.count)
	}
}
