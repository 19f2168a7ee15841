package convolution

import (
	"runtime"
	"unsafe"

	"weft/internal/cpu/tile"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/packed"
)

// packedWeights are weights in the layout of a kernel: a copy that is kept for later calls, or memory of this call.
type packedWeights struct {
	ptr   unsafe.Pointer
	flag  bool // what pack returned
	copy  *packed.Copy
	block mem.Block
}

// make has pack fill bytes, unless c keeps a copy under the key.
func (w *packedWeights) make(c *correlation, key packed.Key, bytes int, pack func(to unsafe.Pointer) bool) {
	key.ISA, key.Of, key.As = c.ISA, c.D, c.D
	w.take(c.kept, key, bytes, pack)
}

func (w *packedWeights) take(from packed.Source, key packed.Key, bytes int, pack func(to unsafe.Pointer) bool) {
	if w.copy = from.Copy(key, bytes, pack); w.copy != nil {
		w.ptr, w.flag = w.copy.Ptr(), w.copy.Flag
		return
	}
	w.block = tile.Alloc(max(bytes, 1))
	w.ptr = w.block.Ptr()
	w.flag = pack(w.ptr)
}

// aheadFrom is the size of kept weights, in bytes, from which they are assumed not to be in the L2 cache: what is
// read next is prefetched. Tests set it to 0.
var aheadFrom = 1 << 20

// aheadDue reports whether the kernels of sums of the given number of terms prefetch weights. Weights of this call alone were just written.
func (c *correlation) aheadDue(terms int) bool {
	return c.kept.Kept() && c.outC*terms*c.Size >= aheadFrom
}

// setAhead makes the kernel prefetch the weights that follow block b of strip s, spread over all tiles.
func (r *channelRun) setAhead(f *channelFrame, s, b int, tiles channelTiles) {
	f.ahead, f.aheadStep = uintptr(f.b), 0
	if !r.aheadDue(len(r.terms)) {
		return
	}
	next, terms := b+1, len(r.terms)
	at := uintptr(f.b) + uintptr(numbers.KBlock*r.weightPitch)
	if next == r.blocks {
		if s++; s >= r.strips {
			return
		}
		next, at = 0, uintptr(r.packed.ptr)+uintptr(s*r.panelBytes)
	}
	count := 0
	for _, of := range tiles {
		count += len(of)
	}
	now, then := min(numbers.KBlock, terms-b*numbers.KBlock), min(numbers.KBlock, terms-next*numbers.KBlock)
	if count > 0 && now > 0 {
		f.ahead, f.aheadStep = at, tile.Ceil(then*r.weightPitch, count*now)
	}
}

// free ends the use of the weights.
func (w *packedWeights) free() {
	if w.copy == nil {
		mem.Free(w.block)
	}
	runtime.KeepAlive(w.copy)
	*w = packedWeights{}
}
