package ptxsim

// each calls f for the parts of n bytes at a, page by page, for a copy or a fill, after it noted the
// access. It panics with a *Fault where the bytes are not the caller's.
func (c *context) each(w *work, a uint64, n int, write bool, f func(p *page, o, k int)) {
	r := c.find(a)
	switch {
	case r == nil:
		panic(c.fault(a, "no memory is there"))
	case r.freed:
		panic(c.fault(a, "the memory was freed"))
	case n > r.size || a-r.base > uint64(r.size-n):
		panic(c.fault(a, "%d bytes reach beyond the %d at %#x", n, r.size, r.base))
	}
	act := actor{work: w.id, block: 1, c: c}
	r.spans(int(a-r.base), n, func(p *page, o, k int) {
		if !c.d.opts.NoRaces {
			race := ""
			if write {
				race = p.write(&act, o, k)
			} else {
				race = p.read(&act, o, k)
			}
			if race != "" {
				panic(c.fault(a, "a race with %s", race))
			}
		}
		f(p, o, k)
	})
}

// copyRange copies within the GPU's and pinned memory. What was never written stays so.
func (c *context) copyRange(w *work, dst, src uint64, n int) {
	if dst < src+uint64(n) && src < dst+uint64(n) {
		panic(c.fault(dst, "source and destination of a copy overlap"))
	}
	data := make([]byte, 0, n)
	was := make([]bool, 0, n)
	c.each(w, src, n, false, func(p *page, o, k int) {
		data = append(data, p.data[o:o+k]...)
		whole := p.initialised(o, k) == k
		for i := o; i < o+k; i++ {
			was = append(was, whole || p.init[i>>3]>>(i&7)&1 != 0)
		}
	})
	at := 0
	c.each(w, dst, n, true, func(p *page, o, k int) {
		copy(p.data[o:o+k], data[at:])
		if p.init != nil {
			for i := range k {
				p.setInit(o+i, was[at+i])
			}
		}
		at += k
	})
}

// markRange notes that k bytes at o were written.
func (p *page) markRange(o, k int) {
	if p.init == nil {
		return
	}
	for i := o; i < o+k; {
		if i&7 == 0 && i+8 <= o+k {
			p.init[i>>3] = 0xff
			i += 8
			continue
		}
		p.setInit(i, true)
		i++
	}
}
