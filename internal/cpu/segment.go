package cpu

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/device"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/par"
)

// A list is rows of elements that lie side by side, and offsets that say which item has which.
type list struct {
	op   string
	off  []int64
	rows int
	row  int // elements of one
}

// listOf is the list of a call whose second argument are the offsets.
func listOf(c *device.Call, v *array.View) *list {
	return &list{op: c.Node.Op.OpName(), off: elements[int64](&c.Args[1]), rows: v.Shape[0], row: array.Size(v.Shape[1:])}
}

// each calls f for items from lo to before hi, whose offsets are checked, on all threads: as
// many elements for each.
func (l *list) each(f func(lo, hi int)) {
	items := len(l.off) - 1
	pieces := par.Threads() * 8
	if work := l.rows*l.row + items; work < scanGrain || pieces == 8 {
		pieces = 1
	}
	par.Run(pieces, 1, 0, func(_, begin, end int) {
		for p := begin; p < end; p++ {
			lo, hi := l.cut(p, pieces), l.cut(p+1, pieces)
			if lo > hi { // only if offsets do not ascend
				l.check(0, items)
			}
			l.check(lo, hi)
			f(lo, hi)
		}
	})
}

// itemWork is what an item costs beside its elements.
const itemWork = 16

// cut returns the item with which piece p of so many begins, the same for all who ask; any
// item if offsets do not ascend.
func (l *list) cut(p, pieces int) int {
	items := len(l.off) - 1
	if p == 0 || p == pieces {
		return items * (p / pieces)
	}
	before := func(i int) float64 { return float64(l.off[i]-l.off[0])*float64(l.row) + itemWork*float64(i) }
	want := before(items) * float64(p) / float64(pieces)
	lo, hi := 0, items
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); before(mid) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// check refuses offsets of items from lo to before hi that do not ascend, or lie outside the
// rows.
func (l *list) check(lo, hi int) {
	off := l.off[lo : hi+1]
	last := off[0]
	for i, o := range off {
		if o < last || o < 0 || o > int64(l.rows) {
			l.refuse(lo + i)
		}
		last = o
	}
}

func (l *list) refuse(i int) {
	if o := l.off[i]; o < 0 || o > int64(l.rows) {
		array.Failf(l.op, "offsets", "offset %d is %d, which is not from 0 to %d, the number of rows", i, o, l.rows)
	}
	array.Failf(l.op, "offsets", "offset %d is %d, less than %d before it", i, l.off[i], l.off[max(i-1, 0)])
}

func bySizeOf(f1, f2, f4, f8 device.Routine) device.Routine {
	return func(c *device.Call) error {
		return [...]device.Routine{1: f1, 2: f2, 4: f4, 8: f8}[c.Args[0].DType.Size()](c)
	}
}

// segmentExpand gives each row the value of its item.
func segmentExpand(c *device.Call) error {
	out := &c.Out[0]
	l := listOf(c, out)
	size := l.row * out.DType.Size()
	dst := unsafe.Slice((*byte)(gen.Ptr(out)), l.rows*size)
	src := unsafe.Slice((*byte)(gen.Ptr(&c.Args[0])), (len(l.off)-1)*size)
	l.check(0, len(l.off)-1)
	clear(dst[:int(l.off[0])*size])
	clear(dst[int(l.off[len(l.off)-1])*size:])
	if size == 0 {
		return nil
	}
	l.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := src[i*size : (i+1)*size]
			for to := dst[int(l.off[i])*size : int(l.off[i+1])*size]; len(to) > 0; to = to[size:] {
				copy(to, from)
			}
		}
	})
	return nil
}

// segmentReduce combines the rows of each item.
func segmentReduce(c *device.Call) error {
	d := c.Args[0].DType
	k := op.Combines(c.Node)
	switch {
	case d == array.Float32:
		reduceItems(c, k, float32(math.Inf(1)), float32(math.Inf(-1)))
	case d == array.Float64:
		reduceItems(c, k, math.Inf(1), math.Inf(-1))
	case d == array.Bool || d == array.Uint8:
		reduceItems[uint8](c, k, math.MaxUint8, 0)
	case d == array.Int8:
		reduceItems[int8](c, k, math.MaxInt8, math.MinInt8)
	case d == array.Int16:
		reduceItems[int16](c, k, math.MaxInt16, math.MinInt16)
	case d == array.Uint16:
		reduceItems[uint16](c, k, math.MaxUint16, 0)
	case d == array.Int32:
		reduceItems[int32](c, k, math.MaxInt32, math.MinInt32)
	case d == array.Uint32:
		reduceItems[uint32](c, k, math.MaxUint32, 0)
	case d == array.Int64:
		reduceItems[int64](c, k, math.MaxInt64, math.MinInt64)
	case d == array.Uint64:
		reduceItems[uint64](c, k, math.MaxUint64, 0)
	default:
		array.Failf(c.Node.Op.OpName(), "", "is not defined for %s", d)
	}
	return nil
}

type real interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func reduceItems[T real](c *device.Call, k loop.Reduction, greatest, least T) {
	var id T
	f := func(a, b T) T { return a + b }
	switch k {
	case loop.Prod:
		id, f = 1, func(a, b T) T { return a * b }
	case loop.Min, loop.MinU, loop.And:
		if id = greatest; k == loop.And {
			id = 1
		}
		f = func(a, b T) T {
			if a < b || a != a {
				return a
			}
			return b
		}
	case loop.Max, loop.MaxU, loop.Or:
		if id = least; k == loop.Or {
			id = 0
		}
		f = func(a, b T) T {
			if a > b || a != a {
				return a
			}
			return b
		}
	}
	x, y := elements[T](&c.Args[0]), elements[T](&c.Out[0])
	l := listOf(c, &c.Args[0])
	l.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			item := x[int(l.off[i])*l.row : int(l.off[i+1])*l.row]
			if l.row == 1 {
				y[i] = inLanes(item, id, f)
				continue
			}
			to := y[i*l.row : (i+1)*l.row]
			for j := range to {
				to[j] = id
			}
			for ; len(item) > 0 && l.row > 0; item = item[l.row:] {
				for j, v := range item[:l.row] {
					to[j] = f(to[j], v)
				}
			}
		}
	})
}

// inLanes combines elements in the order of loop.OpReduce.
func inLanes[T real](x []T, id T, f func(a, b T) T) T {
	var lanes [loop.VirtualBytes]T
	var tree [64]T
	v := loop.VirtualBytes / int(unsafe.Sizeof(id))
	blocks := 0
	for first := true; first || len(x) > 0; first = false {
		for i := range lanes[:v] {
			lanes[i] = id
		}
		n := min(len(x), loop.Block)
		for i, e := range x[:n] {
			lanes[i%v] = f(lanes[i%v], e)
		}
		x = x[n:]
		for h := v / 2; h > 0; h /= 2 {
			for i := range h {
				lanes[i] = f(lanes[i], lanes[i+h])
			}
		}
		sum, level := lanes[0], 0
		for ; blocks>>level&1 != 0; level++ {
			sum = f(tree[level], sum)
		}
		tree[level] = sum
		blocks++
	}
	level := 0
	for blocks>>level&1 == 0 {
		level++
	}
	sum := tree[level]
	for level++; blocks>>level != 0; level++ {
		if blocks>>level&1 != 0 {
			sum = f(tree[level], sum)
		}
	}
	return sum
}

// segmentArg gives the place of the first extreme of each item, counted in it.
func segmentArg[U bitsOf](greatest bool) device.Routine {
	return func(c *device.Call) error {
		x, y := elements[U](&c.Args[0]), elements[int64](&c.Out[0])
		o := orderOf(c.Args[0].DType)
		const nan = ^uint64(0)
		l := listOf(c, &c.Args[0])
		l.each(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				n := int(l.off[i+1] - l.off[i])
				for j := range l.row {
					place := -1
					var best uint64
					for r := range n {
						k := o.key(uint64(x[(int(l.off[i])+r)*l.row+j]) << o.shift)
						if r == 0 {
							best, place = k, 0
						} else if stays := o.float && best == nan; !stays && k != best && (o.float && k == nan || (k > best) == greatest) {
							best, place = k, r
						}
					}
					y[i*l.row+j] = int64(place)
				}
			}
		})
		return nil
	}
}
