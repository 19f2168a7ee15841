package ragged

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/saved"
)

// indexDef are the rows of items at places: of rows, the offsets of their items, places, int64,
// and the offsets of those. Rows of an element or two are taken as their places are looked at;
// the numbers of rows are written down for longer ones and for the gradient.
var indexDef = &op.Def{Name: "ragged_index", Hash: 0x1dde4, Class: op.Composite, Arity: 4,
	Composed: op.Composed{Compose: func(x []*ir.Node, _ ir.Attrs) *ir.Node {
		if mover(array.Size(x[0].Shape[1:])*x[0].DType.Size()) != nil {
			return op.Apply(op.Host, indexing{}, x...)
		}
		return numberedRows(x)
	}},
	Derivative: op.Derivative{VJP: func(v *op.VJP) {
		v.Set(0, func() *ir.Node {
			return op.Gradient([]*ir.Node{numberedRows(v.X)}, []*ir.Node{v.DY}, v.X[:1])[0]
		})
	}}}

// numberedRows is indexDef by the numbers of rows.
func numberedRows(x []*ir.Node) *ir.Node {
	return op.Apply(op.IndexSelect, op.Axis(0), x[0], op.Apply(op.Host, indexing{numbers: true}, x...))
}

// An indexing is what indexDef does on the host: it finds the row of each place, and takes it or
// writes its number.
type indexing struct{ numbers bool }

// AppendKey implements ir.Attrs.
func (a indexing) AppendKey(k []byte) []byte { return ir.Flag(k, a.numbers) }

func init() {
	saved.RegisterFunc("list index", func(a indexing) bool { return a.numbers }, func(numbers bool) indexing { return indexing{numbers} })
}

// Results implements op.HostFunc.
func (a indexing) Results(args []ir.Type) []ir.Type {
	fits := len(args) == 4 && len(args[0].Shape) > 0
	for i := 1; fits && i < len(args); i++ {
		fits = args[i].DType == array.Int64 && len(args[i].Shape) == 1
	}
	if !fits || args[1].Shape[0] != args[3].Shape[0] || args[3].Shape[0] == 0 || !a.numbers && mover(array.Size(args[0].Shape[1:])*args[0].DType.Size()) == nil {
		array.Failf("index", "", "of types that lists do not have") // of a file
	}
	if a.numbers {
		return []ir.Type{args[2]}
	}
	return []ir.Type{{DType: args[0].DType, Shape: append([]int{args[2].Shape[0]}, args[0].Shape[1:]...)}}
}

// CallHost implements op.HostFunc.
func (a indexing) CallHost(args, out []array.View) error {
	const grain = 1 << 12 // items a piece
	w := &indexed{rows: int64(args[0].Shape[0]), first: words(&args[1]), places: words(&args[2]), of: words(&args[3])}
	w.src, _ = args[0].Memory()
	w.dst, _ = out[0].Memory()
	items := (*indexed).number
	if !a.numbers {
		items = mover(args[0].DType.Size() * array.Size(args[0].Shape[1:]))
	}
	var bad atomic.Bool
	par.Run(len(w.of)-1, grain, 0, func(_, begin, end int) {
		if !items(w, begin, end) {
			bad.Store(true)
		}
	})
	if bad.Load() {
		return w.refuse()
	}
	return nil
}

// An indexed is a call of an indexing.
type indexed struct {
	rows       int64
	first      []int64 // offsets of items
	places, of []int64 // with the offsets of theirs
	dst, src   []byte
}

// lies reports that item i and its places lie in their arrays.
func (w *indexed) lies(i int) bool {
	return 0 <= w.first[i] && w.first[i] <= w.first[i+1] && w.first[i+1] <= w.rows && 0 <= w.of[i] && w.of[i] <= w.of[i+1] && w.of[i+1] <= int64(len(w.places))
}

// number writes the numbers of rows of some items; it reports false for places out of range.
func (w *indexed) number(begin, end int) bool {
	to := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(w.dst))), len(w.dst)/8)
	for i := begin; i < end; i++ {
		if !w.lies(i) {
			return false
		}
		base, n := w.first[i], w.first[i+1]-w.first[i]
		for k := w.of[i]; k < w.of[i+1]; k++ {
			x := w.places[k]
			x += n & (x >> 63)
			if uint64(x) >= uint64(n) {
				return false
			}
			to[k] = base + x
		}
	}
	return true
}

// mover returns a function that copies rows of row bytes, for the items that [indexed.number]
// numbers; nil if rows are so large that a move each is faster.
func mover(row int) func(w *indexed, begin, end int) bool {
	switch row {
	case 1:
		return move[uint8]
	case 2:
		return move[uint16]
	case 4:
		return move[uint32]
	case 8:
		return move[uint64]
	case 16:
		return move[[2]uint64]
	}
	return nil
}

func move[T any](w *indexed, begin, end int) bool {
	size := int(unsafe.Sizeof(*new(T)))
	from := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(w.src))), len(w.src)/size)
	to := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(w.dst))), len(w.dst)/size)
	for i := begin; i < end; i++ {
		if !w.lies(i) {
			return false
		}
		from, lo, hi := from[w.first[i]:w.first[i+1]], w.of[i], w.of[i+1]
		to := to[lo:hi]
		for k, x := range w.places[lo:hi] {
			x += int64(len(from)) & (x >> 63)
			if uint64(x) >= uint64(len(from)) {
				return false
			}
			to[k] = from[x]
		}
	}
	return true
}

// refuse says what is wrong with places or offsets.
func (w *indexed) refuse() error {
	for i := range len(w.of) - 1 {
		if !w.lies(i) {
			return array.Errorf("index", "offsets", "of item %d do not ascend, or lie outside the rows: were they written to?", i)
		}
		n := w.first[i+1] - w.first[i]
		for _, x := range w.places[w.of[i]:w.of[i+1]] {
			if x < -n || x >= n {
				return array.Errorf("index", "idx", "place %d of item %d is out of range for its %d rows", x, i, n)
			}
		}
	}
	return array.Errorf("index", "idx", "was written to meanwhile")
}

// words are the elements of a contiguous view of int64.
func words(v *array.View) []int64 {
	b, _ := v.Memory()
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}
