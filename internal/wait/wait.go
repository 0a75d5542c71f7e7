// Package wait pauses until a time has passed or a context ends.
package wait

import (
	"context"
	"time"
)

// For waits for a duration. It returns the context's error if the context ends first or has ended
// by then.
func For(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
