package grid

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A Variant is how a program is laid on the grid: one of the first six, to which [Long] may be
// added, or [Kept] plus a level, to which [Whole] may be added.
type Variant uint8

const (
	Flat       Variant = iota // a thread computes one lane of one row
	FlatVector                // a thread computes neighbouring lanes and moves them as vectors
	WarpRows                  // a warp computes a row
	BlockRows                 // a block computes a row
	ShortRows                 // a warp computes several rows, each of 1 to Warp lanes
	FlatWide                  // as FlatVector, of elements of 1 and 2 bytes: 16 and 8 lanes a thread

	// Long variants count rows and lanes with 8 bytes instead of 4.
	Long Variant = 8

	// Kept plus a level computes rows of at most keptLanes[level] lanes, which stay in registers
	// between passes.
	Kept Variant = 16

	// Whole variants have rows of exactly keptLanes[level] lanes.
	Whole Variant = 32

	NumVariants Variant = 64
)

func (v Variant) long() bool { return v&Kept == 0 && v&Long != 0 }

// level returns the level of a Kept variant.
func (v Variant) level() int { return int(v &^ (Kept | Whole)) }

// kind returns the variant without Long.
func (v Variant) kind() Variant {
	if v.long() {
		return v &^ Long
	}
	return v
}

// threads returns the number of threads of a block.
func (v Variant) threads() int {
	if v&Kept != 0 {
		if _, warps := keptShape(v.level()); warps > 1 {
			return warps * Warp
		}
	}
	return blockThreads
}

func (v Variant) String() string {
	s := ""
	if v&Kept != 0 {
		s = fmt.Sprint("kept", keptLanes[v.level()])
	} else {
		s = [...]string{"flat", "vector", "warp", "block", "short", "wide"}[v.kind()]
	}
	if v.long() {
		s += "long"
	}
	if v&Whole != 0 {
		s += "whole"
	}
	return s
}

// shortRow is the largest number of lanes of rows that share a warp: half of it.
const shortRow = Warp / 2

// blockThreads is the number of threads of each block.
const blockThreads = 256

// blockWarps is the number of warps of a block.
const blockWarps = blockThreads / Warp

// Limits of the blocks of a launch; threads then take several lanes or rows. Blocks that begin while
// others wait for memory keep more loads under way. But each thread that begins reads the tables of
// its kernel. On an H200 (2026-11-27) a copy of 2^28 float32 took 0.547 ms with 16 blocks for each
// multiprocessor, 0.533 with 64, and 0.503 without a limit. A formula with sin took 0.867, 0.842 and
// 1.81 ms.
const (
	blocksPerUnit     = 16      // of rows, for each multiprocessor
	flatBlocksPerUnit = 64      // of lanes, with tables
	flatBlocks        = 1 << 20 // of lanes, without
)

// maxShort is the largest number of lanes, rows or elements that variants without [Long] count.
// Twice as much still fits 4 bytes, so a counter can pass the end.
const maxShort = 1 << 30

// Legal reports whether a program can be laid on the grid in this way, for some frame.
func Legal(p *loop.Program, v Variant) bool {
	switch v.kind() {
	case Flat:
		return independent(p)
	case FlatVector:
		return independent(p) && vectorLanes(p) > 1
	case FlatWide:
		return independent(p) && wideLanes(p) > 1
	case WarpRows, BlockRows:
		return true
	case ShortRows:
		return p.Ragged() < 0 && p.Lane > 0 && !leads(p)
	}
	return v&Kept != 0 && legalKept(p, v.level())
}

// leads reports a program with a loop or if in the row that stores. One thread of the row runs it;
// rows that don't exist would have another result.
func leads(p *loop.Program) bool {
	return slices.ContainsFunc(p.Body, func(v loop.Value) bool {
		op := p.Ins[v].Op
		return (op == loop.OpLoop || op == loop.OpIf) && stores(p, []loop.Value{v})
	})
}

// independent reports a program whose lanes depend on nothing that other lanes of their row write
// or compute. It has one pass and no other effects, and outside the pass it loads nothing that the
// pass could overwrite.
func independent(p *loop.Program) bool {
	passes := 0
	ok := p.Ragged() != p.Lane
	for _, v := range p.Body {
		inPass := p.Ins[v].Op == loop.OpPass
		if inPass {
			passes++
		}
		p.Walk([]loop.Value{v}, func(_ loop.Value, in *loop.Ins) {
			switch in.Op {
			case loop.OpReduce:
				ok = false
			case loop.OpLoad, loop.OpLoadAt, loop.OpStore, loop.OpStoreAt:
				ok = ok && inPass
			}
		})
	}
	return ok && passes == 1
}

// widest returns the bytes of the largest element that moves as vectors, 0 if none does.
func widest(p *loop.Program) int {
	size := 0
	for i := range p.Bufs {
		if b := &p.Bufs[i]; b.Steps[p.Lane] == loop.Unit {
			size = max(size, b.DType.Size())
		}
	}
	return size
}

// vectorLanes returns the number of neighbouring lanes that a thread of [FlatVector] computes, 1
// if the program moves nothing as vectors.
func vectorLanes(p *loop.Program) int {
	switch widest(p) {
	case 0:
		return 1
	case 8:
		return 2
	}
	return 4
}

// wideLanes returns the number of neighbouring lanes that a thread of [FlatWide] computes, 1 if that
// variant does not fit the program: elements are larger, or code for each lane would be long.
func wideLanes(p *loop.Program) int {
	if size := widest(p); size == 1 || size == 2 {
		for _, v := range p.Body {
			if r := p.Region(&p.Ins[v]); r != nil && p.Ins[v].Op == loop.OpPass && !brief(p, r.Body) {
				return 1
			}
		}
		return 16 / size
	}
	return 1
}

// brief reports a body that threads may run for several lanes abreast: few instructions without
// branches.
func brief(p *loop.Program, body []loop.Value) bool {
	if len(body) > shortBody {
		return false
	}
	return !slices.ContainsFunc(body, func(v loop.Value) bool { return p.Region(&p.Ins[v]) != nil })
}

// lanes returns the number of neighbouring lanes of a thread.
func (v Variant) lanes(p *loop.Program) int {
	switch v.kind() {
	case FlatVector:
		return vectorLanes(p)
	case FlatWide:
		return wideLanes(p)
	}
	return 1
}

// vectorLen returns the number of elements that one access of a thread with k lanes moves.
func vectorLen(k int, d array.DType) int { return min(k, 16/d.Size()) }

// Ways are the variants of a program that are legal, found once for all launches.
type Ways struct {
	p            *loop.Program
	legal        [NumVariants]bool
	wide, vector int // lanes of a thread
}

// WaysOf returns the ways to lay a program on the grid.
func WaysOf(p *loop.Program) *Ways {
	w := &Ways{p: p, wide: wideLanes(p), vector: vectorLanes(p)}
	for v := range Whole {
		w.legal[v] = Legal(p, v)
		w.legal[v|Whole] = w.legal[v] && v&Kept != 0
	}
	return w
}

// Choose returns the variant and the number of blocks for a launch. Words of the frame are its
// extents and strides, addrs the addresses of the buffers on the device, units the number of
// multiprocessors. The number of blocks is 0 if there is nothing to compute.
func (w *Ways) Choose(f *loop.Frame, addrs []uint64, units int) (Variant, int) {
	p := w.p
	rows := 1
	long := Variant(0)
	most := 1 // elements along all axes before the serial ones
	for a := range p.Axes {
		if a == p.Ragged() {
			continue // the kernel counts it with 8 bytes
		}
		n := max(int(f.Word[p.ExtentWord(a)]), 0)
		if n > maxShort {
			long = Long
		}
		if a < p.Lane {
			rows = product(rows, n)
		}
		if a <= p.Lane {
			most = product(most, n)
		}
	}
	if most > maxShort {
		long = Long
	}
	lanes := 0
	if p.Ragged() != p.Lane {
		lanes = int(f.Word[p.ExtentWord(p.Lane)])
	}
	v, work := WarpRows, (rows+blockWarps-1)/blockWarps
	kept := Kept + Variant(keptLevel(lanes))
	switch {
	case w.legal[Flat]:
		v, work = Flat, product(rows, max(lanes, 0))
		if k := w.wide; k > 1 && lanes%k == 0 && aligned(p, f, addrs, k) {
			v, work = FlatWide, work/k
		} else if k := w.vector; k > 1 && lanes%k == 0 && aligned(p, f, addrs, k) {
			v, work = FlatVector, work/k
		}
		work = (work + blockThreads - 1) / blockThreads
	case lanes > 0 && lanes <= shortRow && w.legal[ShortRows]:
		perBlock := blockThreads >> bits.Len(uint(lanes-1))
		v, work = ShortRows, (rows+perBlock-1)/perBlock
	case lanes > shortRow && rows <= maxShort && w.legal[kept]:
		return keptBlocks(kept, rows, lanes, units)
	case lanes > 2*numbers.Block || rows < units && lanes > 8*Warp:
		v, work = BlockRows, rows
	}
	limit := blocksPerUnit * max(units, 1)
	if w.legal[Flat] {
		if limit = flatBlocks; len(p.Tables) > 0 {
			limit = flatBlocksPerUnit * max(units, 1)
		}
	}
	return v | long, min(work, limit)
}

// keptBlocks returns a variant for rows of a number of lanes, and the blocks of its launch.
func keptBlocks(v Variant, rows, lanes, units int) (Variant, int) {
	_, warps := keptShape(v.level())
	if lanes == keptLanes[v.level()] {
		v |= Whole
	}
	if warps > 1 {
		return v, rows // the hardware starts a block when another ends
	}
	return v, min((rows+blockWarps-1)/blockWarps, 4*blocksPerUnit*max(units, 1))
}

// product returns the product of two counts, or the greatest int if that is less.
func product(x, y int) int {
	const greatest = 1<<63 - 1
	if y > 0 && x > greatest/y {
		return greatest
	}
	return x * y
}

// aligned reports whether the buffers with step Unit allow for vectors in each row, of k lanes a
// thread.
func aligned(p *loop.Program, f *loop.Frame, addrs []uint64, k int) bool {
	for i := range p.Bufs {
		b := &p.Bufs[i]
		if b.Steps[p.Lane] != loop.Unit {
			continue
		}
		x := addrs[i]
		for a, s := range b.Steps {
			if s != loop.Zero && a != p.Lane {
				x |= f.Word[p.StrideWord(i, a)]
			}
		}
		if x%uint64(vectorLen(k, b.DType)*b.DType.Size()) != 0 {
			return false
		}
	}
	return true
}

// The argument block of a launch: addresses of the buffers, the words of the frame, and the address
// of the word that cancels.

func argWord(p *loop.Program, word int) int { return 8 * (len(p.Bufs) + word) }
func argCancel(p *loop.Program) int         { return argWord(p, p.Words()) }

// AppendArgs appends the argument block of a launch. Loops that burn fuel end soon after the 4
// bytes at the address cancel are not 0. Without such an address, 0, they don't look.
func AppendArgs(to []byte, p *loop.Program, f *loop.Frame, addrs []uint64, cancel uint64) []byte {
	for _, a := range addrs[:len(p.Bufs)] {
		to = binary.LittleEndian.AppendUint64(to, a)
	}
	for _, w := range f.Word[:p.Words()] {
		to = binary.LittleEndian.AppendUint64(to, w)
	}
	return binary.LittleEndian.AppendUint64(to, cancel)
}
