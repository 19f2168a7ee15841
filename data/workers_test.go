package data_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weft"
	"weft/data"
)

// A record is an item of several fields, and records its batch.
type record struct {
	X     *weft.Tensor
	Label int
	Name  string
}

type recordBatch struct {
	X, Label *weft.Tensor
	Name     []string
}

// recordsOf is a dataset of n records.
func recordsOf(n int, hook func(i int) error) data.DatasetOf[record] {
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	return data.Map(data.Items(places), func(i int) (record, error) {
		if hook != nil {
			if err := hook(i); err != nil {
				return record{}, err
			}
		}
		return record{weft.FromSlice([]float32{float32(i), float32(-i)}), i, fmt.Sprint("r", i)}, nil
	})
}

// labels returns the labels of the rest of an epoch by batch.
func labels(t *testing.T, l *data.LoaderOf[recordBatch]) (out [][]int64) {
	t.Helper()
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, weft.Data[int64](b.Label))
		for i, x := range weft.Data[int64](b.Label) {
			if b.Name[i] != fmt.Sprint("r", x) || b.X.At(i, 1).Item() != float64(-x) {
				t.Fatalf("record %d is %s with %v", x, b.Name[i], b.X)
			}
		}
	}
	return out
}

// TestWorkersGiveTheSameBatches reads with several numbers of workers while examples take different
// times: the batches are the same, in the same order.
func TestWorkersGiveTheSameBatches(t *testing.T) {
	read := func(workers int, prefetch *int) (out [][]int64) {
		synctest.Test(t, func(t *testing.T) {
			d := recordsOf(50, func(i int) error { time.Sleep(time.Duration(i*i%7) * time.Millisecond); return nil })
			l := data.NewLoaderOf(d, data.Collate[recordBatch], data.LoaderOpts{Batch: new(4), Shuffle: true, Seed: 3, Workers: workers, Prefetch: prefetch})
			out = append(labels(t, l), labels(t, l)...)
		})
		return out
	}
	want := read(0, new(0))
	if len(want) != 26 {
		t.Fatalf("%d batches, want 26", len(want))
	}
	for _, workers := range []int{0, 1, 2, 3, 8, 100} {
		for _, prefetch := range []*int{nil, new(0), new(1), new(5)} {
			if got := read(workers, prefetch); !equal(got, want) {
				t.Errorf("%d workers: %v, want %v", workers, got, want)
			}
		}
	}
}

// TestWorkersWorkAtOnce measures in simulated time: eight workers take an eighth of the time of one, and
// no more batches are read than may wait while the loop is slow.
func TestWorkersWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reading, most, read atomic.Int64
		d := recordsOf(64, func(int) error {
			n := reading.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(2 * time.Millisecond)
			reading.Add(-1)
			read.Add(1)
			return nil
		})
		begin := time.Now()
		labels(t, data.NewLoaderOf(d, data.Collate[recordBatch], data.LoaderOpts{Workers: 8}))
		if took := time.Since(begin); took != 16*time.Millisecond || most.Load() != 8 {
			t.Errorf("%v with %d at once, want 16ms with 8", took, most.Load())
		}
		read.Store(0)
		n := 0
		for _, err := range data.NewLoaderOf(d, data.Collate[recordBatch], data.LoaderOpts{Workers: 3, Prefetch: new(4)}).Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			time.Sleep(time.Second)
			if ahead := int(read.Load()) - n; ahead > 4 {
				t.Fatalf("%d batches wait, want 4 at most", ahead)
			}
		}
	})
}

// TestWorkersFail holds how reading ends: by the first error in order with its example, by a panic of a
// worker in the loop, by Goexit, by a break and by a context, each with no goroutine left.
func TestWorkersFail(t *testing.T) {
	boom := errors.New("boom")
	for _, workers := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) { // fails if goroutines are left
			opts := data.LoaderOpts{Batch: new(2), Workers: workers}
			// Example 9 fails long before example 5, which comes first.
			d := recordsOf(20, func(i int) error {
				switch i {
				case 5:
					time.Sleep(time.Hour)
					return boom
				case 9:
					return errors.New("later")
				}
				return nil
			})
			l := data.NewLoaderOf(d, data.Collate[recordBatch], opts)
			n := 0
			for _, err := range l.Batches(t.Context()) {
				var e *data.ItemError
				if n++; n == 3 && (!errors.As(err, &e) || e.Index != 5 || !errors.Is(err, boom)) || n < 3 && err != nil || n > 3 {
					t.Errorf("%d workers, batch %d: error %v", workers, n, err)
				}
			}
			if n != 3 || l.Next() != 2 {
				t.Errorf("%d workers: %d batches, at %d", workers, n, l.Next())
			}
			panics := func(hook func(i int) error) (v any) {
				defer func() {
					if p := recover(); p != nil {
						v = p
					}
				}()
				for _, err := range data.NewLoaderOf(recordsOf(20, hook), data.Collate[recordBatch], opts).Batches(t.Context()) {
					if err != nil {
						return err
					}
				}
				return nil
			}
			if got := panics(func(i int) error { panic(fmt.Sprint("broken ", i/2)) }); got != "broken 0" {
				t.Errorf("%d workers: panicked with %v", workers, got)
			}
			if err, ok := panics(func(i int) error { runtime.Goexit(); return nil }).(error); !ok || err.Error() != "data: the dataset called runtime.Goexit" {
				t.Errorf("%d workers: %v", workers, err)
			}
			for range data.NewLoaderOf(recordsOf(20, nil), data.Collate[recordBatch], opts).Batches(t.Context()) {
				break
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			slow := recordsOf(20, func(i int) error { time.Sleep(300 * time.Millisecond); return nil })
			var last error
			for _, err := range data.NewLoaderOf(slow, data.Collate[recordBatch], data.LoaderOpts{Workers: workers}).Batches(ctx) {
				if last = err; err == nil {
					time.Sleep(200 * time.Millisecond)
				}
			}
			if !errors.Is(last, context.DeadlineExceeded) {
				t.Errorf("%d workers: a context that ended gives %v", workers, last)
			}
		})
	}
}

// TestStream batches items that come one after the other, goes on from a position, and ends by the error
// of an item.
func TestStream(t *testing.T) {
	open := func(epoch int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range 10 {
				if epoch == 2 && i == 7 {
					yield(0, errors.New("broken line"))
					return
				}
				if !yield(100*epoch+i, nil) {
					return
				}
			}
		}
	}
	for _, workers := range []int{0, 1, 3} {
		l := data.NewStreamLoader(open, data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(4), Workers: workers, Prefetch: new(workers)})
		rest := func() (out [][]int64, err error) {
			for b, err := range l.Batches(t.Context()) {
				if err != nil {
					return out, err
				}
				out = append(out, weft.Data[int64](b))
			}
			return out, nil
		}
		got, err := rest()
		if err != nil || !equal(got, [][]int64{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}) || l.Len() != -1 || l.Epoch() != 1 {
			t.Errorf("%d workers: %v, %v, epoch %d", workers, got, err, l.Epoch())
		}
		l.Seek(1, 1)
		if got, err = rest(); err != nil || !equal(got, [][]int64{{104, 105, 106, 107}, {108, 109}}) {
			t.Errorf("%d workers, from batch 1: %v, %v", workers, got, err)
		}
		var e *data.ItemError
		if got, err = rest(); len(got) != 1 || !errors.As(err, &e) || e.Index != 7 || l.Next() != 1 {
			t.Errorf("%d workers, a broken item: %v, %v, at %d", workers, got, err, l.Next())
		}
	}
	l := data.NewStreamLoader(data.Shuffled(open, 4, 1), data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(10)})
	for b, err := range l.Batches(t.Context()) {
		x := weft.Data[int64](b)
		if err != nil || slices.IsSorted(x) || !slices.Equal(slices.Sorted(slices.Values(x)), []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("shuffled: %v, %v", x, err)
		}
	}
}

// TestCollateErrors names the field and the item.
func TestCollateErrors(t *testing.T) {
	type other struct{ X, Label *weft.Tensor }
	one, two := record{X: weft.Ones(1)}, record{X: weft.Ones(2)}
	_, shapes := data.Collate[recordBatch]([]record{one, two})
	_, missing := data.Collate[struct{ Y *weft.Tensor }]([]record{one})
	_, kind := data.Collate[[]int]([]record{one})
	_, null := data.Collate[other]([]*record{&one, nil})
	_, empty := data.Collate[other]([]record{{}})
	_, lengths := data.Collate[*weft.Tensor]([][]float64{{1}, {1, 2}})
	for want, err := range map[string]error{
		"data: collate: field X: item 1 of the batch is float32[2], item 0 float32[1]": shapes,
		"data: collate: items of type data_test.record have no field Y":                missing,
		"data: collate: []int cannot be made of items of type data_test.record":        kind,
		"data: collate: item 1 of the batch is nil":                                    null,
		"data: collate: field X: item 0 of the batch is nil":                           empty,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if lengths == nil {
		t.Error("slices of several lengths are a tensor")
	}
	batch, err := data.Collate[struct{ X []*weft.Tensor }]([]record{one, two})
	if err != nil || len(batch.X) != 2 || batch.X[1] != two.X {
		t.Errorf("tensors of several shapes: %v, %v", batch, err)
	}
}

// TestOneLoopAtATime: sixteen goroutines that loop over one loader get each batch once, or are refused,
// while others read its position.
func TestOneLoopAtATime(t *testing.T) {
	l := data.NewLoaderOf(recordsOf(64, nil), data.Collate[recordBatch], data.LoaderOpts{Workers: 2})
	var got, refused atomic.Int64
	var all sync.WaitGroup
	loop := func() error {
		return weft.Try(func() {
			for _, err := range l.Batches(t.Context()) {
				if err != nil {
					t.Error(err)
				}
				got.Add(1)
				if err := weft.Try(func() {
					for range l.Batches(t.Context()) {
						t.Error("a loop in the loop")
					}
				}); err != nil {
					refused.Add(1)
				}
			}
		})
	}
	for range 16 {
		all.Go(func() {
			if err := loop(); err != nil {
				refused.Add(1)
			}
			l.State()
		})
	}
	all.Wait()
	if n := got.Load(); n%64 != 0 || l.Epoch() != int(n/64) || l.Next() != 0 || refused.Load() < n {
		t.Errorf("%d batches, %d loops refused, at %d of epoch %d", n, refused.Load(), l.Next(), l.Epoch())
	}
}

// TestMappedStreamsEnd by a break, an error, a panic of f and a context, each with no goroutine left.
func TestMappedStreamsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if goroutines are left
		closed := 0
		open := func(int) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				defer func() { closed++ }()
				for i := 0; yield(i, nil); i++ {
				}
			}
		}
		mapped := data.MapStream(open, 3, 1, func(i int, _ *weft.Generator) (int, error) {
			time.Sleep(time.Millisecond)
			if i == 30 {
				panic("thirty")
			}
			return i, nil
		})
		for range mapped(0) {
			break
		}
		l := data.NewStreamLoader(mapped, data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(4), Workers: 2})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Millisecond)
		defer cancel()
		var last error
		for _, last = range l.Batches(ctx) {
		}
		if !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("a context that ended gives %v", last)
		}
		l.Seek(0, 0)
		func() {
			defer func() {
				if v := recover(); v != "thirty" {
					t.Errorf("panicked with %v", v)
				}
			}()
			for range l.Batches(t.Context()) {
			}
		}()
		if closed != 3 {
			t.Errorf("%d of 3 sequences ended", closed)
		}
	})
}
