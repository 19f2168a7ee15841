package nn_test

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"weft"
	"weft/nn"
)

// A model whose last layer has the weights of the first, and one of whose layers is there twice.
type tiedModel struct {
	Embed  *nn.Embedding
	Blocks []*nn.Linear
	Head   *nn.Linear
	Loop   *tiedModel
}

func newTied(seed uint64) *tiedModel {
	g := weft.NewGenerator(seed)
	o := nn.Opts{Generator: g, NoBias: true}
	m := &tiedModel{Embed: nn.NewEmbedding(4, 3, nn.EmbeddingOpts{Generator: g}), Head: nn.NewLinear(3, 4, o)}
	block := nn.NewLinear(3, 3, o)
	m.Blocks = []*nn.Linear{block, nn.NewLinear(3, 3, o), block}
	m.Head.Weight = m.Embed.Weight
	m.Loop = m // paths without an end
	return m
}

// TestStateUnderAllNames loads states that hold tied weights under each set of their names, as
// PyTorch's state_dict does and as files that keep one name do.
func TestStateUnderAllNames(t *testing.T) {
	from := nn.State(newTied(2))
	if got, want := slices.Sorted(maps.Keys(from)), []string{"blocks.0.weight", "blocks.1.weight", "embed.weight"}; !slices.Equal(got, want) {
		t.Fatalf("a state has the names %q, want %q", got, want)
	}
	embed, block, other := from["embed.weight"], from["blocks.0.weight"], from["blocks.1.weight"]
	for how, state := range map[string]map[string]*weft.Tensor{
		"first names":   from,
		"all names":     {"embed.weight": embed, "head.weight": embed.Clone(), "blocks.0.weight": block, "blocks.1.weight": other, "blocks.2.weight": block},
		"last names":    {"head.weight": embed, "blocks.1.weight": other, "blocks.2.weight": block},
		"other case":    {"Head.Weight": embed, "blocks.1.weight": other, "BLOCKS.2.weight": block},
		"far around":    {"loop.loop.head.weight": embed, "loop.blocks.1.weight": other, "blocks.2.weight": block},
		"two types":     {"embed.weight": embed, "head.weight": embed.To(weft.Float64), "blocks.0.weight": block, "blocks.1.weight": other},
		"a NaN in both": {"embed.weight": embed, "head.weight": embed, "blocks.0.weight": block.Div(0), "blocks.1.weight": other, "blocks.2.weight": block.Div(0)},
	} {
		m := newTied(1)
		if err := nn.LoadState(m, state, true); err != nil {
			t.Errorf("%s: %v", how, err)
		} else if m.Embed.Weight.Ne(embed).Any().ItemInt() != 0 || m.Blocks[1].Weight.Ne(other).Any().ItemInt() != 0 || m.Head.Weight != m.Embed.Weight {
			t.Errorf("%s: the module holds other values", how)
		}
	}

	m := newTied(1)
	before := m.Embed.Weight.Detach().Clone()
	state := maps.Clone(from)
	state["head.weight"] = embed.Add(1).Detach()
	state["blocks.3.weight"] = block
	var e *nn.StateError
	if err := nn.LoadState(m, state, false); !errors.As(err, &e) || !reflect.DeepEqual(e.Untied, [][2]string{{"embed.weight", "head.weight"}}) {
		t.Errorf("different values under two names of one tensor: %v", err)
	}
	if m.Embed.Weight.Ne(before).Any().ItemInt() != 0 {
		t.Error("a refused state changed the module")
	}
	delete(state, "head.weight")
	if err := nn.LoadState(m, state, true); !errors.As(err, &e) || !slices.Equal(e.Unexpected, []string{"blocks.3.weight"}) || len(e.Missing) > 0 {
		t.Errorf("a name that leads nowhere: %v", err)
	}
	if err := nn.LoadState(m, map[string]*weft.Tensor{"head.weight": embed}, true); !errors.As(err, &e) || !slices.Equal(e.Missing, []string{"blocks.0.weight", "blocks.1.weight"}) {
		t.Errorf("what is missing: %v", err)
	}
}

// TestStateOfSharedParts loads a state with one name of a tensor that 2^40 paths lead to.
func TestStateOfSharedParts(t *testing.T) {
	type pair struct{ A, B any }
	w := nn.Param(weft.Zeros(1))
	var m any = w
	path := ""
	for range 40 {
		m, path = &pair{m, m}, ".b"+path
	}
	if err := nn.LoadState(m, map[string]*weft.Tensor{path[1:]: weft.Ones(1)}, true); err != nil || w.Item() != 1 {
		t.Errorf("%v, %v", err, w)
	}
}

// TestStateOfOtherFloats loads floats of each type into a module of each: the numbers rounded
// once, as PyTorch's load_state_dict copies them. Types of other kinds are refused.
func TestStateOfOtherFloats(t *testing.T) {
	floats := []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64}
	x := []float64{1.0 / 3, -2.5e-3, 1000.125, math.Inf(1)}
	for _, a := range floats {
		for _, b := range floats {
			w := nn.Param(weft.ZerosOf(b, 4))
			s := weft.FromSlice(x).To(a)
			if err := nn.LoadState(&struct{ W *weft.Tensor }{w}, map[string]*weft.Tensor{"w": s}, true); err != nil {
				t.Errorf("%s into %s: %v", a, b, err)
			} else if w.DType() != b || w.Ne(s.To(b)).Any().ItemInt() != 0 {
				t.Errorf("%s into %s: %v, want %v", a, b, w, s.To(b))
			}
		}
	}
	for _, c := range [][2]weft.DType{{weft.Int64, weft.Float32}, {weft.Uint8, weft.Float32}, {weft.Bool, weft.Float32}, {weft.Float32, weft.Int64}, {weft.Int32, weft.Int64}, {weft.Complex64, weft.Float32}, {weft.Float32, weft.Complex64}} {
		var e *nn.StateError
		err := nn.LoadState(&struct{ W *weft.Tensor }{weft.ZerosOf(c[1], 2)}, map[string]*weft.Tensor{"w": weft.ZerosOf(c[0], 2)}, true)
		if !errors.As(err, &e) || len(e.Mismatched) != 1 || e.Mismatched[0].DType != c[0] || e.Mismatched[0].WantDType != c[1] {
			t.Errorf("%s into %s: %v", c[0], c[1], err)
		}
	}
}
