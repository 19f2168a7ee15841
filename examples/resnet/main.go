// Resnet trains a small residual network (He et al., Deep residual learning for image
// recognition, 2015) on the handwritten digits that come with scikit-learn, 8x8 pixels each,
// and tells how many of those it has not seen it reads right.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"

	"weft"
	"weft/data"
	"weft/data/transforms"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/train"
)

//go:embed digits.npy.gz
var file []byte

const trained, all, batch = 1437, 1797, 64 // the first 1437 pictures are learned

// Digits returns all pictures [1797, 1, 8, 8], between 0 and 1, and what they show [1797].
func Digits() (x, y *weft.Tensor, err error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	rows, err := npy.Read(r)
	if err != nil {
		return nil, nil, err
	}
	parts := rows.Split(1, 64, 1)
	return parts[0].To(weft.Float32).Div(16).Reshape(-1, 1, 8, 8), parts[1].Squeeze(1).To(weft.Int64), nil
}

// A Residual adds two convolutions to its input, which Short brings to their shape; an empty
// one leaves it as it is.
type Residual struct {
	Conv, Short nn.Sequential
}

func conv(in, out, size, stride int, g *weft.Generator) nn.Sequential {
	o := nn.Conv2dOpts{Opts: nn.Opts{NoBias: true, Weight: nn.KaimingNormal, Generator: g}, Stride: new(stride), Padding: size / 2}
	return nn.Sequential{nn.NewConv2d(in, out, size, o), nn.NewBatchNorm2d(out)}
}

func NewResidual(in, out, stride int, g *weft.Generator) *Residual {
	r := &Residual{Conv: append(append(conv(in, out, 3, stride, g), nn.Relu{}), conv(out, out, 3, 1, g)...)}
	if in != out || stride != 1 {
		r.Short = conv(in, out, 1, stride, g)
	}
	return r
}

// Forward maps [n, in, h, w] to [n, out, h/stride, w/stride].
func (r *Residual) Forward(x *weft.Tensor) *weft.Tensor {
	return r.Conv.Forward(x).Add(r.Short.Forward(x)).Relu()
}

// NewNet returns a network that maps [n, 1, 8, 8] to logits [n, 10].
func NewNet(g *weft.Generator) nn.Sequential {
	return append(append(conv(1, 16, 3, 1, g), nn.Relu{}),
		NewResidual(16, 16, 1, g), NewResidual(16, 32, 2, g),
		nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(1)}}, nn.Flatten{}, nn.NewLinear(32, 10, nn.Opts{Generator: g}))
}

// Shifted returns a loader of pictures in random order, each shifted by a pixel at most.
func Shifted(x, y *weft.Tensor) *data.Loader {
	crop := transforms.RandomCrop{Size: []int{8}, Padding: []int{1}}
	examples := data.MapRandom(data.Examples(data.Tensors(x, y)), 1, func(e data.Example, g *weft.Generator) (data.Example, error) {
		e.X = crop.Apply(e.X, g)
		return e, nil
	})
	return data.NewLoaderOf(examples, data.Collate[data.Batch, data.Example], data.LoaderOpts{Batch: new(batch), Shuffle: true, Seed: 1, DropLast: true, Workers: 2})
}

// NewTrainer returns a trainer that takes steps.
func NewTrainer(net nn.Layer, steps int, o train.Opts) *train.Trainer {
	o.Metrics = []*train.Metric{train.Accuracy()}
	o.Schedule = optim.OneCycle{Steps: steps, Max: 0.01}
	return train.New(net, train.Loss(nn.CrossEntropy), optim.NewAdam(nn.Params(net)), o)
}

func main() {
	epochs := flag.Int("epochs", 8, "passes over the pictures")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "resnet:", err)
		os.Exit(1)
	}
	x, y, err := Digits()
	if err != nil {
		panic(err) // the file is a part of the program
	}
	seen, unseen := weft.Range(0, trained), weft.Range(trained, all)
	net := nn.On(NewNet(weft.NewGenerator(1)), dev)
	loader := Shifted(x.Slice(seen), y.Slice(seen))
	validation := data.NewLoader(data.Tensors(x.Slice(unseen), y.Slice(unseen)), data.LoaderOpts{Batch: new(all)})
	t := NewTrainer(net, *epochs*loader.Len(), train.Opts{Progress: train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "pictures"})})
	history, err := t.Fit(context.Background(), *epochs, loader, validation)
	if err != nil {
		fmt.Fprintln(os.Stderr, "resnet:", err)
		os.Exit(1)
	}
	if n := len(history.Epochs); n > 0 {
		fmt.Printf("right of %d pictures not seen: %.1f %%\n", all-trained, 100*history.Epochs[n-1].Values.Get("val_accuracy"))
	}
}
