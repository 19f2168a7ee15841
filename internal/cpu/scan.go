package cpu

import (
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/routine"
	"weft/internal/cpu/running"
	"weft/internal/device"
	"weft/internal/op"
)

// bySize returns the routine for the size of elements of the first result.
func bySize(f1, f2, f4, f8 device.Routine) device.Routine {
	return func(c *device.Call) error {
		switch c.Out[0].DType.Size() {
		case 1:
			return f1(c)
		case 2:
			return f2(c)
		case 4:
			return f4(c)
		}
		return f8(c)
	}
}

// scan returns the routine that f computes along an axis, maybe from its end.
func scan(f func(p routine.Call, axis int, reverse bool)) device.Routine {
	return func(c *device.Call) error {
		a := c.Node.Attrs.(op.Scan)
		f(plain(c), a.Axis, a.Reverse)
		return nil
	}
}

// cumExtreme returns the routine of cumulative maxima or minima and their indices. Among equal
// elements the last counts.
func cumExtreme(greatest bool) device.Routine {
	return bySize(extremesSoFar[uint8](greatest), extremesSoFar[uint16](greatest), extremesSoFar[uint32](greatest), extremesSoFar[uint64](greatest))
}

func extremesSoFar[U bitsOf](greatest bool) device.Routine {
	return func(c *device.Call) error {
		x, y, places := codegen.Elements[U](&c.Args[0]), codegen.Elements[U](&c.Out[0]), codegen.Elements[int64](&c.Out[1])
		o := orderOf(c.Out[0].DType)
		const nan = ^uint64(0)
		r := running.Along(c.Out[0].Shape, int(c.Node.Attrs.(op.Axis)), false)
		r.Blocks(func(first, step, columns int) {
			for j := first; j < first+columns; j++ {
				best, place := o.key(uint64(x[j])<<o.shift), 0
				for i := range r.N {
					k := o.key(uint64(x[j+i*step]) << o.shift)
					if stays := o.float && best == nan; k == best || o.float && k == nan || !stays && (k > best) == greatest {
						best, place = k, i
					}
					y[j+i*step], places[j+i*step] = x[j+place*step], int64(place)
				}
			}
		})
		return nil
	}
}
