package train

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/wire"
	"weft/nn"
)

// Events writes files of TensorBoard: scalars, histograms and images over steps. Its methods may be called
// by several goroutines.
//
//	e, err := train.NewEvents("runs/first")
//	err = e.Scalar("loss", step, loss)
//	err = e.Close()
//
// A file is a sequence of records in the framing of TFRecord files; a record is an Event message in the
// protocol buffers' format (tensorflow/core/util/event.proto, framework/summary.proto).
type Events struct {
	mu   sync.Mutex
	file *os.File
	buf  []byte
}

// flushAt is how many bytes wait before they are written.
const flushAt = 64 << 10

// NewEvents creates a file with a name of its own in a folder, which is made if it is missing.
func NewEvents(dir string) (*Events, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	host, err := os.Hostname()
	if err != nil || filepath.Base(host) != host {
		host = "localhost"
	}
	now := time.Now()
	// Readers sort a folder's files by name, and take later ones as later.
	for try := 0; ; try++ {
		name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", now.Unix(), host, os.Getpid(), try)
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if os.IsExist(err) && try < 1<<20 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
		e := &Events{file: f}
		if err := e.event(0, wire.AppendBytes(nil, 3, "brain.Event:2")); err != nil {
			f.Close()
			return nil, err
		}
		return e, nil
	}
}

// Scalar adds a number at a step.
func (e *Events) Scalar(tag string, step int, x float64) error {
	value := wire.AppendBytes(nil, 1, tag)
	return e.summary(step, wire.AppendFloat32(value, 2, float32(x)))
}

// Histogram adds the distribution of the elements of a tensor at a step, in buckets whose limits grow by
// 10 %, as PyTorch's writer has them. NaN and infinite elements are left out; a tensor without others is an
// error.
func (e *Events) Histogram(tag string, step int, t *weft.Tensor) error {
	if t == nil {
		return array.Errorf("histogram", "t", "is nil")
	}
	var x []float64
	if err := weft.Try(func() {
		x = slices.Clone(weft.Data[float64](t.Detach().To(weft.Float64).Flatten(0).On(weft.CPU)))
	}); err != nil {
		return err
	}
	x = slices.DeleteFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(x) == 0 {
		return array.Errorf("histogram", "t", "has no finite element")
	}
	value := wire.AppendBytes(nil, 1, tag)
	return e.summary(step, wire.AppendBytes(value, 5, histogramOf(x)))
}

// Image adds a picture at a step, as a PNG file.
func (e *Events) Image(tag string, step int, m image.Image) error {
	if m == nil {
		return array.Errorf("image", "m", "is nil")
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		return fmt.Errorf("train: image %q: %w", tag, err)
	}
	picture := wire.AppendVarint(nil, 1, uint64(m.Bounds().Dy()))
	picture = wire.AppendVarint(picture, 2, uint64(m.Bounds().Dx()))
	picture = wire.AppendVarint(picture, 3, 4) // RGBA
	picture = wire.AppendBytes(picture, 4, file.Bytes())
	return e.summary(step, wire.AppendBytes(wire.AppendBytes(nil, 1, tag), 4, picture))
}

// resumed makes readers forget what other files of the folder say of later steps.
func (e *Events) resumed(step int) error {
	const start = 1
	return e.event(step+1, wire.AppendBytes(nil, 7, wire.AppendVarint(nil, 1, start)))
}

func (e *Events) summary(step int, value []byte) error {
	return e.event(step, wire.AppendBytes(nil, 5, wire.AppendBytes(nil, 1, value)))
}

// event writes an Event message with a body, at the time that it is.
func (e *Events) event(step int, body []byte) error {
	seconds := float64(time.Now().UnixMicro()) / 1e6
	message := append(wire.AppendVarint(wire.AppendFloat64(nil, 1, seconds), 2, uint64(step)), body...)
	return e.locked(func() error {
		e.buf = appendRecord(e.buf, message)
		if len(e.buf) >= flushAt {
			return e.flush()
		}
		return nil
	})
}

// locked calls f while no other method runs, if the file is open.
func (e *Events) locked(f func() error) error {
	if e == nil {
		return array.Errorf("events", "", "the Events is nil: NewEvents makes one")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		return array.Errorf("events", "", "the Events is closed, or was not made by NewEvents")
	}
	return f()
}

// Flush writes what waits, for those who read the file meanwhile.
func (e *Events) Flush() error { return e.locked(e.flush) }

func (e *Events) flush() error {
	n, err := e.file.Write(e.buf)
	e.buf = slices.Delete(e.buf, 0, n) // a full disk may have taken a part, which is not to come twice
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// Close writes what waits and closes the file.
func (e *Events) Close() error {
	return e.locked(func() error {
		err := e.flush()
		if e := e.file.Close(); err == nil && e != nil {
			err = fmt.Errorf("train: %w", e)
		}
		e.file = nil
		return err
	})
}

// appendRecord adds a record of a TFRecord file: length, its checksum, data, their checksum.
func appendRecord(b, data []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, maskedCRC(b[at:]))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, maskedCRC(data))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedCRC is the checksum of a TFRecord file, CRC-32C turned and moved (tensorflow/core/lib/hash/crc32c.h).
func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// bucketLimits are 1e-12 times powers of 1.1 up to 1e20, 0 and the same below it.
var bucketLimits = sync.OnceValue(func() []float64 {
	var up []float64
	for x := 1e-12; x < 1e20; x *= 1.1 {
		up = append(up, x)
	}
	var all []float64
	for _, x := range slices.Backward(up) {
		all = append(all, -x)
	}
	return append(append(append(all, 0), up...), math.MaxFloat64)
})

// histogramOf is the HistogramProto message of some numbers: a bucket has those up to its limit that are
// above the limit before.
func histogramOf(x []float64) []byte {
	limits := bucketLimits()
	counts := make([]float64, len(limits))
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += float64(v * v)
		counts[sort.SearchFloat64s(limits, v)]++
	}
	first, last := 0, len(limits)
	for counts[first] == 0 {
		first++
	}
	for counts[last-1] == 0 {
		last--
	}
	first = max(first-1, 0) // an empty bucket has the lower limit of the first
	var m []byte
	for field, v := range []float64{1: slices.Min(x), 2: slices.Max(x), 3: float64(len(x)), 4: sum, 5: squares} {
		if field > 0 {
			m = wire.AppendFloat64(m, field, v)
		}
	}
	return wire.AppendFloat64s(wire.AppendFloat64s(m, 6, limits[first:last]), 7, counts[first:last])
}

// TensorBoard returns a callback that writes a file of events into a folder: the loss of each step as
// "step/loss", the values of each epoch under their names, and after each epoch histograms of the model's
// parameters as "parameters/" and their names. Opts.Dir has one already.
func TensorBoard(dir string) Callback {
	var e *Events
	var model any
	return Callback{
		Begin: func(r *Run) (err error) {
			model = r.Model
			if e, err = NewEvents(dir); err == nil && r.History.steps() > 0 {
				err = e.resumed(r.History.steps())
			}
			return err
		},
		Step: func(s Step) error {
			for _, v := range s.Values {
				if err := e.Scalar("step/"+v.Name, s.Step, v.Number); err != nil {
					return err
				}
			}
			return nil
		},
		Epoch: func(x Epoch) error {
			for _, v := range x.Values {
				if err := e.Scalar(v.Name, x.Step, v.Number); err != nil {
					return err
				}
			}
			for name, p := range nn.Params(model) {
				if p.DType().Float() {
					// Without a finite element there is nothing to show. Flush writes again what the file refused.
					_ = e.Histogram("parameters/"+name, x.Step, p)
				}
			}
			return e.Flush()
		},
		End: func(error) error { return e.Close() },
	}
}
