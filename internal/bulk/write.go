package bulk

import (
	"context"
	"fmt"

	"tasklens/internal/fault"
	"tasklens/internal/portion"
	"tasklens/internal/wait"
)

// Write writes rows in batches of a size that the database accepts, and waits for an unreachable
// database. A row that fails on its own is skipped, counted and reported by name. An error ends the
// import.
func Write[T any](ctx context.Context, i *Import, rows []T, name func(T) string, do func([]T) error) (err error) {
	for pause, try := firstPause, 1; try <= tries; pause, try = 2*pause, try+1 {
		if try > 1 && wait.For(ctx, pause) != nil {
			return err
		}
		err = portion.Each(ctx, rows, func(part []T) (int, error) {
			if err := do(part); err != nil {
				return 0, err
			}
			rows = rows[len(part):]
			return len(part), nil
		}, func(row T, err error) {
			rows = rows[1:]
			i.mutex.Lock()
			i.counts.Unwritten++
			i.mutex.Unlock()
			i.failed(fmt.Errorf("%s is not written: %w", name(row), err))
		})
		if err == nil || ctx.Err() != nil || fault.CodeOf(err) != fault.Unavailable {
			return err
		}
	}
	return err
}
