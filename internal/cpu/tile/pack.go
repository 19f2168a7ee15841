package tile

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/jit"
)

// A Machine is an instruction set and an element type.
type Machine struct {
	ISA   jit.ISA
	D     array.DType
	Size  int // of an element
	Lanes int // of a vector
	VB    int // bytes of a vector
}

func New(isa jit.ISA, d array.DType) Machine {
	vb := isa.VectorBytes()
	return Machine{isa, d, d.Size(), vb / d.Size(), vb}
}

// Narrow returns the machine with vectors of 256 bits.
func (m Machine) Narrow() Machine {
	m.Lanes, m.VB = 32/m.Size, 32
	return m
}

// Pack writes a panel of rows elements for each of k terms: element i of term p is
// read at src + (i*step + p*kStep) elements and written to dst + p*pitch bytes +
// i elements. dst has room for whole vectors and for k rounded up to lanes terms.
func (m Machine) Pack(dst unsafe.Pointer, pitch int, src unsafe.Pointer, step, kStep, rows, k int) {
	if k == 0 {
		return
	}
	f := packFrame{src: src, dst: dst, dstStep: pitch, k: k, panels: 1}
	switch {
	case step == 1:
		nv := (rows + m.Lanes - 1) / m.Lanes
		f.srcStep = kStep * m.Size
		m.SetMask(&f.mask, &f.lanes, rows-(nv-1)*m.Lanes)
		jit.Call(gen.Kernel(packs, packKey{m.ISA, m.D, false, nv}), 0, unsafe.Pointer(&f))
	case kStep == 1:
		f.srcStep = step * m.Size
		if tail := k % m.Lanes; tail != 0 {
			m.SetMask(&f.mask, &f.lanes, tail)
		}
		for i := 0; i < rows; i += m.Lanes {
			f.src = unsafe.Add(src, i*step*m.Size)
			f.dst = unsafe.Add(dst, i*m.Size)
			jit.Call(gen.Kernel(packs, packKey{m.ISA, m.D, true, min(m.Lanes, rows-i)}), 0, unsafe.Pointer(&f))
		}
	case m.D == array.Float32:
		Gather[float32](dst, pitch, src, step, kStep, rows, k)
	default:
		Gather[float64](dst, pitch, src, step, kStep, rows, k)
	}
}

// PackPanels packs n panels of whole vectors, panelStep bytes from one to the next, as
// pack does one by one.
func (m Machine) PackPanels(dst unsafe.Pointer, pitch, panelStep int, src unsafe.Pointer, step, kStep, rows, k, n int) {
	if step == 1 && n > 0 && k > 0 {
		f := packFrame{src: src, dst: dst, srcStep: kStep * m.Size, dstStep: pitch, k: k, panels: n, panelStep: panelStep}
		m.SetMask(&f.mask, &f.lanes, m.Lanes)
		jit.Call(gen.Kernel(packs, packKey{m.ISA, m.D, false, rows / m.Lanes}), 0, unsafe.Pointer(&f))
		return
	}
	for i := range n {
		m.Pack(unsafe.Add(dst, i*panelStep), pitch, unsafe.Add(src, i*rows*step*m.Size), step, kStep, rows, k)
	}
}

// PackLines transposes lines of k elements of each of rows rows, at most as many as a vector
// has lanes, step elements from row to row: as Pack with a kStep of 1 does line by line. Lines
// are srcLine and dstLine bytes apart.
func (m Machine) PackLines(dst unsafe.Pointer, pitch, dstLine int, src unsafe.Pointer, step, srcLine, rows, k, lines int) {
	if k == 0 || lines <= 0 {
		return
	}
	f := packFrame{srcStep: step * m.Size, dstStep: pitch, k: k}
	if tail := k % m.Lanes; tail != 0 {
		m.SetMask(&f.mask, &f.lanes, tail)
	}
	code := gen.Kernel(packs, packKey{m.ISA, m.D, true, rows})
	for i := range lines {
		f.src, f.dst = unsafe.Add(src, i*srcLine), unsafe.Add(dst, i*dstLine)
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// Padded returns the terms that a panel of kk has room for.
func (m Machine) Padded(kk int) int { return Ceil(kk, m.Lanes) * m.Lanes }

// SetMask makes mask or lanes cover the first n lanes of a vector.
func (m Machine) SetMask(mask *uint64, lanes *[32]byte, n int) {
	if m.ISA == jit.AVX512 {
		*mask = 1<<n - 1
		return
	}
	*lanes = [32]byte{}
	for i := range lanes[:n*m.Size] {
		lanes[i] = 0xFF
	}
}

// VectorsOf chooses the width of tiles, in vectors, for m rows and n columns: the one
// with the least estimated cycles for a term.
func (m Machine) VectorsOf(rows, n int) int {
	vectors := Ceil(n, m.Lanes)
	best, bestCost := 1, 0
	for nv := 1; nv <= MaxWidth(m.ISA) && nv <= vectors; nv++ {
		panels := Ceil(rows, MaxRows(m.ISA, nv))
		mr := Ceil(rows, panels)
		strips, rest := vectors/nv, vectors%nv
		cost := panels * strips * Cost(mr, nv)
		if rest > 0 {
			cost += panels * Cost(mr, rest)
		}
		// A single strip, with which A is gone through once, is worth a fiftieth.
		if nv == 1 || cost <= bestCost || nv == vectors && cost <= bestCost+bestCost/50 {
			best, bestCost = nv, cost
		}
	}
	return best
}

// Cost estimates the half cycles of one term of a tile: two multiply-adds start
// in a cycle and each takes four; two loads start in a cycle.
func Cost(mr, nv int) int {
	loads := mr + nv
	return max(mr*nv, 8, loads) + 1
}
