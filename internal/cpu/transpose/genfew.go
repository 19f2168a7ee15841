package transpose

import (
	"slices"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/x86/asm"
)

// fewBytes is how many bytes of each plane an iteration of the kernel for few channels copies.
const fewBytes = 32

// maxFew is the most channels for the kernel with shuffles. It needs one shuffle per channel for
// each 16 bytes.
const maxFew = 8

// A fewFrame holds the arguments of the kernel for few channels. It copies between points, whose
// channels lie side by side, and planes, which have the points of one channel side by side.
type fewFrame struct {
	points, planes unsafe.Pointer
	step           int // bytes from plane to plane
	blocks         int // of fewBytes of a plane
}

var ff fewFrame

// few writes the kernel that copies points to planes, or planes to points: 16 bytes of each
// plane are as many of points as there are planes, and each of the ones is put together from all
// of the others. A register holds two such: 32 bytes of a plane, and in points what lies as far
// apart as 16 bytes of all planes.
func (g *writer) few() {
	a := &g.Asm
	const (
		points, planes, left = asm.RDX, asm.RSI, asm.RCX
		step, step3          = asm.R8, asm.R9
		step5, step7         = asm.R10, asm.R11
	)
	a.RM(asm.MOV, points, codegen.Field(unsafe.Offsetof(ff.points)))
	a.RM(asm.MOV, planes, codegen.Field(unsafe.Offsetof(ff.planes)))
	a.RM(asm.MOV, left, codegen.Field(unsafe.Offsetof(ff.blocks)))
	a.RM(asm.MOV, step, codegen.Field(unsafe.Offsetof(ff.step)))
	a.RM(asm.LEA, step3, asm.Idx(step, step, 2, 0))
	a.RM(asm.LEA, step5, asm.Idx(step, step, 4, 0))
	a.RM(asm.LEA, step7, asm.Idx(step3, step, 4, 0))
	plane := func(c int) asm.Mem {
		return [...]asm.Mem{asm.Ptr(planes, 0), asm.Idx(planes, step, 1, 0), asm.Idx(planes, step, 2, 0), asm.Idx(planes, step3, 1, 0),
			asm.Idx(planes, step, 4, 0), asm.Idx(planes, step5, 1, 0), asm.Idx(planes, step3, 2, 0), asm.Idx(planes, step7, 1, 0)}[c]
	}
	point := func(v int) asm.Mem { return asm.Ptr(points, int32(16*v)) }
	// order says which bytes of vector v of the source vector c of the result takes.
	order := func(c, v int) (bytes []byte, some bool) {
		bytes = make([]byte, 16)
		for i := range bytes { // the same in both halves
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
	const sum, part = 8, 9
	var free []int // registers for orders
	for r := g.channels; r < 16; r++ {
		if r != sum && r != part {
			free = append(free, r)
		}
	}
	// An order in a register is one load less in each turn.
	held := map[[2]int]int{}
	for c := range g.channels {
		for v := range g.channels {
			if bytes, some := order(c, v); some && len(held) < len(free) {
				r := free[len(held)]
				held[[2]int{c, v}] = r
				a.RM(asm.VMOVUPS, asm.Y(r), a.ConstBytes(slices.Concat(bytes, bytes)))
			}
		}
	}
	next := a.Here()
	for v := range g.channels {
		if g.mode == toPoints {
			a.RM(asm.VMOVUPS, asm.Y(v), plane(v))
			continue
		}
		a.RM(asm.VMOVUPS, asm.X(v), point(v))
		a.RRMI(asm.VINSERTI128, asm.Y(v), asm.Y(v), point(g.channels+v), 1)
	}
	for c := range g.channels {
		first := true
		for v := range g.channels {
			bytes, some := order(c, v)
			if !some {
				continue
			}
			to := asm.Y(part)
			if first {
				to = asm.Y(sum)
			}
			if r, ok := held[[2]int{c, v}]; ok {
				a.RRR(asm.VPSHUFB, to, asm.Y(v), asm.Y(r))
			} else {
				a.RRM(asm.VPSHUFB, to, asm.Y(v), a.ConstBytes(slices.Concat(bytes, bytes)))
			}
			if !first {
				a.RRR(asm.VORPS, asm.Y(sum), asm.Y(sum), to)
			}
			first = false
		}
		if g.mode == toPlanes {
			a.MR(asm.VMOVUPS, plane(c), asm.Y(sum))
			continue
		}
		a.MR(asm.VMOVUPS, point(c), asm.X(sum))
		a.MRI(asm.VEXTRACTI128, point(g.channels+c), asm.Y(sum), 1)
	}
	a.RI(asm.ADD, points, int64(fewBytes*g.channels))
	a.RI(asm.ADD, planes, fewBytes)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	g.Done()
}
