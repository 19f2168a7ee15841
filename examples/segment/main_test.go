package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/models"
	"weft/nn"
	"weft/train"
)

func tiny() *models.UNet {
	return models.NewUNet(models.UNetOpts{Width: new(4), Classes: new(classes), Generator: weft.NewGenerator(1)})
}

// Shapes cover a part of each picture and differ from the ground.
func TestRender(t *testing.T) {
	x, y := Render(200, 1)
	var count [classes]int
	for _, c := range weft.Data[int64](y) {
		count[c]++
	}
	for c, n := range count {
		if share := float64(n) / float64(y.Size()); share < 0.03 || c > 0 && share > 0.3 {
			t.Errorf("%.3f of all pixels show a %s", share, names[c])
		}
	}
	again, _ := Render(200, 1)
	if weft.Digest(x) != weft.Digest(again) {
		t.Error("the same seed gives other pictures")
	}
}

// A few steps find where shapes are, in pictures that were not seen.
func TestLearns(t *testing.T) {
	late.NeedsMachineCode(t)
	net := tiny()
	x, want := Render(16, 1<<40)
	shapes := func() float64 { // IoU of all shapes together
		got := Labels(net, x)
		return IoU(got.Eq(0).To(weft.Int64), want.Eq(0).To(weft.Int64))[0]
	}
	before := shapes()
	h, err := Train(t.Context(), net, 40, train.Opts{})
	if err != nil {
		t.Fatal(err)
	}
	after, last := shapes(), h.Losses[len(h.Losses)-1]
	t.Logf("shapes found (IoU) %.3f, %.3f before training; loss %.3f", after, before, last)
	if before > 0.4 || after < 0.6 || last > 1.1 {
		t.Errorf("shapes found (IoU) %.3f, %.3f before training; loss %.3f", after, before, last)
	}
}

func TestWritesPicture(t *testing.T) {
	x, y := Render(2, 1)
	path := filepath.Join(t.TempDir(), "segment.png")
	if err := write(path, Draw(x, y, y, 2)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err := png.Decode(f); err != nil || p.Bounds().Dx() != 416 {
		t.Errorf("%v: %v", err, p.Bounds())
	}
	if err := write(filepath.Join(path, "no"), Draw(x, y, y, 1)); err == nil {
		t.Error("a file under a file is written")
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		net := nn.On(tiny(), dev)
		if _, err := Train(t.Context(), net, 2, train.Opts{}); err != nil {
			t.Fatal(err)
		}
		return weft.DigestNamed(nn.Params(net))
	})
}
