// Package jit holds machine code generated at run time: which instruction sets there are
// ([ISA]) and which one the process uses ([Chosen]), memory that code may be executed
// from ([Map]), the stub that enters it ([Call]), and the bounded cache of what was
// generated ([Cache]). It knows nothing of what the code computes; internal/x86 and the
// routines of internal/cpu generate it.
//
// # Rules for generated code (amd64)
//
// Entry:
//
//   - RDI holds the frame, the one pointer to a private argument block. RSP
//     points at the return address into the stub. Everything else is
//     undefined. Where to enter (the start, or a resume point) is the caller's
//     choice, as an offset into the code.
//
// Exit:
//
//   - RAX holds the status that Call returns. Its meaning belongs to the code
//     and its driver.
//   - VZEROUPPER is executed before RET if any YMM or ZMM register was written,
//     because Go's own code uses legacy SSE encodings.
//   - The direction flag is clear and MXCSR is as it was.
//
// In between:
//
//   - Every general register except RSP and RBP, every vector and mask register
//     and the flags may be overwritten. That includes R14 and X15, where Go's
//     register ABI keeps the current goroutine and a zero. The stub is an ABI0
//     function. The compiler's wrapper, which calls it from Go code, reloads R14
//     from thread-local storage and clears X15 after the call. While machine code runs, signal handlers find the goroutine in
//     thread-local storage, never in R14. A test overwrites them all.
//   - No CALL and no PUSH, RSP and RBP untouched. Jumps between generated
//     routines through a register are allowed; spills go to memory the frame
//     points to. This is what makes faults recoverable: with the fault's PC
//     unknown to the runtime and a known return address at RSP, the runtime
//     takes the fault for a call of a bad function pointer and unwinds from the
//     stub. Under debug.SetPanicOnFault a fault is then an ordinary panic on
//     Linux and macOS; the upper halves of the vector registers stay in use until
//     the next VZEROUPPER, which costs speed only. On Windows the runtime ignores exceptions outside its
//     own text, so a fault ends the process.
//   - No Go pointer is ever stored: there are no write barriers.
//
// # Preemption
//
// The runtime cannot preempt a goroutine inside machine code: its PC belongs to
// no function, so it is not a safe point. A stop-the-world waits until the code
// returns. Two things keep that wait short. The code does a bounded amount of
// work per entry (50 to 100 µs, 250 µs at most); and the stub is not NOSPLIT, so
// its stack check is a point where a pending request is honoured on each entry.
// Without it a tight loop over Call may spend all its time where a preemption
// signal cannot land, and a collection waits until the loop ends.
//
// The stack check also settles where things are: a stack is only ever moved
// before the code is entered, so a frame may live on the goroutine's stack.
//
// # Lifetime
//
// A frame holds buffers as unsafe.Pointer fields, so the collector sees them;
// memory outside the Go heap is kept alive by runtime.KeepAlive of its owner
// after the last entry. Call itself keeps the [Code] alive while inside it. A
// mapping is unmapped only when its Code is unreachable, so nothing that is
// being executed is ever unmapped.
//
// A mapping is writable first and executable afterwards, never both. Where the
// system refuses executable memory (hardened kernels, SELinux without execmem,
// platforms other than amd64), [Map] returns an error that matches
// [ErrUnavailable] and callers interpret instead.
package jit
