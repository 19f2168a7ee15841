package train_test

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"hash/crc32"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/train"
)

// writeEvents writes the file that testdata/events.json describes.
func writeEvents(t *testing.T, dir string) {
	e, err := train.NewEvents(dir)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 300 {
		must(e.Scalar("loss", i, 1/float64(i+1)))
	}
	must(e.Scalar("far", 1<<40, -1e30))
	must(e.Histogram("weights", 7, weft.FromSlice([]float32{-2, -0.5, 0, 0, 1e-13, 0.25, 3, float32(math.NaN()), float32(math.Inf(1))})))
	must(e.Histogram("one", 8, weft.FromSlice([]int64{5})))
	must(e.Image("picture", 9, image.NewRGBA(image.Rect(0, 0, 20, 10))))
	must(e.Close())
}

// eventsSeen is what TensorBoard read from it: testdata/events.py says how.
type eventsSeen struct {
	Tags       []string
	Scalars    map[string][][2]float64
	Histograms map[string]struct {
		Step, Min, Max, Num, Sum, Squares float64
		Limits, Counts                    []float64
	}
	Images map[string]struct{ Step, Width, Height, Size float64 }
}

// TestEventsFile decodes a file and compares it with what TensorBoard reads from the same events. With
// WEFT_EVENTS the file goes to that folder too, for testdata/events.py.
func TestEventsFile(t *testing.T) {
	dir := t.TempDir()
	if d := os.Getenv("WEFT_EVENTS"); d != "" {
		dir = d
	}
	writeEvents(t, dir)
	text, err := os.ReadFile("testdata/events.json")
	if err != nil {
		t.Fatal(err)
	}
	var want eventsSeen
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	scalars := map[string][][2]float64{}
	for i, e := range readEvents(t, dir) {
		step := float64(e.number(2))
		if i == 0 {
			if got := string(e.bytes(3)); got != "brain.Event:2" {
				t.Errorf("the file begins with version %q", got)
			}
			continue
		}
		v := decode(t, decode(t, e.bytes(5)).bytes(1))
		tag := string(v.bytes(1))
		if v.has(2) {
			scalars[tag] = append(scalars[tag], [2]float64{step, float64(math.Float32frombits(uint32(v.number(2))))})
		}
		if v.has(5) {
			h, w := decode(t, v.bytes(5)), want.Histograms[tag]
			got := []float64{step}
			for field := 1; field <= 5; field++ {
				got = append(got, math.Float64frombits(h.number(field)))
			}
			if !slices.Equal(got, []float64{w.Step, w.Min, w.Max, w.Num, w.Sum, w.Squares}) || !slices.Equal(doubles(h.bytes(6)), w.Limits) || !slices.Equal(doubles(h.bytes(7)), w.Counts) {
				t.Errorf("histogram %s: %v %v %v, want %+v", tag, got, doubles(h.bytes(6)), doubles(h.bytes(7)), w)
			}
		}
		if v.has(4) {
			m, w := decode(t, v.bytes(4)), want.Images[tag]
			if step != w.Step || float64(m.number(1)) != w.Height || float64(m.number(2)) != w.Width || float64(len(m.bytes(4))) != w.Size {
				t.Errorf("image %s at %v: %d x %d, %d bytes, want %+v", tag, step, m.number(2), m.number(1), len(m.bytes(4)), w)
			}
		}
	}
	for tag, w := range want.Scalars {
		if !slices.Equal(scalars[tag], w) {
			t.Errorf("%s: %v, want %v", tag, scalars[tag], w)
		}
	}
	if len(scalars) != len(want.Scalars) || len(want.Tags) != 5 {
		t.Errorf("tags %v, want %v", scalars, want.Tags)
	}
}

// A message has the fields of a message of protocol buffers: a number or bytes each.
type message struct {
	t       *testing.T
	numbers map[int]uint64
	texts   map[int][]byte
}

func (m message) has(field int) bool {
	_, n := m.numbers[field]
	_, b := m.texts[field]
	return n || b
}
func (m message) number(field int) uint64 { return m.numbers[field] }
func (m message) bytes(field int) []byte  { return m.texts[field] }

func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{t, map[int]uint64{}, map[int][]byte{}}
	varint := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("no varint in %x", b)
		}
		b = b[n:]
		return x
	}
	for len(b) > 0 {
		key := varint()
		switch field := int(key >> 3); key & 7 {
		case 0:
			m.numbers[field] = varint()
		case 1:
			m.numbers[field], b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			n := varint()
			m.texts[field], b = b[:n], b[n:]
		case 5:
			m.numbers[field], b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
	}
	return m
}

func doubles(b []byte) (x []float64) {
	for ; len(b) > 0; b = b[8:] {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return x
}

// readEvents returns the events of all files of a folder, whose checksums must be right.
func readEvents(t *testing.T, dir string) (all []message) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no files of events: ", err)
	}
	check := func(b []byte, sum uint32) {
		// The rule of TFRecord, undone: rotate left by 15 after taking the constant away.
		c := sum - 0xa282ead8
		if c = c<<15 | c>>17; c != crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) {
			t.Fatalf("checksum %x does not fit", sum)
		}
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for len(b) > 0 {
			n := binary.LittleEndian.Uint64(b)
			check(b[:8], binary.LittleEndian.Uint32(b[8:]))
			check(b[12:12+n], binary.LittleEndian.Uint32(b[12+n:]))
			all = append(all, decode(t, b[12:12+n]))
			b = b[16+n:]
		}
	}
	return all
}

// TestRunFolder reads what a run leaves, interrupted and resumed: each step once in the events, the table of
// all epochs, the weights of the best one.
func TestRunFolder(t *testing.T) {
	dir := t.TempDir()
	stop := train.Callback{Step: func(s train.Step) error {
		if s.Step == 9 {
			return train.ErrStop
		}
		return nil
	}}
	for _, o := range []train.Opts{{Dir: dir, Callbacks: []train.Callback{stop}}, {Dir: dir, Resume: true, Monitor: "val_accuracy", Greatest: true}} {
		if _, err := newJob(o).fit(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	steps, restarts := map[float64]int{}, 0
	tags := map[string]int{}
	for _, e := range readEvents(t, dir) {
		if e.has(7) {
			restarts++
			if step := e.number(2); step != 10 { // readers drop what other files say from this step on
				t.Errorf("the run is resumed at step %d, want 10", step)
			}
		}
		if e.has(5) {
			v := decode(t, decode(t, e.bytes(5)).bytes(1))
			tags[string(v.bytes(1))]++
			if string(v.bytes(1)) == "step/loss" {
				steps[float64(e.number(2))]++
			}
		}
	}
	if len(steps) != 21 || steps[1] != 1 || steps[9] != 1 || steps[10] != 1 || restarts != 1 || tags["val_accuracy"] != 4 || tags["parameters/0.weight"] != 4 {
		t.Errorf("steps %v, %d restarts, tags %v", steps, restarts, tags)
	}
	f, err := os.Open(filepath.Join(dir, "log.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 5 || strings.Join(rows[0], " ") != "epoch step loss accuracy f1 val_loss val_accuracy val_f1 seconds" {
		t.Fatalf("table %q", rows)
	}
	for i, want := range []string{"1 7", "2 9", "2 14", "3 21"} {
		if got := strings.Join(rows[i+1][:2], " "); got != want {
			t.Errorf("row %d begins with %s, want %s", i, got, want)
		}
		if x, err := strconv.ParseFloat(rows[i+1][2], 64); err != nil || !(x > 0) {
			t.Errorf("row %d has the loss %q", i, rows[i+1][2])
		}
	}
}

// TestEventsRefuse what cannot be written.
func TestEventsRefuse(t *testing.T) {
	e, err := train.NewEvents(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"nil tensor": e.Histogram("x", 0, nil), "no element": e.Histogram("x", 0, weft.Zeros(0)), "NaN": e.Histogram("x", 0, weft.Zeros(1).Log()),
		"nil image": e.Image("x", 0, nil), "empty image": e.Image("x", 0, image.NewRGBA(image.Rectangle{})), "nil": (*train.Events)(nil).Scalar("x", 0, 0),
	} {
		if err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e.Scalar("x", 0, 0) == nil || e.Close() == nil || e.Flush() == nil {
		t.Error("a closed file is written to")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := train.NewEvents(file); err == nil {
		t.Error("a file passes for a folder")
	}
}
