package jit

import (
	"sync"
	"testing"
)

// A goroutine has one number, wherever its stack goes, and no two that live have the same.
func TestGoroutine(t *testing.T) {
	const n = 50
	var all sync.WaitGroup
	all.Add(n)
	var mu sync.Mutex
	seen := map[uintptr]bool{}
	release := make(chan bool)
	var done sync.WaitGroup
	for range n {
		done.Go(func() {
			id := Goroutine()
			if deep := grown(1000); deep != id || Goroutine() != id {
				t.Errorf("a goroutine is %d and, with a larger stack, %d", id, deep)
			}
			mu.Lock()
			seen[id] = true
			mu.Unlock()
			all.Done()
			<-release
		})
	}
	all.Wait()
	close(release)
	done.Wait()
	if len(seen) != n || seen[0] {
		t.Errorf("%d goroutines have %d numbers", n, len(seen))
	}
}

// grown asks at a depth that moves the stack.
//
//go:noinline
func grown(depth int) uintptr {
	var room [64]int
	if depth == 0 {
		return Goroutine()
	}
	room[depth%64] = depth
	id := grown(depth - 1)
	if room[depth%64] != depth {
		return 0
	}
	return id
}
