package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
)

// A few steps tell more of the noise than guessing 0, whose loss is 1, and sprites that are drawn then
// are closer to sprites than noise is.
func TestLearns(t *testing.T) {
	late.NeedsMachineCode(t)
	a, sum := NewArtist(8, weft.CPU), 0.0
	a.Train(60, func(step int, loss float64) {
		if step > 50 {
			sum += loss / 10
		}
	})
	x, err := a.Draw(context.Background(), 4)
	if err != nil {
		t.Fatal(err)
	}
	drawn := Far(x, 500)
	noise := Far(weft.NewGenerator(4).Randn(4, 3, size, size).Clamp(-1, 1), 500)
	t.Logf("loss %.3f; drawn %.3f from sprites, noise %.3f", sum, drawn, noise)
	if sum > 0.55 || drawn > 0.9*noise {
		t.Errorf("loss %.3f; drawn %.3f from sprites, noise %.3f", sum, drawn, noise)
	}
	if near := Far(Render(4, 1<<42), 5000); near > 0.3 {
		t.Errorf("sprites are %.3f from sprites", near)
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sprites.png")
	if b := Sheet(Render(9, 1)).Bounds(); b.Dx() != 768 || b.Dy() != 192 {
		t.Errorf("a sheet of %v", b)
	}
	if err := run(1, filepath.Join(path, "no", "where"), "nothing"); err == nil {
		t.Error("a device that does not exist is taken")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		a := NewArtist(8, dev)
		a.Train(2, func(int, float64) {})
		return weft.DigestNamed(nn.Params(a.Net))
	})
}
