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
	"time"

	"weft"
	"weft/examples/internal/show"
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
	flag.StringVar(&o.checkpoint, "checkpoint", "digits.ckpt", "where Ctrl-C saves the run")
	flag.BoolVar(&o.resume, "resume", false, "go on from the checkpoint")
	flag.Parse()
	if flag.NArg() > 0 || o.epochs < 1 || o.limit < 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, o); {
	case errors.Is(err, errInterrupted):
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

type options struct {
	epochs     int
	limit      int
	device     string
	seed       uint64
	picture    string
	checkpoint string
	resume     bool
}

// errInterrupted ends a run that was saved to go on later.
var errInterrupted = errors.New("interrupted")

func run(ctx context.Context, o options) error {
	dev, err := weft.DeviceByName(o.device)
	if err != nil {
		return err
	}
	start := time.Now()
	train, test := Render(trainSeed, trainSize), Render(testSeed, testSize)
	fmt.Printf("rendered %s training and %s test digits in %.2f s\n",
		show.Thousands(train.Len()), show.Thousands(test.Len()), time.Since(start).Seconds())

	t := newTrainer(dev, o.epochs, o.seed, train, test)
	t.limit = o.limit
	if o.resume {
		if err := t.load(o.checkpoint); err != nil {
			return err
		}
		fmt.Printf("resumed %s at epoch %d, batch %d\n", o.checkpoint, t.loader.Epoch()+1, t.loader.Next())
	}
	p := show.NewProgress(os.Stdout, show.IsTerminal(os.Stdout), "images", o.epochs, t.steps())
	if err := t.train(ctx, p); err != nil {
		if !errors.Is(err, context.Canceled) {
			return err
		}
		p.Interrupt()
		if err := t.save(o.checkpoint); err != nil {
			return fmt.Errorf("saving the interrupted run: %w", err)
		}
		fmt.Printf("saved %s at epoch %d, batch %d; to go on: go run ./examples/digits -resume\n", o.checkpoint, t.loader.Epoch()+1, t.loader.Next())
		return errInterrupted
	}
	total := p.Total()
	wrong := Mistakes(test, t.predict())
	fmt.Printf("trained on %s images in %.1f s, %s images/s; %d of %s test digits mistaken: accuracy %.2f %%\n",
		show.Thousands(total.Count), total.Time.Seconds(), show.Thousands(total.Rate()), len(wrong), show.Thousands(test.Len()),
		100*(1-float64(len(wrong))/float64(test.Len())))
	fmt.Println("digest of the weights:", t.digest())
	r := Report{Title: "weft: digits", Curve: show.Curve{Losses: t.curve.losses, StepsPerEpoch: t.steps(), Epochs: t.curve.epochs}, Mistakes: wrong, TestSize: test.Len()}
	if err := WriteReport(o.picture, r); err != nil {
		return err
	}
	fmt.Println("wrote", o.picture)
	return nil
}
