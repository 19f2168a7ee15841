package weft

import (
	"runtime"
	"testing"
	"time"

	"weft/internal/mem"
	"weft/internal/par"
)

// peakOf is the most memory in bytes that arrays have in use during f, beside what they have
// before: what other tests dropped is given back first, and one thread has all the scratch.
func peakOf(f func()) int64 {
	defer par.SetThreads(par.SetThreads(1))
	before := settled()
	p := StartProfile(ProfileOpts{})
	defer p.Stop()
	f()
	return p.Peak() - before
}

// settled collects until what is in use stays as it is, and returns that.
func settled() int64 {
	live := int64(-1)
	for {
		runtime.GC()
		time.Sleep(time.Millisecond) // memory comes back after the collection
		now := mem.Default().Stats().Live
		if now == live {
			return live
		}
		live = now
	}
}

// The temporaries of the compiled step of LeNet take at most a fifth more than what is alive at
// once, and less than six tenths of the most that there is eagerly.
func TestCompiledMemory(t *testing.T) {
	const n = 60
	x, y := noise(1, 1, n, 1, 32, 32), Arange(n).Mod(10).To(Int64)
	step := lenetStep()
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
	p := (*c.c.Entries.Load())[0].Code.Plan
	eager, got := peakOf(eagerly), peakOf(compiled)
	t.Logf("arena %d bytes, alive at once %d; peak %d, eagerly %d", p.Arena, p.Live, got, eager)
	if 5*p.Arena > 6*p.Live {
		t.Errorf("the arena has %d bytes, %d are alive at once", p.Arena, p.Live)
	}
	if 10*int64(p.Arena) > 6*eager {
		t.Errorf("the arena has %d bytes, more than six tenths of the %d that there are eagerly", p.Arena, eager)
	}
	if got >= eager {
		t.Errorf("a call takes %d bytes, eagerly %d", got, eager)
	}
}

// No convolution of halves makes a copy of an operand in float32.
func TestHalfConvolutionMemory(t *testing.T) {
	const n, c, side = 16, 32, 64
	const halves = 2 * n * c * side * side
	x, w := OnesOf(BFloat16, n, c, side, side), OnesOf(BFloat16, 1, c, 3, 3)
	o := ConvOpts{Padding: [2]int{1, 1}}
	for name, f := range map[string]func(){
		"convolution": func() { x.Conv2d(w, nil, o).Release() },
		"gradient of the input": func() {
			x.ConvTranspose2d(w.Reshape(c, 1, 3, 3), nil, ConvTransposeOpts{Padding: [2]int{1, 1}}).Release()
		},
		"gradient of the weights": func() { wg := w.Clone().RequireGrad(); x.Conv2d(wg, nil, o).Sum().Backward(); wg.Grad() },
	} {
		f()                                       // the leaf is there
		if most := peakOf(f); most > halves*3/2 { // a copy takes twice as many
			t.Errorf("%s: %d bytes beside %d of images", name, most, halves)
		}
	}
}
