package cuda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cudart"
	"weft/internal/grid"
	"weft/internal/grid/product"
	"weft/internal/ptx"
	"weft/internal/ptxsim"
)

// TestProductFigures times each shape of tiles of products on the GPU of this machine, and holds their
// bits to each other. WEFT_PRODUCT_FIGURES names the file of its lines of JSON.
func TestProductFigures(t *testing.T) {
	name := os.Getenv("WEFT_PRODUCT_FIGURES")
	if name == "" {
		t.Skip("SKIPPED: WEFT_PRODUCT_FIGURES names no file")
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := newBench(t, newDriver(libraryFiles), file)
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for _, s := range [][3]int{{4096, 4096, 4096}, {1024, 1024, 1024}, {2048, 2048, 2048}, {1, 4096, 4096}, {8, 4096, 4096}, {60, 500, 784}} {
			b.products(d, s)
		}
	}
}

// TestProductFiguresOnSimulator holds TestProductFigures to the simulator.
func TestProductFiguresOnSimulator(t *testing.T) {
	var out bytes.Buffer
	b := newBench(t, ptxsim.New(ptxsim.Options{Seed: 1}), &out)
	b.rounds = 1
	b.products(array.Float64, [3]int{12, 4, 260})
	if lines := bytes.Count(out.Bytes(), []byte(`"same":true`)); lines != 9 {
		t.Errorf("%d lines of equal results, want 9:\n%s", lines, out.String())
	}
}

// newBench opens a GPU.
func newBench(t *testing.T, d cudart.Driver, out io.Writer) *bench {
	info, err := d.Info(0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, c: c, q: q, info: info, out: out, rounds: 7, funcs: map[string]func(blocks int, args []byte) error{}}
	b.note(map[string]any{"gpu": info.Name, "units": info.Units})
	return b
}

// A bench times kernels on a GPU.
type bench struct {
	t    *testing.T
	c    cudart.Context
	q    cudart.Queue
	info cudart.Info
	out  io.Writer
	// rounds is the number of timed runs, the first of one pass.
	rounds int
	funcs  map[string]func(blocks int, args []byte) error
}

func (b *bench) gpu() product.GPU {
	return product.GPU{Units: b.info.Units, Major: b.info.Major, Shared: b.info.Shared}
}

// note writes a line.
func (b *bench) note(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		b.t.Fatal(err)
	}
	fmt.Fprintf(b.out, "%s\n", text)
}

// products times C = A*B of M x N x K with each tile and each order of the elements of A and B.
func (b *bench) products(d array.DType, size [3]int) {
	m, n, k := size[0], size[1], size[2]
	chance := rand.New(rand.NewPCG(1, 2))
	matrix := func(elems int) (cudart.Addr, []byte) {
		data := make([]byte, elems*d.Size())
		for i := range elems {
			if d == array.Float64 {
				*(*float64)(unsafe.Pointer(&data[8*i])) = chance.Float64() - 0.5
			} else {
				*(*float32)(unsafe.Pointer(&data[4*i])) = chance.Float32() - 0.5
			}
		}
		at, err := b.c.Alloc(len(data))
		if err == nil {
			err = b.c.CopyIn(b.q, at, unsafe.Pointer(&data[0]), len(data))
		}
		if err != nil {
			b.t.Fatal(err)
		}
		return at, data
	}
	x, _ := matrix(m * k)
	y, _ := matrix(k * n)
	z, out := matrix(m * n)
	defer func() {
		for _, at := range []cudart.Addr{x, y, z} {
			if err := b.c.Free(at); err != nil {
				b.t.Error(err)
			}
		}
	}()
	for _, order := range []string{"nn", "nt", "tn"} {
		p := product.Product{DType: d, Of: [2]array.DType{d, d}, M: m, N: n, K: k,
			A: product.Mat{Addr: uint64(x), Row: k, Col: 1}, B: product.Mat{Addr: uint64(y), Row: n, Col: 1}, C: product.Mat{Addr: uint64(z), Row: n, Col: 1}}
		if order[0] == 't' {
			p.A.Row, p.A.Col = 1, m
		}
		if order[1] == 't' {
			p.B.Row, p.B.Col = 1, k
		}
		want := uint64(0)
		seed := maphash.MakeSeed()
		time := func(what string, launches func() []grid.Launch) {
			line := map[string]any{"dtype": d.String(), "m": m, "n": n, "k": k, "order": order, "tile": what}
			defer b.note(line)
			if err := b.c.Fill(b.q, z, m*n*d.Size()/4, 0x7fc00000, 4); err != nil {
				b.t.Fatal(err)
			}
			list := launches()
			ms, err := b.time(list)
			if err == nil {
				err = b.c.CopyOut(b.q, unsafe.Pointer(&out[0]), z, len(out))
			}
			if err != nil {
				line["error"] = err.Error()
				return
			}
			h := maphash.Bytes(seed, out)
			if want == 0 {
				want = h
			}
			line["ms"], line["tflops"], line["same"] = ms, 2*float64(m)*float64(n)*float64(k)/ms/1e9, h == want
			if h != want {
				b.t.Errorf("%v: other bits", line)
			}
		}
		for _, tile := range product.Tiles {
			rows, _ := tile.Size(d)
			if (min(m, n) <= 16) != (rows == 16) {
				continue
			}
			time(tile.String(), func() []grid.Launch { return p.LaunchesOf(tile, b.info.Major, 0) })
			if scratch := m * n * d.Size() * ((k + 255) / 256); k > 256 && m <= 1024 {
				b.scratch(scratch, func(at uint64) {
					time(tile.String()+" apart", func() []grid.Launch { return p.LaunchesOf(tile, b.info.Major, at) })
				})
			}
		}
		b.scratch(p.Scratch(b.gpu()), func(at uint64) {
			time("chosen", func() []grid.Launch { return p.Launches(b.gpu(), at) })
		})
	}
}

// scratch calls f with memory of the GPU.
func (b *bench) scratch(bytes int, f func(at uint64)) {
	at, err := b.c.Alloc(max(bytes, 16))
	if err != nil {
		b.t.Fatal(err)
	}
	f(uint64(at))
	if err := b.c.Free(at); err != nil {
		b.t.Fatal(err)
	}
}

// time returns the least time of a run of launches, in milliseconds.
func (b *bench) time(list []grid.Launch) (float64, error) {
	var run []func() error
	for _, l := range list {
		f, err := b.function(l)
		if err != nil {
			return 0, err
		}
		run = append(run, func() error { return f(l.Blocks, l.Args) })
	}
	first, err := b.c.NewEvent(true)
	if err != nil {
		return 0, err
	}
	last, err := b.c.NewEvent(true)
	if err != nil {
		return 0, err
	}
	least, count := 1e9, 1
	for range b.rounds {
		if err := b.c.Record(first, b.q); err != nil {
			return 0, err
		}
		for range count {
			for _, f := range run {
				if err := f(); err != nil {
					return 0, err
				}
			}
		}
		if err := b.c.Record(last, b.q); err != nil {
			return 0, err
		}
		if err := b.c.Sync(b.q); err != nil {
			return 0, err
		}
		ms, err := b.c.Elapsed(first, last)
		if err != nil {
			return 0, err
		}
		least = min(least, float64(ms)/float64(count))
		count = max(3, min(100, int(5/least)))
	}
	if err := b.c.CloseEvent(first); err != nil {
		return 0, err
	}
	return least, b.c.CloseEvent(last)
}

// function returns the kernel of a launch.
func (b *bench) function(l grid.Launch) (func(blocks int, args []byte) error, error) {
	if f := b.funcs[l.Name]; f != nil {
		return f, nil
	}
	k := l.Lower()
	text, err := ptx.Print(ptx.Target{Major: b.info.Major}, k)
	if err != nil {
		return nil, err
	}
	module, err := b.c.Load(text)
	if err != nil {
		return nil, err
	}
	f, err := b.c.Function(module, k.Name)
	if err != nil {
		return nil, err
	}
	b.funcs[l.Name] = func(blocks int, args []byte) error {
		return b.c.Launch(b.q, f, blocks, k.Threads, ptx.DynamicShared(k), args)
	}
	return b.funcs[l.Name], nil
}
