package weft_test

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/data"
	"weft/hf"
	"weft/kernel"
	published "weft/models"
	"weft/nn"
	"weft/optim"
	"weft/plot"
	"weft/sym"
)

// The rule of options: a field whose default is not 0 is a pointer, and nil means the default. 0
// means 0 in all fields.

// An optionField is how one field of options is held to that rule.
type optionField struct {
	in      any              // the options around it, of the type of the options; nil: none
	def     any              // of a pointer: a value that gives what nil gives
	refused bool             // 0 is an error that names the field
	zero    func() []float64 // what 0 gives; nil: the limit of small numbers
	loose   bool             // no formula says what 0 gives: it is something else than the default
}

// An optionCase is the test of a type of options.
type optionCase struct {
	run    func(o any) []float64
	fields map[string]optionField
}

func optionsOf[T any](run func(o T) []float64, fields map[string]optionField) optionCase {
	c := optionCase{func(o any) []float64 { return run(o.(T)) }, fields}
	for name, f := range fields {
		if f.in == nil {
			f.in = *new(T)
			fields[name] = f
		}
	}
	return c
}

// notOptions are exported structs with numbers that a function of their package returns, and why
// their zero values are not options.
var notOptions = map[string]bool{
	"weft.Batch": true, "data.Batch": true, "data.ItemError": true, "data.Picture": true, "models.Beam": true, "weft.ByteRange": true, "weft.Error": true, "weft.FuncContext": true, "weft.Func": true,
	"weft.GeneratorState": true, "weft.FloatInfo": true, "weft.IntInfo": true, "weft.MemoryStats": true, "weft.ProfileRow": true, "weft.DebugStep": true, "kernel.Benchmark": true, "kernel.Elem": true, "kernel.Error": true,
	"hf.Class": true, "hf.Model": true, "hf.Spectrogram": true, "nn.Mismatch": true, "onnx.Error": true, "onnx.Info": true, "onnx.UnsupportedNode": true, "safetensors.Info": true, "sym.Type": true, "npy.Info": true, "safetensors.Unsupported": true, "records.Field": true, "records.Layout": true,
	"plot.Axes": true, "polynomial.Series": true, "signal.ZPK": true, "sparse.FormatError": true, "sparse.Solution": true, "train.Epoch": true, "train.Interrupted": true, "train.Run": true, "train.Step": true, "train.Value": true,
	"tokenizers.AddedToken": true, "tokenizers.Padding": true, "tokenizers.Span": true, "tokenizers.Truncation": true,
	"aot.Plan": true, "aot.Array": true, "aot.Slot": true, "aot.Operand": true, "aot.View": true, "aot.Launch": true, "aot.Around": true, "aot.Kernel": true, "aot.Number": true, "aot.Range": true,
}

// kernelView matches the arguments of kernels, which the launch fills in.
var kernelView = regexp.MustCompile(`^kernel\.(Near|Clamped|Wrapped|Zeroed|Reflected|Array)[1-6]?$`)

// numeric reports that a type is a number, a bool aside, or some of them side by side, or a pointer
// to one. A named type of the module is an enumeration, whose first constant is the default.
func numeric(t types.Type, pointer bool) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Info()&types.IsNumeric != 0
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return false
		}
		path := t.Obj().Pkg().Path()
		return path == "time" && t.Obj().Name() == "Duration" || pointer && path == reflect.TypeFor[weft.Cost]().PkgPath() && t.Obj().Name() == "Cost"
	case *types.Alias:
		return numeric(types.Unalias(t), pointer)
	case *types.Array:
		return numeric(t.Elem(), pointer)
	case *types.Pointer:
		return !pointer && numeric(t.Elem(), true)
	}
	return false
}

// numericFields returns the names of a struct's exported numeric fields, with the fields of
// embedded structs.
func numericFields(s *types.Struct) (names []string) {
	for f := range s.Fields() {
		if inner, ok := f.Type().Underlying().(*types.Struct); ok && f.Embedded() {
			names = append(names, numericFields(inner)...)
		} else if f.Exported() && numeric(f.Type(), false) {
			names = append(names, f.Name())
		}
	}
	return names
}

// TestNumericOptionsHaveCases looks for numeric fields of exported structs that no case covers.
func TestNumericOptionsHaveCases(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range publicPackages(t) {
		for _, name := range p.Scope().Names() {
			o, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || o.IsAlias() {
				continue
			}
			s, ok := o.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			if p.Scope().Lookup("New"+name) != nil { // the function fills the fields in
				continue
			}
			full := p.Name() + "." + name
			fields := numericFields(s)
			if len(fields) == 0 || notOptions[full] || kernelView.MatchString(full) {
				continue
			}
			seen[full] = true
			for _, f := range fields {
				if _, ok := optionCases[full].fields[f]; !ok {
					t.Errorf("%s.%s: no case of optionCases says what 0 means", full, f)
				}
			}
		}
	}
	for full := range optionCases {
		if !seen[full] {
			t.Errorf("%s is not exported, or has no numeric field", full)
		}
	}
}

// TestNumericOptionsSetToZero sets each numeric field to 0: the result is that of 0, whatever the default is.
func TestNumericOptionsSetToZero(t *testing.T) {
	for typ, c := range optionCases {
		for name, f := range c.fields {
			t.Run(typ+"."+name, func(t *testing.T) {
				get := func(set func(v reflect.Value)) (out []float64, err error) {
					o := reflect.New(reflect.TypeOf(f.in)).Elem()
					o.Set(reflect.ValueOf(f.in))
					set(o.FieldByName(name))
					err = weft.Try(func() { out = c.run(o.Interface()) })
					return out, err
				}
				at0, err := get(func(v reflect.Value) { setNumbers(v, 0) })
				pointer := !reflect.DeepEqual(reflect.ValueOf(f.def), reflect.Value{})
				if pointer {
					isNil, errNil := get(func(v reflect.Value) { v.SetZero() })
					given, errGiven := get(func(v reflect.Value) { v.Set(reflect.ValueOf(f.def)) })
					if errNil != nil || errGiven != nil || !alike(isNil, given) {
						t.Errorf("nil gives %v %v, the default %v %v", isNil, errNil, given, errGiven)
					}
					if err == nil && alike(at0, isNil) {
						t.Errorf("0 gives what nil gives: %v", at0)
					}
				}
				var e *weft.Error
				switch {
				case f.refused:
					if !errors.As(err, &e) || !strings.Contains(strings.ToLower(e.Arg+" "+e.Msg), strings.ToLower(name)) {
						t.Errorf("0 gives %v, want an error that names it: %v", at0, err)
					}
					return
				case err != nil:
					t.Fatalf("0 is refused: %v", err)
				case f.zero != nil:
					if want := f.zero(); !alike(at0, want) {
						t.Errorf("0 gives %v, want %v", at0, want)
					}
				case !f.loose:
					if limit, err := get(func(v reflect.Value) { setNumbers(v, 1e-30) }); err != nil || !alike(at0, limit) {
						t.Errorf("0 gives %v, 1e-30 %v %v", at0, limit, err)
					}
				}
				one, err := get(func(v reflect.Value) { setNumbers(v, 0.5) })
				if two, err2 := get(func(v reflect.Value) { setNumbers(v, 2) }); !pointer && err == nil && err2 == nil && alike(at0, one) && alike(at0, two) {
					t.Errorf("nothing depends on it: %v", at0)
				}
			})
		}
	}
}

// setNumbers sets a numeric field to x, rounded for integers.
func setNumbers(v reflect.Value, x float64) {
	switch v.Kind() {
	case reflect.Interface:
		v.Set(reflect.ValueOf(int(x)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setNumbers(v.Elem(), x)
	case reflect.Array:
		for i := range v.Len() {
			setNumbers(v.Index(i), x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			setNumbers(v.Field(i), x)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(x)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(x))
	case reflect.Uint64:
		v.SetUint(uint64(x))
	default:
		panic(v.Kind().String())
	}
}

// alike compares within 1e-6 of the larger number, or 1e-12.
func alike(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(x, y float64) bool {
		return x == y || x != x && y != y || math.Abs(x-y) <= max(1e-6*max(math.Abs(x), math.Abs(y)), 1e-12)
	})
}

func values(ts ...*weft.Tensor) (out []float64) {
	for _, t := range ts {
		out = append(out, float64(t.Rank()))
		for _, n := range t.Shape() {
			out = append(out, float64(n))
		}
		out = append(out, weft.Data[float64](t.Detach().To(weft.Float64).Contiguous())...)
	}
	return out
}

func list(x ...float64) func() []float64 { return func() []float64 { return x } }

func gen() *weft.Generator { return weft.NewGenerator(1) }

// stepped returns three parameters after four steps. The last gradient is close to Eps.
func stepped[O any](make func(p *weft.Tensor, o O) optim.Optimizer) func(o O) []float64 {
	return func(o O) []float64 {
		w := nn.Param(weft.FromSlice([]float64{1, -2, 3}))
		opt := make(w, o)
		for i := range 4 {
			w.SetGrad(weft.FromSlice([]float64{1 + float64(i), -2, 1e-8}))
			opt.Step()
		}
		return values(w)
	}
}

func only(w *weft.Tensor) func(func(string, *weft.Tensor) bool) {
	return func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
}

// minimised returns where a step of LBFGS gets to in a curved valley, and its evaluations.
func minimised(o optim.LBFGSOpts) []float64 {
	w := nn.Param(weft.FromSlice([]float64{-1.2, 1}))
	opt := optim.NewLBFGS(only(w), o)
	n := 0.0
	opt.Step(func() *weft.Tensor {
		n++
		opt.ZeroGrad()
		x, y := w.At(0), w.At(1)
		loss := y.Sub(x.Square()).Square().Mul(100).Add(x.Sub(1).Square())
		loss.Backward()
		return loss
	})
	return append(values(w), n)
}

// lowered returns the rates that a plateau makes of 1 while the metric falls by 5e-5 of itself.
func lowered(o optim.PlateauOpts) (rates []float64) {
	opt := optim.NewSGD(only(nn.Param(weft.Ones(1))), optim.SGDOpts{LR: new(1.0)})
	p := optim.NewPlateau(opt, o)
	for i := range 14 {
		p.Step(1 - 5e-5*float64(min(i, 11)))
		rates = append(rates, opt.LR())
	}
	return rates
}

func scheduled[S optim.Schedule](s S) (rates []float64) {
	for i := range 6 {
		rates = append(rates, s.At(i, 0.5))
	}
	return rates
}

func pictures() *weft.Tensor { return gen().Randn(2, 4, 6, 7) }

func filtered(o weft.ConvOpts) []float64 {
	w := gen().Randn(4, 4/max(groupsOf(o.Groups), 1), 2, 3)
	return values(pictures().Conv2d(w, nil, o))
}

func groupsOf(p *int) int {
	if p == nil {
		return 1
	}
	return *p
}

// applied returns what a layer makes of x.
func applied(l nn.Layer, x *weft.Tensor) []float64 { return values(l.Forward(x)) }

var optionKernels = kernel.MustParse(`package k

import "weft/kernel"

func Heat(u kernel.Near1[float64]) float64 { return (u.At(-1) + u.At(0) + u.At(1)) / 3 }
func Add(x, y float64) float64 { return x + y }
`)

// drawn are the parameters of a layer.
func drawn(m any) (out []float64) {
	for _, t := range nn.Params(m) {
		out = append(out, values(t)...)
	}
	return out
}

// read is a dataset that says which example was read.
type read chan int

func (r read) Len() int { return 6 }
func (r read) Get(i int) (x, y *weft.Tensor, err error) {
	r <- i
	return weft.ScalarOf(weft.Float64, float64(i)), nil, nil
}

// ahead returns the order of an epoch, then the number of examples read when the first batch came.
// Without prefetching that is the batch size.
func ahead(o data.LoaderOpts) (out []float64) {
	r := make(read, 6)
	l := data.NewLoader(r, o)
	for b, err := range l.Batches(context.Background()) {
		if err != nil {
			panic(err)
		}
		out = append(out, values(b.X)...)
	}
	r = make(read, 6)
	for range data.NewLoader(r, o).Batches(context.Background()) {
		n := len(r)
		want := 0
		if o.Workers == 2 { // the batch, and one that waits
			want = 2
		} else if o.Prefetch == nil || *o.Prefetch == 2 { // the batch, and two that wait
			want = 3
		}
		if want > 0 {
			n = 0
			for deadline := time.After(10 * time.Second); n < want; n++ {
				select {
				case <-r:
				case <-deadline:
					panic(fmt.Sprint("read ahead: ", n))
				}
			}
		}
		return append(out, float64(n))
	}
	return out
}

// gaps returns the ranges that wait after two writes 30 bytes apart.
func gaps(o weft.TrackOpts) (out []float64) {
	x := weft.Zeros(1 << 10)
	d := weft.Track(x, o)
	d.Flush(nowhere{})
	x.Slice(weft.Range(0, 1)).Assign(1)
	x.Slice(weft.Range(501, 502)).Assign(1)
	for _, r := range d.Pending() {
		out = append(out, float64(r.Start), float64(r.Stop))
	}
	return out
}

type nowhere struct{}

func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

var _ io.WriterAt = nowhere{}

// looped returns the states of a loop and the gradient of the last.
func looped(o sym.ScanOpts) []float64 {
	x, h := sym.Vector("x", weft.Float64), sym.Scalar("h", weft.Float64)
	o.Sequences, o.Initial = []any{x}, []any{h}
	r := sym.Scan(o, func(s sym.Step) sym.Next { return sym.Next{H: []*sym.Var{s.X[0].Mul(s.H[0])}} })
	f, err := sym.Function(sym.In(x, h), sym.Out(r.H[0], sym.Grad(r.Last[0], []*sym.Var{h}, sym.GradOpts{Disconnected: true})[0]), sym.IgnoreUnused)
	if err != nil {
		panic(err)
	}
	out, err := f.Call(weft.FromSlice([]float64{2, 3, 5}), 7.0)
	if err != nil {
		panic(err)
	}
	return values(out...)
}

// verified returns the element whose gradient is off, as differences are, or 0 if it passes.
func verified(o sym.VerifyOpts) []float64 {
	err := sym.VerifyGrad(func(x []*sym.Var) *sym.Var { return x[0].Exp() }, []*weft.Tensor{weft.FromSlice([]float64{0.5, 3})}, o)
	if err == nil {
		return []float64{0}
	}
	_, text, found := strings.Cut(err.Error(), " is ")
	var x float64
	if n, _ := fmt.Sscanf(text, "%g", &x); n != 1 || !found || strings.Contains(text, "want") {
		panic(err)
	}
	return []float64{x}
}

// folderOptionCases are the options of package hf, and of the networks that it reads alone.
var folderOptionCases = map[string]optionCase{
	"models.DistilBertOpts": optionsOf(func(o published.DistilBertOpts) []float64 {
		o.Weight = noMemory
		m := published.NewDistilBertClassifier(2, o)
		e, a := m.DistilBert.Embeddings, m.DistilBert.Transformer.Layer[0].Attention
		return append(shapesOf(m), float64(a.Heads), float64(*e.WordEmbeddings.PaddingIdx), e.Drop.P, a.Drop.P, m.Drop.P)
	}, map[string]optionField{
		"Vocab": {def: new(30522), refused: true}, "Context": {def: new(512), refused: true}, "Width": {def: new(768), refused: true},
		"Layers": {def: new(6), refused: true}, "Heads": {def: new(12), refused: true}, "Inner": {def: new(3072), refused: true},
		"Dropout": {def: new(0.1)}, "AttentionDropout": {def: new(0.1)}, "ClassifierDropout": {def: new(0.2)}, "Pad": {},
	}),
	"models.WhisperOpts": optionsOf(func(o published.WhisperOpts) []float64 {
		o.Weight = noMemory
		m := published.NewWhisper(o)
		e, d := m.Model.Encoder, m.Model.Decoder
		return append(shapesOf(m), float64(e.Layers[0].SelfAttn.Heads), float64(d.Layers[0].SelfAttn.Heads), e.Drop.P, e.Layers[0].SelfAttn.Drop.P)
	}, map[string]optionField{
		"Vocab": {def: new(51865), refused: true}, "Mels": {def: new(80), refused: true}, "Width": {def: new(384), refused: true},
		"EncoderLayers": {def: new(4), refused: true}, "EncoderHeads": {def: new(6), refused: true}, "EncoderInner": {def: new(1536), refused: true},
		"DecoderLayers": {def: new(4), refused: true}, "DecoderHeads": {def: new(6), refused: true}, "DecoderInner": {def: new(1536), refused: true},
		"Frames": {def: new(1500), refused: true}, "Context": {def: new(448), refused: true}, "Dropout": {}, "AttentionDropout": {},
	}),
	"hf.TranscribeOpts": optionsOf(func(o hf.TranscribeOpts) []float64 {
		m, err := hf.Load("hf/testdata/whisper") // whose texts have 24 tokens, 4 of them the prompt
		if err != nil {
			panic(err)
		}
		text, err := m.Transcribe(make([]float32, 8000), o)
		if err != nil {
			panic(err)
		}
		return []float64{float64(len(text))}
	}, map[string]optionField{"MaxTokens": {def: new(20), zero: func() []float64 { return []float64{0} }}}),
}

// optionCases are all options that have numbers, and schedules and layers that are written as
// literals.
var optionCases = merged(merged(merged(merged(merged(merged(merged(merged(merged(layerOptionCases, folderOptionCases), modelOptionCases), trainingOptionCases), transformCases), fitOptionCases), plotOptionCases), merged(linalgOptionCases, exportOptionCases)), merged(merged(fftOptionCases, signalOptionCases), merged(ndimageOptionCases, sparseOptionCases))), map[string]optionCase{
	"weft.ConvOpts": optionsOf(filtered, map[string]optionField{
		"Stride":   {def: &[2]int{1, 1}, refused: true},
		"Padding":  {zero: func() []float64 { return filtered(weft.ConvOpts{}) }},
		"Dilation": {def: &[2]int{1, 1}, refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.Conv1dOpts": optionsOf(func(o weft.Conv1dOpts) []float64 {
		return values(gen().Randn(2, 4, 9).Conv1d(gen().Randn(2, 4/max(groupsOf(o.Groups), 1), 3), nil, o))
	}, map[string]optionField{
		"Stride": {def: new(1), refused: true},
		"Padding": {zero: func() []float64 {
			return values(gen().Randn(2, 4, 9).Conv1d(gen().Randn(2, 4, 3), nil, weft.Conv1dOpts{}))
		}},
		"Dilation": {def: new(1), refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.ConvTransposeOpts": optionsOf(func(o weft.ConvTransposeOpts) []float64 {
		return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, o))
	}, map[string]optionField{
		"Stride": {def: &[2]int{1, 1}, refused: true},
		"Padding": {zero: func() []float64 {
			return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, weft.ConvTransposeOpts{}))
		}},
		"OutputPadding": {in: weft.ConvTransposeOpts{Stride: &[2]int{3, 3}}, zero: func() []float64 {
			return values(pictures().ConvTranspose2d(gen().Randn(4, 2, 3, 3), nil, weft.ConvTransposeOpts{Stride: &[2]int{3, 3}}))
		}},
		"Dilation": {def: &[2]int{1, 1}, refused: true},
		"Groups":   {def: new(1), refused: true},
	}),
	"weft.PoolOpts": pooled(func(o weft.PoolOpts) []float64 { return values(pictures().MaxPool2d(o)) },
		func(stride *[2]int) weft.PoolOpts { return weft.PoolOpts{Window: [2]int{2, 3}, Stride: stride} }),
	"weft.CloseOpts": optionsOf(func(o weft.CloseOpts) []float64 {
		return values(weft.FromSlice([]float64{1, 1 + 5e-6, 1e-9, 3}).IsClose(weft.FromSlice([]float64{1, 1, 0, 4}), o))
	}, map[string]optionField{"Relative": {def: new(1e-5)}, "Absolute": {def: new(1e-8)}}),
	"weft.GradCheckOpts": optionsOf(func(o weft.GradCheckOpts) (failed []float64) {
		for _, off := range []float64{0, 5e-6, 5e-4, 5e-2} { // of a derivative of 1
			f := &weft.Func{Name: "off", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Clone() },
				Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy.Mul(1 + off)} }}
			err := weft.GradCheck(f.Apply, []*weft.Tensor{weft.FromSlice([]float64{3})}, o)
			if err != nil && off == 0 && strings.Contains(err.Error(), "Eps") {
				panic(err)
			}
			failed = append(failed, map[bool]float64{true: 1}[err != nil])
		}
		return failed
	}, map[string]optionField{"Eps": {def: new(1e-6), refused: true}, "Absolute": {in: weft.GradCheckOpts{Relative: new(0.0)}, def: new(1e-5)}, "Relative": {def: new(1e-3)}}),
	"weft.HistogramOpts": optionsOf(func(o weft.HistogramOpts) []float64 {
		return values(two(weft.FromSlice([]float64{-3, -1, 1, 2, 5}).Histogram(o))...)
	}, map[string]optionField{
		"Bins": {def: new(10), refused: true},
		"Min":  {def: new(-3.0)},
		"Max":  {in: weft.HistogramOpts{Bins: new(3)}, def: new(5.0)},
	}),
	"weft.EyeOpts": optionsOf(func(o weft.EyeOpts) []float64 {
		x := weft.Eye(3, o)
		return append(values(x), float64(x.Dim(1)))
	}, map[string]optionField{"Columns": {def: new(3)}, "Diagonal": {zero: func() []float64 { return []float64{2, 3, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 3} }}}),
	"weft.InterpOpts": optionsOf(func(o weft.InterpOpts) []float64 {
		return values(weft.FromSlice([]float64{0.5, 1, 2, 3, 4}).Interp(weft.FromSlice([]float64{1, 2.5, 3}), weft.FromSlice([]float64{4, 2, 9}), o))
	}, map[string]optionField{
		"Left":   {def: new(4.0)},
		"Right":  {def: new(9.0)},
		"Period": {in: weft.InterpOpts{}, refused: true, def: new(1e9)},
	}),
	"weft.TrackOpts": optionsOf(gaps, map[string]optionField{
		"Cost": {def: &weft.Cost{Latency: 1000, PerSecond: 4e9}},
		"Item": {def: new(4), refused: true},
	}),
	"weft.Cost": optionsOf(func(o weft.Cost) []float64 { return gaps(weft.TrackOpts{Cost: &o}) }, map[string]optionField{
		"Latency":   {in: weft.Cost{PerSecond: 4e12}, zero: list(0, 4, 2004, 2008)},
		"PerSecond": {in: weft.Cost{Latency: time.Hour}, zero: list(0, 4, 2004, 2008)},
	}),

	"weft.WhileOpts": optionsOf(func(o weft.WhileOpts) []float64 {
		return values(weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Lt(5) },
			func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Add(1)} }, []*weft.Tensor{weft.ScalarOf(weft.Float64, 0)}, o)...)
	}, map[string]optionField{"Max": {zero: list(0, 5)}}),
	"weft.DebugOpts": optionsOf(func(o weft.DebugOpts) []float64 {
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp() })
		y, err := f.Debug(o).Call(weft.FromSlice([]float64{0.25, 0.9}))
		if err != nil {
			return nil
		}
		return values(y)
	}, map[string]optionField{"Big": {zero: list(1, 2, math.Exp(0.25), math.Exp(0.9))}}),
	"sym.ScanOpts": optionsOf(looped, map[string]optionField{
		"Steps":      {def: new(3), zero: list(1, 0, 0, 1)}, // no states; the last is the first
		"Truncate":   {def: new(3), refused: true},
		"Checkpoint": {def: new(1), refused: true},
	}),
	"sym.VerifyOpts": optionsOf(verified, map[string]optionField{
		"Seed":     {in: sym.VerifyOpts{Absolute: new(0.0), Relative: new(0.0)}, zero: func() []float64 { return verified(sym.VerifyOpts{Absolute: new(0.0), Relative: new(0.0)}) }},
		"Step":     {def: new(1e-5), refused: true},
		"Absolute": {in: sym.VerifyOpts{Relative: new(1e-12)}, def: new(1e-5)},
		"Relative": {in: sym.VerifyOpts{Absolute: new(1e-12)}, def: new(1e-5)},
	}),
	"kernel.IterateOpts": optionsOf(func(o kernel.IterateOpts) (asked []float64) {
		o.Until = func(steps int, _, _ *weft.Tensor) bool { asked = append(asked, float64(steps)); return false }
		optionKernels.Func("Heat").Iterate(3, gen().Randn(8).To(weft.Float64), o)
		return asked
	}, map[string]optionField{"Every": {def: new(1), refused: true}}),
	"kernel.ScanOpts": optionsOf(func(o kernel.ScanOpts) []float64 {
		return values(optionKernels.Func("Add").Scan(gen().Randn(2, 3, 2).To(weft.Float64), o))
	}, map[string]optionField{"Axis": {zero: func() []float64 { return values(gen().Randn(2, 3, 2).To(weft.Float64).CumSum(0)) }}}),
	"data.LoaderOpts": optionsOf(ahead, map[string]optionField{
		"Batch":    {def: new(1), refused: true},
		"Seed":     {in: data.LoaderOpts{Shuffle: true, Prefetch: new(0)}, zero: func() []float64 { return ahead(data.LoaderOpts{Shuffle: true, Prefetch: new(0)}) }},
		"Workers":  {in: data.LoaderOpts{Prefetch: new(0)}, zero: func() []float64 { return ahead(data.LoaderOpts{Prefetch: new(0)}) }},
		"Prefetch": {def: new(2), zero: func() []float64 { return append(ahead(data.LoaderOpts{Prefetch: new(2)})[:18], 1) }},
	}),

	"optim.SGDOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.SGDOpts) optim.Optimizer { return optim.NewSGD(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Momentum": {}, "Dampening": {in: optim.SGDOpts{Momentum: 0.9}}, "WeightDecay": {},
	}),
	"optim.AdamOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdamOpts) optim.Optimizer { return optim.NewAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.NAdamOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.NAdamOpts) optim.Optimizer { return optim.NewNAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(2e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {}, "MomentumDecay": {in: optim.NAdamOpts{LR: new(1.0)}, def: new(4e-3)},
	}),
	"optim.RMSpropOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.RMSpropOpts) optim.Optimizer { return optim.NewRMSprop(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Alpha": {def: new(0.99)}, "Eps": {def: new(1e-8)}, "Momentum": {}, "WeightDecay": {},
	}),
	"optim.AdagradOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdagradOpts) optim.Optimizer { return optim.NewAdagrad(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "LRDecay": {}, "WeightDecay": {}, "Initial": {}, "Eps": {def: new(1e-10)},
	}),
	"optim.LBFGSOpts": optionsOf(minimised, map[string]optionField{
		"LR":              {def: new(1.0), zero: list(1, 2, -1.2, 1, 1)},
		"MaxIter":         {def: new(20), zero: list(1, 2, -1.2, 1, 1)},
		"MaxEval":         {def: new(25), zero: func() []float64 { return minimised(optim.LBFGSOpts{MaxEval: new(1)}) }},
		"History":         {in: optim.LBFGSOpts{MaxIter: new(4)}, def: new(100), loose: true},
		"ToleranceGrad":   {in: optim.LBFGSOpts{MaxIter: new(99), ToleranceChange: new(0.0)}, def: new(1e-7)},
		"ToleranceChange": {in: optim.LBFGSOpts{MaxIter: new(99), ToleranceGrad: new(0.0)}, def: new(1e-9)},
	}),
	"optim.PlateauOpts": optionsOf(lowered, map[string]optionField{
		"Factor":    {in: optim.PlateauOpts{Patience: new(0)}, def: new(0.1)},
		"Patience":  {in: optim.PlateauOpts{Factor: new(0.5), Threshold: new(1e-3), Cooldown: 20}, def: new(10), zero: list(1, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5)},
		"Threshold": {in: optim.PlateauOpts{Patience: new(1)}, def: new(1e-4)},
		"Cooldown":  {in: optim.PlateauOpts{Patience: new(0), Factor: new(0.5), Threshold: new(1.0)}, zero: halved},
		"Min":       {in: optim.PlateauOpts{Patience: new(0)}},
	}),
	"optim.StepDecay": optionsOf(scheduled[optim.StepDecay], map[string]optionField{
		"Every": {in: optim.StepDecay{Gamma: 0.5}, refused: true}, "Gamma": {in: optim.StepDecay{Every: 2}},
	}),
	"optim.MultiStep":   optionsOf(scheduled[optim.MultiStep], map[string]optionField{"Gamma": {in: optim.MultiStep{Steps: []int{1, 3}}}}),
	"optim.Exponential": optionsOf(scheduled[optim.Exponential], map[string]optionField{"Gamma": {}}),
	"optim.Cosine":      optionsOf(scheduled[optim.Cosine], map[string]optionField{"Steps": {refused: true}, "Min": {in: optim.Cosine{Steps: 4}}}),
	"optim.Linear": optionsOf(scheduled[optim.Linear], map[string]optionField{
		"Steps": {refused: true}, "From": {in: optim.Linear{Steps: 3, To: 1}}, "To": {in: optim.Linear{Steps: 3, From: 1}},
	}),
	"optim.OneCycle": optionsOf(scheduled[optim.OneCycle], map[string]optionField{
		"Steps": {refused: true}, "Max": {in: optim.OneCycle{Steps: 6}}, "Warm": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(0.3)},
		"Div": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(25.0), refused: true}, "FinalDiv": {in: optim.OneCycle{Steps: 6, Max: 1}, def: new(1e4), refused: true},
	}),
})

func two(x, y *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{x, y} }

// pooled is the case of the options of pooling.
func pooled[T any](run func(o T) []float64, with func(stride *[2]int) T) optionCase {
	return optionsOf(run, map[string]optionField{
		"Window":  {in: with(&[2]int{1, 1}), refused: true},
		"Stride":  {in: with(nil), def: &[2]int{2, 3}, refused: true},
		"Padding": {in: with(nil), zero: func() []float64 { return run(with(nil)) }},
	})
}

// halved are rates that are halved after each step but the first.
func halved() (rates []float64) {
	for i := range 14 {
		rates = append(rates, math.Ldexp(1, -i))
	}
	return rates
}

// merged returns the entries of both maps.
func merged(a, b map[string]optionCase) map[string]optionCase {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// plotOptionCases are the options of package plot.
var plotOptionCases = map[string]optionCase{
	"plot.FigureOpts": optionsOf(func(o plot.FigureOpts) []float64 { return pixelsOf(o, func(*plot.Axes) {}) }, map[string]optionField{
		"Width": {def: new(640), refused: true}, "Height": {def: new(480), refused: true}, "Rows": {def: new(1), refused: true}, "Columns": {def: new(1), refused: true},
	}),
	"plot.LineOpts": optionsOf(func(o plot.LineOpts) []float64 {
		return pixelsOf(smallFigure, func(ax *plot.Axes) { ax.Plot(nil, []int{1, 2}, o) })
	}, map[string]optionField{"Width": {def: new(2.0), refused: true}}),
	"plot.ScatterOpts": optionsOf(func(o plot.ScatterOpts) []float64 {
		return pixelsOf(smallFigure, func(ax *plot.Axes) { ax.Scatter(nil, []int{1, 2}, o) })
	}, map[string]optionField{"Size": {def: new(3.5), refused: true}}),
	"plot.BarOpts": optionsOf(func(o plot.BarOpts) []float64 {
		return pixelsOf(smallFigure, func(ax *plot.Axes) { ax.Bar(nil, []int{1, 2}, o) })
	}, map[string]optionField{"Width": {def: new(0.8), refused: true}}),
	"plot.ImshowOpts": optionsOf(func(o plot.ImshowOpts) []float64 {
		return pixelsOf(smallFigure, func(ax *plot.Axes) { ax.Imshow(weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2), o) })
	}, map[string]optionField{"Min": {def: new(1.0)}, "Max": {def: new(4.0), loose: true}, "Extent": {def: &[4]float64{-0.5, 1.5, 1.5, -0.5}, loose: true}}),
	"plot.TextOpts": optionsOf(func(o plot.TextOpts) []float64 {
		return pixelsOf(smallFigure, func(ax *plot.Axes) { ax.Text(0.5, 0.5, "text", o) })
	}, map[string]optionField{"DY": {}}),
}

var smallFigure = plot.FigureOpts{Width: new(160), Height: new(120)}

// pixelsOf is the size of a figure and its pixels.
func pixelsOf(o plot.FigureOpts, draw func(ax *plot.Axes)) []float64 {
	f := plot.NewFigure(o)
	draw(f.Axes(0, 0))
	m := f.Image()
	out := []float64{float64(m.Rect.Dx()), float64(m.Rect.Dy())}
	for _, x := range m.Pix {
		out = append(out, float64(x))
	}
	return out
}
