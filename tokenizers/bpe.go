package tokenizers

import (
	"strings"
	"unicode/utf8"
)

// A bpe merges pairs of symbols by rank (Sennrich, Haddow, Birch: Neural Machine Translation of Rare Words with Subword
// Units, 2016).
type bpe struct {
	vocabulary
	merges         mergeTable
	unk            int32 // -1: characters that are not in the vocabulary vanish
	unkMissing     string
	fuseUnk        bool
	byteFallback   bool
	byteTokens     [256]int32       // of <0x00> to <0xFF>, -1 where the vocabulary lacks one
	ignoreMerges   bool             // a piece that is in the vocabulary is one token
	prefix, suffix string           // of symbols that continue a word; of the last one
	symbols        map[string]int32 // what words begin with: the vocabulary, but for sentencepiece's bytes and the like
	byByte         *byteSymbols
}

// byteSymbols are what byte-level pieces begin with, by byte, without spelling them as characters.
type byteSymbols struct {
	first, inner, last, only [256]int32
	whole                    map[string]int32 // tokens by the bytes that they stand for, if merges are ignored
}

// A mergeTable maps pairs of ids to a rank and the merged id: an open hash table whose length is a power of two.
type mergeTable struct {
	slots []merge
}

type merge struct {
	pair     uint64 // left<<32 | right, plus one in left's place; 0 is free
	rank, id int32
}

func newMergeTable(n int) mergeTable {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return mergeTable{make([]merge, size)}
}

func (m *mergeTable) slot(left, right int32) *merge {
	key := uint64(left+1)<<32 | uint64(uint32(right))
	mask := uint64(len(m.slots) - 1)
	h := key * 0x9E3779B97F4A7C15
	for i := (h ^ h>>29) >> 7 & mask; ; i = (i + 1) & mask {
		if s := &m.slots[i]; s.pair == key || s.pair == 0 {
			return s
		}
	}
}

// put adds a merge; of one pair the last counts.
func (m *mergeTable) put(left, right, rank, id int32) {
	*m.slot(left, right) = merge{uint64(left+1)<<32 | uint64(uint32(right)), rank, id}
}

// noRank is the rank of a pair that does not merge.
const noRank = 1<<31 - 1

func (m *mergeTable) get(left, right int32) (rank, id int32) {
	s := m.slot(left, right)
	if s.pair == 0 {
		return noRank, 0
	}
	return s.rank, s.id
}

// newBPE builds the tables; merges are pairs of tokens in the order of their ranks.
func newBPE(b *bpe, merges [][2]string) (*bpe, error) {
	b.symbols, b.merges = b.ids, newMergeTable(len(merges))
	for rank, pair := range merges {
		left, ok := b.ids[pair[0]]
		if !ok {
			return nil, malformed("merge %d: the token %q is not in the vocabulary", rank, pair[0])
		}
		right, ok := b.ids[pair[1]]
		if !ok {
			return nil, malformed("merge %d: the token %q is not in the vocabulary", rank, pair[1])
		}
		if len(pair[1]) < len(b.prefix) {
			return nil, malformed("merge %d: the token %q is shorter than the prefix %q", rank, pair[1], b.prefix)
		}
		id, ok := b.ids[pair[0]+pair[1][len(b.prefix):]]
		if !ok {
			return nil, malformed("merge %d: the token %q is not in the vocabulary", rank, pair[0]+pair[1][len(b.prefix):])
		}
		b.merges.put(left, right, int32(rank), id)
	}
	for c := range b.byteTokens {
		b.byteTokens[c] = -1
		if id, ok := b.ids[byteToken(byte(c))]; ok {
			b.byteTokens[c] = id
		}
	}
	return b, nil
}

// byteToken is the token of a byte in vocabularies that fall back to bytes.
func byteToken(c byte) string {
	const digits = "0123456789ABCDEF"
	return "<0x" + string(digits[c>>4]) + string(digits[c&15]) + ">"
}

// useBytes lets pieces of byteLevelSplit be merged as bytes, if the vocabulary has each of them.
func (b *bpe) useBytes() {
	if b.byteFallback {
		return
	}
	t := &byteSymbols{}
	for c := range 256 {
		s := string(byteChars[c])
		var ok [4]bool
		t.only[c], ok[0] = b.ids[s+b.suffix]
		t.first[c], ok[1] = b.ids[s]
		t.inner[c], ok[2] = b.ids[b.prefix+s]
		t.last[c], ok[3] = b.ids[b.prefix+s+b.suffix]
		if ok != [4]bool{true, true, true, true} {
			return
		}
	}
	if b.ignoreMerges {
		t.whole = make(map[string]int32, len(b.ids))
		for s, id := range b.ids {
			if raw, ok := charsToBytes(nil, s); ok {
				t.whole[string(raw)] = id
			}
		}
	}
	b.byByte = t
}

// charsToBytes appends the bytes that the characters of s stand for; false if one stands for none.
func charsToBytes(out []byte, s string) ([]byte, bool) {
	for _, r := range s {
		c, ok := charBytes[r]
		if !ok {
			return out, false
		}
		out = append(out, c)
	}
	return out, true
}

func (b *bpe) vocab() *vocabulary { return &b.vocabulary }

// A symbol is a token of a word that is being merged, in a list. Of a removed one size is -1.
type symbol struct {
	id, size   int32
	prev, next int32
	rank       int32 // of the pair with next
}

func (b *bpe) tokenize(out []token, p *piece, work *workspace) ([]token, error) {
	if p.s == "" {
		return out, nil
	}
	if p.bytes && b.byByte == nil {
		p.spell()
	}
	if b.ignoreMerges {
		ids := b.ids
		if p.bytes {
			ids = b.byByte.whole
		}
		if id, ok := ids[p.s]; ok {
			return append(out, token{id: id, end: int32(len(p.s))}), nil
		}
	}
	if out, ok := work.cache.get(out, p.s); ok {
		return out, nil
	}
	var err error
	if p.bytes {
		b.startBytes(p.s, work)
	} else if err = b.startRunes(p.s, work); err != nil {
		return out, err
	}
	b.merge(work)
	n, at := len(out), int32(0)
	for _, s := range work.symbols {
		if s.size >= 0 {
			out = append(out, token{id: s.id, start: at, end: at + s.size})
			at += s.size
		}
	}
	work.cache.put(p.s, out[n:])
	return out, nil
}

// startBytes sets the symbols of a byte-level piece.
func (b *bpe) startBytes(s string, work *workspace) {
	t := b.byByte
	symbols := work.symbols[:0]
	if len(s) == 1 {
		work.symbols = append(symbols, symbol{id: t.only[s[0]], size: 1})
		return
	}
	symbols = append(symbols, symbol{id: t.first[s[0]], size: 1})
	for i := 1; i < len(s)-1; i++ {
		symbols = append(symbols, symbol{id: t.inner[s[i]], size: 1})
	}
	work.symbols = append(symbols, symbol{id: t.last[s[len(s)-1]], size: 1})
}

// startRunes sets the symbols of a piece: its characters.
func (b *bpe) startRunes(s string, work *workspace) error {
	symbols := work.symbols[:0]
	unk := int32(0) // bytes of an unknown symbol that is not added yet
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		name := s[i : i+n]
		first, last := i == 0, i+n == len(s)
		i += n
		if b.prefix != "" && !first || b.suffix != "" && last {
			work.buffer = work.buffer[:0]
			if !first {
				work.buffer = append(work.buffer, b.prefix...)
			}
			work.buffer = append(work.buffer, name...)
			if last {
				work.buffer = append(work.buffer, b.suffix...)
			}
			name = string(work.buffer)
		}
		if id, ok := b.symbols[name]; ok {
			if unk > 0 {
				symbols = append(symbols, symbol{id: b.unk, size: unk})
				unk = 0
			}
			symbols = append(symbols, symbol{id: id, size: int32(n)})
			continue
		}
		if b.byteFallback && b.hasBytes(name) {
			for k := range len(name) {
				symbols = append(symbols, symbol{id: b.byteTokens[name[k]], size: 1})
			}
			continue
		}
		if b.unkMissing != "" {
			return malformed("the unknown token %q is not in the vocabulary", b.unkMissing)
		}
		if b.unk >= 0 {
			if unk > 0 && !b.fuseUnk {
				symbols = append(symbols, symbol{id: b.unk, size: unk})
				unk = 0
			}
			unk += int32(n)
		}
	}
	if unk > 0 {
		symbols = append(symbols, symbol{id: b.unk, size: unk})
	}
	work.symbols = symbols
	return nil
}

func (b *bpe) hasBytes(s string) bool {
	for i := range len(s) {
		if b.byteTokens[s[i]] < 0 {
			return false
		}
	}
	return true
}

// scanLimit is the number of symbols up to which the pair of least rank is searched by going through all.
const scanLimit = 24

// merge merges the pair of least rank, of these the leftmost, until none merges. Longer words use a heap.
func (b *bpe) merge(work *workspace) {
	symbols := work.symbols
	if len(symbols) > scanLimit {
		b.mergeHeap(work)
		return
	}
	for i := range symbols {
		symbols[i].rank = noRank
		if i+1 < len(symbols) {
			symbols[i].rank, _ = b.merges.get(symbols[i].id, symbols[i+1].id)
		}
	}
	for {
		best, rank := -1, int32(noRank)
		for i := range symbols {
			if symbols[i].rank < rank {
				best, rank = i, symbols[i].rank
			}
		}
		if best < 0 {
			break
		}
		_, id := b.merges.get(symbols[best].id, symbols[best+1].id)
		symbols[best].id, symbols[best].size = id, symbols[best].size+symbols[best+1].size
		symbols = append(symbols[:best+1], symbols[best+2:]...)
		symbols[best].rank = noRank
		if best+1 < len(symbols) {
			symbols[best].rank, _ = b.merges.get(id, symbols[best+1].id)
		}
		if best > 0 {
			symbols[best-1].rank, _ = b.merges.get(symbols[best-1].id, id)
		}
	}
	work.symbols = symbols
}

// mergeHeap is merge with a heap of ranks and places, in n log n.
func (b *bpe) mergeHeap(work *workspace) {
	symbols, queue := work.symbols, work.queue[:0]
	push := func(i int32) {
		rank, _ := b.merges.get(symbols[i].id, symbols[symbols[i].next].id)
		if rank != noRank {
			queue = pushHeap(queue, uint64(rank)<<32|uint64(i))
		}
	}
	for i := range symbols {
		symbols[i].prev, symbols[i].next = int32(i-1), int32(i+1)
	}
	symbols[len(symbols)-1].next = -1
	for i := range len(symbols) - 1 {
		push(int32(i))
	}
	for len(queue) > 0 {
		var top uint64
		top, queue = popHeap(queue)
		i, rank := int32(uint32(top)), int32(top>>32)
		s := &symbols[i]
		if s.size < 0 || s.next < 0 {
			continue
		}
		right := &symbols[s.next]
		now, id := b.merges.get(s.id, right.id)
		if now != rank {
			continue // the pair has changed since
		}
		s.id, s.size, s.next = id, s.size+right.size, right.next
		right.size = -1
		if s.next >= 0 {
			symbols[s.next].prev = i
			push(i)
		}
		if s.prev >= 0 {
			push(s.prev)
		}
	}
	work.queue = queue
}

func pushHeap(h []uint64, x uint64) []uint64 {
	h = append(h, x)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if h[up] <= x {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = x
	return h
}

func popHeap(h []uint64) (uint64, []uint64) {
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) == 0 {
		return top, h
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for k := child + 1; k < min(child+4, len(h)); k++ {
			if h[k] < h[least] {
				least = k
			}
		}
		if h[least] >= x {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = x
	return top, h
}

// splitMerge reads a line of merges.txt or of the older form in tokenizer.json.
func splitMerge(line string) ([2]string, bool) {
	left, right, ok := strings.Cut(line, " ")
	return [2]string{left, right}, ok && !strings.Contains(right, " ")
}
