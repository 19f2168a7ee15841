package ragged_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/ptxsim"
	"weft/kernel"
	"weft/ragged"
)

// gpu returns a simulated GPU.
func gpu(t *testing.T) weft.Device {
	t.Helper()
	sim := ptxsim.New(ptxsim.Options{Seed: 1})
	d, err := cudart.Open(sim, 0, device.Get(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range sim.Faults() {
			t.Errorf("fault: %v", f)
		}
	})
	number := device.Register(d)
	return weft.Devices()[number]
}

func lists() map[string]*ragged.List {
	type point struct {
		X [2]float32
		N int64
	}
	return map[string]*ragged.List{
		"numbers": ragged.Of([][]float64{{3, 1, 2}, {}, {-5}, {4, 4, math.Inf(1), 0, 1}}),
		"vectors": ragged.Of([][][3]float32{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}}, {}}),
		"nested":  ragged.Of([][][]float32{{{1, 2}, {}, {3}}, {}, {{4, 5, 6}}}),
		"structs": ragged.Of([][]point{{{[2]float32{1, 2}, 3}}, {}, {{[2]float32{4, 5}, 6}, {[2]float32{7, 8}, 9}}}),
		"none":    ragged.Empty(weft.Float32, 2),
	}
}

// same compares a list with one on the CPU, offsets and rows in all bits.
func same(t *testing.T, what string, got, want *ragged.List, dev weft.Device) {
	t.Helper()
	if got.Device() != dev || got.Len() != want.Len() || got.Rows() != want.Rows() || got.Depth() != want.Depth() {
		t.Errorf("%s: a list on %v with %d items, %d rows, want %v, %d, %d", what, got.Device(), got.Len(), got.Rows(), dev, want.Len(), want.Rows())
		return
	}
	for k := range want.Depth() {
		sameTensor(t, what+", offsets", got.Offsets(k), want.Offsets(k), dev)
	}
	fields := want.Fields()
	if fields == nil {
		sameTensor(t, what+", rows", got.Data(), want.Data(), dev)
	}
	for _, f := range fields {
		sameTensor(t, what+", rows of "+f, got.Field(f).Data(), want.Field(f).Data(), dev)
	}
}

func sameTensor(t *testing.T, what string, got, want *weft.Tensor, dev weft.Device) {
	t.Helper()
	if got.Device() != dev || weft.Digest(got) != weft.Digest(want) {
		t.Errorf("%s: %v on %v, want %v on %v", what, got, got.Device(), want, dev)
	}
}

var halved = kernel.MustParse("package f; func half(x float64) float64 { return x / 2 }").Func("half")

// Operations on a list on a GPU give what they give on the CPU, in all bits, and stay there.
func TestListsOnDevice(t *testing.T) {
	dev := gpu(t)
	ops := map[string]func(l *ragged.List) any{
		"on":         func(l *ragged.List) any { return l },
		"take":       func(l *ragged.List) any { return l.Take([]int{-1, 0, 0}) },
		"range":      func(l *ragged.List) any { return l.Range(1, weft.End) },
		"step":       func(l *ragged.List) any { return l.Range(weft.End, weft.Begin, -1) },
		"concat":     func(l *ragged.List) any { return ragged.Concat([]*ragged.List{l, l}, 0) },
		"side":       func(l *ragged.List) any { return ragged.Concat([]*ragged.List{l, l}, 1) },
		"unflatten":  func(l *ragged.List) any { return l.Unflatten(l.Len()) },
		"clone":      func(l *ragged.List) any { return l.Clone() },
		"mask items": func(l *ragged.List) any { return l.Mask(l.Sizes().Gt(1)) },
		"sizes":      func(l *ragged.List) any { return l.Sizes() },
		"zip":        func(l *ragged.List) any { return ragged.Zip([]string{"a", "b"}, l, l) },
		"mask":       func(l *ragged.List) any { return l.Mask(l.Gt(1)) },
		"sum":        func(l *ragged.List) any { return l.Sum() },
		"softmax":    func(l *ragged.List) any { return l.Softmax(-1) },
		"argmax":     func(l *ragged.List) any { return l.ArgMax() },
		"logsumexp":  func(l *ragged.List) any { return l.LogSumExp() },
		"sort":       func(l *ragged.List) any { v, _ := l.Sort(); return v },
		"argsort":    func(l *ragged.List) any { return l.ArgSort() },
		"add":        func(l *ragged.List) any { return l.Add(l.Mul(0.5)) },
		"centred":    func(l *ragged.List) any { return l.Sub(l.Mean()) },
		"places":     func(l *ragged.List) any { return l.LocalIndex() },
		"padded":     func(l *ragged.List) any { x, m := l.ToPadded(-1); return x.Mul(m.Sum()) },
		"expr":       func(l *ragged.List) any { return ragged.Expr("l*2 + 1", weft.Vars{"l": l}) },
		"spread":     func(l *ragged.List) any { return l.Spread(l.Sum()) },
		"apply":      func(l *ragged.List) any { return l.Apply((*weft.Tensor).Exp) },
		"index":      func(l *ragged.List) any { return l.Index(l.ArgSort()) },
		"map":        func(l *ragged.List) any { return l.Map(halved) },
		"set":        func(l *ragged.List) any { l = l.Clone(); l.Set(0, 7); return l },
		"matmul":     func(l *ragged.List) any { return l.MatMul(l.Device().Ones(3, 2)) },
		"attention":  func(l *ragged.List) any { return ragged.Attention(l, l, l) },
		"again":      func(l *ragged.List) any { x, m := l.ToPadded(0); return ragged.FromPadded(x, m) },
		"sizes of":   func(l *ragged.List) any { return ragged.FromSizes(l.Data(), l.Sizes(-1)) },
		"offsets of": func(l *ragged.List) any { return ragged.FromOffsets(l.Data(), []int{1, 2, 2}) },
		"compiled": func(l *ragged.List) any {
			return weft.Compile(func(l *ragged.List) *ragged.List { return l.Sub(l.Max(-1)).Softmax(-1) }).Func()(l)
		},
		"gradient": func(l *ragged.List) any {
			x := l.Data().Detach().Clone().RequireGrad()
			y := l.With(x).Softmax(-1).Take([]int{0, 0, 2}).Sum(-1).Square().Sum()
			return weft.Grad(y, []*weft.Tensor{x})[0]
		},
		"gradient to the CPU": func(l *ragged.List) any {
			x := l.On(weft.CPU).Data().Detach().Clone().RequireGrad()
			return weft.Grad(l.On(weft.CPU).With(x).On(l.Device()).Sum().Square().Sum(), []*weft.Tensor{x})[0].On(l.Device())
		},
		"text": func(l *ragged.List) any { return l.String() },
		"json": func(l *ragged.List) any { text, _ := l.MarshalJSON(); return string(text) },
	}
	compared := map[string]bool{}
	for kind, l := range lists() {
		on := l.On(dev)
		for name, f := range ops {
			var want, got any
			err, errOn := weft.Try(func() { want = f(l) }), weft.Try(func() { got = f(on) })
			what := kind + ": " + name
			if err != nil {
				if errOn == nil || strings.Contains(errOn.Error(), "device") {
					t.Errorf("%s: %v, on the CPU %v", what, errOn, err)
				}
				continue
			}
			if errOn != nil {
				t.Errorf("%s: %v", what, errOn)
				continue
			}
			compared[name] = true
			switch want := want.(type) {
			case *ragged.List:
				same(t, what, got.(*ragged.List), want, dev)
			case *weft.Tensor:
				sameTensor(t, what, got.(*weft.Tensor), want, dev)
			default:
				if got != want {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
		}
		same(t, kind+": back", on.On(weft.CPU), l, weft.CPU)
		path := filepath.Join(t.TempDir(), "list.npz")
		if err := ragged.WriteFile(path, on); err != nil {
			t.Error(err)
		}
		read, err := ragged.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		same(t, kind+": file", read, l, weft.CPU)
	}
	for name := range ops {
		if !compared[name] {
			t.Errorf("%s gave no list anything", name)
		}
	}
}

// What cannot be on a GPU, or lies elsewhere, is refused by name.
func TestListsOfTwoDevices(t *testing.T) {
	dev := gpu(t)
	l := ragged.Of([][]float64{{1}, {2, 3}})
	on, cpu := l.On(dev), weft.CPU.Name()
	for want, f := range map[string]func(){
		"insert: the rows are on cuda:0": func() { on.Insert(0, []float64{1}) },
		"add: x: is on " + cpu:           func() { on.Add(l) },
		"index: idx: is on " + cpu:       func() { on.Index(ragged.Of([][]int64{{0}, {0}})) },
		"concat: lists: is on " + cpu:    func() { ragged.Concat([]*ragged.List{on, l}, 0) },
		"zip: lists: is on cuda:0":       func() { ragged.Zip([]string{"a", "b"}, l, on) },
		"with: x: is on " + cpu:          func() { on.With(l.Data()) },
		"spread: x: is on " + cpu:        func() { on.Spread(l.Sum()) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if on.On(dev) != on {
		t.Error("On copies a list that is there")
	}
	on.Set(1, []float64{5, 6}) // no size changes
	same(t, "set", on, ragged.Of([][]float64{{1}, {5, 6}}), dev)
}
