package atomicfile

import "errors"

// ErrLocked is the error of [Lock] if another holder has the lock.
var ErrLocked = errors.New("atomicfile: locked")

// Lock takes the lock that a file at path stands for, or returns [ErrLocked] at once. The file is there while
// the lock is held; unlock removes it. The system drops the lock when the process ends in any way, so that a
// file that is left behind locks nothing. Where the file system or the system has no locks, all can take it.
func Lock(path string) (unlock func(), err error) { return lock(path) }
