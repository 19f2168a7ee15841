package packed_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/packed"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// captured returns a check of three calls of a compiled product with w. Each must have the bits of a
// product with the elements that w has now.
func captured(t *testing.T, w *weft.Tensor) (check func(what string) (copies int64)) {
	x := weft.FromSlice(fill(rows*w.Shape()[0], 21), rows, w.Shape()[0])
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	return func(what string) int64 {
		t.Helper()
		return calls(t, what, f, x, func() []float32 { return plain(x, w) })
	}
}

// Every way to write a captured weight ends its copies.
func TestWritesEndCopies(t *testing.T) {
	needsCode(t)
	x := weft.FromSlice(fill(rows*inner, 22), rows, inner)
	for _, c := range []struct {
		name  string
		write func(w *weft.Tensor)
	}{
		{"Assign", func(w *weft.Tensor) { w.Assign(weights(23)) }},
		{"Assign of a number", func(w *weft.Tensor) { w.Assign(0.25) }},
		{"Set", func(w *weft.Tensor) { w.Set(5, 3, 4) }},
		{"Set in a view of a view", func(w *weft.Tensor) { w.T().Slice(weft.Range(7, 9)).Set(5, 1, 2) }},
		{"Fill of a short row", func(w *weft.Tensor) { w.Index(2).Fill(-1) }},
		{"Fill", func(w *weft.Tensor) { w.Fill(0.5) }},
		{"MulAssign of a transpose", func(w *weft.Tensor) { w.T().MulAssign(-0.5) }},
		{"AddAssign of a row", func(w *weft.Tensor) { w.Index(5).AddAssign(1) }},
		{"Assign of IndexPut", func(w *weft.Tensor) { w.Assign(w.IndexPut(2, weft.FromSlice([]int64{4, 9}, 2))) }},
		{"Borrow", func(w *weft.Tensor) { weft.Borrow(w, func(d []float32) { d[len(d)/2] += 1 }) }},
		{"Borrow of a view", func(w *weft.Tensor) { weft.Borrow(w.Index(8), func(d []float32) { d[3] += 1 }) }},
		{"another compiled function", func(w *weft.Tensor) {
			weft.Compile(func(x *weft.Tensor) *weft.Tensor { w.Index(1).AddAssign(1); return x }).Func()(x)
		}},
		{"an argument that is written", func(w *weft.Tensor) {
			weft.Compile(func(v *weft.Tensor) *weft.Tensor { v.MulAssign(0.75); return v.Sum() }).Func()(w)
		}},
		{"a tracked array", func(w *weft.Tensor) {
			d := weft.Track(w)
			defer d.Stop()
			w.Index(4).Assign(3)
		}},
		{"an optimizer", func(w *weft.Tensor) {
			g := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
			w.RequireGrad(true)
			x.MatMul(w).Sum().Backward()
			optim.NewSGD(g).Step()
			w.RequireGrad(false)
		}},
		{"a compiled step of an optimizer", func(w *weft.Tensor) {
			g := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
			w.RequireGrad(true)
			opt := optim.NewAdam(g)
			weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				loss := x.MatMul(w).Square().Mean()
				loss.Backward()
				opt.Step()
				opt.ZeroGrad()
				return loss
			}).Func()(x)
			w.RequireGrad(false)
		}},
		{"a state that is loaded", func(w *weft.Tensor) {
			layer := &nn.Linear{Weight: w}
			if err := nn.LoadState(layer, map[string]*weft.Tensor{"weight": weights(25)}, true); err != nil {
				t.Fatal(err)
			}
		}},
		{"a goroutine", func(w *weft.Tensor) {
			done := make(chan bool)
			go func() { w.MulAssign(1.5); close(done) }()
			<-done
		}},
	} {
		w := weights(24)
		check := captured(t, w)
		if n := check(c.name + ": before"); n != 1 {
			t.Errorf("%s: %d copies were made before the write, not 1", c.name, n)
		}
		old := weft.Data[float32](w)
		c.write(w)
		same := true
		for i, v := range weft.Data[float32](w) {
			same = same && v == old[i]
		}
		if same {
			t.Errorf("%s wrote nothing", c.name)
		}
		check(c.name)
		check(c.name + ": more calls")
		w.Release()
	}
}

// A weight that is a window of larger memory, in any order of axes, sees what its base is written.
func TestCopiesOfWindows(t *testing.T) {
	needsCode(t)
	base := weft.FromSlice(fill(600*600, 25), 600, 600).Clone()
	for _, w := range []*weft.Tensor{
		base.Slice(weft.Range(10, 310), weft.Range(20, 280)),
		base.Slice(weft.Range(10, 310), weft.Range(20, 280)).T(),
		base.Slice(weft.Range(11, 311), weft.Range(20, 280)),
	} {
		check := captured(t, w)
		check("a window")
		base.Index(150).AddAssign(1)
		check("a window whose base was written")
	}
}

// Memory that is released comes back at the same address, with other elements.
func TestMemoryThatComesBack(t *testing.T) {
	needsCode(t)
	for seed := range 6 {
		w := weights(30 + seed)
		captured(t, w)("memory that may have been used before")
		w.Release()
	}
}

// Tensors that a mapped file gives twice share memory, whose writes show in both.
func TestTensorsOfOneFile(t *testing.T) {
	needsCode(t)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := safetensors.WriteFile(path, map[string]*weft.Tensor{"w": weights(40), "v": weights(41)}, nil); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	get := func(name string) *weft.Tensor {
		x, err := file.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	w, v := get("w"), get("v")
	check, other := captured(t, w), captured(t, v)
	if check("mapped") != 1 || other("mapped") != 1 {
		t.Error("weights in a file have no copies")
	}
	again := get("w")
	again.MulAssign(2)
	check("written through a second tensor")
	again.AddAssign(1)
	if n := check("written again"); n != 0 {
		t.Errorf("%d copies were made of memory that two storages write", n)
	}
	v.MulAssign(2)
	if n := other("a neighbor"); n != 1 {
		t.Errorf("%d copies were made of memory that one storage writes, not 1", n)
	}
	for _, x := range []*weft.Tensor{w, v, again} {
		x.Release()
	}
}

// Writes into a private map of a file show.
func TestWritesIntoPrivateMap(t *testing.T) {
	needsCode(t)
	path := filepath.Join(t.TempDir(), "w.npy")
	if err := npy.WriteFile(path, weights(42)); err != nil {
		t.Fatal(err)
	}
	w, err := npy.Map(path, npy.CopyOnWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	check := captured(t, w)
	check("mapped")
	w.Index(3).AddAssign(1)
	check("written")
}

// Weights of 16 bits, filters, and functions that share a weight see writes, also below Vmap.
func TestWritesInOtherUses(t *testing.T) {
	needsCode(t)
	x := weft.FromSlice(fill(rows*inner, 50), rows, inner)
	images := weft.FromSlice(fill(2*32*12*12, 51), 2, 32, 12, 12)
	conv := func(w *weft.Tensor) *weft.Tensor { return images.Conv2d(w, nil, weft.ConvOpts{Padding: [2]int{1, 1}}) }
	product := func(w *weft.Tensor) *weft.Tensor { return x.To(w.DType()).MatMul(w) }
	for _, c := range []struct {
		name string
		w    *weft.Tensor
		use  func(w *weft.Tensor) *weft.Tensor
	}{
		{"float16", weights(52).To(weft.Float16), product},
		{"bfloat16", weights(53).To(weft.BFloat16), product},
		{"float64", weights(54).To(weft.Float64), product},
		{"filters of three by three", weft.FromSlice(fill(32*32*9, 55), 32, 32, 3, 3).Clone(), conv},
		{"filters of five by five", weft.FromSlice(fill(20*32*25, 56), 20, 32, 5, 5).Clone(), conv},
		{"rows of Vmap", weights(57), func(w *weft.Tensor) *weft.Tensor {
			return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(w) })(x)
		}},
	} {
		compiled := func() func(*weft.Tensor) *weft.Tensor {
			return weft.Compile(func(one *weft.Tensor) *weft.Tensor { return c.use(c.w).Mul(one) }).Func()
		}
		one := weft.FromSlice([]float32{1}, 1).To(c.w.DType())
		f, g := compiled(), compiled()
		before := packed.Made()
		for k := range 3 {
			own := weft.FromSlice(weft.Data[float32](c.w.To(weft.Float32)), c.w.Shape()...).To(c.w.DType()) // has no copies
			fresh := weft.Data[float32](c.use(own).To(weft.Float32))
			for range 3 {
				same(t, c.name, weft.Data[float32](f(one).To(weft.Float32)), fresh)
				same(t, c.name+" in a second function", weft.Data[float32](g(one).To(weft.Float32)), fresh)
			}
			c.w.Index(k).AddAssign(1)
		}
		if packed.Made() == before {
			t.Errorf("%s: no copies were made", c.name)
		}
	}
}

// Sixteen goroutines that share weights see what is written between their calls.
func TestWritesBetweenGoroutines(t *testing.T) {
	needsCode(t)
	w := weights(60)
	x := weft.FromSlice(fill(rows*inner, 61), rows, inner)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	for range 4 {
		want := plain(x, w)
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 3 {
					if !slices.Equal(weft.Data[float32](f(x)), want) {
						t.Error("a call has other bits")
					}
				}
			})
		}
		all.Wait()
		w.Index(1).AddAssign(1)
	}
}
