package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// checkArchive compares with what make_archives.py wrote.
func checkArchive(t *testing.T, tensors map[string]*weft.Tensor) {
	t.Helper()
	ramp := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return x
	}
	want := map[string]struct {
		dtype weft.DType
		shape []int
		data  []float64
	}{
		"scalar":               {weft.Float64, []int{}, []float64{2.5}},
		"rows":                 {weft.Float32, []int{2, 3}, ramp(6)},
		"columns":              {weft.Int32, []int{2, 3}, ramp(6)},
		"big":                  {weft.Int64, []int{5}, ramp(5)},
		"flags":                {weft.Bool, []int{3}, []float64{1, 0, 1}},
		"empty":                {weft.Uint16, []int{3, 0}, nil},
		"with space/and slash": {weft.Uint8, []int{300}, nil},
	}
	if len(tensors) != len(want) {
		t.Errorf("%d arrays, want %d", len(tensors), len(want))
	}
	for name, w := range want {
		x := tensors[name]
		if x == nil {
			t.Errorf("no array %q", name)
			continue
		}
		if name == "with space/and slash" {
			for i, b := range weft.Data[uint8](x) {
				if b != uint8(i) {
					t.Errorf("%q: element %d is %d", name, i, b)
				}
			}
			continue
		}
		if x.DType() != w.dtype || !slices.Equal(x.Shape(), w.shape) || !slices.Equal(weft.Data[float64](x.To(weft.Float64)), append([]float64{}, w.data...)) {
			t.Errorf("%q is %v", name, x)
		}
	}
	if x := tensors["columns"]; x != nil && x.IsContiguous() {
		t.Error("the memory order is lost")
	}
}

func TestArchiveOfNumPy(t *testing.T) {
	for _, file := range []string{"stored.npz", "deflated.npz"} {
		path := filepath.Join("testdata", file)
		tensors, err := ReadArchiveFile(path)
		var left *LeftOutError
		if !errors.As(err, &left) || !errors.Is(err, errors.ErrUnsupported) || left.Path != path || !slices.Equal(left.Names, []string{"text"}) || !strings.Contains(err.Error(), `"text"`) {
			t.Fatalf("what was left out: %v", err)
		}
		checkArchive(t, tensors)
		a, err := OpenArchive(path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if got := a.Names(); len(got) != 8 || got[0] != "scalar" || got[7] != "text" {
			t.Errorf("names are %q", got)
		}
		if _, err := a.Tensor("text"); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), `"text"`) {
			t.Errorf("text: %v", err)
		}
		if _, err := a.Tensor("nothing"); err == nil {
			t.Error("an array that is not there is read")
		}
		if _, err := a.Columns("rows"); !errors.As(err, new(*FormatError)) {
			t.Errorf("columns of a plain array: %v", err)
		}
		mapped := map[string]*weft.Tensor{}
		for _, name := range a.Names()[:7] {
			x, err := a.Map(name, ReadOnly)
			if file == "deflated.npz" {
				if !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("mapping what is compressed: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			mapped[name] = x
		}
		if file == "stored.npz" {
			checkArchive(t, mapped)
		}
	}
}

// What is written is read again, in both ways, by the same bytes for the same arrays; data
// that is stored lies where it can be mapped.
func TestWriteArchive(t *testing.T) {
	tensortest.SkipLate(t, "the host's copy is in row-major order")
	tensors, err := ReadArchiveFile(filepath.Join("testdata", "stored.npz"))
	if !errors.As(err, new(*LeftOutError)) {
		t.Fatal(err)
	}
	for _, compress := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := WriteArchiveFile(path, tensors, ArchiveOpts{Compress: compress}); err != nil {
			t.Fatal(err)
		}
		again, err := ReadArchiveFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkArchive(t, again)
		var out bytes.Buffer
		if err := WriteArchive(&out, again, ArchiveOpts{Compress: compress}); err != nil {
			t.Fatal(err)
		}
		if data, _ := os.ReadFile(path); !bytes.Equal(data, out.Bytes()) {
			t.Error("the same arrays gave other bytes")
		}
		a, err := OpenArchive(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(a.Names()) {
			t.Errorf("names are %q", a.Names())
		}
		if compress {
			a.Close()
			continue
		}
		mapped := map[string]*weft.Tensor{}
		for _, name := range a.Names() {
			at, err := a.index[name].DataOffset()
			if err != nil || at%64 != 0 {
				t.Errorf("%q begins at byte %d (%v)", name, at, err)
			}
			if mapped[name], err = a.Map(name, CopyOnWrite); err != nil {
				t.Fatal(err)
			}
			v, done := (*core.Tensor)(mapped[name]).Lend()
			if _, read := v.Store.Owner().([]byte); read && v.Size() > 0 && name != "flags" && name != "big" {
				t.Errorf("%q was not mapped", name)
			}
			done()
		}
		a.Close() // mapped arrays stay
		checkArchive(t, mapped)
	}
}

// zipOf makes an archive by hand.
func zipOf(t testing.TB, method uint16, members ...string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(members); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: members[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, members[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	good := string(file(1, f4+"(2,), }", "12345678"))
	bomb := string(file(1, f4+"(1000000000000,), }", strings.Repeat("\x00", 1<<20)))
	for name, c := range map[string]struct {
		data []byte
		msg  string
	}{
		"empty":    {nil, "not a valid zip file"},
		"text":     {[]byte(strings.Repeat("x", 1000)), "not a valid zip file"},
		"npy":      {[]byte(good), "not a valid zip file"},
		"twice":    {zipOf(t, zip.Store, "a.npy", good, "a.npy", good), "two arrays"},
		"no npy":   {zipOf(t, zip.Store, "a.npy", "nothing"), "cannot be read"},
		"trailing": {zipOf(t, zip.Deflate, "a.npy", good+"1"), "bytes follow"},
		"cut":      {zipOf(t, zip.Deflate, "a.npy", good[:len(good)-1]), "unexpected EOF"},
		"bomb":     {zipOf(t, zip.Deflate, "a.npy", bomb), "unexpected EOF"},
		"checksum": {bytes.Replace(zipOf(t, zip.Store, "a.npy", good), []byte("12345678"), []byte("12345679"), 1), "checksum"},
		"method":   {bytes.ReplaceAll(zipOf(t, zip.Store, "a.npy", good), []byte("PK\x01\x02\x14\x00\x14\x00\x08\x00\x00\x00"), []byte("PK\x01\x02\x14\x00\x14\x00\x08\x00\x63\x00")), "compression"},
		"secret":   {bytes.ReplaceAll(zipOf(t, zip.Store, "a.npy", good), []byte("PK\x01\x02\x14\x00\x14\x00\x08\x00"), []byte("PK\x01\x02\x14\x00\x14\x00\x09\x00")), "encrypted"},
	} {
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadArchiveFile(path)
		if a, e := OpenArchive(path); e == nil { // unsupported arrays are left out by ReadArchiveFile
			_, err = a.Tensor("a")
			if _, e := a.Map("a", ReadOnly); e == nil && name != "checksum" {
				t.Errorf("%s: it can be mapped", name)
			}
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.msg)
			continue
		}
		if !errors.As(err, new(*FormatError)) && !errors.As(err, new(*UnsupportedError)) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v is an error of the wrong type: %T", name, err, err)
		}
	}
	if a, err := ReadArchive(bytes.NewReader(zipOf(t, zip.Store, "readme.txt", "hello")), 128); err == nil && len(a.Names()) > 0 {
		t.Error("what is not an array is listed")
	}
	if err := WriteArchive(io.Discard, map[string]*weft.Tensor{"a": nil}, ArchiveOpts{}); err == nil {
		t.Error("nil is written")
	}
	if err := WriteArchive(io.Discard, map[string]*weft.Tensor{strings.Repeat("a", 1<<16): weft.Ones(1)}, ArchiveOpts{}); err == nil {
		t.Error("a name of 64 KB is written")
	}
	if err := WriteArchive(&limited{200, io.ErrClosedPipe}, map[string]*weft.Tensor{"a": weft.Ones(1000)}, ArchiveOpts{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
}

func FuzzReadArchive(f *testing.F) {
	for _, name := range []string{"stored.npz", "deflated.npz", "structured.zip"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(zipOf(f, zip.Store, "a.npy", string(file(1, f4+"(2,), }", "12345678"))))
	path := filepath.Join(f.TempDir(), "x.npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := OpenArchive(path)
		if err != nil {
			return
		}
		defer a.Close()
		for _, name := range a.Names() {
			x, err := a.Tensor(name)
			if y, e := a.Map(name, ReadOnly); e == nil {
				if err == nil && !slices.Equal(bytesOf(t, x), bytesOf(t, y)) {
					t.Fatalf("array %q is mapped as another", name)
				}
				y.Release()
			}
			if err != nil {
				continue
			}
			var out bytes.Buffer
			if err := WriteArchive(&out, map[string]*weft.Tensor{name: x}, ArchiveOpts{Compress: true}); err != nil {
				if len(name) > 1<<15 {
					continue
				}
				t.Fatal(err)
			}
			again, err := ReadArchive(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if y, err := again.Tensor(name); err != nil || !slices.Equal(bytesOf(t, x), bytesOf(t, y)) {
				t.Fatalf("array %q changed: %v", name, err)
			}
		}
	})
}

// A write into a member of an archive would make its checksum wrong.
func TestMembersAreNotMappedForWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := WriteArchiveFile(path, map[string]*weft.Tensor{"x": weft.Ones(3)}); err != nil {
		t.Fatal(err)
	}
	a, err := OpenArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Map("x", ReadWrite); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
