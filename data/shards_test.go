package data_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/data"
)

// tarred returns a tar file of files: a name and a content in turn.
func tarred(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644, Typeflag: tar.TypeReg}
		if strings.HasSuffix(files[i], "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// keys returns what an epoch hands out, as "key: ending=content".
func keys(open func(epoch int) func(yield func(data.Sample, error) bool), epoch int) (out []string, err error) {
	for s, err := range open(epoch) {
		if err != nil {
			return out, err
		}
		var endings []string
		for e, b := range s.Files {
			endings = append(endings, e+"="+string(b))
		}
		slices.Sort(endings)
		out = append(out, s.Key+": "+strings.Join(endings, " "))
	}
	return out, nil
}

// TestShards groups files by name, in plain and compressed tar files, and divides them among processes.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := tarred(t, "a/", "", "a/1.jpg", "J1", "a/1.cls", "3", "a/2.seg.png", "S", "a/2.jpg", "J2", "a/.hidden", "x", "3", "bare")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(tarred(t, "b.1.txt", "one", "c.txt", "two"))
	z.Close()
	paths := []string{write("0.tar", plain), write("1.tar.gz", zipped.Bytes()), write("2.tar", tarred(t)), write("3.tar", tarred(t, "d.txt", "three"))}
	as := func(seq func(epoch int) func(yield func(data.Sample, error) bool), epoch int) string {
		got, err := keys(seq, epoch)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprintf("%q", got)
	}
	shards := func(o data.ShardsOpts) func(epoch int) func(yield func(data.Sample, error) bool) {
		open := data.Shards(paths, o)
		return func(epoch int) func(yield func(data.Sample, error) bool) { return open(epoch) }
	}
	if got, want := as(shards(data.ShardsOpts{}), 0), `["a/1: cls=3 jpg=J1" "a/2: jpg=J2 seg.png=S" "3: =bare" "b: 1.txt=one" "c: txt=two" "d: txt=three"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := as(shards(data.ShardsOpts{Ranks: new(2)}), 0), `["a/1: cls=3 jpg=J1" "a/2: jpg=J2 seg.png=S" "3: =bare"]`; got != want {
		t.Errorf("rank 0: %s, want %s", got, want)
	}
	if got, want := as(shards(data.ShardsOpts{Rank: 1, Ranks: new(2)}), 0), `["b: 1.txt=one" "c: txt=two" "d: txt=three"]`; got != want {
		t.Errorf("rank 1: %s, want %s", got, want)
	}
	orders := map[string]bool{}
	for epoch := range 8 {
		orders[as(shards(data.ShardsOpts{Shuffle: true, Seed: 1}), epoch)] = true
	}
	if len(orders) < 3 {
		t.Errorf("%d orders in 8 epochs", len(orders))
	}

	// A loader decodes them in several goroutines.
	decoded := data.MapStream(data.Shards(paths), 3, 1, func(s data.Sample, _ *weft.Generator) (string, error) {
		if s.Key == "c" {
			return "", errors.New("odd")
		}
		return s.Key, nil
	})
	var got []string
	var last error
	for b, err := range data.NewStreamLoader(decoded, data.Collate[[]string, string], data.LoaderOpts{Batch: new(2)}).Batches(t.Context()) {
		got, last = append(got, b...), err
	}
	if want := "data: example 4: " + paths[1] + ": odd"; !slices.Equal(got, []string{"a/1", "a/2", "3", "b"}) || last == nil || last.Error() != want {
		t.Errorf("%q, %v, want %s", got, last, want)
	}

	for what, c := range map[string]struct {
		b    []byte
		want error
	}{
		"cut":       {plain[:2*512+1], io.ErrUnexpectedEOF},
		"cut zip":   {zipped.Bytes()[:40], io.ErrUnexpectedEOF},
		"twice":     {tarred(t, "a.x", "1", "a.x", "2"), nil},
		"no tar":    {bytes.Repeat([]byte("x"), 2000), tar.ErrHeader},
		"not there": {nil, fs.ErrNotExist},
	} {
		path := filepath.Join(dir, "missing")
		if c.b != nil {
			path = write("bad.tar", c.b)
		}
		open := data.Shards([]string{path})
		_, err := keys(func(e int) func(yield func(data.Sample, error) bool) { return open(e) }, 0)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if weft.Try(func() { data.Shards(paths, data.ShardsOpts{Rank: 2, Ranks: new(2)}) }) == nil {
		t.Error("rank 2 of 2 is no error")
	}
}
