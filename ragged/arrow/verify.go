package arrow

import (
	"encoding/binary"
	"io"
)

// Arrow's Go library takes the numbers in the metadata of a file for true and allocates by
// them, and running out of memory ends the process. So metadata, which are Flatbuffers, are
// verified first: every table, vector and string lies inside of its buffer. The layouts follow
// Arrow's Schema.fbs, Message.fbs and File.fbs.

// A tableType says what the fields of a table are that lead elsewhere, by their numbers.
// Others are plain numbers.
type tableType struct {
	fields map[int]fieldType
	union  func(kind byte) *tableType // of the table in the field after the kind, if there is one
	kind   int                        // the field with the kind
}

type fieldType struct {
	table  *tableType // a table, or elements of a vector that are
	vector int        // bytes of an element; 4 of tables
}

var (
	text      = fieldType{vector: 1}
	plain     = &tableType{}
	keyValue  = &tableType{fields: map[int]fieldType{0: text, 1: text}}
	keyValues = fieldType{table: keyValue, vector: 4}
	withText  = &tableType{fields: map[int]fieldType{1: text}}           // Timestamp: its time zone
	withInts  = &tableType{fields: map[int]fieldType{1: {vector: 4}}}    // Union: its type ids
	encoding  = &tableType{fields: map[int]fieldType{1: {table: plain}}} // DictionaryEncoding
	fieldOf   = &tableType{kind: 2, union: typeTable}                    // Field
	schemaOf  = &tableType{fields: map[int]fieldType{1: {fieldOf, 4}, 2: keyValues, 3: {vector: 8}}}
	batchOf   = &tableType{fields: map[int]fieldType{1: {vector: 16}, 2: {vector: 16}, 3: {table: plain}, 4: {vector: 8}}}
	dictOf    = &tableType{fields: map[int]fieldType{1: {table: batchOf}}}
	messageOf = &tableType{fields: map[int]fieldType{4: keyValues}, kind: 1, union: headerTable}
	footerOf  = &tableType{fields: map[int]fieldType{1: {table: schemaOf}, 2: {vector: blockSize}, 3: {vector: blockSize}, 4: keyValues}}
)

func init() {
	fieldOf.fields = map[int]fieldType{0: text, 4: {table: encoding}, 5: {fieldOf, 4}, 6: keyValues}
}

// Kinds of messages.
const kindSchema, kindDictionary, kindRecordBatch = 1, 2, 3

func typeTable(kind byte) *tableType {
	switch kind {
	case kindTimestamp:
		return withText
	case kindUnion:
		return withInts
	}
	return plain
}

func headerTable(kind byte) *tableType {
	switch kind {
	case kindSchema:
		return schemaOf
	case kindDictionary:
		return dictOf
	case kindRecordBatch:
		return batchOf
	}
	return nil // a file has no other messages
}

// A verifier walks a Flatbuffer.
type verifier struct {
	b    []byte
	left int // tables that may be visited: one that is shared could be met without end
}

const maxNesting = 64

var errMetadata = malformed("the metadata of the file lead outside of it")

// root verifies a buffer whose root is of that type, and returns the place of it.
func (v *verifier) root(t *tableType) (at int, err error) {
	v.left = len(v.b)/8 + 1
	if at, err = v.follow(0); err == nil {
		err = v.table(at, t, 0)
	}
	return at, err
}

// inside reports n bytes at a place.
func (v *verifier) inside(at, n int) bool { return at >= 0 && n >= 0 && at <= len(v.b)-n }

// follow returns where the offset at a place leads.
func (v *verifier) follow(at int) (int, error) {
	if !v.inside(at, 4) {
		return 0, errMetadata
	}
	to := int64(at) + int64(binary.LittleEndian.Uint32(v.b[at:]))
	if to > int64(len(v.b)) {
		return 0, errMetadata
	}
	return int(to), nil
}

// field returns where a field of a table is, 0 if it is not there. Of a field the first n
// bytes must be inside.
func (v *verifier) field(table, i, n int) (int, error) {
	vtable := table - int(int32(binary.LittleEndian.Uint32(v.b[table:])))
	size := int(binary.LittleEndian.Uint16(v.b[vtable:]))
	if 4+2*i+2 > size {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(v.b[vtable+4+2*i:]))
	if off == 0 {
		return 0, nil
	}
	if !v.inside(table+off, n) {
		return 0, errMetadata
	}
	return table + off, nil
}

// table verifies a table and what it leads to.
func (v *verifier) table(at int, t *tableType, depth int) error {
	if v.left--; v.left < 0 || depth > maxNesting || !v.inside(at, 4) {
		return errMetadata
	}
	vtable := at - int(int32(binary.LittleEndian.Uint32(v.b[at:])))
	if !v.inside(vtable, 4) {
		return errMetadata
	}
	size := int(binary.LittleEndian.Uint16(v.b[vtable:]))
	if size < 4 || !v.inside(vtable, size) || !v.inside(at, int(binary.LittleEndian.Uint16(v.b[vtable+2:]))) {
		return errMetadata
	}
	for i := range (size - 4) / 2 {
		// Any number has 8 bytes at most; one that begins at the end would be read beyond it.
		f, ok := t.fields[i]
		width := 1
		if ok || t.union != nil && i == t.kind+1 {
			width = 4
		}
		place, err := v.field(at, i, width)
		if err != nil {
			return err
		}
		switch {
		case place == 0:
		case t.union != nil && i == t.kind+1:
			kind, err := v.field(at, t.kind, 1)
			if err != nil || kind == 0 {
				return errMetadata
			}
			in := t.union(v.b[kind])
			to, err := v.follow(place)
			if err != nil || in == nil {
				return errMetadata
			}
			if err := v.table(to, in, depth+1); err != nil {
				return err
			}
		case ok:
			if err := v.reference(place, f, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// reference verifies a table, or a vector, that an offset leads to.
func (v *verifier) reference(place int, f fieldType, depth int) error {
	to, err := v.follow(place)
	if err != nil {
		return err
	}
	if f.vector == 0 {
		return v.table(to, f.table, depth+1)
	}
	if !v.inside(to, 4) {
		return errMetadata
	}
	n := int64(binary.LittleEndian.Uint32(v.b[to:]))
	if n*int64(f.vector) > int64(len(v.b)-to-4) {
		return errMetadata
	}
	if f.table == nil {
		return nil
	}
	for i := range int(n) {
		at, err := v.follow(to + 4 + 4*i)
		if err != nil {
			return err
		}
		if err := v.table(at, f.table, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// vector returns where the elements of a vector begin that is field i of a verified table, and
// how many there are: none if the field is not there.
func (v *verifier) vector(table, i int) (at, n int) {
	place, err := v.field(table, i, 4)
	if place == 0 || err != nil {
		return 0, 0
	}
	to, _ := v.follow(place)
	return to + 4, int(binary.LittleEndian.Uint32(v.b[to:]))
}

// number returns field i of a verified table, a number of size bytes; 0 if the field is not
// there.
func (v *verifier) number(table, i, size int) (uint64, error) {
	place, err := v.field(table, i, size)
	if place == 0 || err != nil {
		return 0, err
	}
	var word [8]byte
	copy(word[:], v.b[place:place+size])
	return binary.LittleEndian.Uint64(word[:]), nil
}

const (
	magic     = "ARROW1"
	blockSize = 24 // of a struct Block: offset, bytes of metadata, bytes of the body
)

// verify checks the metadata of a file.
func verify(r io.ReaderAt, size int64) error {
	const tail = int64(4 + len(magic))
	if size < tail+int64(len(magic))+2 {
		return readError(io.ErrUnexpectedEOF)
	}
	var end [tail]byte
	if err := readAt(r, end[:], size-tail); err != nil {
		return err
	}
	if string(end[4:]) != magic {
		return malformed("the file does not end as an Arrow file does")
	}
	n := int64(int32(binary.LittleEndian.Uint32(end[:])))
	if n < 4 || n > size-tail {
		return errMetadata
	}
	v := &verifier{b: make([]byte, n)}
	if err := readAt(r, v.b, size-tail-n); err != nil {
		return err
	}
	at, err := v.root(footerOf)
	if err != nil {
		return err
	}
	place, _ := v.field(at, 1, 4)
	if place == 0 {
		return errMetadata // there is no schema
	}
	schema, _ := v.follow(place)
	c, err := contentOf(v, schema)
	if err != nil {
		return err
	}
	left := size // blocks that overlap would be read many times
	for i, kind := range []uint64{kindDictionary, kindRecordBatch} {
		blocks, n := v.vector(at, 2+i)
		for k := range n {
			n, err := c.verifyBlock(r, size, v.b[blocks+k*blockSize:], kind)
			if err != nil {
				return err
			}
			if left -= n; left < 0 {
				return errMetadata
			}
		}
	}
	return nil
}

// verifyBlock checks the message that a block of the footer names, and returns its bytes.
func (c *content) verifyBlock(r io.ReaderAt, size int64, block []byte, kind uint64) (total int64, err error) {
	at, n, body := int64(binary.LittleEndian.Uint64(block)), int64(int32(binary.LittleEndian.Uint32(block[8:]))), int64(binary.LittleEndian.Uint64(block[16:]))
	if at < 0 || n < 8 || body < 0 || at > size || n > size-at || body > size-at-n {
		return 0, errMetadata
	}
	b := make([]byte, n)
	if err := readAt(r, b, at); err != nil {
		return 0, err
	}
	// The length of the metadata comes first, behind a marker since version 0.15.
	if binary.LittleEndian.Uint32(b) == 0xffffffff {
		b = b[4:]
	}
	length := int64(int32(binary.LittleEndian.Uint32(b)))
	if b = b[4:]; length < 4 || length > int64(len(b)) {
		return 0, errMetadata
	}
	// Readers give their parser all that is there.
	v := &verifier{b: b[:length]}
	place, err := v.root(messageOf)
	if err == nil {
		err = c.message(v, place, kind, io.NewSectionReader(r, at+n, body))
	}
	return n + body, err
}

func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	return readError(err)
}
