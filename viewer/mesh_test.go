package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"weft"
	"weft/records"
)

type corner struct {
	Position [2]float32 `records:"position"`
	Color    [4]uint8   `records:"color"`
	Kind     uint16     `records:"kind"`
	Level    int8       `records:"level"`
	Turn     [4]float32 `records:"turn"`
}

// square is the corners of a square, red.
func square() *records.Array {
	v := records.Zeros(records.LayoutOf[corner](), 4)
	v.Field("position").Assign(weft.From([][]float32{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}))
	v.Field("color").Assign(weft.From([]uint8{255, 0, 0, 255}))
	v.Field("turn").Assign(weft.From([]float32{1, 0, 0, 1}))
	return v
}

// whole is the memory that a page has of vertices and indices.
func whole(v *records.Array, indices *weft.Tensor) []byte {
	out := weft.Data[uint8](v.Bytes().Reshape(-1))
	for len(out)%4 > 0 {
		out = append(out, 0)
	}
	if indices != nil {
		for _, k := range weft.Data[uint16](indices) {
			out = append(out, byte(k), byte(k>>8))
		}
	}
	return out
}

// A page without a browser has vertices and indices in one address space, and gets what changes.
func TestMeshSendsWhatChanges(t *testing.T) {
	v, indices := square(), weft.From([]uint16{0, 1, 2, 0, 2, 3})
	m := NewMesh(v, MeshOpts{Indices: indices, Cost: &weft.Cost{}})
	s := httptest.NewServer(m)
	defer s.Close()
	c := connect(t, s.URL, len(whole(v, indices)))
	var told hello
	if err := json.Unmarshal([]byte(c.hello()), &told); err != nil {
		t.Fatal(err)
	}
	if told.Vertices != 4 || told.Stride != 32 || told.Indices != 6 || told.IndicesAt != 128 || told.Total != 140 || told.Mode != "TRIANGLES" || len(told.Fields) != 5 || told.Fields[2] != (attribute{"kind", "uint16", 1, 12}) {
		t.Errorf("%+v", told)
	}
	c.draw()
	if !bytes.Equal(c.data, whole(v, indices)) {
		t.Error("at first the page has something else")
	}
	v.At(2).Field("color").Assign(7)
	indices.At(4).Assign(1)
	if n := c.draw(); n != 2 || !bytes.Equal(c.data, whole(v, indices)) {
		t.Errorf("%d ranges came", n)
	}
	if n := c.draw(); n != 0 {
		t.Errorf("%d ranges came for nothing", n)
	}
	if sent, full := m.Sent(); sent != 8+128+8+12+8+32+8+2 || full != 2*140 {
		t.Errorf("%d bytes were sent, %d would have been", sent, full)
	}
}

func TestMistakesWithMeshes(t *testing.T) {
	v := square()
	type wide struct{ X [64]float32 }
	for want, f := range map[string]func(){
		"mesh: ": func() { NewMesh(nil) },
		"mesh: vertices: are records of shape [2 2]": func() { NewMesh(v.Reshape(2, 2)) },
		"mesh: vertices: are records of shape [2],":  func() { NewMesh(v.Slice(weft.Range(0, 4, 2))) },
		"mesh: vertices: have 256 bytes":             func() { NewMesh(records.Zeros(records.LayoutOf[wide](), 2)) },
		"mesh: Mode: is 9":                           func() { NewMesh(v, MeshOpts{Mode: 9}) },
		"mesh: Indices: are float32[3]":              func() { NewMesh(v, MeshOpts{Indices: weft.Zeros(3)}) },
		"mesh: Indices: are uint16[1 1]":             func() { NewMesh(v, MeshOpts{Indices: weft.ZerosOf(weft.Uint16, 1, 1)}) },
		"sent: the Mesh is nil":                      func() { (*Mesh)(nil).Sent() },
		"servehttp: the Mesh is nil":                 func() { (*Mesh)(nil).ServeHTTP(nil, nil) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if Dots.String() != "POINTS" || Mode(99).String() != "invalid" {
		t.Error(Dots, Mode(99))
	}
}

// A browser draws what the fields and the indices say, by plain shaders and by others, and has in the
// memory of the graphics processor what the arrays have.
func TestMeshInBrowser(t *testing.T) {
	b := open(t)
	v, indices := square(), weft.From([]uint16{0, 1, 2, 0, 2, 3})
	plain := httptest.NewServer(NewMesh(v, MeshOpts{Indices: indices}))
	defer plain.Close()
	other := httptest.NewServer(NewMesh(v, MeshOpts{Mode: TriangleFan, Vertex: `#version 300 es
		in vec2 position;
		in uint kind;
		in int level;
		in mat2 turn;
		uniform mat4 view;
		flat out vec3 shade;
		void main() {
			gl_Position = view * vec4(turn * position, 0, 1);
			shade = vec3(kind == 300u, level == -3, 1);
		}`, Fragment: `#version 300 es
		precision mediump float;
		flat in vec3 shade;
		out vec4 color;
		void main() { color = vec4(shade, 1); }`}))
	defer other.Close()
	wrong := httptest.NewServer(NewMesh(v, MeshOpts{Vertex: "#version 300 es\nin vec4 normal; uniform mat4 view; void main() { gl_Position = view * normal; }", Fragment: "#version 300 es\nvoid main() {}"}))
	defer wrong.Close()

	// has waits for a number of pixels of a color.
	has := func(tab, color string, least, most int) {
		t.Helper()
		b.until(tab, fmt.Sprintf(`state.messages > 0 && (state.pixels()[%[1]q] || 0) >= %[2]d && (state.pixels()[%[1]q] || 0) <= %[3]d`, color, least, most))
		var failed string
		if b.eval(tab, "state.error", &failed); failed != "" {
			t.Fatal(failed)
		}
	}
	one := b.tab(plain.URL)
	has(one, "255,0,0", 5000, 1<<30)
	var red int
	b.eval(one, `state.pixels()["255,0,0"]`, &red)
	if got := b.buffer(one); !bytes.Equal(got, whole(v, indices)) {
		t.Error("the buffers have other bytes than the arrays")
	}
	indices.Slice(weft.Range(3, 6)).Assign(0) // half of the square
	has(one, "255,0,0", red/2-red/50, red/2+red/50)
	v.Field("color").Assign(weft.From([]uint8{0, 0, 255, 255}))
	has(one, "0,0,255", red/2-red/50, red/2+red/50)
	if got := b.buffer(one); !bytes.Equal(got, whole(v, indices)) {
		t.Error("the buffers have other bytes than the arrays after writes")
	}

	two := b.tab(other.URL)
	has(two, "0,0,255", red-red/50, red+red/50)
	v.Field("kind").Assign(300)
	has(two, "255,0,255", red-red/50, red+red/50)
	v.Field("level").Assign(-3)
	has(two, "255,255,255", red-red/50, red+red/50)
	v.Field("turn").Assign(weft.From([]float32{0.5, 0, 0, 0.5})) // half as wide and high
	has(two, "255,255,255", red/4-red/50, red/4+red/50)

	three := b.tab(wrong.URL)
	b.until(three, `state.error.includes("no field of a vertex is named normal")`)
}

func ExampleNewMesh() {
	type vertex struct {
		Position [3]float32 `records:"position"`
		Color    [4]uint8   `records:"color"`
	}
	triangles := records.Zeros(records.LayoutOf[vertex](), 300)
	page := httptest.NewServer(NewMesh(triangles)) // or http.ListenAndServe("localhost:8080", ...)
	defer page.Close()
	triangles.Field("position").Assign(weft.Randn(300, 3))
	triangles.Field("color").Assign(255)
}
