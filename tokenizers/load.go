package tokenizers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Load reads a tokenizer: a tokenizer.json, a model file of sentencepiece, or a folder. In a folder it takes the first
// of these that is there:
//
//   - tokenizer.json
//   - vocab.txt: BERT's words, prepared as tokenizer_config.json says
//   - vocab.json and merges.txt: GPT-2's, or RoBERTa's where tokenizer_config.json names that
//   - tokenizer.model, spiece.model or sentencepiece.bpe.model: as [ParseSentencePiece], with the special tokens around
//     texts that tokenizer_config.json asks for
//
// Errors are as of [Parse], or of reading files.
func Load(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizers: %w", err)
	}
	var t *Tokenizer
	if info.IsDir() {
		t, err = loadFolder(path)
	} else {
		t, err = loadFile(path)
	}
	return t, withPath(path, err)
}

func loadFile(path string) (*Tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizers: %w", err)
	}
	if text := bytes.TrimLeft(data, " \t\r\n\xef\xbb\xbf"); len(text) > 0 && text[0] == '{' {
		return Parse(text)
	}
	t, err := ParseSentencePiece(data)
	var format *FormatError
	if errors.As(err, &format) {
		err = malformed("is neither a tokenizer.json nor a model of sentencepiece: %s", format.Msg)
	}
	return t, err
}

// folderConfig is what tokenizer_config.json says to tokenizers that have no tokenizer.json.
type folderConfig struct {
	Class        string       `json:"tokenizer_class"`
	LowerCase    *bool        `json:"do_lower_case"`
	StripAccents *bool        `json:"strip_accents"`
	Chinese      *bool        `json:"tokenize_chinese_chars"`
	PrefixSpace  bool         `json:"add_prefix_space"`
	AddBOS       *bool        `json:"add_bos_token"`
	AddEOS       *bool        `json:"add_eos_token"`
	BOS          specialToken `json:"bos_token"`
	EOS          specialToken `json:"eos_token"`
	UNK          specialToken `json:"unk_token"`
	SEP          specialToken `json:"sep_token"`
	PAD          specialToken `json:"pad_token"`
	CLS          specialToken `json:"cls_token"`
	Mask         specialToken `json:"mask_token"`
}

// A specialToken is a text, or an object that has it as content.
type specialToken string

// UnmarshalJSON reads either form; null leaves it as it is.
func (s *specialToken) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err == nil {
		if text != nil {
			*s = specialToken(*text)
		}
		return nil
	}
	var object struct{ Content string }
	err := json.Unmarshal(data, &object)
	*s = specialToken(object.Content)
	return err
}

func loadFolder(dir string) (*Tokenizer, error) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil
		}
		return data
	}
	if data := read("tokenizer.json"); data != nil {
		return Parse(data)
	}
	loadUnicode()
	var c folderConfig
	if data := read("tokenizer_config.json"); data != nil {
		if err := unmarshal(data, &c, "tokenizer_config.json"); err != nil {
			return nil, err
		}
	}
	if data := read("vocab.txt"); data != nil {
		return c.bert(data)
	}
	if vocab, merges := read("vocab.json"), read("merges.txt"); vocab != nil && merges != nil {
		return c.bytePairs(vocab, merges)
	}
	for _, name := range []string{"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"} {
		if data := read(name); data != nil {
			return c.sentencePiece(data)
		}
	}
	return nil, fmt.Errorf("tokenizers: the folder %s has no tokenizer: %w", dir, os.ErrNotExist)
}

// or returns s, or other where s is not given.
func (s specialToken) or(other string) string {
	if s == "" {
		return other
	}
	return string(s)
}

// named returns the tokens that a vocabulary has, as special added tokens.
func named(v *vocabulary, tokens ...string) []AddedToken {
	var out []AddedToken
	for _, s := range tokens {
		if id, ok := v.ids[s]; ok {
			out = append(out, AddedToken{ID: int(id), Content: s, Special: true})
		}
	}
	return out
}

func lines(data []byte) []string {
	all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], "\r")
	}
	return all
}

// bert is BERT's tokenizer with the words of vocab.txt.
func (c *folderConfig) bert(data []byte) (*Tokenizer, error) {
	ids := map[string]int32{}
	for i, word := range lines(data) {
		ids[word] = int32(i)
	}
	lower := yes(c.LowerCase)
	accents := lower
	if c.StripAccents != nil {
		accents = *c.StripAccents
	}
	unk, sep, cls := c.UNK.or("[UNK]"), c.SEP.or("[SEP]"), c.CLS.or("[CLS]")
	w := newWordPiece(ids, unk, "##", 100)
	for _, s := range []string{sep, cls} {
		if _, ok := ids[s]; !ok {
			return nil, malformed("vocab.txt lacks the token %q", s)
		}
	}
	return parts{
		normal:  bertNormalizer{true, yes(c.Chinese), accents, lower},
		pre:     []preTokenizer{bertWords{}},
		model:   w,
		post:    bertProcessor{namedToken{sep, int(ids[sep])}, namedToken{cls, int(ids[cls])}},
		decoder: wordPieceDecoder{"##", true},
		added:   named(&w.vocabulary, unk, sep, c.PAD.or("[PAD]"), cls, c.Mask.or("[MASK]")),
	}.build()
}

// bytePairs is GPT-2's tokenizer, or RoBERTa's.
func (c *folderConfig) bytePairs(vocab, mergeLines []byte) (*Tokenizer, error) {
	ids, err := parseVocab(vocab)
	if err != nil {
		return nil, err
	}
	var m merges
	if err := m.addLines(lines(mergeLines)); err != nil {
		return nil, err
	}
	b, err := newBPE(&bpe{vocabulary: newVocabulary(ids), unk: -1}, m)
	if err != nil {
		return nil, err
	}
	p := parts{pre: []preTokenizer{byteLevelSplit{c.PrefixSpace, true}}, model: b, decoder: byteLevelDecoder{}}
	if !strings.HasPrefix(c.Class, "Roberta") && !strings.HasPrefix(c.Class, "XLMRoberta") {
		end := c.EOS.or("<|endoftext|>")
		p.added = named(&b.vocabulary, c.BOS.or(end), end, c.UNK.or(end))
		p.post = byteLevelProcessor{false, c.PrefixSpace}
		return p.build()
	}
	sep, cls, mask := c.SEP.or("</s>"), c.CLS.or("<s>"), c.Mask.or("<mask>")
	for _, s := range []string{sep, cls} {
		if _, ok := ids[s]; !ok {
			return nil, malformed("vocab.json lacks the token %q", s)
		}
	}
	p.added = named(&b.vocabulary, cls, c.PAD.or("<pad>"), sep, c.UNK.or("<unk>"), mask)
	for i := range p.added {
		p.added[i].LStrip = p.added[i].Content == mask
	}
	p.post = robertaProcessor{namedToken{sep, int(ids[sep])}, namedToken{cls, int(ids[cls])}, true, c.PrefixSpace}
	return p.build()
}

// sentencePiece is a model of sentencepiece with its control symbols around texts.
func (c *folderConfig) sentencePiece(data []byte) (*Tokenizer, error) {
	m, err := readSentencePiece(data)
	if err != nil {
		return nil, err
	}
	t, err := m.tokenizer()
	if err != nil {
		return nil, err
	}
	symbol := func(typeID, id int) []templatePart {
		s, ok := t.IDToToken(id)
		if !ok {
			return nil
		}
		return []templatePart{{-1, typeID, special([]int{id}, []string{s}, typeID)}}
	}
	bos := c.AddBOS != nil && *c.AddBOS || c.AddBOS == nil && strings.HasPrefix(c.Class, "Llama")
	eos := c.AddEOS != nil && *c.AddEOS || c.AddEOS == nil && strings.HasPrefix(c.Class, "T5")
	around := func(k int) (out []templatePart) {
		if bos {
			out = append(out, symbol(k, m.bos)...)
		}
		out = append(out, templatePart{k, k, nil})
		if eos {
			out = append(out, symbol(k, m.eos)...)
		}
		return out
	}
	if bos || eos {
		t.post = template{around(0), append(around(0), around(1)...)}
	}
	return t, nil
}
