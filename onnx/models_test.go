package onnx_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/nn"
	"weft/onnx"
	"weft/optim"
	"weft/safetensors"
)

// exported are the models of testdata/models.py.
var exported = []string{"mlp_script", "mlp_dynamo", "cnn_script", "cnn_dynamo", "transformer_script", "transformer_dynamo"}

func load(t *testing.T, name string) (*onnx.Model, map[string]*weft.Tensor) {
	t.Helper()
	m, err := onnx.Load(filepath.Join("testdata", name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := safetensors.ReadFile(filepath.Join("testdata", name+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return m, want
}

// far is the greatest difference of two tensors, relative to 1 or the greatest element.
func far(got, want *weft.Tensor) float64 {
	if !same(got.Shape(), want.Shape()) {
		return math.Inf(1)
	}
	return got.Sub(want).Abs().Max().Item() / math.Max(1, want.Abs().Max().Item())
}

func same(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestModelsMatchONNXRuntime compares models of torch.onnx with ONNX Runtime's results, for two shapes each:
// compiled, from several goroutines at once, node by node, and inside a compiled function.
func TestModelsMatchONNXRuntime(t *testing.T) {
	for _, name := range exported {
		t.Run(name, func(t *testing.T) {
			m, want := load(t, name)
			in, out := m.Inputs()[0].Name, m.Outputs()[0].Name
			outer := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return m.Forward(x) })
			var wg sync.WaitGroup
			for _, i := range []string{"0", "1", "0", "1"} {
				wg.Go(func() {
					x, y := want["input"+i], want["output"+i]
					got, err := m.Run(map[string]*weft.Tensor{in: x})
					if err != nil {
						t.Error(err)
						return
					}
					if d := far(got[out], y); !(d < 1e-5) {
						t.Errorf("input %s: compiled, off by %g", i, d)
					}
					if d := far(m.Forward(x), y); !(d < 1e-5) {
						t.Errorf("input %s: node by node, off by %g", i, d)
					}
					z, err := outer.Call(x)
					if err != nil {
						t.Error(err)
						return
					}
					if d := far(z, y); !(d < 1e-5) {
						t.Errorf("input %s: in a compiled function, off by %g", i, d)
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestModelsTrain trains imported models with weft's optimizers, in compiled steps.
func TestModelsTrain(t *testing.T) {
	for _, name := range exported {
		t.Run(name, func(t *testing.T) {
			m, want := load(t, name)
			n := 0
			for _, p := range nn.Params(m) {
				if !p.IsLeaf() {
					t.Error("a parameter is not a leaf")
				}
				n++
			}
			if n == 0 || n != len(m.Weights)-buffers(m) {
				t.Fatalf("%d parameters of %d weights", n, len(m.Weights))
			}
			opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.01)})
			x := want["input0"]
			rows := m.Forward(x).Size() / m.Forward(x).Dim(-1)
			target := weft.ArangeOf(weft.Int64, rows).Mod(3)
			step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				y := m.Forward(x)
				loss := nn.CrossEntropy(y.Reshape(rows, y.Dim(-1)), target)
				loss.Backward()
				opt.Step()
				opt.ZeroGrad()
				return loss
			})
			var first, last float64
			for i := range 20 {
				loss, err := step.Call(x)
				if err != nil {
					t.Fatal(err)
				}
				if last = loss.Item(); i == 0 {
					first = last
				}
			}
			if !(last < 0.7*first) {
				t.Errorf("the loss went from %g to %g", first, last)
			}
			// Run sees the trained weights, and the file is as it was.
			got, err := m.Run(map[string]*weft.Tensor{m.Inputs()[0].Name: x})
			if err != nil {
				t.Fatal(err)
			}
			if d := far(got[m.Outputs()[0].Name], m.Forward(x)); !(d < 1e-5) {
				t.Errorf("after training Run is off by %g", d)
			}
			again, _ := load(t, name)
			if d := far(again.Forward(x), want["output0"]); !(d < 1e-5) {
				t.Errorf("the file changed by %g", d)
			}
		})
	}
}

func buffers(m *onnx.Model) int {
	n := 0
	for range nn.Buffers(m) {
		n++
	}
	return n
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := os.ReadFile("testdata/mlp_script.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), "none"},
		{"empty", write("empty", nil), "it has no graph"},
		{"noise", write("noise", []byte("not a model at all")), "is not an ONNX model"},
		{"torch", write("torch.pth", []byte("PK\x03\x04\x00\x00 archive")), "models.Load reads the weights"},
		{"pickle", write("old.pth", []byte("\x80\x02\x8a\nl\xfc\x9c")), "models.Load reads the weights"},
		{"safetensors", write("w.safetensors", []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}")), "safetensors.ReadFile"},
		{"folder", dir, "is not a regular file"},
		{"device", os.DevNull, "is not a regular file"},
		{"cut", write("cut", good[:len(good)/2]), "bytes are needed"},
	} {
		_, err := onnx.Load(c.path)
		var e *onnx.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if _, err := onnx.ReadInfo(c.path); err == nil {
			t.Errorf("%s: ReadInfo gives no error", c.name)
		}
	}
	if _, err := onnx.Load(write("gemma", []byte(strings.ReplaceAll(string(good), "\x22\x04Gemm", "\x22\x04Hemm")))); err == nil {
		t.Error("an unknown operator is loaded")
	} else if u := new(onnx.UnsupportedError); !errors.As(err, &u) || len(u.Nodes) != 2 || u.Nodes[0].Op != "Hemm" || u.Nodes[0].OpSet != 17 || !strings.Contains(err.Error(), u.Nodes[1].Name) {
		t.Error(err)
	}
	m, _ := load(t, "mlp_script")
	for want, in := range map[string]map[string]*weft.Tensor{
		`input "input", float32[batch 6], is missing`:    {},
		`is float32[2 5]: want float32[batch 6]`:         {"input": weft.Zeros(2, 5)},
		`is float64[2 6]: want float32[batch 6]`:         {"input": weft.ZerosOf(weft.Float64, 2, 6)},
		`input "input" is nil`:                           {"input": nil},
		`the model has no input "other": it has "input"`: {"input": weft.Zeros(2, 6), "other": weft.Zeros(1)},
		`the model has no input "x": it has "input"`:     {"x": weft.Zeros(2, 6)},
	} {
		if _, err := m.Run(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestInfoIsACopy: writing into what a model says of itself changes nothing.
func TestInfoIsACopy(t *testing.T) {
	m, err := onnx.Load("testdata/cnn_script.onnx")
	if err != nil {
		t.Fatal(err)
	}
	info, in := m.Info(), m.Inputs()
	info.OpSets[""], info.Nodes["Conv"], info.Inputs[0].Type.Shape[1] = 0, 0, 0
	in[0].Type.Dims[0] = "other"
	m.Outputs()[0].Type.Shape[1] = 0
	if got := m.Info(); got.OpSets[""] != 17 || got.Nodes["Conv"] != 3 || m.Inputs()[0].String() != "input float32[batch 3 32 32]" || m.Outputs()[0].Type.Shape[1] == 0 {
		t.Errorf("%+v", got)
	}
	if s := (onnx.Type{Kind: onnx.TensorKind, Shape: []int{-1, 2}}).String(); !strings.Contains(s, "[? 2]") {
		t.Errorf("a type without names of its sizes is %s", s)
	}
}

func TestInfo(t *testing.T) {
	info, err := onnx.ReadInfo("testdata/cnn_script.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if info.OpSets[""] != 17 || info.Nodes["Conv"] != 3 || len(info.Inputs) != 1 || info.Inputs[0].String() != "input float32[batch 3 32 32]" || len(info.Unsupported) != 0 || !strings.HasPrefix(info.Producer, "pytorch") || info.Parameters == 0 {
		t.Errorf("%+v", info)
	}
	for _, o := range onnx.Operators() {
		if o.Name == "Relu" && o.Domain == "" && o.Since[0] == 1 {
			return
		}
	}
	t.Error("Operators has no Relu")
}
