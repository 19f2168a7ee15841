package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weft/bench/worker"
	"weft/tokenizers"
)

// Lines of English encoded, one by one, by the tokenizers of tokenizers/testdata. bench/run runs in the root of the module.

func init() {
	for _, kind := range []string{"gpt2", "bert", "t5"} {
		worker.Cases["tokens "+kind] = func(p worker.Params) (*worker.Case, error) {
			t, err := testTokenizer(kind)
			if err != nil {
				return nil, err
			}
			lines, err := englishLines(p.N)
			if err != nil {
				return nil, err
			}
			encode := func(use func(e *tokenizers.Encoding)) {
				for _, line := range lines {
					e, err := t.Encode(line)
					if err != nil {
						panic(err)
					}
					use(e)
				}
			}
			return &worker.Case{
				Run: func() { encode(func(*tokenizers.Encoding) {}) },
				Check: func() []float64 {
					tokens, ids := 0, 0
					encode(func(e *tokenizers.Encoding) {
						tokens += e.Len()
						for _, id := range e.IDs {
							ids += id
						}
					})
					return []float64{float64(tokens), float64(ids)}
				},
			}, nil
		}
	}
}

// testTokenizer reads a tokenizer of tokenizers/testdata, with the rules that lie there in a file of their own.
func testTokenizer(kind string) (*tokenizers.Tokenizer, error) {
	file, err := gunzip(kind + ".json.gz")
	if err != nil {
		return nil, err
	}
	rules, err := gunzip("charsmap.gz")
	if err != nil {
		return nil, err
	}
	text := base64.StdEncoding.EncodeToString(rules)
	return tokenizers.Parse(bytes.ReplaceAll(file, []byte(`"@charsmap"`), []byte(`"`+text+`"`)))
}

func gunzip(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join("tokenizers", "testdata", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// englishLines returns the first n lines of the guides that are not empty, again from the start where there are fewer.
func englishLines(n int) ([]string, error) {
	files, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files { // Glob sorts
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" {
				found = append(found, line)
			}
		}
	}
	out := make([]string, n)
	for i := range out {
		out[i] = found[i%len(found)]
	}
	return out, nil
}
