package main

import (
	"testing"

	"weft"
)

// A world by the rules, cell by cell.
func plain(world [][]uint8) [][]uint8 {
	h, w := len(world), len(world[0])
	out := make([][]uint8, h)
	for i := range out {
		out[i] = make([]uint8, w)
		for j := range out[i] {
			n := uint8(0)
			for _, d := range [][2]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
				n += world[(i+d[0]+h)%h][(j+d[1]+w)%w]
			}
			if n == 3 || n == 2 && world[i][j] == 1 {
				out[i][j] = 1
			}
		}
	}
	return out
}

func TestLife(t *testing.T) {
	weft.Seed(1)
	world := weft.Randint(0, 2, 13, 17).To(weft.Uint8)
	rows := make([][]uint8, 13)
	for i := range rows {
		rows[i] = weft.Data[uint8](world.At(i))
	}
	for step := range 20 {
		world, rows = Next(world), plain(rows)
		if weft.Digest(world) != weft.Digest(weft.From(rows)) {
			t.Fatalf("generation %d is\n%v\nwant\n%v", step+1, world, rows)
		}
	}
	// A glider is where it was after four generations, one further down and right.
	g := weft.ZerosOf(weft.Uint8, 8, 8)
	g.Slice(weft.Range(0, 3), weft.Range(0, 3)).Assign(weft.From([][]uint8{{0, 1, 0}, {0, 0, 1}, {1, 1, 1}}))
	if after := Next(Next(Next(Next(g)))); weft.Digest(after) != weft.Digest(g.Roll(0, 1).Roll(1, 1)) {
		t.Errorf("the glider became\n%v", after)
	}
}

// Three ways of 500 by 500 cells and 100 generations agree after each ten, and so does a
// world as narrow as the neighbourhood.
func TestThreeWays(t *testing.T) {
	for _, c := range []struct{ rows, cols, generations int }{{500, 500, 100}, {3, 3, 4}, {1, 7, 4}, {40, 2, 4}} {
		if testing.Short() {
			c.generations = min(c.generations, 20)
		}
		world := weft.NewGenerator(3).Randint(0, 2, c.rows, c.cols).To(weft.Uint8)
		byArrays, byStencil, byGo := world, world, weft.Data[uint8](world)
		for n := 1; n <= c.generations; n++ {
			byArrays, byGo = Next(byArrays), Plain(byGo, c.rows, c.cols)
			if n%10 != 0 && n != c.generations {
				continue
			}
			byStencil = Stencil(byStencil, (n-1)%10+1)
			want := weft.Digest(weft.FromSlice(byGo, c.rows, c.cols))
			if weft.Digest(byArrays) != want {
				t.Fatalf("%v: whole arrays differ from plain Go in generation %d", c, n)
			}
			if weft.Digest(byStencil) != want {
				t.Fatalf("%v: the stencil differs from plain Go in generation %d", c, n)
			}
		}
	}
}

func TestMandelbrot(t *testing.T) {
	const rows, cols, steps = 23, 37, 50
	c := Plane(-2.2, 0.8, -1.2, 1.2, rows, cols)
	got := weft.Data[int32](Mandelbrot(c, steps))
	differ := 0
	for i, c := range weft.Data[complex64](c) {
		z, n := complex64(0), int32(0)
		for range steps {
			if float64(real(z))*float64(real(z))+float64(imag(z))*float64(imag(z)) > 4 {
				break
			}
			n++
			z = z*z + c
		}
		if got[i] != n {
			differ++
		}
	}
	// Points beside the border may leave a step earlier or later, as rounding has it.
	if differ > rows*cols/100 {
		t.Errorf("%d of %d points differ", differ, rows*cols)
	}
}
