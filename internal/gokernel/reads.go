package gokernel

import (
	"fmt"
	"go/token"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/op"
)

// A function is also differentiated by what it reads from whole arrays: a read, numbered in
// the order in which reads are lowered, is an input of a derivation as an argument is. Beside
// the derivatives the function then gives the place of each read, which is where the
// gradient belongs. Calls and loops whose number of rounds is known are in place, so that
// they have reads of their own; in other loops a read has no number.

// A reading is what a trial finds of the reads of an array.
type reading struct {
	n      int       // reads
	looped token.Pos // of one in a loop, if there is any
}

// readShift is where the number of a read, from 1, stands in that of an input.
const readShift = 16

// byRead is the input of a derivation that read no of an input is.
func byRead(input, no int) int { return input + (no+1)<<readShift }

// inputOf is the input that an input of a derivation is, or is a read of.
func inputOf(by int) int { return by & (1<<readShift - 1) }

// nextRead numbers a read of an array; -1 in a loop.
func (l *lowerer) nextRead(a *outside, pos token.Pos) int {
	if l.loops > 0 {
		if l.looped == nil {
			l.looped = map[int]token.Pos{}
		}
		l.looped[a.param] = pos
		return -1
	}
	l.read[a.param]++
	return l.read[a.param] - 1
}

// readings are the reads that the lowering met.
func (l *lowerer) readings() map[int]reading {
	m := map[int]reading{}
	for param, n := range l.read {
		m[param] = reading{n: n}
	}
	for param, pos := range l.looped {
		m[param] = reading{m[param].n, pos}
	}
	return m
}

// placed returns the reads whose indices the instance returns: the reads of its last derivation.
func (i *Instance) placed() []int {
	if n := len(i.wrt); n > 0 && i.wrt[n-1].inputs[0]>>readShift > 0 {
		return i.wrt[n-1].inputs
	}
	return nil
}

// declarePlaces makes the variable that holds the places, one behind the array at first.
func (l *lowerer) declarePlaces() {
	by := l.inst.placed()
	if by == nil {
		return
	}
	in := l.inst.inputs[inputOf(by[0])]
	behind := l.int(loop.I64, 1)
	for _, n := range l.window(inputOf(by[0]), l.params[in.Param].Rank).Extents {
		behind = l.bin(loop.OpMul, behind, n)
	}
	t := &ty{kind: kStruct, leaves: len(by)}
	v := &value{t: t}
	for range by {
		t.parts = append(t.parts, tInt64)
		v.parts = append(v.parts, l.scalar(tInt64, behind))
	}
	l.places = &variable{t: t, val: v}
}

// notePlace notes where read no stands, if that is asked for: the number of the element in
// row-major order. What is not inside stays behind the array.
func (l *lowerer) notePlace(a *outside, no int, at []loop.Value, inside loop.Value) {
	for k, by := range l.inst.placed() {
		if by>>readShift-1 != no || l.inst.inputs[inputOf(by)].Param != a.param {
			continue
		}
		flat := l.zero(loop.I64)
		for axis, n := range l.window(a.input, a.rank()).Extents {
			flat = l.bin(loop.OpAdd, l.bin(loop.OpMul, flat, n), at[axis])
		}
		behind := l.places.val.parts[k].n.v
		l.places.val = l.places.val.with(k, l.scalar(tInt64, l.choose(inside, flat, behind)))
	}
}

// placesBehind appends the places to the results.
func (l *lowerer) placesBehind(out []loop.Value) []loop.Value {
	if l.places != nil {
		out = l.result(l.places.val, out)
	}
	return out
}

// Reads implements [op.Reader].
func (i *Instance) Reads(input int) (int, error) {
	r := i.reads[i.inputs[input].Param]
	if r.looped.IsValid() {
		return 0, i.f.src.errorAt(r.looped, "there is no gradient through what is read in a loop whose number of rounds is not a constant up to %d (WithVJP gives one; Detach or WithoutGrad leaves it out)", maxRounds)
	}
	return r.n, nil
}

// PartialsAt implements [op.Reader].
func (i *Instance) PartialsAt(results []bool, input, from, to int) op.Body {
	if i.inputs[input].DType.Category() != array.Float32.Category() || to <= from {
		panic(fmt.Sprintf("kernel: reads %d to %d of input %d have no derivatives", from, to, input))
	}
	var by []int
	for no := from; no < to; no++ {
		by = append(by, byRead(input, no))
	}
	d := i.derive(chosen(results), by)
	if d == nil {
		return nil
	}
	return d
}
