package torchfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// run decodes a pickle whose storages are not there.
func run(pickle string) error {
	v, _, err := decode(pickle, persistent)
	if err == nil {
		_, err = newResolver(&source{place: func(string) (int64, int64, error) { return 0, 0, io.ErrUnexpectedEOF }}).value(v, 0)
	}
	return err
}

const tensor = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ"

// Pickles that would run, loop, or take memory: each gives an error that says what is wrong.
func TestHostilePickles(t *testing.T) {
	for _, c := range []struct{ pickle, want string }{
		{"", "ends early"},
		{"\x80\x01.", "protocol"},
		{"\x80\x06.", "protocol"},
		{"\x80\x02", "ends early"},
		{".", "stack is empty"},
		{"NN.", "values are left"},
		{"(.", "stack is empty"},
		{"\xff.", "not an opcode"},
		{"I1\n.", "protocol 0"},
		{"X\xff\xff\xff\xffab", "ends early"},
		{"\x8e\xff\xff\xff\xff\xff\xff\xff\xffab", "ends early"},
		{"X\x01\x00\x00\x00\xff.", "invalid UTF-8"},
		{"\x8b\xff\xff\xff\x7fab", "ends early"},
		{"h\x00.", "memo"},
		{"]q\x00h\x00a.", "holds itself"},
		{"}q\x00X\x01\x00\x00\x00ah\x00s.", "holds itself"},
		{"]q\x00(h\x00ta.", "holds itself"},
		{"}]Ns.", "is a key"},
		{"}}Ns.", "is a key"},
		{"K\x01K\x02R.", "calls a"},
		{"K\x01N}b.", "gives a"},
		{"K\x01K\x01a.", "appends to"},
		{"(K\x01K\x01u.", "stack is empty"},
		{"}(K\x01u.", "sets 1 keys"},
		{"K\x01Q.", "persistent id"},
		{"(tQ.", "persistent id"},
		{"(X\x07\x00\x00\x00storagecos\nsystem\nX\x01\x00\x00\x000NK\x01tQ.", "class os.system"},
		{tensor + "K\x00K\x07\x85K\x01\x85\x89NtR.", "does not lie"},
		{tensor + "K\x01K\x06\x85K\x01\x85\x89NtR.", "does not lie"},
		{tensor + "K\x00K\x02\x85K\x06\x85\x89NtR.", "does not lie"},
		{tensor + "K\x00K\x02\x85(K\x01K\x01t\x89NtR.", "1 sizes and 2 strides"},
		{tensor + "K\x00J\xff\xff\xff\xff\x85K\x01\x85\x89NtR.", "shape [-1]"},
		{tensor + "K\x00K\x02\x85J\xff\xff\xff\xff\x85\x89NtR.", "strides [-1]"},
		{tensor + "J\xff\xff\xff\xffK\x02\x85K\x01\x85\x89NtR.", "begins at element -1"},
		{tensor + "K\x00(\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x02t(\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x01t\x89NtR.", "overflows"},
		{tensor + "K\x00(" + strings.Repeat("K\x01", 17) + "t(tNN" + "tR.", "more dimensions"},
		{tensor + "K\x00K\x06\x85K\x01\x85tR.", "unexpected EOF"}, // well-formed: its memory is asked for
		{"c_codecs\nencode\nX\x02\x00\x00\x00\xc4\x80X\x06\x00\x00\x00latin1\x86R.", "does not take"},
		{"ctorch._tensor\n_rebuild_from_type_v2\n(h\x00tR.", "memo"},
		{strings.Repeat("]", 5000) + strings.Repeat("a", 4999) + ".", "nested deeper"},
		{strings.Repeat(")\x85", 5000) + strings.Repeat("0", 1), "ends early"},
	} {
		err := run(c.pickle)
		var f *FormatError
		var u *UnsupportedError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &f) && !errors.As(err, &u) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%.80q: %v, want %q", c.pickle, err, c.want)
		}
	}
}

// Nothing that a pickle names is run: what it would call is data.
func TestCallsAreData(t *testing.T) {
	v, _, err := decode("cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", persistent)
	if o, ok := v.(*Object); err != nil || !ok || o.Class != "os.system" {
		t.Errorf("%v %v", v, err)
	}
}

// Bombs of the memo: each doubles what is before it, or uses one long value again and again. Memory and
// the work on values that are used twice stay linear in the pickle.
func TestMemoBombs(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("X%s%sq\x00", le32(n), strings.Repeat("x", n)) }
	lists := "]q\x00"
	tuples := ")q\x00"
	for i := range 60 {
		lists += fmt.Sprintf("](h%ch%ceq%c", i, i, i+1)
		tuples += fmt.Sprintf("h%ch%c\x86q%c", i, i, i+1)
	}
	keys := long(1<<20) + strings.Repeat("}h\x00Ns0", 1<<18)
	encodes := long(1<<20) + "c_codecs\nencode\nq\x01X\x06\x00\x00\x00latin1q\x02" + strings.Repeat("h\x01h\x00h\x02\x86R0", 1<<16)
	sets := "]q\x00(" + strings.Repeat("K\x01", 1<<19) + "e" + "cbuiltins\nset\nq\x01" + strings.Repeat("h\x01h\x00\x85R0", 1<<16)
	globals := long(1<<20) + strings.Repeat("h\x00h\x00\x930", 1<<16)
	for name, pickle := range map[string]string{"lists": lists + ".", "tuples": tuples + ".", "keys": keys + "N.", "encodes": encodes + "N.", "sets": sets + "N.", "globals": globals + "N."} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := run(pickle)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 100*uint64(len(pickle))+1<<20 {
			t.Errorf("%s: %d bytes are allocated for %d (%v)", name, got, len(pickle), err)
		}
		if f := (*FormatError)(nil); name != "lists" && name != "tuples" && !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func le32(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }

// file is a zip file of entries, each a name and its text.
func file(t testing.TB, method uint16, entries ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: entries[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Zip files that are compressed, lack parts, have them twice, or name files elsewhere.
func TestHostileArchives(t *testing.T) {
	good := tensor + "K\x00K\x06\x85K\x01\x85\x89NtR."
	outside := strings.Replace(good, "X\x01\x00\x00\x000", "X\x0f\x00\x00\x00../../secret/0", 1)
	outside = strings.Replace(outside, "\x0f", "\x0e", 1)
	for _, c := range []struct {
		want string
		data []byte
	}{
		{"no data.pkl", file(t, zip.Store, "a/b", "")},
		{"two pickles", file(t, zip.Store, "a/data.pkl", "N.", "b/data.pkl", "N.")},
		{"two entries", file(t, zip.Store, "a/data.pkl", "N.", "a/data.pkl", "N.")},
		{"compressed", file(t, zip.Deflate, "a/data.pkl", "N.")},
		{"compressed", file(t, zip.Deflate, "a/data.pkl", strings.Repeat("\x00", 1<<20))},
		{"bytes follow", file(t, zip.Store, "a/data.pkl", "N.N")},
		{"byte order", file(t, zip.Store, "a/data.pkl", "N.", "a/byteorder", "middle")},
		{"no entry \"a/data/0\"", file(t, zip.Store, "a/data.pkl", good)},
		{"has 4 bytes, want 24", file(t, zip.Store, "a/data.pkl", good, "a/data/0", "1234")},
		{"no entry \"a/data/../../secret/0\"", file(t, zip.Store, "a/data.pkl", outside)},
		{"TorchScript", file(t, zip.Store, "a/data.pkl", "N.", "a/constants.pkl", "N.")},
		{"not a file of torch.save", []byte("hello")},
		{"not a file of torch.save", nil},
		{"the zip file", []byte(zipBegin + "rest")},
		{"ends early", []byte(legacyBegin)},
	} {
		_, err := Read(bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := Read(bytes.NewReader(file(t, zip.Store, "a/data.pkl", good, "a/data/0", strings.Repeat("1234", 6))), 1<<20); err == nil {
		t.Error("a false size")
	}
	if _, err := Read(nil, 0); err == nil {
		t.Error("a nil reader")
	}
}

// Every file that is cut anywhere, and every file with a changed byte, gives an error or a value, in
// time.
func TestCutAndChangedFiles(t *testing.T) {
	for _, name := range []string{"views.pt", "views_old.pt", "dtypes_old.pt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range data {
			if _, err := Read(bytes.NewReader(data[:n]), int64(n)); err == nil {
				t.Errorf("%s cut to %d of %d bytes is read", name, n, len(data))
			}
		}
		changed := bytes.Clone(data)
		for i := range data {
			changed[i] ^= 0x55
			_, _ = Read(bytes.NewReader(changed), int64(len(data)))
			changed[i] = data[i]
		}
	}
}

// A checksum that is wrong is seen where the file is read.
func TestChecksums(t *testing.T) {
	data, err := os.ReadFile("testdata/list.pt")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("\x00\x00\x80\x3f\x00\x00\x80\x3f"))
	data[at]++
	path := filepath.Join(t.TempDir(), "x.pt")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, zip.ErrChecksum) {
		t.Errorf("%v", err)
	}
	if _, err := Load(path, LoadOpts{Map: true}); err != nil {
		t.Errorf("mapped: %v", err)
	}
}

func FuzzPickle(f *testing.F) {
	for _, name := range []string{"containers2.pt", "containers5.pt", "dtypes.pt", "views.pt", "checkpoint.pt", "object.pt", "sparse.pt"} {
		z, err := zip.OpenReader("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range z.File {
			if strings.HasSuffix(e.Name, "data.pkl") {
				r, err := e.Open()
				if err != nil {
					f.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(string(text))
			}
		}
		z.Close()
	}
	f.Fuzz(func(t *testing.T, pickle string) {
		data := file(t, zip.Store, "a/data.pkl", pickle, "a/data/0", strings.Repeat("\x01", 192), "a/data/1", strings.Repeat("\x02", 64))
		v, err := Read(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, _ = Tensors(v)
		}
	})
}

func FuzzFile(f *testing.F) {
	for _, name := range []string{"views.pt", "views_old.pt", "dtypes_old.pt", "list.pt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Read(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, _ = Tensors(v)
		}
	})
}
