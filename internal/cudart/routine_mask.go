package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/moves"
)

// onMask returns the routine of an operation on a mask. Operations of another number of places than
// the mask has are refused under a name.
func onMask(o moves.MaskOp, name string) device.Routine {
	return func(c *device.Call) error {
		s, mask, out := c.Stream.(*Stream), &c.Args[len(c.Args)-1], &c.Out[0]
		packed, spread := out, out // spread is not used of an operation without elements
		switch o {
		case moves.MaskSelect:
			spread = &c.Args[0]
		case moves.MaskPlace:
			packed = &c.Args[0]
		}
		addr, err := s.addressesOf(mask, packed, spread)
		if err != nil {
			return err
		}
		m := moves.Mask{Op: o, N: mask.Size(), At: addr[0], Packed: addr[1], Spread: addr[2], Number: packed.Size()}
		if len(c.Args) > 1 {
			m.Size = out.DType.Size()
		}
		at, free, err := s.scratch(m.ScratchBytes())
		if err != nil {
			return err
		}
		defer free()
		m.Scratch = at
		if o == moves.CountTrue {
			return s.startAll(c, m.Launches())
		}
		number := packed.Size()
		refuse := func(trues int64, _ int) error {
			return array.Errorf(name, "mask", "is true at %d places, not %d", trues, number)
		}
		return s.reporting(c, refuse, func(report uint64) error {
			m.Report = report
			return s.startAll(c, m.Launches())
		})
	}
}
