package array

import "unsafe"

// A View is a strided window on a storage. Shape and Strides are never written
// after the view is made, so views may share them.
type View struct {
	Store   *Storage
	DType   DType
	Offset  int   // of the first element, in elements; never behind the end
	Shape   []int // sizes
	Strides []int // in elements, any sign, 0 where broadcast
}

// Size returns the number of elements.
func (v *View) Size() int { return Size(v.Shape) }

// Window returns a view of other elements of the storage. Its first element is offset
// elements behind v's. A window without elements is at the start of the
// storage: behind the last element lies something else, or nothing, and Go's
// collector ends a process in which it meets a pointer to nothing.
func (v *View) Window(offset int, shape, strides []int) View {
	w := View{v.Store, v.DType, v.Offset + offset, shape, strides}
	if Size(shape) == 0 {
		w.Offset = 0
	}
	return w
}

// Ptr returns the address of the first element, or of the storage if there is none.
func (v *View) Ptr() unsafe.Pointer {
	return unsafe.Add(v.Store.Host(), v.Offset*v.DType.Size())
}

// Memory returns the bytes on the host from the first that the view touches to the
// last, and where among them its first element begins; none for an empty view. The
// caller keeps the storage alive while it uses them.
func (v *View) Memory() (b []byte, first int) {
	lo, hi := v.Span()
	size := v.DType.Size()
	if lo == hi {
		return nil, 0
	}
	return unsafe.Slice((*byte)(unsafe.Add(v.Store.Host(), lo*size)), (hi-lo)*size), (v.Offset - lo) * size
}

// Contiguous reports row-major order without gaps.
func (v *View) Contiguous() bool {
	n := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		switch v.Shape[i] {
		case 1:
			continue
		case 0:
			return true
		}
		if v.Strides[i] != n {
			return false
		}
		n *= v.Shape[i]
	}
	return true
}

// Span returns the lowest element offset the view touches and the highest plus
// one; both equal for an empty view.
func (v *View) Span() (lo, hi int) {
	lo, hi = v.Offset, v.Offset
	for i, n := range v.Shape {
		if n == 0 {
			return v.Offset, v.Offset
		}
		d := (n - 1) * v.Strides[i]
		if d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi + 1
}

// Writable reports whether distinct indices reach distinct elements as far as
// zero strides tell: an expanded view is not writable.
func (v *View) Writable() bool {
	for i, n := range v.Shape {
		if n > 1 && v.Strides[i] == 0 {
			return false
		}
	}
	return true
}

// Same reports views of exactly the same elements in the same order.
func (v *View) Same(w *View) bool {
	if v.Store != w.Store || v.Offset != w.Offset || v.DType != w.DType || !Equal(v.Shape, w.Shape) {
		return false
	}
	for i, n := range v.Shape {
		if n > 1 && v.Strides[i] != w.Strides[i] {
			return false
		}
	}
	return true
}

// Part returns the real (0) or imaginary (1) parts of a view of complex numbers.
func (v *View) Part(i int) View {
	strides := make([]int, len(v.Strides))
	for k, s := range v.Strides {
		strides[k] = 2 * s
	}
	w := View{v.Store, v.DType.Part(), 2 * v.Offset, v.Shape, strides}
	return w.Window(i, w.Shape, w.Strides)
}

// Scalars returns the parts of complex numbers along one more axis, the last, of size 2.
func (v *View) Scalars() View {
	w := v.Part(0)
	return w.Window(0, append(append([]int{}, w.Shape...), 2), append(w.Strides, 1))
}

// Overlaps reports whether the two views may share a byte. It compares ranges of bytes, so views
// that interleave without sharing count as overlapping. Memory that the host does not reach, and
// what is not computed yet, is shared by views of one storage alone. Overlaps neither waits nor
// copies.
func (v *View) Overlaps(w *View) bool {
	vl, vh := v.Span()
	wl, wh := w.Span()
	if vl == vh || wl == wh {
		return false
	}
	vs, ws := uintptr(v.DType.Size()), uintptr(w.DType.Size())
	if v.Store == w.Store {
		return vl*int(vs) < wh*int(ws) && wl*int(ws) < vh*int(vs)
	}
	va, wa := v.Store.address(), w.Store.address()
	if va == 0 || wa == 0 {
		return false
	}
	return va+uintptr(vl)*vs < wa+uintptr(wh)*ws && wa+uintptr(wl)*ws < va+uintptr(vh)*vs
}

// Bytes returns the addresses from lo to hi-1 that the view lies within; equal for
// a view without elements.
func (v *View) Bytes() (lo, hi uintptr) {
	l, h := v.Span()
	at, size := uintptr(v.Store.Host()), uintptr(v.DType.Size())
	return at + uintptr(l)*size, at + uintptr(h)*size
}

// BroadcastTo returns the view expanded to shape with strides of 0; shape must
// be one that v broadcasts to.
func (v *View) BroadcastTo(shape []int) View {
	if Equal(v.Shape, shape) {
		return *v
	}
	st := make([]int, len(shape))
	k := len(shape) - len(v.Shape)
	for i := k; i < len(shape); i++ {
		if v.Shape[i-k] == shape[i] {
			st[i] = v.Strides[i-k]
		}
	}
	return View{v.Store, v.DType, v.Offset, shape, st}
}

// Reshape returns the view in another shape of the same size if strides allow
// it without copying.
func (v *View) Reshape(shape []int) (View, bool) {
	out := View{Store: v.Store, DType: v.DType, Offset: v.Offset, Shape: shape}
	if Size(shape) == 0 {
		out.Strides = RowMajor(shape)
		return out, true
	}
	st := make([]int, len(shape))
	// Walk both shapes from the back in groups of equal size; a group of v must
	// be evenly strided inside.
	i, j := len(v.Shape)-1, len(shape)-1
	for i >= 0 || j >= 0 {
		for i >= 0 && v.Shape[i] == 1 {
			i--
		}
		if i < 0 {
			for ; j >= 0; j-- { // only ones are left
				st[j] = 1
			}
			break
		}
		n, step := v.Shape[i], v.Strides[i]
		inner := step
		m := 1
		for {
			for j >= 0 && m < n {
				st[j] = inner
				inner *= shape[j]
				m *= shape[j]
				j--
			}
			if m == n {
				break
			}
			// m > n: the group of v must grow by its next dimension.
			i--
			for i >= 0 && v.Shape[i] == 1 {
				i--
			}
			if i < 0 || v.Strides[i] != step*n {
				return View{}, false
			}
			n *= v.Shape[i]
		}
		i--
		for j >= 0 && shape[j] == 1 {
			st[j] = inner
			j--
		}
	}
	out.Strides = st
	return out, true
}
