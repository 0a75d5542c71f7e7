package openai

import (
	"context"

	"github.com/sony/gobreaker/v2"
)

// Operations of the provider. Each has its own circuit breaker.
const (
	OperationEmbeddings = "embeddings"
	OperationChat       = "chat"
)

// Call describes a call that is about to start.
type Call struct {
	Operation string
	Model     string // the provider's name of the model
}

// Outcome describes a finished call.
type Outcome struct {
	Model     string // that answered; "" where the provider does not say
	Finish    string // of a chat completion
	TokensIn  int    // 0 if the provider does not report them or the call failed
	TokensOut int
	Err       error
}

// Watch observes every call of the provider, retries included, and calls rejected by the circuit
// breaker. The call runs under the returned context. The returned function is called once, at the
// end.
type Watch func(ctx context.Context, call Call) (context.Context, func(Outcome))

// begin calls the watcher, if there is one.
func (c *Client) begin(ctx context.Context, operation, model string) (context.Context, func(Outcome)) {
	if c.watch == nil {
		return ctx, func(Outcome) {}
	}
	return c.watch(ctx, Call{Operation: operation, Model: model})
}

// LeftAlone returns the operations whose circuit breaker is open.
func (c *Client) LeftAlone() (operations []string) {
	for _, circuit := range []circuit{c.embedCircuit, c.chatCircuit} {
		if circuit.breaker != nil && circuit.breaker.State() == gobreaker.StateOpen {
			operations = append(operations, circuit.breaker.Name())
		}
	}
	return operations
}
