package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/nn"
	"weft/onnx"
	"weft/optim"
)

func Example() {
	m, err := onnx.Load("testdata/mlp_script.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Inputs(), m.Outputs())
	out, err := m.Run(map[string]*weft.Tensor{"input": weft.Ones(2, 6)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out["output"].Shape())
	// Output:
	// [input float32[batch 6]] [output float32[batch 3]]
	// [2 3]
}

func ExampleLoad() {
	_, err := onnx.Load("testdata/none.onnx")
	fmt.Println(err)
	// Output: onnx: open testdata/none.onnx: no such file or directory
}

func ExampleModel_Forward() {
	m, err := onnx.Load("testdata/mlp_script.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	opt := optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1)})
	x, y := weft.Ones(4, 6), weft.FromSlice([]int64{2, 2, 2, 2})
	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		loss := nn.CrossEntropy(m.Forward(x), y)
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
		return loss
	})
	var losses []float64
	for range 10 {
		loss, err := step.Call(x, y)
		if err != nil {
			fmt.Println(err)
			return
		}
		losses = append(losses, loss.Item())
	}
	fmt.Println(losses[9] < losses[0]/2)
	// Output: true
}

// A pipeline of scikit-learn, by skl2onnx: labels are strings, and probabilities a map for each row.
func ExampleModel_RunValues() {
	m, err := onnx.Load("testdata/iris.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := weft.From([][]float32{{5.1, 3.5, 1.4, 0.2}, {7, 3.2, 4.7, 1.4}})
	out, err := m.RunValues(map[string]onnx.Value{"X": onnx.TensorOf(x)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out["output_label"].Strings())
	for _, row := range out["output_probability"].Items() {
		keysAndValues := row.Items()
		fmt.Printf("%s %.3f\n", keysAndValues[0].Strings(), keysAndValues[1].Tensor())
	}
	// Output:
	// [setosa versicolor]
	// [setosa versicolor virginica] [0.985 0.015 0.000]
	// [setosa versicolor virginica] [0.005 0.865 0.130]
}

func ExampleUnsupportedError() {
	_, err := onnx.Load("testdata/custom.onnx")
	var unsupported *onnx.UnsupportedError
	if errors.As(err, &unsupported) {
		for _, n := range unsupported.Nodes {
			fmt.Println(n.Name, n.Domain, n.Op)
		}
	}
	// Output:
	// warp com.example Warp
	// blend com.example Blend
}

func ExampleReadInfo() {
	info, err := onnx.ReadInfo("testdata/mlp_script.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.OpSets, info.Nodes, info.Parameters, "parameters,", len(info.Unsupported), "unsupported nodes")
	// Output: map[:17] map[Gemm:2 Relu:1] 163 parameters, 0 unsupported nodes
}

func ExampleOperators() {
	for _, o := range onnx.Operators() {
		if o.Name == "Softmax" {
			fmt.Println(o.Name, o.Since)
		}
	}
	// Output: Softmax [1]
}

func ExampleValue() {
	v := onnx.SequenceOf(onnx.TensorOf(weft.Zeros(2)), onnx.StringsOf([]string{"a", "b"}))
	fmt.Println(v)
	fmt.Println(v.Items()[1].Strings(), onnx.OptionalOf().Items() == nil)
	// Output:
	// sequence of [float32[2] string[2]]
	// [a b] true
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "net.onnx")
	net := nn.Sequential{nn.NewLinear(4, 8), nn.Func((*weft.Tensor).Relu), nn.NewLinear(8, 3)}
	err = onnx.Save(path, net.Forward, []any{weft.Ones(2, 4)}, onnx.SaveOpts{Inputs: []string{"x[n 4]"}, Weights: nn.State(net)})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := onnx.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := weft.Arange(20).To(weft.Float32).Reshape(5, 4)
	out, err := m.Run(map[string]*weft.Tensor{"x": x})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := m.Inputs()[0]
	fmt.Println(in.Name, in.Type, out["y"].AllClose(net.Forward(x)))
	// Output: x float32[n 4] true
}

func ExampleWrite() {
	var b bytes.Buffer
	err := onnx.Write(&b, func(x *weft.Tensor) *weft.Tensor { return x.Erfinv() }, []any{weft.Ones(2)})
	fmt.Println(err)
	// Output: onnx: 1 operation cannot be written as operators of ONNX: erfinv of float32
}

// A request that was given up ends the run that answers it.
func ExampleModel_RunContext() {
	m, err := onnx.Load("testdata/mlp_script.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // of a server: the context of its request
	cancel()
	_, err = m.RunContext(ctx, map[string]*weft.Tensor{"input": weft.Ones(2, 6)})
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// onnx: the run was ended: context canceled
	// true
}
