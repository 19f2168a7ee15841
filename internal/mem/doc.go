// Package mem is a pool of memory outside the Go heap, for the storage of arrays.
//
// A [Block] is 64-byte aligned and comes in size classes, four to each power of
// two, so at most a fifth of one is slack. Blocks above 128 KiB are mappings of
// their own; smaller ones are cut from shared mappings. From 2 MiB up a mapping is
// aligned to, and on Linux advised to use, huge pages. What is freed is kept and
// handed out again as it is; [Pool.AllocZeroed] clears it.
//
// Nothing here is collected: who allocates frees, usually through
// runtime.AddCleanup on the owner of the block. Freeing twice panics, because
// each block has a generation that the handle must match.
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
// When the bytes in use pass twice what was in use after the last such
// collection (256 MiB at first), one collection runs in the background. Nobody
// waits for it, except that an allocation past the limit gives one that is under way
// up to 200 ms.
//
// # Failure
//
// If the system refuses memory, or handing it out would pass the limit at which a
// control group kills, the pool returns all it keeps, collects once and tries
// again before it reports an [*Error].
package mem
