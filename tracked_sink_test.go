package weft

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/dirty"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

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
	const rows, wide = 3, 1 << 15
	x := Zeros(rows, wide)
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
				row := x.Slice(Index(w))
				switch i % 4 {
				case 0:
					row.Assign(i)
				case 1:
					row.AddAssign(1)
				case 2: // two fields of an item
					a, b := row.Slice(Range(0, wide, 2)), row.Slice(Range(1, wide, 2))
					both.Into([]*Tensor{a, b}, a, 3, b)
				case 3:
					Borrow(row, func(data []float32) {
						for k := range data {
							data[k] = float32(i)
						}
					})
				}
			}
		})
	}
	sinks := make([]*checked, 3)
	var ds []*Tracked
	for k := range sinks {
		c := &checked{mirror: mirror{data: make([]byte, rows*wide*4)}, item: wide * 4}
		d := Track(x, TrackOpts{Item: new(wide * 4), OneInterval: k == 1})
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
		if _, err := ds[k].Flush(wholeSink{c}); err != nil || !bytes.Equal(c.data, memory(x)) {
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
func TestFlushesInACircle(t *testing.T) {
	a, b := Zeros(100), Zeros(100)
	da, db := Track(a), Track(b)
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
					add.Into([]*Tensor{a.Slice(Range(0, 50)), b.Slice(Range(50, 100))}, Ones(50), Ones(50))
				case 3:
					add.Into([]*Tensor{b.Slice(Range(0, 50)), a.Slice(Range(50, 100))}, Ones(50), Ones(50))
				}
			}
		})
	}
	wg.Wait()
}

// A file, another array, another device and memory whose content is not there yet.
func TestSinks(t *testing.T) {
	x := Arange(1000.).Reshape(100, 10)
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := device.Register(cpu.New(jit.ISAs()[0]))
	there := Zeros(100, 10).c().On(other)
	here := Zeros(1000)
	chained := Track(here, every)
	last := &mirror{data: make([]byte, 4000)}
	df, dt, dh := Track(x, every), Track(x, every), Track(x, every)
	for i := range 5 {
		for d, sink := range map[*Tracked]interface {
			WriteAt(p []byte, off int64) (int, error)
		}{df: f, dt: (*Tensor)(there).Sink(), dh: here.Sink()} {
			if n, err := d.Flush(sink); err != nil || n == 0 || i > 0 && n > 160 {
				t.Errorf("%d: %d bytes, %v", i, n, err)
			}
		}
		if n, err := chained.Flush(last); err != nil || n == 0 || i > 0 && n > 160 {
			t.Errorf("what a sink received is pending further on: %d, %v", n, err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil || !bytes.Equal(got, memory(x)) || !bytes.Equal(last.data, memory(x)) || Digest(here.Reshape(100, 10)) != Digest(x) || Digest((*Tensor)(there.On(0))) != Digest(x) {
			t.Fatalf("%d: a sink has other bytes: %v", i, err)
		}
		x.Slice(Range(3+i, 5+i)).MulAssign(2)
		x.At(50, i).Assign(i)
	}
	if there.View().Store.Device != other {
		t.Error("the array moved")
	}
	for name, f := range map[string]func(){
		"a transposed sink": func() { x.T().Sink() },
		"an expanded sink":  func() { Zeros(1).Expand(4).Sink() },
		"a leaf":            func() { Zeros(4).RequireGrad().Sink() },
		"no sink":           func() { Track(x).Flush(nil) },
		"half an item":      func() { Track(x, TrackOpts{Item: new(6)}) },
		"another array":     func() { Track(x).Mark(here) },
		"nil":               func() { (*Tracked)(nil).Pending() },
		"zero":              func() { new(Tracked).Pending() },
		"cost":              func() { Track(x, TrackOpts{Cost: &Cost{Latency: -1}}) },
	} {
		if err := Try(f); err == nil {
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
	y := made(array.View{Store: st, DType: Float32, Shape: []int{4}, Strides: []int{1}})
	d := Track(y)
	m := &mirror{data: make([]byte, 16)}
	if n, err := d.Flush(m); n != 16 || err != nil || !bytes.Equal(m.data, memory(y)) || Data[float32](y)[0] != 7 {
		t.Errorf("deferred: %d, %v, %v", n, err, m.data)
	}
}

// slowSink takes as long as a sink of that cost.
type slowSink struct{ cost Cost }

func (s slowSink) WriteAt(p []byte, off int64) (int, error) {
	time.Sleep(s.cost.Latency + time.Duration(float64(len(p))/s.cost.PerSecond*1e9))
	return len(p), nil
}

// What Measure finds is about what a sink costs, and pending bytes are merged by it.
func TestMeasure(t *testing.T) {
	x := Zeros(1 << 18)
	d := Track(x)
	var c Cost
	patient(t, func() string { // the sink sleeps longer where the system is busy
		var err error
		if c, err = d.Measure(slowSink{Cost{2 * time.Millisecond, 20e6}}); err != nil || c.Latency < 2*time.Millisecond {
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
	if c, err := Track(Zeros(1)).Measure(nowhere{}); err != nil || c != (Cost{}) {
		t.Errorf("four bytes: %v, %v", c, err)
	}
	Borrow(x, func([]float32) {
		if err := Try(func() { d.Measure(nowhere{}) }); err == nil {
			t.Error("an array that is lent was measured")
		}
	})
}

// Marking takes no memory of its own, but for what sets grow by.
func TestMarkingAllocatesNothing(t *testing.T) {
	x := Zeros(100, 4)
	clean(t, x)
	for name, v := range map[string]*Tensor{"row": x.Slice(Index(3)), "column": x.Slice(All, Index(2))} {
		mark := func() {
			w := core.OpenWrite(v.v())
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
			x := Zeros(1<<16, 4)
			for range c.n {
				Track(x)
			}
			rows := make([]*Tensor, 1024)
			for i := range rows {
				rows[i] = x.Slice(Index(i * 7919 % (1 << 16)))
			}
			y := Ones(4)
			b.ResetTimer()
			for i := range b.N {
				rows[i&1023].Assign(y)
			}
		})
		b.Run("mark, tracked by "+c.name, func(b *testing.B) {
			x := Zeros(1<<16, 4)
			for range c.n {
				Track(x)
			}
			rows := make([]*Tensor, 1024)
			for i := range rows {
				rows[i] = x.Slice(Index(i * 7919 % (1 << 16)))
			}
			b.ResetTimer()
			for i := range b.N {
				w := core.OpenWrite(rows[i&1023].v())
				w.Done()
			}
		})
	}
}
