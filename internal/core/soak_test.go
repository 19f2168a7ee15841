package core_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/npy"
	"weft/optim"
)

// soakWork are pieces of eager work whose result depends on the seed alone.
var soakWork = []struct {
	name string
	do   func(seed uint64) *weft.Tensor
}{
	{"arithmetic", func(seed uint64) *weft.Tensor {
		g := weft.NewGenerator(seed)
		n := 1 << (seed % 19)
		x := g.Randn(n, 3)
		y := x.Mul(2).Add(g.Randn(3)).Exp().Sqrt()
		x.Slice(weft.All, weft.Index(1)).AddAssign(1)
		return y.Sub(x).Sum(0)
	}},
	{"formula", func(seed uint64) *weft.Tensor {
		x := weft.NewGenerator(seed).RandOf(weft.Float64, 1+int(seed%64)*1000)
		return weft.Expr("sum(exp(-x*x)*sin(x) + log1p(abs(x)))", weft.Vars{"x": x})
	}},
	{"product", func(seed uint64) *weft.Tensor {
		g := weft.NewGenerator(seed)
		n := 8 << (seed % 6)
		return g.Randn(n, n+1).MatMul(g.Randn(n+1, n)).Softmax(1).Max(0)
	}},
	{"given back", func(seed uint64) *weft.Tensor {
		x := weft.NewGenerator(seed).Randn(300, 300)
		y := x.T().Add(x)
		s := y.Sum()
		y.Release()
		return s
	}},
	{"file", func(seed uint64) *weft.Tensor {
		var b bytes.Buffer
		if err := npy.Write(&b, weft.NewGenerator(seed).Randn(10, 1+int(seed%100))); err != nil {
			panic(err)
		}
		x, err := npy.Read(&b)
		if err != nil {
			panic(err)
		}
		return x
	}},
	{"perceptron", func(seed uint64) *weft.Tensor {
		g := weft.NewGenerator(seed)
		o := nn.Opts{Generator: g}
		net := nn.Sequential{nn.NewLinear(20, 32, o), nn.Tanh{}, &nn.Dropout{P: 0.3, Generator: g}, nn.NewLinear(32, 3, o)}
		opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.01)})
		l := data.NewLoader(data.Tensors(g.Randn(60, 20), g.Randint(0, 3, 60)), data.LoaderOpts{Batch: new(20), Shuffle: true, Seed: seed})
		for b, err := range l.Batches(context.Background()) {
			if err != nil {
				panic(err)
			}
			s := weft.NewScope()
			opt.ZeroGrad()
			nn.CrossEntropy(net.Forward(s.Track(b.X)), b.Y).Backward()
			opt.Step()
			s.Close()
		}
		return net.Forward(weft.Ones(1, 20)).Detach()
	}},
	{"convolution", func(seed uint64) *weft.Tensor {
		g := weft.NewGenerator(seed)
		c := nn.NewConv2d(2, 4, 3, nn.Conv2dOpts{Opts: nn.Opts{Generator: g}})
		y := nn.MaxPool2d{Window: [2]int{2, 2}}.Forward(c.Forward(g.Randn(4, 2, 14, 14)).Relu())
		y.Square().Mean().Backward()
		return c.Weight.Grad()
	}},
	{"second derivative", func(seed uint64) *weft.Tensor {
		x := weft.NewGenerator(seed).Randn(50).RequireGrad()
		d := weft.Grad(x.Pow(3).Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		return weft.Grad(d.Sin().Sum(), []*weft.Tensor{x})[0]
	}},
	{"mistake", func(seed uint64) *weft.Tensor {
		n := int(seed % 7)
		if weft.Try(func() { weft.Ones(n + 2).Add(weft.Ones(n + 3)) }) == nil {
			panic("a mistake went through")
		}
		return weft.Ones(n)
	}},
}

// resident is the memory of the process in bytes, 0 if the system does not tell.
func resident() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	fmt.Fscan(strings.NewReader(string(b)), &size, &pages)
	return pages * os.Getpagesize()
}

// TestSoak lets eight goroutines do mixed work while the collector runs all the
// time and both the profiler and the execution tracer look on. Every result must be
// what the same work gives alone, and memory and goroutines stay flat. WEFT_SOAK is
// how long, such as 1h; without it a second, too short to judge the memory.
func TestSoak(t *testing.T) {
	length := time.Second
	if s := os.Getenv("WEFT_SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	const seeds = 40
	want := make([][seeds]string, len(soakWork))
	for i, w := range soakWork {
		for seed := range uint64(seeds) {
			want[i][seed] = weft.Digest(w.do(seed))
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("SKIPPED: the profiler is in use")
	}
	defer pprof.StopCPUProfile()
	if err := trace.Start(io.Discard); err != nil {
		t.Skip("SKIPPED: the tracer is in use")
	}
	defer trace.Stop()

	end := time.Now().Add(length)
	var wg sync.WaitGroup
	var done [8]int
	for g := range done {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for time.Now().Before(end) {
				i, seed := r.IntN(len(soakWork)), r.Uint64N(seeds)
				if got := weft.Digest(soakWork[i].do(seed)); got != want[i][seed] {
					t.Errorf("%s of seed %d: digest %s, alone it was %s", soakWork[i].name, seed, got, want[i][seed])
					return
				}
				done[g]++
			}
		})
	}
	// The first fifth warms up; the rest is compared half with half.
	type use struct{ bytes, goroutines, n int }
	var half [2]use
	began := time.Now()
	profiled := began
	for now := began; now.Before(end); now = time.Now() {
		time.Sleep(min(time.Second, length/100))
		// A profile keeps every stack that it has seen, and with each place in a kernel
		// that is another one: some 1.5 MB a minute.
		if now.Sub(profiled) > 30*time.Second {
			pprof.StopCPUProfile()
			if err := pprof.StartCPUProfile(io.Discard); err != nil {
				t.Fatal(err)
			}
			profiled = now
		}
		if at := float64(now.Sub(began)) / float64(length); at >= 0.2 {
			u := &half[min(int((at-0.2)/0.4), 1)]
			u.bytes += resident()
			u.goroutines += runtime.NumGoroutine()
			u.n++
		}
	}
	wg.Wait()
	total := 0
	for _, n := range done {
		total += n
	}
	mean := func(sum int, u use) float64 { return float64(sum) / float64(max(u.n, 1)) }
	m0, m1 := mean(half[0].bytes, half[0]), mean(half[1].bytes, half[1])
	g0, g1 := mean(half[0].goroutines, half[0]), mean(half[1].goroutines, half[1])
	t.Logf("%d pieces of work in %v; %.1f and %.1f MiB, %.1f and %.1f goroutines in the halves", total, length, m0/(1<<20), m1/(1<<20), g0, g1)
	if length < 20*time.Second {
		return
	}
	if m1 > 1.05*m0+4<<20 {
		t.Errorf("memory grew from %.1f to %.1f MiB", m0/(1<<20), m1/(1<<20))
	}
	if g1 > g0+2 {
		t.Errorf("goroutines grew from %.1f to %.1f", g0, g1)
	}
}
