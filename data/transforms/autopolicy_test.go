package transforms

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// versions are what a change with a level in ninths may make of a picture, each as likely as the others, by
// torchvision's names and spaces of magnitudes. With augmix the numbers are AugMix's, otherwise AutoAugment's.
func versions(x *weft.Tensor, name string, level int, augmix bool) []*weft.Tensor {
	h, w, part, bits := float64(x.Dim(1)), float64(x.Dim(2)), float64(level)/9, 8
	farX, farY, o := 150*w/331, 150*h/331, AffineOpts{}
	if augmix {
		farX, farY, bits, o.Interpolation = w/3, h/3, 4, nn.ModeLinear
	}
	both := func(f func(sign float64) *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(1), f(-1)} }
	moved := func(o AffineOpts) *weft.Tensor { return Affine(x, o) }
	degrees := math.Atan(0.3*part) * 180 / math.Pi
	switch name {
	case "ShearX", "ShearY":
		return both(func(sign float64) *weft.Tensor {
			o := o
			o.Center = &[2]float64{}
			o.Shear[strings.Index("XY", name[5:])] = sign * degrees
			return moved(o)
		})
	case "TranslateX":
		return both(func(sign float64) *weft.Tensor {
			o := o
			o.Translate[0] = math.Trunc(sign * part * farX)
			return moved(o)
		})
	case "TranslateY":
		return both(func(sign float64) *weft.Tensor {
			o := o
			o.Translate[1] = math.Trunc(sign * part * farY)
			return moved(o)
		})
	case "Rotate":
		return both(func(sign float64) *weft.Tensor {
			return Rotate(x, sign*part*30, RotateOpts{Interpolation: o.Interpolation})
		})
	case "Brightness", "Color", "Contrast", "Sharpness":
		adjust := map[string]func(x *weft.Tensor, by float64) *weft.Tensor{
			"Brightness": AdjustBrightness, "Color": AdjustSaturation, "Contrast": AdjustContrast, "Sharpness": AdjustSharpness}[name]
		return both(func(sign float64) *weft.Tensor { return adjust(x, 1+sign*part*0.9) })
	case "Posterize":
		return []*weft.Tensor{Posterize(x, bits-int(math.RoundToEven(part*4)))}
	case "Solarize":
		most := 1.0
		if x.DType() == weft.Uint8 {
			most = 255
		}
		return []*weft.Tensor{Solarize(x, most*(1-part))}
	case "AutoContrast":
		return []*weft.Tensor{AutoContrast(x)}
	case "Equalize":
		return []*weft.Tensor{Equalize(x)}
	}
	return []*weft.Tensor{Invert(x)}
}

// TestAutoAugmentAppliesItsPolicy counts draws: each pair of testdata/policies.txt is as likely as others, and
// applies its changes with their probabilities and magnitudes.
func TestAutoAugmentAppliesItsPolicy(t *testing.T) {
	text, err := os.ReadFile("testdata/policies.txt")
	if err != nil {
		t.Fatal(err)
	}
	x := weft.NewGenerator(5).Rand(3, 9, 12).Mul(255).To(weft.Uint8)
	for p, policy := range []string{"imagenet", "cifar10", "svhn"} {
		chance := map[string]float64{}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if f[0] != policy {
				continue
			}
			digit := func(s string) int {
				n, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			type version struct {
				x      *weft.Tensor
				chance float64
			}
			made := []version{{x, 1.0 / 25}}
			for _, s := range [][]string{f[1:4], f[4:7]} {
				var next []version
				for _, v := range made {
					applied := float64(digit(s[1])) / 10
					next = append(next, version{v.x, v.chance * (1 - applied)})
					changed := versions(v.x, s[0], digit(s[2]), false)
					for _, y := range changed {
						next = append(next, version{y, v.chance * applied / float64(len(changed))})
					}
				}
				made = next
			}
			for _, v := range made {
				chance[weft.Digest(v.x.Contiguous())] += v.chance
			}
		}
		const draws = 2500
		count := map[string]float64{}
		g := weft.NewGenerator(7)
		for range draws {
			count[weft.Digest(AutoAugment{Policy: AutoAugmentPolicy(p)}.Apply(x, g).Contiguous())]++
		}
		for digest, n := range count {
			if chance[digest] == 0 {
				t.Errorf("%s: %v of %d pictures are none that the policy makes", policy, n, draws)
			}
		}
		for digest, c := range chance {
			if n := count[digest]; math.Abs(n-draws*c) > 5*math.Sqrt(draws*c)+1 {
				t.Errorf("%s: a picture comes %v times, want %v", policy, n, draws*c)
			}
		}
	}
}

// TestAugMixMixesChains: with one chain of one change, a picture lies between the old one and one that a change of
// AugMix makes, and each change comes. A chain has 1 to 3 changes: at the least severity 3 of 13 leave a trace.
func TestAugMixMixesChains(t *testing.T) {
	x := weft.NewGenerator(5).RandOf(weft.Float64, 3, 9, 12).Mul(0.9)
	old := weft.Data[float64](x)
	colours := []string{"Brightness", "Color", "Contrast", "Sharpness"}
	others := []string{"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Posterize", "Solarize", "AutoContrast", "Equalize"}
	for _, without := range []bool{false, true} {
		names := others
		if !without {
			names = append(names[:len(names):len(names)], colours...)
		}
		steps := map[string][][]float64{}
		for _, name := range names {
			for level := range 10 {
				for _, y := range versions(x, name, level, true) {
					steps[name] = append(steps[name], weft.Data[float64](y.Sub(x).To(weft.Float64).Contiguous()))
				}
			}
		}
		seen := map[string]bool{}
		g := weft.NewGenerator(3)
		for range 300 {
			y := weft.Data[float64](AugMix{Width: new(1), Depth: new(1), Severity: new(10), WithoutColors: without}.Apply(x, g).Contiguous())
			found := false
			for name, list := range steps {
				for _, d := range list {
					if mixOf(old, y, d) {
						seen[name], found = true, true
					}
				}
			}
			if !found {
				t.Fatal("a picture is no mix of the old one and one that a change makes")
			}
		}
		if len(seen) != len(names) {
			t.Errorf("of %v come %v", names, seen)
		}
	}
	const draws = 1500
	same := 0.0
	g := weft.NewGenerator(4)
	for range draws {
		if y := (AugMix{Width: new(1), Severity: new(1)}).Apply(x, g); y.Sub(x).Abs().Max().Item() < 1e-6 {
			same++
		}
	}
	const keep = 10.0 / 13
	if want := (keep + keep*keep + keep*keep*keep) / 3; math.Abs(same/draws-want) > 0.065 {
		t.Errorf("%v of pictures stay, want %v", same/draws, want)
	}
}

// mixOf reports whether y is old plus a part from 0 to 1 of a step.
func mixOf(old, y, step []float64) bool {
	dot, length := 0.0, 0.0
	for i, d := range step {
		dot, length = dot+d*(y[i]-old[i]), length+d*d
	}
	part := 0.0
	if length > 1e-12 {
		part = dot / length
	}
	if !(part >= 0 && part <= 1+1e-9) {
		return false
	}
	for i, d := range step {
		if !(math.Abs(y[i]-old[i]-part*d) <= 1e-5) {
			return false
		}
	}
	return true
}

// TestWarpsOfOptions: what is outside has Fill, Interpolation says how pixels mix, all corners move alike, and
// displacements are smoother along the axis with the greater Sigma.
func TestWarpsOfOptions(t *testing.T) {
	ones := weft.Ones(1, 9, 12)
	g := weft.NewGenerator(1)
	nearest := new(nn.ModeNearest)
	for name, f := range map[string]func(fill []float64, mode *nn.InterpolateMode) Transform{
		"perspective": func(fill []float64, mode *nn.InterpolateMode) Transform {
			return RandomPerspective{P: new(1.0), Distortion: new(1.0), Fill: fill, Interpolation: mode}
		},
		"elastic": func(fill []float64, mode *nn.InterpolateMode) Transform {
			return ElasticTransform{Alpha: []float64{9}, Sigma: []float64{0}, Fill: fill, Interpolation: mode}
		},
	} {
		parts := map[float32]int{}
		mixed := 0
		for range 20 {
			for _, v := range weft.Data[float32](f([]float64{5}, nearest).Apply(ones, g).Contiguous()) {
				parts[v]++
			}
			for _, v := range weft.Data[float32](f(nil, nil).Apply(ones, g).Contiguous()) {
				if v > 0 && v < 0.99 {
					mixed++
				}
			}
		}
		if len(parts) != 2 || parts[1] == 0 || parts[5] == 0 || mixed == 0 {
			t.Errorf("%s: pixels %v, %d are mixed", name, parts, mixed)
		}
	}
	const draws = 400
	sum, large := weft.Zeros(1, 40, 60), weft.Ones(1, 40, 60)
	for range draws {
		sum = sum.Add(RandomPerspective{P: new(1.0), Interpolation: nearest}.Apply(large, g))
	}
	for axis := 1; axis <= 2; axis++ {
		if d := sum.Sub(sum.Flip(axis)).Abs().Max().Item() / draws; d > 0.15 { // 4 deviations
			t.Errorf("sides of axis %d differ by %v", axis, d)
		}
	}
	ramp := weft.Arange(0.0, 60).Reshape(1, 1, 60).Expand(1, 60, 60)
	d := (ElasticTransform{Alpha: []float64{20}, Sigma: []float64{4, 0.5}}).Apply(ramp, g).Sub(ramp).Slice(weft.All, weft.Range(20, 40), weft.Range(20, 40))
	along := func(axis int) float64 { return d.Sub(d.Roll(axis, 1)).Abs().Median().Item() }
	if x, y := along(2), along(1); !(2*x < y) {
		t.Errorf("displacements change by %v along the width and %v along the height", x, y)
	}
}
