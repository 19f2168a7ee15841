package array

import (
	"sync"
	"testing"
)

// TestModesCount enters and leaves a mode from many goroutines: it is on while one is in it, and
// other modes are not touched.
func TestModesCount(t *testing.T) {
	const m, other = Mode(1 << 30), Mode(1 << 29)
	other.Enter()
	defer other.Leave()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 500 {
				m.Enter()
				if !m.On() {
					t.Error("a mode is off for who is in it")
				}
				m.Leave()
			}
		})
	}
	wg.Wait()
	if m.On() || !other.On() {
		t.Errorf("modes are %b", Modes())
	}
}

// TestPlainStorage holds Plain to what stands between a storage and its bytes.
func TestPlainStorage(t *testing.T) {
	for name, s := range map[string]*Storage{
		"deferred": func() *Storage { s := NewSmall(8); s.Defer(func() {}); return s }(),
		"tracked":  func() *Storage { s := NewSmall(8); s.Track(); return s }(),
		"abstract": NewAbstract(8, 0, nil, func() {}),
		"released": func() *Storage { s := NewSmall(8); s.Release(); return s }(),
		"device's": {Bytes: 8},
	} {
		if s.Plain() || s.Direct() != nil {
			t.Errorf("a storage that is %s is plain", name)
		}
	}
	s := NewSmall(8)
	s.Lend()
	s.Protect()
	if !s.Plain() || s.Direct() == nil || !s.Lent() {
		t.Error("memory that is only read is not plain")
	}
}
