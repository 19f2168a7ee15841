package sym

import (
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/par"
	"weft/internal/saved"
)

// The generator MRG31k3p of P. L'Ecuyer and R. Touzin ("Fast combined multiple recursive
// generators with multipliers of the form a = +-2^q +-2^r", 2000): two recurrences of
// order three, modulo m1 and m2, whose difference is the number. A state is their last three
// values each, the latest first.
const (
	m1 = 1<<31 - 1
	m2 = 1<<31 - 21069

	norm = 4.656612873077392578125e-10 // 2^-31, by which a difference becomes a fraction
)

// An mrgState is x1, x2, x3 of the first recurrence, then of the second.
type mrgState [6]int64

// next is the difference of the recurrences, from 1 to m1.
func (s *mrgState) next() int64 {
	a := (s[1]<<22 + s[2]<<7 + s[2]) % m1
	b := (s[3]<<15 + s[5]<<15 + s[5]) % m2
	s[0], s[1], s[2] = a, s[0], s[1]
	s[3], s[4], s[5] = b, s[3], s[4]
	if a <= b {
		return a - b + m1
	}
	return a - b
}

// A jump is two matrices, one a recurrence, by which a state goes many steps on.
type jump [2][3][3]int64

// Streams are 2^134 steps apart, the substreams of one 2^72.
var (
	step72 = jump{
		{{1516919229, 758510237, 499121365}, {1884998244, 1516919229, 335398200}, {601897748, 1884998244, 358115744}},
		{{1228857673, 1496414766, 954677935}, {1133297478, 1407477216, 1496414766}, {2002613992, 1639496704, 1407477216}}}
	step134 = jump{
		{{1702500920, 1849582496, 1656874625}, {828554832, 1702500920, 1512419905}, {1143731069, 828554832, 102237247}},
		{{796789021, 1464208080, 607337906}, {1241679051, 1431130166, 1464208080}, {1401213391, 1178684362, 1431130166}}}
)

// after is the state a jump on.
func (s mrgState) after(j *jump) (t mrgState) {
	for k, m := range [2]int64{m1, m2} {
		for row, a := range j[k] {
			sum := int64(0)
			for col, x := range a {
				sum = (sum + x*s[3*k+col]) % m // products are below 2^62
			}
			t[3*k+row] = sum
		}
	}
	return t
}

// maxStreams bounds the streams of one draw.
const maxStreams = 60 * 256

// A spread says how many streams a draw takes. Which stream an element comes from depends on it.
type spread bool

const (
	sixEach spread = true  // six numbers to a stream where the size is an int, as Theano's uniform
	oneEach spread = false // a number to a stream, as all that Theano makes of uniform numbers
)

// streams returns how many streams a draw of size numbers takes, at most maxStreams.
func (s spread) streams(size int) int {
	if s == sixEach && size > 6 {
		size /= 6
	}
	return max(min(size, maxStreams), 1)
}

// An mrgDraw makes an array of fractions greater than 0 and less than 1 from states, the rows of
// an array, and also gives the states after that. Element i comes from stream i modulo the number
// of streams. With a count, an int64 number, only that many elements are drawn. The others are 0.
type mrgDraw struct {
	dtype array.DType
	shape []int
}

// AppendKey implements ir.Attrs.
func (d mrgDraw) AppendKey(k []byte) []byte { return ir.Ints(append(k, byte(d.dtype)), d.shape) }

func init() {
	type parts struct {
		DType array.DType
		Shape []int
	}
	saved.RegisterFunc("mrg draw", func(d mrgDraw) parts { return parts{d.dtype, d.shape} }, func(p parts) mrgDraw { return mrgDraw{p.DType, p.Shape} })
}

// Results implements op.HostFunc.
func (d mrgDraw) Results(args []ir.Type) []ir.Type {
	if len(args) == 2 && (args[1].DType != array.Int64 || len(args[1].Shape) != 0) {
		array.Failf("mrg", "", "draws a number of elements that is %s", array.TypeString(args[1].DType, args[1].Shape)) // of a file
	}
	if len(args) < 1 || len(args) > 2 || args[0].DType != array.Int64 || len(args[0].Shape) != 2 || args[0].Shape[0] == 0 || args[0].Shape[1] != 6 || !d.dtype.Float() || d.dtype == array.BFloat16 {
		array.Failf("mrg", "", "draws %s from other states than its own", d.dtype) // of a file
	}
	array.CheckShape("mrg", d.shape, d.dtype)
	return []ir.Type{{DType: d.dtype, Shape: d.shape}, args[0]}
}

// CallHost implements op.HostFunc.
func (d mrgDraw) CallHost(args, out []array.View) error {
	from, to := words(&args[0]), words(&out[1])
	n, size := args[0].Shape[0], array.Size(d.shape)
	p := out[0].Ptr()
	if len(args) == 2 {
		all := size
		size = int(max(0, min(words(&args[1])[0], int64(all))))
		clear(unsafe.Slice((*byte)(p), all*d.dtype.Size()))
	}
	par.Run(n, 1+4096/(size/n+1), 0, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			s := mrgState(from[6*i : 6*i+6])
			switch d.dtype {
			case array.Float64:
				fill(unsafe.Slice((*float64)(p), size), i, n, func() float64 { return float64(s.next()) * norm })
			case array.Float32:
				fill(unsafe.Slice((*float32)(p), size), i, n, func() float32 { return float32(s.next()) * float32(4.6566126e-10) })
			case array.Float16:
				fill(unsafe.Slice((*half.Float16)(p), size), i, n, func() half.Float16 {
					return half.NewFloat16(float32(s.next()&0x7fff+1) * 3.0458e-05)
				})
			}
			copy(to[6*i:], s[:])
		}
	})
	return nil
}

// fill gives every n-th element from i on.
func fill[T any](data []T, i, n int, next func() T) {
	for ; i < len(data); i += n {
		data[i] = next()
	}
}

func words(v *array.View) []int64 {
	return unsafe.Slice((*int64)(v.Ptr()), array.Size(v.Shape))
}
