package main

import (
	"context"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/train"
)

// Each network tells more pictures that it has not seen right after a short training than guessing does, which
// is right of a sixth.
func TestNetworksLearn(t *testing.T) {
	late.NeedsMachineCode(t)
	for name, c := range map[string]struct {
		epochs int
		want   float64
	}{"alexnet": {6, 0.5}, "vgg": {4, 0.35}, "mobilenet1": {3, 0.25}, "mobilenet2": {3, 0.25}, "resnet": {3, 0.7}, "vit": {8, 0.35}} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "resnet" && name != "vit" {
				t.Skip("SKIPPED: trains for seconds")
			}
			classifier := NewClassifier(networks[name], 1, 480, c.epochs, weft.CPU, train.Opts{})
			h, err := classifier.Train(t.Context(), c.epochs)
			if err != nil {
				t.Fatal(err)
			}
			first, last := h.Epochs[0].Values, h.Epochs[len(h.Epochs)-1].Values
			t.Logf("%v, %v in the first epoch", last, first)
			if last.Get("val_accuracy") < c.want || last.Get("loss") > 0.95*first.Get("loss") {
				t.Errorf("right %.3f, want %.3f; loss %.3f, %.3f in the first epoch", last.Get("val_accuracy"), c.want, last.Get("loss"), first.Get("loss"))
			}
		})
	}
	if len(networks) != 6 {
		t.Errorf("%d networks, and 6 are tried", len(networks))
	}
}

// Pictures are the same whoever asks for them, each class is as frequent as others, and shapes are lighter than
// their ground and of about the same extent.
func TestPictures(t *testing.T) {
	p := Pictures{60, 32, 7}
	for class, name := range classes {
		covered, grid := 0, 400
		for at := range grid * grid {
			if shows(class, 3*float64(at%grid)/float64(grid)-1.5, 3*float64(at/grid)/float64(grid)-1.5) {
				covered++
			}
		}
		if share := 9 * float64(covered) / float64(grid*grid); share < 0.8 || share > 2.7 {
			t.Errorf("a %s covers %.2f", name, share)
		}
	}
	for i := range p.Len() {
		x, y, err := p.Get(i)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, _ := p.Get(i); weft.Digest(again) != weft.Digest(x) {
			t.Errorf("picture %d is another one when asked for again", i)
		}
		if y.ItemInt() != int64(i%len(classes)) {
			t.Errorf("picture %d shows %v", i, y)
		}
		pixels := weft.Data[float32](x.Mean(0).Flatten(0))
		slices.Sort(pixels)
		if dark, light := pixels[len(pixels)/10], pixels[len(pixels)*99/100]; dark > 0.2 || light < dark+0.3 {
			t.Errorf("picture %d has pixels from %.2f to %.2f", i, dark, light)
		}
	}
	if _, _, err := p.Get(60); err == nil {
		t.Error("there is one more picture")
	}
}

// The program draws what it found, also when it is interrupted at once.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "classify.png")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := NewClassifier(networks["vit"], 1, 2*batch, 1, weft.CPU, train.Opts{})
	if err := run(ctx, c, 1, "vit", path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err := png.Decode(f); err != nil || p.Bounds().Dx() != 1280 {
		t.Errorf("%v: %v", err, p)
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		c := NewClassifier(networks["vit"], 1, 2*batch, 1, dev, train.Opts{})
		if _, err := c.Train(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		return weft.DigestNamed(nn.Params(c.Net))
	})
}
