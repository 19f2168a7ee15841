package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"weft"
)

// ReadWAV reads sound in Microsoft's WAVE format: samples float32 [channels frames] from -1 to 1, and the
// number of frames a second. Samples are integers of 8, 16, 24 or 32 bits, or floats of 32 or 64 bits;
// compressed ones are an error.
func ReadWAV(r io.Reader) (samples *weft.Tensor, rate int, err error) {
	if r == nil {
		return nil, 0, noReader("WAV")
	}
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, 0, fmt.Errorf("data: WAV: %w", noEOF(err))
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, 0, fmt.Errorf("data: WAV: the file begins with %q, want RIFF and WAVE", head)
	}
	var f *wavFormat
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(r, chunk[:]); err != nil {
			return nil, 0, fmt.Errorf("data: WAV: no samples: %w", noEOF(err))
		}
		size := int(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if size < 16 || size > 1<<16 {
				return nil, 0, fmt.Errorf("data: WAV: a format of %d bytes", size)
			}
			b, err := readExactly(r, size+size%2)
			if err != nil {
				return nil, 0, fmt.Errorf("data: WAV: %w", err)
			}
			if f, err = newWavFormat(b); err != nil {
				return nil, 0, err
			}
		case "data":
			if f == nil {
				return nil, 0, fmt.Errorf("data: WAV: samples come before their format")
			}
			b, err := readExactly(r, size)
			if err != nil {
				return nil, 0, fmt.Errorf("data: WAV: %w", err)
			}
			return f.samples(b), f.rate, nil
		default:
			if _, err := io.CopyN(io.Discard, r, int64(size+size%2)); err != nil {
				return nil, 0, fmt.Errorf("data: WAV: %w", noEOF(err))
			}
		}
	}
}

// wavFormat is how samples are written.
type wavFormat struct {
	channels, rate, width int
	float                 bool
}

func newWavFormat(b []byte) (*wavFormat, error) {
	kind := binary.LittleEndian.Uint16(b)
	if kind == 0xfffe && len(b) >= 26 { // extensible: the kind is in the identifier behind
		kind = binary.LittleEndian.Uint16(b[24:])
	}
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	f := &wavFormat{int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint32(b[4:])), bits / 8, kind == 3}
	known := kind == 1 && (bits == 8 || bits == 16 || bits == 24 || bits == 32) || kind == 3 && (bits == 32 || bits == 64)
	if !known || f.channels == 0 {
		return nil, fmt.Errorf("data: WAV: %d channels of %d bits in format %d, want integers (1) of 8 to 32 bits or floats (3) of 32 or 64", f.channels, bits, kind)
	}
	return f, nil
}

// samples are the samples of whole frames.
func (f *wavFormat) samples(b []byte) *weft.Tensor {
	frames := len(b) / (f.width * f.channels)
	out := make([]float32, frames*f.channels)
	for i := range frames {
		for c := range f.channels {
			out[c*frames+i] = f.sample(b[(i*f.channels+c)*f.width:])
		}
	}
	if frames == 0 {
		return weft.Zeros(f.channels, 0)
	}
	return weft.FromSlice(out, f.channels, frames)
}

func (f *wavFormat) sample(b []byte) float32 {
	switch {
	case f.float && f.width == 8:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case f.float:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case f.width == 1:
		return float32(int(b[0])-128) / 128
	case f.width == 2:
		return float32(int16(binary.LittleEndian.Uint16(b))) / (1 << 15)
	case f.width == 3:
		return float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)>>8) / (1 << 23)
	}
	return float32(int32(binary.LittleEndian.Uint32(b))) / (1 << 31)
}
