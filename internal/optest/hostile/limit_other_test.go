//go:build !linux

package hostile

const limited = false

func limit(uint64) error { return nil }

func seal([]byte) {}
