package data_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	"weft"
	"weft/data"
	"weft/internal/mem"
)

// all returns the items of a dataset.
func all[T any](t *testing.T, d data.DatasetOf[T]) (out []T) {
	t.Helper()
	for i := range d.Len() {
		item, err := d.Get(i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}

func TestViewsOfDatasets(t *testing.T) {
	d := data.Items([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	twice := data.Map(d, func(x int) (int, error) { return 2 * x, nil })
	if got := all(t, data.Concat(data.Subset(d, []int{3, 1, 3}), data.Items[int](nil), twice)); !slices.Equal(got, []int{3, 1, 3, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18}) {
		t.Errorf("%v", got)
	}
	for lengths, want := range map[[3]float64][]int{{5, 3, 2}: {5, 3, 2}, {0.5, 0.25, 0.25}: {6, 2, 2}, {4, 0, 0.2}: {4, 0, 2}} {
		parts := data.RandomSplit(d, lengths[:], 1)
		var whole []int
		for i, p := range parts {
			if p.Len() != want[i] {
				t.Errorf("%v: part %d has %d items, want %d", lengths, i, p.Len(), want[i])
			}
			whole = append(whole, all(t, p)...)
		}
		slices.Sort(whole)
		if len(slices.Compact(whole)) != want[0]+want[1]+want[2] {
			t.Errorf("%v: parts have items in common: %v", lengths, whole)
		}
	}
	e := all(t, data.Examples(data.Tensors(weft.Arange(3), nil)))
	if len(e) != 3 || e[2].X.ItemInt() != 2 || e[2].Y != nil {
		t.Errorf("%v", e)
	}
	for name, f := range map[string]func(){
		"a place behind the end": func() { data.Subset(d, []int{10}) },
		"nil":                    func() { data.Concat(d, nil) },
		"too many":               func() { data.RandomSplit(d, []float64{8, 3}, 1) },
		"a part":                 func() { data.RandomSplit(d, []float64{2.5}, 1) },
		"no function":            func() { data.Map[int, int](d, nil) },
		"no examples":            func() { data.Examples(nil) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// drawn returns the places of an epoch that a loader reads by a sampler.
func drawn(t *testing.T, n int, o data.LoaderOpts) (out []int64) {
	t.Helper()
	return slices.Concat(epoch(t, data.NewLoader(numbers{n: n}, o))...)
}

func TestSamplers(t *testing.T) {
	weights := []float64{1, 0, 3, 6}
	s := data.WeightedSampler{Weights: weights, N: 10000, Seed: 5}
	var count [4]int
	for _, i := range drawn(t, 4, data.LoaderOpts{Sampler: s, Batch: new(100)}) {
		count[i]++
	}
	for i, w := range weights { // five standard deviations are at most 250
		if c := float64(count[i]); c < 1000*w-250 || c > 1000*w+250 || w == 0 && c > 0 {
			t.Errorf("weight %v is drawn %v times of 10000", w, c)
		}
	}
	first := 0
	for seed := range uint64(2000) {
		got := data.WeightedSampler{Weights: weights, N: 3, Once: true, Seed: seed}.Order(0)
		if got[0] == 3 {
			first++
		}
		if slices.Sort(got); !slices.Equal(got, []int64{0, 2, 3}) {
			t.Fatalf("three of three: %v", got)
		}
	}
	if first < 1090 || first > 1310 { // 1200, five standard deviations are 110
		t.Errorf("weight 6 of 10 is first %d times of 2000", first)
	}
	sub := data.SubsetSampler{Index: []int64{7, 3, 5}, Seed: 1}
	if got := drawn(t, 8, data.LoaderOpts{Sampler: sub}); !slices.Equal(slices.Sorted(slices.Values(got)), []int64{3, 5, 7}) {
		t.Errorf("a subset: %v", got)
	}
	for _, drop := range []bool{false, true} {
		var whole []int64
		for rank := range 3 {
			part := drawn(t, 10, data.LoaderOpts{Batch: new(4), Sampler: data.DistributedSampler{Examples: 10, Rank: rank, Ranks: 3, Shuffle: true, Seed: 2, DropLast: drop}})
			if want := map[bool]int{false: 4, true: 3}[drop]; len(part) != want {
				t.Errorf("rank %d has %d examples, want %d", rank, len(part), want)
			}
			whole = append(whole, part...)
		}
		slices.Sort(whole)
		if n := len(slices.Compact(whole)); n != map[bool]int{false: 10, true: 9}[drop] {
			t.Errorf("all parts have %d examples", n)
		}
	}
	lengths := []int{9, 1, 8, 2, 7, 3, 6, 4, 5}
	if all := (data.BucketSampler{Lengths: lengths, Batch: 1 << 40, Group: 1 << 40}).Batches(0); len(all) != 1 || len(all[0]) != 9 {
		t.Errorf("batches without end: %v", all)
	}
	l := data.NewLoader(numbers{n: 9}, data.LoaderOpts{BatchSampler: data.BucketSampler{Lengths: lengths, Batch: 2, Group: 5}})
	for range 2 {
		got := epoch(t, l)
		if whole := slices.Sorted(slices.Values(slices.Concat(got...))); len(got) != 5 || l.Len() != 5 || len(slices.Compact(whole)) != 9 {
			t.Errorf("%v", got)
		}
		for _, b := range got {
			if len(b) == 2 && lengths[b[1]]-lengths[b[0]] != 1 {
				t.Errorf("lengths %d and %d are in a batch", lengths[b[0]], lengths[b[1]])
			}
		}
	}
	for _, err := range data.NewLoader(numbers{n: 3}, data.LoaderOpts{Sampler: data.SubsetSampler{Index: []int64{3}}}).Batches(t.Context()) {
		if err == nil || err.Error() != "data: example 3: the dataset has 3" {
			t.Errorf("a place behind the end: %v", err)
		}
	}
	for name, f := range map[string]func(){
		"weights":   func() { data.WeightedSampler{Weights: []float64{-1}, N: 1}.Order(0) },
		"no weight": func() { data.WeightedSampler{Weights: []float64{0}, N: 1}.Order(0) },
		"too many":  func() { data.WeightedSampler{Weights: weights, N: 4, Once: true}.Order(0) },
		"rank":      func() { data.DistributedSampler{Rank: 2, Ranks: 2}.Len() },
		"both":      func() { data.NewLoader(numbers{n: 3}, data.LoaderOpts{Shuffle: true, Sampler: sub}) },
		"batches": func() {
			data.NewLoader(numbers{n: 3}, data.LoaderOpts{Batch: new(2), BatchSampler: data.BucketSampler{}})
		},
		"workers":  func() { data.NewLoader(numbers{n: 3}, data.LoaderOpts{Workers: -1}) },
		"bucket":   func() { data.BucketSampler{}.Len() },
		"stream":   func() { data.NewStreamLoader[int, int](nil, nil) },
		"shuffled": func() { data.Shuffled[int](nil, 3, 1) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	orders := map[string]func(){
		"distributed_sampler": func() { data.DistributedSampler{Examples: math.MaxInt, Ranks: 1}.Order(0) },
	}
	if n := mem.Physical(); n > 0 && n < 30<<30 { // 1<<32 draws are 32 GiB
		orders["weighted_sampler"] = func() { data.WeightedSampler{Weights: weights, N: 1 << 32}.Order(0) }
	}
	for op, f := range orders {
		e, ok := errors.AsType[*weft.Error](weft.Try(f))
		if !ok || e.Kind != weft.OutOfMemory || e.Op != op {
			t.Errorf("%s of more examples than memory has room for: %v", op, e)
		}
	}
}

// TestItemsCollateToBatch joins mapped examples to batches as a loader of a Dataset has them: what package train takes.
func TestItemsCollateToBatch(t *testing.T) {
	x := weft.Arange(10).Reshape(5, 2)
	for name, y := range map[string]*weft.Tensor{"targets": weft.Arange(5), "none": nil} {
		set := data.Tensors(x, y)
		o := data.LoaderOpts{Batch: new(2), Workers: 2}
		var loader *data.Loader = data.NewLoaderOf(data.Examples(set), data.Collate[data.Batch, data.Example], o)
		stream := data.NewStreamLoader(func(int) iter.Seq2[data.Example, error] {
			return func(yield func(data.Example, error) bool) {
				for _, e := range all(t, data.Examples(set)) {
					if !yield(e, nil) {
						return
					}
				}
			}
		}, data.Collate[data.Batch, data.Example], o)
		var want []data.Batch
		plain := data.NewLoader(set, o)
		for range 2 {
			for b, err := range plain.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, b)
			}
		}
		for kind, l := range map[string]*data.Loader{"items": loader, "stream": stream} {
			l.Seek(0, 1)
			k := 1
			for range 2 {
				for b, err := range l.Batches(t.Context()) {
					if err != nil {
						t.Fatal(name, kind, err)
					}
					w := want[k]
					if k++; b.Epoch != w.Epoch || b.Index != w.Index || !b.X.AllClose(w.X) || (b.Y == nil) != (w.Y == nil) || b.Y != nil && !b.Y.AllClose(w.Y) {
						t.Errorf("%s %s: %v, want %v", name, kind, b, w)
					}
				}
			}
			if k != 6 {
				t.Errorf("%s %s: %d batches", name, kind, k)
			}
		}
	}
}

// A loader starts no more workers than batches may wait, however many are asked for.
func TestNumberOfWorkersIsBounded(t *testing.T) {
	l := data.NewLoader(numbers{n: 3}, data.LoaderOpts{Batch: new(1), Workers: 1 << 40, Prefetch: new(1 << 10)})
	n := 0
	for range l.Batches(context.Background()) {
		n++
	}
	l = data.NewLoader(numbers{n: 3}, data.LoaderOpts{Batch: new(1), Workers: 1 << 40, Prefetch: new(1 << 40)})
	for range l.Batches(context.Background()) {
		n++
	}
	if n != 6 {
		t.Errorf("%d batches, want 6", n)
	}
}
