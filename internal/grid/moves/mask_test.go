package moves_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/moves"
)

// maskSizes are sizes around the part of a mask that a thread, a warp and a block have, and of several
// blocks.
var maskSizes = []int{0, 1, 15, 16, 17, 31, 33, 511, 512, 513, 4095, 4096, 4097, 8192, 12289}

// Masks of each size, from none to all true, count, find, select and place as plain Go does, aligned
// or not. A mask that is true elsewhere than its caller counted is refused, and nothing outside is
// touched.
func TestMasksOfAllSizes(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 7))
	g := newGPU(t)
	for _, n := range maskSizes {
		for _, op := range []moves.MaskOp{moves.CountTrue, moves.Positions, moves.MaskSelect, moves.MaskPlace} {
			g.checkMask(chance, op, n, []float64{0, 0.01, 0.5, 0.99, 1}[chance.IntN(5)], 0)
			g.checkMask(chance, op, n, 0.5, []int{0, -1, 1, -n, 3}[chance.IntN(5)])
		}
	}
	// An element that is not there is none of a large array either.
	g.checkMask(chance, moves.MaskPlace, 70001, 0.99, 0)
}

// checkMask compares work with a mask with plain Go. more is by how much the caller counts wrong.
func (g *gpu) checkMask(chance *rand.Rand, op moves.MaskOp, n int, density float64, more int) {
	g.T.Helper()
	defer g.free()
	mask, ones := make([]byte, n), []int{}
	for i := range mask {
		if chance.Float64() < density {
			mask[i] = 1
			ones = append(ones, i)
		}
	}
	number := max(0, len(ones)+more)
	size := []int{1, 2, 4, 8, 16}[chance.IntN(5)]
	noise := func(n int) []byte {
		b := make([]byte, n*size)
		for i := range b {
			b[i] = byte(chance.Uint32())
		}
		return b
	}
	m := moves.Mask{Op: op, Size: size, N: n, At: g.put(mask, []int{0, 1, 16, 4, 8, 5}[chance.IntN(6)]), Number: number}
	report, refused := g.report()
	m.Report, m.Scratch = report, uint64(g.alloc(m.ScratchBytes()))
	var out uint64
	var want []byte
	switch op {
	case moves.CountTrue:
		m.Packed = uint64(g.alloc(8))
		out, want = m.Packed, binary.LittleEndian.AppendUint64(nil, uint64(len(ones)))
	case moves.Positions:
		m.Packed, m.Size = uint64(g.alloc(8*number)), 0
		for _, i := range ones {
			want = binary.LittleEndian.AppendUint64(want, uint64(i))
		}
		out, want = m.Packed, want[:min(8*number, len(want))]
	case moves.MaskSelect:
		x := noise(n)
		m.Packed, m.Spread = uint64(g.alloc(size*number)), g.put(x, 0)
		for _, i := range ones {
			want = append(want, x[i*size:][:size]...)
		}
		out, want = m.Packed, want[:min(size*number, len(want))]
	case moves.MaskPlace:
		x := noise(number)
		m.Packed, m.Spread = g.put(x, 0), uint64(g.alloc(size*n))
		want = make([]byte, size*n)
		for k, i := range ones {
			if k < number {
				copy(want[i*size:], x[k*size:][:size])
			}
		}
		out = m.Spread
	}
	g.Run("moves", m.Launches())
	if got := g.get(out, len(want)); !bytes.Equal(got, want) {
		g.T.Fatalf("operation %d on a mask of %d, %d true, size %d: differs", op, n, len(ones), size)
	}
	bad := refusal{}
	if op != moves.CountTrue && number != len(ones) {
		bad = refusal{int64(len(ones)), 0, true}
	}
	g.checkRefusal("mask", refused, bad)
}

// Counts of many chunks are added up in order, beyond what threads add at a time and beyond 4 bytes.
func TestSumsOfManyCounts(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	g := newGPU(t)
	for _, n := range []int{1, 31, 1023, 1024, 1025, 2500} {
		var counts, want []byte
		sum := 0
		for range n {
			c := chance.IntN(1 << 20)
			if n == 2500 {
				c = 1<<20 - chance.IntN(4)
			}
			want = binary.LittleEndian.AppendUint64(want, uint64(sum))
			counts = binary.LittleEndian.AppendUint32(counts, uint32(c))
			sum += c
		}
		report, refused := g.report()
		before := uint64(g.alloc(8 * n))
		g.Run("moves", []grid.Launch{moves.SumsLaunch(g.put(counts, 0), n, before, sum, report)})
		if !bytes.Equal(g.get(before, 8*n), want) {
			t.Errorf("%d counts: other sums", n)
		}
		g.checkRefusal("sums", refused, refusal{})
		g.free()
	}
}
