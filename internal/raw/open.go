package raw

import (
	"fmt"
	"io"
	"os"

	"weft/internal/mapped"
)

// Open opens the regular file at path for read, which takes what it needs to begin with; the file
// stays open behind it unless there is an error.
func Open[T any](path string, read func(r io.ReaderAt, size int64) (T, error)) (x T, f *os.File, err error) {
	if f, err = mapped.OpenRegular(path); err != nil {
		return x, nil, err
	}
	st, err := f.Stat()
	if err == nil {
		if x, err = read(f, st.Size()); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		f.Close()
		return x, nil, err
	}
	return x, f, nil
}
