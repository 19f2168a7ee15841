package weft_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"weft"
)

// TestTracedTensorsPrint prints and logs tensors inside functions that are traced, and one that is
// left of a trace: all verbs give the type and the shape, and nothing panics.
func TestTracedTensorsPrint(t *testing.T) {
	verbs := []string{"%v", "%+v", "%#v", "%s", "%.2f", "%d"}
	var out strings.Builder
	var left *weft.Tensor
	show := func(x *weft.Tensor) {
		for _, v := range verbs {
			fmt.Fprintf(&out, v+"\n", x)
		}
		fmt.Fprintln(&out, x, x.String())
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "x", x)
		if !strings.Contains(b.String(), "x.traced=true") {
			t.Errorf("logged %s", b.String())
		}
	}
	held := weft.Ones(2, 3)
	want := "<traced float32[2 3]>"
	for name, f := range map[string]func(){
		"compiled": func() {
			_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				left = x.Mul(2)
				show(left)
				show(held)
				return left
			}).Call(weft.Ones(2, 3))
			if err != nil {
				t.Error(err)
			}
		},
		"mapped": func() {
			weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { show(x[0]); return x[0].Exp() })(weft.Ones(4, 2, 3))
		},
	} {
		out.Reset()
		f()
		if s := out.String(); strings.Count(s, want) != strings.Count(s, "\n")+strings.Count(s, want+" "+want) || s == "" {
			t.Errorf("%s prints\n%s", name, s)
		}
	}
	if got := fmt.Sprint(left); got != want {
		t.Errorf("what is left of a trace prints %s", got)
	}
	if got := fmt.Sprint(held); got != "[[1. 1. 1.]\n [1. 1. 1.]]" {
		t.Errorf("after the trace %s", got)
	}
}
