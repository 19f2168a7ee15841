package onnx

import (
	"math"
	"testing"

	"weft"
	"weft/internal/wire"
)

// Draws have the shape, the type and the mean that a node asks for. They differ from run to run.
func TestRandomOperators(t *testing.T) {
	number := func(name string, x float32) []byte {
		return attr(name, attrFloat, wire.AppendFloat32(nil, 2, x))
	}
	dtype := func(e ElementType) []byte { return attr("dtype", attrInt, wire.AppendVarint(nil, 3, uint64(e))) }
	shape := attr("shape", attrInts, wire.AppendInt64s(nil, 8, []int64{100, 50}))
	m, err := Read(modelOf(
		nodeOf("RandomNormal", nil, []string{"normal"}, shape, number("mean", 3), number("scale", 0.5)),
		nodeOf("RandomUniform", nil, []string{"uniform"}, shape, number("low", 2), number("high", 6), dtype(Double)),
		nodeOf("RandomNormalLike", []string{"p"}, []string{"like"}),
		nodeOf("Bernoulli", []string{"p"}, []string{"coins"}, dtype(Bool)),
		nodeOf("Multinomial", []string{"logits"}, []string{"classes"},
			attr("sample_size", attrInt, wire.AppendVarint(nil, 3, 5000))),
		port(11, "p"), port(11, "logits"),
		port(12, "normal"), portOf(12, int(Double), "uniform"), port(12, "like"), portOf(12, int(Bool), "coins"),
		portOf(12, int(Int32), "classes"),
	))
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*weft.Tensor{
		"p":      weft.Full(float32(0.25), 5000),
		"logits": weft.FromSlice([]float32{0, float32(math.Log(3))}, 1, 2),
	}
	before := map[string]*weft.Tensor{}
	for range 2 {
		out, err := m.Run(in)
		if err != nil {
			t.Fatal(err)
		}
		for name, mean := range map[string]float64{"normal": 3, "uniform": 4, "like": 0, "coins": 0.25, "classes": 0.75} {
			y := out[name].To(weft.Float64)
			if got := y.Mean().Item(); y.Size() != 5000 || math.Abs(got-mean) > 0.1 {
				t.Errorf("%s: the mean of %v is %v, want %v", name, out[name].Shape(), got, mean)
			}
			if before[name] != nil && before[name].Sub(y).Abs().Max().Item() == 0 {
				t.Errorf("%s is the same in two runs", name)
			}
			before[name] = y
		}
	}
}

// The gradient of a determinant is that of its cofactors.
func TestGradientOfDet(t *testing.T) {
	m, err := Read(modelOf(nodeOf("Det", []string{"x"}, []string{"y"}), port(11, "x"), port(12, "y")))
	if err != nil {
		t.Fatal(err)
	}
	x := weft.FromSlice([]float32{1, 2, 3, 5}, 2, 2).RequireGrad()
	m.Forward(x).Backward()
	if want := weft.FromSlice([]float32{5, -3, -2, 1}, 2, 2); !x.Grad().AllClose(want) {
		t.Errorf("the gradient is %v, want %v", x.Grad(), want)
	}
}

// A Dropout with a seed drops the same elements in each model, whatever the default generator's state. Another seed
// drops others.
func TestDropoutOfSeed(t *testing.T) {
	run := func(more ...[]byte) *weft.Tensor {
		drop := nodeOf("Dropout", []string{"x", "ratio", "train"}, []string{"y"}, more...)
		m, err := Read(modelOf(initializer("ratio", int(Float), nil, text(9, "\x00\x00\x00\x3f")), initializer("train", int(Bool), nil, text(9, "\x01")), drop, port(11, "x"), port(12, "y")))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(map[string]*weft.Tensor{"x": weft.Ones(1000)})
		if err != nil {
			t.Fatal(err)
		}
		return out["y"]
	}
	first := run(intAttr("seed", 5))
	if !first.AllClose(run(intAttr("seed", 5))) || first.AllClose(run(intAttr("seed", 6))) {
		t.Error("the seed does not decide what is dropped")
	}
	if run().AllClose(run()) {
		t.Error("without a seed the same elements are dropped twice")
	}
	if kept := first.Sum().Item() / 2; kept < 400 || kept > 600 {
		t.Errorf("%v of 1000 are kept, want about half", kept)
	}
}
