package hf_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/hf"
	"weft/models"
	"weft/nn"
	"weft/safetensors"
	"weft/tokenizers"
)

// hostileCopy is a folder of testdata in a temporary one.
func hostileCopy(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Folders whose files lie end in typed errors, with memory bounded by the files.
func TestHostileFolders(t *testing.T) {
	config := func(key string, value any) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "config.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c map[string]any
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			c[key] = value
			if text, err = json.Marshal(c); err != nil {
				t.Fatal(err)
			}
			write(t, path, text)
		}
	}
	weights := func(change func(state map[string]*weft.Tensor)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "model.safetensors")
			state, _, err := safetensors.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			change(state)
			if err := safetensors.WriteFile(path, state, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { write(t, filepath.Join(dir, name), []byte(text)) }
	}
	index := func(files map[string]string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "part.safetensors")); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(map[string]any{"weight_map": files})
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "model.safetensors.index.json"), text)
		}
	}
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"no config": func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "config.json")) },
		"config is a folder": func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "config.json"))
			os.Mkdir(filepath.Join(dir, "config.json"), 0o777)
		},
		"config is noise":     raw("config.json", "\x00\xff{"),
		"config nests":        raw("config.json", strings.Repeat("[", 1<<20)),
		"config of 17 MB":     raw("config.json", `{"x":"`+strings.Repeat("a", 17<<20)+`"}`),
		"architectures":       config("architectures", []string{"../../../etc/passwd"}),
		"width 0":             config("hidden_size", 0),
		"width below 0":       config("hidden_size", -8),
		"huge width":          config("hidden_size", 1<<40),
		"huge vocabulary":     config("vocab_size", 1<<50),
		"huge depth":          config("num_hidden_layers", 1<<40),
		"many layers":         config("num_hidden_layers", 1<<20),
		"heads do not divide": config("num_attention_heads", 7),
		"heads below 0":       config("num_attention_heads", -1),
		"a text for a number": config("hidden_size", "16"),
		"labels with gaps":    config("id2label", map[string]string{"0": "a", "2": "b"}),
		"no weights":          func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "model.safetensors")) },
		"weights are noise":   raw("model.safetensors", "not a file of weights"),
		"weights are cut": func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 9000); err != nil {
				t.Fatal(err)
			}
		},
		"weights of integers": weights(func(state map[string]*weft.Tensor) {
			for name, w := range state {
				state[name] = w.To(weft.Int64)
			}
		}),
		"a weight is missing": weights(func(state map[string]*weft.Tensor) {
			for name := range state {
				delete(state, name)
				return
			}
		}),
		"weights of another shape": weights(func(state map[string]*weft.Tensor) {
			for name := range state {
				state[name] = weft.Zeros(3)
			}
		}),
		"index of a missing shard": index(map[string]string{"a": "model-00001-of-00002.safetensors"}),
		"index leads out":          index(map[string]string{"a": "../part.safetensors"}),
		"index is absolute":        index(map[string]string{"a": "/etc/passwd"}),
		"index of nothing":         index(map[string]string{}),
		"index of missing weights": index(map[string]string{"no.such.weight": "part.safetensors"}),
		"tokenizer is noise":       raw("tokenizer.json", "{"),
		"tokenizer nests":          raw("tokenizer.json", `{"model":`+strings.Repeat(`{"a":`, 1<<18)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := hostileCopy(t, "bert")
			spoil(t, dir)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := hf.Load(dir)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("gives %+v", m.Config)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
				t.Errorf("took %d MB", used>>20)
			}
			if strings.Contains(err.Error(), "runtime error") || !typed(err) {
				t.Errorf("is not typed: %T %v", err, err)
			}
			if is[*hf.FormatError](err) && strings.Count(err.Error(), dir) > 1 {
				t.Errorf("names the folder twice: %v", err)
			}
		})
	}
	file := filepath.Join(hostileCopy(t, "bert"), "config.json")
	if _, err := hf.Load(file); !is[*hf.FormatError](err) || strings.Count(err.Error(), file) != 1 || !strings.Contains(err.Error(), "want the folder") {
		t.Errorf("a file in place of a folder: %T %v", err, err)
	}
}

// typed reports whether an error is one that the packages which read folders define, or one of the file system.
func typed(err error) bool {
	return is[*hf.FormatError](err) || is[*hf.UnsupportedError](err) || is[*nn.StateError](err) || is[*models.IndexError](err) ||
		is[*tokenizers.FormatError](err) || is[*safetensors.FormatError](err) || is[*fs.PathError](err) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
