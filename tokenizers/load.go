package tokenizers

import (
	"os"
	"path/filepath"
)

// Load reads a tokenizer.json, by its path or by that of its folder. Errors are those of Parse, or of reading.
func Load(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}
