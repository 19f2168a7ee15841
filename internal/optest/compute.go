package optest

import (
	"sync"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/plan"
)

// computing is the memory of Compute, which takes longer to get than most graphs to run.
var computing struct {
	sync.Mutex
	mem Memory
}

// Compute plans nodes of inputs as one and runs them on a device, in contiguous memory.
func Compute(dev device.Device, outs []*ir.Node, x []*Array) (res []*Array, err error) {
	computing.Lock()
	defer computing.Unlock()
	mem := &computing.mem
	mem.Reset()
	err = attempt(func() error {
		ins, dst := make([]array.View, len(x)), make([]array.View, len(outs))
		views := make([]*array.View, len(x))
		for i := range x {
			ins[i] = mem.hold(x[i], Contiguous)
			views[i] = &ins[i]
		}
		for i, o := range outs {
			dst[i] = mem.room(o.DType, o.Shape, Contiguous)
		}
		c, err := exec.Compile(plan.Build(outs, sigs(ins), sigs(dst), dev.Model()), dev)
		if err != nil {
			return err
		}
		if err := runOn(dev, c, views, dst); err != nil {
			return err
		}
		for i := range dst {
			res = append(res, Read(dst[i]))
		}
		return nil
	})
	return res, err
}

// Same shows the first element of a and b whose bits differ, "" if none do. NaNs are equal.
func Same(a, b *Array) string {
	if i := same(a, b); i >= 0 {
		return a.at(i) + " and " + b.at(i)
	}
	return ""
}
