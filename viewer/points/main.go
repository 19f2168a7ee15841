// Points shows a cloud of points in a browser while some of them move, and says how many
// bytes that took. The page has a copy of the array in the memory of the graphics processor.
// It is sent what was written since its last draw.
//
//	go run -C viewer ./points            # then open http://localhost:8080
//	go run -C viewer ./points -seconds 10
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"weft"
	"weft/viewer"
)

// Cloud is n points on a sphere, x, y and z, in blue: red, green and blue.
func Cloud(n int) *weft.Tensor {
	points := weft.Zeros(n, 6)
	place := points.Slice(weft.All, weft.Range(0, 3))
	place.Assign(weft.Randn(n, 3))
	place.DivAssign(place.Norm(2, 1).Unsqueeze(1))
	points.Slice(weft.All, weft.Range(3, 6)).Assign(weft.From([]float32{.25, .45, .9}))
	return points
}

// Move makes the points of one part swell, and the points of the part before calm again. A
// part is a hundredth of all points, side by side in memory, though anywhere on the sphere.
func Move(points *weft.Tensor, step int) {
	const parts = 100
	n := points.Dim(0) / parts
	part := func(i int) (place, color *weft.Tensor) {
		i = (i%parts + parts) % parts
		p := points.Slice(weft.Range(i*n, i*n+n))
		return p.Slice(weft.All, weft.Range(0, 3)), p.Slice(weft.All, weft.Range(3, 6))
	}
	const lasts = 10
	k, at := step/lasts, step%lasts
	place, color := part(k)
	swell := func(at int) float64 { return 1 + .3*math.Sin(math.Pi*float64(at)/lasts) }
	place.MulAssign(swell(at+1) / swell(at))
	color.Assign(weft.From([]float32{1, .6, .2}))
	if at == 0 {
		_, color = part(k - 1)
		color.Assign(weft.From([]float32{.25, .45, .9}))
	}
}

// run shows n points at an address until the context ends, and moves some sixty times a
// second.
func run(ctx context.Context, addr string, n int) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	points := Cloud(n)
	page := viewer.NewPoints(points)
	server := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer server.Close()
	fmt.Printf("%d points, %.1f MB, at http://%s\n", n, float64(4*points.Size())/1e6, l.Addr())
	report := func() {
		sent, full := page.Sent()
		saved := ""
		if sent > 0 {
			saved = fmt.Sprintf(", %.0f times fewer", float64(full)/float64(sent))
		}
		fmt.Printf("%.2f MB sent; whole arrays would have been %.2f MB%s\n", float64(sent)/1e6, float64(full)/1e6, saved)
	}
	tick := time.NewTicker(time.Second / 60)
	defer tick.Stop()
	for step := 0; ; step++ {
		select {
		case <-ctx.Done():
			report()
			return nil
		case err := <-failed:
			return err
		case <-tick.C:
		}
		Move(points, step)
		if step%300 == 299 {
			report()
		}
	}
}

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	n := flag.Int("points", 200_000, "how many points")
	seconds := flag.Float64("seconds", 0, "end after this many seconds; 0 means at Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*seconds*float64(time.Second)))
		defer cancel()
	}
	if err := run(ctx, *addr, *n); err != nil {
		log.Fatal(err)
	}
}
