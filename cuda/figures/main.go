// Figures measures weft on a device: a line of JSON for each row of bench/gpu/peer.py, written when
// it is measured.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"time"

	"weft"
	_ "weft/cuda"
	"weft/internal/device"
	"weft/nn"
	"weft/optim"
)

// batch is the time that runs between two waits take together.
const batch = 20 * time.Millisecond

type bench struct {
	dev      weft.Device
	counters *device.Counters
	end      time.Time
	only     *regexp.Regexp
	small    int // sizes are divided by it
	out      *json.Encoder
}

func (b *bench) say(row string, more map[string]any) {
	more["row"] = row
	if err := b.out.Encode(more); err != nil {
		panic(err)
	}
}

// measure writes the median time of a run, of batches that end with a wait.
func (b *bench) measure(row string, run func()) {
	switch {
	case !b.only.MatchString(row):
		return
	case time.Now().After(b.end):
		b.say(row, map[string]any{"skipped": "no time is left"})
		return
	}
	host := b.counters.Fallbacks.Load()
	runs := 0
	err := weft.Try(func() {
		timed := func(n int) time.Duration {
			begin := time.Now()
			for range n {
				run()
			}
			if err := b.dev.Sync(); err != nil {
				panic(err)
			}
			runs += n
			return time.Since(begin)
		}
		timed(3)
		n := max(1, int(batch/max(timed(1), time.Microsecond)))
		var times []float64
		for range 7 {
			times = append(times, timed(n).Seconds()*1e3/float64(n))
		}
		slices.Sort(times)
		host = b.counters.Fallbacks.Load() - host
		b.say(row, map[string]any{"ms": times[3], "best": times[0], "host": float64(host) / float64(runs)})
	})
	if err != nil {
		b.say(row, map[string]any{"failed": err.Error()})
	}
}

// result measures what makes a tensor.
func (b *bench) result(row string, run func() *weft.Tensor) {
	b.measure(row, func() { run().Release() })
}

func (b *bench) training(row string, net nn.Layer, shape ...int) {
	net = nn.On(net, b.dev)
	x, y := b.dev.Randn(shape...), b.dev.RandintOf(weft.Int64, 0, 10, shape[0])
	sgd := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.01), Momentum: 0.9})
	step := func(x, y *weft.Tensor) *weft.Tensor {
		sgd.ZeroGrad()
		loss := nn.CrossEntropy(net.Forward(x), y)
		loss.Backward()
		sgd.Step()
		return loss
	}
	b.measure(row+" eager", func() { step(x, y) })
	compiled := weft.Compile(step)
	b.result(row+" compile", func() *weft.Tensor {
		loss, err := compiled.Call(x, y)
		if err != nil {
			panic(err)
		}
		return loss
	})
}

func (b *bench) all() {
	n, rows, cols := 1<<28/b.small, 32768/b.small, 4096
	x, y := b.dev.Randn(n), b.dev.Randn(n)
	b.result("copy 2^28", func() *weft.Tensor { return x.Clone() })
	b.result("2a+3b 2^28 eager", func() *weft.Tensor { return x.Mul(2).Add(y.Mul(3)) })
	b.result("2a+3b 2^28 compile", func() *weft.Tensor { return weft.Expr("2*a+3*b", weft.Vars{"a": x, "b": y}) })
	b.result("exp 2^28 eager", func() *weft.Tensor { return x.Exp() })
	b.result("formula 2^28 compile", func() *weft.Tensor { return weft.Expr("exp(-a*a)*sin(a)+log1p(abs(a))", weft.Vars{"a": x}) })
	m := x.Slice(weft.Range(0, rows*cols)).Reshape(rows, cols)
	b.result("softmax 32768x4096 eager", func() *weft.Tensor { return m.Softmax(1) })
	b.result("sum 2^28", func() *weft.Tensor { return x.Sum() })
	b.result("sum axis 0 32768x4096", func() *weft.Tensor { return m.Sum(0) })
	b.result("sum axis 1 32768x4096", func() *weft.Tensor { return m.Sum(1) })
	b.result("transpose copy 32768x4096", func() *weft.Tensor { return m.T().Contiguous() })
	b.result("argmax axis 1 32768x4096", func() *weft.Tensor { return m.ArgMax(1) })
	index := b.dev.RandintOf(weft.Int64, 0, int64(n), n/16)
	b.result("gather 2^24 of 2^28", func() *weft.Tensor { return x.Gather(0, index) })
	index.Release()
	x.Release()
	y.Release()
	for _, p := range []struct {
		size int
		d    weft.DType
	}{{1024, weft.Float32}, {4096, weft.Float32}, {1024, weft.Float64}, {4096, weft.Float64}} {
		size := max(16, p.size/b.small)
		l, r := b.dev.RandnOf(p.d, size, size), b.dev.RandnOf(p.d, size, size)
		b.result(fmt.Sprintf("matmul %v %d", p.d, p.size), func() *weft.Tensor { return l.MatMul(r) })
		l.Release()
		r.Release()
	}
	g := weft.NewGenerator(1)
	opts := nn.Opts{Generator: g}
	b.training("step MLP b60", nn.Sequential{nn.NewLinear(784, 500, opts), nn.Tanh{}, nn.NewLinear(500, 10, opts)}, 60, 784)
	pool := nn.MaxPool2d{Window: [2]int{2, 2}}
	b.training("step LeNet b60", nn.Sequential{
		nn.NewConv2d(1, 6, 5, nn.Conv2dOpts{Padding: 2}), nn.Tanh{}, pool, nn.NewConv2d(6, 16, 5), nn.Tanh{}, pool,
		nn.Flatten{}, nn.NewLinear(400, 120, opts), nn.Tanh{}, nn.NewLinear(120, 84, opts), nn.Tanh{}, nn.NewLinear(84, 10, opts),
	}, 60, 1, 28, 28)
	s, t := b.dev.Randn(16), b.dev.Randn(16)
	b.hostTime("host time of add of 16", func() { s.Add(t).Release() })
	b.hostTime("host time of add of 16, left to the collector", func() { s.Add(t) })
}

// hostTime writes the time of a call that does not wait, of many.
func (b *bench) hostTime(row string, run func()) {
	if !b.only.MatchString(row) {
		return
	}
	err := weft.Try(func() {
		const calls = 10000
		var times []float64
		for range 5 {
			begin := time.Now()
			for range calls {
				run()
			}
			times = append(times, time.Since(begin).Seconds()*1e6/calls)
			if err := b.dev.Sync(); err != nil {
				panic(err)
			}
		}
		slices.Sort(times)
		b.say(row, map[string]any{"us": times[2]})
	})
	if err != nil {
		b.say(row, map[string]any{"failed": err.Error()})
	}
}

func main() {
	name := flag.String("device", "cuda", "device to measure")
	seconds := flag.Float64("seconds", 120, "no row begins after this time")
	only := flag.String("rows", "", "regular expression of rows")
	small := flag.Int("small", 1, "divisor of sizes, to try the program on the CPU")
	profile := flag.String("profile", "", "file for a profile of this process's time")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	dev, err := weft.DeviceByName(*name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b := &bench{dev: dev, counters: counters(dev), end: time.Now().Add(time.Duration(*seconds * float64(time.Second))),
		only: regexp.MustCompile(*only), small: *small, out: json.NewEncoder(os.Stdout)}
	b.say("device", map[string]any{"card": dev.Card(), "name": dev.Name()})
	b.all()
}

// counters returns the counters of a device.
func counters(dev weft.Device) *device.Counters {
	if dev == weft.CPU {
		return device.Get(0).Counters()
	}
	d, err := device.Open(dev.Kind(), dev.Index())
	if err != nil {
		panic(err)
	}
	return d.Counters()
}
