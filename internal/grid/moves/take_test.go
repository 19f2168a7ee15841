package moves_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cudart"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/moves"
)

// setIndices makes the elements of an array indices within size, some of them out of range.
func setIndices(chance *rand.Rand, s *strided, size, bad int) {
	for i := 0; i < len(s.data); i += s.size {
		x := int64(-1) // out of range of no elements
		if size > 0 {
			x = int64(chance.IntN(2*size) - size)
		}
		if bad > 0 && chance.IntN(bad) == 0 {
			x = []int64{int64(size), int64(-size - 1), 1<<31 - 1, -1 << 31, int64(size) + 3}[chance.IntN(5)]
			if s.size == 8 && chance.IntN(2) == 0 {
				x = []int64{1<<63 - 1, -1 << 63, 1<<40 + 1, 0x123456789abcdef, -0x123456789abcdef}[chance.IntN(5)]
			}
		}
		if s.size == 4 {
			binary.LittleEndian.PutUint32(s.data[i:], uint32(x))
		} else {
			binary.LittleEndian.PutUint64(s.data[i:], uint64(x))
		}
	}
}

func indexOf(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// A refusal is the first index out of range.
type refusal struct {
	number   int64
	position int
	ok       bool
}

// look returns an index counted from the front, and whether it is in range for size. It notes the
// one at the lowest position that is not.
func (r *refusal) look(x int64, size, position int) (int, bool) {
	k := x
	if k < 0 {
		k += int64(size)
	}
	good := 0 <= k && k < int64(size)
	if !good && (!r.ok || position < r.position) {
		*r = refusal{x, position, true}
	}
	return int(k), good
}

func (g *gpu) checkRefusal(name string, refused func() (int64, int, bool), want refusal) {
	g.T.Helper()
	if number, position, ok := refused(); ok != want.ok || ok && (refusal{number, position, ok}) != want {
		g.T.Fatalf("%s: %d at %d refused: %v, want %+v", name, number, position, ok, want)
	}
}

var indexTypes = map[int]array.DType{4: array.Int32, 8: array.Int64}

// Random selections and gathers are as in plain Go, for each size of elements and indices, with
// indices out of range.
func TestTakeOfRandomArrays(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 7))
	g := newGPU(t)
	for i := range 150 {
		back := moves.SetMaxBox([]int{1 << 30, 1 << 30, 50 + chance.IntN(2000)}[i%3])
		shape := randomShape(chance, 1+chance.IntN(4), 6000)
		axis, size := chance.IntN(len(shape)), []int{1, 2, 4, 8, 16}[chance.IntN(5)]
		of := append([]int(nil), shape...) // of X
		of[axis] = sides[chance.IntN(len(sides))]
		x := newStrided(chance, size, of, true)
		indexShape, position := shape, array.RowMajor(shape)
		if chance.IntN(2) == 0 {
			indexShape, position = make([]int, len(shape)), make([]int, len(shape))
			for i := range indexShape {
				indexShape[i] = 1
			}
			indexShape[axis], position[axis] = shape[axis], 1
		}
		at := newStrided(chance, 4+4*chance.IntN(2), indexShape, true)
		setIndices(chance, at, of[axis], []int{0, 0, 1, 2, 100}[chance.IntN(5)])
		if len(indexShape) > 0 && !array.Equal(indexShape, shape) {
			for i := range at.strides {
				if i != axis {
					at.strides[i] = 0
				}
			}
		}
		n := array.Size(shape)
		want := make([]byte, n*size)
		var bad refusal
		each(shape, func(i int, p []int) {
			where := 0
			for d := range p {
				where += p[d] * position[d]
			}
			if k, ok := bad.look(indexOf(at.at(p, 0)), of[axis], where); ok {
				old := p[axis]
				p[axis] = k
				copy(want[i*size:], x.at(p, 0))
				p[axis] = old
			}
		})
		report, refused := g.report()
		out := g.room(n*size, []int{512, size}[chance.IntN(2)])
		tk := moves.Take{Size: size, Index: indexTypes[at.size], Count: shape, Out: out, X: x.on(g, chance), At: at.on(g, chance), Position: position, Along: of[axis], Step: x.strides[axis], Report: report}
		tk.X.Strides = append([]int(nil), x.strides...)
		tk.X.Strides[axis] = 0
		g.Run("moves", tk.Launches(chance.IntN(2)))
		if got := g.get(out, n*size); !bytes.Equal(got, want) {
			t.Fatalf("case %d: %+v differs", i, tk)
		}
		g.checkRefusal("take", refused, bad)
		g.free()
		back()
	}
}

// Rows of neighbours are moved 16 bytes at a time, where they are aligned.
func TestTakeOfRowsMovesVectors(t *testing.T) {
	for _, c := range []struct {
		size, outer, columns, stepOuter, step int
		x, out                                uint64
		want                                  string
	}{
		{4, 1, 64, 640, 64, 512, 512, "take_16_int64_2_1"},
		{4, 1, 64, 660, 66, 512, 512, "take_8_int64_2_1"},
		{4, 2, 64, 641, 64, 512, 512, "take_4_int64_3_1"},
		{4, 1, 64, 640, 64, 520, 512, "take_8_int64_2_1"},
		{4, 1, 6, 80, 8, 512, 512, "take_8_int64_2_1"},
		{1, 1, 48, 480, 48, 512, 512, "take_16_int64_2_1"},
		{2, 1, 8, 80, 8, 512, 516, "take_4_int64_2_1"},
		{8, 1, 3, 40, 4, 512, 512, "take_8_int64_2_1"},
		{4, 1, 4, 40, 4, 512, 512, "take_16_int64_1_1"},
	} {
		l := moves.Take{Size: c.size, Index: array.Int64, Count: []int{c.outer, 10, c.columns}, Out: c.out, X: moves.Array{Addr: c.x, Strides: []int{c.stepOuter, 0, 1}},
			At: moves.Array{Addr: 512, Strides: []int{0, 1, 0}}, Position: []int{0, 1, 0}, Along: 5, Step: c.step}.Launches(132)
		if len(l) != 1 || l[0].Name != c.want {
			t.Errorf("%+v: %v", c, l)
		}
	}
}

// Random indices are counted from the front, weighted and added as in plain Go.
func TestPlacesOfRandomArrays(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 7))
	g := newGPU(t)
	for i := range 60 {
		back := moves.SetMaxBox([]int{1 << 30, 1 << 30, 50 + chance.IntN(2000)}[i%3])
		shape := randomShape(chance, chance.IntN(4), 6000)
		at := newStrided(chance, 4+4*chance.IntN(2), shape, true)
		size := sides[chance.IntN(len(sides))]
		setIndices(chance, at, size, []int{0, 0, 1, 2, 100}[chance.IntN(5)])
		n, weight := array.Size(shape), chance.IntN(7)
		old := make([]byte, 8*n)
		for i := range old {
			old[i] = byte(chance.Uint32())
		}
		mode := moves.Mode(chance.IntN(4))
		least := weight - 3
		want := append([]byte(nil), old...)
		var bad refusal
		each(shape, func(i int, p []int) {
			raw := at.at(p, 0)
			if mode == moves.Within {
				if x := indexOf(raw); (x < int64(least) || x > int64(size)) && !bad.ok {
					bad = refusal{x, i, true}
				}
				copy(want[len(raw)*i:], raw)
				return
			}
			k, ok := bad.look(indexOf(raw), size, i)
			if !ok {
				k = 0
			}
			k *= weight
			switch mode {
			case moves.Add:
				k += int(indexOf(old[8*i:][:8]))
			case moves.Check:
				return
			}
			binary.LittleEndian.PutUint64(want[8*i:], uint64(k))
		})
		report, refused := g.report()
		out := g.put(old, 0)
		p := moves.Places{Mode: mode, Index: indexTypes[at.size], Count: shape, Out: out, At: at.on(g, chance), Along: size, Weight: weight, Report: report}
		if mode == moves.Within {
			p.Weight = least
		}
		g.Run("moves", p.Launches(chance.IntN(2)))
		if !bytes.Equal(g.get(out, 8*n), want) {
			t.Fatalf("case %d: %+v differs", i, p)
		}
		g.checkRefusal("places", refused, bad)
		g.free()
		back()
	}
}

// Elements further apart than 4 bytes count are read and written, by index, by stride and in tiles.
func TestMovesBeyond4GB(t *testing.T) {
	g := newGPU(t)
	const far = 5 << 30
	at := uint64(g.alloc(far + 64))
	set := func(i int, x byte) {
		gridtest.Must(0, g.C.CopyIn(g.Q, cudart.Addr(at)+cudart.Addr(i), unsafe.Pointer(&[]byte{x}[0]), 1))
	}
	set(7, 1)
	set(far-3, 2)
	index := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, far-3), 7)
	out, indices := g.room(2, 512), g.put(index, 0)
	report, _ := g.report()
	take := moves.Take{Size: 1, Index: array.Int64, Count: []int{2}, Out: out, X: moves.Array{Addr: at, Strides: []int{0}}, At: moves.Array{Addr: indices, Strides: []int{1}}, Position: []int{1}, Along: far, Step: 1, Report: report}
	g.Run("moves", take.Launches(1))
	if got := g.get(out, 2); !bytes.Equal(got, []byte{2, 1}) {
		t.Errorf("selected %v, want 2 and 1", got)
	}
	take.X.Strides, take.At, take.Position = []int{far - 10}, moves.Array{Addr: indices + 8, Strides: []int{0}}, []int{0}
	g.Run("moves", take.Launches(1))
	if got := g.get(out, 2); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("selected of two columns %v, want 1 and 2", got)
	}
	const rows, columns = 40, 20
	var want []byte
	for j := range columns {
		for i := range rows {
			want = append(want, byte(i*columns+j))
			set(j*(far/columns)+i, byte(i*columns+j))
		}
	}
	out = g.room(rows*columns, 512)
	g.Run("moves", moves.Copy{Size: 1, Count: []int{rows, columns}, To: moves.Array{Addr: out, Strides: []int{columns, 1}}, From: moves.Array{Addr: at, Strides: []int{1, far / columns}}}.Launches(1))
	g.Run("moves", moves.Copy{Size: 1, Count: []int{columns, rows}, To: moves.Array{Addr: at + 512, Strides: []int{far / columns, 1}}, From: moves.Array{Addr: out, Strides: []int{1, columns}}}.Launches(1))
	for j := range columns {
		if got := g.get(at+512+uint64(j*(far/columns)), rows); !bytes.Equal(got, want[j*rows:][:rows]) {
			t.Errorf("column %d: %v, want %v", j, got, want[j*rows:][:rows])
		}
	}
}
