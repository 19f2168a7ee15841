package main_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"weft"
)

// Functions that decide by a length are refused, also where the example and lengths near it do the same.
func TestBranchesByLengthAreRefused(t *testing.T) {
	x, rows := weft.Ones(64, 2), weft.Rand(2, 2)
	row := []*weft.Tensor{rows.At(0), rows.At(1)} // of one memory
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"above 70": func(x *weft.Tensor) *weft.Tensor {
			if x.Dim(0) > 70 {
				return x.Exp()
			}
			return x.Mul(2)
		},
		"odd": func(x *weft.Tensor) *weft.Tensor {
			if x.Dim(0)%2 == 0 {
				return x.Exp()
			}
			return x.Mul(2)
		},
		"another row of one matrix": func(x *weft.Tensor) *weft.Tensor { return x.Mul(row[x.Dim(0)%2]) },
		"above 10, else the argument": func(x *weft.Tensor) *weft.Tensor {
			if x.Dim(0) > 10 {
				return x.Mul(2)
			}
			return x
		},
	} {
		path := filepath.Join(t.TempDir(), "f.weft")
		err := weft.Compile(f).Save(path, []any{x}, weft.SaveOpts{Inputs: []string{"x[n 2]"}})
		if e, ok := err.(*weft.Error); !ok || e.Op != "save" {
			t.Errorf("%s: %v, want an error of save", name, err)
		}
	}
}

// A number that is a minimum of a length is computed in the file.
func TestLeastOfLength(t *testing.T) {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Mul(float64(min(x.Dim(0), 50))) })
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := f.Save(path, []any{weft.Ones(64, 2)}, weft.SaveOpts{Inputs: []string{"x[n 2]"}}); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 49, 50, 51, 64, 100} {
		out, err := p.Call(weft.Ones(n, 2))
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].At(0, 0).Item(); got != float64(min(n, 50)) {
			t.Errorf("%d rows: %v", n, got)
		}
	}
}

// Lengths for which the operations of a file are not possible are refused by calls.
func TestLengthsThatAreTooShort(t *testing.T) {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 10)).Mul(2) })
	p := load(t, f, []any{weft.Ones(64, 2)}, weft.SaveOpts{Inputs: []string{"x[n 2]"}})
	for _, n := range []int{10, 11, 200} {
		out, err := p.Call(weft.Ones(n, 2))
		if err != nil || out[0].Dim(0) != 10 {
			t.Fatal(n, out, err)
		}
	}
	var e *weft.Error
	if _, err := p.Call(weft.Ones(9, 2)); !errors.As(err, &e) || !strings.Contains(err.Error(), "cannot be computed for n = 9") {
		t.Errorf("9 rows: %v", err)
	}
}

// A loop that only its condition ends is saved for any length.
func TestWhileOfAnyLength(t *testing.T) {
	double := func(x *weft.Tensor) *weft.Tensor {
		return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Sum().Lt(1000) },
			func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Mul(2)} }, []*weft.Tensor{x})[0]
	}
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := weft.Compile(double).Save(path, []any{weft.Ones(3, 2)}, weft.SaveOpts{Inputs: []string{"x[n 2]"}}); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 50, 400, 1 << 20} {
		x := weft.Full(float32(1.0/256), n, 2)
		out, err := p.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if weft.Digest(out[0]) != weft.Digest(double(x)) {
			t.Errorf("%d rows: %v, want %v", n, out[0].At(0, 0), double(x).At(0, 0))
		}
	}
}
