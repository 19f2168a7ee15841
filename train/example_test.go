package train_test

import (
	"context"
	"fmt"
	"io"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

// points are n points of a plane, of class 1 where their product is positive.
func points(n int, seed uint64) (x, y *weft.Tensor) {
	x = weft.NewGenerator(seed).Rand(n, 2).Mul(2).Sub(1)
	return x, x.Slice(weft.All, weft.Index(0)).Mul(x.Slice(weft.All, weft.Index(1))).Gt(0).To(weft.Int64)
}

func Example() {
	x, y := points(600, 1)
	loader := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(32), Shuffle: true})
	validation := data.NewLoader(data.Tensors(points(200, 2)), data.LoaderOpts{Batch: new(100)})

	o := nn.Opts{Generator: weft.NewGenerator(3)}
	net := nn.Sequential{nn.NewLinear(2, 16, o), nn.Tanh{}, nn.NewLinear(16, 2, o)}
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.03)})

	t := train.New(net, train.Loss(nn.CrossEntropy), opt, train.Opts{
		Metrics: []*train.Metric{train.Accuracy()},
	})
	history, err := t.Fit(context.Background(), 5, loader, validation)
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range history.Epochs {
		fmt.Printf("epoch %d  loss %.3f  accuracy %.3f\n", e.Epoch, e.Values.Get("loss"), e.Values.Get("val_accuracy"))
	}
	// Output:
	// epoch 1  loss 0.689  accuracy 0.675
	// epoch 2  loss 0.583  accuracy 0.945
	// epoch 3  loss 0.370  accuracy 0.930
	// epoch 4  loss 0.230  accuracy 0.960
	// epoch 5  loss 0.171  accuracy 0.985
}

func ExampleNewOf() {
	// Two networks, each with an optimizer of its own: b follows a, which learns to double.
	a, b := nn.NewLinear(1, 1), nn.NewLinear(1, 1)
	optA := optim.NewSGD(nn.Params(a), optim.SGDOpts{LR: new(0.3)})
	optB := optim.NewSGD(nn.Params(b), optim.SGDOpts{LR: new(0.3)})
	step := func(batch data.Batch) train.Outcome {
		y := a.Forward(batch.X)
		lossA, lossB := nn.MSE(y, batch.Y), nn.MSE(b.Forward(batch.X), y.Detach())
		lossA.Add(lossB).Backward()
		optA.Step()
		optB.Step()
		optA.ZeroGrad()
		optB.ZeroGrad()
		return train.Outcome{Loss: lossA, Values: map[string]*weft.Tensor{"b": lossB}}
	}
	x := weft.NewGenerator(1).Randn(64, 1)
	loader := data.NewLoader(data.Tensors(x, x.Mul(2)), data.LoaderOpts{Batch: new(16)})
	history, err := train.NewOf([]*nn.Linear{a, b}, step, nil).Fit(context.Background(), 20, loader, nil)
	if err != nil {
		fmt.Println(err)
	}
	last := history.Epochs[19].Values
	fmt.Printf("%.2f %.2f, losses below 1e-4: %v\n", a.Weight.Item(), b.Weight.Item(), last.Get("loss") < 1e-4 && last.Get("b") < 1e-4)
	// Output:
	// 2.00 2.00, losses below 1e-4: true
}

func ExampleTrainerOf_Predict() {
	double := nn.Func(func(x *weft.Tensor) *weft.Tensor { return x.Mul(2) })
	t := train.New(double, train.Loss(nn.MSE), nil)
	x := weft.Arange(0.0, 3).To(weft.Float32).Reshape(3, 1)
	loader := data.NewLoader(data.Tensors(x, x), data.LoaderOpts{Batch: new(2)})
	y, err := t.Predict(context.Background(), loader)
	fmt.Println(y.Flatten(0), err)
	values, err := t.Evaluate(context.Background(), loader)
	fmt.Println(values, err)
	// Output:
	// [0. 2. 4.] <nil>
	// loss 1.667 <nil>
}

func ExampleMetric_Matrix() {
	m := train.F1(train.ClassOpts{Average: train.Macro})
	m.Update(weft.From([]int64{0, 1, 2, 2}), weft.From([]int64{0, 1, 1, 2}))
	m.Update(weft.From([]int64{0, 0}), weft.From([]int64{0, 2}))
	fmt.Printf("%.3f\n%v\n", m.Value(), m.Matrix())
	// Output:
	// 0.656
	// [[2 0 0]
	//  [0 1 1]
	//  [1 0 1]]
}

func ExampleProgress() {
	p := train.NewProgress(io.Discard, train.ProgressOpts{Unit: "words"})
	p.StartEpoch(1, 1, 0, 2)
	for range 2 {
		p.Step(64, func() train.Values { return train.Values{{Name: "loss", Number: 0.25}} })
	}
	p.EndEpoch(train.Values{{Name: "loss", Number: 0.25}})
	count, _ := p.Total()
	fmt.Println(count)
	// Output:
	// 128
}
