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
// The least of GOMEMLIMIT, the limit of the control group and the size of main memory bounds what
// the pool keeps. The rest of the process counts first. At most half of the limit is ever held
// free.
//
// Within that, at most twice what the program needs at once stays mapped. That need is the maximum
// in use since the last tick of a timer (five seconds), or half of the need before it. A new
// mapping that would exceed this bound, or nine tenths of the limit, first unmaps free blocks.
// Least recently used size classes go first, and within a class the blocks freed first. The block
// that was freed last is handed out first, because the caches may still hold it.
//
// # Pacing the collector
//
// The collector does not see this memory, so garbage that holds it would pile up. Two rules pace
// it. A collection starts when the bytes in use exceed what the last one left by the headroom. The
// headroom is GOGC percent of these bytes and of the Go heap, the rule of the Go runtime. It is at
// least 16 MiB: a collection of a small Go heap takes 40 to 140 us (Zen 5, November 2026), in which
// a processor writes some 5 MiB. Giving back half of what is in use brings the next collection
// nearer at once.
//
// While the Go heap is under 16 MiB, the allocation that would exceed the trigger collects first.
// Otherwise one collection runs in the background. Then an allocation waits for up to 10 ms if it
// exceeds twice the trigger, and the trigger by 16 MiB. It waits for up to 200 ms if it exceeds the
// limit.
//
// # Failure
//
// If the system refuses memory, or handing it out would pass the limit at which a
// control group kills, the pool returns all it keeps, collects once and tries
// again before it reports an [*Error].
package mem
