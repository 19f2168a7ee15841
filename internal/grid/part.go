package grid

import (
	"encoding/binary"

	"weft/internal/loop"
)

// A Part is neighbouring elements of an array of planes, rows and columns, which one launch computes,
// a thread an element. Planes are numbered by 8 bytes, all else by 4.
type Part struct {
	Plane, Row, Col int // of the first element
	N               int // elements
	rows, cols      int
}

// MaxPart is the number of elements of the largest part.
const MaxPart = 1 << 30

// PartBytes is the size of a part among the arguments of a kernel, a multiple of 8.
const PartBytes = 48

// Parts cuts an array into parts of at most the given number of elements, at most [MaxPart].
func Parts(planes, rows, cols, most int) (list []Part) {
	total := planes * rows * cols
	for at := 0; at < total; {
		p := Part{at / (rows * cols), at / cols % rows, at % cols, min(most, total-at), rows, cols}
		// The row and the column of the last element, counted from the first one's plane and row, fit too.
		if cols > most {
			p.N = min(p.N, cols-p.Col)
		}
		if rows > most {
			p.N = min(p.N, (rows-p.Row)*cols-p.Col)
		}
		list = append(list, p)
		at += p.N
	}
	return list
}

// First returns the number of the first element in the array.
func (p Part) First() int { return (p.Plane*p.rows+p.Row)*p.cols + p.Col }

// Blocks returns the number of blocks of threads that a launch takes.
func (p Part) Blocks(threads int) int { return (p.N + threads - 1) / threads }

// Append appends the part to the arguments of a kernel.
func (p Part) Append(args []byte) []byte {
	args = binary.LittleEndian.AppendUint64(args, uint64(p.Plane))
	for _, x := range [...]int{p.Row, p.Col, p.N} {
		args = binary.LittleEndian.AppendUint32(args, uint32(x))
	}
	args = AppendDivisor(AppendDivisor(args, p.rows), p.cols)
	return append(args, 0, 0, 0, 0)
}

// An Element is what a thread computes of the part at a byte of the argument block.
type Element struct {
	Number   Reg // I32: in the part
	Plane    Reg // I64
	Row, Col Reg // I32
}

// ForElement writes f for the threads that have an element of the part at a byte of the argument
// block.
func (b *Builder) ForElement(at int, f func(e Element)) {
	i := b.Add(b.Mul(b.Block(), b.I32(int32(b.K.Threads))), b.Thread())
	b.If(b.Lt(i, b.Arg(loop.I32, at+16)), false, func() {
		row, col := b.Divide(b.Add(i, b.Arg(loop.I32, at+12)), at+20+DivisorBytes)
		plane, row := b.Divide(b.Add(row, b.Arg(loop.I32, at+8)), at+20)
		f(Element{i, b.Add(b.Wide(plane), b.Arg(loop.I64, at)), row, col})
	}, nil)
}
