package tensortest

import (
	"bytes"
	"errors"
)

// ErrBroken is the error of a [BrokenFile] and a [CutWriter].
var ErrBroken = errors.New("the disk is gone")

// A BrokenFile is a file of Data that cannot be read from byte From on.
type BrokenFile struct {
	Data []byte
	From int
}

// ReadAt implements io.ReaderAt.
func (b *BrokenFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(b.Data[:b.From]).ReadAt(p, off)
	if err != nil {
		err = ErrBroken
	}
	return n, err
}

// A CutWriter takes Left bytes, and fails then.
type CutWriter struct{ Left int }

// Write implements io.Writer.
func (w *CutWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.Left)
	w.Left -= n
	if n < len(p) {
		return n, ErrBroken
	}
	return n, nil
}
