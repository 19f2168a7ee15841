// Command loading prints what it takes to load a model and to use it: the time, the peak of resident memory, and what is
// resident after, each also as a multiple of the file.
//
//	loading onnx model.onnx     # of one picture [1 3 224 224]
//	loading hf folder           # a folder of Hugging Face with a BERT, one text of 128 tokens
//	loading make folder         # writes such a folder: BERT base with random weights, 440 MB
//
// The files are read once before, so that the system has them in memory. Linux alone tells the figures.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weft"
	"weft/hf"
	"weft/models"
	"weft/onnx"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: loading onnx|hf|make path")
	}
	what, path := os.Args[1], os.Args[2]
	var err error
	switch what {
	case "make":
		err = write(path)
	case "onnx":
		err = measure(path, loadONNX)
	case "hf":
		err = measure(filepath.Join(path, "model.safetensors"), loadFolder)
	default:
		err = fmt.Errorf("%q is not onnx, hf or make", what)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const config = `{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768, "num_hidden_layers": 12,
"num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512}`

func write(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o666); err != nil {
		return err
	}
	return models.Save(models.NewBert(), filepath.Join(folder, "model.safetensors"), models.SaveOpts{Form: "transformers"})
}

// loadONNX loads a model, and returns a function that computes its result.
func loadONNX(path string) (func() error, error) {
	m, err := onnx.Load(path)
	if err != nil {
		return nil, err
	}
	in := map[string]*weft.Tensor{m.Inputs()[0].Name: weft.Ones(1, 3, 224, 224)}
	return func() error {
		out, err := m.Run(in)
		for _, t := range out {
			t.Release()
		}
		return err
	}, nil
}

// loadFolder loads a network, and returns a function that computes the states of a text.
func loadFolder(weights string) (func() error, error) {
	m, err := hf.Load(filepath.Dir(weights))
	if err != nil {
		return nil, err
	}
	net, ok := m.Module.(*models.Bert)
	if !ok {
		return nil, fmt.Errorf("the network is a %T, not a *models.Bert", m.Module)
	}
	f := weft.Compile(func(tokens *weft.Tensor) *weft.Tensor { return net.Forward(tokens) }).Func()
	tokens := weft.OnesOf(weft.Int64, 1, 128)
	return func() error {
		weft.WithoutGrad(func() { f(tokens).Release() })
		return nil
	}, nil
}

// measure loads from a file, and prints figures after loading, and after one and six results.
func measure(path string, load func(path string) (func() error, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	size, err := io.Copy(io.Discard, f)
	f.Close()
	if err != nil {
		return err
	}
	before, _, err := memory()
	if err != nil {
		return err
	}
	fmt.Printf("file %.0f MB\n%-9s %9s %17s %17s\n", float64(size)/1e6, "after", "ms", "resident MB", "peak MB")
	start := time.Now()
	show := func(what string) error {
		took := time.Since(start)
		now, peak, err := memory()
		n := float64(size)
		fmt.Printf("%-9s %9.1f %9.0f (%4.2f) %9.0f (%4.2f)\n", what, took.Seconds()*1e3, (now-before)/1e6, (now-before)/n, (peak-before)/1e6, (peak-before)/n)
		return err
	}
	run, err := load(path)
	if err == nil {
		err = show("loading")
	}
	for i := 1; i <= 6 && err == nil; i++ {
		if err = run(); err == nil && (i == 1 || i == 2 || i == 6) {
			err = show(fmt.Sprintf("%d results", i))
		}
	}
	return err
}

// memory returns the bytes of the process that are resident, and the most that were.
func memory() (now, most float64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmRSS: %g", &now)
		fmt.Sscanf(line, "VmHWM: %g", &most)
	}
	return now * 1024, most * 1024, err
}
