package jit

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// counter is the frame of the hand-encoded code below.
type counter struct {
	count uint64
	loops uint64
	src   unsafe.Pointer
}

var (
	codeInc = []byte{
		0x48, 0xFF, 0x07, // inc qword [rdi]
		0xB8, 7, 0, 0, 0, // mov eax, 7
		0xC3, // ret
	}
	codeLoop = []byte{
		0x48, 0x8B, 0x4F, 0x08, // mov rcx, [rdi+8]
		0x48, 0xFF, 0xC9, // dec rcx
		0x75, 0xFB, // jnz dec
		0x48, 0xFF, 0x07, // inc qword [rdi]
		0x31, 0xC0, // xor eax, eax
		0xC3, // ret
	}
	codeClobber = []byte{
		0x48, 0xC7, 0xC3, 0xFF, 0xFF, 0xFF, 0xFF, // mov rbx, -1
		0x48, 0x89, 0xD9, // mov rcx, rbx
		0x48, 0x89, 0xDA, // mov rdx, rbx
		0x48, 0x89, 0xDE, // mov rsi, rbx
		0x49, 0x89, 0xD8, // mov r8, rbx
		0x49, 0x89, 0xD9, // mov r9, rbx
		0x49, 0x89, 0xDA, // mov r10, rbx
		0x49, 0x89, 0xDB, // mov r11, rbx
		0x49, 0x89, 0xDC, // mov r12, rbx
		0x49, 0x89, 0xDD, // mov r13, rbx
		0x49, 0x89, 0xDE, // mov r14, rbx
		0x49, 0x89, 0xDF, // mov r15, rbx
		0x66, 0x45, 0x0F, 0x76, 0xFF, // pcmpeqd xmm15, xmm15
		0x66, 0x0F, 0x76, 0xC0, // pcmpeqd xmm0, xmm0
		0x48, 0xFF, 0x07, // inc qword [rdi]
		0x48, 0x89, 0xDF, // mov rdi, rbx
		0x48, 0x89, 0xD8, // mov rax, rbx
		0xC3, // ret
	}
)

func mustMap(t testing.TB, code []byte) *Code {
	t.Helper()
	if err := Reason(); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	c, err := Map(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAvailable(t *testing.T) {
	if Available() != (Reason() == nil) {
		t.Error("Available and Reason disagree")
	}
	if err := Reason(); err != nil && !errors.Is(err, ErrUnavailable) {
		t.Errorf("Reason %v does not match ErrUnavailable", err)
	}
	if runtime.GOARCH == "amd64" && runtime.GOOS == "linux" && !Available() {
		t.Logf("executable memory refused on linux/amd64: %v", Reason())
	}
}

func TestMapErrors(t *testing.T) {
	if _, err := Map(nil); err == nil {
		t.Error("Map(nil) succeeded")
	}
	if runtime.GOARCH != "amd64" {
		if _, err := Map(codeInc); !errors.Is(err, ErrUnavailable) {
			t.Errorf("Map off amd64: %v, want ErrUnavailable", err)
		}
	}
}

func TestCall(t *testing.T) {
	c := mustMap(t, codeInc)
	var f counter
	for i := range 100 {
		if s := Call(c, 0, unsafe.Pointer(&f)); s != 7 || f.count != uint64(i+1) {
			t.Fatalf("call %d: status %d, count %d", i, s, f.count)
		}
	}
	if s := Call(c, 3, unsafe.Pointer(&f)); s != 7 || f.count != 100 {
		t.Errorf("entering past the increment: status %d, count %d, want 7 and 100", s, f.count)
	}
	if c.Len() != len(codeInc) || !bytes.Equal(c.Bytes(), codeInc) {
		t.Errorf("Bytes = %x, want %x", c.Bytes(), codeInc)
	}
}

func TestCallOffset(t *testing.T) {
	c := mustMap(t, codeInc)
	for _, off := range []int{-1, len(codeInc), 1 << 40} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "offset") {
					t.Errorf("offset %d: panic %q does not name the offset", off, s)
				}
			}()
			Call(c, off, nil)
		}()
	}
}

func TestCallDoesNotAllocate(t *testing.T) {
	c := mustMap(t, codeInc)
	if n := testing.AllocsPerRun(1000, func() {
		var f counter
		Call(c, 0, unsafe.Pointer(&f))
	}); n != 0 {
		t.Errorf("%v allocations per call, want 0", n)
	}
}

//go:noinline
func zeroed() (a [32]uint64) { return }

// Go's register ABI keeps the goroutine in R14 and zero in X15; code that
// overwrites them must not be noticed.
func TestClobberEverything(t *testing.T) {
	c := mustMap(t, codeClobber)
	var f counter
	for i := range 1000 {
		if s := Call(c, 0, unsafe.Pointer(&f)); s != ^uint64(0) {
			t.Fatalf("status %x", s)
		}
		if a := zeroed(); a != [32]uint64{} { // cleared from X15
			t.Fatalf("a zeroed array holds %x", a)
		}
		done := make(chan int) // uses the goroutine in R14
		go func() { done <- i }()
		if got := <-done; got != i {
			t.Fatal("lost a value")
		}
	}
}

// A frame on the stack must be found where the stack is when the code runs,
// however the stack grew to get there.
func TestFrameOnGrowingStack(t *testing.T) {
	c := mustMap(t, codeInc)
	var rec func(depth int) uint64
	rec = func(depth int) uint64 {
		var pad [128]byte
		f := counter{count: uint64(depth)}
		f.src = unsafe.Pointer(&pad)
		Call(c, 0, unsafe.Pointer(&f))
		if f.count != uint64(depth)+1 || f.src != unsafe.Pointer(&pad) {
			t.Errorf("depth %d: count %d", depth, f.count)
		}
		if depth == 0 {
			return 1
		}
		return 1 + rec(depth-1)
	}
	for depth := 1; depth < 300; depth += 7 {
		done := make(chan uint64)
		go func() { done <- rec(depth) }()
		if n := <-done; n != uint64(depth)+1 {
			t.Fatal(n)
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	c := mustMap(t, codeInc)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var f counter
			for range 10000 {
				Call(c, 0, unsafe.Pointer(&f))
			}
			if f.count != 10000 {
				t.Errorf("count %d", f.count)
			}
		})
	}
	wg.Wait()
}

// Collections must finish while a goroutine does nothing but enter machine code:
// the stub's stack check stops it. The stub is called directly, because the
// prologue of Call would be another such check where it is not inlined. The
// machine-code loop ends only when the last collection has, so a stub without
// the check shows up as the test's timeout.
func TestCollectionsFinish(t *testing.T) {
	c := mustMap(t, codeLoop)
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	var stop atomic.Bool
	entered := make(chan struct{})
	done := make(chan uint64)
	go func() {
		f := counter{loops: 3_000_000} // about a millisecond
		call(c.base, unsafe.Pointer(&f))
		close(entered)
		for !stop.Load() {
			call(c.base, unsafe.Pointer(&f))
		}
		runtime.KeepAlive(c)
		done <- f.count
	}()
	<-entered
	for range 10 {
		runtime.GC()
	}
	stop.Store(true)
	if n := <-done; n == 0 {
		t.Error("the code never ran")
	}
}

// Codes of all sizes are whole and apart, whether they share a mapping or not.
func TestMapSizes(t *testing.T) {
	var all []*Code
	for i := range 200 {
		size := []int{len(codeInc), pageSize(), pageSize() + 1, 5 * pageSize(), 1 << 17}[i%5]
		code := append(bytes.Repeat([]byte{byte(i)}, size-len(codeInc)), codeInc...)
		all = append(all, mustMap(t, code))
	}
	for i, c := range all {
		got := c.Bytes()
		at := len(got) - len(codeInc)
		if !bytes.Equal(got[:at], bytes.Repeat([]byte{byte(i)}, at)) {
			t.Fatalf("code %d was overwritten", i)
		}
		var f counter
		if s := Call(c, at, unsafe.Pointer(&f)); s != 7 || f.count != 1 {
			t.Fatalf("code %d: status %d, count %d", i, s, f.count)
		}
	}
}

// Mappings go away with their Code, and code that is reachable stays.
func TestUnmap(t *testing.T) {
	keep := mustMap(t, codeInc)
	var dropped atomic.Int64
	for range 200 {
		c := mustMap(t, codeInc)
		runtime.AddCleanup(c, func(struct{}) { dropped.Add(1) }, struct{}{})
		Call(c, 0, unsafe.Pointer(new(counter)))
	}
	for dropped.Load() == 0 {
		runtime.GC()
		runtime.Gosched()
	}
	var f counter
	if Call(keep, 0, unsafe.Pointer(&f)); f.count != 1 {
		t.Error("a live mapping is gone")
	}
}

func BenchmarkCall(b *testing.B) {
	c := mustMap(b, codeInc)
	var f counter
	b.ReportAllocs()
	for b.Loop() {
		Call(c, 0, unsafe.Pointer(&f))
	}
}

func BenchmarkMap(b *testing.B) {
	mustMap(b, codeInc)
	code := make([]byte, 2048)
	for b.Loop() {
		if _, err := Map(code); err != nil {
			b.Fatal(err)
		}
	}
}
