package device

import (
	"errors"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/mem"
)

// fakeKind opens devices that do nothing.
type fakeKind struct{ opened int }

type fakeDevice struct {
	Device
	memory fakeMemory
	number uint8
}

func (d *fakeDevice) Attach(n uint8) { d.number = n }
func (d *fakeDevice) Memory() Memory { return &d.memory }

type fakeMemory struct{ number uint8 }

func (m *fakeMemory) Attach(n uint8)   { m.number = n }
func (m *fakeMemory) Stats() mem.Stats { return mem.Stats{} }

func (k *fakeKind) Count() (int, error) { return 2, nil }

func (k *fakeKind) Open(ordinal int) (Device, error) {
	if ordinal == 1 {
		return nil, errors.New("device 1 is broken")
	}
	k.opened++
	return &fakeDevice{}, nil
}

func TestOpenOfKind(t *testing.T) {
	k := &fakeKind{}
	RegisterKind("fake", k)
	first, err := Open("fake", 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := first.(*fakeDevice); Get(d.number) != first || d.memory.number != d.number {
		t.Errorf("an opened device is not registered: its number is %d, that of its memory %d", d.number, d.memory.number)
	}
	if again, err := Open("fake", 0); err != nil || again != first || k.opened != 1 {
		t.Errorf("the second Open gave %v, %v after %d openings, want the same device", again, err, k.opened)
	}
	for range 2 {
		if d, err := Open("fake", 1); err == nil || err.Error() != "device 1 is broken" {
			t.Errorf("Open of a broken device gave %v, %v", d, err)
		}
	}
}

func TestUnknownKindOfDevice(t *testing.T) {
	for name, want := range map[string]string{"cuda": `import _ "weft/cuda"`, "abacus": `"abacus"`} {
		_, err := FindKind(name)
		var e *array.Error
		if !errors.As(err, &e) || e.Kind != array.DeviceFailed || !strings.Contains(e.Msg, want) {
			t.Errorf("FindKind(%q) failed with %v, want an *array.Error with %s", name, err, want)
		}
		if _, other := Open(name, 0); other == nil || other.Error() != err.Error() {
			t.Errorf("Open(%q) failed with %v, want %v", name, other, err)
		}
	}
}
