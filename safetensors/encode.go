package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/raw"
)

// A named is one tensor to write.
type named struct {
	name string
	view array.View
}

// encode writes a file. It sorts the tensors as the reference library does:
// wider element types first, so that all data is aligned, then by name.
func encode(w io.Writer, tensors []named, metadata map[string]string) error {
	if w == nil {
		return errors.New("safetensors: the writer is nil")
	}
	head, err := appendHeader(make([]byte, 8), tensors, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	for i := range tensors {
		if err := raw.Write(w, &tensors[i].view); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", tensors[i].name, err)
		}
	}
	return nil
}

// appendHeader sorts the tensors and appends their header to b, whose first 8
// bytes receive its length.
func appendHeader(b []byte, tensors []named, metadata map[string]string) ([]byte, error) {
	for _, t := range tensors {
		switch _, ok := rankByDType[t.view.DType]; {
		case !ok:
			return nil, &UnsupportedError{Name: t.name, DType: t.view.DType.String()}
		case t.name == metadataKey:
			return nil, fmt.Errorf("safetensors: a tensor cannot be named %q", metadataKey)
		case !utf8.ValidString(t.name):
			return nil, fmt.Errorf("safetensors: the name %q is invalid UTF-8", t.name)
		}
	}
	slices.SortFunc(tensors, func(a, b named) int {
		return cmp.Or(rankByDType[b.view.DType]-rankByDType[a.view.DType], cmp.Compare(a.name, b.name))
	})
	b = append(b, '{')
	if len(metadata) > 0 {
		b = appendString(b, metadataKey)
		b = append(b, ":{"...)
		keys := make([]string, 0, len(metadata))
		for k := range metadata {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if v := metadata[k]; !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, fmt.Errorf("safetensors: metadata %q: %q is invalid UTF-8", k, v)
			}
		}
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, k)
			b = append(b, ':')
			b = appendString(b, metadata[k])
		}
		b = append(b, '}')
	}
	at := int64(0)
	for i, t := range tensors {
		if i > 0 || len(metadata) > 0 {
			b = append(b, ',')
		}
		kind := kinds[rankByDType[t.view.DType]]
		b = appendString(b, t.name)
		b = append(b, `:{"dtype":"`...)
		b = append(b, kind.name...)
		b = append(b, `","shape":[`...)
		for i, n := range t.view.Shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		end := at + int64(t.view.Size()*t.view.DType.Size())
		b = append(b, `],"data_offsets":[`...)
		b = strconv.AppendInt(b, at, 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, end, 10)
		b = append(b, "]}"...)
		at = end
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	n := len(b) - 8
	if n > maxHeader {
		return nil, fmt.Errorf("safetensors: the header takes %d bytes, at most %d are allowed", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b, nil
}

// appendString appends s as the reference library does: only what JSON demands
// is escaped.
func appendString(b []byte, s string) []byte {
	const short, hex = "\"\"\\\\\bb\ff\nn\rr\tt", "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
			continue
		}
		b = append(b, '\\')
		if k := strings.IndexByte(short, c); k >= 0 {
			b = append(b, short[k+1])
		} else {
			b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}

// encodeFile replaces the file at path as a whole.
func encodeFile(path string, tensors []named, metadata map[string]string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return encode(w, tensors, metadata) })
}
