package core

import "sync"

// Offsets say where items begin and end in rows that lie one behind the other: items of a list, or rows of a
// sparse matrix. They ascend, and never change.
type Offsets struct {
	T    *Tensor // int64 [items+1], on the device of what it divides
	once sync.Once
	host []int64
}

// OffsetsOf returns offsets that t has. host is the same in Go memory, which nobody writes any more, or nil.
func OffsetsOf(t *Tensor, host []int64) *Offsets { return &Offsets{T: t, host: host} }

// Ints returns the offsets where Go can read them.
func (o *Offsets) Ints() []int64 {
	o.once.Do(func() {
		if o.host == nil {
			o.host = Data[int64](o.T)
		}
	})
	return o.host
}

// Items returns the number of items.
func (o *Offsets) Items() int { return o.T.Sizes()[0] - 1 }
