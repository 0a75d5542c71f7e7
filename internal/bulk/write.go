package bulk

import (
	"context"
	"fmt"

	"tasklens/internal/fault"
	"tasklens/internal/portion"
	"tasklens/internal/wait"
)

// Write hands rows to the database in portions that it takes, and waits for one that is out of reach. A row that it does not
// take alone is counted and told by its name, and left out. An error ends the import.
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
