package index

import (
	"context"
	"errors"

	"tasklens/internal/fault"
)

// tooSlow is the number of consecutive single items that may time out before the database counts as
// unavailable.
const tooSlow = 3

// stop is an error that ends InBatches.
type stop struct{ error }

func (s stop) Unwrap() error { return s.error }

// InBatches processes a list in batches, starting with one batch of everything. do returns how many
// items of its batch are done: all, or fewer if it takes no more in one call. A failed batch is
// halved. An item that fails alone is skipped and the rest continues. It ends early when ctx ends,
// or when the database is unavailable or too slow for three consecutive single items.
func InBatches[T any](ctx context.Context, all []T, do func([]T) (done int, err error), skip func(T, error)) error {
	size, skipped, slow := len(all), false, 0
	for len(all) > 0 {
		part := all[:min(size, len(all))]
		done, err := do(part)
		code := fault.CodeOf(err)
		switch {
		case err == nil:
			all, slow = all[done:], 0
			if skipped { // the failure was that item's, not the size's
				size *= 2
			}
		case ctx.Err() != nil || errors.As(err, new(stop)) || code == fault.Unavailable || code == fault.Unauthorized || code == fault.Forbidden:
			return err
		case len(part) == 1:
			skip(part[0], err)
			all, size, skipped = all[1:], 1, true
			if code == fault.Timeout {
				slow++
			}
			if slow == tooSlow && len(all) > 0 {
				return fault.Wrap(fault.Unavailable, "The database is too slow to store anything now.", err)
			}
		default:
			size, skipped = (len(part)+1)/2, false
		}
	}
	return nil
}
