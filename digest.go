package weft

import (
	"crypto/sha256"
	encoding "encoding/binary"
	"encoding/hex"
	"hash"
	"iter"
	"unsafe"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/raw"
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
// with numbers and elements little-endian, the real part of a complex number first, and
// NaNs of any payload and sign as the quiet NaN 0x7e00, 0x7fc0, 0x7fc00000 or
// 0x7ff8000000000000.
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
	if mapped.Any() {
		defer mapped.Explain()
	}
	t.c().Check("digest")
	d.text(name)
	d.text(t.v().DType.String())
	d.number(len(t.v().Shape))
	for _, n := range t.v().Shape {
		d.number(n)
	}
	c := (made(*t.v())).Contiguous()
	n := c.Size()
	if n == 0 {
		return
	}
	v := core.ToHost(c.c())
	defer core.Leave(&v)
	p := core.BytesOf(&v)
	data := unsafe.Slice((*byte)(p), n*t.v().DType.Size())
	switch d.buf = d.buf[:0]; t.v().DType {
	case Float16:
		canonical(d, data, 0x7c00, 0x7e00, encoding.NativeEndian.Uint16, encoding.LittleEndian.AppendUint16)
	case BFloat16:
		canonical(d, data, 0x7f80, 0x7fc0, encoding.NativeEndian.Uint16, encoding.LittleEndian.AppendUint16)
	case Float32, Complex64:
		canonical(d, data, 0x7f800000, 0x7fc00000, encoding.NativeEndian.Uint32, encoding.LittleEndian.AppendUint32)
	case Float64, Complex128:
		canonical(d, data, 0x7ff0000000000000, 0x7ff8000000000000, encoding.NativeEndian.Uint64, encoding.LittleEndian.AppendUint64)
	default:
		if err := raw.Write(d.h, &v); err != nil {
			panic(err) // a hash takes all
		}
	}
}

// canonical hashes floats in pieces, each a word of its size: NaNs are those whose bits
// but the sign are above inf.
func canonical[W uint16 | uint32 | uint64](d *digester, data []byte, inf, nan W, get func([]byte) W, put func([]byte, W) []byte) {
	const piece = 1 << 14
	size, sign := int(unsafe.Sizeof(nan)), ^(^W(0) >> 1)
	for i := 0; i < len(data); i += size {
		bits := get(data[i:])
		if bits&^sign > inf {
			bits = nan
		}
		if d.buf = put(d.buf, bits); len(d.buf) >= piece || i+size == len(data) {
			d.h.Write(d.buf)
			d.buf = d.buf[:0]
		}
	}
}
