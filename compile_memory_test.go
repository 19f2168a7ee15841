package weft

import "testing"

// The temporaries of the compiled step of LeNet take at most a fifth more than what is alive at
// once, and less than half of the most that there is eagerly.
func TestCompiledMemory(t *testing.T) {
	const n = 60
	x, y := noise(1, 1, n, 1, 32, 32), Arange(n).Mod(10).To(Int64)
	step := lenetStep()
	peak := func(f func()) int64 {
		p := StartProfile(ProfileOpts{})
		defer p.Stop()
		f()
		return p.Peak()
	}
	eagerly := func() {
		s := NewScope()
		defer s.Close()
		step(s.Track(x), y)
	}
	c := Compile(step)
	compiled := func() {
		if _, err := c.Call(x, y); err != nil {
			t.Fatal(err)
		}
	}
	eagerly() // what is kept is there
	compiled()
	p := (*c.c.entries.Load())[0].code.Plan
	eager, got := peak(eagerly), peak(compiled)
	t.Logf("arena %d bytes, alive at once %d; peak %d, eagerly %d", p.Arena, p.Live, got, eager)
	if 5*p.Arena > 6*p.Live {
		t.Errorf("the arena has %d bytes, %d are alive at once", p.Arena, p.Live)
	}
	if 2*int64(p.Arena) > eager {
		t.Errorf("the arena has %d bytes, more than half of the %d that there are eagerly", p.Arena, eager)
	}
	if got >= eager {
		t.Errorf("a call takes %d bytes, eagerly %d", got, eager)
	}
}
