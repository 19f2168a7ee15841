package dlpack

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// ImportOpts are options of Import.
type ImportOpts struct {
	Unversioned bool // the struct is a DLManagedTensor

	// Delete calls the C function deleter with the struct. It is called once, when the tensor
	// was released or is unreachable, on any goroutine; not for structs without a deleter.
	Delete func(deleter, self unsafe.Pointer)
}

// Import returns the tensor of a struct at p, a DLManagedTensorVersioned or, by the options,
// a DLManagedTensor, which belongs to the tensor from then on; on an error it stays the
// caller's. The tensor lies in the struct's memory, which must be aligned to its elements;
// if the struct says that it is read-only, writes panic with a *weft.Error. What the struct
// says about sizes and addresses cannot be checked but for its form: C is to be trusted.
func Import(p unsafe.Pointer, opts ...ImportOpts) (*weft.Tensor, error) {
	o := array.Options("dlpack", opts)
	sweep()
	if p == nil {
		return nil, errors.New("dlpack: the struct is nil")
	}
	var x dlTensor
	var deleter uintptr
	var flags uint64
	if o.Unversioned {
		m := *(*managedTensor)(p)
		x, deleter = m.tensor, m.deleter
	} else {
		if m := (*managedTensorVersioned)(p); m.major != majorVersion {
			return nil, fmt.Errorf("dlpack: the struct is of version %d.%d, want %d", m.major, m.minor, majorVersion)
		}
		m := *(*managedTensorVersioned)(p)
		x, deleter, flags = m.tensor, m.deleter, m.flags
	}
	if deleter != 0 && o.Delete == nil {
		return nil, errors.New("dlpack: the struct has a deleter: ImportOpts.Delete must call it")
	}
	v, data, n, err := x.view()
	if err != nil {
		return nil, err
	}
	own := &owner{once: sync.OnceFunc(func() {
		if deleter != 0 {
			o.Delete(pointer(deleter), p)
		}
	})}
	runtime.AddCleanup(own, func(f func()) { f() }, own.once)
	v.Store = array.NewStorage(pointer(data), n, own)
	if flags&flagReadOnly != 0 {
		v.Store.Protect()
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

// An owner is what the storage of an imported tensor holds.
type owner struct{ once func() }

// Return gives the memory back to the other side.
func (o *owner) Return() { o.once() }

// view returns the window that x is on n bytes at an address, without storage.
func (x *dlTensor) view() (v array.View, data uintptr, n int, err error) {
	fail := func(format string, args ...any) (array.View, uintptr, int, error) {
		return v, 0, 0, fmt.Errorf("dlpack: "+format, args...)
	}
	d, ok := dtypes[typeCode{x.code, x.bits}]
	switch {
	case x.deviceType != deviceCPU:
		return fail("the memory is on a device of type %d, want %d, the CPU", x.deviceType, deviceCPU)
	case !ok || x.lanes != 1:
		return fail("no element type has code %d, %d bits and %d lanes", x.code, x.bits, x.lanes)
	case x.ndim < 0 || x.ndim > array.MaxRank:
		return fail("%d dimensions, at most %d are supported", x.ndim, array.MaxRank)
	case x.ndim > 0 && x.shape == 0:
		return fail("the shape is nil")
	case x.shape%8 != 0 || x.strides%8 != 0:
		return fail("the shape or the strides are not aligned")
	}
	rank := int(x.ndim)
	v = array.View{DType: d, Shape: make([]int, rank)}
	for i, k := range int64s(x.shape, rank) {
		v.Shape[i] = int(k)
	}
	if err := weft.Try(func() { array.CheckShape("dlpack", v.Shape, d) }); err != nil {
		return v, 0, 0, err
	}
	v.Strides = array.RowMajor(v.Shape)
	if v.Size() == 0 {
		return v, 0, 0, nil
	}
	size := d.Size()
	lo, hi := 0, 0 // elements before and behind the first that are used
	if x.strides != 0 {
		for i, k := range int64s(x.strides, rank) {
			steps := v.Shape[i] - 1
			if limit := int64(array.MaxBytes / size / array.MaxRank); steps > 0 && (k > limit/int64(steps) || k < -limit/int64(steps)) {
				return fail("a stride of %d overflows", k)
			}
			v.Strides[i] = int(k)
			if steps == 0 {
				v.Strides[i] = 1
			}
			if k < 0 {
				lo -= steps * v.Strides[i]
			} else {
				hi += steps * v.Strides[i]
			}
		}
	} else {
		hi = v.Size() - 1
	}
	at := x.data + uintptr(x.byteOffset)
	switch {
	case x.data == 0:
		return fail("the data are nil")
	case at < x.data || at < uintptr(lo*size) || at+uintptr((hi+1)*size) < at:
		return fail("the addresses overflow")
	case at%uintptr(min(size, 8)) != 0:
		return fail("the data at %#x are not aligned to %d bytes", at, min(size, 8))
	}
	v.Offset = lo
	return v, at - uintptr(lo*size), (lo + hi + 1) * size, nil
}
