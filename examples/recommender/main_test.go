package main

import (
	"math"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

// Ratings not seen in training are told almost as well as noise allows; no model can be
// better than that.
func TestHeldOut(t *testing.T) {
	g := weft.NewGenerator(1)
	pairs, y := Ratings(ratings+held, g)
	m := NewModel(g)
	if _, err := Train(t.Context(), m, pairs.Slice(weft.Range(0, ratings)), y.Slice(weft.Range(0, ratings)), 12, 0.03, train.Opts{}); err != nil {
		t.Fatal(err)
	}
	got := weft.Data[float32](m.Forward(pairs.Slice(weft.Range(ratings, ratings+held))))
	want := weft.Data[float32](y)[ratings:]
	mse, zero := 0.0, 0.0
	for i := range got {
		d := float64(got[i] - want[i])
		mse += d * d / held
		zero += float64(want[i]) * float64(want[i]) / held
	}
	t.Logf("error %.4f, of noise %.4f, of guessing 0 %.4f", mse, noise*noise, zero)
	if math.Abs(zero-1-noise*noise) > 0.2 {
		t.Errorf("ratings have a mean square of %.3f, want about %.3f", zero, 1+noise*noise)
	}
	if mse < 0.85*noise*noise || mse > 1.35*noise*noise {
		t.Errorf("error %.4f on ratings not seen, noise has %.4f", mse, noise*noise)
	}
}

// A step changes the rows of the people and things in its batch and no others.
func TestSparse(t *testing.T) {
	m := NewModel(weft.NewGenerator(2))
	before := weft.Data[float32](m.Users.Weight)
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.1), Sparse: true})
	for range 2 { // the second one has means that are not 0
		loss := nn.MSE(m.Forward(weft.From([][]int64{{7, 1}, {9, 2}, {7, 3}})), weft.Ones(3))
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
	after := weft.Data[float32](m.Users.Weight)
	for i := range after {
		user := i / hidden
		if used := user == 7 || user == 9; used == (before[i] == after[i]) {
			t.Errorf("user %d: %v, was %v", user, after[i], before[i])
		}
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		g := weft.NewGenerator(1)
		pairs, y := Ratings(2*batch, g)
		m := nn.On(NewModel(g), dev)
		if _, err := Train(t.Context(), m, pairs.On(dev), y.On(dev), 1, 0.03, train.Opts{}); err != nil {
			t.Fatal(err)
		}
		return weft.DigestNamed(nn.Params(m))
	})
}

// A short training tells what people take next more often than what most people take does.
func TestHitRate(t *testing.T) {
	taken := NewTaken(1)
	ncf := NewNCF(weft.NewGenerator(2))
	before := HitRate(taken, Scores(ncf))
	TrainNCF(ncf, taken, 150, func(int, float64) {})
	after, popular, best := HitRate(taken, Scores(ncf)), HitRate(taken, taken.Popular), HitRate(taken, taken.True)
	t.Logf("hit rate %.3f, %.3f before training; by what most take %.3f, by taste %.3f", after, before, popular, best)
	if before > popular || after < popular+0.1 || after > best+0.05 {
		t.Errorf("hit rate %.3f, %.3f before training; by what most take %.3f, by taste %.3f", after, before, popular, best)
	}
}
