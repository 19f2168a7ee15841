// Package selection has the kernels that select elements of a row by their order: those between two limits, and
// those on either side of one.
package selection

import (
	"runtime"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// Group is the number of elements that a round of a kernel takes: the kernels leave what does not fill one.
const Group = 8

// Keys says how elements become keys, unsigned integers of 64 bits that ascend in the order of elements: the bits of
// an element are the high ones, zeros are equal, and the key of NaN has all bits set.
type Keys struct {
	Size          int // bytes of an element
	Float, Signed bool
	Descending    bool   // keys descend instead: all their bits are inverted
	Infinity      uint64 // of floats, its bits in the high ones
}

// Plain are the keys of numbers that are their own.
var Plain = Keys{Size: 8}

// Kernels are the kernels for one kind of key.
type Kernels struct {
	size                int
	within, count, keep *jit.Code
	divide              [4]*jit.Code // by orEqual and places
	order               [Most / Group]*jit.Code
	row                 [3]*jit.Code // by Division
}

// Runs reports whether there are kernels: they need the instruction that compresses a vector.
func Runs(isa jit.ISA) bool { return isa == jit.AVX512 }

// Kernels returns the kernels. Requires Runs.
func (k Keys) Kernels() *Kernels {
	s := &Kernels{size: k.Size}
	s.within = codegen.Kernel(codes, key{kind: within, keys: k})
	s.count = codegen.Kernel(codes, key{kind: within, keys: plain, counts: true})
	s.keep = codegen.Kernel(codes, key{kind: within, keys: plain, carries: true})
	for i := range s.divide {
		s.divide[i] = codegen.Kernel(codes, key{kind: divide, keys: k, orEqual: i&1 != 0, places: i&2 != 0})
	}
	for d := range s.row {
		s.row[d] = codegen.Kernel(codes, key{kind: ofRow, keys: k, division: Division(d)})
	}
	for i := range s.order {
		s.order[i] = codegen.Kernel(codes, key{kind: order, groups: i + 1})
	}
	return s
}

// plain are the keys of numbers that are their own.
var plain = Keys{Size: 8}

// A frame holds the arguments of the kernels.
type frame struct {
	src    unsafe.Pointer
	groups int            // counted down
	first  int            // the index of src
	low    uint64         // the least key that is wanted, or the limit
	width  uint64         // the greatest key minus the least
	keys   unsafe.Pointer // where keys go, or what is not behind the limit
	places unsafe.Pointer // where indices go, or what is behind the limit
	from   unsafe.Pointer // indices of src
	kept   int            // number of keys from low on
	below  int            // number of keys that are less than low
}

var f frame

func call(c *jit.Code, a *frame) {
	jit.Call(c, 0, unsafe.Pointer(a))
	runtime.KeepAlive(a)
}

// Within stores the keys of the first n elements at src, n being a multiple of [Group], that are from low to high, in
// keys, and their indices in places. It returns the number of lower keys, and the number of keys that it stores.
// Requires that keys and places have length n.
func (s *Kernels) Within(src unsafe.Pointer, n int, low, high uint64, keys, places []uint64) (below, inside int) {
	a := frame{src: src, groups: n / Group, low: low, width: high - low, keys: unsafe.Pointer(&keys[:n][0]), places: unsafe.Pointer(&places[:n][0])}
	call(s.within, &a)
	return a.below, a.kept
}

// Count returns the number of keys that are below low, and from low to high. Requires a multiple of [Group].
func (s *Kernels) Count(keys []uint64, low, high uint64) (below, inside int) {
	a := frame{src: unsafe.Pointer(unsafe.SliceData(keys)), groups: len(keys) / Group, low: low, width: high - low}
	call(s.count, &a)
	return a.below, a.kept
}

// Keep moves the keys from low to high to the front, and their places, and returns their number. Requires a multiple
// of [Group].
func (s *Kernels) Keep(keys, places []uint64, low, high uint64) int {
	p, q := unsafe.Pointer(unsafe.SliceData(keys)), unsafe.Pointer(unsafe.SliceData(places))
	a := frame{src: p, groups: len(keys) / Group, low: low, width: high - low, keys: p, places: q, from: q}
	call(s.keep, &a)
	return a.kept
}

// A Side says which elements go behind the others: those whose key is above Limit, or not below it with OrEqual.
type Side struct {
	Limit   uint64
	OrEqual bool
	Places  bool // write int64 indices instead of elements
}

// Divide writes the first n elements at src, n being a multiple of [Group], to lo, or to hi where they go behind. The
// element at src has index first. It returns the number of the latter. It writes nothing else.
func (s *Kernels) Divide(d Side, src unsafe.Pointer, n, first int, lo, hi unsafe.Pointer) (behind int) {
	i := 0
	if d.OrEqual {
		i = 1
	}
	if d.Places {
		i |= 2
	}
	a := frame{src: src, groups: n / Group, first: first, low: d.Limit, keys: lo, places: hi}
	call(s.divide[i], &a)
	return n - a.kept
}

// Most is the most keys that Order takes.
const Most = 64

// Order writes for each of at most [Most] keys the number of lower keys. It reads and writes whole groups.
func (s *Kernels) Order(keys, ranks *[Most]uint64, n int) {
	a := frame{src: unsafe.Pointer(keys), groups: n, keys: unsafe.Pointer(ranks)}
	call(s.order[(n-1)/Group], &a)
}
