package data_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"weft"
	"weft/data"
	"weft/ragged"
)

// TestSequencesOfSeveralLengths become padded tensors and ragged lists, of tensors and of slices.
func TestSequencesOfSeveralLengths(t *testing.T) {
	type item struct {
		Words   []int64
		Vectors *weft.Tensor
	}
	type padded struct{ Words, Vectors data.Padded }
	type lists struct{ Words, Vectors *ragged.List }
	items := []item{{[]int64{1, 2, 3}, weft.Ones(1, 2)}, {nil, weft.Ones(3, 2)}, {[]int64{4}, weft.Zeros(0, 2)}}
	p, err := data.Collate[padded](items)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Words.X, p.Words.Lengths, p.Vectors.X.Shape(), p.Vectors.Lengths, p.Vectors.X.Sum()); got !=
		"[[1 2 3]\n [0 0 0]\n [4 0 0]] [3 0 1] [3 3 2] [1 3 0] 8.0" {
		t.Errorf("padded: %s", got)
	}
	l, err := data.Collate[lists](items)
	if err != nil {
		t.Fatal(err)
	}
	if l.Words.Len() != 3 || l.Words.DType() != weft.Int64 || l.Words.At(2).ItemInt() != 4 || l.Vectors.At(1).Sum().Item() != 6 || l.Vectors.At(2).Dim(0) != 0 {
		t.Errorf("lists: %v, %v", l.Words, l.Vectors)
	}
	direct, err := data.Collate[data.Padded]([][]float32{{1}, {2, 3}})
	if err != nil || direct.X.Sum().Item() != 6 {
		t.Errorf("%v, %v", direct, err)
	}
	minus, err := data.PadSequence([]*weft.Tensor{weft.Ones(1), weft.Ones(2)}, -1)
	if err != nil || minus.X.At(0, 1).Item() != -1 {
		t.Errorf("%v, %v", minus, err)
	}
	items[2].Vectors = weft.Ones(2, 3)
	for what, collate := range map[string]func() error{
		"padded": func() error { _, err := data.Collate[padded](items); return err },
		"lists":  func() error { _, err := data.Collate[lists](items); return err },
	} {
		if err := collate(); err == nil || !strings.Contains(err.Error(), "field Vectors") || !strings.Contains(err.Error(), "item 2") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := data.Collate[data.Padded]([]int{1}); err == nil {
		t.Error("numbers are sequences")
	}
}

// TestShuffledOrders has an order of its own for each epoch and seed, the same whenever it is read.
func TestShuffledOrders(t *testing.T) {
	open := func(int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := 0; i < 20 && yield(i, nil); i++ {
			}
		}
	}
	orders := map[string]bool{}
	for epoch := range 4 {
		for seed := range uint64(2) {
			var got [2]string
			for i := range got {
				for x := range data.Shuffled(open, 8, seed)(epoch) {
					got[i] += fmt.Sprint(x, " ")
				}
			}
			if got[0] != got[1] {
				t.Errorf("epoch %d has the orders %s and %s", epoch, got[0], got[1])
			}
			orders[got[0]] = true
		}
	}
	if len(orders) != 8 {
		t.Errorf("%d orders of 4 epochs and 2 seeds, want 8", len(orders))
	}
}

// TestMapStream keeps the order and the draws for any number of workers, and ends with its loader.
func TestMapStream(t *testing.T) {
	var begun atomic.Int64
	open := func(int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := 0; i < 1000 && yield(i, nil); i++ {
				begun.Add(1)
			}
		}
	}
	read := func(epoch, workers, count int) (out []float64) {
		mapped := data.MapStream(open, workers, 3, func(i int, g *weft.Generator) (float64, error) {
			return float64(i) + g.RandOf(weft.Float64).Item(), nil
		})
		for x, err := range mapped(epoch) {
			if err != nil {
				t.Fatal(err)
			}
			if out = append(out, x); len(out) == count {
				return out
			}
		}
		return out
	}
	want := read(1, 1, 1000)
	if len(want) != 1000 || !slices.IsSorted(want) {
		t.Errorf("%d items", len(want))
	}
	if !slices.Equal(read(1, 8, 1000), want) {
		t.Error("8 workers make other items")
	}
	for i, x := range read(0, 2, 1000) {
		if x == want[i] {
			t.Errorf("item %d is %v in both epochs", i, x)
		}
		if y, err := noisy(1000, 3).Get(i); err != nil || x != y {
			t.Fatalf("item %d is %v, MapRandom's is %v, error %v", i, x, y, err)
		}
	}
	begun.Store(0)
	if got := read(1, 4, 5); !slices.Equal(got, want[:5]) || begun.Load() > 5+2*4+2 {
		t.Errorf("%d items were read for 5", begun.Load())
	}
	broken := errors.New("broken")
	failing := data.MapStream(open, 3, 1, func(i int, _ *weft.Generator) (int, error) {
		switch i {
		case 7:
			return 0, broken
		case 9:
			panic("is not reached in order")
		}
		return i, nil
	})
	loader := data.NewStreamLoader(failing, data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(2), Workers: 2})
	n := 0
	for b, err := range loader.Batches(t.Context()) {
		var item *data.ItemError
		if err != nil && (!errors.As(err, &item) || item.Index != 7 || err.Error() != "data: example 7: broken") {
			t.Error(err)
		}
		if b != nil {
			n += b.Size()
		}
	}
	if n != 6 {
		t.Errorf("%d items before the error, want 6", n)
	}
	if weft.Try(func() { data.MapStream[int, int](open, 0, 1, nil) }) == nil {
		t.Error("no error without workers")
	}
}
