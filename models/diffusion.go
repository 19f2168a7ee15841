package models

import (
	"context"
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// DiffusionOpts are the options of [NewDiffusion].
type DiffusionOpts struct {
	Steps *int // from 1 to 1<<24; nil means 1000
	// First and Last are the variances that the first and the last step add, above 0 and below 1; those
	// between lie on a line. nil means 0.0001 and 0.02.
	First, Last *float64
	// Cosine takes variances by which the share of the picture falls like a squared cosine (Nichol and
	// Dhariwal, Improved denoising diffusion probabilistic models, 2021). First and Last do not count.
	Cosine bool
}

// Diffusion turns pictures into noise in steps, and noise into pictures by a model that tells the noise
// in a picture (Ho et al., Denoising diffusion probabilistic models, 2020). Steps count from 0.
type Diffusion struct {
	kept []float64 // by step, the share of the picture's variance that is left
}

// maxDiffusionSteps bounds the table of a schedule, which lies in memory.
const maxDiffusionSteps = 1 << 24

// NewDiffusion returns a schedule of noise. It panics with *weft.Error if a number is out of range.
func NewDiffusion(opts ...DiffusionOpts) *Diffusion {
	const name = "diffusion"
	o := array.Options(name, opts)
	steps := maker{name: name}.count("Steps", o.Steps, 1000)
	if steps > maxDiffusionSteps {
		array.Failf(name, "Steps", "is %d, want at most %d", steps, maxDiffusionSteps)
	}
	first, last := array.Or(o.First, 1e-4), array.Or(o.Last, 0.02)
	for i, v := range []float64{first, last} {
		if !(v > 0 && v < 1) {
			array.Failf(name, []string{"First", "Last"}[i], "is %v, want a number between 0 and 1", v)
		}
	}
	d, left := &Diffusion{kept: make([]float64, steps)}, 1.0
	cosine := func(i int) float64 {
		c := math.Cos((float64(i)/float64(steps) + 0.008) / 1.008 * math.Pi / 2)
		return float64(c * c)
	}
	for i := range d.kept {
		added := first
		if steps > 1 {
			added += float64((last - first) * float64(i) / float64(steps-1))
		}
		if o.Cosine {
			added = min(1-cosine(i+1)/cosine(i), 0.999)
		}
		left *= 1 - added
		d.kept[i] = left
	}
	return d
}

// Steps returns the number of steps.
func (d *Diffusion) Steps() int {
	d.notNil()
	return len(d.kept)
}

func (d *Diffusion) notNil() { whole("diffusion", "NewDiffusion", d != nil && len(d.kept) > 0) }

// Kept returns the share of a picture's variance that is left behind a step, and 1 before the first,
// step -1. It is alpha with a bar in the paper. It panics with *weft.Error if there is no such step.
func (d *Diffusion) Kept(step int) float64 {
	d.notNil()
	if step < -1 || step >= len(d.kept) {
		array.Failf("diffusion", "step", "is %d, want -1 to %d", step, len(d.kept)-1)
	}
	if step < 0 {
		return 1
	}
	return d.kept[step]
}

// AddNoise returns pictures [batch, ...] as they are behind the given steps, integers [batch]:
// sqrt(kept)*x + sqrt(1-kept)*noise. Noise has the shape of x.
func (d *Diffusion) AddNoise(x, noise, step *weft.Tensor) *weft.Tensor {
	const name = "addnoise"
	defer array.Named(name).End()
	d.notNil()
	for i, t := range []*weft.Tensor{x, noise, step} {
		if t == nil {
			array.Failf(name, []string{"x", "noise", "step"}[i], "is nil")
		}
	}
	if !step.DType().Integer() || x.Rank() < 1 || step.Rank() != 1 || step.Dim(0) != x.Dim(0) {
		array.Failf(name, "step", "is %s, want integers [batch], x has shape %s", array.TypeString(step.DType(), step.Shape()), array.ShapeString(x.Shape()))
	}
	if !array.Equal(noise.Shape(), x.Shape()) {
		array.Failf(name, "noise", "has shape %s, x has %s", array.ShapeString(noise.Shape()), array.ShapeString(x.Shape()))
	}
	roots := make([][2]float64, len(d.kept))
	for i, k := range d.kept {
		roots[i] = [2]float64{math.Sqrt(k), math.Sqrt(1 - k)}
	}
	table := x.Device().From(roots).To(x.DType()).IndexSelect(0, step)
	shape := make([]int, x.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = x.Dim(0)
	return weft.Expr("a*x + b*n", weft.Vars{"x": x, "n": noise, "a": table.Slice(weft.All, weft.Index(0)).Reshape(shape...), "b": table.Slice(weft.All, weft.Index(1)).Reshape(shape...)})
}

// Loss draws a step and noise for each of the pictures x and returns the mean squared error of what the
// model tells of the noise. The model maps noisy pictures and their steps, integers [batch], to noise.
// A nil generator is the default one.
func (d *Diffusion) Loss(model func(x, step *weft.Tensor) *weft.Tensor, x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "diffusion"
	defer array.Named(name).End()
	d.notNil()
	if x == nil || x.Rank() < 1 || !x.DType().Float() {
		array.Failf(name, "x", "is not a batch of floats")
	}
	if model == nil {
		array.Failf(name, "model", "is nil")
	}
	g = source(g).On(x.Device())
	step := g.Randint(0, int64(len(d.kept)), x.Dim(0))
	noise := g.RandnOf(x.DType(), x.Shape()...)
	return nn.MSE(model(d.AddNoise(x, noise, step), step), noise)
}

// Denoise returns pictures as they were behind an earlier step, -1 for the pictures themselves, from
// what they are behind step at and from the noise that a model tells of. Eta is how much of the
// variance is drawn anew, from fresh noise of the shape of x: 1 is Ho's sampler, 0 that of Song et al.
// (Denoising diffusion implicit models, 2021), which needs no fresh noise. With clip, the picture that
// is guessed in between is cut to the numbers from -1 to 1.
func (d *Diffusion) Denoise(x, noise *weft.Tensor, at, to int, eta float64, clip bool, fresh *weft.Tensor) *weft.Tensor {
	const name = "denoise"
	defer array.Named(name).End()
	if to >= at {
		array.Failf(name, "to", "is step %d, want one before %d", to, at)
	}
	if !(eta >= 0 && eta <= 1) {
		array.Failf(name, "eta", "is %v, want 0 to 1", eta)
	}
	for i, t := range []*weft.Tensor{x, noise} {
		if t == nil || !t.DType().Float() {
			array.Failf(name, []string{"x", "noise"}[i], "is not a tensor of floats")
		}
	}
	have, want := d.Kept(at), d.Kept(to)
	variance := float64(eta*eta) * (1 - want) / (1 - have) * (1 - have/want)
	vars := weft.Vars{"x": x, "n": noise, "a": math.Sqrt(have), "b": math.Sqrt(1 - have), "c": math.Sqrt(want), "d": math.Sqrt(max(1-want-variance, 0)), "s": math.Sqrt(variance)}
	y := weft.Expr("(x - b*n)/a", vars)
	if clip {
		y = y.Clamp(-1, 1)
	}
	vars["y"] = y
	if variance == 0 {
		return weft.Expr("c*y + d*((x - a*y)/b)", vars)
	}
	if fresh == nil {
		array.Failf(name, "fresh", "is nil, and eta is %v", eta)
	}
	vars["z"] = fresh
	return weft.Expr("c*y + d*((x - a*y)/b) + s*z", vars)
}

// SampleOpts are the options of [Diffusion.Sample].
type SampleOpts struct {
	Steps     *int            // that are taken, evenly apart; nil means all
	Eta       *float64        // how much of the variance is drawn anew, see [Diffusion.Denoise]; nil means 1
	NoClip    bool            // guesses may leave the numbers from -1 to 1
	Generator *weft.Generator // draws the noise; nil is the default generator
	// Device is where the noise is drawn; nil is the CPU.
	Device weft.Device
}

// Sample makes pictures of a shape, [batch, ...], from noise by a model as in [Diffusion.Loss], without
// recording gradients. It returns the context's error if that is done before the last step.
func (d *Diffusion) Sample(ctx context.Context, model func(x, step *weft.Tensor) *weft.Tensor, shape []int, opts ...SampleOpts) (x *weft.Tensor, err error) {
	const name = "sample"
	defer array.Named(name).End()
	d.notNil()
	if model == nil {
		array.Failf(name, "model", "is nil")
	}
	if ctx == nil {
		array.Failf(name, "ctx", "is nil")
	}
	if len(shape) == 0 {
		array.Failf(name, "shape", "is that of a number, want a batch")
	}
	o := array.Options(name, opts)
	if eta := array.Or(o.Eta, 1); !(eta >= 0 && eta <= 1) {
		array.Failf(name, "Eta", "is %v, want 0 to 1", eta)
	}
	steps := maker{name: name}.count("Steps", o.Steps, len(d.kept))
	if steps > len(d.kept) {
		array.Failf(name, "Steps", "is %d, the schedule has %d", steps, len(d.kept))
	}
	g := source(o.Generator).On(o.Device)
	weft.WithoutGrad(func() {
		x = g.Randn(shape...)
		for i := steps - 1; i >= 0; i-- {
			if err = ctx.Err(); err != nil {
				return
			}
			x = d.next(model, x, d.evenly(i, steps), d.evenly(i-1, steps), o, g)
		}
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// evenly returns step i of a number of steps that are evenly apart; the last one is the schedule's.
func (d *Diffusion) evenly(i, steps int) int { return (i+1)*len(d.kept)/steps - 1 }

// next is a step of a sampler. Memory for what is computed in between goes back at the end.
func (d *Diffusion) next(model func(x, step *weft.Tensor) *weft.Tensor, x *weft.Tensor, at, to int, o SampleOpts, g *weft.Generator) *weft.Tensor {
	scope := weft.NewScope()
	defer scope.Close()
	x = scope.Track(x)
	noise := model(x, x.Device().FullOf(weft.Int64, at, x.Dim(0)))
	eta := array.Or(o.Eta, 1)
	var fresh *weft.Tensor
	if to >= 0 && eta > 0 {
		fresh = g.Randn(x.Shape()...)
	}
	return scope.Keep(d.Denoise(x, noise, at, to, eta, !o.NoClip, fresh))
}

// source returns a generator, the default one for nil.
func source(g *weft.Generator) *weft.Generator {
	if g == nil {
		return weft.DefaultGenerator()
	}
	return g
}

// String returns the number of steps.
func (d *Diffusion) String() string {
	return array.Describe("models.Diffusion", "Steps", len(d.kept))
}
