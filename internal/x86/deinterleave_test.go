//go:build amd64

package x86

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

// TestCoverLanes demands that each element is in the vector and at the index that the cover says,
// and that no vector goes beyond the last element. With own, indices must differ.
func TestCoverLanes(t *testing.T) {
	for by := 2; by <= 4; by++ {
		for _, lanes := range []int{4, 8, 16} {
			own := lanes < 16 // no AVX2 vector has more
			x := coverLanes(by, lanes, own)
			taken := map[int]bool{}
			for l := range lanes {
				s := x.start[x.vector[l]]
				if s+x.place[l] != by*l || x.place[l] >= lanes || s < 0 || s+lanes > by*(lanes-1)+1 {
					t.Errorf("%d apart, %d lanes: lane %d is at %d in the vector from %d", by, lanes, l, x.place[l], s)
				}
				taken[x.place[l]] = true
			}
			if own && len(taken) != lanes || len(x.start) > 4 {
				t.Errorf("%d apart, %d lanes: %d places, %d vectors", by, lanes, len(taken), len(x.start))
			}
		}
	}
}

// TestDeinterleave copies strided elements to strided and to contiguous ones. Nothing else may
// change.
func TestDeinterleave(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for by := loop.By2; by <= loop.Back4; by++ {
		for _, ty := range []loop.Type{loop.I32, loop.F64, loop.I8, loop.I16} {
			for _, mixed := range []bool{false, true} {
				b := loop.NewBuilder(fmt.Sprintf("%d apart %s mixed=%v", by.Elements(), ty, mixed), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
				x, y := b.Buf(dtype(ty), false, loop.Any, by), b.Buf(dtype(ty), true, loop.Any, by)
				z, other := b.Buf(dtype(ty), true, loop.Any, loop.Unit), b.Buf(dtype(loop.I32), true, loop.Any, loop.Unit)
				b.Pass(func() {
					v := b.Load(x)
					b.Store(y, v)
					b.Store(z, v)
					if mixed {
						b.Store(other, b.Cvt(loop.I32, b.Index(1)))
					}
				})
				p := finish(t, b)
				for n := range 140 {
					s := random(p, r, 1+r.IntN(3), n)
					s.fill(func(int) uint64 { return r.Uint64() >> 12 })
					want := append([][]byte(nil), s.data...)
					for b := range want[1:] {
						want[b+1] = append([]byte(nil), s.data[b+1]...)
					}
					at := func(b, row, i int) int { return s.base[b] + row*s.strides[b][0] + i*s.strides[b][1] }
					size := ty.Size()
					for row := range s.extents[0] {
						for i := range n {
							e := s.data[0][at(0, row, i):][:size]
							copy(want[1][at(1, row, i):], e)
							copy(want[2][at(2, row, i):], e)
							if mixed {
								put(want[3][at(3, row, i):], 4, uint64(s.starts[1]+i))
							}
						}
					}
					s.check(t, want)
				}
			}
		}
	}
}

// Stores to adjacent buffers become stores of whole vectors, in whatever order they stand, and
// touch nothing else.
func TestInterleavedStores(t *testing.T) {
	for _, by := range []loop.Step{loop.By2, loop.By3, loop.By4} {
		k := by.Elements()
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for turn := range k + 1 { // the last is backward
				for _, mixed := range []bool{false, true} {
					b := loop.NewBuilder("together", []loop.Axis{{Kind: loop.Parallel}}, 0)
					bufs := make([]int, k)
					for j := range bufs {
						bufs[j] = b.Buf(d, true, by)
						if j > 0 {
							b.Program().Bufs[bufs[j]].Pair = bufs[j-1] + 1
						}
					}
					other := b.Buf(array.Int32, true, loop.Unit)
					b.Pass(func() {
						i := b.Index(0)
						values := make([]loop.Value, k)
						for j := range values {
							values[j] = b.Cvt(loop.TypeOf(d), b.Add(b.Mul(i, b.Int(loop.I64, int64(k))), b.Int(loop.I64, int64(j+1))))
						}
						for j := range values {
							at := (j + turn) % k
							if turn == k {
								at = k - 1 - j
							}
							b.Store(bufs[at], values[at])
						}
						if mixed {
							b.Store(other, b.Cvt(loop.I32, i))
						}
					})
					testTogether(t, finish(t, b), d, k)
				}
			}
		}
	}
}

// testTogether runs a program that stores 1, 2, 3 ... into k parts and something to an array.
func testTogether(t *testing.T, p *loop.Program, d array.DType, k int) {
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		text, err := Explain(p, isa)
		want := "vpermt2ps"
		if isa == jit.AVX2 {
			want = map[int]string{2: "vperm2i128", 3: "vpblendd", 4: "vperm2i128"}[k]
		}
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s, %s, %d: no whole vectors, error %v", isa, d, k, err)
		}
	}
	for _, isa := range isas(t) {
		for n := range 70 {
			got, rest := make([]float64, k*n+k), make([]int32, n+1)
			if d == array.Float32 {
				small := make([]float32, k*n+k)
				args := []unsafe.Pointer{}
				for j := range k {
					args = append(args, at(small[j:]))
				}
				runner(t, p, isa, []int{n}, append(args, at(rest))...)()
				for i, x := range small {
					got[i] = float64(x)
				}
			} else {
				args := []unsafe.Pointer{}
				for j := range k {
					args = append(args, at(got[j:]))
				}
				runner(t, p, isa, []int{n}, append(args, at(rest))...)()
			}
			want := make([]float64, k*n+k)
			for i := range k * n {
				want[i] = float64(i + 1)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %s, %d, n %d: %v", isa, d, k, n, got)
			}
		}
	}
}

// TestInterleavedStoresBesideLoad has a load of the first part beside the store to the second,
// which must not count as a store.
func TestInterleavedStoresBesideLoad(t *testing.T) {
	b := loop.NewBuilder("beside", []loop.Axis{{Kind: loop.Parallel}}, 0)
	first, second := b.Buf(array.Float32, true, loop.By2), b.Buf(array.Float32, true, loop.By2)
	out := b.Buf(array.Float32, true, loop.Unit)
	b.Program().Bufs[second].Pair = first + 1
	b.Pass(func() {
		b.Store(second, b.Float(loop.F32, 1))
		b.Store(out, b.Load(first))
	})
	p := finish(t, b)
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		if _, err := Compile(p, isa); err != nil {
			t.Error(err)
		}
	}
}

// TestLoneStoreIsNotInterleaved has a store to the second of two parts, followed by a constant
// whose Imm equals the number of the first part's buffer.
func TestLoneStoreIsNotInterleaved(t *testing.T) {
	b := loop.NewBuilder("one", []loop.Axis{{Kind: loop.Parallel}}, 0)
	first, second := b.Buf(array.Float64, true, loop.By2), b.Buf(array.Float64, true, loop.By2)
	b.Program().Bufs[second].Pair = first + 1
	other := b.Buf(array.Int64, true, loop.Unit)
	b.Pass(func() {
		x := b.Cvt(loop.F64, b.Index(0))
		b.Store(second, x)
		b.Store(other, b.Int(loop.I64, int64(first)))
		b.Store(first, b.Neg(x))
	})
	p := finish(t, b)
	for _, isa := range isas(t) {
		const n = 21
		got, rest := make([]float64, 2*n), make([]int64, n)
		runner(t, p, isa, []int{n}, at(got), at(got[1:]), at(rest))()
		for i := range n {
			if got[2*i] != -float64(i) || got[2*i+1] != float64(i) || rest[i] != int64(first) {
				t.Fatalf("%s: %v", isa, got)
			}
		}
	}
}
