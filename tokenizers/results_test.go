package tokenizers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func readGzip(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	data, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tokenizerJSON returns the tokenizer.json of a kind that testdata/make.py made.
func tokenizerJSON(t testing.TB, kind string) []byte {
	rules := `"` + base64.StdEncoding.EncodeToString(readGzip(t, "charsmap.gz")) + `"`
	return bytes.ReplaceAll(readGzip(t, kind+".json.gz"), []byte(`"@charsmap"`), []byte(rules))
}

func load(t testing.TB, kind string) *Tokenizer {
	t.Helper()
	tok, err := Parse(tokenizerJSON(t, kind))
	if err != nil {
		t.Fatal(kind, err)
	}
	return tok
}

// canonical writes an encoding as testdata/make.py does.
func canonical(e *Encoding, texts ...string) string {
	var rows []string
	offsets := e.RuneOffsets(texts...)
	for i := range e.IDs {
		rows = append(rows, fmt.Sprintf("%d|%s|%d-%d|%d|%d|%d|%d", e.IDs[i], e.Tokens[i], offsets[i].Start, offsets[i].End,
			e.WordIDs[i], e.TypeIDs[i], e.SpecialTokensMask[i], e.AttentionMask[i]))
	}
	s := strings.Join(rows, "\n")
	for _, o := range e.Overflowing {
		s += "\n--\n" + canonical(o, texts...)
	}
	return s
}

// results are what testdata/make.py compares for line i.
func results(tok *Tokenizer, lines []string, i int) []string {
	encode := func(o EncodeOpts) *Encoding {
		e, err := tok.Encode(lines[i], o)
		if err != nil {
			return &Encoding{Tokens: []string{err.Error()}}
		}
		return e
	}
	e, plain := encode(EncodeOpts{}), encode(EncodeOpts{NoSpecialTokens: true})
	out := []string{canonical(e, lines[i]), canonical(plain, lines[i]), tok.Decode(e.IDs),
		tok.Decode(plain.IDs, DecodeOpts{KeepSpecialTokens: true})}
	next := lines[(i+1)%len(lines)]
	pair := func(o EncodeOpts) {
		e, err := tok.EncodePair(lines[i], next, o)
		if err != nil {
			out = append(out, "error")
			return
		}
		out = append(out, canonical(e, lines[i], next))
	}
	if i%8 == 0 {
		pair(EncodeOpts{})
	}
	if i%8 == 1 {
		pair(EncodeOpts{Truncation: &Truncation{MaxLength: 14, Stride: 2, Strategy: Strategy(i / 8 % 2), Left: i/16%2 == 0},
			Padding: &Padding{ID: 1, TypeID: 1, Token: "<p>", MultipleOf: 5, Left: i/16%2 == 0}})
	}
	return out
}

func digest(results []string) string {
	sum := sha256.Sum256([]byte(strings.Join(results, "\x00")))
	return hex.EncodeToString(sum[:])[:12]
}

// TestResultsAreHuggingFaces compares ids, tokens, offsets, words, masks and decoded text of every kind of tokenizer
// with Hugging Face's library. WEFT_TOKENIZERS names a folder of testdata/make.py with more lines.
func TestResultsAreHuggingFaces(t *testing.T) {
	dir := os.Getenv("WEFT_TOKENIZERS")
	if dir == "" {
		dir = "testdata"
	}
	var lines []string
	var want map[string]string
	for name, to := range map[string]any{"lines.json": &lines, "results.json": &want} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatal(err)
		}
	}
	for kind, digests := range want {
		t.Run(kind, func(t *testing.T) {
			tok := load(t, kind)
			var wrong []int
			var mu sync.Mutex
			var group sync.WaitGroup
			for worker := range 4 { // one tokenizer, many goroutines
				group.Go(func() {
					for i := worker; i < len(lines); i += 4 {
						if digest(results(tok, lines, i)) != digests[12*i:12*i+12] {
							mu.Lock()
							wrong = append(wrong, i)
							mu.Unlock()
						}
					}
				})
			}
			group.Wait()
			if len(wrong) > 0 {
				t.Errorf("%d of %d lines differ, such as lines %d: %q", len(wrong), len(lines), wrong[:min(len(wrong), 8)], lines[wrong[0]])
				if os.Getenv("WEFT_TOKENIZERS") != "" {
					t.Logf("ours:\n%s", strings.Join(results(tok, lines, wrong[0]), "\x00\n"))
				}
			}
		})
	}
}
