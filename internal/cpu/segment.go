package cpu

import (
	"weft/internal/cpu/codegen"
	"weft/internal/device"
)

func bySizeOf(f1, f2, f4, f8 device.Routine) device.Routine {
	return func(c *device.Call) error {
		return [...]device.Routine{1: f1, 2: f2, 4: f4, 8: f8}[c.Args[0].DType.Size()](c)
	}
}

// segmentArg returns the routine for the index of the first extreme in each item.
func segmentArg[U bitsOf](greatest bool) device.Routine {
	return func(c *device.Call) error {
		x, y := codegen.Elements[U](&c.Args[0]), codegen.Elements[int64](&c.Out[0])
		o := orderOf(c.Args[0].DType)
		const nan = ^uint64(0)
		l := listOf(c, &c.Args[0])
		l.each(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				n := int(l.off[i+1] - l.off[i])
				for j := range l.row {
					place := -1
					var best uint64
					for r := range n {
						k := o.key(uint64(x[(int(l.off[i])+r)*l.row+j]) << o.shift)
						if r == 0 {
							best, place = k, 0
						} else if stays := o.float && best == nan; !stays && k != best && (o.float && k == nan || (k > best) == greatest) {
							best, place = k, r
						}
					}
					y[i*l.row+j] = int64(place)
				}
			}
		})
		return nil
	}
}
