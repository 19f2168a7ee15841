package torchfile

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/core"
	"weft/internal/raw"
)

// WriteFile writes a value to the file at path, which it replaces as a whole: an error or a crash
// leaves the old file. torch.load reads it, also with weights_only=True:
//
//	torchfile.WriteFile("model.pth", nn.State(net)) // torch: model.load_state_dict(torch.load("model.pth"))
//
// The value is made of what [Load] returns but for Set, Object and Global, of integers and floats of
// any size, and of maps from strings to tensors or values, which become dicts in the order of their
// keys. A tensor that is there twice, such as tied weights, is written once; other views of shared
// memory are written each with its own elements. A tensor that requires a gradient becomes a
// tensor that does: PyTorch's load_state_dict does not mind.
func WriteFile(path string, value any) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, value) })
}

// Write is [WriteFile] to w.
func Write(w io.Writer, value any) error {
	if w == nil {
		return errors.New("torchfile: the writer is nil")
	}
	p := &pickler{seen: map[uintptr]bool{}}
	defer p.done()
	p.b = append(p.b, 0x80, 2)
	if err := p.value(value); err != nil {
		return err
	}
	p.b = append(p.b, '.')
	counted := &counter{w: w}
	z := &zipWriter{z: zip.NewWriter(counted), at: counted}
	for _, part := range []struct{ name, text string }{{"data.pkl", string(p.b)}, {"byteorder", "little"}, {"version", "3\n"}} {
		if err := z.entry(part.name, func(w io.Writer) error {
			_, err := io.WriteString(w, part.text)
			return err
		}); err != nil {
			return fmt.Errorf("torchfile: %w", err)
		}
	}
	for i := range p.views {
		if err := z.entry("data/"+strconv.Itoa(i), func(w io.Writer) error { return raw.Write(w, &p.views[i]) }); err != nil {
			return fmt.Errorf("torchfile: %w", err)
		}
	}
	if err := z.z.Close(); err != nil {
		return fmt.Errorf("torchfile: %w", err)
	}
	return nil
}

// A pickler writes a pickle of protocol 2.
type pickler struct {
	b     []byte
	views []array.View // of the storages, by number
	lent  []func()
	seen  map[uintptr]bool // containers that are being written, each in the one before
}

func (p *pickler) done() {
	for _, f := range p.lent {
		f()
	}
}

func (p *pickler) value(x any) error {
	switch x := x.(type) {
	case nil:
		p.b = append(p.b, 'N')
	case bool:
		p.b = append(p.b, map[bool]byte{true: 0x88, false: 0x89}[x])
	case string:
		return p.text(x)
	case float64:
		p.b = binary.BigEndian.AppendUint64(append(p.b, 'G'), math.Float64bits(x))
	case complex128:
		p.global("__builtin__", "complex")
		p.b = binary.BigEndian.AppendUint64(append(p.b, 'G'), math.Float64bits(real(x)))
		p.b = binary.BigEndian.AppendUint64(append(p.b, 'G'), math.Float64bits(imag(x)))
		p.b = append(p.b, 0x86, 'R')
	case *big.Int:
		return p.big(x)
	case []byte:
		return p.bytes(x)
	case Size:
		p.global("torch", "Size")
		p.ints(x)
		p.b = append(p.b, 0x85, 'R')
	case Device:
		p.global("torch", "device")
		err := p.text(string(x))
		p.b = append(p.b, 0x85, 'R')
		return err
	case weft.DType:
		e := elemByWeft[x]
		if e == nil {
			return unwritable(x)
		}
		p.global("torch", e.name)
	case *weft.Tensor:
		return p.tensor(x, nil)
	case *Raw:
		if x == nil || elemByDType[Global("torch."+x.DType)] == nil || x.Bytes == nil || x.Bytes.DType() != weft.Uint8 {
			return unwritable(x)
		}
		return p.tensor(x.Bytes, elemByDType[Global("torch."+x.DType)])
	default:
		return p.container(x)
	}
	return nil
}

func unwritable(x any) error { return &UnsupportedError{fmt.Sprintf("a %T cannot be written", x)} }

// container writes containers, and numbers of other types.
func (p *pickler) container(x any) error {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return p.big(big.NewInt(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return p.big(new(big.Int).SetUint64(v.Uint()))
	case reflect.Float32:
		return p.value(v.Float())
	}
	var at uintptr
	switch v.Kind() {
	case reflect.Pointer, reflect.Map:
		at = v.Pointer()
	case reflect.Slice:
		if v.Len() > 0 {
			at = v.Pointer()
		}
	}
	if at != 0 {
		if p.seen[at] {
			return &UnsupportedError{"a container that holds itself cannot be written"}
		}
		if len(p.seen) > maxDepth {
			return &UnsupportedError{fmt.Sprintf("containers nested deeper than %d cannot be written", maxDepth)}
		}
		p.seen[at] = true
		defer delete(p.seen, at)
	}
	switch x := x.(type) {
	case []any:
		p.b = append(p.b, ']', '(')
		return p.all(x, 'e')
	case Tuple:
		p.b = append(p.b, '(')
		return p.all(x, 't')
	case *Dict:
		p.b = append(p.b, '}', '(')
		for k, v := range x.All() {
			if err := p.all([]any{k, v}, 0); err != nil {
				return err
			}
		}
		p.b = append(p.b, 'u')
	case map[string]any:
		return sorted(p, x)
	case map[string]*weft.Tensor:
		return sorted(p, x)
	default:
		return unwritable(x)
	}
	return nil
}

// sorted writes a map as an OrderedDict, the type of a state dict.
func sorted[V any](p *pickler, m map[string]V) error {
	p.global("collections", "OrderedDict")
	p.b = append(p.b, ')', 'R', '(')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := p.text(name); err != nil {
			return err
		}
		if err := p.value(m[name]); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	p.b = append(p.b, 'u')
	return nil
}

// all writes items and an opcode behind them, 0 for none.
func (p *pickler) all(items []any, op byte) error {
	for _, x := range items {
		if err := p.value(x); err != nil {
			return err
		}
	}
	if op != 0 {
		p.b = append(p.b, op)
	}
	return nil
}

func (p *pickler) text(s string) error {
	if !utf8.ValidString(s) || len(s) > math.MaxUint32 {
		return &UnsupportedError{fmt.Sprintf("the string %.40q is not valid UTF-8, or too long", s)}
	}
	p.b = append(binary.LittleEndian.AppendUint32(append(p.b, 'X'), uint32(len(s))), s...)
	return nil
}

// bytes writes bytes as protocol 2 does, as the characters of Latin-1.
func (p *pickler) bytes(b []byte) error {
	p.global("_codecs", "encode")
	text := make([]rune, len(b))
	for i, c := range b {
		text[i] = rune(c)
	}
	if err := p.text(string(text)); err != nil {
		return err
	}
	err := p.text("latin1")
	p.b = append(p.b, 0x86, 'R')
	return err
}

func (p *pickler) global(module, name string) {
	p.b = append(p.b, 'c')
	p.b = append(p.b, module+"\n"+name+"\n"...)
}

func (p *pickler) int(n int64) {
	if n == int64(int32(n)) {
		p.b = binary.LittleEndian.AppendUint32(append(p.b, 'J'), uint32(n))
		return
	}
	p.b = binary.LittleEndian.AppendUint64(append(p.b, 0x8a, 8), uint64(n))
}

func (p *pickler) ints(n []int) {
	p.b = append(p.b, '(')
	for _, x := range n {
		p.int(int64(x))
	}
	p.b = append(p.b, 't')
}

// big writes an integer of any size, in two's complement.
func (p *pickler) big(x *big.Int) error {
	if x == nil {
		return unwritable(x)
	}
	if x.IsInt64() {
		p.int(x.Int64())
		return nil
	}
	n := x.BitLen()/8 + 1
	if n > 255 {
		return &UnsupportedError{"an integer of more than 255 bytes cannot be written"}
	}
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	b := x.FillBytes(make([]byte, n))
	slices.Reverse(b)
	p.b = append(append(p.b, 0x8a, byte(n)), b...)
	return nil
}

// tensor writes a tensor, of elements e if weft lacks them.
func (p *pickler) tensor(t *weft.Tensor, e *elem) error {
	var v array.View
	if err := weft.Try(func() {
		defer array.Named("write").End()
		var done func()
		v, done = (*core.Tensor)(t).Lend()
		p.lent = append(p.lent, done)
	}); err != nil {
		return fmt.Errorf("torchfile: %w", err)
	}
	if e == nil {
		e = elemByWeft[v.DType]
	}
	number := slices.IndexFunc(p.views, func(w array.View) bool { return v.Size() > 0 && w.Same(&v) })
	if number < 0 {
		number = len(p.views)
		p.views = append(p.views, v)
	}
	class, count := e.storage, v.Size()
	p.global("torch._utils", map[bool]string{true: "_rebuild_tensor_v2", false: "_rebuild_tensor_v3"}[class != ""])
	p.b = append(p.b, '(', '(')
	if err := p.text("storage"); err != nil {
		return err
	}
	if class != "" {
		p.global("torch", class)
	} else {
		p.global("torch.storage", "UntypedStorage")
		count *= e.size
	}
	for _, s := range []string{strconv.Itoa(number), "cpu"} {
		if err := p.text(s); err != nil {
			return err
		}
	}
	p.int(int64(count))
	p.b = append(p.b, 't', 'Q')
	p.int(0)
	p.ints(v.Shape)
	p.ints(array.RowMajor(v.Shape))
	if err := p.value(t.RequiresGrad()); err != nil {
		return err
	}
	p.global("collections", "OrderedDict")
	p.b = append(p.b, ')', 'R')
	if class == "" {
		p.global("torch", e.name)
	}
	p.b = append(p.b, 't', 'R')
	return nil
}

// align is what the bytes of a storage begin at a multiple of, as torch.save has it.
const align = 64

// root is the folder of all entries, as torch.save names it for files without a name.
const root = "archive/"

// A zipWriter writes entries that are stored.
type zipWriter struct {
	z    *zip.Writer
	at   *counter
	tail int64 // bytes that package zip writes behind the last entry, when the next begins
}

// Sizes of parts of the header of an entry: what is before its name, and the extra field of its time,
// which package zip adds.
const (
	headerLen = 30
	timeLen   = 9
)

func (z *zipWriter) entry(name string, write func(io.Writer) error) error {
	h := &zip.FileHeader{Name: root + name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	// An extra field of the number that PyTorch uses, "FB", fills up to a multiple of align.
	begin := z.at.n + z.tail + headerLen + int64(len(h.Name)) + timeLen + 4
	n := (align - begin%align) % align
	h.Extra = append([]byte{'F', 'B', byte(n), 0}, make([]byte, n)...)
	w, err := z.z.CreateHeader(h)
	if err != nil {
		return err
	}
	if err := z.z.Flush(); err != nil {
		return err
	}
	begin = z.at.n
	if err := write(w); err != nil {
		return err
	}
	if err := z.z.Flush(); err != nil {
		return err
	}
	z.tail = 16
	if z.at.n-begin >= math.MaxUint32 {
		z.tail = 24
	}
	return nil
}

// A counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
