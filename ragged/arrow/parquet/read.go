package parquet

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"weft"
	"weft/data"
	own "weft/internal/array"
	"weft/ragged/arrow"
	"weft/ragged/arrow/internal/careful"
)

// Opts are the options of reading.
type Opts struct {
	Columns []string // those that are read, in the order of the file; nil means all
}

// ReadFile reads the columns of the Parquet file at path.
func ReadFile(path string, opts ...Opts) ([]data.Column, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	columns, err := Read(f, info.Size(), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return columns, nil
}

// Read reads the columns of a Parquet file of size bytes. A file that is not well-formed is an
// *arrow.FormatError, a type without a counterpart an *arrow.UnsupportedError.
func Read(r io.ReaderAt, size int64, opts ...Opts) (columns []data.Column, err error) {
	t, err := open(r, size, own.Options("parquet", opts))
	if err != nil {
		return nil, err
	}
	defer t.file.Close()
	all := make([]int, t.file.NumRowGroups())
	for i := range all {
		all[i] = i
	}
	return t.read(all)
}

// Groups hands out a Parquet file of size bytes by groups of rows, so that it may be larger than memory. An
// error is as that of [Read], and ends the loop.
func Groups(r io.ReaderAt, size int64, opts ...Opts) iter.Seq2[[]data.Column, error] {
	o := own.Options("parquet", opts)
	return func(yield func([]data.Column, error) bool) {
		t, err := open(r, size, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer t.file.Close()
		for i := range t.file.NumRowGroups() {
			if columns, err := t.read([]int{i}); !yield(columns, err) || err != nil {
				return
			}
		}
	}
}

// A table is an open file and the columns of it that are read.
type table struct {
	file    *file.Reader
	columns []int
	left    int64 // bytes that its rows may take
}

// open reads the schema of a file.
func open(r io.ReaderAt, size int64, o Opts) (t *table, err error) {
	if r == nil {
		return nil, errors.New("parquet: the reader is nil")
	}
	defer caught(&err)
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size), file.WithReadProps(parquet.NewReaderProperties(careful.New(size))))
	if err != nil {
		return nil, malformed(err)
	}
	t = &table{file: f, left: careful.Limit(size)}
	missing := slices.Clone(o.Columns)
	for i, schema := 0, f.MetaData().Schema; i < schema.NumColumns(); i++ {
		name := nameOf(schema.Column(i))
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == name })
		if o.Columns == nil || slices.Contains(o.Columns, name) {
			t.columns = append(t.columns, i)
		}
	}
	if len(missing) > 0 {
		f.Close()
		return nil, fmt.Errorf("parquet: the file has no column %q", missing[0])
	}
	return t, nil
}

// read reads the columns of some groups of rows.
func (t *table) read(groups []int) (columns []data.Column, err error) {
	defer caught(&err)
	for _, i := range t.columns {
		c, err := t.column(i, groups)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", nameOf(t.file.MetaData().Schema.Column(i)), err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// caught makes an error of a panic of Arrow's reader, which a broken file may cause.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case *weft.Error:
		*err = fmt.Errorf("parquet: %w", r)
	default:
		*err = malformed(fmt.Errorf("%v", r))
	}
}

// malformed makes an error of Arrow's reader one of this module.
func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("parquet: the file ends early: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("parquet: %w", &arrow.FormatError{Msg: err.Error()})
}
