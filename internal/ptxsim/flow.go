package ptxsim

// setRejoins finds for each branch the instruction where the lanes that part there meet again: the
// immediate post-dominator, computed on the graph of basic blocks (Cooper, Harvey and Kennedy, "A
// simple, fast dominance algorithm", 2001, on the reversed graph). len(code) stands for the end.
func setRejoins(code []ins) {
	g := flowGraph(code)
	idom := g.postDominators()
	for bi := range g.start {
		last := &code[g.end(bi, len(code))-1]
		if last.kind != branch {
			continue
		}
		last.rejoin = int32(len(code))
		if d := idom[bi]; d >= 0 && d < len(g.start) {
			last.rejoin = int32(g.start[d])
		}
	}
}

// A graph holds basic blocks. The block behind the last is the end of the kernel.
type graph struct {
	start []int // first instruction of each block
	succ  [][]int
}

func (g *graph) end(b, n int) int {
	if b+1 < len(g.start) {
		return g.start[b+1]
	}
	return n
}

func flowGraph(code []ins) *graph {
	leads := make([]bool, len(code)+1)
	leads[0] = true
	for pc, in := range code {
		if in.kind == branch {
			leads[in.target], leads[pc+1] = true, true
		} else if in.kind == leave {
			leads[pc+1] = true
		}
	}
	g := &graph{}
	blockAt := make([]int, len(code)+1)
	for pc := range code {
		if leads[pc] {
			g.start = append(g.start, pc)
		}
		blockAt[pc] = len(g.start) - 1
	}
	end := len(g.start)
	blockAt[len(code)] = end
	g.succ = make([][]int, end+1)
	for b := range g.start {
		stop := g.end(b, len(code))
		last := code[stop-1]
		switch {
		case last.kind == branch && last.guard < 0:
			g.succ[b] = []int{blockAt[last.target]}
		case last.kind == branch:
			g.succ[b] = []int{blockAt[last.target], blockAt[stop]}
		case last.kind == leave && last.guard < 0:
			g.succ[b] = []int{end}
		case last.kind == leave:
			g.succ[b] = []int{end, blockAt[stop]}
		default:
			g.succ[b] = []int{blockAt[stop]}
		}
	}
	return g
}

// postDominators returns the immediate post-dominator of each block, -1 where no way leads to the end.
func (g *graph) postDominators() []int {
	n := len(g.succ)
	pred := make([][]int, n)
	for b, ss := range g.succ {
		for _, s := range ss {
			pred[s] = append(pred[s], b)
		}
	}
	order := reversePostorder(pred, n-1)
	number := make([]int, n)
	idom := make([]int, n)
	for i := range idom {
		idom[i] = -1
	}
	for i, b := range order {
		number[b] = i
	}
	idom[n-1] = n - 1
	for changed := true; changed; {
		changed = false
		for _, b := range order[1:] {
			d := -1
			for _, s := range g.succ[b] {
				if idom[s] < 0 {
					continue
				}
				if d < 0 {
					d = s
					continue
				}
				for x := s; x != d; {
					for number[x] > number[d] {
						x = idom[x]
					}
					for number[d] > number[x] {
						d = idom[d]
					}
				}
			}
			if idom[b] != d {
				idom[b], changed = d, true
			}
		}
	}
	return idom
}

// reversePostorder walks a graph depth first from root, without recursion.
func reversePostorder(next [][]int, root int) []int {
	type frame struct{ node, edge int }
	seen := make([]bool, len(next))
	seen[root] = true
	stack := []frame{{root, 0}}
	var out []int
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.edge < len(next[f.node]) {
			s := next[f.node][f.edge]
			f.edge++
			if !seen[s] {
				seen[s] = true
				stack = append(stack, frame{s, 0})
			}
			continue
		}
		out = append(out, f.node)
		stack = stack[:len(stack)-1]
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
