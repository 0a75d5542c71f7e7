package openai

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"tasklens/internal/chat"
	"tasklens/internal/fault"
)

// Operations of the provider. Each has its own circuit breaker, because one may work while the
// other fails.
const (
	OperationEmbeddings = "embeddings"
	OperationChat       = "chat"
)

// breaker is a circuit breaker. After a number of consecutive failed calls, retries included, it
// opens and calls fail at once. After a pause it lets one call through as a probe. Without it every
// request would wait for its timeout.
type breaker struct {
	*gobreaker.CircuitBreaker[chat.Completion]
	pause time.Duration
	why   *atomic.Pointer[fault.Error] // an empty account or a refused key, with which no call succeeds
}

func newBreaker(operation string, failures int, pause time.Duration) breaker {
	why := new(atomic.Pointer[fault.Error])
	return breaker{gobreaker.NewCircuitBreaker[chat.Completion](gobreaker.Settings{
		Name: operation, MaxRequests: 1, Timeout: pause,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return failures > 0 && (int(counts.ConsecutiveFailures) >= failures || why.Load() != nil)
		},
		IsExcluded: isNeutral,
	}), pause, why}
}

// call runs a call of a model, observed, unless its circuit breaker is open.
func (c *Client) call(ctx context.Context, b breaker, model string, call func(context.Context) (chat.Completion, error)) (chat.Completion, error) {
	ctx, end := c.watch(ctx, b.Name(), model)
	said, err := b.Execute(func() (chat.Completion, error) {
		said, err := call(ctx)
		if failure, _ := errors.AsType[*fault.Error](err); failure != nil && (failure.Reason == fault.ModelQuota || failure.Reason == fault.ModelKey) {
			b.why.Store(failure)
		} else if !isNeutral(err) {
			b.why.Store(nil)
		}
		return said, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		open := *cmp.Or(b.why.Load(), fault.Wrap(fault.Provider, "The model provider failed several times in a row. The circuit breaker opens for a few seconds.", err))
		open.RetryAfter, err = b.pause, &open
	}
	end(said, err)
	return said, err
}

// OpenCircuits returns the operations whose circuit breaker is open, and why if the account is.
func (c *Client) OpenCircuits() (operations []string) {
	for _, b := range []breaker{c.embedding, c.chatting} {
		if b.State() == gobreaker.StateOpen {
			operations = append(operations, b.Name())
			if why := b.why.Load(); why != nil {
				operations[len(operations)-1] += ": " + why.Message
			}
		}
	}
	return operations
}

// isNeutral reports errors that do not mean that the provider is down: our caller left or went on
// without it, it limits our rate (and says for how long), or it refuses this one request.
func isNeutral(err error) bool {
	refused, is := errors.AsType[*refusal](err)
	return is && refused.isRequest() || errors.Is(err, fault.ErrInput) || errors.Is(err, context.Canceled) || errors.Is(err, chat.ErrLate) || errors.Is(err, errListener)
}
