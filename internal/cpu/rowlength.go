package cpu

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86"
)

// Programs for rows of a known, small length ([loop.Axis.Extent]) are faster than the general
// program, but each length takes machine code of its own. So a length that is new runs the general
// program, which is compiled once for all lengths. Code for the length is compiled when launches
// have shown that it comes back. Both give the same bits: see loop.OpReduce.

// GeneralLaunches is the number of launches of a program for rows of a known length that run the
// general program before code for the length is compiled. A launch of many elements counts as
// several. Tests set 0, which compiles at the first launch.
var GeneralLaunches int64 = 8

// forLength returns the kernel of a program for rows of a known length. It compiles the general
// program, if that is not compiled yet.
func (d *Device) forLength(p *loop.Program) (*Program, error) {
	q := *p
	q.Axes = slices.Clone(p.Axes)
	q.Axes[p.Lane].Extent = 0
	general, err := d.Compile(&q)
	if err != nil {
		return nil, err
	}
	k := d.program(p)
	k.general = general.(*Program)
	return k, nil
}

// serving returns the program that runs a launch of n elements: p, or the general program. The
// interpreter gains nothing from a known length.
func (p *Program) serving(n int) *Program {
	if p.general == nil {
		return p
	}
	if p.isa == jit.Portable || p.launches.Load() < GeneralLaunches {
		p.launches.Add(1 + int64(n/model.ShortElements))
		return p.general
	}
	p.special.Do(p.specialise)
	if p.code == nil {
		return p.general
	}
	return p
}

// specialise compiles the code for the length. Where that fails, the general program serves.
func (p *Program) specialise() {
	p.counters.Compiled.Add(1)
	k, err := x86.Compile(p.p, p.isa)
	if err == nil {
		p.code, err = k.Map()
	}
	if p.Native = err == nil; err != nil {
		p.counters.Refused.Add(1)
	}
}
