package ptxsim

import (
	"errors"
	"math/rand/v2"
	"sync"
	"unsafe"

	cudart "weft/internal/cudart/driver"
)

// A context is an open GPU. Its lock is held by every method, and while work runs.
type context struct {
	d   *Driver
	mu  sync.Mutex
	rnd *rand.Rand

	lost   error // what the context was lost by; every later call returns it
	closed bool

	chunks  []*region
	regions map[cudart.Addr]*region
	pinned  []*region
	used    int

	handles uint64
	modules map[cudart.Module]*module
	funcs   map[cudart.Func]*kernel
	queues  map[cudart.Queue]*queue
	events  map[cudart.Event]*event
	lines   []*queue // all queues, by number
	host    []uint32 // what the host knows to be done, by queue
	works   []workID
	now     *work // what runs
	readers readerSets

	blockRuns uint32
	clock     float64 // microseconds of work done
}

// call takes the lock for a call of the driver; release it with c.mu.Unlock also if there is an error.
func (c *context) call(name string) error {
	c.mu.Lock()
	if c.closed {
		return driverError(name, 201, "invalid device context")
	}
	if c.lost != nil {
		return c.lostBy(name)
	}
	if err := c.d.enter(name); err != nil {
		c.loseBy(err)
		return err
	}
	return nil
}

// loseBy loses the context if an error is one after which a driver goes on with nothing.
func (c *context) loseBy(err error) {
	var e *cudart.DriverError
	if errors.As(err, &e) && (e.Code >= 700 && e.Code <= 719 && e.Code != cudart.CodeResources || e.Code == 999 || e.Code == 46) {
		c.lost = err
	}
}

func (c *context) lostBy(call string) error {
	var e *cudart.DriverError
	if !errors.As(c.lost, &e) {
		return c.lost
	}
	return &cudart.DriverError{Call: call, Code: e.Code, Text: e.Text}
}

func (c *context) handle() uint64 { c.handles++; return c.handles }

func (c *context) Alloc(bytes int) (cudart.Addr, error) {
	const call = "cuMemAlloc_v2"
	err := c.call(call)
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if bytes <= 0 {
		return 0, driverError(call, cudart.CodeInvalid, "invalid argument")
	}
	if n := roundUp(bytes, 512); n > c.d.opts.Memory-c.used {
		return 0, driverError(call, cudart.CodeOutOfMemory, "out of memory")
	}
	r := c.alloc(bytes)
	c.used += roundUp(bytes, 512)
	c.regions[cudart.Addr(r.base)] = r
	return cudart.Addr(r.base), nil
}

// Free gives memory back. Work that was issued before and runs later must not use it.
func (c *context) Free(a cudart.Addr) error {
	err := c.call("cuMemFree_v2")
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	r := c.regions[a]
	if r == nil {
		return driverError("cuMemFree_v2", cudart.CodeInvalid, "invalid argument")
	}
	delete(c.regions, a)
	c.used -= roundUp(r.size, 512)
	r.freed, r.pages = true, nil
	return nil
}

func (c *context) MemInfo() (free, total int, err error) {
	err = c.call("cuMemGetInfo_v2")
	defer c.mu.Unlock()
	return c.d.opts.Memory - c.used, c.d.opts.Memory, err
}

func (c *context) AllocPinned(bytes int) (unsafe.Pointer, error) {
	err := c.call("cuMemHostAlloc")
	defer c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if bytes <= 0 {
		return nil, driverError("cuMemHostAlloc", cudart.CodeInvalid, "invalid argument")
	}
	b := make([]byte, bytes+pageBytes)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (pageBytes - 1)
	b = b[skip : skip+bytes : skip+bytes]
	r := &region{base: uint64(uintptr(unsafe.Pointer(&b[0]))), size: bytes, host: b}
	c.pinned = append(c.pinned, r)
	return unsafe.Pointer(&b[0]), nil
}

func (c *context) FreePinned(p unsafe.Pointer) error {
	err := c.call("cuMemFreeHost")
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	for i, r := range c.pinned {
		if r.base == uint64(uintptr(p)) {
			r.freed, r.pages = true, nil
			c.pinned = append(c.pinned[:i:i], c.pinned[i+1:]...)
			return nil
		}
	}
	return driverError("cuMemFreeHost", cudart.CodeInvalid, "invalid argument")
}

func (c *context) Load(text string) (cudart.Module, error) {
	const call = "cuModuleLoadDataEx"
	err := c.call(call)
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	m, err := parse(text, 10*c.d.opts.Major+c.d.opts.Minor)
	if err != nil {
		return 0, driverError(call, cudart.CodeBadText, "a PTX JIT compilation failed: %v", err)
	}
	if err := keep(text); err != nil {
		return 0, driverError(call, cudart.CodeInvalid, "WEFT_PTX: %v", err)
	}
	h := cudart.Module(c.handle())
	c.modules[h] = m
	return h, nil
}

func (c *context) Function(m cudart.Module, name string) (cudart.Func, error) {
	const call = "cuModuleGetFunction"
	err := c.call(call)
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if c.modules[m] == nil {
		return 0, driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	k := c.modules[m].kernels[name]
	if k == nil {
		return 0, driverError(call, codeNotFound, "named symbol %s not found", name)
	}
	f := cudart.Func(c.handle())
	c.funcs[f] = k
	return f, nil
}

func (c *context) Unload(m cudart.Module) error {
	err := c.call("cuModuleUnload")
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	mod := c.modules[m]
	if mod == nil {
		return driverError("cuModuleUnload", codeInvalidHandle, "invalid resource handle")
	}
	delete(c.modules, m)
	mod.unloaded = true
	for f, k := range c.funcs {
		if k.m == mod {
			delete(c.funcs, f)
		}
	}
	return nil
}

// Close drops the GPU. Work that did not run yet is dropped too. Closing again does nothing.
func (c *context) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.chunks, c.regions, c.pinned, c.queues, c.lines, c.works = nil, nil, nil, nil, nil, nil
	return c.d.enter("cuDevicePrimaryCtxRelease")
}
