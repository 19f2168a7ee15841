package raw

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
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
			if !bytes.Equal(got, host) {
				t.Errorf("%s: read %x as %x, want %x", d, src, got, host)
			}
			v := View(d, []int{len(got) / d.Size()}, false, got)
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
	for _, n := range []int{0, 1, step - 1, step, step + 1, 2 * step, 4*step + 3} {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(i ^ i>>8 ^ i>>16)
		}
		for _, sized := range []bool{false, true} {
			got, err := Read(bytes.NewReader(append(src, "more"...)), array.Uint8, n, false, sized)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, src) {
				t.Errorf("%d bytes, sized %v: wrong contents", n, sized)
			}
		}
	}
}

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
		b, err := Read(io.LimitReader(zeros{}, int64(n)), array.Uint8, n, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if p := unsafe.Pointer(unsafe.SliceData(b)); uintptr(p)%8 != 0 {
			t.Errorf("%d bytes lie at %p", n, p)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
