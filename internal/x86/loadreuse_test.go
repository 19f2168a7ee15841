//go:build amd64

package x86

import (
	"fmt"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// loadReuseCase combines, for each of lanes lanes, the elements at some offsets from it, in order. The
// buffer holds just what is read.
func loadReuseCase(t *testing.T, d array.DType, lanes int, offsets []int64, root bool) *loopgen.Case {
	t.Helper()
	least, most := int64(0), int64(0) // the element itself is read too
	for _, o := range offsets {
		least, most = min(least, o), max(most, o)
	}
	size := d.Size()
	c := &loopgen.Case{Seed: uint64(lanes), Extents: []int{lanes}, Starts: []int{0}, Fuel: 1 << 30}
	from := loopgen.Memory{DType: d, Data: make([]byte, (lanes+int(most-least))*size)}
	for i := range from.Data {
		from.Data[i] = byte(i*7+i>>8) & 0x3b // no NaN
	}
	c.Memory = []loopgen.Memory{from, {DType: d, Write: true, Data: make([]byte, lanes*size)}}
	c.Buffers = []loopgen.Buffer{{Memory: 0, Offset: -int(least) * size, Strides: []int{size}}, {Memory: 1, Strides: []int{size}}}
	b := loop.NewBuilder(fmt.Sprint("slide ", d, offsets), []loop.Axis{{Kind: loop.Parallel}}, 0)
	b.Buf(d, false, loop.Unit)
	b.Buf(d, true, loop.Unit)
	var s loop.Value
	if root {
		c.Scalars = []uint64{1000}
		s = b.Scalar(b.ScalarArg(loop.I64))
	}
	b.Pass(func() {
		x := b.Load(0)
		for i, o := range offsets {
			off := b.Int(loop.I64, o)
			if root {
				off = b.Add(s, b.Int(loop.I64, o-1000))
			}
			y := b.LoadAt(0, off)
			if i%2 == 0 {
				x = b.Add(b.Add(x, x), y)
			} else {
				x = b.Sub(y, x)
			}
		}
		b.Store(1, x)
	})
	c.Program = finish(t, b)
	return c
}

// TestLoadReuse compares loads at constant distances with the interpreter, in rows of many lengths,
// between inaccessible pages: nothing else may be read.
func TestLoadReuse(t *testing.T) {
	long := make([]int64, 31)
	for i := range long {
		long[i] = int64(i - 15)
	}
	for _, offsets := range [][]int64{
		{-2, -1, 0, 1, 2}, {4, 3, 2, 1, 0}, long, {0, 16, 32, 48, 64}, {0, 8, 16, 24, 25}, {0, 1, 2, 3, 19, 35}, {-7, 7, -5, 5, -3, 3, 0},
		{0, 1, 2, 3, 4, 5, 60}, {0, 1, 2, 100, 101, 102}, {3, 3, 3, 3, 3, 4},
	} {
		for _, d := range []array.DType{array.Float32, array.Float64, array.Int32, array.Int64, array.Int16, array.Float16} {
			for _, lanes := range []int{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200, 301} {
				for _, root := range []bool{false, true} {
					c := loadReuseCase(t, d, lanes, offsets, root)
					want, err := loopgen.Run(c, loopgen.Heap, interpreted)
					if err != nil {
						t.Fatal(err)
					}
					for _, isa := range isas(t) {
						for _, atEnd := range []bool{false, true} {
							got, err := loopgen.Run(c, loopgen.Edge(atEnd), compiled(isa))
							if err != nil {
								t.Fatalf("%s: %s, %d lanes: %v", isa, c.Program.Name, lanes, err)
							}
							if d := want.Diff(got); d != "" {
								t.Fatalf("%s: %s, %d lanes, root %v: %s", isa, c.Program.Name, lanes, root, d)
							}
						}
					}
				}
			}
		}
	}
}

// TestLoadReuseWhereItPays demands VALIGND for five loads within a vector, but not for fewer or for
// distant ones.
func TestLoadReuseWhereItPays(t *testing.T) {
	for _, c := range []struct {
		offsets []int64
		want    bool
	}{{[]int64{-2, -1, 0, 1, 2}, true}, {[]int64{-1, 0, 1}, false}, {[]int64{0, 1, 2, 100, 101, 102}, false}} {
		text, err := Explain(loadReuseCase(t, array.Float32, 100, c.offsets, false).Program, jit.AVX512)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text, "valignd"); got != c.want {
			t.Errorf("offsets %d: vectors put together is %v\n%s", c.offsets, got, text)
		}
	}
}
