package arrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/ragged"
)

// values returns a column as pyarrow's to_pylist and JSON do: lists, maps, float64, bool, nil.
// A null row of several dimensions is one whose numbers all are.
func values(c Column) []any {
	valid := func(i int) []bool {
		if i < len(c.Valid) && c.Valid[i] != nil {
			return weft.Data[bool](c.Valid[i].Reshape(-1))
		}
		return nil
	}
	if c.Tensor != nil {
		return rowsOf(c.Tensor, valid(0))
	}
	l := c.List
	depth := l.Depth()
	var rows []any
	if names := l.Fields(); names == nil {
		rows = rowsOf(l.Data(), valid(depth))
	} else {
		rows = make([]any, l.Rows())
		for i, ok := range rows {
			_ = ok
			rows[i] = map[string]any{}
		}
		for k, name := range names {
			for i, x := range rowsOf(l.Field(name).Data(), valid(depth+1+k)) {
				rows[i].(map[string]any)[name] = x
			}
		}
		for i, ok := range valid(depth) {
			if !ok {
				rows[i] = nil
			}
		}
	}
	for k := depth - 1; k >= 0; k-- {
		o := weft.Data[int64](l.Offsets(k))
		items := make([]any, len(o)-1)
		for i := range items {
			items[i] = append([]any{}, rows[o[i]:o[i+1]]...)
		}
		for i, ok := range valid(k) {
			if !ok {
				items[i] = nil
			}
		}
		rows = items
	}
	return rows
}

func rowsOf(x *weft.Tensor, valid []bool) []any {
	shape := x.Shape()
	flat := weft.Data[float64](x.To(weft.Float64).Reshape(-1))
	at := 0
	var row func(depth int) any
	row = func(depth int) any {
		if depth == len(shape) {
			at++
			if valid != nil && !valid[at-1] {
				return nil
			}
			if x.DType() == weft.Bool {
				return flat[at-1] != 0
			}
			return flat[at-1]
		}
		out := []any{}
		for range shape[depth] {
			out = append(out, row(depth+1))
		}
		return out
	}
	return row(0).([]any)
}

// equal compares, taking a list of nulls for a null.
func equal(got, want any) bool {
	g, ok := got.([]any)
	switch w := want.(type) {
	case nil:
		for _, x := range g {
			if !equal(x, nil) {
				return false
			}
		}
		return got == nil || len(g) > 0
	case []any:
		return ok && slices.EqualFunc(g, w, equal)
	case map[string]any:
		g, ok := got.(map[string]any)
		for name := range w {
			ok = ok && equal(g[name], w[name])
		}
		return ok && len(g) == len(w)
	}
	return got == want
}

// expected is what pyarrow says is in the files.
func expected(t testing.TB) map[string][]any {
	b, err := os.ReadFile("testdata/lists.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

func checkBatches(t *testing.T, name string, batches []Batch, want map[string][]any) {
	t.Helper()
	got := map[string][]any{}
	for _, b := range batches {
		for _, c := range b {
			got[c.Name] = append(got[c.Name], values(c)...)
		}
	}
	checkColumns(t, name, got, want)
}

func checkColumns(t *testing.T, who string, got, want map[string][]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d columns, want %d", who, len(got), len(want))
	}
	for column, w := range want {
		if !equal([]any(got[column]), []any(w)) {
			t.Errorf("%s: column %q is\n%v, want\n%v", who, column, got[column], w)
		}
	}
}

// checkReading has pyarrow read files that were written here.
func checkReading(t *testing.T, want map[string][]any, paths ...string) (asked bool) {
	t.Helper()
	var files [][]map[string][]any
	if !pyarrow(t, &files, paths...) {
		return false
	}
	for i, batches := range files {
		got := map[string][]any{}
		for _, b := range batches {
			for name, x := range b {
				got[name] = append(got[name], x...)
			}
		}
		checkColumns(t, "pyarrow, "+paths[i], got, want)
	}
	t.Logf("pyarrow read %d files", len(files))
	return true
}

// pyarrow runs the script that made the files in testdata, and reads what it prints as JSON;
// without a Python that has it (WEFT_BENCH_PYTHON names one) nothing is asked.
func pyarrow(t *testing.T, to any, args ...string) (asked bool) {
	t.Helper()
	python := os.Getenv("WEFT_BENCH_PYTHON")
	if python == "" {
		t.Log("WEFT_BENCH_PYTHON is not set: pyarrow did not read what was written")
		return false
	}
	out, err := exec.Command(python, append([]string{"testdata/make_files.py"}, args...)...).Output()
	if err == nil {
		err = json.Unmarshal(out, to)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func TestFilesOfPyArrow(t *testing.T) {
	want := expected(t)
	for name, batches := range map[string]int{"lists": 1, "lz4": 1, "zstd": 1, "batches": 3} {
		got, err := ReadFile(filepath.Join("testdata", name+".arrow"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != batches {
			t.Errorf("%s: %d batches, want %d", name, len(got), batches)
		}
		checkBatches(t, name, got, want)
	}
}

// readable leaves out what Write cannot know: columns without a counterpart.
func readable(t *testing.T, name string) []Batch {
	batches, err := ReadFile(filepath.Join("testdata", name+".arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range batches {
		batches[i] = slices.DeleteFunc(batches[i], func(c Column) bool { return c.List == nil && c.Tensor == nil })
	}
	return batches
}

// What is written is read again, by this package, and by pyarrow where there is one.
func TestWriteFiles(t *testing.T) {
	want := expected(t)
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"lists", "batches"} {
		for layout := LargeList; layout <= List; layout++ {
			path := filepath.Join(dir, fmt.Sprint(name, layout, ".arrow"))
			if err := WriteFile(path, readable(t, name), ArrayOpts{Layout: layout}); err != nil {
				t.Fatal(err)
			}
			again, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkBatches(t, path, again, want)
			paths = append(paths, path)
		}
	}
	checkReading(t, want, paths...)
}

func TestHostileFiles(t *testing.T) {
	good, err := os.ReadFile("testdata/lists.arrow")
	if err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) error {
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		return err
	}
	typed := func(err error) bool {
		return errors.As(err, new(*FormatError)) || errors.As(err, new(*UnsupportedError)) || errors.Is(err, io.ErrUnexpectedEOF)
	}
	for name, b := range map[string][]byte{"empty": nil, "text": bytes.Repeat([]byte("x"), 1000), "magic": []byte("ARROW1\x00\x00"), "both magics": []byte("ARROW1\x00\x00\xff\xff\xff\x7fARROW1")} {
		if err := read(b); !typed(err) || !strings.HasPrefix(err.Error(), "arrow: ") {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
	}
	for n := 0; n < len(good); n += 7 {
		if err := read(good[:n]); !typed(err) {
			t.Fatalf("the first %d bytes: %v (%T)", n, err, err)
		}
	}
	// One byte of the whole file changed: a value, or a typed error.
	failed := 0
	step := 4
	if testing.Short() {
		step = 41
	}
	for i := 0; i < len(good); i += step {
		for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := slices.Clone(good)
			b[i] = x
			if err := read(b); err != nil {
				if failed++; !typed(err) {
					t.Fatalf("byte %d as %#x: %v (%T)", i, x, err, err)
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no changed byte was noticed")
	}
	if _, err := ReadFile("testdata/nothing.arrow"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	l := ragged.Of([][]float32{{1}, {2, 3}})
	col := func(c Column) []Batch { return []Batch{{c}} }
	for name, c := range map[string]struct {
		batches []Batch
		opts    ArrayOpts
		msg     string
	}{
		"nothing":     {nil, ArrayOpts{}, "no batches"},
		"neither":     {col(Column{Name: "a"}), ArrayOpts{}, "no list and no tensor"},
		"both":        {col(Column{List: l, Tensor: weft.Ones(2)}), ArrayOpts{}, "or both"},
		"scalar":      {col(Column{Tensor: weft.Scalar(1)}), ArrayOpts{}, "without dimensions"},
		"layout":      {col(Column{List: l}), ArrayOpts{Layout: 9}, "Layout(9)"},
		"uneven":      {col(Column{List: l}), ArrayOpts{Layout: FixedSizeList}, "items of 1 and of 2 rows"},
		"masks":       {col(Column{List: l, Valid: []*weft.Tensor{nil}}), ArrayOpts{}, "want 2"},
		"mask":        {col(Column{List: l, Valid: []*weft.Tensor{weft.OnesOf(weft.Bool, 3), nil}}), ArrayOpts{}, "want bool [2]"},
		"mask type":   {col(Column{Tensor: weft.Ones(2), Valid: []*weft.Tensor{weft.Ones(2)}}), ArrayOpts{}, "want bool [2]"},
		"lengths":     {[]Batch{{{Name: "a", List: l}, {Name: "b", Tensor: weft.Ones(3)}}}, ArrayOpts{}, "the first column 2"},
		"batches":     {[]Batch{{{Name: "a", List: l}}, {{Name: "b", List: l}}}, ArrayOpts{}, "batches differ"},
		"zero list":   {col(Column{List: &ragged.List{}}), ArrayOpts{}, "zero List"},
		"zero tensor": {col(Column{Tensor: &weft.Tensor{}}), ArrayOpts{}, "zero Tensor"},
	} {
		if err := Write(io.Discard, c.batches, c.opts); err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "arrow: ") {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.msg)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"lists", "lz4", "zstd", "batches", "types"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".arrow"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		batches, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, b := range batches {
			for _, c := range b {
				switch {
				case c.Tensor != nil:
					weft.Digest(c.Tensor)
				case c.List != nil && c.List.Fields() == nil:
					weft.Digest(c.List.Data())
				case c.List != nil:
					for _, name := range c.List.Fields() {
						weft.Digest(c.List.Field(name).Data())
					}
				}
				for _, v := range c.Valid {
					if v != nil {
						weft.Digest(v)
					}
				}
			}
		}
	})
}
