package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// failure maps a failed call to the service's errors.
func (c *Client) failure(ctx context.Context, err error) error {
	err = cause{err, c.key}
	if errors.Is(context.Cause(ctx), chat.ErrLate) {
		err = fmt.Errorf("%w: %w", chat.ErrLate, err)
	}
	var network net.Error
	if answer, is := errors.AsType[*openai.Error](err); is {
		return answered(answer, err)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Timeout, "The request was cancelled.", err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fault.Wrap(fault.Timeout, "The model provider did not answer in time.", err)
	}
	return fault.Wrap(fault.Provider, "The model provider could not be reached, or its response could not be read.", err)
}

func answered(answer *openai.Error, err error) error {
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		err = fmt.Errorf("%w: %w", fault.ErrKey, err)
	}
	if !limited(answer) {
		return fault.Wrap(fault.Provider, "The model provider failed.", err)
	}
	failure := fault.Wrap(fault.Unavailable, "The model provider is rate-limiting this service.", err).Because(fault.ModelLimited)
	failure.RetryAfter = 10 * time.Second
	if answer.Response != nil {
		if seconds, err := strconv.ParseFloat(answer.Response.Header.Get("Retry-After"), 64); err == nil && seconds > 0 && seconds < math.MaxInt32 {
			failure.RetryAfter = time.Duration(seconds * float64(time.Second))
		}
	}
	return failure
}

// quotaCode is the provider's code for an exhausted quota. It comes with status 429, but waiting
// does not help.
const quotaCode = "insufficient_quota"

// limited reports whether the provider limits our rate.
func limited(answer *openai.Error) bool {
	return answer.StatusCode == http.StatusTooManyRequests && answer.Code != quotaCode && answer.Type != quotaCode
}

// cause is an error of the library, for the log: with the provider's response where that would show
// our request, and without our key, which a provider may repeat in its message.
type cause struct {
	error
	key string
}

func (c cause) Error() string {
	text := c.error.Error()
	if answer, is := errors.AsType[*openai.Error](c.error); is {
		text = fmt.Sprintf("the model provider answered %d %s: %s", answer.StatusCode, answer.Code, answer.Message)
	}
	if c.key == "" {
		return text
	}
	return strings.ReplaceAll(text, c.key, "…")
}

func (c cause) Unwrap() error { return c.error }

// unusable is the error for a response that is not a valid answer.
func unusable(format string, arguments ...any) error {
	return fault.New(fault.Provider, "The model provider "+fmt.Sprintf(format, arguments...)+".")
}

// tokens clamps the provider's count to what metrics and the database accept: a counter cannot
// decrease, and an integer overflow would lose a whole batch of the query log.
func tokens(count int64) int { return int(min(max(0, count), math.MaxInt32)) }
