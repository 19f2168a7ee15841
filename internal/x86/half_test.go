//go:build amd64

package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// halves are the element types of 16 bits.
var halves = []array.DType{array.Float16, array.BFloat16}

// halfBits are float32 numbers around all that halves can go wrong with: for each sign
// and exponent fractions that lie on, and next to, numbers and middles between them.
func halfBits(r *rand.Rand) (out []uint32) {
	for top := range uint32(1 << 9) {
		for _, low := range []uint{13, 16} {
			for range 24 {
				f := uint32(r.IntN(1<<23)) >> low << low
				for _, g := range []uint32{f, f | 1, f | 1<<(low-1), f | 1<<(low-1) | 1, f | 1<<(low-1) - 1, f | 1<<low - 1} {
					out = append(out, top<<23|g)
				}
			}
		}
		for _, f := range []uint32{0, 1, 1<<23 - 1, uint32(r.IntN(1 << 23))} {
			out = append(out, top<<23|f)
		}
	}
	return out
}

// asHalf converts the bits of an element of one float type to another.
func asHalf(from, to array.DType, x uint64) uint64 {
	v := float64(math.Float32frombits(uint32(x)))
	if from.Half() {
		v = looptest.Half(from, uint16(x))
	}
	if to.Half() {
		return uint64(looptest.ToHalf(to, v))
	}
	return uint64(math.Float32bits(float32(v)))
}

// A halfProgram copies elements of one type to another, or to the one rounded to the
// other, in one of the ways in which memory can be accessed.
type halfProgram struct {
	from, to array.DType
	step     loop.Step
	at       bool // by offsets
	odd      bool // every other lane
	row      bool // once a row
	other    bool // beside values of 8 bytes
}

func (h halfProgram) build(t testing.TB) *loop.Program {
	b := loop.NewBuilder(fmt.Sprintf("%+v", h), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
	in, out := b.Buf(h.from, false, loop.Any, h.step), b.Buf(h.to, true, loop.Any, h.step)
	wide := -1
	if h.other {
		wide = b.Buf(array.Int64, true, loop.Any, loop.Unit)
	}
	if h.row {
		b.Store(out, b.Load(in))
		b.Pass(func() {})
		return finish(t, b)
	}
	b.Pass(func() {
		i := b.Index(1)
		move := func() []loop.Value {
			if h.at {
				b.StoreAt(out, b.LoadAt(in, i), i)
			} else {
				b.Store(out, b.Load(in))
			}
			return nil
		}
		if h.odd {
			b.If(b.Eq(b.And(i, b.Int(loop.I64, 1)), b.Int(loop.I64, 1)), move, nil)
		} else {
			move()
		}
		if wide >= 0 {
			b.Store(wide, i)
		}
	})
	return finish(t, b)
}

// check runs the program over rows of n of the elements in x.
func (h halfProgram) check(t *testing.T, r *rand.Rand, n int, x []uint64) {
	t.Helper()
	rows := (len(x) + n - 1) / n
	s := random(h.build(t), r, rows, n)
	s.starts[1] = 0
	if h.at {
		for b := range s.strides {
			size := s.p.Bufs[b].DType.Size()
			s.strides[b][0], s.strides[b][1] = n*size, size
			s.base[b], s.span[b] = 0, rows*n*size
			s.data[b] = make([]byte, s.span[b])
		}
	}
	s.fill(func(int) uint64 { return r.Uint64() })
	want := append([][]byte(nil), s.data...)
	for b := range want[1:] {
		want[b+1] = append([]byte(nil), s.data[b+1]...)
	}
	place := func(b, row, i int) []byte {
		at := s.base[b] + row*s.strides[b][0]
		if h.at || h.step != loop.Zero || b > 1 {
			at += i * s.strides[b][1]
		}
		return want[b][at:]
	}
	for row := range rows {
		for i := range n {
			if h.other {
				binary.LittleEndian.PutUint64(place(2, row, i), uint64(i))
			}
			if h.odd && i&1 == 0 || h.row && i > 0 {
				continue
			}
			e := x[(row*n+i)%len(x)]
			put(place(0, row, i), h.from.Size(), e)
			put(place(1, row, i), h.to.Size(), asHalf(h.from, h.to, e))
		}
	}
	s.check(t, want)
}

func put(b []byte, size int, x uint64) {
	for i := range size {
		b[i] = byte(x >> (8 * i))
	}
}

// TestHalfAccess loads every float16 and bfloat16, and stores numbers from the whole range of
// float32, by every kind of access.
func TestHalfAccess(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	var all, floats []uint64
	for x := range uint64(1 << 16) {
		all = append(all, x)
	}
	for _, x := range halfBits(r) {
		floats = append(floats, uint64(x))
	}
	f16, bf16, f32 := array.Float16, array.BFloat16, array.Float32
	for _, types := range [][2]array.DType{{f16, f32}, {bf16, f32}, {f32, f16}, {f32, bf16}, {f16, bf16}, {bf16, f16}, {f16, f16}, {bf16, bf16}} {
		x := all
		if types[0] == f32 {
			x = floats
		}
		for _, h := range []halfProgram{
			{step: loop.Unit}, {step: loop.Any}, {step: loop.Unit, other: true}, {step: loop.Any, other: true},
			{at: true}, {at: true, other: true}, {step: loop.Unit, odd: true}, {step: loop.Any, odd: true}, {at: true, odd: true},
		} {
			h.from, h.to = types[0], types[1]
			h.check(t, r, 1<<14+1, x)
			for n := range 40 {
				h.check(t, r, n+1, x[r.IntN(len(x)-80):][:2*n+1])
			}
		}
		halfProgram{from: types[0], to: types[1], row: true}.check(t, r, 1, x)
	}
}

// TestRoundHalf demands that OpRound gives the same as a store and a load, and that rounding twice
// is rounding once, in lanes and in rows.
func TestRoundHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	x := halfBits(r)
	for _, d := range halves {
		b := loop.NewBuilder("round "+d.String(), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		in, one := b.Buf(array.Float32, false, loop.Any, loop.Unit), b.Buf(array.Float32, false, loop.Any, loop.Zero)
		out, row, small := b.Buf(array.Float32, true, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Zero), b.Buf(d, true, loop.Any, loop.Unit)
		b.Store(row, b.Round(d, b.Load(one)))
		b.Pass(func() {
			v := b.Round(d, b.Load(in))
			b.Store(out, v)
			b.Store(small, b.Round(d, v))
		})
		p := finish(t, b)
		for _, n := range []int{1, 7, len(x) / 1000} {
			s := random(p, r, len(x)/n, n)
			i := 0
			s.fill(func(b int) uint64 {
				if b > 1 {
					return 0
				}
				i++
				return uint64(x[i%len(x)])
			})
			want := append([][]byte(nil), s.data...)
			for b := range want[2:] {
				want[b+2] = append([]byte(nil), s.data[b+2]...)
			}
			round := func(row, i, from int, to ...int) {
				at := func(b int) int {
					a := s.base[b] + row*s.strides[b][0]
					if s.p.Bufs[b].Steps[1] == loop.Unit {
						a += i * s.p.Bufs[b].DType.Size()
					}
					return a
				}
				y := looptest.ToHalf(d, float64(math.Float32frombits(uint32(word(s.data[from][at(from):], 4)))))
				for _, b := range to {
					if s.p.Bufs[b].DType == d {
						put(want[b][at(b):], 2, uint64(y))
					} else {
						put(want[b][at(b):], 4, f32(float32(looptest.Half(d, y))))
					}
				}
			}
			for row := range len(x) / n {
				round(row, 0, 1, 3)
				for i := range n {
					round(row, i, 0, 2, 4)
				}
			}
			s.check(t, want)
		}
	}
}

// TestHalfRoundsOnce converts numbers with more bits than float32: float64 at all halves, at the
// middles between them and next to each, and integers alike.
func TestHalfRoundsOnce(t *testing.T) {
	for _, d := range halves {
		var doubles, longs []uint64
		for i := range 1 << 16 {
			x, y := looptest.Half(d, uint16(i)), looptest.Half(d, uint16(i)+1)
			if x != x || y != y {
				continue
			}
			if math.IsInf(y, 0) { // a step above the greatest number
				y = x + (x - looptest.Half(d, uint16(i)-1))
			}
			m := x + (y-x)/2
			for _, v := range []float64{x, m} {
				for _, w := range []float64{v, math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1))} {
					doubles = append(doubles, f64(w))
				}
				// Less near, so that what is cut off on the way must be seen.
				for _, by := range []float64{0x1p-10, 0x1p-20, 0x1p-24, 0x1p-40} {
					doubles = append(doubles, f64(v+v*by), f64(v-v*by))
				}
				if math.Abs(v) < 1<<63 {
					for n := int64(-2); n <= 2; n++ {
						longs = append(longs, uint64(int64(v)+n), uint64(int64(v)+n<<7), uint64(int64(v)+n<<10), uint64(int64(v)+n<<20))
					}
				}
			}
		}
		r := rand.New(rand.NewPCG(35, 36))
		for range 20000 {
			doubles = append(doubles, r.Uint64())
			longs = append(longs, r.Uint64()>>r.IntN(64), -r.Uint64()>>r.IntN(64))
		}
		for _, c := range []struct {
			from loop.Type
			sign int
			x    []uint64
			num  func(x uint64) float64 // exact enough
		}{
			{loop.F64, 0, doubles, math.Float64frombits},
			{loop.I64, 0, longs, func(x uint64) float64 {
				if int64(x) < 0 {
					return -rough(-x)
				}
				return rough(x)
			}},
			{loop.I64, loop.FromUnsigned, longs, rough},
			{loop.I32, loop.FromUnsigned, longs, func(x uint64) float64 { return float64(uint32(x)) }},
			{loop.I32, 0, longs, func(x uint64) float64 { return float64(int32(x)) }},
			{loop.B, 0, []uint64{0, 1}, func(x uint64) float64 { return float64(x) }},
		} {
			b := loop.NewBuilder(fmt.Sprintf("%s from %s %d", d, c.from, c.sign), []loop.Axis{{Kind: loop.Parallel}}, 0)
			in, out := b.Buf(dtype(c.from), false, loop.Unit), b.Buf(d, true, loop.Unit)
			b.Pass(func() { b.Store(out, b.Half(d, b.Load(in), c.sign)) })
			s := random(finish(t, b), r, len(c.x))
			i := 0
			s.fill(func(b int) uint64 {
				i++
				return c.x[(i-1)%len(c.x)]
			})
			want := [][]byte{s.data[0], make([]byte, len(s.data[1]))}
			for i, x := range c.x {
				put(want[1][2*i:], 2, uint64(looptest.ToHalf(d, c.num(x))))
			}
			s.check(t, want)
		}
	}
}

// rough is x if float64 holds it, else rounded as bfloat16, which float64 holds.
func rough(x uint64) float64 {
	if bits.Len64(x)-bits.TrailingZeros64(x) <= 53 {
		return float64(x)
	}
	y, _ := new(big.Float).SetPrec(8).SetUint64(x).Float64()
	return y
}

// TestHalfProducts multiplies every float16 and bfloat16 by several numbers. Products of bfloat16
// by powers of two from 2 on need no rounding, and their code has none.
func TestHalfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	for _, d := range []array.DType{array.Float16, array.BFloat16} {
		for _, f := range []float64{2, 4, 0x1p100, 0x1p127, 1, 0.5, 3, -2, 0x1p-100} {
			for _, first := range []bool{false, true} {
				b := loop.NewBuilder(fmt.Sprintf("%s by %v", d, f), []loop.Axis{{Kind: loop.Parallel}}, 0)
				x, out, behind := b.Buf(d, false, loop.Unit), b.Buf(d, true, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
				b.Pass(func() {
					v, w := b.Load(x), b.Float(loop.F32, f)
					if first {
						v, w = w, v
					}
					y := b.Round(d, b.Mul(v, w))
					b.Store(out, y)
					b.Store(behind, y)
				})
				p := finish(t, b)
				rounds := slices.ContainsFunc(p.Ins, func(in loop.Ins) bool { return in.Op == loop.OpRound })
				if exact := d == array.BFloat16 && f >= 2 && f != 3; rounds == exact {
					t.Errorf("%s: rounded %v", p.Name, rounds)
				}
				n := uint64(0)
				s := random(p, r, 1<<16)
				s.starts[0] = 0
				s.fill(func(b int) uint64 {
					if b == 0 {
						n++
					}
					return n - 1
				})
				want := append([][]byte(nil), s.data...)
				want[1], want[2] = make([]byte, len(s.data[1])), make([]byte, len(s.data[2]))
				for i := range 1 << 16 {
					y := math.Float32frombits(uint32(asHalf(d, array.Float32, uint64(i)))) * float32(f)
					h := asHalf(array.Float32, d, uint64(math.Float32bits(y)))
					setWord(want[1], i, 2, h)
					setWord(want[2], i, 4, asHalf(d, array.Float32, h))
				}
				s.check(t, want)
			}
		}
	}
}

// Every integer of 2 bytes as float32, rounded by multiply-adds to bfloat16, and to float16.
func TestRoundIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	for _, from := range []array.DType{array.Int16, array.Uint16} {
		for _, d := range []array.DType{array.Float16, array.BFloat16} {
			b := loop.NewBuilder(fmt.Sprintf("%s to %s", from, d), []loop.Axis{{Kind: loop.Parallel}}, 0)
			x, out := b.Buf(from, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
			sign := 0
			if from.Unsigned() {
				sign = loop.FromUnsigned
			}
			b.Pass(func() { b.Store(out, b.Round(d, b.CvtSigned(loop.F32, b.Load(x), sign))) })
			n := uint64(0)
			s := random(finish(t, b), r, 1<<16)
			s.fill(func(int) uint64 { n++; return n - 1 })
			want := [][]byte{s.data[0], make([]byte, len(s.data[1]))}
			for i := range 1 << 16 {
				v := float64(word(s.data[0][2*i:], 2))
				if !from.Unsigned() {
					v = float64(int16(word(s.data[0][2*i:], 2)))
				}
				setWord(want[1], i, 4, asHalf(d, array.Float32, uint64(looptest.ToHalf(d, v))))
			}
			s.check(t, want)
		}
	}
}
