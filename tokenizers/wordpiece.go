package tokenizers

import (
	"unicode/utf8"
)

// A wordPiece takes the longest prefix that is in the vocabulary, again and again (Wu et al.: Google's Neural Machine
// Translation System, 2016).
type wordPiece struct {
	vocabulary
	unk        int32 // -1 if the vocabulary lacks it
	unkToken   string
	longest    int // characters of a word
	begin      *trie
	continuing *trie
}

func newWordPiece(ids map[string]int32, unk, prefix string, longest int) *wordPiece {
	w := &wordPiece{vocabulary: newVocabulary(ids), unk: -1, unkToken: unk, longest: longest, begin: newTrie(), continuing: newTrie()}
	if id, ok := ids[unk]; ok {
		w.unk = id
	}
	for s, id := range ids {
		if s != "" {
			w.begin.insert(s, id)
		}
		if len(s) > len(prefix) && s[:len(prefix)] == prefix {
			w.continuing.insert(s[len(prefix):], id)
		}
	}
	return w
}

func (w *wordPiece) vocab() *vocabulary { return &w.vocabulary }

func (w *wordPiece) tokenize(out []token, p *piece, work *workspace) ([]token, error) {
	p.spell()
	if out, ok := work.cache.get(out, p.s); ok {
		return out, nil
	}
	n := len(out)
	known := len(p.s) <= w.longest || utf8.RuneCountInString(p.s) <= w.longest
	from := w.begin
	for at := 0; at < len(p.s) && known; {
		id, size := from.longest(p.s[at:])
		known = size > 0
		out = append(out, token{id: id, start: int32(at), end: int32(at + size)})
		at += size
		from = w.continuing
	}
	if !known {
		if w.unk < 0 {
			return out[:n], malformed("the unknown token %q is not in the vocabulary", w.unkToken)
		}
		out = append(out[:n], token{id: w.unk, end: int32(len(p.s))})
	}
	work.cache.put(p.s, out[n:])
	return out, nil
}

// A wordLevel has a token for each word.
type wordLevel struct {
	vocabulary
	unk      int32
	unkToken string
}

func (w *wordLevel) vocab() *vocabulary { return &w.vocabulary }

func (w *wordLevel) tokenize(out []token, p *piece, _ *workspace) ([]token, error) {
	p.spell()
	id, ok := w.ids[p.s]
	if !ok {
		if id = w.unk; id < 0 {
			return out, malformed("the unknown token %q is not in the vocabulary", w.unkToken)
		}
	}
	return append(out, token{id: id, end: int32(len(p.s))}), nil
}
