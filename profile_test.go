package weft_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
	"weft/internal/tensortest"
)

// profiled runs f under a profile.
func profiled(t *testing.T, o weft.ProfileOpts, f func(p *weft.Profile)) *weft.Profile {
	t.Helper()
	p := weft.StartProfile(o)
	defer p.Stop()
	f(p)
	return p
}

func find(t *testing.T, rows []weft.ProfileRow, name string) weft.ProfileRow {
	t.Helper()
	i := slices.IndexFunc(rows, func(r weft.ProfileRow) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no row %q in %v", name, rows)
	}
	return rows[i]
}

// Calls, bytes and arithmetic are what the operations are by their definition.
func TestProfileCounts(t *testing.T) {
	x, y := weft.Ones(300, 200), weft.Ones(200, 100).RequireGrad()
	loss := func() *weft.Tensor { return x.MatMul(y).Add(1).Mul(2).Sum() }
	loss().Backward()
	p := profiled(t, weft.ProfileOpts{}, func(*weft.Profile) {
		for range 3 {
			loss().Backward()
		}
		weft.Expr("exp(x)*x + 1", weft.Vars{"x": x})
	})
	ops, kernels := p.Operations(), p.Kernels()
	m := find(t, ops, "matmul")
	if m.Calls != 3 || m.Flops != 3*2*300*200*100 || m.Bytes != 3*4*(300*200+200*100+300*100) || m.Memory != 3*4*300*100 {
		t.Errorf("matmul: %+v", m)
	}
	if b := find(t, ops, "matmul backward"); b.Calls != 3 || b.Flops != m.Flops {
		t.Errorf("matmul backward: %+v", b)
	}
	if a := find(t, ops, "mul"); a.Calls != 3 || a.Flops != 3*300*100 || a.Bytes != 3*2*4*300*100 {
		t.Errorf("mul: %+v", a)
	}
	if e := find(t, kernels, "point exp+mul+add"); e.Calls != 1 || e.Flops != 3*300*200 || e.Bytes != 2*4*300*200 || e.Shape != "[60000]" {
		t.Errorf("the formula: %+v", e)
	}
	if f := find(t, ops, "expr"); f.Calls != 1 {
		t.Errorf("expr: %+v", f)
	}
	sum, shares := time.Duration(0), 0.0
	for i, r := range ops {
		sum, shares = sum+r.Time, shares+r.Share
		if r.Time <= 0 || i > 0 && r.Time > ops[i-1].Time || r.Mean() != r.Time/time.Duration(r.Calls) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if sum > p.Elapsed() || math.Abs(shares-1) > 1e-9 {
		t.Errorf("%v in operations, %v in all; shares add up to %v", sum, p.Elapsed(), shares)
	}
	if g := m.GFLOPS(); math.Abs(g-float64(m.Flops)/float64(m.Time)) > 1e-9*g {
		t.Errorf("%v GFLOP/s", g)
	}
	// What happens after Stop is not in it.
	x.MatMul(x.T())
	if got := find(t, p.Operations(), "matmul"); got != m {
		t.Errorf("after Stop: %+v, before: %+v", got, m)
	}
}

func TestProfilePeak(t *testing.T) {
	const n = 1 << 20
	before := tensortest.Settled()
	p := profiled(t, weft.ProfileOpts{}, func(*weft.Profile) {
		s := weft.NewScope()
		x := s.Track(weft.Ones(n))
		a := x.Add(1)
		b := a.Add(1)
		for _, t := range []*weft.Tensor{x, a, b} {
			core.KeepAlive((*core.Tensor)(t))
		}
		s.Close()
	})
	if low := int64(3 * 4 * n); p.Peak() < low || p.Peak() > before+low+low/4 {
		t.Errorf("a peak of %d bytes, there are %d at least", p.Peak(), low)
	}
	if m := find(t, p.Operations(), "add"); m.Memory != 2*4*n || m.Peak < 2*4*n {
		t.Errorf("add: %+v", m)
	}
}

// One profile runs at a time; a zero one is refused.
func TestProfileMisuse(t *testing.T) {
	p := weft.StartProfile(weft.ProfileOpts{})
	for name, f := range map[string]func(){
		"second": func() { weft.StartProfile(weft.ProfileOpts{}) },
		"zero":   func() { (&weft.Profile{}).Stop() },
		"nil":    func() { (*weft.Profile)(nil).Tips() },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Op != "profile" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.WriteTrace(io.Discard); err == nil {
		t.Error("a trace of a profile without one")
	}
	p.Stop()
	p.Stop()
	weft.StartProfile(weft.ProfileOpts{}).Stop()
	if s := (*weft.Profile)(nil).String(); s != "no profile" {
		t.Error(s)
	}
}

// Each tip is given where its cause is, and nothing is said of a program without one.
func TestProfileTips(t *testing.T) {
	small := weft.Ones(4)
	square := tensortest.Noise(3, 1, 512, 512)
	double := weft.Ones(1 << 20).To(weft.Float64)
	big := weft.Ones(1 << 20)
	programs := 0
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"float64", "float64", func() { double.Exp() }},
		{"transposed", "transposed", func() { square.T().Clone() }},
		{"short", "less than", func() {
			for range 2 * 100 { // the tip wants 100
				small.Add(1)
			}
		}},
		{"compilation", "planning and compiling", func() {
			x := weft.Ones(3, 5, 7).Add(weft.Ones(5, 1))
			for programs++; x.Rank() < 3+programs; { // what no call had before
				x = x.Sin().Unsqueeze(0)
			}
			x.Sum(1).Cos()
		}},
		{"none", "", func() {
			s := weft.NewScope()
			s.Track(big).Exp()
			s.Close()
		}},
	} {
		if c.name != "compilation" {
			c.f()
		}
		p := profiled(t, weft.ProfileOpts{}, func(*weft.Profile) { c.f() })
		tips := p.Tips()
		for c.name == "compilation" && len(tips) == 0 && programs < 8 { // a busy machine can stop the work instead
			tips = profiled(t, weft.ProfileOpts{}, func(*weft.Profile) { c.f() }).Tips()
		}
		if c.name == "short" && !slices.ContainsFunc(p.Operations(), func(o weft.ProfileRow) bool { return o.Time/time.Duration(o.Calls) < 5*time.Microsecond }) {
			continue // nothing is short where a collection follows every allocation
		}
		tips = slices.DeleteFunc(tips, func(s string) bool {
			return strings.Contains(s, "interpreter") || strings.Contains(s, "GOMAXPROCS") || c.name != "short" && strings.Contains(s, "from the system")
		})
		if c.want == "" && len(tips) > 0 || c.want != "" && !slices.ContainsFunc(tips, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s: %q", c.name, tips)
		}
	}
	interpreted := slices.ContainsFunc(profiled(t, weft.ProfileOpts{}, func(*weft.Profile) { big.Exp() }).Tips(), func(s string) bool { return strings.Contains(s, "interpreter") })
	if interpreted != (jit.Chosen().ISA == jit.Portable) {
		t.Errorf("the interpreter is told of: %v", interpreted)
	}
}

// A chromeEvent is an event of the Trace Event Format as its document describes it.
type chromeEvent struct {
	Name string
	Ph   string
	Cat  string
	Ts   *float64
	Dur  *float64
	Pid  *int
	Tid  *int64
	ID   any
	Args map[string]any
}

// readTrace reads a trace and holds it to the format: complete events have a duration and
// nest on their track, asynchronous ones begin and end under one id, counters are numbers,
// every track has a name.
func readTrace(t *testing.T, p *weft.Profile) []chromeEvent {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents     []chromeEvent
		DisplayTimeUnit string
	}
	d := json.NewDecoder(bytes.NewReader(b.Bytes()))
	if err := d.Decode(&file); err != nil {
		t.Fatalf("%v in\n%.2000s", err, &b)
	}
	if file.DisplayTimeUnit != "ns" && file.DisplayTimeUnit != "ms" {
		t.Errorf("displayTimeUnit %q", file.DisplayTimeUnit)
	}
	type track struct {
		pid int
		tid int64
	}
	named, used := map[track]bool{}, map[track]bool{}
	open := map[track][]float64{} // ends of the spans around
	async := map[string]float64{}
	for _, e := range file.TraceEvents {
		if e.Name == "" || e.Pid == nil || e.Tid == nil || *e.Tid > math.MaxInt32 || e.Ts == nil || *e.Ts < 0 {
			t.Fatalf("an event lacks a name, pid, tid or time: %+v", e)
		}
		at := track{*e.Pid, *e.Tid}
		switch e.Ph {
		case "M":
			if e.Name == "thread_name" {
				named[at] = true
			}
			if _, ok := e.Args["name"].(string); !ok && strings.HasSuffix(e.Name, "_name") {
				t.Errorf("metadata without a name: %+v", e)
			}
		case "X":
			used[at] = true
			if e.Dur == nil || *e.Dur < 0 {
				t.Fatalf("a complete event without duration: %+v", e)
			}
			const tick = 2e-3 // times have whole nanoseconds, as floats
			ends := open[at]
			for len(ends) > 0 && ends[len(ends)-1] <= *e.Ts+tick {
				ends = ends[:len(ends)-1]
			}
			if end := *e.Ts + *e.Dur; len(ends) > 0 && end > ends[len(ends)-1]+tick {
				t.Errorf("%s ends at %v, the span around it at %v", e.Name, end, ends[len(ends)-1])
			} else {
				open[at] = append(ends, end)
			}
		case "b", "e":
			id := fmt.Sprint(*e.Pid, e.Cat, e.ID, e.Name)
			begun, ok := async[id]
			if ok == (e.Ph == "b") || ok && *e.Ts < begun {
				t.Errorf("begin and end of %s do not match", id)
			}
			async[id] = *e.Ts
			if e.Ph == "e" {
				delete(async, id)
			}
		case "C":
			if len(e.Args) == 0 {
				t.Errorf("a counter without values: %+v", e)
			}
			for k, v := range e.Args {
				if f, ok := v.(float64); !ok || f < 0 {
					t.Errorf("counter %s is %v", k, v)
				}
			}
		default:
			t.Errorf("an event of phase %q", e.Ph)
		}
	}
	if len(async) > 0 {
		t.Errorf("spans that do not end: %v", async)
	}
	for at := range used {
		if !named[at] {
			t.Errorf("track %v has no name", at)
		}
	}
	return file.TraceEvents
}

func named(events []chromeEvent, phase, name string) (list []chromeEvent) {
	for _, e := range events {
		if e.Ph == phase && e.Name == name {
			list = append(list, e)
		}
	}
	return list
}

// The trace shows what figure 1 of PyTorch's paper does: the host's calls on one track,
// and on others what computes for them, the workers beside.
func TestTraceOfThreads(t *testing.T) {
	tensortest.SkipLate(t, "a profile sees work when it is issued")
	defer par.SetThreads(par.SetThreads(3))
	x := tensortest.Noise(1, 1, 1<<21)
	x.Exp()
	tensortest.Patient(t, func() string { // until workers wake up in time
		p := profiled(t, weft.ProfileOpts{Trace: true}, func(p *weft.Profile) {
			defer p.Region("training")()
			for range 5 {
				x.Exp()
			}
		})
		events := readTrace(t, p)
		calls, kernels := named(events, "X", "exp"), named(events, "X", "point exp")
		if len(calls) != 5 || len(named(events, "X", "training")) != 1 {
			t.Fatalf("%d calls", len(calls))
		}
		// On the device's side: the caller's track has each kernel once, and inside its time
		// there is work of the workers.
		tracks := map[int64]int{}
		for _, e := range kernels {
			tracks[*e.Tid]++
			if *e.Pid == *calls[0].Pid {
				t.Errorf("a kernel is on the host's track: %+v", e)
			}
			inside := slices.ContainsFunc(calls, func(c chromeEvent) bool {
				return *c.Ts <= *e.Ts+1e-3 && *e.Ts+*e.Dur <= *c.Ts+*c.Dur+1e-3
			})
			if !inside {
				t.Errorf("a kernel at %v outside all calls", *e.Ts)
			}
		}
		if tracks[*calls[0].Tid] != 5 {
			t.Errorf("kernels by track: %v", tracks)
		}
		if len(tracks) < 2 {
			return fmt.Sprintf("no worker has a kernel: %v", tracks)
		}
		return ""
	})
}

// The trace shows what figure 2 of PyTorch's paper does: the first iteration asks the system
// for memory, later ones take what it gave back.
func TestTraceOfMemory(t *testing.T) {
	tensortest.SkipLate(t, "memory goes back when the work before is done")
	const n = 3<<20 + 12345
	x := weft.Ones(n)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64)) // near a limit the pool keeps nothing
	runtime.GC()
	device.Get(0).Memory().(*mem.Pool).Trim() // of blocks that others gave back
	iteration := func(p *weft.Profile, name string) {
		defer p.Region(name)()
		s := weft.NewScope()
		defer s.Close()
		y := s.Track(x)
		for range 4 {
			y = y.Add(1)
		}
	}
	p := profiled(t, weft.ProfileOpts{Trace: true}, func(p *weft.Profile) {
		for i := range 3 {
			iteration(p, fmt.Sprint("iteration ", i))
		}
	})
	events := readTrace(t, p)
	var asked [3]int
	for i := range asked {
		it := named(events, "X", fmt.Sprint("iteration ", i))
		if len(it) != 1 {
			t.Fatalf("iteration %d: %v", i, it)
		}
		for _, e := range named(events, "b", "memory from the system") {
			if *e.Ts >= *it[0].Ts && *e.Ts < *it[0].Ts+*it[0].Dur && e.Args["bytes"].(float64) >= 4*n {
				asked[i]++
			}
		}
	}
	if asked[0] == 0 || asked[1]+asked[2] > 0 {
		t.Errorf("memory was asked of the system %v times in the iterations", asked)
	}
	most := 0.0
	for _, e := range named(events, "C", "bytes") {
		most = max(most, e.Args["in use"].(float64))
	}
	if most < 5*4*n || int64(most) != p.Peak() {
		t.Errorf("the counter goes up to %v, the peak is %d", most, p.Peak())
	}
}

// Traces from several goroutines at once are well-formed, and each has its track.
func TestTraceOfGoroutines(t *testing.T) {
	p := profiled(t, weft.ProfileOpts{Trace: true, Labels: true}, func(*weft.Profile) {
		done := make(chan bool)
		for range 4 {
			go func() {
				x := tensortest.Noise(2, 1, 300, 300).RequireGrad()
				for range 5 {
					x.MatMul(x).Tanh().Sum().Backward()
				}
				done <- true
			}()
		}
		for range 4 {
			<-done
		}
	})
	tracks := map[int64]bool{}
	for _, e := range named(readTrace(t, p), "X", "matmul") {
		tracks[*e.Tid] = true
	}
	if len(tracks) != 4 {
		t.Errorf("calls of 4 goroutines are on %d tracks", len(tracks))
	}
}

// labels returns how many samples of a CPU profile have each value of a label, read from the
// protocol buffer by hand: https://github.com/google/pprof/blob/main/proto/profile.proto.
func labels(t *testing.T, file []byte, label string) map[string]int {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	varint := func(b []byte) (uint64, []byte) {
		x := uint64(0)
		for i, c := range b {
			x |= uint64(c&0x7f) << (7 * i)
			if c < 0x80 {
				return x, b[i+1:]
			}
		}
		t.Fatal("the profile ends in a number")
		return 0, nil
	}
	fields := func(b []byte, f func(number uint64, value uint64, bytes []byte)) {
		for len(b) > 0 {
			var key, v uint64
			key, b = varint(b)
			switch key & 7 {
			case 0:
				v, b = varint(b)
				f(key>>3, v, nil)
			case 2:
				v, b = varint(b)
				f(key>>3, 0, b[:v])
				b = b[v:]
			default:
				t.Fatalf("a field of wire type %d", key&7)
			}
		}
	}
	var text []string
	fields(raw, func(n, _ uint64, b []byte) {
		if n == 6 { // string_table
			text = append(text, string(b))
		}
	})
	count := map[string]int{}
	fields(raw, func(n, _ uint64, b []byte) {
		if n != 2 { // sample
			return
		}
		fields(b, func(n, _ uint64, b []byte) {
			if n != 3 { // label
				return
			}
			var key, str uint64
			fields(b, func(n, v uint64, _ []byte) {
				switch n {
				case 1:
					key = v
				case 2:
					str = v
				}
			})
			if text[key] == label {
				count[text[str]]++
			}
		})
	})
	return count
}

// Go's CPU profile tells kernels apart, also the ones that workers run.
func TestCPUProfileLabelsKernels(t *testing.T) {
	tensortest.SkipLate(t, "a profile sees work when it is issued")
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Go's profiler does not stop in machine code that is not Go's there")
	}
	x, y := tensortest.Noise(1, 1, 1<<18), tensortest.Noise(2, 1, 300, 300)
	missing := func() (what string) {
		var file bytes.Buffer
		if err := pprof.StartCPUProfile(&file); err != nil {
			t.Skip("SKIPPED: a CPU profile of the test itself runs:", err)
		}
		profiled(t, weft.ProfileOpts{Labels: true}, func(*weft.Profile) {
			for start := time.Now(); time.Since(start) < time.Second; {
				x.Sin().Release()
				y.MatMul(y).Release()
			}
		})
		pprof.StopCPUProfile()
		kernels, ops := labels(t, file.Bytes(), "kernel"), labels(t, file.Bytes(), "op")
		for _, name := range []string{"point sin", "matmul2"} {
			if kernels[name] == 0 {
				what += fmt.Sprintf("no sample has the kernel %q: %v\n", name, kernels)
			}
		}
		if ops["sin"] == 0 || ops["matmul"] == 0 {
			what += fmt.Sprintf("samples by operation: %v", ops)
		}
		return what
	}
	tensortest.Patient(t, missing)
}

// Nothing is taken down, and nothing allocated for it, while no profile runs.
func TestProfileCostsNothingWhenOff(t *testing.T) {
	tensortest.SkipLate(t, "work that waits allocates")
	x := weft.Ones(4)
	x.Add(1)
	// The least of several: what else goes on in the process allocates too.
	least := func() float64 {
		n := math.Inf(1)
		for range 10 {
			n = min(n, testing.AllocsPerRun(100, func() { x.Add(1) }))
		}
		return n
	}
	before := least()
	weft.StartProfile(weft.ProfileOpts{Trace: true}).Stop()
	if after := least(); after != before {
		t.Errorf("%v allocations, %v before", after, before)
	}
}

// programsOf returns the programs of a compiled function, which its first field holds.
func programsOf[F any](c *weft.Compiled[F]) *core.CompiledFunc {
	return (*core.CompiledFunc)(reflect.ValueOf(c).Elem().FieldByName("c").UnsafePointer())
}

// The temporaries of the compiled step of LeNet take at most a fifth more than what is alive at
// once, and less than six tenths of the most that there is eagerly.
func TestCompiledMemory(t *testing.T) {
	tensortest.SkipLate(t, "memory goes back when the work before is done")
	const n = 60
	x, y := tensortest.Noise(1, 1, n, 1, 32, 32), weft.Arange(n).Mod(10).To(weft.Int64)
	step := lenetStep()
	eagerly := func() {
		s := weft.NewScope()
		defer s.Close()
		step(s.Track(x), y)
	}
	c := weft.Compile(step)
	compiled := func() {
		if _, err := c.Call(x, y); err != nil {
			t.Fatal(err)
		}
	}
	eagerly() // what is kept is there
	compiled()
	p := (*programsOf(c).Entries.Load())[0].Code.Plan
	eager, got := tensortest.Peak(eagerly), tensortest.Peak(compiled)
	t.Logf("arena %d bytes, alive at once %d; peak %d, eagerly %d", p.Arena, p.Live, got, eager)
	if 5*p.Arena > 6*p.Live {
		t.Errorf("the arena has %d bytes, %d are alive at once", p.Arena, p.Live)
	}
	if 10*int64(p.Arena) > 6*eager {
		t.Errorf("the arena has %d bytes, more than six tenths of the %d that there are eagerly", p.Arena, eager)
	}
	if got >= eager {
		t.Errorf("a call takes %d bytes, eagerly %d", got, eager)
	}
}

// No convolution of halves makes a copy of an operand in float32.
func TestHalfConvolutionMemory(t *testing.T) {
	const n, c, side = 16, 32, 64
	const halves = 2 * n * c * side * side
	x, w := weft.OnesOf(weft.BFloat16, n, c, side, side), weft.OnesOf(weft.BFloat16, 1, c, 3, 3)
	o := weft.ConvOpts{Padding: [2]int{1, 1}}
	for name, f := range map[string]func(){
		"convolution": func() { x.Conv2d(w, nil, o).Release() },
		"gradient of the input": func() {
			x.ConvTranspose2d(w.Reshape(c, 1, 3, 3), nil, weft.ConvTransposeOpts{Padding: [2]int{1, 1}}).Release()
		},
		"gradient of the weights": func() { wg := w.Clone().RequireGrad(); x.Conv2d(wg, nil, o).Sum().Backward(); wg.Grad() },
	} {
		f()                                                // the leaf is there
		if most := tensortest.Peak(f); most > halves*3/2 { // a copy takes 2*halves
			t.Errorf("%s: %d bytes beside %d of images", name, most, halves)
		}
	}
}

func TestProfileByLine(t *testing.T) {
	tensortest.SkipLate(t, "the line of a late step is known after it")
	x := weft.Ones(1<<16, 4)
	compiled := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		y := x.Sin()
		return y.CumSum(0).Exp()
	})
	p := weft.StartProfile(weft.ProfileOpts{Lines: true})
	x.Cos()
	x.Cos()
	_, err := compiled.Call(x)
	p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	_, _, line, _ := runtime.Caller(0)
	calls := map[string]int64{}
	for _, r := range p.Lines() {
		if r.Bytes == 0 {
			t.Errorf("%s has no bytes", r.Name)
		}
		calls[r.Name] = r.Calls
	}
	want := map[string]int64{}
	for _, back := range []int{6, 7} { // the two of Cos
		want[fmt.Sprint("profile_test.go:", line-back)] = 1
	}
	sin, scan := fmt.Sprint("profile_test.go:", line-11), fmt.Sprint("profile_test.go:", line-10)
	want[sin], want[scan] = 1, calls[scan]
	if calls[scan] < 2 || !reflect.DeepEqual(calls, want) {
		t.Errorf("lines %v, want %v", calls, want)
	}
}
