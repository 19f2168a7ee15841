package data_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/data"
)

// numbers is a dataset of n examples: i as input, 10*i as target. hook runs in
// each Get.
type numbers struct {
	n    int
	hook func(i int) error
}

func (d numbers) Len() int { return d.n }

func (d numbers) Get(i int) (x, y *weft.Tensor, err error) {
	if d.hook != nil {
		if err := d.hook(i); err != nil {
			return nil, nil, err
		}
	}
	return weft.Scalar(i), weft.Scalar(10 * i), nil
}

// epoch returns the inputs of the rest of an epoch, batch by batch.
func epoch(t *testing.T, l *data.Loader) [][]int64 {
	t.Helper()
	var out [][]int64
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		x := weft.Data[int64](b.X)
		for i, y := range weft.Data[int64](b.Y) {
			if y != 10*x[i] {
				t.Fatalf("example %d has target %d", x[i], y)
			}
		}
		out = append(out, x)
	}
	return out
}

func equal(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal) }

func TestLoaderOrder(t *testing.T) {
	for _, prefetch := range []int{0, 1, 2, 5} {
		l := data.NewLoader(numbers{n: 7}, data.LoaderOpts{Batch: new(3), Prefetch: new(prefetch)})
		if got := epoch(t, l); !equal(got, [][]int64{{0, 1, 2}, {3, 4, 5}, {6}}) || l.Len() != 3 || l.Epoch() != 1 || l.Next() != 0 {
			t.Errorf("%v, at epoch %d batch %d", got, l.Epoch(), l.Next())
		}
		l = data.NewLoader(numbers{n: 7}, data.LoaderOpts{Batch: new(3), DropLast: true, Prefetch: new(prefetch)})
		if got := epoch(t, l); !equal(got, [][]int64{{0, 1, 2}, {3, 4, 5}}) || l.Len() != 2 {
			t.Errorf("without the last: %v", got)
		}
	}
	if got := epoch(t, data.NewLoader(numbers{}, data.LoaderOpts{})); got != nil {
		t.Errorf("an empty dataset gives %v", got)
	}
}

func TestShuffle(t *testing.T) {
	const n = 100
	l := data.NewLoader(numbers{n: n}, data.LoaderOpts{Batch: new(8), Shuffle: true, Seed: 3})
	var epochs [][]int64
	for range 3 {
		epochs = append(epochs, slices.Concat(epoch(t, l)...))
	}
	for i, e := range epochs {
		s := slices.Sorted(slices.Values(e))
		for k := range n {
			if s[k] != int64(k) {
				t.Fatalf("epoch %d is not a permutation: %v", i, e)
			}
		}
		if slices.IsSorted(e) || i > 0 && slices.Equal(e, epochs[i-1]) {
			t.Errorf("epoch %d: %v", i, e)
		}
	}
	same := data.NewLoader(numbers{n: n}, data.LoaderOpts{Batch: new(8), Shuffle: true, Seed: 3, Prefetch: new(0)})
	if !slices.Equal(slices.Concat(epoch(t, same)...), epochs[0]) {
		t.Error("the same seed gives another order")
	}
	other := data.NewLoader(numbers{n: n}, data.LoaderOpts{Batch: new(8), Shuffle: true, Seed: 4})
	if slices.Equal(slices.Concat(epoch(t, other)...), epochs[0]) {
		t.Error("another seed gives the same order")
	}
}

// TestShuffleUniform counts where each example lands.
func TestShuffleUniform(t *testing.T) {
	const n, epochs = 5, 2000
	l := data.NewLoader(numbers{n: n}, data.LoaderOpts{Batch: new(n), Shuffle: true, Prefetch: new(0)})
	var count [n][n]int
	for range epochs {
		for i, x := range epoch(t, l)[0] {
			count[i][x]++
		}
	}
	for i := range n {
		for x := range n {
			if c := count[i][x]; c < 300 || c > 500 { // 400, five standard deviations are 90
				t.Errorf("example %d is at place %d %d times of %d", x, i, c, epochs)
			}
		}
	}
}

func TestResume(t *testing.T) {
	o := data.LoaderOpts{Batch: new(4), Shuffle: true, Seed: 9}
	whole := data.NewLoader(numbers{n: 30}, o)
	want := slices.Concat(epoch(t, whole), epoch(t, whole))

	l := data.NewLoader(numbers{n: 30}, o)
	var got [][]int64
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, weft.Data[int64](b.X))
		if b.Index == 4 {
			break
		}
	}
	if l.Epoch() != 0 || l.Next() != 5 {
		t.Fatalf("after a break at batch 4 the position is %d, %d", l.Epoch(), l.Next())
	}
	second := data.NewLoader(numbers{n: 30}, o)
	if err := second.LoadState(l.State()); err != nil {
		t.Fatal(err)
	}
	got = append(got, epoch(t, second)...)
	got = append(got, epoch(t, second)...)
	if !equal(got, want) {
		t.Errorf("resumed\n%v, want\n%v", got, want)
	}
	for _, s := range []map[string]*weft.Tensor{{}, {"epoch": weft.Scalar(0), "batch": weft.Scalar(99)}, {"epoch": weft.Scalar(-1), "batch": weft.Scalar(0)}} {
		if second.LoadState(s) == nil {
			t.Errorf("state %v is taken", s)
		}
	}
}

func TestDatasetErrors(t *testing.T) {
	boom := errors.New("boom")
	for _, prefetch := range []int{0, 2} {
		d := numbers{n: 10, hook: func(i int) error {
			if i == 5 {
				return boom
			}
			return nil
		}}
		l := data.NewLoader(d, data.LoaderOpts{Batch: new(2), Prefetch: new(prefetch)})
		n, failures := 0, 0
		for _, err := range l.Batches(t.Context()) {
			if err != nil {
				failures++
				if !errors.Is(err, boom) {
					t.Errorf("error %v", err)
				}
			} else {
				n++
			}
		}
		if n != 2 || failures != 1 || l.Next() != 2 || l.Epoch() != 0 {
			t.Errorf("prefetch %d: %d batches, %d errors, at batch %d", prefetch, n, failures, l.Next())
		}
	}
}

func TestDatasetPanics(t *testing.T) {
	for _, prefetch := range []int{0, 2} {
		l := data.NewLoader(numbers{n: 10, hook: func(i int) error { panic("broken dataset") }}, data.LoaderOpts{Prefetch: new(prefetch)})
		got := func() (v any) {
			defer func() { v = recover() }()
			for range l.Batches(t.Context()) {
			}
			return nil
		}()
		if got != "broken dataset" {
			t.Errorf("prefetch %d: panicked with %v", prefetch, got)
		}
	}
	l := data.NewLoader(numbers{n: 10, hook: func(i int) error { runtime.Goexit(); return nil }}, data.LoaderOpts{})
	for _, err := range l.Batches(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "Goexit") {
			t.Errorf("error %v", err)
		}
	}
}

// TestCancel ends a loop that waits for a dataset.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := data.NewLoader(numbers{n: 100, hook: func(i int) error {
		if i == 3 {
			cancel()
		}
		return nil
	}}, data.LoaderOpts{})
	n, failures := 0, 0
	for _, err := range l.Batches(ctx) {
		if err != nil {
			failures++
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			continue
		}
		n++
	}
	if failures != 1 || n > 4 || l.Next() != n {
		t.Errorf("%d batches, %d errors, at batch %d", n, failures, l.Next())
	}
}

// TestCancelBetweenExamples cancels, and leaves the loop, in the middle of a batch: no
// further example of it is read.
func TestCancelBetweenExamples(t *testing.T) {
	for _, prefetch := range []int{0, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		read := 0
		l := data.NewLoader(numbers{n: 1000, hook: func(i int) error {
			if read++; read == 37 {
				cancel()
			}
			return nil
		}}, data.LoaderOpts{Batch: new(100), Prefetch: new(prefetch)})
		var failed error
		for _, err := range l.Batches(ctx) {
			failed = errors.Join(failed, err)
		}
		if !errors.Is(failed, context.Canceled) || read != 37 {
			t.Errorf("prefetch %d: %d examples were read, the error is %v; want 37 and one of the context", prefetch, read, failed)
		}
	}
	// Reading ahead ends with the loop, not with its batch.
	read, inSecond := 0, make(chan bool)
	l := data.NewLoader(numbers{n: 1000, hook: func(i int) error {
		if read++; read == 101 {
			close(inSecond)
			time.Sleep(50 * time.Millisecond) // the loop ends meanwhile
		}
		return nil
	}}, data.LoaderOpts{Batch: new(100)})
	for range l.Batches(t.Context()) {
		<-inSecond
		break
	}
	if read > 101 {
		t.Errorf("%d examples were read after the loop", read-101)
	}
}

// TestLoaderLeaksNoGoroutines breaks, fails and panics out of loops: no goroutine may stay.
func TestLoaderLeaksNoGoroutines(t *testing.T) {
	for i := range 50 {
		l := data.NewLoader(numbers{n: 1000}, data.LoaderOpts{Prefetch: new(1 + i%3)})
		func() {
			defer func() { recover() }()
			for b := range l.Batches(t.Context()) {
				if b.Index == i%4 {
					if i%2 == 0 {
						panic("out of the loop")
					}
					break
				}
			}
		}()
	}
	var stacks string
	for range 1000 {
		stacks = goroutines()
		if strings.Count(stacks, "weft/data.") == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines of loaders stay:\n%s", stacks)
}

// goroutines are the stacks of all goroutines.
func goroutines() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// TestPrefetchIsBounded reads ahead no further than the queue.
func TestPrefetchIsBounded(t *testing.T) {
	read := make(chan int, 100)
	l := data.NewLoader(numbers{n: 50, hook: func(i int) error { read <- i; return nil }}, data.LoaderOpts{Prefetch: new(3)})
	for b := range l.Batches(t.Context()) {
		for range 10 {
			runtime.Gosched()
		}
		// The queue, one in the producer's hands and those handed out.
		if n := len(read); n > b.Index+1+3+1 {
			t.Fatalf("%d examples read at batch %d", n, b.Index)
		}
	}
}

func TestTensors(t *testing.T) {
	x := weft.FromSlice([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2).RequireGrad()
	y := weft.FromSlice([]int64{5, 6, 7, 8})
	l := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(3)})
	var xs [][]float32
	var ys [][]int64
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.X.RequiresGrad() {
			t.Error("a batch has a history")
		}
		xs, ys = append(xs, weft.Data[float32](b.X)), append(ys, weft.Data[int64](b.Y))
	}
	if !slices.EqualFunc(xs, [][]float32{{0, 1, 10, 11, 20, 21}, {30, 31}}, slices.Equal) || !equal(ys, [][]int64{{5, 6, 7}, {8}}) {
		t.Errorf("%v %v", xs, ys)
	}
	d := data.Tensors(x, nil)
	if gx, gy, err := d.Get(2); err != nil || gy != nil || !slices.Equal(weft.Data[float32](gx), []float32{20, 21}) {
		t.Errorf("%v %v %v", gx, gy, err)
	}
	if _, _, err := d.Get(4); err == nil {
		t.Error("an example beyond the end")
	}
	if weft.Try(func() { data.Tensors(x, weft.Zeros(3)) }) == nil {
		t.Error("other numbers of rows are taken")
	}
	ragged := data.NewLoader(uneven{}, data.LoaderOpts{Batch: new(2)})
	for _, err := range ragged.Batches(t.Context()) {
		if err == nil {
			t.Error("examples of different shapes are joined")
		}
	}
}

type uneven struct{}

func (uneven) Len() int { return 2 }

func (uneven) Get(i int) (x, y *weft.Tensor, err error) { return weft.Zeros(i + 1), nil, nil }
