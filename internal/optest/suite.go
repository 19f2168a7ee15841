package optest

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

func init() { plan.Verify = true }

// A T reports what fails; *testing.T is one.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Caps say what to expect of a device.
type Caps struct {
	// Oracle is a device whose bits the device under test must give; nil for the
	// oracle itself.
	Oracle device.Device
	// Around, if set, is called with each computation on the device under test;
	// it says what was wrong with the way in which that was computed.
	Around func(run func()) error
	// Missing names routines that the device does not have yet.
	Missing map[string]bool
	// Only, if not empty, names the operations whose values are compared.
	Only []string
	// Graphs is the number of random graphs, and First the seed of the first.
	Graphs int
	First  uint64
	// Every is the distance of the cases whose gradients are compared; 0 for all.
	Every int
}

// A suite is a run of the suite on one device.
type suite struct {
	t    T
	dev  device.Device
	caps Caps
	mem  Memory

	failed  map[string]int // by operation
	skipped map[string]bool
	turns   map[layoutTurn]int
	checks  int
	held    [][]byte // what laid compares arguments with, kept for its memory
	given   *Array   // what the oracle is known to give for what laid computes

	planned struct { // what outputs planned last: differences compute one graph many times
		on     device.Device
		outs   []*ir.Node
		in, to []plan.Sig
		plan   *plan.Plan
	}
}

func newSuite(t T, dev device.Device, caps Caps) *suite {
	return &suite{t: t, dev: dev, caps: caps, failed: map[string]int{}, skipped: map[string]bool{}, turns: map[layoutTurn]int{}}
}

// maxReports bounds the failures that are shown for one operation.
const maxReports = 3

// errorf reports a failure of an operation.
func (s *suite) errorf(name, format string, args ...any) {
	s.t.Helper()
	if s.failed[name]++; s.failed[name] <= maxReports {
		s.t.Errorf(format, args...)
	}
}

// done closes the suite.
func (s *suite) done() {
	s.t.Helper()
	for name, n := range s.failed {
		if n > maxReports {
			s.t.Errorf("%s: %d failures in all", name, n)
		}
	}
	for name := range s.skipped {
		if !s.caps.Missing[name] {
			s.t.Errorf("%s has no routine on %s", name, s.dev.Name())
		} else {
			s.t.Logf("SKIPPED: %s has no routine on %s yet", name, s.dev.Name())
		}
	}
	for name := range s.caps.Missing {
		if s.dev.Routine(op.Lookup(name).Routine) != nil {
			s.t.Errorf("%s is listed as missing and has a routine", name)
		}
	}
	s.mem.Close()
}

// have reports that the device has all routines that a graph needs.
func (s *suite) have(outs []*ir.Node) bool {
	all := true
	reach := ir.Reach(outs)
	for i, n := range outs[0].Graph.Nodes[:len(reach)] {
		if d := op.Of(n); reach[i] && d != nil && d.Class == op.Routine && exec.Routine(s.dev, d.Routine) == nil {
			s.skipped[d.Name] = true
			all = false
		}
	}
	return all
}

// attempt runs f and returns what it panicked with as an error: a fault in
// machine code too.
func attempt(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			if e, ok := r.(*array.Error); ok {
				err = e
				return
			}
			buf := make([]byte, 4096)
			err = fmt.Errorf("panic: %v\n%s", r, buf[:runtime.Stack(buf, false)])
		}
	}()
	return f()
}

// compute runs a plan on a device into given outputs.
func compute(dev device.Device, p *plan.Plan, ins, outs []array.View) error {
	return attempt(func() error {
		c, err := exec.Compile(p, dev)
		if err != nil {
			return err
		}
		views := make([]*array.View, len(ins))
		for i := range ins {
			views[i] = &ins[i]
		}
		return runOn(dev, c, views, outs)
	})
}

// run is compute on the device under test.
func (s *suite) run(p *plan.Plan, ins, outs []array.View) (err error) {
	s.checks++
	if s.caps.Around == nil {
		return compute(s.dev, p, ins, outs)
	}
	wrong := s.caps.Around(func() { err = compute(s.dev, p, ins, outs) })
	if err == nil {
		err = wrong
	}
	return err
}

func sigs(views []array.View) []plan.Sig {
	out := make([]plan.Sig, len(views))
	for i := range views {
		out[i] = plan.SigOf(&views[i])
	}
	return out
}

// graph builds the case over inputs.
func (c *Case) graph() (out *ir.Node, err error) {
	err = attempt(func() error {
		g := ir.New()
		args := make([]*ir.Node, len(c.X))
		for i, x := range c.X {
			args[i] = g.Input(i, x.DType, x.Shape)
		}
		out = op.ApplyAll(c.Def, c.Attrs, args...)[c.Result]
		return nil
	})
	return out, err
}
