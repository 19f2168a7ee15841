package models_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/safetensors"
	"weft/torchfile"
)

// TestLoadReadsFilesByTheirContents loads the weights of a ResNet from every kind of file under a name that
// says nothing.
func TestLoadReadsFilesByTheirContents(t *testing.T) {
	from := tinyResNet(3)
	fill(t, from, "")
	state := models.State(from, "")
	want := weft.DigestNamed(nn.Params(from))
	half := [2]map[string]*weft.Tensor{{}, {}}
	index := map[string]map[string]string{"metadata": {}, "weight_map": {}}
	for i, name := range sortedNames(state) {
		half[i%2][name] = state[name]
		index["weight_map"][name] = []string{"a.safetensors", "b.bin"}[i%2]
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	text, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		safetensors.WriteFile(in("one"), state, nil), torchfile.WriteFile(in("two"), state),
		torchfile.WriteFile(in("three"), map[string]any{"epoch": 3, "state_dict": state}),
		safetensors.WriteFile(in("a.safetensors"), half[0], nil), torchfile.WriteFile(in("b.bin"), half[1]),
		os.WriteFile(in("model.safetensors.index.json"), text, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{in("one"), in("two"), in("three"), in("model.safetensors.index.json"), dir} {
		net := tinyResNet(3)
		if err := models.Load(net, path); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if weft.DigestNamed(nn.Params(net)) != want {
			t.Errorf("%s: other weights", path)
		}
	}
	// A header of 640 bytes begins as a pickle does, one of '{' and a space as JSON.
	for _, n := range []int{640, '{' + ' '<<8} {
		head := `{"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`
		file := string([]byte{byte(n), byte(n >> 8), 0, 0, 0, 0, 0, 0}) + head + strings.Repeat(" ", n-len(head))
		if err := os.WriteFile(in("header"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if state, err := models.ReadState(in("header")); err != nil || state["x"] == nil {
			t.Errorf("a header of %d bytes: %v", n, err)
		}
	}
}

func sortedNames(state map[string]*weft.Tensor) []string {
	var names []string
	for name := range state {
		names = append(names, name)
	}
	return names
}

// TestIndexErrors has indexes that name files elsewhere, or tensors that are not where they should be.
func TestIndexErrors(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		safetensors.WriteFile(filepath.Join(dir, "a"), map[string]*weft.Tensor{"x": weft.Zeros(1)}, nil),
		safetensors.WriteFile(filepath.Join(dir, "b"), map[string]*weft.Tensor{"y": weft.Zeros(1)}, nil),
		safetensors.WriteFile(filepath.Join(dir, "c"), map[string]*weft.Tensor{"x": weft.Zeros(1), "z": weft.Zeros(1)}, nil),
		os.WriteFile(filepath.Join(dir, "loop"), []byte(`{"weight_map": {"x": "loop"}}`), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ index, tensor, shard, want string }{
		{`{`, "", "", "not an index"},
		{`{"weight_map": 3}`, "", "", "not an index"},
		{`{"weights": {}}`, "", "", "no weight_map"},
		{`{"weight_map": {"x": "../a"}}`, "x", "../a", "leaves the folder"},
		{`{"weight_map": {"x": "/etc/passwd"}}`, "x", "/etc/passwd", "leaves the folder"},
		{`{"weight_map": {"x": "s/../../a"}}`, "x", "s/../../a", "leaves the folder"},
		{`{"weight_map": {"x": ""}}`, "x", "", "leaves the folder"},
		{`{"weight_map": {"x": "none"}}`, "", "none", "cannot be read"},
		{`{"weight_map": {"x": "."}}`, "", ".", "cannot be read"},
		{`{"weight_map": {"x": "loop"}}`, "", "loop", "is an index"},
		{`{"weight_map": {"x": "b", "y": "a"}}`, "y", "a", `is in "b"`},
		{`{"weight_map": {"x": "a", "w": "b"}}`, "w", "b", "is not in the file"},
		{`{"weight_map": {"x": "a", "z": "c"}}`, "x", "c", `is in "a" as well`},
	} {
		path := filepath.Join(dir, "index.json")
		if err := os.WriteFile(path, []byte(c.index), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := models.ReadState(path)
		e, ok := errors.AsType[*models.IndexError](err)
		if !ok && c.index != "{" || ok && (e.Path != path || e.Tensor != c.tensor || e.Shard != c.shard || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.index, err, c.want)
		}
	}
	if _, err := models.ReadState(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(`{"weight_map": {"x": "a", "y": "b"}}`)
	f.Add(`{"weight_map": {"x": "../a"}}`)
	f.Add(`{"metadata": {"total_size": 3}, "weight_map": {"x": "index.json"}}`)
	dir := f.TempDir()
	if err := safetensors.WriteFile(filepath.Join(dir, "a"), map[string]*weft.Tensor{"x": weft.Zeros(1)}, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, index string) {
		path := filepath.Join(dir, "index.json")
		if err := os.WriteFile(path, []byte(index), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = models.ReadState(path)
	})
}
