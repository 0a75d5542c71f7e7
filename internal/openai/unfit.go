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

// errUnfit marks a successful response whose content is not a valid answer.
var errUnfit = errors.New("the answer cannot be used")

func unfit(format string, arguments ...any) error {
	message := "The model provider " + fmt.Sprintf(format, arguments...) + "."
	return fault.Wrap(fault.Provider, message, errUnfit)
}

// received is failure for a request that may have failed after its response arrived.
func (c *Client) received(ctx context.Context, response *http.Response, err error) error {
	failure := c.failure(ctx, err)
	if response != nil && response.StatusCode < 300 && fault.CodeOf(failure) == fault.Provider && !endless(err) {
		return fault.Wrap(fault.Provider, "The model provider returned an unreadable response.", fmt.Errorf("%w: %w", errUnfit, failure))
	}
	return failure
}

// endless reports an answer that exceeded its size limit. Requesting it again would cost the same
// again.
func endless(err error) bool {
	var bound *http.MaxBytesError
	return errors.As(err, &bound) || errors.Is(err, bufio.ErrTooLong)
}

// attempt repeats a call whose answer is malformed, at most retries times and without a pause: the
// provider is not overloaded. The library handles all other retries.
func attempt(ctx context.Context, retries int, call func() error) error {
	err := call()
	for ; retries > 0 && errors.Is(err, errUnfit) && ctx.Err() == nil; retries-- {
		err = call()
	}
	return err
}

// tokens clamps the provider's count to what metrics and the database accept: a counter cannot
// decrease, and an integer overflow would lose a whole batch of the query log.
func tokens(count int64) int { return int(min(max(0, count), math.MaxInt32)) }
