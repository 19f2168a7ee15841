package sparse_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/sparse"
)

// TestGraphs compares components and lengths of shortest paths with SciPy's, which testdata/graphs.py wrote, and checks
// that the vertices before lead back along edges of the right lengths.
func TestGraphs(t *testing.T) {
	text, err := os.ReadFile("testdata/graphs.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Graphs []struct {
			N                                int
			Row, Col                         []int
			Weights                          []float64
			Weak, Strong                     []int32
			Directed, Undirected, Unweighted []float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Graphs) == 0 {
		t.Fatal(len(file.Graphs), err)
	}
	for _, g := range file.Graphs {
		for _, format := range []sparse.Format{sparse.COO, sparse.CSC} {
			a := sparse.NewCOO(weft.FromSlice(g.Weights), g.Row, g.Col, g.N, g.N).To(format)
			checkPartition(t, a, sparse.ComponentsOpts{}, g.Weak)
			checkPartition(t, a, sparse.ComponentsOpts{Strong: true}, g.Strong)
			checkPaths(t, a, sparse.ShortestPathOpts{}, g.Directed)
			checkPaths(t, a, sparse.ShortestPathOpts{Undirected: true}, g.Undirected)
			checkPaths(t, a, sparse.ShortestPathOpts{Unweighted: true}, g.Unweighted)
		}
	}
}

// checkPartition compares components up to the order of their numbers, which here follows first vertices.
func checkPartition(t *testing.T, a *sparse.Matrix, o sparse.ComponentsOpts, want []int32) {
	t.Helper()
	count, labels := sparse.ConnectedComponents(a, o)
	renamed, next := map[int32]int32{}, int32(0)
	for i, l := range weft.Data[int32](labels) {
		if _, ok := renamed[want[i]]; !ok {
			renamed[want[i]], next = next, next+1
		}
		if l != renamed[want[i]] {
			t.Fatalf("%+v: vertex %d of %v is in component %d, want %d", o, i, a, l, renamed[want[i]])
		}
	}
	if count != int(next) {
		t.Errorf("%+v: %d components, want %d", o, count, next)
	}
}

func checkPaths(t *testing.T, a *sparse.Matrix, o sparse.ShortestPathOpts, want []float64) {
	t.Helper()
	distances, predecessors := sparse.ShortestPath(a, o)
	n := a.Shape()[0]
	d, p := weft.Data[float64](distances), weft.Data[int32](predecessors)
	for i, w := range want {
		if w < 0 {
			w = math.Inf(1)
		}
		if d[i] != w && !(math.Abs(d[i]-w) < 1e-9) {
			t.Fatalf("%+v: path %d of %v has length %v, want %v", o, i, a, d[i], w)
		}
		source, before := i/n, p[i]
		if end := i % n; before < 0 {
			if end != source && !math.IsInf(w, 1) {
				t.Fatalf("%+v: nothing is before %d on the path from %d", o, end, source)
			}
		} else if step := d[i] - d[source*n+int(before)]; step < 0 || step > 1+1e-9 {
			t.Fatalf("%+v: the step from %d to %d has length %v", o, before, end, step)
		}
	}
}

// TestGraphSizes checks sources, a ring that a recursive search would not return from, and wrong arguments.
func TestGraphSizes(t *testing.T) {
	const n = 300000
	i := weft.Arange(n)
	ring := sparse.NewCOO(weft.Ones(n), i, i.Add(1).Mod(n), n, n)
	for _, strong := range []bool{false, true} {
		if count, labels := sparse.ConnectedComponents(ring, sparse.ComponentsOpts{Strong: strong}); count != 1 || labels.Max().Item() != 0 {
			t.Errorf("a ring has %d components", count)
		}
	}
	d, p := sparse.ShortestPath(ring, sparse.ShortestPathOpts{Sources: []int{5, n - 1}})
	if d.At(0, 4).Item() != n-1 || d.At(1, 0).Item() != 1 || p.At(0, 5).ItemInt() != -1 || p.At(1, 0).ItemInt() != n-1 {
		t.Errorf("paths around a ring: %v, %v", d, p)
	}
	if d, p := sparse.ShortestPath(ring, sparse.ShortestPathOpts{Sources: []int{}}); d.Dim(0) != 0 || p.Dim(1) != n {
		t.Errorf("no sources: %v, %v", d.Shape(), p.Shape())
	}
	eye := sparse.Eye(3)
	for text, f := range map[string]func(){
		"sparse.connected_components: a: is [2 3], want a square": func() { sparse.ConnectedComponents(eye.Slice(0, 2, 0, 3)) },
		"sparse.shortest_path: a: has the weight -1":              func() { sparse.ShortestPath(eye.Neg()) },
		"sparse.shortest_path: a: has the weight NaN":             func() { sparse.ShortestPath(eye.Scale(math.NaN())) },
		"sparse.shortest_path: a: has weights of complex":         func() { sparse.ShortestPath(eye.As(weft.Complex64)) },
		"sparse.shortest_path: Sources: has 3: there are 3":       func() { sparse.ShortestPath(eye, sparse.ShortestPathOpts{Sources: []int{3}}) },
		"sparse.shortest_path: a: is nil":                         func() { sparse.ShortestPath(nil) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want an error with %q", err, text)
		}
	}
}
