package ragged_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ragged"
)

func ExampleList_MarshalJSON() {
	text, err := json.Marshal(ragged.Of([][]float64{{0.5}, {1, 2}, {}}))
	fmt.Println(string(text), err)
	// Output: [[0.5],[1,2],[]] <nil>
}

// TestMarshalJSON compares with what encoding/json writes of the slices that a list is made of.
func TestMarshalJSON(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	type point struct {
		X float32
		N int64
	}
	edited := ragged.Of([][]int64{{1}, {2, 3}})
	edited.Append([]int64{4, 5})
	for _, c := range []struct {
		l    *ragged.List
		want any
	}{
		{ragged.Of([][]float32{{0.1}, {}, {2, 3}}), [][]float32{{0.1}, {}, {2, 3}}},
		{ragged.Of([][]bool{{true}, {false, true}}), [][]bool{{true}, {false, true}}},
		{ragged.FromSizes(weft.From([][]float64{{1, 2}, {3, 4}, {5, 6}}), []int{1, 2}), [][][]float64{{{1, 2}}, {{3, 4}, {5, 6}}}},
		{ragged.Of([][]int64{{1}, {2, 3}, {4}}).Unflatten([]int{2, 1}), [][][]int64{{{1}, {2, 3}}, {{4}}}},
		{edited, [][]int64{{1}, {2, 3}, {4, 5}}},
		{ragged.Of([][]point{{{1, 2}}, {{3, 4}, {5, 6}}}), struct {
			X [][]float32
			N [][]int64
		}{[][]float32{{1}, {3, 5}}, [][]int64{{2}, {4, 6}}}},
		{nil, nil},
	} {
		got, err := json.Marshal(c.l)
		want, _ := json.Marshal(c.want)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v: %s, %v, want %s", c.l, got, err, want)
		}
	}
	for _, l := range []*ragged.List{ragged.Of([][]float64{{1, math.NaN()}}), ragged.Of([][]complex64{{1}}), new(ragged.List)} {
		_, err := json.Marshal(l)
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != "marshaljson" {
			t.Errorf("%v", err)
		}
	}
}
