package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/device"
	"weft/internal/op"
)

// bytesOf returns the memory of a contiguous argument or result.
func bytesOf(v *array.View) []byte {
	return unsafe.Slice((*byte)(codegen.Ptr(v)), v.Size()*v.DType.Size())
}

// fill fills to with copies of one element.
func fill(to, element []byte) {
	for n := copy(to, element); n > 0 && n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
}

// shortPadded is the size in bytes up to which all of a padded item is written as padding first,
// and then overwritten by the item. Writing twice costs less than a mispredicted branch at the
// end of the item.
const shortPadded = 1024

// segmentPad pads all items to the same length.
func segmentPad(c *device.Call) error {
	x, out := &c.Args[0], &c.Out[0]
	l := &list{op: "segment_pad", off: codegen.Elements[int64](&c.Args[2]), rows: x.Shape[0], row: array.Size(x.Shape[1:])}
	l.check(0, len(l.off)-1)
	size := l.row * x.DType.Size()
	dst, src, one := bytesOf(out), bytesOf(x), bytesOf(&c.Args[1])
	padded := out.Shape[1] * size
	if padded == 0 {
		return nil
	}
	// Of items that are short a copy of the filling is faster than filling each by doubling.
	blank := make([]byte, min(padded, 4096/len(one)*len(one)))
	fill(blank, one)
	short := padded <= shortPadded
	l.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to, from := dst[i*padded:(i+1)*padded], src[int(l.off[i])*size:int(l.off[i+1])*size]
			if short { // of a known length, which no branch has to guess
				copy(to, blank)
				copy(to, from)
				continue
			}
			to = to[copy(to, from):]
			for len(to) > 0 {
				to = to[copy(to, blank):]
			}
		}
	})
	return nil
}

// segmentUnpad is the inverse of segmentPad.
func segmentUnpad(c *device.Call) error {
	x, out := &c.Args[0], &c.Out[0]
	l := listOf(c, out)
	l.check(0, len(l.off)-1)
	size := l.row * x.DType.Size()
	dst, src := bytesOf(out), bytesOf(x)
	padded := x.Shape[1] * size
	clear(dst[:int(l.off[0])*size])
	clear(dst[int(l.off[len(l.off)-1])*size:])
	l.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst[int(l.off[i])*size : int(l.off[i+1])*size]
			clear(to[copy(to, src[i*padded:(i+1)*padded]):])
		}
	})
	return nil
}

// segmentTake copies runs of rows one behind the other.
func segmentTake(c *device.Call) error {
	x, out := &c.Args[0], &c.Out[0]
	first, have := codegen.Elements[int64](&c.Args[1]), int64(x.Shape[0])
	l := &list{op: "segment_take", off: codegen.Elements[int64](&c.Args[2]), rows: out.Shape[0], row: array.Size(out.Shape[1:])}
	l.check(0, len(l.off)-1)
	size := int64(l.row * x.DType.Size())
	dst, src := bytesOf(out), bytesOf(x)
	clear(dst[:l.off[0]*size])
	clear(dst[l.off[len(l.off)-1]*size:])
	l.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, n := first[i], l.off[i+1]-l.off[i]
			to := dst[l.off[i]*size : l.off[i+1]*size]
			if from < 0 { // rows before the first of x
				none := n
				if from > -n {
					none = -from
				}
				clear(to[:none*size])
				from, n, to = 0, n-none, to[none*size:]
			}
			from = min(from, have)
			clear(to[copy(to, src[from*size:min(from+n, have)*size]):])
		}
	})
	return nil
}

// segmentSort sorts the rows of each item.
func segmentSort[U bitsOf](c *device.Call) error {
	x := &c.Args[0]
	l := listOf(c, x)
	l.check(0, len(l.off)-1)
	most := int64(0)
	for i, o := range l.off[1:] {
		most = max(most, o-l.off[i])
	}
	if uint64(most) > 1<<placeBits {
		return array.Errorf("segment_sort", "offsets", "an item has %d rows, more than %d", most, uint64(1)<<placeBits)
	}
	values, places := codegen.Elements[U](&c.Out[0]), codegen.Elements[int64](&c.Out[1])
	for _, gap := range [][2]int{{0, int(l.off[0])}, {int(l.off[len(l.off)-1]), l.rows}} {
		clear(values[gap[0]*l.row : gap[1]*l.row])
		clear(places[gap[0]*l.row : gap[1]*l.row])
	}
	r := rows[U]{order: orderOf(x.DType), descending: c.Node.Attrs.(op.ItemOrder).Descending, step: l.row, src: codegen.Ptr(x)}
	l.each(func(lo, hi int) {
		scratch := c.Stream.Alloc(16 * max(int(most), 1))
		defer c.Stream.Free(scratch)
		both := unsafe.Slice((*uint64)(scratch.Host()), 2*int(most))
		for i := lo; i < hi; i++ {
			n := int(l.off[i+1] - l.off[i])
			for j := range l.row {
				first := int(l.off[i])*l.row + j
				r.give(c, first, first, r.sortRow(first, both[:n:n], both[most:][:n]))
			}
		}
	})
	return nil
}
