// Package raw moves the elements of arrays to and from byte streams, for the
// file formats: packed elements in a given byte order, no header.
package raw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"weft/internal/array"
	"weft/internal/mem"
)

// maxBytes is what Read refuses to hold: beyond the address space that Go
// gives to one allocation on its 64-bit platforms.
const maxBytes = 1 << 46

// step is the first allocation of a Read that cannot trust its length; growth is the factor of each
// further one. Pool memory takes pages when it is touched, so unfilled memory costs only addresses.
// All copies together move at most a seventh of the data.
const (
	step   = 1 << 20
	growth = 8
)

var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// unaligned says that the processor reads and writes elements at any address.
const unaligned = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// copyBelow is the size in bytes below which elements at an odd address are copied: that costs less than asking, at
// each use, whether a mapped file is whole.
const copyBelow = 64 << 10

// InPlace reports whether n bytes of little-endian elements at an address, or at an offset in a mapped file, can be used
// where they lie. Bools cannot: files may have bytes other than 0 and 1.
func InPlace(d array.DType, at, n int) bool {
	return d != array.Bool && !hostBig && (at%width(d) == 0 || unaligned && n >= copyBelow)
}

// Read reads n bytes of packed elements of type d, big-endian if big, and
// returns them in the byte order of the host, aligned for any element type; of
// a bool every byte but 0 becomes 1.
//
// sized says that n is known not to exceed what r holds. Otherwise the memory grows as data
// arrives. A false n then takes only the pages of the data that arrived, and a seventh more while
// that is copied. A stream that ends early gives an error that wraps io.ErrUnexpectedEOF.
func Read(r io.Reader, d array.DType, n int, big, sized bool) (*array.Storage, error) {
	if n > maxBytes {
		return nil, fmt.Errorf("%d bytes of data do not fit into memory", n)
	}
	size := n
	if !sized {
		size = min(n, step)
	}
	st, b, err := room(size)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*array.Storage, error) {
		giveBack(st)
		return nil, err
	}
	for got := 0; got < n; {
		if got == len(b) {
			grown, to, err := room(min(growth*got, n))
			if err != nil { // where memory is short there may be some for less
				grown, to, err = room(min(2*got, n))
			}
			if err != nil {
				return fail(err)
			}
			copy(to, b)
			giveBack(st)
			st, b = grown, to
		}
		k, err := io.ReadFull(r, b[got:])
		got += k
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fail(fmt.Errorf("%d of %d bytes of data: %w", got, n, err))
		}
	}
	toHost(b, d, big)
	runtime.KeepAlive(st) // which b does not
	return st, nil
}

// room returns n bytes with any content, as a storage and where Go can write them.
func room(n int) (*array.Storage, []byte, error) {
	if n <= array.SmallMax {
		b := alloc(n)
		return array.NewStorage(unsafe.Pointer(unsafe.SliceData(b)), n, b), b, nil
	}
	l, err := mem.Lend(n)
	if err != nil {
		return nil, nil, err
	}
	return array.NewStorage(l.Ptr(), n, l), unsafe.Slice((*byte)(l.Ptr()), n), nil
}

// giveBack returns memory that nothing refers to.
func giveBack(st *array.Storage) {
	if l, ok := st.Owner().(*mem.Lease); ok {
		l.Return()
	}
}

// toHost makes elements of the host of elements of a file.
func toHost(buf []byte, d array.DType, big bool) {
	switch {
	case d == array.Bool:
		for i, b := range buf {
			if b != 0 {
				buf[i] = 1
			}
		}
	case big != hostBig:
		swap(buf, width(d))
	}
}

// alloc returns n zeroed bytes aligned to 8.
func alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// width returns the bytes of what the byte order applies to.
func width(d array.DType) int {
	if d.Category() == array.CatComplex {
		return d.Size() / 2
	}
	return d.Size()
}

// swap reverses the bytes of every number of the given width.
func swap(b []byte, width int) {
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			binary.LittleEndian.PutUint16(b, binary.BigEndian.Uint16(b))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, binary.BigEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.LittleEndian.PutUint64(b, binary.BigEndian.Uint64(b))
		}
	}
}

// View returns the array of type d and the given shape over buf, which holds
// its elements in the byte order of the host: row-major, or with the first
// index fastest if fortran. The view keeps buf alive.
func View(d array.DType, shape []int, fortran bool, buf []byte) array.View {
	if len(buf) == 0 {
		return Over(d, shape, fortran, array.NewStorage(nil, 0, nil))
	}
	return Over(d, shape, fortran, array.NewStorage(unsafe.Pointer(unsafe.SliceData(buf)), len(buf), buf))
}

// Over is [View] over a storage.
func Over(d array.DType, shape []int, fortran bool, st *array.Storage) array.View {
	strides := array.RowMajor(shape)
	if fortran {
		n := 1
		for i, s := range shape {
			strides[i] = n
			n *= max(s, 1)
		}
	}
	return array.View{Store: st, DType: d, Shape: shape, Strides: strides}
}
