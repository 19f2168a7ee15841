package core_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/tensortest"
)

func span(start, stop int) weft.ByteRange { return weft.ByteRange{Start: start, Stop: stop} }

// spans returns ranges of bytes from their starts and stops in turn.
func spans(ends ...int) (out []weft.ByteRange) {
	for e := range slices.Chunk(ends, 2) {
		out = append(out, span(e[0], e[1]))
	}
	return out
}

// clean returns t, a contiguous tensor, tracked and with nothing pending.
func clean(t testing.TB, x *weft.Tensor, opts ...weft.TrackOpts) *weft.Tracked {
	t.Helper()
	d := weft.Track(x, opts...)
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
var every = weft.TrackOpts{Cost: &weft.Cost{Latency: 1, PerSecond: 1}}

// within reports that every byte that differs lies in a pending range, and says which does
// not.
func within(t testing.TB, name string, before, after []byte, pending []weft.ByteRange) {
	t.Helper()
	for i := range before {
		if before[i] != after[i] && !slices.ContainsFunc(pending, func(p weft.ByteRange) bool { return p.Start <= i && i < p.Stop }) {
			t.Fatalf("%s: byte %d was changed, and %v is pending", name, i, pending)
		}
	}
}

// The examples that the original works through: 88 bytes for 16 that were written, and all
// of a fresh array.
func TestTrackedFlushedBytes(t *testing.T) {
	if got := weft.Track(weft.ZerosOf(weft.Float64, 5, 5), weft.TrackOpts{OneInterval: true}).Pending(); !slices.Equal(got, spans(0, 200)) {
		t.Errorf("a fresh array: %v, want (0, 200)", got)
	}
	// Items of 20 bytes: a position of two float32 and a color of three.
	for _, c := range []struct {
		opts  weft.TrackOpts
		want  []weft.ByteRange
		bytes int
	}{
		{weft.TrackOpts{OneInterval: true}, spans(0, 88), 88},
		{every, spans(0, 8, 80, 88), 16},
		{weft.TrackOpts{Cost: &weft.Cost{Latency: 72, PerSecond: 1e9}}, spans(0, 88), 88},
		{weft.TrackOpts{Cost: &weft.Cost{Latency: 71, PerSecond: 1e9}}, spans(0, 8, 80, 88), 16},
		{weft.TrackOpts{Item: new(20), Cost: every.Cost}, spans(0, 20, 80, 100), 40},
	} {
		v := weft.Zeros(3, 3, 5)
		d := clean(t, v, c.opts)
		position := v.Slice(weft.All, weft.All, weft.Range(0, 2))
		position.Slice(weft.Index(0), weft.Index(0)).Assign(1)
		if got := d.Pending(); len(got) != 1 || c.opts.Item == nil && got[0] != (span(0, 8)) {
			t.Errorf("%+v: after position[0, 0]: %v", c.opts, got)
		}
		position.Slice(weft.Index(1), weft.Index(1)).Assign(2)
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
func TestWritesMarkTrackedBytes(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	twice := newGiven("trackedtwice", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Add, nil, x[0], x[0]), op.Apply(op.Mul, nil, x[0], x[0])}
	})
	base := func() *weft.Tensor { return weft.Arange(1., 101).Reshape(10, 10) }
	all := spans(0, 400)
	row := func(i int) weft.ByteRange { return span(40*i, 40*i+40) }
	column := func(i, n int) (out []weft.ByteRange) {
		for k := range 10 {
			out = append(out, span(40*k+4*i, 40*k+4*(i+n)))
		}
		return out
	}
	for name, c := range map[string]struct {
		write func(x *weft.Tensor)
		want  []weft.ByteRange
	}{
		"assign":        {func(x *weft.Tensor) { x.Assign(3) }, all},
		"assign tensor": {func(x *weft.Tensor) { x.Assign(weft.Ones(10)) }, all},
		"fill":          {func(x *weft.Tensor) { x.Fill(7) }, all},
		"zero":          {func(x *weft.Tensor) { x.Zero() }, all},
		"add":           {func(x *weft.Tensor) { x.AddAssign(3) }, all},
		"sub":           {func(x *weft.Tensor) { x.SubAssign(weft.Ones(10, 1)) }, all},
		"mul":           {func(x *weft.Tensor) { x.MulAssign(x) }, all},
		"div":           {func(x *weft.Tensor) { x.DivAssign(2) }, all},
		"overlapping":   {func(x *weft.Tensor) { x.Slice(weft.Range(1, 10)).Assign(x.Slice(weft.Range(0, 9))) }, spans(40, 400)},
		"update":        {func(x *weft.Tensor) { x.Update((*weft.Tensor).Square) }, spans(4, 400)}, // 1 stays 1
		"rows put": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(-1, []int{7, 2, 7}) })
		}, []weft.ByteRange{row(2), row(7)}},
		"columns put": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(-1, weft.All, []int{4}) })
		}, column(4, 1)},
		"elements put": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(weft.Ones(2).Neg(), []int{2, -1}, []int{3, 0}) })
		}, spans(92, 96, 360, 364)},
		"rows added to": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(weft.Ones(10), []int{3, 3}) })
		}, []weft.ByteRange{row(3)}},
		"index added": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexAdd(0, weft.From([]int{1, 5}), weft.Ones(2, 10)) })
		}, []weft.ByteRange{row(1), row(5)}},
		"scattered": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.Scatter(1, weft.From([][]int{{3}}), -1) })
		}, spans(12, 16)},
		"masked": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.MaskedFill(x.Gt(98), 0) })
		}, spans(392, 400)},
		"mask put": {func(x *weft.Tensor) {
			x.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(0, x.Eq(35)) })
		}, spans(136, 140)},
		"rows of a column put": {func(x *weft.Tensor) {
			x.T().Slice(weft.Range(3, 5)).Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(0, weft.All, []int{6}) })
		}, spans(252, 260)},
		"put backwards": {func(x *weft.Tensor) {
			x.Slice(weft.Range(9, 0, -2)).Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(0, []int{1}) })
		}, []weft.ByteRange{row(7)}},
		"transposed into itself": {func(x *weft.Tensor) {
			x.Slice(weft.Range(0, 2), weft.Range(0, 2)).Update((*weft.Tensor).T)
		}, spans(4, 8, 40, 44)},
		"updated by a row": {func(x *weft.Tensor) {
			x.Slice(weft.Range(2, 4)).Update(func(x *weft.Tensor) *weft.Tensor { return weft.Ones(10) })
		}, spans(80, 160)},
		"row":              {func(x *weft.Tensor) { x.Slice(weft.Index(3)).AddAssign(1) }, []weft.ByteRange{row(3)}},
		"last row":         {func(x *weft.Tensor) { x.Slice(weft.Index(-1)).AddAssign(1) }, []weft.ByteRange{row(9)}},
		"element":          {func(x *weft.Tensor) { x.At(2, 3).Assign(-1) }, spans(92, 96)},
		"column":           {func(x *weft.Tensor) { x.Slice(weft.All, weft.Index(4)).MulAssign(2) }, column(4, 1)},
		"field":            {func(x *weft.Tensor) { x.Slice(weft.All, weft.Range(2, 5)).MulAssign(2) }, column(2, 3)},
		"negative step":    {func(x *weft.Tensor) { x.Slice(weft.Range(9, 5, -1)).AddAssign(1) }, spans(240, 400)},
		"negative steps":   {func(x *weft.Tensor) { x.Slice(weft.Range(8, 2, -5), weft.Range(9, 7, -1)).AddAssign(1) }, spans(40*3+32, 160, 40*8+32, 360)},
		"transposed":       {func(x *weft.Tensor) { x.T().Slice(weft.Index(4)).MulAssign(2) }, column(4, 1)},
		"every second":     {func(x *weft.Tensor) { x.Slice(weft.Index(0), weft.Range(0, 6, 2)).Assign(0) }, spans(0, 4, 8, 12, 16, 20)},
		"diagonal":         {func(x *weft.Tensor) { x.Slice(weft.Range(0, 2)).Diagonal(0).Assign(0) }, spans(0, 4, 44, 48)},
		"empty":            {func(x *weft.Tensor) { x.Slice(weft.Range(4, 4)).Assign(3) }, nil},
		"reshaped":         {func(x *weft.Tensor) { x.Reshape(2, 5, 10).Slice(weft.Index(1)).Assign(3) }, spans(200, 400)},
		"detached":         {func(x *weft.Tensor) { x.Detach().Slice(weft.Index(1)).Assign(3) }, []weft.ByteRange{row(1)}},
		"without gradient": {func(x *weft.Tensor) { x.Detach().Slice(weft.Index(1)).Assign(3) }, []weft.ByteRange{row(1)}},
		"unsqueezed":       {func(x *weft.Tensor) { x.Unsqueeze(0).Squeeze(0).Slice(weft.Index(1)).Assign(3) }, []weft.ByteRange{row(1)}},
		"borrow":           {func(x *weft.Tensor) { weft.Borrow(x.Slice(weft.Index(2)), func(d []float32) { d[0] = 9 }) }, []weft.ByteRange{row(2)}},
		"sink": {func(x *weft.Tensor) {
			if _, err := x.Sink().WriteAt([]byte{1, 2, 3, 4, 5}, 41); err != nil {
				t.Error(err)
			}
		}, spans(40, 48)},
		"formula": {func(x *weft.Tensor) {
			x.Slice(weft.Index(0)).Assign(weft.Expr("2*x", weft.Vars{"x": x.Slice(weft.Index(1))}))
		}, []weft.ByteRange{row(0)}},
		"fused": {func(x *weft.Tensor) {
			twice.Into([]*weft.Tensor{x.Slice(weft.Index(1)), x.Slice(weft.Index(3))}, x.Slice(weft.Index(0)))
		}, []weft.ByteRange{row(1), row(3)}},
		"in place": {func(x *weft.Tensor) {
			twice.Into([]*weft.Tensor{x.Slice(weft.Index(1)), x.Slice(weft.Index(0))}, x.Slice(weft.Index(0)))
		}, spans(0, 80)},
		"columns": {func(x *weft.Tensor) {
			twice.Into([]*weft.Tensor{x.Slice(weft.All, weft.Index(1)), weft.Zeros(10)}, x.Slice(weft.All, weft.Index(0)))
		}, column(1, 1)},
		"together": {func(x *weft.Tensor) {
			twice.IntoAll(func(yield func([]*weft.Tensor, []any) bool) {
				yield([]*weft.Tensor{x.Slice(weft.Index(1)), x.Slice(weft.Index(2))}, []any{x.Slice(weft.Index(0))})
				yield([]*weft.Tensor{x.Slice(weft.Index(4)), x.Slice(weft.Index(6))}, []any{x.Slice(weft.Index(5))})
			})
		}, []weft.ByteRange{span(40, 120), row(4), row(6)}},
		"rows": {func(x *weft.Tensor) {
			twice.IntoRows(weft.FromSlice([]int64{7, -9}), []*weft.Tensor{x, weft.Zeros(10, 10)}, x)
		}, []weft.ByteRange{row(1), row(7)}},
		"rows across": {func(x *weft.Tensor) {
			twice.IntoRows(weft.FromSlice([]int64{7, -9}), []*weft.Tensor{x.T(), weft.Zeros(10, 10)}, x.T())
		}, slices.Concat(column(1, 1), column(7, 1))},
		"operation into": {func(x *weft.Tensor) {
			eagerInto(op.Square, []*weft.Tensor{x.Slice(weft.Index(5))}, x.Slice(weft.Index(6)))
		}, []weft.ByteRange{row(5)}},
		"operation over its argument": {func(x *weft.Tensor) {
			eagerInto(op.Square, []*weft.Tensor{x.Slice(weft.Range(5, 7))}, x.Slice(weft.Range(6, 8)))
		}, spans(200, 280)},
	} {
		x := base()
		d := clean(t, x, every)
		before := bytes.Clone(tensortest.Memory(x))
		c.write(x)
		got := d.Pending()
		slices.SortFunc(c.want, func(a, b weft.ByteRange) int { return a.Start - b.Start })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v is pending, want %v", name, got, c.want)
		}
		within(t, name, before, tensortest.Memory(x), got)
		if len(c.want) > 0 && bytes.Equal(before, tensortest.Memory(x)) {
			t.Errorf("%s changed nothing", name)
		}
	}
	// A compiled function marks the windows that it writes, of what it captures and of its
	// arguments, for some windows.
	ones := weft.Ones(10)
	for name, c := range map[string]struct {
		write func(y *weft.Tensor)
		want  []weft.ByteRange
	}{
		"first row":     {func(y *weft.Tensor) { y.Slice(weft.Index(0)).AddAssign(ones) }, []weft.ByteRange{row(0)}},
		"row":           {func(y *weft.Tensor) { y.Slice(weft.Index(3)).AddAssign(ones) }, []weft.ByteRange{row(3)}},
		"row, twice":    {func(y *weft.Tensor) { y.Slice(weft.Index(3)).AddAssign(ones); y.Slice(weft.Index(3)).MulAssign(2) }, []weft.ByteRange{row(3)}},
		"rows":          {func(y *weft.Tensor) { y.Slice(weft.Index(3)).AddAssign(ones); y.Slice(weft.Index(7)).Fill(1) }, []weft.ByteRange{row(3), row(7)}},
		"column":        {func(y *weft.Tensor) { y.Slice(weft.All, weft.Index(4)).MulAssign(2) }, column(4, 1)},
		"backwards":     {func(y *weft.Tensor) { y.Slice(weft.Range(9, 5, -1)).AddAssign(ones) }, spans(240, 400)},
		"all":           {func(y *weft.Tensor) { y.AddAssign(ones) }, all},
		"all, then row": {func(y *weft.Tensor) { y.AddAssign(ones); y.Slice(weft.Index(3)).Fill(1) }, all},
		"row, then all": {func(y *weft.Tensor) {
			y.Slice(weft.Index(3)).Fill(1)
			y.AddAssign(ones)
			y.Slice(weft.Index(4)).Fill(1)
		}, all},
		"transposed": {func(y *weft.Tensor) { y.T().Slice(weft.Index(4)).MulAssign(2) }, column(4, 1)},
		"many windows": {func(y *weft.Tensor) {
			for i := range core.MaxWindows + 1 {
				y.At(i%10, 2*(i/10)).AddAssign(1)
			}
		}, all},
	} {
		for _, captured := range []bool{true, false} {
			whole := weft.Arange(1., 121).Reshape(12, 10)
			y := whole.Slice(weft.Range(1, 11))
			d := clean(t, y, every)
			f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				if captured {
					x = y
				}
				c.write(x)
				return ones.Add(1)
			})
			for range 3 {
				y.AddAssign(1) // what was written is not what is to be written
				d.Flush(nowhere{})
				before := bytes.Clone(tensortest.Memory(y))
				if captured {
					f.Call(weft.Ones(1))
				} else {
					f.Call(y)
				}
				within(t, "a compiled function, "+name, before, tensortest.Memory(y), d.Pending())
				if bytes.Equal(before, tensortest.Memory(y)) {
					t.Errorf("a compiled function changed nothing: %s", name)
				}
				if got := d.Pending(); !slices.Equal(got, c.want) {
					t.Errorf("a compiled function, %s, captured %v: %v is pending, want %v", name, captured, got, c.want)
				}
			}
		}
	}
	// Nothing outside the window changes that is not pending, not even a NaN that signals.
	for dt, nan := range map[weft.DType][]byte{weft.Float16: {0x01, 0x7d}, weft.BFloat16: {0x81, 0x7f}, weft.Float32: {1, 0, 0x80, 0x7f}, weft.Float64: {1, 0, 0, 0, 0, 0, 0xf0, 0x7f}} {
		y := weft.ZerosOf(dt, 4, 8)
		for i := range tensortest.Memory(y) {
			tensortest.Memory(y)[i] = nan[i%len(nan)]
		}
		d := clean(t, y, every)
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
			y.Slice(weft.Index(2)).Assign(x)
			return x.Add(1)
		})
		for i := range 3 {
			before := bytes.Clone(tensortest.Memory(y))
			f.Call((*weft.Tensor)(core.Full("full", core.Whole(int64(i+1)), 0, dt, []int{8})))
			within(t, "a compiled function of "+dt.String(), before, tensortest.Memory(y), d.Pending())
			if got, row := d.Pending(), 8*len(nan); len(nan) > 2 && !slices.Equal(got, spans(2*row, 3*row)) {
				t.Errorf("%s: %v is pending", dt, got)
			}
			d.Flush(nowhere{})
		}
	}
	// Gradients are added to in place.
	w := base().RequireGrad()
	w.Sum().Backward()
	d := clean(t, w.Grad(), every)
	before := bytes.Clone(tensortest.Memory(w.Grad()))
	w.Square().Sum().Backward()
	if got := d.Pending(); !slices.Equal(got, all) || bytes.Equal(before, tensortest.Memory(w.Grad())) {
		t.Errorf("a gradient that was added to: %v", got)
	}
}

func eagerInto(d *op.Def, dst []*weft.Tensor, args ...*weft.Tensor) {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.Operand{T: (*core.Tensor)(x)}
	}
	core.Call(d, nil, core.Inner(dst), ops...)
}

// Whatever a write touches although it fails is marked.
func TestFailedWritesMark(t *testing.T) {
	x := weft.Zeros(4)
	d := clean(t, x, every)
	func() {
		defer func() { recover() }()
		weft.Borrow(x, func(data []float32) {
			data[1] = 1
			panic("halfway")
		})
	}()
	if got := d.Pending(); !slices.Equal(got, spans(0, 16)) {
		t.Errorf("%v is pending after a function that panicked", got)
	}
	d.Flush(nowhere{})
	for range 2 { // a writer that did not leave would keep the flush out
		if err := weft.Try(func() { x.Assign(weft.Zeros(3)) }); err == nil {
			t.Error("shapes that do not fit were assigned")
		}
		if err := weft.Try(func() { weft.ZerosOf(weft.Int8, 2).AddAssign(1 << 20) }); err == nil {
			t.Error("a number that does not fit was added")
		}
		n := weft.ZerosOf(weft.Int8, 4)
		d := clean(t, n)
		if err := weft.Try(func() { n.AddAssign(1 << 20) }); err == nil {
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
	tensortest.SkipLate(t, "it compares memory of the host")
	writes := []string{"AddAssign", "SubAssign", "MulAssign", "DivAssign", "Assign", "Set", "Update", "Zero", "Fill", "Release", "Sink", "Backward"}
	methods := reflect.TypeFor[*weft.Tensor]()
	called := 0
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		for _, dt := range []weft.DType{weft.Float32, weft.Int32, weft.Bool, weft.Complex64} {
			x := weft.ZerosOf(dt, 4, 4)
			d := clean(t, x, every)
			before := bytes.Clone(tensortest.Memory(x))
			for _, recv := range []*weft.Tensor{x, x.T(), x.Slice(weft.Range(3, 0, -1)), x.Slice(weft.Index(1)), x.At(0, 0), x.Slice(weft.Range(0, 0))} {
				for _, arg := range []*weft.Tensor{x, x.Slice(weft.Index(2)), weft.ZerosOf(weft.Int64, 2)} {
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
					within(t, m.Name, before, tensortest.Memory(x), d.Pending())
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
	weft.Data[float32](x)
	weft.CopyTo(x, make([]float32, 16))
	weft.Digest(x)
	_ = fmt.Sprint(x)
	core.ToHost((*core.Tensor)(x))
	x.Expand(3, 4, 4).Sum()
	if p := d.Pending(); len(p) > 0 {
		t.Errorf("reading left %v pending", p)
	}
	if err := weft.Try(func() { x.Expand(3, 4, 4).Assign(1) }); err == nil {
		t.Error("an expanded view was written to")
	}
}

func base(n int) *weft.Tensor { return weft.Arange(float64(n*n)).Reshape(n, n) }

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
	tensortest.SkipLate(t, "it compares memory of the host")
	x := weft.Zeros(100)
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
	if got := d.Pending(); len(got) != 7 || got[0] != (span(120, 124)) {
		t.Errorf("%v is pending", got)
	}
	if n, err := d.Flush(m); n != 28 || err != nil || !bytes.Equal(m.data, tensortest.Memory(x)) {
		t.Errorf("the second flush sent %d: %v", n, err)
	}
	// Finish fails: nothing of it counts.
	x.At(3).Assign(9)
	x.At(5).Assign(9)
	m.finish = io.ErrClosedPipe
	if n, err := d.Flush(finishing{m}); n != 0 || err != io.ErrClosedPipe {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, spans(12, 16, 20, 24)) {
		t.Errorf("%v is pending", got)
	}
	m.finish = nil
	// A sink that panics, and one that writes less than it says no error about.
	m.pending = func() { panic("sink") }
	func() {
		defer func() { recover() }()
		d.Flush(m)
	}()
	if got := d.Pending(); !slices.Equal(got, spans(12, 16, 20, 24)) {
		t.Errorf("after a panic %v is pending", got)
	}
	if n, err := d.Flush(short{}); n != 1 || err != io.ErrShortWrite {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, spans(12, 16, 20, 24)) {
		t.Errorf("after a short write %v is pending", got)
	}
	// What is written while the sink is busy is pending afterwards, or was sent.
	m.pending = func() { x.At(3).AddAssign(1); x.At(70).Assign(5) }
	if n, err := d.Flush(finishing{m}); n != 8 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := d.Pending(); !slices.Equal(got, spans(12, 16, 280, 284)) {
		t.Errorf("%v is pending", got)
	}
	m.pending = nil
	if _, err := d.Flush(m); err != nil || !bytes.Equal(m.data, tensortest.Memory(x)) {
		t.Errorf("the sink has other bytes: %v", err)
	}
}

type short struct{}

func (short) WriteAt(p []byte, off int64) (int, error) { return 1, nil }

// Large arrays are sent piece by piece, whole items each.
func TestFlushInPieces(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	for _, item := range []int{0, 20, 12, 3 << 20} {
		x := weft.Arange(float64(5 << 18)) // 5 MiB
		if item == 3<<20 {
			x = weft.Arange(float64(9 << 18))
		}
		opts := weft.TrackOpts{Cost: every.Cost}
		if item > 0 {
			opts.Item = new(item)
		}
		d := weft.Track(x, opts)
		m := &mirror{data: make([]byte, d.Bytes())}
		n, err := d.Flush(m)
		if n != d.Bytes() || err != nil || !bytes.Equal(m.data, tensortest.Memory(x)) || m.calls < 3 {
			t.Errorf("item %d: %d bytes of %d in %d calls: %v", item, n, d.Bytes(), m.calls, err)
		}
	}
}

// What Borrow lends is not sent, and a flush inside it does not wait for ever.
func TestFlushWhileBorrowed(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	x := weft.Zeros(30)
	d := weft.Track(x, weft.TrackOpts{Item: new(12), Cost: every.Cost})
	m := &mirror{data: make([]byte, 120)}
	weft.Borrow(x.Slice(weft.Range(4, 7)), func(data []float32) {
		data[0] = 1
		if n, err := d.Flush(m); n != 96 || err != nil {
			t.Errorf("%d bytes were sent, want all but two items: %v", n, err)
		}
		data[1] = 2
		x.At(4).AddAssign(1)
		if got := d.Pending(); !slices.Equal(got, spans(12, 36)) {
			t.Errorf("%v is pending", got)
		}
	})
	if _, err := d.Flush(m); err != nil || !bytes.Equal(m.data, tensortest.Memory(x)) {
		t.Errorf("the sink has other bytes: %v", err)
	}
}

// A view can be tracked, and an array several times; Stop ends it.
func TestTrackedSeveralTimes(t *testing.T) {
	x := base(10)
	one, two := clean(t, x, every), clean(t, x.Slice(weft.Range(5, 10)), every)
	x.Slice(weft.Range(4, 6)).Assign(1)
	if a, b := one.Pending(), two.Pending(); !slices.Equal(a, spans(160, 240)) || !slices.Equal(b, spans(0, 40)) {
		t.Errorf("%v and %v", a, b)
	}
	one.Stop()
	x.Assign(2)
	if a, b := one.Pending(), two.Pending(); !slices.Equal(a, spans(160, 240)) || !slices.Equal(b, spans(0, 200)) {
		t.Errorf("after Stop: %v and %v", a, b)
	}
	// A view with gaps: its memory from first to last.
	c := weft.Track(x.Slice(weft.All, weft.Index(3)))
	if c.Bytes() != 9*40+4 || !slices.Equal(c.Pending(), spans(0, 364)) {
		t.Errorf("a column: %d bytes, %v", c.Bytes(), c.Pending())
	}
	m := &mirror{data: make([]byte, c.Bytes())}
	c.Flush(m)
	x.Slice(weft.Index(2)).Assign(3)
	if got := c.Pending(); !slices.Equal(got, spans(68, 108)) {
		t.Errorf("a column: %v", got)
	}
	for _, e := range []*weft.Tensor{weft.Zeros(0), x.Slice(weft.Range(3, 3))} {
		d := weft.Track(e)
		e.Assign(1)
		if n, err := d.Flush(m); n != 0 || err != nil || d.Bytes() != 0 || len(d.Pending()) != 0 {
			t.Errorf("an empty array: %d, %v", n, err)
		}
	}
	z := weft.ZerosOf(weft.Complex64, 4)
	d := clean(t, z, every)
	z.Imag().Slice(weft.Index(1)).Assign(2)
	if got := d.Pending(); !slices.Equal(got, spans(8, 16)) {
		t.Errorf("an imaginary part: %v", got)
	}
	data := make([]float32, 8)
	y := weft.FromSlice(data)
	d = clean(t, y, every)
	data[2] = 1
	if d.Mark(y.At(2)); !slices.Equal(d.Pending(), spans(8, 12)) {
		t.Errorf("marked by hand: %v", d.Pending())
	}
}
