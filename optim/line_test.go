package optim_test

import (
	"fmt"
	"strings"
	"testing"

	"weft"
	"weft/optim"
)

// Operations of a compiled step come from the line that calls Step, however many parameters the
// optimizer has: each nests a call.
func TestStepHasTheUsersLine(t *testing.T) {
	var params []*weft.Tensor
	for range 60 {
		params = append(params, weft.Ones(2).RequireGrad())
	}
	opt := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) {
		for i, p := range params {
			if !yield(fmt.Sprint(i), p) {
				return
			}
		}
	})
	step := weft.Compile(func() *weft.Tensor {
		loss := weft.Zeros(2)
		for _, p := range params {
			loss = loss.Add(p.Square())
		}
		loss.Sum().Backward()
		opt.Step() // line 32
		return loss
	})
	if _, err := step.Call(); err != nil {
		t.Fatal(err)
	}
	updates, placed := 0, 0
	for line := range strings.Lines(step.Explain()) {
		if strings.HasPrefix(line, "sub #") {
			updates++
			placed += strings.Count(line, "line_test.go:32")
		}
	}
	if updates < len(params) || placed != updates {
		t.Errorf("%d of %d updates of %d parameters have the line of Step", placed, updates, len(params))
	}
}
