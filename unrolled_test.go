package weft

import (
	"sync/atomic"
	"testing"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
)

// A meter is a CPU that counts the elements that are computed, filled and copied and
// the bytes that are taken.
type meter struct {
	*cpu.Device
	device.Stream
	elements, bytes atomic.Int64
}

func (m *meter) Default() device.Stream { return meterStream{m.Stream, m} }

type meterStream struct {
	device.Stream
	m *meter
}

func (s meterStream) Launch(l device.Launch) error {
	s.m.elements.Add(int64(array.Size(l.Extents)))
	return s.Stream.Launch(l)
}

func (s meterStream) LaunchAll(ls []device.Launch) error {
	for _, l := range ls {
		s.m.elements.Add(int64(array.Size(l.Extents)))
	}
	return s.Stream.LaunchAll(ls)
}

func (s meterStream) Alloc(n int) *array.Storage {
	s.m.bytes.Add(int64(n))
	return s.Stream.Alloc(n)
}

func (s meterStream) Fill(r device.Ref, n int, bits uint64, size int) error {
	s.m.elements.Add(int64(n))
	return s.Stream.Fill(r, n, bits, size)
}

func (s meterStream) Copy(dst, src device.Ref, bytes int) error {
	s.m.elements.Add(int64(bytes / 4))
	return s.Stream.Copy(dst, src, bytes)
}

// loops are steps over parts of an array of n rows of 64, as a recurrent net takes.
var loops = map[string]func(x *Tensor, n int) *Tensor{
	"rows": func(x *Tensor, n int) *Tensor {
		h := Zeros(64)
		for i := range n {
			h = h.Add(x.At(i)).Tanh()
		}
		return h.Sum()
	},
	"columns": func(x *Tensor, n int) *Tensor {
		h := Zeros(64)
		for i := range n {
			h = h.Add(x.Reshape(64, n).T().At(i)).Tanh()
		}
		return h.Sum()
	},
	"views of a view": func(x *Tensor, n int) *Tensor {
		h := Zeros(8, 4)
		v := x.Reshape(n, 8, 8).Slice(All, All, Range(2, 6))
		for i := range n {
			h = h.Add(v.At(i)).Tanh()
		}
		return h.Sum()
	},
	"of a result": func(x *Tensor, n int) *Tensor {
		h, y := Zeros(64), x.Mul(2)
		for i := range n {
			h = h.Add(y.At(i)).Tanh()
		}
		return h.Sum().Add(y.Mean())
	},
	"picked rows": func(x *Tensor, n int) *Tensor {
		h := Zeros(2, 64)
		for i := range n {
			h = h.Add(x.IndexSelect(0, FromSlice([]int64{int64(i), int64(n - 1 - i)}))).Tanh()
		}
		return h.Sum()
	},
	"gathered": func(x *Tensor, n int) *Tensor {
		h := Zeros(1, 64)
		for i := range n {
			h = h.Add(x.Gather(0, FullOf(Int64, i, 1, 64))).Tanh()
		}
		return h.Sum().Add(x.At(0).Sum())
	},
	"written": func(x *Tensor, n int) *Tensor {
		y := Zeros(n, 64)
		for i := range n {
			y.At(i).Assign(x.At(i).Tanh())
		}
		return y.Sum()
	},
	"added to": func(x *Tensor, n int) *Tensor {
		y := x.Mul(2)
		for i := range n - 1 {
			y.At(i + 1).AddAssign(y.At(i))
		}
		return y.Sum()
	},
}

// The backward pass of a loop over parts of an array takes work in proportion to the
// parts, not to their number times the array.
func TestUnrolledWork(t *testing.T) {
	old := device.Get(0).(*cpu.Device)
	defer setBackend(old.ISA())
	for name, loop := range loops {
		work := func(n int) (elements, bytes int64) {
			c := cpu.New(old.ISA())
			m := &meter{Device: c, Stream: c.Default()}
			device.Replace(0, m)
			core.Plans.Clear()
			x := Ones(n, 64).RequireGrad()
			y := loop(x, n)
			m.elements.Store(0)
			m.bytes.Store(0)
			y.Backward()
			if x.Grad() == nil {
				t.Fatalf("%s: no gradient", name)
			}
			return m.elements.Load(), m.bytes.Load()
		}
		e1, b1 := work(32)
		e4, b4 := work(128)
		t.Logf("%s: 32 steps %d elements, %d bytes; 128 steps %d and %d", name, e1, b1, e4, b4)
		// Four times the steps on four times the rows.
		if e4 > 5*e1 || b4 > 5*b1 {
			t.Errorf("%s: 32 steps take %d elements and %d bytes, 128 steps %d and %d: more than in proportion", name, e1, b1, e4, b4)
		}
		if limit := int64(128 * 64 * 16); e4 < 128*64 || e4 > limit {
			t.Errorf("%s: %d elements for 128 rows of 64", name, e4)
		}
	}
}

// BenchmarkUnrolled is 256 steps of a recurrent net over the rows of an array.
func BenchmarkUnrolled(b *testing.B) {
	const n, d = 256, 128
	x, w := Randn(n, 32, d).RequireGrad(), Randn(d, d).Mul(0.05).RequireGrad()
	for b.Loop() {
		h := Zeros(32, d)
		for i := range n {
			h = h.MatMul(w).Add(x.At(i)).Tanh()
		}
		h.Sum().Backward()
	}
}
