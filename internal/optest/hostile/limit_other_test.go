//go:build !linux

package hostile

func limitMemory(uint64) error { return nil }

func seal([]byte) {}
