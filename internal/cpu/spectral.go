package cpu

import (
	"weft/internal/cpu/linalg"
	"weft/internal/device"
	"weft/internal/op"
)

// Routines of eigenvalues, singular values and functions of matrices.

func eigh(c *device.Call) error {
	return linalg.Eigh(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0])
}

func eigValsH(c *device.Call) error {
	return linalg.Eigh(isaOf(c), &c.Out[0], nil, &c.Args[0])
}

func svd(c *device.Call) error {
	return linalg.SVD(isaOf(c), &c.Out[0], &c.Out[1], &c.Out[2], &c.Args[0])
}

func svdVals(c *device.Call) error {
	return linalg.SVD(isaOf(c), nil, &c.Out[0], nil, &c.Args[0])
}

func pinv(c *device.Call) error {
	cutoff := float64(c.Node.Attrs.(op.Cutoff))
	return linalg.PInv(isaOf(c), &c.Out[0], &c.Out[1], &c.Out[2], &c.Out[3], &c.Args[0], cutoff)
}

func polarFactor(c *device.Call) error {
	return linalg.PolarFactor(isaOf(c), &c.Out[0], &c.Out[1], &c.Out[2], &c.Out[3], &c.Args[0])
}

func nuclearNorm(c *device.Call) error {
	return linalg.NuclearNorm(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0])
}

func hermitianSylvester(c *device.Call) error {
	return linalg.HermitianSylvester(isaOf(c), &c.Out[0], &c.Out[1], &c.Out[2], &c.Args[0], &c.Args[1])
}

func eig(c *device.Call) error {
	return linalg.Eig(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0])
}

func eigVals(c *device.Call) error {
	return linalg.Eig(isaOf(c), &c.Out[0], nil, &c.Args[0])
}

func schur(c *device.Call) error {
	return linalg.Schur(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0], false)
}

func hessenberg(c *device.Call) error {
	return linalg.Schur(isaOf(c), &c.Out[0], &c.Out[1], &c.Args[0], true)
}

func functionOf(f linalg.Function) device.Routine {
	return func(c *device.Call) error {
		return linalg.FunctionOf(isaOf(c), &c.Out[0], &c.Args[0], f)
	}
}
