package data

import (
	"context"
	"errors"
	"iter"

	"weft"
	"weft/internal/array"
)

// NewStreamLoader returns a loader of items that come one after the other, such as lines of a file or
// records of a connection, at the first batch of epoch 0. open begins an epoch; its sequence is read by
// one goroutine at a time, and workers call collate. An error of the sequence is that of its item, and
// ends the epoch. Len is -1; [LoaderOf.Seek] reads past the items before the position. It panics with
// *weft.Error if a function is nil, or an option is out of range or chooses an order.
func NewStreamLoader[B, T any](open func(epoch int) iter.Seq2[T, error], collate func(items []T) (B, error), opts ...LoaderOpts) *LoaderOf[B] {
	o := array.Options("loader", opts)
	array.Given("loader", "open", open != nil)
	array.Given("loader", "collate", collate != nil)
	if o.Shuffle || o.Sampler != nil || o.BatchSampler != nil {
		array.Failf("loader", "Shuffle", "and samplers choose an order, which a stream has already")
	}
	s := stream[T]{open: open, size: o.batchSize(), dropLast: o.DropLast}
	return newLoader(o, source[B]{func() int { return -1 }, func(epoch, first int) (func(context.Context) func(context.Context) (B, error), func()) {
		next, stop := iter.Pull2(open(epoch))
		r := streamReader[T]{stream: s, next: next, skip: first * s.size}
		k := first - 1
		return func(ctx context.Context) func(context.Context) (B, error) {
			items, err := r.batch(ctx)
			switch {
			case err != nil:
				return func(context.Context) (b B, _ error) { return b, err }
			case items == nil:
				return nil
			}
			k++
			index := k
			return func(context.Context) (B, error) {
				b, err := collate(items)
				setPosition(&b, epoch, index)
				return b, err
			}
		}, stop
	}})
}

type stream[T any] struct {
	open     func(epoch int) iter.Seq2[T, error]
	size     int
	dropLast bool
}

// A streamReader makes batches of the items of an epoch.
type streamReader[T any] struct {
	stream[T]
	next func() (T, error, bool)
	skip int // items before the first batch
	read int // items so far
}

// batch returns the items of the next batch, nil at the end.
func (s *streamReader[T]) batch(ctx context.Context) (items []T, err error) {
	for len(items) < s.size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		item, err, ok := s.next()
		if !ok {
			break
		}
		if err != nil {
			return nil, numbered(s.read, err)
		}
		if s.read++; s.read > s.skip {
			items = append(items, item)
		}
	}
	if s.dropLast && len(items) < s.size {
		return nil, nil
	}
	return items, nil
}

// Shuffled gives the items of a sequence in random order, as far as a buffer of some items allows: each
// item is drawn of those in the buffer, and the next one takes its place. The order depends on the seed
// and the epoch. It panics with *weft.Error if open is nil or the size is less than 1.
func Shuffled[T any](open func(epoch int) iter.Seq2[T, error], size int, seed uint64) func(epoch int) iter.Seq2[T, error] {
	array.Given("shuffled", "open", open != nil)
	if size < 1 {
		array.Failf("shuffled", "size", "is %d, want 1 or more", size)
	}
	return func(epoch int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			r := newDraws(seed, epoch)
			var buffer []T
			for item, err := range open(epoch) {
				if err != nil {
					yield(item, err)
					return
				}
				if len(buffer) < size {
					buffer = append(buffer, item)
					continue
				}
				i := below(r, size)
				if !yield(buffer[i], nil) {
					return
				}
				buffer[i] = item
			}
			for len(buffer) > 0 {
				i, last := below(r, len(buffer)), len(buffer)-1
				item := buffer[i]
				buffer[i], buffer = buffer[last], buffer[:last]
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// MapStream gives what f makes of the items of a sequence, in their order. Goroutines, workers in number and
// at least 1, call f at once, and each holds a result ready. The generator of an item is a function of the seed, the epoch
// and the number of the item, as in [MapRandom]. An error of f is that of its item, and ends the epoch. It
// panics with *weft.Error if a function is nil or workers less than 1.
func MapStream[T, U any](open func(epoch int) iter.Seq2[T, error], workers int, seed uint64, f func(item T, g *weft.Generator) (U, error)) func(epoch int) iter.Seq2[U, error] {
	array.Given("map_stream", "open", open != nil)
	array.Given("map_stream", "f", f != nil)
	if workers < 1 {
		array.Failf("map_stream", "workers", "is %d, want 1 or more", workers)
	}
	return func(epoch int) iter.Seq2[U, error] {
		return func(yield func(U, error) bool) {
			l := newLoader(LoaderOpts{Workers: workers}, source[U]{func() int { return -1 }, func(epoch, _ int) (func(context.Context) func(context.Context) (U, error), func()) {
				next, stop := iter.Pull2(open(epoch))
				k := -1
				return func(context.Context) func(context.Context) (U, error) {
					item, err, ok := next()
					if !ok {
						return nil
					}
					k++
					k := k
					return func(context.Context) (out U, _ error) {
						if err == nil {
							out, err = tried(item, func() (U, error) { return f(item, itemGenerator(seed, epoch, k)) })
						}
						return out, numbered(k, err)
					}
				}, stop
			}})
			l.Seek(epoch, 0)
			l.Batches(context.Background())(yield)
		}
	}
}

// numbered returns an error as that of an item, if it is not one already.
func numbered(k int, err error) error {
	if err == nil || errors.As(err, new(*ItemError)) {
		return err
	}
	return &ItemError{k, err}
}
