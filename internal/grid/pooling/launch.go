package pooling

import (
	"math"

	"weft/internal/array"
	"weft/internal/grid"
)

// A Pool is pooling of contiguous planes of H x W elements, with OH x OW windows each. Steps are at
// most the padded sizes.
type Pool struct {
	DType                            array.DType // Float32 or Float64
	Planes, H, W, OH, OW             int
	KH, KW, StepH, StepW, PadH, PadW int
	Sum                              bool // of Mean and Spread: sums instead of means
}

// maxElements is the number of elements of a launch. Tests lower it.
var maxElements = grid.MaxPart

// Launches returns the launches that compute an operation, given the addresses of its result and
// its arguments. Most take one launch; a result without elements takes none.
func (p Pool) Launches(o Op, out uint64, args ...uint64) (list []grid.Launch) {
	v := Variant{Op: o, DType: p.DType}
	if (o == Max || o == Mean) && p.KH == p.KW && (p.KH == 2 || p.KH == 3) {
		v.Side = p.KH
		// Without padding all windows lie inside. Each row of each of them begins at an even element.
		v.Pairs = p.KW == 2 && p.StepW == 2 && p.PadH == 0 && p.PadW == 0 && p.W%2 == 0 && args[0]%uint64(2*p.DType.Size()) == 0
	}
	rows, cols := p.OH, p.OW
	if o.Back() {
		rows, cols = p.H, p.W
	}
	size := p.DType.Size()
	for _, part := range grid.Parts(p.Planes, rows, cols, maxElements) {
		addrs := [4]int{int(out) + part.First()*size}
		for i, x := range args {
			addrs[1+i] = int(x)
		}
		var a grid.Args
		a.Long(addrs[:]...)
		a.Long(int(p.scale()), p.W*size, p.H*p.W*size, p.OW*size, p.OH*p.OW*size)
		a = part.Append(a)
		a.Short(p.H, p.W, p.OH, p.OW, p.KH, p.KW, p.StepH, p.StepW, p.PadH, p.PadW)
		a.Divisors(p.StepH, p.StepW)
		list = append(list, grid.NewLaunch(v.Name(), func() *grid.Kernel { return Lower(v) }, part.Blocks(threads), a))
	}
	return list
}

// scale returns the bits of the factor of sums of windows.
func (p *Pool) scale() uint64 {
	scale := 1.0
	if !p.Sum {
		scale = 1 / float64(p.KH*p.KW)
	}
	if p.DType == array.Float64 {
		return math.Float64bits(scale)
	}
	return uint64(math.Float32bits(float32(scale)))
}
