package torchfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/torchfile"
)

func load(t *testing.T, name string, opts ...torchfile.LoadOpts) any {
	t.Helper()
	v, err := torchfile.Load("testdata/"+name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func get[T any](t *testing.T, d any, key any) T {
	t.Helper()
	v, ok := d.(*torchfile.Dict).Get(key)
	x, ok2 := v.(T)
	if !ok || !ok2 {
		t.Fatalf("%v: %T %v", key, v, v)
	}
	return x
}

// plain is a value with its tensors and dicts as text.
func plain(x any) any {
	switch x := x.(type) {
	case *weft.Tensor:
		if x.DType().Complex() {
			return fmt.Sprint(x.DType(), plain(x.Real()), plain(x.Imag()))
		}
		return fmt.Sprint(x.DType(), x.Shape(), weft.Data[float64](x.Detach().To(weft.Float64)))
	case *torchfile.Dict:
		s := "dict"
		for k, v := range x.All() {
			s += fmt.Sprintf(" %v:%v", k, plain(v))
		}
		return s
	case []any:
		var out []any
		for _, v := range x {
			out = append(out, plain(v))
		}
		return out
	}
	return x
}

// Containers, numbers and NumPy's values, in all protocols.
func TestContainersOfAllProtocols(t *testing.T) {
	huge := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 80))
	want := map[any]any{
		"none": nil, "true": true, "int": int64(-7), "long": int64(1 << 40), "big": huge, "float": 1.5, "complex": 1 + 2i,
		"str": "häßlich", "bytes": []byte("\x00\xffxy"), "bytearray": []byte("ab"), "list": []any{int64(1), []any{int64(2), "x"}},
		"tuple": torchfile.Tuple{int64(1), torchfile.Tuple{int64(2)}}, "empty": torchfile.Tuple{},
		"set": torchfile.Set{int64(3)}, "frozenset": torchfile.Set{int64(4)}, "ordered": "dict b:1 a:2", "default": "dict k:[1]", "counter": "dict a:2 b:1",
		int64(1): "int key", 2.5: "float key", nil: "none key",
		"size": torchfile.Size{2, 3}, "device": torchfile.Device("cuda:1"), "dtype": weft.BFloat16, "float8": torchfile.Global("torch.float8_e5m2"),
		"np_float": 1.5, "np_int": int64(-3), "np_bool": true, "np_array": "int32[2 3][0 1 2 3 4 5]", "np_fortran": "float64[2 3][0 1 2 3 4 5]",
	}
	for p := 2; p <= 5; p++ {
		d := load(t, fmt.Sprintf("containers%d.pt", p)).(*torchfile.Dict)
		if d.Len() != len(want)+1 {
			t.Errorf("%d keys, want %d", d.Len(), len(want)+1)
		}
		for k, w := range want {
			v, ok := d.Get(k)
			if text, isText := w.(string); isText && text != "häßlich" && !strings.HasSuffix(text, " key") {
				w = any(text)
				v = strings.ReplaceAll(fmt.Sprint(plain(v)), "] [", "][")
				v = strings.ReplaceAll(v.(string), "int32 [", "int32[")
				v = strings.ReplaceAll(v.(string), "float64 [", "float64[")
			}
			if !ok || !reflect.DeepEqual(v, w) {
				t.Errorf("protocol %d: %v is %T %v, want %T %v", p, k, v, v, w, w)
			}
		}
		if v, _ := d.Get(torchfile.Tuple{1, "x"}); v != "tuple key" {
			t.Errorf("the value of a tuple is %v", v)
		}
		if v, _ := d.Get(true); v != "int key" {
			t.Error("true is not the key 1")
		}
	}
}

// Every element type that weft has, and floats of 8 bits as bytes, in both formats, read and mapped.
func TestDTypes(t *testing.T) {
	for _, file := range []string{"dtypes.pt", "dtypes_old.pt"} {
		for _, mapped := range []bool{false, true} {
			d := load(t, file, torchfile.LoadOpts{Map: mapped}).(*torchfile.Dict)
			for name, v := range d.All() {
				switch x := v.(type) {
				case *weft.Tensor:
					want := []float64{0, 1, 2, 3, 4, 5}
					if name == "bool" {
						want = []float64{0, 1, 0, 1, 0, 1}
					}
					if x.DType().Complex() {
						x = x.Real()
					}
					if got := weft.Data[float64](x.To(weft.Float64)); !slices.Equal(got, want) || !strings.HasPrefix(name.(string), v.(*weft.Tensor).DType().String()) {
						t.Errorf("%s: %v is %s %v", file, name, v.(*weft.Tensor).DType(), got)
					}
				case *torchfile.Raw:
					want := map[string][]uint8{"float8_e4m3fn": {0, 56, 64, 68, 72, 74}, "float8_e5m2": {0, 60, 64, 66, 68, 69}}[x.DType]
					if got := weft.Data[uint8](x.Bytes); name != x.DType || !slices.Equal(got, want) {
						t.Errorf("%v is %s %v", name, x.DType, got)
					}
					floats, err := x.Floats(weft.BFloat16)
					if err != nil || !slices.Equal(weft.Data[float32](floats.To(weft.Float32)), []float32{0, 1, 2, 3, 4, 5}) {
						t.Errorf("%s converts to %v, %v", x.DType, floats, err)
					}
					if _, err := x.Floats(weft.Int32); err == nil {
						t.Error("floats became integers")
					}
				default:
					t.Errorf("%v is a %T", name, v)
				}
			}
			if n := map[string]int{"dtypes.pt": 17, "dtypes_old.pt": 12}[file]; d.Len() != n {
				t.Errorf("%s: %d element types, want %d", file, d.Len(), n)
			}
		}
	}
}

// Views share memory as they do in PyTorch, and keep their strides.
func TestViewsShareMemory(t *testing.T) {
	for _, file := range []string{"views.pt", "views_old.pt"} {
		for _, mapped := range []bool{false, true} {
			d := load(t, file, torchfile.LoadOpts{Map: mapped})
			x := get[*weft.Tensor](t, d, "x")
			x.Slice(weft.Index(2), weft.Index(4)).Fill(100)
			for name, want := range map[string][]float32{
				"row": {12, 13, 14, 15, 100, 17}, "part": {6, 8, 10, 12, 14, 100}, "expand": {0, 0, 0}, "scalar": {23}, "empty": nil, "none": nil, "param": {1, 1, 1},
			} {
				if got := weft.Data[float32](get[*weft.Tensor](t, d, name).Detach()); !slices.Equal(got, want) {
					t.Errorf("%s %s: %v, want %v", file, name, got, want)
				}
			}
			turned := get[*weft.Tensor](t, d, "t")
			if got := turned.Slice(weft.Index(4), weft.Index(2)).Item(); got != 100 || turned.IsContiguous() {
				t.Errorf("%s: the transpose has %v", file, got)
			}
			p, alias, same := get[*weft.Tensor](t, d, "param"), get[*weft.Tensor](t, d, "alias"), get[*weft.Tensor](t, d, "same")
			if p != alias || same != x || !p.RequiresGrad() || x.RequiresGrad() || !get[*weft.Tensor](t, d, "grad").RequiresGrad() {
				t.Errorf("%s: parameters", file)
			}
			p.Mul(2).Sum().Backward()
			if p.Grad() == nil {
				t.Error("no gradient")
			}
		}
	}
}

// The checkpoint of a training has the network's tensors and Adam's state.
func TestCheckpointOfATraining(t *testing.T) {
	d := load(t, "checkpoint.pt")
	if get[int64](t, d, "epoch") != 3 {
		t.Error("epoch")
	}
	opt := get[*torchfile.Dict](t, d, "optimizer_state_dict")
	first := get[*torchfile.Dict](t, get[*torchfile.Dict](t, opt, "state"), 0)
	if m := get[*weft.Tensor](t, first, "exp_avg"); !slices.Equal(m.Shape(), []int{4, 3}) {
		t.Errorf("exp_avg is %v", m)
	}
	groups := get[[]any](t, opt, "param_groups")
	if lr := get[float64](t, groups[0], "lr"); lr != 0.01 {
		t.Errorf("lr is %v", lr)
	}
	for _, file := range []string{"checkpoint.pt", "state.pth", "object.pt"} {
		state, err := torchfile.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"0.bias", "0.weight", "1.bias", "1.num_batches_tracked", "1.running_mean", "1.running_var", "1.weight", "2.weight"}
		if got := slices.Sorted(maps.Keys(state)); !slices.Equal(got, want) {
			t.Errorf("%s: names %q", file, got)
		}
	}
	state, _ := torchfile.ReadFile("testdata/checkpoint.pt")
	if got := weft.Data[float32](state["2.weight"]); !slices.Equal(got, []float32{0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.375}) {
		t.Errorf("2.weight is %v", got)
	}
}

// Objects of unknown classes are data; modules, programs and sparse tensors are refused by name.
func TestWhatIsNotData(t *testing.T) {
	o := get[*torchfile.Object](t, load(t, "object.pt"), "args")
	if state := o.State; o.Class != "__main__.Args" || get[float64](t, state, "lr") != 0.5 || get[*weft.Tensor](t, state, "tensor").Size() != 2 {
		t.Errorf("%+v", o)
	}
	for file, class := range map[string]string{"module.pt": "torch.nn.modules.container.Sequential", "script.pt": "TorchScript"} {
		_, err := torchfile.Load("testdata/" + file)
		m, ok := errors.AsType[*torchfile.ModuleError](err)
		if !ok || m.Class != class || !strings.Contains(err.Error(), "model.state_dict()") || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", file, err)
		}
	}
	state, err := torchfile.ReadFile("testdata/sparse.pt")
	left, ok := errors.AsType[*torchfile.LeftOutError](err)
	if !ok || state["dense"] == nil || !slices.Equal(left.Names, []string{"sparse"}) || !strings.Contains(err.Error(), "_rebuild_sparse_tensor") {
		t.Errorf("%v", err)
	}
	if _, err := torchfile.ReadFile("testdata/list.pt"); err == nil || !strings.Contains(err.Error(), "holds a list, not a state dict") {
		t.Errorf("a list: %v", err)
	}
	if _, err := torchfile.ReadFile("testdata/make.py"); !errors.As(err, new(*torchfile.FormatError)) {
		t.Errorf("not a checkpoint: %v", err)
	}
	if _, err := torchfile.Load("testdata/none.pt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// What is written is read as it was, and mapped.
func TestWriteGoesBack(t *testing.T) {
	for _, file := range []string{"containers2.pt", "dtypes.pt", "views.pt", "checkpoint.pt"} {
		d := load(t, file).(*torchfile.Dict)
		for _, key := range []string{"set", "frozenset", "float8"} {
			if _, ok := d.Get(key); ok {
				d.Set(key, nil)
			}
		}
		path := filepath.Join(t.TempDir(), "x.pt")
		if err := torchfile.WriteFile(path, d); err != nil {
			t.Fatal(err)
		}
		for _, mapped := range []bool{false, true} {
			back, err := torchfile.Load(path, torchfile.LoadOpts{Map: mapped})
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range d.All() {
				w, ok := back.(*torchfile.Dict).Get(k)
				a, b := plain(v), plain(w)
				if r, isRaw := v.(*torchfile.Raw); isRaw {
					a, b = plain(r.Bytes), plain(w.(*torchfile.Raw).Bytes)
				}
				if !ok || !reflect.DeepEqual(a, b) {
					t.Errorf("%s: %v is %v, want %v", file, k, b, a)
				}
			}
		}
	}
	for _, x := range []any{struct{}{}, map[int]int{}, (*weft.Tensor)(nil), torchfile.Global("os.system"), weft.DType(0), "\xff"} {
		if err := torchfile.Write(io.Discard, map[string]any{"x": x}); err == nil {
			t.Errorf("%T was written", x)
		}
	}
	self := []any{1}
	self[0] = self
	if err := torchfile.Write(io.Discard, self); err == nil {
		t.Error("a list that holds itself was written")
	}
	// As deep as Load reads, and one more.
	deep := any(torchfile.Tuple{1})
	for range 2000 {
		deep = []any{deep}
	}
	var b bytes.Buffer
	if err := torchfile.Write(&b, deep); err != nil {
		t.Error(err)
	}
	if _, err := torchfile.Read(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
		t.Error(err)
	}
	if err := torchfile.Write(io.Discard, []any{deep}); !errors.As(err, new(*torchfile.UnsupportedError)) {
		t.Errorf("containers that Load refuses: %v", err)
	}
	if err := torchfile.Write(nil, nil); err == nil {
		t.Error("a nil writer")
	}
}

// A tensor that is twice in a state is written once.
func TestTiedTensorsAreWrittenOnce(t *testing.T) {
	x := weft.Zeros(1000)
	var once, twice bytes.Buffer
	if err := torchfile.Write(&once, map[string]*weft.Tensor{"a": x}); err != nil {
		t.Fatal(err)
	}
	if err := torchfile.Write(&twice, map[string]*weft.Tensor{"a": x, "b": x}); err != nil {
		t.Fatal(err)
	}
	if d := twice.Len() - once.Len(); d > 500 {
		t.Errorf("%d bytes more", d)
	}
}

// TestDictMistakes: what cannot be a Dict is a typed error that names the argument.
func TestDictMistakes(t *testing.T) {
	odd := strings.Fields("a")
	for want, f := range map[string]func(){
		"torchfile.NewDict: pairs: are 1 arguments": func() { torchfile.NewDict(anys(odd)...) },
		"torchfile.Set: key: is a map[string]int":   func() { torchfile.NewDict(map[string]int{}, 1) },
		"torchfile.Set: the Dict: is nil":           func() { (*torchfile.Dict)(nil).Set("a", 1) },
	} {
		e, ok := errors.AsType[*weft.Error](weft.Try(f))
		if !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%v, want %s", e, want)
		}
	}
}

func anys(x []string) (out []any) {
	for _, s := range x {
		out = append(out, s)
	}
	return out
}
