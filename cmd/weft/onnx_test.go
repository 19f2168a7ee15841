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
	if err := os.WriteFile("wide.npy", []byte("\x93NUMPY\x01\x00\x4e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 6), }         \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.WriteFile("noise.onnx", bytes.Repeat([]byte{0x3a, 0xff, 0xff, 0xff, 0x7f}, 1000), 0o600), os.WriteFile("empty.onnx", nil, 0o600), os.Mkdir("folder.onnx", 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// Files that are not what they say end in a message and exit code 1 or 2, and write no output.
	for _, line := range []string{"run cut.onnx input=x.npy -o z.npy", "run noise.onnx input=x.npy -o z.npy", "run empty.onnx input=x.npy -o z.npy", "run folder.onnx input=x.npy -o z.npy",
		"run none.onnx input=x.npy -o z.npy", "run mlp.onnx input=wide.npy -o z.npy", "run mlp.onnx input=cut.onnx -o z.npy", "run mlp.onnx input=none.npy -o z.npy",
		"run mlp.onnx input=x.npy -o none/z.npy", "info cut.onnx", "info noise.onnx", "info empty.onnx", "info folder.onnx", "info none.onnx"} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(line), strings.NewReader(""), &out, &errs); code != failed && code != misuse || errs.Len() == 0 || strings.Contains(errs.String(), "goroutine") {
			t.Errorf("weft %s: exit code %d: %s%s", line, code, &out, &errs)
		}
		if _, err := os.Stat("z.npy"); err == nil {
			t.Fatalf("weft %s: writes its output", line)
		}
	}
}
