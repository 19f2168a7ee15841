package data

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// An ItemError is an error of an example.
type ItemError struct {
	Index int // of the example: in the dataset, or in the epoch of a stream
	Err   error
}

// Error names the example.
func (e *ItemError) Error() string { return fmt.Sprintf("data: example %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }

// A result is a batch read ahead, or how reading it ended.
type result[B any] struct {
	b        B
	err      error
	panicked bool
	value    any
}

// A job is a task and where its result goes. A nil task is the end of the epoch.
type job[B any] struct {
	task func(ctx context.Context) (B, error)
	to   chan result[B] // for one result
}

// read returns a function that returns the batches from a position on, one a call, false at the end,
// and one that ends reading.
//
// One goroutine makes tasks in order and puts each into a queue of the size ahead, where it waits while
// the queue is full. Workers take tasks; each has a place for its result. The loop takes results from the
// front of the queue, so their order is that of the tasks.
func (l *LoaderOf[B]) read(ctx context.Context, from position) (next func() (B, bool, error), stop func()) {
	if l.workers == 0 {
		tasks, end := l.from.tasks(from.epoch, from.batch)
		return func() (b B, ok bool, err error) {
			task := tasks(ctx)
			if task == nil {
				return b, false, nil
			}
			b, err = task(ctx)
			return b, true, err
		}, end
	}
	ctx, quit := context.WithCancel(ctx) // between examples too
	var all sync.WaitGroup
	ahead := max(l.ahead, 1)
	queue := make(chan job[B], min(ahead, maxPrefetch))
	jobs := make(chan job[B])
	all.Go(func() { produce(ctx, l.from, from, queue, jobs) })
	for range min(l.workers, cap(queue)) {
		all.Go(func() {
			for j := range jobs {
				j.run(ctx)
			}
		})
	}
	return func() (b B, ok bool, err error) {
		select {
		case j, open := <-queue:
			if !open {
				return b, false, ctx.Err()
			}
			select {
			case r := <-j.to:
				if r.panicked {
					panic(r.value)
				}
				return r.b, true, r.err
			case <-ctx.Done(): // also if the dataset is in the middle of an example
			}
		case <-ctx.Done():
		}
		return b, false, ctx.Err()
	}, func() { quit(); all.Wait() }
}

// produce makes the tasks of an epoch.
func produce[B any](ctx context.Context, from source[B], at position, queue, jobs chan job[B]) {
	defer close(queue)
	defer close(jobs)
	var tasks func(context.Context) func(context.Context) (B, error)
	// A sampler or a stream may fail in any way: the loop gets that as the result of a batch.
	failed := job[B]{to: make(chan result[B], 1)}
	ok := failed.guarded(func() result[B] {
		var end func()
		tasks, end = from.tasks(at.epoch, at.batch)
		defer end()
		for {
			j := job[B]{tasks(ctx), make(chan result[B], 1)}
			if j.task == nil {
				return result[B]{}
			}
			select {
			case queue <- j:
			case <-ctx.Done():
				return result[B]{}
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return result[B]{}
			}
		}
	}, false)
	if !ok {
		select {
		case queue <- failed:
		case <-ctx.Done():
		}
	}
}

// run runs the task.
func (j *job[B]) run(ctx context.Context) {
	j.guarded(func() (r result[B]) {
		r.b, r.err = j.task(ctx)
		return r
	}, true)
}

// guarded sends the result of f, if send is true, and how f failed if it did. It reports whether f
// returned.
func (j *job[B]) guarded(f func() result[B], send bool) (returned bool) {
	r := result[B]{err: errors.New("data: the dataset called runtime.Goexit")}
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			r = result[B]{panicked: true, value: v}
		}
		j.to <- r
	}()
	r = f()
	returned = true
	if send {
		j.to <- r
	}
	return returned
}
