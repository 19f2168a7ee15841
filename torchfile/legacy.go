package torchfile

import (
	"errors"
	"io"

	"weft/internal/array"
)

// firstPart is what is read at first of a file of the old format, in which the pickles are in front of the
// storages and have no length.
const firstPart = 1 << 20

// readLegacy runs the pickles of a file of torch.save before version 1.6 of PyTorch: a number that tells
// the format, its version, a dict about the system, the value, a list of the keys of storages. Behind
// them is each storage: the number of its elements, and these.
func readLegacy(r io.ReaderAt, size int64) (any, *source, error) {
	p := &pickles{r: r, size: size}
	l := &legacy{r: r, size: size, refs: map[string]*storageRef{}, places: map[string]place{}}
	for range 2 {
		if _, err := p.next(nil); err != nil {
			return nil, nil, err
		}
	}
	system, err := p.next(nil)
	if err != nil {
		return nil, nil, err
	}
	src := &source{size: size, place: l.place, open: l.open, stores: map[storeKey]*array.Storage{}}
	if d, ok := system.(*Dict); ok {
		little, _ := d.Get("little_endian")
		src.big = little == false
	}
	v, err := p.next(l.persistent)
	if err != nil {
		return nil, nil, err
	}
	keys, err := p.next(nil)
	if err != nil {
		return nil, nil, err
	}
	all, ok := keys.(*list)
	if !ok {
		return nil, nil, malformed("the keys of the storages are not a list")
	}
	return v, src, l.scan(all.items, p.at, src.big)
}

// pickles reads pickles one behind the other.
type pickles struct {
	r    io.ReaderAt
	size int64
	at   int64
	data string // of the file from its beginning
}

func (p *pickles) next(storage func(id []any) (any, error)) (any, error) {
	if storage == nil {
		storage = func([]any) (any, error) { return nil, malformed("a storage where none is expected") }
	}
	for {
		v, n, err := decode(p.data[p.at:], storage)
		if err == nil {
			p.at += int64(n)
			return v, nil
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(p.data)) == p.size {
			return nil, err
		}
		more := min(p.size, max(firstPart, 4*int64(len(p.data))))
		b := make([]byte, more)
		if _, err := io.ReadFull(io.NewSectionReader(p.r, 0, more), b); err != nil {
			return nil, &FormatError{Msg: "the pickles", Err: err}
		}
		p.data = string(b)
	}
}

type place struct{ off, n int64 }

// legacy has the storages of a file of the old format.
type legacy struct {
	r      io.ReaderAt
	size   int64
	refs   map[string]*storageRef
	places map[string]place
}

func (l *legacy) persistent(id []any) (any, error) {
	v, err := persistent(id)
	if err == nil {
		ref := v.(*storageRef)
		l.refs[ref.key] = ref
	}
	return v, err
}

// scan finds the storages, which begin at a byte.
func (l *legacy) scan(keys []any, at int64, big bool) error {
	for _, k := range keys {
		key, ok := k.(string)
		ref := l.refs[key]
		if !ok || ref == nil || l.places[key].off > 0 {
			return malformed("the storage %.40q is listed twice or not used", k)
		}
		var b [8]byte
		if _, err := io.ReadFull(io.NewSectionReader(l.r, at, 8), b[:]); err != nil {
			return &FormatError{Msg: "storage " + key, Err: io.ErrUnexpectedEOF}
		}
		count := int64(0)
		for i, c := range b {
			if big {
				i = 7 - i
			}
			count |= int64(c) << (8 * i)
		}
		at += 8
		if count < 0 || count > (l.size-at)/int64(ref.elem.size) {
			return &FormatError{Msg: "storage " + key, Err: io.ErrUnexpectedEOF}
		}
		l.places[key] = place{at, count * int64(ref.elem.size)}
		at += count * int64(ref.elem.size)
	}
	return nil
}

func (l *legacy) place(key string) (off, n int64, err error) {
	p, ok := l.places[key]
	if !ok {
		return 0, 0, malformed("the file has no storage %q", key)
	}
	return p.off, p.n, nil
}

func (l *legacy) open(key string) (io.ReadCloser, error) {
	p := l.places[key]
	return io.NopCloser(io.NewSectionReader(l.r, p.off, p.n)), nil
}
