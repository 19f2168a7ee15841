package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"weft"
	"weft/bench/worker"
)

// What a flush sends of an array with some written items, and what marking costs.

func init() {
	worker.Values["tracked, beside ragged"] = func(int) (map[string]float64, error) { return flushes(1_000_000, 1000) }
}

// counting is a sink that counts.
type counting struct{ bytes, transfers int }

func (c *counting) WriteAt(p []byte, _ int64) (int, error) {
	c.bytes += len(p)
	c.transfers++
	return len(p), nil
}

// flushes writes into written random items of n, 16 bytes each, and flushes, for several costs
// of a transfer, each given as the bytes that take as long. It returns
//   - what was sent, with the transfers at their cost, over the least possible (at worst);
//   - how many times more one interval sends (at least);
//   - the nanoseconds that marking a write takes, for places in order and for random ones.
func flushes(n, written int) (map[string]float64, error) {
	const item = 16
	x := weft.Zeros(n, item/4)
	places := rand.New(rand.NewPCG(1, 2)).Perm(n)[:written]
	v := map[string]float64{"over the least": 0, "one interval": 1e99}
	for _, gap := range []int{1, 100, 4_000, 100_000} {
		cost := weft.Cost{Latency: time.Duration(gap), PerSecond: 1e9}
		some, one := weft.Track(x, weft.TrackOpts{Cost: new(cost)}), weft.Track(x, weft.TrackOpts{Cost: new(cost), OneInterval: true})
		for _, d := range []*weft.Tracked{some, one} {
			if _, err := d.Flush(&counting{}); err != nil {
				return nil, err
			}
		}
		for _, i := range places {
			x.Slice(weft.Index(i)).Assign(i)
		}
		var sent, hull counting
		if _, err := some.Flush(&sent); err != nil {
			return nil, err
		}
		if _, err := one.Flush(&hull); err != nil {
			return nil, err
		}
		v["over the least"] = max(v["over the least"], float64(sent.bytes+gap*sent.transfers)/float64(least(places, item, gap)))
		if gap <= 4_000 { // beyond that few gaps are worth a transfer
			v["one interval"] = min(v["one interval"], float64(hull.bytes)/float64(sent.bytes))
		}
		v[fmt.Sprintf("sent at %d", gap)] = float64(sent.bytes)
		some.Stop()
		one.Stop()
	}
	d := weft.Track(x)
	defer d.Stop()
	if _, err := d.Flush(&counting{}); err != nil {
		return nil, err
	}
	for _, name := range []string{"marking, in order", "marking, at random"} {
		views := make([]*weft.Tensor, written)
		for i, p := range places {
			if name == "marking, in order" {
				p = i
			}
			views[i] = x.Slice(weft.Index(p))
		}
		var times []float64
		for range 201 {
			start := time.Now()
			for _, t := range views {
				d.Mark(t)
			}
			times = append(times, float64(time.Since(start).Nanoseconds())/float64(len(views)))
		}
		slices.Sort(times)
		v[name] = times[len(times)/2]
	}
	return v, nil
}

// least returns the least cost of sending the items at places. It is found by dynamic
// programming: for each item in order, every place where the transfer that ends with it may begin.
func least(places []int, item, gap int) int {
	at := slices.Sorted(slices.Values(places))
	best := make([]int, len(at)+1)
	for i := range at {
		best[i+1] = 1 << 62
		for j := range i + 1 {
			best[i+1] = min(best[i+1], best[j]+gap+(at[i]-at[j]+1)*item)
		}
	}
	return best[len(at)]
}
