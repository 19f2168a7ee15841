package onnx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"weft"
)

// countingModel is a loop of a number of steps that adds 1 to x, known before it runs if fixed.
func countingModel(t *testing.T, steps int64, fixed bool, body ...[]byte) *Model {
	t.Helper()
	from := "x"
	if fixed {
		from = "one"
	}
	if body == nil {
		body = [][]byte{nodeOf("Add", []string{"v", "one"}, []string{"w"}), port(12, "go"), port(12, "w")}
	}
	loop := nodeOf("Loop", []string{"m", "", from}, []string{"s"}, subgraph("body", append(body, port(11, "i"), port(11, "go"), port(11, "v"))...))
	m, err := Read(modelOf(integer("m", steps), initializer("one", int(Float), nil, text(9, "\x00\x00\x80\x3f")),
		loop, nodeOf("Add", []string{"x", "s"}, []string{"y"}), port(11, "x"), port(12, "y")))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A context ends a loop without an end in sight: of operators, of a body without nodes, inside another loop, and of
// constants of the file, which is not computed once for all runs. Runs beside it give their results.
func TestRunContextEndsLoops(t *testing.T) {
	const endless = 1 << 40
	inner := nodeOf("Loop", []string{"m", "", "v"}, []string{"w"}, subgraph("body", port(11, "j"), port(11, "on"), port(11, "u"),
		nodeOf("Neg", []string{"u"}, []string{"n"}), port(12, "on"), port(12, "n")))
	constant := nodeOf("Loop", []string{"m", "", "one"}, []string{"w"}, subgraph("body", port(11, "j"), port(11, "on"), port(11, "u"),
		nodeOf("Neg", []string{"u"}, []string{"n"}), port(12, "on"), port(12, "n")))
	for name, m := range map[string]*Model{
		"adds":              countingModel(t, endless, false),
		"constants":         countingModel(t, endless, true),
		"no nodes":          countingModel(t, endless, false, port(12, "go"), port(12, "v")),
		"no nodes, known":   countingModel(t, endless, true, port(12, "go"), port(12, "v")),
		"nested":            countingModel(t, endless, false, inner, port(12, "go"), port(12, "w")),
		"nested, constants": countingModel(t, endless, false, constant, port(12, "go"), port(12, "w")),
	} {
		cause := errors.New("the user went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		x := weft.Ones(3)
		done := make(chan error, 2)
		for range cap(done) {
			go func() {
				out, err := m.RunContext(ctx, map[string]*weft.Tensor{"x": x})
				if out != nil {
					t.Errorf("%s: results %v", name, out)
				}
				done <- err
			}()
		}
		for range cap(done) {
			select {
			case err := <-done:
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, cause) {
					t.Errorf("%s: %v", name, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: the loop goes on", name)
			}
		}
		if !x.AllClose(weft.Ones(3)) {
			t.Errorf("%s: x is %v", name, x)
		}
	}
}

// A deadline ends one run of a model; others of it at the same time, and later ones, give their results.
func TestRunContextBesideOthers(t *testing.T) {
	m := countingModel(t, 200, false)
	run := func(ctx context.Context) {
		out, err := m.RunContext(ctx, map[string]*weft.Tensor{"x": weft.Ones(3)})
		if err == nil && !out["y"].AllClose(weft.Full(float32(202), 3)) {
			t.Error(out)
		}
		if ended := ctx.Err(); err != nil && (ended == nil || !errors.Is(err, ended)) {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if i%2 == 1 {
				ctx, cancel = context.WithTimeout(ctx, time.Duration(i*i)*200*time.Microsecond)
			}
			defer cancel()
			run(ctx)
		})
	}
	wg.Wait()
	run(t.Context())
}

// A context that has ended before the run is an error of the run, whatever the model has, and none of the next one.
func TestRunContextThatHasEnded(t *testing.T) {
	m, err := Load("testdata/mlp_script.onnx")
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*weft.Tensor{"input": weft.Ones(2, 6)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		var e *Error
		if out, err := m.RunContext(ended, in); out != nil || !errors.As(err, &e) || !errors.Is(err, context.Canceled) {
			t.Errorf("results %v, error %v", out, err)
		}
		if out, err := m.RunContext(t.Context(), in); err != nil || len(out) != 1 {
			t.Error(out, err)
		}
	}
	values := map[string]Value{"input": TensorOf(in["input"])}
	if out, err := m.RunValuesContext(ended, values); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("results %v, error %v", out, err)
	}
	var none context.Context
	if _, err := m.RunContext(none, in); err == nil || err.Error() != "onnx: ctx is nil" {
		t.Error(err)
	}
}
