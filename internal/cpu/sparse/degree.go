package sparse

import "math"

// MinimumDegree returns an order of elimination of the variables of a graph that keeps fill-in low: place k of the
// result is the variable that is eliminated k-th. neighbours has the variables that each meets, both ways and without
// itself; it is overwritten. cliques has sets of variables that all meet one another, each once; it may be nil.
// entries is the number of entries of the triangular factor. It leaves out the columns of variables that are put last because
// they meet many others.
//
// fits returns an error where a factor of that number of entries does not fit in memory. Then MinimumDegree ends with that
// error. It asks while it orders, since what an eliminated variable meets is a dense triangle of the factor. stop, which is
// called before each elimination, ends the ordering with the error that it returns.
//
// Source: Amestoy, Davis, Duff, "An approximate minimum degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17,
// 1996. Variables that meet more than 10 times the square root of n others are eliminated last, and cliques of more
// are left out, as in Davis, Gilbert, Larimore, Ng, "A column approximate minimum degree ordering algorithm", 2004.
func MinimumDegree(neighbours, cliques [][]int32, fits func(entries int) error, stop Stop) (order []int32, entries int, err error) {
	q := newQuotient(neighbours, cliques)
	q.fits = fits
	for q.eliminated < q.n-len(q.dense) {
		if err := stop(); err != nil {
			return nil, 0, err
		}
		for q.head[q.least] < 0 {
			q.least++
		}
		if err := q.eliminate(q.head[q.least]); err != nil {
			return nil, 0, err
		}
	}
	out := make([]int32, 0, q.n)
	var stack []int32
	for _, p := range q.pivots {
		stack = append(stack, p)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			out = append(out, i)
			for j := q.firstPart[i]; j >= 0; j = q.nextPart[j] {
				stack = append(stack, j)
			}
		}
	}
	return append(out, q.dense...), q.filled, nil
}

// A quotient is the quotient graph of an elimination. A variable may stand for several that meet the same others. An
// element is a set of variables that all meet: one of the cliques, or what an eliminated variable met.
type quotient struct {
	n, eliminated int
	fits          func(entries int) error
	filled, asked int       // entries of the factor in eliminated columns, and what was asked for last
	adjacent      [][]int32 // of a variable: elements, then variables
	elements      []int32   // of a variable: how many elements
	weight        []int32   // variables that one stands for, 0 if it was merged or eliminated, negative in the pivot's element
	degree        []int32
	members       [][]int32 // of an element
	size          []int32   // of an element: the weight of its members, -1 if it was absorbed
	outside       []int64   // of an element: mark and the weight of its members outside the pivot's element
	mark          int64
	seen          []int64 // marks of compared lists
	sight         int64

	head, next, prev []int32 // lists of variables by degree
	least            int     // a degree below which there are no variables

	hashHead, hashNext, hash []int32
	firstPart, nextPart      []int32 // what was merged into a variable
	pivots, dense            []int32
}

func newQuotient(neighbours, cliques [][]int32) *quotient {
	n := len(neighbours)
	all := n + len(cliques)
	block := make([]int32, 10*n+all)
	take := func(k int, fill int32) []int32 {
		s := block[:k:k]
		block = block[k:]
		for i := range s {
			s[i] = fill
		}
		return s
	}
	q := &quotient{n: n, adjacent: neighbours, members: make([][]int32, all), outside: make([]int64, all), seen: make([]int64, all), size: take(all, -1),
		elements: take(n, 0), weight: take(n, 1), degree: take(n, 0), head: take(n, -1), next: take(n, -1), prev: take(n, -1),
		hashHead: take(n, -1), hashNext: take(n, -1), firstPart: take(n, -1), nextPart: take(n, -1), hash: make([]int32, n)}
	most := max(16, int(10*math.Sqrt(float64(n))))
	isDense := func(i int32) bool { return q.weight[i] == 0 }
	met := make([]int32, n) // cliques that have a variable
	for _, c := range cliques {
		if len(c) <= most {
			for _, i := range c {
				met[i]++
			}
		}
	}
	for i := range neighbours {
		if len(neighbours[i])+int(met[i]) > most {
			q.weight[i] = 0
			q.dense = append(q.dense, int32(i))
		}
	}
	for e, c := range cliques {
		if len(c) > most {
			continue
		}
		kept := c[:0:0]
		for _, i := range c {
			if !isDense(i) {
				kept = append(kept, i)
			}
		}
		q.members[n+e], q.size[n+e] = kept, int32(len(kept))
	}
	lists := make([][]int32, n)
	if len(cliques) > 0 {
		for i := range lists {
			lists[i] = make([]int32, 0, int(met[i])+len(neighbours[i]))
		}
		for e := n; e < all; e++ {
			for _, i := range q.members[e] {
				lists[i] = append(lists[i], int32(e))
			}
		}
	} else {
		for i := range lists {
			lists[i] = neighbours[i][:0]
		}
	}
	for i := range n {
		if isDense(int32(i)) {
			q.adjacent[i] = nil
			continue
		}
		l, d := lists[i], 0
		for _, e := range l {
			d += int(q.size[e]) - 1
		}
		q.elements[i] = int32(len(l))
		for _, j := range neighbours[i] {
			if !isDense(j) {
				l = append(l, j)
				d++
			}
		}
		q.adjacent[i] = l
		q.degree[i] = int32(min(d, n-1))
	}
	for i := n - 1; i >= 0; i-- {
		if !isDense(int32(i)) {
			q.link(int32(i))
		}
	}
	return q
}

// link puts a variable into the list of its degree.
func (q *quotient) link(i int32) {
	d := q.degree[i]
	q.prev[i], q.next[i] = -1, q.head[d]
	if h := q.head[d]; h >= 0 {
		q.prev[h] = i
	}
	q.head[d] = i
	q.least = min(q.least, int(d))
}

func (q *quotient) unlink(i int32) {
	if p := q.prev[i]; p >= 0 {
		q.next[p] = q.next[i]
	} else {
		q.head[q.degree[i]] = q.next[i]
	}
	if s := q.next[i]; s >= 0 {
		q.prev[s] = q.prev[i]
	}
}

// merge makes j a part of i, which is eliminated with it.
func (q *quotient) merge(i, j int32) {
	q.nextPart[j] = q.firstPart[i]
	q.firstPart[i] = j
	q.adjacent[j] = nil
	q.weight[j] = 0
}

func (q *quotient) absorb(e int32) { q.size[e], q.members[e] = -1, nil }

// eliminate makes an element of what a variable meets, and brings the degrees of those up to date.
func (q *quotient) eliminate(p int32) error {
	before := q.eliminated
	q.unlink(p)
	q.eliminated += int(q.weight[p])
	q.weight[p] = 0
	q.pivots = append(q.pivots, p)
	met, total := q.meets(p)
	if least := q.filled + total*(total+1)/2; least > q.asked+q.asked/4 {
		if err := q.fits(least); err != nil {
			return err
		}
		q.asked = least
	}
	q.countOutside(met)
	for _, i := range met {
		total -= q.shorten(p, i)
	}
	gone := q.eliminated - before
	q.filled += gone*(gone+1)/2 + gone*total
	q.mergeEqual(met)
	left := met[:0]
	for _, i := range met {
		w := -q.weight[i]
		if w == 0 {
			continue
		}
		left = append(left, i)
		q.weight[i] = w
		d := min(int(q.degree[i])+total-int(w), q.n-q.eliminated-int(w))
		q.degree[i] = int32(max(d, 0))
		q.link(i)
	}
	if len(left) > 0 {
		q.members[p], q.size[p] = left, int32(total)
	}
	return nil
}

// meets returns the variables that p meets, whose weights become negative, and their weight.
func (q *quotient) meets(p int32) (met []int32, total int) {
	add := func(list []int32) {
		for _, i := range list {
			if w := q.weight[i]; w > 0 {
				q.unlink(i)
				q.weight[i] = -w
				total += int(w)
				met = append(met, i)
			}
		}
	}
	list := q.adjacent[p]
	q.adjacent[p] = nil
	for _, e := range list[:q.elements[p]] {
		if q.size[e] >= 0 {
			add(q.members[e])
			q.absorb(e)
		}
	}
	add(list[q.elements[p]:])
	return met, total
}

// countOutside sets the weight of each element's members that are not in met.
func (q *quotient) countOutside(met []int32) {
	q.mark += int64(q.n) + 1
	for _, i := range met {
		for _, e := range q.adjacent[i][:q.elements[i]] {
			if q.size[e] < 0 {
				continue
			}
			if q.outside[e] < q.mark {
				q.outside[e] = q.mark + int64(q.size[e])
			}
			q.outside[e] += int64(q.weight[i]) // which is negative
		}
	}
}

// shorten takes from the list of a variable what the pivot's element has, and adds that element: there is room, since p
// or an absorbed element was in the list. It returns the weight of a variable that meets nothing else, which is
// eliminated with p, or 0.
func (q *quotient) shorten(p, i int32) int {
	list, at, d, sum := q.adjacent[i], 0, 0, uint32(0)
	for _, e := range list[:q.elements[i]] {
		if q.size[e] < 0 {
			continue
		}
		w := q.outside[e] - q.mark
		if w == 0 {
			q.absorb(e)
			continue
		}
		d += int(w)
		sum += uint32(e)
		list[at] = e
		at++
	}
	elements := at
	for _, j := range list[q.elements[i]:] {
		if w := q.weight[j]; w > 0 {
			d += int(w)
			sum += uint32(j)
			list[at] = j
			at++
		}
	}
	if d == 0 {
		w := int(-q.weight[i])
		q.merge(p, i)
		q.eliminated += w
		return w
	}
	list = list[:at+1]
	list[at] = list[elements]
	list[elements] = p
	q.adjacent[i], q.elements[i] = list, int32(elements+1)
	q.degree[i] = min(q.degree[i], int32(min(d, q.n)))
	h := int32(sum % uint32(q.n))
	q.hash[i] = h
	q.hashNext[i] = q.hashHead[h]
	q.hashHead[h] = i
	return 0
}

// mergeEqual merges variables that meet the same others.
func (q *quotient) mergeEqual(met []int32) {
	for _, i := range met {
		if q.weight[i] == 0 {
			continue
		}
		first := q.hashHead[q.hash[i]]
		q.hashHead[q.hash[i]] = -1
		for a := first; a >= 0 && q.hashNext[a] >= 0; a = q.hashNext[a] {
			q.sight++
			for _, x := range q.adjacent[a] {
				q.seen[x] = q.sight
			}
			last := a
			for b := q.hashNext[a]; b >= 0; b = q.hashNext[b] {
				if !q.equal(a, b) {
					last = b
					continue
				}
				q.weight[a] += q.weight[b]
				q.merge(a, b)
				q.hashNext[last] = q.hashNext[b]
			}
		}
	}
}

// equal reports whether b's list has what a's has, which was seen.
func (q *quotient) equal(a, b int32) bool {
	if len(q.adjacent[a]) != len(q.adjacent[b]) || q.elements[a] != q.elements[b] {
		return false
	}
	for _, x := range q.adjacent[b] {
		if q.seen[x] != q.sight {
			return false
		}
	}
	return true
}

// Symmetric returns what the variables of a square pattern meet: entries of the pattern and of its transpose, without the
// diagonal, each once.
func (p *Pattern) Symmetric() [][]int32 {
	n := p.rows()
	count := make([]int32, n)
	for i := range n {
		for _, j := range p.Idx[p.Off[i]:p.Off[i+1]] {
			if int(j) != i {
				count[i]++
				count[j]++
			}
		}
	}
	out := make([][]int32, n)
	for i := range n {
		out[i] = make([]int32, 0, count[i])
	}
	for i := range n {
		for _, j := range p.Idx[p.Off[i]:p.Off[i+1]] {
			if int(j) != i {
				out[i] = append(out[i], j)
				out[j] = append(out[j], int32(i))
			}
		}
	}
	mark := make([]int32, n)
	for i, list := range out {
		kept := list[:0]
		for _, j := range list {
			if mark[j] != int32(i)+1 {
				mark[j] = int32(i) + 1
				kept = append(kept, j)
			}
		}
		out[i] = kept
	}
	return out
}
