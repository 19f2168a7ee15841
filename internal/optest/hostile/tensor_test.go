package hostile

import (
	"math"
	"reflect"
	"slices"
	"unsafe"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
)

// dtypes are the element types that tensors hold.
var dtypes = array.DTypes()

// maxElements bounds what most tensors made here hold; manyElements, which are enough
// for several threads, the others.
const maxElements, manyElements = 3000, 200_000

// An input is a tensor that the call was given, as it was.
type input struct {
	t *weft.Tensor
	v array.View
}

// chance is true in one of n cases.
func (g *gen) chance(n int) bool { return g.r.IntN(n) == 0 }

// pick is one of several values. Functions are lent.
func pick[T any](g *gen, from ...T) T {
	x := from[g.r.IntN(len(from))]
	if v := reflect.ValueOf(x); v.Kind() == reflect.Func {
		return g.lend(v).Interface().(T)
	}
	return x
}

// dtype is mostly a supported one, often that of a tensor made before.
func (g *gen) dtype() weft.DType {
	switch {
	case len(g.inputs) > 0 && g.chance(2):
		return g.inputs[len(g.inputs)-1].v.DType
	case g.chance(3):
		return pick(g, dtypes...)
	}
	return pick(g, weft.Float32, weft.Float64)
}

// shape is a random shape of few elements, often one that goes with those made
// before.
func (g *gen) shape() []int {
	if len(g.inputs) > 0 && g.chance(2) {
		s := slices.Clone(pick(g, g.inputs...).v.Shape)
		n := 1
		for _, k := range s {
			if k > manyElements || n > manyElements {
				return []int{2}
			}
			n *= k
		}
		for i := range s {
			if g.chance(5) {
				s[i] = 1
			}
		}
		for len(s) > 0 && g.chance(6) {
			s = s[1:]
		}
		return s
	}
	rank := pick(g, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5)
	if g.chance(12) {
		rank = 5 + g.r.IntN(12)
	}
	return g.shapeOf(rank)
}

func (g *gen) shapeOf(rank int) []int {
	s := make([]int, rank)
	n, most := 1, maxElements
	if g.chance(300) {
		most = manyElements
	}
	for i := range s {
		s[i] = pick(g, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9)
		if g.chance(6) {
			s[i] = pick(g, 16, 500, 3000, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 300, 1000)
		}
		if rank > 5 {
			s[i] = pick(g, 1, 1, 1, 2, 2, 3)
		}
		if n*s[i] > most {
			s[i] = 1
		}
		n *= s[i]
	}
	for i := range s {
		if g.chance(25) {
			s[i] = 0
		}
	}
	return s
}

// view makes a view of its own memory, in a random layout.
func (g *gen) view(d weft.DType, shape []int) array.View {
	rank := len(shape)
	v := array.View{DType: d, Shape: slices.Clone(shape), Strides: make([]int, rank)}
	if v.Shape == nil {
		v.Shape = []int{}
	}
	order := make([]int, rank)
	for i := range order {
		order[i] = i
	}
	plain := g.chance(2)
	if !plain && g.chance(2) {
		g.r.Shuffle(rank, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	total, offset := 1, 0
	for i := rank - 1; i >= 0; i-- {
		a := order[i]
		n, factor := max(shape[a], 1), 1
		switch {
		case plain:
		case g.chance(6):
			factor = 2
		case g.chance(8) && !g.whole:
			continue // expanded: stride 0
		}
		v.Strides[a] = total * factor
		if !plain && g.chance(5) && shape[a] > 0 {
			offset += (n - 1) * v.Strides[a]
			v.Strides[a] = -v.Strides[a]
		}
		total *= n * factor
	}
	if !plain && g.chance(4) {
		k := g.r.IntN(9)
		offset += k
		total += k + g.r.IntN(9)
	}
	if array.Size(shape) == 0 {
		total, offset = 0, 0
		v.Strides = array.RowMajor(v.Shape)
	}
	v.Offset = offset
	bytes := total * d.Size()
	switch {
	case g.chance(4):
		words := make([]uint64, (bytes+7)/8)
		v.Store = array.NewStorage(unsafe.Pointer(unsafe.SliceData(words)), bytes, words)
	case g.chance(4) && bytes <= array.SmallMax:
		v.Store = array.NewSmall(bytes)
	default:
		v.Store = g.m.take(bytes, g.chance(2))
	}
	g.fill(v.Store, d, total)
	return v
}

var (
	specials  = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 5e-324, 1e-45, 1e-40, -1e-310, math.MaxFloat32, -math.MaxFloat32, math.MaxFloat64, 1e10, -1e10, 1 << 31, 1 << 32, -1 << 31, 9.3e18, 0.5, 1.5, 2.5, 88.8, 709.9, -745.2}
	integers  = []int64{0, 1, -1, 2, 3, 127, 128, 255, 256, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 31, 1 << 32, 1 << 40, 1 << 60}
	maxPlaces = 6
)

// fill writes n random elements: tame numbers mostly, else anything.
func (g *gen) fill(s *array.Storage, d weft.DType, n int) {
	wild := g.chance(4)
	for i := range n {
		p := unsafe.Add(s.Host(), i*d.Size())
		f := g.r.NormFloat64() * 2
		k := int64(g.r.IntN(maxPlaces))
		if g.places > 0 {
			k = int64(g.r.IntN(g.places))
		}
		if g.chance(40) {
			k -= 4
		}
		if wild {
			f, k = pick(g, specials...), pick(g, integers...)
		} else if g.chance(5) {
			f = float64(k)
		}
		switch d {
		case weft.Bool:
			*(*uint8)(p) = uint8(k & 1)
		case weft.Float16:
			*(*half.Float16)(p) = half.NewFloat16(f)
		case weft.BFloat16:
			*(*half.BFloat16)(p) = half.NewBFloat16(f)
		case weft.Float32:
			*(*float32)(p) = float32(f)
		case weft.Float64:
			*(*float64)(p) = f
		case weft.Complex64:
			*(*complex64)(p) = complex(float32(f), float32(k))
		case weft.Complex128:
			*(*complex128)(p) = complex(f, float64(k))
		default: // integers, whose lowest bytes come first
			copy(unsafe.Slice((*byte)(p), d.Size()), unsafe.Slice((*byte)(unsafe.Pointer(&k)), 8))
		}
	}
	keepAlive(s)
}

// tensor is any tensor, nil included.
func (g *gen) tensor() *weft.Tensor {
	switch {
	case g.chance(40):
		return nil
	case g.chance(120):
		return new(weft.Tensor)
	case g.chance(30):
		return g.huge(g.dtype())
	case g.chance(12) && len(g.inputs) > 0:
		// The same tensor again, or a window on its memory.
		in := pick(g, g.inputs...)
		if t, err := try(func() *weft.Tensor { return g.window(in.t) }); err == nil && t != nil {
			return g.took(t)
		}
		return in.t
	}
	return g.tensorOf(g.dtype(), g.shape())
}

// window is a view of t, t itself or one that overlaps it.
func (g *gen) window(t *weft.Tensor) *weft.Tensor {
	switch g.r.IntN(6) {
	case 0:
		return t
	case 1:
		return t.T()
	case 2:
		return t.Reshape(-1)
	case 3:
		return t.Slice(weft.Range(weft.End, weft.Begin, -1))
	case 4:
		return t.Slice(weft.Range(1, weft.End))
	}
	return t.Slice(weft.Range(0, weft.End, 2))
}

// huge is a tensor that claims far more elements than there is memory.
func (g *gen) huge(d weft.DType) *weft.Tensor {
	s := []int{1, 1, 1}[:1+g.r.IntN(3)]
	big := make([]int, len(s))
	for i := range s {
		big[i] = pick(g, 0, 1, 2, 3, 1<<40, 1<<40, 1<<60, math.MaxInt, math.MaxInt/8, 1<<62, 1<<59)
		if i > 0 && big[i-1] > 1<<31 {
			big[i-1], big[i] = 1<<32, pick(g, 1<<32, 1<<32+1, 1<<31, 1<<20)
		}
	}
	t, err := try(func() *weft.Tensor { return fromView(g.view(d, s)).Expand(big...) })
	if err != nil {
		return g.tensorOf(d, []int{2})
	}
	g.endless = g.endless || t.Size() > 1<<26
	return g.took(t)
}

// tensorOf is a tensor of a type and shape in any layout and any state.
func (g *gen) tensorOf(d weft.DType, shape []int) *weft.Tensor {
	shape = shape[:min(len(shape), array.MaxRank)] // callers add axes
	t := fromView(g.view(d, shape))
	g.took(t)
	if out, err := try(func() *weft.Tensor { return g.state(t) }); err == nil && out != nil {
		if out != t {
			g.took(out)
		}
		return out
	}
	return t
}

// state gives t a history, a scope, or takes its memory away.
func (g *gen) state(t *weft.Tensor) *weft.Tensor {
	if d := t.DType(); d == weft.Float32 || d == weft.Float64 {
		switch {
		case g.chance(3):
			t.RequireGrad()
			g.leaves = append(g.leaves, t)
			switch {
			case g.chance(6):
				return t.Mul(2)
			case g.chance(8):
				return t.T()
			case g.chance(8) && t.Rank() > 0:
				return t.Slice(weft.Range(0, weft.End))
			case g.chance(10):
				return t.Mul(1).AddAssign(1)
			case g.chance(10):
				t.SetGrad(weft.OnesLike(t))
			}
		}
	}
	switch {
	case g.chance(25):
		weft.WithoutGrad(func() { t = t.Mul(1) })
		return t
	case g.chance(25):
		return t.Lazy()
	case g.chance(25):
		return g.scope().Track(t)
	case g.chance(60):
		s := weft.NewScope()
		out := s.Track(t).Mul(1)
		s.Close()
		return out
	case g.chance(60):
		s := weft.NewScope()
		out := s.Track(t)
		s.Close()
		return out
	case g.chance(60):
		t.Release()
	case g.chance(60):
		c := t.Clone()
		c.Release()
		return c
	case g.chance(60):
		c := t.Clone()
		out := c.Reshape(-1)
		c.Release()
		return out
	}
	return t
}

// took notes a tensor that the call may be given.
func (g *gen) took(t *weft.Tensor) *weft.Tensor {
	in := input{t: t}
	if v, err := try(func() array.View { return (*core.Tensor)(t).Read() }); err == nil {
		in.v = v
	} else {
		in.v = array.View{DType: t.DType(), Shape: t.Shape()}
	}
	g.inputs = append(g.inputs, in)
	return t
}

// try returns what f returns, or the *weft.Error that it panicked with.
func try[T any](f func() T) (out T, err error) {
	err = weft.Try(func() { out = f() })
	return out, err
}

func fromView(v array.View) *weft.Tensor { return (*weft.Tensor)(core.FromView(v)) }
