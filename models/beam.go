package models

import (
	"cmp"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// BeamOpts are the options of [BeamSearch] and [Search].
type BeamOpts struct {
	Beams     *int  // texts that are looked at together; nil means 4
	MaxTokens *int  // the most new tokens of a text; nil means 20
	End       []int // tokens that end a text; they are not part of the result
	// LengthPenalty is the power of the number of new tokens, the end included, by which the
	// log-probability of a text is divided; nil means 1.
	LengthPenalty *float64
	// Early stops when Beams texts have ended. Else it stops when no text that goes on
	// could be better at its present length.
	Early bool
}

// A Beam is a text that a search found.
type Beam struct {
	Tokens []int
	Score  float64 // the log-probability of the tokens and the end, divided by LengthPenalty's power
}

// BeamSearch writes texts on so that their log-probability is large, and returns the ended texts that it
// found for each prompt, at most Beams, the best first. Lengths of prompts may differ. The search is
// what Hugging Face's generate does. Errors are as of [Generate].
func BeamSearch(m LM, prompts [][]int, opts ...BeamOpts) ([][]Beam, error) {
	var d Decoder
	if err := weft.Try(func() { d = Decode(m, prompts) }); err != nil {
		return nil, err
	}
	return Search(d, prompts, opts...)
}

// Search is [BeamSearch] with a decoder, which has all tokens of the texts but the last of each.
func Search(d Decoder, texts [][]int, opts ...BeamOpts) (found [][]Beam, err error) {
	err = weft.Try(func() {
		s := newSearch(d, texts, array.Options("beam_search", opts))
		weft.WithoutGrad(func() {
			for len(s.rows) > 0 {
				s.step()
			}
		})
		for _, t := range s.texts {
			for i := range t.ended {
				t.ended[i].Tokens = slices.Clone(t.ended[i].Tokens)
			}
			found = append(found, t.ended)
		}
	})
	return found, err
}

// search is the state of [Search].
type search struct {
	d     Decoder
	beams int
	most  int // new tokens
	power float64
	early bool
	ends  map[int]bool
	texts []*searched
	rows  []running // of the decoder; rows of one text lie together
	n     int       // steps so far
}

// searched is a text of the batch.
type searched struct {
	ended []Beam // the best first
}

// running is a text that goes on.
type running struct {
	text   *searched
	tokens []int
	last   int
	score  float64 // the log-probability
	row    int     // of the decoder before the step
}

func newSearch(d Decoder, texts [][]int, o BeamOpts) *search {
	const name = "beam_search"
	s := &search{d: d, beams: array.Or(o.Beams, 4), most: array.Or(o.MaxTokens, 20), power: array.Or(o.LengthPenalty, 1), early: o.Early, ends: map[int]bool{}}
	if s.beams < 1 {
		array.Failf(name, "Beams", "is %d, want 1 or more", s.beams)
	}
	if s.most < 1 {
		array.Failf(name, "MaxTokens", "is %d, want 1 or more", s.most)
	}
	if math.IsNaN(s.power) || math.IsInf(s.power, 0) {
		array.Failf(name, "LengthPenalty", "is %v, want a number", s.power)
	}
	for _, t := range o.End {
		s.ends[t] = true
	}
	for i, t := range texts {
		if len(t) == 0 {
			array.Failf(name, "texts", "text %d has no token", i)
		}
		x := &searched{}
		s.texts = append(s.texts, x)
		s.rows = append(s.rows, running{text: x, last: t[len(t)-1]})
	}
	return s
}

// step puts a token behind each text that goes on, and keeps the best.
func (s *search) step() {
	last := make([]int64, len(s.rows))
	for i, r := range s.rows {
		last[i] = int64(r.last)
	}
	logp := next("beam_search", s.d, last).To(weft.Float32).LogSoftmax(1)
	keep := max(2, 1+len(s.ends)) * s.beams
	values, places := logp.TopK(min(keep, logp.Dim(1)), 1)
	v, at, k := weft.Data[float32](values), weft.Data[int64](places), values.Dim(1)
	for row := range s.rows {
		weighs("beam_search", float64(v[row*k]))
	}
	s.n++
	var on []running
	for lo := 0; lo < len(s.rows); {
		hi := lo + 1
		for hi < len(s.rows) && s.rows[hi].text == s.rows[lo].text {
			hi++
		}
		var all []running
		for row := lo; row < hi; row++ {
			r := s.rows[row]
			for j := range k {
				all = append(all, running{r.text, r.tokens, int(at[row*k+j]), r.score + float64(v[row*k+j]), row})
			}
		}
		slices.SortStableFunc(all, func(a, b running) int { return cmp.Compare(b.score, a.score) })
		on = append(on, s.split(all[:min(keep, len(all))])...)
		lo = hi
	}
	rows := make([]int64, len(on))
	for i, r := range on {
		rows[i] = int64(r.row)
	}
	if len(rows) > 0 && (len(rows) != len(s.rows) || !slices.IsSorted(rows) || !distinct(rows)) {
		s.d.Select(weft.FromSlice(rows))
	}
	s.rows = on
}

// distinct reports whether no number of a sorted list comes twice.
func distinct(x []int64) bool {
	for i := range x[1:] {
		if x[i] == x[i+1] {
			return false
		}
	}
	return true
}

// split moves the best continuations of a text that end to the ended ones, and returns continuations
// that go on.
func (s *search) split(all []running) (on []running) {
	t := all[0].text
	atEnd := s.n == s.most
	for i, r := range all {
		ends := s.ends[r.last]
		switch {
		case !ends && !atEnd:
			if len(on) < s.beams {
				r.tokens = append(slices.Clip(r.tokens), r.last)
				on = append(on, r)
			}
		case i < s.beams:
			if !ends {
				r.tokens = append(slices.Clip(r.tokens), r.last)
			}
			t.ended = append(t.ended, Beam{r.tokens, r.score / math.Pow(float64(s.n), s.power)})
		}
	}
	slices.SortStableFunc(t.ended, func(a, b Beam) int { return cmp.Compare(b.Score, a.Score) })
	t.ended = t.ended[:min(len(t.ended), s.beams)]
	if len(on) > 0 && len(t.ended) == s.beams {
		best := on[0].score / math.Pow(float64(s.n), s.power)
		if s.early || best <= t.ended[s.beams-1].Score {
			return nil
		}
	}
	return on
}
