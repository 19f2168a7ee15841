package onnx_test

import (
	"testing"

	"weft"
	"weft/onnx"
	"weft/safetensors"
)

// silero hands a sound to silero's voice detector chunk by chunk, each after the end of the one before it, and
// compares with what ONNX Runtime computed so: testdata/silero/silero.py.
func silero(t *testing.T, model, results string, rate int) {
	m, err := onnx.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := safetensors.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range m.Inputs() {
		names[p.Name] = true
	}
	size, before := rate/1000*32, rate/1000*4
	x := want["sound"].Reshape(1, -1)
	state, context := weft.Zeros(2, 1, 128), weft.Zeros(1, before)
	worst := 0.0
	for k := range want["voice"].Size() {
		chunk := weft.Cat([]*weft.Tensor{context, x.Slice(weft.All, weft.Range(k*size, (k+1)*size))}, 1)
		in := map[string]*weft.Tensor{"input": chunk, "state": state}
		if names["sr"] {
			in["sr"] = weft.Scalar(int64(rate))
		}
		out, err := m.Run(in)
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, far(out["output"].Reshape(), want["voice"].At(k)))
		state, context = out["stateN"], chunk.Slice(weft.All, weft.Range(size, size+before))
	}
	if d := far(state, want["state"]); !(worst < 1e-5 && d < 1e-5) {
		t.Errorf("%s at %d Hz: the probability of speech is off by %g, the state at the end by %g", model, rate, worst, d)
	}
}

// The published detector, which torch.onnx made of a scripted module with If nodes, finds the speech that ONNX
// Runtime finds.
func TestSileroEqualsONNXRuntime(t *testing.T) {
	silero(t, "testdata/silero/silero_vad_16k_op15.onnx", "testdata/silero/silero.safetensors", 16000)
}
