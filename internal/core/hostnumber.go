package core

import (
	"math"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/op"
	"weft/internal/saved"
)

// Numbers that calls of a compiled function compute in Go before they run, as data: learning rates and
// counts of steps. A file keeps them, so that a saved step goes on counting.

// A HostVariable is a number that is kept from call to call, such as a count of steps. Counts are exact
// up to 1<<53. It is written while no call of a function that uses it runs.
type HostVariable struct{ Value float64 }

// A HostNumber is a number computed from variables in float64. It is immutable.
type HostNumber struct {
	do       saved.Do
	of       [3]*HostNumber
	value    float64
	variable *HostVariable
}

// HostConst is a number that does not change.
func HostConst(x float64) *HostNumber { return &HostNumber{do: saved.DoConstant, value: x} }

// Number is the variable as part of a number.
func (v *HostVariable) Number() *HostNumber {
	return &HostNumber{do: saved.DoVariable, variable: v}
}

func hostNumber(do saved.Do, of ...*HostNumber) *HostNumber {
	x := &HostNumber{do: do}
	copy(x.of[:], of)
	return x
}

// Add is x + y.
func (x *HostNumber) Add(y *HostNumber) *HostNumber { return hostNumber(saved.DoAdd, x, y) }

// Sub is x - y.
func (x *HostNumber) Sub(y *HostNumber) *HostNumber { return hostNumber(saved.DoSub, x, y) }

// Mul is x * y.
func (x *HostNumber) Mul(y *HostNumber) *HostNumber { return hostNumber(saved.DoMul, x, y) }

// Div is x / y.
func (x *HostNumber) Div(y *HostNumber) *HostNumber { return hostNumber(saved.DoDiv, x, y) }

// Sqrt is the square root.
func (x *HostNumber) Sqrt() *HostNumber { return hostNumber(saved.DoSqrt, x) }

// Power is x to the n, a count, by products alone.
func (x *HostNumber) Power(n *HostNumber) *HostNumber { return hostNumber(saved.DoPower, x, n) }

// Floor rounds down.
func (x *HostNumber) Floor() *HostNumber { return hostNumber(saved.DoFloor, x) }

// Min is the lesser number.
func (x *HostNumber) Min(y *HostNumber) *HostNumber { return hostNumber(saved.DoMin, x, y) }

// Mod is the remainder of a division.
func (x *HostNumber) Mod(y *HostNumber) *HostNumber { return hostNumber(saved.DoMod, x, y) }

// Cos is the cosine, with the bits of tensors.
func (x *HostNumber) Cos() *HostNumber { return hostNumber(saved.DoCos, x) }

// Pow is x to any power, with the bits of tensors.
func (x *HostNumber) Pow(y *HostNumber) *HostNumber { return hostNumber(saved.DoPow, x, y) }

// AtMost is 1 where x <= y, and 0 elsewhere.
func (x *HostNumber) AtMost(y *HostNumber) *HostNumber { return hostNumber(saved.DoAtMost, x, y) }

// Choose is then where x is not 0, and other elsewhere.
func (x *HostNumber) Choose(then, other *HostNumber) *HostNumber {
	return hostNumber(saved.DoChoose, x, then, other)
}

// Value computes the number.
func (x *HostNumber) Value() float64 {
	switch x.do {
	case saved.DoConstant:
		return x.value
	case saved.DoVariable:
		return x.variable.Value
	case saved.DoChoose:
		if x.of[0].Value() != 0 {
			return x.of[1].Value()
		}
		return x.of[2].Value()
	}
	a, b := x.of[0].Value(), 0.0
	if x.of[1] != nil {
		b = x.of[1].Value()
	}
	switch x.do {
	case saved.DoAdd:
		return float64(a + b)
	case saved.DoSub:
		return float64(a - b)
	case saved.DoMul:
		return float64(a * b)
	case saved.DoDiv:
		return float64(a / b)
	case saved.DoSqrt:
		return math.Sqrt(a)
	case saved.DoPower:
		return powerByProducts(a, b)
	case saved.DoFloor:
		return math.Floor(a)
	case saved.DoMin:
		return min(a, b)
	case saved.DoMod:
		return math.Mod(a, b)
	case saved.DoCos:
		return onTensors(op.Cos, a)
	case saved.DoPow:
		return onTensors(op.Pow, a, b)
	case saved.DoAtMost:
		if a <= b {
			return 1
		}
		return 0
	}
	panic("core: a number does what is not known")
}

// powerByProducts is x to the n by products alone: the same bits on every processor. It is NaN where n is
// not a count.
func powerByProducts(x, n float64) float64 {
	if !(n >= 0) {
		return math.NaN()
	}
	y := 1.0
	for n := int64(min(n, 1<<62)); n > 0; n >>= 1 {
		if n&1 != 0 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// onTensors is an operation on numbers as tensors have it: the same bits everywhere.
func onTensors(d *op.Def, xs ...float64) (y float64) {
	OutsideTrace(func() {
		args := make([]Operand, len(xs))
		for i, x := range xs {
			args[i].T = fullOf(0, exec.Number{Float: x, Kind: array.CatFloat}, array.Float64)
		}
		v, done := Apply(d, nil, args...).Lend()
		defer done()
		y = FloatElement(&v, v.Offset)
	})
	return y
}

// Live is a number as an operand, which a compiled function computes again in each call.
func Live(x *HostNumber) Operand {
	tr := TracingHere()
	if tr == nil {
		return Num(x.Value())
	}
	return Operand{Num: tr.hostNumber(x)}
}

// hostNumber returns a number of the trace, which each call computes.
func (tr *Trace) hostNumber(x *HostNumber) exec.Number {
	tr.live = append(tr.live, liveNumbers{number: x, pc: tr.caller()})
	at := tr.Live(1, func(nums []exec.Number) { nums[0] = exec.Number{Float: x.Value(), Kind: array.CatFloat} })
	return exec.Number{Float: x.Value(), Kind: array.CatFloat, Live: at}
}

// SetInCalls gives a variable a new value. In a compiled function each call does so, in the order in which
// the function used SetInCalls and [Live]. It is taken back after the trace and where a call fails.
func SetInCalls(v *HostVariable, to *HostNumber) {
	set := func([]exec.Number) func() {
		old := v.Value
		v.Value = to.Value()
		return func() { v.Value = old }
	}
	undo := set(nil)
	if tr := TracingHere(); tr != nil {
		tr.Undo = append(tr.Undo, undo)
		tr.live = append(tr.live, liveNumbers{set: v, number: to, pc: tr.caller()})
		tr.Host = append(tr.Host, set)
	}
}

// A hostNumbers translates numbers of Go to formulas of a file: variables get numbers.
type hostNumbers struct{ variables []*HostVariable }

func (h *hostNumbers) variable(v *HostVariable) int {
	for i, x := range h.variables {
		if x == v {
			return i
		}
	}
	h.variables = append(h.variables, v)
	return len(h.variables) - 1
}

func (h *hostNumbers) formula(x *HostNumber) *saved.Formula {
	f := &saved.Formula{Do: x.do}
	switch x.do {
	case saved.DoConstant:
		f.Value = saved.ConstantText(x.value)
	case saved.DoVariable:
		f.Variable = h.variable(x.variable)
	}
	for _, y := range x.of {
		if y != nil {
			f.Of = append(f.Of, h.formula(y))
		}
	}
	return f
}

// number is a formula of a file as a number of Go.
func (h *hostNumbers) number(f *saved.Formula) *HostNumber {
	x := &HostNumber{do: f.Do}
	switch f.Do {
	case saved.DoConstant:
		x.value = saved.Constant(f.Value)
	case saved.DoVariable:
		x.variable = h.variables[f.Variable]
	}
	for i, y := range f.Of {
		x.of[i] = h.number(y)
	}
	return x
}
