package weft

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/core"
	"weft/internal/dirty"
	"weft/internal/ir"
	"weft/internal/op"
)

func init() { dirty.Verify = true }

// memory is the bytes of a contiguous tensor, which they show as they change.
func memory(t *Tensor) []byte {
	return unsafe.Slice((*byte)(t.v().Ptr()), t.Size()*t.v().DType.Size())
}

// clean returns t, a contiguous tensor, tracked and with nothing pending.
func clean(t testing.TB, x *Tensor, opts ...TrackOpts) *Tracked {
	t.Helper()
	d := Track(x, opts...)
	if n, err := d.Flush(nowhere{}); n != d.Bytes() || err != nil {
		t.Fatalf("the first flush sent %d of %d bytes: %v", n, d.Bytes(), err)
	}
	if p := d.Pending(); len(p) > 0 {
		t.Fatalf("after a flush %v is pending", p)
	}
	return d
}

// nowhere is a sink that forgets what it gets.
type nowhere struct{}

func (nowhere) WriteAt(p []byte, off int64) (int, error) { return len(p), nil }

// every is the cost at which no byte is sent that was not written.
var every = TrackOpts{Cost: &Cost{Latency: 1, PerSecond: 1}}

// within reports that every byte that differs lies in a pending range, and says which does
// not.
func within(t testing.TB, name string, before, after []byte, pending []ByteRange) {
	t.Helper()
	for i := range before {
		if before[i] != after[i] && !slices.ContainsFunc(pending, func(p ByteRange) bool { return p.Start <= i && i < p.Stop }) {
			t.Fatalf("%s: byte %d was changed, and %v is pending", name, i, pending)
		}
	}
}

// The examples that the original works through: 88 bytes for 16 that were written, and all
// of a fresh array.
func TestTrackedAsTheOriginal(t *testing.T) {
	if got := Track(ZerosOf(Float64, 5, 5), TrackOpts{OneInterval: true}).Pending(); !slices.Equal(got, []ByteRange{{0, 200}}) {
		t.Errorf("a fresh array: %v, want (0, 200)", got)
	}
	// Items of 20 bytes: a position of two float32 and a color of three.
	for _, c := range []struct {
		opts  TrackOpts
		want  []ByteRange
		bytes int
	}{
		{TrackOpts{OneInterval: true}, []ByteRange{{0, 88}}, 88},
		{every, []ByteRange{{0, 8}, {80, 88}}, 16},
		{TrackOpts{Cost: &Cost{Latency: 72, PerSecond: 1e9}}, []ByteRange{{0, 88}}, 88},
		{TrackOpts{Cost: &Cost{Latency: 71, PerSecond: 1e9}}, []ByteRange{{0, 8}, {80, 88}}, 16},
		{TrackOpts{Item: new(20), Cost: every.Cost}, []ByteRange{{0, 20}, {80, 100}}, 40},
	} {
		v := Zeros(3, 3, 5)
		d := clean(t, v, c.opts)
		position := v.Slice(All, All, Range(0, 2))
		position.Slice(Index(0), Index(0)).Assign(1)
		if got := d.Pending(); len(got) != 1 || c.opts.Item == nil && got[0] != (ByteRange{0, 8}) {
			t.Errorf("%+v: after position[0, 0]: %v", c.opts, got)
		}
		position.Slice(Index(1), Index(1)).Assign(2)
		if got := d.Pending(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.opts, got, c.want)
		}
		if n, err := d.Flush(nowhere{}); n != c.bytes || err != nil {
			t.Errorf("%+v: %d bytes were sent, want %d (%v)", c.opts, n, c.bytes, err)
		}
	}
}

// Each way to write marks what it writes and, where that is known, nothing else; bytes are
// compared with what they were.
func TestEveryWriteMarks(t *testing.T) {
	twice := newGiven("trackedtwice", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Add, nil, x[0], x[0]), op.Apply(op.Mul, nil, x[0], x[0])}
	})
	base := func() *Tensor { return Arange(1., 101).Reshape(10, 10) }
	all := []ByteRange{{0, 400}}
	row := func(i int) ByteRange { return ByteRange{40 * i, 40*i + 40} }
	column := func(i, n int) (out []ByteRange) {
		for k := range 10 {
			out = append(out, ByteRange{40*k + 4*i, 40*k + 4*(i+n)})
		}
		return out
	}
	for name, c := range map[string]struct {
		write func(x *Tensor)
		want  []ByteRange
	}{
		"assign":        {func(x *Tensor) { x.Assign(3) }, all},
		"assign tensor": {func(x *Tensor) { x.Assign(Ones(10)) }, all},
		"fill":          {func(x *Tensor) { x.Fill(7) }, all},
		"zero":          {func(x *Tensor) { x.Zero() }, all},
		"add":           {func(x *Tensor) { x.AddAssign(3) }, all},
		"sub":           {func(x *Tensor) { x.SubAssign(Ones(10, 1)) }, all},
		"mul":           {func(x *Tensor) { x.MulAssign(x) }, all},
		"div":           {func(x *Tensor) { x.DivAssign(2) }, all},
		"overlapping":   {func(x *Tensor) { x.Slice(Range(1, 10)).Assign(x.Slice(Range(0, 9))) }, []ByteRange{{40, 400}}},
		"update":        {func(x *Tensor) { x.Update((*Tensor).Square) }, []ByteRange{{4, 400}}}, // 1 stays 1
		"rows put": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexPut(-1, []int{7, 2, 7}) })
		}, []ByteRange{row(2), row(7)}},
		"columns put": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexPut(-1, All, []int{4}) })
		}, column(4, 1)},
		"elements put": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexPut(Ones(2).Neg(), []int{2, -1}, []int{3, 0}) })
		}, []ByteRange{{92, 96}, {360, 364}}},
		"rows added to": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexPutAdd(Ones(10), []int{3, 3}) })
		}, []ByteRange{row(3)}},
		"index added": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexAdd(0, From([]int{1, 5}), Ones(2, 10)) })
		}, []ByteRange{row(1), row(5)}},
		"scattered": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.Scatter(1, From([][]int{{3}}), -1) })
		}, []ByteRange{{12, 16}}},
		"masked": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.MaskedFill(x.Gt(98), 0) })
		}, []ByteRange{{392, 400}}},
		"mask put": {func(x *Tensor) {
			x.Update(func(x *Tensor) *Tensor { return x.IndexPut(0, x.Eq(35)) })
		}, []ByteRange{{136, 140}}},
		"rows of a column put": {func(x *Tensor) {
			x.T().Slice(Range(3, 5)).Update(func(x *Tensor) *Tensor { return x.IndexPut(0, All, []int{6}) })
		}, []ByteRange{{252, 260}}},
		"put backwards": {func(x *Tensor) {
			x.Slice(Range(9, 0, -2)).Update(func(x *Tensor) *Tensor { return x.IndexPut(0, []int{1}) })
		}, []ByteRange{row(7)}},
		"transposed into itself": {func(x *Tensor) {
			x.Slice(Range(0, 2), Range(0, 2)).Update((*Tensor).T)
		}, []ByteRange{{4, 8}, {40, 44}}},
		"updated by a row": {func(x *Tensor) {
			x.Slice(Range(2, 4)).Update(func(x *Tensor) *Tensor { return Ones(10) })
		}, []ByteRange{{80, 160}}},
		"row":              {func(x *Tensor) { x.Slice(Index(3)).AddAssign(1) }, []ByteRange{row(3)}},
		"last row":         {func(x *Tensor) { x.Slice(Index(-1)).AddAssign(1) }, []ByteRange{row(9)}},
		"element":          {func(x *Tensor) { x.At(2, 3).Assign(-1) }, []ByteRange{{92, 96}}},
		"column":           {func(x *Tensor) { x.Slice(All, Index(4)).MulAssign(2) }, column(4, 1)},
		"field":            {func(x *Tensor) { x.Slice(All, Range(2, 5)).MulAssign(2) }, column(2, 3)},
		"negative step":    {func(x *Tensor) { x.Slice(Range(9, 5, -1)).AddAssign(1) }, []ByteRange{{240, 400}}},
		"negative steps":   {func(x *Tensor) { x.Slice(Range(8, 2, -5), Range(9, 7, -1)).AddAssign(1) }, []ByteRange{{40*3 + 32, 160}, {40*8 + 32, 360}}},
		"transposed":       {func(x *Tensor) { x.T().Slice(Index(4)).MulAssign(2) }, column(4, 1)},
		"every second":     {func(x *Tensor) { x.Slice(Index(0), Range(0, 6, 2)).Assign(0) }, []ByteRange{{0, 4}, {8, 12}, {16, 20}}},
		"diagonal":         {func(x *Tensor) { x.Slice(Range(0, 2)).Diagonal(0).Assign(0) }, []ByteRange{{0, 4}, {44, 48}}},
		"empty":            {func(x *Tensor) { x.Slice(Range(4, 4)).Assign(3) }, nil},
		"reshaped":         {func(x *Tensor) { x.Reshape(2, 5, 10).Slice(Index(1)).Assign(3) }, []ByteRange{{200, 400}}},
		"detached":         {func(x *Tensor) { x.Detach().Slice(Index(1)).Assign(3) }, []ByteRange{row(1)}},
		"without gradient": {func(x *Tensor) { x.Detach().Slice(Index(1)).Assign(3) }, []ByteRange{row(1)}},
		"unsqueezed":       {func(x *Tensor) { x.Unsqueeze(0).Squeeze(0).Slice(Index(1)).Assign(3) }, []ByteRange{row(1)}},
		"borrow":           {func(x *Tensor) { Borrow(x.Slice(Index(2)), func(d []float32) { d[0] = 9 }) }, []ByteRange{row(2)}},
		"sink": {func(x *Tensor) {
			if _, err := x.Sink().WriteAt([]byte{1, 2, 3, 4, 5}, 41); err != nil {
				t.Error(err)
			}
		}, []ByteRange{{40, 48}}},
		"formula":  {func(x *Tensor) { x.Slice(Index(0)).Assign(Expr("2*x", Vars{"x": x.Slice(Index(1))})) }, []ByteRange{row(0)}},
		"fused":    {func(x *Tensor) { twice.Into([]*Tensor{x.Slice(Index(1)), x.Slice(Index(3))}, x.Slice(Index(0))) }, []ByteRange{row(1), row(3)}},
		"in place": {func(x *Tensor) { twice.Into([]*Tensor{x.Slice(Index(1)), x.Slice(Index(0))}, x.Slice(Index(0))) }, []ByteRange{{0, 80}}},
		"columns":  {func(x *Tensor) { twice.Into([]*Tensor{x.Slice(All, Index(1)), Zeros(10)}, x.Slice(All, Index(0))) }, column(1, 1)},
		"together": {func(x *Tensor) {
			twice.IntoAll(func(yield func([]*Tensor, []any) bool) {
				yield([]*Tensor{x.Slice(Index(1)), x.Slice(Index(2))}, []any{x.Slice(Index(0))})
				yield([]*Tensor{x.Slice(Index(4)), x.Slice(Index(6))}, []any{x.Slice(Index(5))})
			})
		}, []ByteRange{{40, 120}, row(4), row(6)}},
		"rows": {func(x *Tensor) {
			twice.IntoRows(FromSlice([]int64{7, -9}), []*Tensor{x, Zeros(10, 10)}, x)
		}, []ByteRange{row(1), row(7)}},
		"rows across": {func(x *Tensor) {
			twice.IntoRows(FromSlice([]int64{7, -9}), []*Tensor{x.T(), Zeros(10, 10)}, x.T())
		}, slices.Concat(column(1, 1), column(7, 1))},
		"operation into": {func(x *Tensor) {
			eagerInto(op.Square, []*Tensor{x.Slice(Index(5))}, x.Slice(Index(6)))
		}, []ByteRange{row(5)}},
		"operation over its argument": {func(x *Tensor) {
			eagerInto(op.Square, []*Tensor{x.Slice(Range(5, 7))}, x.Slice(Range(6, 8)))
		}, []ByteRange{{200, 280}}},
	} {
		x := base()
		d := clean(t, x, every)
		before := bytes.Clone(memory(x))
		c.write(x)
		got := d.Pending()
		slices.SortFunc(c.want, func(a, b ByteRange) int { return a.Start - b.Start })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v is pending, want %v", name, got, c.want)
		}
		within(t, name, before, memory(x), got)
		if len(c.want) > 0 && bytes.Equal(before, memory(x)) {
			t.Errorf("%s changed nothing", name)
		}
	}
	// A compiled function marks the windows that it writes, of what it captures and of its
	// arguments, for some windows.
	ones := Ones(10)
	for name, c := range map[string]struct {
		write func(y *Tensor)
		want  []ByteRange
	}{
		"first row":     {func(y *Tensor) { y.Slice(Index(0)).AddAssign(ones) }, []ByteRange{row(0)}},
		"row":           {func(y *Tensor) { y.Slice(Index(3)).AddAssign(ones) }, []ByteRange{row(3)}},
		"row, twice":    {func(y *Tensor) { y.Slice(Index(3)).AddAssign(ones); y.Slice(Index(3)).MulAssign(2) }, []ByteRange{row(3)}},
		"rows":          {func(y *Tensor) { y.Slice(Index(3)).AddAssign(ones); y.Slice(Index(7)).Fill(1) }, []ByteRange{row(3), row(7)}},
		"column":        {func(y *Tensor) { y.Slice(All, Index(4)).MulAssign(2) }, column(4, 1)},
		"backwards":     {func(y *Tensor) { y.Slice(Range(9, 5, -1)).AddAssign(ones) }, []ByteRange{{240, 400}}},
		"all":           {func(y *Tensor) { y.AddAssign(ones) }, all},
		"all, then row": {func(y *Tensor) { y.AddAssign(ones); y.Slice(Index(3)).Fill(1) }, all},
		"row, then all": {func(y *Tensor) { y.Slice(Index(3)).Fill(1); y.AddAssign(ones); y.Slice(Index(4)).Fill(1) }, all},
		"transposed":    {func(y *Tensor) { y.T().Slice(Index(4)).MulAssign(2) }, column(4, 1)},
		"many windows": {func(y *Tensor) {
			for i := range core.MaxWindows + 1 {
				y.At(i%10, 2*(i/10)).AddAssign(1)
			}
		}, all},
	} {
		for _, captured := range []bool{true, false} {
			whole := Arange(1., 121).Reshape(12, 10)
			y := whole.Slice(Range(1, 11))
			d := clean(t, y, every)
			f := Compile(func(x *Tensor) *Tensor {
				if captured {
					x = y
				}
				c.write(x)
				return ones.Add(1)
			})
			for range 3 {
				y.AddAssign(1) // what was written is not what is to be written
				d.Flush(nowhere{})
				before := bytes.Clone(memory(y))
				if captured {
					f.Call(Ones(1))
				} else {
					f.Call(y)
				}
				within(t, "a compiled function, "+name, before, memory(y), d.Pending())
				if bytes.Equal(before, memory(y)) {
					t.Errorf("a compiled function changed nothing: %s", name)
				}
				if got := d.Pending(); !slices.Equal(got, c.want) {
					t.Errorf("a compiled function, %s, captured %v: %v is pending, want %v", name, captured, got, c.want)
				}
			}
		}
	}
	// Nothing outside the window changes that is not pending, not even a NaN that signals.
	for dt, nan := range map[DType][]byte{Float16: {0x01, 0x7d}, BFloat16: {0x81, 0x7f}, Float32: {1, 0, 0x80, 0x7f}, Float64: {1, 0, 0, 0, 0, 0, 0xf0, 0x7f}} {
		y := ZerosOf(dt, 4, 8)
		for i := range memory(y) {
			memory(y)[i] = nan[i%len(nan)]
		}
		d := clean(t, y, every)
		f := Compile(func(x *Tensor) *Tensor {
			y.Slice(Index(2)).Assign(x)
			return x.Add(1)
		})
		for i := range 3 {
			before := bytes.Clone(memory(y))
			f.Call((*Tensor)(core.Full("full", core.Whole(int64(i+1)), 0, dt, []int{8})))
			within(t, "a compiled function of "+dt.String(), before, memory(y), d.Pending())
			if got, row := d.Pending(), 8*len(nan); len(nan) > 2 && !slices.Equal(got, []ByteRange{{2 * row, 3 * row}}) {
				t.Errorf("%s: %v is pending", dt, got)
			}
			d.Flush(nowhere{})
		}
	}
	// Gradients are added to in place.
	w := base().RequireGrad()
	w.Sum().Backward()
	d := clean(t, w.Grad(), every)
	before := bytes.Clone(memory(w.Grad()))
	w.Square().Sum().Backward()
	if got := d.Pending(); !slices.Equal(got, all) || bytes.Equal(before, memory(w.Grad())) {
		t.Errorf("a gradient that was added to: %v", got)
	}
}

func eagerInto(d *op.Def, dst []*Tensor, args ...*Tensor) {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.Operand{T: x.c()}
	}
	core.Call(d, nil, core.Inner(dst), ops...)
}

// Whatever a write touches although it fails is marked.
func TestFailedWritesMark(t *testing.T) {
	x := Zeros(4)
	d := clean(t, x, every)
	func() {
		defer func() { recover() }()
		Borrow(x, func(data []float32) {
			data[1] = 1
			panic("halfway")
		})
	}()
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{0, 16}}) {
		t.Errorf("%v is pending after a function that panicked", got)
	}
	d.Flush(nowhere{})
	for range 2 { // a writer that did not leave would keep the flush out
		if err := Try(func() { x.Assign(Zeros(3)) }); err == nil {
			t.Error("shapes that do not fit were assigned")
		}
		if err := Try(func() { ZerosOf(Int8, 2).AddAssign(1 << 20) }); err == nil {
			t.Error("a number that does not fit was added")
		}
		n := ZerosOf(Int8, 4)
		d := clean(t, n)
		if err := Try(func() { n.AddAssign(1 << 20) }); err == nil {
			t.Error("a number that does not fit was added")
		}
		if _, err := d.Flush(nowhere{}); err != nil {
			t.Error(err)
		}
	}
}

// Methods without arguments, and with arrays, numbers and axes for them, called by
// reflection on tracked arrays and views: what they change is pending, and what changes
// nothing by its name leaves nothing pending.
func TestReadingMarksNothing(t *testing.T) {
	writes := []string{"AddAssign", "SubAssign", "MulAssign", "DivAssign", "Assign", "Set", "Update", "Zero", "Fill", "Release", "Sink", "Backward"}
	methods := reflect.TypeFor[*Tensor]()
	called := 0
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		for _, dt := range []DType{Float32, Int32, Bool, Complex64} {
			x := ZerosOf(dt, 4, 4)
			d := clean(t, x, every)
			before := bytes.Clone(memory(x))
			for _, recv := range []*Tensor{x, x.T(), x.Slice(Range(3, 0, -1)), x.Slice(Index(1)), x.At(0, 0), x.Slice(Range(0, 0))} {
				for _, arg := range []*Tensor{x, x.Slice(Index(2)), ZerosOf(Int64, 2)} {
					in := []reflect.Value{reflect.ValueOf(recv)}
					ok := true
					for k := 1; k < m.Type.NumIn(); k++ {
						at := m.Type.In(k)
						if m.Type.IsVariadic() && k == m.Type.NumIn()-1 {
							break
						}
						switch {
						case at == methods, at.Kind() == reflect.Interface && methods.AssignableTo(at):
							in = append(in, reflect.ValueOf(arg))
						case at.Kind() == reflect.Int, at.Kind() == reflect.Float64, at.Kind() == reflect.Bool, at.Kind() == reflect.Slice, at.Kind() == reflect.Struct:
							in = append(in, reflect.Zero(at))
						default:
							ok = false
						}
					}
					if !ok || slices.Contains(writes, m.Name) {
						continue
					}
					func() {
						defer func() { recover() }()
						m.Func.Call(in)
						called++
					}()
					within(t, m.Name, before, memory(x), d.Pending())
					if p := d.Pending(); len(p) > 0 {
						t.Fatalf("%s left %v pending", m.Name, p)
					}
				}
			}
		}
	}
	if called < 1000 {
		t.Errorf("only %d calls succeeded", called)
	}
	x := base(4)
	d := clean(t, x)
	Data[float32](x)
	CopyTo(x, make([]float32, 16))
	Digest(x)
	_ = fmt.Sprint(x)
	core.ToHost(x.c())
	x.Expand(3, 4, 4).Sum()
	if p := d.Pending(); len(p) > 0 {
		t.Errorf("reading left %v pending", p)
	}
	if err := Try(func() { x.Expand(3, 4, 4).Assign(1) }); err == nil {
		t.Error("an expanded view was written to")
	}
}

func base(n int) *Tensor { return Arange(float64(n*n)).Reshape(n, n) }

// mirror is a sink that keeps bytes, counts, and fails where it is told to.
type mirror struct {
	data    []byte
	sent    int
	calls   int
	fail    int // the call that fails, half sent
	finish  error
	pending func()
}

func (m *mirror) WriteAt(p []byte, off int64) (int, error) {
	m.calls++
	if m.pending != nil {
		m.pending()
	}
	if m.fail > 0 && m.calls == m.fail {
		n := copy(m.data[off:], p[:len(p)/2])
		return n, errors.New("the line is cut")
	}
	m.sent += len(p)
	return copy(m.data[off:], p), nil
}

type finishing struct{ *mirror }

func (m finishing) Finish() error { return m.mirror.finish }

// What a failed flush did not send stays pending, and the next one sends it.
func TestFailedFlush(t *testing.T) {
	x := Zeros(100)
	d := clean(t, x, every)
	m := &mirror{data: make([]byte, 400)}
	for i := range 10 {
		x.At(10 * i).Assign(i + 1)
	}
	m.fail = 4
	n, err := d.Flush(m)
	if err == nil || n != 12+2 {
		t.Errorf("%d bytes were sent, %v", n, err)
	}
	if got := d.Pending(); len(got) != 7 || got[0] != (ByteRange{120, 124}) {
		t.Errorf("%v is pending", got)
	}
	if n, err := d.Flush(m); n != 28 || err != nil || !bytes.Equal(m.data, memory(x)) {
		t.Errorf("the second flush sent %d: %v", n, err)
	}
	// Finish fails: nothing of it counts.
	x.At(3).Assign(9)
	x.At(5).Assign(9)
	m.finish = io.ErrClosedPipe
	if n, err := d.Flush(finishing{m}); n != 0 || err != io.ErrClosedPipe {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{12, 16}, {20, 24}}) {
		t.Errorf("%v is pending", got)
	}
	m.finish = nil
	// A sink that panics, and one that writes less than it says no error about.
	m.pending = func() { panic("sink") }
	func() {
		defer func() { recover() }()
		d.Flush(m)
	}()
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{12, 16}, {20, 24}}) {
		t.Errorf("after a panic %v is pending", got)
	}
	if n, err := d.Flush(short{}); n != 1 || err != io.ErrShortWrite {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{12, 16}, {20, 24}}) {
		t.Errorf("after a short write %v is pending", got)
	}
	// What is written while the sink is busy is pending afterwards, or was sent.
	m.pending = func() { x.At(3).AddAssign(1); x.At(70).Assign(5) }
	if n, err := d.Flush(finishing{m}); n != 8 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{12, 16}, {280, 284}}) {
		t.Errorf("%v is pending", got)
	}
	m.pending = nil
	if _, err := d.Flush(m); err != nil || !bytes.Equal(m.data, memory(x)) {
		t.Errorf("the sink has other bytes: %v", err)
	}
}

type short struct{}

func (short) WriteAt(p []byte, off int64) (int, error) { return 1, nil }

// Large arrays are sent piece by piece, whole items each.
func TestFlushInPieces(t *testing.T) {
	for _, item := range []int{0, 20, 12, 3 << 20} {
		x := Arange(float64(5 << 18)) // 5 MiB
		if item == 3<<20 {
			x = Arange(float64(9 << 18))
		}
		opts := TrackOpts{Cost: every.Cost}
		if item > 0 {
			opts.Item = new(item)
		}
		d := Track(x, opts)
		m := &mirror{data: make([]byte, d.Bytes())}
		n, err := d.Flush(m)
		if n != d.Bytes() || err != nil || !bytes.Equal(m.data, memory(x)) || m.calls < 3 {
			t.Errorf("item %d: %d bytes of %d in %d calls: %v", item, n, d.Bytes(), m.calls, err)
		}
	}
}

// What Borrow lends is not sent, and a flush inside it does not wait for ever.
func TestFlushWhileBorrowed(t *testing.T) {
	x := Zeros(30)
	d := Track(x, TrackOpts{Item: new(12), Cost: every.Cost})
	m := &mirror{data: make([]byte, 120)}
	Borrow(x.Slice(Range(4, 7)), func(data []float32) {
		data[0] = 1
		if n, err := d.Flush(m); n != 96 || err != nil {
			t.Errorf("%d bytes were sent, want all but two items: %v", n, err)
		}
		data[1] = 2
		x.At(4).AddAssign(1)
		if got := d.Pending(); !slices.Equal(got, []ByteRange{{12, 36}}) {
			t.Errorf("%v is pending", got)
		}
	})
	if _, err := d.Flush(m); err != nil || !bytes.Equal(m.data, memory(x)) {
		t.Errorf("the sink has other bytes: %v", err)
	}
}

// A view can be tracked, and an array several times; Stop ends it.
func TestTrackedSeveralTimes(t *testing.T) {
	x := base(10)
	one, two := clean(t, x, every), clean(t, x.Slice(Range(5, 10)), every)
	x.Slice(Range(4, 6)).Assign(1)
	if a, b := one.Pending(), two.Pending(); !slices.Equal(a, []ByteRange{{160, 240}}) || !slices.Equal(b, []ByteRange{{0, 40}}) {
		t.Errorf("%v and %v", a, b)
	}
	one.Stop()
	x.Assign(2)
	if a, b := one.Pending(), two.Pending(); !slices.Equal(a, []ByteRange{{160, 240}}) || !slices.Equal(b, []ByteRange{{0, 200}}) {
		t.Errorf("after Stop: %v and %v", a, b)
	}
	// A view with gaps: its memory from first to last.
	c := Track(x.Slice(All, Index(3)))
	if c.Bytes() != 9*40+4 || !slices.Equal(c.Pending(), []ByteRange{{0, 364}}) {
		t.Errorf("a column: %d bytes, %v", c.Bytes(), c.Pending())
	}
	m := &mirror{data: make([]byte, c.Bytes())}
	c.Flush(m)
	x.Slice(Index(2)).Assign(3)
	if got := c.Pending(); !slices.Equal(got, []ByteRange{{68, 108}}) {
		t.Errorf("a column: %v", got)
	}
	for _, e := range []*Tensor{Zeros(0), x.Slice(Range(3, 3))} {
		d := Track(e)
		e.Assign(1)
		if n, err := d.Flush(m); n != 0 || err != nil || d.Bytes() != 0 || len(d.Pending()) != 0 {
			t.Errorf("an empty array: %d, %v", n, err)
		}
	}
	z := ZerosOf(Complex64, 4)
	d := clean(t, z, every)
	z.Imag().Slice(Index(1)).Assign(2)
	if got := d.Pending(); !slices.Equal(got, []ByteRange{{8, 16}}) {
		t.Errorf("an imaginary part: %v", got)
	}
	data := make([]float32, 8)
	y := FromSlice(data)
	d = clean(t, y, every)
	data[2] = 1
	if d.Mark(y.At(2)); !slices.Equal(d.Pending(), []ByteRange{{8, 12}}) {
		t.Errorf("marked by hand: %v", d.Pending())
	}
}

// Every function that writes into the memory of arrays, or hands it to who may, opens a
// write, by which the bytes are marked that it touches, or stands here with the reason why
// it need not. Whoever adds a way to write sees this fail; what runs kernels asks the same
// of each write when tests run (dirty.Verify).
func TestWhoWritesMemory(t *testing.T) {
	const fresh, reads, inside = "it writes into memory that it has just made", "it reads", "its callers open the write"
	need := map[string]string{
		"vjp.go run":           fresh,
		"create.go complexOf":  fresh,
		"create.go fill":       inside,
		"create.go full":       fresh,
		"create.go filled":     fresh,
		"create.go From":       fresh,
		"digest.go tensor":     reads,
		"check.go CallHost":    inside,
		"random.go CallHost":   inside,
		"compile.go View":      fresh,
		"debug.go debugged":    inside,
		"debug.go spaced":      fresh,
		"debug.go laidAs":      fresh,
		"dispatch.go one":      fresh,
		"dispatch.go applyAll": fresh,
		"dispatch.go compute":  inside,
		"fused.go run":         inside,
		"fused.go trace":       "a call of what is traced opens the writes",
		"lazy.go ready":        fresh,
		"lazy.go reduced":      fresh,
		"lazy.go compute":      fresh,
		"lazy.go alone":        fresh,
		"host.go hostView":     fresh,
		"host.go on":           fresh,
		"host.go readBytes":    "it writes into a Go slice",
		"host.go rawBytes":     "its callers read",
		"check.go outside":     "reads",
		"inplace.go laidOut":   fresh,
		"inplace.go copyViews": inside,
		"inplace.go copyInto":  inside,
		"host.go copyChanged":  inside,
		"random.go draw":       fresh,
		"sparse.go IntoRows":   "putRows opens it",
		"dispatch.go traced":   fresh,
		"tensor.go CopyTo":     "it writes into a Go slice",
	}
	writers := map[string]bool{"runPlan": true, "RunDirect": true, "copyViews": true, "copyInto": true, "putRows": true, "RunAll": true, "compute": true, "slice": true, "bytesOf": true, "Memory": true}
	opens := map[string]bool{"openWrite": true, "openWrites": true, "Enter": true, "Lend": true}
	files, _ := filepath.Glob("*.go")
	engine, _ := filepath.Glob("internal/core/*.go")
	files = append(files, engine...)
	small := func(name string) string { return strings.ToLower(name[:1]) + name[1:] }
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			var writes token.Pos
			opened := false
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				callee := call.Fun
				if ix, ok := callee.(*ast.IndexExpr); ok {
					callee = ix.X
				}
				name := ""
				switch c := callee.(type) {
				case *ast.Ident:
					name = c.Name
				case *ast.SelectorExpr:
					x, _ := c.X.(*ast.Ident)
					if name = c.Sel.Name; x != nil && x.Name == "core" {
						break
					}
					switch name {
					case "slice", "putRows", "Slice", "SliceAs":
						name = "" // methods of those names
					}
				}
				opened = opened || opens[name] || name != "" && opens[small(name)]
				ofStream := false // of what a device.Ref says
				for _, a := range call.Args {
					c, ok := a.(*ast.CompositeLit)
					if !ok {
						continue
					}
					s, ok := c.Type.(*ast.SelectorExpr)
					ofStream = ofStream || ok && s.Sel.Name == "Ref"
				}
				if (writers[name] || name != "" && writers[small(name)] || ofStream) && !writes.IsValid() {
					writes = call.Pos()
				}
				return true
			})
			key := filepath.Base(path) + " " + fn.Name.Name
			if need[key] == "" {
				key = filepath.Base(path) + " " + small(fn.Name.Name)
			}
			switch {
			case !writes.IsValid():
			case opened:
				found++
			case need[key] == "":
				t.Errorf("%s: %s writes into memory, or may, and opens no write: bytes of a tracked array would change and not be marked", set.Position(writes), fn.Name.Name)
			default:
				delete(need, key)
			}
		}
	}
	for key := range need {
		t.Errorf("%s no longer writes without opening a write: take it off the list", key)
	}
	if found < 7 {
		t.Errorf("only %d functions open a write: this test no longer sees them", found)
	}
	// Nothing else in the module runs plans or asks devices to write.
	allowed := []string{"internal/core/", "internal/exec/", "internal/cpu/", "internal/optest/", "internal/formula/", "bench/", ".git/"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		p := filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || !strings.Contains(p, "/") ||
			slices.ContainsFunc(allowed, func(dir string) bool { return strings.HasPrefix(p, dir) }) {
			return err
		}
		src, err := os.ReadFile(path)
		for _, name := range []string{"exec", "device"} {
			if bytes.Contains(src, []byte(`"weft/internal/`+name+`"`)) {
				t.Errorf("%s uses internal/%s, by which memory can be written and not marked: go through package weft", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
