package data

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/raw"
)

// elements are the types of an IDX file by their code.
var elements = map[byte]weft.DType{0x08: weft.Uint8, 0x09: weft.Int8, 0x0b: weft.Int16, 0x0c: weft.Int32, 0x0d: weft.Float32, 0x0e: weft.Float64}

// ReadIDX reads an array in the format of the MNIST files, in the type and shape that the file says.
func ReadIDX(r io.Reader) (*weft.Tensor, error) {
	if r == nil {
		return nil, noReader("IDX")
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("data: IDX: %w", noEOF(err))
	}
	d, ok := elements[head[2]]
	if head[0] != 0 || head[1] != 0 || !ok {
		return nil, fmt.Errorf("data: IDX: the file begins with % x, want 00 00, a type and a rank", head)
	}
	shape := make([]int, head[3])
	for i := range shape {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return nil, fmt.Errorf("data: IDX: %w", noEOF(err))
		}
		shape[i] = int(size)
	}
	n := 0
	if err := weft.Try(func() { n = array.CheckShape("read_idx", shape, d) }); err != nil {
		return nil, fmt.Errorf("data: IDX: %w", err)
	}
	st, err := raw.Read(r, d, n*d.Size(), true, false)
	if err != nil {
		return nil, fmt.Errorf("data: IDX of shape %v: %w", shape, err)
	}
	return (*weft.Tensor)(core.FromView(raw.Over(d, shape, false, st))), nil
}

// readExactly reads n bytes. Memory grows with what is there, whatever n says.
func readExactly(r io.Reader, n int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(b) < n {
		err = fmt.Errorf("%w after %d of %d bytes", io.ErrUnexpectedEOF, len(b), n)
	}
	return b, err
}

func noReader(format string) error { return fmt.Errorf("data: %s: the reader is nil", format) }

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadIDXFile is [ReadIDX] of a file, which may be compressed by gzip.
func ReadIDXFile(path string) (*weft.Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unzipped(f)
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", path, err)
	}
	return ReadIDX(r)
}

// ReadCIFAR reads the pictures of a binary CIFAR file, uint8 [N 3 32 32], and their labels, int64 [N
// labels]: CIFAR-10 has one label a picture, CIFAR-100 two, the coarse and the fine one. It panics with
// *weft.Error if labels is less than 1.
func ReadCIFAR(r io.Reader, labels int) (pictures, classes *weft.Tensor, err error) {
	if labels < 1 || labels > 1<<20 {
		array.Failf("read_cifar", "labels", "is %d, want 1 or 2", labels)
	}
	if r == nil {
		return nil, nil, noReader("CIFAR")
	}
	const pixels = 3 * 32 * 32
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("data: CIFAR: %w", err)
	}
	size := labels + pixels
	if len(b)%size != 0 {
		return nil, nil, fmt.Errorf("data: CIFAR: %d bytes are not pictures of %d", len(b), size)
	}
	n := len(b) / size
	p, c := make([]uint8, 0, n*pixels), make([]int64, 0, n*labels)
	for ; len(b) > 0; b = b[size:] {
		for _, x := range b[:labels] {
			c = append(c, int64(x))
		}
		p = append(p, b[labels:size]...)
	}
	if n == 0 {
		return weft.ZerosOf(weft.Uint8, 0, 3, 32, 32), weft.ZerosOf(weft.Int64, 0, labels), nil
	}
	return weft.FromSlice(p, n, 3, 32, 32), weft.FromSlice(c, n, labels), nil
}

// Lines begins epochs of the lines of a text, for [NewStreamLoader]; open opens it for each. Lines have
// no end of line. It panics with *weft.Error if open is nil.
func Lines(open func() (io.ReadCloser, error)) func(epoch int) iter.Seq2[string, error] {
	if open == nil {
		array.Failf("lines", "open", "is nil")
	}
	return func(int) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			f, err := open()
			if err != nil {
				yield("", err)
				return
			}
			defer f.Close()
			for r := bufio.NewReader(f); ; {
				line, err := r.ReadString('\n')
				if err != nil && err != io.EOF {
					yield("", err)
					return
				}
				if err == io.EOF && line == "" || !yield(strings.TrimRight(line, "\r\n"), nil) || err == io.EOF {
					return
				}
			}
		}
	}
}
