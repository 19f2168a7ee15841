package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"weft"
)

// printResult prints a result as people read it or, for --json, as one line of JSON:
//
//	{"dtype": "float32", "shape": [2, 2], "data": [[1, 2], [3, "NaN"]]}
//
// A complex number is [real, imaginary]; what JSON has no number for is "NaN", "Infinity" or
// "-Infinity".
func printResult(w io.Writer, t *weft.Tensor, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(w, "%v\n", t)
		return err
	}
	b := bufio.NewWriter(w)
	shape := t.Shape()
	sizes := strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
	fmt.Fprintf(b, `{"dtype": %q, "shape": %s, "data": `, t.DType(), sizes)
	nested(b, shape, 0, elements(t))
	b.WriteString("}\n")
	return b.Flush()
}

// nested writes the elements from number at on of an array of a shape, and returns the number
// behind them.
func nested(b *bufio.Writer, shape []int, at int, element func(i int) string) int {
	if len(shape) == 0 {
		b.WriteString(element(at))
		return at + 1
	}
	b.WriteByte('[')
	for i := range shape[0] {
		if i > 0 {
			b.WriteString(", ")
		}
		at = nested(b, shape[1:], at, element)
	}
	b.WriteByte(']')
	return at
}

// elements returns a function that gives the text of an element.
func elements(t *weft.Tensor) func(i int) string {
	switch d := t.DType(); d {
	case weft.Bool:
		v := weft.Data[bool](t)
		return func(i int) string { return strconv.FormatBool(v[i]) }
	case weft.Uint64:
		v := weft.Data[uint64](t)
		return func(i int) string { return strconv.FormatUint(v[i], 10) }
	case weft.Float64:
		v := weft.Data[float64](t)
		return func(i int) string { return float(v[i], 64) }
	case weft.Complex64, weft.Complex128:
		v, bits := weft.Data[complex128](t.To(weft.Complex128)), d.Size()*4
		return func(i int) string { return "[" + float(real(v[i]), bits) + ", " + float(imag(v[i]), bits) + "]" }
	default:
		if d.Float() {
			v := weft.Data[float32](t.To(weft.Float32))
			return func(i int) string { return float(float64(v[i]), 32) }
		}
		v := weft.Data[int64](t.To(weft.Int64))
		return func(i int) string { return strconv.FormatInt(v[i], 10) }
	}
}

// float returns the shortest number that reads as x.
func float(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return `"NaN"`
	case math.IsInf(x, 1):
		return `"Infinity"`
	case math.IsInf(x, -1):
		return `"-Infinity"`
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
