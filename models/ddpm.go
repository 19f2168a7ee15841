package models

import (
	"math"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// DDPMOpts are the options of [NewDDPM].
type DDPMOpts struct {
	Channels  *int            // of the pictures; nil means 3
	Widths    []int           // channels of the levels, each of half the height and width; nil means 128, 256, 256, 256
	Attention []bool          // which levels attend; nil means the second alone; else one for each level
	Blocks    *int            // residual blocks of a level on the way down, and one less than on the way up; nil means 2
	Groups    *int            // of the normalisations; nil means 32
	HeadWidth *int            // channels of a head of attention; nil means one head
	Eps       *float64        // of normalisations; nil means 1e-6
	Dropout   float64         // in residual blocks
	Weight    nn.Init         // draws all matrices and filters; nil means as PyTorch does by itself
	Generator *weft.Generator // what they, and dropout, are drawn from; nil is the default generator
}

// DDPM is the network that tells the noise in a picture (Ho et al., Denoising diffusion probabilistic
// models, 2020): a U-Net of residual blocks and attention that sees the step of the noise. Without
// options it is google/ddpm-cifar10-32. Its forms are "diffusers" and, where queries, keys and values
// have the names of files before 2023, "diffusers 2022".
type DDPM struct {
	ConvIn        *nn.Conv2d
	TimeEmbedding *TimeEmbedding
	DownBlocks    []*DDPMBlock
	MidBlock      *DDPMBlock
	UpBlocks      []*DDPMBlock
	ConvNormOut   *nn.GroupNorm
	ConvOut       *nn.Conv2d
}

// TimeEmbedding is two linear layers over sines and cosines of a step.
type TimeEmbedding struct {
	Linear1 *nn.Linear `nn:"linear_1"`
	Linear2 *nn.Linear `nn:"linear_2"`
}

// DDPMBlock is a level: residual blocks, attention behind each or none, and at the end of all but the
// last level a change of size.
type DDPMBlock struct {
	Resnets      []*DDPMResnet
	Attentions   []*DDPMAttention
	Downsamplers []*DDPMSampler
	Upsamplers   []*DDPMSampler
}

// DDPMSampler is the convolution of a change of size.
type DDPMSampler struct{ Conv *nn.Conv2d }

// DDPMResnet adds two convolutions to its input, and between them a projection of the step's vector.
type DDPMResnet struct {
	Norm1        *nn.GroupNorm
	Conv1        *nn.Conv2d
	TimeEmbProj  *nn.Linear
	Norm2        *nn.GroupNorm
	Dropout      *nn.Dropout
	Conv2        *nn.Conv2d
	ConvShortcut *nn.Conv2d // nil where the input has the shape of the result
}

// DDPMAttention adds attention of each pixel to all to its input.
type DDPMAttention struct {
	GroupNorm *nn.GroupNorm
	ToQ       *nn.Linear `nn:"to_q"`
	ToK       *nn.Linear `nn:"to_k"`
	ToV       *nn.Linear `nn:"to_v"`
	ToOut     []*nn.Linear

	heads int
}

// A ddpmMaker draws the blocks of a network.
type ddpmMaker struct {
	maker
	time, groups, headWidth int
	eps                     float64
	dropout                 float64
}

// NewDDPM returns a network. It panics with *weft.Error if a number is out of range, if Attention is
// not as long as Widths, or if groups or heads do not divide channels.
func NewDDPM(opts ...DDPMOpts) *DDPM {
	const name = "ddpm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	widths, attends := o.Widths, o.Attention
	if widths == nil {
		widths = []int{128, 256, 256, 256}
	}
	if attends == nil {
		attends = make([]bool, len(widths))
		if len(attends) > 1 {
			attends[1] = true
		}
	}
	m := ddpmMaker{maker: maker{name, o.Weight, o.Generator}, eps: array.Or(o.Eps, 1e-6), dropout: o.Dropout}
	m.groups = m.count("Groups", o.Groups, 32)
	m.probability("Dropout", o.Dropout)
	for _, w := range widths {
		if w < 2 || w%m.groups != 0 || widths[0]%2 != 0 {
			array.Failf(name, "Widths", "are %v, want multiples of %d groups, the first an even number", widths, m.groups)
		}
	}
	if len(widths) == 0 || len(attends) != len(widths) {
		array.Failf(name, "Attention", "has %d levels, Widths has %d: want one or more of both", len(attends), len(widths))
	}
	if o.HeadWidth != nil {
		m.headWidth = m.count("HeadWidth", o.HeadWidth, 0)
		for i, w := range widths {
			if w%m.headWidth != 0 && (attends[i] || i == len(widths)-1) {
				array.Failf(name, "HeadWidth", "is %d, which does not divide %d channels", m.headWidth, w)
			}
		}
	}
	channels, blocks, top := m.count("Channels", o.Channels, 3), m.count("Blocks", o.Blocks, 2), widths[len(widths)-1]
	m.time = 4 * widths[0]
	d := &DDPM{
		ConvIn:        m.conv3(channels, widths[0]),
		TimeEmbedding: &TimeEmbedding{m.linear(widths[0], m.time), m.linear(m.time, m.time)},
		MidBlock: &DDPMBlock{
			Resnets:    []*DDPMResnet{m.resnet(top, top), m.resnet(top, top)},
			Attentions: []*DDPMAttention{m.attention(top)},
		},
		ConvNormOut: m.norm(widths[0]),
		ConvOut:     m.conv3(widths[0], channels),
	}
	in, beside := widths[0], []int{widths[0]} // beside: channels that the way up sees again
	for i, out := range widths {
		b := &DDPMBlock{}
		for range blocks {
			m.add(b, in, out, attends[i])
			in = out
			beside = append(beside, out)
		}
		if i < len(widths)-1 {
			c := m.conv3(out, out)
			c.Stride, c.Padding = [2]int{2, 2}, [2]int{}
			b.Downsamplers = []*DDPMSampler{{c}}
			beside = append(beside, out)
		}
		d.DownBlocks = append(d.DownBlocks, b)
	}
	for i, out := range slices.Backward(widths) {
		b := &DDPMBlock{}
		for range blocks + 1 {
			m.add(b, in+beside[len(beside)-1], out, attends[i])
			in, beside = out, beside[:len(beside)-1]
		}
		if i > 0 {
			b.Upsamplers = []*DDPMSampler{{m.conv3(out, out)}}
		}
		d.UpBlocks = append(d.UpBlocks, b)
	}
	return d
}

func (m ddpmMaker) conv3(in, out int) *nn.Conv2d {
	return nn.NewConv2d(in, out, 3, nn.Conv2dOpts{Opts: m.opts(nil), Padding: 1})
}

func (m ddpmMaker) norm(channels int) *nn.GroupNorm {
	return nn.NewGroupNorm(m.groups, channels, nn.NormOpts{Eps: &m.eps})
}

// add adds a residual block to a level, and attention.
func (m ddpmMaker) add(b *DDPMBlock, in, out int, attends bool) {
	b.Resnets = append(b.Resnets, m.resnet(in, out))
	if attends {
		b.Attentions = append(b.Attentions, m.attention(out))
	}
}

func (m ddpmMaker) resnet(in, out int) *DDPMResnet {
	r := &DDPMResnet{
		Norm1: m.norm(in), Conv1: m.conv3(in, out), TimeEmbProj: m.linear(m.time, out),
		Norm2: m.norm(out), Dropout: m.drop(m.dropout), Conv2: m.conv3(out, out),
	}
	if in != out {
		r.ConvShortcut = nn.NewConv2d(in, out, 1, nn.Conv2dOpts{Opts: m.opts(nil)})
	}
	return r
}

func (m ddpmMaker) attention(width int) *DDPMAttention {
	heads := 1
	if m.headWidth > 0 {
		heads = width / m.headWidth
	}
	return &DDPMAttention{m.norm(width), m.linear(width, width), m.linear(width, width), m.linear(width, width), []*nn.Linear{m.linear(width, width)}, heads}
}

// Forward maps [batch, in, h, w] and the vectors of the steps, [batch, 4*Widths[0]], to [batch, out, h, w].
func (r *DDPMResnet) Forward(x, step *weft.Tensor) *weft.Tensor {
	return called(r, []*weft.Tensor{x, step}, func(in []*weft.Tensor) *weft.Tensor { return r.forward(in[0], in[1]) })
}

func (r *DDPMResnet) forward(x, step *weft.Tensor) *weft.Tensor {
	whole("ddpm", "NewDDPM", r != nil)
	h := r.Conv1.Forward(r.Norm1.Forward(x).Silu())
	h = h.Add(r.TimeEmbProj.Forward(step.Silu()).Unsqueeze(2).Unsqueeze(3))
	h = r.Conv2.Forward(r.Dropout.Forward(r.Norm2.Forward(h).Silu()))
	if r.ConvShortcut != nil {
		x = r.ConvShortcut.Forward(x)
	}
	return x.Add(h)
}

// Forward keeps the shape [batch, channels, h, w].
func (a *DDPMAttention) Forward(x *weft.Tensor) *weft.Tensor {
	return nn.Call(a, x, (*DDPMAttention).forward)
}

func (a *DDPMAttention) forward(x *weft.Tensor) *weft.Tensor {
	whole("ddpm", "NewDDPM", a != nil && len(a.ToOut) > 0 && a.heads > 0)
	if x == nil || x.Rank() != 4 || x.Dim(1)%a.heads != 0 {
		array.Failf("ddpm", "x", "is not [batch channels height width] with channels for %d heads", a.heads)
	}
	n, c := x.Dim(0), x.Dim(1)
	pixels := a.GroupNorm.Forward(x).Flatten(2).Transpose(1, 2)
	heads := func(l *nn.Linear) *weft.Tensor {
		return l.Forward(pixels).Reshape(n, -1, a.heads, c/a.heads).Transpose(1, 2)
	}
	y := nn.ScaledDotProductAttention(heads(a.ToQ), heads(a.ToK), heads(a.ToV)).Transpose(1, 2).Reshape(n, -1, c)
	return a.ToOut[0].Forward(y).Transpose(1, 2).Reshape(x.Shape()...).Add(x)
}

// Forward maps numbers of steps, [batch], and the width of the first layer to vectors.
func (e *TimeEmbedding) Forward(step *weft.Tensor) *weft.Tensor {
	return nn.Call(e, step, (*TimeEmbedding).forward)
}

func (e *TimeEmbedding) forward(step *weft.Tensor) *weft.Tensor {
	whole("ddpm", "NewDDPM", e != nil && e.Linear1 != nil && e.Linear1.Weight != nil && e.Linear1.Weight.Rank() == 2)
	if step == nil || step.Rank() != 1 {
		array.Failf("ddpm", "step", "is not [batch]")
	}
	w := e.Linear1.Weight
	half := w.Dim(1) / 2
	rates := make([]float64, half)
	for i := range rates {
		rates[i] = math.Exp(-math.Log(10000) * float64(i) / float64(half-1))
	}
	if half == 1 {
		rates[0] = 1
	}
	at := step.To(weft.Float64).Unsqueeze(1).Mul(step.Device().From(rates))
	x := weft.Cat([]*weft.Tensor{at.Sin(), at.Cos()}, 1).To(w.DType())
	return e.Linear2.Forward(e.Linear1.Forward(x).Silu())
}

// Forward maps noisy pictures, [batch, channels, height, width], and their steps, integers [batch], to
// the noise in them. It panics with *weft.Error if height and width cannot be halved for each level.
func (d *DDPM) Forward(x, step *weft.Tensor) *weft.Tensor {
	return called(d, []*weft.Tensor{x, step}, func(in []*weft.Tensor) *weft.Tensor { return d.forward(in[0], in[1]) })
}

func (d *DDPM) forward(x, step *weft.Tensor) *weft.Tensor {
	const name = "ddpm"
	defer array.Named(name).End()
	whole(name, "NewDDPM", d != nil && d.MidBlock != nil && len(d.MidBlock.Resnets) == 2 && len(d.DownBlocks) > 0)
	pictures(name, "NewDDPM", x, d.ConvIn)
	if step == nil || !step.DType().Integer() || !slices.Equal(step.Shape(), x.Shape()[:1]) {
		text := "nil"
		if step != nil {
			text = array.TypeString(step.DType(), step.Shape())
		}
		array.Failf(name, "step", "is %s, want integers [%d]", text, x.Dim(0))
	}
	if m := 1 << (len(d.DownBlocks) - 1); x.Dim(2)%m != 0 || x.Dim(3)%m != 0 {
		array.Failf(name, "x", "has shape %s, want multiples of %d rows and columns", array.ShapeString(x.Shape()), m)
	}
	at := d.TimeEmbedding.Forward(step)
	x = d.ConvIn.Forward(x)
	beside := []*weft.Tensor{x}
	for _, b := range d.DownBlocks {
		whole(name, "NewDDPM", b != nil)
		for i, r := range b.Resnets {
			x = b.attend(i, r.Forward(x, at))
			beside = append(beside, x)
		}
		for _, s := range b.Downsamplers {
			whole(name, "NewDDPM", s != nil)
			x = s.Conv.Forward(nn.Pad{Pads: []int{0, 1, 0, 1}}.Forward(x))
			beside = append(beside, x)
		}
	}
	x = d.MidBlock.Resnets[0].Forward(x, at)
	x = d.MidBlock.Resnets[1].Forward(d.MidBlock.attend(0, x), at)
	for _, b := range d.UpBlocks {
		whole(name, "NewDDPM", b != nil && len(b.Resnets) <= len(beside))
		for i, r := range b.Resnets {
			last := len(beside) - 1
			x = b.attend(i, r.Forward(weft.Cat([]*weft.Tensor{x, beside[last]}, 1), at))
			beside = beside[:last]
		}
		for _, s := range b.Upsamplers {
			whole(name, "NewDDPM", s != nil)
			x = s.Conv.Forward(nn.Upsample{Scale: new(2.0)}.Forward(x))
		}
	}
	return d.ConvOut.Forward(d.ConvNormOut.Forward(x).Silu())
}

// attend is attention number i of a level, or x where there is none.
func (b *DDPMBlock) attend(i int, x *weft.Tensor) *weft.Tensor {
	if len(b.Attentions) == 0 {
		return x
	}
	whole("ddpm", "NewDDPM", i < len(b.Attentions))
	return b.Attentions[i].Forward(x)
}

// Forms implements [Published].
func (d *DDPM) Forms() []Form {
	now, before := nn.State(d), map[string]*weft.Tensor{}
	names := strings.NewReplacer("to_q", "query", "to_k", "key", "to_v", "value", "to_out.0", "proj_attn")
	for name, t := range now {
		before[names.Replace(name)] = t
	}
	return []Form{{Name: "diffusers", Tensors: now}, {Name: "diffusers 2022", Tensors: before}}
}
