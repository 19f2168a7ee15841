// Package worker is what the benchmarks' programs in Go have in common: reading
// one request a line (JSON) from standard input and answering each with one line on
// standard output, until the input ends. bench/README.md describes the protocol.
package worker

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

// worker keeps the case of the last request prepared and warm, because the
// driver comes back to it round after round.
type worker struct {
	lib   string // its name is also that of the formulation that is a case's Run
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
	maker := Cases[r.Case]
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
		if Cases[r.Case] != nil {
			forms = append(forms, map[string]any{"form": w.lib, "lib": w.lib})
		}
		for _, f := range Also[r.Case] {
			forms = append(forms, map[string]any{"form": f, "lib": w.lib, "counts": false})
		}
		return map[string]any{"forms": forms}, nil
	case "run":
		if err := w.prepare(r); err != nil {
			return nil, err
		}
		f := w.ready.Run
		if r.Form != w.lib {
			f = w.ready.Also[r.Form]
		}
		if f == nil {
			return nil, fmt.Errorf("no form %q of case %q", r.Form, r.Case)
		}
		if !w.warmed[r.Form] {
			w.warmed[r.Form] = true
			Warm(f, 30*time.Millisecond)
		}
		t := Measure(f, time.Duration(r.BudgetMS*float64(time.Millisecond)))
		return struct {
			Timing
			Check []float64 `json:"check,omitempty"`
		}{t, w.check}, nil
	case "values":
		f := Values[r.Case]
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

// Main serves requests about a library's Cases. versions goes into the hello.
func Main(lib string, versions map[string]string) {
	out := json.NewEncoder(os.Stdout)
	send := func(v any) {
		if err := out.Encode(v); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
	}
	versions["go"] = runtime.Version()
	versions["GOMAXPROCS"] = fmt.Sprint(runtime.GOMAXPROCS(0))
	send(map[string]any{"hello": versions})
	w := worker{lib: lib}
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
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}
