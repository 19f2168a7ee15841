// Package train is a training loop, and what belongs to one: progress, metrics, early stopping,
// checkpoints, logs. It is optional: a loop of one's own may use its parts.
//
//	t := train.New(net, train.Loss(nn.CrossEntropy), opt, train.Opts{
//		Metrics:  []*train.Metric{train.Accuracy()},
//		Progress: train.NewProgress(os.Stdout),
//		Dir:      "runs/first",
//		Resume:   true,
//	})
//	history, err := t.Fit(ctx, 10, loader, validation)
//
// [TrainerOf.Fit] runs epochs, [TrainerOf.Evaluate] computes loss and metrics, [TrainerOf.Predict]
// the outputs. A step is compiled ([weft.Compile]) where its functions can be: see Opts.Eager.
//
// # Folders
//
// With Opts.Dir a run leaves files that others read:
//
//	last.ckpt              the whole run, for Opts.Resume (package checkpoint)
//	best.ckpt              the weights of the best epoch, as part "model"
//	log.csv                the values of each epoch
//	curve.png              the loss of each step, and the metrics of each epoch
//	events.out.tfevents.*  the same for TensorBoard, and the loss of each step
//
// # Ctrl-C
//
// When the context of Fit ends, the step in progress is finished, the run is saved, and Fit returns
// an [*Interrupted]. A run that goes on from there ends with the same weights, to the bit, as one that was
// not interrupted.
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
package train
