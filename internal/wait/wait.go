// Package wait lets time pass for as long as somebody still wants what comes then. It must not know what that is.
package wait

import (
	"context"
	"time"
)

// For waits so long, and gives the context's error where that has ended by then, or ends before.
func For(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
