package core_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/dirty"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/op"
	"weft/internal/tensortest"
)

// Scripts of random writes through random views: every byte that changed is pending, for
// every policy, and sinks have the array's bytes after each flush.
//
//	WEFT_TRACKED=200000 go test -run RandomWrites -timeout 0 .
//
// plays 200,000 scripts.
func TestTrackedRandomWrites(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	scripts := 4000
	if testing.Short() {
		scripts = 1500
	}
	if n, err := strconv.Atoi(os.Getenv("WEFT_TRACKED")); err == nil {
		scripts = n
	}
	types := []weft.DType{weft.Float32, weft.Float64, weft.Int8, weft.Uint16, weft.Int64, weft.Bool, weft.Complex64, weft.Float16}
	for seed := range scripts {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		dt := types[r.IntN(len(types))]
		shape := make([]int, 1+r.IntN(4))
		for i := range shape {
			shape[i] = 1 + r.IntN(6)
		}
		x := weft.ZerosOf(dt, shape...)
		opts := []weft.TrackOpts{{}, {OneInterval: true}, every, {Item: new(dt.Size() * (1 + r.IntN(4))), Cost: &weft.Cost{Latency: 20, PerSecond: 1e9}}}
		var ds []*weft.Tracked
		var sinks []*mirror
		for _, o := range opts {
			ds = append(ds, weft.Track(x, o))
			sinks = append(sinks, &mirror{data: make([]byte, len(tensortest.Memory(x)))})
		}
		for range 1 + r.IntN(8) {
			for i, d := range ds {
				if r.IntN(3) == 0 {
					sinks[i].fail = sinks[i].calls + r.IntN(4)
					_, err := d.Flush(sinks[i])
					if err == nil && !bytes.Equal(sinks[i].data, tensortest.Memory(x)) {
						t.Fatalf("seed %d, %+v: the sink has other bytes", seed, opts[i])
					}
				}
			}
			before := bytes.Clone(tensortest.Memory(x))
			what := someWrite(r, someView(r, x))
			for i, d := range ds {
				within(t, fmt.Sprintf("seed %d, %s, %+v", seed, what, opts[i]), before, tensortest.Memory(x), d.Pending())
			}
		}
		for i, d := range ds {
			sinks[i].fail = 0
			if _, err := d.Flush(sinks[i]); err != nil || !bytes.Equal(sinks[i].data, tensortest.Memory(x)) {
				t.Fatalf("seed %d, %+v: after the last flush the sink has other bytes: %v", seed, opts[i], err)
			}
		}
	}
}

// someView returns some writable view of x.
func someView(r *rand.Rand, x *weft.Tensor) *weft.Tensor {
	v := x
	for range r.IntN(4) {
		w := v
		switch r.IntN(6) {
		case 0:
			if v.Rank() > 1 {
				w = v.Transpose(r.IntN(v.Rank()), r.IntN(v.Rank()))
			}
		case 1:
			w = v.Unsqueeze(0)
		case 2:
			if v.Rank() > 1 && tensortest.View(v).Contiguous() {
				w = v.Reshape(-1)
			}
		case 3:
			if v.Rank() > 1 {
				w = v.Diagonal(r.IntN(3) - 1)
			}
		default:
			var spans []weft.Span
			for _, n := range v.Shape() {
				switch r.IntN(4) {
				case 0:
					if n > 0 {
						spans = append(spans, weft.Index(r.IntN(2*n)-n))
						continue
					}
					fallthrough
				case 1:
					lo := r.IntN(n + 1)
					spans = append(spans, weft.Range(lo, lo+r.IntN(n-lo+1), 1+r.IntN(3)))
				case 2:
					if n > 0 {
						hi := r.IntN(n)
						spans = append(spans, weft.Range(hi, r.IntN(hi+1), -1-r.IntN(2)))
						continue
					}
					fallthrough
				default:
					spans = append(spans, weft.All)
				}
			}
			w = v.Slice(spans...)
		}
		if tensortest.View(w).Store == tensortest.View(x).Store {
			v = w
		}
	}
	return v
}

// someWrite writes into a view in some way, and says in which.
func someWrite(r *rand.Rand, v *weft.Tensor) string {
	value := r.IntN(100)
	switch r.IntN(9) {
	case 7:
		if v.Rank() > 0 && v.Shape()[0] > 0 {
			n := v.Shape()[0]
			v.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(value%2, []int{r.IntN(n), r.IntN(n) - n}) })
			return "put rows"
		}
	case 8:
		if tensortest.View(v).DType != weft.Bool && tensortest.View(v).DType != weft.Complex64 {
			v.Update(func(x *weft.Tensor) *weft.Tensor { return x.MaskedFill(x.Eq(value%3), value%2) })
			return "fill where a mask is"
		}
	case 0:
		if tensortest.View(v).DType != weft.Bool {
			v.AddAssign(1 + value%2)
			return "add"
		}
	case 1:
		v.Assign(weft.FullOf(v.DType(), value, v.Shape()...))
		return "assign a tensor"
	case 2:
		v.Update(func(x *weft.Tensor) *weft.Tensor { return x.Add(1).To(tensortest.View(v).DType) })
		return "update"
	case 3:
		if tensortest.View(v).Contiguous() && v.Size() > 0 {
			b := make([]byte, 1+r.IntN(v.Size()*tensortest.View(v).DType.Size()))
			for i := range b {
				b[i] = byte(r.IntN(2))
			}
			v.Sink().WriteAt(b, int64(r.IntN(v.Size()*tensortest.View(v).DType.Size()-len(b)+1)))
			return "sink"
		}
	case 4:
		if tensortest.View(v).DType == weft.Float32 && tensortest.View(v).Contiguous() {
			weft.Borrow(v, func(d []float32) {
				if len(d) > 0 {
					d[r.IntN(len(d))]++
				}
			})
			return "borrow"
		}
	case 5:
		if v.Rank() > 0 && v.Shape()[0] > 1 {
			n := v.Shape()[0]
			v.Slice(weft.Range(1, n)).Assign(v.Slice(weft.Range(0, n-1)))
			return "assign what overlaps"
		}
	}
	v.Fill(value % 2)
	return "fill"
}

// checked is a sink that demands that all words of an item are the same.
type checked struct {
	mirror
	item int
	torn int
}

func (c *checked) WriteAt(p []byte, off int64) (int, error) {
	for len(p) >= c.item {
		if !bytes.Equal(p[4:c.item], p[:c.item-4]) {
			c.torn++
		}
		n, _ := c.mirror.WriteAt(p[:c.item], off)
		p, off = p[n:], off+int64(n)
	}
	return c.item, nil
}

// Writers and flushers at the same time: no flush sends an item half written, and in the
// end every sink has everything. The race detector sees it where it is on.
func TestWritersAndFlushers(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	const rows, wide = 3, 1 << 15
	x := weft.Zeros(rows, wide)
	both := newGiven("trackedboth", func(a []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Add, nil, a[0], a[1]), op.Apply(op.Add, nil, a[2], a[1])}
	})
	rounds := 2000
	if testing.Short() {
		rounds = 400
	}
	done := make(chan struct{})
	var writers, flushers sync.WaitGroup
	begin := make(chan struct{}) // what is being written when Track is called may be sent by halves
	for w := range 3 {
		writers.Go(func() {
			<-begin
			for i := range rounds {
				row := x.Slice(weft.Index(w))
				switch i % 4 {
				case 0:
					row.Assign(i)
				case 1:
					row.AddAssign(1)
				case 2: // two fields of an item
					a, b := row.Slice(weft.Range(0, wide, 2)), row.Slice(weft.Range(1, wide, 2))
					both.Into([]*weft.Tensor{a, b}, a, 3, b)
				case 3:
					weft.Borrow(row, func(data []float32) {
						for k := range data {
							data[k] = float32(i)
						}
					})
				}
			}
		})
	}
	sinks := make([]*checked, 3)
	var ds []*weft.Tracked
	for k := range sinks {
		c := &checked{mirror: mirror{data: make([]byte, rows*wide*4)}, item: wide * 4}
		d := weft.Track(x, weft.TrackOpts{Item: new(wide * 4), OneInterval: k == 1})
		sinks[k], ds = c, append(ds, d)
		flushers.Go(func() {
			for {
				if n, err := d.Flush(wholeSink{c}); err != nil {
					t.Error(n, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	close(begin)
	writers.Wait()
	close(done)
	flushers.Wait()
	for k, c := range sinks {
		if _, err := ds[k].Flush(wholeSink{c}); err != nil || !bytes.Equal(c.data, tensortest.Memory(x)) {
			t.Errorf("sink %d has other bytes than the array: %v", k, err)
		}
		if c.torn > 0 {
			t.Errorf("sink %d was sent %d items half written", k, c.torn)
		}
	}
}

// wholeSink says that all was written.
type wholeSink struct{ c *checked }

func (s wholeSink) WriteAt(p []byte, off int64) (int, error) {
	if len(p)%s.c.item != 0 || off%int64(s.c.item) != 0 {
		return 0, errors.New("not whole items")
	}
	_, err := s.c.WriteAt(p, off)
	return len(p), err
}

// Arrays flushed to one another in a circle, and writes into two of them, do not wait for
// one another for ever.
func TestFlushCyclesDoNotDeadlock(t *testing.T) {
	a, b := weft.Zeros(100), weft.Zeros(100)
	da, db := weft.Track(a), weft.Track(b)
	add := newGiven("trackedcircle", func(x []*ir.Node) []*ir.Node { return []*ir.Node{x[0], x[1]} })
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for range 200 {
				switch k {
				case 0:
					da.Flush(b.Sink())
				case 1:
					db.Flush(a.Sink())
				case 2:
					add.Into([]*weft.Tensor{a.Slice(weft.Range(0, 50)), b.Slice(weft.Range(50, 100))}, weft.Ones(50), weft.Ones(50))
				case 3:
					add.Into([]*weft.Tensor{b.Slice(weft.Range(0, 50)), a.Slice(weft.Range(50, 100))}, weft.Ones(50), weft.Ones(50))
				}
			}
		})
	}
	wg.Wait()
}

// A file, another array, another device and memory whose content is not there yet.
func TestSinks(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	x := weft.Arange(1000.).Reshape(100, 10)
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := device.Register(cpu.NewIn(mem.NewPool(), jit.ISAs()[0]))
	there := (*core.Tensor)(weft.Zeros(100, 10)).On(other)
	here := weft.Zeros(1000)
	chained := weft.Track(here, every)
	last := &mirror{data: make([]byte, 4000)}
	df, dt, dh := weft.Track(x, every), weft.Track(x, every), weft.Track(x, every)
	for i := range 5 {
		for d, sink := range map[*weft.Tracked]interface {
			WriteAt(p []byte, off int64) (int, error)
		}{df: f, dt: (*weft.Tensor)(there).Sink(), dh: here.Sink()} {
			if n, err := d.Flush(sink); err != nil || n == 0 || i > 0 && n > 160 {
				t.Errorf("%d: %d bytes, %v", i, n, err)
			}
		}
		if n, err := chained.Flush(last); err != nil || n == 0 || i > 0 && n > 160 {
			t.Errorf("what a sink received is pending further on: %d, %v", n, err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil || !bytes.Equal(got, tensortest.Memory(x)) || !bytes.Equal(last.data, tensortest.Memory(x)) || weft.Digest(here.Reshape(100, 10)) != weft.Digest(x) || weft.Digest((*weft.Tensor)(there.On(0))) != weft.Digest(x) {
			t.Fatalf("%d: a sink has other bytes: %v", i, err)
		}
		x.Slice(weft.Range(3+i, 5+i)).MulAssign(2)
		x.At(50, i).Assign(i)
	}
	if there.View().Store.Device != other {
		t.Error("the array moved")
	}
	for name, f := range map[string]func(){
		"a transposed sink": func() { x.T().Sink() },
		"an expanded sink":  func() { weft.Zeros(1).Expand(4).Sink() },
		"a leaf":            func() { weft.Zeros(4).RequireGrad().Sink() },
		"no sink":           func() { weft.Track(x).Flush(nil) },
		"half an item":      func() { weft.Track(x, weft.TrackOpts{Item: new(6)}) },
		"another array":     func() { weft.Track(x).Mark(here) },
		"nil":               func() { (*weft.Tracked)(nil).Pending() },
		"zero":              func() { new(weft.Tracked).Pending() },
		"cost":              func() { weft.Track(x, weft.TrackOpts{Cost: &weft.Cost{Latency: -1}}) },
	} {
		if err := weft.Try(f); err == nil {
			t.Errorf("%s was not refused", name)
		}
	}
	for _, off := range []int64{-1, 3998, 1 << 62} {
		if n, err := here.Sink().WriteAt(make([]byte, 4), off); n != 0 || err == nil {
			t.Errorf("bytes at %d were written: %d, %v", off, n, err)
		}
	}
	// Deferred content counts as written.
	st := core.Alloc(0, 16)
	mem := st.Host()
	st.Defer(func() { *(*float32)(mem) = 7 })
	y := tensortest.Of(array.View{Store: st, DType: weft.Float32, Shape: []int{4}, Strides: []int{1}})
	d := weft.Track(y)
	m := &mirror{data: make([]byte, 16)}
	if n, err := d.Flush(m); n != 16 || err != nil || !bytes.Equal(m.data, tensortest.Memory(y)) || weft.Data[float32](y)[0] != 7 {
		t.Errorf("deferred: %d, %v, %v", n, err, m.data)
	}
}

// slowSink takes as long as a sink of that cost.
type slowSink struct{ cost weft.Cost }

func (s slowSink) WriteAt(p []byte, off int64) (int, error) {
	time.Sleep(s.cost.Latency + time.Duration(float64(len(p))/s.cost.PerSecond*1e9))
	return len(p), nil
}

// What Measure finds is about what a sink costs, and pending bytes are merged by it.
func TestMeasure(t *testing.T) {
	x := weft.Zeros(1 << 18)
	d := weft.Track(x)
	var c weft.Cost
	tensortest.Patient(t, func() string { // the sink sleeps longer where the system is busy
		var err error
		if c, err = d.Measure(slowSink{weft.Cost{Latency: 2 * time.Millisecond, PerSecond: 20e6}}); err != nil || c.Latency < 2*time.Millisecond {
			t.Errorf("%+v, %v", c, err)
		}
		if c.Latency > 10*time.Millisecond || c.PerSecond < 1e6 || c.PerSecond > 40e6 {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	if got := d.Pending(); len(got) != 1 || got[0].Stop != 1<<20 {
		t.Errorf("after measuring %v is pending", got)
	}
	d.Flush(nowhere{})
	gap := int(c.Latency.Seconds() * c.PerSecond)
	x.At(0).Assign(1)
	x.At(gap/4 - 2).Assign(1)
	if got := d.Pending(); len(got) != 1 {
		t.Errorf("%+v, a gap of less than %d bytes: %v", c, gap, got)
	}
	x.At(gap/2 + 10).Assign(1)
	if got := d.Pending(); len(got) != 2 {
		t.Errorf("%+v, a gap of more than %d bytes: %v", c, gap, got)
	}
	if _, err := d.Measure(&mirror{data: make([]byte, 1<<20), fail: 3}); err == nil {
		t.Error("a sink that fails was measured")
	}
	if c, err := weft.Track(weft.Zeros(1)).Measure(nowhere{}); err != nil || c != (weft.Cost{}) {
		t.Errorf("four bytes: %v, %v", c, err)
	}
	weft.Borrow(x, func([]float32) {
		if err := weft.Try(func() { d.Measure(nowhere{}) }); err == nil {
			t.Error("an array that is lent was measured")
		}
	})
}

// Marking takes no memory of its own, but for what sets grow by.
func TestMarkingAllocatesNothing(t *testing.T) {
	x := weft.Zeros(100, 4)
	clean(t, x)
	for name, v := range map[string]*weft.Tensor{"row": x.Slice(weft.Index(3)), "column": x.Slice(weft.All, weft.Index(2))} {
		mark := func() {
			w := core.OpenWrite(tensortest.View(v))
			w.Done()
		}
		for range 2000 {
			mark()
		}
		if n := testing.AllocsPerRun(1000, mark); n > 0 {
			t.Errorf("marking a %s makes %v allocations", name, n)
		}
	}
}

// What a write costs that is tracked beside one that is not.
func BenchmarkTrackedWrite(b *testing.B) {
	dirty.Verify = false // which takes as long as a mark
	defer func() { dirty.Verify = true }()
	for _, c := range []struct {
		name string
		n    int
	}{{"none", 0}, {"one", 1}} {
		b.Run("assign, tracked by "+c.name, func(b *testing.B) {
			x := weft.Zeros(1<<16, 4)
			for range c.n {
				weft.Track(x)
			}
			rows := make([]*weft.Tensor, 1024)
			for i := range rows {
				rows[i] = x.Slice(weft.Index(i * 7919 % (1 << 16)))
			}
			y := weft.Ones(4)
			b.ResetTimer()
			for i := range b.N {
				rows[i&1023].Assign(y)
			}
		})
		b.Run("mark, tracked by "+c.name, func(b *testing.B) {
			x := weft.Zeros(1<<16, 4)
			for range c.n {
				weft.Track(x)
			}
			rows := make([]*weft.Tensor, 1024)
			for i := range rows {
				rows[i] = x.Slice(weft.Index(i * 7919 % (1 << 16)))
			}
			b.ResetTimer()
			for i := range b.N {
				w := core.OpenWrite(tensortest.View(rows[i&1023]))
				w.Done()
			}
		})
	}
}
