package optest

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/op"
)

// Millions of arrays are made and dropped here, while little is live: with room for four
// times as much a fifth of the time is saved, up to the share of memory that all tests have.
func TestMain(m *testing.M) {
	cpu.GeneralLaunches = 0      // code for rows of one length is tested at the first launch
	if os.Getenv("GOGC") == "" { // else somebody asks for a collection at every chance
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(3 << 29)
	}
	os.Exit(m.Run())
}

// missing names routines that the CPU does not have.
var missing = map[string]bool{}

// oracle is the interpreter.
var oracle = cpu.New(jit.Portable)

// each runs f for every backend of this processor. A launch that the backend
// does not run itself fails.
func each(t *testing.T, f func(t *testing.T, dev device.Device, caps Caps)) {
	// Interpreted kernels of one test have up to half a gigabyte of steps, which collections of the next would walk.
	defer func() { oracle = cpu.New(jit.Portable) }()
	for _, b := range jit.ISAs() {
		t.Run(b.String(), func(t *testing.T) {
			c := Caps{Missing: missing, Graphs: 400}
			dev := oracle
			if b != jit.Portable {
				dev, c.Oracle = cpu.New(b), oracle
			}
			counters := dev.Counters()
			ran, other := &counters.Interpreted, &counters.Native
			if b != jit.Portable {
				ran, other = other, ran
			}
			start := ran.Load()
			c.Around = func(run func()) error {
				n := other.Load()
				run()
				if other.Load() != n {
					return fmt.Errorf("a kernel ran on another backend than %s", b)
				}
				return nil
			}
			f(t, dev, c)
			if n := counters.Refused.Load(); n != 0 {
				t.Errorf("%s refused %d programs", b, n)
			}
			if ran.Load() == start && os.Getenv("WEFT_OPS") == "" { // a name may select none
				t.Errorf("%s ran nothing", b)
			}
		})
	}
}

func TestValues(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		caps.Only = strings.Fields(os.Getenv("WEFT_OPS"))
		Values(t, dev, caps)
	})
}

func TestUnlisted(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		caps.Only = strings.Fields(os.Getenv("WEFT_OPS"))
		Unlisted(t, dev, caps)
	})
}

func TestFusion(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		if n, err := strconv.Atoi(os.Getenv("WEFT_GRAPHS")); err == nil {
			caps.Graphs = n
		}
		epilogues := dev.Counters().Epilogues.Load()
		Fusion(t, dev, caps)
		if epilogues = dev.Counters().Epilogues.Load() - epilogues; caps.Graphs >= 1000 && epilogues < int64(caps.Graphs/20) {
			t.Errorf("%d graphs ran epilogues %d times", caps.Graphs, epilogues)
		}
		t.Logf("%d epilogues", epilogues)
	})
}

func TestLarge(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) { Large(t, dev, caps) })
}

func TestGradients(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) { Gradients(t, dev, caps) })
}

// TestKernelsOfManySpills runs graphs whose kernels keep thousands of values in memory, one
// place of scratch each being more than a frame has: no backend refuses them.
func TestKernelsOfManySpills(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.mem.Close()
		for _, seed := range []uint64{30729, 37287, 77949} {
			s.fused(fmt.Sprintf("graph %d", seed), RandomGraph(seed, map[*op.Def]int{}), allContiguous)
		}
	})
}

func TestDraws(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) { Draws(t, dev, caps) })
}
