package models

import (
	"encoding/json"
	"math"

	"weft"
	"weft/internal/array"
)

// RopeScaling makes the wavelengths of rotary embeddings longer, for texts that are longer than in
// the first training. JSON names are the keys of rope_scaling and rope_parameters in Hugging Face's config.json.
type RopeScaling struct {
	// Type says which wavelengths are multiplied by Factor:
	//   - "linear": all.
	//   - "llama3": long ones, by the wavelength (Grattafiori et al., The Llama 3 herd of models, 2024).
	//   - "yarn": long ones, by the number of the pair; scores of attention grow (Peng et al., YaRN, 2023).
	//   - "dynamic": all, by as much as a call's longest text exceeds Context of [LlamaOpts], up to Factor.
	//   - "default": none.
	Type    string   `json:"rope_type"`
	Factor  *float64 `json:"factor"`                           // nil means 8, for "yarn" Context of [LlamaOpts] divided by this Context
	Low     *float64 `json:"low_freq_factor"`                  // "llama3": wavelengths above Context/Low, wholly; nil means 1
	High    *float64 `json:"high_freq_factor"`                 // "llama3": wavelengths below Context/High, not at all; nil means 4
	Context *int     `json:"original_max_position_embeddings"` // of the first training; nil means 8192, for "yarn" that of [LlamaOpts]

	// The fields of "yarn" alone.
	BetaFast *float64 `json:"beta_fast"` // pairs with more turns in Context stay; nil means 32
	BetaSlow *float64 `json:"beta_slow"` // pairs with fewer turns are multiplied wholly; nil means 1
	Truncate *bool    `json:"truncate"`  // the two bounds become whole numbers; nil means true
	// Attention multiplies sines and cosines. Nil means (1 + MScale*log(Factor)/10)/(1 + MScaleAll*log(Factor)/10)
	// if both are given, else 1 + log(Factor)/10.
	Attention *float64 `json:"attention_factor"`
	MScale    *float64 `json:"mscale"`
	MScaleAll *float64 `json:"mscale_all_dim"`
}

// UnmarshalJSON reads config.json of Hugging Face, whose rotary embeddings are rope_theta and rope_scaling, or
// rope_parameters since version 5 of transformers.
func (o *LlamaOpts) UnmarshalJSON(text []byte) error {
	type scaling struct {
		RopeScaling
		Old   string   `json:"type"` // before transformers 4.43
		Theta *float64 `json:"rope_theta"`
	}
	type plain LlamaOpts
	in := struct {
		*plain
		Scaling    *scaling `json:"rope_scaling"`
		Parameters *scaling `json:"rope_parameters"`
	}{plain: (*plain)(o)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	for _, s := range []*scaling{in.Scaling, in.Parameters} {
		if s == nil {
			continue
		}
		if s.Theta != nil {
			o.RopeTheta = s.Theta
		}
		if s.Type == "" {
			s.Type = s.Old
		}
		if o.RopeScaling = &s.RopeScaling; s.Type == "" {
			o.RopeScaling = nil
		}
	}
	return nil
}

// A rope says how rotary embeddings turn (Su et al., RoFormer: enhanced transformer with rotary position
// embedding, 2021).
type rope struct {
	freq   []float32 // radians a step, of each pair of a head's elements
	scale  float64   // of sines and cosines
	theta  float64
	growth float64 // how much longer than context texts may be, of "dynamic"; 0 for others
	from   int     // the context that growth counts from
}

// newRope returns the turns of heads of a width, in a model with a context.
func newRope(name string, width, context int, theta float64, s *RopeScaling) rope {
	if !(theta > 0) {
		array.Failf(name, "RopeTheta", "is %v, want a number above 0", theta)
	}
	r := rope{scale: 1, theta: theta, from: context}
	change := func(_ int, f float64) float64 { return f }
	if s != nil {
		change = r.scaled(name, width, context, *s)
	}
	r.freq = make([]float32, width/2)
	for i := range r.freq {
		r.freq[i] = float32(change(i, float64(float32(math.Pow(theta, -float64(2*i)/float64(width))))))
	}
	return r
}

// maxStretch is the greatest factor of a scaling: a context times it is an int.
const maxStretch = 1 << 20

// scaled checks a scaling and returns what it makes of the frequency of a pair.
func (r *rope) scaled(name string, width, context int, s RopeScaling) func(i int, f float64) float64 {
	first := float64(array.Or(s.Context, 8192))
	factor := array.Or(s.Factor, 8)
	if s.Type == "yarn" {
		first = float64(array.Or(s.Context, context))
		factor = array.Or(s.Factor, float64(context)/first)
	}
	low, high := array.Or(s.Low, 1), array.Or(s.High, 4)
	if !(factor > 0) || !(low > 0) || !(high > low) || !(first > 0) {
		array.Failf(name, "RopeScaling", "has Factor %v, Low %v, High %v and Context %v: want numbers above 0, and High above Low", factor, low, high, first)
	}
	if factor > maxStretch {
		array.Failf(name, "RopeScaling", "has Factor %v, want at most %v", factor, float64(maxStretch))
	}
	switch s.Type {
	case "default":
		return func(_ int, f float64) float64 { return f }
	case "linear":
		return func(_ int, f float64) float64 { return f / factor }
	case "llama3":
		return func(_ int, f float64) float64 {
			turns := first * f / (2 * math.Pi) // in the context of the first training
			keep := min(max((turns-low)/(high-low), 0), 1)
			return keep*f + (1-keep)*f/factor
		}
	case "dynamic":
		if factor < 1 || width < 4 {
			array.Failf(name, "RopeScaling", "is dynamic with Factor %v of heads of width %d: want 1 or more, and 4 or more", factor, width)
		}
		r.growth = factor
		return func(_ int, f float64) float64 { return f }
	case "yarn":
		return r.yarn(name, width, first, factor, s)
	}
	array.Failf(name, "RopeScaling", `has Type %q, want "linear", "llama3", "yarn", "dynamic" or "default"`, s.Type)
	panic("unreachable")
}

// yarn is scaled of "yarn".
func (r *rope) yarn(name string, width int, context, factor float64, s RopeScaling) func(i int, f float64) float64 {
	fast, slow := array.Or(s.BetaFast, 32), array.Or(s.BetaSlow, 1)
	if !(slow > 0) || !(fast > slow) {
		array.Failf(name, "RopeScaling", "has BetaFast %v and BetaSlow %v: want numbers above 0, and BetaFast above BetaSlow", fast, slow)
	}
	grown := func(m float64) float64 { return 1 + 0.1*m*math.Log(max(factor, 1)) }
	r.scale = grown(1)
	if s.MScale != nil && s.MScaleAll != nil {
		r.scale = grown(*s.MScale) / grown(*s.MScaleAll)
	}
	r.scale = array.Or(s.Attention, r.scale)
	if math.IsNaN(r.scale) || math.IsInf(r.scale, 0) {
		array.Failf(name, "RopeScaling", "multiplies sines and cosines by %v, of Attention or MScale and MScaleAll: want a finite number", r.scale)
	}
	// pair returns which pair makes a number of turns in the context, as a number that need not be whole.
	pair := func(turns float64) float64 {
		return float64(width) * math.Log(context/(turns*2*math.Pi)) / (2 * math.Log(r.theta))
	}
	low, high := pair(fast), pair(slow)
	if array.Or(s.Truncate, true) {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(width-1))
	if low == high {
		high += 0.001
	}
	return func(i int, f float64) float64 {
		keep := 1 - min(max((float64(i)-low)/(high-low), 0), 1)
		return keep*f + (1-keep)*f/factor
	}
}

// longest returns the most tokens of a text in a model with a context.
func (r *rope) longest(context int) int {
	if r.growth == 0 {
		return context
	}
	return int(float64(context) * r.growth)
}

// frequencies returns the radians a step for texts with places, [steps] or [batch, steps].
func (r *rope) frequencies(positions *weft.Tensor) *weft.Tensor {
	if r.growth == 0 {
		return positions.Device().From(r.freq)
	}
	n := 2 * len(r.freq)
	length := positions.Max().Add(1).Maximum(r.from).To(weft.Float64)
	stretch := length.Mul(r.growth / float64(r.from)).Sub(r.growth - 1).Pow(float64(n) / float64(n-2))
	power := positions.Device().Arange(0, n, 2).To(weft.Float64).Div(-n)
	return stretch.Mul(r.theta).Log().Mul(power).Exp().To(weft.Float32)
}

// A rotation turns pairs of a head's elements, i and i+width/2, by angles that grow with the position.
type rotation struct {
	cos, sin *weft.Tensor // [batch or 1, steps, 1, width]; sin is negative for the first of a pair
}

func (r *rope) rotation(positions *weft.Tensor, dtype weft.DType) rotation {
	f := r.frequencies(positions)
	if positions.Rank() == 1 {
		positions = positions.Unsqueeze(0)
	}
	angle := positions.To(weft.Float32).Unsqueeze(2).Mul(f).Unsqueeze(2)
	cos, sin := angle.Cos(), angle.Sin()
	if r.scale != 1 {
		cos, sin = cos.Mul(r.scale), sin.Mul(r.scale)
	}
	cos, sin = cos.To(dtype), sin.To(dtype)
	return rotation{cos: weft.Cat([]*weft.Tensor{cos, cos}, 3), sin: weft.Cat([]*weft.Tensor{sin.Neg(), sin}, 3)}
}

// apply turns x [batch, steps, heads, width].
func (r rotation) apply(x *weft.Tensor) *weft.Tensor {
	return weft.Expr("x*c + y*s", x, r.cos, x.Roll(3, x.Dim(3)/2), r.sin)
}
