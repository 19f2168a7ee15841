package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	tensors := func() []named {
		return []named{{"b", sample(array.Float32, 2, 3)}, {"a", sample(array.Float32)}, {"c", sample(array.Int64, 4)}}
	}
	if err := encodeFile(path, tensors(), map[string]string{"k": "v"}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"c", "a", "b"}; !slices.Equal(f.Names(), want) {
		t.Errorf("names %q, want %q", f.Names(), want)
	}
	info, ok := f.Info("b")
	if want := (Info{"F32", []int{2, 3}, 24}); !ok || !reflect.DeepEqual(info, want) {
		t.Errorf("got %v %v, want %v", info, ok, want)
	}
	info.Shape[0] = 7 // the caller's own copy
	if again, _ := f.Info("b"); again.Shape[0] != 2 {
		t.Error("Info shares its shape")
	}
	if _, ok := f.Info("d"); ok {
		t.Error("there is no d")
	}
	m := f.Metadata()
	if !maps.Equal(m, map[string]string{"k": "v"}) {
		t.Errorf("metadata %v", m)
	}
	delete(m, "k")
	if len(f.Metadata()) != 1 {
		t.Error("Metadata shares its map")
	}
	v, err := f.view("b")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	checkView(t, "b", &v, array.Float32, []int{2, 3}) // it outlives the file
	if _, err := f.view("b"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}

	// A failing write leaves the file alone.
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := encodeFile(path, append(tensors(), named{metadataKey, sample(array.Bool)}), nil); err == nil {
		t.Error("the name was accepted")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a directory was opened")
	}
	path := filepath.Join(dir, "short")
	if err := os.WriteFile(path, []byte("1234567"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
		t.Errorf("short: %v", err)
	}
}

// What the parser accepts, encoding/json accepts with the same result.
func FuzzHeader(f *testing.F) {
	for _, name := range []string{"supported", "other", "names", "empty"} {
		b, file := load(f, name)
		f.Add(string(b[8:file.start]))
	}
	f.Add(`{"x":{"dtype":"U8","shape":[1,0,23],"data_offsets":[4,4]}}`)
	f.Add(` {"\u00e9\ud83d\uDE00\/\b":{ "shape":[ ] ,"data_offsets":[0,1],"dtype":"BOOL"},"__metadata__":{"a":"b"}} `)
	f.Fuzz(func(t *testing.T, text string) {
		entries, metadata, err := parseHeader(text)
		if err != nil {
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if raw, ok := want[metadataKey]; ok {
			var m map[string]string
			if err := json.Unmarshal(raw, &m); err != nil || !maps.Equal(m, metadata) {
				t.Fatalf("metadata %q, want %q, %v", metadata, m, err)
			}
			delete(want, metadataKey)
		}
		if len(entries) != len(want) {
			t.Fatalf("%d tensors, want %d", len(entries), len(want))
		}
		for _, e := range entries {
			var w struct {
				DType   string  `json:"dtype"`
				Shape   []int   `json:"shape"`
				Offsets []int64 `json:"data_offsets"`
			}
			if err := json.Unmarshal(want[e.name], &w); err != nil {
				t.Fatalf("tensor %q: %v", e.name, err)
			}
			if e.kind.name != w.DType || !slices.Equal(e.shape, w.Shape) || !slices.Equal([]int64{e.begin, e.end}, w.Offsets) {
				t.Fatalf("tensor %q: got %v, want %v", e.name, e, w)
			}
		}
		// With data of the right length, layOut has the last word; it must not
		// fail in any other way than by an error.
		end := int64(0)
		for _, e := range entries {
			end = max(end, e.end)
		}
		if err := layOut(entries, end); err == nil && end < 1<<16 {
			b := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
			b = append(append(b, text...), make([]byte, end)...)
			if _, err := Read(bytes.NewReader(b), int64(len(b))); err != nil {
				t.Fatal(err)
			}
		}
	})
}
