//go:build amd64 || arm64

package par

// pause waits for n spin-loop hints, some tens of cycles each. It is implemented
// in assembly with a frame large enough to get a stack check, which makes each
// call a preemption point.
//
//go:noescape
func pause(n uint32)
