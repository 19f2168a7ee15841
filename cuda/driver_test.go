//go:build linux && !android && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cudart"
	"weft/internal/device"
)

// built is the stand-in for the driver's library, "" without a C compiler.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		cc, err := exec.LookPath("gcc")
		if _, gone := os.Stat("testdata/libcuda.c"); err != nil || gone != nil { // bench/gpu/check takes the binary elsewhere
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "weft-cuda")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		built = filepath.Join(dir, "libcuda.so.1")
		if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", built, "testdata/libcuda.c").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "gcc: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// A fake is the stand-in, open.
type fake struct {
	t       *testing.T
	driver  *driver
	context cudart.Context
	handle  uintptr
}

func openFake(t *testing.T) *fake {
	if built == "" {
		t.Skip("SKIPPED: no gcc or no source here: the calls of the driver are not tested against a library")
	}
	f := &fake{t: t, driver: newDriver([]string{built})}
	f.fail("", 0)
	c, err := f.driver.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	f.context = c
	if f.handle, err = loadFile(built); err != nil {
		t.Fatal(err)
	}
	f.log()
	return f
}

// log returns the calls since the last log.
func (f *fake) log() string {
	b := make([]byte, 1<<16)
	callAddress(lookUp(f.handle, "fake_log"), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return untilZero(b)
}

// failures keeps what the library has an address of.
var failures []byte

// fail makes a function fail from now on.
func (f *fake) fail(call string, code int) {
	h, err := loadFile(built)
	if err != nil {
		f.t.Fatal(err)
	}
	failures = append([]byte(call), 0)
	callAddress(lookUp(h, "fake_fail"), uintptr(unsafe.Pointer(&failures[0])), uintptr(code))
}

// check compares the calls since the last log.
func (f *fake) check(err error, want string) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
	if got := strings.TrimSuffix(f.log(), "\n"); got != want {
		f.t.Errorf("the driver was called with\n%s\nwant\n%s", got, want)
	}
}

func TestNoDriver(t *testing.T) {
	d := newDriver([]string{"libweft-none.so.1", "/weft/none/libcuda.so.1"})
	for what, err := range map[string]error{
		"Count": second(d.Count()), "Info": second(d.Info(0)), "Open": second(d.Open(0)),
	} {
		var absent *absentError
		if !errors.As(err, &absent) || !strings.Contains(absent.msg, "libweft-none.so.1") || !strings.Contains(absent.msg, "/weft/none/libcuda.so.1") {
			t.Errorf("%s failed with %v, want an *absentError with the files that were tried", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestLibraryWithoutSymbol opens a library without the functions of a driver.
func TestLibraryWithoutSymbol(t *testing.T) {
	_, err := openLibrary([]string{"libc.so.6"})
	var absent *absentError
	if !errors.As(err, &absent) || !strings.Contains(absent.msg, "libc.so.6 lacks cuInit") {
		t.Errorf("%v, want an *absentError that names the first symbol that is missing", err)
	}
}

func TestInfo(t *testing.T) {
	f := openFake(t)
	if n, err := f.driver.Count(); n != 2 || err != nil {
		t.Errorf("Count = %d, %v, want 2", n, err)
	}
	i, err := f.driver.Info(1)
	if err != nil {
		t.Fatal(err)
	}
	i.Driver = ""
	if want := (cudart.Info{Name: "Fake 41", Major: 75041, Minor: 76041, Units: 16041, Memory: 5<<34 + 41, Shared: 232448, L2: 38041, CUDA: 12090}); i != want {
		t.Errorf("Info = %+v, want %+v", i, want)
	}
	_, err = f.driver.Info(2)
	if e, ok := err.(*cudart.DriverError); !ok || e.Call != "cuDeviceGet" || e.Code != 101 {
		t.Errorf("Info of a GPU that is not there failed with %v", err)
	}
}

func TestErrorsOfDriver(t *testing.T) {
	f := openFake(t)
	f.fail("cuMemAlloc_v2", 2)
	_, err := f.context.Alloc(1 << 40)
	if want := "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory (error 2)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	f.fail("cuStreamSynchronize", 4711)
	err = f.context.Sync(0xa0)
	if want := "cuStreamSynchronize: an error that the driver has no name for (error 4711)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	f.fail("cuInit", 2)
	if n, err := newDriver([]string{built}).Count(); err == nil || n != 0 {
		t.Errorf("Count = %d, %v after cuInit failed", n, err)
	}
}

func TestDoneOfEvent(t *testing.T) {
	f := openFake(t)
	if done, err := f.context.Done(0xe0); !done || err != nil {
		t.Errorf("Done = %v, %v, want true", done, err)
	}
	f.fail("cuEventQuery", codeNotReady)
	if done, err := f.context.Done(0xe0); done || err != nil {
		t.Errorf("Done = %v, %v, want false", done, err)
	}
	f.fail("cuEventQuery", cudart.CodeFault)
	if done, err := f.context.Done(0xe0); done || err == nil {
		t.Errorf("Done = %v, %v, want an error", done, err)
	}
}

func TestMemory(t *testing.T) {
	f := openFake(t)
	c, q := f.context, cudart.Queue(0xa0)
	if free, total, err := c.MemInfo(); free != 3<<33 || total != 5<<34 || err != nil {
		t.Errorf("MemInfo = %d, %d, %v", free, total, err)
	}
	a, err := c.Alloc(64)
	f.check(err, "alloc 64")
	b, err := c.Alloc(64)
	f.check(err, "alloc 64")
	in, out := []uint32{1, 2, 3, 4}, make([]uint32, 4)
	f.check(c.CopyIn(q, a, unsafe.Pointer(&in[0]), 16), "in 16 a0\nsync a0")
	f.check(c.Copy(q, b, a, 16), "copy 16 a0")
	f.check(c.Fill(q, b, 3, 0x1f7, 1), "cuMemsetD8Async 3 a0")
	f.check(c.Fill(q, b+4, 1, 0x1fff7, 2), "cuMemsetD16Async 1 a0")
	f.check(c.Fill(q, b+8, 1, 0xfffffff7, 4), "cuMemsetD32Async 1 a0")
	f.check(c.CopyOut(q, unsafe.Pointer(&out[0]), b, 16), "out 16 a0\nsync a0")
	if want := fmt.Sprint([]uint32{0xf7f7f7, 0xfff7, 0xfffffff7, 4}); fmt.Sprint(out) != want {
		t.Errorf("copied back %v, want %s", out, want)
	}
	f.check(c.CopyIn(q, a, nil, 0), "")
	f.check(c.CopyOut(q, nil, a, 0), "")
	f.check(c.Copy(q, a, b, 0), "")
	f.check(c.Fill(q, a, 0, 1, 4), "")
	f.check(c.Free(a), "free")
	f.check(c.Free(b), "free")
}

// TestCopyOfPinnedMemory: only copies of memory that is not pinned are waited for.
func TestCopyOfPinnedMemory(t *testing.T) {
	f := openFake(t)
	c, q := f.context, cudart.Queue(0xa0)
	a, err := c.Alloc(64)
	f.check(err, "alloc 64")
	var pins []unsafe.Pointer
	for range 5 {
		p, err := c.AllocPinned(64)
		f.check(err, "pin 64 3")
		pins = append(pins, p)
	}
	for _, p := range pins {
		for _, offset := range []int{0, 48} {
			f.check(c.CopyIn(q, a, unsafe.Add(p, offset), 16), "in 16 a0")
			f.check(c.CopyOut(q, unsafe.Add(p, offset), a, 16), "out 16 a0")
		}
	}
	for _, at := range []uintptr{uintptr(pins[0]) - 1, uintptr(pins[4]) + 64} {
		inside := false
		for _, p := range pins {
			inside = inside || at >= uintptr(p) && at < uintptr(p)+64
		}
		if c.(*context).pinned.has(at) != inside {
			t.Errorf("an address beside pinned memory is taken for pinned")
		}
	}
	for i, p := range pins {
		f.check(c.FreePinned(p), "unpin")
		if c.(*context).pinned.has(uintptr(p)) || i < 4 && !c.(*context).pinned.has(uintptr(pins[i+1])) {
			t.Errorf("after %d areas were freed, the wrong ones are pinned", i+1)
		}
	}
}

func TestModule(t *testing.T) {
	f := openFake(t)
	c := f.context
	m, err := c.Load("good")
	f.check(err, "load good, 2 options 5 6, 8192 bytes of log")
	fn, err := c.Function(m, "kernel_1")
	f.check(err, "function kernel_1 of d0\nattribute 1 of f0\nattribute 8 of f0 = 231424")
	args := []byte{1, 2, 3, 250}
	f.check(c.Launch(0xa0, fn, 1<<31-1, 256, 100000, args), "launch f0 (2147483647 1 1) (256 1 1) 100000 a0 params 0 4 bytes: 1 2 3 250")
	f.check(c.Launch(0xa0, fn, 3, 32, 0, nil), "launch f0 (3 1 1) (32 1 1) 0 a0 params 0")
	if err := c.Launch(0xa0, fn, 1<<32+1, 32, 0, args); err == nil || f.log() != "" {
		t.Errorf("a launch of 2^32 + 1 blocks gave %v", err)
	}
	if err := c.Launch(0xa0, fn, 1, 32, 0, make([]byte, maxArgs+1)); err == nil || f.log() != "" {
		t.Errorf("a launch with %d bytes of arguments gave %v", maxArgs+1, err)
	}
	f.check(c.Unload(m), "unload d0")
	_, err = c.Load("bad")
	e, ok := err.(*cudart.DriverError)
	if want := "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\nline 7: unknown instruction"; !ok || e.Code != cudart.CodeBadText || e.Text != want {
		t.Errorf("text that does not compile gave %v, want %s", err, want)
	}
}

func TestQueuesAndEvents(t *testing.T) {
	f := openFake(t)
	c := f.context
	q, err := c.NewQueue(-3)
	f.check(err, "queue 1 -3")
	e, err := c.NewEvent(false)
	f.check(err, "event 2")
	timed, err := c.NewEvent(true)
	f.check(err, "event 0")
	f.check(c.Record(e, q), "record e2 in a0")
	f.check(c.Wait(0xb0, e), "queue b0 waits for e2 0")
	f.check(c.SyncEvent(e), "sync event e2")
	ms, err := c.Elapsed(timed, e)
	f.check(err, "from e0 to e2")
	if ms != 1.5 {
		t.Errorf("Elapsed = %v, want 1.5", ms)
	}
	f.check(c.CloseEvent(e), "close event e2")
	f.check(c.CloseQueue(q), "close queue a0")
	f.check(c.Close(), "release 41")
}

// TestCallsFromManyThreads: a call finds its context current whichever thread it runs on, and what
// it points to stays while stacks grow and the collector runs.
func TestCallsFromManyThreads(t *testing.T) {
	f := openFake(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				value := grown(f, i%7, uint64(g<<32|i))
				if value != uint64(g<<32|i) {
					t.Errorf("copied back %x, want %x", value, g<<32|i)
					return
				}
				if i%50 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	f.log()
}

// grown copies a number to the device and back from a stack of some depth.
func grown(f *fake, depth int, v uint64) uint64 {
	var room [512]byte
	if depth > 0 {
		room[depth] = 1
		return grown(f, depth-1, v) + uint64(room[0])
	}
	a, err := f.context.Alloc(8)
	if err != nil {
		f.t.Error(err)
		return 0
	}
	in, out := v, uint64(0)
	err = errors.Join(f.context.CopyIn(0xa0, a, unsafe.Pointer(&in), 8), f.context.CopyOut(0xa0, unsafe.Pointer(&out), a, 8), f.context.Free(a))
	if err != nil {
		f.t.Error(err)
	}
	return out
}

// TestRegistered opens a device through the registry, as package weft does.
func TestRegistered(t *testing.T) {
	k, err := device.FindKind("cuda")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := k.Count(); err == nil && n > 0 {
		t.Skip("SKIPPED: this machine has a GPU")
	}
	_, err = device.Open("cuda", 0)
	var e *array.Error
	if !errors.As(err, &e) || e.Kind != array.DeviceFailed || !errors.Is(err, cudart.ErrNoDriver) && !errors.Is(err, cudart.ErrNoDevice) {
		t.Errorf("%v, want an *array.Error that wraps ErrNoDriver or ErrNoDevice", err)
	}
	for _, file := range libraryFiles {
		if errors.Is(err, cudart.ErrNoDriver) && strings.Contains(file, "/lib64/") && !strings.Contains(err.Error(), file) {
			t.Errorf("%v: lacks %s", err, file)
		}
	}
}

func TestMachineWithoutGPU(t *testing.T) {
	f := openFake(t)
	f.fail("cuDeviceGetCount", cudart.CodeNoDevice)
	if n, err := (gpus{f.driver}).Count(); n != 0 || err != nil {
		t.Errorf("Count = %d, %v, want 0", n, err)
	}
	if d, err := (gpus{f.driver}).Open(0); d != nil || !errors.Is(err, cudart.ErrNoDevice) {
		t.Errorf("Open gave %v, %v, want ErrNoDevice", d, err)
	}
}
