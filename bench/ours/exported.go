package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/onnx"
)

// Rows of package onnx: models that peers/exported.py writes into the folder that the driver names. The
// peers read the same files.

// modelFolder names the folder in the environment.
const modelFolder = "WEFT_BENCH_MODELS"

// newLengths are the texts' lengths that "onnx, new length" takes, each for the first time.
var newLengths = []int{20, 21, 23, 27, 31, 34, 38, 43, 50, 57, 61}

func init() {
	for name, file := range map[string]string{"onnx resnet50": "resnet50", "onnx mobilenet v2": "mobilenet"} {
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			return exported(file, "y", map[string]*weft.Tensor{"x": random("float32", 1, p.N, 3, 224, 224)})
		}
	}
	worker.Cases["onnx bert of 128"] = func(p worker.Params) (*worker.Case, error) { return exported("bert", "states", tokensOf(p.N, 128)) }
	worker.Cases["onnx minilm of 16"] = func(p worker.Params) (*worker.Case, error) { return exported("minilm", "vector", tokensOf(p.N, 16)) }
	worker.Cases["onnx voice chunks"] = func(p worker.Params) (*worker.Case, error) { return detector(p.N) }
	worker.Values["onnx, first result"] = firstResult
	worker.Values["onnx, new length"] = newLength
}

func modelPath(name string) (string, error) {
	folder := os.Getenv(modelFolder)
	if folder == "" {
		return "", fmt.Errorf("%s names no folder", modelFolder)
	}
	return filepath.Join(folder, name+".onnx"), nil
}

func load(name string) (*onnx.Model, error) {
	path, err := modelPath(name)
	if err != nil {
		return nil, err
	}
	return onnx.Load(path)
}

// tokensOf are n texts of tokens without padding.
func tokensOf(n, steps int) map[string]*weft.Tensor {
	return map[string]*weft.Tensor{"ids": texts(n, steps, 4, 30522), "mask": weft.OnesOf(weft.Int64, n, steps)}
}

// exported runs a model whose results are one tensor of interest.
func exported(name, result string, in map[string]*weft.Tensor) (*worker.Case, error) {
	m, err := load(name)
	if err != nil {
		return nil, err
	}
	run := func() *weft.Tensor {
		out, err := m.Run(in)
		if err != nil {
			panic(err)
		}
		return out[result]
	}
	return &worker.Case{Run: func() { run().Release() }, Check: func() []float64 { return summary(run()) }}, nil
}

// detector hands n chunks of a sound to the voice detector, with the state that it returns.
func detector(n int) (*worker.Case, error) {
	m, err := load("detector")
	if err != nil {
		return nil, err
	}
	chunks := make([]*weft.Tensor, n)
	for i := range chunks {
		chunks[i] = random("float32", 1+i, 1, 576)
	}
	run := func(each func(voice float64)) {
		h, c := weft.Zeros(1, 1, 128), weft.Zeros(1, 1, 128)
		for _, chunk := range chunks {
			out, err := m.Run(map[string]*weft.Tensor{"chunk": chunk, "h": h, "c": c})
			if err != nil {
				panic(err)
			}
			each(out["voice"].Item())
			h.Release()
			c.Release()
			h, c = out["hn"], out["cn"]
		}
	}
	return &worker.Case{Run: func() { run(func(float64) {}) }, Check: func() []float64 {
		var found []float64
		run(func(voice float64) { found = append(found, voice) })
		return worker.Summary(found)
	}}, nil
}

// readThrough reads a file and forgets it, so that the system has it in memory. It returns the size.
func readThrough(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(io.Discard, f)
}

// firstResult returns the ns from the file of ResNet-50 to the first result, and bytes: what is resident more
// than before, after some results more, and the file's. It wants a process of its own.
func firstResult(int) (map[string]float64, error) {
	const after = 5
	path, err := modelPath("resnet50")
	if err != nil {
		return nil, err
	}
	size, err := readThrough(path)
	if err != nil {
		return nil, err
	}
	x := random("float32", 1, 1, 3, 224, 224)
	before, err := resident()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	m, err := onnx.Load(path)
	if err != nil {
		return nil, err
	}
	var took time.Duration
	for i := range 1 + after {
		out, err := m.Run(map[string]*weft.Tensor{"x": x})
		if err != nil {
			return nil, err
		}
		weft.Data[float32](out["y"])
		if i == 0 {
			took = time.Since(start)
		}
	}
	now, err := resident()
	return map[string]float64{"first": float64(took), "resident": now - before, "file": float64(size)}, err
}

// newLength returns the ns that MiniLM takes for a text of a length that it has not seen, more than for the next
// of that length: the median over lengths.
func newLength(int) (map[string]float64, error) {
	m, err := load("minilm")
	if err != nil {
		return nil, err
	}
	once := func(steps int) (time.Duration, error) {
		in := tokensOf(1, steps)
		start := time.Now()
		out, err := m.Run(in)
		if err != nil {
			return 0, err
		}
		weft.Data[float32](out["vector"])
		return time.Since(start), nil
	}
	if _, err := once(16); err != nil {
		return nil, err
	}
	var more []float64
	for _, steps := range newLengths {
		first, err := once(steps)
		if err != nil {
			return nil, err
		}
		next, err := once(steps)
		if err != nil {
			return nil, err
		}
		more = append(more, float64(first-next))
	}
	slices.Sort(more)
	return map[string]float64{"median": more[len(more)/2], "most": more[len(more)-1]}, nil
}
