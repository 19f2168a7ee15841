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

func luFactor(c *device.Call) error {
	return linalg.LUFactor(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0])
}

func luSolve(c *device.Call) error {
	return linalg.LUSolve(isaOf(c), &c.Out[0], &c.Args[0], &c.Args[1], &c.Args[2], bool(c.Node.Attrs.(op.Adjoined)))
}

func permutation(c *device.Call) error { return linalg.Permutation(&c.Out[0], &c.Args[0]) }

func solve(c *device.Call) error {
	return linalg.Solve(isaOf(c), &c.Out[0], &c.Out[1], &c.Out[2], &c.Args[0], &c.Args[1])
}

func qr(c *device.Call) error { return linalg.QR(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0]) }

func qrTriangle(c *device.Call) error { return linalg.QR(isaOf(c), nil, &c.Out[0], &c.Args[0]) }
