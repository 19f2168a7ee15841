package aot

import (
	"math"

	"weft/internal/array"
)

// line is the alignment of parts of temporary memory.
const line = 64

// maxSize is the number of elements of the largest array: products of a few more lengths do not overflow.
const maxSize = math.MaxInt32

// verify returns an error if a step of a plan would reach out of its memory: numbers of plans are
// expressions of the free lengths, which were found for others. It places the parts.
func (p *Program) verify(plan *Plan) error {
	plan.parts = make([]int, len(plan.Parts)+1)
	for i, n := range plan.Parts {
		plan.parts[i+1] = plan.parts[i] + (max(n, 0)+line-1)&^(line-1)
	}
	for i := range plan.Arrays {
		if n := plan.Arrays[i].Size; n < 0 || n > maxSize {
			return p.refused()
		}
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		for _, views := range [2][]View{s.Args, s.Out} {
			for j := range views {
				if !p.inside(plan, &views[j]) {
					return p.refused()
				}
			}
		}
		if s.Launch != nil && !p.reaches(plan, s.Launch) {
			return p.refused()
		}
	}
	return nil
}

// Divides panics with an *[Error] if a length, which is that of text in program, is negative, more than
// 2^31-1, or no multiple of a number.
func Divides(program, text string, n, by int) {
	switch {
	case n < 0:
		array.Failf(program, text, "is %d, a negative length", n)
	case n > maxSize:
		array.Failf(program, text, "is %d, %d is the most", n, maxSize)
	case n%by != 0:
		array.Failf(program, text, "is %d, want a multiple of %d", n, by)
	}
}

// Refuse panics with an *[Error]: program does not take the lengths for which when holds.
func Refuse(program, when string) *Plan {
	array.Failf(program, "", "does not take %s", when)
	return nil
}

func (p *Program) refused() error {
	return array.Errorf(p.Name, "", "does not take arrays of these lengths")
}

// bytes returns the size of a slot, which lies in its memory.
func (p *Program) bytes(plan *Plan, slot int) (n int, ok bool) {
	s := &plan.Slots[slot]
	switch {
	case s.Array > 0:
		a := &plan.Arrays[s.Array-1]
		return a.Size * a.Bytes, s.At == 0
	case s.Part > 0:
		return s.Bytes, s.At >= 0 && s.At+s.Bytes <= plan.Parts[s.Part-1]
	}
	return s.Bytes, s.At >= 0 && s.At+s.Bytes <= len(p.Constants)
}

// inside reports that a view lies in its slot.
func (p *Program) inside(plan *Plan, v *View) bool {
	d, ok := array.ParseDType(v.Type)
	if !ok || len(v.Shape) != len(v.Strides) {
		return false
	}
	size := 1
	for _, n := range v.Shape {
		if n < 0 || n > math.MaxInt32 || size > maxSize {
			return false
		}
		size *= n
	}
	w := array.View{DType: d, Offset: v.Offset, Shape: v.Shape, Strides: v.Strides}
	low, high := w.Span()
	n, ok := p.bytes(plan, v.Slot)
	return ok && (low == high || low >= 0 && high*d.Size() <= n)
}

// reaches reports that all buffers of a launch lie in their slots.
func (p *Program) reaches(plan *Plan, l *Launch) bool {
	k := &p.Kernels[l.Kernel]
	extents := l.Words[k.Scalars:]
	for b, o := range l.Operands {
		low, high, empty := o.Bytes, o.Bytes+int(k.Sizes[b]), false
		move := func(extent, stride int) {
			empty = empty || extent <= 0
			if by := (extent - 1) * stride; by > 0 {
				high += by
			} else {
				low += by
			}
		}
		for a := range k.Axes {
			stride := 0
			if k.Moves[b]>>a&1 != 0 {
				stride = int(extents[(2+b)*k.Axes+a])
			}
			move(int(extents[a]), stride)
		}
		for _, a := range l.Around {
			move(a.Extent, a.Bytes[b])
		}
		if n, ok := p.bytes(plan, o.Slot); !ok || !empty && (low < 0 || high > n) {
			return false
		}
	}
	return true
}
