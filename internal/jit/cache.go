package jit

import "weft/internal/cache"

// A Cache maps keys to what was compiled for them.
type Cache[K comparable, V any] = cache.Keyed[K, V]

// NewCache returns an empty cache of at most limit entries, [cache.Size] if limit
// is not positive.
func NewCache[K comparable, V any](limit int) *Cache[K, V] { return cache.NewKeyed[K, V](limit) }
