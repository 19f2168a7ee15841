package train

// A Callback is told how a training goes. Functions may be nil. An error ends the training with it, and
// [ErrStop] without one.
type Callback struct {
	Begin func(r *Run) error
	Step  func(s Step) error
	Epoch func(e Epoch) error
	// End gets the error that Fit returns, nil if there is none. It is called once after a Begin without an
	// error, whatever ends the training: also an error of another callback or a panic, which comes as an error.
	End func(err error) error
}

// A Run is a training that begins or is resumed.
type Run struct {
	Model   any
	Epochs  int      // in all
	Steps   int      // batches of an epoch, -1 if that is not known
	History *History // what was recorded before a resume, and grows
}

// A Step is a step of the optimizer that was taken.
type Step struct {
	Step   int    // from 1
	Epoch  int    // from 1
	Values Values // "loss", and other values of its [Outcome]
}
