//go:build linux || darwin || netbsd || solaris

package mapped

import "golang.org/x/sys/unix"

// noReserve asks for no swap space for pages of a private mapping that are never written.
const noReserve = unix.MAP_NORESERVE
