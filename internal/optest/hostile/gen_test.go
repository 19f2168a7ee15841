package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing/fstest"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/ir"
	"weft/kernel"
	"weft/models"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/ragged"
	"weft/safetensors"
)

// A gen makes the arguments of one call. All it draws follows from its seed.
type gen struct {
	r       *rand.Rand
	m       *memory
	dir     string // for files
	inputs  []input
	leaves  []*weft.Tensor
	scopes  []*weft.Scope
	written sink // by writers that were arguments
	wrote   callbackWrites
	depth   int
	nested  int // pointers around the value that is made

	whole   bool // no expanded tensors
	places  int  // integers are below this, if it is not 0
	endless bool // an argument claims more elements than can be visited
}

func keepAlive(x any) { runtime.KeepAlive(x) }

func typ[T any]() reflect.Type { return reflect.TypeFor[T]() }

// errThrown is what functions given to the library panic with.
var errThrown = errors.New("a function that was an argument panicked")

var extremes = []int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MinInt + 1, math.MaxInt32, math.MinInt32, 1 << 31, -1 << 31, 1 << 32, -1 << 32, 1<<32 + 1, 1 << 33, 1 << 40, 1 << 59, 1 << 60, 1 << 62, math.MaxInt / 2, math.MaxInt / 4, math.MaxInt / 8}

// integer is small mostly.
func (g *gen) integer() int {
	switch k := g.r.IntN(10); {
	case k < 7:
		return g.r.IntN(8) - 2
	case k < 8:
		return pick(g, 10, 16, 17, 31, 64, 100, -3, -5, -17)
	}
	return pick(g, extremes...)
}

func (g *gen) float() float64 {
	if g.chance(3) {
		return pick(g, specials...)
	}
	return pick(g, 0, 1, -1, 0.5, 0.1, 2, 1e-3, 3, 10)
}

var formulas = []string{"a+b", "2*a + 3*b", "exp(-a*a)*sin(a)", "sum(a)", "a - mean_keep(a, 0)", "max(a, 0)", "where(a>b, a, b)", "a<-1", "pow(a, b)", "a @ b", "1/3", "", "(", "a+", "1e999", "0x", "sum(a, 99)", "sum(a, -99999999999999999999)", "clamp(a, 0, b)", "argmax(a, 0)", "var(a, 0, 0)", "!a && b || a", "-a % b", "floordiv(a, 0)", "a b", "\x00", "a.b", "f(a)", "softmax(a, 0)", "logsumexp(a)", "std(a)", "pi*e+a", "a==b", "atan2(a,b)", "5", "1<<3", "all(a, 1)"}

// text is a formula, a path, a name or nonsense.
func (g *gen) text() string {
	switch g.r.IntN(8) {
	case 0, 1, 2:
		return pick(g, formulas...)
	case 3:
		return pick(g, "", "a", "w", "x", "0", "W", "B", "lr", "state", "epoch", "a/b", "\x00", "\xff\xfe", strings.Repeat("x", 5000), "%s%n", "名")
	case 4:
		return strings.Repeat("(", 1+g.r.IntN(20000)) + "a"
	case 5:
		return strings.Repeat(pick(g, "-", "!", "a+", "a*", "sum(", "exp("), 1+g.r.IntN(3000)) + "a"
	}
	b := make([]byte, g.r.IntN(20))
	for i := range b {
		b[i] = pick(g, []byte("ab+-*/%()<>=!&|,.0123e \x00sumexplog_")...)
	}
	return string(b)
}

// path is a file that is good, damaged or missing, or no file at all.
func (g *gen) path() string {
	switch g.r.IntN(8) {
	case 0:
		return pick(g, "", ".", "/", "\x00", "/nonexistent/weft/file", strings.Repeat("x", 5000), g.dir)
	case 1:
		return filepath.Join(g.dir, "fresh")
	}
	p := filepath.Join(g.dir, "file")
	if err := os.WriteFile(p, g.file(), 0o600); err != nil {
		return ""
	}
	return p
}

// file is the content of a file of the formats, damaged at times.
func (g *gen) file() []byte {
	var b bytes.Buffer
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	switch g.r.IntN(7) {
	case 5:
		npy.WriteArchive(&b, map[string]*weft.Tensor{"a": x, "b": x.To(weft.Uint8)}, npy.ArchiveOpts{Compress: g.chance(2)})
	case 6:
		npy.WriteColumns(&b, []npy.Column{{Name: "a", Tensor: x}, {Name: "b", Tensor: x.To(weft.Bool)}})
	case 0, 1:
		npy.Write(&b, pick(g, x, x.T(), x.To(weft.Int64), x.Slice(weft.Range(0, 0))))
	case 2, 3:
		safetensors.Write(&b, map[string]*weft.Tensor{"a": x, "W": x.Clone(), "b": x.To(weft.Uint8)}, map[string]string{"k": "v"})
	case 4:
		p := filepath.Join(g.dir, "checkpoint")
		checkpoint.Save(p, checkpoint.Parts{"part": checkpoint.Generator(weft.NewGenerator(1)), "m": checkpoint.Module(nn.NewLinear(2, 3))}, map[string]string{"k": "v"})
		bs, _ := os.ReadFile(p)
		b.Write(bs)
	}
	bs := b.Bytes()
	if g.chance(2) && len(bs) > 0 {
		for range 1 + g.r.IntN(4) {
			switch g.r.IntN(3) {
			case 0:
				bs[g.r.IntN(len(bs))] = byte(g.r.Uint32())
			case 1:
				bs[g.r.IntN(len(bs))] = pick(g, []byte("0123456789,[](){}'\":-")...)
			case 2:
				bs = bs[:1+g.r.IntN(len(bs))]
			}
		}
	}
	return bs
}

// archive is an open archive, or none.
func (g *gen) archive() *npy.Archive {
	b := g.file()
	a, _ := npy.ReadArchive(bytes.NewReader(b), int64(len(b)))
	return a
}

// scope is one that lasts until the call is over.
func (g *gen) scope() *weft.Scope {
	if len(g.scopes) == 0 || g.chance(10) {
		g.scopes = append(g.scopes, weft.NewScope())
	}
	if g.chance(10) {
		g.scopes = append(g.scopes, pick(g, g.scopes...).Nest())
	}
	return pick(g, g.scopes...)
}

// anything is a value for an argument of type any.
func (g *gen) anything() any {
	switch g.r.IntN(14) {
	case 0, 1, 2, 3, 4:
		return g.tensor()
	case 5:
		return g.float()
	case 6:
		return g.integer()
	case 7:
		return pick[any](g, float32(1.5), int32(-3), uint8(200), true, false, int64(1)<<40, float32(math.Inf(1)), int64(math.MinInt64))
	case 8:
		return pick[any](g, nil, "a", struct{}{}, []int{1}, int8(1), uint64(math.MaxUint64), complex(1, 2), uintptr(1), (*int)(nil), (*weft.Tensor)(nil), weft.Float32, errThrown, func() {}, make(chan int), map[int]int{})
	case 9:
		v := weft.Vars{}
		for _, n := range []string{"a", "b", "x"} {
			if !g.chance(4) {
				v[n] = g.tensor()
			} else if g.chance(2) && g.depth < 3 {
				g.depth++
				v[n] = g.anything()
				g.depth--
			}
		}
		return v
	case 10:
		return pick[any](g, [][]float32{{1, 2}, {3, 4}}, []bool{true}, [2][1]int{{1}, {2}}, []int{}, [][]int32{{1}, {}}, [][]float64{}, [][][]uint8{{}, {{1}}}, []any{1, 2}, []string{"a"}, [0]int{}, [][]float32{nil, {1}}, []*int{nil})
	}
	return g.module()
}

// A loop is a module that leads back to itself.
type loop struct {
	Next   *loop
	Others []any
	Named  map[string]any
	T      *weft.Tensor
	fn     func()
}

// module is a value that nn might be asked to walk.
func (g *gen) module() any {
	switch g.r.IntN(9) {
	case 0:
		l := &loop{T: g.tensor(), fn: func() {}}
		l.Next, l.Others, l.Named = l, []any{l, g.tensor(), nil, 3}, map[string]any{"self": l}
		return l
	case 1:
		return map[string]*weft.Tensor{"a": g.tensor(), "": g.tensor()}
	case 2:
		return []*weft.Tensor{g.tensor(), nil}
	case 3:
		return pick[any](g, nil, 3, "m", (*loop)(nil), (*nn.Linear)(nil), nn.Sequential(nil), struct{ A any }{}, map[int]*weft.Tensor{1: nil}, [1]*weft.Tensor{}, nn.Func(nil))
	case 4:
		return g.tensor()
	}
	return g.layer()
}

// layer is a layer, as a program makes it or by hand.
func (g *gen) layer() nn.Layer {
	switch g.r.IntN(11) {
	case 9:
		return pick[nn.Layer](g, nn.NewBatchNorm1d(3), nn.NewBatchNorm2d(2, nn.BatchNormOpts{NoAffine: true}), nn.NewLayerNorm([]int{4}), nn.NewGroupNorm(2, 4), nn.NewRMSNorm([]int{3}),
			nn.NewEmbedding(5, 3, nn.EmbeddingOpts{Sparse: g.chance(2)}), nn.NewLSTM(3, 2), nn.NewGRU(2, 3, nn.RNNOpts{Bidirectional: true}), nn.NewMultiheadAttention(4, 2),
			nn.LeakyRelu{}, nn.Elu{}, nn.Identity{}, nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), new(3)}}, nn.Upsample{Scale: new(2.0), Bilinear: true})
	case 0, 1:
		return nn.NewLinear(1+g.r.IntN(5), 1+g.r.IntN(5), nn.Opts{Generator: weft.NewGenerator(1)})
	case 2:
		return nn.NewConv2d(1+g.r.IntN(3), 1+g.r.IntN(3), 1+g.r.IntN(3), nn.Conv2dOpts{Opts: nn.Opts{Generator: weft.NewGenerator(1)}})
	case 3:
		return &nn.Linear{Weight: g.tensor(), Bias: g.tensor()}
	case 4:
		c := g.value(typ[nn.Conv2d]()).Interface().(nn.Conv2d)
		return &c
	case 5:
		return pick[nn.Layer](g, nn.Relu{}, nn.Gelu{}, nn.Silu{}, nn.Tanh{}, nn.Sigmoid{}, nn.Flatten{}, nn.MaxPool2d{Window: [2]int{2, 2}}, nn.AvgPool2d{Window: [2]int{1, 2}}, &nn.Dropout{P: 0.5, Generator: weft.NewGenerator(2)})
	case 6:
		if g.depth > 2 {
			return nn.Relu{}
		}
		g.depth++
		defer func() { g.depth-- }()
		return nn.Sequential{g.layer(), g.layer()}
	case 7:
		return pick[nn.Layer](g, nil, (*nn.Linear)(nil), (*nn.Conv2d)(nil), (*nn.Dropout)(nil), nn.Sequential(nil), nn.Sequential{nil}, nn.Func(nil), nn.MaxPool2d{}, nn.AvgPool2d{}, &nn.Dropout{P: 0.5}, &nn.Dropout{P: math.NaN()})
	case 8:
		return nn.Func(pick(g, (*weft.Tensor).Softplus, func(*weft.Tensor) *weft.Tensor { return nil }, (*weft.Tensor).T))
	}
	return nn.Relu{}
}

// params is a sequence of named parameters.
func (g *gen) params() iter.Seq2[string, *weft.Tensor] {
	if g.chance(20) {
		return nil
	}
	type named struct {
		name string
		t    *weft.Tensor
	}
	var list []named
	for i := range g.r.IntN(4) {
		t := g.tensor()
		if g.chance(2) {
			t = fromView(g.view(pick(g, weft.Float32, weft.Float64), g.shapeOf(2))).RequireGrad()
			g.took(t)
			if !g.chance(3) {
				weft.Try(func() { t.SetGrad(weft.OnesLike(t)) })
			}
		}
		name := fmt.Sprint("p", i)
		if g.chance(20) {
			name = "p0"
		}
		list = append(list, named{name, t})
	}
	return func(yield func(string, *weft.Tensor) bool) {
		for _, n := range list {
			if !yield(n.name, n.t) {
				return
			}
		}
	}
}

// odd is a dataset that breaks the rules.
type odd struct {
	n    int
	x, y *weft.Tensor
	err  error
	boom bool
}

func (d *odd) Len() int { return d.n }
func (d *odd) Get(i int) (x, y *weft.Tensor, err error) {
	if d.boom {
		panic(errThrown)
	}
	return d.x, d.y, d.err
}

func (g *gen) dataset() data.Dataset {
	if g.chance(20) {
		return nil
	}
	if g.chance(2) {
		n := g.r.IntN(7)
		d, err := try(func() data.Dataset {
			var y *weft.Tensor
			if g.chance(2) {
				y = g.tensorOf(weft.Int64, []int{n})
			}
			return data.Tensors(g.tensorOf(weft.Float32, []int{n, 2}), y)
		})
		if err == nil {
			return d
		}
	}
	d := &odd{n: pick(g, -1, 0, 1, 3, 5, math.MaxInt, math.MinInt, 1<<33), x: g.tensor(), boom: g.chance(10)}
	g.endless = g.endless || d.n > 1<<20 // a caller may want all of it
	if g.chance(2) {
		d.y = g.tensor()
	}
	if g.chance(5) {
		d.err = errThrown
	}
	return d
}

// An oddPart is a part of a checkpoint with any state.
type oddPart struct {
	state map[string]*weft.Tensor
	err   error
}

func (p oddPart) State() map[string]*weft.Tensor          { return p.state }
func (p oddPart) LoadState(map[string]*weft.Tensor) error { return p.err }

func (g *gen) part() checkpoint.Part {
	switch g.r.IntN(6) {
	case 0:
		return oddPart{g.value(typ[map[string]*weft.Tensor]()).Interface().(map[string]*weft.Tensor), pick(g, nil, errThrown)}
	case 1:
		return checkpoint.Generator(g.generator())
	case 2:
		return checkpoint.Module(g.module())
	case 3:
		return nil
	case 4:
		if l := g.loader(); l != nil {
			return l
		}
	case 5:
		return pick[checkpoint.Part](g, (*data.Loader)(nil), &data.Loader{}, &optim.Adam{})
	}
	return checkpoint.Module(nn.NewLinear(2, 3))
}

func (g *gen) loader() *data.Loader {
	l, err := try(func() *data.Loader {
		return data.NewLoader(g.dataset(), g.value(typ[data.LoaderOpts]()).Interface().(data.LoaderOpts))
	})
	if err != nil {
		return pick(g, nil, &data.Loader{})
	}
	return l
}

func (g *gen) generator() *weft.Generator {
	return pick(g, weft.NewGenerator(7), weft.NewGenerator(7), weft.NewGenerator(7), weft.DefaultGenerator(), weft.NewGenerator(0), nil, &weft.Generator{})
}

// makers make the values of types that need more than their parts.
var makers map[reflect.Type]func(g *gen) any

func init() {
	makers = map[reflect.Type]func(g *gen) any{
		typ[*weft.Tensor](): func(g *gen) any { return g.tensor() },
		typ[weft.DType](): func(g *gen) any {
			if g.chance(10) {
				return weft.DType(g.r.Uint32())
			}
			return g.dtype()
		},
		typ[int]():     func(g *gen) any { return g.integer() },
		typ[int64]():   func(g *gen) any { return int64(g.integer()) },
		typ[int32]():   func(g *gen) any { return pick(g, 'v', 's', 'd', 'g', 'x', 'T', 'q', 0, -1, math.MaxInt32) },
		typ[uint64]():  func(g *gen) any { return pick[uint64](g, 0, 1, 42, math.MaxUint64, 1<<63) },
		typ[float64](): func(g *gen) any { return g.float() },
		typ[string]():  func(g *gen) any { return g.text() },
		typ[any]():     func(g *gen) any { return g.anything() },
		typ[error]():   func(g *gen) any { return pick(g, nil, errThrown, errors.ErrUnsupported) },
		typ[weft.Span](): func(g *gen) any {
			return pick(g, weft.All, weft.NewAxis, weft.Index(g.r.IntN(3)), weft.Index(g.integer()), weft.Range(0, 2), weft.Range(g.integer(), g.integer()), weft.Range(g.integer(), g.integer(), g.integer()), weft.Range(weft.End, weft.Begin, -1), weft.Span{})
		},
		typ[*weft.Generator](): func(g *gen) any { return g.generator() },
		typ[io.WriterAt]():     func(g *gen) any { return g.writerAt() },
		typ[weft.Finisher]():   func(g *gen) any { return pick[any](g, nil, &places{left: g.r.IntN(9)}) },
		typ[*weft.Tracked]():   func(g *gen) any { return g.tracked() },
		typ[*weft.Scope](): func(g *gen) any {
			closed := weft.NewScope()
			closed.Close()
			return pick(g, g.scope(), g.scope(), g.scope(), closed, nil, &weft.Scope{})
		},
		typ[*weft.Stream](): func(g *gen) any {
			open, _ := weft.CPU.NewStream()
			closed, _ := weft.CPU.NewStream()
			closed.Close()
			return pick(g, open, weft.CPU.DefaultStream(), closed, nil, &weft.Stream{})
		},
		typ[*weft.Event](): func(g *gen) any {
			return pick(g, weft.CPU.DefaultStream().Record(), weft.CPU.DefaultStream().Record(), nil, &weft.Event{})
		},
		typ[*kernel.Source](): func(g *gen) any {
			if g.chance(10) {
				return pick(g, nil, &kernel.Source{})
			}
			return kernels
		},
		typ[*kernel.Func](): func(g *gen) any {
			if g.chance(15) {
				return pick(g, nil, &kernel.Func{})
			}
			return kernels.Func(pick(g, kernels.Names()...))
		},
		typ[*ragged.List](): func(g *gen) any { return g.list() },
		typ[kernel.Paged](): func(g *gen) any {
			return pick[any](g, nil, kernel.PageOp(g.r.IntN(10)), kernel.PageOp(g.r.IntN(10)), makers[typ[*kernel.Func]()](g))
		},
		typ[fs.FS](): func(g *gen) any {
			return pick[fs.FS](g, nil, fstest.MapFS{}, fstest.MapFS{"a.go": {Data: []byte(g.text())}, "b.go": {Data: []byte("package b\nfunc F(x int) int { return x }")}}, os.DirFS(g.dir))
		},
		typ[*weft.Formula](): func(g *gen) any {
			if g.chance(20) {
				return pick(g, nil, &weft.Formula{})
			}
			if f, err := weft.ParseExpr(g.text()); err == nil {
				return f
			}
			f, _ := weft.ParseExpr("a*2+b")
			return f
		},
		typ[*weft.Func](): func(g *gen) any { return g.function() },
		typ[*weft.Profile](): func(g *gen) any {
			if g.chance(10) {
				return pick(g, nil, &weft.Profile{})
			}
			p := weft.StartProfile(weft.ProfileOpts{Trace: g.chance(50), Labels: g.chance(50)})
			p.Stop() // what it would see is not the same in two runs
			return p
		},
		typ[*weft.Compiled[func(*weft.Tensor) *weft.Tensor]](): func(g *gen) any {
			if g.chance(20) {
				return pick(g, nil, &weft.Compiled[func(*weft.Tensor) *weft.Tensor]{})
			}
			return compiled(g)
		},
		typ[*weft.Program](): func(g *gen) any {
			if g.chance(10) {
				return pick(g, nil, &weft.Program{})
			}
			return savedProgram(g)
		},
		typ[*weft.FuncContext](): func(g *gen) any { return pick(g, nil, &weft.FuncContext{}, g.context()) },
		typ[func([]*ir.Node) []*ir.Node](): func(g *gen) any {
			return pick(g, nil, func(x []*ir.Node) []*ir.Node { return x })
		},
		typ[func(x, y *weft.Tensor) *weft.Tensor](): func(g *gen) any {
			return pick(g, nil, func(x, y *weft.Tensor) *weft.Tensor { return x.Sub(y) }, func(x, y *weft.Tensor) *weft.Tensor { return nil })
		},
		typ[func(*weft.Tensor) *weft.Tensor](): func(g *gen) any {
			other := g.tensor()
			return pick(g, nil, (*weft.Tensor).Neg, (*weft.Tensor).Sin, (*weft.Tensor).T,
				func(t *weft.Tensor) *weft.Tensor { return t },
				func(t *weft.Tensor) *weft.Tensor { return other },
				func(t *weft.Tensor) *weft.Tensor { t.Release(); return t },
				func(t *weft.Tensor) *weft.Tensor { return t.AddAssign(1) },
				func(*weft.Tensor) *weft.Tensor { panic(errThrown) })
		},
		typ[func(*weft.Tensor)](): func(g *gen) any {
			return pick(g, nil, func(*weft.Tensor) {}, func(t *weft.Tensor) { t.Release() }, func(t *weft.Tensor) { t.AddAssign(1) },
				func(*weft.Tensor) { panic(errThrown) })
		},
		typ[func(places, values *weft.Tensor)](): func(g *gen) any {
			return pick(g, nil, func(_, _ *weft.Tensor) {}, func(p, v *weft.Tensor) { p.Release(); v.Release() }, func(p, v *weft.Tensor) { p.AddAssign(100); v.AddAssign(1) },
				func(_, _ *weft.Tensor) { panic(errThrown) })
		},
		typ[func()](): func(g *gen) any {
			return pick(g, nil, func() {}, func() { panic(errThrown) }, func() { weft.Ones(-1) })
		},
		typ[iter.Seq2[string, *weft.Tensor]](): func(g *gen) any { return g.params() },
		typ[iter.Seq2[[]*weft.Tensor, []any]](): func(g *gen) any {
			x := g.tensor()
			return pick(g, nil, func(yield func([]*weft.Tensor, []any) bool) {
				_ = yield(nil, nil) && yield([]*weft.Tensor{x, nil}, []any{x, 1}) && yield([]*weft.Tensor{x}, []any{x})
			})
		},
		typ[nn.Layer](): func(g *gen) any { return g.layer() },
		typ[nn.Init](): func(g *gen) any {
			t := g.tensor()
			return pick(g, nil, nil, nn.Init(nn.KaimingNormal), nn.Init(nn.XavierUniform), func(*weft.Generator, ...int) *weft.Tensor { return t })
		},
		typ[nn.Func](): func(g *gen) any {
			return pick[nn.Func](g, nil, (*weft.Tensor).Softplus, func(*weft.Tensor) *weft.Tensor { return nil })
		},
		typ[nn.Trainer]():  func(g *gen) any { return pick(g, &nn.Dropout{P: 0.5}, nil) },
		typ[*optim.SGD]():  func(g *gen) any { return g.sgd() },
		typ[*optim.Adam](): func(g *gen) any { return g.adam() },
		typ[*optim.RMSprop](): func(g *gen) any {
			o, _ := try(func() *optim.RMSprop {
				return optim.NewRMSprop(g.params(), optim.RMSpropOpts{LR: new(0.1), Momentum: pick(g, 0, 0.9), Centered: g.chance(2)})
			})
			return o
		},
		typ[*optim.Adagrad](): func(g *gen) any {
			o, _ := try(func() *optim.Adagrad { return optim.NewAdagrad(g.params(), optim.AdagradOpts{LR: new(0.1)}) })
			return o
		},
		typ[*optim.NAdam](): func(g *gen) any {
			o, _ := try(func() *optim.NAdam { return optim.NewNAdam(g.params(), optim.NAdamOpts{LR: new(0.1)}) })
			return o
		},
		typ[*optim.LBFGS](): func(g *gen) any {
			o, _ := try(func() *optim.LBFGS { return optim.NewLBFGS(g.params(), optim.LBFGSOpts{MaxIter: new(2)}) })
			return o
		},
		typ[*optim.Scheduler](): func(g *gen) any {
			o, _ := try(func() *optim.Scheduler { return optim.NewScheduler(g.sgd(), g.schedule()) })
			return o
		},
		typ[*optim.Plateau](): func(g *gen) any {
			o, _ := try(func() *optim.Plateau { return optim.NewPlateau(g.sgd(), optim.PlateauOpts{Patience: new(0)}) })
			return o
		},
		typ[optim.Rated](): func(g *gen) any {
			return pick[optim.Rated](g, g.sgd(), g.sgd(), g.adam(), (*optim.LBFGS)(nil), nil)
		},
		typ[optim.Schedule](): func(g *gen) any { return g.schedule() },
		typ[optim.Lambda](): func(g *gen) any {
			return pick[optim.Lambda](g, nil, func(n int) float64 { return 1 / float64(n) }, func(int) float64 { panic(errThrown) })
		},
		typ[func() *weft.Tensor](): func(g *gen) any {
			x := g.leaf()
			return pick(g, nil, func() *weft.Tensor { return nil }, func() *weft.Tensor { return x },
				func() *weft.Tensor { l := x.Square().Sum(); l.Backward(); return l }, func() *weft.Tensor { panic(errThrown) })
		},
		typ[optim.Optimizer](): func(g *gen) any {
			if g.chance(2) {
				return g.sgd()
			}
			return g.adam()
		},
		typ[data.Dataset](): func(g *gen) any { return g.dataset() },
		typ[data.Batcher](): func(g *gen) any {
			if b, ok := g.dataset().(data.Batcher); ok {
				return b
			}
			return nil
		},
		typ[*data.Loader]():     func(g *gen) any { return g.loader() },
		typ[checkpoint.Part]():  func(g *gen) any { return g.part() },
		typ[models.LM]():        func(g *gen) any { return pick[models.LM](g, nil, languageModel()) },
		typ[models.Decoder]():   func(g *gen) any { return models.Decode(languageModel(), [][]int{{1}, {2, 3}}) },
		typ[models.Published](): func(g *gen) any { return models.NewViT(2, 1, 1, 2, 2, models.ViTOpts{Size: new(4)}) },
		typ[*safetensors.File](): func(g *gen) any {
			b := g.file()
			if f, err := safetensors.Read(bytes.NewReader(b), int64(len(b))); err == nil {
				return f
			}
			return pick(g, nil, &safetensors.File{})
		},
		typ[io.Reader](): func(g *gen) any {
			b := g.file()
			return pick[io.Reader](g, nil, bytes.NewReader(b), bytes.NewReader(b), &faulty{r: bytes.NewReader(b), left: g.r.IntN(30)}, strings.NewReader(g.text()))
		},
		typ[io.ReaderAt](): func(g *gen) any {
			return pick[io.ReaderAt](g, nil, bytes.NewReader(g.file()), bytes.NewReader(g.file()), strings.NewReader(g.text()))
		},
		typ[io.Writer](): func(g *gen) any {
			return pick[io.Writer](g, nil, &g.written, &g.written, &faulty{w: &g.written, left: g.r.IntN(5)})
		},
		typ[context.Context](): func(g *gen) any {
			dead, cancel := context.WithCancel(context.Background())
			cancel()
			return pick(g, nil, context.Background(), context.Background(), dead)
		},
		typ[fmt.State](): func(g *gen) any {
			if g.chance(20) {
				return nil
			}
			return &state{&g.written, g.r.IntN(30) - 10, g.r.IntN(30) - 10, pick(g, "", "+", "-", "#", " ", "0", "+#- 0")}
		},
	}
}

func (g *gen) sgd() *optim.SGD {
	o, err := try(func() *optim.SGD {
		return optim.NewSGD(g.params(), optim.SGDOpts{LR: new(0.1), Momentum: pick(g, 0, 0.9), WeightDecay: pick(g, 0, 0.1), Nesterov: false})
	})
	if err != nil || g.chance(20) {
		return pick(g, nil, &optim.SGD{})
	}
	return o
}

func (g *gen) schedule() optim.Schedule {
	n := g.integer()
	return pick[optim.Schedule](g, nil, optim.Lambda(nil), optim.StepDecay{Every: 3, Gamma: 0.5}, optim.Cosine{Steps: n}, optim.Linear{Steps: n, To: 1},
		optim.OneCycle{Steps: n, Max: 1}, optim.Sequence{Schedules: []optim.Schedule{nil}}, optim.Exponential{Gamma: g.float()})
}

func (g *gen) adam() *optim.Adam {
	o, err := try(func() *optim.Adam {
		return optim.NewAdam(g.params(), optim.AdamOpts{LR: new(0.1), WeightDecay: pick(g, 0, 0.1), Decoupled: g.chance(2)})
	})
	if err != nil || g.chance(20) {
		return pick(g, nil, &optim.Adam{})
	}
	return o
}

// maxNested bounds pointers in pointers: a type may have pointers to itself.
const maxNested = 3

// value is a random value of a type.
func (g *gen) value(t reflect.Type) reflect.Value {
	if f := makers[t]; f != nil {
		if x := f(g); x != nil {
			v := reflect.ValueOf(x)
			if v.Type() != t && v.Type().ConvertibleTo(t) {
				v = v.Convert(t)
			}
			return g.lend(v)
		}
		return reflect.Zero(t)
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(g.chance(2))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(g.integer()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(g.integer()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(g.float())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(g.float(), g.float()))
	case reflect.String:
		v.SetString(g.text())
	case reflect.Slice:
		if g.chance(15) {
			return v
		}
		n := pick(g, 0, 1, 1, 2, 2, 3, 4)
		if g.chance(40) {
			n = pick(g, 8, 9, 16, 17, 18, 70)
		}
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			v.Index(i).Set(g.value(t.Elem()))
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(g.value(t.Elem()))
		}
	case reflect.Map:
		if g.chance(15) {
			return v
		}
		v.Set(reflect.MakeMap(t))
		for range g.r.IntN(4) {
			v.SetMapIndex(g.value(t.Key()), g.value(t.Elem()))
		}
		if t.Key().Kind() == reflect.String && g.chance(2) {
			for _, k := range []string{"W", "B", "part", "lr", "0.W"} {
				v.SetMapIndex(reflect.ValueOf(k), g.value(t.Elem()))
			}
		}
	case reflect.Struct:
		if g.chance(8) {
			return v
		}
		for i := range t.NumField() {
			if f := v.Field(i); f.CanSet() {
				f.Set(g.value(t.Field(i).Type))
			}
		}
	case reflect.Pointer:
		if g.chance(15) {
			return v
		}
		if g.nested == maxNested {
			return v
		}
		g.nested++
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(g.value(t.Elem()))
		g.nested--
	case reflect.Func:
		return g.lend(g.callback(t))
	default:
		panic(fmt.Sprintf("no values of type %s are made: gen_test.go wants a maker", t))
	}
	return v
}
