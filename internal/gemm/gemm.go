package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A Mat is a matrix in memory: element (i, j) is at i*Row + j*Col elements from
// Ptr. Strides may be negative or 0.
type Mat struct {
	Ptr      unsafe.Pointer
	Row, Col int
}

// T returns the transpose of m.
func (m Mat) T() Mat { return Mat{m.Ptr, m.Col, m.Row} }

// offset returns m moved by n elements of the given size.
func (m Mat) offset(n, size int) Mat {
	m.Ptr = unsafe.Add(m.Ptr, n*size)
	return m
}

// An Activation is applied to an element of the result last.
type Activation uint8

const (
	None Activation = iota
	Relu            // x where x > 0 or x is NaN, else +0
)

// An Epilogue says what becomes of a sum before it is stored. The zero one stores the
// sum.
type Epilogue struct {
	// Bias, if not nil, points to a vector that is added: element i of it, at
	// i*BiasStride elements, to row i of C if BiasPerRow is set, else to column i.
	Bias       unsafe.Pointer
	BiasStride int
	BiasPerRow bool
	Act        Activation
	// Accumulate adds the product to what is in C instead of replacing it. The old
	// element stands before the first block of the sum.
	Accumulate bool
}

// transpose makes p the product of the transposed operands, whose result is that of p
// transposed.
func (p *Product) transpose() {
	p.M, p.N, p.A, p.B, p.C = p.N, p.M, p.B.T(), p.A.T(), p.C.T()
	p.Batch.A, p.Batch.B = p.Batch.B, p.Batch.A
	p.Epilogue.BiasPerRow = !p.Epilogue.BiasPerRow
}

// The number of terms in one block of a sum over k. A strip of B of so many terms, two
// vectors wide, stays in the first cache: 32 KB.
const kBlock = 256

// KBlock returns the number of terms in one fused multiply-add chain, a part of
// the definition of the result: 256. It panics for types other than float32 and
// float64.
func KBlock(d array.DType) int {
	if d != array.Float32 && d != array.Float64 {
		array.Failf("gemm", "dtype", "%s: only float32 and float64 have products", d)
	}
	return kBlock
}

// A Product is C = act(A*B + bias), A being M x K, B K x N and C M x N.
type Product struct {
	ISA      jit.ISA
	DType    array.DType // Float32 or Float64
	M, N, K  int
	A, B, C  Mat
	Batch    Batch
	Epilogue Epilogue
	Threads  int // at most so many; par.Threads() if not positive, and one where the product is small
}

// A Batch describes products that share their shape and strides. Count holds the
// sizes of the batch dimensions, and A, B, C and Bias the element strides of each
// operand along them, 0 where it is broadcast; a nil slice stands for zeros
// (C must not be broadcast over a dimension larger than 1). The zero Batch is
// one product.
type Batch struct {
	Count         []int
	A, B, C, Bias []int
}

// Run computes the product, or all of a batch. It panics with an *array.Error if the
// product makes no sense.
func (p Product) Run() {
	KBlock(p.DType)
	batch := &p.Batch
	if p.M < 0 || p.N < 0 || p.K < 0 {
		array.Failf("gemm", "", "negative size: %d x %d x %d", p.M, p.K, p.N)
	}
	for _, s := range [...]struct {
		name string
		len  int
	}{{"A", len(batch.A)}, {"B", len(batch.B)}, {"C", len(batch.C)}, {"Bias", len(batch.Bias)}} {
		if s.len != 0 && s.len != len(batch.Count) {
			array.Failf("gemm", "batch", "%d strides of %s for %d dimensions", s.len, s.name, len(batch.Count))
		}
	}
	total := 1
	for _, s := range batch.Count {
		if s < 0 {
			array.Failf("gemm", "batch", "negative size %d", s)
		}
		total *= s
	}
	if p.M == 0 || p.N == 0 || total == 0 {
		return
	}
	for i, s := range batch.Count {
		if s > 1 && (batch.C == nil || batch.C[i] == 0) {
			array.Failf("gemm", "batch", "C is broadcast over dimension %d of size %d", i, s)
		}
	}
	if p.K == 0 {
		// There may be no memory behind A and B, whose pointers nothing must move then.
		p.A, p.B, batch.A, batch.B = Mat{Ptr: p.C.Ptr}, Mat{Ptr: p.C.Ptr}, nil, nil
	}
	if p.ISA == jit.Portable {
		p := p // which escapes here alone
		p.runPortable(total)
		return
	}
	p.run(total)
}

// operands are those of one product.
type operands struct {
	a, b, c Mat
	e       Epilogue
}

// at returns the operands of product i of the batch, counted with the last
// dimension fastest, from those of the first.
func (t *Batch) at(i, size int, first *operands) operands {
	o := *first
	for d := len(t.Count) - 1; d >= 0; d-- {
		j := i % t.Count[d] * size
		i /= t.Count[d]
		if t.A != nil {
			o.a.Ptr = unsafe.Add(o.a.Ptr, j*t.A[d])
		}
		if t.B != nil {
			o.b.Ptr = unsafe.Add(o.b.Ptr, j*t.B[d])
		}
		if t.C != nil {
			o.c.Ptr = unsafe.Add(o.c.Ptr, j*t.C[d])
		}
		if t.Bias != nil && o.e.Bias != nil {
			o.e.Bias = unsafe.Add(o.e.Bias, j*t.Bias[d])
		}
	}
	return o
}
