package tile

import (
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// A Machine is an instruction set with an element type, and the sizes of its vectors.
type Machine struct {
	ISA   jit.ISA
	D     array.DType
	Size  int // of an element
	Lanes int // of a vector
	VB    int // bytes of a vector

	from array.DType // of what is packed
}

func New(isa jit.ISA, d array.DType) Machine {
	vb := isa.VectorBytes()
	return Machine{isa, d, d.Size(), vb / d.Size(), vb, d}
}

// From returns a Machine that packs elements of type d: the machine's own type, or float16 and
// bfloat16, which packing converts to float32.
func (m Machine) From(d array.DType) Machine {
	m.from = d
	return m
}

// Narrow returns m with vectors of 256 bits.
func (m Machine) Narrow() Machine {
	m.Lanes, m.VB = 32/m.Size, 32
	return m
}

// A Panel is memory for packed elements: Rows elements for each of K terms. The elements of
// term p lie side by side at Ptr + p*Pitch bytes.
type Panel struct {
	Ptr     unsafe.Pointer
	Pitch   int
	Rows, K int
}

// at returns p moved by the given number of bytes.
func (p Panel) at(bytes int) Panel {
	p.Ptr = unsafe.Add(p.Ptr, bytes)
	return p
}

// Pack writes a panel: element i of term p is element (i, p) of from. It writes whole vectors,
// in the order of terms, and rounds the number of terms up to a multiple of lanes. So the panel
// must have memory for these terms, and for one vector more behind the last term if the pitch
// is not a multiple of the vector size.
func (m Machine) Pack(to Panel, from Mat) {
	if to.K == 0 {
		return
	}
	size := m.from.Size()
	f := packFrame{src: from.Ptr, dst: to.Ptr, dstStep: to.Pitch, k: to.K}
	switch {
	case from.Row == 1:
		m.PackPanels(to, 0, from, 1)
	case from.Col == 1:
		f.srcStep = from.Row * size
		tail := to.K % m.Lanes
		if tail != 0 {
			m.SetMask(&f.mask, &f.lanes, tail)
		}
		// The last first: its whole vectors may reach into the next term.
		for i := (to.Rows - 1) / m.Lanes * m.Lanes; i >= 0; i -= m.Lanes {
			f.src = unsafe.Add(from.Ptr, i*from.Row*size)
			f.dst = unsafe.Add(to.Ptr, i*m.Size)
			f.rows = min(m.Lanes, to.Rows-i)
			jit.Call(m.packer(&f, true, tail), 0, unsafe.Pointer(&f))
		}
	default:
		m.Gather(to, from)
	}
}

// packer returns the kernel that copies f.rows vectors of columns, or transposes f.rows rows, and
// sets its form. last is the number of lanes in the last vector, or in the last vector of terms.
func (m Machine) packer(f *packFrame, transpose bool, last int) *jit.Code {
	key := packKey{isa: m.ISA, d: m.D, from: m.from}
	if m.from.Half() && m.ISA == jit.AVX2 {
		key.last = last % m.Lanes
	}
	switch {
	case !transpose && f.rows > maxVectors:
		key.nv = f.rows
	case !transpose:
		f.form = packCopy
	case f.rows < m.Lanes:
		f.form = packFew
	default:
		f.form = packWhole
	}
	return codegen.Kernel(packs, key)
}

// PackPanels packs n panels of rows that follow one another in from, as Pack does one by one.
// The packed panels are step bytes apart. Where rows lie side by side, it packs each term of all
// panels before the next term, so that memory is read in long runs.
func (m Machine) PackPanels(to Panel, step int, from Mat, n int) {
	if from.Row == 1 && n > 0 && to.K > 0 {
		nv := Ceil(to.Rows, m.Lanes)
		last := to.Rows - (nv-1)*m.Lanes
		size := m.from.Size()
		f := packFrame{src: from.Ptr, dst: to.Ptr, srcStep: from.Col * size, dstStep: to.Pitch, k: to.K, rows: nv, panels: n, panelFrom: to.Rows * size, panelStep: step}
		m.SetMask(&f.mask, &f.lanes, last)
		jit.Call(m.packer(&f, false, last), 0, unsafe.Pointer(&f))
		return
	}
	for i := range n {
		m.Pack(to.at(i*step), from.Offset(i*to.Rows*from.Row, m.from.Size()))
	}
}

// PackLines packs n panels, as Pack does one by one. A panel has at most as many rows as a
// vector has lanes, and its terms lie side by side in from. Panels are fromStep bytes apart in
// from, and step bytes apart when packed.
func (m Machine) PackLines(to Panel, step int, from Mat, fromStep, n int) {
	if to.K == 0 || n <= 0 {
		return
	}
	f := packFrame{srcStep: from.Row * m.from.Size(), dstStep: to.Pitch, k: to.K}
	tail := to.K % m.Lanes
	if tail != 0 {
		m.SetMask(&f.mask, &f.lanes, tail)
	}
	f.rows = to.Rows
	code := m.packer(&f, true, tail)
	for i := range n {
		f.src, f.dst = unsafe.Add(from.Ptr, i*fromStep), unsafe.Add(to.Ptr, i*step)
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// Gather is Pack in portable Go, for any strides.
func (m Machine) Gather(to Panel, from Mat) {
	switch {
	case m.from == array.Float16:
		gatherHalf[half.Float16](to, from)
	case m.from == array.BFloat16:
		gatherHalf[half.BFloat16](to, from)
	case m.D == array.Float32:
		gather[float32](to, from)
	default:
		gather[float64](to, from)
	}
}

func gather[E Element](to Panel, from Mat) {
	size := int(unsafe.Sizeof(E(0)))
	if to.Rows == 1 {
		step, d, s, p := from.Col*size, 0, 0, to.K
		for ; p >= 4; p -= 4 {
			d1, s1 := d+to.Pitch, s+step
			d2, s2 := d1+to.Pitch, s1+step
			d3, s3 := d2+to.Pitch, s2+step
			x0, x1 := *(*E)(unsafe.Add(from.Ptr, s)), *(*E)(unsafe.Add(from.Ptr, s1))
			x2, x3 := *(*E)(unsafe.Add(from.Ptr, s2)), *(*E)(unsafe.Add(from.Ptr, s3))
			*(*E)(unsafe.Add(to.Ptr, d)), *(*E)(unsafe.Add(to.Ptr, d1)) = x0, x1
			*(*E)(unsafe.Add(to.Ptr, d2)), *(*E)(unsafe.Add(to.Ptr, d3)) = x2, x3
			d, s = d3+to.Pitch, s3+step
		}
		for ; p > 0; p-- {
			*(*E)(unsafe.Add(to.Ptr, d)) = *(*E)(unsafe.Add(from.Ptr, s))
			d, s = d+to.Pitch, s+step
		}
		return
	}
	for p := range to.K {
		for i := range to.Rows {
			*(*E)(unsafe.Add(to.Ptr, p*to.Pitch+i*size)) = *(*E)(unsafe.Add(from.Ptr, (i*from.Row+p*from.Col)*size))
		}
	}
}

func gatherHalf[H interface{ Float32() float32 }](to Panel, from Mat) {
	for p := range to.K {
		for i := range to.Rows {
			*(*float32)(unsafe.Add(to.Ptr, p*to.Pitch+i*4)) = (*(*H)(unsafe.Add(from.Ptr, (i*from.Row+p*from.Col)*2))).Float32()
		}
	}
}

// Padded returns the number of terms that a panel for kk terms has memory for.
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

// VectorsOf returns the width of tiles, in vectors, for the given rows and n columns: the width
// with the lowest estimated cycles per term.
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

// LeastCost is the cost of a tile of few products: a multiply-add takes four cycles, and each
// one waits for the one before it in its sum.
const LeastCost = 8

// Cost estimates the half cycles of one term of a tile: two multiply-adds start
// in a cycle, and two loads.
func Cost(mr, nv int) int {
	loads := mr + nv
	return max(mr*nv, LeastCost, loads) + 1
}
