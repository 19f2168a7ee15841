package tokenizers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are small files with every part of the format, for fuzzing.
var seeds = []string{
	`{"normalizer":{"type":"Sequence","normalizers":[{"type":"BertNormalizer"},{"type":"NFC"},{"type":"NFD"},{"type":"NFKC"},{"type":"NFKD"},{"type":"Nmt"},{"type":"Strip","strip_left":true,"strip_right":true},{"type":"StripAccents"},{"type":"Lowercase"},{"type":"Prepend","prepend":"_"},{"type":"Replace","pattern":{"String":"a"},"content":"bb"}]},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","sep":["[SEP]",1],"cls":["[CLS]",2]},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[SEP]":1,"[CLS]":2,"a":3,"##b":4}}}`,
	`{"added_tokens":[{"id":9,"content":"<m>","lstrip":true,"rstrip":true,"single_word":true,"special":true}],"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s)|\\p{L}+|\\s+(?!\\S)|[^\\s\\p{L}]{1,3}?|(a|b)*c"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}]},"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel","trim_offsets":true,"add_prefix_space":false},{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],"special_tokens":{"x":{"id":"x","ids":[0],"tokens":["x"]}}}]},"decoder":{"type":"ByteLevel"},"truncation":{"max_length":5,"stride":1,"strategy":"LongestFirst","direction":"Left"},"padding":{"strategy":{"Fixed":8},"direction":"Left","pad_id":1,"pad_type_id":0,"pad_token":"p"},"model":{"type":"BPE","unk_token":"x","fuse_unk":true,"byte_fallback":true,"vocab":{"x":0,"a":1,"b":2,"ab":3,"<0x41>":4},"merges":[["a","b"]]}}`,
	`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAAEAAAAAAAAYQA="},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"},{"type":"Digits"},{"type":"Punctuation","behavior":"Contiguous"},{"type":"UnicodeScripts"},{"type":"FixedLength","length":2},{"type":"CharDelimiterSplit","delimiter":","}]},"decoder":{"type":"Sequence","decoders":[{"type":"Metaspace","replacement":"▁"},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":1},{"type":"CTC","pad_token":"p","word_delimiter_token":"|"},{"type":"BPEDecoder","suffix":"w"},{"type":"Replace","pattern":{"Regex":"a+"},"content":"b"}]},"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["a",-1.5],["▁",-2],["▁a",-1]]}}`,
	`{"normalizer":{"type":"ByteLevel"},"post_processor":{"type":"RobertaProcessing","sep":["s",1],"cls":["c",0]},"model":{"type":"WordLevel","unk_token":"u","vocab":{"c":0,"s":1,"u":4000000}}}`,
	`{"model":{"type":"BPE","continuing_subword_prefix":"#","end_of_word_suffix":"w","ignore_merges":true,"vocab":{"a":0,"#b":1,"ab":2},"merges":["a #b"]}}`,
}

var fuzzTexts = []string{"", "a", " ab 's <m> ABC\u0301 漢字 한국 1234 !?\n\n \xff\xe4\xb8", strings.Repeat("ab", 40), "\u0344\u0958\U0001F468\u200d\U0001F469 <m>\u3000x"}

// use encodes texts and checks what holds of every encoding.
func use(t *testing.T, tok *Tokenizer, texts ...string) {
	for _, s := range texts {
		for _, o := range []EncodeOpts{{}, {NoSpecialTokens: true, NoPadding: true, PlainSpecial: true, Truncation: &Truncation{}}} {
			e, err := tok.Encode(s, o)
			if err != nil {
				continue
			}
			check(t, e, s)
			tok.Decode(e.IDs)
			stream := tok.DecodeStream(DecodeOpts{KeepSpecialTokens: true})
			for _, id := range e.IDs {
				stream.Step(id)
			}
			stream.Flush()
		}
	}
}

func check(t *testing.T, e *Encoding, s string) {
	t.Helper()
	n := e.Len()
	for _, m := range []int{len(e.TypeIDs), len(e.Tokens), len(e.Offsets), len(e.WordIDs), len(e.SequenceIDs), len(e.SpecialTokensMask), len(e.AttentionMask)} {
		if m != n {
			t.Fatalf("%q: a field has %d entries of %d tokens", s, m, n)
		}
	}
	for i, o := range e.Offsets {
		if o.Start < 0 || o.End > len(s) || o.Start > o.End {
			t.Fatalf("%q: token %d %q has the offsets %v", s, i, e.Tokens[i], o)
		}
		if utf8.ValidString(s) && !utf8.ValidString(s[o.Start:o.End]) {
			t.Fatalf("%q: token %d %q has the offsets %v, within a character", s, i, e.Tokens[i], o)
		}
	}
	e.RuneOffsets(s)
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tok, err := Parse(data); err == nil {
			use(t, tok, fuzzTexts...)
		}
	})
}

func FuzzParseSentencePiece(f *testing.F) {
	for _, name := range []string{"sp-bpe", "sp-bare", "sp-suffix", "sp-llama"} {
		f.Add(sentencePieceModel(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tok, err := ParseSentencePiece(data); err == nil {
			use(t, tok, fuzzTexts...)
		}
	})
}

func FuzzEncode(f *testing.F) {
	for _, s := range fuzzTexts {
		f.Add(s)
	}
	var toks []*Tokenizer
	for _, kind := range []string{"bert", "roberta", "llama2", "llama3", "o200k", "t5", "clip", "prefix", "suffix", "splits"} {
		toks = append(toks, load(f, kind))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, tok := range toks {
			use(t, tok, s)
		}
	})
}
