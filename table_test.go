package weft

import "testing"

func TestTable(t *testing.T) {
	tab := table[int]{limit: 100}
	find := func(h uint64, v int) bool {
		for e := tab.first(h); e != nil; e = e.next {
			if e.hash == h && e.value == v {
				return true
			}
		}
		return false
	}
	if find(1, 1) {
		t.Error("an empty table has an entry")
	}
	for i := range 100 {
		tab.add(uint64(i)*37, i)
		for k := range i + 1 {
			if !find(uint64(k)*37, k) {
				t.Fatalf("entry %d is gone after %d were added", k, i+1)
			}
		}
	}
	if n := len(*tab.buckets.Load()); n != 128 {
		t.Errorf("%d buckets for 100 entries", n)
	}
	tab.add(5, 5)
	if !find(5, 5) || find(0, 0) || tab.n != 1 {
		t.Error("a full table did not start over")
	}
	tab.clear()
	if find(5, 5) {
		t.Error("a cleared table has an entry")
	}
}
