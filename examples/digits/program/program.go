// Package program is the program digits, for main packages that differ in the devices they import.
// It renders its own handwriting-like digits from the Go fonts, trains a convolutional network on
// them and draws the loss and the network's mistakes.
//
// Ctrl-C saves a checkpoint; -resume goes on from there and ends with the same
// weights, bit for bit, as a run that was not interrupted.
//
// # The pictures
//
// 28x28 grey pixels, balanced labels, ten faces. A random pose (scale, shear,
// rotation, shift, bend), stroke width, blur, contrast, shade and noise for
// each, and a bar or a patch over some (render.go). They are made to need more
// than a linear model. Test accuracies measured with PyTorch:
//
//	softmax regression, converged, best of seven L2 penalties   89.0 %
//	the LeNet below, Kaiming weights, zero biases, eight seeds  99.20 % to 99.35 %
//
// Eight seeds of this program give 99.17 % to 99.45 %.
//
// # The network
//
// Convolution 5x5 to 6 channels, pool 2, convolution 5x5 to 16 channels, pool 2,
// then 256-120-84-10, with relu between: 44,426 parameters, which begin as
// PyTorch's layers do. Inputs are (grey-45)/51. Batches of 64, the last short one
// dropped; Adam, its learning rate falling evenly from 0.003 to 0.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"weft"
	"weft/train"
)

const (
	trainSeed, trainSize = 1, 20000
	testSeed, testSize   = 2, 4000
)

// Main runs the program with the arguments of the command line.
func Main() {
	var o options
	flag.IntVar(&o.epochs, "epochs", 4, "passes over the training set")
	flag.IntVar(&o.limit, "steps", 0, "stop after this number of steps; 0 for all epochs")
	flag.StringVar(&o.device, "device", "", `where to train, "cpu" or "cuda:1"; "" is WEFT_DEVICE, or the CPU`)
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the weights and of the order of batches")
	flag.StringVar(&o.picture, "o", "digits.png", "where to draw the result")
	flag.StringVar(&o.dir, "dir", "digits.run", "folder of the run: checkpoints, its table and its events for TensorBoard")
	flag.BoolVar(&o.resume, "resume", false, "go on from the checkpoint in the folder")
	flag.Parse()
	if flag.NArg() > 0 || o.epochs < 1 || o.limit < 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var i *train.Interrupted
	switch err := o.run(ctx); {
	case errors.As(err, &i):
		fmt.Printf("%v; to go on: go run ./examples/digits -resume\n", err)
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

type options struct {
	epochs  int
	limit   int
	device  string
	seed    uint64
	picture string
	dir     string
	resume  bool
}

func (o options) run(ctx context.Context) error {
	dev, err := weft.DeviceByName(o.device)
	if err != nil {
		return err
	}
	start := time.Now()
	training, test := Render(trainSeed, trainSize), Render(testSeed, testSize)
	fmt.Printf("rendered %d training and %d test digits in %.2f s\n", training.Len(), test.Len(), time.Since(start).Seconds())

	progress := train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "images"})
	r := newRun(dev, o.epochs, batchSize, o.seed, training, test, train.Opts{
		Progress: progress, Dir: o.dir, Resume: o.resume, Callbacks: []train.Callback{stopAfter(o.limit)},
	})
	if _, err := r.Fit(ctx, o.epochs, r.loader, r.test); err != nil {
		return err
	}
	logits, err := r.Predict(ctx, r.test)
	if err != nil {
		return err
	}
	wrong := Mistakes(test, weft.Data[int64](logits.ArgMax(1)))
	count, d := progress.Total()
	fmt.Printf("trained on %d images in %.1f s, %.0f images/s; %d of %d test digits mistaken: accuracy %.2f %%\n",
		count, d.Seconds(), float64(count)/d.Seconds(), len(wrong), test.Len(), 100*(1-float64(len(wrong))/float64(test.Len())))
	fmt.Println("digest of the weights:", r.digest())
	report := Report{Title: "weft: digits", History: r.History(), Mistakes: wrong, TestSize: test.Len()}
	if err := report.Draw().SaveFig(o.picture); err != nil {
		return err
	}
	fmt.Println("wrote", o.picture, "and", filepath.Join(o.dir, "log.csv"))
	return nil
}

// stopAfter ends a training after some steps, 0 for all.
func stopAfter(limit int) train.Callback {
	return train.Callback{Step: func(s train.Step) error {
		if s.Step == limit {
			return train.ErrStop
		}
		return nil
	}}
}
