package exec

import (
	"runtime"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/profile"
)

// A Task is a run of a plan that is one kernel: see [Compiled.Run], but all outputs
// have their memory.
type Task struct {
	C    *Compiled
	Ins  []*array.View
	Nums []Number
	Out  []array.View
}

// RunAll runs tasks of one stream in any order and at once. Requires: none reads or writes
// what another one writes. Nothing is written if a number does not fit.
func RunAll(tasks []Task) error {
	for i := range tasks {
		if err := tasks[i].C.fit(tasks[i].Nums); err != nil {
			return err
		}
	}
	if r := profile.On(); r != nil {
		call := r.Begin(tasks[0].C.dev.Number(), tasks[0].C.Name, 0)
		onStream(call, tasks[0].C.stream)
		defer call.End()
		steps := make([]profile.Step, len(tasks))
		for i := range tasks {
			steps[i] = *tasks[i].C.profiled(0)
		}
		all := sideBySide(steps)
		call.Step(&all)
	}
	var used []*array.Storage
	defer func() {
		for _, st := range used {
			st.Unuse()
		}
	}()
	for i := range tasks {
		t := &tasks[i]
		for k := range len(t.Ins) + len(t.Out) {
			var v *array.View
			if k < len(t.Ins) {
				v = t.Ins[k]
			} else {
				v = &t.Out[k-len(t.Ins)]
			}
			if v.Store.Stays() {
				continue
			}
			if !v.Store.Use() {
				return released(v)
			}
			used = append(used, v.Store)
		}
	}
	s := tasks[0].C.stream
	g := make(group, 0, min(len(tasks), groupMax))
	var slots []*array.Storage
	var off []int
	for i := range tasks {
		t := &tasks[i]
		slots, off = slots[:0], off[:0]
		for _, v := range t.Ins {
			slots, off = append(slots, v.Store), append(off, v.Offset*v.DType.Size())
		}
		for _, v := range t.Out {
			v.Store.WillMark()
			slots, off = append(slots, v.Store), append(off, v.Offset*v.DType.Size())
		}
		k := t.C.Plan.Steps[0].Kernel
		for index := make([]int, len(k.Around)); ; {
			l := device.Launch{Program: t.C.kernels[0], Args: t.C.bind(k, index, t.Nums, slots, off), Extents: k.Extents, Cost: k.Cost, Late: t.C.lateOf(0)}
			if err := g.add(s, l); err != nil {
				return err
			}
			if !advance(index, k.Around) {
				break
			}
		}
	}
	err := g.run(s)
	// An address in a frame keeps no memory off the Go heap alive.
	runtime.KeepAlive(tasks)
	return err
}

// groupMax bounds the launches of a group. Each holds arguments until all are done: 112 KiB.
const groupMax = 64

// A group is launches that are handed over together.
type group []device.Launch

// add puts a launch into the group, after running it if it is full.
func (g *group) add(s device.Stream, l device.Launch) error {
	if len(*g) == groupMax {
		if err := g.run(s); err != nil {
			l.Args.Free(len(l.Program.Loop().Bufs))
			return err
		}
	}
	*g = append(*g, l)
	return nil
}

// run hands the launches over and frees their arguments.
func (g *group) run(s device.Stream) error {
	err := s.LaunchAll(*g)
	for _, l := range *g {
		l.Args.Free(len(l.Program.Loop().Bufs))
	}
	*g = (*g)[:0]
	return err
}
