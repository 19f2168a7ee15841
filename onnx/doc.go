// Package onnx runs models in ONNX files, which PyTorch, TensorFlow, scikit-learn and others export, and
// writes functions of tensors as such files.
//
//	m, err := onnx.Load("model.onnx")
//	out, err := m.Run(map[string]*weft.Tensor{"input": x})
//	y := out["output"]
//
// [Model.Run] compiles the model's graph, as weft.Compile does: operations are fused, and the program for
// shapes that were seen runs again. Sizes that a model computes from shapes are computed while a program is
// made and are no part of it. A node that needs elements on the host, such as NonZero, runs by itself, between
// two programs. Run may be called by several goroutines at once. [Model.RunContext] ends a run with a context.
//
// A [Model] is a module of package nn: its weights have their ONNX names, [Model.Forward] can be
// differentiated, and optimizers, checkpoints and safetensors files work with it. So a model that was trained
// elsewhere trains on:
//
//	opt := optim.NewAdam(nn.Params(m))
//	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
//		loss := nn.CrossEntropy(m.Forward(x), y)
//		loss.Backward()
//		opt.Step()
//		opt.ZeroGrad()
//		return loss
//	})
//
// [Operators] lists the operators that models may use. A model with others is refused by an
// [UnsupportedError] that lists every such node. [ReadInfo] says what a file has.
//
// [Save] and [Write] write a function of tensors, or the Forward method of a module, as a model of
// [ExportOpSet] that other runtimes run. They trace it as weft.Compiled.Save does. Operations that ONNX has no
// form for are an [ExportError] that lists them.
//
// Files are not trusted: whatever the bytes are, reading takes time and memory linear in them. External data
// must lie in the folder of the model; neither ".." nor a link leads out of it. Where the model itself is a link, as in
// the cache of Hugging Face, its data may also lie in the folder of the file that it leads to.
package onnx
