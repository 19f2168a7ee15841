package cpu

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/par"
)

// TestLaunchAll runs programs of all kinds of axes over sizes of all kinds as one group:
// doubles of a vector, sums of rows and sums of all, exact in float32.
func TestLaunchAll(t *testing.T) {
	rows := []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}
	sum := func(axes []loop.Axis, steps ...loop.Step) *loop.Program {
		b := loop.NewBuilder("sum", axes, len(axes)-1)
		x := b.Buf(array.Float32, false, append(steps, loop.Unit)...)
		y := b.Buf(array.Float32, true, append(steps, loop.Zero)...)
		var s loop.Value
		b.Pass(func() { s = b.Reduce(loop.Sum, b.Load(x)) })
		b.Store(y, s)
		return b.Finish()
	}
	b := loop.NewBuilder("double", rows[:1], 0)
	x, y := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() { v := b.Load(x); b.Store(y, b.Add(v, v)) })
	double := b.Finish()

	for _, isa := range jit.ISAs() {
		d := New(isa)
		for _, threads := range []int{1, 2, 5} {
			old := par.SetThreads(threads)
			var ls []device.Launch
			var check []func(name string)
			add := func(p *loop.Program, n, each int) {
				prog, err := d.Compile(p)
				if err != nil {
					t.Fatal(err)
				}
				extents, results := []int{n}, n
				if len(p.Axes) == 2 {
					extents = []int{n, each}
				} else if each > 1 {
					extents, results = []int{each}, 1
				}
				in, out := d.Default().Alloc(4*n*each), d.Default().Alloc(4*results)
				xs := unsafe.Slice((*float32)(in.Host()), n*each)
				for i := range xs {
					xs[i] = float32(i % 7)
				}
				ys := unsafe.Slice((*float32)(out.Host()), results)
				for i := range ys {
					ys[i] = -1
				}
				f := device.NewArgs()
				f.Bufs[0], f.Bufs[1] = device.Ref{Store: in}, device.Ref{Store: out}
				for a, e := range extents {
					f.Word[p.ExtentWord(a)], f.Word[p.StartWord(a)] = uint64(e), 0
					f.Word[p.StrideWord(0, a)], f.Word[p.StrideWord(1, a)] = 4, 4
				}
				f.Word[p.StrideWord(0, 0)] = uint64(4 * each)
				if len(extents) == 1 {
					f.Word[p.StrideWord(0, 0)] = 4
				}
				ls = append(ls, device.Launch{Program: prog, Args: f, Extents: extents, Cost: 20})
				check = append(check, func(name string) {
					for i := range ys {
						want := float32(i % 7)
						if p == double {
							want *= 2
						} else {
							want = 0
							for j := range each {
								want += float32((i*each + j) % 7)
							}
						}
						if ys[i] != want {
							t.Fatalf("%s, %d threads, %s of %v: result %d is %v, want %v", isa, threads, name, extents, i, ys[i], want)
						}
					}
					f.Free(2)
				})
			}
			all, some := sum(rows[1:]), sum(rows, loop.Any)
			for _, n := range []int{1, 0, 3, 511, 512, 513, 70001} {
				add(double, n, 1)
				if n > 0 {
					add(all, 1, n+1)
				}
				add(some, n, 9)
				add(some, 3, n)
			}
			before := d.counters.Grouped.Load()
			if err := d.Default().LaunchAll(ls); err != nil {
				t.Fatal(err)
			}
			// Two have nothing to do.
			if got, want := d.counters.Grouped.Load()-before, int64(len(ls)-2); threads > 1 && got != want || threads == 1 && got != 0 {
				t.Errorf("%s, %d threads: %d launches shared a hand-off, %d were given", isa, threads, got, want)
			}
			for i := range ls {
				check[i](ls[i].Program.Loop().Name)
			}
			if err := d.Default().LaunchAll(nil); err != nil {
				t.Error(err)
			}
			par.SetThreads(old)
		}
	}
}

// TestLaunchAllInterleaves: on one thread, launches over the same large array run a part of each
// at a time, with the same results. Launches over other arrays and small ones do not.
func TestLaunchAllInterleaves(t *testing.T) {
	defer par.SetThreads(par.SetThreads(1))
	b := loop.NewBuilder("sum", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
	x, y := b.Buf(array.Float32, false, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Zero)
	var s loop.Value
	b.Pass(func() { s = b.Reduce(loop.Sum, b.Load(x)) })
	b.Store(y, s)
	d := New(jit.ISAs()[len(jit.ISAs())-1])
	prog, err := d.Compile(b.Finish())
	if err != nil {
		t.Fatal(err)
	}
	p := prog.Loop()
	const each = 300
	for _, c := range []struct {
		rows        int
		same        bool
		interleaved int64
	}{{5003, true, 1}, {5003, false, 0}, {50, true, 0}} {
		in := [2]*array.Storage{d.Default().Alloc(4 * c.rows * each), d.Default().Alloc(4 * c.rows * each)}
		for _, st := range in {
			for i, xs := 0, unsafe.Slice((*float32)(st.Host()), c.rows*each); i < len(xs); i++ {
				xs[i] = float32(i % 7)
			}
		}
		var ls []device.Launch
		var out [2]*array.Storage
		for k, every := range [2]int{1, 2} { // each row, every other one
			from := in[k]
			if c.same {
				from = in[0]
			}
			out[k] = d.Default().Alloc(4 * c.rows)
			f := device.NewArgs()
			defer f.Free(2)
			f.Bufs[0], f.Bufs[1] = device.Ref{Store: from}, device.Ref{Store: out[k]}
			extents := []int{c.rows / every, each}
			for a, e := range extents {
				f.Word[p.ExtentWord(a)], f.Word[p.StartWord(a)] = uint64(e), 0
			}
			f.Word[p.StrideWord(0, 0)], f.Word[p.StrideWord(0, 1)] = uint64(4*each*every), 4
			f.Word[p.StrideWord(1, 0)], f.Word[p.StrideWord(1, 1)] = 4, 0
			ls = append(ls, device.Launch{Program: prog, Args: f, Extents: extents, Cost: 4})
		}
		if c.interleaved > 0 {
			ls[1].Extents = []int{c.rows, each} // two kernels, each over all of it
			ls[1].Args.Word[p.ExtentWord(0)], ls[1].Args.Word[p.StrideWord(0, 0)] = uint64(c.rows), 4*each
		}
		before := d.counters.Interleaved.Load()
		if err := d.Default().LaunchAll(ls); err != nil {
			t.Fatal(err)
		}
		if got := d.counters.Interleaved.Load() - before; got != c.interleaved {
			t.Errorf("%d rows, one array %v: %d groups were interleaved, want %d", c.rows, c.same, got, c.interleaved)
		}
		for k := range out {
			every := 1
			if k == 1 && c.interleaved == 0 {
				every = 2
			}
			for i, got := range unsafe.Slice((*float32)(out[k].Host()), c.rows/every) {
				want := float32(0)
				for j := range each {
					want += float32((i*every*each + j) % 7)
				}
				if got != want {
					t.Fatalf("launch %d, row %d: %v, want %v", k, i, got, want)
				}
			}
		}
	}
}

// A group ends when the context of an endless launch does, with its error.
func TestCancelGroup(t *testing.T) {
	defer par.SetThreads(par.SetThreads(3))
	d := New(jit.ISAs()[len(jit.ISAs())-1])
	prog, err := d.Compile(endless(t))
	if err != nil {
		t.Fatal(err)
	}
	p := prog.Loop()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	const n = 4096
	var ls []device.Launch
	for range 4 {
		f := device.NewArgs()
		defer f.Free(2)
		x, y := d.Default().Alloc(4*n), d.Default().Alloc(4*n)
		clear(unsafe.Slice((*float32)(x.Host()), n))
		f.Bufs[0], f.Bufs[1] = device.Ref{Store: x}, device.Ref{Store: y}
		f.Word[p.ExtentWord(0)], f.Word[p.StartWord(0)] = n, 0
		f.Word[p.StrideWord(0, 0)], f.Word[p.StrideWord(1, 0)] = 4, 4
		ls = append(ls, device.Launch{Program: prog, Args: f, Extents: []int{n}, Cost: 1000, Context: ctx})
	}
	grouped := d.counters.Grouped.Load()
	if err := d.Default().LaunchAll(ls); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
	if d.counters.Grouped.Load() == grouped {
		t.Error("no group was made")
	}
}
