// Command ours is weft's side of the benchmarks: a worker (see package worker) with
// the cases of this package.
package main

import "weft/bench/worker"

// The formulations beside a case's Run: it without giving any result back by
// hand, and another work of ours that this one's time is compared with.
const (
	collected = "left to the collector"
	yardstick = "yardstick"
)

func main() { worker.Main("weft", map[string]string{}) }
