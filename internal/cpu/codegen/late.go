package codegen

import (
	"sync/atomic"

	"weft/internal/jit"
)

// GeneralWork is the work, in fused multiply-adds of vectors, that a general kernel does for one
// key before a kernel of that key is generated: about half a millisecond. Tests set 0, which generates
// a kernel at its first use.
var GeneralWork int64 = 4 << 20

// A Late is a kernel that is generated late, because a general kernel can do its work. The zero
// value is a kernel that is not generated yet.
type Late struct {
	code atomic.Pointer[jit.Code]
	work atomic.Int64 // done by the general kernel
}

// Code returns the kernel, or nil if it is not generated yet.
func (l *Late) Code() *jit.Code { return l.code.Load() }

// Due adds work to what the general kernel does instead, and reports whether the kernel is to be
// generated now. All kernels are due while kernels are recorded, so that every run records the
// same.
func (l *Late) Due(work int) bool {
	if l.work.Load() >= GeneralWork || jit.Recording() {
		return true
	}
	l.work.Add(int64(work))
	return false
}

// Set makes c the kernel, and returns it.
func (l *Late) Set(c *jit.Code) *jit.Code {
	l.code.Store(c)
	return c
}

// Lates are kernels by key that are generated late.
type Lates[K comparable] struct{ made *jit.Cache[K, *Late] }

// NewLates returns an empty set of kernels.
func NewLates[K comparable]() Lates[K] { return Lates[K]{jit.NewCache[K, *Late](0)} }

// Of returns the kernel of a key, which may not be generated yet.
func (l Lates[K]) Of(key K) *Late {
	if k, ok := l.made.Lookup(key); ok {
		return k
	}
	k, _ := l.made.Get(key, func() (*Late, error) { return new(Late), nil })
	return k
}
