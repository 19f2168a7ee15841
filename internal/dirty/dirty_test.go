package dirty

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// touched lists the bytes of a strided view by walking its elements.
func touched(start, size int, shape, strides []int, each func(at int)) {
	if len(shape) == 0 {
		for i := range size {
			each(start + i)
		}
		return
	}
	for i := range shape[0] {
		touched(start+i*strides[0], size, shape[1:], strides[1:], each)
	}
}

// gapsJoined are the intervals of true bytes, where gaps of at most gap are filled.
func gapsJoined(dirty []bool, gap int) []Interval {
	var out []Interval
	for i, d := range dirty {
		if !d {
			continue
		}
		if n := len(out); n > 0 && i-out[n-1].Stop <= gap {
			out[n-1].Stop = i + 1
		} else {
			out = append(out, Interval{i, i + 1})
		}
	}
	return out
}

// run plays a script of writes on a set and on an array of bools.
func run(t *testing.T, script []byte) {
	next := func(n int) int {
		if len(script) == 0 {
			return 0
		}
		x := int(script[0])
		script = script[1:]
		return x % n
	}
	const size = 3000
	window := Interval{next(50), size - next(50)}
	item := []int{1, 1, 4, 12, 20}[next(5)]
	hull := next(4) == 0
	gap := []int{0, 1, 8, 100}[next(4)]
	s := NewSet(window, item, hull, gap)
	dirty := make([]bool, size)
	exact := true // no write had more runs than are taken
	for len(script) > 0 {
		switch next(8) {
		case 0, 1, 2:
			start := next(256) * 12
			stop := start + next(60)
			s.Add(start, stop)
			for i := start; i < min(stop, size); i++ {
				dirty[i] = true
			}
		case 3, 4, 5:
			shape, strides := []int{}, []int{}
			lo, hi := 0, 4
			places := 1
			for range next(4) {
				n, by := next(9), next(200)-100
				shape, strides = append(shape, n), append(strides, by*4)
				lo, hi = min(lo, lo+(n-1)*by*4), max(hi, hi+(n-1)*by*4)
				places *= n
			}
			if hi-lo > size {
				continue
			}
			start := -lo + next(max(size-(hi-lo), 1))
			s.AddStrided(start, 4, shape, strides)
			// What is no part of the window is not looked at apart.
			exact = exact && places <= runs && start+lo >= window.Start && start+hi <= window.Stop
			touched(start, 4, shape, strides, func(at int) { dirty[at] = true })
		case 6:
			check(t, s, dirty, exact, window, item, hull, gap)
		case 7:
			if got := s.List(); !slices.Equal(got, s.Taken()) || len(s.List()) > 0 {
				t.Fatalf("%v taken, and %v left", got, s.List())
			}
			clear(dirty)
			exact = true
		}
	}
	check(t, s, dirty, exact, window, item, hull, gap)
}

func check(t *testing.T, s *Set, dirty []bool, exact bool, window Interval, item int, hull bool, gap int) {
	t.Helper()
	want := make([]bool, len(dirty)) // whole items in the window
	for i := window.Start; i < window.Stop; i++ {
		if dirty[i] {
			at := i - (i-window.Start)%item
			for k := at; k < min(at+item, window.Stop); k++ {
				want[k] = true
			}
		}
	}
	if hull {
		gap = len(dirty)
	}
	list, got := gapsJoined(want, gap), s.List()
	covered := make([]bool, len(dirty))
	for i, p := range got {
		if p.Start >= p.Stop || p.Start < window.Start || p.Stop > window.Stop || i > 0 && p.Start-got[i-1].Stop <= gap {
			t.Fatalf("item %d, gap %d: %v is not a list of intervals in %v", item, gap, got, window)
		}
		if (p.Start-window.Start)%item != 0 || (p.Stop-window.Start)%item != 0 && p.Stop != window.Stop {
			t.Fatalf("%v: not whole items of %d behind %d", p, item, window.Start)
		}
		for k := p.Start; k < p.Stop; k++ {
			covered[k] = true
		}
	}
	for i := range want {
		if want[i] && !covered[i] {
			t.Fatalf("byte %d was written and is in none of %v", i, got)
		}
	}
	if exact && !slices.Equal(got, list) {
		t.Fatalf("item %d, gap %d, hull %v, window %v: %v, want %v", item, gap, hull, window, got, list)
	}
}

func FuzzSet(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7})
	f.Fuzz(run)
}

func TestSet(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		script := make([]byte, 16+r.IntN(300))
		for i := 0; i+4 <= len(script); i += 4 {
			binary.LittleEndian.PutUint32(script[i:], r.Uint32())
		}
		run(t, script)
	}
}

// Of n intervals at most some are kept, those with the largest gaps between them.
func TestSetIsBounded(t *testing.T) {
	for _, even := range []bool{true, false} {
		s := NewSet(Interval{0, 1 << 40}, 1, false, 0)
		r := rand.New(rand.NewPCG(1, 2))
		at, added := 0, 0
		var wide []Interval // gaps that must stay
		for i := range 5 * most {
			gap := 10
			if !even {
				gap += r.IntN(100)
				if i%100 == 99 {
					gap = 1000
				}
			}
			at += gap
			if gap == 1000 {
				wide = append(wide, Interval{at - gap, at})
			}
			s.Add(at, at+4)
			added += 4
			at += 4
		}
		got := s.List()
		if len(got) > most || len(got) < most/4 {
			t.Errorf("even %v: %d intervals", even, len(got))
		}
		sum := 0
		for _, p := range got {
			sum += p.Stop - p.Start
		}
		if sum < added {
			t.Errorf("even %v: %d bytes of %d", even, sum, added)
		}
		for _, w := range wide {
			for _, p := range got {
				if p.Start < w.Stop && w.Start < p.Stop {
					t.Fatalf("the gap %v is gone by %v", w, p)
				}
			}
		}
	}
	// One view of more runs than are taken becomes hulls of its inner ones.
	s := NewSet(Interval{0, 1 << 40}, 1, false, 0)
	s.AddStrided(0, 4, []int{1000, 1000}, []int{100000, 100})
	if got := s.List(); len(got) != 1000 || got[1] != (Interval{100000, 100000 + 999*100 + 4}) {
		t.Errorf("%d intervals, the second %v", len(got), got[1])
	}
	s = NewSet(Interval{0, 1 << 40}, 1, false, 0)
	s.AddStrided(0, 1, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, []int{2, 8, 32, 128, 512, 2048, 8192, 32768, 131072, 524288})
	if got := s.List(); len(got) == 0 || got[0].Start != 0 || got[len(got)-1].Stop != 2+8+32+128+512+2048+8192+32768+131072+524288+1 {
		t.Errorf("ten axes: %v", got)
	}
}

// The intervals are those that cost least: no other choice of gaps to send costs less,
// where a transfer costs as much as gap bytes. The optimum is found by dynamic programming.
func TestSetCostsLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		gap := r.IntN(200)
		s := NewSet(Interval{0, 100000}, 1, false, gap)
		var list []Interval
		for at := r.IntN(100); at < 20000; at += r.IntN(400) + 1 {
			stop := at + 1 + r.IntN(20)
			list = append(list, Interval{at, stop})
			at = stop
		}
		for _, i := range r.Perm(len(list)) {
			s.Add(list[i].Start, list[i].Stop)
		}
		best := make([]int, len(list)+1) // best[i]: cost of the first i intervals
		for i := range list {
			best[i+1] = 1 << 60
			for j := i; j >= 0; j-- {
				best[i+1] = min(best[i+1], best[j]+gap+list[i].Stop-list[j].Start)
			}
		}
		cost := 0
		for _, p := range s.List() {
			cost += gap + p.Stop - p.Start
		}
		if cost != best[len(list)] {
			t.Fatalf("gap %d: cost %d, the least is %d", gap, cost, best[len(list)])
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	at := make([]int, 1<<16)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range at {
		at[i] = r.IntN(1<<20) * 16
	}
	for _, c := range []struct {
		name string
		gap  int
		mask int
	}{{"again", 0, 0}, {"random 1000", 4096, 1<<10 - 1}, {"random", 0, 1<<16 - 1}} {
		b.Run(c.name, func(b *testing.B) {
			s := NewSet(Interval{0, 1 << 24}, 4, false, c.gap)
			for i := range b.N {
				x := at[i&c.mask]
				s.AddStrided(x, 4, []int{4}, []int{4})
				if i&1023 == 1023 && c.mask == 1<<10-1 {
					s.Taken()
				}
			}
		})
	}
}
