package hostile

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
	"weft/sym"
)

// called maps functions to the operation that their errors name, where it is not their own name in
// lower case. Suffixes Of, Keep and Like mark forms of one operation.
var called = map[string]string{
	"weft.BackwardWith":                   "backward",
	"weft.StartProfile":                   "profile",
	"weft.DigestNamed":                    "digest",
	"weft.GradAll":                        "grad",
	"weft.Formula.Names":                  "expr",
	"weft.Formula.String":                 "expr",
	"nn.ScaledDotProductAttention":        "attention",
	"nn.NewBatchNorm1d":                   "batchnorm",
	"nn.NewBatchNorm2d":                   "batchnorm",
	"nn.BatchNorm1d.Forward":              "batchnorm",
	"nn.BatchNorm2d.Forward":              "batchnorm",
	"nn.BatchNorm1d.SetTraining":          "batchnorm",
	"nn.BatchNorm2d.SetTraining":          "batchnorm",
	"nn.NewBatchNorm3d":                   "batchnorm",
	"nn.BatchNorm3d.Forward":              "batchnorm",
	"nn.BatchNorm3d.SetTraining":          "batchnorm",
	"nn.NewInstanceNorm1d":                "instancenorm",
	"nn.InstanceNorm1d.Forward":           "instancenorm",
	"nn.NewInstanceNorm2d":                "instancenorm",
	"nn.InstanceNorm2d.Forward":           "instancenorm",
	"nn.NewInstanceNorm3d":                "instancenorm",
	"nn.InstanceNorm3d.Forward":           "instancenorm",
	"nn.InstanceNorm1d.SetTraining":       "instancenorm",
	"nn.InstanceNorm2d.SetTraining":       "instancenorm",
	"nn.InstanceNorm3d.SetTraining":       "instancenorm",
	"nn.ChannelDropout.SetTraining":       "channeldropout",
	"nn.AlphaDropout.SetTraining":         "alphadropout",
	"nn.MaxUnpool.Unpool":                 "maxunpool",
	"nn.MaxPool1d.WithIndices":            "maxpool1d",
	"nn.MaxPool2d.WithIndices":            "maxpool2d",
	"nn.MaxPool3d.WithIndices":            "maxpool3d",
	"nn.AdaptiveMaxPool1d.WithIndices":    "adaptivemaxpool1d",
	"nn.AdaptiveMaxPool2d.WithIndices":    "adaptivemaxpool2d",
	"nn.AdaptiveMaxPool3d.WithIndices":    "adaptivemaxpool3d",
	"nn.MultiheadAttention.Attend":        "multiheadattention",
	"nn.MultiheadAttention.AttendWeights": "multiheadattention",
	"nn.TransformerEncoderLayer.Encode":   "transformerencoderlayer",
	"nn.TransformerDecoderLayer.Decode":   "transformerdecoderlayer",
	"nn.TransformerEncoder.Encode":        "transformerencoder",
	"nn.TransformerDecoder.Decode":        "transformerdecoder",
	"nn.Transformer.Translate":            "transformer",
	"nn.EmbeddingBag.Bags":                "embeddingbag",
	"nn.LSTM.Run":                         "lstm",
	"nn.GRU.Run":                          "gru",
	"nn.RNN.Run":                          "rnn",
	"nn.RNNCell.Step":                     "rnncell",
	"nn.LSTMCell.Step":                    "lstmcell",
	"nn.GRUCell.Step":                     "grucell",
	"nn.AdaptiveLogSoftmax.LogProb":       "adaptivelogsoftmax",
	"nn.AdaptiveLogSoftmax.Loss":          "adaptivelogsoftmax",
	"nn.AdaptiveLogSoftmax.Predict":       "adaptivelogsoftmax",
	"nn.WeightNorm.Weight":                "weightnorm",
	"nn.WeightNorm.Remove":                "weightnorm",
	"nn.Orthogonalized.Weight":            "orthogonalized",
	"nn.Orthogonalized.Remove":            "orthogonalized",
	"nn.Lazy.SetTraining":                 "lazy",
	"nn.SpectralNorm.Weight":              "spectralnorm",
	"nn.SpectralNorm.Remove":              "spectralnorm",
	"nn.SpectralNorm.SetTraining":         "spectralnorm",
	"nn.Pruned.Forward":                   "prune",
	"nn.Pruned.Weight":                    "prune",
	"nn.Pruned.Remove":                    "prune",
	"nn.GlobalL1Masks":                    "l1mask",
	"nn.Dropout.SetTraining":              "dropout",
	"nn.Dropout.Training":                 "dropout",
	"nn.KVCache.Append":                   "kvcache",
	"nn.KVCache.Len":                      "kvcache",
	"nn.KVCache.Select":                   "kvcache",
	"nn.RRelu.SetTraining":                "rrelu",
	"weft.Tensor.NoGrad":                  "detach", // go fix puts that in its place
}

// calling are functions that run what they are given, whose errors stay as they are: a layer, a
// function, the Backward of a Func, an initialisation.
var calling = map[string]bool{
	"weft.ApplyAlongAxis": true, "weft.Borrow": true, "weft.BorrowGrad": true, "weft.BorrowRows": true, "weft.Func.Apply": true, "weft.Func.ApplyAll": true, "weft.Cond": true, "weft.While": true, "weft.ScanSteps": true, "weft.Grad": true, "weft.GradAll": true, "weft.VJP": true, "weft.JVP": true, "weft.Jacobian": true, "weft.Hessian": true,
	"weft.HessianVector": true, "weft.Autocast": true, "weft.DetectAnomaly": true, "weft.GradCheck": true, "weft.GradGradCheck": true, "weft.Recompute": true, "nn.Sequential.Recompute": true, "weft.Vmap": true, "weft.WithoutGrad": true, "weft.Try": true, "weft.Tensor.Update": true, "weft.BackwardWith": true, "weft.Tensor.Backward": true,
	"nn.Layer.Forward": true, "nn.Sequential.Forward": true, "nn.Call": true, "nn.Summary": true, "nn.WeightNorm.Forward": true, "nn.SpectralNorm.Forward": true, "nn.Orthogonalized.Forward": true, "nn.Lazy.Forward": true, "nn.Pruned.Forward": true, "nn.CallAll": true, "nn.Func.Forward": true, "nn.Trainer.SetTraining": true, "nn.Train": true, "nn.Eval": true,
	"nn.LoadState": true, "nn.Copy": true, "nn.Param": true, "nn.FanInUniform": true, "nn.KaimingNormal": true, "nn.KaimingUniform": true, "nn.XavierNormal": true, "nn.XavierUniform": true,
	"nn.Uniform": true, "nn.Normal": true, "nn.Constant": true, "nn.Orthogonal": true, "nn.Init": true, "nn.Kaiming": true, "nn.Eye": true, "nn.Dirac": true, "nn.Sparse": true,
}

// everywhere are names in errors that any operation may give: no memory, and a scope that closed.
var everywhere = map[string]bool{"alloc": true, "scope": true}

// operationName is the name of a function as its errors have it, without underscores.
func operationName(name string) string {
	name, _, _ = strings.Cut(name, "[")
	if n := called[name]; n != "" {
		return n
	}
	parts := strings.Split(name, ".")
	last := parts[len(parts)-1]
	if last == "Forward" {
		last = parts[len(parts)-2]
	}
	if parts[0] == "nn" {
		last = strings.TrimPrefix(last, "New")
	}
	for _, form := range []string{"Of", "Keep", "Like"} {
		last = strings.TrimSuffix(last, form)
	}
	return strings.ToLower(last)
}

// TestErrorsNameTheirFunction misuses the functions of packages weft and nn and methods of Tensor, at
// once and inside compiled functions: an error names what was called, not an operation that it is
// composed of, or the path of a layer inside it. A compiled function whose result has elements refuses what the call at once refuses.
//
//	WEFT_HOSTILE_NAMES=100 go test -run NameTheir -timeout 0 ./internal/optest/hostile
//
// makes a hundred calls of each.
func TestErrorsNameTheirFunction(t *testing.T) {
	if s := os.Getenv("WEFT_HOSTILE_NAMES_CHILD"); s != "" {
		namesChild(s)
		return
	}
	if !limited {
		t.Skip("SKIPPED: nothing bounds the memory and the files of hostile calls on this platform")
	}
	calls := cmp.Or(os.Getenv("WEFT_HOSTILE_NAMES"), "12")
	c := runChild(t, "^TestErrorsNameTheirFunction$", "WEFT_HOSTILE_NAMES_CHILD="+calls+" "+t.TempDir())
	for _, f := range c.faults {
		t.Error(f)
	}
	if len(c.values) < 250 {
		t.Errorf("only %d functions gave errors", len(c.values))
	}
	t.Logf("%d functions gave errors", len(c.values))
}

// deferredWays make a call inside a compiled function: an error that depends on elements is found when
// this runs.
var deferredWays = map[string]func(tg *target, args []reflect.Value) error{
	"compiled": func(tg *target, args []reflect.Value) error {
		return runInside(tg, args, func(c *tracedCall) error { return c.silent(weft.Compile(c.run).Func()(c.ts)) })
	},
	"captured": func(tg *target, args []reflect.Value) error {
		return runInside(tg, args, func(c *tracedCall) error {
			return c.silent(weft.Compile(func() []*weft.Tensor { return c.run(c.ts) }).Func()())
		})
	},
	"symbolic": func(tg *target, args []reflect.Value) error {
		return runInside(tg, args, func(c *tracedCall) error { c.symbolic(); return nil })
	},
}

// filled returns arguments of a function that computes tensors of tensors, with x in the place of all
// integers: 100 is not an index, a class or an offset, 1 is not the first offset.
func filled(tg *target, args []reflect.Value, x float64) []reflect.Value {
	if !tracedNames()[tg.name] {
		return args
	}
	ts := tensorsOf(args)
	if _, thrown := safely(func() {
		for i, t := range ts {
			if t.DType().Integer() {
				ts[i] = weft.FullOf(t.DType(), x, t.Shape()...)
			}
		}
	}); thrown != nil {
		return args // the zero Tensor, or one that was released
	}
	return replaced(args, ts)
}

// errSilent is the error of a call inside a function that gave elements and no error.
var errSilent = errors.New("no error")

// silent is errSilent if a result has elements, and so have all arguments: what no element needs is
// not computed. IndexPut takes spans that select nothing. NanArgMax and NanArgMin read elements for their error. RequireGrad refuses results of operations and
// Shuffle views of leaves, which the arguments here are not.
func (c *tracedCall) silent(results []*weft.Tensor) error {
	empty := func(t *weft.Tensor) bool { return t == nil || t.Size() == 0 }
	if c.tg.name == "weft.Tensor.RequireGrad" || c.tg.name == "weft.Generator.Shuffle" || strings.HasPrefix(c.tg.name, "weft.Tensor.IndexPut") || strings.HasPrefix(c.tg.name, "weft.Tensor.NanArg") || slices.ContainsFunc(c.ts, empty) || !slices.ContainsFunc(results, func(t *weft.Tensor) bool { return !empty(t) }) {
		return nil
	}
	return errSilent
}

// runInside returns the *weft.Error of a call of a function that computes tensors of tensors, or what f
// returns; nil for what else happens.
func runInside(tg *target, args []reflect.Value, f func(c *tracedCall) error) (err error) {
	if !tracedNames()[tg.name] {
		return nil
	}
	c := &tracedCall{tg: tg, args: args}
	safely(func() {
		err = weft.Try(func() {
			for _, t := range tensorsOf(args) {
				c.ts = append(c.ts, copied(t.Detach()))
			}
		})
		if err != nil || len(c.ts) == 0 {
			err = nil
			return
		}
		var silent error
		if err = weft.Try(func() { silent = f(c) }); err == nil {
			err = silent
		}
	})
	return err
}

// copied returns a copy of t, contiguous if t is: AsStrided refuses others.
func copied(t *weft.Tensor) *weft.Tensor {
	if t.IsContiguous() {
		return t.Clone()
	}
	return weft.Stack([]*weft.Tensor{t, t}, -1).Slice(weft.Ellipsis, weft.Index(0))
}

var tracedNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, tg := range tracedTargets() {
		names[tg.name] = true
	}
	return names
})

// symbolic calls the method of variables that has the name and the parameters of a method of tensors,
// compiles what it gives and runs it.
func (c *tracedCall) symbolic() {
	name, ok := strings.CutPrefix(c.tg.name, "weft.Tensor.")
	m, found := typ[*sym.Var]().MethodByName(name)
	if !ok || !found || m.Type.NumIn() != len(c.args) || m.Type.IsVariadic() != c.tg.fn.Type().IsVariadic() {
		return
	}
	var inputs, given []any
	variable := func(t *weft.Tensor) *sym.Var {
		x := sym.New(fmt.Sprintf("x%d", len(inputs)), t.DType(), t.Shape()...)
		inputs, given = append(inputs, x), append(given, t.Detach())
		return x
	}
	in := make([]reflect.Value, len(c.args))
	for i, a := range c.args {
		in[i] = a
		if a.Kind() == reflect.Interface && !a.IsNil() {
			a = a.Elem()
		}
		if t, ok := a.Interface().(*weft.Tensor); ok && t != nil && !isZero(t) {
			in[i] = reflect.ValueOf(variable(t))
		}
		if !in[i].IsValid() || !in[i].Type().AssignableTo(m.Type.In(i)) {
			return
		}
	}
	call := m.Func.Call
	if m.Type.IsVariadic() {
		call = m.Func.CallSlice
	}
	var outs []*sym.Var
	for _, o := range call(in) {
		switch y := o.Interface().(type) {
		case *sym.Var:
			outs = append(outs, y)
		case []*sym.Var:
			outs = append(outs, y...)
		}
	}
	f, err := sym.Function(sym.In(inputs...), sym.Out(outs...), sym.IgnoreUnused)
	if err == nil {
		_, err = f.Call(given...)
	}
	if e, ok := err.(*weft.Error); ok {
		panic(e)
	}
}

func namesChild(what string) {
	var calls int
	var dir string
	if _, err := fmt.Sscan(what, &calls, &dir); err != nil {
		panic(err)
	}
	if err := cmp.Or(os.Chdir(dir), limit(room)); err != nil {
		panic(err)
	}
	for i := range targets {
		tg := &targets[i]
		base, _, _ := strings.Cut(tg.name, "[")
		if pkg, rest, _ := strings.Cut(base, "."); calling[base] || pkg != "weft" && pkg != "nn" || pkg == "weft" && strings.Contains(rest, ".") && !strings.HasPrefix(rest, "Tensor.") && !strings.HasPrefix(rest, "Generator.") {
			continue
		}
		fmt.Printf("begin %d %s\n", i, tg.name)
		wrong := map[string]bool{}
		failed := false
		for k, start := 0, time.Now(); k < calls && (k == 0 || time.Since(start) < time.Second); k++ {
			m := &memory{live: map[*block]bool{}}
			m.use()
			seed := uint64(i + k*len(targets))
			weft.Seed(seed)
			g := &gen{r: rand.New(rand.NewPCG(seed, 0x770ef7)), m: m, dir: "."}
			args, thrown := g.arguments(tg)
			if thrown != nil || g.endless || steps(tg, args) > 1<<10 {
				continue
			}
			if k%2 == 1 {
				args = filled(tg, args, []float64{100, 1}[k/2%2])
			}
			_, thrown = guarded(tg, args)
			if thrown == nil {
				continue
			}
			err, _ := thrown.value.(error)
			var e *weft.Error
			if err == nil || !errors.As(err, &e) || everywhere[e.Op] {
				continue
			}
			failed = true
			check := func(way string, err error) {
				var e *weft.Error
				if !errors.As(err, &e) || everywhere[e.Op] || way != "at once" && e.Kind == array.OutOfMemory { // of a program
					return
				}
				if got := strings.ReplaceAll(e.Op, "_", ""); got != operationName(tg.name) && e.Layer == "" && !wrong[way+e.Op] {
					wrong[way+e.Op] = true
					fmt.Printf("fault %q\n", fmt.Sprintf("%s: names %s: %v", way, e.Op, err))
				}
			}
			check("at once", err)
			for way, f := range deferredWays {
				inside := f(tg, args)
				check(way, inside)
				if inside == errSilent && !wrong[way] {
					wrong[way] = true
					fmt.Printf("fault %q\n", fmt.Sprintf("%s: no error, at once: %v", way, err))
				}
			}
		}
		fmt.Println("end", failed)
	}
}
