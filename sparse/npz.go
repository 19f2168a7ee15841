package sparse

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/npy"
)

// ReadNPZ reads a matrix that scipy.sparse.save_npz wrote, of formats csr, csc, coo and bsr. Integers become
// float64. Indices are checked as by the constructors; malformed files give errors.
func ReadNPZ(r io.ReaderAt, size int64) (*Matrix, error) {
	array.Given("sparse.readnpz", "r", r != nil)
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	format, err := formatOf(z)
	if err != nil {
		return nil, err
	}
	a, err := npy.ReadArchive(r, size)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	names := []string{"shape", "data", "indices", "indptr"}
	if format == COO {
		names = []string{"shape", "data", "row", "col"}
	}
	t := make([]*weft.Tensor, len(names))
	for i, name := range names {
		if t[i], err = a.Tensor(name); err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
		}
	}
	var m *Matrix
	err = weft.Try(func() { m = fromArrays(format, t) })
	return m, err
}

// fromArrays makes a matrix of the arrays of a file: its shape, values, and pattern.
func fromArrays(format Format, t []*weft.Tensor) *Matrix {
	const name = "sparse.readnpz"
	shape := longs(name, "shape", t[0])
	if len(shape) != 2 {
		array.Failf(name, "shape", "has %d numbers, want 2", len(shape))
	}
	for _, n := range shape {
		if n < 0 || n > maxSize {
			array.Failf(name, "shape", "is %v, want numbers from 0 to %d", shape, maxSize)
		}
	}
	rows, cols := int(shape[0]), int(shape[1])
	values := t[1]
	if !values.DType().Differentiable() {
		values = values.To(weft.Float64)
	}
	if format == COO {
		return NewCOO(values, t[2], t[3], rows, cols)
	}
	return compressed(name, format, values.Contiguous(), t[2], t[3], rows, cols)
}

// formatOf reads the format of a file, an array of a few bytes.
func formatOf(z *zip.Reader) (Format, error) {
	for _, f := range z.File {
		if f.Name != "format.npy" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return 0, fmt.Errorf("sparse: %w", err)
		}
		defer r.Close()
		b, err := io.ReadAll(io.LimitReader(r, 1<<10))
		if err != nil {
			return 0, fmt.Errorf("sparse: %w", err)
		}
		if !bytes.HasPrefix(b, []byte("\x93NUMPY")) {
			return 0, &FormatError{Msg: "the member format is not an array"}
		}
		for k, name := range formats {
			// NumPy pads characters of its type U to 4 bytes.
			if text := strings.ReplaceAll(string(b), "\x00", ""); strings.HasSuffix(text, "\n"+name) {
				return Format(k), nil
			}
		}
		return 0, &FormatError{Msg: "the format is not csr, csc, coo or bsr"}
	}
	return 0, &FormatError{Msg: "there is no member format: not a file of scipy.sparse.save_npz"}
}

// ReadNPZFile is [ReadNPZ] of a file.
func ReadNPZFile(path string) (m *Matrix, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return ReadNPZ(f, info.Size())
}

// WriteNPZ writes a file that scipy.sparse.load_npz reads, in m's format.
func WriteNPZ(w io.Writer, m *Matrix) error {
	const name = "sparse.writenpz"
	array.Given(name, "w", w != nil)
	m.notNil(name, "m")
	z := zip.NewWriter(w)
	header := "{'descr': '|S3', 'fortran_order': False, 'shape': (), }"
	header += strings.Repeat(" ", 64-(10+len(header)+1)%64) + "\n"
	f, err := z.Create("format.npy")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "\x93NUMPY\x01\x00%c%c%s%s", len(header)&0xFF, len(header)>>8, header, m.format); err != nil {
		return err
	}
	type member struct {
		name string
		t    *weft.Tensor
	}
	members := []member{{"shape", weft.FromSlice([]int64{int64(m.rows), int64(m.cols)})}, {"_is_array", weft.Scalar(true)}, {"data", m.values.Detach()}}
	if m.format == COO {
		members = append(members, member{"row", m.rowsOf}, member{"col", m.indices})
	} else {
		members = append(members, member{"indices", m.indices}, member{"indptr", (*weft.Tensor)(m.offsets.T)})
	}
	for _, x := range members {
		f, err := z.Create(x.name + ".npy")
		if err != nil {
			return err
		}
		if err := npy.Write(f, x.t); err != nil {
			return err
		}
	}
	return z.Close()
}

// WriteNPZFile is [WriteNPZ] into a file, which is replaced whole.
func WriteNPZFile(path string, m *Matrix) error {
	m.notNil("sparse.writenpzfile", "m")
	return atomicfile.Write(path, func(w io.Writer) error { return WriteNPZ(w, m) })
}
