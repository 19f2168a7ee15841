package models

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/mapped"
	"weft/safetensors"
	"weft/torchfile"
)

// An IndexError describes an index of files, as transformers writes it beside weights in several files, that
// cannot be followed.
type IndexError struct {
	Path   string // of the index
	Tensor string // that it is about, "" for the whole
	Shard  string // the file that should have the tensor, "" for none
	Msg    string
	Err    error // what caused it, nil for none
}

func (e *IndexError) Error() string {
	s := "models: " + e.Path
	if e.Shard != "" {
		s += fmt.Sprintf(": shard %q", e.Shard)
	}
	if e.Tensor != "" {
		s += fmt.Sprintf(": tensor %q", e.Tensor)
	}
	s += ": " + e.Msg
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *IndexError) Unwrap() error { return e.Err }

// weightFiles are the names of weights in a folder of Hugging Face, the first that is there counts.
var weightFiles = []string{"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"}

// maxIndex is the greatest index that is read; one of 100,000 tensors has some 10 MB.
const maxIndex = 100 << 20

// ReadStateOpts are the options of [ReadState].
type ReadStateOpts struct {
	Map bool // tensors lie in mapped files: the system reads pages when they are touched
}

// ReadState reads the tensors of weights by name. The path is that of
//   - a safetensors file;
//   - a file of torch.save with a state dict (.pt, .pth, .bin), as package torchfile reads it;
//   - an index of such files, as large models have: model.safetensors.index.json;
//   - a folder of Hugging Face, which has model.safetensors, pytorch_model.bin or an index of one.
//
// With [ReadStateOpts].Map, what can be used in the files stays there, as safetensors.Map and torchfile.LoadOpts describe.
//
// What a file is, its contents say, not its name. An index that names files outside of its folder, files that
// are missing, or tensors that are not in them, gives an *[IndexError].
func ReadState(path string, opts ...ReadStateOpts) (map[string]*weft.Tensor, error) {
	o := array.Options("readstate", opts)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	if info.IsDir() {
		for _, name := range weightFiles {
			if _, err := os.Stat(filepath.Join(path, name)); err == nil {
				return ReadState(filepath.Join(path, name), o)
			}
		}
		return nil, fmt.Errorf("models: the folder %s has none of %s: %w", path, strings.Join(weightFiles, ", "), fs.ErrNotExist)
	}
	begin, err := beginning(path)
	switch {
	case err != nil:
		return nil, err
	case strings.HasPrefix(begin, "PK\x03\x04"), strings.HasPrefix(begin, "\x80\x02\x8a\x0a"): // a zip file, a pickle
		return torchfile.ReadFile(path, torchfile.LoadOpts{Map: o.Map})
	case isIndex(begin):
		return readIndex(path, info.Size(), o)
	}
	state, _, err := safetensors.ReadFile(path, safetensors.ReadOpts{Map: o.Map})
	if err != nil && !isSafetensors(begin, info.Size()) {
		return nil, fmt.Errorf("models: %s is neither a safetensors file nor one of torch.save: %w", path, err)
	}
	return state, err
}

// isSafetensors reports whether a file of a size can be one of safetensors, by its first bytes: the length
// of the header, which is in the file.
func isSafetensors(begin string, size int64) bool {
	return len(begin) == 8 && binary.LittleEndian.Uint64([]byte(begin)) <= uint64(size)
}

// beginning returns the first bytes of a file.
func beginning(path string) (string, error) {
	f, err := mapped.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 8)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(b[:n]), nil
}

// isIndex reports whether a file is JSON by its first bytes. A safetensors file begins with a length of 8
// bytes, the last of them 0.
func isIndex(begin string) bool {
	return strings.HasPrefix(strings.TrimLeft(begin, " \t\r\n"), "{") && !strings.Contains(begin, "\x00")
}

// parseIndex reads the index at path: the names of the tensors by that of their file.
func parseIndex(path string, text []byte) (map[string][]string, error) {
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, &IndexError{Path: path, Msg: "not an index", Err: err}
	}
	if len(index.WeightMap) == 0 {
		return nil, &IndexError{Path: path, Msg: "the index has no weight_map"}
	}
	shards := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(index.WeightMap)) {
		shard := index.WeightMap[name]
		if !filepath.IsLocal(shard) {
			return nil, &IndexError{Path: path, Tensor: name, Shard: shard, Msg: "the path leaves the folder"}
		}
		shards[shard] = append(shards[shard], name)
	}
	return shards, nil
}

// readIndex reads all tensors of an index.
func readIndex(path string, size int64, o ReadStateOpts) (map[string]*weft.Tensor, error) {
	if size > maxIndex {
		return nil, &IndexError{Path: path, Msg: fmt.Sprintf("an index of %d bytes, at most %d are read", size, maxIndex)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	shards, err := parseIndex(path, text)
	if err != nil {
		return nil, err
	}
	out := map[string]*weft.Tensor{}
	from := map[string]string{}
	for _, shard := range slices.Sorted(maps.Keys(shards)) {
		file := filepath.Join(filepath.Dir(path), shard)
		begin, err := beginning(file)
		if err != nil {
			return nil, &IndexError{Path: path, Shard: shard, Msg: "cannot be read", Err: err}
		}
		if isIndex(begin) {
			return nil, &IndexError{Path: path, Shard: shard, Msg: "is an index, not a file of tensors"}
		}
		state, err := ReadState(file, o)
		if err != nil {
			return nil, &IndexError{Path: path, Shard: shard, Msg: "cannot be read", Err: err}
		}
		for name, x := range state {
			if first, ok := from[name]; ok {
				return nil, &IndexError{Path: path, Shard: shard, Tensor: name, Msg: fmt.Sprintf("is in %q as well", first)}
			}
			from[name], out[name] = shard, x
		}
	}
	for _, shard := range slices.Sorted(maps.Keys(shards)) {
		for _, name := range shards[shard] {
			switch from[name] {
			case shard:
			case "":
				return nil, &IndexError{Path: path, Shard: shard, Tensor: name, Msg: "is not in the file"}
			default:
				return nil, &IndexError{Path: path, Shard: shard, Tensor: name, Msg: fmt.Sprintf("is in %q", from[name])}
			}
		}
	}
	return out, nil
}
