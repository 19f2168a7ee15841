package tokenizers

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weft/internal/wire"
)

// Types of pieces in sentencepiece_model.proto.
const (
	pieceNormal = 1 + iota
	pieceUnknown
	pieceControl
	pieceUserDefined
	pieceUnused
	pieceByte
)

// longestPiece bounds the bytes of a piece, so that the time for reading is linear in the file.
const longestPiece = 1 << 12

// spaceMark stands for a space in pieces.
const spaceMark = "▁"

// spModel is what a sentencepiece model file says (sentencepiece_model.proto).
type spModel struct {
	pieces                  []spPiece
	modelType               int // 1 Unigram, 2 BPE
	byteFallback, suffix    bool
	unkSurface              string
	charsmap                []byte
	prefix, collapse        bool // a space before the text; spaces in a row are one
	bos, eos                int
	denormalizes, noEscapes bool
}

type spPiece struct {
	text  string
	score float32
	kind  int
}

// ParseSentencePiece reads the content of a model file of the sentencepiece library, of type Unigram or BPE. Encoding
// gives the ids that the library gives: without special tokens, and symbols of control in the text are text.
// Errors are as of Parse.
func ParseSentencePiece(data []byte) (*Tokenizer, error) {
	m, err := readSentencePiece(data)
	if err != nil {
		return nil, err
	}
	return m.tokenizer()
}

func readSentencePiece(data []byte) (*spModel, error) {
	m := &spModel{modelType: 1, unkSurface: " ⁇ ", prefix: true, collapse: true, bos: 1, eos: 2}
	r := wire.NewReader(data)
	for r.Next() {
		switch r.Field() {
		case 1:
			p := spPiece{kind: pieceNormal}
			fields(r, func(r *wire.Reader) {
				switch r.Field() {
				case 1:
					p.text = r.String()
				case 2:
					p.score = r.Float32()
				case 3:
					p.kind = r.Int()
				}
			})
			m.pieces = append(m.pieces, p)
		case 2:
			fields(r, func(r *wire.Reader) {
				switch r.Field() {
				case 3:
					m.modelType = r.Int()
				case 24:
					m.suffix = r.Bool()
				case 35:
					m.byteFallback = r.Bool()
				case 41:
					m.bos = r.Int()
				case 42:
					m.eos = r.Int()
				case 44:
					m.unkSurface = r.String()
				}
			})
		case 3:
			fields(r, func(r *wire.Reader) {
				switch r.Field() {
				case 2:
					m.charsmap = r.Bytes()
				case 3:
					m.prefix = r.Bool()
				case 4:
					m.collapse = r.Bool()
				case 5:
					m.noEscapes = !r.Bool()
				}
			})
		case 5:
			fields(r, func(r *wire.Reader) {
				m.denormalizes = m.denormalizes || r.Field() == 2 && len(r.Bytes()) > 0
			})
		}
	}
	if err := r.Err(); err != nil {
		return nil, malformed("the sentencepiece model: %v", err)
	}
	if len(m.pieces) == 0 {
		return nil, malformed("the sentencepiece model has no pieces")
	}
	for i, p := range m.pieces {
		if p.text == "" || len(p.text) > longestPiece || !utf8.ValidString(p.text) {
			return nil, malformed("piece %d of the sentencepiece model is empty, longer than %d bytes or not UTF-8", i, longestPiece)
		}
		if p.score != p.score {
			return nil, malformed("piece %d of the sentencepiece model has no score", i)
		}
	}
	return m, nil
}

// fields calls f at each field of the message that r is at.
func fields(r *wire.Reader, f func(r *wire.Reader)) {
	r.Message(func(r *wire.Reader) {
		for r.Next() {
			f(r)
		}
	})
}

func (m *spModel) tokenizer() (*Tokenizer, error) {
	switch {
	case m.denormalizes:
		return nil, &UnsupportedError{Part: "sentencepiece option", Name: "denormalizer_spec"}
	case m.noEscapes:
		return nil, &UnsupportedError{Part: "sentencepiece option", Name: "escape_whitespaces false"}
	}
	loadUnicode()
	normal := &spNormalizer{prefix: m.prefix, suffix: m.suffix, collapse: m.collapse}
	if len(m.charsmap) > 0 {
		var err error
		if normal.rules, err = parseCharsmap(m.charsmap); err != nil {
			return nil, err
		}
	}
	d := spDecoder{prefix: m.prefix, collapse: m.collapse, unkSurface: m.unkSurface, unk: "<unk>"}
	p := parts{normal: normal}
	for i, piece := range m.pieces {
		switch piece.kind {
		case pieceControl:
			p.added = append(p.added, AddedToken{ID: i, Content: piece.text, Special: true, silent: true})
		case pieceUserDefined:
			normal.symbols.add(piece.text, int32(i))
			p.added = append(p.added, AddedToken{ID: i, Content: piece.text, Normalized: true, asIs: true})
		case pieceUnknown:
			d.unk = piece.text
		}
	}
	p.decoder = d
	switch m.modelType {
	case 1:
		p.model = m.unigram()
	case 2:
		if slices.ContainsFunc(m.pieces, func(p spPiece) bool { return p.kind == pieceUnused }) {
			return nil, &UnsupportedError{Part: "sentencepiece piece", Name: "UNUSED", Msg: "in a model of type BPE"}
		}
		p.model = m.bpe()
	default:
		return nil, &UnsupportedError{Part: "sentencepiece model type", Name: strconv.Itoa(m.modelType), Msg: "unigram (1) and BPE (2) are supported"}
	}
	return p.build()
}

// vocab returns all pieces with their ids, and the ids of bytes.
func (m *spModel) vocab() (v vocabulary, unk int32, bytes [256]int32) {
	v.ids, unk = make(map[string]int32, len(m.pieces)), -1
	v.tokens = make([]string, len(m.pieces))
	for c := range bytes {
		bytes[c] = -1
	}
	for i, p := range m.pieces {
		v.ids[p.text], v.tokens[i] = int32(i), p.text
		if p.kind == pieceUnknown {
			unk = int32(i)
		}
		if c, ok := byteOf(p.text); ok && p.kind == pieceByte {
			bytes[c] = int32(i)
		}
	}
	return v, unk, bytes
}

// unigram returns a model that rounds sums to float32, as the library does.
func (m *spModel) unigram() *unigram {
	u := &unigram{trie: newTrie(), byteFallback: m.byteFallback, single: true}
	u.vocabulary, u.unk, u.byteTokens = m.vocab()
	least := float32(math.MaxFloat32)
	for i, p := range m.pieces {
		u.scores = append(u.scores, float64(p.score))
		if p.kind == pieceNormal {
			u.trie.insert(p.text, int32(i))
			least = min(least, p.score)
		}
	}
	u.unkScore = float64(least - unkPenalty)
	return u
}

// bpe returns a model that merges any two symbols which are a piece together, the one of the best score first.
func (m *spModel) bpe() *bpe {
	b := &bpe{byteFallback: m.byteFallback, fuseUnk: true}
	b.vocabulary, b.unk, b.byteTokens = m.vocab()
	b.symbols = make(map[string]int32, len(m.pieces))
	var order []int32
	for i, p := range m.pieces {
		if p.kind == pieceNormal {
			b.symbols[p.text] = int32(i)
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(m.pieces[j].score, m.pieces[i].score) })
	type pair struct{ left, right, rank, id int32 }
	var pairs []pair
	rank := int32(0)
	for k, id := range order {
		p := m.pieces[id]
		if k > 0 && p.score != m.pieces[order[k-1]].score {
			rank++
		}
		for cut := range p.text {
			left, ok := b.symbols[p.text[:cut]]
			right, also := b.symbols[p.text[cut:]]
			if ok && also {
				pairs = append(pairs, pair{left, right, rank, id})
			}
		}
	}
	b.merges = newMergeTable(len(pairs))
	for _, p := range pairs {
		b.merges.put(p.left, p.right, p.rank, p.id)
	}
	return b
}

// An spNormalizer is sentencepiece's: replacements by the longest prefix, spaces in a row as one, a space before the
// text, all written as marks. User-defined symbols stay as they are.
type spNormalizer struct {
	rules                    *charsmap
	symbols                  finder
	prefix, suffix, collapse bool
}

// next returns what the start of s becomes, and its length.
func (n *spNormalizer) next(s string) (to string, size int) {
	if n.symbols.trie != nil {
		if _, size := n.symbols.trie.longest(s); size > 0 {
			return s[:size], size
		}
	}
	if n.rules != nil {
		if to, size := n.rules.find(s, true); size > 0 {
			return to, size
		}
	}
	_, size = utf8.DecodeRuneInString(s)
	return s[:size], size
}

func (n *spNormalizer) normalize(t *text) {
	old := t.aligned()
	at := 0
	for n.collapse && at < len(t.s) {
		to, size := n.next(t.s[at:])
		if to != " " {
			break
		}
		at += size
	}
	out := make([]byte, 0, len(t.s)+8)
	align := make([]span, 0, cap(out))
	put := func(s string, from span) {
		out = append(out, s...)
		for range len(s) {
			align = append(align, from)
		}
	}
	if at < len(t.s) && n.prefix && !n.suffix {
		put(spaceMark, span{old[at].start, old[at].start})
	}
	afterSpace := n.collapse
	limit := grownLimit(len(t.s))
	for at < len(t.s) {
		limit.check(len(out))
		to, size := n.next(t.s[at:])
		from := span{old[at].start, old[at+size-1].end}
		at += size
		for afterSpace && strings.HasPrefix(to, " ") {
			to = to[1:]
		}
		if to == "" {
			continue
		}
		afterSpace = n.collapse && strings.HasSuffix(to, " ")
		for i := range len(to) {
			if to[i] == ' ' {
				put(spaceMark, from)
			} else {
				put(to[i:i+1], from)
			}
		}
	}
	for n.collapse && strings.HasSuffix(string(out[max(0, len(out)-len(spaceMark)):]), spaceMark) {
		out, align = out[:len(out)-len(spaceMark)], align[:len(align)-len(spaceMark)]
	}
	if len(out) > 0 && n.prefix && n.suffix {
		put(spaceMark, span{align[len(align)-1].end, align[len(align)-1].end})
	}
	t.s, t.align = string(out), align
}

// An spDecoder is sentencepiece's way from pieces to text.
type spDecoder struct {
	prefix, collapse bool // one space before the text is not of it; none is
	unk, unkSurface  string
}

func (d spDecoder) decode(tokens []string) []string {
	var out []byte
	leading := d.prefix || d.collapse // whether a mark at the start of a token is not of the text
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		leading = leading && len(out) == 0
		if _, ok := byteOf(t); ok {
			var raw []byte
			for ; i < len(tokens); i++ {
				c, ok := byteOf(tokens[i])
				if !ok {
					break
				}
				raw = append(raw, c)
			}
			i--
			out = append(out, strings.ToValidUTF8(string(raw), string(utf8.RuneError))...)
			continue
		}
		if t == d.unk {
			out = append(out, d.unkSurface...)
			continue
		}
		if leading {
			rest, ok := strings.CutPrefix(t, spaceMark)
			t, leading = rest, !ok || d.collapse
		}
		out = append(out, strings.ReplaceAll(t, spaceMark, " ")...)
	}
	return []string{string(out)}
}
