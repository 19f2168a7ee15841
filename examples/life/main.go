// Life plays Conway's Game of Life in three ways that agree: in plain Go, by operations on
// whole arrays, and as a stencil. It also draws the Mandelbrot set by whole arrays.
package main

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"weft"
	"weft/kernel"
)

//go:embed kernels.go
var source string

var live = kernel.MustParse(source).Func("Live")

// Stencil plays n generations of a world of 0 and 1, uint8, whose edges meet.
func Stencil(world *weft.Tensor, n int) *weft.Tensor {
	worlds, _ := live.Iterate(n, world, kernel.StencilOpts{Border: kernel.Wrap})
	return worlds[0]
}

// Plain plays one generation in plain Go.
func Plain(world []uint8, rows, cols int) []uint8 {
	next := make([]uint8, len(world))
	for i := range rows {
		above, below := (i+rows-1)%rows*cols, (i+1)%rows*cols
		for j := range cols {
			left, right, row := (j+cols-1)%cols, (j+1)%cols, i*cols
			n := world[above+left] + world[above+j] + world[above+right] + world[row+left] + world[row+right] +
				world[below+left] + world[below+j] + world[below+right]
			if n == 3 || n == 2 && world[row+j] == 1 {
				next[row+j] = 1
			}
		}
	}
	return next
}

// Next is the next generation of such a world by whole arrays.
func Next(world *weft.Tensor) *weft.Tensor {
	rows := world.Roll(0, 1).Add(world).Add(world.Roll(0, -1))
	near := rows.Roll(1, 1).Add(rows).Add(rows.Roll(1, -1)).Sub(world)
	// Three neighbours give life, two keep it.
	return near.Eq(3).LogicalOr(near.Eq(2).LogicalAnd(world.Eq(1))).To(weft.Uint8)
}

// Mandelbrot returns for each point of c, complex, how many steps of z = z*z + c, at most
// steps, stay within 2 of 0, int32.
func Mandelbrot(c *weft.Tensor, steps int) *weft.Tensor {
	z, count := weft.ZerosLike(c), weft.ZerosOf(weft.Int32, c.Shape()...)
	for range steps {
		inside := z.Abs().Le(2)
		count = count.Add(inside.To(weft.Int32))
		z = weft.Where(inside, z.Mul(z).Add(c), z)
	}
	return count
}

// Plane is a grid of complex numbers, the imaginary parts falling from row to row.
func Plane(re0, re1, im0, im1 float64, rows, cols int) *weft.Tensor {
	re, im := weft.Linspace(re0, re1, cols), weft.Linspace(im1, im0, rows)
	return weft.Complex(re.Unsqueeze(0), im.Unsqueeze(1))
}

// draw shows whole numbers as characters, the last for all that are larger.
func draw(t *weft.Tensor, chars string) string {
	var b strings.Builder
	data, cols := weft.Data[int64](t.To(weft.Int64)), t.Dim(1)
	for i, x := range data {
		b.WriteByte(chars[min(int(x), len(chars)-1)])
		if i%cols == cols-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func main() {
	world := weft.ZerosOf(weft.Uint8, 8, 16)
	glider := weft.From([][]uint8{{0, 1, 0}, {0, 0, 1}, {1, 1, 1}})
	world.Slice(weft.Range(0, 3), weft.Range(0, 3)).Assign(glider)
	for range 4 {
		fmt.Println(draw(world, ".#"))
		world = Stencil(world, 3)
	}
	race(500, 100)
	fmt.Print(draw(Mandelbrot(Plane(-2.2, 0.8, -1.2, 1.2, 24, 72), 40), "        ..,,::;;++oo%%&&@@@@@@@@@@@@@@@@@@@#"))
}

// race plays generations of a large world in the three ways.
func race(size, generations int) {
	world := weft.NewGenerator(1).Randint(0, 2, size, size).To(weft.Uint8)
	fmt.Printf("%d x %d cells, %d generations:\n", size, size, generations)
	took := func(name string, play func() *weft.Tensor) {
		start := time.Now()
		end := play()
		fmt.Printf("  %-8s %7.1f ms, %d live, digest %.8s\n", name, time.Since(start).Seconds()*1e3, end.Sum().ItemInt(), weft.Digest(end))
	}
	took("plain Go", func() *weft.Tensor {
		w := weft.Data[uint8](world)
		for range generations {
			w = Plain(w, size, size)
		}
		return weft.FromSlice(w, size, size)
	})
	took("arrays", func() *weft.Tensor {
		w := world
		for range generations {
			w = Next(w)
		}
		return w
	})
	took("stencil", func() *weft.Tensor { return Stencil(world, generations) })
}
