package onnx

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// exports has, by the names of weft's operations, how each is written: it returns the name of the result,
// "" where ONNX has no form for these types or parameters.
var exports map[string]func(x *exportNode) string

func init() {
	exports = map[string]func(x *exportNode) string{
		"add": exportTruth("Or", "Add"), "sub": exportAs("Sub"), "mul": exportTruth("And", "Mul"), "div": exportAs("Div"), "term": exportAs("Mul"),
		"minimum": exportTruth("And", "Min"), "maximum": exportTruth("Or", "Max"), "pow": exportAs("Pow"), "mod": exportMod, "floordiv": exportFloorDiv,
		"clamp": exportClamp, "powint": exportPower, "square": exportSquare,
		"neg": exportAs("Neg"), "abs": exportAs("Abs"), "sign": exportAs("Sign"), "sqrt": exportAs("Sqrt"), "reciprocal": exportAs("Reciprocal"),
		"floor": exportRounded("Floor"), "ceil": exportRounded("Ceil"), "round": exportRounded("Round"), "trunc": exportTrunc,
		"exp": exportAs("Exp"), "log": exportAs("Log"), "sin": exportAs("Sin"), "cos": exportAs("Cos"), "tan": exportAs("Tan"),
		"asin": exportAs("Asin"), "acos": exportAs("Acos"), "atan": exportAs("Atan"), "sinh": exportAs("Sinh"), "cosh": exportAs("Cosh"),
		"tanh": exportAs("Tanh"), "asinh": exportAs("Asinh"), "acosh": exportAs("Acosh"), "atanh": exportAs("Atanh"), "erf": exportAs("Erf"),
		"sigmoid": exportAs("Sigmoid"), "softplus": exportAs("Softplus"), "gelu": exportAs("Gelu"), "relu": exportAs("Relu"), "silu": exportSilu,
		"exp2": exportExp2, "log2": exportLogarithm(1 / math.Ln2), "log10": exportLogarithm(1 / math.Ln10), "log1p": exportLog1p, "expm1": exportExpm1,

		"eq": exportComparison("Equal"), "ne": exportNe, "lt": exportComparison("Less"), "le": exportComparison("LessOrEqual"),
		"gt": exportComparison("Greater"), "ge": exportComparison("GreaterOrEqual"),
		"logical_and": exportLogic("And"), "logical_or": exportLogic("Or"), "logical_xor": exportLogic("Xor"), "logical_not": exportLogic("Not"),
		"isnan": exportOfFloat("IsNaN"), "isinf": exportOfFloat("IsInf"), "isfinite": exportIsFinite,
		"bit_and": exportTruth("And", "BitwiseAnd"), "bit_or": exportTruth("Or", "BitwiseOr"), "bit_xor": exportTruth("Xor", "BitwiseXor"), "bit_not": exportTruth("Not", "BitwiseNot"),
		"select": exportSelect, "cast": exportCast, "iota": exportIota,
		"stop": exportSame, "own": exportSame, "copy": exportSame, "again": exportSame,
		"host": exportCheck, "result": exportResult,

		"reshape": exportReshape, "permute": exportPermute, "expand": exportExpand, "slice": exportSlice, "cat": exportCat, "place": exportPlace,
		"index_select": exportIndexSelect, "gather": exportGather,
		"reduce_sum": exportReduction("ReduceSum"), "reduce_prod": exportReduction("ReduceProd"), "reduce_min": exportReduction("ReduceMin"), "reduce_max": exportReduction("ReduceMax"),
		"reduce_all": exportTruths("ReduceMin"), "reduce_any": exportTruths("ReduceMax"), "reduce_argmin": exportArg("ArgMin"), "reduce_argmax": exportArg("ArgMax"),
		"scan_sum": exportScanSum,
		"matmul2":  exportAs("MatMul"), "conv2d_core": exportConv, "conv2d_input": exportConvTranspose,
		"max_pool2d": exportMaxPool, "window_mean": exportMeanPool, "attention": exportAttention,
		"conv2d_weight": exportConvWeight, "max_pool2d_place": exportMaxPoolPlace, "max_pool2d_pick": exportMaxPoolPick, "window_spread": exportSpread, "interleave": exportInterleave,

		"loop": exportLoop, "branch": exportBranch,
		"sort": exportSort, "topk": exportTopK, "kthvalue": exportKthValue, "partition": exportPartition, "argpartition": exportArgPartition, "searchsorted": exportSearchSorted,
		"scatter": exportScatter, "scatter_min": exportScatterExtreme("min"), "scatter_max": exportScatterExtreme("max"), "scatter_prod": exportScatterProd, "scatter_sum": exportScatterSum,
		"index_copy": exportIndexCopy, "index_add": exportIndexAdd, "ravel_index": exportRavel, "strided": exportStrided, "put": exportPut,
		"mask_select": exportMaskSelect, "mask_place": exportMaskPlace, "count_true": exportCountTrue, "nonzero": exportNonZero,
	}
}

// exportAs is an operator whose arguments have the type of the result.
func exportAs(operator string) func(x *exportNode) string {
	return func(x *exportNode) string { return x.put(operator, x.all(x.node.DType)) }
}

// exportTruth is exportAs with another operator for truth values.
func exportTruth(ofBool, operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		if x.node.DType == array.Bool {
			return x.put(ofBool, x.all(array.Bool))
		}
		return x.put(operator, x.all(x.node.DType))
	}
}

// exportComparison is an operator with a truth value of arguments of one type.
func exportComparison(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		d := x.meet()
		if d == array.Bool && operator != "Equal" {
			d = array.Int32
		}
		return x.put(operator, x.all(d))
	}
}

func exportNe(x *exportNode) string { return x.put("Not", []string{x.put("Equal", x.all(x.meet()))}) }

// exportLogic is an operator on truth values.
func exportLogic(operator string) func(x *exportNode) string {
	return func(x *exportNode) string { return x.put(operator, x.all(array.Bool)) }
}

// exportOfFloat is an operator on floats whose result is a truth value.
func exportOfFloat(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		if !x.args[0].node.DType.Float() {
			return ""
		}
		return x.put(operator, []string{x.arg(0)})
	}
}

func exportIsFinite(x *exportNode) string {
	if !x.args[0].node.DType.Float() {
		return ""
	}
	v := x.arg(0)
	return x.put("Not", []string{x.put("Or", []string{x.put("IsNaN", []string{v}), x.put("IsInf", []string{v})})})
}

// exportRounded is an operator on floats; integers stay.
func exportRounded(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		if !x.node.DType.Float() {
			return x.as(x.args[0], x.node.DType)
		}
		return x.put(operator, x.all(x.node.DType))
	}
}

func exportTrunc(x *exportNode) string {
	v := x.as(x.args[0], x.node.DType)
	if !x.node.DType.Float() {
		return v
	}
	return x.put("Mul", []string{x.put("Sign", []string{v}), x.put("Floor", []string{x.put("Abs", []string{v})})})
}

// exportMod writes the remainder with the sign of the divisor. Mod of floats has that of the dividend.
func exportMod(x *exportNode) string {
	if !x.node.DType.Integer() {
		return ""
	}
	return x.put("Mod", x.all(x.node.DType))
}

// exportFloorDiv takes the remainder away first: Div of integers rounds toward zero.
func exportFloorDiv(x *exportNode) string {
	if !x.node.DType.Integer() {
		return ""
	}
	a := x.all(x.node.DType)
	return x.put("Div", []string{x.put("Sub", []string{a[0], x.put("Mod", a)}), a[1]})
}

func exportClamp(x *exportNode) string {
	a := x.all(x.node.DType)
	return x.put("Min", []string{x.put("Max", a[:2]), a[2]})
}

func exportPower(x *exportNode) string {
	d := x.node.DType
	return x.put("Pow", []string{x.as(x.args[0], d), x.number(d, float64(x.attrs.(op.Power)))})
}

func exportSquare(x *exportNode) string {
	v := x.as(x.args[0], x.node.DType)
	return x.put("Mul", []string{v, v})
}

func exportSilu(x *exportNode) string {
	v := x.as(x.args[0], x.node.DType)
	return x.put("Mul", []string{v, x.put("Sigmoid", []string{v})})
}

func exportExp2(x *exportNode) string {
	d := x.node.DType
	return x.put("Pow", []string{x.number(d, 2), x.as(x.args[0], d)})
}

// exportLogarithm is a multiple of the natural logarithm.
func exportLogarithm(scale float64) func(x *exportNode) string {
	return func(x *exportNode) string {
		return x.put("Mul", []string{x.put("Log", x.all(x.node.DType)), x.number(x.node.DType, scale)})
	}
}

// exportLog1p uses log(1+x) = 2 atanh(x/(2+x)) near 0, where 1+x would lose digits.
func exportLog1p(x *exportNode) string {
	d := x.node.DType
	v := x.as(x.args[0], d)
	ratio := x.put("Div", []string{v, x.put("Add", []string{v, x.number(d, 2)})})
	near := x.put("Mul", []string{x.put("Atanh", []string{ratio}), x.number(d, 2)})
	far := x.put("Log", []string{x.put("Add", []string{v, x.number(d, 1)})})
	return x.nearZero(v, near, far)
}

// exportExpm1 uses exp(x)-1 = 2 t/(1-t) with t = tanh(x/2) near 0, where exp(x) would lose digits.
func exportExpm1(x *exportNode) string {
	d := x.node.DType
	v := x.as(x.args[0], d)
	t := x.put("Tanh", []string{x.put("Mul", []string{v, x.number(d, 0.5)})})
	near := x.put("Div", []string{x.put("Add", []string{t, t}), x.put("Sub", []string{x.number(d, 1), t})})
	far := x.put("Sub", []string{x.put("Exp", []string{v}), x.number(d, 1)})
	return x.nearZero(v, near, far)
}

// nearZero selects near where |v| < 1/2, else far.
func (x *exportNode) nearZero(v, near, far string) string {
	return x.put("Where", []string{x.put("Less", []string{x.put("Abs", []string{v}), x.number(x.node.DType, 0.5)}), near, far})
}

func exportSelect(x *exportNode) string {
	return x.put("Where", []string{x.as(x.args[0], array.Bool), x.as(x.args[1], x.node.DType), x.as(x.args[2], x.node.DType)})
}

func exportCast(x *exportNode) string {
	if x.node.DType.Complex() || x.args[0].node.DType.Complex() {
		return ""
	}
	return x.as(x.args[0], x.node.DType)
}

func exportSame(x *exportNode) string { return x.as(x.args[0], x.node.DType) }

// exportCheck leaves a check of the range of indices out: a runtime has its own.
func exportCheck(x *exportNode) string {
	if _, ok := x.attrs.(op.RangeFunc); !ok {
		return ""
	}
	return x.arg(0)
}

// exportResult is the result of an operation that has one here.
func exportResult(x *exportNode) string {
	if outs := x.args[0].outs; outs != nil {
		return outs[x.attrs.(ir.Arg)]
	}
	if x.attrs.(ir.Arg) != 0 {
		return ""
	}
	return x.args[0].name
}

// exportIota writes the index along an axis in the shape of the argument.
func exportIota(x *exportNode) string {
	axis, v := int(x.attrs.(op.Axis)), x.arg(0)
	shape := make([]int, x.node.Rank())
	for i := range shape {
		shape[i] = 1
	}
	if len(shape) == 0 {
		return ""
	}
	shape[axis] = -1
	n := x.put("Squeeze", []string{x.sizeOf(v, axis)})
	count := x.put("Range", []string{x.number(array.Int64, 0), n, x.number(array.Int64, 1)})
	return x.put("Expand", []string{x.put("Reshape", []string{count, x.numbers(shape...)}), x.put("Shape", []string{v})})
}

func exportReshape(x *exportNode) string {
	return x.put("Reshape", []string{x.arg(0), x.ints(x.attrs.(op.Shape)...)}, withInt("allowzero", 1))
}

func exportPermute(x *exportNode) string {
	return x.put("Transpose", []string{x.arg(0)}, withInts("perm", x.attrs.(op.Order)...))
}

func exportExpand(x *exportNode) string {
	return x.put("Expand", []string{x.arg(0), x.ints(x.attrs.(op.Shape)...)})
}

// exportSlice writes windows of the axes that are not all of theirs.
func exportSlice(x *exportNode) string {
	w := x.attrs.(op.Window)
	var axes, starts, steps []int
	var ends []string
	for i, n := range x.args[0].node.Shape {
		start, step, count := w.Start[i], w.Step[i], w.Count[i]
		if x.free(step) {
			return ""
		}
		if start == 0 && step == 1 && count == n {
			continue
		}
		var end string
		if x.free(start, count) {
			end = x.put("Add", []string{x.ints(start), x.put("Mul", []string{x.ints(count), x.numbers(step)})})
			if step < 0 { // before the first element is far below 0, not -1
				far := x.put("Mul", []string{x.put("Min", []string{end, x.numbers(0)}), x.numbers(1 << 40)})
				end = x.put("Add", []string{end, far})
			}
		} else if to := start + count*step; to < 0 {
			end = x.numbers(math.MinInt32)
		} else {
			end = x.numbers(to)
		}
		axes, starts, steps, ends = append(axes, i), append(starts, start), append(steps, step), append(ends, end)
	}
	if len(axes) == 0 {
		return x.arg(0)
	}
	end := ends[0]
	if len(ends) > 1 {
		end = x.put("Concat", ends, withInt("axis", 0))
	}
	return x.put("Slice", []string{x.arg(0), x.ints(starts...), end, x.numbers(axes...), x.numbers(steps...)})
}

func exportCat(x *exportNode) string {
	return x.put("Concat", x.all(x.node.DType), withInt("axis", int(x.attrs.(op.Axis))))
}

// exportPlace writes an array in a window of a filled one as padding.
func exportPlace(x *exportNode) string {
	a := x.attrs.(op.Placement)
	w, ok := a.View.(op.Window)
	if !ok {
		return ""
	}
	if x.node.Rank() == 0 || x.free(w.Step...) {
		return ""
	}
	d := x.node.DType
	v := x.arg(0)
	if d == array.Bool {
		v, d = x.cast(v, array.Int32), array.Int32
	}
	v, start, count := x.stretched(v, d, a.Fill, w)
	behind := x.put("Sub", []string{x.put("Sub", []string{x.ints(a.Shape...), count}), start})
	pads := x.put("Concat", []string{start, behind}, withInt("axis", 0))
	y := x.put("Pad", []string{v, pads, x.number(d, a.Fill)})
	if d != x.node.DType {
		y = x.cast(y, x.node.DType)
	}
	return y
}

// indices returns the name of indices, which have 32 or 64 bits.
func (x *exportNode) indices(i int) string {
	if d := x.args[i].node.DType; d != array.Int32 && d != array.Int64 {
		return x.as(x.args[i], array.Int64)
	}
	return x.arg(i)
}

func exportIndexSelect(x *exportNode) string {
	return x.put("Gather", []string{x.arg(0), x.indices(1)}, withInt("axis", int(x.attrs.(op.Axis))))
}

// exportGather needs indices that are shorter than the argument along no axis but one, as the operation does.
func exportGather(x *exportNode) string {
	return x.put("GatherElements", []string{x.arg(0), x.indices(1)}, withInt("axis", int(x.attrs.(op.Axis))))
}

func (x *exportNode) groupAxes() string {
	g := x.attrs.(op.Group)
	var axes []int
	for i := g.Lo; i < g.Hi; i++ {
		axes = append(axes, i)
	}
	return x.numbers(axes...)
}

func exportReduction(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		return x.put(operator, []string{x.arg(0), x.groupAxes()}, withInt("keepdims", 1))
	}
}

// exportTruths is a reduction of truth values, as numbers.
func exportTruths(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		y := x.put(operator, []string{x.cast(x.arg(0), array.Int32), x.groupAxes()}, withInt("keepdims", 1))
		return x.cast(y, array.Bool)
	}
}

func exportArg(operator string) func(x *exportNode) string {
	return func(x *exportNode) string {
		v := x.arg(0)
		if x.args[0].node.DType == array.Bool {
			v = x.cast(v, array.Int32)
		}
		return x.put(operator, []string{v}, withInt("axis", int(x.attrs.(op.Axis))), withInt("keepdims", 1))
	}
}

func exportScanSum(x *exportNode) string {
	a := x.attrs.(op.Scan)
	reverse := 0
	if a.Reverse {
		reverse = 1
	}
	return x.put("CumSum", []string{x.as(x.args[0], x.node.DType), x.number(array.Int64, float64(a.Axis))}, withInt("reverse", reverse))
}

// convAttributes returns the attributes of Conv and ConvTranspose.
func convAttributes(c op.Conv) []*attributeProto {
	p := c.Pad
	return []*attributeProto{withInts("strides", c.Stride[:]...), withInts("pads", p[0], p[1], p[0], p[1]),
		withInts("dilations", c.Dilation[:]...), withInt("group", c.Groups)}
}

func exportConv(x *exportNode) string {
	return x.put("Conv", x.all(x.node.DType), convAttributes(x.attrs.(op.Conv))...)
}

// pooled writes an operator on the last two axes of pictures.
func (x *exportNode) pooled(operator string, p op.Pool, more ...*attributeProto) string {
	v, rank := x.arg(0), x.node.Rank()
	if rank != 3 && rank != 4 {
		return ""
	}
	if rank == 3 {
		v = x.put("Unsqueeze", []string{v, x.numbers(0)})
	}
	v = x.put(operator, []string{v}, append(more, withInts("kernel_shape", p.Window[:]...), withInts("strides", p.Stride[:]...),
		withInts("pads", p.Pad[0], p.Pad[1], p.Pad[0], p.Pad[1]))...)
	if rank == 3 {
		v = x.put("Squeeze", []string{v, x.numbers(0)})
	}
	return v
}

func exportMaxPool(x *exportNode) string { return x.pooled("MaxPool", x.attrs.(op.Pool)) }

func exportMeanPool(x *exportNode) string {
	p := x.attrs.(op.Pool)
	y := x.pooled("AveragePool", p, withInt("count_include_pad", 1))
	if y == "" || !p.Sum {
		return y
	}
	return x.put("Mul", []string{y, x.number(x.node.DType, float64(p.Window[0]*p.Window[1]))})
}

func exportAttention(x *exportNode) string {
	if x.attrs.(op.Attending).Drop > 0 {
		return ""
	}
	return x.formula(func(args []*ir.Node) *ir.Node { return op.Attention.Formula(args, x.attrs)[0] })
}
