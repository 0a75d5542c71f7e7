package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// limitedPause is how long a rate limit without a Retry-After lasts.
const limitedPause = 10 * time.Second

// accountPause is after how long an empty account or a refused key is tried again.
const accountPause = 30 * time.Second

// failure maps a failed call to the service's errors, which show none of the provider's text.
func (c *Client) failure(ctx context.Context, model string, err error) error {
	if err == nil || errors.Is(err, errListener) || errors.As(err, new(*fault.Error)) {
		return err
	}
	err = cause{err, c.key}
	if errors.Is(context.Cause(ctx), chat.ErrLate) {
		err = fmt.Errorf("%w: %w", chat.ErrLate, err)
	}
	var network net.Error
	refused, is := errors.AsType[*refusal](err)
	switch {
	case is && refused.isLimit():
		failure := fault.Wrap(fault.Unavailable, "The model provider is rate-limiting this service.", err).Because(fault.ModelLimited)
		failure.RetryAfter = cmp.Or(refused.after, limitedPause)
		return failure
	case is && refused.isQuota():
		failure := fault.Wrap(fault.Unavailable, "The model provider's quota is used up.", err).Because(fault.ModelQuota)
		failure.RetryAfter = cmp.Or(refused.after, accountPause)
		return failure
	case is && refused.isKey():
		failure := fault.Wrap(fault.Provider, "The model provider refuses the key.", fmt.Errorf("%w: %w", fault.ErrKey, err)).Because(fault.ModelKey)
		failure.RetryAfter = accountPause
		return failure
	case is && refused.status == http.StatusNotFound:
		return fault.Wrap(fault.Provider, fmt.Sprintf("The model provider does not know the model %q, or has nothing at this address.", model), err)
	case is && (refused.isTooLarge() || refused.isRequest() && refused.says(sayTooLarge)):
		return fault.Wrap(fault.Provider, "The request is too large for the model.", err)
	case is && refused.isRequest():
		return fault.Wrap(fault.Provider, "The model provider refuses the request.", err)
	case is:
		return fault.Wrap(fault.Provider, "The model provider failed.", err)
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Timeout, "The request was cancelled.", err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fault.Wrap(fault.Timeout, "The model provider did not answer in time.", err)
	}
	return fault.Wrap(fault.Provider, "The model provider could not be reached, or its response could not be read.", err)
}

// cause is an error for the log, without our key, which a provider may repeat in its message.
type cause struct {
	error
	key string
}

func (c cause) Error() string {
	if c.key == "" {
		return c.error.Error()
	}
	return strings.ReplaceAll(c.error.Error(), c.key, "…")
}

func (c cause) Unwrap() error { return c.error }

// unusable is the error for a response that is not a valid answer.
func unusable(format string, arguments ...any) error {
	return fault.New(fault.Provider, "The model provider "+fmt.Sprintf(format, arguments...)+".")
}

// tokens clamps the provider's count to what metrics and the database accept: a counter cannot
// decrease, and an integer overflow would lose a whole batch of the query log.
func tokens(count int64) int { return int(min(max(0, count), math.MaxInt32)) }
