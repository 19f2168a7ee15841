// Package dirty remembers which bytes of a memory were written: sets of intervals, and
// the monitor that keeps writers and flushes of one memory apart.
package dirty

import (
	"math/bits"
	"slices"
)

// An Interval is the bytes from Start to before Stop.
type Interval struct{ Start, Stop int }

// most is how many intervals a set keeps at most; beyond that the smallest gaps are given
// up until half of them are left.
const most = 1 << 14

// runs is how many intervals one write of a strided view adds at most.
const runs = 1 << 10

// logged is how many intervals are added before they are sorted into the others, unless
// there are more of these: sorting and merging then cost some ten nanoseconds an interval.
const logged = 1 << 9

// A Set is dirty bytes. What it has always covers what was added to it, and lies within
// its window. It is not safe for concurrent use.
type Set struct {
	window Interval
	item   int  // bytes: what is listed begins and ends at multiples of it behind the start of the window
	hull   bool // keep one interval, from the first byte to the last
	gap    int  // bytes: gaps up to this are not worth another interval

	sorted []Interval // ascending, with gaps of more than gap between them
	log    []Interval // not yet among them, in the order of writes
	spare  []Interval // memory
	gaps   []Interval
}

// NewSet returns an empty set that ignores what is outside a window and lists whole items of
// item bytes.
func NewSet(window Interval, item int, hull bool, gap int) *Set {
	return &Set{window: window, item: max(item, 1), hull: hull, gap: gap}
}

// SetGap changes the gaps that are given up from now on.
func (s *Set) SetGap(gap int) { s.gap = gap }

// Add adds the bytes from start to before stop.
func (s *Set) Add(start, stop int) {
	p := s.clip(Interval{start, stop})
	if start, stop = p.Start, p.Stop; start == stop {
		return
	}
	if n := len(s.log); n > 0 {
		// Loops write in order, or the same again.
		if l := &s.log[n-1]; s.hull || start <= l.Stop && l.Start <= stop {
			l.Start, l.Stop = min(l.Start, start), max(l.Stop, stop)
			return
		}
		if n >= logged && n >= len(s.sorted) {
			s.settle()
		}
	}
	s.log = append(s.log, Interval{start, stop})
}

// clip is what of an interval lies in the window.
func (s *Set) clip(p Interval) Interval {
	p.Start = max(p.Start, s.window.Start)
	p.Stop = max(min(p.Stop, s.window.Stop), p.Start)
	return p
}

// Taken is [Set.List], and empties the set.
func (s *Set) Taken() []Interval {
	out := s.List()
	s.sorted, s.log = s.sorted[:0], s.log[:0]
	return out
}

// List returns all intervals, ascending and apart. The slice is the caller's.
func (s *Set) List() []Interval {
	s.settle()
	out := slices.Clone(s.sorted)
	for i := range out {
		out[i] = s.whole(out[i])
	}
	return s.join(out)
}

// whole is an interval of the window with all of the items that it touches.
func (s *Set) whole(p Interval) Interval {
	p.Start -= (p.Start - s.window.Start) % s.item
	if over := (p.Stop - s.window.Start) % s.item; over > 0 {
		p.Stop = min(p.Stop-over+s.item, s.window.Stop)
	}
	return p
}

// settle sorts what was logged into the others.
func (s *Set) settle() {
	if len(s.log) == 0 {
		return
	}
	s.log = s.byStart(s.log)
	a, b, n := s.sorted, s.log, 0
	out := slices.Grow(s.spare[:0], len(a)+len(b))[:len(a)+len(b)]
	for len(a)+len(b) > 0 { // merged and joined at once
		var x Interval
		if len(b) == 0 || len(a) > 0 && a[0].Start <= b[0].Start {
			x, a = a[0], a[1:]
		} else {
			x, b = b[0], b[1:]
		}
		if n > 0 && (s.hull || x.Start-out[n-1].Stop <= s.gap) {
			out[n-1].Stop = max(out[n-1].Stop, x.Stop)
			continue
		}
		out[n] = x
		n++
	}
	s.spare, s.log = s.sorted, s.log[:0]
	s.sorted = out[:n]
	if len(s.sorted) > most {
		s.thin()
	}
}

// byStart returns the intervals ascending by their starts, in their memory or in s.spare's;
// s.spare then gets the other. It is a radix sort whose digits have more bits for longer lists.
// An interval takes less than ten nanoseconds, half of what comparisons take.
func (s *Set) byStart(list []Interval) []Interval {
	if len(list) < 64 {
		slices.SortFunc(list, func(a, b Interval) int { return a.Start - b.Start })
		return list
	}
	least, greatest := list[0].Start, list[0].Start
	for _, x := range list {
		least, greatest = min(least, x.Start), max(greatest, x.Start)
	}
	differ := 0 // bits in which two starts do
	for _, x := range list {
		differ |= x.Start - least
	}
	if differ == 0 {
		return list
	}
	from, to := bits.TrailingZeros(uint(differ)), bits.Len(uint(differ))
	var counts [1 << 11]int32
	most := min(bits.Len(uint(len(list)))-1, 11)
	passes := (to - from + most - 1) / most
	digit := (to - from + passes - 1) / passes
	at, mask := counts[:1<<digit], 1<<digit-1
	other := slices.Grow(s.spare[:0], len(list))[:len(list)]
	for shift := from; shift < to; shift += digit {
		clear(at)
		for _, x := range list {
			at[(x.Start-least)>>shift&mask]++
		}
		sum := int32(0)
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range list {
			k := (x.Start - least) >> shift & mask
			other[at[k]] = x
			at[k]++
		}
		list, other = other, list
	}
	s.spare = other
	return list
}

// join joins intervals, ascending by their starts, whose gaps are not worth keeping.
func (s *Set) join(list []Interval) []Interval {
	n := 0
	for _, x := range list {
		if n > 0 && (s.hull || x.Start-list[n-1].Stop <= s.gap) {
			list[n-1].Stop = max(list[n-1].Stop, x.Stop)
			continue
		}
		list[n] = x
		n++
	}
	return list[:n]
}

// thin gives up the smallest gaps, of equal ones the first.
func (s *Set) thin() {
	s.gaps = s.gaps[:0]
	for i := 1; i < len(s.sorted); i++ {
		s.gaps = append(s.gaps, Interval{Start: s.sorted[i].Start - s.sorted[i-1].Stop})
	}
	s.gaps = s.byStart(s.gaps)
	keep := len(s.gaps) - most/2
	limit := s.gaps[keep].Start
	equal := 0 // gaps of just the limit to give up
	for i := keep; i > 0 && s.gaps[i-1].Start == limit; i-- {
		equal++
	}
	n := 1
	for _, x := range s.sorted[1:] {
		gap := x.Start - s.sorted[n-1].Stop
		if gap == limit {
			equal--
		}
		if gap < limit || gap == limit && equal >= 0 {
			s.sorted[n-1].Stop = x.Stop
			continue
		}
		s.sorted[n] = x
		n++
	}
	s.sorted = s.sorted[:n]
}

// AddStrided adds what a strided view touches: its first element lies at start and takes
// size bytes, strides are in bytes. It takes exact runs where gaps are worth it and there
// are not too many of them, else the hulls of the innermost ones.
func (s *Set) AddStrided(start, size int, shape, strides []int) {
	if len(shape) == 0 {
		s.Add(start, start+size)
		return
	}
	var few [8]axis
	axes := few[:0]
	for i, n := range shape {
		if n == 0 {
			return
		}
		by := strides[i]
		if by < 0 { // the same from its other end
			start += (n - 1) * by
			by = -by
		}
		if n > 1 && by > 0 {
			axes = append(axes, axis{n, by})
		}
	}
	for i := 1; i < len(axes); i++ { // by stride: there are few
		for j := i; j > 0 && axes[j].stride < axes[j-1].stride; j-- {
			axes[j], axes[j-1] = axes[j-1], axes[j]
		}
	}
	// Innermost axes become part of the run.
	var index [len(few)]int
	for len(axes) > 0 && (s.hull || axes[0].stride-size <= s.gap || len(axes) > len(index) || product(axes) > runs) {
		size += (axes[0].n - 1) * axes[0].stride
		axes = axes[1:]
	}
	for at := start; ; {
		s.Add(at, at+size)
		k := 0
		for ; k < len(axes); k++ {
			at += axes[k].stride
			if index[k]++; index[k] < axes[k].n {
				break
			}
			at -= axes[k].n * axes[k].stride
			index[k] = 0
		}
		if k == len(axes) {
			return
		}
	}
}

// An axis of a view, of positive stride.
type axis struct{ n, stride int }

// product is the number of places, or more than [runs].
func product(axes []axis) int {
	total := 1
	for _, a := range axes {
		if total *= min(a.n, runs+1); total > runs {
			break
		}
	}
	return total
}
