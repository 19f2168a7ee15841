package program

import (
	"errors"
	"testing"

	"weft"
	"weft/internal/cpu"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/ptxsim"
	"weft/train"
)

// simulated are GPUs of the simulator as a kind of device.
type simulated struct{ driver cudart.Driver }

func (s simulated) Count() (int, error) { return s.driver.Count() }

func (s simulated) Open(ordinal int) (device.Device, error) {
	d, err := cudart.Open(s.driver, ordinal, device.Get(0))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// TestTrainingOnDevices: ten steps end in the same weights on each device as on the CPU: a simulated
// GPU, and a device whose memory the host does not reach.
func TestTrainingOnDevices(t *testing.T) {
	err := options{epochs: 1, device: "cuda"}.run(t.Context()) // before GPUs are known
	var e *weft.Error
	if !errors.As(err, &e) || e.Kind != weft.DeviceFailed {
		t.Errorf("%v, want a *weft.Error that says what to import", err)
	}
	late := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(late)
	device.RegisterKind("simulated", simulated{ptxsim.New(ptxsim.Options{Seed: 1})})
	if _, err := device.Open("simulated", 0); err != nil {
		t.Fatal(err)
	}
	training, test := Render(1, 80), Render(2, 20)
	digest := func(dev weft.Device) string {
		r := newRun(dev, 1, 8, 7, training, test, train.Opts{})
		h, err := r.Fit(t.Context(), 1, r.loader, r.test)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(h.Losses); n != 10 || r.net.FC3.Weight.Device() != dev {
			t.Fatalf("%d steps on %v, want 10 on %v", n, r.net.FC3.Weight.Device(), dev)
		}
		return r.digest()
	}
	want := digest(weft.CPU)
	for _, name := range []string{late.Name(), "cuda:0"} {
		t.Run(name, func(t *testing.T) {
			dev, err := weft.DeviceByName(name)
			if err != nil || dev == weft.CPU && name != weft.CPU.Name() {
				t.Fatal(dev, err)
			}
			if got := digest(dev); got != want {
				t.Errorf("digest %s, want %s as on the CPU", got, want)
			}
		})
	}
}
