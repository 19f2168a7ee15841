package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	cudart "weft/internal/cudart/driver"
)

const header = ".version 8.0\n.target sm_90\n.address_size 64\n"

// A gpu is an open context with a queue, whose calls must succeed.
type gpu struct {
	t *testing.T
	d *Driver
	cudart.Context
	q cudart.Queue
}

func open(t *testing.T, opts Options) *gpu {
	t.Helper()
	d := New(opts)
	c, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	q, err := c.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	return &gpu{t, d, c, q}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// put returns new memory with the given elements.
func put[T any](g *gpu, x []T) cudart.Addr {
	n := len(x) * int(unsafe.Sizeof(x[0]))
	a := must(g.Alloc(n))
	check(g.CopyIn(g.q, a, unsafe.Pointer(&x[0]), n))
	return a
}

// get returns n elements of memory.
func get[T any](g *gpu, a cudart.Addr, n int) []T {
	x := make([]T, n)
	check(g.CopyOut(g.q, unsafe.Pointer(&x[0]), a, n*int(unsafe.Sizeof(x[0]))))
	return x
}

// args returns the parameters of a kernel: addresses and words of 64 bits.
func args(x ...any) []byte {
	var b []byte
	for _, v := range x {
		switch v := v.(type) {
		case cudart.Addr:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

func (g *gpu) function(src, name string) cudart.Func {
	g.t.Helper()
	m, err := g.Load(src)
	if err != nil {
		g.t.Fatalf("%v\n%s", err, src)
	}
	return must(g.Function(m, name))
}

// text returns the text of a kernel k with n parameters of 64 bits in p0, p1 ... Registers %r, %d,
// %h, %f, %g and %p may be used, %t is the number of the thread.
func text(n int, body string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s.visible .entry k(.param .align 8 .b8 args[%d])\n.maxntid 1024\n{\n", header, 8*n)
	s.WriteString(".reg .b32 %r<64>, %t; .reg .b64 %d<64>, %a<8>; .reg .b16 %h<16>; .reg .f32 %f<32>; .reg .f64 %g<32>; .reg .pred %p<16>;\n")
	for i := range n {
		fmt.Fprintf(&s, "ld.param.u64 %%a%d, [args+%d];\n", i, 8*i)
	}
	s.WriteString("mov.u32 %t, %tid.x;\n")
	return s.String() + body + "\nret;\n}\n"
}

// launch runs a kernel of [text] and waits.
func (g *gpu) launch(src string, blocks, threads int, x ...any) error {
	g.t.Helper()
	f := g.function(src, "k")
	check(g.Launch(g.q, f, blocks, threads, 0, args(x...)))
	return g.Sync(g.q)
}

func code(err error) int {
	var e *cudart.DriverError
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code
}

func TestCopyAddsOne(t *testing.T) {
	g := open(t, Options{Seed: 1})
	const n = 1000
	x := make([]uint32, n)
	for i := range x {
		x[i] = uint32(i * i)
	}
	a, b := put(g, x), must(g.Alloc(4*n))
	err := g.launch(text(3, `
		cvta.to.global.u64 %a0, %a0;
		mov.u32 %r0, %ctaid.x;
		mov.u32 %r1, %ntid.x;
		mad.lo.u32 %r2, %r0, %r1, %t;
		cvt.u64.u32 %d0, %r2;
		setp.ge.u64 %p0, %d0, %a2;
		@%p0 bra DONE;
		mad.lo.s64 %d1, %d0, 4, %a0;
		mad.lo.s64 %d2, %d0, 4, %a1;
		ld.global.u32 %r3, [%d1];
		add.s32 %r3, %r3, 1;
		st.global.u32 [%d2], %r3;
	DONE:`), 4, 256, a, b, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range get[uint32](g, b, n) {
		if y != x[i]+1 {
			t.Fatalf("element %d is %d, not %d", i, y, x[i]+1)
		}
	}
}

// Lanes of a warp loop a different number of times, with a branch inside, and meet again for a shuffle.
func TestDivergentLoop(t *testing.T) {
	g := open(t, Options{Seed: 2})
	b := must(g.Alloc(4 * 64))
	err := g.launch(text(1, `
		mov.u32 %r0, 0;
		mov.u32 %r1, 0;
	LOOP:
		setp.ge.u32 %p0, %r1, %t;
		@%p0 bra OUT;
		and.b32 %r2, %r1, 1;
		setp.eq.u32 %p1, %r2, 0;
		@%p1 bra EVEN;
		add.u32 %r0, %r0, 100;
		bra.uni NEXT;
	EVEN:
		add.u32 %r0, %r0, 1;
	NEXT:
		add.u32 %r1, %r1, 1;
		bra LOOP;
	OUT:
		shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0xffffffff;
		mul.wide.u32 %d0, %t, 4;
		add.u64 %d0, %d0, %a0;
		st.global.b32 [%d0], %r3;`), 1, 64, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range get[uint32](g, b, 64) {
		j := i ^ 1
		if want := uint32((j+1)/2 + j/2*100); y != want {
			t.Fatalf("thread %d has %d, not %d", i, y, want)
		}
	}
}

// Queues run late: without a wait nothing was written, and pinned memory is read when its copy runs.
func TestPinnedCopyReadsLate(t *testing.T) {
	g := open(t, Options{Seed: 3})
	p := must(g.AllocPinned(4))
	x := (*uint32)(p)
	a := must(g.Alloc(4))
	*x = 1
	check(g.CopyIn(g.q, a, p, 4))
	*x = 2
	if got := get[uint32](g, a, 1)[0]; got != 2 {
		t.Fatalf("pinned memory was read early: %d", got)
	}
	y := uint32(3)
	check(g.CopyIn(g.q, a, unsafe.Pointer(&y), 4))
	y = 4
	if got := get[uint32](g, a, 1)[0]; got != 3 {
		t.Fatalf("pageable memory was read late: %d", got)
	}
}
