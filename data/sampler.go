package data

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"

	"weft"
	"weft/internal/array"
	"weft/internal/mem"
)

// A Sampler chooses the examples of an epoch.
type Sampler interface {
	// Len is the number of examples that it chooses. It must not change.
	Len() int
	// Order returns their places in the dataset, the same ones for the same epoch.
	Order(epoch int) []int64
}

// A BatchSampler chooses the examples of each batch.
type BatchSampler interface {
	// Len is the number of batches. It must not change.
	Len() int
	// Batches returns the places of each batch's examples, the same ones for the same epoch.
	Batches(epoch int) [][]int64
}

// newDraws returns the random numbers of an epoch.
func newDraws(seed uint64, epoch int) *rand.PCG { return rand.NewPCG(seed, uint64(epoch)) }

// newOrder returns a list for the places of n examples. It panics with a *weft.Error of kind OutOfMemory that
// names op if the list does not fit in memory: Go would end the process.
func newOrder(op string, n int) []int64 {
	if err := mem.CheckHeap(8 * min(n, math.MaxInt/8)); err != nil {
		panic(&weft.Error{Kind: weft.OutOfMemory, Op: op, Msg: fmt.Sprintf("the order of %d examples does not fit in memory", n), Err: err})
	}
	return make([]int64, n)
}

// inOrder returns the places of n examples from 0 on. It panics as newOrder does.
func inOrder(op string, n int) []int64 {
	order := newOrder(op, n)
	for i := range order {
		order[i] = int64(i)
	}
	return order
}

// shuffle puts a list into a random order by Fisher and Yates.
func shuffle[T any](order []T, seed uint64, epoch int) {
	r := newDraws(seed, epoch)
	for i := len(order) - 1; i > 0; i-- {
		j := below(r, i+1)
		order[i], order[j] = order[j], order[i]
	}
}

// below is a random number from 0 to n-1. The bound is Lemire's, written out: an order must not change
// with the Go release.
func below(r *rand.PCG, n int) int {
	j, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(j)
}

// A SubsetSampler chooses some places in random order, PyTorch's SubsetRandomSampler.
type SubsetSampler struct {
	Index []int64
	Seed  uint64
}

// Len is the number of places.
func (s SubsetSampler) Len() int { return len(s.Index) }

// Order returns the places in another order every epoch.
func (s SubsetSampler) Order(epoch int) []int64 {
	order := append([]int64(nil), s.Index...)
	shuffle(order, s.Seed, epoch)
	return order
}

// maxDraws bounds the draws of an epoch, which lie in memory.
const maxDraws = 1 << 32

// A WeightedSampler draws examples with probabilities proportional to weights, PyTorch's
// WeightedRandomSampler.
type WeightedSampler struct {
	Weights []float64 // of all examples, 0 or more, not all 0
	N       int       // draws an epoch, from 0 to 1<<32
	Once    bool      // draws each example at most once; N is at most the number of weights above 0
	Seed    uint64
}

// Len is the number of draws.
func (s WeightedSampler) Len() int { return s.N }

// Order returns other draws every epoch. It panics with *weft.Error if a field is out of range, or if the draws
// do not fit in memory.
func (s WeightedSampler) Order(epoch int) []int64 {
	t := newWeightTree(s.Weights)
	if s.N < 0 || s.N > 0 && t.positive == 0 || s.Once && s.N > t.positive {
		array.Failf("weighted_sampler", "N", "is %d, want 0 or more, and not more than can be drawn: %d weights are above 0", s.N, t.positive)
	}
	if s.N > maxDraws {
		array.Failf("weighted_sampler", "N", "is %d, at most %d examples are drawn an epoch", s.N, maxDraws)
	}
	r := newDraws(s.Seed, epoch)
	order := newOrder("weighted_sampler", s.N)
	for i := range order {
		at := t.find(float64(r.Uint64()>>11) / (1 << 53))
		if s.Once {
			t.remove(at)
		}
		order[i] = int64(at)
	}
	return order
}

// A weightTree has the weights in leaves and sums of two above them: node i has the children 2i and
// 2i+1.
type weightTree struct {
	sums     []float64
	leaves   int
	positive int
}

func newWeightTree(weights []float64) *weightTree {
	t := &weightTree{leaves: 1}
	for t.leaves < len(weights) {
		t.leaves *= 2
	}
	t.sums = make([]float64, 2*t.leaves)
	for i, w := range weights {
		if !(w >= 0) || w > 1e300 {
			array.Failf("weighted_sampler", "Weights", "has %v at %d, want 0 or more, and finite", w, i)
		}
		if w > 0 {
			t.positive++
		}
		t.sums[t.leaves+i] = w
	}
	for i := t.leaves - 1; i > 0; i-- {
		t.sums[i] = t.sums[2*i] + t.sums[2*i+1]
	}
	return t
}

// find returns the leaf at a part of the sum of all, from 0 to less than 1. Its weight is above 0.
func (t *weightTree) find(part float64) int {
	x, i := float64(part*t.sums[1]), 1
	for i < t.leaves {
		i *= 2
		if left := t.sums[i]; t.sums[i+1] > 0 && (x >= left || left == 0) {
			x -= left
			i++
		}
	}
	return i - t.leaves
}

// remove makes the weight of a leaf 0.
func (t *weightTree) remove(at int) {
	i := t.leaves + at
	t.sums[i] = 0
	for i /= 2; i > 0; i /= 2 {
		t.sums[i] = t.sums[2*i] + t.sums[2*i+1]
	}
}

// A DistributedSampler chooses the part of one of several processes that train together: all parts
// have the same number of examples, PyTorch's DistributedSampler.
type DistributedSampler struct {
	Examples    int // of the dataset
	Rank, Ranks int // this process, and how many there are
	Shuffle     bool
	Seed        uint64 // the same in all processes
	// DropLast leaves out the examples that are left over; else the first of the order come once more.
	DropLast bool
}

// Len is the number of examples of one part.
func (s DistributedSampler) Len() int {
	if s.Ranks < 1 || s.Rank < 0 || s.Rank >= s.Ranks || s.Examples < 0 {
		array.Failf("distributed_sampler", "Rank", "is %d of %d for %d examples, want 0 to Ranks-1", s.Rank, s.Ranks, s.Examples)
	}
	n := s.Examples / s.Ranks
	if s.Examples%s.Ranks != 0 && !s.DropLast {
		n++
	}
	return n
}

// Order returns each Ranks-th example from Rank on, of an order that is the same in all processes. It panics
// with *weft.Error if a field is out of range, or if the order of all examples does not fit in memory.
func (s DistributedSampler) Order(epoch int) []int64 {
	n := s.Len()
	order := inOrder("distributed_sampler", s.Examples)
	if s.Shuffle {
		shuffle(order, s.Seed, epoch)
	}
	part := newOrder("distributed_sampler", n)
	for i := range part {
		part[i] = order[(s.Rank+i*s.Ranks)%s.Examples]
	}
	return part
}

// A BucketSampler makes batches of examples of similar length, so that little is padded: it sorts
// groups of shuffled examples by length and shuffles the batches.
type BucketSampler struct {
	Lengths []int // of all examples
	Batch   int   // examples a batch, 1 or more
	Group   int   // batches that are sorted together, 1 or more
	Seed    uint64
}

// Len is the number of batches, the last ones not full.
func (s BucketSampler) Len() int {
	if s.Batch < 1 || s.Group < 1 {
		array.Failf("bucket_sampler", "Batch", "and Group are %d and %d, want 1 or more", s.Batch, s.Group)
	}
	return (len(s.Lengths) + s.batch() - 1) / s.batch()
}

// batch is the number of examples of a batch: products of larger numbers could overflow.
func (s BucketSampler) batch() int { return min(s.Batch, max(1, len(s.Lengths))) }

// Batches returns other batches every epoch.
func (s BucketSampler) Batches(epoch int) [][]int64 {
	count := s.Len()
	order := inOrder("bucket_sampler", len(s.Lengths))
	shuffle(order, s.Seed, epoch)
	batch := s.batch()
	size := batch * min(s.Group, max(1, count))
	for from := 0; from < len(order); from += size {
		group := order[from:min(from+size, len(order))]
		sort.SliceStable(group, func(i, j int) bool { return s.Lengths[group[i]] < s.Lengths[group[j]] })
	}
	places := inOrder("bucket_sampler", count)
	shuffle(places, s.Seed+1, epoch)
	batches := make([][]int64, count)
	for i, k := range places {
		batches[i] = order[int(k)*batch : min((int(k)+1)*batch, len(order))]
	}
	return batches
}
