package ptxsim

import "strings"

// A specialID names a special register.
type specialID uint8

const (
	tidX specialID = iota
	ntidX
	ctaidX
	nctaidX
	zero // the y and z of %tid and %ctaid
	one  // of %ntid and %nctaid
	laneID
	warpID
	warps
	lanesEqual
	lanesBelow
	lanesUpTo
	lanesAbove
	lanesFrom
)

type special struct {
	id  specialID
	typ typ
}

var specials = map[string]special{
	"%tid.x": {tidX, u32}, "%tid.y": {zero, u32}, "%tid.z": {zero, u32},
	"%ntid.x": {ntidX, u32}, "%ntid.y": {one, u32}, "%ntid.z": {one, u32},
	"%ctaid.x": {ctaidX, u32}, "%ctaid.y": {zero, u32}, "%ctaid.z": {zero, u32},
	"%nctaid.x": {nctaidX, u32}, "%nctaid.y": {one, u32}, "%nctaid.z": {one, u32},
	"%laneid": {laneID, u32}, "%warpid": {warpID, u32}, "%nwarpid": {warps, u32},
	"%lanemask_eq": {lanesEqual, u32}, "%lanemask_lt": {lanesBelow, u32}, "%lanemask_le": {lanesUpTo, u32},
	"%lanemask_gt": {lanesAbove, u32}, "%lanemask_ge": {lanesFrom, u32},
}

// specialPrefix reports whether a name is that of a vector of special registers, or of one that the
// simulator does not have.
func specialPrefix(name string) bool {
	switch name {
	case "%tid", "%ntid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid", "%clock", "%clock64", "%globaltimer":
		return true
	}
	return strings.HasPrefix(name, "%pm") || strings.HasPrefix(name, "%envreg")
}

// fill writes a special register of all lanes of a warp.
func (id specialID) fill(r *[32]uint64, w *warp) {
	for i := range r {
		bit := uint64(1) << i
		var x uint64
		switch id {
		case tidX:
			x = uint64(w.first + i)
		case ntidX:
			x = uint64(w.b.threads)
		case ctaidX:
			x = uint64(w.b.index)
		case nctaidX:
			x = uint64(w.b.blocks)
		case one:
			x = 1
		case laneID:
			x = uint64(i)
		case warpID:
			x = uint64(w.first / 32)
		case warps:
			x = uint64((w.b.threads + 31) / 32)
		case lanesEqual:
			x = bit
		case lanesBelow:
			x = bit - 1
		case lanesUpTo:
			x = 2*bit - 1
		case lanesAbove:
			x = uint64(^uint32(2*bit - 1))
		case lanesFrom:
			x = uint64(^uint32(bit - 1))
		}
		r[i] = x
	}
}
