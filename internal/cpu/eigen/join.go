package eigen

// A support is a set of vectors, one a row of z, that are 0 outside the columns from on.
type support struct {
	z       []float64
	rows    int
	from, n int // columns: n from from on
}

// A join is the vectors of two parts of a problem, whose supports are disjoint, as a basis of the
// whole: lead, unless it is nil, the rows of the first part, the rows of the second. Some are mixed: they
// have elements in both.
type join struct {
	n        int       // length of a vector
	lead     []float64 // may have elements anywhere
	supports [2]support
	mixed    map[int][]float64
}

// whole returns vector i if it may have elements in both parts, and nil otherwise.
func (b *join) whole(i int) []float64 {
	if i == 0 && b.lead != nil {
		return b.lead
	}
	return b.mixed[i]
}

// part returns the part of vector i, which is not the lead, and its row there.
func (b *join) part(i int) (part, row int) {
	if b.lead != nil {
		i--
	}
	if i < b.supports[0].rows {
		return 0, i
	}
	return 1, i - b.supports[0].rows
}

// row stores vector i.
func (b *join) row(i int, to []float64) {
	if v := b.whole(i); v != nil {
		copy(to, v)
		return
	}
	clear(to)
	p, r := b.part(i)
	s := b.supports[p]
	copy(to[s.from:], s.z[r*s.n:(r+1)*s.n])
}

// rotate replaces vector p by c*p + s*q and q by c*q - s*p.
func (b *join) rotate(p, q int, c, s float64) {
	pp, pr := b.part(p)
	qp, qr := b.part(q)
	if pp == qp && b.mixed[p] == nil && b.mixed[q] == nil {
		t := b.supports[pp]
		rotate(t.z[pr*t.n:(pr+1)*t.n], t.z[qr*t.n:(qr+1)*t.n], c, s)
		return
	}
	for _, i := range [2]int{p, q} {
		if b.mixed[i] == nil {
			v := make([]float64, b.n)
			b.row(i, v)
			b.mixed[i] = v
		}
	}
	rotate(b.mixed[p], b.mixed[q], c, s)
}

// combine computes for each row j of the k x k matrix coefficients the combination of the vectors
// in keep, and stores it at to(j). Vectors are sorted by part, so that the product with the columns
// of a part leaves out those that are 0 there.
func (b *join) combine(m *Machine, keep []int, coefficients []float64, to func(j int) []float64) {
	k := len(keep)
	if k == 0 {
		return
	}
	var order []int // places in keep: of the first part, mixed, of the second part
	var counts [3]int
	for class := range 3 {
		for at, i := range keep {
			of := 1
			if b.whole(i) == nil {
				p, _ := b.part(i)
				of = 2 * p
			}
			if of == class {
				order = append(order, at)
				counts[class]++
			}
		}
	}
	sorted, free := scratch[float64](k * k)
	defer free()
	for j := range k {
		row := coefficients[j*k : (j+1)*k]
		for at, from := range order {
			sorted[j*k+at] = row[from]
		}
	}
	if gap := b.supports[0].n; gap < b.supports[1].from { // a column of the lead alone
		for j := range k {
			to(j)[gap] = coefficients[j*k] * b.lead[gap]
		}
	}
	for p, s := range b.supports {
		first, count := 0, counts[0]+counts[1]
		if p == 1 {
			first, count = counts[0], counts[1]+counts[2]
		}
		if s.n == 0 {
			continue
		}
		b.combinePart(m, s, keep, order[first:first+count], sorted[first:], to)
	}
}

// combinePart combines the columns of a part. order are the places in keep of the vectors that are not 0 there.
func (b *join) combinePart(m *Machine, s support, keep, order []int, sorted []float64, to func(j int) []float64) {
	k, count := len(keep), len(order)
	buffer, free := scratch[float64]((count + k) * s.n)
	defer free()
	basis, out := buffer[:count*s.n], buffer[count*s.n:]
	for at, from := range order {
		i := keep[from]
		if v := b.whole(i); v != nil {
			copy(basis[at*s.n:(at+1)*s.n], v[s.from:s.from+s.n])
			continue
		}
		_, r := b.part(i)
		copy(basis[at*s.n:(at+1)*s.n], s.z[r*s.n:(r+1)*s.n])
	}
	gemm(m, k, s.n, count, mat[float64]{sorted, k, 1}, mat[float64]{basis, s.n, 1}, out)
	for j := range k {
		copy(to(j)[s.from:s.from+s.n], out[j*s.n:(j+1)*s.n])
	}
}
