// Package viewer shows arrays in a browser while they change. A page keeps a copy of the
// array in the memory of the graphics processor, and at each of its draws asks for what was
// written since the one before: only those bytes are sent (see [weft.Track]).
//
//	points := weft.Zeros(100_000, 6) // x, y, z, red, green, blue
//	server := &http.Server{Addr: "localhost:8080", Handler: viewer.NewPoints(points), ReadHeaderTimeout: 10 * time.Second}
//	go server.ListenAndServe()
//	for {
//		points.Slice(weft.Range(0, 100), weft.Range(0, 3)).AddAssign(0.01)
//	}
//
// [NewPoints] draws a cloud of points, [NewMesh] records as points, lines or triangles, by indices and
// with shaders of your own.
package viewer
