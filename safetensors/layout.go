package safetensors

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"weft/internal/array"
)

// layOut sorts the entries by the place of their data and checks that each has
// the bytes of its shape and that together they cover size bytes, each once.
func layOut(entries []entry, size int64) error {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for i := range entries {
		e := &entries[i]
		n, err := e.bytes()
		switch {
		case err != nil:
			return err
		case e.end < e.begin || e.end-e.begin != n:
			return malformed("tensor %q: data_offsets [%d, %d] do not fit the %d bytes of %s%s",
				e.name, e.begin, e.end, n, e.kind.name, array.ShapeString(e.shape))
		case e.begin < at:
			return malformed("tensor %q: its data at byte %d overlaps that of tensor %q", e.name, e.begin, entries[i-1].name)
		case e.begin > at:
			return malformed("tensor %q: bytes %d to %d before its data belong to no tensor", e.name, at, e.begin)
		case e.end > size:
			return fmt.Errorf("safetensors: tensor %q: its data ends at byte %d, %d are there: %w",
				e.name, e.end, size, io.ErrUnexpectedEOF)
		}
		at = e.end
	}
	if at < size {
		return malformed("%d bytes at the end belong to no tensor", size-at)
	}
	return nil
}

// bytes returns the size of e by its shape; of a type that is not known, what the file
// says.
func (e *entry) bytes() (int64, error) {
	// The product of the non-zero dimensions must fit too: strides are made of
	// it.
	n, empty := 1, false
	for _, d := range e.shape {
		if d == 0 {
			empty = true
			continue
		}
		if n > math.MaxInt/d {
			return 0, malformed("tensor %q: shape %s overflows", e.name, array.ShapeString(e.shape))
		}
		n *= d
	}
	if e.kind.bits == 0 {
		return e.end - e.begin, nil
	}
	if n > math.MaxInt/e.kind.bits {
		return 0, malformed("tensor %q: shape %s of %s overflows", e.name, array.ShapeString(e.shape), e.kind.name)
	}
	if empty {
		return 0, nil
	}
	if n *= e.kind.bits; n%8 != 0 {
		return 0, malformed("tensor %q: %s%s has no whole number of bytes", e.name, e.kind.name, array.ShapeString(e.shape))
	}
	return int64(n / 8), nil
}
