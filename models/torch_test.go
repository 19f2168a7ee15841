package models_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
)

// A reference is what a script in testdata wrote of a model: see counter.py.
type reference struct {
	Names      string
	Parameters int
	Shape      []int
	Out, Eval  []float64
	Grads      map[string][3]float64
	Buffers    map[string][3]float64
}

// references reads a file of testdata.
func references(t *testing.T, file string) map[string]reference {
	t.Helper()
	return referencesOf[reference](t, file)
}

// referencesOf reads a file of testdata whose cases are T.
func referencesOf[T any](t *testing.T, file string) map[string]T {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fnv is the FNV-1a hash of a name.
func fnv(name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return h
}

// counterAt returns number i of the counter of a hash, between -1 and 1.
func counterAt(hash uint64, i int) float64 {
	z := uint64(i+1)*0x9e3779b97f4a7c15 + hash
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>40)/(1<<23) - 1
}

// counter returns float32 numbers by a name.
func counter(name string, shape ...int) *weft.Tensor {
	return filled(name, 1, 0, shape)
}

// filled returns factor*counter + offset, in the order of elements.
func filled(name string, factor, offset float64, shape []int) *weft.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data, hash := make([]float32, n), fnv(name)
	for i := range data {
		data[i] = float32(float64(counterAt(hash, i)*factor) + offset)
	}
	return weft.FromSlice(data, shape...)
}

// weight returns the value of a tensor of that name and shape in a file.
func weight(name string, t *weft.Tensor) *weft.Tensor {
	shape := t.Shape()
	switch {
	case !t.DType().Float():
		return weft.ZerosOf(t.DType(), shape...)
	case len(shape) >= 2:
		fan := 1
		for _, d := range shape[1:] {
			fan *= d
		}
		return filled(name, math.Sqrt(6/float64(fan)), 0, shape)
	case strings.HasSuffix(name, "running_var"):
		return filled(name, 0.5, 1, shape)
	case strings.HasSuffix(name, "weight"):
		return filled(name, 0.25, 1, shape)
	}
	return filled(name, 0.125, 0, shape)
}

// fill loads the weights of the scripts into a model, by the names of a form.
func fill(t *testing.T, m any, form string) {
	t.Helper()
	state := map[string]*weft.Tensor{}
	for name, x := range models.State(m, form) {
		state[name] = weight(name, x)
	}
	if err := models.LoadState(m, state); err != nil {
		t.Fatal(err)
	}
}

// fingerprint is a hash of the names, types and shapes of a state.
func fingerprint(state map[string]*weft.Tensor) string {
	var lines []string
	for name, x := range state {
		lines = append(lines, fmt.Sprintf("%s %s %v\n", name, x.DType(), x.Shape()))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// A torchCase is a model that a script in testdata has too.
type torchCase struct {
	model any
	run   func(d weft.DType) *weft.Tensor // the results, from inputs in the type of the weights
	form  string                          // of the names in the file; "" is the first
	// tolerance is a factor of the usual one of float32, 1e-5 of the greatest number; 0 means 1. More
	// is needed where PyTorch's own float32 differs as much from its float64.
	tolerance float64
	single    bool // PyTorch computes parts in float32, also where all else is float64
	// rounded names the gradients that are compared in float64 alone, since rounding to float32 decides
	// them; nil means none.
	rounded func(name string) bool
}

// of is the case of a layer and pictures.
func of(l nn.Layer, shape ...int) torchCase {
	x := counter("x", shape...)
	return torchCase{model: l, run: func(d weft.DType) *weft.Tensor { return l.Forward(x.To(d)) }}
}

// step computes the gradients of the parameters as the scripts do, and returns the results.
func (c torchCase) step(d weft.DType) *weft.Tensor {
	y := c.run(d)
	for _, p := range nn.Params(c.model) {
		p.SetGrad(nil)
	}
	y.Mul(counter("dout", y.Shape()...).To(d)).Sum().Backward()
	return y.Detach()
}

// compare compares names, results, gradients and running statistics with a reference: in float32, and
// in float64 as PyTorch computed them.
func (c torchCase) compare(t *testing.T, want reference) {
	fill(t, c.model, c.form)
	state := models.State(c.model, c.form)
	if got := fingerprint(state); got != want.Names {
		t.Errorf("names and shapes differ from PyTorch's: %q", slices.Sorted(maps.Keys(state)))
	}
	if got := parameters(c.model); got != want.Parameters {
		t.Errorf("%d parameters, want %d", got, want.Parameters)
	}
	c.compareIn(t, weft.Float32, 1e-5*max(c.tolerance, 1), want)
	toFloat64(reflect.ValueOf(c.model), map[*weft.Tensor]*weft.Tensor{})
	fill(t, c.model, c.form)
	bound := 1e-8
	if c.single {
		bound = 4e-6
	}
	c.compareIn(t, weft.Float64, bound, want)
}

func (c torchCase) compareIn(t *testing.T, d weft.DType, bound float64, want reference) {
	t.Helper()
	nn.Train(c.model)
	y := c.step(d)
	if !slices.Equal(y.Shape(), want.Shape) || y.DType() != d {
		t.Fatalf("results %s%v, want %s%v", y.DType(), y.Shape(), d, want.Shape)
	}
	closeTo(t, "results", y, want.Out, bound)
	grads := maps.Clone(want.Grads)
	if c.rounded != nil && d != weft.Float64 {
		maps.DeleteFunc(grads, func(name string, _ [3]float64) bool { return c.rounded(name) })
	}
	sums(t, "gradient of ", gradients(c.model, c.form), grads, bound)
	sums(t, "afterwards ", models.State(c.model, c.form), want.Buffers, bound)
	if len(want.Eval) > 0 {
		nn.Eval(c.model)
		weft.WithoutGrad(func() { closeTo(t, "results out of training", c.run(d), want.Eval, bound) })
	}
}

// compareCompiled compares the bits of a compiled step with an eager one.
func (c torchCase) compareCompiled(t *testing.T) {
	fill(t, c.model, c.form)
	nn.Train(c.model)
	digest := func(y *weft.Tensor) string {
		state := nn.State(c.model)
		return weft.Digest(y) + weft.DigestNamed(func(yield func(string, *weft.Tensor) bool) {
			for _, name := range slices.Sorted(maps.Keys(state)) {
				if !yield(name, state[name]) || state[name].Grad() != nil && !yield(name+" gradient", state[name].Grad()) {
					return
				}
			}
		})
	}
	want := digest(c.step(weft.Float32))
	fill(t, c.model, c.form)
	f := weft.Compile(func() *weft.Tensor { return c.step(weft.Float32) })
	if got := digest(f.Func()()); got != want {
		t.Error("other bits than eagerly")
	}
}

// toFloat64 puts float64 tensors in place of the float32 ones of a module, one where there was one.
func toFloat64(v reflect.Value, made map[*weft.Tensor]*weft.Tensor) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		x, ok := v.Interface().(*weft.Tensor)
		if !ok {
			toFloat64(v.Elem(), made)
			return
		}
		if made[x] == nil && x.DType() == weft.Float32 {
			made[x] = x.Detach().To(weft.Float64).RequireGrad(x.RequiresGrad())
		}
		if made[x] != nil {
			v.Set(reflect.ValueOf(made[x]))
		}
	case reflect.Interface:
		toFloat64(v.Elem(), made)
	case reflect.Slice:
		for i := range v.Len() {
			toFloat64(v.Index(i), made)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(key))
			toFloat64(x, made)
			v.SetMapIndex(key, x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				toFloat64(v.Field(i), made)
			}
		}
	}
}

// gradients returns the gradients of a model's parameters in the names and layouts of a form: the form
// of a copy whose parameters hold the gradients.
func gradients(m any, form string) map[string]*weft.Tensor {
	grads := map[string]*weft.Tensor{}
	for name, p := range nn.Params(m) {
		grads[name] = p.Grad()
	}
	c := nn.Copy(m)
	for name, p := range nn.Params(c) {
		if grads[name] == nil {
			p.Detach().Fill(math.NaN())
		} else {
			p.Detach().Assign(grads[name])
		}
	}
	return models.State(c, form)
}

// parameters returns the number of numbers that are trained.
func parameters(m any) int {
	n := 0
	for _, p := range nn.Params(m) {
		n += p.Size()
	}
	return n
}

// closeTo compares the first numbers of a tensor.
func closeTo(t *testing.T, what string, got *weft.Tensor, want []float64, bound float64) {
	t.Helper()
	greatest := 0.0
	for _, x := range want {
		greatest = max(greatest, math.Abs(x))
	}
	g := weft.Data[float64](got.Detach().To(weft.Float64))
	for i, x := range want {
		if !(math.Abs(g[i]-x) <= bound*greatest) {
			t.Errorf("%s %s: number %d is %v, want %v", got.DType(), what, i, g[i], x)
			return
		}
	}
}

// sums compares tensors with their norms, products and one element. A tensor that is 0 but for
// rounding, such as the gradient of a bias before a normalisation, is compared by the others' norms.
func sums(t *testing.T, what string, got map[string]*weft.Tensor, want map[string][3]float64, bound float64) {
	t.Helper()
	greatest := 0.0
	for _, w := range want {
		greatest = max(greatest, w[0])
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, x := want[name], got[name]
		if x == nil {
			t.Errorf("the model lacks %q", name)
			continue
		}
		data := weft.Data[float64](x.Detach().To(weft.Float64))
		hash, norm, product := fnv(name), 0.0, 0.0
		for i, v := range data {
			norm += v * v
			product += v * counterAt(hash, i)
		}
		norm = math.Sqrt(norm)
		size := w[0]
		if size < 1e-6*greatest {
			size = greatest
		}
		for k, v := range []float64{norm, product, data[hash%uint64(len(data))]} {
			if !(math.Abs(v-w[k]) <= bound*max(size, math.Abs(w[k]))) {
				t.Errorf("%s %s%s: %s %v, want %v (norm %v)", x.DType(), what, name, []string{"norm", "product", "element"}[k], v, w[k], w[0])
				break
			}
		}
	}
}

// compareAll compares the cases of a file that a test has.
func compareAll(t *testing.T, file string, cases iter.Seq2[string, torchCase]) {
	all := references(t, file)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want, ok := all[name]
			if !ok {
				t.Fatal("the file does not have it")
			}
			c.compare(t, want)
		})
	}
}
