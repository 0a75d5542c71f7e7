// Package cache stores bytes by key for a limited time: in memory, up to a size, or in Redis,
// shared by several instances. It may evict at any time and never fails: what cannot be read is a
// miss. It knows neither what the bytes mean nor whether they are still valid.
package cache

import (
	"context"
	"time"
)

// Store is a cache. It is safe for concurrent use. Values must not be modified after Set or Get.
type Store interface {
	// Get returns the value of a key, and false on a miss.
	Get(ctx context.Context, key string) ([]byte, bool)
	// Set stores a value for at most lifetime.
	Set(ctx context.Context, key string, value []byte, lifetime time.Duration)
	// Close releases the store's resources.
	Close() error
}
