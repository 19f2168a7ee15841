package data

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"strings"

	"weft/internal/array"
)

// A Sample is an example of [Shards]: the files of a tar file with one name, apart from their endings.
type Sample struct {
	Key   string            // the name, with folders, up to the first dot behind the last of them
	Files map[string][]byte // by ending: all behind that dot, such as "jpg" or "seg.png"
	Path  string            // of the tar file
}

// ShardsOpts are the options of [Shards].
type ShardsOpts struct {
	Shuffle bool   // another order of tar files every epoch
	Seed    uint64 // of the orders
	// Rank and Ranks give each of several processes that train together tar files of its own: every
	// Ranks-th of the order, from Rank on. nil Ranks mean one process.
	Rank  int
	Ranks *int
	// Open opens a tar file, such as one of a server. nil means os.Open.
	Open func(path string) (io.ReadCloser, error)
}

// Shards begins epochs of the examples in tar files, for [NewStreamLoader], [Shuffled] and [MapStream]:
// the format of WebDataset. Files that follow each other and have one name are an example. Tar files may
// be compressed by gzip. They are read one after the other, and only as far as examples are asked for. An
// error names the file. It panics with *weft.Error if Rank is not below Ranks.
func Shards(paths []string, opts ...ShardsOpts) func(epoch int) iter.Seq2[Sample, error] {
	o := array.Options("shards", opts)
	ranks := array.Or(o.Ranks, 1)
	if ranks < 1 {
		array.Failf("shards", "Ranks", "is %d, want 1 or more", ranks)
	}
	if o.Rank < 0 || o.Rank >= ranks {
		array.Failf("shards", "Rank", "is %d of %d, want 0 to Ranks-1", o.Rank, ranks)
	}
	if o.Open == nil {
		o.Open = func(path string) (io.ReadCloser, error) { return os.Open(path) }
	}
	paths = append([]string(nil), paths...)
	return func(epoch int) iter.Seq2[Sample, error] {
		return func(yield func(Sample, error) bool) {
			order := inOrder("shards", len(paths))
			if o.Shuffle {
				shuffle(order, o.Seed, epoch)
			}
			for i := o.Rank; i < len(order); i += ranks {
				path := paths[order[i]]
				more, err := shard(path, o.Open, yield)
				if err != nil {
					if !strings.Contains(err.Error(), path) {
						err = fmt.Errorf("%s: %w", path, err)
					}
					yield(Sample{Path: path}, err)
				}
				if err != nil || !more {
					return
				}
			}
		}
	}
}

// shard hands out the examples of a tar file, and reports whether more are wanted.
func shard(path string, open func(path string) (io.ReadCloser, error), yield func(Sample, error) bool) (more bool, err error) {
	f, err := open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	plain, err := unzipped(f)
	if err != nil {
		return false, err
	}
	s := Sample{Path: path}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
			return len(s.Files) == 0 || yield(s, nil), nil
		}
		if err != nil {
			return false, noEOF(err)
		}
		key, ending, ok := sampleName(h)
		if !ok {
			continue
		}
		if key != s.Key {
			if len(s.Files) > 0 && !yield(s, nil) {
				return false, nil
			}
			s = Sample{Key: key, Path: path, Files: map[string][]byte{}}
		}
		for record := range h.PAXRecords {
			if strings.HasPrefix(record, "GNU.sparse") { // a few bytes can stand for any number of zeros
				return false, fmt.Errorf("%s is a sparse file", h.Name)
			}
		}
		if _, twice := s.Files[ending]; twice {
			return false, fmt.Errorf("%s is there twice", h.Name)
		}
		if s.Files[ending], err = readExactly(r, int(h.Size)); err != nil {
			return false, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

// sampleName splits the name of a file of an example. Folders, links and hidden files are of none.
func sampleName(h *tar.Header) (key, ending string, ok bool) {
	dir, base := path.Split(h.Name)
	name, ending, _ := strings.Cut(base, ".")
	if h.Typeflag != tar.TypeReg || name == "" {
		return "", "", false
	}
	return dir + name, ending, true
}

// unzipped returns what a reader gives, uncompressed if it is compressed by gzip.
func unzipped(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if b, err := buffered.Peek(2); err != nil || b[0] != 0x1f || b[1] != 0x8b {
		return buffered, nil // the format says what it misses
	}
	return gzip.NewReader(buffered)
}
