package weft

import (
	"crypto/sha256"
	encoding "encoding/binary"
	"encoding/hex"
	"hash"
	"iter"
	"math"
	"unsafe"

	"weft/internal/array"
)

// Digest returns a hash, in hexadecimal, of the types, shapes and elements of
// tensors in order: SHA-256 over the canonical form that [DigestNamed] gives, with
// empty names. How a tensor lies in memory does not matter. Equal digests are how
// weft says that two computations gave the same bits.
func Digest(ts ...*Tensor) string {
	return DigestNamed(func(yield func(string, *Tensor) bool) {
		for _, t := range ts {
			if !yield("", t) {
				return
			}
		}
	})
}

// DigestNamed is [Digest] of named tensors, such as the parameters of a module, in
// the order of the sequence. For each tensor the hash takes in
//
//	the length of the name, 8 bytes, and the name
//	the length of the type's name ("float32"), 8 bytes, and that name
//	the rank, 8 bytes, and the sizes, 8 bytes each
//	the elements in row-major order
//
// with numbers and elements little-endian, and NaNs of any payload and sign as
// the quiet NaN 0x7fc00000 or 0x7ff8000000000000.
func DigestNamed(ts iter.Seq2[string, *Tensor]) string {
	if ts == nil {
		array.Failf("digest", "", "the sequence of tensors is nil")
	}
	d := digester{h: sha256.New()}
	for name, t := range ts {
		if t == nil {
			array.Failf("digest", "", "the tensor %q is nil", name)
		}
		d.tensor(name, t)
	}
	return hex.EncodeToString(d.h.Sum(nil))
}

type digester struct {
	h   hash.Hash
	buf []byte
}

func (d *digester) number(n int) {
	d.buf = encoding.LittleEndian.AppendUint64(d.buf[:0], uint64(n))
	d.h.Write(d.buf)
}

func (d *digester) text(s string) {
	d.number(len(s))
	d.h.Write([]byte(s))
}

func (d *digester) tensor(name string, t *Tensor) {
	t.check("digest")
	d.text(name)
	d.text(t.v.DType.String())
	d.number(len(t.v.Shape))
	for _, n := range t.v.Shape {
		d.number(n)
	}
	c := (&Tensor{v: t.v}).Contiguous()
	n := c.Size()
	if n == 0 {
		return
	}
	v := toHost(c)
	p := bytesOf(&v)
	switch t.v.DType {
	case Bool, Uint8:
		d.h.Write(unsafe.Slice((*byte)(p), n))
	case Int32:
		write(d, unsafe.Slice((*int32)(p), n), func(b []byte, x int32) []byte {
			return encoding.LittleEndian.AppendUint32(b, uint32(x))
		})
	case Int64:
		write(d, unsafe.Slice((*int64)(p), n), func(b []byte, x int64) []byte {
			return encoding.LittleEndian.AppendUint64(b, uint64(x))
		})
	case Float32:
		write(d, unsafe.Slice((*float32)(p), n), func(b []byte, x float32) []byte {
			bits := math.Float32bits(x)
			if x != x {
				bits = 0x7fc00000
			}
			return encoding.LittleEndian.AppendUint32(b, bits)
		})
	case Float64:
		write(d, unsafe.Slice((*float64)(p), n), func(b []byte, x float64) []byte {
			bits := math.Float64bits(x)
			if x != x {
				bits = 0x7ff8000000000000
			}
			return encoding.LittleEndian.AppendUint64(b, bits)
		})
	}
	keepAlive(c)
}

// write hashes elements in pieces.
func write[T any](d *digester, x []T, put func(b []byte, x T) []byte) {
	const piece = 4096
	for len(x) > 0 {
		k := min(piece, len(x))
		d.buf = d.buf[:0]
		for _, e := range x[:k] {
			d.buf = put(d.buf, e)
		}
		d.h.Write(d.buf)
		x = x[k:]
	}
}
