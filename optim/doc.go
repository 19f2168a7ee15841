// Package optim has optimizers, which change parameters by their gradients.
//
//	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(1e-3)})
//	for ... {
//		loss := nn.CrossEntropy(net.Forward(x), y)
//		opt.ZeroGrad()
//		loss.Backward()
//		opt.Step()
//	}
//
// The update of a parameter, with the state that the optimizer keeps for it, is
// one fused kernel that writes in place; [Adafactor], [LAMB] and [Muon], which reduce or
// multiply matrices, take several. It computes in the parameter's element type. Learning rates are numbers at run time: changing one compiles nothing.
//
// Empty options are PyTorch's defaults, the learning rate included. A field whose default is
// not 0 is a pointer, and nil stands for the default. SetLR and schedules change the rate.
//
// All but [LBFGS] are a [Method] with options, and may have groups of parameters with options of
// their own. A [Schedule] says how the learning rate changes; [ClipNorm] and [ClipValue] limit
// gradients between Backward and Step, an [Average] keeps means of weights (EMA, SWA), and a
// [Scaler] serves mixed precision. Gradients that are kept as rows (see
// [weft.Tensor.SparseGrad]) change those rows alone with [SGD], [Adam] and [Adagrad].
//
// Parameters are leaves. Writing into them is not recorded, and neither they nor
// the state belong to the scope that the gradients were computed in.
//
// An optimizer is not safe for use from several goroutines.
package optim
