package ptxsim

import (
	"strings"
	"testing"
	"unsafe"

	cudart "weft/internal/cudart/driver"
)

const at4 = "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %a0;\n" // %d0 = &p0[t], of 4 bytes

// Each mistake of a kernel is found, where it is, and loses the context. p0 and p1 are 256 words of
// memory each; nothing wrote to p1.
func TestFaults(t *testing.T) {
	shared := ".shared .align 16 .b8 sm[256];\nmul.lo.u32 %r1, %t, 4; mov.u32 %r2, sm; add.u32 %r1, %r1, %r2;\n"
	for _, c := range []struct {
		name, body, line, reason string
		threads                  int
	}{
		{"unwritten memory", at4 + "ld.global.u32 %r0, [%a1];", "[%a1]", "never written", 32},
		{"unwritten byte", "mov.u32 %r0, 1; st.global.u8 [%a1], %r0; ld.global.u16 %h0, [%a1];", "%h0", "never written", 1},
		{"out of bounds", at4 + "ld.global.u32 %r0, [%d0+1000];", "+1000", "reach beyond", 32},
		{"before the start", "ld.global.u32 %r0, [%a0-4];", "%a0-4", "", 1},
		{"nowhere", "mov.u64 %d0, 64; ld.global.u32 %r0, [%d0];", "%r0, [%d0]", "no memory is there", 1},
		{"misaligned", "ld.global.u32 %r0, [%a0+2];", "%a0+2", "misaligned", 1},
		{"misaligned vector", "ld.global.v2.u32 {%r0, %r1}, [%a0+4];", "%a0+4", "misaligned", 1},
		{"race of lanes", "st.global.u32 [%a0], %t;", "[%a0], %t", "a race with a write of another thread", 32},
		{"race of warps", "setp.lt.u32 %p0, %t, 32; @%p0 ld.global.u32 %r0, [%a0]; setp.eq.u32 %p1, %t, 40; @%p1 st.global.u32 [%a0], %t;", "", "a race with a", 64},
		{"shared race", shared + "st.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [sm];", "%r3, [sm]", "a race with a write", 64},
		{"shared race after read", shared + "st.shared.u32 [%r1], %t; bar.sync 0;\nld.shared.u32 %r3, [sm];\nsetp.eq.u32 %p0, %t, 5;\n@%p0 st.shared.u32 [sm], %t;", "@%p0 st", "a race with a read", 32},
		{"shared unwritten", shared + "ld.shared.u32 %r3, [%r1];", "%r3, [%r1]", "never written", 32},
		{"shared out of bounds", shared + "st.shared.u32 [%r1+256], %t;", "+256", "reach beyond", 1},
		{"unwritten register", "add.u32 %r0, %r1, 1;", "%r0, %r1", "a register is read", 1},
		{"unwritten predicate", "@%p3 mov.u32 %r0, 1;", "@%p3", "a predicate is read", 1},
		{"unwritten in one lane", "setp.lt.u32 %p0, %t, 31; @%p0 mov.u32 %r0, 1;\nadd.u32 %r1, %r0, 1;", "add.u32 %r1", "a register is read", 32},
		{"barrier in divergent code", "setp.lt.u32 %p0, %t, 8;\n@%p0 bra L;\nbar.sync 0;\nL:", "bar.sync", "divergent", 32},
		{"barrier that threads left", "setp.lt.u32 %p0, %t, 32;\n@%p0 ret;\nbar.sync 0;", "", "left before", 64},
		{"different barriers", "setp.lt.u32 %p0, %t, 32;\n@%p0 bra L;\nbar.sync 0;\nret;\nL: bar.sync 1;", "", "waits at barrier", 64},
		{"shuffle in divergent code", "setp.lt.u32 %p0, %t, 8;\n@%p0 bra L;\nshfl.sync.idx.b32 %r0, %t, 0, 31, 0xffffffff;\nL:", "shfl", "missing", 32},
		{"shuffle outside of its mask", "shfl.sync.idx.b32 %r0, %t, 0, 31, 0xff;", "shfl", "not in the mask", 32},
		{"vote in divergent code", "setp.lt.u32 %p0, %t, 8;\n@%p0 bra L;\nvote.sync.any.pred %p1, %p0, 0xffffffff;\nL:", "vote", "missing", 32},
		{"uniform branch that parts", "setp.lt.u32 %p0, %t, 8;\n@%p0 bra.uni L;\nL:", "bra.uni", "parts", 32},
		{"trap", "trap;", "trap", "trapped", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t, Options{Seed: 7})
			a, b := put(g, make([]uint32, 256)), must(g.Alloc(1024))
			err := g.launch(text(2, c.body), 1, c.threads, a, b)
			if code(err) != cudart.CodeFault {
				t.Fatalf("the launch gives %v", err)
			}
			fs := g.d.Faults()
			if len(fs) != 1 || !strings.Contains(fs[0].Reason, c.reason) || !strings.Contains(fs[0].Text, c.line) || fs[0].Work != "k" {
				t.Fatalf("faults: %+v", fs)
			}
			if _, err := g.Alloc(1); code(err) != cudart.CodeFault {
				t.Fatalf("Alloc after a fault gives %v", err)
			}
		})
	}
}

// What the checks must not find: accesses that barriers and atomics order.
func TestNoFalseFaults(t *testing.T) {
	shared := ".shared .align 16 .b8 sm[256];\nmul.lo.u32 %r1, %t, 4; mov.u32 %r2, sm; add.u32 %r1, %r1, %r2;\n"
	for name, body := range map[string]string{
		"barrier":      shared + "st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r3, [sm]; bar.sync 0; st.shared.u32 [%r1], %r3;",
		"warp barrier": shared + "and.b32 %r5, %t, 32; mul.lo.u32 %r5, %r5, 4; add.u32 %r5, %r5, %r2; st.shared.u32 [%r1], %t; bar.warp.sync 0xffffffff; ld.shared.u32 %r3, [%r5]; bar.warp.sync 0xffffffff; st.shared.u32 [%r1], %r3;",
		"atomics":      "atom.global.add.u32 %r0, [%a0], 1; red.global.add.u32 [%a0], 2;",
		"volatile":     "ld.volatile.global.u32 %r0, [%a0]; red.global.max.u32 [%a0], 2;",
		"bytes":        "cvt.u64.u32 %d0, %t; add.u64 %d0, %d0, %a0; st.global.u8 [%d0], %t;",
		"same reads":   "ld.global.u32 %r0, [%a0]; bar.sync 0; setp.eq.u32 %p0, %t, 33; @%p0 st.global.u32 [%a0], %r0;",
		"early return": "setp.lt.u32 %p0, %t, 8; @%p0 ret; activemask.b32 %r0; shfl.sync.idx.b32 %r1, %t, 20, 31, %r0;",
	} {
		g := open(t, Options{Seed: 8})
		if err := g.launch(text(1, body), 1, 64, put(g, make([]uint32, 256))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRaceOfBlocks(t *testing.T) {
	g := open(t, Options{Seed: 9})
	err := g.launch(text(1, "setp.eq.u32 %p0, %t, 0; bar.sync 0; @%p0 st.global.u32 [%a0], %t;"), 2, 32, put(g, []uint32{1}))
	if code(err) != cudart.CodeFault {
		t.Fatal(err)
	}
	// One thread each adds: no order is needed.
	g = open(t, Options{Seed: 9})
	a := put(g, []uint32{1})
	check(g.launch(text(1, "red.global.add.u32 [%a0], 1;"), 3, 32, a))
	if n := get[uint32](g, a, 1)[0]; n != 97 {
		t.Fatalf("96 atomic sums of 1 give %d", n)
	}
}

func TestHungKernel(t *testing.T) {
	g := open(t, Options{Steps: 10000})
	err := g.launch(text(0, "L: add.u32 %t, %t, 1; bra L;"), 1, 32)
	if code(err) != cudart.CodeTimeout {
		t.Fatal(err)
	}
}

// Two queues that use the same bytes need an event between, for many orders of execution.
func TestQueueRaces(t *testing.T) {
	store := text(1, at4+"st.global.u32 [%d0], %t;")
	load := text(1, at4+"ld.global.u32 %r0, [%d0];")
	for _, c := range []struct {
		name          string
		first, second string
		order         func(g *gpu, q2 cudart.Queue)
		race          bool
	}{
		{"writes", store, store, func(*gpu, cudart.Queue) {}, true},
		{"write, read", store, load, func(*gpu, cudart.Queue) {}, true},
		{"reads", load, load, func(*gpu, cudart.Queue) {}, false},
		{"event", store, load, func(g *gpu, q2 cudart.Queue) {
			e := must(g.NewEvent(false))
			check(g.Record(e, g.q))
			check(g.Wait(q2, e))
		}, false},
		{"event too early", store, load, func(g *gpu, q2 cudart.Queue) {
			check(g.Wait(q2, must(g.NewEvent(false))))
		}, true},
		{"host waits", store, load, func(g *gpu, q2 cudart.Queue) { check(g.Sync(g.q)) }, false},
	} {
		for seed := range uint64(6) {
			g := open(t, Options{Seed: seed})
			a := put(g, make([]uint32, 32))
			check(g.Sync(g.q))
			q2 := must(g.NewQueue(0))
			f1, f2 := g.function(c.first, "k"), g.function(c.second, "k")
			check(g.Launch(g.q, f1, 1, 32, 0, args(a)))
			c.order(g, q2)
			check(g.Launch(q2, f2, 1, 32, 0, args(a)))
			err := g.Sync(q2)
			if err == nil {
				err = g.Sync(g.q)
			}
			if got := code(err) == cudart.CodeFault; got != c.race || err != nil && !got {
				t.Fatalf("%s, seed %d: %v", c.name, seed, err)
			}
		}
	}
}

// A write is a race with a reader even if a later reader of another queue is ordered.
func TestQueueRaceWithEarlierReader(t *testing.T) {
	g := open(t, Options{Seed: 4})
	a := put(g, make([]uint32, 32))
	check(g.Sync(g.q))
	q2, q3 := must(g.NewQueue(0)), must(g.NewQueue(0))
	load := g.function(text(1, at4+"ld.global.u32 %r0, [%d0];"), "k")
	check(g.Launch(q3, load, 1, 32, 0, args(a)))
	e := must(g.NewEvent(false))
	c := g.Context.(*context)
	c.mu.Lock()
	c.runFirst(c.queues[q3])
	c.mu.Unlock()
	check(g.Launch(q2, load, 1, 32, 0, args(a)))
	check(g.Record(e, q2))
	check(g.Wait(g.q, e))
	check(g.Fill(g.q, a, 1, 0, 4))
	if err := g.Sync(g.q); code(err) != cudart.CodeFault {
		t.Fatal(err)
	}
}

func TestFreedMemory(t *testing.T) {
	g := open(t, Options{})
	a := put(g, make([]uint32, 32))
	check(g.Free(a))
	if err := g.Sync(g.q); code(err) != cudart.CodeFault || !strings.Contains(err.Error(), "freed") {
		t.Fatal(err)
	}
}

// Copies carry what was never written along.
func TestCopyOfUnwrittenMemory(t *testing.T) {
	for _, n := range []int{32, 31} {
		g := open(t, Options{})
		a, b := must(g.Alloc(128)), must(g.Alloc(128))
		check(g.Fill(g.q, a, n, 5, 4))
		check(g.Copy(g.q, b, a, 128))
		err := g.launch(text(1, at4+"ld.global.u32 %r0, [%d0];"), 1, 32, b)
		if (err == nil) != (n == 32) {
			t.Fatalf("%d of 32 words written: %v", n, err)
		}
	}
}

func TestInjectedFailures(t *testing.T) {
	g := open(t, Options{Memory: 1 << 20})
	if _, err := g.Alloc(1<<20 + 1); code(err) != cudart.CodeOutOfMemory {
		t.Fatal(err)
	}
	a := must(g.Alloc(1 << 20))
	if _, err := g.Alloc(1); code(err) != cudart.CodeOutOfMemory {
		t.Fatal(err)
	}
	check(g.Free(a))
	must(g.Alloc(1))

	failing := func(name string, at, code int) func(string, int) error {
		return func(call string, n int) error {
			if call == name && n == at {
				return &cudart.DriverError{Call: call, Code: code, Text: "injected"}
			}
			return nil
		}
	}
	g = open(t, Options{Fail: failing("cuMemAlloc_v2", 2, cudart.CodeOutOfMemory)})
	must(g.Alloc(1))
	if _, err := g.Alloc(1); code(err) != cudart.CodeOutOfMemory {
		t.Fatal(err)
	}
	must(g.Alloc(1))

	g = open(t, Options{Fail: failing("run k", 1, cudart.CodeLaunch)})
	if err := g.launch(text(0, ""), 1, 1); code(err) != cudart.CodeLaunch {
		t.Fatal(err)
	}
	if _, err := g.NewEvent(false); code(err) != cudart.CodeLaunch {
		t.Fatal("the context is not lost")
	}
	if _, err := New(Options{Devices: -1}).Count(); code(err) != cudart.CodeNoDevice {
		t.Fatal(err)
	}
	g = open(t, Options{Major: 8})
	if _, err := g.Load(text(0, "")); code(err) != cudart.CodeBadText {
		t.Fatal(err)
	}
}

// Done gets true where a program asks again and again; a query alone does not finish all work.
func TestEventsAreLate(t *testing.T) {
	g := open(t, Options{Seed: 1})
	a, e := must(g.Alloc(4)), must(g.NewEvent(true))
	for range 20 {
		check(g.Fill(g.q, a, 1, 1, 4))
	}
	check(g.Record(e, g.q))
	asked := 0
	for !must(g.Done(e)) {
		asked++
	}
	if asked < 5 {
		t.Fatalf("done after %d questions", asked)
	}
	if ms := must(g.Elapsed(e, e)); ms != 0 {
		t.Fatal(ms)
	}
	y := uint32(9)
	check(g.CopyIn(g.q, a, unsafe.Pointer(&y), 4))
	check(g.CloseQueue(g.q))
	if err := g.Sync(g.q); err == nil {
		t.Fatal("a closed queue is taken")
	}
}

// A barrier of one warp orders nothing with the reads of another. Both warps read before the write.
func TestWarpBarrierIsOfOneWarp(t *testing.T) {
	body := "ld.global.u32 %r0, [%a0]; mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4000; @%p0 bra L;\n" +
		"bar.warp.sync 0xffffffff; setp.eq.u32 %p1, %t, 0; @%p1 st.global.u32 [%a0], %t;"
	for seed := range uint64(6) {
		g := open(t, Options{Seed: seed})
		if err := g.launch(text(1, body), 1, 64, put(g, []uint32{1})); code(err) != cudart.CodeFault {
			t.Fatalf("seed %d: %v", seed, err)
		}
		g = open(t, Options{Seed: seed})
		if err := g.launch(text(1, body), 1, 32, put(g, []uint32{1})); err != nil {
			t.Fatalf("seed %d, one warp: %v", seed, err)
		}
	}
}
