package mem

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// testPool returns a pool without limits whose timer does not fire and that maps
// real memory, counted in mapped.
func testPool(mapped *atomic.Int64) *Pool {
	return newPool(system{
		alloc: func(size uintptr) (unsafe.Pointer, error) {
			p, err := osMap(size)
			if err == nil {
				mapped.Add(int64(size))
			}
			return p, err
		},
		free: func(p unsafe.Pointer, size uintptr) {
			mapped.Add(-int64(size))
			osUnmap(p, size)
		},
		limits:   func() limits { return limits{noLimit, noLimit} },
		other:    func() int64 { return 0 },
		collect:  collect,
		heap:     func() int64 { return 0 },
		percent:  func() int64 { return 100 },
		interval: time.Hour,
		floor:    1 << 40,
	})
}

func mustAlloc(t testing.TB, p *Pool, n int) Block {
	t.Helper()
	b, err := p.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestClasses(t *testing.T) {
	for c := range classes {
		size := classSize(c)
		if size%Alignment != 0 {
			t.Errorf("class %d: size %d is not a multiple of %d", c, size, Alignment)
		}
		if classOf(size) != c || c+1 < classes && classOf(size+1) != c+1 {
			t.Errorf("class %d of %d bytes: classOf gives %d, and %d for one more", c, size, classOf(size), classOf(size+1))
		}
		if c > 0 && (size-classSize(c-1))*4 > size {
			t.Errorf("class %d of %d bytes follows %d", c, size, classSize(c-1))
		}
	}
	if classOf(0) != 0 || classOf(1<<maxShift+1) != classes {
		t.Error("ends of the range")
	}
}

func TestAlignmentAndSize(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	var all []Block
	for _, n := range []int{0, 1, 63, 64, 256, 257, 1000, 1024, 4096, 5000, 128 << 10, 128<<10 + 1, 1 << 20, 2 << 20, 3<<20 + 5, 8 << 20} {
		b := mustAlloc(t, p, n)
		all = append(all, b)
		if uintptr(b.Ptr())%Alignment != 0 {
			t.Errorf("%d bytes at %p", n, b.Ptr())
		}
		if n >= hugePage && runtime.GOOS == "linux" && uintptr(b.Ptr())%hugePage != 0 {
			t.Errorf("%d bytes at %p, not aligned to a huge page", n, b.Ptr())
		}
		if b.Len() != n || b.Cap() < n || len(b.Bytes()) != n || !b.Live() {
			t.Errorf("%d bytes: len %d, cap %d, live %v", n, b.Len(), b.Cap(), b.Live())
		}
		full := b.Bytes()[:b.Cap()]
		full[0], full[len(full)-1] = 1, 1 // faults if it is not there
	}
	for _, b := range all {
		p.Free(b)
		if b.Live() {
			t.Error("live after Free")
		}
	}
	if s := p.Stats(); s.Live != 0 || s.Reserved != mapped.Load() || s.Peak == 0 {
		t.Errorf("stats %+v with %d mapped", s, mapped.Load())
	}
	p.Trim()
	if s := p.Stats(); s.Reserved != 0 || mapped.Load() != 0 {
		t.Errorf("after Trim: stats %+v, %d mapped", s, mapped.Load())
	}
}

func TestReuse(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	for _, n := range []int{1000, 64 << 20} {
		a := mustAlloc(t, p, n)
		before := mapped.Load()
		p.Free(a)
		b := mustAlloc(t, p, n-1)
		if a.Ptr() != b.Ptr() || mapped.Load() != before {
			t.Errorf("%d bytes were not reused", n)
		}
		if a.Live() || !b.Live() {
			t.Error("the old handle is live, or the new one is not")
		}
		p.Free(b)
	}
	if s := p.Stats(); s.Hits != 2 || s.Misses != 2 {
		t.Errorf("stats %+v, want 2 hits and 2 misses", s)
	}
	p.Trim()
}

func TestZeroed(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	for _, n := range []int{777, 300_000} {
		for range 3 {
			b, err := p.AllocZeroed(n)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range b.Bytes() {
				if v != 0 {
					t.Fatalf("byte %d of %d is %d", i, n, v)
				}
				b.Bytes()[i] = 0xFF
			}
			p.Free(b)
		}
	}
	p.Trim()
}

func TestMisuse(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	b := mustAlloc(t, p, 5000)
	p.Free(b)
	again := mustAlloc(t, p, 5000) // the same memory, live
	for name, f := range map[string]func(){
		"before":   func() { p.Free(b) },
		"zero":     func() { p.Free(Block{}) },
		"negative": func() { p.Alloc(-1) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, name) {
					t.Errorf("panic %q, want one that says %q", s, name)
				}
			}()
			f()
		}()
	}
	if !again.Live() {
		t.Error("a second Free through an old handle took the new block")
	}
	p.Free(again)
	p.Trim()
}

// A generation that runs over must not pass for never used, which means zero.
func TestGenerationWraps(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	b := mustAlloc(t, p, 1<<20)
	b.gen = ^uint32(0)
	b.r.gens[0].Store(b.gen)
	b.Bytes()[5] = 9
	p.Free(b)
	z, err := p.AllocZeroed(1 << 20)
	if err != nil || z.Ptr() != b.Ptr() || z.Bytes()[5] != 0 {
		t.Errorf("%v, byte %d", err, z.Bytes()[5])
	}
	p.Free(z)
	p.Trim()
}

// Live blocks never overlap, whoever allocates and frees them.
func TestConcurrent(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	pass := make(chan Block, 64)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			check := func(b Block) {
				tag := b.Bytes()
				if binary.LittleEndian.Uint64(tag) != uint64(uintptr(b.Ptr())) || binary.LittleEndian.Uint64(tag[len(tag)-8:]) != uint64(b.Len()) {
					t.Error("a live block was overwritten")
				}
			}
			var mine []Block
			for range 4000 {
				n := 16 + rng.IntN(1<<(4+rng.IntN(17)))
				b := mustAlloc(t, p, n)
				binary.LittleEndian.PutUint64(b.Bytes(), uint64(uintptr(b.Ptr())))
				binary.LittleEndian.PutUint64(b.Bytes()[n-8:], uint64(n))
				mine = append(mine, b)
				if len(mine) > 20 {
					i := rng.IntN(len(mine))
					b := mine[i]
					mine = slices.Delete(mine, i, i+1)
					select { // freed by whichever goroutine receives it
					case pass <- b:
					default:
						check(b)
						p.Free(b)
					}
				}
				select {
				case b := <-pass:
					check(b)
					p.Free(b)
				default:
				}
				if rng.IntN(500) == 0 {
					p.Trim()
				}
				if rng.IntN(500) == 0 {
					p.tick()
				}
			}
			for _, b := range mine {
				check(b)
				p.Free(b)
			}
		})
	}
	wg.Wait()
	close(pass)
	for b := range pass {
		p.Free(b)
	}
	p.Trim()
	if s := p.Stats(); s.Live != 0 || s.Reserved != 0 || mapped.Load() != 0 {
		t.Errorf("%d bytes still mapped, stats %+v", mapped.Load(), s)
	}
}

var errFull = errors.New("full")

func TestOutOfMemory(t *testing.T) {
	b, err := Alloc(1 << 46)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrOutOfMemory) || e.Size != 1<<46 || b.Ptr() != nil {
		t.Errorf("64 TiB: %v", err)
	}
	if _, err := Alloc(1<<62 + 1); !errors.As(err, &e) || e.Size != 1<<62+1 {
		t.Errorf("4 EiB: %v", err)
	}
	if !strings.Contains((&Error{Size: 3 << 29, Live: 5 << 20, Limit: 1 << 30}).Error(), "1.5 GiB: 5 MiB in use, limit 1 GiB") {
		t.Error((&Error{Size: 3 << 29, Live: 5 << 20, Limit: 1 << 30}).Error())
	}
}

// Before an allocation fails, what is kept goes back to the system and garbage is
// collected, once.
func TestReclaim(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	inner := p.system.alloc
	p.system.alloc = func(size uintptr) (unsafe.Pointer, error) {
		if mapped.Load()+int64(size) > 8<<20 {
			return nil, errFull
		}
		return inner(size)
	}
	a, b := mustAlloc(t, p, 4<<20), mustAlloc(t, p, 4<<20)
	p.Free(a)
	c := mustAlloc(t, p, 3<<20) // needs what is kept of another class
	if s := p.Stats(); s.Collections > 1 {
		t.Errorf("stats %+v", s)
	}
	p.system.collect = func() { p.Free(c) } // garbage that held c
	d := mustAlloc(t, p, 2<<20+1)
	before := p.Stats().Collections
	p.system.collect = func() {}
	_, err := p.Alloc(5 << 20)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, errFull) || e.Size != 5<<20 || e.Live != int64(b.Cap()+d.Cap()) {
		t.Errorf("error %#v", err)
	}
	if s := p.Stats(); s.Collections != before+1 || s.Failed != 1 {
		t.Errorf("stats %+v, want one collection for the failure", s)
	}
	p.Free(b)
	p.Free(d)
	p.Trim()
	if mapped.Load() != 0 {
		t.Errorf("%d bytes still mapped", mapped.Load())
	}
}

func BenchmarkAllocFree(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"2KiB", 2048}, {"64KiB", 64 << 10}, {"64MiB", 64 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				blk, err := Alloc(c.n)
				if err != nil {
					b.Fatal(err)
				}
				Free(blk)
			}
		})
	}
}

func BenchmarkAllocFreeParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			blk, _ := Alloc(2048)
			Free(blk)
		}
	})
}

// BenchmarkTouch writes one word of each page of 64 MiB, from the pool and from a
// fresh mapping.
func BenchmarkTouch(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		name := "pool"
		if fresh {
			name = "fresh"
		}
		b.Run(name, func(b *testing.B) {
			var mapped atomic.Int64
			p := testPool(&mapped)
			for b.Loop() {
				blk := mustAlloc(b, p, 64<<20)
				for i := 0; i < blk.Len(); i += 4096 {
					blk.Bytes()[i] = 1
				}
				p.Free(blk)
				if fresh {
					p.Trim()
				}
			}
			p.Trim()
		})
	}
}
