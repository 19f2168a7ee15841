package data

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
)

// LoaderOpts are the options of a [Loader].
type LoaderOpts struct {
	Batch    *int   // examples a batch, 1 or more; nil means 1
	Shuffle  bool   // another order every epoch
	Seed     uint64 // of the orders
	DropLast bool   // leave out a last batch that is not full
	// Sampler chooses the examples of an epoch and their order. It goes without Shuffle.
	Sampler Sampler
	// BatchSampler chooses the examples of each batch. It goes without Batch, Shuffle, DropLast and
	// Sampler.
	BatchSampler BatchSampler
	// Workers is how many goroutines read batches at once, 0 or more. Batches and their order are the
	// same for any number. From 2 on the methods of the dataset are called by several goroutines at
	// once, and must be safe for that. 0 means 1, or none if Prefetch is 0.
	Workers int
	// Prefetch is how many batches may be read ahead, by goroutines of their own. 0 without Workers
	// reads each batch when it is asked for; nil means 2 for each worker.
	Prefetch *int
}

// A Batch is some examples joined along the first axis.
type Batch struct {
	X, Y  *weft.Tensor // Y is nil if the dataset has no targets
	Epoch int
	Index int // of the batch in the epoch
}

// A Loader hands out the batches of a [Dataset], inputs and targets, epoch after epoch.
type Loader = LoaderOf[Batch]

// A LoaderOf hands out batches of type B, epoch after epoch. One loop at a time runs over it; its position
// may be read meanwhile, by any goroutine.
type LoaderOf[B any] struct {
	from    source[B]
	workers int
	ahead   int // batches that may wait
	looping atomic.Bool

	mu sync.Mutex
	at position
}

// A position is the batch that is handed out next.
type position struct{ epoch, batch int }

func (l *LoaderOf[B]) position() position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *LoaderOf[B]) move(to position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = to
}

// A source gives the batches of an epoch as tasks, which workers run.
type source[B any] struct {
	// length is the number of batches of an epoch, and -1 where it is not known before the end.
	length func() int
	// tasks returns a function that returns task after task from a batch on, nil at the end, and one
	// that ends it. Both are called by one goroutine.
	tasks func(epoch, first int) (next func(ctx context.Context) func(ctx context.Context) (B, error), stop func())
}

// maxPrefetch is the most batches that wait, whatever LoaderOpts.Prefetch says: room for
// them is taken at once.
const maxPrefetch = 1 << 16

// NewLoader returns a loader at the first batch of epoch 0. It panics with *weft.Error if the dataset
// is nil, Batch is less than 1, Prefetch or Workers less than 0, or options exclude each other.
func NewLoader(d Dataset, opts ...LoaderOpts) *Loader {
	o := array.Options("loader", opts)
	array.Given("loader", "d", d != nil)
	return newLoader(o, indexed(o, d.Len, func(ctx context.Context, epoch, k int, index []int64) (Batch, error) {
		x, y, err := join(ctx, d, index)
		return Batch{x, y, epoch, k}, err
	}))
}

// NewLoaderOf returns a loader of a dataset with items of any type, at the first batch of epoch 0.
// collate makes a batch of items, [Collate] for tensors, numbers, strings and structs of them; workers
// call it. With batches of type [Batch], whose Epoch and Index it sets, it is a [Loader]:
//
//	loader := data.NewLoaderOf(examples, data.Collate[data.Batch, data.Example], data.LoaderOpts{Batch: new(64)})
//
// It panics with *weft.Error as [NewLoader] does.
func NewLoaderOf[B, T any](d DatasetOf[T], collate func(items []T) (B, error), opts ...LoaderOpts) *LoaderOf[B] {
	o := array.Options("loader", opts)
	array.Given("loader", "d", d != nil)
	array.Given("loader", "collate", collate != nil)
	get := getter(d)
	return newLoader(o, indexed(o, d.Len, func(ctx context.Context, epoch, k int, index []int64) (b B, err error) {
		items := make([]T, len(index))
		for i, item := range index {
			if err := ctx.Err(); err != nil {
				return b, err
			}
			if items[i], err = get(epoch, int(item)); err != nil {
				return b, &ItemError{int(item), err}
			}
		}
		b, err = collate(items)
		setPosition(&b, epoch, k)
		return b, ofItem(err, index)
	}))
}

// setPosition sets the position of a [Batch], and nothing of other batches.
func setPosition[B any](b *B, epoch, index int) {
	if b, ok := any(b).(*Batch); ok {
		b.Epoch, b.Index = epoch, index
	}
}

func newLoader[B any](o LoaderOpts, from source[B]) *LoaderOf[B] {
	l := &LoaderOf[B]{from: from, workers: o.Workers}
	if l.workers < 0 {
		array.Failf("loader", "Workers", "is %d, want 0 or more", l.workers)
	}
	l.ahead = array.Or(o.Prefetch, 2*min(max(l.workers, 1), maxPrefetch))
	if l.ahead < 0 {
		array.Failf("loader", "Prefetch", "is %d, want 0 or more", l.ahead)
	}
	if l.workers == 0 && l.ahead > 0 {
		l.workers = 1
	}
	return l
}

// batchSize is the option Batch.
func (o *LoaderOpts) batchSize() int {
	n := array.Or(o.Batch, 1)
	if n < 1 {
		array.Failf("loader", "Batch", "is %d, want 1 or more", n)
	}
	return n
}

// indexed is the source of batches that read makes of the places of examples.
func indexed[B any](o LoaderOpts, length func() int, read func(ctx context.Context, epoch, k int, index []int64) (B, error)) source[B] {
	size := o.batchSize()
	if o.Sampler != nil && o.Shuffle || o.BatchSampler != nil && (o.Batch != nil || o.Shuffle || o.DropLast || o.Sampler != nil) {
		array.Failf("loader", "Sampler", "chooses the order, and BatchSampler the batches: leave out the options that do so too")
	}
	count := func() int {
		n := length()
		if n < 0 {
			array.Failf("loader", "", "the dataset's length is %d", n)
		}
		return n
	}
	batches := func() int {
		n := 0
		switch {
		case o.BatchSampler != nil:
			return o.BatchSampler.Len()
		case o.Sampler != nil:
			n = o.Sampler.Len()
		default:
			n = count()
		}
		if !o.DropLast && n%size > 0 {
			return n/size + 1
		}
		return n / size
	}
	return source[B]{batches, func(epoch, first int) (func(context.Context) func(context.Context) (B, error), func()) {
		all, last := count(), batches()
		var lists [][]int64
		var order []int64
		switch {
		case o.BatchSampler != nil:
			lists = o.BatchSampler.Batches(epoch)
		case o.Sampler != nil:
			order = o.Sampler.Order(epoch)
		default:
			order = inOrder("loader", all)
			if o.Shuffle {
				shuffle(order, o.Seed, epoch)
			}
		}
		k := first - 1
		return func(context.Context) func(context.Context) (B, error) {
			if k++; k >= last {
				return nil
			}
			k := k
			return func(ctx context.Context) (b B, err error) {
				var index []int64
				switch {
				case lists == nil && k*size < len(order):
					index = order[k*size : min((k+1)*size, len(order))]
				case k < len(lists):
					index = lists[k]
				default:
					return b, fmt.Errorf("data: the sampler chose %d examples, fewer than its length", len(order)+len(lists))
				}
				for _, i := range index {
					if i < 0 || i >= int64(all) {
						return b, &ItemError{int(i), fmt.Errorf("the dataset has %d", all)}
					}
				}
				return read(ctx, epoch, k, index)
			}
		}, func() {}
	}}
}

// Len is the number of batches of an epoch, and -1 where a stream does not know it.
func (l *LoaderOf[B]) Len() int {
	l.notNil()
	return l.from.length()
}

func (l *LoaderOf[B]) notNil() {
	if l == nil || l.from.length == nil {
		array.Failf("loader", "", "the loader is nil or the zero Loader (NewLoader makes one)")
	}
}

// Epoch and Next are the position: the batch that is handed out next.
func (l *LoaderOf[B]) Epoch() int {
	l.notNil()
	return l.position().epoch
}

// Next is the number in its epoch of the batch that is handed out next.
func (l *LoaderOf[B]) Next() int {
	l.notNil()
	return l.position().batch
}

// Seek sets the position. The batch may be Len, the end of the epoch. It panics
// with *weft.Error if there is no such position.
func (l *LoaderOf[B]) Seek(epoch, batch int) {
	if n := l.Len(); epoch < 0 || batch < 0 || n >= 0 && batch > n {
		array.Failf("loader", "", "there is no batch %d of epoch %d: an epoch has %d", batch, epoch, l.Len())
	}
	l.move(position{epoch, batch})
}

// State returns the position, as a part of a checkpoint.
func (l *LoaderOf[B]) State() map[string]*weft.Tensor {
	l.notNil()
	p := l.position()
	return map[string]*weft.Tensor{"epoch": weft.Scalar(p.epoch), "batch": weft.Scalar(p.batch)}
}

// LoadState sets the position to one that State returned.
func (l *LoaderOf[B]) LoadState(state map[string]*weft.Tensor) error {
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
// the position at the batch that failed: the first one in order, whatever workers
// did behind it. An error of an example is an *[ItemError]. A panic of the dataset goes on in the
// loop's goroutine. When the loop ends, however it does, reading ahead has ended
// too: it waits for a Get or Batch in progress, and begins no other. It panics with *weft.Error if another
// loop runs over the loader.
func (l *LoaderOf[B]) Batches(ctx context.Context) iter.Seq2[B, error] {
	l.notNil()
	if ctx == nil {
		array.Failf("loader", "ctx", "is nil: context.Background() is one that never ends")
	}
	return func(yield func(B, error) bool) {
		if !l.looping.CompareAndSwap(false, true) {
			array.Failf("loader", "", "another loop runs over the loader: give each its own")
		}
		defer l.looping.Store(false)
		var none B
		at := l.position()
		next, stop := l.read(ctx, at)
		defer stop()
		for n := l.Len(); n < 0 || at.batch < n; n = l.Len() {
			if err := ctx.Err(); err != nil {
				yield(none, err)
				return
			}
			b, ok, err := next()
			if err != nil {
				yield(none, err)
				return
			}
			if !ok {
				break
			}
			at.batch++
			l.move(at)
			if !yield(b, nil) {
				return
			}
			if l.position() != at {
				return // the loop called Seek
			}
		}
		l.move(position{at.epoch + 1, 0})
	}
}

// String returns the workers and the position.
func (l *LoaderOf[B]) String() string {
	at := l.position()
	return array.Describe("data.Loader", "Workers", l.workers, "Ahead", l.ahead, "Epoch", at.epoch, "Batch", at.batch)
}
