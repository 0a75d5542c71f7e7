// Package portion writes long lists to a database in batches. It owns when a batch is halved, the
// pauses between retries, and what ends a list early. It does not know what the items are or what
// is done with them.
package portion

import (
	"context"
	"errors"
	"time"

	"tasklens/internal/fault"
	"tasklens/internal/wait"
)

// Pauses before a smaller batch. Each is twice the previous one.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// Each processes a list in batches, starting with one batch of everything. do returns how many
// items of its batch are done: all, or fewer if it takes no more in one call. A failed batch is
// halved, after a pause if it was too large or too slow. An item that fails alone is skipped and
// the rest continues. Each ends early when ctx ends, when the database is unavailable or too slow
// for three consecutive single items, or when do returns Stop.
func Each[T any](ctx context.Context, all []T, do func([]T) (done int, err error), skip func(T, error)) error {
	size, pause, skipped, slow := len(all), firstPause, false, 0
	for len(all) > 0 {
		part := all[:min(size, len(all))]
		done, err := do(part)
		switch {
		case err == nil:
			all, slow = all[done:], 0
			if skipped { // the failure was that item's, not the size's
				size *= 2
			}
		case hopeless(ctx, err):
			return err
		case errors.As(err, new(*stop)):
			return err
		case len(part) == 1:
			skip(part[0], err)
			all, size, skipped, pause = all[1:], 1, true, firstPause
			if fault.CodeOf(err) == fault.Timeout {
				slow++
			}
			if slow == tooSlow && len(all) > 0 {
				return TooSlow(err)
			}
		default:
			size, skipped = (len(part)+1)/2, false
			if tooMuch(err) {
				if ended := wait.For(ctx, pause); ended != nil {
					return errors.Join(err, ended)
				}
				pause = min(2*pause, longestPause)
			}
		}
	}
	return nil
}

type stop struct{ error }

func (s *stop) Unwrap() error { return s.error }

// Stop wraps an error so that it ends the list.
func Stop(err error) error { return &stop{err} }

// tooSlow is the number of consecutive single items that may time out before the database counts as
// unavailable.
const tooSlow = 3

// TooSlow is the error for a database that is too slow to store anything.
func TooSlow(err error) error {
	return fault.Wrap(fault.Unavailable, "The database is too slow to store anything now.", err)
}

// tooMuch reports whether a smaller batch may succeed: the database timed out or rejected the
// request's size.
func tooMuch(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.Timeout || code == fault.TooLarge
}

// hopeless reports whether no further call can succeed now.
func hopeless(ctx context.Context, err error) bool {
	code := fault.CodeOf(err)
	return ctx.Err() != nil || code == fault.Unavailable || code == fault.Unauthorized || code == fault.Forbidden
}
