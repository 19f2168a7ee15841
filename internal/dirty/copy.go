package dirty

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// near is how far apart changes may be, once there are [runs] of them, that become one
// interval.
const near = 1 << 12

// Copy copies src to dst from byte at on, and appends to list the intervals of dst that were
// changed by it. They are exact to a word of eight bytes, until there are many.
func Copy(list []Interval, dst []byte, at int, src []byte) []Interval {
	add := func(start, stop int) {
		if n := len(list); n > 0 {
			gap := 0
			if n >= runs {
				gap = near
			}
			if l := &list[n-1]; start >= l.Start && start-l.Stop <= gap {
				l.Stop = max(l.Stop, stop)
				return
			}
		}
		list = append(list, Interval{start, stop})
	}
	const block = 256
	for len(src) > 0 {
		n := min(block, len(src))
		old, fresh := dst[at:at+n], src[:n]
		if !bytes.Equal(old, fresh) {
			i := 0
			for ; i+8 <= n; i += 8 {
				if x := binary.LittleEndian.Uint64(old[i:]) ^ binary.LittleEndian.Uint64(fresh[i:]); x != 0 {
					add(at+i+bits.TrailingZeros64(x)/8, at+i+8-bits.LeadingZeros64(x)/8)
				}
			}
			for ; i < n; i++ {
				if old[i] != fresh[i] {
					add(at+i, at+i+1)
				}
			}
			copy(old, fresh)
		}
		at, src = at+n, src[n:]
	}
	return list
}
