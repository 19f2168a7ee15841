package launch

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
)

// Ends are what an epilogue computes of an element if that is simple enough for the kernel that computes the element,
// which then has it in a register: the bias of its channel is added, and bounds hold.
type Ends struct {
	Bias      unsafe.Pointer // of channel 0, with the others behind it; nil: none
	Bounded   bool
	Low, High uint64 // bits of the bounds: infinite where there is none
}

// Ends returns the epilogue as the Ends of a result of type d at at, whose rows are channels of images. It reports
// false if the program does anything else, or writes elsewhere. The result of applying the Ends has the bits of the
// program. Requires that no element is -0 before them: so bounds that are equal to an element have its bits.
func (t *Epilogue) Ends(at unsafe.Pointer, channels int, d array.DType) (Ends, bool) {
	p := t.Kernel.Program
	e := endsOf{Epilogue: t, at: at, channels: channels, d: d, sum: loop.NoValue}
	e.Low, e.High = Unbounded(d)
	if len(p.Body) == 0 || d.Size() != t.unit {
		return Ends{}, false
	}
	pass := &p.Ins[p.Body[len(p.Body)-1]]
	if pass.Op != loop.OpPass {
		return Ends{}, false
	}
	for _, v := range p.Body[:len(p.Body)-1] {
		if op := p.Ins[v].Op; op != loop.OpConst && op != loop.OpScalar {
			return Ends{}, false
		}
	}
	for _, v := range p.Regions[pass.Imm].Body {
		if e.stored || !e.add(v) {
			return Ends{}, false
		}
	}
	if !e.stored {
		return Ends{}, false
	}
	t.Kernel.Counts.Epilogues.Add(1)
	return e.Ends, true
}

// Unbounded returns the bits of -Inf and +Inf.
func Unbounded(d array.DType) (low, high uint64) {
	if d == array.Float32 {
		return uint64(math.Float32bits(float32(math.Inf(-1)))), uint64(math.Float32bits(float32(math.Inf(1))))
	}
	return math.Float64bits(math.Inf(-1)), math.Float64bits(math.Inf(1))
}

// endsOf are Ends while the instructions of a program are read.
type endsOf struct {
	Ends
	*Epilogue
	at       unsafe.Pointer
	channels int
	d        array.DType
	sum      loop.Value // the element after the instructions so far
	bias     loop.Value // if Bias is set
	added    bool       // the bias is in sum
	upper    bool       // so is the upper bound
	stored   bool
}

// add takes an instruction in, and reports false if Ends cannot say what it does.
func (e *endsOf) add(v loop.Value) bool {
	p := e.Kernel.Program
	in := &p.Ins[v]
	if in.Op == loop.OpConst || in.Op == loop.OpScalar {
		return true
	}
	if in.Op == loop.OpLoad || in.Op == loop.OpStore {
		buf := int(in.Imm)
		if p.Bufs[buf].DType != e.d {
			return false
		}
		result := e.Frame.Ptr[buf] == e.at && e.along(buf)
		switch {
		case in.Op == loop.OpStore:
			e.stored = result && in.A == e.sum && (e.Bias == nil || e.added)
			return e.stored
		case result && e.sum == loop.NoValue:
			e.sum = v
			return true
		case e.Bias == nil && e.perChannel(buf):
			e.Bias, e.bias = e.Frame.Ptr[buf], v
			return true
		}
		return false
	}
	other := in.B
	if other == e.sum {
		other = in.A
	} else if in.A != e.sum {
		return false
	}
	if e.sum == loop.NoValue || other == e.sum || in.Type != loop.TypeOf(e.d) {
		return false
	}
	e.sum = v
	switch in.Op {
	case loop.OpAdd:
		ok := e.Bias != nil && other == e.bias && !e.added && !e.Bounded
		e.added = true
		return ok
	case loop.OpMax:
		ok := !e.Bounded && e.bound(other, &e.Low)
		e.Bounded = true
		return ok
	case loop.OpMin:
		ok := !e.upper && e.bound(other, &e.High)
		e.upper, e.Bounded = true, true
		return ok
	}
	return false
}

// bound takes a constant or an argument as a bound. It reports false for anything else, NaN and -0.
func (e *endsOf) bound(v loop.Value, to *uint64) bool {
	p := e.Kernel.Program
	in := &p.Ins[v]
	switch in.Op {
	case loop.OpConst:
		*to = in.Imm
	case loop.OpScalar:
		*to = e.Frame.Word[p.ScalarWord(int(in.Imm))]
	default:
		return false
	}
	x := math.Float64frombits(*to)
	if e.d == array.Float32 {
		x = float64(math.Float32frombits(uint32(*to)))
	}
	return x == x && (x != 0 || !math.Signbit(x))
}

// perChannel reports that a buffer has an element for each channel, one behind the other.
func (e *endsOf) perChannel(buf int) bool {
	p := e.Kernel.Program
	for a, n := range e.Extents {
		step := 0
		if p.Bufs[buf].Steps[a] != loop.Zero {
			step = int(e.Frame.Word[p.StrideWord(buf, a)])
		}
		want := 0
		if a == e.rows-1 {
			want = e.unit
			if n != e.channels {
				return false
			}
		}
		if n > 1 && step != want {
			return false
		}
	}
	return e.rows > 0
}
