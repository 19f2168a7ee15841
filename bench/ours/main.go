// Command ours is weft's side of the benchmarks. It is a worker: it reads one
// request a line (JSON) from standard input and answers each with one line on
// standard output, until its input ends. bench/README.md describes the protocol;
// the cases are in the registry.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"
)

type request struct {
	Op       string  `json:"op"` // "forms", "run" or "values"
	Case     string  `json:"case"`
	Form     string  `json:"form"`
	N        int     `json:"n"`
	DType    string  `json:"dtype"`
	Threads  int     `json:"threads"`
	BudgetMS float64 `json:"budget_ms"`
}

// formRun is the formulation of which the ratio is taken: a case's Run.
const formRun = "weft"

// worker keeps the case of the last request prepared and warm, because the
// driver comes back to it round after round.
type worker struct {
	key   string
	ready *Case
	check []float64
	// warmed has the formulations that have run.
	warmed map[string]bool
}

func (w *worker) prepare(r request) error {
	key := fmt.Sprintf("%s/%d/%s/%d", r.Case, r.N, r.DType, r.Threads)
	if w.key == key {
		return nil
	}
	if w.ready != nil && w.ready.Close != nil {
		w.ready.Close()
	}
	w.key, w.ready, w.check = "", nil, nil
	runtime.GC()
	maker := cases[r.Case]
	if maker == nil {
		return fmt.Errorf("no case %q", r.Case)
	}
	c, err := maker(Params{N: r.N, DType: r.DType, Threads: r.Threads})
	if err != nil {
		return err
	}
	if c.Check != nil {
		w.check = c.Check()
	}
	w.key, w.ready, w.warmed = key, c, map[string]bool{}
	return nil
}

func (w *worker) answer(r request) (any, error) {
	switch r.Op {
	case "forms":
		forms := []map[string]any{}
		if cases[r.Case] != nil {
			forms = append(forms, map[string]any{"form": formRun, "lib": "weft"})
		}
		for _, f := range also[r.Case] {
			forms = append(forms, map[string]any{"form": f, "lib": "weft", "counts": false})
		}
		return map[string]any{"forms": forms}, nil
	case "run":
		if err := w.prepare(r); err != nil {
			return nil, err
		}
		f := w.ready.Run
		if r.Form != formRun {
			f = w.ready.Also[r.Form]
		}
		if f == nil {
			return nil, fmt.Errorf("no form %q of case %q", r.Form, r.Case)
		}
		if !w.warmed[r.Form] {
			w.warmed[r.Form] = true
			warm(f, 30*time.Millisecond)
		}
		t := measure(f, time.Duration(r.BudgetMS*float64(time.Millisecond)))
		return struct {
			timing
			Check []float64 `json:"check,omitempty"`
		}{t, w.check}, nil
	case "values":
		f := values[r.Case]
		if f == nil {
			return nil, fmt.Errorf("no values %q", r.Case)
		}
		v, err := f(max(r.Threads, 1))
		return map[string]any{"values": v}, err
	}
	return nil, fmt.Errorf("unknown op %q", r.Op)
}

// guarded turns a panic of a case into its answer: one broken case must not end
// the run of the others.
func (w *worker) guarded(r request) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.key, w.ready = "", nil
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return w.answer(r)
}

func main() {
	out := json.NewEncoder(os.Stdout)
	send := func(v any) {
		if err := out.Encode(v); err != nil {
			fmt.Fprintln(os.Stderr, "ours:", err)
			os.Exit(1)
		}
	}
	send(map[string]any{"hello": map[string]string{
		"go":         runtime.Version(),
		"GOMAXPROCS": fmt.Sprint(runtime.GOMAXPROCS(0)),
	}})
	var w worker
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			send(map[string]string{"error": err.Error()})
			continue
		}
		reply, err := w.guarded(r)
		if err != nil {
			reply = map[string]string{"error": err.Error()}
		}
		send(reply)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}
