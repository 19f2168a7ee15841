package saved

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Attributes of nodes as flat lists of tokens: fields in order, lists behind their lengths.

// A token is one field of an attribute.
type token struct {
	kind  tokenKind
	int   int64
	float float64
	text  string
	fn    *function // nil: the attribute has no function there
	expr  *Expr     // of kinds sized and sizedFloat
}

type tokenKind uint8

const (
	tokenInt tokenKind = iota
	tokenLen           // of a list; the same for all lengths
	tokenFloat
	tokenText
	tokenFunction
	tokenSized      // an integer that depends on lengths
	tokenSizedFloat // a float that is such an integer
)

// A function is the graph of a loop's body or of a side of a branch.
type function struct {
	Args []argType `json:"args"`
	Body *graph    `json:"body"`
}

// An argType is the element type and the shape of an argument.
type argType struct {
	DType string  `json:"dtype"`
	Shape []token `json:"shape"` // integers, or such that depend on lengths
}

// MarshalJSON writes integers as numbers, texts as strings, and others as objects or lists of one key.
func (t token) MarshalJSON() ([]byte, error) {
	switch t.kind {
	case tokenInt:
		return strconv.AppendInt(nil, t.int, 10), nil
	case tokenText:
		return json.Marshal(t.text)
	case tokenLen:
		return json.Marshal([]int64{t.int})
	case tokenFloat:
		return json.Marshal(wire{Float: floatText(t.float)})
	case tokenFunction:
		return json.Marshal(wire{Function: t.fn, None: t.fn == nil})
	case tokenSized:
		return json.Marshal(wire{Size: t.expr})
	}
	return json.Marshal(wire{Float: "size", Size: t.expr})
}

// wire is the form of a token that JSON has no number, string or list for.
type wire struct {
	Float    string    `json:"float,omitempty"`
	Function *function `json:"function,omitempty"`
	None     bool      `json:"none,omitempty"`
	Size     *Expr     `json:"size,omitempty"`
}

// floatText is the shortest decimal of a float, or the bits of a NaN.
func floatText(f float64) string {
	if f != f {
		return fmt.Sprintf("bits %016x", math.Float64bits(f))
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func parseFloat(s string) (float64, error) {
	var bits uint64
	if n, err := fmt.Sscanf(s, "bits %x", &bits); n == 1 && err == nil {
		return math.Float64frombits(bits), nil
	}
	return strconv.ParseFloat(s, 64)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *token) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		t.kind = tokenText
		return json.Unmarshal(b, &t.text)
	case '[':
		var n [1]int64
		t.kind = tokenLen
		if err := json.Unmarshal(b, &n); err != nil {
			return err
		}
		t.int = n[0]
		return nil
	case '{':
		var w wire
		if err := strict(b, &w); err != nil {
			return err
		}
		switch {
		case w.Size != nil && w.Float != "":
			t.kind, t.expr = tokenSizedFloat, w.Size
		case w.Size != nil:
			t.kind, t.expr = tokenSized, w.Size
		case w.Float != "":
			f, err := parseFloat(w.Float)
			t.kind, t.float = tokenFloat, f
			return err
		case w.Function != nil, w.None:
			t.kind, t.fn = tokenFunction, w.Function
		default:
			return fmt.Errorf("an attribute is %.40s", b)
		}
		return nil
	}
	t.kind = tokenInt
	return json.Unmarshal(b, &t.int)
}

// A kind is a type of attributes.
type attrKind struct {
	name   string
	typ    reflect.Type
	parts  reflect.Type // what is saved
	encode func(e *encoder, a ir.Attrs)
	decode func(d *decoder) ir.Attrs
}

var (
	kindsByName = map[string]*attrKind{}
	kindsByType = map[reflect.Type]*attrKind{}
)

func register(k attrKind) {
	if kindsByName[k.name] != nil || kindsByType[k.typ] != nil {
		panic("saved: attributes " + k.name + " are registered twice")
	}
	kindsByName[k.name], kindsByType[k.typ] = &k, &k
}

// Register lets attributes of type T be saved under a name that no other type has: all fields, which
// are exported, in their order. A later version of T has the same fields first. Fields behind them
// are zero when a file of this version is read, so zero must mean what held before they were there.
func Register[T ir.Attrs](name string) {
	t := reflect.TypeFor[T]()
	register(attrKind{name, t, t,
		func(e *encoder, a ir.Attrs) { e.value(reflect.ValueOf(a)) },
		func(d *decoder) ir.Attrs {
			v := reflect.New(t).Elem()
			d.fields(v)
			return v.Interface().(ir.Attrs)
		}})
}

// RegisterFunc is [Register] for attributes whose fields are not exported or are made of others:
// split gives what is saved, a registered type or a struct of numbers and texts, and join the
// attributes of that, or panics with *array.Error.
func RegisterFunc[T ir.Attrs, Parts any](name string, split func(a T) Parts, join func(p Parts) T) {
	register(attrKind{name, reflect.TypeFor[T](), reflect.TypeFor[Parts](),
		func(e *encoder, a ir.Attrs) { e.value(reflect.ValueOf(split(a.(T)))) },
		func(d *decoder) ir.Attrs {
			v := reflect.New(reflect.TypeFor[Parts]()).Elem()
			d.fields(v)
			return join(v.Interface().(Parts))
		}})
}

// An encoder writes attributes as tokens.
type encoder struct {
	out []token
}

var (
	dtypeType    = reflect.TypeFor[array.DType]()
	functionType = reflect.TypeFor[*op.Function]()
	attrsType    = reflect.TypeFor[ir.Attrs]()
)

// attrs appends the name of the type of a, and its fields.
func (e *encoder) attrs(a ir.Attrs) {
	k := kindsByType[reflect.TypeOf(a)]
	if k == nil {
		array.Failf("save", "", "an operation has a parameter of type %T, which files cannot hold", a)
	}
	e.out = append(e.out, token{kind: tokenText, text: k.name})
	k.encode(e, a)
}

func (e *encoder) value(v reflect.Value) {
	switch v.Type() {
	case dtypeType:
		name := ""
		if d := v.Interface().(array.DType); d != array.Invalid {
			name = d.String()
		}
		e.out = append(e.out, token{kind: tokenText, text: name})
		return
	case functionType:
		e.out = append(e.out, token{kind: tokenFunction, fn: describeFunction(v.Interface().(*op.Function))})
		return
	case attrsType:
		if v.IsNil() {
			e.out = append(e.out, token{kind: tokenText})
			return
		}
		e.attrs(v.Interface().(ir.Attrs))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		i := int64(0)
		if v.Bool() {
			i = 1
		}
		e.out = append(e.out, token{int: i})
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.out = append(e.out, token{int: v.Int()})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.out = append(e.out, token{int: int64(v.Uint())})
	case reflect.Float64:
		e.out = append(e.out, token{kind: tokenFloat, float: v.Float()})
	case reflect.String:
		e.out = append(e.out, token{kind: tokenText, text: v.String()})
	case reflect.Slice:
		e.out = append(e.out, token{kind: tokenLen, int: int64(v.Len())})
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			e.value(v.Field(i))
		}
	default:
		panic("saved: a field of type " + v.Type().String())
	}
}

// A decoder reads attributes from tokens. It panics with *array.Error where they do not fit.
type decoder struct {
	in  []token
	env *env
}

func malformed(format string, args ...any) {
	array.Failf("loadprogram", "", "the file is malformed: "+format, args...)
}

func (d *decoder) next(kinds ...tokenKind) token {
	if len(d.in) == 0 {
		malformed("parameters of an operation are missing")
	}
	t := d.in[0]
	d.in = d.in[1:]
	switch t.kind {
	case tokenSized:
		t = token{int: d.env.number(t.expr)}
	case tokenSizedFloat:
		t = token{kind: tokenFloat, float: float64(d.env.number(t.expr))}
	}
	for _, k := range kinds {
		if t.kind == k {
			return t
		}
	}
	malformed("a parameter of an operation has the wrong type")
	return t
}

// attrs reads attributes of any type.
func (d *decoder) attrs() ir.Attrs {
	name := d.next(tokenText).text
	k := kindsByName[name]
	if k == nil {
		array.Failf("loadprogram", "", "the file has parameters of type %q, which this program does not know: they are of a later version, or of a package that it does not import (such as weft/kernel, weft/sym or weft/ragged)", name)
	}
	return k.decode(d)
}

// fields reads the fields of attributes. Those that a file of an earlier version lacks stay zero.
func (d *decoder) fields(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		d.value(v)
		return
	}
	for i := range v.NumField() {
		if i > 0 && len(d.in) == 0 {
			return
		}
		d.value(v.Field(i))
	}
}

func (d *decoder) value(v reflect.Value) {
	switch v.Type() {
	case dtypeType:
		v.Set(reflect.ValueOf(dtypeOf(d.next(tokenText).text)))
		return
	case functionType:
		f := d.next(tokenFunction).fn
		if f != nil {
			v.Set(reflect.ValueOf(f.build(d.env)))
		}
		return
	case attrsType:
		if len(d.in) > 0 && d.in[0].kind == tokenText && d.in[0].text == "" {
			d.in = d.in[1:]
			return
		}
		v.Set(reflect.ValueOf(d.attrs()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		i := d.next(tokenInt).int
		if i != 0 && i != 1 {
			malformed("a truth value is %d", i)
		}
		v.SetBool(i == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i := d.next(tokenInt).int
		if v.OverflowInt(i) {
			malformed("the number %d is out of range", i)
		}
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i := uint64(d.next(tokenInt).int)
		if v.OverflowUint(i) {
			malformed("the number %d is out of range", i)
		}
		v.SetUint(i)
	case reflect.Float64:
		v.SetFloat(d.next(tokenFloat).float)
	case reflect.String:
		v.SetString(d.next(tokenText).text)
	case reflect.Slice:
		n := d.next(tokenLen).int
		if n < 0 || n > int64(len(d.in)) && v.Type().Elem().Size() > 0 {
			malformed("a list of %d is longer than what is there", n)
		}
		v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	default:
		panic("saved: a field of type " + v.Type().String())
	}
}

// dtypeOf returns the element type of a name, Invalid for "".
func dtypeOf(name string) array.DType {
	if name == "" {
		return array.Invalid
	}
	d, ok := array.ParseDType(name)
	if !ok || !d.Supported() {
		malformed("%.40q is not an element type", name)
	}
	return d
}

func init() {
	Register[op.Axis]("axis")
	Register[op.Shape]("shape")
	Register[op.Order]("order")
	Register[op.Reduction]("reduction")
	Register[op.Group]("group")
	Register[op.Window]("window")
	Register[op.Offset]("offset")
	Register[op.Placement]("placement")
	Register[op.Padding]("padding")
	Register[op.Conv]("conv")
	Register[op.ConvTranspose]("conv transpose")
	Register[op.ConvGrad]("conv gradient")
	Register[op.Pool]("pool")
	Register[op.PoolGrad]("pool gradient")
	Register[op.Interleaving]("interleaving")
	Register[op.Target]("target")
	Register[op.Count]("count")
	RegisterFunc("to", func(a op.To) array.DType { return array.DType(a) }, func(d array.DType) op.To { return op.To(d) })
	Register[op.Power]("power")
	Register[op.Element]("element")
	Register[op.Rows]("rows")
	Register[op.Variate]("variate")
	Register[op.Measure]("measure")
	Register[op.Nearness]("nearness")
	Register[op.Substitutes]("substitutes")
	Register[op.Bags]("bags")
	Register[op.Adjoined]("adjoined")
	Register[op.Complete]("complete")
	Register[op.Triangle]("triangle")
	Register[op.SparseProduct]("sparse product")
	Register[op.Sorting]("sorting")
	Register[op.Selection]("selection")
	Register[op.Ranks]("ranks")
	Register[op.Search]("search")
	Register[op.Owned]("owned")
	Register[op.Scan]("scan")
	Register[op.Fourier]("fourier")
	Register[op.Cosine]("cosine transform")
	Register[op.PadTo]("pad to")
	Register[op.ItemOrder]("item order")
	Register[op.Raveling]("raveling")
	Register[op.Extreme]("extreme")
	Register[op.StridedWindow]("strided window")
	Register[op.Attending]("attending")
	Register[op.Looping]("loop")
	Register[op.Branches]("branch")
	Register[ir.Value]("value")
	Register[ir.Arg]("argument")
	Register[ir.Bounds]("bounds")
}
