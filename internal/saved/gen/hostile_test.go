package main_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/kernel"
)

// filesOf returns the files of the models, which it writes, and of the corpus.
func filesOf(t testing.TB) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	out := map[string][]byte{}
	for _, m := range append(models(), transforms()...) {
		path := filepath.Join(dir, "f.weft")
		if err := weft.Compile(m.f).Save(path, m.args(5), weft.SaveOpts{Inputs: m.inputs}); err != nil {
			t.Fatal(m.name, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[m.name] = b
	}
	corpus, err := filepath.Glob("../testdata/v*/*.weft")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range corpus {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out["corpus "+filepath.Base(path)] = b // of the latest version
	}
	return out
}

// open loads bytes as a file.
func open(t testing.TB, b []byte) (*weft.Program, error) {
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return weft.LoadProgram(path)
}

// header splits a file into its header and what lies behind.
func header(b []byte) (text string, rest []byte) {
	n := binary.LittleEndian.Uint64(b[16:])
	return string(b[24 : 24+n]), b[24+n:]
}

// withHeader returns a file with another header, padded so that the elements stay aligned.
func withHeader(b []byte, text string) []byte {
	_, rest := header(b)
	for (24+len(text))%64 != 0 {
		text += " "
	}
	out := binary.LittleEndian.AppendUint64(bytes.Clone(b[:16]), uint64(len(text)))
	return append(append(out, text...), rest...)
}

// try calls a program that was loaded from a mutated file with arguments that fit. It may refuse them.
func try(p *weft.Program) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var args []*weft.Tensor
	for _, in := range p.Inputs() {
		shape := in.Shape
		n := 1
		for i := range shape {
			if shape[i] < 0 {
				shape[i] = 5
			}
			if n *= shape[i]; n > 1<<16 || n < 0 {
				return
			}
		}
		args = append(args, weft.OnesOf(in.DType, shape...))
	}
	p.CallContext(ctx, args...)
}

// TestMutatedFilesAreRefused changes every number of every header, one at a time, to others. A file that
// still loads may compute something else; nothing panics, and no call reaches memory that is not its own.
func TestMutatedFilesAreRefused(t *testing.T) {
	loaded, refused := 0, 0
	for name, b := range filesOf(t) {
		text, _ := header(b)
		for i := 0; i < len(text); i++ {
			if c := text[i]; c < '0' || c > '9' || i > 0 && strings.IndexByte("0123456789.abcdef_", text[i-1]) >= 0 {
				continue
			}
			end := i
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			for k, other := range []string{"-1", "0", "1", "7", "9000000000000000000"} {
				if testing.Short() && (i+k)%7 != 0 || (i/3+k)%5 != 0 {
					continue
				}
				p, err := open(t, withHeader(b, text[:i]+other+text[end:]))
				if err == nil {
					loaded++
					try(p)
					continue
				}
				refused++
				var e *weft.Error
				if !errors.As(err, &e) {
					t.Errorf("%s: %s for %s at %d: %v is not an *Error", name, other, text[i:end], i, err)
				}
			}
		}
	}
	if loaded == 0 || refused < 100 {
		t.Errorf("%d mutated files were loaded, %d refused", loaded, refused)
	}
}

// TestHostileHeaders refuses files that were written to harm.
func TestHostileHeaders(t *testing.T) {
	files := filesOf(t)
	mlp, windows := files["mlp"], files["windows"]
	text, _ := header(mlp)
	long := bytes.Clone(mlp)
	binary.LittleEndian.PutUint64(long[16:], 1<<40)
	later := bytes.Clone(mlp)
	later[8] = 3
	replaced := func(b []byte, old, new string) []byte {
		text, _ := header(b)
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in %s", old, text)
		}
		return withHeader(b, strings.Replace(text, old, new, 1))
	}
	deep := `{"args":[],"body":{"nodes":[{"op":"branch","attrs":["branch",{"function":`
	for _, c := range []struct {
		name, want string
		b          []byte
	}{
		{"empty", "is not a saved program", nil},
		{"a text", "is not a saved program", []byte(strings.Repeat("weft ", 20))},
		{"a later format", "version 3 of the format", later},
		{"later operations", "version 9 of the operations", replaced(mlp, `"ops":1`, `"ops":9`)},
		{"a long header", "header has 1099511627776 bytes", long},
		{"a header cut", "malformed", withHeader(mlp, text[:len(text)/2])},
		{"two headers", "malformed", withHeader(mlp, strings.TrimSpace(text)+"{}")},
		{"an unknown field", "unknown field", replaced(mlp, `"name":`, `"more":1,"name":`)},
		{"an unknown operation", `operation "matmul9"`, replaced(mlp, `"op":"matmul2"`, `"op":"matmul9"`)},
		{"a composite", "made of other operations", replaced(mlp, `"op":"matmul2"`, `"op":"lerp"`)},
		{"weights behind the end", "behind the end of the file", mlp[:len(mlp)-128]},
		{"an element type", "not an element type", replaced(mlp, `"dtype":"float32"`, `"dtype":"float128"`)},
		{"a window", "loadprogram|slice", replaced(windows, `"attrs":["window",[2],1,0`, `"attrs":["window",[2],1,5`)},
		{"a file elsewhere", "not a file beside it", replaced(mlp, `"start":192`, `"file":"../../etc/passwd","key":"x"`)},
		{"nested", "nest more than", withHeader(mlp, strings.Repeat(deep, 20000))},
	} {
		before := allocated()
		_, err := open(t, c.b)
		ok := err != nil
		if ok {
			ok = false
			for _, w := range strings.Split(c.want, "|") {
				ok = ok || strings.Contains(err.Error(), w)
			}
		}
		if !ok {
			t.Errorf("%s: %.300v, want %q", c.name, err, c.want)
		}
		if n := allocated() - before; n > 200*uint64(len(c.b))+1<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d", c.name, n, len(c.b))
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// FuzzLoad loads any bytes: an error or a program, whose call with small arguments does not panic.
func FuzzLoad(f *testing.F) {
	for _, b := range filesOf(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		if p, err := open(t, b); err == nil {
			p.Outputs()
		}
	})
}

// A kernel of a file that is given a wrong length reads zeros outside of its array, and nothing else.
func TestHostileLengthOfKernel(t *testing.T) {
	reverse := kernel.MustParse(`package k

import "weft/kernel"

func Reverse(e kernel.Elem, a kernel.Array1[float32]) float32 { return a.At(e.Dim(0) - 1 - e.Index(0)) }
`).Func("Reverse")
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return reverse.Map(x, kernel.MapOpts{Shape: x.Shape()}) })
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := f.Save(path, []any{weft.Ones(9)}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := header(b)
	const length = `"op":"const","attrs":[9]`
	if !strings.Contains(text, length) {
		t.Fatal(text)
	}
	for by, want := range map[string]float64{"9": 9, "12": 6, "1000000": 0, "-5000": 0, "4": 4} {
		p, err := open(t, withHeader(b, strings.Replace(text, length, `"op":"const","attrs":[`+by+`]`, 1)))
		if err != nil {
			t.Fatal(by, err)
		}
		y, err := p.Call(weft.Ones(9))
		if err != nil || y[0].Sum().Item() != want {
			t.Errorf("of length %s: %v, %v", by, y, err)
		}
	}
}
