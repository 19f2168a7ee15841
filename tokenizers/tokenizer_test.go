package tokenizers

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weft"
)

// TestDecodeStreamIsHuggingFaces compares what comes out after each id.
func TestDecodeStreamIsHuggingFaces(t *testing.T) {
	data, err := os.ReadFile("testdata/stream.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][][2]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for kind, rows := range want {
		tok := load(t, kind)
		for _, row := range rows {
			var ids []int
			var steps []string
			if err := errors.Join(json.Unmarshal(row[0], &ids), json.Unmarshal(row[1], &steps)); err != nil {
				t.Fatal(err)
			}
			stream, all := tok.DecodeStream(), ""
			for i, id := range ids {
				got := stream.Step(id)
				if got != steps[i] {
					t.Fatalf("%s %v: step %d gives %q, not %q", kind, ids, i, got, steps[i])
				}
				all += got
			}
			if all += stream.Flush(); all != tok.Decode(ids) {
				t.Errorf("%s %v: the parts are %q, the whole %q", kind, ids, all, tok.Decode(ids))
			}
		}
	}
}

func TestDecodeStreamOfBrokenCharacters(t *testing.T) {
	tok := load(t, "gpt2")
	e, err := tok.Encode("a\U00013000")
	if err != nil {
		t.Fatal(err)
	}
	stream := tok.DecodeStream()
	got := ""
	for _, id := range e.IDs[:e.Len()-1] {
		got += stream.Step(id)
	}
	if rest := stream.Flush(); got != "a" || !strings.Contains(rest, "\uFFFD") {
		t.Errorf("%q, then %q", got, rest)
	}
	first := e.IDs[e.Len()-1] // the last byte of a character, again and again: text comes, and memory stays
	for range 1000 {
		got += stream.Step(first)
	}
	if len(stream.ids) > 100 || len(got) < 1000 {
		t.Errorf("%d ids are held, %d bytes came", len(stream.ids), len(got))
	}
}

func TestEncodeInvalidUTF8(t *testing.T) {
	for _, kind := range []string{"gpt2", "llama2"} {
		tok := load(t, kind)
		s := "a\xffé\xe6\xbc"
		e, err := tok.Encode(s, EncodeOpts{NoSpecialTokens: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Decode(e.IDs); got != "a\uFFFDé\uFFFD\uFFFD" {
			t.Errorf("%s: decoded %q", kind, got)
		}
		check(t, e, s)
		if last := e.Offsets[e.Len()-1]; last != (Span{len(s) - 1, len(s)}) {
			t.Errorf("%s: the last token is of %v", kind, last)
		}
	}
}

// TestPaddingHasItsToken holds what Tokens has at padding without a token: the token of its id.
func TestPaddingHasItsToken(t *testing.T) {
	tok := load(t, "bert")
	mask, _ := tok.TokenToID("[MASK]")
	for want, p := range map[string]Padding{"[PAD]": {}, "[MASK]": {ID: mask}, "<p>": {Token: "<p>"}} {
		p.Length = 9
		e, err := tok.Encode("of", EncodeOpts{Padding: &p})
		if err != nil || e.Tokens[8] != want {
			t.Errorf("padding %+v has tokens %q, want %q last: %v", p, e.Tokens, want, err)
		}
	}
	e, err := tok.Encode("of", EncodeOpts{Padding: &Padding{ID: 1 << 30, Length: 9}})
	if err != nil || e.Tokens[8] != "[PAD]" {
		t.Errorf("padding with an unknown id has tokens %q: %v", e.Tokens, err)
	}
}

func TestBatchTensors(t *testing.T) {
	tok := load(t, "bert")
	texts := []string{"Call me Ishmael.", "", "of the"}
	b, err := tok.EncodeBatch(texts, EncodeOpts{Padding: &Padding{Token: "[PAD]", MultipleOf: 4}})
	if err != nil {
		t.Fatal(err)
	}
	steps := b.Encodings[0].Len()
	if steps%4 != 0 || !reflect.DeepEqual(b.IDs().Shape(), []int{3, steps}) || b.IDs().DType() != weft.Int64 {
		t.Fatalf("the batch is %v of %v", b.IDs().Shape(), b.IDs().DType())
	}
	for i, s := range texts {
		alone, err := tok.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(b.AttentionMask().Index(i).Sum().Item()); got != alone.Len() {
			t.Errorf("%q: %d tokens are not padding, %d were encoded", s, got, alone.Len())
		}
		if !reflect.DeepEqual(b.Encodings[i].IDs[:alone.Len()], alone.IDs) {
			t.Errorf("%q: %v in the batch, %v alone", s, b.Encodings[i].IDs, alone.IDs)
		}
	}
	pairs, err := tok.EncodePairs([][2]string{{"of", "the"}, {"the", "of"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := int(pairs.TypeIDs().Max().Item()); got != 1 {
		t.Errorf("the largest type of a pair is %d", got)
	}
	defer func() {
		var wrong *weft.Error
		if err, _ := recover().(error); !errors.As(err, &wrong) || wrong.Op != "tokenizers.IDs" {
			t.Errorf("encodings of different lengths as a tensor: %v", err)
		}
	}()
	b, _ = tok.EncodeBatch(texts)
	b.IDs()
}

func TestErrors(t *testing.T) {
	tok := load(t, "bert")
	for _, c := range []struct {
		opts EncodeOpts
		want string
	}{
		{EncodeOpts{Truncation: &Truncation{MaxLength: 1}}, "tokenizers: Encode: Truncation.MaxLength is less than the number of special tokens"},
		{EncodeOpts{Truncation: &Truncation{MaxLength: 4, Stride: 2}}, "tokenizers: Encode: Truncation.Stride is not less than the tokens that are left"},
		{EncodeOpts{Padding: &Padding{Length: math.MaxInt}}, "tokenizers: Encode: Padding to 9223372036854775807 tokens does not fit in memory"},
		{EncodeOpts{Truncation: &Truncation{MaxLength: 4, Stride: -1}}, "tokenizers: Encode: Truncation.Stride is negative"},
		{EncodeOpts{Truncation: &Truncation{MaxLength: 4, Strategy: OnlySecond}}, "tokenizers: Encode: Truncation.Strategy is OnlySecond, and there is one text"},
	} {
		var wrong *EncodeError
		if _, err := tok.Encode("one two three four five", c.opts); !errors.As(err, &wrong) || err.Error() != c.want {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
	for want, f := range map[string]func(){
		"tokenizers.Encode: the tokenizer is nil or zero: Load reads one":               func() { (*Tokenizer)(nil).Encode("a") },
		"tokenizers.Decode: the tokenizer is nil or zero: Load reads one":               func() { new(Tokenizer).Decode(nil) },
		"tokenizers.Step: the stream is nil or zero: Tokenizer.DecodeStream makes one":  func() { new(DecodeStream).Step(1) },
		"tokenizers.Flush: the stream is nil or zero: Tokenizer.DecodeStream makes one": func() { (*DecodeStream)(nil).Flush() },
		"tokenizers.IDs: the batch: is nil":                                             func() { (*Batch)(nil).IDs() },
		"tokenizers.RuneOffsets: texts: are 1, the token at 0 is of text 1":             func() { (&Encoding{Offsets: make([]Span, 1), SequenceIDs: []int{1}}).RuneOffsets("a") },
		"tokenizers.RuneOffsets: SequenceIDs: has 0 entries, Offsets has 1":             func() { (&Encoding{Offsets: make([]Span, 1)}).RuneOffsets("a") },
	} {
		e, ok := errors.AsType[*weft.Error](weft.Try(f))
		if !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%v, want %s", e, want)
		}
	}
	for file, want := range map[string]string{
		`{`:  "tokenizers: the file: unexpected end of JSON input",
		`{}`: "tokenizers: the file has no model, as a tokenizer.json has",
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`:                                       `tokenizers: merge 0: the token "b" is not in the vocabulary`,
		`{"model":{"type":"Magic","vocab":{}}}`:                                                           `tokenizers: unsupported model "Magic"`,
		`{"normalizer":{"type":"Magic"}}`:                                                                 `tokenizers: unsupported normalizer "Magic"`,
		`{"model":{"type":"Unigram","vocab":[["a",0]],"unk_id":3}}`:                                       "tokenizers: unk_id is 3, and the vocabulary has 1 tokens",
		`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a)\\1"},"behavior":"Isolated"}}`:           `tokenizers: unsupported regular expression "(a)\\1": \1 is not supported`,
		`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(ab){1000}{1000}"},"behavior":"Isolated"}}`: `tokenizers: unsupported regular expression "(ab){1000}{1000}": it is too large`,
	} {
		if _, err := Parse([]byte(file)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", file, err, want)
		}
	}
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	for text, want := range map[string]string{
		"\x89PNG":                               "is neither a tokenizer.json nor a model of sentencepiece: ",
		"{}":                                    "the file has no model, as a tokenizer.json has",
		`{"model":{"type":"Magic","vocab":{}}}`: `unsupported model "Magic"`,
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), "tokenizers: "+path+": "+want) {
			t.Errorf("%q: %v, want %q with the path", text, err, want)
		}
	}
}

// TestHostileFilesStaySmall reads files that would make texts grow without bound.
func TestHostileFilesStaySmall(t *testing.T) {
	double := strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aa"},`, 60)
	tok, err := Parse([]byte(`{"normalizer":{"type":"Sequence","normalizers":[` + double + `{"type":"NFC"}]},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Encode("aaaa"); err == nil || !strings.Contains(err.Error(), "grows") {
		t.Errorf("a text that doubles 60 times: %v", err)
	}
}

// TestLongWordsTakeLinearTime would not end if merges or searches took the square of the length.
func TestLongWordsTakeLinearTime(t *testing.T) {
	long := strings.Repeat("universally", 60_000)
	for _, kind := range []string{"gpt2", "llama2", "bert", "t5", "o200k", "suffix"} {
		if _, err := load(t, kind).Encode(long); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestLoadFolders(t *testing.T) {
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bert := t.TempDir()
	write(bert, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nweav\n##ing\nWeav\n")
	gpt2 := t.TempDir()
	write(gpt2, "vocab.json", `{"a":0,"b":1,"ab":2,"Ġ":3,"<|endoftext|>":4}`)
	write(gpt2, "merges.txt", "#version: 0.2\na b\n")
	roberta := t.TempDir()
	write(roberta, "vocab.json", `{"<s>":0,"</s>":1,"a":2,"Ġ":3,"Ġa":4,"<mask>":5}`)
	write(roberta, "merges.txt", "Ġ a\n")
	write(roberta, "tokenizer_config.json", `{"tokenizer_class":"RobertaTokenizer","mask_token":{"content":"<mask>","lstrip":true}}`)
	llama := t.TempDir()
	write(llama, "tokenizer.model", string(sentencePieceModel(t, "sp-bpe")))
	write(llama, "tokenizer_config.json", `{"tokenizer_class":"LlamaTokenizer","add_eos_token":true}`)
	for _, c := range []struct {
		dir, text string
		want      []int
	}{
		{bert, "Weaving [MASK]", []int{2, 5, 6, 4, 3}},
		{gpt2, "abb<|endoftext|>", []int{2, 1, 4}},
		{roberta, "a a <mask>", []int{0, 2, 4, 5, 1}},
		{llama, "", []int{1, 2}},
	} {
		tok, err := Load(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := tok.Encode(c.text)
		if err != nil || !reflect.DeepEqual(e.IDs, c.want) {
			t.Errorf("%q: %v %v, not %v", c.text, e.IDs, err, c.want)
		}
	}
}

// TestRegularExpressions compares matches with those that Oniguruma documents.
func TestRegularExpressions(t *testing.T) {
	loadUnicode()
	for _, c := range [][3]string{
		{`a+?b*`, "aab", "a|ab"},
		{`\s+(?!\S)|\s+`, "a   b ", "  | | "},
		{`(?i:'S|K)`, "'ſK", "'ſ|K"},
		{`(?<=a)b|(?<!a)c`, "abcac", "b|c"},
		{`[^\P{L}a-c]+`, "abcdé1", "dé"},
		{`[a-z&&[^aeiou]]+`, "queue", "q"},
		{`(?:a*)*b`, strings.Repeat("a", 400) + "c", ""},
		{`x*`, "axxb", "|xx|"},
		{`(?>a+)ab|a`, "aaab", "a|a|a"},
		{`a{2}|[[:digit:]]{,2}z`, "aaa12z", "aa|12z"},
		{`^b$|\Aa`, "a\nb", "a|b"},
		{`\bfoo\b`, "foo food", "foo"},
		{`\R|\x{41}\u0042`, "\r\nAB", "\r\n|AB"},
	} {
		re, err := parseRegexp(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		var got []string
		for _, m := range re.matches(nil, c[1]) {
			if m.is {
				got = append(got, c[1][m.start:m.end])
			}
		}
		if strings.Join(got, "|") != c[2] {
			t.Errorf("%s in %q: %q", c[0], c[1], got)
		}
	}
}
