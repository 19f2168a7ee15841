package tokenizers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// tokenizerFile is tokenizer.json.
type tokenizerFile struct {
	Version       string          `json:"version"`
	Truncation    *truncationFile `json:"truncation"`
	Padding       *paddingFile    `json:"padding"`
	AddedTokens   []AddedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`
}

type truncationFile struct {
	Direction string `json:"direction"`
	MaxLength int    `json:"max_length"`
	Strategy  string `json:"strategy"`
	Stride    int    `json:"stride"`
}

type paddingFile struct {
	Strategy   json.RawMessage `json:"strategy"`
	Direction  string          `json:"direction"`
	MultipleOf int             `json:"pad_to_multiple_of"`
	ID         int             `json:"pad_id"`
	TypeID     int             `json:"pad_type_id"`
	Token      string          `json:"pad_token"`
}

// maxNesting bounds how deep sequences lie in sequences.
const maxNesting = 8

// Parse reads the content of a tokenizer.json. The error is a *FormatError, or an *UnsupportedError for parts that are
// not known.
func Parse(data []byte) (*Tokenizer, error) {
	var f tokenizerFile
	if err := unmarshal(data, &f, "the file"); err != nil {
		return nil, err
	}
	if f.Version != "" && f.Version != "1.0" {
		return nil, malformed("version %q, 1.0 is known", f.Version)
	}
	var p parts
	var err error
	if p.normal, err = parseNormalizer(f.Normalizer, 0); err != nil {
		return nil, err
	}
	if p.pre, err = parsePreTokenizers(nil, f.PreTokenizer, 0); err != nil {
		return nil, err
	}
	if p.post, err = parsePostProcessor(f.PostProcessor, 0); err != nil {
		return nil, err
	}
	if p.decoder, err = parseDecoder(f.Decoder, 0); err != nil {
		return nil, err
	}
	if p.model, err = parseModel(f.Model); err != nil {
		return nil, err
	}
	p.added = f.AddedTokens
	t, err := p.build()
	if err != nil {
		return nil, err
	}
	if f.Truncation != nil {
		if t.truncation, err = f.Truncation.parse(); err != nil {
			return nil, err
		}
	}
	if f.Padding != nil {
		if t.padding, err = f.Padding.parse(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// parts are what a Tokenizer is built of.
type parts struct {
	normal  normalizer
	pre     []preTokenizer
	model   model
	post    postProcessor
	decoder decoder
	added   []AddedToken
}

func (p parts) build() (t *Tokenizer, err error) {
	defer recoverLimit(&err)
	loadUnicode()
	t = &Tokenizer{normal: p.normal, pre: p.pre, model: p.model, post: p.post, decoder: p.decoder}
	t.added = newAddedTokens(p.added, p.model.vocab(), p.normal)
	if b, ok := p.model.(*bpe); ok && len(p.pre) > 0 {
		if _, ok := p.pre[len(p.pre)-1].(byteLevelSplit); ok {
			b.useBytes()
		}
	}
	return t, nil
}

func unmarshal(data []byte, to any, what string) error {
	if err := json.Unmarshal(data, to); err != nil {
		return malformed("%s: %v", what, err)
	}
	return nil
}

func absent(data []byte) bool { return len(data) == 0 || bytes.Equal(data, []byte("null")) }

func oneOf[T any](what, name string, table map[string]T) (T, error) {
	v, ok := table[name]
	if !ok {
		return v, &UnsupportedError{Part: what, Name: name}
	}
	return v, nil
}

var sides = map[string]bool{"": false, "Right": false, "Left": true}

func (f *truncationFile) parse() (*Truncation, error) {
	left, err := oneOf("truncation direction", f.Direction, sides)
	if err != nil {
		return nil, err
	}
	strategy, err := oneOf("truncation strategy", f.Strategy, map[string]Strategy{"": LongestFirst, "LongestFirst": LongestFirst,
		"OnlyFirst": OnlyFirst, "OnlySecond": OnlySecond})
	return &Truncation{MaxLength: f.MaxLength, Strategy: strategy, Stride: f.Stride, Left: left}, err
}

func (f *paddingFile) parse() (*Padding, error) {
	left, err := oneOf("padding direction", f.Direction, sides)
	if err != nil {
		return nil, err
	}
	p := &Padding{MultipleOf: f.MultipleOf, Left: left, ID: f.ID, TypeID: f.TypeID, Token: f.Token}
	var fixed struct{ Fixed int }
	if json.Unmarshal(f.Strategy, &fixed) == nil {
		p.Length = fixed.Fixed
	}
	if p.Length > maxPadding || p.MultipleOf > maxPadding {
		return nil, malformed("padding to %d tokens", max(p.Length, p.MultipleOf))
	}
	return p, nil
}

// What a file may ask for: tokens of padding, bytes before a text.
const (
	maxPadding = 1 << 20
	maxPrepend = 1 << 10
)

// A patternFile is a pattern: {"String": " "} or {"Regex": "\\s+"}.
type patternFile struct {
	String *string
	Regex  *string
}

func (f patternFile) parse() (pattern, error) {
	switch {
	case f.String != nil:
		return literal(*f.String), nil
	case f.Regex != nil:
		if p, ok := gpt4Patterns[*f.Regex]; ok {
			return p, nil
		}
		return parseRegexp(*f.Regex)
	}
	return nil, malformed("a pattern is neither String nor Regex")
}

func parseNormalizer(data []byte, depth int) (normalizer, error) {
	if absent(data) {
		return nil, nil
	}
	if depth > maxNesting {
		return nil, malformed("normalizers are nested more than %d deep", maxNesting)
	}
	loadUnicode()
	var f struct {
		Type             string
		Normalizers      []json.RawMessage
		CleanText        *bool  `json:"clean_text"`
		Chinese          *bool  `json:"handle_chinese_chars"`
		StripAccents     *bool  `json:"strip_accents"`
		Lowercase        *bool  `json:"lowercase"`
		Left             bool   `json:"strip_left"`
		Right            bool   `json:"strip_right"`
		Charsmap         string `json:"precompiled_charsmap"`
		Pattern          patternFile
		Content, Prepend string
	}
	if err := unmarshal(data, &f, "normalizer"); err != nil {
		return nil, err
	}
	switch f.Type {
	case "BertNormalizer":
		lower := yes(f.Lowercase)
		accents := lower
		if f.StripAccents != nil {
			accents = *f.StripAccents
		}
		return bertNormalizer{yes(f.CleanText), yes(f.Chinese), accents, lower}, nil
	case "Sequence":
		var seq normalizerSequence
		for _, data := range f.Normalizers {
			n, err := parseNormalizer(data, depth+1)
			if err != nil {
				return nil, err
			}
			if n != nil {
				seq = append(seq, n)
			}
		}
		return seq, nil
	case "Precompiled":
		raw, err := base64.StdEncoding.DecodeString(f.Charsmap)
		if err != nil {
			return nil, malformed("precompiled_charsmap: %v", err)
		}
		return parseCharsmap(raw)
	case "Replace":
		p, err := f.Pattern.parse()
		return replacement{p, f.Content}, err
	case "Strip":
		return stripSpaces{f.Left, f.Right}, nil
	case "Prepend":
		if len(f.Prepend) > maxPrepend {
			return nil, malformed("Prepend: a text of %d bytes, at most %d are allowed", len(f.Prepend), maxPrepend)
		}
		return prepend(f.Prepend), nil
	}
	return oneOf("normalizer", f.Type, map[string]normalizer{"NFC": normalForm{false, true}, "NFD": normalForm{},
		"NFKC": normalForm{true, true}, "NFKD": normalForm{true, false}, "StripAccents": stripAccents{},
		"Lowercase": lowercase{}, "Nmt": nmt{}, "ByteLevel": byteLevelNormalizer{}})
}

// yes is a flag that is set where it is absent.
func yes(flag *bool) bool { return flag == nil || *flag }

var behaviors = map[string]behavior{"Removed": removed, "Isolated": isolated, "MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext": mergedWithNext, "Contiguous": contiguous}

// metaspaceFile is the part that pre-tokenizer and decoder Metaspace share.
type metaspaceFile struct {
	Replacement    string
	PrependScheme  string `json:"prepend_scheme"`
	AddPrefixSpace *bool  `json:"add_prefix_space"`
}

func (f metaspaceFile) parse() (mark string, prefix prefixScheme, err error) {
	if utf8.RuneCountInString(f.Replacement) != 1 {
		return "", 0, malformed("Metaspace: the replacement %q is not one character", f.Replacement)
	}
	prefix, err = oneOf("prepend_scheme", f.PrependScheme, map[string]prefixScheme{"": prefixAlways, "always": prefixAlways,
		"first": prefixFirst, "never": prefixNever})
	if f.AddPrefixSpace != nil && !*f.AddPrefixSpace {
		prefix = prefixNever
	}
	return f.Replacement, prefix, err
}

// parsePreTokenizers appends the pre-tokenizers of data; a sequence adds each of its own.
func parsePreTokenizers(out []preTokenizer, data []byte, depth int) ([]preTokenizer, error) {
	if absent(data) {
		return out, nil
	}
	if depth > maxNesting {
		return nil, malformed("pre-tokenizers are nested more than %d deep", maxNesting)
	}
	loadUnicode()
	var f struct {
		metaspaceFile
		Type             string
		Pretokenizers    []json.RawMessage
		UseRegex         *bool `json:"use_regex"`
		Delimiter        string
		Split            *bool
		Pattern          patternFile
		Behavior         string
		Invert           bool
		IndividualDigits bool `json:"individual_digits"`
		Length           *int
	}
	if err := unmarshal(data, &f, "pre-tokenizer"); err != nil {
		return nil, err
	}
	if f.Type == "Sequence" {
		var err error
		for _, data := range f.Pretokenizers {
			if out, err = parsePreTokenizers(out, data, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var pre preTokenizer
	var err error
	switch f.Type {
	case "BertPreTokenizer":
		pre = bertWords{}
	case "ByteLevel":
		pre = byteLevelSplit{prefix: yes(f.AddPrefixSpace), words: yes(f.UseRegex)}
	case "CharDelimiterSplit":
		if utf8.RuneCountInString(f.Delimiter) != 1 {
			return nil, malformed("CharDelimiterSplit: the delimiter %q is not one character", f.Delimiter)
		}
		pre = patternSplit{literal(f.Delimiter), removed}
	case "Metaspace":
		m := metaspace{whole: !yes(f.Split)}
		m.mark, m.prefix, err = f.metaspaceFile.parse()
		pre = m
	case "Whitespace":
		pre = words{}
	case "WhitespaceSplit":
		pre = runeSplit{space, removed}
	case "Split":
		s := patternSplit{}
		if s.pattern, err = f.Pattern.parse(); err == nil {
			s.how, err = oneOf("behavior", f.Behavior, behaviors)
		}
		if f.Invert {
			s.pattern = inverted{s.pattern}
		}
		pre = s
	case "Punctuation":
		s := runeSplit{is: func(r rune) bool { return flagsOf(r)&isPunct != 0 }, how: isolated}
		if f.Behavior != "" {
			s.how, err = oneOf("behavior", f.Behavior, behaviors)
		}
		pre = s
	case "Digits":
		s := runeSplit{is: func(r rune) bool { return flagsOf(r)&isNumeric != 0 }, how: contiguous}
		if f.IndividualDigits {
			s.how = isolated
		}
		pre = s
	case "UnicodeScripts":
		pre = scriptSplit{}
	case "FixedLength":
		n := 5
		if f.Length != nil {
			n = *f.Length
		}
		if n < 1 {
			return nil, malformed("FixedLength: a length of %d", n)
		}
		pre = fixedLength(n)
	default:
		return nil, &UnsupportedError{Part: "pre-tokenizer", Name: f.Type}
	}
	return append(out, pre), err
}

// UnmarshalJSON reads ["[SEP]", 102].
func (n *namedToken) UnmarshalJSON(data []byte) error {
	return unmarshalPair(data, &n.token, &n.id)
}

// templateFile is a list of template parts.
type templateFile []struct {
	SpecialToken *struct {
		ID     string `json:"id"`
		TypeID int    `json:"type_id"`
	}
	Sequence *struct {
		ID     string `json:"id"`
		TypeID int    `json:"type_id"`
	}
}

type specialFile struct {
	IDs    []int `json:"ids"`
	Tokens []string
}

func (f templateFile) parse(tokens map[string]specialFile) ([]templatePart, error) {
	var out []templatePart
	for _, p := range f {
		switch {
		case p.SpecialToken != nil:
			t, ok := tokens[p.SpecialToken.ID]
			if !ok || len(t.IDs) != len(t.Tokens) {
				return nil, malformed("TemplateProcessing: special_tokens lacks %q", p.SpecialToken.ID)
			}
			out = append(out, templatePart{-1, p.SpecialToken.TypeID, special(t.IDs, t.Tokens, p.SpecialToken.TypeID)})
		case p.Sequence != nil:
			k, err := oneOf("template sequence", p.Sequence.ID, map[string]int{"A": 0, "B": 1})
			if err != nil {
				return nil, err
			}
			out = append(out, templatePart{k, p.Sequence.TypeID, nil})
		}
	}
	return out, nil
}

func parsePostProcessor(data []byte, depth int) (postProcessor, error) {
	if absent(data) {
		return nil, nil
	}
	if depth > maxNesting {
		return nil, malformed("post-processors are nested more than %d deep", maxNesting)
	}
	var f struct {
		Type          string
		Processors    []json.RawMessage
		Single, Pair  templateFile
		SpecialTokens map[string]specialFile `json:"special_tokens"`
		Sep, Cls      namedToken
		Trim          *bool `json:"trim_offsets"`
		Space         *bool `json:"add_prefix_space"`
	}
	if err := unmarshal(data, &f, "post-processor"); err != nil {
		return nil, err
	}
	switch f.Type {
	case "Sequence":
		var seq processorSequence
		for _, data := range f.Processors {
			p, err := parsePostProcessor(data, depth+1)
			if err != nil {
				return nil, err
			}
			if p != nil {
				seq = append(seq, p)
			}
		}
		return seq, nil
	case "TemplateProcessing":
		single, err := f.Single.parse(f.SpecialTokens)
		if err != nil {
			return nil, err
		}
		pair, err := f.Pair.parse(f.SpecialTokens)
		return template{single, pair}, err
	case "BertProcessing":
		return bertProcessor{f.Sep, f.Cls}, nil
	case "RobertaProcessing":
		return robertaProcessor{f.Sep, f.Cls, yes(f.Trim), yes(f.Space)}, nil
	case "ByteLevel":
		return byteLevelProcessor{yes(f.Trim), yes(f.Space)}, nil
	}
	return nil, &UnsupportedError{Part: "post-processor", Name: f.Type}
}

func parseDecoder(data []byte, depth int) (decoder, error) {
	if absent(data) {
		return nil, nil
	}
	if depth > maxNesting {
		return nil, malformed("decoders are nested more than %d deep", maxNesting)
	}
	var f struct {
		metaspaceFile
		Type        string
		Decoders    []json.RawMessage
		Suffix      string
		Prefix      string
		Cleanup     *bool
		Pad         string `json:"pad_token"`
		Delimiter   string `json:"word_delimiter_token"`
		Pattern     patternFile
		Content     string
		Start, Stop int
	}
	if err := unmarshal(data, &f, "decoder"); err != nil {
		return nil, err
	}
	switch f.Type {
	case "Sequence":
		var seq decoderSequence
		for _, data := range f.Decoders {
			d, err := parseDecoder(data, depth+1)
			if err != nil {
				return nil, err
			}
			if d != nil {
				seq = append(seq, d)
			}
		}
		return seq, nil
	case "BPEDecoder":
		return bpeDecoder(f.Suffix), nil
	case "ByteLevel":
		return byteLevelDecoder{}, nil
	case "WordPiece":
		return wordPieceDecoder{f.Prefix, yes(f.Cleanup)}, nil
	case "Metaspace":
		mark, prefix, err := f.metaspaceFile.parse()
		return metaspaceDecoder{mark, prefix}, err
	case "CTC":
		return ctcDecoder{f.Pad, f.Delimiter, yes(f.Cleanup)}, nil
	case "Replace":
		loadUnicode()
		p, err := f.Pattern.parse()
		return replacement{p, f.Content}, err
	case "Fuse":
		return fuseDecoder{}, nil
	case "Strip":
		if utf8.RuneCountInString(f.Content) != 1 {
			return nil, malformed("decoder Strip: the content %q is not one character", f.Content)
		}
		return stripDecoder{f.Content, f.Start, f.Stop}, nil
	case "ByteFallback":
		return byteFallbackDecoder{}, nil
	}
	return nil, &UnsupportedError{Part: "decoder", Name: f.Type}
}
