package integrate

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// TestEvents compares the times and values of several events with SciPy's: all of them, until the second time of one,
// until the first one that ends the integration within a step, and backward.
func TestEvents(t *testing.T) {
	var s struct {
		Events map[string]struct {
			T     [][]float64
			Y     [][][]float64
			End   float64
			Ended bool
			Steps int
		}
	}
	text, err := os.ReadFile("testdata/scipy.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Events) != 4 {
		t.Fatal(err, len(s.Events))
	}
	y0 := weft.From([]float64{10, 5})
	for name, terminals := range map[string][]int{"none": {0, 0, 0}, "second": {0, 2, 0}, "first": {3, 2, 1}, "back": nil} {
		events := []Event{
			{F: func(_ float64, y *weft.Tensor) float64 { return y.At(0).Item() - 3 }},
			{F: func(_ float64, y *weft.Tensor) float64 { return y.At(1).Item() - 2 }, Direction: 1},
			{F: func(_ float64, y *weft.Tensor) float64 { return y.At(0).Sub(y.At(1)).Item() - 1 }, Direction: -1},
		}
		for i, n := range terminals {
			events[i].Terminal = n
		}
		from, to := 0.0, 15.0
		if name == "back" {
			from, to, events = to, from, events[:1]
			events[0].Direction = 1
		}
		got, err := SolveIVP(lotka, from, to, y0, SolveIVPOpts{RTol: 1e-6, Events: events})
		want := s.Events[name]
		if err != nil || got.Ended != want.Ended || math.Abs(got.T[len(got.T)-1]-want.End) > 1e-9 || got.Steps != want.Steps {
			t.Fatalf("%s: %v, %d steps to %v, want %d to %v", name, err, got.Steps, got.T[len(got.T)-1], want.Steps, want.End)
		}
		for i, times := range want.T {
			if len(got.TEvents[i]) != len(times) {
				t.Fatalf("%s: event %d at %v, not at %v", name, i, got.TEvents[i], times)
			}
			for j, at := range times {
				if math.Abs(got.TEvents[i][j]-at) > 1e-9 {
					t.Errorf("%s: event %d at %v, not at %v", name, i, got.TEvents[i], times)
				}
			}
			if len(times) == 0 && got.YEvents[i].Dim(0) != 0 || len(times) > 0 && !(greatest(got.YEvents[i], want.Y[i]) < 1e-8) {
				t.Errorf("%s: y at event %d is %v, not %v", name, i, got.YEvents[i], want.Y[i])
			}
		}
	}
}

// TestEventsOfAllMethods holds that a sine has its extremes and zeros where they are, with all methods and with TEval,
// that one event is Events of one, and that values at events have gradients with respect to y0.
func TestEventsOfAllMethods(t *testing.T) {
	f := func(_ float64, y *weft.Tensor) *weft.Tensor {
		return weft.Stack([]*weft.Tensor{y.At(1), y.At(0).Neg()}, 0)
	}
	zero := func(_ float64, y *weft.Tensor) float64 { return y.At(0).Item() }
	top := func(_ float64, y *weft.Tensor) float64 { return y.At(1).Item() }
	for _, m := range []Method{RK45, Rodas3, Radau, BDF} {
		o := SolveIVPOpts{Method: m, RTol: 1e-6, ATol: 1e-9, TEval: []float64{1, 3, 9}, Events: []Event{{F: zero, Terminal: 2}, {F: top, Direction: -1}}}
		y0 := weft.From([]float64{0, 1}).RequireGrad(true)
		s, err := SolveIVP(f, 0, 10, y0, o)
		if err != nil || len(s.T) != 3 || !s.Ended || math.Abs(s.T[2]-2*math.Pi) > 2e-3 || len(s.TEvents[0]) != 2 || len(s.TEvents[1]) != 1 || math.Abs(s.TEvents[1][0]-math.Pi/2) > 1e-3 {
			t.Fatal(m, err, s)
		}
		if v := s.YEvents[0].Slice(weft.All, weft.Index(1)); math.Abs(v.At(0).Item()+1) > 2e-3 || math.Abs(v.At(1).Item()-1) > 2e-3 {
			t.Error(m, v)
		}
		if m == RK45 {
			if g := weft.Grad(s.YEvents[1].At(0, 0), []*weft.Tensor{y0})[0]; math.Abs(g.At(0).Item()) > 1e-4 || math.Abs(g.At(1).Item()-1) > 1e-4 { // cos t and sin t
				t.Error(g)
			}
		}
		one, err := SolveIVP(f, 0.1, 10, y0.Detach(), SolveIVPOpts{Method: m, Event: zero})
		same, err2 := SolveIVP(f, 0.1, 10, y0.Detach(), SolveIVPOpts{Method: m, Events: []Event{{F: zero, Terminal: 1}}})
		if err != nil || err2 != nil || one.TEvents[0][0] != same.TEvents[0][0] || one.T[len(one.T)-1] != one.TEvents[0][0] {
			t.Error(m, one, same)
		}
	}
}

// TestEventMistakes compares what is said of bad events. An F that is NaN happens never.
func TestEventMistakes(t *testing.T) {
	y := weft.From([]float64{1, 2})
	nan := func(float64, *weft.Tensor) float64 { return math.NaN() }
	for want, o := range map[string]SolveIVPOpts{
		"integrate.solveivp: Events: has no F at 1":                       {Events: []Event{{F: nan}, {}}},
		"integrate.solveivp: Events: has Terminal -1 at 0: want a number": {Events: []Event{{F: nan, Terminal: -1}}},
		"integrate.solveivp: Events: has Direction 2 at 0: want -1, 0 or": {Events: []Event{{F: nan, Direction: 2}}},
		"integrate.solveivp: Event: is given with Events: want one":       {Event: nan, Events: []Event{{F: nan}}},
	} {
		if err := weft.Try(func() { SolveIVP(lotka, 0, 1, y, o) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if s, err := SolveIVP(lotka, 0, 1, y, SolveIVPOpts{Events: []Event{{F: nan, Terminal: 1}}}); err != nil || s.Ended || len(s.TEvents[0]) != 0 || s.YEvents[0].Dim(0) != 0 {
		t.Error(s, err)
	}
}
