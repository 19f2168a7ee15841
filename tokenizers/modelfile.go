package tokenizers

import (
	"bytes"
	"encoding/json"
	"math"
)

// The part "model" of tokenizer.json.

// A merges is a list of pairs, or of lines with a space between the two.
type merges [][2]string

// UnmarshalJSON reads either form.
func (m *merges) UnmarshalJSON(data []byte) error {
	var pairs [][2]string
	if err := json.Unmarshal(data, &pairs); err == nil {
		*m = pairs
		return nil
	}
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return err
	}
	*m = make(merges, 0, len(lines))
	return m.addLines(lines)
}

func (m *merges) addLines(lines []string) error {
	for i, line := range lines {
		if len(line) >= 8 && line[:8] == "#version" {
			continue
		}
		pair, ok := splitMerge(line)
		if !ok {
			return malformed("merge %d: %q is not two tokens", i, line)
		}
		*m = append(*m, pair)
	}
	return nil
}

// scoredToken is ["token", -1.5].
type scoredToken struct {
	token string
	score float64
}

// UnmarshalJSON reads a pair.
func (s *scoredToken) UnmarshalJSON(data []byte) error {
	return unmarshalPair(data, &s.token, &s.score)
}

func unmarshalPair(data []byte, first, second any) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return malformed("a list of %d elements, 2 are expected", len(pair))
	}
	if err := json.Unmarshal(pair[0], first); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], second)
}

func parseModel(data []byte) (model, error) {
	if absent(data) {
		return nil, malformed("the file has no model, as a tokenizer.json has")
	}
	var f struct {
		Type         string
		Vocab        json.RawMessage
		Merges       *json.RawMessage
		Dropout      *float64
		UnkToken     *string `json:"unk_token"`
		Prefix       *string `json:"continuing_subword_prefix"`
		Suffix       *string `json:"end_of_word_suffix"`
		FuseUnk      bool    `json:"fuse_unk"`
		ByteFallback bool    `json:"byte_fallback"`
		IgnoreMerges bool    `json:"ignore_merges"`
		Longest      *int    `json:"max_input_chars_per_word"`
		UnkID        *int64  `json:"unk_id"`
	}
	if err := unmarshal(data, &f, "model"); err != nil {
		return nil, err
	}
	if f.Type == "" { // files of the first versions
		switch {
		case f.Merges != nil:
			f.Type = "BPE"
		case f.Longest != nil:
			f.Type = "WordPiece"
		case bytes.HasPrefix(f.Vocab, []byte("[")):
			f.Type = "Unigram"
		default:
			f.Type = "WordLevel"
		}
	}
	if f.Type == "Unigram" {
		return parseUnigram(f.Vocab, f.UnkID, f.ByteFallback)
	}
	ids, err := parseVocab(f.Vocab)
	if err != nil {
		return nil, err
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch f.Type {
	case "BPE":
		if f.Dropout != nil && *f.Dropout != 0 {
			return nil, &UnsupportedError{Part: "BPE option", Name: "dropout", Msg: "merges left out at random are for training"}
		}
		var m merges
		if f.Merges == nil {
			return nil, malformed("BPE without merges")
		}
		if err := unmarshal(*f.Merges, &m, "merges"); err != nil {
			return nil, err
		}
		b := &bpe{vocabulary: newVocabulary(ids), unk: -1, fuseUnk: f.FuseUnk, byteFallback: f.ByteFallback,
			ignoreMerges: f.IgnoreMerges, prefix: text(f.Prefix), suffix: text(f.Suffix)}
		if f.UnkToken != nil {
			id, ok := ids[*f.UnkToken]
			if b.unk = id; !ok {
				b.unk, b.unkMissing = -1, *f.UnkToken
			}
		}
		return newBPE(b, m)
	case "WordPiece":
		longest, unk, prefix := 100, "[UNK]", "##"
		if f.Longest != nil {
			longest = *f.Longest
		}
		if f.UnkToken != nil {
			unk = *f.UnkToken
		}
		if f.Prefix != nil {
			prefix = *f.Prefix
		}
		return newWordPiece(ids, unk, prefix, longest), nil
	case "WordLevel":
		w := &wordLevel{vocabulary: newVocabulary(ids), unk: -1, unkToken: text(f.UnkToken)}
		if id, ok := ids[w.unkToken]; ok {
			w.unk = id
		}
		return w, nil
	}
	return nil, &UnsupportedError{Part: "model", Name: f.Type}
}

func parseVocab(data []byte) (map[string]int32, error) {
	var ids map[string]int32
	if err := unmarshal(data, &ids, "vocab"); err != nil {
		return nil, err
	}
	for s, id := range ids {
		if id < 0 || id == math.MaxInt32 {
			return nil, malformed("vocab: the token %q has the id %d", s, id)
		}
	}
	return ids, nil
}

func parseUnigram(data []byte, unk *int64, byteFallback bool) (model, error) {
	var scored []scoredToken
	if err := unmarshal(data, &scored, "vocab"); err != nil {
		return nil, err
	}
	id := int32(-1)
	if unk != nil {
		if *unk < 0 || *unk >= int64(len(scored)) {
			return nil, malformed("unk_id is %d, and the vocabulary has %d tokens", *unk, len(scored))
		}
		id = int32(*unk)
	}
	tokens, scores := make([]string, len(scored)), make([]float64, len(scored))
	for i, s := range scored {
		tokens[i], scores[i] = s.token, s.score
	}
	return newUnigram(tokens, scores, id, byteFallback), nil
}
