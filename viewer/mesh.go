package viewer

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/records"
)

//go:embed mesh.html
var meshPage []byte

// Mesh is a page that draws vertices with WebGL, by whatever fields they have, in order or by
// indices. It is an [http.Handler] as [Points] is. It is safe for use from several goroutines.
type Mesh struct {
	server *server
}

// A Mode says what vertices make.
type Mode uint8

// Modes, which are WebGL's.
const (
	Triangles Mode = iota
	TriangleStrip
	TriangleFan
	Lines
	LineStrip
	LineLoop
	Dots // one a vertex
)

var modes = [...]string{"TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN", "LINES", "LINE_STRIP", "LINE_LOOP", "POINTS"}

// String returns WebGL's name of the mode.
func (m Mode) String() string {
	if int(m) < len(modes) {
		return modes[m]
	}
	return "invalid"
}

// MeshOpts are the options of [NewMesh].
type MeshOpts struct {
	Mode Mode
	// Indices are the numbers of the vertices to draw, a contiguous vector of uint16 or uint32,
	// which may be written to as the vertices may. Nil means all vertices in order.
	Indices *weft.Tensor
	// Vertex and Fragment are shaders in GLSL ES 3.00. Attributes are the fields of a vertex that
	// have the same name, "_" in place of "."; further uniforms are
	//
	//	uniform mat4 view;   // of the page's camera
	//	uniform float size;  // pixels of the screen for each of the page
	//
	// Empty means shaders that take vec4 position and, if there is one, vec4 color.
	Vertex, Fragment string
	// Cost and Hosts are as in [PointsOpts].
	Cost  *weft.Cost
	Hosts []string
}

// NewMesh returns a page of vertices, contiguous records of one dimension, at most 1 GiB, which may be
// written to at any time: see [weft.Track]. A vertex has at most 255 bytes, as WebGL wants.
//
// Fields of int8 to uint32, float16 and float32 are attributes, of one to four numbers, or of a square
// matrix of float32. An attribute of integers in the shader gets integers. One of floats gets them
// as numbers from 0 to 1, or -1 to 1, if they have 8 or 16 bits: colors may be bytes. The page says
// what the shaders lack.
//
// It panics with *[weft.Error] if vertices or indices are anything else, or an option is not
// possible.
func NewMesh(vertices *records.Array, opts ...MeshOpts) *Mesh {
	const name = "mesh"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	l := vertices.Layout()
	n := vertices.Len()
	switch {
	case vertices.Rank() != 1 || !vertices.IsContiguous():
		array.Failf(name, "vertices", "are records of shape %s, want contiguous ones of one dimension", array.ShapeString(vertices.Shape()))
	case l.Size > 255:
		array.Failf(name, "vertices", "have %d bytes each, WebGL takes at most 255", l.Size)
	case int(o.Mode) >= len(modes):
		array.Failf(name, "Mode", "is %d, which is not a mode", o.Mode)
	}
	h := hello{Vertices: n, Stride: l.Size, Fields: attributes(l, "", 0), Mode: o.Mode.String(), Vertex: o.Vertex, Fragment: o.Fragment}
	parts := []part{{t: vertices.Bytes(), item: l.Size}}
	h.Total = n * l.Size
	if x := o.Indices; x != nil {
		if x.Rank() != 1 || x.DType() != weft.Uint16 && x.DType() != weft.Uint32 || !x.IsContiguous() {
			array.Failf(name, "Indices", "are %s, want a contiguous vector of uint16 or uint32", array.TypeString(x.DType(), x.Shape()))
		}
		size := x.DType().Size()
		h.IndicesAt = (h.Total + 3) / 4 * 4
		h.Indices, h.IndexType = x.Size(), x.DType().String()
		parts = append(parts, part{t: x, at: h.IndicesAt, item: size})
		h.Total = h.IndicesAt + x.Size()*size
	}
	if h.Total > 1<<30 {
		array.Failf(name, "vertices", "and indices have %d bytes, more than 1 GiB", h.Total)
	}
	s := newServer(meshPage, o.Cost, o.Hosts, parts...)
	text, err := json.Marshal(h)
	if err != nil {
		array.Failf(name, "", "the page cannot be told of the vertices: %v", err)
	}
	s.hello = text
	return &Mesh{s}
}

// A hello is what a page is told first.
type hello struct {
	Vertices  int         `json:"vertices"`
	Stride    int         `json:"stride"`
	Fields    []attribute `json:"fields"`
	Indices   int         `json:"indices"`
	IndexType string      `json:"indexType"` // "" without
	IndicesAt int         `json:"indicesAt"` // byte of the page's memory
	Total     int         `json:"total"`     // bytes
	Mode      string      `json:"mode"`
	Vertex    string      `json:"vertex"`
	Fragment  string      `json:"fragment"`
}

// An attribute is a field of a vertex that a shader may have.
type attribute struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Count  int    `json:"count"` // numbers
	Offset int    `json:"offset"`
}

// attributes returns the fields of elements of a layout, also in nested records. Arrays of records
// are left out.
func attributes(l records.Layout, path string, at int) (out []attribute) {
	for _, f := range l.Fields {
		name := path + f.Name
		if f.Record != nil {
			if len(f.Shape) == 0 {
				out = append(out, attributes(*f.Record, name+"_", at+f.Offset)...)
			}
			continue
		}
		out = append(out, attribute{strings.ReplaceAll(name, ".", "_"), f.DType.String(), array.Size(f.Shape), at + f.Offset})
	}
	return out
}

// Sent is that of [Points].
func (m *Mesh) Sent() (sent, full int64) {
	m.notNil("sent")
	return m.server.sent.Load(), m.server.full.Load()
}

func (m *Mesh) notNil(opName string) {
	if m == nil || m.server == nil {
		array.Failf(opName, "", "the Mesh is nil: NewMesh makes one")
	}
}

// ServeHTTP is that of [Points].
func (m *Mesh) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.notNil("servehttp")
	m.server.serveHTTP(w, r)
}
