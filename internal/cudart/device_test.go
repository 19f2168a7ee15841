package cudart

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/mem"
)

var host = cpu.New(jit.Portable)

func TestOpenRefuses(t *testing.T) {
	change := func(f func(*fake)) Driver {
		x := newFake(1)
		f(x)
		return x
	}
	for name, c := range map[string]struct {
		driver  Driver
		ordinal int
		want    error
		text    string
	}{
		"no driver":  {nil, 0, ErrNoDriver, "no driver"},
		"no library": {change(func(f *fake) { f.failAt, f.code = 1, 3 }), 0, ErrNoDriver, "injected"},
		"no device":  {change(func(f *fake) { f.failAt, f.code = 1, CodeNoDevice }), 0, ErrNoDevice, "0 GPUs"},
		"ordinal":    {newFake(1), 2, ErrNoDevice, "1 GPU"},
		"negative":   {newFake(1), -1, ErrNoDevice, "1 GPU"},
		"capability": {change(func(f *fake) { f.info.Major, f.info.Minor = 7, 5 }), 0, ErrCapability, "7.5"},
		"old driver": {change(func(f *fake) { f.info.CUDA = 11080 }), 0, ErrOldDriver, "11.8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(c.driver, c.ordinal, host)
			var e *array.Error
			if !errors.As(err, &e) || e.Kind != array.DeviceFailed || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), fmt.Sprintf("cuda:%d", c.ordinal)) {
				t.Errorf("%v, want %v with %q", err, c.want, c.text)
			}
		})
	}
}

// hostBytes returns a storage of the host with bytes in it.
func hostBytes(b []byte) *array.Storage {
	return array.NewStorage(unsafe.Pointer(unsafe.SliceData(b)), len(b), b)
}

// noise returns random bytes.
func noise(chance *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(chance.Uint32())
	}
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Copies of all lengths, from memory that is written again at once, arrive.
func TestCopies(t *testing.T) {
	d := opened(t, newFake(2))
	s := d.Default()
	chance := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 100, lateDownload, lateDownload + 1, pinnedBytes - 1, pinnedBytes, pinnedBytes + 5, 5*pinnedBytes + 3, 9 * pinnedBytes} {
		b := noise(chance, n)
		want := bytes.Clone(b)
		x, y := s.Alloc(n+16), s.Alloc(n+16)
		check(t, s.Copy(device.Ref{Store: x, Offset: 8}, device.Ref{Store: hostBytes(b)}, n))
		clear(b)
		check(t, s.Copy(device.Ref{Store: y, Offset: 3}, device.Ref{Store: x, Offset: 8}, n))
		x.Release()
		got := make([]byte, n)
		check(t, s.Copy(device.Ref{Store: hostBytes(got)}, device.Ref{Store: y, Offset: 3}, n))
		check(t, s.Sync())
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back changed", n)
		}
	}
}

// Many small copies to the host that wait for one Sync are more than the buffer holds.
func TestManySmallCopies(t *testing.T) {
	d := opened(t, newFake(3))
	s := d.Default()
	chance := rand.New(rand.NewPCG(3, 2))
	const n, size = 3 * pinnedBytes / lateDownload, lateDownload - 5
	var got, want [n][]byte
	for i := range n {
		want[i] = noise(chance, size)
		got[i] = make([]byte, size)
		x := s.Alloc(size)
		check(t, s.Copy(device.Ref{Store: x}, device.Ref{Store: hostBytes(want[i])}, size))
		check(t, s.Copy(device.Ref{Store: hostBytes(got[i])}, device.Ref{Store: x}, size))
		s.Free(x)
	}
	check(t, s.Sync())
	for i := range n {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("copy %d came back changed", i)
		}
	}
}

func TestFills(t *testing.T) {
	d := opened(t, newFake(4))
	s := d.Default()
	for _, size := range []int{1, 2, 4, 8} {
		for _, n := range []int{0, 1, 2, 255, 256, 257, 3000} {
			for _, bits := range []uint64{0, 0x0102030405060708, 0x1111111111111111} {
				x := s.Alloc(n*size + 32)
				check(t, s.Fill(device.Ref{Store: x}, n*size+32, 0xEE, 1))
				check(t, s.Fill(device.Ref{Store: x, Offset: 16}, n, bits, size))
				got := make([]byte, n*size+32)
				check(t, s.Copy(device.Ref{Store: hostBytes(got)}, device.Ref{Store: x}, len(got)))
				check(t, s.Sync())
				for i, b := range got {
					want := byte(0xEE)
					if k := i - 16; k >= 0 && k < n*size {
						want = byte(bits >> (8 * (k % size)))
					}
					if b != want {
						t.Fatalf("%d times %x of %d bytes: byte %d is %x, want %x", n, bits, size, i-16, b, want)
					}
				}
			}
		}
	}
}

func TestRefusedMemory(t *testing.T) {
	d := opened(t, newFake(5))
	s := d.Default()
	x := s.Alloc(100)
	for name, f := range map[string]func() error{
		"beyond":   func() error { return s.Fill(device.Ref{Store: x, Offset: 90}, 11, 0, 1) },
		"negative": func() error { return s.Copy(device.Ref{Store: x, Offset: -1}, device.Ref{Store: x}, 5) },
		"foreign": func() error {
			return s.Fill(device.Ref{Store: array.NewStorage(nil, 100, nil)}, 10, 0, 1)
		},
		"released": func() error {
			y := s.Alloc(100)
			y.Release()
			return s.Fill(device.Ref{Store: y}, 10, 0, 1)
		},
	} {
		var e *array.Error
		if err := f(); !errors.As(err, &e) {
			t.Errorf("%s: %v, want an *array.Error", name, err)
		}
	}
	check(t, s.Fill(device.Ref{Store: x}, 10, 0, 1))
}

func TestClosedDevice(t *testing.T) {
	f := newFake(6)
	d := opened(t, f)
	s := d.Default()
	x, e := s.Alloc(100), s.Record(false)
	check(t, d.Close())
	for name, f := range map[string]func() error{
		"alloc":  func() error { return array.Try(func() { s.Alloc(1) }) },
		"fill":   func() error { return s.Fill(device.Ref{Store: x}, 10, 0, 1) },
		"copy":   func() error { return s.Copy(device.Ref{Store: x}, device.Ref{Store: hostBytes(make([]byte, 4))}, 4) },
		"sync":   s.Sync,
		"event":  e.Sync,
		"wait":   func() error { return s.Wait(e) },
		"stream": func() error { _, err := d.NewStream(); return err },
		"trim":   d.Trim,
		"close":  d.Close,
	} {
		var e *array.Error
		if err := f(); !errors.As(err, &e) || e.Kind != array.DeviceFailed || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v, want that the device was closed", name, err)
		}
	}
	x.Release() // nothing happens
}

// A failure ends all use of the device, by the same error.
func TestFailureStays(t *testing.T) {
	f := newFake(7)
	d := opened(t, f)
	s := d.Default()
	x := s.Alloc(100)
	f.mu.Lock()
	f.lost = &DriverError{Call: "cuStreamSynchronize", Code: CodeFault, Text: "an illegal address"}
	f.mu.Unlock()
	for i := range 3 {
		err := s.Fill(device.Ref{Store: x}, 10, 0, 1)
		var e *array.Error
		if !errors.As(err, &e) || e.Kind != array.DeviceFailed || code(err) != CodeFault {
			t.Errorf("call %d: %v, want the driver's error", i, err)
		}
	}
	if err := array.Try(func() { s.Alloc(10) }); code(err) != CodeFault {
		t.Errorf("alloc: %v", err)
	}
	if err := d.Err(); code(err) != CodeFault {
		t.Errorf("Err: %v", err)
	}
}

// Memory that a second stream uses is not handed out before that has done its work.
func TestMemoryOnTwoStreams(t *testing.T) {
	for seed := range uint64(20) {
		f := newFake(seed)
		d := opened(t, f)
		a := d.Default()
		b, err := d.NewStream()
		check(t, err)
		const n = 5000
		var got [20][]byte
		for i := range got {
			x := a.Alloc(n)
			check(t, a.Fill(device.Ref{Store: x}, n, uint64(i+1), 1))
			check(t, b.Wait(a.Record(false)))
			got[i] = make([]byte, n)
			check(t, b.Copy(device.Ref{Store: hostBytes(got[i])}, device.Ref{Store: x}, n))
			a.Free(x)
		}
		check(t, d.Sync())
		for i, g := range got {
			if !bytes.Equal(g, bytes.Repeat([]byte{byte(i + 1)}, n)) {
				t.Fatalf("seed %d: memory %d was handed out while the second stream read it", seed, i)
			}
		}
		if s := d.MemoryStats(); s.Live != 0 {
			t.Errorf("%d bytes live", s.Live)
		}
	}
}

// Memory of unreachable storages comes back, and before an allocation fails.
func TestDeadMemoryIsCollected(t *testing.T) {
	f := newFake(8)
	f.memory = 64 << 20
	d := opened(t, f)
	s := d.Default()
	for range 40 {
		_ = s.Alloc(11 << 20)
	}
	if st := d.MemoryStats(); st.Collections == 0 || st.Reserved > 64<<20 {
		t.Errorf("%+v, want collections", st)
	}
	keep := []*array.Storage{s.Alloc(12 << 20), s.Alloc(12 << 20)}
	err := array.Try(func() { s.Alloc(60 << 20) })
	var e *array.Error
	if !errors.As(err, &e) || e.Kind != array.OutOfMemory || !strings.Contains(err.Error(), "24 MiB are in use") || code(err) != CodeOutOfMemory {
		t.Errorf("%v, want out of memory with the figures", err)
	}
	if got := s.Alloc(30 << 20); got == nil {
		t.Error("no memory after a failure")
	}
	runtime.KeepAlive(keep)
}

// What was released goes back once, and what was given the same lease stays when the first owner dies.
func TestReleasedMemoryGoesBackOnce(t *testing.T) {
	d := opened(t, newFake(9))
	s := d.Default().(*Stream)
	const n, size = 50, 1 << 12
	var live []*array.Storage
	for range n {
		first := s.Alloc(size)
		first.Release()
		first.Release()
		if _, err := s.address(device.Ref{Store: first}); err == nil {
			t.Fatal("work was given released memory")
		}
		live = append(live, s.Alloc(size), s.Alloc(size))
		live[len(live)-1].Release()
		_ = s.Alloc(size) // left to the collector
		mem.Collect()
	}
	for range 2 {
		mem.Collect()
	}
	if got := d.MemoryStats(); got.Live != n*size || got.Frees != got.Allocations-n {
		t.Errorf("%d bytes live after %d allocations and %d frees, want %d", got.Live, got.Allocations, got.Frees, n*size)
	}
	at := map[Addr]bool{}
	for i, st := range live {
		if i%2 == 1 {
			continue
		}
		a, err := s.address(device.Ref{Store: st})
		if err != nil || at[a] {
			t.Fatalf("storage %d is at %d, as another, %v", i, a, err)
		}
		at[a] = true
	}
}

// scenario uses all of a device that a driver can fail at.
func scenario(f *fake) (err error) {
	d, err := Open(f, 0, host)
	if err != nil {
		return err
	}
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	defer func() { keep(d.Close()) }()
	keep(array.Try(func() {
		s := d.Default()
		x, y := s.Alloc(3<<20), s.Alloc(1000)
		big := make([]byte, 3<<20)
		keep(s.Copy(device.Ref{Store: x}, device.Ref{Store: hostBytes(big)}, len(big)))
		keep(s.Fill(device.Ref{Store: y}, 125, 0x0102030405060708, 8))
		keep(s.Copy(device.Ref{Store: x, Offset: 5}, device.Ref{Store: y}, 1000))
		keep(s.Copy(device.Ref{Store: hostBytes(big[:50])}, device.Ref{Store: x}, 50))
		keep(s.Copy(device.Ref{Store: hostBytes(big)}, device.Ref{Store: x}, len(big)))
		o, e := d.NewStream()
		keep(e)
		if o != nil {
			keep(o.Wait(s.Record(false)))
			keep(o.Fill(device.Ref{Store: x}, 1000, 7, 4))
			x.Release()
			keep(o.Sync())
			keep(o.Close())
		}
		keep(s.Record(false).Sync())
		y.Release()
		keep(d.Trim())
		s.Alloc(11 << 20).Release()
	}))
	return err
}

// Whatever call of the driver fails, and however: an error says so, and everything comes back.
func TestFailureAtEachCall(t *testing.T) {
	f := newFake(9)
	check(t, scenario(f))
	calls := f.calls
	if calls < 50 {
		t.Fatalf("only %d calls of the driver", calls)
	}
	for _, c := range []int{CodeOutOfMemory, CodeFault} {
		for n := 1; n <= calls; n++ {
			f := newFake(9)
			f.failAt, f.code = n, c
			err := scenario(f)
			var e *array.Error
			switch {
			case err == nil && (c != CodeOutOfMemory || f.failed != "Alloc" && f.failed != "Record"):
				t.Errorf("call %d, %s, failed with %d without an error", n, f.failed, c)
			case err != nil && !errors.As(err, &e):
				t.Errorf("call %d, %s: %v is not an *array.Error", n, f.failed, err)
			}
			if s := f.leaks(); s != "" {
				t.Errorf("call %d, %s failed with %d: not given back: %s", n, f.failed, c, s)
			}
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	d := opened(t, newFake(10))
	var streams [4]*Stream
	for i := range streams {
		s, err := d.NewStream()
		check(t, err)
		streams[i] = s.(*Stream)
	}
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			s := streams[g%len(streams)]
			chance := rand.New(rand.NewPCG(uint64(g), 1))
			for range 30 {
				n := 1 + chance.IntN(100_000)
				b, got := noise(chance, n), make([]byte, n)
				x := s.Alloc(n)
				err := s.Copy(device.Ref{Store: x}, device.Ref{Store: hostBytes(b)}, n)
				other := streams[chance.IntN(len(streams))]
				if err == nil {
					err = other.Wait(s.Record(false))
				}
				if err == nil {
					err = other.Copy(device.Ref{Store: hostBytes(got)}, device.Ref{Store: x}, n)
				}
				if chance.IntN(2) == 0 {
					x.Release()
				}
				if err == nil {
					err = other.Sync()
				}
				if err != nil || !bytes.Equal(b, got) {
					t.Errorf("goroutine %d: bytes came back changed, or %v", g, err)
					return
				}
			}
		})
	}
	all.Wait()
}
