package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"

	"weft"
	"weft/internal/array"
	"weft/internal/mem"
)

// LoaderOpts are the options of a [Loader].
type LoaderOpts struct {
	Batch    *int   // examples a batch, 1 or more; nil means 1
	Shuffle  bool   // another order every epoch
	Seed     uint64 // of the orders
	DropLast bool   // leave out a last batch that is not full
	// Prefetch is how many batches may wait, read ahead by a goroutine of their own. 0 reads
	// each batch when it is asked for; nil means 2.
	Prefetch *int
}

// A Batch is some examples joined along the first axis.
type Batch struct {
	X, Y  *weft.Tensor // Y is nil if the dataset has no targets
	Epoch int
	Index int // of the batch in the epoch
}

// A Loader hands out the batches of a dataset, epoch after epoch. It is not safe
// for use from several goroutines.
type Loader struct {
	d     Dataset
	o     LoaderOpts
	batch int // examples
	ahead int // batches that may wait
	epoch int
	next  int // batch of the epoch
}

// maxPrefetch is the most batches that wait, whatever LoaderOpts.Prefetch says: room for
// them is taken at once.
const maxPrefetch = 1 << 16

// NewLoader returns a loader at the first batch of epoch 0. It panics with
// *weft.Error if the dataset is nil, Batch is less than 1 or Prefetch less than 0.
func NewLoader(d Dataset, opts ...LoaderOpts) *Loader {
	o := array.Options("loader", opts)
	if d == nil {
		array.Failf("loader", "", "the dataset is nil")
	}
	l := &Loader{d: d, o: o, batch: array.Or(o.Batch, 1), ahead: array.Or(o.Prefetch, 2)}
	if l.batch < 1 {
		array.Failf("loader", "Batch", "is %d, want 1 or more", l.batch)
	}
	if l.ahead < 0 {
		array.Failf("loader", "Prefetch", "is %d, want 0 or more", l.ahead)
	}
	return l
}

// Len is the number of batches of an epoch.
func (l *Loader) Len() int {
	n := l.examples()
	if !l.o.DropLast && n%l.batch > 0 {
		return n/l.batch + 1
	}
	return n / l.batch
}

// examples is the length of the dataset.
func (l *Loader) examples() int {
	l.notNil()
	n := l.d.Len()
	if n < 0 {
		array.Failf("loader", "", "the dataset's length is %d", n)
	}
	return n
}

func (l *Loader) notNil() {
	if l == nil || l.d == nil {
		array.Failf("loader", "", "the loader is nil or the zero Loader (NewLoader makes one)")
	}
}

// Epoch and Next are the position: the batch that is handed out next.
func (l *Loader) Epoch() int {
	l.notNil()
	return l.epoch
}

// Next is the number in its epoch of the batch that is handed out next.
func (l *Loader) Next() int {
	l.notNil()
	return l.next
}

// Seek sets the position. The batch may be Len, the end of the epoch. It panics
// with *weft.Error if there is no such position.
func (l *Loader) Seek(epoch, batch int) {
	if epoch < 0 || batch < 0 || batch > l.Len() {
		array.Failf("loader", "", "there is no batch %d of epoch %d: an epoch has %d", batch, epoch, l.Len())
	}
	l.epoch, l.next = epoch, batch
}

// State returns the position, as a part of a checkpoint.
func (l *Loader) State() map[string]*weft.Tensor {
	l.notNil()
	return map[string]*weft.Tensor{"epoch": weft.Scalar(l.epoch), "batch": weft.Scalar(l.next)}
}

// LoadState sets the position to one that State returned.
func (l *Loader) LoadState(state map[string]*weft.Tensor) error {
	l.notNil()
	var at [2]int
	for i, name := range []string{"epoch", "batch"} {
		t := state[name]
		if t == nil || t.DType() != weft.Int64 || t.Size() != 1 {
			return fmt.Errorf("data: state %q is missing or no integer", name)
		}
		at[i] = int(t.ItemInt())
	}
	return weft.Try(func() { l.Seek(at[0], at[1]) })
}

// Batches hands out the batches from the position to the end of its epoch, and
// leaves the position at the start of the next. The position moves on when a
// batch is handed out, so a loop that breaks has used its batch.
//
// An error of the dataset, or of ctx, is handed out once and ends the loop, with
// the position at the batch that failed. A panic of the dataset goes on in the
// loop's goroutine. When the loop ends, however it does, reading ahead has ended
// too: it waits for a Get or Batch in progress, and begins no other.
func (l *Loader) Batches(ctx context.Context) iter.Seq2[Batch, error] {
	l.notNil()
	if ctx == nil {
		array.Failf("loader", "ctx", "is nil: context.Background() is one that never ends")
	}
	return func(yield func(Batch, error) bool) {
		epoch := l.epoch
		next, stop := l.source(ctx)
		defer stop()
		for l.next < l.Len() {
			if err := ctx.Err(); err != nil {
				yield(Batch{}, err)
				return
			}
			b, err := next()
			if err != nil {
				yield(Batch{}, err)
				return
			}
			l.next++
			if !yield(b, nil) {
				return
			}
			if l.epoch != epoch || l.next != b.Index+1 {
				return // the loop called Seek
			}
		}
		l.epoch, l.next = l.epoch+1, 0
	}
}

// A result is a batch read ahead, or how reading it ended.
type result struct {
	b        Batch
	err      error
	panicked bool
	value    any
}

// source returns a function that returns the batches from the position on, one a
// call, and one that ends it.
func (l *Loader) source(ctx context.Context) (next func() (Batch, error), stop func()) {
	order := l.order(l.epoch)
	epoch, first, last := l.epoch, l.next, l.Len()
	read := func(k int) (Batch, error) {
		index := order[k*l.batch : min((k+1)*l.batch, len(order))]
		x, y, err := join(ctx, l.d, index)
		return Batch{x, y, epoch, k}, err
	}
	if l.ahead == 0 {
		k := first - 1
		return func() (Batch, error) { k++; return read(k) }, func() {}
	}
	results := make(chan result, min(l.ahead, maxPrefetch, max(last-first, 0)))
	ctx, quit := context.WithCancel(ctx) // between examples too
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for k := first; k < last; k++ {
			r := guarded(read, k)
			select {
			case results <- r:
			case <-ctx.Done():
				return
			}
			if r.err != nil || r.panicked || ctx.Err() != nil {
				return
			}
		}
	}()
	take := func(r result) (Batch, error) {
		if r.panicked {
			panic(r.value)
		}
		return r.b, r.err
	}
	next = func() (Batch, error) {
		select {
		case r := <-results:
			return take(r)
		case <-ctx.Done(): // also if the dataset is in the middle of an example
			return Batch{}, ctx.Err()
		case <-ended:
			select {
			case r := <-results:
				return take(r)
			default:
				return Batch{}, errors.New("data: the dataset called runtime.Goexit")
			}
		}
	}
	return next, func() { quit(); <-ended }
}

// guarded reads a batch and catches a panic.
func guarded(read func(k int) (Batch, error), k int) (r result) {
	r.panicked = true
	defer func() {
		if r.panicked {
			r.value = recover()
		}
	}()
	r.b, r.err = read(k)
	r.panicked = false
	return r
}

// order returns the order of the examples in an epoch.
func (l *Loader) order(epoch int) []int64 {
	n := l.examples()
	if err := mem.CheckHeap(8 * min(n, math.MaxInt/8)); err != nil {
		panic(&weft.Error{Kind: weft.OutOfMemory, Op: "loader", Msg: fmt.Sprintf("the order of %d examples does not fit in memory", n), Err: err})
	}
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	if l.o.Shuffle {
		// Fisher and Yates's shuffle. The bound on the index is Lemire's, written
		// out: an order must not change with the Go release.
		r := rand.NewPCG(l.o.Seed, uint64(epoch))
		for i := len(order) - 1; i > 0; i-- {
			j, _ := bits.Mul64(r.Uint64(), uint64(i+1))
			order[i], order[j] = order[j], order[i]
		}
	}
	return order
}
