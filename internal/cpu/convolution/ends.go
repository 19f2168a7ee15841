package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/launch"
)

// A registerEpilogue may be simple enough for the registers of kernels.
type registerEpilogue interface {
	Ends(at unsafe.Pointer, channels int, d array.DType) (launch.Ends, bool)
}

// ends returns the epilogue of a forward convolution to y as kernels do it in registers. It reports false if
// they cannot. Sums of all kernels that do it are not -0, as Ends require.
func (g *Convolution) ends(y Image) (launch.Ends, bool) {
	if e, ok := g.Epilogue.(registerEpilogue); ok {
		if ends, ok := e.Ends(y.Ptr, g.O, g.DType); ok {
			return ends, true
		}
	}
	return launch.Ends{}, false
}

// endFlags returns the flags of a frame whose sums are finished.
func (c *correlation) endFlags() int {
	return tile.Bit(c.ends.Bias != nil, 1) | tile.Bit(c.ends.Bounded, 2)
}

// bias returns where the bias of a channel and of those behind it lies, or nil.
func (c *correlation) bias(channel int) unsafe.Pointer {
	if c.ends.Bias == nil {
		return nil
	}
	return unsafe.Add(c.ends.Bias, channel*c.Size)
}
