package ptxsim

import (
	"fmt"
	"math/bits"

	cudart "weft/internal/cudart/driver"
)

// A launch is a grid of blocks that runs.
type launch struct {
	c       *context
	w       *work
	k       *kernel
	blocks  int
	threads int
	shared  int // bytes of dynamic shared memory
	args    []byte
	races   bool
	act     actor // of global memory
	actS    actor // of shared memory

}

func (c *context) Launch(h cudart.Queue, f cudart.Func, blocks, threads, shared int, args []byte) error {
	const call = "cuLaunchKernel"
	q, err := c.queueCall(call, h)
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	k := c.funcs[f]
	if k == nil {
		return driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	switch {
	case blocks < 1 || blocks > 1<<31-1 || threads < 1 || threads > k.maxThreads || k.exactThreads && threads != k.maxThreads:
		return driverError(call, cudart.CodeInvalid, "invalid argument: %d blocks of %d threads of %s, at most %d", blocks, threads, k.name, k.maxThreads)
	case uint64(blocks)*uint64(threads) >= uint64(everywhere):
		return driverError(call, cudart.CodeInvalid, "the simulator runs less than 2^32-1 threads")
	case shared < 0 || roundUp(k.shared, 16)+shared > c.d.opts.Shared:
		return driverError(call, cudart.CodeInvalid, "invalid argument: %d bytes of shared memory, at most %d", k.shared+shared, c.d.opts.Shared)
	case len(args) != k.paramBytes:
		return driverError(call, cudart.CodeInvalid, "invalid argument: %d bytes of parameters of %s, not %d", len(args), k.name, k.paramBytes)
	}
	l := &launch{c: c, k: k, blocks: blocks, threads: threads, shared: shared, races: !c.d.opts.NoRaces}
	l.args = append([]byte(nil), args...)
	c.issue(q, &work{name: k.name, run: l.run})
	return nil
}

// run executes the blocks in random order.
func (l *launch) run(w *work) {
	l.w = w
	if err := l.c.d.enter("run " + l.k.name); err != nil {
		l.c.loseBy(err)
		if l.c.lost == nil {
			l.c.lost = err
		}
		return
	}
	if l.k.m.unloaded {
		panic(l.fault("the module was unloaded before the kernel ran"))
	}
	l.act = actor{work: w.id, block: uint32(l.threads), c: l.c}
	l.actS = actor{block: uint32(l.threads)}
	b := newBlock(l)
	order := l.c.rnd.Perm(l.blocks)
	for _, i := range order {
		b.start(i)
		l.actS.work = b.run
		b.execute()
	}
}

func (l *launch) fault(format string, args ...any) *Fault {
	return &Fault{Work: l.k.name, Reason: fmt.Sprintf(format, args...), Code: cudart.CodeFault}
}

// step counts instructions of a warp, and stops a kernel that hangs.
func (l *launch) step(w *warp, n int) {
	w.steps += n
	if w.steps > l.c.d.opts.Steps {
		top := w.stack[len(w.stack)-1]
		w.in = &l.k.code[min(int(top.pc), len(l.k.code)-1)]
		f := l.fault("the kernel hangs: a warp executed %d instructions", w.steps)
		f.Line, f.Block, f.Thread = int(w.in.line), w.b.index, w.first+bits.TrailingZeros32(w.lanes)
		f.Code = cudart.CodeTimeout
		panic(f)
	}
}
