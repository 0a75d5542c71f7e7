// Package cache keeps bytes under keys for a while: in memory, up to a bound, or in Redis, which several copies of the
// service share. It may forget at any time, and never fails: what cannot be read is not there. It knows nothing of what the
// bytes are, nor whether they are still true.
package cache

import (
	"context"
	"time"
)

// Store keeps bytes. It is safe for concurrent use; nobody may change a value that was set or got.
type Store interface {
	// Get gives the value of a key, and false where there is none.
	Get(ctx context.Context, key string) ([]byte, bool)
	// Set keeps a value, for lifetime at most.
	Set(ctx context.Context, key string, value []byte, lifetime time.Duration)
	// Close lets go of what the store holds.
	Close() error
}
