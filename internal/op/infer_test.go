package op_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What operations give for known shapes and element types. Expected results are written down by the
// conventions of NumPy and PyTorch, not by the op table.

var short = map[string]array.DType{"b": array.Bool, "u8": array.Uint8, "i32": array.Int32, "i64": array.Int64, "f16": array.Float16,
	"f32": array.Float32, "f64": array.Float64, "c64": array.Complex64, "c128": array.Complex128}

// typesOf reads types such as "f32[2 3] i64[]".
func typesOf(s string) (list []ir.Type) {
	for _, part := range strings.SplitAfter(s, "]") {
		name, dims, ok := strings.Cut(strings.TrimSpace(part), "[")
		if !ok {
			continue
		}
		ty := ir.Type{DType: short[name]}
		for _, n := range strings.Fields(strings.TrimSuffix(dims, "]")) {
			size, _ := strconv.Atoi(n)
			ty.Shape = append(ty.Shape, size)
		}
		list = append(list, ty)
	}
	return list
}

// inferred applies an operation to inputs of types.
func inferred(d *op.Def, a ir.Attrs, args string) (types []string, err error) {
	err = array.Try(func() {
		g := ir.New()
		var x []*ir.Node
		for i, ty := range typesOf(args) {
			x = append(x, g.Input(i, ty.DType, ty.Shape))
		}
		for _, y := range op.ApplyAll(d, a, x...) {
			types = append(types, array.TypeString(y.DType, y.Shape))
		}
	})
	return types, err
}

func wanted(s string) (types []string) {
	for _, ty := range typesOf(s) {
		types = append(types, array.TypeString(ty.DType, ty.Shape))
	}
	return types
}

// check applies an operation: want are types, or "!" and a part of the error's text.
func check(t *testing.T, d *op.Def, a ir.Attrs, args, want string) {
	t.Helper()
	got, err := inferred(d, a, args)
	text, refused := strings.CutPrefix(want, "!")
	switch e, typed := err.(*array.Error); {
	case refused && (err == nil || !typed || e.Kind != array.Misuse || !strings.Contains(e.Error(), text)):
		t.Errorf("%s%v of %s: %v, %v, want an error with %q", d.Name, a, args, got, err, text)
	case !refused && (err != nil || !slices.Equal(got, wanted(want))):
		t.Errorf("%s%v of %s: %v, %v, want %s", d.Name, a, args, got, err, want)
	}
}

// families lists operations by the element type of their result. Each field is the result's type
// if all arguments have the element type that the field names; "" is an error.
var families = []struct {
	names            string
	b, i32, f16, f64 string
}{
	{"add mul fmax fmin maximum minimum", "b", "i32", "f16", "f64"},
	{"sub neg abs sign floor ceil round trunc floordiv mod square relu clamp fmod pow powint", "", "i32", "f16", "f64"},
	{"acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees digamma div erf erfc erfinv exp exp2 expm1 frexp_mantissa gelu heaviside hypot ldexp lgamma log log10 log1p log2 nextafter radians reciprocal sigmoid silu sin sinh softplus sqrt tan tanh term trigamma", "f32", "f32", "f16", "f64"},
	{"eq ne lt le gt ge isfinite isinf isnan signbit logical_and logical_not logical_or logical_xor", "b", "b", "b", "b"},
	{"bit_and bit_not bit_or bit_xor", "b", "i32", "", ""},
	{"shl shr pop_count gcd lcm", "", "i32", "", ""},
}

// Elementwise operations broadcast, and have the element types of their family.
func TestInferElementwise(t *testing.T) {
	has := map[string]bool{}
	for _, f := range families {
		for name := range strings.FieldsSeq(f.names) {
			d := op.Lookup(name)
			if has[name] = true; d == nil {
				t.Errorf("no operation %s", name)
				continue
			}
			for _, c := range [][2]string{{"b", f.b}, {"i32", f.i32}, {"f16", f.f16}, {"f64", f.f64}} {
				args, shape := c[0]+"[2 3]", "[2 3]"
				if d.Arity > 1 {
					args, shape = c[0]+"[2 1] "+c[0]+"[4 1 3]", "[4 2 3]"
				}
				if d.Arity > 2 {
					args += " " + c[0] + "[]"
				}
				want := "!is "
				if c[1] != "" {
					want = c[1] + shape
				}
				check(t, d, nil, args, want)
			}
			if d.Arity == 2 {
				check(t, d, nil, "i32[2 3] i32[2]", "!broadcast")
				check(t, d, nil, "i32[2]", "!takes 2 arguments, got 1")
			}
			check(t, d, nil, "i32[0]"+strings.Repeat(" i32[1]", d.Arity-1), f.i32+"[0]")
		}
	}
	for _, d := range op.Table() {
		if d.Class == op.Pointwise && d.Rule != op.Keep && !has[d.Name] {
			t.Errorf("%s is in no family", d.Name)
		}
	}
}

// along is a reduction of axes.
func along(axes ...int) op.Reduction { return op.Reduction{Axes: axes} }

var unit = op.Conv{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}

var halfPool = op.Pool{Window: [2]int{2, 2}, Stride: [2]int{2, 2}}

// rows are applications of the other operations.
var rows = []struct {
	name       string
	attrs      ir.Attrs
	args, want string
}{
	{"all", nil, "f32[2 3]", "b[]"}, {"any", along(0), "b[2 3]", "b[3]"}, {"any", along(2), "b[2 3]", "!axis"},
	{"sum", nil, "f32[2 3]", "f32[]"}, {"sum", along(1), "f16[2 3]", "f16[2]"}, {"sum", along(0), "i32[2 3]", "i64[3]"}, {"sum", along(0), "b[2 3]", "i64[3]"},
	{"sum", op.Reduction{Axes: []int{-1}, Keep: true}, "f32[2 3]", "f32[2 1]"}, {"sum", along(2), "f32[2 3]", "!axis"}, {"sum", along(1, 1), "f32[2 3]", "!axis"},
	{"prod", along(1), "u8[2 3]", "i64[2]"}, {"mean", along(1), "f32[2 3]", "f32[2]"}, {"mean", nil, "i32[2 3]", "!takes floats"},
	{"max", along(0), "i32[2 3]", "i32[3]"}, {"max", along(0), "f32[0 3]", "!no elements"}, {"min", along(0), "f16[2 3]", "f16[3]"}, {"min", along(0), "c64[2 3]", "!"},
	{"var", along(0), "f64[2 3]", "f64[3]"}, {"std", along(0), "f32[2 3]", "f32[3]"}, {"var_mean", along(1), "f32[2 3]", "f32[2] f32[2]"},
	{"logsumexp", along(1), "f32[2 3]", "f32[2]"}, {"softmax", along(1), "f16[2 3]", "f16[2 3]"}, {"softmax", along(2), "f32[2 3]", "!axis"},
	{"log_softmax", along(0), "f64[2 3]", "f64[2 3]"}, {"count_nonzero", along(0), "f32[2 3]", "i64[3]"}, {"norm", op.Measure{Order: 2}, "f32[2 3]", "f32[]"},
	{"argmax", along(1), "f32[2 3]", "i64[2]"}, {"argmin", nil, "i32[2 3]", "i64[]"}, {"argmax", along(0), "f32[0 3]", "!no elements"},
	{"max_with_index", op.Axis(1), "f32[2 3]", "f32[2] i64[2]"}, {"min_with_index", op.Axis(0), "i32[2 3]", "i32[3] i64[3]"},
	{"reduce_sum", op.Group{Lo: 1, Hi: 2}, "f32[2 3]", "f32[2 1]"}, {"reduce_max", op.Group{Lo: 0, Hi: 1}, "i32[2 3]", "i32[1 3]"}, {"reduce_min", op.Group{Lo: 0, Hi: 2}, "f64[2 3]", "f64[1 1]"},
	{"reduce_prod", op.Group{Lo: 0, Hi: 1}, "f64[2 3]", "f64[1 3]"}, {"reduce_all", op.Group{Lo: 0, Hi: 1}, "b[2 3]", "b[1 3]"}, {"reduce_any", op.Group{Lo: 1, Hi: 2}, "b[2 3]", "b[2 1]"},
	{"reduce_argmax", op.Axis(1), "f32[2 3]", "i64[2 1]"}, {"reduce_argmin", op.Axis(0), "f32[2 3]", "i64[1 3]"}, {"reduce_argmin", op.Axis(2), "f32[2 3]", "!axis"},

	{"matmul", nil, "f32[2 3] f32[3 4]", "f32[2 4]"}, {"matmul", nil, "f32[3] f32[3]", "f32[]"}, {"matmul", nil, "f32[3] f32[3 4]", "f32[4]"}, {"matmul", nil, "f64[5 1 2 3] f64[7 3 4]", "f64[5 7 2 4]"},
	{"matmul", nil, "i32[2 3] i32[3 4]", "i32[2 4]"}, {"matmul", nil, "f32[2 3] f32[4 5]", "!"}, {"matmul", nil, "f32[] f32[3]", "!"}, {"matmul2", nil, "f32[2 0] f32[0 4]", "f32[2 4]"}, {"matmul2", nil, "f32[2 3] f32[2 3]", "!do not fit"},
	{"dot", nil, "f32[3] f32[3]", "f32[]"}, {"dot", nil, "f32[3] f32[4]", "!"}, {"linear", nil, "f32[5 7] f32[3 7] f32[3]", "f32[5 3]"}, {"linear", nil, "f32[5 7] f32[3 7] f32[4]", "!want [3]"},
	{"conv2d", unit, "f32[2 3 5 5] f32[4 3 3 2]", "f32[2 4 3 4]"}, {"conv2d", unit, "f32[2 3 5 5] f32[4 2 3 2]", "!"}, {"conv1d", unit, "f32[2 3 8] f32[4 3 3]", "f32[2 4 6]"},
	{"conv2d_core", unit, "f32[2 3 5 5] f32[4 3 3 2]", "f32[2 4 3 4]"}, {"conv2d_input", op.ConvGrad{Conv: unit, Shape: []int{2, 3, 5, 5}}, "f32[2 4 3 4] f32[4 3 3 2]", "f32[2 3 5 5]"},
	{"conv2d_weight", op.ConvGrad{Conv: unit, Shape: []int{4, 3, 3, 2}}, "f32[2 3 5 5] f32[2 4 3 4]", "f32[4 3 3 2]"}, {"conv_transpose2d", op.ConvTranspose{Conv: unit}, "f32[2 3 3 4] f32[3 4 3 2]", "f32[2 4 5 5]"},
	{"max_pool2d", halfPool, "f32[2 3 6 8]", "f32[2 3 3 4]"}, {"max_pool2d", halfPool, "f32[6]", "!"}, {"avg_pool2d", halfPool, "f32[2 7 5]", "f32[2 3 2]"}, {"avg_pool2d", halfPool, "f32[2 1 5]", "!"},
	{"window_mean", halfPool, "f32[6 8]", "f32[3 4]"}, {"window_spread", op.PoolGrad{Pool: halfPool, Size: [2]int{6, 8}}, "f32[3 4]", "f32[6 8]"}, {"window_spread", op.PoolGrad{Pool: halfPool, Size: [2]int{6, 8}}, "f32[3 3]", "!windows"},
	{"max_pool2d_place", halfPool, "f32[4 4] f32[2 2] f32[2 2]", "f32[4 4]"}, {"max_pool2d_pick", halfPool, "f32[4 4] f32[2 2] f32[4 4]", "f32[2 2]"}, {"max_pool2d_pick", halfPool, "f32[4 4] f32[2 2] f32[2 2]", "!dx"},
	{"interleave", op.Interleaving{Every: [2]int{1, 2}, Size: [2]int{2, 7}}, "f32[2 2 3] f32[2 2 3]", "f32[2 2 7]"}, {"interleave", op.Interleaving{Every: [2]int{1, 2}, Size: [2]int{2, 7}}, "f32[2 2 3]", "!parts"},

	{"reshape", op.Shape{3, 2}, "f32[2 3]", "f32[3 2]"}, {"reshape", op.Shape{4}, "f32[2 3]", "!"}, {"expand", op.Shape{2, 3, 4}, "b[3 1]", "b[2 3 4]"}, {"expand", op.Shape{2, 4}, "b[3 1]", "!"},
	{"permute", op.Order{2, 0, 1}, "u8[2 3 4]", "u8[4 2 3]"}, {"permute", op.Order{0, 0, 1}, "u8[2 3 4]", "!"}, {"diagonal", op.Offset(1), "f32[4 6]", "f32[4]"}, {"diagonal", op.Offset(0), "f32[4]", "!"},
	{"slice", op.Window{Start: []int{1}, Step: []int{2}, Count: []int{2}}, "f32[5]", "f32[2]"}, {"cat", op.Axis(0), "f32[2 3] f32[4 3]", "f32[6 3]"}, {"cat", op.Axis(1), "f32[2 3] f32[2 1]", "f32[2 4]"}, {"cat", op.Axis(1), "i32[2 3] f32[2 1]", "!"}, {"cat", op.Axis(0), "f32[2 3] f32[4 4]", "!"}, {"cat", op.Axis(2), "f32[2 3]", "!axis"},
	{"pad", op.Padding{Pads: []int{1, 0, 2, 2}}, "f32[2 3]", "f32[3 7]"}, {"place", op.Placement{Shape: []int{5}, View: op.Window{Start: []int{1}, Step: []int{1}, Count: []int{3}}}, "f32[3]", "f32[5]"}, {"copy", nil, "c64[2 3]", "c64[2 3]"},
	{"tril", op.Offset(0), "f32[5 7]", "f32[5 7]"}, {"triu", op.Offset(0), "f32[5]", "!"}, {"cast", op.To(array.Int32), "f64[2]", "i32[2]"}, {"iota", op.Axis(1), "f32[2 3]", "i64[2 3]"}, {"iota", op.Axis(2), "f32[2 3]", "!axis"},

	{"gather", op.Axis(0), "f32[5 3] i64[4 3]", "f32[4 3]"}, {"gather", op.Axis(0), "f32[5 3] i64[4]", "!"}, {"gather", op.Axis(0), "f32[5 3] f32[4 3]", "!"}, {"index_select", op.Axis(1), "b[5 3] i32[7]", "b[5 7]"}, {"index_select", op.Axis(2), "b[5 3] i32[7]", "!axis"},
	{"index_add", op.Target{Axis: 0, Shape: []int{5, 3}}, "f32[4 3] i64[4]", "f32[5 3]"}, {"index_copy", op.Axis(0), "f32[4 3] i64[4] f32[5 3]", "f32[5 3]"}, {"scatter", op.Axis(0), "f32[4 3] i64[4 3] f32[5 3]", "f32[5 3]"}, {"scatter", op.Axis(0), "f32[4 3] i64[4 2] f32[5 3]", "!"},
	{"scatter_sum", op.Target{Axis: 0, Shape: []int{5, 3}}, "f32[4 3] i64[4 3]", "f32[5 3]"}, {"scatter_add", op.Axis(0), "f32[4 3] i64[4 3] f32[5 3]", "f32[5 3]"}, {"scatter_prod", op.Extreme{}, "c64[4 3] i64[4 3] c64[5 3]", "c64[5 3]"}, {"scatter_max", op.Extreme{}, "i32[4 3] i64[4 3] i32[5 3]", "i32[5 3]"}, {"scatter_min", op.Extreme{}, "c64[4 3] i64[4 3] c64[5 3]", "!"},
	{"mask_select", op.Count(2), "f32[2 3] b[2 3]", "f32[2]"}, {"mask_place", nil, "f32[2] b[2 3]", "f32[2 3]"}, {"count_true", nil, "b[2 3]", "i64[]"}, {"nonzero", op.Count(4), "b[2 3]", "i64[4]"},
	{"sort", op.Sorting{Axis: 1}, "f32[2 3]", "f32[2 3] i64[2 3]"}, {"sort", op.Sorting{Axis: 2}, "f32[2 3]", "!axis"}, {"topk", op.Selection{Axis: 1, Count: 2}, "i32[2 3]", "i32[2 2] i64[2 2]"}, {"topk", op.Selection{Axis: 1, Count: 4}, "i32[2 3]", "!"},
	{"kthvalue", op.Ranks{Axis: 0, At: []int{1}}, "f32[2 3]", "f32[1 3] i64[1 3]"}, {"partition", op.Ranks{Axis: 1, At: []int{1}}, "f32[2 3]", "f32[2 3]"}, {"partition", op.Ranks{At: []int{2}}, "f32[2 3]", "!kth"}, {"argpartition", op.Ranks{Axis: 1, At: []int{1}}, "f16[2 3]", "i64[2 3]"}, {"argpartition", op.Ranks{}, "c64[3]", "!complex64"}, {"searchsorted", op.Search{}, "f32[4] f32[2 3]", "i64[2 3]"}, {"bincount", op.Count(9), "i64[50]", "i64[9]"}, {"bincount", op.Count(9), "f32[50]", "!"},
	{"cumsum", op.Axis(1), "i32[2 3]", "i64[2 3]"}, {"cumprod", op.Axis(0), "f32[2 3]", "f32[2 3]"}, {"cummax", op.Axis(0), "f32[2 3]", "f32[2 3] i64[2 3]"}, {"cummin", op.Axis(3), "f32[2 3]", "!axis"}, {"scan_sum", op.Scan{Axis: 1}, "f32[2 3]", "f32[2 3]"}, {"scan_prod", op.Axis(1), "f64[2 3]", "f64[2 3]"}, {"recurrence", op.Scan{}, "f32[7] f32[7]", "f32[7]"},

	{"cholesky", nil, "f32[2 3 3]", "f32[2 3 3]"}, {"cholesky", nil, "c128[3 3]", "c128[3 3]"}, {"cholesky", nil, "f16[3 3]", "f16[3 3]"}, {"cholesky", nil, "f32[2 3]", "!square"}, {"cholesky", nil, "i32[3 3]", "!elements of type"}, {"cholesky", nil, "f32[3]", "!matrix"},
	{"solve_triangular", op.Triangle{}, "f64[2 3 3] f64[2 3 5]", "f64[2 3 5]"}, {"solve_triangular", op.Triangle{}, "f64[2 3 3] f64[3 3 5]", "!before the last two"}, {"solve_triangular", op.Triangle{}, "f64[3 3] f64[4 5]", "!3 rows"}, {"solve_triangular", op.Triangle{}, "f64[3 3] f32[3 5]", "!type"},
	{"fft", op.Fourier{Axis: 1}, "c64[2 3]", "c64[2 3]"}, {"fft", op.Fourier{}, "f32[3]", "!complex"}, {"fft", op.Fourier{Axis: 1}, "c64[3]", "!axis"}, {"rfft", op.Fourier{}, "f64[6 2]", "c128[4 2]"}, {"rfft", op.Fourier{}, "f16[5]", "c64[3]"}, {"rfft", op.Fourier{}, "c64[5]", "!"}, {"irfft", op.Fourier{N: 7}, "c128[4]", "f64[7]"}, {"irfft", op.Fourier{N: 5}, "c128[4]", "!want 3"},
	{"dct", op.Cosine{Axis: 1, Third: true}, "f64[2 3]", "f64[2 3]"}, {"dct", op.Cosine{}, "f16[5]", "f16[5]"}, {"dct", op.Cosine{}, "c64[5]", "!"}, {"dct", op.Cosine{Axis: 1}, "f32[5]", "!axis"},

	{"lfilter", nil, "f32[2 9] f32[2 3] f32[2 2] f32[2 2]", "f32[2 9] f32[2 2]"}, {"lfilter", nil, "f16[9] f16[1] f16[0] f16[0]", "f16[9] f16[0]"}, {"lfilter", nil, "f32[9] f32[0] f32[1] f32[1]", "!a coefficient"}, {"lfilter", nil, "f32[9] f32[3] f32[2] f32[3]", "!2 numbers"}, {"lfilter", nil, "f32[2 9] f32[3] f32[2] f32[2]", "!axis of its own"},
	{"sosfilt", nil, "c64[2 9] c64[2 3 5] c64[2 3 2]", "c64[2 9] c64[2 3 2]"}, {"sosfilt", nil, "f32[9] f32[3 6] f32[3 2]", "!5 coefficients"}, {"sosfilt", nil, "f32[9] f32[3 5] f32[2 2]", "!3 rows"}, {"sosfilt", nil, "i32[9] f32[3 5] f32[2 2]", "!elements of type"},
	{"correlate1d", nil, "f64[2 9] f64[2 4]", "f64[2 6]"}, {"correlate1d", nil, "f64[3] f64[4]", "f64[0]"}, {"correlate1d", nil, "f64[3] f64[5]", "!more than"}, {"correlate1d", nil, "f64[3] f32[2]", "!type"},

	{"lu_factor", nil, "f32[2 5 3]", "f32[2 5 3] i64[2 3]"}, {"lu_factor", nil, "f32[3]", "!matrix"}, {"pivots_to_permutation", op.Count(5), "i64[2 3]", "i64[2 5]"}, {"pivots_to_permutation", op.Count(2), "i64[2 3]", "!at most 2"},
	{"sparse_matmul", op.SparseProduct{}, "f32[9] i32[9] f32[7 2] i64[6]", "f32[5 2]"}, {"sparse_matmul", op.SparseProduct{Transposed: true, Rows: 7}, "c64[9] i64[9] c64[5] i64[6]", "c64[7]"}, {"sparse_matmul", op.SparseProduct{}, "f32[9] i32[8] f32[7] i64[6]", "!values"},
	{"sparse_matmul", op.SparseProduct{Transposed: true}, "f32[9] i64[9] f32[4] i64[6]", "!want 5 rows"}, {"sparse_matmul", op.SparseProduct{}, "f32[9] f32[9] f32[4] i64[6]", "!int32"}, {"sparse_matmul", op.SparseProduct{}, "f32[9] i64[9] f64[4] i64[6]", "!values has"},
	{"sparse_sampled", nil, "f16[5 2] i32[9] f16[7 2] i64[6]", "f16[9]"}, {"sparse_sampled", nil, "f32[5 2] i32[9] f32[7 3] i64[6]", "!rows like"}, {"sparse_sampled", nil, "f32[4] i32[9] f32[7] i64[6]", "!5 rows"},
	{"lu_solve", op.Adjoined(false), "f64[3 3] i64[3] f64[3 5]", "f64[3 5]"}, {"lu_solve", op.Adjoined(true), "f64[3 3] i64[4] f64[3 5]", "!int64"}, {"solve", nil, "f32[2 3 3] f32[2 3 5]", "f32[2 3 5] f32[2 3 3] i64[2 3]"}, {"solve", nil, "f32[2 3 4] f32[2 3 5]", "!square"},
	{"qr", op.Complete(false), "f32[5 3]", "f32[5 3] f32[3 3]"}, {"qr", op.Complete(true), "c64[5 3]", "c64[5 5] c64[5 3]"}, {"qr", nil, "f32[3]", "!matrix"}, {"qr_triangle", nil, "f64[2 3 5]", "f64[2 3 5]"}, {"qr_triangle", nil, "i64[2 3 5]", "!elements of type"},

	{"where", nil, "b[4 5] f32[5] f64[4 1]", "f64[4 5]"}, {"lerp", nil, "f32[3] f32[2 1] f32[]", "f32[2 3]"}, {"isclose", op.Nearness{}, "f32[3] f32[2 1]", "b[2 3]"}, {"nan_to_num", op.Substitutes{}, "f32[3]", "f32[3]"}, {"rsqrt", nil, "i32[3]", "f32[3]"},
	{"frexp", nil, "i32[3]", "f32[3] i32[3]"}, {"frexp_exponent", nil, "f64[2 3]", "i32[2 3]"}, {"frexp_exponent", nil, "i32[3]", "!takes floats"}, {"logaddexp", nil, "f32[3] f64[2 1]", "f64[2 3]"}, {"logaddexp2", nil, "i32[3] i32[3]", "f32[3]"},
	{"cdist", op.Measure{Order: 2}, "f32[5 1 4 3] f32[2 7 3]", "f32[5 2 4 7]"}, {"cdist", op.Measure{Order: 2}, "f32[4 3] f32[4 2]", "!rows of one size"},
	{"logit", nil, "f16[3]", "f16[3]"}, {"xlogy", nil, "i32[3] f64[2 1]", "f64[2 3]"}, {"xlogy", nil, "c64[3] c64[3]", "!"}, {"sinc", nil, "i64[3]", "f32[3]"},
	{"complex", nil, "f32[3] f32[3]", "c64[3]"}, {"real", nil, "c64[3]", "f32[3]"}, {"imag", nil, "c128[3]", "f64[3]"}, {"conj", nil, "c64[3]", "c64[3]"}, {"angle", nil, "c64[3]", "f32[3]"}, {"polar", nil, "f64[3] f64[3]", "c128[3]"},
	{"cross_entropy", nil, "f32[6 5] i64[6]", "f32[]"}, {"embedding_bag", op.Bags{}, "f32[10 3] i64[9] i64[4]", "f32[4 3]"},
	{"segment_sum", nil, "f32[40 3] i64[10]", "f32[9 3]"}, {"segment_mean", nil, "f32[40] i64[10]", "f32[9]"}, {"segment_softmax", nil, "f32[40] i64[10]", "f32[40]"}, {"segment_argmax", nil, "f32[40] i64[10]", "i64[9]"}, {"segment_argmin", nil, "c64[40] i64[10]", "!not defined"},
	{"segment_expand", op.Rows(40), "f32[9 3] i64[10]", "f32[40 3]"}, {"segment_pad", op.PadTo(12), "f32[40 3] f32[] i64[10]", "f32[9 12 3]"}, {"segment_unpad", op.Rows(40), "f32[9 12] i64[10]", "f32[40]"}, {"segment_sort", op.ItemOrder{}, "f32[40] i64[10]", "f32[40] i64[40]"},
}

// withoutRow are operations whose functions or bodies are attributes, which have tests of their own, and
// compositions of an operation that has rows.
var withoutRow = strings.Fields("branch kernel loop select ravel_index runs segment_take " +
	"segment_log_softmax segment_logsumexp segment_max segment_min segment_prod segment_reduce_all segment_reduce_any segment_reduce_max segment_reduce_min segment_reduce_prod segment_reduce_sum")

// Each operation that is not elementwise infers the types of its rows.
func TestInfer(t *testing.T) {
	has := map[string]bool{}
	for _, name := range withoutRow {
		has[name] = true
	}
	for _, r := range rows {
		has[r.name] = true
		d := op.Lookup(r.name)
		if d == nil {
			t.Errorf("no operation %s", r.name)
			continue
		}
		check(t, d, r.attrs, r.args, r.want)
	}
	for _, d := range op.Table() {
		if (d.Class != op.Pointwise || d.Rule == op.Keep) && !has[d.Name] {
			t.Errorf("%s has no row", d.Name)
		}
	}
}
