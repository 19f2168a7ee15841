package weft

import (
	"crypto/sha256"
	encoding "encoding/binary"
	"fmt"
	"math"
	"testing"
)

// The digest is SHA-256 over the bytes that the documentation names, written out
// here by hand.
func TestDigestCanonicalForm(t *testing.T) {
	u64 := func(b []byte, xs ...uint64) []byte {
		for _, x := range xs {
			b = encoding.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	head := func(b []byte, name, dtype string, shape ...uint64) []byte {
		b = append(u64(b, uint64(len(name))), name...)
		b = append(u64(b, uint64(len(dtype))), dtype...)
		return u64(u64(b, uint64(len(shape))), shape...)
	}
	var b []byte
	b = head(b, "", "float32", 2, 2)
	for _, x := range []uint32{0x3f800000, 0x80000000, 0x7fc00000, 0x7fc00000} {
		b = encoding.LittleEndian.AppendUint32(b, x)
	}
	b = u64(head(b, "", "float64", 2), 0x3ff0000000000000, 0x7ff8000000000000)
	b = append(head(b, "", "bool", 3), 1, 0, 1)
	b = append(head(b, "", "uint8"), 200)
	b = encoding.LittleEndian.AppendUint32(head(b, "", "int32", 1), 0xfffffffe)
	b = u64(head(b, "", "int64", 1, 1), 1<<40)
	b = head(b, "", "float32", 0, 3)
	got := Digest(
		FromSlice([]float32{1, float32(math.Copysign(0, -1)), math.Float32frombits(0xffc12345), math.Float32frombits(0x7f812345)}, 2, 2),
		FromSlice([]float64{1, math.Float64frombits(0xfff0000000000001)}),
		FromSlice([]bool{true, false, true}), ScalarOf(Uint8, 200), FromSlice([]int32{-2}), From([][]int64{{1 << 40}}), Zeros(0, 3))
	if want := fmt.Sprintf("%x", sha256.Sum256(b)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if got, want := Digest(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("digest of nothing %s, want %s", got, want)
	}
	named := DigestNamed(func(yield func(string, *Tensor) bool) { yield("W", ScalarOf(Uint8, 1)) })
	if want := fmt.Sprintf("%x", sha256.Sum256(append(head(nil, "W", "uint8"), 1))); named != want {
		t.Errorf("digest with a name %s, want %s", named, want)
	}
}

func TestDigestTellsApart(t *testing.T) {
	x := NewGenerator(1).Randn(100, 70)
	seen := map[string]string{}
	for name, d := range map[string]string{
		"x": Digest(x), "twice": Digest(x, x), "flat": Digest(x.Flatten(0)), "float64": Digest(x.To(Float64)),
		"transposed": Digest(x.T()), "negated": Digest(x.Neg()),
		"one bit": func() string {
			y := x.Clone()
			Borrow(y, func(d []float32) { d[6999] = math.Float32frombits(math.Float32bits(d[6999]) ^ 1) })
			return Digest(y)
		}(),
		"zero": Digest(Zeros(1)), "minus zero": Digest(Zeros(1).Neg()), "empty": Digest(Zeros(0)), "empty 2-d": Digest(Zeros(0, 1)),
		"split": Digest(x.Slice(Range(0, 50)), x.Slice(Range(50, 100))),
	} {
		if old, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", name, old)
		}
		seen[d] = name
	}
	// How the elements lie in memory does not matter.
	if Digest(x.T()) != Digest(x.T().Clone()) || Digest(x.Slice(Range(End, Begin, -1)).Slice(Range(End, Begin, -1))) != Digest(x) {
		t.Error("a view and its copy differ")
	}
}
