package transpose

import (
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/x86/asm"
)

// maxFew is the most channels for which there is a kernel that goes by shuffles: it has as
// many for 16 bytes.
const maxFew = 8

// A fewFrame holds the arguments of the kernel for few channels: between points, whose
// channels lie side by side, and planes, in which a channel's points do.
type fewFrame struct {
	points, planes unsafe.Pointer
	step           int // bytes from plane to plane
	blocks         int // of 16 bytes of a plane
}

var ff fewFrame

// few writes the kernel that copies points to planes, or planes to points: 16 bytes of each
// plane are as many of points as there are planes, and each of the ones is put together from all
// of the others.
func (g *writer) few() {
	a := &g.Asm
	const (
		points, planes, left = asm.RDX, asm.RSI, asm.RCX
		step, step3          = asm.R8, asm.R9
		step5, step7         = asm.R10, asm.R11
	)
	a.RM(asm.MOV, points, gen.Field(unsafe.Offsetof(ff.points)))
	a.RM(asm.MOV, planes, gen.Field(unsafe.Offsetof(ff.planes)))
	a.RM(asm.MOV, left, gen.Field(unsafe.Offsetof(ff.blocks)))
	a.RM(asm.MOV, step, gen.Field(unsafe.Offsetof(ff.step)))
	a.RM(asm.LEA, step3, asm.Idx(step, step, 2, 0))
	a.RM(asm.LEA, step5, asm.Idx(step, step, 4, 0))
	a.RM(asm.LEA, step7, asm.Idx(step3, step, 4, 0))
	plane := func(c int) asm.Mem {
		return [...]asm.Mem{asm.Ptr(planes, 0), asm.Idx(planes, step, 1, 0), asm.Idx(planes, step, 2, 0), asm.Idx(planes, step3, 1, 0),
			asm.Idx(planes, step, 4, 0), asm.Idx(planes, step5, 1, 0), asm.Idx(planes, step3, 2, 0), asm.Idx(planes, step7, 1, 0)}[c]
	}
	point := func(v int) asm.Mem { return asm.Ptr(points, int32(16*v)) }
	from, to := point, plane
	if g.mode == toPoints {
		from, to = plane, point
	}
	// order says which bytes of vector v of the source vector c of the result takes.
	order := func(c, v int) (bytes []byte, some bool) {
		bytes = make([]byte, 16)
		for i := range bytes {
			inPoints := i/g.size*g.channels*g.size + c*g.size + i%g.size // byte i of plane c
			source, byteOf := inPoints/16, inPoints%16
			if g.mode == toPoints {
				inPoints = 16*c + i
				source = inPoints / g.size % g.channels
				byteOf = inPoints/(g.size*g.channels)*g.size + inPoints%g.size
			}
			bytes[i] = 0x80 // nothing
			if source == v {
				bytes[i], some = byte(byteOf), true
			}
		}
		return bytes, some
	}
	next := a.Here()
	for v := range g.channels {
		a.RM(asm.VMOVUPS, asm.X(v), from(v))
	}
	for c := range g.channels {
		first := true
		for v := range g.channels {
			bytes, some := order(c, v)
			if !some {
				continue
			}
			part := asm.X(9)
			if first {
				part = asm.X(8)
			}
			a.RRM(asm.VPSHUFB, part, asm.X(v), a.ConstBytes(bytes))
			if !first {
				a.RRR(asm.VORPS, asm.X(8), asm.X(8), part)
			}
			first = false
		}
		a.MR(asm.VMOVUPS, to(c), asm.X(8))
	}
	a.RI(asm.ADD, points, int64(16*g.channels))
	a.RI(asm.ADD, planes, 16)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	g.Done()
}
