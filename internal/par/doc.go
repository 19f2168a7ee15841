// Package par runs loops on a pool of worker goroutines.
//
// [Run] splits an index range into chunks of a fixed grain. Each thread begins with
// a part of consecutive chunks. It takes from the parts of others when its own is done, so
// a slow core does fewer of them; there is no static split. A thread that works on the same
// part of the same arrays again finds them in its own cache: from one counter for all, chunks
// went to another core each time. The caller works too.
//
// Where a chunk begins and ends depends on the range and the grain only, never on the number
// of threads. No chunk is larger than the grain even when everything runs on the caller: a
// driver of machine code bounds the work of one entry by its grain.
//
// # Which workers take part
//
// Only workers that are idle when a Run starts are offered a share, and one that
// has not begun when the caller has run out of chunks loses its share again. So a
// Run waits for nothing but chunks in progress. A parked worker that takes
// 100 µs to wake costs nothing. Many concurrent callers share the workers without
// queueing. A Run inside a chunk of another runs on the goroutine that called it,
// helped by workers that happen to be idle. It cannot deadlock.
//
// # Waking
//
// Waking a parked goroutine costs as much as a small kernel, so a worker that runs
// dry looks for more work before it parks. It spins until [SpinTime] after the last worker or caller was
// busy, and at most for [SpinBusy], since the next Run of a network follows within that time. It spins
// only while there is a processor for it: never at GOMAXPROCS=1, nor while more goroutines work and spin than
// the machine has processors, however large GOMAXPROCS is, nor while
// Run is being called by more goroutines than there are idle workers. Spinning
// workers stop at preemption points, so they hold up no collection. [Hot] tells
// whether a Run started now would find a spinning worker, which moves the point
// from which threading pays: from some 20 µs of work when hot, 200 µs when cold.
// It also says so when it was asked within the last 100 µs: small pieces of work in a row
// are each too short to wake a worker for, but the first wakes one for the others.
//
// Parked workers stay for the life of the process.
package par
