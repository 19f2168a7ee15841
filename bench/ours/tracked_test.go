package main

import "testing"

// The bars that are no times hold.
func TestFlushes(t *testing.T) {
	v, err := flushes(1_000_000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if r := v["over the least"]; !(r >= 1 && r <= 1.2) {
		t.Errorf("a flush costs %v times the least, want 1 to 1.2", r)
	}
	if r := v["one interval"]; !(r >= 10) {
		t.Errorf("one interval sends %v times as much, want 10", r)
	}
	if got := v["sent at 1"]; got != 16_000 {
		t.Errorf("%v bytes were sent of 1000 items of 16", got)
	}
}
