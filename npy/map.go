package npy

import (
	"errors"
	"fmt"
	"io"
	"os"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// A MapMode says what writing into a mapped array does.
type MapMode uint8

const (
	// ReadOnly refuses writes: they panic with a *weft.Error.
	ReadOnly MapMode = iota
	// CopyOnWrite keeps writes in the memory of this process; the file stays as it is.
	CopyOnWrite
	// ReadWrite changes the file. Other processes that map it see the writes at once; the system
	// writes them to the disk later.
	ReadWrite
)

// access is the mode as package mapped has it.
func (m MapMode) access() (mapped.Access, error) {
	switch m {
	case ReadOnly:
		return mapped.ReadOnly, nil
	case CopyOnWrite:
		return mapped.CopyOnWrite, nil
	case ReadWrite:
		return mapped.Shared, nil
	}
	return 0, fmt.Errorf("npy: MapMode(%d) is not ReadOnly, CopyOnWrite or ReadWrite", m)
}

// Map returns the array of the file at path without reading it: the tensor's memory is
// the file: the system reads pages when they are touched. Changes that others
// make in the file may show or not.
//
// The file is closed when Map returns; its memory stays until the tensor is released or
// unreachable. If the file is truncated meanwhile, uses of the tensor panic with a *weft.Error of
// kind DeviceFailed that names the file. This holds in the middle of a use too. So does a write
// into read-only memory by the function of weft.Borrow.
//
// What cannot be in memory as it is in the file is read, which takes memory for it:
//   - numbers in the other byte order;
//   - bools, since their bytes must be checked;
//   - data whose place in the file is not a multiple of the element size;
//   - everything on systems without mappings.
//
// [ReadOnly] and [CopyOnWrite] hold for it as well. [ReadWrite] refuses it, with an error that
// matches errors.ErrUnsupported.
func Map(path string, mode MapMode) (*weft.Tensor, error) {
	return mapFile(path, mode, func(s *section) (*weft.Tensor, error) { return s.tensor(mode) })
}

// MapColumns is [Map] of a structured array, whose columns lie in the file where
// [ReadColumns] says that they are views.
func MapColumns(path string, mode MapMode) ([]Column, error) {
	return mapFile(path, mode, func(s *section) ([]Column, error) { return s.columns(mode) })
}

// mapFile calls read with the whole of a file.
func mapFile[T any](path string, mode MapMode, read func(*section) (T, error)) (x T, err error) {
	access, err := mode.access()
	if err != nil {
		return x, err
	}
	flag := os.O_RDONLY
	if mode == ReadWrite {
		flag = os.O_RDWR
	}
	if st, err := os.Stat(path); err == nil {
		if err := mapped.CheckRegular(path, st); err != nil {
			return x, err
		}
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return x, err
	}
	m, err := mapped.Open(f, access)
	if err != nil {
		return x, fmt.Errorf("npy: %w", err)
	}
	defer m.Close()
	x, err = read(&section{m: m, n: int64(m.Size())})
	if err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// A section is the part of a mapped file that is one array, header and data.
type section struct {
	m     *mapped.Mapping
	at, n int64
	header
	r    *io.SectionReader
	data int // where the data begins in the file
}

// open reads the header.
func (s *section) open() (err error) {
	s.r = io.NewSectionReader(s.m, s.at, s.n)
	if s.header, err = readHeader(s.r); err != nil {
		return err
	}
	pos, _ := s.r.Seek(0, io.SeekCurrent)
	s.data = int(s.at + pos)
	switch left := s.n - pos; {
	case left < int64(s.bytes):
		return s.short(left)
	case left > int64(s.bytes):
		return malformed("%d bytes follow the array", left-int64(s.bytes))
	}
	return nil
}

// elsewhere refuses a mode in which writes must reach the file.
func (s *section) elsewhere(mode MapMode) error {
	if mode == ReadWrite {
		return fmt.Errorf("npy: %s cannot lie in memory as in the file, and writes would not reach it: %w", s, errors.ErrUnsupported)
	}
	return nil
}

func (s *section) tensor(mode MapMode) (*weft.Tensor, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	var v array.View
	if s.record == nil && s.big == hostBig && (mode != ReadWrite || core.Reached(0)) && s.dtype != array.Bool && s.data%s.size == 0 {
		v = raw.Over(s.dtype, s.shape, s.fortran, s.m.Storage(s.data, s.bytes))
	} else {
		if err := s.elsewhere(mode); err != nil {
			return nil, err
		}
		var err error
		if v, err = s.decode(s.r); err != nil {
			return nil, err
		}
		if mode == ReadOnly {
			v.Store.Protect()
		}
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

func (s *section) columns(mode MapMode) (out []Column, err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if s.record == nil {
		return nil, s.notStructured()
	}
	if e := weft.Try(func() {
		st := s.m.Storage(s.data, s.bytes)
		out = s.header.columns(st, s.data, mode == ReadOnly)
		for _, c := range out {
			if c.Tensor != nil && c.Tensor.Size() > 0 && (*core.Tensor)(c.Tensor).Layout().Store != st {
				err = s.elsewhere(mode)
			}
		}
	}); e != nil {
		return nil, fmt.Errorf("npy: %w", e)
	}
	return out, err
}
