package onnx

import (
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/wire"
)

// portOf is an input or output of an element type.
func portOf(field, elem int, name string) []byte {
	return part(field, text(1, name), part(2, part(1, wire.AppendVarint(nil, 1, uint64(elem)))))
}

// Sizes that are computed from shapes become no part of programs, and no reason to split one.
func TestSizesAreComputedWhileTracing(t *testing.T) {
	m, err := Read(modelOf(
		nodeOf("Shape", []string{"x"}, []string{"s"}),
		nodeOf("Constant", nil, []string{"zero"}, attr("value_ints", attrInts, wire.AppendInt64s(nil, 8, []int64{0}))),
		nodeOf("Constant", nil, []string{"rest"}, attr("value_ints", attrInts, wire.AppendInt64s(nil, 8, []int64{-1}))),
		nodeOf("Gather", []string{"s", "zero"}, []string{"rows"}),
		nodeOf("Mul", []string{"rows", "rows"}, []string{"square"}),
		nodeOf("Div", []string{"square", "rows"}, []string{"again"}),
		nodeOf("Concat", []string{"again", "rest"}, []string{"shape"}, attr("axis", attrInt, wire.AppendVarint(nil, 3, 0))),
		nodeOf("Relu", []string{"x"}, []string{"r"}),
		nodeOf("Reshape", []string{"r", "shape"}, []string{"y"}),
		port(11, "x"), port(12, "y"), portOf(12, 7, "shape"),
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{2, 3, 2} {
		out, err := m.Run(map[string]*weft.Tensor{"x": weft.Ones(rows, 2, 5)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out["y"].Shape(), []int{rows, 10}) || weft.Data[int64](out["shape"])[0] != int64(rows) {
			t.Errorf("%d rows: %v, %v", rows, out["y"].Shape(), out["shape"])
		}
		out["shape"].Fill(7) // the caller's: the next call does not see it
	}
	list := *m.graph.plan.Load()
	if len(list) != 1 || list[0].eager {
		t.Errorf("the graph runs as %d pieces", len(list))
	}
}

// A node that needs elements runs between two programs, and what depends on it is right for each call.
func TestElementsAsSizesSplitPrograms(t *testing.T) {
	m, err := Read(modelOf(
		nodeOf("Relu", []string{"x"}, []string{"r"}),
		nodeOf("Reshape", []string{"r", "shape"}, []string{"a"}),
		nodeOf("Shape", []string{"a"}, []string{"s"}),
		nodeOf("Add", []string{"a", "a"}, []string{"b"}),
		nodeOf("Expand", []string{"b", "s"}, []string{"y"}),
		port(11, "x"), portOf(11, 7, "shape"), port(12, "y"),
	))
	if err != nil {
		t.Fatal(err)
	}
	x := weft.Arange(12).To(weft.Float32)
	var wg sync.WaitGroup
	for _, shape := range [][]int64{{3, 4}, {2, 6}, {12, 1}, {3, 4}, {2, 6}} {
		wg.Go(func() {
			out, err := m.Run(map[string]*weft.Tensor{"x": x, "shape": weft.FromSlice(shape)})
			if err != nil {
				t.Error(err)
				return
			}
			want := x.Mul(2).Reshape(int(shape[0]), int(shape[1]))
			if y := out["y"]; !slices.Equal(y.Shape(), want.Shape()) || !y.AllClose(want) {
				t.Errorf("%v: %v", shape, y)
			}
		})
	}
	wg.Wait()
	frames := m.graph.frames.Load()
	for slot, v := range *frames.free.Get().(*[]Value) {
		if v.kind != frames.fixed[slot].kind || v.tensor != frames.fixed[slot].tensor {
			t.Errorf("a run leaves %v in its frame as %s", v, m.graph.names[slot])
		}
	}
	list := *m.graph.plan.Load()
	if core.CompileOff {
		return // no program is made that could be split
	}
	if len(list) != 3 || !list[1].eager || list[1].to-list[1].from != 1 {
		t.Errorf("the graph runs as %d pieces: want the reshape alone between two", len(list))
	}
}

// A branch is chosen by what its condition is in each call, and sees values of the graph around it.
func TestBranchesFollowElements(t *testing.T) {
	inner := func(op string) []byte {
		return append(nodeOf(op, []string{"x", "w"}, []string{op}), append(text(2, op), port(12, op)...)...)
	}
	m, err := Read(modelOf(
		nodeOf("ReduceSum", []string{"x"}, []string{"sum"}, attr("keepdims", attrInt, wire.AppendVarint(nil, 3, 0))),
		nodeOf("Greater", []string{"sum", "zero"}, []string{"positive"}),
		nodeOf("If", []string{"positive"}, []string{"y"},
			attr("then_branch", attrGraph, wire.AppendBytes(nil, 6, inner("Add"))),
			attr("else_branch", attrGraph, wire.AppendBytes(nil, 6, inner("Sub")))),
		initializer("w", 1, []int64{1}, wire.AppendFloat32(nil, 4, 3)),
		initializer("zero", 1, nil, wire.AppendFloat32(nil, 4, 0)),
		port(11, "x"), port(12, "y"),
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, want float64 }{{1, 4}, {-1, -4}, {2, 5}} {
		out, err := m.Run(map[string]*weft.Tensor{"x": weft.Full(float32(c.x), 2)})
		if err != nil {
			t.Fatal(err)
		}
		if y := out["y"].At(0).Item(); y != c.want {
			t.Errorf("of %v: %v, want %v", c.x, y, c.want)
		}
	}
}
