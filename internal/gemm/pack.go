package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A machine is an instruction set and an element type.
type machine struct {
	isa   jit.ISA
	d     array.DType
	size  int // of an element
	lanes int // of a vector
	vb    int // bytes of a vector
}

func newMachine(isa jit.ISA, d array.DType) machine {
	vb := isa.VectorBytes()
	return machine{isa, d, d.Size(), vb / d.Size(), vb}
}

// narrow returns the machine with vectors of 256 bits.
func (m machine) narrow() machine {
	m.lanes, m.vb = 32/m.size, 32
	return m
}

// pack writes a panel of rows elements for each of k terms: element i of term p is
// read at src + (i*step + p*kStep) elements and written to dst + p*pitch bytes +
// i elements. dst has room for whole vectors and for k rounded up to lanes terms.
func (m machine) pack(dst unsafe.Pointer, pitch int, src unsafe.Pointer, step, kStep, rows, k int) {
	if k == 0 {
		return
	}
	f := packFrame{src: src, dst: dst, dstStep: pitch, k: k, panels: 1}
	switch {
	case step == 1:
		nv := (rows + m.lanes - 1) / m.lanes
		f.srcStep = kStep * m.size
		m.setMask(&f.mask, &f.lanes, rows-(nv-1)*m.lanes)
		m.call(packCopyRoutine, 0, nv, 0, unsafe.Pointer(&f))
	case kStep == 1:
		f.srcStep = step * m.size
		if tail := k % m.lanes; tail != 0 {
			m.setMask(&f.mask, &f.lanes, tail)
		}
		for i := 0; i < rows; i += m.lanes {
			f.src = unsafe.Add(src, i*step*m.size)
			f.dst = unsafe.Add(dst, i*m.size)
			m.call(packTransposeRoutine, min(m.lanes, rows-i), 0, 0, unsafe.Pointer(&f))
		}
	case m.d == array.Float32:
		gather[float32](dst, pitch, src, step, kStep, rows, k)
	default:
		gather[float64](dst, pitch, src, step, kStep, rows, k)
	}
}

// packPanels packs n panels of whole vectors, panelStep bytes from one to the next, as
// pack does one by one.
func (m machine) packPanels(dst unsafe.Pointer, pitch, panelStep int, src unsafe.Pointer, step, kStep, rows, k, n int) {
	if step == 1 && n > 0 && k > 0 {
		f := packFrame{src: src, dst: dst, srcStep: kStep * m.size, dstStep: pitch, k: k, panels: n, panelStep: panelStep}
		m.setMask(&f.mask, &f.lanes, m.lanes)
		m.call(packCopyRoutine, 0, rows/m.lanes, 0, unsafe.Pointer(&f))
		return
	}
	for i := range n {
		m.pack(unsafe.Add(dst, i*panelStep), pitch, unsafe.Add(src, i*rows*step*m.size), step, kStep, rows, k)
	}
}

func (m machine) call(r routine, rows, nv, flags int, frame unsafe.Pointer) {
	jit.Call(kernel(codes, codeKey{r, m.isa, m.d, uint8(rows), uint8(nv), uint8(flags)}), 0, frame)
}

// gather is pack for strides that no kernel takes.
func gather[E element](dst unsafe.Pointer, pitch int, src unsafe.Pointer, step, kStep, rows, k int) {
	size := int(unsafe.Sizeof(E(0)))
	for p := range k {
		for i := range rows {
			*(*E)(unsafe.Add(dst, p*pitch+i*size)) = *(*E)(unsafe.Add(src, (i*step+p*kStep)*size))
		}
	}
}
