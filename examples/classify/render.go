package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"weft"
)

// classes are what pictures show.
var classes = [...]string{"disc", "ring", "square", "cross", "triangle", "star"}

// Pictures is a dataset of pictures [3, Size, Size] and what they show. A picture is drawn when a loader asks
// for it. It depends on the seed and its number alone.
type Pictures struct {
	Count, Size int
	Seed        uint64
}

// Len implements data.Dataset.
func (p Pictures) Len() int { return p.Count }

// Get implements data.Dataset.
func (p Pictures) Get(i int) (x, y *weft.Tensor, err error) {
	if i < 0 || i >= p.Count {
		return nil, nil, fmt.Errorf("picture %d of %d", i, p.Count)
	}
	class := i % len(classes)
	return weft.FromSlice(p.draw(i, class), 3, p.Size, p.Size), weft.Scalar(int64(class)), nil
}

// draw draws a shape of any light colour, place, size and angle over a dark ground that fades from one colour to
// another, under noise.
func (p Pictures) draw(i, class int) []float32 {
	r := rand.New(rand.NewPCG(p.Seed, uint64(i)))
	var ink, from, to [3]float64
	for c := range ink {
		ink[c], from[c], to[c] = 0.5+0.5*r.Float64(), 0.5*r.Float64(), 0.5*r.Float64()
	}
	size := float64(p.Size)
	radius := size * (0.27 + 0.12*r.Float64())
	cx, cy := size*(0.4+0.2*r.Float64()), size*(0.4+0.2*r.Float64())
	sin, cos := math.Sincos((2*r.Float64() - 1) * math.Pi / 8)
	out := make([]float32, 3*p.Size*p.Size)
	for row := range p.Size {
		for column := range p.Size {
			dx, dy := float64(column)+0.5-cx, float64(row)+0.5-cy
			inside := shows(class, (dx*cos+dy*sin)/radius, (dy*cos-dx*sin)/radius)
			fade := float64(row+column) / (2 * size)
			for c := range 3 {
				v := from[c] + fade*(to[c]-from[c])
				if inside {
					v = ink[c]
				}
				out[(c*p.Size+row)*p.Size+column] = float32(2*v - 1 + 0.1*r.NormFloat64())
			}
		}
	}
	return out
}

// shows reports whether a point is in the shape of a class, whose radius is 1.
func shows(class int, x, y float64) bool {
	far := math.Hypot(x, y)
	switch classes[class] {
	case "disc":
		return far < 0.9
	case "ring":
		return far < 1 && far > 0.55
	case "square":
		return max(math.Abs(x), math.Abs(y)) < 0.8
	case "cross":
		return min(math.Abs(x), math.Abs(y)) < 0.25 && max(math.Abs(x), math.Abs(y)) < 1
	case "triangle":
		return y < 0.7 && y > 2*math.Abs(x)-1
	}
	const points = 5
	turn := math.Atan2(x, -y) * points / (2 * math.Pi)
	return far < 1.1-1.3*math.Abs(turn-math.Round(turn))
}
