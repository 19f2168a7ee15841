// Package careful has an allocator for readers of files whose sizes are not trusted: running out of
// memory would end the process.
package careful

import (
	"errors"
	"math"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft/internal/mem"
)

// maxRatio is how much a byte can become: 128 KiB are four bytes of Zstandard.
const maxRatio = 1 << 15

// An Allocator gives what a file of some size can have in it, if it fits into memory. It panics with an
// error if more is asked for.
type Allocator struct{ left int64 }

// New returns an allocator for a file of size bytes.
func New(size int64) *Allocator {
	return &Allocator{Limit(size)}
}

// Allocate implements [memory.Allocator].
func (c *Allocator) Allocate(n int) []byte {
	c.demand(n)
	return memory.DefaultAllocator.Allocate(n)
}

// Reallocate implements [memory.Allocator].
func (c *Allocator) Reallocate(n int, b []byte) []byte {
	c.demand(n - len(b))
	return memory.DefaultAllocator.Reallocate(n, b)
}

// Free implements [memory.Allocator].
func (c *Allocator) Free([]byte) {}

func (c *Allocator) demand(n int) {
	if n <= 0 {
		return
	}
	if c.left -= int64(n); c.left < 0 {
		panic(errors.New("buffers are larger than a file of this size can say"))
	}
	if err := mem.CheckHeap(n); err != nil {
		panic(err)
	}
}

// Limit returns the most bytes that a file of size bytes can become.
func Limit(size int64) int64 { return 1<<20 + maxRatio*min(size, math.MaxInt64/maxRatio-1<<20) }
