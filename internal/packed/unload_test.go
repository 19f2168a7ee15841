package packed_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/safetensors"
)

// shifted writes weights w into a file of safetensors whose data begins at shift modulo 8, and maps it.
func shifted(t *testing.T, w *weft.Tensor, shift int) (*weft.Tensor, string) {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, map[string]*weft.Tensor{"w": w}, nil); err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(b.Bytes())
	head := binary.LittleEndian.AppendUint64(nil, n+uint64(shift))
	text := append(head, b.Bytes()[8:8+n]...)
	text = append(append(text, strings.Repeat(" ", shift)...), b.Bytes()[8+n:]...)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	x, err := file.Tensor("w")
	if err != nil {
		t.Fatal(err)
	}
	return x, path
}

// resident returns the bytes of a mapped file that are in memory of the process, -1 where the system does not say.
func resident(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return -1
	}
	sum, inside := 0, false
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.Contains(fields[0], "-") {
			inside = strings.HasSuffix(strings.TrimSpace(line), path)
		}
		var kb int
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kb); n == 1 && inside {
			sum += kb << 10
		}
	}
	return sum
}

// Weights in a mapped file leave memory once copies stand for them, and come back when they are read. Ones that were
// written, or that a function of the user had, stay as they are.
func TestWeightsOfFilesAreUnloaded(t *testing.T) {
	needsCode(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: other processors copy what is not aligned")
	}
	var x *weft.Tensor
	for _, c := range []struct {
		name  string
		write func(w *weft.Tensor)
	}{
		{"read alone", nil},
		{"Set", func(w *weft.Tensor) { w.Set(5, 3, 4) }},
		{"Borrow", func(w *weft.Tensor) { weft.Borrow(w, func(d []float32) { d[len(d)/2] += 1 }) }},
		{"a compiled function", func(w *weft.Tensor) {
			weft.Compile(func(x *weft.Tensor) *weft.Tensor { w.Index(1).AddAssign(x); return x }).Func()(weft.Ones())
		}},
		{"Fill", func(w *weft.Tensor) { w.Fill(2) }},
	} {
		for _, shift := range []int{0, 1, 2, 3} {
			what := fmt.Sprintf("%s at %d", c.name, shift)
			w, path := shifted(t, weights(70+shift), shift)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := weft.Data[float32](weights(70 + shift))
			same(t, what, weft.Data[float32](w), want)
			if c.write != nil {
				c.write(w)
				copied := weights(70 + shift)
				c.write(copied)
				want = weft.Data[float32](copied)
			}
			all := resident(t, path)
			x = weft.FromSlice(fill(rows*inner, 21), rows, inner)
			product := plain(x, weft.FromSlice(want, inner, columns))
			if n := calls(t, what, weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func(), x, func() []float32 { return product }); n != 1 {
				t.Errorf("%s: %d copies were made, not 1", what, n)
			}
			if left := resident(t, path); all >= 0 && c.write == nil && left > all/4 {
				t.Errorf("%s: %d of %d bytes are in memory", what, left, all)
			} else if c.write != nil && left < all {
				t.Errorf("%s: %d of %d bytes are in memory: written ones went", what, left, all)
			}
			same(t, what+", read again", weft.Data[float32](w), want)
			w.Index(2).AddAssign(1)
			same(t, what+", written then", weft.Data[float32](w.Index(0)), want[:columns])
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s: the file was written", what)
			}
			w.Release()
		}
	}
}
