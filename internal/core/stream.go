package core

import (
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
)

// A Stream is the state of a weft.Stream.
type Stream struct {
	run    *Run
	s      device.Stream
	number uint8 // of the device
	closed atomic.Bool
}

// streamTracked reports that tensors of streams were made. It spares small calls the search for one.
var streamTracked atomic.Bool

// NewStream opens a stream on a device.
func NewStream(number uint8) (*Stream, error) {
	s, err := device.Get(number).NewStream()
	if err != nil {
		return nil, err
	}
	return newStream(number, s), nil
}

// DefaultStream returns the default stream of a device.
func DefaultStream(number uint8) *Stream { return newStream(number, device.Get(number).Default()) }

func newStream(number uint8, s device.Stream) *Stream {
	x := &Stream{s: s, number: number}
	x.run = &Run{Stream: x}
	streamTracked.Store(true)
	return x
}

// notNil refuses a nil stream, and the zero Stream, which belongs to no device.
func (s *Stream) notNil(opName string) {
	if s == nil || s.run == nil {
		array.Failf(opName, "", "the stream is nil or the zero Stream (Device.NewStream makes one)")
	}
}

// Device returns the number of the device.
func (s *Stream) Device() uint8 {
	s.notNil("device")
	return s.number
}

// Track does what weft.Stream.Track says.
func (s *Stream) Track(t *Tensor) *Tensor {
	s.notNil("track")
	t.Check("track")
	r := s.run
	if TracingViews(&t.v) != nil {
		r = nil // the call decides
	}
	if t.run != nil && (t.run.Lazy || t.run.Scope != nil) {
		r = &Run{Lazy: t.run.Lazy, Scope: t.run.Scope, Stream: r.stream()}
	}
	return &Tensor{v: t.v, hist: t.hist, run: r, view: true}
}

// Issue returns what work is issued to. It panics of a closed stream.
func (s *Stream) Issue(opName string) device.Stream {
	s.notNil(opName)
	if s.closed.Load() {
		array.Failf(opName, "", "the stream was closed")
	}
	return s.s
}

// Close does what weft.Stream.Close says.
func (s *Stream) Close() error {
	s.notNil("close")
	if s.closed.Swap(true) {
		return nil
	}
	return s.s.Close()
}

// on returns what work on a device is issued to: the device's default stream if s is nil, closed, or
// of another device.
func (s *Stream) on(number uint8) device.Stream {
	if s == nil || s.number != number || s.closed.Load() {
		return device.Get(number).Default()
	}
	return s.s
}

// of returns what a plan runs on, nil for its own stream.
func (s *Stream) of(c *exec.Compiled) device.Stream {
	if s == nil {
		return nil
	}
	return s.on(c.Stream().Device().Number())
}

// stream returns the stream of a run that may be nil.
func (r *Run) stream() *Stream {
	if r == nil {
		return nil
	}
	return r.Stream
}

// onStream returns a run with the stream of r, and without its scope.
func (r *Run) onStream() *Run {
	if r.stream() == nil {
		return nil
	}
	return r.Stream.run
}

// ones returns a tensor like t whose elements are 1, made on t's stream.
func (t *Tensor) ones() *Tensor {
	if t.run.stream() == nil || t.v.DType.Complex() || TracingViews(&t.v) != nil {
		return Full("full", Whole(1), t.v.Store.Device, t.v.DType, t.v.Shape)
	}
	s, size := t.stream(), t.v.DType.Size()
	one := &Tensor{v: array.View{Store: s.Alloc(t.Size() * size), DType: t.v.DType, Shape: t.v.Shape, Strides: array.RowMajor(t.v.Shape)}}
	check(s.Fill(device.Ref{Store: one.v.Store}, t.Size(), Whole(1).Num.Bits(t.v.DType), size))
	return one
}

// stream returns what work on t is issued to.
func (t *Tensor) stream() device.Stream { return t.run.stream().on(t.v.Store.Device) }
