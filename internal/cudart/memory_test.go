package cudart

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
)

// testAllocator returns an allocator over memory that exists as numbers alone.
func testAllocator(limit int) (*allocator, *fakeSegments) {
	m := &fakeSegments{limit: limit, live: map[Addr]int{}, next: 1 << 20}
	a := &allocator{alloc: m.alloc, close: m.close, quiet: func() error { return nil }, settle: func() {}, floor: 1 << 40, segments: map[Addr]struct{}{}}
	a.settled.L = &a.mu
	return a, m
}

type fakeSegments struct {
	limit, used int
	next        Addr
	live        map[Addr]int
}

func (m *fakeSegments) alloc(n int) (Addr, error) {
	if m.used+n > m.limit {
		return 0, &DriverError{Call: "alloc", Code: CodeOutOfMemory}
	}
	at := m.next
	m.next += Addr(n) + 1<<20
	m.live[at] = n
	m.used += n
	return at, nil
}

func (m *fakeSegments) close(a Addr) error {
	m.used -= m.live[a]
	delete(m.live, a)
	return nil
}

// A model of PyTorch's rules: all blocks of all segments in lists that are searched from end to end.
type naive struct {
	segs     []*naiveSegment
	reserved int
}

type naiveSegment struct {
	at     Addr
	small  bool
	queue  int
	blocks []naiveBlock // in the order of addresses
}

type naiveBlock struct {
	size int
	free bool
}

// take returns where a block lies, as an offset in the segment that was made as the n-th.
func (m *naive) take(queue, bytes int, grown func(n int) Addr) (Addr, int) {
	size := (bytes + 511) / 512 * 512
	small := size <= 1<<20
	var seg *naiveSegment
	best, bestAt := -1, Addr(0)
	for _, s := range m.segs {
		at := s.at
		for i, b := range s.blocks {
			if s.small == small && s.queue == queue && b.free && b.size >= size {
				if seg == nil || b.size < seg.blocks[best].size || b.size == seg.blocks[best].size && at < bestAt {
					seg, best, bestAt = s, i, at
				}
			}
			at += Addr(b.size)
		}
	}
	if seg == nil {
		n := 2 << 20
		if size > 1<<20 && size < 10<<20 {
			n = 20 << 20
		} else if size >= 10<<20 {
			n = (size + 2<<20 - 1) / (2 << 20) * (2 << 20)
		}
		seg = &naiveSegment{at: grown(n), small: small, queue: queue, blocks: []naiveBlock{{n, true}}}
		m.segs = append(m.segs, seg)
		m.reserved += n
		best, bestAt = 0, seg.at
	}
	rest := seg.blocks[best].size - size
	if small && rest >= 512 || !small && rest > 1<<20 {
		list := append([]naiveBlock(nil), seg.blocks[:best]...)
		list = append(list, naiveBlock{size, false}, naiveBlock{rest, true})
		seg.blocks = append(list, seg.blocks[best+1:]...)
	} else {
		seg.blocks[best].free = false
		size += rest
	}
	return bestAt, size
}

// put frees the block at an address and joins free neighbours.
func (m *naive) put(a Addr) {
	for _, s := range m.segs {
		at := s.at
		for i := range s.blocks {
			if at == a {
				s.blocks[i].free = true
				var list []naiveBlock
				for _, b := range s.blocks {
					if n := len(list); n > 0 && b.free && list[n-1].free {
						list[n-1].size += b.size
					} else {
						list = append(list, b)
					}
				}
				s.blocks = list
				return
			}
			at += Addr(s.blocks[i].size)
		}
	}
	panic("put of what is not there")
}

// The allocator hands out the same addresses as a model of PyTorch's rules, without overlap, and its
// figures add up.
func TestAllocatorAsItsModel(t *testing.T) {
	for seed := range uint64(30) {
		chance := rand.New(rand.NewPCG(seed, 5))
		a, segs := testAllocator(1 << 50)
		l := &events{}
		queues := []*pools{newPools(), newPools()}
		for _, q := range queues {
			a.add(q)
		}
		m := &naive{}
		type taken struct {
			b     *block
			bytes int
		}
		var live []taken
		sum, asked, peak := int64(0), int64(0), int64(0)
		for range 400 {
			if len(live) > 0 && chance.IntN(5) < 2 {
				i := chance.IntN(len(live))
				x := live[i]
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
				sum, asked = sum-int64(x.b.size), asked-int64(x.bytes)
				m.put(x.b.addr)
				a.put(x.b, nil)
				continue
			}
			bytes := 1 + chance.IntN(1<<(1+chance.IntN(25)))
			switch chance.IntN(8) { // the borders of the classes
			case 0:
				bytes = []int{512, 513, 1 << 20, 1<<20 + 1, 10 << 20, 10<<20 - 512, 10<<20 - 511}[chance.IntN(7)]
			}
			q := chance.IntN(2)
			before := segs.next
			b, err := a.take(queues[q], bytes, l)
			check(t, err)
			at, size := m.take(q, bytes, func(int) Addr { return before })
			if b.addr != at || b.size != size {
				t.Fatalf("seed %d: %d bytes are %d at %x, want %d at %x", seed, bytes, b.size, b.addr, size, at)
			}
			for _, x := range live {
				if b.addr < x.b.addr+Addr(x.b.size) && x.b.addr < b.addr+Addr(b.size) {
					t.Fatalf("seed %d: %x and %x overlap", seed, b.addr, x.b.addr)
				}
			}
			live = append(live, taken{b, bytes})
			sum, asked = sum+int64(size), asked+int64(bytes)
			peak = max(peak, sum)
			s := a.figures()
			if s.Live != sum || s.Active != sum || s.Requested != asked || s.Peak != peak || s.Reserved != int64(m.reserved) || s.Reserved != int64(segs.used) || s.Segments != int64(len(m.segs)) || s.Hits+s.Misses != s.Allocations || s.Allocations-s.Frees != int64(len(live)) {
				t.Fatalf("seed %d: %+v, want live %d, requested %d, peak %d, reserved %d", seed, s, sum, asked, peak, m.reserved)
			}
		}
		for _, x := range live {
			a.put(x.b, nil)
		}
		a.mu.Lock()
		check(t, a.giveBack(l))
		a.mu.Unlock()
		if s := a.figures(); len(segs.live) != 0 || s.Live != 0 || s.Reserved != 0 || s.Segments != 0 || s.Requested != 0 {
			t.Errorf("seed %d: %d segments stay when everything is free: %+v", seed, len(segs.live), s)
		}
	}
}

// What is kept goes back before an allocation fails, and dead tensors are asked for once.
func TestAllocatorGivesBack(t *testing.T) {
	a, segs := testAllocator(40 << 20)
	q, l := newPools(), &events{}
	a.add(q)
	var dead *block
	settled := 0
	a.settle = func() {
		if settled++; dead != nil {
			a.put(dead, nil)
			dead = nil
		}
	}
	small, err := a.take(q, 100, l)
	check(t, err)
	a.put(small, nil)
	if _, err := a.take(q, 39<<20, l); err != nil || settled != 0 {
		t.Errorf("%v after %d collections, want the kept segment to go back", err, settled)
	}
	for at := range segs.live {
		dead = &block{addr: at, size: segs.live[at], pool: &q.large}
	}
	if _, err := a.take(q, 40<<20, l); err != nil || settled != 1 {
		t.Errorf("%v after %d collections, want the dead block's memory", err, settled)
	}
	if _, err := a.take(q, 1<<20, l); !outOfMemory(err) || settled != 2 {
		t.Errorf("%v after %d collections, want no memory", err, settled)
	}
	if s := a.figures(); s.Retries != 3 || s.Failed != 1 || s.Collections != 2 {
		t.Errorf("%+v", s)
	}
}

func TestEmptyStorage(t *testing.T) {
	d := opened(t, newFake(11))
	d.Attach(3)
	x := d.Default().Alloc(0)
	if x.Bytes != 0 || x.Device != 3 || x.Host() != nil {
		t.Errorf("%+v", x)
	}
	if err := array.Try(func() { d.Default().Free(x) }); err != nil {
		t.Error(err)
	}
}
