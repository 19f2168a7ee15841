package selection

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// TestDivideWritesItsParts checks that both parts lie side by side, in order, and that nothing else is written.
func TestDivideWritesItsParts(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if !Runs(isa) {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			n := Group * (1 + r.IntN(20))
			src, want := make([]uint16, n), [2][]uint16{}
			limit := uint16(r.IntN(20))
			for i := range src {
				src[i] = uint16(r.IntN(20))
				side := 0
				if src[i] > limit {
					side = 1
				}
				want[side] = append(want[side], src[i])
			}
			const mark = 0xABCD
			out := make([]uint16, n+2)
			for i := range out {
				out[i] = mark
			}
			k := Keys{Size: 2}.Kernels()
			hi := unsafe.Add(unsafe.Pointer(&out[0]), 2*(len(want[0])+1))
			behind := k.Divide(Side{Limit: uint64(limit) << 48}, unsafe.Pointer(&src[0]), n, 0, unsafe.Pointer(&out[0]), hi)
			if behind != len(want[1]) || out[len(want[0])] != mark || out[n+1] != mark {
				t.Fatalf("of %v, %d are above %d, written is %v", src, behind, limit, out)
			}
			for i, x := range append(append(want[0], mark), want[1]...) {
				if out[i] != x {
					t.Fatalf("element %d of %v by %d is %d, want %d", i, out, limit, out[i], x)
				}
			}
		}
	})
}

// TestRowDividesStably selects in rows of every length up to two groups and some longer ones, of few values and of
// many, beside a stable sort.
func TestRowDividesStably(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if !Runs(isa) {
			return
		}
		r := rand.New(rand.NewPCG(3, 4))
		kernels := Keys{Size: 2}.Kernels()
		for i := range 400 {
			n := 1 + i%17
			if i > 200 {
				n = 1 + r.IntN(300)
			}
			values := []int{1, 3, 20, 1 << 16}[r.IntN(4)]
			src := make([]uint16, n)
			for i := range src {
				src[i] = uint16(1<<16 - 1 - r.IntN(values))
			}
			testRow(t, kernels, src, r.IntN(n))
		}
	})
}

func testRow(t *testing.T, kernels *Kernels, src []uint16, kth int) {
	n := len(src)
	sorted := make([]int, n)
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(i, j int) int { return int(src[i]) - int(src[j]) })
	at := sorted[kth]
	var places []int64
	for i := range n {
		if src[i] < src[at] || src[i] == src[at] && i < at {
			places = append(places, int64(i))
		}
	}
	places = append(places, -1) // not written
	for i := range n {
		if src[i] > src[at] || src[i] == src[at] && i > at {
			places = append(places, int64(i))
		}
	}
	const mark = 0xABCD
	elements, indices := make([]uint16, n+1), make([]int64, n+1)
	for i := range elements {
		elements[i], indices[i] = mark, -1
	}
	room := make([]uint64, Room(n))
	for d, dst := range map[Division]unsafe.Pointer{NoDivision: nil, Elements: unsafe.Pointer(&elements[0]), Places: unsafe.Pointer(&indices[0])} {
		key, place, ok := kernels.Row(d, unsafe.Pointer(&src[0]), n, kth, dst, room)
		if !ok || place != at || key != uint64(src[at])<<48 {
			t.Fatalf("element %d of sorted %v is %x at %d (%v), want place %d", kth, src, key, place, ok, at)
		}
	}
	if !slices.Equal(indices[:n], places) || indices[n] != -1 || elements[n] != mark {
		t.Fatalf("places of %v around %d are %v, want %v", src, kth, indices, places)
	}
	for i, p := range places {
		if want := uint16(mark); p >= 0 && elements[i] != src[p] || p < 0 && elements[i] != want {
			t.Fatalf("elements of %v around %d are %v", src, kth, elements)
		}
	}
}

// TestRowEndsItsRounds checks that a row that takes too many rounds is left, and that one round suffices for keys that
// all are equal.
func TestRowEndsItsRounds(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if !Runs(isa) {
			return
		}
		const n = 100
		src, dst, room := make([]uint16, n), make([]uint16, n), make([]uint64, Room(n))
		kernels := Keys{Size: 2}.Kernels()
		for _, distinct := range []bool{false, true} {
			for i := range src {
				if dst[i] = 7; distinct {
					src[i] = uint16(i * 37 % n)
				}
			}
			_, place, ok := kernels.rowWithin(1, Elements, unsafe.Pointer(&src[0]), n, 20, unsafe.Pointer(&dst[0]), room)
			if ok == distinct || ok && place != 20 || distinct && slices.Max(dst) != slices.Min(dst) {
				t.Errorf("distinct %v: place %d, %v, written %v", distinct, place, ok, dst)
			}
		}
	})
}
