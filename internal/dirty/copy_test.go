package dirty

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// What Copy copies is there, what it changed is in the list, and the list begins and ends
// where changes do, at most a word apart while there are few.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		n, at := r.IntN(2000), r.IntN(20)
		before := make([]byte, at+n+9)
		for i := range before {
			before[i] = byte(r.IntN(256))
		}
		src := bytes.Clone(before[at : at+n])
		for range r.IntN(6) {
			if n > 0 {
				src[r.IntN(n)]++
			}
		}
		dst := bytes.Clone(before)
		list := Copy(nil, dst, at, src)
		if want := slices.Concat(before[:at], src, before[at+n:]); !bytes.Equal(dst, want) {
			t.Fatal("other bytes than were to be copied")
		}
		for i := range dst {
			in := slices.ContainsFunc(list, func(p Interval) bool { return p.Start <= i && i < p.Stop })
			if dst[i] != before[i] && !in {
				t.Fatalf("byte %d changed, and is not in %v", i, list)
			}
		}
		for i, p := range list {
			if p.Start >= p.Stop || dst[p.Start] == before[p.Start] || dst[p.Stop-1] == before[p.Stop-1] || i > 0 && p.Start <= list[i-1].Stop {
				t.Fatalf("%v in %v", p, list)
			}
			for k := p.Start; k+8 <= p.Stop; k++ {
				if bytes.Equal(dst[k:k+8], before[k:k+8]) {
					t.Fatalf("%v has 8 bytes that did not change", p)
				}
			}
		}
	}
	// Every second element of many: a bounded list.
	dst, src := make([]byte, 1<<22), make([]byte, 1<<22)
	for i := 0; i < len(src); i += 16 {
		src[i] = 1
	}
	if list := Copy(nil, dst, 0, src); len(list) > runs+1 || list[len(list)-1].Stop != len(src)-15 || !bytes.Equal(dst, src) {
		t.Errorf("%d intervals, the last %v", len(list), list[len(list)-1])
	}
}
