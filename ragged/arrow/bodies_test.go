package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A batch of a file, to be changed in place.
type inFile struct {
	v    *verifier
	at   int    // of its table
	body []byte // of the message
}

// batchIn finds the first batch of a list of the footer: 2 for dictionaries, 3 for records.
func batchIn(t *testing.T, file []byte, list int) inFile {
	t.Helper()
	foot, blocks := blocksIn(t, file, list)
	start, meta, body := word(foot[blocks:]), int(binary.LittleEndian.Uint32(foot[blocks+8:])), word(foot[blocks+16:])
	v := &verifier{b: file[start+8 : start+meta]}
	at, err := v.root(messageOf)
	if err != nil {
		t.Fatal(err)
	}
	place, _ := v.field(at, 2, 4)
	at, _ = v.follow(place)
	return inFile{v, at, file[start+meta:][:body]}
}

// blocksIn finds a list of blocks in the footer.
func blocksIn(t *testing.T, file []byte, list int) (foot []byte, at int) {
	t.Helper()
	end := len(file) - 4 - len(magic)
	v := &verifier{b: file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]}
	at, err := v.root(footerOf)
	if err != nil {
		t.Fatal(err)
	}
	blocks, n := v.vector(at, list)
	if n == 0 {
		t.Fatal("there are no blocks")
	}
	return v.b, blocks
}

func word(b []byte) int { return int(binary.LittleEndian.Uint64(b)) }

// compressed finds a buffer that is compressed: its length when it is not, and the frame.
func (f *inFile) compressed(t *testing.T, like func(frame []byte) bool) (length, frame []byte) {
	t.Helper()
	buffers, n := f.v.vector(f.at, 2)
	for k := range n {
		off, size := word(f.v.b[buffers+16*k:]), word(f.v.b[buffers+16*k+8:])
		if size > 16 && word(f.body[off:]) != -1 && like(f.body[off+8:]) {
			return f.body[off : off+8], f.body[off+8 : off+size]
		}
	}
	t.Fatal("no buffer is compressed so")
	return nil, nil
}

// What a batch says of its body is not believed: such files are refused before they take
// memory.
func TestHostileBodies(t *testing.T) {
	every := func([]byte) bool { return true }
	for name, c := range map[string]struct {
		file   string
		change func(t *testing.T, file []byte)
	}{
		"many buffers of views": {"types", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			counts, _ := f.v.vector(f.at, 4)
			binary.LittleEndian.PutUint64(f.v.b[counts:], 1<<26)
		}},
		"buffers of views less than none": {"types", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			counts, _ := f.v.vector(f.at, 4)
			binary.LittleEndian.PutUint64(f.v.b[counts:], 1<<64-1)
		}},
		"no counts of views": {"types", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			counts, n := f.v.vector(f.at, 4)
			binary.LittleEndian.PutUint32(f.v.b[counts-4:], uint32(n-1))
		}},
		"a buffer less": {"lists", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			buffers, n := f.v.vector(f.at, 2)
			binary.LittleEndian.PutUint32(f.v.b[buffers-4:], uint32(n-1))
		}},
		"a large window": {"zstd", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			// Flags, then the length, in a byte; instead of it the window.
			_, frame := f.compressed(t, func(frame []byte) bool { return frame[4]&0xe0 == 0x20 })
			frame[4] &^= 0x20
			frame[5] = 19 << 3 // 512 MiB
		}},
		"a great length by Zstandard": {"zstd", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			length, _ := f.compressed(t, every)
			binary.LittleEndian.PutUint64(length, 64<<20)
		}},
		"a great length by LZ4": {"lz4", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			length, _ := f.compressed(t, every)
			binary.LittleEndian.PutUint64(length, 64<<20)
		}},
		"a length less than none": {"lz4", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			length, _ := f.compressed(t, every)
			binary.LittleEndian.PutUint64(length, 1<<64-2)
		}},
		"records as a dictionary": {"types", func(t *testing.T, file []byte) {
			foot, records := blocksIn(t, file, 3)
			_, dictionaries := blocksIn(t, file, 2)
			copy(foot[dictionaries:][:blockSize], foot[records:][:blockSize])
		}},
		"columns longer than their batch": {"lists", func(t *testing.T, file []byte) {
			f := batchIn(t, file, 3)
			place, _ := f.v.field(f.at, 0, 8)
			binary.LittleEndian.PutUint64(f.v.b[place:], 3)
		}},
	} {
		file, err := os.ReadFile(filepath.Join("testdata", c.file+".arrow"))
		if err != nil {
			t.Fatal(err)
		}
		c.change(t, file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(bytes.NewReader(file), int64(len(file)))
		runtime.ReadMemStats(&after)
		if !errors.As(err, new(*FormatError)) {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: %d MiB for a file of %d bytes", name, took>>20, len(file))
		}
	}
}
