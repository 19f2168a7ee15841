package cudart_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cudart"
	"weft/internal/ptxsim"
)

// Work on three streams, with shared operands, writes in place, copies from the CPU and gradients, has
// the bits of the CPU. The simulator finds what is used without an order.
func TestStreamsTakeTurns(t *testing.T) {
	for seed := range uint64(12) {
		gpu, _ := simulated(t, ptxsim.Options{Seed: seed})
		dev := weft.Devices()[gpu]
		streams := []*weft.Stream{dev.DefaultStream(), newStream(t, dev), newStream(t, dev)}
		chance := rand.New(rand.NewPCG(seed, 3))
		x := weft.Arange(0.0, 40).Reshape(5, 8).Mul(0.1)
		cpu, on := []*weft.Tensor{x, x.Add(1), x.Neg()}, []*weft.Tensor(nil)
		for i, c := range cpu {
			on = append(on, streams[i].Track(c).On(dev))
		}
		add := func(a, b *weft.Tensor) { cpu, on = append(cpu, a), append(on, b) }
		for range 40 {
			i, j := chance.IntN(len(on)), chance.IntN(len(on))
			s := streams[chance.IntN(len(streams))]
			switch chance.IntN(7) {
			case 0:
				cpu[i].AddAssign(cpu[j])
				on[i].AddAssign(s.Track(on[j]))
			case 1:
				cpu[i].Assign(cpu[j].Mul(0.5))
				on[i].Assign(s.Track(on[j]).Mul(0.5))
			case 2:
				add(cpu[i].MatMul(cpu[j].T()).MatMul(cpu[j]).Tanh(), s.Track(on[i]).MatMul(on[j].T()).MatMul(on[j]).Tanh())
			case 3:
				add(cpu[j].Clone(), s.Track(cpu[j]).On(dev))
			case 4:
				add(squareGrad(cpu[j]), squareGrad(s.Track(on[j])))
			case 5:
				add(cpu[i].CumSum(1), s.Track(on[i]).CumSum(1)) // a routine of the CPU
			default:
				add(cpu[i].Sub(cpu[j]).Div(2), s.Track(on[i]).Sub(on[j]).Div(2))
			}
			if len(on) > 8 {
				on[0].Release()
				cpu, on = cpu[1:], on[1:]
			}
		}
		for i := range cpu {
			if w, g := weft.Digest(cpu[i]), weft.Digest(on[i]); w != g {
				t.Errorf("seed %d: digest %v of tensor %d, want %v", seed, g, i, w)
			}
		}
		for _, s := range streams {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// squareGrad returns the gradient of the sum of squares of a tensor.
func squareGrad(x *weft.Tensor) *weft.Tensor {
	leaf := x.Detach().Clone().RequireGrad()
	return weft.Grad(leaf.Square().Sum(), []*weft.Tensor{leaf})[0]
}

func newStream(t *testing.T, dev weft.Device) *weft.Stream {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Work of a compiled function, of waiting operations, of copies and of a backward pass is given to the
// stream of its tensors, and none to the default stream.
func TestWorkGoesToTheStream(t *testing.T) {
	number, gpu := simulated(t, ptxsim.Options{Seed: 1})
	dev := weft.Devices()[number]
	x := dev.Randn(64, 64).RequireGrad()
	buffer := dev.Zeros(64, 64)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return weft.CPU.DefaultStream().Track(x).Tanh().Sum(0) }).Func()
	for name, work := range map[string]func(x *weft.Tensor) any{
		"operation": func(x *weft.Tensor) any { return x.Exp() },
		"scope":     func(x *weft.Tensor) any { return weft.NewScope().Track(x).Exp().Mul(x) },
		"routine":   func(x *weft.Tensor) any { return x.MatMul(x) },
		"compiled":  func(x *weft.Tensor) any { return f(x) },
		"lazy":      func(x *weft.Tensor) any { return x.Lazy().Exp().Contiguous().MatMul(x) },
		"gradient":  func(x *weft.Tensor) any { return weft.Grad(x.Square().Sum(), []*weft.Tensor{x}) },
		"assign": func(x *weft.Tensor) any {
			return weft.Try(func() { buffer.Assign(x); buffer.AddAssign(x); buffer.Assign(x.T()) })
		},
		"copy": func(x *weft.Tensor) any { return x.On(weft.CPU) },
	} {
		s := newStream(t, dev)
		tracked := s.Track(x)
		work(tracked) // kernels are loaded, and waited for
		on := (*core.Stream)(s).Issue("test")
		before, others := cudart.Issued(on), cudart.Issued(gpu.Default())
		work(tracked)
		if cudart.Issued(on) == before {
			t.Errorf("%s: the stream was given nothing", name)
		}
		if n := cudart.Issued(gpu.Default()) - others; n > 0 {
			t.Errorf("%s: the default stream was given %d pieces of work", name, n)
		}
		check(t, s.Close())
	}
}

func TestEventOfStream(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{Seed: 2})
	dev := weft.Devices()[gpu]
	a, b := newStream(t, dev), newStream(t, dev)
	e := a.Record()
	y := a.Track(dev.Ones(1000)).Exp()
	late := a.Record()
	check(t, b.Wait(late))
	check(t, b.Wait(weft.CPU.DefaultStream().Record()))
	after := b.Record()
	check(t, after.Sync())
	for range 100 {
		if done, err := late.Done(); err != nil || !done {
			t.Fatalf("an event that was waited for is done: %v, %v", done, err)
		}
	}
	if took, err := after.Since(e); err != nil || took <= 0 {
		t.Errorf("took %v, %v", took, err)
	}
	check(t, a.Sync())
	check(t, a.Close())
	check(t, a.Close())
	y.Add(1).Sum().Item() // on the default stream

	cpu := weft.CPU.DefaultStream()
	first := cpu.Record()
	if took, err := cpu.Record().Since(first); err != nil || took < 0 {
		t.Errorf("the CPU took %v, %v", took, err)
	}
	var none *weft.Stream
	for want, f := range map[string]func(){
		"closed":          func() { a.Record() },
		"NewStream makes": func() { none.Track(y) },
		"Record makes":    func() { b.Wait(nil) },
		"is on cpu":       func() { e.Since(first) },
	} {
		if err := array.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	var all []*weft.Stream
	for {
		s, err := dev.NewStream()
		if err != nil {
			if !strings.Contains(err.Error(), "64 streams open") {
				t.Error(err)
			}
			break
		}
		all = append(all, s)
	}
	if len(all) != 62 { // of 64, beside the default stream and b
		t.Errorf("%d streams opened", len(all))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
