package methods_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
)

// padCase returns the call of PadMode with an option that stands in a case of testdata/arrays.txt: the widths, and
// behind them the numbers of the option.
func padCase(call string) arrayCase {
	option, mode, _ := strings.Cut(call, "_")
	options := map[string]func(n []float64) weft.PadOpts{
		"padodd":     func([]float64) weft.PadOpts { return weft.PadOpts{Odd: true} },
		"padlengths": func(n []float64) weft.PadOpts { return weft.PadOpts{Lengths: whole(n)} },
		"padvalues":  func(n []float64) weft.PadOpts { return weft.PadOpts{Values: n} },
	}[option]
	if options == nil {
		return nil
	}
	return func(x tensors, n []float64) tensors {
		widths := 2 * x[0].Rank()
		return list(x[0].PadMode(mode, whole(n[:widths]), options(n[widths:])))
	}
}

// paddings are calls of PadMode by every mode with every option that it has, on rows of 4 elements.
var paddings = map[string]func(x *weft.Tensor) *weft.Tensor{}

func init() {
	for modes, o := range map[string][]weft.PadOpts{
		"edge wrap":                   {{}},
		"reflect symmetric":           {{}, {Odd: true}},
		"maximum minimum mean median": {{}, {Lengths: []int{3}}, {Lengths: []int{1, 2}}},
		"constant linear_ramp":        {{}, {Values: []float64{0.5}}, {Values: []float64{-1.5, 2}}},
	} {
		for mode := range strings.FieldsSeq(modes) {
			for i, o := range o {
				paddings[mode+strings.Repeat(" with option", i)] = func(x *weft.Tensor) *weft.Tensor {
					return x.PadMode(mode, []int{3, 9}, o)
				}
			}
		}
	}
}

// TestPadModeInPrograms compares rows that Vmap and saved programs pad with rows padded one by one, and first and
// second derivatives with differences.
func TestPadModeInPrograms(t *testing.T) {
	x := weft.FromSlice([]float64{0.3, -1.25, 2.5, 0.75, 4, 3.5, -2, 0.125}, 2, 4)
	for name, f := range paddings {
		want := weft.Stack([]*weft.Tensor{f(x.At(0)), f(x.At(1))}, 0)
		rowsOf := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) })
		same := func(how string, got *weft.Tensor) {
			if !slices.Equal(weft.Data[float64](got.Contiguous()), weft.Data[float64](want)) {
				t.Errorf("%s %s: %v, want %v", name, how, got, want)
			}
		}
		same("by Vmap", rowsOf(x))
		file := filepath.Join(t.TempDir(), "padding")
		rows := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return rowsOf(x) })
		same("compiled", rows.Func()(x))
		if err := rows.Save(file, []any{x}); err != nil {
			t.Fatal(name, err)
		}
		p, err := weft.LoadProgram(file)
		if err != nil {
			t.Fatal(name, err)
		}
		out, err := p.Call(x)
		if err != nil {
			t.Fatal(name, err)
		}
		same("saved", out[0])
		square := func(x ...*weft.Tensor) *weft.Tensor { return f(x[0].At(0)).Square() }
		if err := weft.GradCheck(square, tensors{x}); err != nil {
			t.Error(name, err)
		}
		if err := weft.GradGradCheck(square, tensors{x}); err != nil {
			t.Error(name, err)
		}
	}
}

// TestPadModeOfOneNumber compares an option of one number with the same number for every side.
func TestPadModeOfOneNumber(t *testing.T) {
	x, pads := weft.FromSlice([]float64{3, 1, 4, 1, 5, 9}, 2, 3), []int{1, 2, 2, 0}
	for mode, o := range map[string][2]weft.PadOpts{
		"mean":        {{Lengths: []int{2}}, {Lengths: []int{2, 2, 2, 2}}},
		"linear_ramp": {{Values: []float64{7}}, {Values: []float64{7, 7, 7, 7}}},
		"constant":    {{Values: []float64{7}}, {Values: []float64{7, 7, 7, 7}}},
	} {
		if one, four := x.PadMode(mode, pads, o[0]), x.PadMode(mode, pads, o[1]); !one.ArrayEqual(four) || one.ArrayEqual(x.PadMode(mode, pads)) {
			t.Errorf("%s: %v for one number, %v for four", mode, one, four)
		}
	}
	if got, want := x.PadMode("constant", pads, weft.PadOpts{Values: []float64{7}}), x.Pad(7, pads...); !got.ArrayEqual(want) {
		t.Errorf("constant is %v, Pad gives %v", got, want)
	}
}
