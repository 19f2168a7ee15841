package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/npy"
	"weft/safetensors"
)

// TestRunModel runs a model that torch.onnx wrote by the command, and compares it with ONNX Runtime's results.
func TestRunModel(t *testing.T) {
	from, err := filepath.Abs("../../onnx/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	model, err := os.ReadFile(filepath.Join(from, "mlp_script.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("mlp.onnx", model, 0o600); err != nil {
		t.Fatal(err)
	}
	values, _, err := safetensors.ReadFile(filepath.Join(from, "mlp_script.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteFile("x.npy", values["input0"]); err != nil {
		t.Fatal(err)
	}
	command := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &errs); code != want {
			t.Fatalf("weft %q: exit code %d: %s", args, code, &errs)
		}
		return out.String() + errs.String()
	}
	command(ok, "run", "mlp.onnx", "input=x.npy", "-o", "y.npy")
	y, err := npy.ReadFile("y.npy")
	if err != nil {
		t.Fatal(err)
	}
	if worst := y.Sub(values["output0"]).Abs().Max().Item(); !(worst < 1e-5) {
		t.Errorf("y is %v, want %v", y, values["output0"])
	}
	s := command(ok, "info", "mlp.onnx")
	for _, want := range []string{"input        input float32[", "output       output float32[", "operators of ai.onnx ", "Gemm", "parameters   "} {
		if !strings.Contains(s, want) {
			t.Errorf("info says %s, want %q", s, want)
		}
	}
	for args, want := range map[string]string{
		"run mlp.onnx input=x.npy --save m.weft": "--save",
		"run mlp.onnx input=x.npy --device cpu":  "--device",
		"run mlp.onnx z=x.npy":                   "no input z",
		"run mlp.onnx":                           "no value for input",
	} {
		if s := command(misuse, strings.Fields(args)...); !strings.Contains(s, want) {
			t.Errorf("weft %s says %s, want %q", args, s, want)
		}
	}
	if s := command(failed, "run", "mlp.onnx", "input=1"); !strings.Contains(s, `input "input"`) {
		t.Errorf("a number for a matrix: %s", s)
	}
	if err := os.WriteFile("cut.onnx", model[:len(model)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	command(failed, "run", "cut.onnx", "input=x.npy")
	command(failed, "info", "cut.onnx")
}
