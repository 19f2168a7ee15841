package fft

import (
	"math"
	"sync"
	"unsafe"

	"weft/internal/jit"
)

const (
	directMax = 128       // the greatest length that is not split
	runBytes  = 16 << 10  // about what a run of columns takes
	pageBytes = 64        // to which memory is aligned
	longBytes = 1 << 20   // of the longest rows that stay in a second-level cache while they are transformed
	longRun   = 256 << 10 // about what a run of the columns of a long row takes
	// maxPlans bounds the bytes of the tables of plans that are kept.
	maxPlans = 256 << 20
)

// radices are the lengths of butterflies, in the order in which lengths are divided by them.
var radices = []int{8, 4, 2, 3, 5, 7, 11, 13}

// maxRadix is the greatest of them.
const maxRadix = 13

// smooth reports that all prime factors of n are lengths of butterflies.
func smooth(n int) bool {
	for _, r := range radices[2:] {
		for n%r == 0 {
			n /= r
		}
	}
	return n == 1
}

// factors are the radices of the stages of a smooth length.
func factors(n int) (f []int) {
	twos := 0
	for n%2 == 0 {
		twos, n = twos+1, n/2
	}
	for ; twos%3 != 0 && twos >= 2; twos -= 2 {
		f = append(f, 4)
	}
	if twos == 1 {
		f, twos = append(f, 2), 0
	}
	for ; twos > 0; twos -= 3 {
		f = append(f, 8)
	}
	for _, r := range radices[3:] {
		for n%r == 0 {
			f, n = append(f, r), n/r
		}
	}
	return f
}

// A stage is one pass of Stockham's algorithm over the columns of a matrix: butterflies over rows that
// lie m*s apart, whose results lie s apart.
type stage struct {
	radix, s, m int
	tw          unsafe.Pointer // radix-1 numbers for each of m; nil if m is 1
}

// A columns transforms columns of n elements.
type columns struct {
	n      int
	stages []stage
}

// A plan is how rows of n complex numbers are transformed.
type plan struct {
	isa     jit.ISA
	size, n int
	bytes   int // of tables

	first, second columns // direct: the first alone
	split         bool
	runs          [2]int         // split: vectors in a run of columns
	tw            unsafe.Pointer // split: the factors between the two
	long          *plan          // of the rows, of a long length: the first is of its columns
	chirp         *chirp
	real, whole   onceTable    // see realRoots, rowFactors
	mirror        onceTable    // see mirrorRoots
	cosines       [2]onceTable // see cosineRoots: of odd and even lengths
	mirrorCosines onceTable    // see mirrorCosineRoots
}

// A onceTable is a table that is made when it is needed.
type onceTable struct {
	once sync.Once
	w    unsafe.Pointer
}

// A planKey names a plan.
type planKey struct {
	isa     jit.ISA
	size, n int
}

var plans struct {
	sync.Mutex
	made  map[planKey]*plan
	order []planKey
	bytes int
}

// planFor returns the plan of a length, which it makes at the first call. Requires n > 0.
func planFor(isa jit.ISA, size, n int) *plan {
	k := planKey{isa, size, n}
	plans.Lock()
	p := plans.made[k]
	plans.Unlock()
	if p != nil {
		return p
	}
	p = newPlan(k)
	plans.Lock()
	defer plans.Unlock()
	if plans.made == nil {
		plans.made = map[planKey]*plan{}
	}
	if q := plans.made[k]; q != nil {
		return q
	}
	plans.made[k] = p
	plans.order = append(plans.order, k)
	plans.bytes += p.bytes
	for plans.bytes > maxPlans && len(plans.order) > 1 {
		old := plans.order[0]
		plans.order = plans.order[1:]
		plans.bytes -= plans.made[old].bytes
		delete(plans.made, old)
	}
	return p
}

func newPlan(k planKey) *plan {
	p := &plan{isa: k.isa, size: k.size, n: k.n}
	switch {
	case !smooth(k.n):
		p.chirp = newChirp(p)
	case k.n <= directMax:
		p.first = p.column(k.n)
	case k.n*2*k.size > longBytes:
		n1 := outer(k.n)
		p.first, p.second.n = p.column(n1), k.n/n1
		p.runs[0] = max(longRun/(n1*p.block()), 1)
		p.long = planFor(k.isa, k.size, k.n/n1)
		p.bytes += p.long.bytes
		p.between()
	default:
		p.split = true
		n1, n2 := split(k.n, 64/k.size)
		p.first, p.second = p.column(n1), p.column(n2)
		for i, n := range []int{n1, n2} {
			blocks := (k.n/n + p.lanes() - 1) / p.lanes()
			p.runs[i] = min(max(runBytes/(n*p.block()), 1), blocks)
		}
		p.between()
	}
	return p
}

// outer returns the factor of a long length whose columns are transformed first: the one nearest to 64.
func outer(n int) int {
	best := 1
	for d := 2; d <= 512; d++ {
		if n%d == 0 && math.Abs(math.Log2(float64(d)/64)) < math.Abs(math.Log2(float64(best)/64)) {
			best = d
		}
	}
	return best
}

// lanes is the number of columns of a vector, block its bytes.
func (p *plan) lanes() int { return vector(p.isa) / p.size }
func (p *plan) block() int { return 2 * vector(p.isa) }

// split returns the factors of n with the least work: passes over columns, which come in vectors.
func split(n, lanes int) (n1, n2 int) {
	best := math.Inf(1)
	up := func(n int) int { return (n + lanes - 1) / lanes * lanes }
	for d := 2; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		for _, a := range []int{d, n / d} {
			b := n / a
			// A pass over columns costs about as much as half the transpose, and long columns leave the cache.
			work := float64(up(b)*a)*float64(len(factors(a))+1) + float64(up(a)*b)*float64(len(factors(b))+1)
			if work *= 1 + 0.05*math.Abs(math.Log2(float64(a)/float64(b))); work < best {
				best, n1, n2 = work, a, b
			}
		}
	}
	return n1, n2
}

// column returns the stages of columns of n elements.
func (p *plan) column(n int) columns {
	c := columns{n: n}
	w := roots(n)
	s := 1
	for _, r := range factors(n) {
		st := stage{radix: r, s: s, m: n / s / r}
		if st.m > 1 {
			var tw []float64
			for i := range st.m {
				for k := 1; k < r; k++ {
					at := i * k * s % n
					tw = append(tw, w[2*at], w[2*at+1])
				}
			}
			st.tw = p.table(tw)
		}
		c.stages = append(c.stages, st)
		s *= r
	}
	if n == 1 {
		c.stages = nil
	}
	return c
}

// table returns numbers in the plan's precision.
func (p *plan) table(x []float64) unsafe.Pointer {
	memory := aligned(len(x) * p.size)
	if p.size == 4 {
		to := unsafe.Slice((*float32)(memory), len(x))
		for i, y := range x {
			to[i] = float32(y)
		}
	} else {
		copy(unsafe.Slice((*float64)(memory), len(x)), x)
	}
	p.bytes += len(x) * p.size
	return memory
}

// aligned returns n bytes of zeros at a multiple of pageBytes.
func aligned(n int) unsafe.Pointer {
	b := make([]byte, n+pageBytes)
	at := unsafe.Pointer(&b[0])
	return unsafe.Add(at, -uintptr(at)&(pageBytes-1))
}

// between makes the factors between the transforms of columns, in the order in which the last stage
// of the first one reads them.
func (p *plan) between() {
	n1, n2, lanes := p.first.n, p.second.n, p.lanes()
	w := roots(p.n)
	last := p.first.stages[len(p.first.stages)-1]
	over := cover{n2, lanes}
	runs := over.runs(p.runs[0])
	_, count, before := over.run(runs-1, p.runs[0])
	size := n1 * (before + count) * lanes * 2
	memory := aligned(size * p.size)
	at := 0
	put := func(x float64) {
		if p.size == 4 {
			*(*float32)(unsafe.Add(memory, at*4)) = float32(x)
		} else {
			*(*float64)(unsafe.Add(memory, at*8)) = x
		}
		at++
	}
	for run := range runs {
		first, blocks, _ := over.run(run, p.runs[0])
		for q := range last.s {
			for b := range blocks {
				for k := range last.radix {
					for part := range 2 {
						for lane := range lanes {
							c := first + b*lanes + column(p.isa, p.size, lane)
							put(w[2*(c*(q+last.s*k)%p.n)+part])
						}
					}
				}
			}
		}
	}
	p.tw = memory
	p.bytes += size * p.size
}
