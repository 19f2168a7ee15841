//go:build unix && !linux && !darwin && !netbsd && !solaris

package mapped

// noReserve is 0: these systems reserve no swap space for private mappings, or have no
// flag that says so.
const noReserve = 0
