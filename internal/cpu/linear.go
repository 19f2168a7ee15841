package cpu

import (
	"weft/internal/cpu/linalg"
	"weft/internal/device"
	"weft/internal/op"
)

// Routines of linear algebra.

func cholesky(c *device.Call) error {
	return linalg.Cholesky(isaOf(c), &c.Out[0], &c.Args[0])
}

func solveTriangular(c *device.Call) error {
	return linalg.SolveTriangular(isaOf(c), &c.Out[0], &c.Args[0], &c.Args[1], linalg.Triangle(c.Node.Attrs.(op.Triangle)))
}
