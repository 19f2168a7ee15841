package data_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/data"
)

// noisy is the dataset of n items that hold their number and a draw of their own.
func noisy(n int, seed uint64) data.DatasetOf[float64] {
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return data.MapRandom(data.Items(numbers), seed, func(x float64, g *weft.Generator) (float64, error) {
		return x + g.RandOf(weft.Float64).Item(), nil
	})
}

// epochs returns the items that loaders hand out in some epochs, from a batch of the first one on.
func epochs(t *testing.T, d data.DatasetOf[float64], workers, from int) (out [][]float64) {
	t.Helper()
	same := func(items []float64) ([]float64, error) { return items, nil }
	l := data.NewLoaderOf(d, same, data.LoaderOpts{Batch: new(3), Shuffle: true, Seed: 1, Workers: workers})
	l.Seek(0, from)
	for l.Epoch() < 2 {
		var all []float64
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		out = append(out, all)
	}
	return out
}

// TestDrawsDependOnEpochAndItem: not on workers, order or where a run begins.
func TestDrawsDependOnEpochAndItem(t *testing.T) {
	d := noisy(10, 7)
	want := epochs(t, d, 0, 0)
	for _, workers := range []int{1, 2, 8} {
		if got := epochs(t, d, workers, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
	}
	if rest := epochs(t, d, 2, 2); !slices.Equal(rest[0], want[0][6:]) || !slices.Equal(rest[1], want[1]) {
		t.Errorf("from batch 2 on: %v, want %v", rest, want)
	}
	first, second := slices.Clone(want[0]), slices.Clone(want[1])
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, all(t, d)) {
		t.Errorf("epoch 0 has %v, Get %v", first, all(t, d))
	}
	var fractions []float64
	for i := range first {
		fractions = append(fractions, first[i]-float64(i), second[i]-float64(i))
	}
	slices.Sort(fractions)
	if n := len(slices.Compact(fractions)); n != 20 {
		t.Errorf("%d of 20 draws differ", n)
	}
	if reflect.DeepEqual(epochs(t, noisy(10, 8), 0, 0), want) {
		t.Error("another seed draws the same numbers")
	}
	// Views pass the epoch on, with the place in the dataset that draws.
	half := data.Subset(d, []int{5, 6, 7, 8, 9})
	views := data.Concat(data.Map(half, func(x float64) (float64, error) { return x, nil }), data.Subset(d, []int{0, 1, 2, 3, 4}))
	for e, got := range epochs(t, views, 2, 0) {
		slices.Sort(got)
		if want := [][]float64{first, second}[e]; !slices.Equal(got, want) {
			t.Errorf("epoch %d of views: %v, want %v", e, got, want)
		}
	}
}

// TestErrorsNameTheItem by its place and its file, whatever fails: f, a shape in it, or its batch.
func TestErrorsNameTheItem(t *testing.T) {
	type sample struct {
		Path string
		X    *weft.Tensor
	}
	var samples []sample
	for i := range 4 {
		samples = append(samples, sample{fmt.Sprintf("%d.png", i), weft.Ones(2 + i/3)})
	}
	broken := errors.New("broken")
	type batch struct{ X *weft.Tensor }
	check := func(what string, f func(s sample, _ *weft.Generator) (sample, error), want string) {
		d := data.MapRandom(data.Items(samples), 1, f)
		for _, workers := range []int{0, 2} {
			l := data.NewLoaderOf(d, data.Collate[batch, sample], data.LoaderOpts{Batch: new(2), Workers: workers})
			var last error
			for _, last = range l.Batches(t.Context()) {
			}
			var item *data.ItemError
			if !errors.As(last, &item) || item.Index != 3 || last.Error() != want {
				t.Errorf("%s: %v, want %s", what, last, want)
			}
		}
	}
	check("another shape", func(s sample, _ *weft.Generator) (sample, error) { return s, nil },
		"data: example 3: 3.png: data: collate: field X: item 1 of the batch is float32[3], item 0 float32[2]")
	check("an error", func(s sample, _ *weft.Generator) (sample, error) {
		if s.Path == "3.png" {
			return s, broken
		}
		return s, nil
	}, "data: example 3: 3.png: broken")
	check("a shape in f", func(s sample, _ *weft.Generator) (sample, error) {
		return sample{s.Path, s.X.Reshape(2)}, nil
	}, "data: example 3: 3.png: reshape: shape: [2] has 2 elements, [3] has 3")
	if err := weft.Try(func() { data.MapRandom[int, int](nil, 1, nil) }); err == nil || !strings.Contains(err.Error(), "map_random") {
		t.Errorf("nil: %v", err)
	}
}
