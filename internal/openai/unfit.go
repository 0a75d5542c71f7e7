package openai

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"tasklens/internal/fault"
)

// errUnfit is in the chain where the provider accepts a request and what it sends is no answer to it.
var errUnfit = errors.New("the answer cannot be used")

func unfit(format string, arguments ...any) error {
	message := "The model provider " + fmt.Sprintf(format, arguments...) + "."
	return fault.Wrap(fault.Provider, message, errUnfit)
}

// received is failure for a request of which a response may have come before it failed.
func (c *Client) received(ctx context.Context, response *http.Response, err error) error {
	failure := c.failure(ctx, err)
	if response != nil && response.StatusCode < 300 && fault.CodeOf(failure) == fault.Provider && !endless(err) {
		return fault.Wrap(fault.Provider, "The model provider gave an answer that cannot be read.", fmt.Errorf("%w: %w", errUnfit, failure))
	}
	return failure
}

// endless tells an answer that was longer than is read of one. To read it again would cost the same again.
func endless(err error) bool {
	var bound *http.MaxBytesError
	return errors.As(err, &bound) || errors.Is(err, bufio.ErrTooLong)
}

// attempt repeats a call whose answer is unfit, retries times at most. It does not pause: the provider is not overloaded,
// and the library paces all other retries.
func attempt(ctx context.Context, retries int, call func() error) error {
	err := call()
	for ; retries > 0 && errors.Is(err, errUnfit) && ctx.Err() == nil; retries-- {
		err = call()
	}
	return err
}

// tokens is a provider's count within the bounds of what counts and stores it: counters do not go down, and a column of
// integers that overflows would lose a whole batch of the query log.
func tokens(count int64) int { return int(min(max(0, count), math.MaxInt32)) }
