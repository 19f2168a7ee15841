package tokenizers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/wire"
)

func sentencePieceModel(t testing.TB, name string) []byte {
	data := readGzip(t, name+".model.gz")
	if name == "sp-unigram" { // its rules are in a file of their own; a field that is given again adds to the message
		data = wire.AppendBytes(data, 3, wire.AppendBytes(nil, 2, readGzip(t, "charsmap.gz")))
	}
	return data
}

// spResults are what testdata/sentencepiece.py compares.
func spResults(t *testing.T, tok *Tokenizer, line string) []string {
	e, err := tok.Encode(line)
	if err != nil {
		t.Fatal(err)
	}
	return []string{strings.Trim(fmt.Sprint(e.IDs), "[]"), tok.Decode(e.IDs)}
}

// TestSentencePieceModels compares ids and decoded text with the sentencepiece library.
func TestSentencePieceModels(t *testing.T) {
	var lines []string
	var want map[string]string
	for name, to := range map[string]any{"lines.json": &lines, "sentencepiece.json": &want} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, digests := range want {
		t.Run(name, func(t *testing.T) {
			tok, err := ParseSentencePiece(sentencePieceModel(t, name))
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, line := range lines {
				if got := spResults(t, tok, line); digest(got) != digests[12*i:12*i+12] {
					if wrong++; wrong < 4 {
						t.Errorf("line %d %q\n%s", i, line, strings.Join(got, "\n"))
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d lines differ", wrong, len(lines))
			}
		})
	}
}
