package optest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// Values compares every operation with its reference and demands the same bits
// for every layout of arguments and result, and as on the oracle. Arrays end or
// begin at inaccessible pages.
func Values(t T, dev device.Device, caps Caps) {
	t.Helper()
	s := newSuite(t, dev, caps)
	defer s.done()
	for _, d := range op.Table() {
		if len(caps.Only) > 0 && !slices.Contains(caps.Only, d.Name) {
			continue
		}
		if references[d.Name] == nil && several[d.Name] == nil {
			s.errorf(d.Name, "%s has no reference in optest", d.Name)
			continue
		}
		if expected[d] == nil {
			var e expecter
			for _, c := range append(Cases(d), routineCases(d)...) {
				want, refused := e.expect(&c)
				expected[d] = append(expected[d], expectation{Case: c, want: want, refused: refused})
			}
		}
		if len(expected[d]) == 0 {
			s.errorf(d.Name, "%s has no samples", d.Name)
		}
		for i := range expected[d] {
			s.value(&expected[d][i])
		}
	}
	t.Logf("%d computations on %s", s.checks, dev.Name())
}

// An expectation is a case with what its reference makes of it.
type expectation struct {
	Case
	want    Result
	refused bool
	oracle  *Array // what the oracle gave, once it was held to this
}

// expected are the cases of each operation that a device was held to: others are held to
// the same.
var expected = map[*op.Def][]expectation{}

// expect returns the reference's result, or refused.
func expect(c *Case) (r Result, refused bool) { return new(expecter).expect(c) }

// An expecter asks references. Of an operation with several results it keeps them, since the
// cases for each follow one another, the first result first, and have the same arguments.
type expecter struct {
	of      Case
	results []Result
}

func (e *expecter) expect(c *Case) (r Result, refused bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(refusal); !ok {
				panic(p)
			}
			refused = true
		}
	}()
	if f, ok := several[c.Def.Name]; ok {
		same := c.Result > 0 && e.of.Def == c.Def && slices.Equal(e.of.X, c.X) && reflect.DeepEqual(e.of.Attrs, c.Attrs)
		if !same {
			e.results = f(c.X, c.Attrs)
			e.of = *c
		}
		return e.results[c.Result], false
	}
	return references[c.Def.Name](c.X, c.Attrs), false
}

// layoutsOf are the layouts that a case is tried in beside the contiguous one: with all
// arguments alike, and with each argument and the result in another, from this on. It is
// one of each in turn, so that the cases of an operation and type go through all of them,
// of elementwise operations, which have most cases, one of either; or all for every case if
// WEFT_EXHAUSTIVE asks for that.
func (s *suite) layoutsOf(c *Case) (alike, mixed []Layout) {
	all := Layouts()[1:]
	if os.Getenv("WEFT_EXHAUSTIVE") == "1" {
		return all, all
	}
	of := layoutTurn{def: c.Def}
	for _, x := range c.X {
		of.dtype, of.rank = x.DType, max(of.rank, min(len(x.Shape), 2))
	}
	i, met := s.turns[of]
	if !met {
		i = len(s.turns) // where there are few cases, each operation and type begins with others
	}
	s.turns[of] = i + 1
	n := len(all)
	if elementwise(c.Def) {
		l := all[i/2%n : i/2%n+1]
		if i%2 == 0 {
			return l, nil
		}
		return nil, l
	}
	return all[i%n : i%n+1], all[(i+2)%n : (i+2)%n+1]
}

// A layoutTurn is what takes turns in the layouts that it is tried in: rank is 2 at most.
type layoutTurn struct {
	def   *op.Def
	dtype array.DType
	rank  int
}

func (s *suite) value(e *expectation) {
	c, want, refused := &e.Case, &e.want, e.refused
	out, err := c.graph()
	var misuse *array.Error
	switch {
	case refused && err == nil:
		s.errorf(c.Def.Name, "%s is not refused", c)
		return
	case refused && !(errors.As(err, &misuse) && misuse.Kind == array.Misuse):
		s.errorf(c.Def.Name, "%s is refused with %v, want an *array.Error", c, err)
		return
	case refused:
		return
	case err != nil:
		s.errorf(c.Def.Name, "%s: %v", c, err)
		return
	}
	if out.DType != want.DType || !array.Equal(out.Shape, want.Shape) {
		s.errorf(c.Def.Name, "%s gives %s, want %s", c, array.TypeString(out.DType, out.Shape), array.TypeString(want.DType, want.Shape))
		return
	}
	if !s.have([]*ir.Node{out}) {
		return
	}
	first := s.contiguous(e, out)
	if first == nil {
		return
	}
	if i := want.differs(first); i >= 0 {
		s.errorf(c.Def.Name, "%s: element %s, want %s%s", c, first.at(i), want.at(i), c.inputs(i))
		return
	}
	alike, mixed := s.layoutsOf(c)
	for _, l := range alike {
		s.laid(c, out, first, func(int) Layout { return l }, Contiguous, false)
	}
	for _, l := range mixed {
		s.laid(c, out, first, func(i int) Layout { return (l + Layout(i)) % numLayouts }, l, false)
	}
	if elementwise(c.Def) && len(c.X) > 1 {
		s.laid(c, out, first, func(int) Layout { return Contiguous }, Contiguous, true)
	}
	s.inPlace(c, out, first)
}

// inputs shows the elements that element i of an elementwise result is made of.
func (c *Case) inputs(i int) string {
	if !elementwise(c.Def) {
		return ""
	}
	str := " from"
	shape := shapeOf(c.X)
	for _, x := range c.X {
		str += fmt.Sprintf(" %s", broadcast(x, shape).at(i))
	}
	return str
}

// contiguous computes a case with all contiguous, and compares with the oracle's result:
// the one that it gave when it was the device under test, if it was.
func (s *suite) contiguous(e *expectation, out *ir.Node) *Array {
	s.given = e.oracle
	first := s.laid(&e.Case, out, nil, func(int) Layout { return Contiguous }, Contiguous, false)
	s.given = nil
	if s.caps.Oracle == nil {
		e.oracle = first
	}
	return first
}

// laid computes the case with arguments and result in layouts, expanded to the
// result's shape if asked for, and compares with first.
func (s *suite) laid(c *Case, out *ir.Node, first *Array, in func(i int) Layout, to Layout, expanded bool) *Array {
	s.mem.Reset()
	ins := make([]array.View, len(c.X))
	for i, x := range c.X {
		ins[i] = s.mem.hold(x, in(i))
		if expanded {
			for _, y := range c.X {
				if y.DType != x.DType {
					return nil // sizes take part in promotion
				}
			}
			ins[i] = ins[i].BroadcastTo(out.Shape)
		}
	}
	if expanded {
		e := Case{Def: c.Def, Attrs: c.Attrs, Result: c.Result}
		for i, x := range c.X {
			e.X = append(e.X, &Array{DType: x.DType, Shape: ins[i].Shape})
		}
		var err error
		if out, err = e.graph(); err != nil {
			s.errorf(c.Def.Name, "%s expanded: %v", c, err)
			return nil
		}
	}
	held := slices.Grow(s.held, len(ins))[:len(ins)]
	for i, v := range ins {
		held[i] = append(held[i][:0], memoryOf(v)...)
	}
	s.held = held
	dst := s.mem.room(out.DType, out.Shape, to)
	describe := func() string {
		return fmt.Sprintf("%s, arguments %s, result %s, expanded %v", c, in(0), to, expanded)
	}
	var p *plan.Plan
	err := attempt(func() error {
		p = plan.Build([]*ir.Node{out}, sigs(ins), sigs([]array.View{dst}), s.dev.Model())
		return nil
	})
	if err == nil {
		err = s.run(p, ins, []array.View{dst})
	}
	if err != nil {
		s.errorf(c.Def.Name, "%s: %v", describe(), err)
		return nil
	}
	got := Read(dst)
	if !untouched(dst) {
		s.errorf(c.Def.Name, "%s: writes beside the elements of the result", describe())
	}
	for i, v := range ins {
		if !bytes.Equal(held[i], memoryOf(v)) {
			s.errorf(c.Def.Name, "%s: argument %d is overwritten", describe(), i)
		}
	}
	if first != nil {
		if i := same(first, got); i >= 0 {
			s.errorf(c.Def.Name, "%s: element %s, contiguous %s", describe(), got.at(i), first.at(i))
		}
		return got
	}
	if s.caps.Oracle != nil {
		want := s.given
		if want == nil {
			o := s.mem.room(out.DType, out.Shape, to)
			if err := compute(s.caps.Oracle, p, ins, []array.View{o}); err != nil {
				s.errorf(c.Def.Name, "%s on the oracle: %v", describe(), err)
				return got
			}
			want = Read(o)
		}
		if i := same(want, got); i >= 0 {
			s.errorf(c.Def.Name, "%s: element %s, on the oracle %s%s", describe(), got.at(i), want.at(i), c.inputs(i))
		}
	}
	return got
}

// inPlace computes the case into the memory of an argument where the plan
// allows that.
func (s *suite) inPlace(c *Case, out *ir.Node, first *Array) {
	for k, x := range c.X {
		if x.DType != out.DType || !array.Equal(x.Shape, out.Shape) {
			continue
		}
		s.mem.Reset()
		ins := make([]array.View, len(c.X))
		for i, x := range c.X {
			ins[i] = s.mem.hold(x, Contiguous)
		}
		p := plan.Build([]*ir.Node{out}, sigs(ins), nil, s.dev.Model())
		if !p.InPlace {
			return
		}
		if err := s.run(p, ins, []array.View{ins[k]}); err != nil {
			s.errorf(c.Def.Name, "%s in the place of argument %d: %v", c, k, err)
			continue
		}
		if got := Read(ins[k]); same(first, got) >= 0 {
			i := same(first, got)
			s.errorf(c.Def.Name, "%s in the place of argument %d: element %s, want %s", c, k, got.at(i), first.at(i))
		}
	}
}

// differs returns the first element of got outside the tolerance, -1 if there is
// none.
func (r *Result) differs(got *Array) int {
	for i := range got.cells() {
		if !r.near(got, i) {
			return i
		}
	}
	return -1
}

func (r *Result) near(got *Array, i int) bool {
	if r.Exact || got.F == nil {
		return r.bits(i) == got.bits(i)
	}
	g, w := got.F[i], r.F[i]
	rounded := roundTo(got.DType, w)
	switch {
	case g != g || w != w:
		return g != g && w != w
	case g == rounded:
		return g != 0 || r.Bound != nil || math.Signbit(g) == math.Signbit(w)
	}
	if r.Bound != nil {
		return math.Abs(g-w) <= r.Bound[i]+2*eps(got.DType)*math.Abs(w)
	}
	if math.IsInf(g, 0) {
		// Rounding up from the greatest finite number.
		limit := math.MaxFloat64
		switch got.DType.Part() {
		case array.Float32, array.BFloat16:
			limit = math.MaxFloat32 * (1 - eps(got.DType))
		case array.Float16:
			limit = 65504
		}
		return math.Abs(w) >= limit && math.Signbit(g) == math.Signbit(w)
	}
	bound := r.ULP * unit(got.DType, w)
	if got.DType.Half() { // of a float32 that was rounded
		bound = r.ULP*unit(array.Float32, w) + 0.5*unit(got.DType, w)
	}
	if r.Slack > 0 {
		bound += r.Slack * (1 + w*w)
	}
	return math.Abs(g-w) <= bound
}

// unit is the unit in the last place of x in type d.
func unit(d array.DType, x float64) float64 {
	_, e := math.Frexp(x)
	switch d.Part() {
	case array.Float16:
		return math.Ldexp(1, max(e-11, -24))
	case array.BFloat16:
		return math.Ldexp(1, max(e-8, -133))
	case array.Float32:
		return math.Ldexp(1, max(e-24, -149))
	}
	return math.Ldexp(1, max(e-53, -1074))
}
