package tokenizers

import (
	"math"
	"slices"
	"unicode/utf8"
)

// A unigram takes the tokens whose scores sum to the most (Kudo: Subword Regularization, 2018).
type unigram struct {
	vocabulary
	scores       []float64
	trie         *trie
	unk          int32 // -1: a character without a token is an error
	unkScore     float64
	byteFallback bool
	byteTokens   [256]int32
	single       bool // sums are rounded to float32, as sentencepiece has them
}

// unkPenalty is how much less than the least score an unknown character has.
const unkPenalty = 10

// A bestPath is the best way to the end of a token.
type bestPath struct {
	score float64
	start int32 // of the last token, -1 before there is one
	id    int32
}

func newUnigram(tokens []string, scores []float64, unk int32, byteFallback bool) *unigram {
	ids := make(map[string]int32, len(tokens))
	u := &unigram{scores: scores, trie: newTrie(), unk: unk, byteFallback: byteFallback}
	least := math.Inf(1)
	for i, s := range tokens {
		ids[s] = int32(i)
		if s != "" {
			u.trie.insert(s, int32(i))
		}
		least = min(least, scores[i])
	}
	u.vocabulary = vocabulary{ids: ids, tokens: tokens}
	u.unkScore = least - unkPenalty
	for c := range u.byteTokens {
		u.byteTokens[c] = -1
		if id, ok := ids[byteToken(byte(c))]; ok {
			u.byteTokens[c] = id
		}
	}
	return u
}

func (u *unigram) vocab() *vocabulary { return &u.vocabulary }

func (u *unigram) tokenize(out []token, p *piece, work *workspace) ([]token, error) {
	p.spell()
	if p.s == "" {
		return out, nil
	}
	if out, ok := work.cache.get(out, p.s); ok {
		return out, nil
	}
	if err := u.search(p.s, work); err != nil {
		return out, err
	}
	n := len(out)
	for end := int32(len(p.s)); end > 0; {
		start, id := work.best[end].start, work.best[end].id
		if id == u.unk { // unknown characters in a row are one token
			for start > 0 && work.best[start].id == u.unk {
				start = work.best[start].start
			}
		}
		out = u.appendToken(out, p.s, token{id, start, end, false})
		end = start
	}
	slices.Reverse(out[n:])
	work.cache.put(p.s, out[n:])
	return out, nil
}

// appendToken appends a token, or the bytes of an unknown one, last first.
func (u *unigram) appendToken(out []token, s string, t token) []token {
	if t.id != u.unk {
		return append(out, t)
	}
	part := s[t.start:t.end]
	if id, ok := u.ids[part]; ok && !u.single {
		t.id = id
		return append(out, t)
	}
	if u.byteFallback {
		all := true
		for i := range len(part) {
			all = all && u.byteTokens[part[i]] >= 0
		}
		if all {
			for i := len(part) - 1; i >= 0; i-- {
				out = append(out, token{u.byteTokens[part[i]], t.start, t.end, false})
			}
			return out
		}
	}
	t.spelled = true
	return append(out, t)
}

// search finds the best path to each place (Viterbi).
func (u *unigram) search(s string, work *workspace) error {
	best := slices.Grow(work.best[:0], len(s)+1)[:len(s)+1]
	for i := range best {
		best[i] = bestPath{start: -1}
	}
	work.best = best
	for at := 0; at < len(s); {
		score := best[at].score
		size := 1
		if s[at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[at:])
		}
		single := false
		node := int32(0)
		for i := at; i < len(s); i++ {
			if node = u.trie.step(node, s[i]); node == 0 {
				break
			}
			id := u.trie.values[node]
			if id < 0 {
				continue
			}
			single = single || i+1-at == size
			if b, sum := &best[i+1], u.round(u.scores[id]+score); b.start < 0 || sum > b.score {
				*b = bestPath{sum, int32(at), id}
			}
		}
		if !single {
			if b, sum := &best[at+size], u.round(u.unkScore+score); b.start < 0 || sum > b.score {
				if u.unk < 0 {
					return malformed("a character has no token, and the model has no unknown token")
				}
				*b = bestPath{sum, int32(at), u.unk}
			}
		}
		at += size
	}
	return nil
}

func (u *unigram) round(sum float64) float64 {
	if u.single {
		return float64(float32(sum))
	}
	return sum
}
