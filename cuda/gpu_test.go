package cuda

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"weft/internal/cudart"
	"weft/internal/ptxsim"
)

// addText adds a number to each element of an array, by way of shared memory.
const addText = `.version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry add(.param .align 8 .b8 frame[24])
{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [frame];
ld.param.u32 %r1, [frame+8];
ld.param.u32 %r2, [frame+16];
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ntid.x;
mov.u32 %r5, %tid.x;
mad.lo.u32 %r3, %r3, %r4, %r5;
setp.ge.u32 %p1, %r3, %r1;
@%p1 bra done;
mul.wide.u32 %rd2, %r3, 4;
add.u64 %rd1, %rd1, %rd2;
ld.global.u32 %r4, [%rd1];
add.u32 %r4, %r4, %r2;
mov.u32 %r6, room;
shl.b32 %r7, %r5, 2;
add.u32 %r6, %r6, %r7;
st.shared.u32 [%r6], %r4;
ld.shared.u32 %r4, [%r6];
st.global.u32 [%rd1], %r4;
done:
ret;
}
`

// TestCallsOnGPU makes each kind of call on the GPU of this machine.
func TestCallsOnGPU(t *testing.T) {
	d := newDriver(libraryFiles)
	if n, err := (gpus{d}).Count(); err != nil || n == 0 {
		t.Skipf("SKIPPED: there is no GPU here: %d, %v", n, err)
	}
	exercise(t, d)
}

// TestCallsOnSimulator holds the simulator and what TestCallsOnGPU expects to each other.
func TestCallsOnSimulator(t *testing.T) { exercise(t, ptxsim.New(ptxsim.Options{Seed: 1})) }

// exercise adds to an array on the device and compares it with the sum here.
func exercise(t *testing.T, d cudart.Driver) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	info, err := d.Info(0)
	must(err)
	t.Logf("%+v", info)
	c, err := d.Open(0)
	must(err)
	defer func() { must(c.Close()) }()
	const n, threads, shared = 1000, 128, 64 << 10
	a, err := c.Alloc(4 * n)
	must(err)
	q, err := c.NewQueue(0)
	must(err)
	first, err := c.NewEvent(true)
	must(err)
	last, err := c.NewEvent(true)
	must(err)
	if _, err := c.Load(".version 7.8\n.target sm_80\n.address_size 64\nnonsense\n"); err == nil {
		t.Error("text that is not PTX was compiled")
	} else {
		t.Log(err)
	}
	m, err := c.Load(addText)
	must(err)
	f, err := c.Function(m, "add")
	must(err)
	pinned, err := c.AllocPinned(4 * n)
	must(err)
	in := unsafe.Slice((*uint32)(pinned), n)
	for i := range in {
		in[i] = uint32(i * i)
	}
	must(c.Record(first, q))
	must(c.CopyIn(q, a, pinned, 4*n))
	must(c.Fill(q, a, 10, 77, 4))
	args := binary.LittleEndian.AppendUint64(nil, uint64(a))
	args = binary.LittleEndian.AppendUint64(args, n)
	args = binary.LittleEndian.AppendUint64(args, 5)
	must(c.Launch(q, f, (n+threads-1)/threads, threads, shared, args))
	must(c.Record(last, q))
	out := make([]uint32, n) // not pinned: CopyOut waits
	must(c.CopyOut(q, unsafe.Pointer(&out[0]), a, 4*n))
	for i, got := range out {
		want := uint32(i*i) + 5
		if i < 10 {
			want = 82
		}
		if got != want {
			t.Fatalf("element %d is %d, want %d", i, got, want)
		}
	}
	if done, err := c.Done(last); !done || err != nil {
		t.Errorf("Done = %v, %v after the queue was waited for", done, err)
	}
	ms, err := c.Elapsed(first, last)
	must(err)
	if ms < 0 {
		t.Errorf("%v ms from the first event to the last", ms)
	}
	must(c.CloseEvent(first))
	must(c.CloseEvent(last))
	must(c.FreePinned(pinned))
	must(c.Unload(m))
	must(c.Free(a))
	must(c.CloseQueue(q))
}

// BenchmarkCalls measures calls of the driver: of the context's number alone, and launches of an empty
// range with and without it; each launch of 10,000 is followed by no wait.
func BenchmarkCalls(b *testing.B) {
	d := newDriver(libraryFiles)
	if n, err := (gpus{d}).Count(); err != nil || n == 0 {
		b.Skipf("SKIPPED: there is no GPU here: %d, %v", n, err)
	}
	opened, err := d.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	c := opened.(*context)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	a, err := c.Alloc(4096)
	must(err)
	q, err := c.NewQueue(0)
	must(err)
	m, err := c.Load(addText)
	must(err)
	f, err := c.Function(m, "add")
	must(err)
	e, err := c.NewEvent(false)
	must(err)
	args := binary.LittleEndian.AppendUint64(nil, uint64(a))
	args = binary.LittleEndian.AppendUint64(args, 16)
	args = binary.LittleEndian.AppendUint64(args, 5)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, r := range []struct {
		name string
		run  func() error
	}{
		{"SetCurrent", func() error { return c.library.call(cuCtxSetCurrent, c.handle) }},
		{"Launch", func() error { return c.Launch(q, f, 1, 128, 1024, args) }},
		{"Record", func() error { return c.Record(e, q) }},
		{"Done", func() error { _, err := c.Done(e); return err }},
	} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if err := r.run(); err != nil && err != error(notReady) {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			must(c.Sync(q))
		})
	}
	b.Run("LaunchAndSync", func(b *testing.B) {
		for b.Loop() {
			must(c.Launch(q, f, 1, 128, 1024, args))
			must(c.Sync(q))
		}
	})
}
