package tokenizers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkEncode encodes the guides of docs line by line, on one goroutine.
func BenchmarkEncode(b *testing.B) {
	files, _ := filepath.Glob("../docs/*.md")
	var lines []string
	size := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" {
				lines = append(lines, line)
				size += len(line)
			}
		}
	}
	for _, kind := range []string{"bert", "gpt2", "llama3", "o200k", "llama2", "t5", "xlmr", "clip"} {
		b.Run(kind, func(b *testing.B) {
			tok := load(b, kind)
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, line := range lines {
					if _, err := tok.Encode(line); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
