package convolution

import (
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/packed"
	"weft/internal/par"
)

// A correlation is what the forward convolution and the gradient of its input have
// in common: output channel o at (t, u) is the sum over terms of weight[o, term] *
// source[channel, t*stepY + row, u*stepX + col]. A term has a channel, a row and a column. Rows
// and columns count from an origin, which may lie outside of the source, where elements are 0.
//
// There is no patch matrix. A tile's vectors are output positions, and the row of B for a term
// is the source itself at the term's offset. With padding or strides the source of a band of
// output rows is first copied to a buffer with zeros around it, and its columns are sorted by
// their remainder modulo stepX.
type correlation struct {
	tile.Machine
	terms        []term
	groups       int // of channels: outC of the result are sums over srcC of the source
	outC         int
	outH, outW   int
	stepY, stepX int
	src          Image
	n, srcC      int
	srcH, srcW   int
	rowAt, colAt int // the source's row and column of row 0 and column 0
	rows, cols   int // of the source around all outputs
	dst          Image
	epilogue     tile.Epilogue
	ends         launch.Ends                       // of the epilogue, if ended
	ended        bool                              // kernels do all that the epilogue does
	packWeights  func(to tile.Panel, group, o int) // packs rows of a group, from row o on
	exchanged    bool                              // the row axis of this plan is the image's column axis; a band is the whole image
	direct       bool                              // the source is read where it is
	through      bool                              // results pass through a buffer
	chanPitch    int                               // elements from channel to channel of what is read
	rowPitch     int
	remPitch     int // from columns with one remainder modulo stepX to the next
	table        []int
	bandH, bands int             // bands have bandH rows or one less
	bandW        int             // columns of a band: less than outW if the result is one row and bands are pieces of it
	tiles        [2][]tile.Place // of bands with bandH rows and with one less; of pieces, and of the last one
	nv, segments int
	cost         int // of a band, for a term, as tile.Cost
	pixelCost    int // estimated cost of one term over one image, in the cheaper order of the axes
	panels       int
	panelRows    int // rows of most panels; the first widePanels have one more
	widePanels   int
	weightPitch  int // bytes
	panelBytes   int
	parts        int           // tasks for a band
	kept         packed.Source // of the weights
	packed       packedWeights
	buffer       mem.Block
	bandBytes    int // of a worker's copy of the source
	workerBytes  int // and of the results that pass through
}

// A term is one product of a sum.
type term struct{ channel, row, col int32 }

var correlations = sync.Pool{New: func() any { return new(correlation) }}

// runPixels computes the correlation with pixels in the vectors.
func (c *correlation) runPixels(work, threads int) {
	c.packAllWeights(threads)
	defer c.packed.free()
	tasks := c.n * c.groups * c.bands * c.parts
	grain := 1
	if w := work / tasks; w < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / max(w, 1)
	}
	if c.workerBytes > 0 {
		c.buffer = tile.Alloc(c.workerBytes * par.Width(tasks, grain, threads))
		defer mem.Free(c.buffer)
	}
	par.RunTask(tasks, grain, threads, c)
}

// worthExchange reports whether exchanging rows and columns lowers the estimated cost, and sets
// pixelCost to the lower one. It does for images whose rows are shorter than a vector and whose
// columns fill vectors. The terms keep their order, so the bits are the same.
func (c *correlation) worthExchange(threads int) bool {
	if c.outW >= c.Lanes || c.outH <= c.outW || c.stepX != 1 || c.stepY != 1 || len(c.terms) == 0 || c.n*c.groups < threads {
		return false
	}
	if c.srcC*c.rows*c.cols*c.Size > exchangeBytes || c.outC*c.outH*c.outW*c.Size > exchangeBytes {
		return false
	}
	c.exchange(threads)
	copied := c.srcC*c.srcH*c.srcW + c.outC*c.outH*c.outW
	cost := c.cost + exchangeCost*copied/len(c.terms)
	c.exchange(threads)
	if cost >= c.pixelCost {
		return false
	}
	c.pixelCost = cost
	return true
}

// exchange exchanges rows and columns. A second call undoes it.
func (c *correlation) exchange(threads int) {
	c.exchanged = !c.exchanged
	c.src.H, c.src.W = c.src.W, c.src.H
	c.dst.H, c.dst.W = c.dst.W, c.dst.H
	c.outH, c.outW = c.outW, c.outH
	c.srcH, c.srcW = c.srcW, c.srcH
	c.rowAt, c.colAt = c.colAt, c.rowAt
	c.rows, c.cols = c.cols, c.rows
	for i := range c.terms {
		t := &c.terms[i]
		t.row, t.col = t.col, t.row
	}
	c.layout()
	c.cut(threads)
}

// flatten makes rows of one vector of the rows of planes, if sums are of one pixel each and planes are whole vectors.
// Then vectors have no parts in several rows, and bands begin at vectors: pieces of planes for threads share no line.
func (c *correlation) flatten() {
	plane := Image{c.src.Ptr, c.src.N, c.src.C, c.outW, 1}
	if c.rows != c.outH || c.cols != c.outW || c.rows != c.srcH || c.cols != c.srcW || c.stepX*c.stepY != 1 || c.rowAt != 0 || c.colAt != 0 ||
		c.src != plane || c.dst.H != c.outW || c.dst.W != 1 || c.outH*c.outW%c.Lanes != 0 {
		return
	}
	c.outH, c.outW = c.outH*c.outW/c.Lanes, c.Lanes
	c.rows, c.cols, c.srcH, c.srcW = c.outH, c.outW, c.outH, c.outW
	c.src.H, c.dst.H = c.outW, c.outW
}

// reshape undoes flatten, given the correlation before it.
func (c *correlation) reshape(of *correlation) {
	c.outH, c.outW, c.rows, c.cols, c.srcH, c.srcW, c.src.H, c.dst.H = of.outH, of.outW, of.rows, of.cols, of.srcH, of.srcW, of.src.H, of.dst.H
}

// layout decides where the source is read and makes the table of the terms.
func (c *correlation) layout() {
	c.direct = c.stepX == 1 && c.src.W == 1 && c.rowAt >= 0 && c.colAt >= 0 &&
		c.rowAt+c.rows <= c.srcH && c.colAt+c.cols <= c.srcW
	c.chanPitch, c.rowPitch = c.src.C, c.src.H
	if !c.direct {
		c.remPitch = tile.Ceil(c.cols, c.stepX)
		c.rowPitch = c.remPitch * c.stepX
	}
	c.through = c.dst.W != 1
}

// cut chooses tiles, bands and tasks. No choice influences a bit of the result.
func (c *correlation) cut(threads int) {
	c.bandH = c.outH
	if perRow := c.srcC * c.stepY * c.rowPitch * c.Size; perRow > 0 && !c.direct && !c.exchanged {
		c.bandH = min(c.outH, max(bandSource/perRow, tile.Ceil(bandVectors*c.Lanes, c.outW), 1))
	}
	stacks := c.n * c.groups
	for threads > 1 && c.bandH > 1 && !c.exchanged && stacks*tile.Ceil(c.outH, c.bandH) < tasksPerThread*threads && c.bandH*c.outW >= halvedVectors*c.Lanes {
		c.bandH = tile.Ceil(c.bandH, 2)
	}
	if !c.exchanged {
		c.bandH = min(c.bandH, max(1, bandMost*c.Lanes/c.outW))
	}
	c.bands = tile.Ceil(c.outH, c.bandH)
	if c.bands > 1 && stacks < threads {
		c.bands = even(c.bands, threads, c.outH)
	}
	c.bandH = tile.Ceil(c.outH, c.bands)
	c.pieces(threads)
	if !c.direct {
		c.chanPitch = ((c.bandH-1)*c.stepY + c.rows - (c.outH-1)*c.stepY) * c.rowPitch
		c.bandBytes = (c.srcC*c.chanPitch*c.Size + 63) &^ 63
	}
	c.table = c.table[:0]
	for _, t := range c.terms {
		off := int(t.channel)*c.chanPitch + int(t.row)*c.rowPitch
		if c.stepX == 1 {
			off += int(t.col)
		} else {
			off += int(t.col)%c.stepX*c.remPitch + int(t.col)/c.stepX
		}
		c.table = append(c.table, off*c.Size)
	}
	c.chooseTile()
	c.tiles[0] = c.places(c.tiles[0][:0], c.segments, c.bandH*c.bandW)
	c.tiles[1] = c.tiles[0]
	switch {
	case c.bandW < c.outW && c.outW%c.bandW != 0:
		c.tiles[1] = c.places(nil, c.segments, c.outW%c.bandW)
	case c.bandW == c.outW && c.outH%c.bands != 0:
		c.tiles[1] = c.places(nil, c.segments, (c.bandH-1)*c.outW)
	}
	c.setPanels(c.nv)
	c.parts = 1
	for threads > 1 && stacks*c.bands*c.parts < tasksPerThread*threads && c.parts < c.panels {
		c.parts++
	}
	c.workerBytes = c.bandBytes
	if c.through {
		c.workerBytes += c.outC * c.bandH * c.bandW * c.Size
	}
}

// pieces sets bandW. A long row is cut into pieces, which are bands: their lists of places stay in the cache, plans
// with them are kept, and threads share the row.
func (c *correlation) pieces(threads int) {
	c.bandW = c.outW
	most := bandMost * c.Lanes
	if c.outH != 1 || c.exchanged || c.outW <= most {
		return
	}
	bands := even(tile.Ceil(c.outW, most), threads, tile.Ceil(c.outW, c.Lanes))
	c.bandW = tile.Ceil(tile.Ceil(c.outW, bands), c.Lanes) * c.Lanes
	c.bands = tile.Ceil(c.outW, c.bandW)
	if !c.direct {
		c.remPitch = tile.Ceil(c.bandCols(), c.stepX)
		c.rowPitch = c.remPitch * c.stepX
	}
}

// bandCols returns the columns of the source around a band.
func (c *correlation) bandCols() int { return c.cols - (c.outW-c.bandW)*c.stepX }

// extent returns the rows and columns of a band of the result.
func (c *correlation) extent(band int) (y, yEnd, x, xEnd int) {
	if c.bandW < c.outW {
		x = band * c.bandW
		return 0, 1, x, min(x+c.bandW, c.outW)
	}
	y, yEnd = part(c.outH, c.bands, band)
	return y, yEnd, 0, c.outW
}

// setPanels cuts the output channels into panels for tiles of nv vectors.
func (c *correlation) setPanels(nv int) {
	c.panels = tile.Ceil(c.outC, tile.MaxRows(c.ISA, nv))
	c.panelRows, c.widePanels = c.outC/c.panels, c.outC%c.panels
	c.weightPitch = tile.Ceil(c.panelRows+min(c.widePanels, 1), c.Lanes) * c.VB
	c.panelBytes = c.weightPitch * (c.Padded(len(c.terms)) + c.Lanes)
}

// chooseTile picks the width of the tiles and the parts of a vector by the least
// estimated half cycles for a term and an image.
func (c *correlation) chooseTile() {
	flat := c.through || c.dst.H == c.outW
	most := 1
	if c.ISA == jit.AVX512 && flat && c.outW%c.Lanes != 0 && c.bandW == c.outW {
		most = maxSegments
	}
	best := 0
	for s := 1; s <= most; s++ {
		vectors := c.countVectors(s)
		for nv := 1; nv <= tile.MaxWidth(c.ISA) && nv*s <= tile.MaxMasks; nv++ {
			panels := tile.Ceil(c.outC, tile.MaxRows(c.ISA, nv))
			mr := tile.Ceil(c.outC, panels)
			cost := func(v int) int { return panels * max(mr*v, tile.LeastCost, mr+2*v*s) }
			total := vectors / nv * cost(nv)
			if r := vectors % nv; r > 0 {
				total += cost(r)
			}
			if best == 0 || total < best {
				best, c.nv, c.segments = total, nv, s
			}
		}
	}
	c.cost = best
}

// countVectors returns how many vectors of s parts cover a band.
func (c *correlation) countVectors(s int) int {
	if s == 1 {
		return c.bandH * tile.Ceil(c.bandW, c.Lanes)
	}
	n := 0
	for q := 0; q < c.bandH*c.outW; n++ {
		q += min(c.Lanes, s*c.outW-q%c.outW)
	}
	return n
}

// places cuts a band of n pixels into vectors of s parts.
func (c *correlation) places(to []tile.Place, s, n int) []tile.Place {
	for q := 0; q < n; {
		t, u := q/c.outW, q%c.outW
		p := tile.Place{Src: (t*c.stepY*c.rowPitch + u) * c.Size, Dst: (t*c.dst.H + u) * c.Size}
		if c.through {
			p.Dst = q * c.Size
		}
		p.Count = min(c.Lanes, s*c.outW-u, n-q)
		p.Mask = 1<<p.Count - 1
		for i := range s {
			lo, hi := max(i*c.outW-u, 0), min((i+1)*c.outW-u, p.Count)
			if lo < hi {
				p.Parts[i] = 1<<hi - 1<<lo
			}
		}
		to = append(to, p)
		q += p.Count
	}
	// Kernels leave a pointer behind the last place, which must not be that of another object.
	to = append(to, tile.Place{})
	return to[:len(to)-1]
}

// packAllWeights packs the weights of all groups, unless a copy is kept.
func (c *correlation) packAllWeights(threads int) {
	panels := c.groups * c.panels
	key := packed.Key{Kind: packed.Pixels, Sizes: [8]int{c.groups, c.outC, len(c.terms), c.panelRows, c.widePanels, c.weightPitch, c.panelBytes}}
	c.packed.make(c, key, panels*c.panelBytes, func(to unsafe.Pointer) bool {
		if c.groups*c.outC*len(c.terms) < threadedWeights {
			threads = 1
		}
		if threads == 1 {
			c.packPanels(to, 0, panels)
			return true
		}
		par.Run(panels, 1, threads, func(_, begin, end int) { c.packPanels(to, begin, end) })
		return true
	})
}

// packPanels packs the weights of panels begin to end-1. Panels are numbered through all
// groups, one group after the other.
func (c *correlation) packPanels(at unsafe.Pointer, begin, end int) {
	for i := begin; i < end; i++ {
		group, q := i/c.panels, i%c.panels
		to := tile.Panel{Ptr: unsafe.Add(at, i*c.panelBytes), Pitch: c.weightPitch, Rows: c.panelRows, K: len(c.terms)}
		if q < c.widePanels {
			to.Rows++
		}
		c.packWeights(to, group, c.rowOf(q))
	}
}

// rowOf returns the first row of panel q.
func (c *correlation) rowOf(q int) int { return q*c.panelRows + min(q, c.widePanels) }

// Chunk computes tasks begin to end-1: images, then groups, then bands, then parts of the
// output channels.
func (c *correlation) Chunk(worker, begin, end int) {
	prepared := -1 // what the worker's buffer holds
	for i := begin; i < end; i++ {
		band := i / c.parts % c.bands
		group := i / c.parts / c.bands % c.groups
		image := i / c.parts / c.bands / c.groups
		q0, q1 := part(c.panels, c.parts, i%c.parts)
		y, yEnd, x, xEnd := c.extent(band)
		h, w := yEnd-y, xEnd-x
		left := c.colAt + x*c.stepX
		top := y*c.stepY + c.rowAt
		var src unsafe.Pointer
		if len(c.terms) == 0 {
			// Nothing is read, and there may be no source.
		} else if c.direct {
			src = c.src.at(image, group*c.srcC, top, left, c.Size)
		} else {
			src = unsafe.Add(c.buffer.Ptr(), worker*c.workerBytes)
			if i/c.parts != prepared {
				if c.D == array.Float32 {
					copyBand[float32](c, src, image, group*c.srcC, top, left)
				} else {
					copyBand[float64](c, src, image, group*c.srcC, top, left)
				}
				prepared = i / c.parts
			}
		}
		o0, o1 := group*c.outC+c.rowOf(q0), group*c.outC+c.rowOf(q1)
		dst := c.dst.at(image, group*c.outC, y, x, c.Size)
		tiles := c.tiles[0]
		if h < c.bandH || w < c.bandW {
			tiles = c.tiles[1]
		}
		if !c.through {
			c.band(src, dst, c.dst.C, tiles, group, q0, q1)
			c.finish(image, image+1, o0, o1, y*c.outW+x, (yEnd-1)*c.outW+xEnd)
			continue
		}
		// Planes side by side, then to their places.
		tmp := unsafe.Add(c.buffer.Ptr(), worker*c.workerBytes+c.bandBytes)
		c.band(src, tmp, h*w, tiles, group, q0, q1)
		for o := c.rowOf(q0); o < c.rowOf(q1); o++ {
			plane := tile.Mat{Ptr: unsafe.Add(tmp, o*h*w*c.Size), Row: w, Col: 1}
			tile.CopyMat(c.Machine, h, w, tile.Mat{Ptr: unsafe.Add(dst, o*c.dst.C*c.Size), Row: c.dst.H, Col: c.dst.W}, plane)
		}
		c.finish(image, image+1, o0, o1, y*c.outW+x, (yEnd-1)*c.outW+xEnd)
	}
}

// finish runs the epilogue on pixels p0 to p1-1 of images n0 to n1-1. o0 and o1 delimit the
// channels, counted through all groups.
func (c *correlation) finish(n0, n1, o0, o1, p0, p1 int) {
	all := c.groups * c.outC
	switch {
	case c.epilogue == nil || c.ended:
	case o1-o0 == all:
		c.epilogue.Run(n0*all, n1*all, p0, p1)
	default:
		for n := n0; n < n1; n++ {
			c.epilogue.Run(n*all+o0, n*all+o1, p0, p1)
		}
	}
}

// copyBand copies the part of the source that a band needs, from channel first, row top and column colAt
// on, with zeros around it.
func copyBand[E tile.Element](c *correlation, dst unsafe.Pointer, image, first, top, colAt int) {
	rows, cols := c.chanPitch/c.rowPitch, c.bandCols()
	left := min(max(0, -colAt), cols) // columns of zeros
	right := max(left, min(cols, c.srcW-colAt))
	out := unsafe.Slice((*E)(dst), c.srcC*c.chanPitch)
	if c.stepX == 1 && c.src.W == 1 && left < right && left <= c.Lanes && cols-right <= c.Lanes {
		// The rows that exist, by the kernel, between rows of zeros.
		from := min(max(-top, 0), rows)
		to := max(from, min(rows, c.srcH-top))
		for ch := range c.srcC {
			plane := out[ch*c.chanPitch:][:c.chanPitch]
			clear(plane[:from*c.rowPitch])
			clear(plane[to*c.rowPitch:])
			if from < to {
				c.pad(unsafe.Pointer(&plane[from*c.rowPitch]), c.rowPitch, c.src.at(image, first+ch, top+from, colAt+left, c.Size),
					c.src.H, to-from, left, right-left, cols-right)
			}
		}
		return
	}
	for ch := range c.srcC {
		if c.stepX == 1 && c.src.W != 1 {
			plane := out[:c.chanPitch]
			out = out[c.chanPitch:]
			clear(plane)
			from := min(max(-top, 0), rows)
			to := max(from, min(rows, c.srcH-top))
			if from < to && left < right {
				at := unsafe.Pointer(&plane[from*c.rowPitch+left])
				tile.CopyMat(c.Machine, to-from, right-left, tile.Mat{Ptr: at, Row: c.rowPitch, Col: 1},
					tile.Mat{Ptr: c.src.at(image, first+ch, top+from, colAt+left, c.Size), Row: c.src.H, Col: c.src.W})
			}
			continue
		}
		for r := range rows {
			row := out[:c.rowPitch]
			out = out[c.rowPitch:]
			y := top + r
			if uint(y) >= uint(c.srcH) || left == right {
				clear(row)
				continue
			}
			p := c.src.at(image, first+ch, y, colAt+left, c.Size)
			if c.stepX == 1 && c.src.W == 1 {
				clear(row[:left])
				copy(row[left:right], unsafe.Slice((*E)(p), right-left))
				clear(row[right:])
				continue
			}
			// Column x of the row goes to place x/stepX of remainder x%stepX.
			step := c.src.W * c.stepX * c.Size
			for rem := range c.stepX {
				part := row[rem*c.remPitch:][:c.remPitch]
				first := tile.Ceil(max(left-rem, 0), c.stepX)
				end := max(first, tile.Ceil(max(right-rem, 0), c.stepX))
				clear(part[:first])
				clear(part[end:])
				at := (rem - left) * c.src.W * c.Size
				for i := first; i < end; i++ {
					part[i] = *(*E)(unsafe.Add(p, at+i*step))
				}
			}
		}
	}
}

// whole reports whether every lane of the vectors at the places is used.
func (c *correlation) whole(places []tile.Place) bool {
	for i := range places {
		if places[i].Count < c.Lanes {
			return false
		}
	}
	return true
}

// band computes panels q0 to q1-1 of a group of the output rows of a band.
func (c *correlation) band(src, dst unsafe.Pointer, dstC int, tiles []tile.Place, group, q0, q1 int) {
	weights := unsafe.Add(c.packed.ptr, group*c.panels*c.panelBytes)
	var f tile.Frame
	f.CStep = dstC * c.Size
	f.AStep, f.APanel = c.weightPitch, c.panelBytes
	f.Low, f.High = c.ends.Low, c.ends.High
	f.SegmentStep = (c.stepY*c.rowPitch - c.outW) * c.Size
	k := len(c.terms)
	for p0 := 0; p0 < k || p0 == 0; p0 += numbers.KBlock {
		kk := min(numbers.KBlock, k-p0)
		f.K = kk
		f.Flags = tile.Bit(p0 > 0, 0)
		if p0+kk == k {
			f.Flags |= c.endFlags()
		}
		if kk > 0 {
			f.Table = unsafe.Pointer(&c.table[p0])
		}
		perBlock := max(1, product.BlockBytesA/(max(kk, 1)*c.weightPitch))
		for b0 := q0; b0 < q1; b0 += perBlock {
			b1 := min(b0+perBlock, q1)
			// One call takes some 60 us.
			most := max(1, tile.CallWork/((b1-b0)*(c.panelRows+1)*c.nv*max(kk, 1)))
			for at := 0; at < len(tiles); {
				places := tiles[at:min(at+c.nv, len(tiles))]
				key := tile.Key{Nv: len(places), KMajor: true, Segments: c.segments, Masked: c.ISA == jit.AVX512}
				if c.ISA == jit.AVX2 && !c.whole(places) {
					key.Masked = true
					for v := range places {
						c.SetMask(nil, &f.Lanes[v], places[v].Count)
					}
				}
				same := 1 // tiles for the same kernel
				for next := at + c.nv; same < most && next+c.nv <= len(tiles) && (c.ISA == jit.AVX512 || !key.Masked && c.whole(tiles[next:next+c.nv])); next += c.nv {
					same++
				}
				first := tiles[at:]
				at += same * len(places)
				wide := min(max(c.widePanels, b0), b1)
				for _, part := range [2]struct{ from, to, rows int }{{b0, wide, c.panelRows + 1}, {wide, b1, c.panelRows}} {
					if part.from >= part.to {
						continue
					}
					o := c.rowOf(part.from)
					f.A = unsafe.Add(weights, part.from*c.panelBytes+p0*c.weightPitch)
					f.B[0], f.C[0] = src, unsafe.Add(dst, o*dstC*c.Size)
					f.Bias = c.bias(group*c.outC + o)
					key.Mr = part.rows
					c.tile(&f, key, first, same, part.to-part.from, dstC)
				}
			}
		}
	}
}

// tile computes panels of the tiles at some places. Where sums are short it takes several tiles
// through each panel, so that runs of a plane are written and not a piece of every plane in turn:
// the processor then prefetches the lines that are written.
func (c *correlation) tile(f *tile.Frame, key tile.Key, places []tile.Place, tiles, panels, dstC int) {
	together := tilesBytes / (max(f.K, 1) * key.Nv * c.VB)
	if together <= 1 || panels == 1 {
		f.Places, f.Tiles, f.Panels = &places[0], tiles, panels
		f.Tile(c.Machine, key)
		return
	}
	a, out, bias := f.A, f.C[0], f.Bias
	for t := 0; t < tiles; t += together {
		for q := range panels {
			f.A, f.C[0] = unsafe.Add(a, q*c.panelBytes), unsafe.Add(out, q*key.Mr*dstC*c.Size)
			if bias != nil {
				f.Bias = unsafe.Add(bias, q*key.Mr*c.Size)
			}
			f.Places, f.Tiles, f.Panels = &places[t*key.Nv], min(together, tiles-t), 1
			f.Tile(c.Machine, key)
		}
	}
}
