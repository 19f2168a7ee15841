package sparse

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A square matrix is a graph: each entry, one with the value 0 too, is an edge from its row to its column, whose weight is
// the value. Equal entries add first.

// ComponentsOpts are the options of [ConnectedComponents].
type ComponentsOpts struct {
	Strong bool // vertices are connected if paths along the edges lead both ways; else edges count without direction
}

// ConnectedComponents returns how many components the graph of a square matrix has, and the number of each vertex's
// component, int32 [n]. Components are numbered in the order of their first vertices. The matrix may have any
// element type; values are not read.
//
// It panics with *[weft.Error] where a is not square. SciPy's connected_components, which numbers strong components
// otherwise. Source: Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1, 1972.
func ConnectedComponents(a *Matrix, opts ...ComponentsOpts) (count int, labels *weft.Tensor) {
	const name = "sparse.connected_components"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	g := graphOf(square(name, a, CSR), !o.Strong)
	component := g.components()
	numbers := make([]int32, len(component)) // of components by their first vertices
	for i := range numbers {
		numbers[i] = -1
	}
	for i, c := range component {
		if numbers[c] < 0 {
			numbers[c] = int32(count)
			count++
		}
		component[i] = numbers[c]
	}
	return count, weft.FromSlice(component)
}

// ShortestPathOpts are the options of [ShortestPath].
type ShortestPathOpts struct {
	Sources    []int // where paths begin; every vertex if nil
	Undirected bool  // edges are passed both ways; of two between the same vertices the lesser weight counts
	Unweighted bool  // each edge has length 1
}

// ShortestPath returns the lengths of the shortest paths along the edges of the graph of a square matrix, float64
// [sources n], +Inf where no path leads, and the vertex before the last one of each path, int32 [sources n], -1 where
// there is none. Weights are real and not negative.
//
// It panics with *[weft.Error] where a is not square, a source is not a vertex, and for weights that are complex,
// negative or NaN. SciPy's shortest_path and dijkstra, which write -9999 for -1. Source: Dijkstra, "A note on two
// problems in connexion with graphs", Numerische Mathematik 1, 1959.
func ShortestPath(a *Matrix, opts ...ShortestPathOpts) (distances, predecessors *weft.Tensor) {
	const name = "sparse.shortest_path"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := square(name, a, CSR)
	if m.values.DType().Complex() {
		array.Failf(name, "a", "has weights of %s, want real ones", m.values.DType())
	}
	g := graphOf(m, o.Undirected)
	if !o.Unweighted {
		g.lengths = weft.Data[float64](m.values.To(weft.Float64))
		for _, w := range g.lengths {
			if !(w >= 0) {
				array.Failf(name, "a", "has the weight %v, want none below 0", w)
			}
		}
	}
	sources := o.Sources
	if sources == nil {
		sources = make([]int, m.rows)
		for i := range sources {
			sources[i] = i
		}
	}
	for _, s := range sources {
		if s < 0 || s >= m.rows {
			array.Failf(name, "Sources", "has %d: there are %d vertices", s, m.rows)
		}
	}
	shape := []int{len(sources), m.rows}
	core.CheckHeap(name, 2*array.CheckShape(name, shape, weft.Float64), weft.Float64)
	length, before := make([]float64, shape[0]*shape[1]), make([]int32, shape[0]*shape[1])
	for i, s := range sources {
		g.paths(s, length[i*m.rows:(i+1)*m.rows], before[i*m.rows:(i+1)*m.rows])
	}
	return weft.FromSlice(length, shape...), weft.FromSlice(before, shape...)
}

// A graph is edges by their vertices: of vertex i to[offsets[i]:offsets[i+1]]. edge has the place of each in lengths,
// and is nil where they lie in the same order.
type graph struct {
	offsets []int64
	to      []int32
	edge    []int64
	lengths []float64 // nil: all are 1
}

// graphOf returns the graph of a matrix in compressed rows, with all edges in both directions if it is not directed.
func graphOf(m *Matrix, bothWays bool) *graph {
	offsets, to := m.offsets.Ints(), m.index()
	g := &graph{offsets: offsets, to: to}
	if !bothWays {
		return g
	}
	g.offsets = make([]int64, m.rows+1)
	for i := range m.rows {
		for k := offsets[i]; k < offsets[i+1]; k++ {
			g.offsets[i+1]++
			g.offsets[to[k]+1]++
		}
	}
	for i := range m.rows {
		g.offsets[i+1] += g.offsets[i]
	}
	g.to, g.edge = make([]int32, 2*len(to)), make([]int64, 2*len(to))
	next := append([]int64(nil), g.offsets...)
	put := func(from, end int32, k int64) {
		g.to[next[from]], g.edge[next[from]] = end, k
		next[from]++
	}
	for i := range m.rows {
		for k := offsets[i]; k < offsets[i+1]; k++ {
			put(int32(i), to[k], k)
			put(to[k], int32(i), k)
		}
	}
	return g
}

// components returns the number of each vertex's strong component, by Tarjan's search with a stack of its own instead of
// recursion.
func (g *graph) components() []int32 {
	n := len(g.offsets) - 1
	const unseen, open = 0, math.MaxInt32
	found := 0
	order, low, component := make([]int, n), make([]int, n), make([]int32, n) // order 0: unseen
	var path, stack []int32                                                   // path: the vertices from the root to the current one
	next := append([]int64(nil), g.offsets[:n]...)
	count := int32(0)
	for root := range n {
		if order[root] != unseen {
			continue
		}
		path = append(path, int32(root))
		for len(path) > 0 {
			v := path[len(path)-1]
			if order[v] == unseen {
				found++
				order[v], low[v], component[v] = found, found, open
				stack = append(stack, v)
			}
			if k := next[v]; k < g.offsets[v+1] {
				next[v]++
				switch w := g.to[k]; {
				case order[w] == unseen:
					path = append(path, w)
				case component[w] == open:
					low[v] = min(low[v], order[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[v])
			}
			if low[v] == order[v] { // v is the first vertex of its component, which lies on top of the stack
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					component[w] = count
					if w == v {
						break
					}
				}
				count++
			}
		}
	}
	return component
}

// paths writes the lengths of the shortest paths from a vertex, and the vertices before.
func (g *graph) paths(source int, length []float64, before []int32) {
	for i := range length {
		length[i], before[i] = math.Inf(1), -1
	}
	length[source] = 0
	q := queue{{0, int32(source)}}
	for len(q) > 0 {
		at := q.pop()
		if at.length > length[at.vertex] {
			continue // a shorter way was found later
		}
		for k := g.offsets[at.vertex]; k < g.offsets[at.vertex+1]; k++ {
			w, step := g.to[k], 1.0
			if g.lengths != nil {
				e := k
				if g.edge != nil {
					e = g.edge[k]
				}
				step = g.lengths[e]
			}
			if l := at.length + step; l < length[w] {
				length[w], before[w] = l, at.vertex
				q.push(reached{l, w})
			}
		}
	}
}

// reached is a vertex and the length of a path to it.
type reached struct {
	length float64
	vertex int32
}

// A queue is a binary heap, the shortest path first.
type queue []reached

func (q *queue) push(r reached) {
	h := append(*q, r)
	i := len(h) - 1
	for ; i > 0 && h[(i-1)/2].length > r.length; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = r
	*q = h
}

func (q *queue) pop() reached {
	h := *q
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1].length < h[c].length {
			c++
		}
		if c >= len(h) || h[c].length >= last.length {
			break
		}
		h[i], i = h[c], c
	}
	if len(h) > 0 {
		h[i] = last
	}
	*q = h
	return top
}
