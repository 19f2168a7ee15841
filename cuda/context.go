package cuda

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"weft/internal/cudart"
)

// Constants of cuda.h.
const (
	hostAllocPortable  = 1 // every context may use it
	hostAllocDeviceMap = 2 // kernels may use it
	streamNonBlocking  = 1 // does not wait for the stream 0 that other libraries use
	eventDisableTiming = 2

	functionShared        = 1 // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
	functionDynamicShared = 8 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

	launchBufferPointer = 1
	launchBufferSize    = 2

	jitErrorLogBuffer = 5
	jitErrorLogSize   = 6

	codeNotReady = 600
)

// A context is an open GPU. The driver's current context belongs to a thread of the system, and a
// goroutine moves between threads, so each call sets it again (0.5 us).
type context struct {
	*library
	device, handle uintptr
	shared         int // bytes that a block may take
	pinned         pinned
}

var _ cudart.Context = (*context)(nil)

// call calls a function with the context current.
//
//go:uintptrescapes
func (c *context) call(p proc, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.library.call(cuCtxSetCurrent, c.handle); err != nil {
		return err
	}
	return c.library.call(p, args...)
}

func (c *context) Close() error { return c.library.call(cuDevicePrimaryCtxRelease, c.device) }

func (c *context) Alloc(bytes int) (cudart.Addr, error) {
	a := new(uint64)
	err := c.call(cuMemAlloc, uintptr(unsafe.Pointer(a)), uintptr(bytes))
	return cudart.Addr(*a), err
}

func (c *context) Free(a cudart.Addr) error { return c.call(cuMemFree, uintptr(a)) }

func (c *context) MemInfo() (free, total int, err error) {
	sizes := new([2]uint64)
	err = c.call(cuMemGetInfo, uintptr(unsafe.Pointer(&sizes[0])), uintptr(unsafe.Pointer(&sizes[1])))
	return int(sizes[0]), int(sizes[1]), err
}

func (c *context) AllocPinned(bytes int) (unsafe.Pointer, error) {
	p := new(unsafe.Pointer)
	if err := c.call(cuMemHostAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes), hostAllocPortable|hostAllocDeviceMap); err != nil {
		return nil, err
	}
	c.pinned.add(*p, bytes)
	return *p, nil
}

func (c *context) FreePinned(p unsafe.Pointer) error {
	c.pinned.remove(p)
	return c.call(cuMemFreeHost, uintptr(p))
}

// jit is what a compilation reads and writes. The driver's arrays point into it.
type jit struct {
	options [2]int32
	values  [2]uintptr
	log     [8192]byte
	module  uintptr
}

func (c *context) Load(text string) (cudart.Module, error) {
	j := &jit{options: [2]int32{jitErrorLogBuffer, jitErrorLogSize}}
	var pins runtime.Pinner // values holds an address as a number
	defer pins.Unpin()
	pins.Pin(&j.log)
	j.values = [2]uintptr{uintptr(unsafe.Pointer(&j.log)), uintptr(len(j.log))}
	image := append([]byte(text), 0)
	err := c.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&j.module)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(j.options)),
		uintptr(unsafe.Pointer(&j.options)), uintptr(unsafe.Pointer(&j.values)))
	if e, ok := err.(*cudart.DriverError); ok {
		if log := strings.TrimSpace(untilZero(j.log[:])); log != "" {
			e.Text += "\n" + log
		}
	}
	return cudart.Module(j.module), err
}

// Function lets launches of the function take all shared memory that a block may have: above
// 48 KB the driver asks for that beforehand.
func (c *context) Function(m cudart.Module, name string) (cudart.Func, error) {
	f, symbol, static := new(uintptr), append([]byte(name), 0), new(int32)
	if err := c.call(cuModuleGetFunction, uintptr(unsafe.Pointer(f)), uintptr(m), uintptr(unsafe.Pointer(&symbol[0]))); err != nil {
		return 0, err
	}
	if err := c.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(static)), functionShared, *f); err != nil {
		return 0, err
	}
	if err := c.call(cuFuncSetAttribute, *f, functionDynamicShared, uintptr(c.shared-int(*static))); err != nil {
		return 0, err
	}
	return cudart.Func(*f), nil
}

func (c *context) Unload(m cudart.Module) error { return c.call(cuModuleUnload, uintptr(m)) }

func (c *context) NewQueue(priority int) (cudart.Queue, error) {
	q := new(uintptr)
	err := c.call(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(q)), streamNonBlocking, uintptr(priority))
	return cudart.Queue(*q), err
}

func (c *context) CloseQueue(q cudart.Queue) error { return c.call(cuStreamDestroy, uintptr(q)) }

// maxArgs is how many bytes of arguments every version of the driver takes.
const maxArgs = 4096

// launchArgs is the argument block of a launch. The driver copies it before the call returns.
type launchArgs struct {
	extra [5]uintptr
	size  uintptr
	block [maxArgs]byte
}

var launches = sync.Pool{New: func() any {
	l := new(launchArgs) // a pool keeps it on the heap, whose objects do not move
	l.extra = [5]uintptr{launchBufferPointer, uintptr(unsafe.Pointer(&l.block)), launchBufferSize, uintptr(unsafe.Pointer(&l.size)), 0}
	return l
}}

func (c *context) Launch(q cudart.Queue, f cudart.Func, blocks, threads, shared int, args []byte) error {
	if len(args) > maxArgs || blocks > math.MaxInt32 || threads > math.MaxInt32 || shared > math.MaxInt32 {
		return &cudart.DriverError{Call: symbols[cuLaunchKernel], Code: cudart.CodeInvalid,
			Text: fmt.Sprintf("%d blocks of %d threads with %d bytes of shared memory and %d of arguments", blocks, threads, shared, len(args))}
	}
	if len(args) == 0 {
		return c.call(cuLaunchKernel, uintptr(f), uintptr(blocks), 1, 1, uintptr(threads), 1, 1, uintptr(shared), uintptr(q), 0, 0)
	}
	l := launches.Get().(*launchArgs)
	defer launches.Put(l)
	l.size = uintptr(copy(l.block[:], args))
	return c.call(cuLaunchKernel, uintptr(f), uintptr(blocks), 1, 1, uintptr(threads), 1, 1, uintptr(shared), uintptr(q), 0, uintptr(unsafe.Pointer(&l.extra)))
}

// CopyIn waits for copies from memory that is not pinned: the driver promises of those neither
// that it has read the memory when it returns, nor that it has not.
func (c *context) CopyIn(q cudart.Queue, dst cudart.Addr, src unsafe.Pointer, bytes int) error {
	if bytes == 0 {
		return nil
	}
	err := c.call(cuMemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(q))
	return c.afterCopy(q, src, err)
}

// CopyOut waits as CopyIn does.
func (c *context) CopyOut(q cudart.Queue, dst unsafe.Pointer, src cudart.Addr, bytes int) error {
	if bytes == 0 {
		return nil
	}
	err := c.call(cuMemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(q))
	return c.afterCopy(q, dst, err)
}

// afterCopy waits for a copy that has begun, unless the host's memory is pinned.
func (c *context) afterCopy(q cudart.Queue, host unsafe.Pointer, err error) error {
	defer runtime.KeepAlive(host)
	if err != nil || c.pinned.has(uintptr(host)) {
		return err
	}
	return c.Sync(q)
}

func (c *context) Copy(q cudart.Queue, dst, src cudart.Addr, bytes int) error {
	if bytes == 0 {
		return nil
	}
	return c.call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(q))
}

func (c *context) Fill(q cudart.Queue, dst cudart.Addr, n int, bits uint32, size int) error {
	if n == 0 {
		return nil
	}
	switch size {
	case 1:
		return c.call(cuMemsetD8Async, uintptr(dst), uintptr(uint8(bits)), uintptr(n), uintptr(q))
	case 2:
		return c.call(cuMemsetD16Async, uintptr(dst), uintptr(uint16(bits)), uintptr(n), uintptr(q))
	case 4:
		return c.call(cuMemsetD32Async, uintptr(dst), uintptr(bits), uintptr(n), uintptr(q))
	}
	panic(fmt.Sprintf("cuda: fill of elements of %d bytes", size))
}

func (c *context) NewEvent(timed bool) (cudart.Event, error) {
	e, flags := new(uintptr), uintptr(eventDisableTiming)
	if timed {
		flags = 0
	}
	err := c.call(cuEventCreate, uintptr(unsafe.Pointer(e)), flags)
	return cudart.Event(*e), err
}

func (c *context) CloseEvent(e cudart.Event) error { return c.call(cuEventDestroy, uintptr(e)) }

func (c *context) Record(e cudart.Event, q cudart.Queue) error {
	return c.call(cuEventRecord, uintptr(e), uintptr(q))
}

func (c *context) Wait(q cudart.Queue, e cudart.Event) error {
	return c.call(cuStreamWaitEvent, uintptr(q), uintptr(e), 0)
}

func (c *context) Done(e cudart.Event) (bool, error) {
	err := c.call(cuEventQuery, uintptr(e))
	if err == error(notReady) {
		return false, nil
	}
	return err == nil, err
}

func (c *context) SyncEvent(e cudart.Event) error { return c.call(cuEventSynchronize, uintptr(e)) }

func (c *context) Elapsed(a, b cudart.Event) (float32, error) {
	ms := new(float32)
	err := c.call(cuEventElapsedTime, uintptr(unsafe.Pointer(ms)), uintptr(a), uintptr(b))
	return *ms, err
}

func (c *context) Sync(q cudart.Queue) error { return c.call(cuStreamSynchronize, uintptr(q)) }

// pinned is the pinned memory of a context: areas of the host by ascending address.
type pinned struct {
	sync.RWMutex
	areas []area
}

type area struct{ start, end uintptr }

func (p *pinned) search(at uintptr) (int, bool) {
	return slices.BinarySearchFunc(p.areas, at, func(a area, at uintptr) int { return cmp.Compare(a.start, at) })
}

func (p *pinned) add(start unsafe.Pointer, bytes int) {
	p.Lock()
	defer p.Unlock()
	i, _ := p.search(uintptr(start))
	p.areas = slices.Insert(p.areas, i, area{uintptr(start), uintptr(start) + uintptr(bytes)})
}

func (p *pinned) remove(start unsafe.Pointer) {
	p.Lock()
	defer p.Unlock()
	if i, found := p.search(uintptr(start)); found {
		p.areas = slices.Delete(p.areas, i, i+1)
	}
}

// has reports whether an address lies in pinned memory.
func (p *pinned) has(at uintptr) bool {
	p.RLock()
	defer p.RUnlock()
	i, found := p.search(at)
	return found || i > 0 && at < p.areas[i-1].end
}
