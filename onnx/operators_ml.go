package onnx

import (
	"math"
	"slices"
	"strconv"

	"weft"
)

// What scikit-learn's pipelines become: encoders, scalers and linear models. Trees and support vectors have
// files of their own.
var mlOperators = []operator{
	{name: "ArrayFeatureExtractor", run: arrayFeatureExtractor},
	{name: "Binarizer", run: binarizer},
	{name: "CastMap", run: castMap, eager: true},
	{name: "CategoryMapper", run: categoryMapper, eager: true},
	{name: "DictVectorizer", run: dictVectorizer, eager: true},
	{name: "FeatureVectorizer", run: featureVectorizer},
	{name: "Imputer", run: imputer},
	{name: "LabelEncoder", run: labelEncoder, eager: true},
	{name: "LinearClassifier", run: linearClassifier},
	{name: "LinearRegressor", run: linearRegressor},
	{name: "Normalizer", run: normalizer},
	{name: "OneHotEncoder", run: oneHotEncoder},
	{name: "Scaler", run: scaler},
	{name: "ZipMap", run: zipMap, eager: true},
}

func arrayFeatureExtractor(c *call) []Value {
	index := c.tensor(1)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if x.Rank() == 1 {
			x = x.Unsqueeze(0)
		}
		return x.IndexSelect(x.Rank()-1, index.Reshape(index.Size()))
	})}
}

func binarizer(c *call) []Value {
	x := c.tensor(0)
	return tensors(x.Gt(c.attrFloat("threshold", 0)).To(x.DType()))
}

func featureVectorizer(c *call) []Value {
	sizes := c.attrInts("inputdimensions")
	ts := c.all()
	for i, x := range ts {
		if x.Rank() == 1 {
			x = x.Unsqueeze(0)
		}
		if ts[i] = x.To(weft.Float32); x.Rank() != 2 || i < len(sizes) && x.Dim(1) != sizes[i] {
			c.fail("input %d has the shape %v: want rows of the sizes %v", i, x.Shape(), sizes)
		}
	}
	return tensors(weft.Cat(ts, 1))
}

func imputer(c *call) []Value {
	x := c.tensor(0)
	floats, ints := c.attrFloats("imputed_value_floats"), c.attrInts("imputed_value_int64s")
	old, oldInt := c.attrFloat("replaced_value_float", 0), c.attrInt("replaced_value_int64", 0)
	if x.DType().Float() {
		hit := x.IsNaN()
		if !math.IsNaN(old) {
			hit = x.Eq(old)
		}
		return tensors(weft.Where(hit, c.perFeature("imputed_value_floats", floats, x).To(x.DType()), x))
	}
	list := make([]int64, len(ints))
	for i, n := range ints {
		list[i] = int64(n)
	}
	if len(list) != 1 && (x.Rank() == 0 || len(list) != x.Dim(-1)) {
		c.fail("attribute %q has %d numbers for an input of shape %v", "imputed_value_int64s", len(list), x.Shape())
	}
	return tensors(weft.Where(x.Eq(oldInt), weft.FromSlice(list).To(x.DType()), x))
}

// perFeature are the numbers of an attribute, one or one for each feature of x.
func (c *call) perFeature(name string, list []float32, x *weft.Tensor) *weft.Tensor {
	if len(list) != 1 && (x.Rank() == 0 || len(list) != x.Dim(x.Rank()-1)) {
		c.fail("attribute %q has %d numbers for an input of shape %v", name, len(list), x.Shape())
	}
	return weft.FromSlice(list)
}

func scaler(c *call) []Value {
	x := c.tensor(0).To(weft.Float32)
	if list := c.attrFloats("offset"); list != nil {
		x = x.Sub(c.perFeature("offset", list, x))
	}
	if list := c.attrFloats("scale"); list != nil {
		x = x.Mul(c.perFeature("scale", list, x))
	}
	return tensors(x)
}

// normalizer divides rows by a norm that is not 0.
func normalizer(c *call) []Value {
	x, norm := c.tensor(0).To(weft.Float32), c.attrString("norm", "MAX")
	if x.Rank() == 0 {
		c.fail("the input has no axes")
	}
	axis := x.Rank() - 1
	var n *weft.Tensor
	switch norm {
	case "MAX":
		n = x.MaxKeep(axis)
	case "L1":
		n = x.Abs().SumKeep(axis)
	case "L2":
		n = x.Square().SumKeep(axis).Sqrt()
	default:
		c.fail("attribute %q is %q: want MAX, L1 or L2", "norm", norm)
	}
	return tensors(x.Div(weft.Where(n.Eq(0), 1, n)))
}

func oneHotEncoder(c *call) []Value {
	texts, ints, zeros := c.attrStrings("cats_strings"), c.attrInts("cats_int64s"), c.attrBool("zeros", true)
	v := c.value(0)
	if v.kind == StringsKind {
		list := c.strings(0)
		out := make([]float32, len(list)*len(texts))
		for i, s := range list {
			if j := slices.Index(texts, s); j >= 0 {
				out[i*len(texts)+j] = 1
			} else if !zeros {
				c.fail("element %d is %q, not one of the categories", i, s)
			}
		}
		return tensors(weft.FromSlice(out, append(slices.Clone(v.shape), len(texts))...))
	}
	if !zeros {
		for _, x := range c.floats(0) {
			if !slices.Contains(ints, int(x)) {
				c.fail("an element is %v, not one of the categories", x)
			}
		}
	}
	cats := make([]int64, len(ints))
	for i, n := range ints {
		cats[i] = int64(n)
	}
	x := c.tensor(0).To(weft.Int64)
	return tensors(x.Unsqueeze(x.Rank()).Eq(weft.FromSlice(cats, len(cats))).To(weft.Float32))
}

// transformed are scores after the transform that an attribute names.
func (c *call) transformed(x *weft.Tensor, name string) *weft.Tensor {
	switch name {
	case "NONE":
		return x
	case "SOFTMAX":
		return x.Softmax(-1)
	case "LOGISTIC":
		return x.Sigmoid()
	case "SOFTMAX_ZERO": // of the scores that are not 0, which stay 0
		zero := x.Abs().Lt(1e-7)
		y := weft.Where(zero, 0, x.Sub(x.MaxKeep(-1)).Exp())
		sum := y.SumKeep(-1)
		return y.Div(weft.Where(sum.Eq(0), 1, sum))
	case "PROBIT":
		return x.Mul(2).Sub(1).Erfinv().Mul(math.Sqrt2)
	}
	c.fail("attribute %q is %q: want NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", "post_transform", name)
	return nil
}

// linear is the product of rows with coefficients, with intercepts added.
func (c *call) linear(x *weft.Tensor, coefficients, intercepts []float32) *weft.Tensor {
	if x.Rank() == 1 {
		x = x.Unsqueeze(0)
	}
	x = x.To(weft.Float32)
	features := max(x.Dim(x.Rank()-1), 1)
	if x.Rank() != 2 || len(coefficients)%features != 0 || len(coefficients) == 0 {
		c.fail("there are %d coefficients for an input of shape %v", len(coefficients), x.Shape())
	}
	n := len(coefficients) / features
	y := x.MatMul(weft.FromSlice(coefficients, n, features).Transpose(0, 1))
	if intercepts == nil {
		return y
	}
	if len(intercepts) != n {
		c.fail("there are %d intercepts for %d results", len(intercepts), n)
	}
	return y.Add(weft.FromSlice(intercepts))
}

func linearRegressor(c *call) []Value {
	coefficients, intercepts := c.attrFloats("coefficients"), c.attrFloats("intercepts")
	c.attrInt("targets", 1)
	return tensors(c.transformed(c.linear(c.tensor(0), coefficients, intercepts), c.attrString("post_transform", "NONE")))
}

// labels are the classes of a classifier.
type labels struct {
	ints  []int
	texts []string
}

func (c *call) labels(ints, texts string) labels {
	l := labels{c.attrInts(ints), c.attrStrings(texts)}
	if (len(l.ints) == 0) == (len(l.texts) == 0) {
		c.fail("want one of the attributes %q and %q", ints, texts)
	}
	return l
}

func (l labels) count() int { return max(len(l.ints), len(l.texts)) }

// of are the labels with the numbers of index.
func (l labels) of(c *call, index *weft.Tensor) Value {
	if l.texts != nil {
		if c.x.tracing {
			panic(failure{errHost})
		}
		return textsAt(l.texts, index)
	}
	return TensorOf(fromInts(l.ints).tensor.IndexSelect(0, index))
}

func linearClassifier(c *call) []Value {
	coefficients, intercepts := c.attrFloats("coefficients"), c.attrFloats("intercepts")
	c.attrInt("multi_class", 0)
	post := c.attrString("post_transform", "NONE")
	l := c.labels("classlabels_ints", "classlabels_strings")
	scores := c.linear(c.tensor(0), coefficients, intercepts)
	if n := scores.Dim(1); n == 1 && l.count() == 2 {
		// One score for two classes.
		p := c.transformed(scores, post)
		half := 0.0
		if post == "LOGISTIC" {
			half = 0.5
		}
		return []Value{l.of(c, p.Gt(half).To(weft.Int64).Reshape(p.Dim(0))), TensorOf(weft.Cat([]*weft.Tensor{p.RSub(1), p}, 1))}
	} else if n != l.count() {
		c.fail("there are %d scores and %d classes", n, l.count())
	}
	return []Value{l.of(c, scores.ArgMax(1)), TensorOf(c.transformed(scores, post))}
}

// ---- maps and labels

// A key is an element of a map or a table: a string, an integer or a float.
type key struct {
	text string
	n    int64
	f    float64
}

// keysOf are the elements of a vector of strings or numbers.
func (c *call) keysOf(v Value) []key {
	d := call{node: c.node, x: c.x, in: []Value{v}}
	var out []key
	switch {
	case v.kind == StringsKind:
		for _, s := range v.strings {
			out = append(out, key{text: s})
		}
	case v.kind == TensorKind && v.tensor.DType().Float():
		for _, f := range d.floats(0) {
			if math.IsNaN(f) {
				out = append(out, key{text: "NaN"})
			} else {
				out = append(out, key{f: f + 0})
			}
		}
	case v.kind == TensorKind:
		for _, n := range d.ints(0) {
			out = append(out, key{n: int64(n)})
		}
	default:
		c.fail("a %v has no keys", v.kind)
	}
	return out
}

// table is a vector that one of four attributes gives, no value if none does.
func (c *call) table(name string) (v Value) {
	if list := c.attrStrings(name + "_strings"); list != nil {
		v = StringsOf(list)
	}
	if list := c.attrInts(name + "_int64s"); list != nil {
		v = fromInts(list)
	}
	if list := c.attrFloats(name + "_floats"); list != nil {
		v = TensorOf(weft.FromSlice(list))
	}
	if x := c.attrValue(name + "_tensor"); x.kind != NoValue {
		v = x
	}
	return v
}

// mapped are values in the place of the keys of input 0, or the default, which is the last of values.
func (c *call) mapped(keys, values Value, def Value) Value {
	list := c.keysOf(keys)
	if n := len(c.keysOf(values)); n != len(list) {
		c.fail("there are %d keys and %d values", len(list), n)
	}
	number := map[key]int64{}
	for i, k := range list {
		number[k] = int64(i)
	}
	in := c.keysOf(c.value(0))
	index := make([]int64, len(in))
	for i, k := range in {
		n, ok := number[k]
		if !ok {
			n = int64(len(list))
		}
		index[i] = n
	}
	at := weft.FromSlice(index, c.value(0).Shape()...)
	if values.kind == StringsKind {
		return textsAt(slices.Concat(values.strings, def.strings), at)
	}
	all := weft.Cat([]*weft.Tensor{values.tensor, def.tensor.Reshape(1).To(values.tensor.DType())}, 0)
	return like(values, all.IndexSelect(0, at.Reshape(at.Size())).Reshape(at.Shape()...))
}

func labelEncoder(c *call) []Value {
	text, n, f := c.attrString("default_string", "_Unused"), c.attrInt("default_int64", -1), c.attrFloat("default_float", float32(math.Copysign(0, -1)))
	keys, values, def := c.table("keys"), c.table("values"), c.attrValue("default_tensor")
	if classes := c.attrStrings("classes_strings"); classes != nil { // of operator set 1, in both directions
		numbers := make([]int, len(classes))
		for i := range numbers {
			numbers[i] = i
		}
		if keys, values = StringsOf(classes), fromInts(numbers); c.value(0).kind != StringsKind {
			keys, values = values, keys
		}
	}
	switch {
	case keys.kind == NoValue || values.kind == NoValue:
		c.fail("there are no keys or no values")
	case def.kind != NoValue:
	case values.kind == StringsKind:
		def = StringsOf([]string{text})
	case values.tensor.DType().Float():
		def = TensorOf(weft.Scalar(f))
	default:
		def = fromInt(n)
	}
	return []Value{c.mapped(keys, values, def)}
}

func categoryMapper(c *call) []Value {
	text, n := c.attrString("default_string", "_Unused"), c.attrInt("default_int64", -1)
	texts, ints := StringsOf(c.attrStrings("cats_strings")), fromInts(c.attrInts("cats_int64s"))
	if c.value(0).kind == StringsKind {
		return []Value{c.mapped(texts, ints, fromInt(n))}
	}
	return []Value{c.mapped(ints, texts, StringsOf([]string{text}))}
}

// entries are the keys and the values of input 0, a map.
func (c *call) entries() ([]key, Value) {
	v := c.value(0)
	if v.kind != MapKind {
		c.fail("input 0 is a %v: want a map", v.kind)
	}
	return c.keysOf(v.items[0]), v.items[1]
}

func dictVectorizer(c *call) []Value {
	words, ints := c.attrStrings("string_vocabulary"), c.attrInts("int64_vocabulary")
	vocabulary := StringsOf(words)
	if ints != nil {
		vocabulary = fromInts(ints)
	}
	number := map[key]int{}
	for i, k := range c.keysOf(vocabulary) {
		number[k] = i
	}
	keys, values := c.entries()
	if values.kind == StringsKind {
		out := make([]string, max(len(words), len(ints)))
		for i, k := range keys {
			if j, ok := number[k]; ok {
				out[j] = values.strings[i]
			}
		}
		return []Value{StringsOf(out, 1, len(out))}
	}
	if values.kind != TensorKind {
		c.fail("the values are a %v: want numbers or strings", values.kind)
	}
	var from, to []int64
	for i, k := range keys {
		if j, ok := number[k]; ok {
			from, to = append(from, int64(i)), append(to, int64(j))
		}
	}
	y := weft.ZerosOf(values.tensor.DType(), max(len(words), len(ints)))
	if len(from) > 0 {
		y = y.Scatter(0, weft.FromSlice(to), values.tensor.Flatten(0).IndexSelect(0, weft.FromSlice(from)))
	}
	return tensors(y.Unsqueeze(0))
}

func castMap(c *call) []Value {
	form, to, most := c.attrString("map_form", "DENSE"), c.attrString("cast_to", "TO_FLOAT"), c.attrInt("max_map", 1)
	keys, values := c.entries()
	d := call{node: c.node, x: c.x, in: []Value{values}}
	texts := values.strings
	if values.kind != StringsKind {
		texts = d.texts(0).strings
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(keys[a].n - keys[b].n) })
	sparse := form == "SPARSE"
	out := make([]string, 0, len(keys))
	if sparse {
		c.size([]int{most}, weft.Int64)
		out = slices.Repeat([]string{map[bool]string{true: "", false: "0"}[to == "TO_STRING"]}, most)
	}
	for _, i := range order {
		switch n := keys[i].n; {
		case !sparse:
			out = append(out, texts[i])
		case n < 0 || n >= int64(most):
			c.fail("the key %d is out of range of %d", n, most)
		default:
			out[n] = texts[i]
		}
	}
	if to == "TO_STRING" {
		return []Value{StringsOf(out, 1, len(out))}
	}
	x := make([]float64, len(out))
	for i, s := range out {
		var err error
		if x[i], err = strconv.ParseFloat(s, 64); err != nil {
			c.fail("the value %q is not a number", s)
		}
	}
	switch to {
	case "TO_FLOAT":
		return tensors(weft.FromSlice(x, 1, len(x)).To(weft.Float32))
	case "TO_INT64":
		return tensors(weft.FromSlice(x, 1, len(x)).To(weft.Int64))
	}
	c.fail("attribute %q is %q: want TO_FLOAT, TO_STRING or TO_INT64", "cast_to", to)
	return nil
}

// zipMap makes a map of each row.
func zipMap(c *call) []Value {
	l := c.labels("classlabels_int64s", "classlabels_strings")
	x := c.tensor(0)
	if x.Rank() == 1 {
		x = x.Unsqueeze(0)
	}
	if x.Rank() != 2 || x.Dim(1) != l.count() {
		c.fail("the input has the shape %v: want %d columns", x.Shape(), l.count())
	}
	keys := StringsOf(l.texts)
	if l.ints != nil {
		keys = fromInts(l.ints)
	}
	out := make([]Value, x.Dim(0))
	for i, row := range x.Unbind(0) {
		out[i] = MapOf(keys, TensorOf(row))
	}
	return []Value{SequenceOf(out...)}
}
