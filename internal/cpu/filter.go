package cpu

import (
	"weft/internal/cpu/signal"
	"weft/internal/device"
)

// Routines of linear filters.

func lfilter(c *device.Call) error {
	signal.LFilter(&c.Out[0], &c.Out[1], &c.Args[0], &c.Args[1], &c.Args[2], &c.Args[3])
	return nil
}

func sosfilt(c *device.Call) error {
	signal.SOSFilt(&c.Out[0], &c.Out[1], &c.Args[0], &c.Args[1], &c.Args[2])
	return nil
}

func correlate1D(c *device.Call) error {
	signal.Correlate(&c.Out[0], &c.Args[0], &c.Args[1])
	return nil
}
