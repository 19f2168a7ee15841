package core

import (
	"runtime"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/dirty"
	"weft/internal/jit"
	"weft/internal/mapped"
	"weft/internal/par"
)

// This file is the one way between tensors and Go memory: everything else leaves
// memory to the device that has it. What reads elements on the host waits for the
// device's work. These are the synchronisation points:
//   - Item, ItemInt, Data, CopyTo and Borrow, printing, digests, files;
//   - the checks of CrossEntropy's targets;
//   - counts that decide a shape: MaskSelect, NonZero, RepeatInterleave, masks of Index;
//   - the rows of a sparse gradient;
//   - what a Tracked sends and a Sink receives.

// NewDevice makes the default device: the CPU with an instruction set. Under the build tag
// weft_deferred it is a device for tests.
var NewDevice = func(isa jit.ISA) device.Device { return cpu.New(isa) }

// ToHost is [HostView] for who reads: the memory stays until [Leave], whoever releases t meanwhile.
func ToHost(t *Tensor) array.View {
	v := HostView(t)
	use(&v)
	return v
}

// use keeps the memory of a view until [leave], or panics if it was given back.
func use(v *array.View) {
	if !v.Store.Use() {
		FailReleased("read", v)
	}
}

// Leave ends [ToHost] or [use]. Defer it: reading a mapped file that was cut short panics.
func Leave(v *array.View) {
	v.Store.Unuse()
	runtime.KeepAlive(v.Store)
}

// HostView returns a view of t's elements that the host can read, in t's shape. It is t's own view
// if the host reaches the memory, else a contiguous copy.
func HostView(t *Tensor) array.View {
	RefuseRead("compile", t)
	d := device.Get(t.v.Store.Device)
	if t.Size() == 0 {
		return t.v
	}
	wait(t.stream())
	if OnHost(t) {
		return t.v
	}
	checkUnreached(t)
	v := array.View{DType: t.v.DType, Shape: t.v.Shape, Strides: array.RowMajor(t.v.Shape)}
	v.Store = d.Fallback().Default().Alloc(v.Size() * v.DType.Size())
	download(&v, t)
	return v
}

// Reached reports that the host reaches the memory of a device.
func Reached(number uint8) bool { return device.Get(number).Fallback() == nil }

// Reached reports that the host reaches the memory of t's device.
func (t *Tensor) Reached() bool { return Reached(t.v.Store.Device) }

// here reports that the host reaches the memory of a view, which may belong to a trace.
func here(v *array.View) bool { return !v.Store.Abstract && v.Store.Host() != nil }

// checkUnreached panics if the host reaches the memory of t's device. t, which has no memory there,
// was then released by another goroutine.
func checkUnreached(t *Tensor) {
	if t.Reached() {
		FailReleased("read", &t.v)
	}
}

// download copies the elements of t, whose memory the host does not reach, into dst, contiguous
// memory of the host of the same type.
func download(dst *array.View, t *Tensor) {
	checkUnreached(t)
	c := (&Tensor{v: t.v, run: t.run.onStream()}).Contiguous()
	size := c.v.DType.Size()
	s := t.stream()
	check(s.Copy(device.Ref{Store: dst.Store, Offset: dst.Offset * size}, device.Ref{Store: c.v.Store, Offset: c.v.Offset * size}, c.Size()*size))
	wait(s)
	KeepAlive(c)
}

// Deliver writes the elements of t into dst, contiguous memory of the host of the same type and
// shape: the result of a function of the user.
func Deliver(dst *array.View, t *Tensor) {
	t.Check("host")
	if OnHost(t) {
		CopyInto(&Tensor{v: *dst}, t)
		return
	}
	download(dst, t)
}

// upload returns a copy of a view of the host's memory on the device whose number it has, with the
// same strides.
func upload(v array.View) *Tensor {
	size := v.DType.Size()
	lo, hi := v.Span()
	s := device.Get(v.Store.Device).Default()
	out := v
	out.Store, out.Offset = s.Alloc((hi-lo)*size), v.Offset-lo
	if v.Store.ReadOnly() {
		out.Store.Protect()
	}
	check(s.Copy(device.Ref{Store: out.Store}, device.Ref{Store: v.Store, Offset: lo * size}, (hi-lo)*size))
	return &Tensor{v: out}
}

// InstructionSet returns the instruction set of t's device: jit.Portable unless it is a CPU.
func InstructionSet(t *Tensor) jit.ISA {
	if d, ok := device.Get(t.v.Store.Device).(interface{ ISA() jit.ISA }); ok {
		return d.ISA()
	}
	return jit.Portable
}

// Written calls f, which writes the elements of t, new and contiguous, in memory of the host.
func Written(t *Tensor, f func(v *array.View)) {
	v := t.v
	if t.Size() > 0 && !here(&t.v) { // not OnHost, which refuses in a trace: t is new
		v.Store, v.Offset = device.Get(t.v.Store.Device).Fallback().Default().Alloc(t.Size()*v.DType.Size()), 0
	}
	f(&v)
	PutBack(t, &v)
	KeepAlive(t)
	if tr := TracingHere(); tr != nil && t.Size() > 0 {
		tr.literal(t.v.Store)
	}
}

// PutBack copies v, contiguous memory of the host that stands for that of t, back to t. It does
// nothing where v is t's own memory.
func PutBack(t *Tensor, v *array.View) {
	if v.Store == t.v.Store || t.Size() == 0 {
		return
	}
	size := v.DType.Size()
	check(device.Get(t.v.Store.Device).Default().Copy(device.Ref{Store: t.v.Store, Offset: t.v.Offset * size}, device.Ref{Store: v.Store, Offset: v.Offset * size}, t.Size()*size))
}

// OnHost reports that the host reaches t's memory.
func OnHost(t *Tensor) bool {
	RefuseRead("compile", t)
	return t.Size() == 0 || t.v.Store.Host() != nil
}

// wait waits for the work of a stream.
func wait(s device.Stream) { check(s.Sync()) }

// check panics with the error of a device.
func check(err error) {
	if e, ok := err.(*array.Error); ok {
		panic(e)
	}
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "device", Msg: "work failed", Err: err})
	}
}

// Slice returns the elements of a contiguous view on the host. The caller keeps the
// storage alive while it uses them.
func Slice[T Element](v *array.View) []T {
	if n := v.Size(); n > 0 {
		return unsafe.Slice((*T)(v.Ptr()), n)
	}
	return nil
}

// Bytes returns the elements of a contiguous view on the host as bytes. The caller keeps the
// storage alive while it uses them.
func Bytes(v *array.View) []byte {
	n := v.DType.Size()
	return Slice[uint8](&array.View{Store: v.Store, DType: array.Uint8, Offset: v.Offset * n, Shape: []int{v.Size() * n}, Strides: []int{1}})
}

// AlignedTo reports that a storage on the host lies at a multiple of n bytes. Memory that the host
// does not reach does.
func AlignedTo(st *array.Storage, n int) bool {
	return st.Abstract || uintptr(st.Host())%uintptr(n) == 0
}

// BytesOf returns the memory of a view on the host from its first element on.
func BytesOf(v *array.View) unsafe.Pointer { return v.Ptr() }

// ElementOf reads one element of a view on the host whose elements are of type T.
func ElementOf[T Element](v *array.View, at int) T {
	if mapped.Any() {
		return explainedElementOf[T](v, at)
	}
	return readElementOf[T](v, at)
}

// explainedElementOf is ElementOf while a file is mapped; the explained functions below likewise.
// They are separate because a defer would double the time of a read.
func explainedElementOf[T Element](v *array.View, at int) T {
	defer mapped.Explain()
	return readElementOf[T](v, at)
}

func readElementOf[T Element](v *array.View, at int) T {
	return *(*T)(unsafe.Add(v.Store.Host(), at*int(unsafe.Sizeof(*new(T)))))
}

// element reads one element of a view on the host, at an offset in elements of the
// storage; of a complex number the real part.
func FloatElement(v *array.View, at int) float64 {
	if mapped.Any() {
		return explainedElement(v, at)
	}
	return readElement(v, at)
}

func explainedElement(v *array.View, at int) float64 {
	defer mapped.Explain()
	return readElement(v, at)
}

func readElement(v *array.View, at int) float64 {
	p := unsafe.Add(v.Store.Host(), at*v.DType.Size())
	switch v.DType {
	case array.Float16:
		return float64((*half.Float16)(p).Float32())
	case array.BFloat16:
		return float64((*half.BFloat16)(p).Float32())
	case array.Float32, array.Complex64:
		return float64(*(*float32)(p))
	case array.Float64, array.Complex128:
		return *(*float64)(p)
	case array.Uint64:
		return float64(*(*uint64)(p))
	}
	return float64(readIntElement(v, at))
}

// IntElement reads a bool or an integer; of a uint64 the bits.
func IntElement(v *array.View, at int) int64 {
	if mapped.Any() {
		return explainedIntElement(v, at)
	}
	return readIntElement(v, at)
}

func explainedIntElement(v *array.View, at int) int64 {
	defer mapped.Explain()
	return readIntElement(v, at)
}

func readIntElement(v *array.View, at int) int64 {
	p := unsafe.Add(v.Store.Host(), at*v.DType.Size())
	switch v.DType {
	case array.Bool, array.Uint8:
		return int64(*(*uint8)(p))
	case array.Int8:
		return int64(*(*int8)(p))
	case array.Int16:
		return int64(*(*int16)(p))
	case array.Uint16:
		return int64(*(*uint16)(p))
	case array.Int32:
		return int64(*(*int32)(p))
	case array.Uint32:
		return int64(*(*uint32)(p))
	}
	return *(*int64)(p)
}

// ComplexElement returns the element at an offset as a complex number.
func ComplexElement(v *array.View, at int) complex128 {
	if mapped.Any() {
		return explainedComplexElement(v, at)
	}
	return readComplexElement(v, at)
}

func explainedComplexElement(v *array.View, at int) complex128 {
	defer mapped.Explain()
	return readComplexElement(v, at)
}

func readComplexElement(v *array.View, at int) complex128 {
	p := unsafe.Add(v.Store.Host(), at*v.DType.Size())
	switch v.DType {
	case array.Complex64:
		return complex128(*(*complex64)(p))
	case array.Complex128:
		return *(*complex128)(p)
	}
	return complex(readElement(v, at), 0)
}

// DeviceOf returns the number of the device that an operation of the operands runs on. Go numbers
// and 0-d tensors on the host go where the other operands are. It panics if these are on different
// devices.
func DeviceOf(opName string, ops []Operand) uint8 {
	number, found, scalars := uint8(0), false, false // scalars: all so far are 0-d on the host
	for i := range ops {
		t := ops[i].T
		if t == nil {
			continue
		}
		n := t.v.Store.Device
		scalar := n == 0 && len(t.v.Shape) == 0
		switch {
		case !found:
			number, found, scalars = n, true, scalar
		case n == number:
			scalars = scalars && scalar
		case scalar:
		case scalars:
			number, scalars = n, false
		default:
			failDevices(opName, number, n)
		}
	}
	return number
}

// failDevices panics: operands are on devices a and b.
func failDevices(opName string, a, b uint8) {
	array.Failf(opName, "", "operands are on different devices, %s and %s: On moves a tensor", device.Get(a).Name(), device.Get(b).Name())
}

// moveScalars replaces the operands that are not on a device by copies there.
func moveScalars(number uint8, ops []Operand) {
	for i := range ops {
		if t := ops[i].T; t != nil && t.v.Store.Device != number {
			ops[i].T = t.On(number)
		}
	}
}

// Alloc returns memory on a device.
func Alloc(number uint8, bytes int) *array.Storage { return device.Get(number).Default().Alloc(bytes) }

// Free gives memory back to its device.
func Free(st *array.Storage) {
	if st.Abstract {
		st.Release()
		return
	}
	if tr := TracingHere(); tr != nil && (tr.Made[st] || tr.literals[st]) {
		return // the graph may read it
	}
	ComputeReaders(st)
	device.Get(st.Device).Default().Free(st)
}

// On does what weft.Tensor.On says, for a device by its number.
func (t *Tensor) On(number uint8) *Tensor {
	t.Check("on")
	from := t.v.Store.Device
	if from == number {
		return t
	}
	if tr := TracingHere(); tr != nil {
		if t.Size() > 0 && (!tr.literals[t.v.Store] || tr.wrote(t)) {
			failHost("on", "moves a tensor to another device")
		}
		var out *Tensor
		tr.Aside(func() { out = t.moved(number) })
		if t.Size() > 0 {
			tr.literal(out.v.Store)
		}
		return out
	}
	out := t.moved(number)
	if !t.v.DType.Differentiable() || !GradOn() {
		return out
	}
	if n := t.Node(); n != nil {
		out.SetNode(&GradNode{Seq: TapeSeq.Add(1), In: []*GradNode{n}, NodeInfo: &NodeInfo{Name: "on", DType: t.v.DType, Shape: t.v.Shape,
			Back: func(_ []SavedValue, dys []*Tensor, create bool) []*Tensor {
				dy := dys[0]
				if !create {
					dy = dy.WithoutHistory()
				}
				return []*Tensor{dy.On(from)}
			}}})
	}
	return out
}

// moved returns a copy of t on another device, in row-major order, without a history.
func (t *Tensor) moved(number uint8) *Tensor {
	c := (&Tensor{v: t.v, run: t.run.onStream()}).Contiguous()
	if !OnHost(c) { // devices copy between their own memory and the host's
		c = &Tensor{v: HostView(c)}
	}
	size := c.v.DType.Size()
	from, to := t.stream(), t.run.stream().on(number)
	out := &Tensor{v: array.View{Store: to.Alloc(c.Size() * size), DType: c.v.DType, Shape: c.v.Shape, Strides: array.RowMajor(c.v.Shape)}, run: t.run}
	check(to.Wait(from.Record(false)))
	check(to.Copy(device.Ref{Store: out.v.Store}, device.Ref{Store: c.v.Store, Offset: c.v.Offset * size}, c.Size()*size))
	KeepAlive(c)
	out.Track()
	return out
}

// rowOf returns row i of a view.
func rowOf(v *array.View, i int) array.View {
	return v.Window(i*v.Strides[0], v.Shape[1:], v.Strides[1:])
}

// putRows writes the rows of x to the places of dst that have been read before.
func putRows(dst, places, x *Tensor) {
	at := Data[int64](places)
	if !OnHost(dst) || !dst.v.Contiguous() {
		for i, k := range at {
			if k < 0 {
				k += int64(dst.v.Shape[0])
			}
			Unrecorded(rowOf(&dst.v, int(k))).CopyFrom(Unrecorded(rowOf(&x.v, i)))
		}
		return
	}
	row := x.Size() / max(len(at), 1) * x.v.DType.Size()
	if row == 0 {
		return
	}
	v := ToHost(x)
	defer Leave(&v)
	use(&dst.v)
	defer Leave(&dst.v)
	from, to, n := BytesOf(&v), BytesOf(&dst.v), dst.v.Shape[0]
	m := dst.v.Store.Monitor()
	if m != nil {
		m.Enter()
		defer func() {
			for _, k := range at {
				if k < 0 {
					k += int64(n)
				}
				m.Mark(dst.v.Offset*x.v.DType.Size()+int(k)*row, row, nil, nil, false)
			}
			m.Mark(0, 0, nil, nil, true)
		}()
	}
	par.Run(len(at), max(1<<16/row, 1), 0, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			k := int(at[i])
			if k < 0 {
				k += n
			}
			copy(unsafe.Slice((*byte)(unsafe.Add(to, k*row)), row), unsafe.Slice((*byte)(unsafe.Add(from, i*row)), row))
		}
	})
}

// copyChanged copies src, which is contiguous, into dst of the same shape and type, both on
// the host, and returns the bytes of dst's storage that were changed by it.
func copyChanged(dst, src *array.View) []dirty.Interval {
	if mapped.Any() {
		defer mapped.Explain()
	}
	size := dst.DType.Size()
	run, outer := size, len(dst.Shape) // what lies without gaps, and the axes around it
	for outer > 0 && (dst.Strides[outer-1]*size == run || dst.Shape[outer-1] == 1) {
		outer--
		run *= dst.Shape[outer]
	}
	from := unsafe.Slice((*byte)(BytesOf(src)), src.Size()*size)
	to := unsafe.Slice((*byte)(dst.Store.Host()), dst.Store.Bytes)
	changed := []dirty.Interval{}
	index := make([]int, outer)
	for at := dst.Offset * size; ; {
		changed = dirty.Copy(changed, to, at, from[:run])
		from = from[run:]
		k := outer - 1
		for ; k >= 0; k-- {
			at += dst.Strides[k] * size
			if index[k]++; index[k] < dst.Shape[k] {
				break
			}
			at -= dst.Shape[k] * dst.Strides[k] * size
			index[k] = 0
		}
		if k < 0 {
			return changed
		}
	}
}

// ReadBytes copies bytes of the storage of t, which begin and end as in list, behind each
// other into dst.
func ReadBytes(dst []byte, t *Tensor, list []dirty.Interval) {
	s := device.Get(t.v.Store.Device).Default()
	to, at := array.NewStorage(unsafe.Pointer(unsafe.SliceData(dst)), len(dst), dst), 0
	for _, p := range list {
		check(s.Copy(device.Ref{Store: to, Offset: at}, device.Ref{Store: t.v.Store, Offset: p.Start}, p.Stop-p.Start))
		at += p.Stop - p.Start
	}
	wait(s)
	KeepAlive(t)
}

// WriteBytes copies src into the memory of a contiguous tensor, from a byte of it on.
func WriteBytes(t *Tensor, off int, src []byte) {
	if len(src) == 0 {
		return
	}
	s := device.Get(t.v.Store.Device).Default()
	w := OpenWrite(&array.View{Store: t.v.Store, DType: array.Uint8, Offset: t.v.Offset*t.v.DType.Size() + off, Shape: []int{len(src)}, Strides: []int{1}})
	defer w.Done()
	from := array.NewStorage(unsafe.Pointer(unsafe.SliceData(src)), len(src), src)
	check(s.Copy(device.Ref{Store: t.v.Store, Offset: w.v.Offset}, device.Ref{Store: from}, len(src)))
	wait(s)
	t.Wrote()
	KeepAlive(t)
}
