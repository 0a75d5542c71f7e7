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

// circuit stops asking a provider that is down: after so many failed calls in a row, retries included, calls fail at
// once for a while, then one is let through to see. Without it every request would wait out its time for nothing.
// Embeddings and answers have a circuit each, since one may work while the other does not.
type circuit struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
}

// newCircuit makes one that opens after failures in a row, for pause. With failures 0 it never opens.
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

// do makes a call unless the circuit is open.
func (c circuit) do(call func() error) error {
	if c.breaker == nil {
		return call()
	}
	_, err := c.breaker.Execute(func() (struct{}, error) { return struct{}{}, call() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return fault.Wrap(fault.Provider, "The model provider has failed several times and is left alone for a few seconds.", err)
	}
	return err
}

// saysNothing tells errors that do not mean that the provider is down: our caller left, the provider limits us, which
// it says itself and until when, or it did not like this one request.
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
