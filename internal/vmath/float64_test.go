package vmath

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
)

var binaries = []struct {
	name string
	f    func(b *loop.Builder, x, y loop.Value) loop.Value
}{{"Pow", Pow}, {"Atan2", Atan2}, {"Hypot", Hypot}}

func apply2(f func(b *loop.Builder, x, y loop.Value) loop.Value) func(*loop.Builder, []loop.Value) loop.Value {
	return func(b *loop.Builder, x []loop.Value) loop.Value { return f(b, x[0], x[1]) }
}

// vectors are arguments and exact results hi+lo of one function.
type vectors struct{ x, y, hi, lo []float64 }

// readVectors reads the sample in the repository.
func readVectors(t *testing.T) map[string]*vectors {
	file, err := os.Open("testdata/float64.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := map[string]*vectors{}
	for s := bufio.NewScanner(file); s.Scan(); {
		w := strings.Fields(s.Text())
		v := out[w[0]]
		if v == nil {
			v = new(vectors)
			out[w[0]] = v
		}
		var n []float64
		for _, h := range w[1:] {
			u, err := strconv.ParseUint(h, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			n = append(n, math.Float64frombits(u))
		}
		v.x = append(v.x, n[0])
		v.y = append(v.y, n[len(n)-3])
		v.hi = append(v.hi, n[len(n)-2])
		v.lo = append(v.lo, n[len(n)-1])
	}
	return out
}

// readMany reads what gen/vectors.py wrote for a function of args arguments into the folder
// that WEFT_VECTORS names.
func readMany(t *testing.T, folder, name string, args int) *vectors {
	b, err := os.ReadFile(filepath.Join(folder, name+".f64"))
	if err != nil {
		t.Fatal(err)
	}
	v := new(vectors)
	numbers := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
	for row := range slices.Chunk(numbers, args+2) {
		v.x = append(v.x, row[0])
		v.y = append(v.y, row[args-1])
		v.hi = append(v.hi, row[args])
		v.lo = append(v.lo, row[args+1])
	}
	return v
}

// ulps64 is the distance of got from hi+lo in units in the last place of hi; the
// sign of a zero counts.
func ulps64(got, hi, lo float64) float64 {
	if math.IsNaN(got) || math.Signbit(got) != math.Signbit(hi) && hi != 0 {
		return math.Inf(1)
	}
	_, e := math.Frexp(hi)
	e = max(e-53, -1074)
	if math.IsInf(got, 0) { // counts as 2^1024
		return math.Abs(math.Copysign(0x1p1023, got)-hi+math.Copysign(0x1p1023, got)-lo) / math.Ldexp(1, e)
	}
	// Scaled up first: the unit may be subnormal.
	return math.Abs(math.Ldexp(got-hi, -e) - math.Ldexp(lo, -e))
}

// cancels gives the greater one of the two terms of a reflection that cancel near the
// zeros of a function at negative arguments: there errors count in its units.
var cancels = map[string]func(x float64) float64{
	"Lgamma":  func(x float64) float64 { return 1 },
	"Digamma": func(x float64) float64 { return math.Log(2 - x) },
	"J0":      height, "J1": height, "Y1": height,
	"Y0": func(x float64) float64 {
		if x < 1.5 { // next to the zero at 0.89 a logarithm and the rest cancel
			return 1. / 16
		}
		return height(x)
	},
}

// height is that of a wave of Bessel's functions, from 7.5 on.
func height(x float64) float64 {
	if math.Abs(x) < 7.5 {
		return 0
	}
	return math.Sqrt(2 / (math.Pi * math.Abs(x)))
}

func TestFloat64(t *testing.T) {
	sample, folder := map[string]*vectors(nil), os.Getenv("WEFT_VECTORS")
	if folder == "" {
		sample = readVectors(t)
	}
	read := func(name string, args int) *vectors {
		if folder != "" {
			return readMany(t, folder, name, args)
		}
		if sample[name] == nil {
			t.Fatalf("no vectors of %s", name)
		}
		return sample[name]
	}
	check := func(name string, v *vectors, got []float64) {
		ulp, at := 0.0, 0
		for i := range got {
			e := ulps64(got[i], v.hi[i], v.lo[i])
			if term := cancels[name]; term != nil && (v.x[i] < 0 || name[0] == 'J' || name[0] == 'Y') && math.Abs(v.hi[i]) < term(v.x[i]) {
				_, unit := math.Frexp(term(v.x[i]))
				e = math.Abs(math.Ldexp(got[i]-v.hi[i]-v.lo[i], 53-unit))
			}
			if e > ulp {
				ulp, at = e, i
			}
		}
		where := fmt.Sprint(v.x[at])
		if v.y[at] != v.x[at] {
			where += fmt.Sprint(", ", v.y[at])
		}
		t.Logf("%-9s %.4f ULP at %s (%d arguments)", name, ulp, where, len(v.x))
		bound := 2.0
		if name == "Digamma" || len(name) == 2 {
			bound = 4
		}
		if ulp > bound {
			t.Errorf("%s is %.4f ULP off at %s: %v, want %v", name, ulp, where, got[at], v.hi[at])
		}
	}
	for _, u := range unaries {
		name := strings.ToUpper(u.name[:1]) + u.name[1:]
		v := read(name, 1)
		check(name, v, evaluate(program(t, name, array.Float64, 1, apply1(u.f)), v.x))
	}
	for _, u := range binaries {
		v := read(u.name, 2)
		check(u.name, v, evaluate(program(t, u.name, array.Float64, 2, apply2(u.f)), v.x, v.y))
	}
}

// TestNumPyVectors compares with the validation set of NumPy's universal functions: bits
// of arguments and of correctly rounded results. The files are NumPy's own, under the
// licence beside them; the last column, the error that NumPy allows itself, is not read.
func TestNumPyVectors(t *testing.T) {
	for name, f := range map[string]func(*loop.Builder, loop.Value) loop.Value{
		"exp": Exp, "expm1": Expm1, "log": Log, "log1p": Log1p, "sin": Sin, "cos": Cos, "sinh": Sinh, "tanh": Tanh, "arctan": Atan,
	} {
		file, err := os.Open(filepath.Join("testdata", "numpy", "umath-validation-set-"+name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(file)
		r.Comment = '#'
		r.FieldsPerRecord = -1
		var x32, want32 []float32
		var x64, want64 []float64
		for {
			w, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(w[0], "np.float") {
				continue
			}
			x, err1 := strconv.ParseUint(w[1], 0, 64)
			y, err2 := strconv.ParseUint(w[2], 0, 64)
			switch {
			case err1 != nil || err2 != nil:
				t.Fatal(name, w)
			case w[0] == "np.float32":
				x32, want32 = append(x32, math.Float32frombits(uint32(x))), append(want32, math.Float32frombits(uint32(y)))
			default:
				x64, want64 = append(x64, math.Float64frombits(x)), append(want64, math.Float64frombits(y))
			}
		}
		file.Close()
		if len(x32) == 0 || len(x64) == 0 {
			t.Fatalf("%s: no vectors", name)
		}
		for i, got := range evaluate(program(t, name, array.Float32, 1, apply1(f)), x32) {
			if e := ulps32(got, float64(want32[i])); e > 1 {
				t.Errorf("%s(%v) float32 = %v, want %v", name, x32[i], got, want32[i])
			}
		}
		for i, got := range evaluate(program(t, name, array.Float64, 1, apply1(f)), x64) {
			w := want64[i]
			if math.IsNaN(w) || math.IsInf(w, 0) {
				if got != w && !(math.IsNaN(w) && math.IsNaN(got)) {
					t.Errorf("%s(%v) = %v, want %v", name, x64[i], got, w)
				}
			} else if e := ulps64(got, w, 0); e > 2 || math.Signbit(got) != math.Signbit(w) {
				t.Errorf("%s(%v) = %v, want %v: %.1f ULP", name, x64[i], got, w, e)
			}
		}
	}
}
