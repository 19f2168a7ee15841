package models_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
)

func TestDiffusionMatchesDefinitions(t *testing.T) {
	all := references(t, "vision")
	for schedule, d := range map[string]*models.Diffusion{
		"linear": models.NewDiffusion(), "cosine": models.NewDiffusion(models.DiffusionOpts{Steps: new(50), Cosine: true}),
	} {
		check := func(name string, y *weft.Tensor, bound float64) {
			t.Helper()
			want, ok := all[schedule+" "+name]
			if !ok {
				t.Fatalf("the file has no %s %s", schedule, name)
			}
			closeTo(t, schedule+" "+name, y, want.Out, bound)
		}
		n := d.Steps()
		var kept []float64
		for i := 0; i < n; i += n / 25 {
			kept = append(kept, d.Kept(i))
		}
		check("kept", weft.FromSlice(kept), 1e-8)
		for _, of := range []struct {
			d     weft.DType
			bound float64
		}{{weft.Float32, 1e-5}, {weft.Float64, 1e-8}} {
			x, e, z := counter("x", 2, 3, 4).To(of.d), counter("e", 2, 3, 4).To(of.d), counter("z", 2, 3, 4).To(of.d)
			check("noise", d.AddNoise(x, e, weft.FromSlice([]int64{int64(n / 3), int64(n - 2)})), of.bound)
			for _, at := range []int{0, 1, n / 2, n - 1} {
				check(fmt.Sprintf("ddpm %d", at), d.Denoise(x, e, at, at-1, 1, true, z), of.bound)
				check(fmt.Sprintf("ddim %d", at), d.Denoise(x, e, at, at/2-1, 0, false, nil), of.bound)
			}
		}
	}
}

// A model that knows the picture in all noise leads the samplers to it, whatever steps they take.
func TestSamplesOfKnownPicture(t *testing.T) {
	d := models.NewDiffusion(models.DiffusionOpts{Steps: new(100), Last: new(0.2)})
	picture := counter("picture", 3, 4)
	seen := 0
	oracle := func(x, step *weft.Tensor) *weft.Tensor {
		seen++
		k := d.Kept(int(weft.Data[int64](step)[0]))
		return weft.Expr("(x - a*p)/b", weft.Vars{"x": x, "p": picture, "a": math.Sqrt(k), "b": math.Sqrt(1 - k)})
	}
	for _, o := range []models.SampleOpts{{}, {Steps: new(7)}, {Steps: new(7), Eta: new(0.0), NoClip: true}, {Steps: new(1)}} {
		o.Generator = weft.NewGenerator(3)
		seen = 0
		x, err := d.Sample(context.Background(), oracle, []int{2, 3, 4}, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := 100; o.Steps != nil && seen != *o.Steps || o.Steps == nil && seen != want {
			t.Errorf("%d steps were taken", seen)
		}
		if far := x.Sub(picture).Abs().Max().Item(); far > 1e-4 {
			t.Errorf("%+v: the sample is %v away", o, far)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Sample(ctx, oracle, []int{1, 3, 4}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The loss draws a step and noise for each picture, and is that of the model.
func TestDiffusionLoss(t *testing.T) {
	d := models.NewDiffusion()
	x := counter("x", 64, 5)
	steps := map[int64]bool{}
	loss := d.Loss(func(noisy, step *weft.Tensor) *weft.Tensor {
		for _, s := range weft.Data[int64](step) {
			steps[s] = true
		}
		return noisy.Mul(0)
	}, x, weft.NewGenerator(1))
	if v := loss.Item(); len(steps) < 50 || v < 0.8 || v > 1.2 {
		t.Errorf("%d different steps, and a loss of %v for guessing 0, want about 1", len(steps), v)
	}
	m := models.NewDDPM(models.DDPMOpts{Channels: new(1), Widths: []int{8, 8}, Blocks: new(1), Groups: new(2), Generator: weft.NewGenerator(1)})
	d.Loss(m.Forward, counter("x", 2, 1, 4, 4), weft.NewGenerator(2)).Backward()
	for name, p := range nn.Params(m) {
		if p.Grad() == nil {
			t.Errorf("%s has no gradient", name)
		}
	}
}

// Files of diffusers of 2022 call the parts of attention query, key, value and proj_attn, as its
// AttentionBlock did.
func TestDDPMNamesOf2022(t *testing.T) {
	m := models.NewDDPM(models.DDPMOpts{Channels: new(1), Widths: []int{8, 8}, Blocks: new(1), Groups: new(2)})
	before, a := models.State(m, "diffusers 2022"), m.MidBlock.Attentions[0]
	for name, l := range map[string]*nn.Linear{"query": a.ToQ, "key": a.ToK, "value": a.ToV, "proj_attn": a.ToOut[0]} {
		if w := before["mid_block.attentions.0."+name+".weight"]; w == nil || w != l.Weight {
			t.Errorf("%s is %v", name, w)
		}
	}
}
