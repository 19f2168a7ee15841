package core_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"weak"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// Chains of lazy operations have the bits of the same operations run one by one, whatever
// is looked at first, and however often they were met.
func TestLazyChainsKeepBits(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		rounds := 25
		if testing.Short() {
			rounds = 12
		}
		for round := range rounds {
			seed := r.Uint64()
			for range 3 { // the third one is surely fused
				var runs [2][]*weft.Tensor
				for k := range runs {
					runs[k] = lazyProgram(seed, k == 1)
				}
				for i := range runs[0] {
					if a, b := weft.Digest(runs[0][i]), weft.Digest(runs[1][i]); a != b {
						t.Fatalf("round %d, tensor %d differs", round, i)
					}
				}
			}
		}
	})
}

// lazyProgram applies random operations to a few tensors, and returns all in an order in
// which they are looked at.
func lazyProgram(seed uint64, lazy bool) []*weft.Tensor {
	r := rand.New(rand.NewPCG(seed, 5))
	g := weft.NewGenerator(seed)
	rows, cols := 40+r.IntN(30), 60+r.IntN(30)
	pool := []*weft.Tensor{g.Randn(rows, cols), g.Randn(rows, cols), g.Randn(cols), g.Randn(rows, 1), g.RandnOf(weft.Float64, rows, cols)}
	if lazy {
		for i := range pool {
			pool[i] = pool[i].Lazy()
		}
	}
	any := func() *weft.Tensor { return pool[r.IntN(len(pool))] }
	for range 25 {
		x, y := any(), any()
		if array.Size(x.Shape()) < cols || len(x.Shape()) < 2 && len(y.Shape()) < 2 {
			x = pool[0]
		}
		switch r.IntN(12) {
		case 0:
			pool = append(pool, x.Add(y))
		case 1:
			pool = append(pool, x.Mul(y).Add(r.Float64()))
		case 2:
			pool = append(pool, x.Tanh())
		case 3:
			pool = append(pool, x.Maximum(y))
		case 4:
			pool = append(pool, x.Sub(y).Abs().Sqrt())
		case 5:
			pool = append(pool, weft.Where(x.Gt(0), x, y))
		case 6: // a write: what waits for the old value is computed first
			z := pool[r.IntN(3)]
			z.AddAssign(0.5)
			if r.IntN(2) == 0 {
				z.Slice(weft.Range(0, 2)).Assign(y.Sum())
			}
		case 7:
			pool = append(pool, x.Sum(0), x.Mean(-1).Unsqueeze(-1))
		case 8:
			if x.IsContiguous() && x.Rank() == 2 {
				pool = append(pool, x.Reshape(x.Dim(1), x.Dim(0)).Neg().Reshape(x.Dim(0), x.Dim(1)))
			}
		case 9:
			if x.Rank() == 2 {
				pool = append(pool, x.T().Exp().T(), x.Slice(weft.All, weft.Range(1, x.Dim(1))).Mul(2))
			}
		case 10:
			if len(pool) > 8 {
				pool[r.IntN(len(pool)-5)+5].Sigmoid() // dropped
			}
		case 11: // rows that are gathered
			if x.Rank() == 2 {
				at := g.Randint(int64(-x.Dim(0)), int64(x.Dim(0)), rows)
				y := x.IndexSelect(0, at)
				pool = append(pool, y.Mul(2), y.Sum(0), y.Reshape(1, rows, -1).Max(1))
			}
		}
		if x := pool[len(pool)-1]; len(x.Shape()) > 2 || len(x.Shape()) == 2 && (x.Dim(0) != rows && x.Dim(0) != 1 || x.Dim(1) != cols && x.Dim(1) != 1) || len(x.Shape()) == 1 && x.Dim(0) != cols {
			x.Sum() // of a shape that does not fit the others
			pool = pool[:len(pool)-1]
		}
	}
	r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool
}

func TestLazyGradients(t *testing.T) {
	for range 3 {
		var grads [2]string
		for k := range 2 {
			w := weft.NewGenerator(7).Randn(50, 60).RequireGrad()
			x := w
			if k == 1 {
				x = w.Lazy()
			}
			y := x.Mul(2).Tanh().Add(x).Exp().Mul(x.Sigmoid())
			y.Sum().Backward()
			grads[k] = fmt.Sprint(weft.Digest(w.Grad()), weft.Digest(y))
		}
		if grads[0] != grads[1] {
			t.Fatal("gradients of a lazy chain differ")
		}
	}
}

// A reduction of lazily gathered rows has the bits of the eager one, even if the gathered rows are
// used again. Indices that change later have no effect. An index out of range is an error where the
// result is used.
func TestLazyGathers(t *testing.T) {
	x := weft.NewGenerator(1).Randn(500, 64)
	at := weft.NewGenerator(2).Randint(-500, 500, 800)
	want := weft.Digest(x.IndexSelect(0, at).Reshape(100, 8, 64).Sum(1))
	for range 3 {
		i := at.Clone()
		rows := x.Lazy().IndexSelect(0, i)
		if tensortest.View(rows).Store.Waits() == nil {
			t.Error("the rows were gathered at once")
		}
		bags := rows.Reshape(100, 8, 64).Sum(1)
		i.Fill(0)
		if weft.Digest(bags) != want || weft.Digest(rows) != weft.Digest(x.IndexSelect(0, at)) {
			t.Error("other bits than not lazily")
		}
		i.Fill(500)
		bad := x.Lazy().IndexSelect(0, i)
		if err := tensortest.Try(func() { bad.Reshape(100, 8, 64).Sum(1) }); err == nil || !strings.Contains(err.Error(), "is out of range") {
			t.Errorf("index out of range: %v", err)
		}
	}
}

// Lazy IndexSelect, indexing and Gather have the results and gradients of eager ones.
func TestLazyGathersRecorded(t *testing.T) {
	w, at := weft.NewGenerator(3).Randn(300, 64).RequireGrad(), weft.NewGenerator(4).Randint(0, 300, 400)
	run := func(x *weft.Tensor) string {
		w.SetGrad(nil)
		bags := x.IndexSelect(0, at).Reshape(50, 8, 64).Mean(1)
		picked := x.Gather(0, at.Reshape(400, 1).Expand(400, 64)).Mul(2)
		rows := x.Index(at, weft.Range(1, 60)).Exp()
		bags.Square().Sum().Add(picked.Sum()).Add(rows.Sum()).Backward()
		return fmt.Sprint(weft.Digest(bags), weft.Digest(picked), weft.Digest(rows), weft.Digest(w.Grad()))
	}
	want := run(w)
	for range 3 {
		if run(w.Lazy()) != want {
			t.Fatal("other bits than eagerly")
		}
	}
}

// A chain that was met before is one kernel, which stores its end alone.
func TestLazyChainIsOneKernel(t *testing.T) {
	x := weft.NewGenerator(1).Randn(100, 100)
	chain := func() *weft.Tensor {
		y := x.Lazy()
		for range 10 {
			y = y.Mul(1.01).Add(0.5)
		}
		return y
	}
	want := weft.Digest(chain())
	y := chain()
	w := core.LazyOpOf(tensortest.View(y).Store)
	if w == nil || w.Count != 20 {
		t.Fatal("the chain does not wait")
	}
	if weft.Digest(y) != want || core.LazyOpOf(tensortest.View(y).Store) != nil {
		t.Fatal("a chain that was met before differs")
	}
	if core.LazyOpOf(w.Args[0].V.Store) == nil {
		t.Error("the operation before the last one was computed, though nothing used it")
	}
	long := x.Lazy()
	for range 100 {
		long = long.Add(1)
	}
	if w := core.LazyOpOf(tensortest.View(long).Store); w == nil || w.Count > core.MaxLazyChain {
		t.Error("more operations wait for each other than may")
	}
	if x.Lazy().Slice(weft.Range(0, 2)).Add(1); core.LazyOpOf(tensortest.View(weft.Ones(3).Lazy().Add(1)).Store) != nil {
		t.Error("a small operation waits")
	}
}

func TestLazyErrors(t *testing.T) {
	x := weft.Ones(60, 60).Lazy()
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"add: shapes", func() { x.Add(weft.Ones(7)) }},
		{"fit", func() { x.To(weft.Int8).Add(1000) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q at the call", err, c.want)
		}
	}
	// What is given back is read before, unless nobody can ask any more.
	a := weft.Ones(60, 60)
	y := a.Lazy().Add(1).Mul(2)
	a.Release()
	if got := y.Sum().Item(); got != 4*3600 {
		t.Errorf("the sum is %v, want %v", got, 4*3600)
	}
	s := weft.NewScope().Lazy()
	b := s.Track(weft.Ones(60, 60))
	kept := s.Keep(b.Add(1).Mul(3))
	dropped := b.Sub(1)
	s.Close()
	if kept.Sum().Item() != 6*3600 {
		t.Error("what was kept lost its value")
	}
	if err := weft.Try(func() { dropped.Item() }); err == nil {
		t.Error("a lazy tensor of a closed scope was used")
	}
}

// A storage that is read for as long as the program runs does not remember who did.
func TestLazyReadersAreForgotten(t *testing.T) {
	leaf := weft.Ones(60, 60)
	var held []*weft.Tensor
	used := func(n int) {
		for range n {
			y := leaf.Lazy().Add(1)
			weft.Digest(y)
			held = append(held, y)
		}
	}
	// What other tests left waiting is not this one's: the next reader looks for what is done.
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so that no collection forgets for us
	core.LazyReaders.Mu.Lock()
	core.LazyReaders.Limit = 0
	core.LazyReaders.Mu.Unlock()
	used(1)
	core.LazyReaders.Mu.Lock()
	limit := core.LazyReaders.Limit
	core.LazyReaders.Mu.Unlock()
	used(999)
	core.LazyReaders.Mu.Lock()
	defer core.LazyReaders.Mu.Unlock()
	listed := 0
	for _, l := range core.LazyReaders.By {
		listed += len(l)
	}
	if listed != core.LazyReaders.Entries || listed > limit {
		t.Errorf("%d readers are listed and %d counted, after %d results that were all used; %d were expected at most",
			listed, core.LazyReaders.Entries, len(held), limit)
	}
	if mine := len(core.LazyReaders.By[weak.Make(tensortest.View(leaf).Store)]); mine > limit {
		t.Errorf("%d readers of the leaf are listed, %d were expected at most", mine, limit)
	}
}

// Goroutines that use parts of one chain at once agree.
func TestLazyConcurrent(t *testing.T) {
	x := weft.NewGenerator(2).Randn(64, 64)
	var want [6]string
	for round := range 20 {
		var ys [6]*weft.Tensor
		y := x.Lazy()
		for i := range ys {
			y = y.Mul(1.5).Tanh()
			ys[i] = y
		}
		var wg sync.WaitGroup
		for i := range ys {
			wg.Go(func() {
				d := fmt.Sprint(weft.Digest(ys[i].Add(1)))
				if round == 0 {
					want[i] = d
				} else if d != want[i] {
					t.Errorf("part %d differs", i)
				}
			})
		}
		wg.Wait()
	}
}

// A function that has a slice of elements may write: what waits for them is computed before,
// and nothing begins to wait for them meanwhile.
func TestLazyResultsBesideBorrow(t *testing.T) {
	places := weft.FromSlice(make([]int64, 100))
	for name, c := range map[string]struct {
		begin func(x *weft.Tensor) *weft.Tensor
		lent  func(x *weft.Tensor) *weft.Tensor
	}{
		"elementwise":        {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"gathered rows":      {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().IndexSelect(0, places).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"by a view":          {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x.Reshape(-1) }},
		"of a view":          {func(x *weft.Tensor) *weft.Tensor { return x.Reshape(64, 100).Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"chain":              {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(1).Sub(1).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"of a lazy result":   {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(0).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"with a second read": {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(x).Add(x) }, func(x *weft.Tensor) *weft.Tensor { return x }},
	} {
		x := weft.Full(2.0, 100, 64)
		y := c.begin(x)
		var inside *weft.Tensor
		weft.Borrow(c.lent(x), func(d []float32) {
			inside = c.begin(x)
			d[0] = 9
		})
		for when, r := range map[string]*weft.Tensor{"before": y, "inside": inside} {
			if got := r.At(0, 0).Item(); got != 6 {
				t.Errorf("%s, made %s: %v, want 6", name, when, got)
			}
		}
	}
	x, at := weft.Arange(6400.0).Reshape(100, 64), weft.FromSlice(make([]int64, 100))
	y := x.Lazy().IndexSelect(0, at)
	weft.Borrow(at, func(d []int64) { d[0] = 99 })
	if got := y.At(0, 0).Item(); got != 0 {
		t.Errorf("row %v/64 after the place was written, want row 0", got)
	}
}
