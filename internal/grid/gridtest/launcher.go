package gridtest

import (
	"testing"

	"weft/internal/cudart/driver"
	"weft/internal/grid"
	"weft/internal/ptx"
	"weft/internal/ptxsim"
)

// A Launcher runs launches on a simulated GPU without a device above it.
type Launcher struct {
	T     *testing.T
	Sim   *ptxsim.Driver
	C     driver.Context
	Q     driver.Queue
	Major int // of the compute capability
	known map[string]driver.Func
}

// NewLauncher returns a Launcher of a compute capability and a number of bytes of memory, 0 for the
// simulator's own.
func NewLauncher(t *testing.T, major, memory int) *Launcher {
	t.Helper()
	g := &Launcher{T: t, Sim: ptxsim.New(ptxsim.Options{Seed: 3, Major: major, Memory: memory}), Major: major, known: map[string]driver.Func{}}
	g.C = Must(g.Sim.Open(0))
	g.Q = Must(g.C.NewQueue(0))
	return g
}

// Must returns x. It panics if there is an error.
func Must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// Run runs launches and waits. It fails the test, naming what, if a kernel is not well formed or not
// what its launch says, or if the simulator finds a fault.
func (g *Launcher) Run(what string, list []grid.Launch) {
	g.T.Helper()
	for _, l := range list {
		k := l.Lower()
		if k.Name != l.Name || k.Args != len(l.Args) {
			g.T.Fatalf("%s: kernel %s with %d bytes of arguments, want %s with %d", what, k.Name, k.Args, l.Name, len(l.Args))
		}
		f, ok := g.known[l.Name]
		if !ok {
			if err := grid.Verify(k); err != nil {
				g.T.Fatalf("%s: %v", what, err)
			}
			text, err := ptx.Print(ptx.Target{Major: g.Major}, k)
			if err != nil {
				g.T.Fatalf("%s: %v", what, err)
			}
			f = Must(g.C.Function(Must(g.C.Load(text)), k.Name))
			g.known[l.Name] = f
		}
		if err := g.C.Launch(g.Q, f, l.Blocks, k.Threads, ptx.DynamicShared(k), l.Args); err != nil {
			g.T.Fatalf("%s: %v", what, err)
		}
	}
	if err := g.C.Sync(g.Q); err != nil {
		g.T.Fatalf("%s: %v", what, err)
	}
	if f := g.Sim.Faults(); len(f) > 0 {
		g.T.Fatalf("%s: faults: %v", what, f)
	}
}
