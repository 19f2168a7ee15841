package optest

import (
	"math/rand/v2"
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// Unlisted runs the samples of the routines outside the op table, [op.Unlisted], and demands the same bits for every
// layout of arguments and result, and as on the oracle. What they compute, such as eigenvectors, has no reference element
// by element: package linalg tests it by residuals and vectors of NumPy.
func Unlisted(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.done()
	for _, d := range op.Unlisted() {
		if len(caps.Only) > 0 && !slices.Contains(caps.Only, d.Name) {
			continue
		}
		for i, sample := range d.Samples {
			for _, of := range []array.DType{array.Float32, array.Float64} {
				r := rand.New(rand.NewPCG(23, uint64(i)))
				c := newCase(d, sample.Attrs, drawn(r, d, sample, of)...)
				for c.Result = range results(d, c.Attrs) {
					s.unlisted(&c)
				}
			}
		}
	}
	t.Logf("%d computations on %s", s.checks, dev.Name())
}

func (s *suite) unlisted(c *Case) {
	out := s.graphOf(c)
	if out == nil {
		return
	}
	first := s.contiguous(&expectation{Case: *c}, out)
	if first == nil {
		return
	}
	for k := range first.cells() {
		if f := first.F; f != nil && f[k]-f[k] != 0 {
			s.errorf(c.Def.Name, "%s: element %s", c, first.at(k))
			return
		}
	}
	alike, mixed := s.layoutsOf(c)
	for _, l := range alike {
		s.laid(c, out, first, func(int) Layout { return l }, Contiguous, false)
	}
	for _, l := range mixed {
		s.laid(c, out, first, func(i int) Layout { return (l + Layout(i)) % numLayouts }, l, false)
	}
}

// graphOf returns the graph of a case, or nil where the device does not run it or building it fails, which it reports.
func (s *suite) graphOf(c *Case) *ir.Node {
	out, err := c.graph()
	if err != nil {
		s.errorf(c.Def.Name, "%s: %v", c, err)
		return nil
	}
	if !s.have([]*ir.Node{out}) {
		return nil
	}
	return out
}
