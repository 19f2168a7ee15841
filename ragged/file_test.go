package ragged

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/npy"
)

// Files that testdata/lists.py wrote.
func TestReadNumPy(t *testing.T) {
	for name, want := range map[string]string{
		"depth1.npz": "[ [0.] [1. 2.] [] [3. 4. 5. 6. 7. 8. 9.] ]",
		"depth2.npz": "[ [ [[0 1]] [] ] [ ] [ [[2 3] [4 5] [6 7]] ] ]",
		"fields.npz": "{x: [ [0. 1. 2.] ]\n y: [ [[0 1] [2 3] [4 5]] ]}",
	} {
		l, err := ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shows(t, l, want)
	}
}

func TestFiles(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	path := filepath.Join(t.TempDir(), "list.npz")
	edited := Of([][]int64{{1}, {2, 3}})
	edited.Insert(1, []int64{7, 8})
	for _, l := range []*List{
		edited,
		Empty(weft.Float16, 2),
		Of([][][]complex64{{{1}, {2, 3i}}, {}}),
		Of([][]xy{{{1, 2}}, {}}),
		Of([][]struct{ X bool }{{{true}}}),
	} {
		if err := WriteFile(path, l); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		shows(t, got, l.String())
		for i := range l.cols {
			if a, b := l.cols[i].live, got.cols[i].live; a.DType() != b.DType() || weft.Digest(a) != weft.Digest(b) {
				t.Errorf("%v became %v", a, b)
			}
		}
	}
	if WriteFile(path, nil) == nil || WriteFile(filepath.Join(path, "x"), edited) == nil {
		t.Error("no error")
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
	one, two := weft.Ones(3), weft.Ones(2)
	for _, bad := range []map[string]*weft.Tensor{
		{},
		{"data": one},
		{"offsets": weft.From([]int{0, 3})},
		{"data": one, "offsets": weft.From([]int{0, 4})},
		{"data": one, "offsets": weft.From([]int{2, 1})},
		{"data": one, "offsets": weft.From([]float32{0, 3})},
		{"data": one, "offsets": weft.From([][]int{{0, 3}})},
		{"data": one, "offsets": weft.From([]int{})},
		{"data": one, "offsets1": weft.From([]int{0, 3})},
		{"data": one, "offsets0": weft.From([]int{0, 9}), "offsets1": weft.From([]int{0, 3})},
		{"data": weft.Scalar(1), "offsets": weft.From([]int{0})},
		{"data": one, "data.x": one, "offsets": weft.From([]int{0, 3})},
		{"data.x": one, "data.y": two, "offsets": weft.From([]int{0, 2})},
	} {
		if err := npy.WriteArchiveFile(path, bad, npy.ArchiveOpts{}); err != nil {
			t.Fatal(err)
		}
		if l, err := ReadFile(path); err == nil {
			t.Errorf("%v: no error, %v", bad, l)
		}
	}
}

// Whatever an archive holds is an error or a list that can be read.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"depth1.npz", "depth2.npz", "fields.npz"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := npy.ReadArchive(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		l, err := fromArchive(a)
		if err != nil {
			return
		}
		_ = l.String()
		l.Sizes()
		if l.Fields() == nil && l.DType().Category() <= weft.Float64.Category() {
			l.Sum(-1)
		}
	})
}
