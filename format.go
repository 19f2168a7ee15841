package weft

import (
	"bytes"
	"crypto/sha256"
	encoding "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// Floats are printed without exponents where NumPy prints them so: magnitudes in a
// range, which for arrays must not be spread too far either.
const (
	fixedLeast      = 1e-4
	fixedMost       = 1e8 // of arrays
	fixedMostScalar = 1e16
	fixedRatio      = 1000 // the greatest to the least
)

// How tensors are printed: NumPy's habits (numpy.set_printoptions).
const (
	summaryAbove  = 1000 // elements, beyond which only the edges are shown
	edgeItems     = 3    // elements at each edge
	lineWidth     = 75
	digitsShown   = 8 // after the point, at most
	logValuesUpTo = 8 // elements shown by LogValue
)

// String shows t as the verb %v does: NumPy's brackets, long arrays shortened in the middle;
// [Tensor.Format] has precision and more.
func (t *Tensor) String() string { return fmt.Sprintf("%v", t) }

// Format implements [fmt.Formatter].
//
//	%v, %s   the elements as NumPy prints them, in brackets and aligned; beyond
//	         1000 elements the edges only. Floats have as many digits as tell
//	         them apart, at most 8 after the point, or the precision: %.3v
//	%+v      all elements
//	%#v      a Go expression that makes the tensor; beyond 1000 elements the
//	         edges only
//	%+#v     as that, with all elements
//
// Any other verb, with its flags, width and precision, is applied to each element,
// and the results are aligned: %.2f, %8.3e, %g, %d, %x, %t. Verbs for floats print
// integers as floats. In a function that is traced ([Compile], [Vmap]) elements are not known: every
// verb prints "<traced float32[2 3]>".
func (t *Tensor) Format(s fmt.State, verb rune) {
	if s == nil {
		array.Failf("format", "s", "is nil: functions of package fmt call Format")
	}
	if t == nil {
		fmt.Fprint(s, "<nil>")
		return
	}
	if t.c().IsTraced() {
		fmt.Fprintf(s, "<traced %s>", array.TypeString(t.v().DType, t.v().Shape))
		return
	}
	t.c().Check("format")
	v := core.ToHost(t.c())
	defer core.Leave(&v)
	p := &printer{v: &v, edges: t.Size() > summaryAbove}
	switch {
	case verb == 'v' && s.Flag('#'):
		p.edges = p.edges && !s.Flag('+')
		p.goSyntax()
	case verb == 'v' || verb == 's':
		p.edges = p.edges && !s.Flag('+')
		prec, ok := s.Precision()
		if !ok {
			prec = digitsShown
			if t.Rank() == 0 {
				prec = math.MaxInt // as many as it takes
			}
		}
		p.word = p.plain(prec)
		width, _ := s.Width()
		p.align(width, s.Flag('-'))
		p.array()
	default:
		p.word = p.verb(fmt.FormatString(s, verb), verb)
		if p.word == nil {
			fmt.Fprintf(s, "%%!%c(*weft.Tensor=%s)", verb, array.TypeString(t.v().DType, t.v().Shape))
			break
		}
		p.align(0, s.Flag('-'))
		p.array()
	}
	s.Write(p.out.Bytes())
	core.KeepAlive(t.c())
}

// A printer writes the elements of a view.
type printer struct {
	v     *array.View
	edges bool // leave out what is not near an edge
	word  func(at int) string
	out   bytes.Buffer
	line  []byte
}

// each calls f with the positions along an axis that are shown, and with -1 in
// the place of those left out.
func (p *printer) each(axis int, f func(i int)) {
	n := p.v.Shape[axis]
	for i := 0; i < n; i++ {
		if p.edges && n > 2*edgeItems && i == edgeItems {
			f(-1)
			i = n - edgeItems
		}
		f(i)
	}
}

// shown calls f with the offset of each element that is shown.
func (p *printer) shown(f func(at int)) {
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(p.v.Shape) {
			f(at)
			return
		}
		p.each(axis, func(i int) {
			if i >= 0 {
				walk(axis+1, at+i*p.v.Strides[axis])
			}
		})
	}
	if p.v.Size() == 0 {
		return // however many indices the axes before the empty one have
	}
	walk(0, p.v.Offset)
}

// align makes all words as wide as the widest, and width at least.
func (p *printer) align(width int, left bool) {
	word := p.word
	p.shown(func(at int) { width = max(width, len(word(at))) })
	p.word = func(at int) string {
		w := word(at)
		pad := strings.Repeat(" ", width-len(w))
		if left {
			return w + pad
		}
		return pad + w
	}
}

// array writes everything.
func (p *printer) array() {
	switch {
	case len(p.v.Shape) == 0:
		p.out.WriteString(p.word(p.v.Offset))
	case p.v.Size() == 0:
		p.out.WriteString("[]")
	default:
		p.axis(0, p.v.Offset, 1, lineWidth)
	}
}

// axis writes the part of the array behind the indices of the axes before this
// one. Lines after the first begin in column indent.
func (p *printer) axis(axis, at, indent, width int) {
	p.out.WriteByte('[')
	if left := len(p.v.Shape) - axis; left > 1 {
		first := true
		p.each(axis, func(i int) {
			if !first {
				p.out.WriteString(strings.Repeat("\n", left-1))
				p.spaces(indent)
			}
			first = false
			if i < 0 {
				p.out.WriteString("...")
				return
			}
			p.axis(axis+1, at+i*p.v.Strides[axis], indent+1, width-1)
		})
		p.out.WriteByte(']')
		return
	}
	p.line = p.line[:0]
	p.each(axis, func(i int) {
		word := "..."
		if i >= 0 {
			word = p.word(at + i*p.v.Strides[axis])
		}
		if len(p.line) > 0 {
			p.line = append(p.line, ' ')
			if indent+len(p.line)+len(word) > width-1 {
				p.out.Write(bytes.TrimRight(p.line, " "))
				p.out.WriteByte('\n')
				p.spaces(indent)
				p.line = p.line[:0]
			}
		}
		p.line = append(p.line, word...)
	})
	p.out.Write(p.line)
	p.out.WriteByte(']')
}

func (p *printer) spaces(n int) { p.out.WriteString(strings.Repeat(" ", n)) }

// bits is the size for which floats are shortened.
func (p *printer) bits() int {
	switch p.v.DType {
	case Float32, Complex64:
		return 32
	}
	return 64
}

// float reads the float at an offset; one of 16 bits as the number of few digits that
// stands for it.
func (p *printer) float(at int) float64 {
	var short string
	switch x := core.FloatElement(p.v, at); p.v.DType {
	case Float16:
		short = half.NewFloat16(x).String()
	case BFloat16:
		short = half.NewBFloat16(x).String()
	default:
		return x
	}
	x, err := strconv.ParseFloat(short, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// plain returns the words of %v, floats with at most prec digits after the point.
func (p *printer) plain(prec int) func(at int) string {
	switch {
	case p.v.DType == Bool:
		return func(at int) string { return strconv.FormatBool(core.IntElement(p.v, at) != 0) }
	case p.v.DType == Uint64:
		return func(at int) string { return strconv.FormatUint(uint64(core.IntElement(p.v, at)), 10) }
	case p.v.DType.Integer():
		return func(at int) string { return strconv.FormatInt(core.IntElement(p.v, at), 10) }
	case p.v.DType.Category() == array.CatComplex:
		return p.complex(prec)
	}
	f := p.look(prec, p.float)
	if len(p.v.Shape) == 0 {
		return func(at int) string {
			w := f.word(p.float(at))
			switch {
			case strings.HasSuffix(w, "."):
				w += "0"
			case f.exp:
				w = strings.Replace(w, ".e", "e", 1)
			}
			return w
		}
	}
	return func(at int) string { return f.word(p.float(at)) }
}

// look returns the common look of the floats that are shown.
func (p *printer) look(prec int, float func(at int) float64) floatFormat {
	f := floatFormat{bits: p.bits(), prec: prec}
	least, most := math.Inf(1), 0.0
	p.shown(func(at int) {
		if x := math.Abs(float(at)); x != 0 && !math.IsInf(x, 0) && x == x {
			least, most = min(least, x), max(most, x)
		}
	})
	if len(p.v.Shape) == 0 {
		f.exp = most != 0 && (most < fixedLeast || most >= fixedMostScalar)
	} else {
		f.exp = most != 0 && (most >= fixedMost || least < fixedLeast || most/least > fixedRatio)
	}
	p.shown(func(at int) { f.measure(float(at)) })
	return f
}

// complex returns the words of %v for complex numbers: both parts as floats in columns of
// their own, the second with its sign and j.
func (p *printer) complex(prec int) func(at int) string {
	re := func(at int) float64 { return real(core.ComplexElement(p.v, at)) }
	im := func(at int) float64 { return imag(core.ComplexElement(p.v, at)) }
	fr, fi := p.look(prec, re), p.look(prec, im)
	signed := func(at int) string {
		w := fi.word(im(at))
		if w[0] != '-' {
			w = "+" + w
		}
		digits := strings.TrimRight(w, " ")
		return digits + "j" + w[len(digits):]
	}
	if len(p.v.Shape) == 0 {
		short := func(w string) string { return strings.Replace(strings.TrimSuffix(w, "."), ".e", "e", 1) }
		return func(at int) string {
			if x := re(at); x == 0 && !math.Signbit(x) {
				return short(fi.word(im(at))) + "j"
			}
			return "(" + short(fr.word(re(at))) + short(strings.TrimSuffix(signed(at), "j")) + "j)"
		}
	}
	first, second := 0, 0
	p.shown(func(at int) { first, second = max(first, len(fr.word(re(at)))), max(second, len(signed(at))) })
	return func(at int) string { return fmt.Sprintf("%*s%*s", first, fr.word(re(at)), second, signed(at)) }
}

// A floatFormat gives floats of an array a common look: fixed, where points stand
// below each other and missing digits are spaces, or exponential, with as many
// digits each.
type floatFormat struct {
	bits, prec int
	exp        bool
	frac       int // digits after the point of the number that has most
	expDigits  int
}

// parts returns the digits up to the point, those after it and the exponent with
// its sign.
func (f *floatFormat) parts(x float64) (whole, frac, exp string) {
	verb := byte('f')
	if f.exp {
		verb = 'e'
	}
	cut := func(s string) {
		whole, exp, _ = strings.Cut(s, "e")
		whole, frac, _ = strings.Cut(whole, ".")
	}
	cut(strconv.FormatFloat(x, verb, -1, f.bits))
	if len(frac) > f.prec {
		cut(strconv.FormatFloat(x, verb, f.prec, 64))
		frac = strings.TrimRight(frac, "0")
	}
	return whole, frac, exp
}

func (f *floatFormat) measure(x float64) {
	if x-x != 0 { // infinite or NaN
		return
	}
	_, frac, exp := f.parts(x)
	f.frac = max(f.frac, len(frac))
	f.expDigits = max(f.expDigits, len(exp)-1)
}

func (f *floatFormat) word(x float64) string {
	switch {
	case x != x:
		return "nan"
	case x-x != 0 && x < 0:
		return "-inf"
	case x-x != 0:
		return "inf"
	}
	whole, frac, exp := f.parts(x)
	if !f.exp {
		return whole + "." + frac + strings.Repeat(" ", f.frac-len(frac))
	}
	return whole + "." + frac + strings.Repeat("0", f.frac-len(frac)) +
		"e" + exp[:1] + strings.Repeat("0", f.expDigits+1-len(exp)) + exp[1:]
}

// verb returns the words of a verb applied to each element, nil if it does not
// suit the type.
func (p *printer) verb(format string, verb rune) func(at int) string {
	d := p.v.DType
	switch verb {
	case 'e', 'E', 'f', 'F', 'g', 'G':
		switch d {
		case Bool:
			return nil
		case Float32:
			return func(at int) string { return fmt.Sprintf(format, float32(core.FloatElement(p.v, at))) }
		case Complex64:
			return func(at int) string { return fmt.Sprintf(format, complex64(core.ComplexElement(p.v, at))) }
		case Complex128:
			return func(at int) string { return fmt.Sprintf(format, core.ComplexElement(p.v, at)) }
		}
		return func(at int) string { return fmt.Sprintf(format, p.float(at)) }
	case 'b', 'd', 'o', 'O', 'x', 'X':
		switch {
		case d.Category() > array.CatInt && (verb == 'd' || verb == 'o' || verb == 'O'):
			return nil
		case d.Category() == array.CatComplex:
			return func(at int) string { return fmt.Sprintf(format, core.ComplexElement(p.v, at)) }
		case d.Float():
			return func(at int) string { return fmt.Sprintf(format, core.FloatElement(p.v, at)) }
		case d == Uint64:
			return func(at int) string { return fmt.Sprintf(format, uint64(core.IntElement(p.v, at))) }
		}
		return func(at int) string { return fmt.Sprintf(format, core.IntElement(p.v, at)) }
	case 't':
		if d != Bool {
			return nil
		}
		return func(at int) string { return fmt.Sprintf(format, core.IntElement(p.v, at) != 0) }
	}
	return nil
}

// constantOf is the element type as Go programs write it.
func constantOf(d DType) string {
	if d == BFloat16 {
		return "BFloat16"
	}
	s := d.String()
	return strings.ToUpper(s[:1]) + s[1:]
}

// goSyntax writes an expression that makes the array.
func (p *printer) goSyntax() {
	d := p.v.DType
	p.word = func(at int) string {
		switch {
		case d.Category() == array.CatComplex:
			x := core.ComplexElement(p.v, at)
			return "complex(" + p.literal(real(x)) + ", " + p.literal(imag(x)) + ")"
		case d.Float():
			return p.literal(p.float(at))
		}
		return p.plain(0)(at)
	}
	conv := "" // Go has no literals of 16 bits
	switch {
	case p.v.Size() == 0:
		fmt.Fprintf(&p.out, "weft.ZerosOf(weft.%s", constantOf(d))
		for _, n := range p.v.Shape {
			fmt.Fprintf(&p.out, ", %d", n)
		}
	case len(p.v.Shape) == 0:
		fmt.Fprintf(&p.out, "weft.ScalarOf(weft.%s, %s", constantOf(d), p.word(p.v.Offset))
	default:
		elem := d.String()
		if d == Float16 || d == BFloat16 {
			elem, conv = "float32", ".To(weft."+constantOf(d)+")"
		}
		fmt.Fprintf(&p.out, "weft.From(%s%s", strings.Repeat("[]", len(p.v.Shape)), elem)
		p.braces(0, p.v.Offset)
	}
	p.out.WriteString(")" + conv)
}

// literal is a float in a Go expression.
func (p *printer) literal(x float64) string {
	switch {
	case x != x:
		return p.special("math.NaN()")
	case x-x != 0 && x < 0:
		return p.special("math.Inf(-1)")
	case x-x != 0:
		return p.special("math.Inf(1)")
	case x == 0 && math.Signbit(x):
		return p.special("math.Copysign(0, -1)")
	}
	return strconv.FormatFloat(x, 'g', -1, p.bits())
}

// special is an element that no literal gives.
func (p *printer) special(x string) string {
	switch p.v.DType {
	case Float16, BFloat16, Float32, Complex64:
		return "float32(" + x + ")"
	}
	return x
}

func (p *printer) braces(axis, at int) {
	if axis == len(p.v.Shape) {
		p.out.WriteString(p.word(at))
		return
	}
	p.out.WriteByte('{')
	first := true
	p.each(axis, func(i int) {
		if !first {
			p.out.WriteString(", ")
		}
		first = false
		if i < 0 {
			p.out.WriteString("...")
			return
		}
		p.braces(axis+1, at+i*p.v.Strides[axis])
	})
	p.out.WriteByte('}')
}

// LogValue implements [slog.LogValuer]: type and shape, and the elements if they
// are few, else the least, the greatest and the mean.
func (t *Tensor) LogValue() slog.Value {
	if t == nil {
		return slog.AnyValue(nil)
	}
	t.c().NotNil("logvalue")
	attrs := []slog.Attr{slog.String("dtype", t.v().DType.String()), slog.String("shape", array.ShapeString(t.v().Shape))}
	switch {
	case t.v().Store.Released():
		attrs = append(attrs, slog.Bool("released", true))
	case t.c().IsTraced():
		attrs = append(attrs, slog.Bool("traced", true))
	case t.Size() <= logValuesUpTo:
		attrs = append(attrs, slog.String("values", strings.Join(strings.Fields(t.String()), " ")))
	case t.v().DType.Category() == array.CatComplex:
	default:
		x := (made(*t.v())).To(Float64)
		attrs = append(attrs, slog.Float64("min", x.Min().Item()), slog.Float64("max", x.Max().Item()), slog.Float64("mean", x.Mean().Item()))
	}
	return slog.GroupValue(attrs...)
}

// maxEmptyJSON bounds the brackets that stand for an empty tensor.
const maxEmptyJSON = 1 << 20

// MarshalJSON implements [json.Marshaler]: numbers or bools in nested arrays of t's shape, a 0-d
// tensor as one number, a nil tensor as null. Floats have the fewest digits that read back as
// the same value of their element type. The error is an *[Error] if t holds NaN or Inf, which
// wraps [json.UnsupportedValueError], is complex, was released or is traced. Package weft reads
// no JSON: unmarshal into a slice and give it to [From].
func (t *Tensor) MarshalJSON() (text []byte, err error) {
	if t == nil {
		return []byte("null"), nil
	}
	err = Try(func() { text = t.json("marshaljson") })
	return text, err
}

func (t *Tensor) json(opName string) []byte {
	t.c().Check(opName)
	core.RefuseRead(opName, t.c())
	if t.v().DType.Category() == array.CatComplex {
		array.Failf(opName, "", "the tensor is %s: JSON has no complex numbers, write Real and Imag", t.v().DType)
	}
	least := t.Size() // bytes of text
	if least == 0 {
		least = 1
		for _, n := range t.v().Shape[:slices.Index(t.v().Shape, 0)] {
			if least > maxEmptyJSON/n {
				array.Failf(opName, "", "an empty tensor of shape %s takes more than %d brackets", array.ShapeString(t.v().Shape), maxEmptyJSON)
			}
			least *= n
		}
	}
	v := core.ToHost(t.c())
	defer core.Leave(&v)
	w := jsonWriter{op: opName, p: printer{v: &v}, out: make([]byte, 0, core.CheckHeap(opName, least, Uint8))}
	w.axis(0, v.Offset)
	return w.out
}

// A jsonWriter writes the elements of a view as JSON.
type jsonWriter struct {
	op    string
	p     printer
	index []int // of the element that is written
	out   []byte
}

// axis writes what lies behind the indices of the axes before this one.
func (w *jsonWriter) axis(axis, at int) {
	v := w.p.v
	if axis == len(v.Shape) {
		w.element(at)
		return
	}
	w.out = append(w.out, '[')
	w.index = append(w.index, 0)
	for i := range v.Shape[axis] {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.index[axis] = i
		w.axis(axis+1, at+i*v.Strides[axis])
	}
	w.index = w.index[:axis]
	w.out = append(w.out, ']')
}

func (w *jsonWriter) element(at int) {
	v := w.p.v
	switch {
	case v.DType == Bool:
		w.out = strconv.AppendBool(w.out, core.IntElement(v, at) != 0)
	case v.DType == Uint64:
		w.out = strconv.AppendUint(w.out, uint64(core.IntElement(v, at)), 10)
	case v.DType.Integer():
		w.out = strconv.AppendInt(w.out, core.IntElement(v, at), 10)
	default:
		x := w.p.float(at)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			cause := &json.UnsupportedValueError{Str: strconv.FormatFloat(x, 'g', -1, 64)}
			panic(&array.Error{Op: w.op, Msg: "element " + array.ShapeString(w.index) + " has no JSON", Err: cause})
		}
		// Exponents stand where encoding/json writes them.
		format, a := byte('f'), math.Abs(x)
		small := a < 1e-6
		if w.p.bits() == 32 {
			small = float32(a) < 1e-6
		}
		if a != 0 && (small || a >= 1e21) {
			format = 'e'
		}
		w.out = strconv.AppendFloat(w.out, x, format, -1, w.p.bits())
		if n := len(w.out); format == 'e' && w.out[n-3] == '-' && w.out[n-2] == '0' { // e-09 is e-9
			w.out[n-2] = w.out[n-1]
			w.out = w.out[:n-1]
		}
	}
}

// Digest returns a hash, in hexadecimal, of the types, shapes and elements of
// tensors in order: SHA-256 over the canonical form that [DigestNamed] gives, with
// empty names. How a tensor lies in memory does not matter. Equal digests are how
// weft says that two computations gave the same bits.
func Digest(ts ...*Tensor) string {
	return DigestNamed(func(yield func(string, *Tensor) bool) {
		for _, t := range ts {
			if !yield("", t) {
				return
			}
		}
	})
}

// DigestNamed is [Digest] of named tensors, such as the parameters of a module, in
// the order of the sequence. For each tensor the hash takes in
//
//	the length of the name, 8 bytes, and the name
//	the length of the type's name ("float32"), 8 bytes, and that name
//	the rank, 8 bytes, and the sizes, 8 bytes each
//	the elements in row-major order
//
// with numbers and elements little-endian, the real part of a complex number first, and
// NaNs of any payload and sign as the quiet NaN 0x7e00, 0x7fc0, 0x7fc00000 or
// 0x7ff8000000000000.
func DigestNamed(ts iter.Seq2[string, *Tensor]) string {
	if ts == nil {
		array.Failf("digest", "", "the sequence of tensors is nil")
	}
	d := digester{h: sha256.New()}
	for name, t := range ts {
		if t == nil {
			array.Failf("digest", "", "the tensor %q is nil", name)
		}
		d.tensor(name, t)
	}
	return hex.EncodeToString(d.h.Sum(nil))
}

type digester struct {
	h   hash.Hash
	buf []byte
}

func (d *digester) number(n int) {
	d.buf = encoding.LittleEndian.AppendUint64(d.buf[:0], uint64(n))
	d.h.Write(d.buf)
}

func (d *digester) text(s string) {
	d.number(len(s))
	d.h.Write([]byte(s))
}

func (d *digester) tensor(name string, t *Tensor) {
	if mapped.Any() {
		defer mapped.Explain()
	}
	t.c().Check("digest")
	d.text(name)
	d.text(t.v().DType.String())
	d.number(len(t.v().Shape))
	for _, n := range t.v().Shape {
		d.number(n)
	}
	c := (made(*t.v())).Contiguous()
	n := c.Size()
	if n == 0 {
		return
	}
	v := core.ToHost(c.c())
	defer core.Leave(&v)
	p := core.BytesOf(&v)
	data := unsafe.Slice((*byte)(p), n*t.v().DType.Size())
	switch d.buf = d.buf[:0]; t.v().DType {
	case Float16:
		canonical(d, data, 0x7c00, 0x7e00, encoding.NativeEndian.Uint16, encoding.LittleEndian.AppendUint16)
	case BFloat16:
		canonical(d, data, 0x7f80, 0x7fc0, encoding.NativeEndian.Uint16, encoding.LittleEndian.AppendUint16)
	case Float32, Complex64:
		canonical(d, data, 0x7f800000, 0x7fc00000, encoding.NativeEndian.Uint32, encoding.LittleEndian.AppendUint32)
	case Float64, Complex128:
		canonical(d, data, 0x7ff0000000000000, 0x7ff8000000000000, encoding.NativeEndian.Uint64, encoding.LittleEndian.AppendUint64)
	default:
		if err := raw.Write(d.h, &v); err != nil {
			panic(err) // a hash takes all
		}
	}
}

// canonical hashes floats in pieces, each a word of its size: NaNs are those whose bits
// but the sign are above inf.
func canonical[W uint16 | uint32 | uint64](d *digester, data []byte, inf, nan W, get func([]byte) W, put func([]byte, W) []byte) {
	const piece = 1 << 14
	size, sign := int(unsafe.Sizeof(nan)), ^(^W(0) >> 1)
	for i := 0; i < len(data); i += size {
		bits := get(data[i:])
		if bits&^sign > inf {
			bits = nan
		}
		if d.buf = put(d.buf, bits); len(d.buf) >= piece || i+size == len(data) {
			d.h.Write(d.buf)
			d.buf = d.buf[:0]
		}
	}
}
