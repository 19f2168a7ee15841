package raw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/mem"
)

var native = binary.NativeEndian

// Every type, read in both byte orders, holds the same numbers and is written
// little-endian.
func TestByteOrders(t *testing.T) {
	for d := array.Bool; d <= array.Complex128; d++ {
		w := width(d)
		var little, big, host []byte
		for k := range 12 {
			if d == array.Bool {
				k %= 2
			}
			x := uint64(k) * 0x0102030405060709
			switch w {
			case 1:
				little, big, host = append(little, byte(x)), append(big, byte(x)), append(host, byte(x))
			case 2:
				x := uint16(x)
				little = binary.LittleEndian.AppendUint16(little, x)
				big, host = binary.BigEndian.AppendUint16(big, x), native.AppendUint16(host, x)
			case 4:
				x := uint32(x)
				little = binary.LittleEndian.AppendUint32(little, x)
				big, host = binary.BigEndian.AppendUint32(big, x), native.AppendUint32(host, x)
			case 8:
				little = binary.LittleEndian.AppendUint64(little, x)
				big, host = binary.BigEndian.AppendUint64(big, x), native.AppendUint64(host, x)
			}
		}
		if d == array.Bool { // any byte but 0 is true
			for i := range host {
				host[i] = min(host[i], 1)
			}
			little = host
		}
		for _, src := range [][]byte{little, big} {
			got, err := Read(bytes.NewReader(src), d, len(src), &src[0] == &big[0], true)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memory(got), host) {
				t.Errorf("%s: read %x as %x, want %x", d, src, memory(got), host)
			}
			v := Over(d, []int{got.Bytes / d.Size()}, false, got)
			var out bytes.Buffer
			if err := Write(&out, &v); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), little) {
				t.Errorf("%s: wrote %x, want %x", d, out.Bytes(), little)
			}
		}
	}
}

// Buffers that grow lose nothing, at the steps of their growth and beside them.
func TestGrowth(t *testing.T) {
	for _, n := range []int{0, 1, step - 1, step, step + 1, 2 * step, growth * step, growth*step + 3} {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(i ^ i>>8 ^ i>>16)
		}
		for _, sized := range []bool{false, true} {
			got, err := Read(bytes.NewReader(append(src, "more"...)), array.Uint8, n, false, sized)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memory(got), src) {
				t.Errorf("%d bytes, sized %v: wrong contents", n, sized)
			}
		}
	}
}

// TestStreamMemory reads streams whose length cannot be trusted: what is filled takes memory
// once, and a seventh of it more while it is copied; the rest is addresses without pages. A
// false length is an error that keeps nothing.
func TestStreamMemory(t *testing.T) {
	const n = 40 << 20
	live := func() int64 { return mem.Default().Stats().Live }
	for _, c := range []struct{ says, there int }{{n, n}, {1 << 40, n}, {n, 3 << 20}, {1 << 40, 0}} {
		base, most := live(), int64(0)
		r := io.TeeReader(io.LimitReader(zeros{}, int64(c.there)), writerFunc(func(b []byte) (int, error) {
			most = max(most, live()-base)
			return len(b), nil
		}))
		st, err := Read(r, array.Uint8, c.says, false, false)
		if good := c.says == c.there; good != (err == nil) || !good && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", c.there, c.says, err)
		}
		if bound := int64(max(step, min(c.says, growth*c.there)) * 5 / 4); most > bound { // sizes of blocks are a quarter apart
			t.Errorf("%d of %d bytes: %d were taken, at most %d should be", c.there, c.says, most, bound)
		}
		if err != nil && live() > base {
			t.Errorf("%d of %d bytes: %d are still taken after the error", c.there, c.says, live()-base)
		}
		runtime.KeepAlive(st)
	}
}

// memory is the bytes of a storage.
func memory(st *array.Storage) []byte { return unsafe.Slice((*byte)(st.Host()), st.Bytes) }

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestTooLarge(t *testing.T) {
	_, err := Read(strings.NewReader(""), array.Uint8, maxBytes+1, false, true)
	if err == nil || !strings.Contains(err.Error(), "do not fit into memory") {
		t.Error(err)
	}
}

// pieces counts writes and bytes.
type pieces struct{ n, bytes int }

func (p *pieces) Write(b []byte) (int, error) {
	p.n++
	p.bytes += len(b)
	return len(b), nil
}

// A strided view is gathered in pieces of bounded size.
func TestGatherIsBounded(t *testing.T) {
	const n = 100_000
	v := View(array.Float64, []int{n}, false, make([]byte, 8*n))
	v.Offset, v.Strides = n-1, []int{-1}
	var p pieces
	if err := Write(&p, &v); err != nil {
		t.Fatal(err)
	}
	if want := (8*n + bufBytes - 1) / bufBytes; p.n != want || p.bytes != 8*n {
		t.Errorf("%d writes of %d bytes together, want %d of %d", p.n, p.bytes, want, 8*n)
	}
}

func TestViewsAreAligned(t *testing.T) {
	for n := 1; n < 40; n++ {
		st, err := Read(io.LimitReader(zeros{}, int64(n)), array.Uint8, n, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if p := st.Host(); uintptr(p)%8 != 0 {
			t.Errorf("%d bytes lie at %p", n, p)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
