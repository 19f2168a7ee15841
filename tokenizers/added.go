package tokenizers

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"weft/internal/array"
)

// An AddedToken is a token that is found in the text before a model sees it.
type AddedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only between characters that are not of words
	LStrip     bool   `json:"lstrip"`      // takes the white space before it
	RStrip     bool   `json:"rstrip"`      // takes the white space after it
	Normalized bool   `json:"normalized"`  // is looked for in the normalised text, normalised itself
	Special    bool   `json:"special"`     // is left out of decoded text

	silent bool // is not looked for in texts
	asIs   bool // is looked for in normalised text as it is
}

// addedTokens are the added tokens of a tokenizer.
type addedTokens struct {
	byID     map[int32]AddedToken
	ids      map[string]int32
	special  map[string]bool
	shown    map[int32]string // what a normalised token is when it is decoded, where it differs
	raw      finder           // looks in the text that was given
	prepared finder           // looks in normalised text
}

// newAddedTokens adds tokens in order. A token that model has keeps its id there; others have the next free ones.
func newAddedTokens(tokens []AddedToken, v *vocabulary, normal normalizer) addedTokens {
	a := addedTokens{byID: map[int32]AddedToken{}, ids: map[string]int32{}, special: map[string]bool{}, shown: map[int32]string{}}
	next := int32(len(v.ids))
	for _, t := range tokens {
		if t.Content == "" {
			continue
		}
		id, ok := a.ids[t.Content]
		if !ok {
			id, ok = v.ids[t.Content]
		}
		if !ok {
			id = next
			next++
		}
		t.ID = int(id)
		if t.Normalized && normal != nil && !t.asIs {
			n := newText(t.Content)
			normal.normalize(&n)
			if n.s != t.Content {
				a.shown[id] = n.s
			}
		}
		a.ids[t.Content] = id
		if t.Special {
			a.special[t.Content] = true
		}
		a.byID[id] = t
	}
	for id, t := range a.byID {
		s := t.Content
		if shown, ok := a.shown[id]; ok {
			s = shown
		}
		switch {
		case t.silent:
		case t.Normalized:
			a.prepared.add(s, id)
		default:
			a.raw.add(s, id)
		}
	}
	return a
}

// A finder finds tokens in a text: the leftmost, of these the longest.
type finder struct {
	trie  *trie
	bytes string // that tokens begin with
}

func (f *finder) add(s string, id int32) {
	if s == "" {
		return
	}
	if f.trie == nil {
		f.trie = newTrie()
	}
	if strings.IndexByte(f.bytes, s[0]) < 0 {
		f.bytes += s[:1]
	}
	f.trie.insert(s, id)
}

// next returns the first token in s from place from on; n is 0 if there is none.
func (f *finder) next(s string, from int) (start, n int, id int32) {
	for start = from; start < len(s); start++ {
		if len(f.bytes) == 1 {
			i := strings.IndexByte(s[start:], f.bytes[0])
			if i < 0 {
				break
			}
			start += i
		} else if f.trie.root[s[start]] == 0 {
			continue
		}
		if id, n = f.trie.longest(s[start:]); n > 0 {
			return start, n, id
		}
	}
	return len(s), 0, 0
}

// split appends the added tokens in p and what is between them.
func (a *addedTokens) split(out []piece, p *text, f *finder, plain bool) []piece {
	if f.trie == nil {
		if p.s != "" {
			out = append(out, piece{text: *p, added: -1})
		}
		return out
	}
	s, done := p.s, 0
	spaces, spacesEnd := 0, 0 // the last white space that was taken
	for at := 0; ; {
		start, n, id := f.next(s, at)
		if n == 0 {
			break
		}
		end := start + n
		at = end
		t := a.byID[id]
		if plain && a.special[t.Content] {
			continue
		}
		if t.SingleWord && (wordBefore(s[:start]) || wordAfter(s[end:])) {
			continue
		}
		if t.LStrip {
			if start > done {
				start = done + len(strings.TrimRightFunc(s[done:start], space))
			} else {
				start = done
			}
		}
		if t.RStrip {
			if end < spaces || end > spacesEnd { // else each token of white space would look at all that follows
				spaces, spacesEnd = end, len(s)-len(strings.TrimLeftFunc(s[end:], space))
			}
			end = spacesEnd
		}
		if done < start {
			out = append(out, piece{text: p.slice(done, start), added: -1})
		}
		if start < end {
			out = append(out, piece{text: p.slice(start, end), added: int(id)})
		}
		done = end
	}
	if done < len(s) {
		out = append(out, piece{text: p.slice(done, len(s)), added: -1})
	}
	return out
}

func wordBefore(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && flagsOf(r)&isWord != 0
}

func wordAfter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && flagsOf(r)&isWord != 0
}

// String returns the number and the text.
func (a AddedToken) String() string {
	return array.Describe("tokenizers.AddedToken", "ID", a.ID, "Content", fmt.Sprintf("%q", a.Content), "Special", a.Special)
}
