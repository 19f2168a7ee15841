package tokenizers

// A model gives the ids of a piece.
type model interface {
	// tokenize appends the tokens of p.
	tokenize(out []token, p *piece, work *workspace) ([]token, error)
	vocab() *vocabulary
}

// A token is an id for the bytes start to end of a piece.
type token struct {
	id, start, end int32
	spelled        bool // the token is that text, not what the vocabulary has for id
}

// A vocabulary has the ids of tokens.
type vocabulary struct {
	ids    map[string]int32
	tokens []string         // by id, "" where there is none
	sparse map[int32]string // instead of tokens, if ids are much larger than their number
}

func newVocabulary(ids map[string]int32) vocabulary {
	v := vocabulary{ids: ids}
	top := int32(-1)
	for _, id := range ids {
		top = max(top, id)
	}
	if int(top) > 4*len(ids)+1024 {
		v.sparse = make(map[int32]string, len(ids))
		for s, id := range ids {
			v.sparse[id] = s
		}
		return v
	}
	v.tokens = make([]string, top+1)
	for s, id := range ids {
		v.tokens[id] = s
	}
	return v
}

func (v *vocabulary) token(id int32) (string, bool) {
	if v.sparse != nil {
		s, ok := v.sparse[id]
		return s, ok
	}
	if id < 0 || int(id) >= len(v.tokens) {
		return "", false
	}
	s := v.tokens[id]
	if s == "" {
		_, ok := v.ids[""]
		return s, ok && v.ids[""] == id
	}
	return s, true
}

// A trie holds byte strings with values. Its edges are in one hash table.
type trie struct {
	root   [256]int32 // nodes of one byte
	edges  []edge     // open addressing; a power of two
	values []int32    // by node, -1 if no string ends there
	used   int
}

type edge struct {
	key  uint64 // node<<8 | byte, plus one; 0 is free
	node int32
}

func newTrie() *trie {
	return &trie{edges: make([]edge, 64), values: []int32{-1}}
}

func (t *trie) slot(key uint64) int {
	mask := len(t.edges) - 1
	i := int(key*0x9E3779B97F4A7C15>>32) & mask
	for t.edges[i].key != key && t.edges[i].key != 0 {
		i = (i + 1) & mask
	}
	return i
}

// step returns the node after node by byte b, 0 if there is none. Node 0 is the root.
func (t *trie) step(node int32, b byte) int32 {
	if node == 0 {
		return t.root[b]
	}
	return t.edges[t.slot(uint64(node)<<8|uint64(b)+1)].node
}

// insert gives s, which is not empty, a value.
func (t *trie) insert(s string, value int32) {
	node := int32(0)
	for i := range len(s) {
		next := t.step(node, s[i])
		if next == 0 {
			next = int32(len(t.values))
			t.values = append(t.values, -1)
			if node == 0 {
				t.root[s[i]] = next
			} else {
				if t.used++; 2*t.used > len(t.edges) {
					t.grow()
				}
				key := uint64(node)<<8 | uint64(s[i]) + 1
				t.edges[t.slot(key)] = edge{key, next}
			}
		}
		node = next
	}
	t.values[node] = value
}

func (t *trie) grow() {
	old := t.edges
	t.edges = make([]edge, 2*len(old))
	for _, e := range old {
		if e.key != 0 {
			t.edges[t.slot(e.key)] = e
		}
	}
}

// longest returns the value of the longest prefix of s that has one, and its length; 0 if none has.
func (t *trie) longest(s string) (value int32, n int) {
	node := int32(0)
	for i := range len(s) {
		if node = t.step(node, s[i]); node == 0 {
			break
		}
		if v := t.values[node]; v >= 0 {
			value, n = v, i+1
		}
	}
	return value, n
}

// A workspace is the memory of one encoding at a time.
type workspace struct {
	pieces, spare []piece
	matches       []match
	tokens        []token
	buffer        []byte
	symbols       []symbol
	queue         []uint64
	best          []bestPath
	cache         wordCache
}

// A wordCache keeps the tokens of words that were seen.
type wordCache struct {
	words map[string][2]int32 // where in tokens they are
	store []token
}

const (
	cacheWords   = 1 << 14
	cacheLongest = 256 // bytes of a word
)

func (c *wordCache) get(out []token, word string) ([]token, bool) {
	at, ok := c.words[word]
	if !ok {
		return out, false
	}
	return append(out, c.store[at[0]:at[1]]...), true
}

func (c *wordCache) put(word string, tokens []token) {
	if len(word) >= cacheLongest {
		return
	}
	if c.words == nil || len(c.words) >= cacheWords {
		c.words, c.store = make(map[string][2]int32), c.store[:0]
	}
	start := int32(len(c.store))
	c.store = append(c.store, tokens...)
	c.words[string([]byte(word))] = [2]int32{start, int32(len(c.store))}
}
