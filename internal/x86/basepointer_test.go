//go:build amd64

package x86

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// sharedOffsets are the kinds of uniform offsets, of -3 to 3 elements.
var sharedOffsets = map[string]func(b *loop.Builder, c *loopgen.Case, n int64) loop.Value{
	"constant": func(b *loop.Builder, _ *loopgen.Case, n int64) loop.Value { return b.Int(loop.I64, n) },
	"scalar": func(b *loop.Builder, c *loopgen.Case, n int64) loop.Value {
		c.Scalars = append(c.Scalars, uint64(n))
		return b.Scalar(b.ScalarArg(loop.I64))
	},
	"scalar and constants": func(b *loop.Builder, c *loopgen.Case, n int64) loop.Value {
		c.Scalars = append(c.Scalars, uint64(n+1000-7))
		s := b.Scalar(b.ScalarArg(loop.I64))
		return b.Sub(b.Add(b.Int(loop.I64, 7), s), b.Int(loop.I64, 1000))
	},
	"constant of 4 bytes": func(b *loop.Builder, _ *loopgen.Case, n int64) loop.Value { return b.Int(loop.I32, n) },
	"scalar of 4 bytes": func(b *loop.Builder, c *loopgen.Case, n int64) loop.Value {
		c.Scalars = append(c.Scalars, uint64(uint32(n)))
		return b.Scalar(b.ScalarArg(loop.I32))
	},
	"far constants": func(b *loop.Builder, c *loopgen.Case, n int64) loop.Value {
		c.Scalars = append(c.Scalars, uint64(n+1<<40))
		return b.Sub(b.Scalar(b.ScalarArg(loop.I64)), b.Int(loop.I64, 1<<40))
	},
}

// offsetCase copies from a buffer at a uniform offset of n elements, or with store into one. The
// buffer has 3 more elements on both sides. With masked, an if copies every second element.
func offsetCase(t *testing.T, d array.DType, step loop.Step, lanes int, n int64, offset string, store, masked bool) (*loopgen.Case, []byte) {
	c := &loopgen.Case{Seed: uint64(n + 3), Extents: []int{lanes}, Starts: []int{0}, Fuel: 1 << 30}
	b := loop.NewBuilder(fmt.Sprintf("moved %s by %d, a %s, store %v masked %v", d, n, offset, store, masked), []loop.Axis{{Kind: loop.Parallel}}, 0)
	size, by := d.Size(), step.Elements()
	if step == loop.Any {
		by = 5
	}
	shifted, plain := loopgen.Memory{DType: d, Data: make([]byte, ((max(lanes, 1)-1)*by+7)*size)}, loopgen.Memory{DType: d, Data: make([]byte, lanes*size)}
	for i := range shifted.Data {
		shifted.Data[i] = byte(i*7+i>>8) & 0x3b // no NaN
		if d == array.Bool {
			shifted.Data[i] = byte(i*i/3) & 1
		}
	}
	b.Buf(d, store, step)
	b.Buf(d, !store, loop.Unit)
	shifted.Write, plain.Write = store, !store
	for i := range plain.Data {
		plain.Data[i] = byte(i*5) & 1
	}
	c.Memory = []loopgen.Memory{shifted, plain}
	c.Buffers = []loopgen.Buffer{{Memory: 0, Offset: 3 * size, Strides: []int{by * size}}, {Memory: 1, Strides: []int{size}}}
	b.Pass(func() {
		off := sharedOffsets[offset](b, c, n)
		copyOne := func() []loop.Value {
			if store {
				b.StoreAt(0, b.Load(1), off)
			} else {
				b.Store(1, b.LoadAt(0, off))
			}
			return nil
		}
		if masked {
			b.If(b.Eq(b.And(b.Index(0), b.Int(loop.I64, 1)), b.Int(loop.I64, 0)), copyOne, nil)
		} else {
			copyOne()
		}
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	c.Program = p
	// What plain Go makes of it.
	from, to := bytes.Clone(shifted.Data), bytes.Clone(plain.Data)
	for i := 0; i < lanes; i++ {
		if masked && i%2 == 1 {
			continue
		}
		at := (3 + i*by + int(n)) * size
		if store {
			copy(from[at:at+size], to[i*size:])
		} else {
			copy(to[i*size:(i+1)*size], from[at:])
		}
	}
	if store {
		return c, from
	}
	return c, to
}

// TestUniformOffset has uniform offsets, with memory that ends where the lanes do.
func TestUniformOffset(t *testing.T) {
	isas := isas(t)
	for _, d := range loopgen.DTypes() {
		for _, step := range []loop.Step{loop.Unit, loop.By2, loop.By3, loop.By4, loop.Any} {
			for offset := range sharedOffsets {
				for _, kind := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
					if loop.TypeOf(d) == loop.None {
						continue
					}
					programs := map[int64]*loop.Program{} // by n, compiled once each
					runs := map[int64]map[jit.ISA]loopgen.Runner{}
					for _, lanes := range []int{1, 3, 8, 19, 33, 64, 130} {
						n := int64(lanes%7 - 3)
						c, want := offsetCase(t, d, step, lanes, n, offset, kind[0], kind[1])
						if programs[n] == nil {
							programs[n], runs[n] = c.Program, map[jit.ISA]loopgen.Runner{0: interpreted}
							for _, isa := range isas {
								runs[n][isa] = compiled(isa)
								if kind[0] { // what is moved is not aligned
									runs[n][isa] = compiledBy(CompileStreaming, isa)
								}
							}
						}
						c.Program = programs[n]
						place := loopgen.Edge(lanes%2 == 0)
						memory := 1
						if kind[0] {
							memory = 0
						}
						for _, isa := range append([]jit.ISA{0}, isas...) {
							got, err := loopgen.Run(c, place, runs[n][isa])
							if err != nil {
								t.Fatalf("%s: %s, %d lanes: %v\n%s", isa, c.Program.Name, lanes, err, c)
							}
							if !bytes.Equal(got.Memory(memory), want) {
								t.Fatalf("%s: %s, %d lanes step %d:\n got %x\nwant %x", isa, c.Program.Name, lanes, step, got.Memory(memory), want)
							}
						}
					}
				}
			}
		}
	}
}

// TestUniformOffsetNeedsNoGather demands that contiguous lanes are not gathered, and that constants
// stand in displacements.
func TestUniformOffsetNeedsNoGather(t *testing.T) {
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		for offset := range sharedOffsets {
			for _, d := range []array.DType{array.Float32, array.Float64, array.Int32} {
				for _, masked := range []bool{false, true} {
					c, _ := offsetCase(t, d, loop.Unit, 8, 2, offset, false, masked)
					text, err := Explain(c.Program, isa)
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(strings.ToLower(text), "gather") {
						t.Errorf("%s gathers for %s:\n%s", c.Program.Name, isa, text)
					}
					if more := fmt.Sprintf("+%#x]", 2*d.Size()); offset == "constant" && !strings.Contains(strings.ToLower(text), more) {
						t.Errorf("%s for %s: no %s:\n%s", c.Program.Name, isa, more, text)
					}
				}
			}
		}
	}
}

// TestUniformOffsetOfBools loads truth values at an offset of 4 bytes into lanes of 4 bytes. At the
// end of a row AVX2 reads them by loadPieces.
func TestUniformOffsetOfBools(t *testing.T) {
	b := loop.NewBuilder("truths", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, y, out := b.Buf(array.Bool, false, loop.Unit), b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	off := b.ScalarArg(loop.I32) // 0
	b.Pass(func() { b.Store(out, b.Select(b.LoadAt(x, b.Scalar(off)), b.Load(y), b.Float(loop.F32, -1))) })
	p := finish(t, b)
	r := rand.New(rand.NewPCG(53, 54))
	for n := range 70 {
		s := random(p, r, n).fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
		want := append([][]byte(nil), s.data...)
		want[2] = make([]byte, 4*n)
		for i := range n {
			e := uint64(math.Float32bits(-1))
			if s.data[0][i] != 0 {
				e = word(s.data[1][4*i:], 4)
			}
			setWord(want[2], i, 4, e)
		}
		s.check(t, want)
	}
}
