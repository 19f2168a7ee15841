package arrow

import (
	"errors"
	"fmt"
	"io"
	"os"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	own "weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/raw"
	"weft/ragged/arrow/internal/careful"
)

// A Batch is the columns of one record batch: as many items in each.
type Batch []Column

// Read reads an Arrow IPC file (also known as Feather version 2) of size bytes. Columns of
// types that have no counterpart have a name, a type and an error alone ([Column].Err). A file that pyarrow writes of
// one table may have several batches.
func Read(r io.ReaderAt, size int64) (batches []Batch, err error) {
	if r == nil {
		return nil, errors.New("arrow: the reader is nil")
	}
	defer caught(&err)
	if err := verify(r, size); err != nil {
		return nil, err
	}
	limit := max(size, 1)
	f, err := ipc.NewFileReader(io.NewSectionReader(r, 0, size), ipc.WithAllocator(careful.New(size)), ipc.WithMetadataSizeLimit(limit), ipc.WithBodySizeLimit(limit))
	if err != nil {
		return nil, readError(err)
	}
	defer f.Close()
	for i := range f.NumRecords() {
		rec, err := f.RecordBatchAt(i)
		if err != nil {
			return nil, readError(err)
		}
		batch, err := columns(rec)
		rec.Release()
		if err != nil {
			return nil, err
		}
		batches = append(batches, batch)
	}
	return batches, nil
}

// readError makes an error of a reader one of this package.
func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("arrow: the file ends early: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, os.ErrClosed), errors.As(err, new(*os.PathError)):
		return fmt.Errorf("arrow: %w", err)
	}
	return malformed("%v", err)
}

// columns takes a record batch apart.
func columns(rec apache.RecordBatch) (Batch, error) {
	var batch Batch
	for i, a := range rec.Columns() {
		if int64(a.Len()) != rec.NumRows() {
			return nil, malformed("column %q has %d items, its batch %d", rec.ColumnName(i), a.Len(), rec.NumRows())
		}
		c, err := FromArray(a)
		var u *UnsupportedError
		switch {
		case errors.As(err, &u):
			name := rec.ColumnName(i)
			if u.Field != "" {
				name += "." + u.Field
			}
			c = Column{Type: typeName(a.DataType()), Err: &UnsupportedError{u.Type, name}}
		case err != nil:
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
		c.Name = rec.ColumnName(i)
		batch = append(batch, c)
	}
	return batch, nil
}

// ReadFile reads the IPC file at path.
func ReadFile(path string) ([]Batch, error) {
	batches, f, err := raw.Open(path, Read)
	if err != nil {
		return nil, err
	}
	f.Close()
	return batches, nil
}

// Write writes batches, whose columns have the same names and types in each, to w as an Arrow
// IPC file, which pyarrow reads by pyarrow.ipc.open_file or pyarrow.feather.read_table.
func Write(w io.Writer, batches []Batch, opts ...ArrayOpts) (err error) {
	o := own.Options("arrow", opts)
	switch {
	case w == nil:
		return errors.New("arrow: the writer is nil")
	case len(batches) == 0:
		return errors.New("arrow: there are no batches, and so no names and types of columns")
	}
	defer caught(&err)
	var out *ipc.FileWriter
	var schema *apache.Schema
	for _, b := range batches {
		err := record(b, o, func(rec apache.RecordBatch) error {
			if out == nil {
				schema = rec.Schema()
				var err error
				if out, err = ipc.NewFileWriter(w, ipc.WithSchema(schema)); err != nil {
					return err
				}
			} else if !rec.Schema().Equal(schema) {
				return fmt.Errorf("batches differ: %v and %v", schema, rec.Schema())
			}
			return out.Write(rec)
		})
		if err != nil {
			return fmt.Errorf("arrow: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	return nil
}

// WriteFile is Write to the file at path, which it replaces as a whole: an error or a crash
// leaves the old file.
func WriteFile(path string, batches []Batch, opts ...ArrayOpts) error {
	o := own.Options("arrow", opts)
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, batches, o) })
}

// record calls f with a batch as Arrow has it.
func record(b Batch, opts ArrayOpts, f func(apache.RecordBatch) error) error {
	var fields []apache.Field
	var arrays []apache.Array
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	n := 0
	for i, c := range b {
		a, err := ToArray(c, opts)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		arrays = append(arrays, a)
		if i > 0 && a.Len() != n {
			return fmt.Errorf("column %q has %d items, the first column %d", c.Name, a.Len(), n)
		}
		n = a.Len()
		fields = append(fields, apache.Field{Name: c.Name, Type: a.DataType(), Nullable: true})
	}
	rec := array.NewRecordBatch(apache.NewSchema(fields, nil), arrays, int64(n))
	defer rec.Release()
	return f(rec)
}
