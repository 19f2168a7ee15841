// Package mem is a pool of memory outside the Go heap, for the storage of arrays.
//
// A [Block] is 64-byte aligned and comes in size classes, four to each power of
// two, so at most a fifth of one is slack. Blocks above 128 KiB are mappings of
// their own; smaller ones are cut from shared mappings. From 2 MiB up a mapping is
// aligned to, and on Linux advised to use, huge pages. What is freed is kept and
// handed out again as it is; [Pool.AllocZeroed] clears it.
//
// A Block is not collected: who allocates frees. A [Lease] is a block that is also
// freed when nothing refers to it any more. Freeing twice panics, because each block
// has a generation that the handle must match.
//
// # How much is kept
//
// The memory limit of the Go runtime (GOMEMLIMIT), the limit of the control group
// and the size of main memory bound what the pool keeps: the rest of the process
// counts first, and at most half of the limit is ever held free. A new mapping
// that would pass nine tenths of the limit first returns kept ones. Every five
// seconds while anything happens, half of what was never needed in that time goes
// back to the system; a timer does this, so no goroutine waits.
//
// # Pacing the collector
//
// The collector does not see this memory, so garbage that holds it would pile up.
// A collection is started when the bytes in use pass those left by the last such
// collection by a headroom: 4 MiB while the Go heap is small and collections are
// quick, up to 16 MiB where they are slow, and more the larger the heap, because marking
// it takes longer, but then no more than piles up in six times as long as a collection
// takes; for large blocks up to 12 MiB more, less what slow collections have widened the
// room by. Where garbage piles up slowly, so that collections take less than a twentieth of the time anyway,
// the room is two fifths of what is in use, 2 MiB at the least. It always takes the
// block that asked for the collection and 2 MiB more.
// While the heap is under 16 MiB the allocation that would pass the trigger collects
// first, which takes 0.1 to 0.3 ms; otherwise one collection runs in the background
// and nobody waits, except that an allocation past twice the trigger, and 16 MiB past
// it, is held up for up to 10 ms, and one past the limit for up to 200 ms. The timer
// of the trims brings the trigger down after memory was given back by hand.
//
// # Failure
//
// If the system refuses memory, or handing it out would pass the limit at which a
// control group kills, the pool returns all it keeps, collects once and tries
// again before it reports an [*Error].
package mem
