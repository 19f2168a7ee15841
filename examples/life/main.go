// Life plays Conway's Game of Life and draws the Mandelbrot set, both by whole arrays:
// no loop over cells or points.
package main

import (
	"fmt"
	"strings"

	"weft"
)

// Next is the next generation of a world of 0 and 1, uint8, whose edges meet.
func Next(world *weft.Tensor) *weft.Tensor {
	rows := world.Roll(0, 1).Add(world).Add(world.Roll(0, -1))
	near := rows.Roll(1, 1).Add(rows).Add(rows.Roll(1, -1)).Sub(world)
	// Three neighbours give life, two keep it.
	return near.Eq(3).LogicalOr(near.Eq(2).LogicalAnd(world.Eq(1))).To(weft.Uint8)
}

// Mandelbrot counts for each point of c, complex, how many of so many steps z*z + c
// stays within 2 of 0, int32.
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
		world = Next(Next(Next(world)))
	}
	fmt.Print(draw(Mandelbrot(Plane(-2.2, 0.8, -1.2, 1.2, 24, 72), 40), "        ..,,::;;++oo%%&&@@@@@@@@@@@@@@@@@@@#"))
}
