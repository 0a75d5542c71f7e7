package openai

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/sony/gobreaker/v2"

	"tasklens/internal/fault"
)

// circuit is a circuit breaker around the provider. After a number of consecutive failed calls,
// retries included, it opens and calls fail at once. After a pause it lets one call through as a
// probe. Without it every request would wait for its timeout. Embeddings and answers have separate
// breakers because one may work while the other fails.
type circuit struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
}

// newCircuit returns a breaker that opens for pause after this many consecutive failures. With
// failures 0 it never opens.
func newCircuit(name string, failures int, pause time.Duration) circuit {
	if failures <= 0 {
		return circuit{}
	}
	return circuit{gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: pause,
		ReadyToTrip: func(counts gobreaker.Counts) bool { return int(counts.ConsecutiveFailures) >= failures },
		IsExcluded:  saysNothing,
	})}
}

// do runs call unless the breaker is open.
func (c circuit) do(call func() error) error {
	if c.breaker == nil {
		return call()
	}
	_, err := c.breaker.Execute(func() (struct{}, error) { return struct{}{}, call() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return fault.Wrap(fault.Provider, "The model provider failed several times in a row. The circuit breaker opens for a few seconds.", err)
	}
	return err
}

// saysNothing reports errors that do not mean that the provider is down: our caller left, the
// provider limits our rate (and says for how long), or it rejected this one request.
func saysNothing(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, errListener) {
		return true
	}
	var answer *openai.Error
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	case http.StatusTooManyRequests:
		return answer.Code != quotaCode && answer.Type != quotaCode
	}
	return false
}
