package arg

import (
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
)

// A Dim is an axis beside the lines: its size, and the elements from one line to the next.
type Dim struct{ Count, Stride int }

// An Extreme asks for the place of the extreme of each line.
type Extreme struct {
	DType    array.DType
	Greatest bool
	X, Out   uint64 // addresses: of the first element; of the places, int64 in row-major order of the lines
	N, Step  int    // elements of a line, and from one to the next; N > 0
	Lines    []Dim  // outermost first
}

// Limits of a launch, whose numbers have 4 bytes. Tests lower them.
var (
	maxUnits = 1 << 30 // lines and parts of them
	maxPart  = 1 << 30 // elements of a part
)

// Sizes by which the way is chosen.
const (
	shortLine  = 32      // elements up to which a thread looks at a line
	warpLine   = 1 << 10 // up to which a warp does
	fewLines   = 32      // fewer neighbouring lines are not worth threads of their own
	leastPart  = 64      // elements of a thread's part
	leastBlock = 1 << 12 // of a block's part
	maxParts   = 1 << 12
	partUnit   = 16 // parts are multiples of it, which vectors divide
)

// Scratch returns the bytes of scratch memory that the launches need, on a GPU with a number of
// multiprocessors.
func (e Extreme) Scratch(units int) (bytes int) {
	for _, p := range e.split(nil) {
		if parts := p.parts(units); parts > 1 {
			bytes = max(bytes, 8*parts*p.count())
		}
	}
	return bytes
}

// Launches returns the launches that find the places. scratch is the address of the scratch memory.
func (e Extreme) Launches(units int, scratch uint64) (list []grid.Launch) {
	for _, p := range e.split(nil) {
		list = append(list, p.launches(units, scratch)...)
	}
	return list
}

// count returns the number of lines.
func (e *Extreme) count() int {
	n := 1
	for _, d := range e.Lines {
		n *= d.Count
	}
	return n
}

// split appends extremes that one launch each can find, or two with parts.
func (e Extreme) split(list []Extreme) []Extreme {
	e.merge()
	n := e.count()
	if n == 0 {
		return list
	}
	if parts := (e.N + maxPart - 1) / maxPart; len(e.Lines) <= maxDims && (n == 1 || n <= maxUnits/parts) {
		return append(list, e)
	}
	d := e.Lines[0]
	for i := range 2 {
		from, to := i*(d.Count/2), (i+1)*(d.Count/2)
		if i == 1 {
			to = d.Count
		}
		part := e
		part.X += uint64(from * d.Stride * e.DType.Size())
		part.Out += uint64(8 * from * (n / d.Count))
		part.Lines = append([]Dim{{to - from, d.Stride}}, e.Lines[1:]...)
		list = part.split(list)
	}
	return list
}

// merge drops axes of size 1, and joins neighbours that are one axis in memory.
func (e *Extreme) merge() {
	var out []Dim
	for _, d := range e.Lines {
		last := len(out) - 1
		switch {
		case d.Count == 1:
		case last >= 0 && out[last].Stride == d.Count*d.Stride:
			out[last] = Dim{out[last].Count * d.Count, d.Stride}
		default:
			out = append(out, d)
		}
	}
	e.Lines = out
}

// kind chooses what looks at a line.
func (e *Extreme) kind() Kind {
	size := func(n int) int { return max(n, -n) }
	last := len(e.Lines) - 1
	switch {
	case e.N <= shortLine:
		return OfThread
	case last >= 0 && size(e.Lines[last].Stride) < size(e.Step) && e.Lines[last].Count >= fewLines:
		return OfThread
	case e.N <= warpLine:
		return OfWarp
	}
	return OfBlock
}

// parts returns the number of parts of a line.
func (e *Extreme) parts(units int) int {
	part := e.part(units)
	return (e.N + part - 1) / part
}

// part returns the number of elements of a part of a line.
func (e *Extreme) part(units int) int {
	parts := 1
	switch e.kind() {
	case OfThread:
		parts = min(1024*units/e.count(), e.N/leastPart)
	case OfBlock:
		parts = min(4*units/e.count(), e.N/leastBlock)
	}
	parts = max(1, min(parts, maxParts))
	part := (e.N + parts - 1) / parts
	if parts > 1 {
		part = (part + partUnit - 1) / partUnit * partUnit
	}
	return min(part, maxPart)
}

// launches returns the launches that find the places. scratch is where candidates go.
func (e *Extreme) launches(units int, scratch uint64) []grid.Launch {
	part, parts := e.part(units), e.parts(units)
	v := Variant{DType: e.DType, Greatest: e.Greatest, Kind: e.kind()}
	v.Vector = v.Kind != OfThread && e.vectors()
	if parts == 1 {
		return []grid.Launch{e.launch(v, e.Out, 0, e.N, part, 1)}
	}
	first := e.launch(v, scratch, 0, e.N, part, parts)
	v = Variant{DType: e.DType, Greatest: e.Greatest, Kind: OfWarp, Chosen: true}
	return []grid.Launch{first, e.launch(v, e.Out, scratch, parts, parts, 1)}
}

// vectors reports whether lines consist of vectors, each aligned to its size.
func (e *Extreme) vectors() bool {
	n := lanes(e.DType)
	return e.Step == 1 && e.N%n == 0 && e.X%uint64(n*e.DType.Size()) == 0 &&
		!slices.ContainsFunc(e.Lines, func(d Dim) bool { return d.Stride%n != 0 })
}

// launch returns one launch over n elements, or candidates, of each line.
func (e *Extreme) launch(v Variant, out, places uint64, n, part, parts int) grid.Launch {
	size := e.DType.Size()
	var a grid.Args
	a.Long(int(e.X), e.Step*size, int(out), int(places), n)
	strides, counts := make([]int, maxDims), []int{1, 1, 1, 1}
	from := maxDims - len(e.Lines)
	for i, d := range e.Lines {
		strides[from+i], counts[from+i] = d.Stride*size, d.Count
	}
	a.Long(strides...)
	units := e.count() * parts
	a.Short(part, units)
	a.Divisors(append([]int{e.count()}, counts[1:]...)...)
	return v.launch(units, a)
}

// launch returns the launch of a kernel over a number of lines and parts of them.
func (v Variant) launch(units int, args grid.Args) grid.Launch {
	per := [...]int{OfThread: threads, OfWarp: warps, OfBlock: 1}[v.Kind]
	return grid.NewLaunch(v.Name(), func() *grid.Kernel { return Lower(v) }, grid.Ceil(units, per), args)
}

// Items asks for the place of the extreme of each column of the items of a list, counted in the item;
// -1 if it is empty. Rows lie one behind the other.
type Items struct {
	DType           array.DType
	Greatest        bool
	X, Offsets, Out uint64 // addresses: of the rows; of the offsets, int64, that are checked; of the places, int64
	Count           int    // items
	Rows, Columns   int    // all rows, and elements of one
}

// Launches returns the launches that find the places.
func (e Items) Launches() []grid.Launch { return e.split(nil, e.Columns, e.X, e.Out) }

// split appends launches over some items and columns from x on; results lie from out on.
func (e Items) split(list []grid.Launch, columns int, x, out uint64) []grid.Launch {
	size := e.DType.Size()
	switch {
	case e.Count == 0 || columns == 0:
		return list
	case e.Count > 1 && e.Count > maxUnits/columns:
		some := e
		some.Count = e.Count / 2
		list = some.split(list, columns, x, out)
		e.Offsets += uint64(8 * some.Count)
		e.Count -= some.Count
		return e.split(list, columns, x, out+uint64(8*some.Count*e.Columns))
	case columns > maxUnits:
		half := columns / 2
		list = e.split(list, half, x, out)
		return e.split(list, columns-half, x+uint64(half*size), out+uint64(8*half))
	}
	v := Variant{DType: e.DType, Greatest: e.Greatest, Items: true}
	if columns < fewLines && e.Rows/e.Count >= shortLine/2 {
		v.Kind = OfWarp
	}
	var a grid.Args
	a.Long(int(x), e.Columns*size, int(out), int(e.Offsets), 0, e.Columns, 0, 0, 0)
	units := e.Count * columns
	a.Short(0, units)
	a.Divisors(columns, 1, 1, 1)
	return append(list, v.launch(units, a))
}
