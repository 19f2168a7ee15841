package main

import (
	"slices"
	"testing"

	"weft"
	"weft/data"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/train"
)

// The counts and the sum are what digits.py prints.
func TestDigits(t *testing.T) {
	x, y, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{all, 1, 8, 8}; !slices.Equal(x.Shape(), want) {
		t.Fatalf("pictures of shape %v, want %v", x.Shape(), want)
	}
	counts, sum := make([]int, 10), 0
	for _, d := range weft.Data[int64](y) {
		counts[d]++
	}
	for _, v := range weft.Data[float32](x) {
		sum += int(v * 16)
	}
	if want := []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; !slices.Equal(counts, want) || sum != 561718 {
		t.Errorf("digits of each kind %v, want %v; pixels in all %d, want 561718", counts, want, sum)
	}
}

// A short training on a part reads most of the pictures that were not seen right.
func TestReads(t *testing.T) {
	late.NeedsMachineCode(t)
	x, y, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	unseen := weft.Range(trained, all)
	loader := Shifted(x.Slice(weft.Range(0, 640)), y.Slice(weft.Range(0, 640)))
	validation := data.NewLoader(data.Tensors(x.Slice(unseen), y.Slice(unseen)), data.LoaderOpts{Batch: new(all)})
	trainer := NewTrainer(NewNet(weft.NewGenerator(1)), 7*loader.Len(), train.Opts{})
	right := func() float64 {
		values, err := trainer.Evaluate(t.Context(), validation)
		if err != nil {
			t.Fatal(err)
		}
		return values.Get("accuracy")
	}
	before := right()
	if _, err := trainer.Fit(t.Context(), 7, loader, nil); err != nil {
		t.Fatal(err)
	}
	after := right()
	t.Logf("right %.3f, %.3f before training", after, before)
	if before > 0.3 || after < 0.85 {
		t.Errorf("right %.3f, %.3f before training", after, before)
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	x, y, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	part := weft.Range(0, 2*batch)
	late.Same(t, func(dev weft.Device) string {
		net := nn.On(NewNet(weft.NewGenerator(1)), dev)
		loader := Shifted(x.Slice(part), y.Slice(part))
		trainer := NewTrainer(net, loader.Len(), train.Opts{})
		if _, err := trainer.Fit(t.Context(), 1, loader, nil); err != nil {
			t.Fatal(err)
		}
		if values, err := trainer.Evaluate(t.Context(), loader); err != nil || values.Get("accuracy") == 0 {
			t.Errorf("%v, %v: nothing is read right", values, err)
		}
		return weft.DigestNamed(nn.Params(net))
	})
}
