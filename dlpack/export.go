package dlpack

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/jit"
	"weft/internal/mem"
)

// ExportOpts are options of Export.
type ExportOpts struct {
	// Unversioned asks for a DLManagedTensor, which libraries before DLPack 1.0 take, in
	// place of a DLManagedTensorVersioned.
	Unversioned bool

	// Deleter is the C function that the consumer calls when it is done, with the struct as
	// its argument, such as one that purego.NewCallback makes and that calls Managed.Free.
	// nil is one of this package, which there is on amd64 alone.
	Deleter unsafe.Pointer
}

// Managed is an exported tensor: a struct in C's layout, for one consumer.
type Managed struct {
	*export
}

type export struct {
	lease *mem.Lease
	freed *uint32 // in the lease: set by the deleter
	self  unsafe.Pointer
	view  array.View // whose memory the consumer has
	once  sync.Once
	done  func()
}

// exports are those whose consumers have not called their deleters.
var exports struct {
	sync.Mutex
	all   map[*export]bool
	watch bool // the collector calls sweep
}

// Export lays out the struct of a tensor on the host, whose memory stays, and cannot be
// released, until the consumer has called the deleter, or [Managed.Free] was called where
// there is no consumer. What the other side writes, t's gradient and trackers do not see.
// A tensor that requires a gradient is refused (Detach it), as are read-only ones in a struct
// without flags, and those in a mapped file that does not align them (Clone them).
func Export(t *weft.Tensor, opts ...ExportOpts) (Managed, error) {
	o := array.Options("dlpack", opts)
	sweep()
	deleter := uintptr(o.Deleter)
	if deleter == 0 {
		var err error
		if deleter, err = ownDeleter(o.Unversioned); err != nil {
			return Managed{}, fmt.Errorf("dlpack: there is no deleter: give one as ExportOpts.Deleter: %w", err)
		}
	}
	var v array.View
	if err := weft.Try(func() {
		if t.RequiresGrad() {
			array.Failf("dlpack", "t", "requires a gradient: Detach it")
		}
		if !(*core.Tensor)(t).Reached() {
			array.Failf("dlpack", "t", "is on %s, whose memory the host does not reach: On(weft.CPU) copies it", t.Device())
		}
		v = (*core.Tensor)(t).Read()
		if n := min(v.DType.Size(), 8); v.Size() > 0 && uintptr(v.Ptr())%uintptr(n) != 0 {
			array.Failf("dlpack", "t", "lies in a mapped file at an address that is not a multiple of %d: Clone copies it", n)
		}
	}); err != nil {
		return Managed{}, fmt.Errorf("dlpack: %w", err)
	}
	flags := uint64(0)
	if v.Store.ReadOnly() {
		if flags = flagReadOnly; o.Unversioned {
			return Managed{}, errors.New("dlpack: the tensor is read-only, which a struct without version cannot tell: Clone it")
		}
	}
	_, done := (*core.Tensor)(t).Lend()
	rank := len(v.Shape)
	head := int(unsafe.Sizeof(managedTensorVersioned{}))
	lease, err := mem.Lend(head + 8 + 16*rank)
	if err != nil {
		done()
		return Managed{}, fmt.Errorf("dlpack: %w", err)
	}
	p := lease.Ptr()
	e := &export{lease: lease, freed: (*uint32)(unsafe.Add(p, head)), self: p, view: v, done: done}
	atomic.StoreUint32(e.freed, 0)
	sizes := uintptr(p) + uintptr(head) + 8
	strides := sizes + 8*uintptr(rank)
	for i, n := range v.Shape {
		int64s(sizes, rank)[i] = int64(n)
		int64s(strides, rank)[i] = int64(v.Strides[i])
	}
	c := codes[v.DType]
	x := dlTensor{deviceType: deviceCPU, ndim: int32(rank), code: c.code, bits: c.bits, lanes: 1, shape: sizes, strides: strides}
	if v.Size() > 0 {
		x.data = uintptr(v.Ptr())
	}
	context := uintptr(unsafe.Pointer(e.freed))
	if o.Unversioned {
		*(*managedTensor)(p) = managedTensor{x, context, deleter}
	} else {
		*(*managedTensorVersioned)(p) = managedTensorVersioned{majorVersion, minorVersion, context, deleter, flags, x}
	}
	exports.Lock()
	defer exports.Unlock()
	if exports.all == nil {
		exports.all = map[*export]bool{}
	}
	exports.all[e] = true
	watch()
	return Managed{e}, nil
}

func (m Managed) check() {
	if m.export == nil {
		array.Failf("dlpack", "", "the zero Managed: Export makes one")
	}
}

// Pointer returns the struct, for C. It must not be used any more after the deleter, which
// frees it too, was called.
func (m Managed) Pointer() unsafe.Pointer {
	m.check()
	return m.self
}

// Free does what the deleter does: for a struct that no consumer has got, and in a Deleter
// of one's own.
func (m Managed) Free() {
	m.check()
	m.free()
}

// Freed reports whether the deleter was called, or Free; if so the tensor can be released.
func (m Managed) Freed() bool {
	m.check()
	sweep()
	exports.Lock()
	defer exports.Unlock()
	return !exports.all[m.export]
}

func (e *export) free() {
	exports.Lock()
	delete(exports.all, e)
	exports.Unlock()
	e.once.Do(func() {
		e.done()
		e.lease.Return()
		e.view, e.lease = array.View{}, nil
	})
}

// sweep frees what deleters were called for.
func sweep() {
	exports.Lock()
	var gone []*export
	for e := range exports.all {
		if atomic.LoadUint32(e.freed) != 0 {
			gone = append(gone, e)
		}
	}
	exports.Unlock()
	for _, e := range gone {
		e.free()
	}
}

// watch has the collector sweep whenever it ran, as long as there are exports. Called with
// the lock.
func watch() {
	if exports.watch || len(exports.all) == 0 {
		return
	}
	exports.watch = true
	runtime.AddCleanup(new([64]byte), func(struct{}) {
		sweep()
		exports.Lock()
		defer exports.Unlock()
		exports.watch = false
		watch()
	}, struct{}{})
}

// deleters are the functions for both structs, made when first wanted. They stay.
var deleters [2]struct {
	once sync.Once
	code *jit.Code
	err  error
}

// ownDeleter returns the address of a C function that sets the number that the context of
// its argument leads to.
func ownDeleter(unversioned bool) (uintptr, error) {
	i, at := 0, unsafe.Offsetof(managedTensorVersioned{}.context)
	if unversioned {
		i, at = 1, unsafe.Offsetof(managedTensor{}.context)
	}
	d := &deleters[i]
	d.once.Do(func() {
		if runtime.GOARCH != "amd64" {
			d.err = errors.ErrUnsupported
			return
		}
		d.code, d.err = jit.Map(deleterCode(byte(at), runtime.GOOS == "windows"))
	})
	if d.err != nil {
		return 0, d.err
	}
	return d.code.Entry(), nil
}

// deleterCode is void f(self) in machine code: *(uint32_t *)self->context = 1, where context
// is that many bytes behind self, which is in RDI, on Windows in RCX.
func deleterCode(context byte, windows bool) []byte {
	self := byte(7)
	if windows {
		self = 1
	}
	return []byte{
		0x48, 0x8b, 0x40 | self, context, // mov rax, [self+context]
		0xc7, 0x00, 1, 0, 0, 0, // mov dword ptr [rax], 1
		0xc3, // ret
	}
}
