package metric

import (
	"net/http"
	"path"
	"slices"
	"time"
)

// maxModels bounds the number of model labels: the names come from settings and from stored data.
const maxModels = 16

// RPC wraps a transport to PostgREST and counts the functions called, up to their response headers.
func (m *Metrics) RPC(next http.RoundTripper) http.RoundTripper {
	if m == nil {
		return next
	}
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		begun := time.Now()
		response, err := next.RoundTrip(request)
		status := 0
		if err == nil {
			status = response.StatusCode
		}
		m.calls.WithLabelValues(path.Base(request.URL.Path), class(status)).Observe(time.Since(begun).Seconds())
		return response, err
	})
}

// roundTrip is a function as an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// Model counts a model call that starts now. Call end once. outcome is ok or a fixed word for the
// failure. Tokens are 0 if the provider does not report them.
func (m *Metrics) Model(operation, model string) (end func(outcome string, tokensIn, tokensOut int)) {
	if m == nil {
		return func(string, int, int) {}
	}
	model = m.known(model)
	begun := time.Now()
	return func(outcome string, tokensIn, tokensOut int) {
		m.asked.WithLabelValues(operation, model, outcome).Observe(time.Since(begun).Seconds())
		m.tokens.WithLabelValues(operation, model, "input").Add(float64(tokensIn))
		m.tokens.WithLabelValues(operation, model, "output").Add(float64(tokensOut))
	}
}

// known returns the model's name, or "other" once there are too many.
func (m *Metrics) known(model string) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.models[model] {
		return model
	}
	if len(m.models) >= maxModels {
		return "other"
	}
	m.models[model] = true
	return model
}

// Circuits registers a gauge for each operation: 1 while its circuit breaker is open. open returns
// the operations for which it is.
func (m *Metrics) Circuits(open func() []string, operations ...string) {
	state := describe("model_circuit_open", "1 while the model provider is left alone for this operation, having failed several times.", "operation")
	m.registry.MustRegister(collector(func(gauge show) {
		left := open()
		for _, operation := range operations {
			value := 0.0
			if slices.Contains(left, operation) {
				value = 1
			}
			gauge(state, value, operation)
		}
	}))
}
