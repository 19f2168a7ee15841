package vmath

import "weft/internal/loop"

// Round is x to the nearest integer, ties away from zero.
func Round(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	t := f.Trunc(x)
	away := f.Add(t, f.withSign(f.c(1), f.sign(x)))
	return f.Select(f.Le(f.c(0.5), f.Abs(f.Sub(x, t))), away, t)
}
