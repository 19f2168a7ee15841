package arrow

import (
	"encoding/binary"
	"io"

	"weft/internal/mem"
)

// Arrow's library also trusts what a batch says of its body. It reads a description of each buffer
// that the columns have, even if there are fewer. It makes room for the counted buffers of texts,
// for the stated size of a decompressed buffer, and for the stated window of its compressor. All
// these are compared here with what is there.

// A demand is what columns have in a batch.
type demand struct {
	buffers int // described
	old     int // more of them before version 5
	views   int // counts of further buffers
}

func (d *demand) add(e demand) {
	d.buffers, d.old, d.views = d.buffers+e.buffers, d.old+e.old, d.views+e.views
}

// Kinds of types, by the numbers of Schema.fbs, for which the number of buffers does not say
// enough.
const (
	kindTimestamp, kindUnion                  = 10, 14
	kindRunEnds, kindBinaryView, kindTextView = 22, 23, 24
	versionFive                               = 4
)

// buffersOf is how many buffers a column has, by the kind of its type.
var buffersOf = [...]int{
	2: 2, 3: 2, 4: 3, 5: 3, 6: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 1, 14: 1, 15: 2,
	16: 1, 17: 2, 18: 2, 19: 3, 20: 3, 21: 2, 22: 0, 23: 2, 24: 2, 25: 3, 26: 3,
}

// A content is what batches of a file must have.
type content struct {
	rows         demand           // record batches
	dictionaries map[int64]demand // dictionary batches, by their ids
}

// contentOf reads a verified schema.
func contentOf(v *verifier, schema int) (c content, err error) {
	c.dictionaries = map[int64]demand{}
	c.rows, err = c.fields(v, schema, 1)
	return c, err
}

// fields is what the fields need that field i of a table lists.
func (c *content) fields(v *verifier, table, i int) (d demand, err error) {
	at, n := v.vector(table, i)
	for k := range n {
		field, err := v.follow(at + 4*k)
		if err != nil {
			return d, err
		}
		e, err := c.field(v, field)
		if err != nil {
			return d, err
		}
		d.add(e)
	}
	return d, nil
}

func (c *content) field(v *verifier, at int) (d demand, err error) {
	kind, err := v.number(at, 2, 1)
	if err != nil || kind >= uint64(len(buffersOf)) {
		return d, errMetadata
	}
	if d, err = c.fields(v, at, 5); err != nil {
		return d, err
	}
	d.buffers += buffersOf[kind]
	switch kind {
	case kindBinaryView, kindTextView:
		d.views++
	case kindRunEnds:
		d.old++
	case kindUnion:
		d.old++
		if place, _ := v.field(at, 3, 4); place != 0 {
			t, _ := v.follow(place)
			dense, err := v.number(t, 0, 2)
			if err != nil {
				return d, err
			}
			if dense != 0 {
				d.buffers++
			}
		}
	}
	place, _ := v.field(at, 4, 4)
	if place == 0 {
		return d, nil
	}
	t, _ := v.follow(place)
	id, err := v.number(t, 0, 8)
	c.dictionaries[int64(id)] = d
	return demand{buffers: 2}, err // indices
}

// message verifies what a message says of its body, which is a batch of the kind that the
// footer calls it.
func (c *content) message(v *verifier, at int, kind uint64, body *io.SectionReader) error {
	is, err := v.number(at, 1, 1)
	if err != nil || is != kind {
		return errMetadata
	}
	version, err := v.number(at, 0, 2)
	if err != nil {
		return err
	}
	place, _ := v.field(at, 2, 4)
	if place == 0 {
		return errMetadata
	}
	batch, _ := v.follow(place)
	d := c.rows
	if kind == kindDictionary {
		id, err := v.number(batch, 0, 8)
		if err != nil {
			return err
		}
		d, version = c.dictionaries[int64(id)], 0 // it is read as of the first version
		if place, _ = v.field(batch, 1, 4); place == 0 {
			return errMetadata
		}
		batch, _ = v.follow(place)
	}
	if version < versionFive {
		d.buffers += d.old
	}
	return v.batch(batch, d, body)
}

// batch verifies what a record batch says of its body.
func (v *verifier) batch(at int, d demand, body *io.SectionReader) error {
	buffers, n := v.vector(at, 2)
	counts, m := v.vector(at, 4)
	if m < d.views {
		return errMetadata
	}
	for k := range m {
		more := binary.LittleEndian.Uint64(v.b[counts+8*k:])
		if more > uint64(n) {
			return errMetadata
		}
		d.buffers += int(more)
	}
	if n < d.buffers {
		return errMetadata
	}
	place, _ := v.field(at, 3, 4)
	if place == 0 {
		return nil
	}
	compression, _ := v.follow(place)
	codec, err := v.number(compression, 0, 1)
	if err != nil {
		return err
	}
	left := body.Size() // buffers that overlap would be decompressed many times
	for k := range n {
		off, n := int64(binary.LittleEndian.Uint64(v.b[buffers+16*k:])), int64(binary.LittleEndian.Uint64(v.b[buffers+16*k+8:]))
		if n == 0 {
			continue
		}
		if left -= n; off < 0 || n < 8 || left < 0 || off > body.Size()-n {
			return errMetadata
		}
		var word [8]byte
		if err := readAt(body, word[:], off); err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint64(word[:]))
		if size == -1 {
			continue // not compressed
		}
		most := (n - 8) * 255 // of LZ4: a byte stands for at most 255 more of the same
		if codec != 0 {
			if most, err = zstdMost(io.NewSectionReader(body, off+8, n-8)); err != nil {
				return err
			}
		}
		if size < 0 || size > most {
			return malformed("a buffer of %d bytes is said to become %d", n, size)
		}
	}
	return nil
}

// windowMost is the largest window that compressors take without being told to.
const windowMost = 128 << 20

// zstdMost returns how many bytes Zstandard's frames can become at most, by the sizes of their
// blocks. It refuses windows, which a decompressor makes room for, that are larger than
// [windowMost] and than what is in the frame.
func zstdMost(r *io.SectionReader) (most int64, err error) {
	const block = 1 << 17
	// next reads what is there of b at a place.
	next := func(b []byte, at int64) int {
		n, e := r.ReadAt(b, at)
		if e != nil && e != io.EOF {
			err = readError(e)
		}
		clear(b[n:])
		return n
	}
	for at := int64(0); ; {
		var head [18]byte
		n := next(head[:], at)
		switch magic := binary.LittleEndian.Uint32(head[:]); {
		case n < 6 || err != nil:
			return most, err
		case magic&^15 == 0x184d2a50: // to be passed over
			at += 8 + int64(binary.LittleEndian.Uint32(head[4:]))
			continue
		case magic != 0xfd2fb528:
			return most, nil // padding
		}
		flags, p := head[4], 5
		window := int64(0)
		single := flags&32 != 0
		if !single {
			window = 1 << (10 + head[p]>>3)
			window += window / 8 * int64(head[p]&7)
			p++
		}
		p += [...]int{0, 1, 2, 4}[flags&3] // the number of a dictionary
		size := [...]int{0, 2, 4, 8}[flags>>6]
		if size == 0 && single {
			size = 1
		}
		var content [8]byte
		p += copy(content[:size], head[p:])
		if single {
			window = int64(binary.LittleEndian.Uint64(content[:]))
		}
		at += int64(p)
		frame := int64(0)
		for last := false; !last; {
			var b [4]byte
			if next(b[:3], at) < 3 {
				break
			}
			h := int64(binary.LittleEndian.Uint32(b[:]))
			last = h&1 != 0
			at += 3
			switch size := h >> 3; h >> 1 & 3 {
			case 0: // as they are
				frame += min(size, block)
				at += size
			case 1: // one byte, repeated
				frame += min(size, block)
				at++
			default:
				frame += block
				at += size
			}
		}
		if flags&4 != 0 {
			at += 4 // a checksum
		}
		most += frame
		if err != nil {
			return most, err
		}
		if window < 0 || window > windowMost && window > frame {
			return most, malformed("a window of %d bytes for %d", window, frame)
		}
		if err := mem.CheckHeap(int(window)); err != nil {
			return most, malformed("%v", err)
		}
	}
}
